"""The folder of a sweep: what is swept, every finished chunk as a file, and at the end one table.

A chunk's file gets its name when it is complete. So a sweep that was killed goes on where it was: a
chunk that has a file is done, and none is done twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

from swzverify.core.folders import locked_folder, refuse_other_files, write_whole
from swzverify.errors import SwzError
from swzverify.spec.sweep.arrow import join_files
from swzverify.spec.sweep.columns import Column

MANIFEST = "sweep.json"
SCHEMA = "swzverify.sweep/1"
PARQUET, CSV, SPEC = "cases.parquet", "cases.csv", "spec.yaml"
_PARTS = "parts"


class Folder:
    """The results of one sweep on disk.

    `manifest` has what identifies the sweep (`question`), how it is cut into chunks, and whether it
    is finished.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Nothing is read or written yet."""
        self.path = Path(path)

    def locked(self) -> AbstractContextManager[None]:
        """Make the folder if it does not exist, and keep other processes out of it.

        Raises:
            SwzError: SWZ574 if another sweep runs in it, or if it cannot be written.
        """
        return locked_folder(self.path, _PARTS, what="sweep", option="--output")

    def refuse_other_files(self) -> None:
        """Refuse a folder that has other files, and no sweep.

        Raises:
            SwzError: SWZ574.
        """
        refuse_other_files(self.path, _PARTS, what="sweep", option="--output")

    def manifest(self) -> dict[str, Any] | None:
        """The manifest; None where the folder has none.

        Raises:
            SwzError: SWZ574 if it is no sweep's.
        """
        file = self.path / MANIFEST
        try:
            found: object = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise SwzError("SWZ574", f"{file} cannot be read: {error}", hint="choose another --output") from error
        if not isinstance(found, dict) or cast("dict[str, Any]", found).get("schema") != SCHEMA:
            raise SwzError("SWZ574", f"{file} is not the manifest of a sweep", hint="choose another --output")
        return cast("dict[str, Any]", found)

    def write_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Replace the manifest."""
        text = json.dumps({"schema": SCHEMA, **manifest}, indent=2) + "\n"
        write_whole(self.path / MANIFEST, text.encode())

    def write_spec(self, text: str) -> None:
        """Keep the text of the spec beside the results."""
        write_whole(self.path / SPEC, text.encode())

    def clear(self) -> None:
        """Remove every result."""
        for file in [self.path / name for name in (PARQUET, CSV, MANIFEST, SPEC)]:
            file.unlink(missing_ok=True)
        self.drop_parts()

    def finished(self) -> set[int]:
        """The numbers of the chunks that are done."""
        found = (file.stem for file in (self.path / _PARTS).glob("*.parquet"))
        return {int(stem) for stem in found if stem.isdigit()}

    def put(self, index: int, data: bytes) -> None:
        """Keep a chunk; it is there whole or not at all."""
        write_whole(self.path / _PARTS / f"{index:08}.parquet", data)

    def join(self, chunks: int, columns: Sequence[Column], manifest: Mapping[str, Any]) -> int:
        """Write all chunks as one Parquet file and one CSV file; returns the number of rows.

        Rows are in the order of the cases.
        """
        files = [self.path / _PARTS / f"{index:08}.parquet" for index in range(chunks)]
        table, lines = self.path / f"{PARQUET}.new", self.path / f"{CSV}.new"
        rows = join_files(files, columns, {SCHEMA: json.dumps(manifest)}, table, lines)
        table.replace(self.path / PARQUET)
        lines.replace(self.path / CSV)
        return rows

    def drop_parts(self) -> None:
        """Remove the chunks' files."""
        for file in (self.path / _PARTS).glob("*"):
            file.unlink(missing_ok=True)

"""The folder of `scan --resume`: what was found at each function, so that a scan goes on where it was.

What was found is kept as a pickle. A pickle that somebody else made can call anything, so only the
records of the package's rooms that a scan's verdicts are made of are read from it.
"""

from __future__ import annotations

import io
import json
import pickle
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

from swzverify.apps.run.scan_jobs import Job, Scanned
from swzverify.core.folders import locked_folder, refuse_other_files, write_whole
from swzverify.errors import SwzError

SCHEMA: Final = "swzverify.scan/1"
_MANIFEST, _PARTS = "scan.json", "parts"
_WHAT, _OPTION = "scan", "--resume"
_ROOMS: Final = tuple(
    f"swzverify.{room}." for room in ("apps.run.scan_jobs", "claims", "compiled", "engines", "hardware", "ir", "search")
)


@contextmanager
def kept_in(folder: str, identity: dict[str, Any]) -> Generator[Kept]:
    """Open the folder of a scan, or make it.

    `identity` is what the verdicts depend on: it must be that of the scan whose folder this is.

    Raises:
        SwzError: SWZ574 if the folder has another scan or other files, is in use, or cannot be written.
    """
    path = Path(folder)
    with locked_folder(path, _PARTS, what=_WHAT, option=_OPTION):
        manifest = _manifest(path / _MANIFEST)
        if manifest is None:
            refuse_other_files(path, _PARTS, what=_WHAT, option=_OPTION)
            write_whole(path / _MANIFEST, (json.dumps({"schema": SCHEMA, **identity}, indent=2) + "\n").encode())
        else:
            for key, value in identity.items():
                if manifest.get(key) != value:
                    message = f"{path} has the results of a scan with other {key.replace('_', ' ')}"
                    raise SwzError("SWZ574", message, hint=f"choose another {_OPTION}, or delete that folder")
        yield Kept(path / _PARTS)


class Kept:
    """What was found at the functions of one scan."""

    def __init__(self, path: Path) -> None:
        """The folder of the parts."""
        self._path = path

    def find(self, job: Job) -> Scanned | None:
        """What was found at a function; None if it was not judged yet, or if its file cannot be read."""
        try:
            found = _Reader(io.BytesIO(self._file(job).read_bytes())).load()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, AttributeError, EOFError, LookupError, pickle.UnpicklingError):
            return None  # it is judged again
        return found if isinstance(found, Scanned) else None

    def put(self, job: Job, found: Scanned) -> None:
        """Keep what was found at a function.

        Raises:
            SwzError: SWZ574 if it cannot be written.
        """
        write_whole(self._file(job), pickle.dumps(found))

    def _file(self, job: Job) -> Path:
        return self._path / f"{job[0]:04}-{job[1]:06}.pickle"


class _Reader(pickle.Unpickler):
    """Reads records of this package, and nothing else: dataclasses, enumerations and tuples."""

    def find_class(self, module_name: str, global_name: str) -> object:
        if (module_name, global_name) == ("builtins", "getattr"):
            return _member  # Python 3.11.0 to 3.11.3 writes a member as an attribute of its enumeration
        if f"{module_name}.".startswith(_ROOMS) and "." not in global_name:
            found = cast("object", getattr(import_module(module_name), global_name))
            if isinstance(found, type) and (is_dataclass(found) or issubclass(found, Enum | tuple)):
                return cast("object", found)
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is no record of a scan")


def _member(kind: object, name: str) -> Enum:
    """A member of an enumeration by its name, and no other attribute of anything."""
    if isinstance(kind, type) and issubclass(kind, Enum) and name in kind.__members__:
        return kind[name]
    raise pickle.UnpicklingError(f"{kind}.{name} is no record of a scan")


def _manifest(file: Path) -> dict[str, Any] | None:
    try:
        found: object = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SwzError("SWZ574", f"{file} cannot be read: {error}", hint=f"choose another {_OPTION}") from error
    if not isinstance(found, dict) or cast("dict[str, Any]", found).get("schema") != SCHEMA:
        raise SwzError("SWZ574", f"{file} is not the manifest of a scan", hint=f"choose another {_OPTION}")
    return cast("dict[str, Any]", found)

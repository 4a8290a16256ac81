"""The files that a watch looks at, and which of them changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

from swzverify.core.extras import extra
from swzverify.spec.guard import MAX_BYTES

_WORD = re.compile(r"[^\s\"'{}\[\],]+\.\w+")
"""What may be a file's name in the text of a spec."""
_TIMEOUT_MS = 200
Stamp: TypeAlias = "tuple[int, int, int] | None"
"""What tells two states of a file apart; None for a file that is not there."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The files that a verdict depends on, by their real paths, as they were before it was judged."""

    stamps: Mapping[str, Stamp]

    @classmethod
    def of(cls, files: Iterable[str]) -> Watched:
        """The files as they are now."""
        return cls({file: _stamp(file) for file in map(os.path.realpath, files)})

    @property
    def folders(self) -> set[str]:
        """The folders in which they lie."""
        return {os.path.dirname(file) for file in self.stamps}


def require_watchfiles() -> None:
    """Refuse, before minutes of work, a watch that cannot be.

    Raises:
        SwzError: SWZ611 without watchfiles.
    """
    with extra("watch", "watchfiles", "--watch"):
        import_module("watchfiles")


def wakes(folders: Iterable[str], *, deep: bool) -> Iterator[None]:
    """Comes back once as soon as changes are seen, and then after each pause of changes; it never ends.

    Args:
        folders: Where to look.
        deep: Whether folders below them count too; those of tools, such as .git, do not.

    Raises:
        KeyboardInterrupt: Ctrl-C.
    """
    import watchfiles  # noqa: PLC0415 - few runs watch

    begins = True
    for found in watchfiles.watch(
        *sorted(set(folders)), recursive=deep, rust_timeout=_TIMEOUT_MS, yield_on_timeout=True, debounce=400
    ):
        if found or begins:
            begins = False
            yield


def files_of_spec(file: str) -> set[str]:
    """The files that the verdicts on a spec depend on: its own, and each one that its text names.

    A name counts if there is such a file, seen from the spec's folder, or could be one in a folder that
    is there.
    """
    found = {file}
    try:
        with open(file, "rb") as opened:
            text = opened.read(MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return found
    folder = os.path.dirname(file)
    for name in set(_WORD.findall(text)):
        path = os.path.join(folder, name)
        if os.path.isfile(path) or (os.sep in name and os.path.isdir(os.path.dirname(path))):
            found.add(path)
    return found


def _stamp(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)

"""The blocks with which CUDA source files launch kernels: the files, and the headers that they name, are read."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Final

from swzverify.compiled.scan import LaunchedBlock
from swzverify.spec.sources.conditions import with_branches_taken
from swzverify.spec.sources.launches import agree, constant_in, launched_blocks

_HEADER: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SOURCES: Final = (".cu", ".cuh", ".h", ".hpp", ".cpp")
_MOST_HEADERS: Final = 20
_MOST_INCLUDES: Final = 1000
_MOST_BYTES: Final = 1 << 23
"""Of a file; larger ones are not read."""
_MOST_ENTRIES: Final = 1000
_MOST_NEIGHBOURS: Final = 64
"""Sources of a folder; further ones are not read."""


def blocks_of_files(
    paths: Iterable[str], kernels: Collection[str], near: Iterable[str] = (), given: frozenset[str] = frozenset()
) -> dict[str, LaunchedBlock]:
    """The blocks of kernels' launches in several CUDA source files, as `launched_blocks`; other files are skipped.

    The constants of a file are its own, else those of the headers that it names in quotes, else of the other files.
    A kernel that none of the files launches is looked for in the other sources of the folders of the files `near`,
    but not in one that defines a kernel of this name. `given` are macros that something else defines.
    """
    found: dict[str, LaunchedBlock] = {}
    files = {path: texts for path in dict.fromkeys(paths) if (texts := _texts_of(path, given))}
    for path, texts in files.items():
        _add(found, path, texts, files, kernels)
    if absent := [each for each in kernels if each not in found]:
        others = {path: texts for path in _neighbours(near) if path not in files and (texts := _texts_of(path, given))}
        for path, texts in others.items():
            _add(found, path, texts, files | others, [each for each in absent if not _defines(texts[0], each)])
    return found


def _add(
    found: dict[str, LaunchedBlock],
    path: str,
    texts: tuple[str, ...],
    files: dict[str, tuple[str, ...]],
    kernels: Collection[str],
) -> None:
    """Add the blocks of a file's launches."""
    if "<<<" not in texts[0]:
        return
    every = (*texts, *(text for of in files.values() for text in of))
    for name, each in launched_blocks(texts[0], lambda name: constant_in(every, name), kernels, path).items():
        agree(found, name, each)


def _neighbours(near: Iterable[str]) -> list[str]:
    """The CUDA sources in the folders of some files, in the order of their names."""
    found: list[str] = []
    for folder in dict.fromkeys(os.path.dirname(each) for each in near):
        try:
            with os.scandir(folder or ".") as entries:
                names = sorted(each.path for each in islice(entries, _MOST_ENTRIES))
        except (OSError, ValueError):
            continue
        found += [each for each in names if each.lower().endswith(_SOURCES)][:_MOST_NEIGHBOURS]
    return found


def _defines(text: str, kernel: str) -> bool:
    """Whether a source has a kernel of this name itself."""
    name = kernel.partition("<")[0]
    return name in text and re.search(rf"__global__[^;{{}}]*\b{name}\s*\([^;{{}}]*\)\s*\{{", text) is not None


def _texts_of(path: str, given: frozenset[str]) -> tuple[str, ...]:
    """A CUDA source file and the headers that it and these name in quotes; empty for another file."""
    if not path.lower().endswith(_SOURCES):
        return ()
    texts: dict[Path, str] = {}
    pending = [Path(path)]
    while pending and len(texts) <= _MOST_HEADERS:
        at = pending.pop(0)
        text = _text_of(at)
        if text is None:
            if not texts:
                return ()
            continue
        texts[at] = text
        headers = [at.parent / each for each in islice(_HEADER.findall(text), _MOST_INCLUDES)]
        pending += [each for each in headers if each not in texts and each not in pending]
    return _resolved(tuple(texts.values()), given)


@lru_cache(maxsize=64)
def _resolved(texts: tuple[str, ...], given: frozenset[str]) -> tuple[str, ...]:
    return tuple(with_branches_taken(texts, given))


def _text_of(path: Path) -> str | None:
    """The text of a plain file; None for another one, as a device or a pipe, and for one that is too large."""
    try:
        known = path.stat()
        if not S_ISREG(known.st_mode) or known.st_size > _MOST_BYTES:
            return None
        return _read(path, known.st_mtime_ns, known.st_size)
    except (OSError, ValueError):
        # The name may be none that a file has.
        return None


@lru_cache(maxsize=256)
def _read(path: Path, changed_ns: int, size_bytes: int) -> str:  # noqa: ARG001 - a file that changes is read again
    """The text of a file: kernels of one library name the same headers."""
    return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")

"""The blocks with which CUDA source files launch kernels: the files, and the headers that they name, are read."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Final

from swzverify.compiled.scan import LaunchedBlock
from swzverify.spec.sources.launches import constant_in, launched_blocks

_HEADER: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SOURCES: Final = (".cu", ".cuh", ".h", ".hpp", ".cpp")
_MOST_HEADERS: Final = 20
_MOST_INCLUDES: Final = 1000
_MOST_BYTES: Final = 1 << 23
"""Of a file; larger ones are not read."""


def blocks_of_files(paths: tuple[str, ...]) -> dict[str, LaunchedBlock]:
    """The blocks of the launches in several CUDA source files, as `launched_blocks`; other files are skipped.

    The constants of a file are its own, else those of the headers that it names in quotes, else of the other files.
    """
    found: dict[str, LaunchedBlock | None] = {}
    files = {path: texts for path in dict.fromkeys(paths) if (texts := _texts_of(path))}
    for path, (source, *headers) in files.items():
        if "<<<" not in source:
            continue
        others = (text for of in files.values() for text in of)

        def value(name: str, texts: tuple[str, ...] = (source, *headers, *others)) -> int | None:
            return constant_in(texts, name)

        for name, each in launched_blocks(source, value).items():
            block = None if each is None else replace(each, file=path)
            first = found.setdefault(name, block)
            if first is not None and (block is None or first.extents != block.extents):
                found[name] = None
    return {name: each for name, each in found.items() if each is not None}


def _texts_of(path: str) -> tuple[str, ...]:
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
    return tuple(texts.values())


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

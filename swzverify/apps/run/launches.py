"""The blocks with which CUDA source files launch kernels: the files, and the headers that they name, are read."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Final

from swzverify.compiled.scan import LaunchedBlock
from swzverify.spec.sources.conditions import with_branches_taken
from swzverify.spec.sources.launches import agree, constant_in, launched_blocks, only_macro

_HEADER: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_SOURCES: Final = (".cu", ".cuh", ".h", ".hpp", ".cpp")
_MOST_HEADERS: Final = 20
_MOST_INCLUDES: Final = 1000
_MOST_BYTES: Final = 1 << 23
"""Of a file with its headers, and of all sources beside the kernels'; more are not read."""
_MOST_ENTRIES: Final = 1000
_MOST_NEIGHBOURS: Final = 64
"""Sources of a folder; further ones are not read."""
_MOST_USES: Final = 200
_MOST_LETTERS: Final = 2000
"""Of a kernel's head."""
_GLOBAL: Final = re.compile(r"__global__[^;{}]*\Z")
_BODY: Final = re.compile(r"[^;{}]*\)\s*\{")


def blocks_of_files(
    paths: Iterable[str], kernels: Collection[str], near: Iterable[str] = (), given: frozenset[str] = frozenset()
) -> dict[str, LaunchedBlock]:
    """The blocks of kernels' launches in several CUDA source files, as `launched_blocks`; other files are skipped.

    The constants of a file are its own, else those of the headers that it names in quotes, else of the other files,
    else macros that stand only in branches which are not taken: a kernel that was compiled had its macros.
    A kernel that none of the files launches is looked for in the other sources of the folders of the files `near`.
    A source that defines a kernel of this name itself launches that one; and if any other does, only sources that
    name a file `near` surely launch this one. `given` are macros that something else defines.
    """
    # Launches do not tell apart kernels of one name, as of two namespaces.
    alone = [name for name, number in Counter(kernels).items() if number == 1]
    found: dict[str, LaunchedBlock] = {}
    files = {path: texts for path in dict.fromkeys(paths) if (texts := _texts_of(path, given))}
    for path, texts in files.items():
        _add(found, path, texts, files, alone)
    absent = [each for each in alone if each not in found]
    beside = {path: text for path, text in _neighbours(near) if path not in files} if absent else {}
    elsewhere = {each for each in absent if any(_defines(text, each) for text in beside.values())}
    here = {_place(each) for each in near}
    for path, text in beside.items():
        launched = [each for each in absent if _name(each) in _words(text)] if "<<<" in text else []
        if not launched:
            continue
        named = {_place(at): each for at, each in _files_of(path).items()}
        may_be = launched if here & named.keys() else [each for each in launched if each not in elsewhere]
        foreign = [each for at, each in named.items() if at not in here]
        if launched := [each for each in may_be if not any(_defines(text, each) for text in foreign)]:
            _add(found, path, _texts_of(path, given), files, launched)
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
    whole = tuple(_files_of(path).values())

    def value(name: str) -> int | None:
        taken = constant_in(every, name)
        return taken if taken is not None else only_macro(whole, name)

    for name, each in launched_blocks(texts[0], value, kernels, path).items():
        agree(found, name, each)


def _neighbours(near: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The CUDA sources in the folders of some files with their texts, in the order of their names."""
    left = _MOST_BYTES
    for folder in dict.fromkeys(os.path.dirname(each) for each in near):
        try:
            with os.scandir(folder or ".") as entries:
                names = sorted(each.path for each in islice(entries, _MOST_ENTRIES))
        except (OSError, ValueError):
            continue
        for each in [name for name in names if name.lower().endswith(_SOURCES)][:_MOST_NEIGHBOURS]:
            text = _text_of(Path(each), left)
            if text is not None:
                left -= len(text)
                yield each, text


def _name(kernel: str) -> str:
    return kernel.partition("<")[0]


def _place(path: str | Path) -> str:
    """Where a file is, whichever name it is found by."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def _defines(text: str, kernel: str) -> bool:
    """Whether a source has a kernel of this name itself, as far as its first uses of the name tell it."""
    name = _name(kernel)
    uses = islice(re.finditer(rf"\b{name}\s*\(", text), _MOST_USES) if name in _words(text) else ()
    return any(
        _GLOBAL.search(text, max(0, each.start() - _MOST_LETTERS), each.start()) is not None
        and _BODY.match(text, each.end(), each.end() + _MOST_LETTERS) is not None
        for each in uses
    )


def _texts_of(path: str, given: frozenset[str]) -> tuple[str, ...]:
    """A CUDA source file and the headers that it and these name in quotes; empty for another file."""
    return _resolved(tuple(_files_of(path).values()), given)


def _files_of(path: str) -> dict[Path, str]:
    """A CUDA source file and the headers that it and these name in quotes, with their texts."""
    texts: dict[Path, str] = {}
    pending, left = [Path(path)] if path.lower().endswith(_SOURCES) else [], _MOST_BYTES
    while pending and len(texts) <= _MOST_HEADERS:
        at = pending.pop(0)
        text = _text_of(at, left)
        if text is None:
            if not texts:
                break
            continue
        texts[at] = text
        left -= len(text)
        headers = [at.parent / each for each in islice(_HEADER.findall(text), _MOST_INCLUDES)]
        pending += [each for each in headers if each not in texts and each not in pending]
    return texts


@lru_cache(maxsize=64)
def _resolved(texts: tuple[str, ...], given: frozenset[str]) -> tuple[str, ...]:
    return tuple(with_branches_taken(texts, given))


def _text_of(path: Path, most_bytes: int) -> str | None:
    """The text of a plain file; None for another one, as a device or a pipe, and for one that is too large."""
    try:
        known = path.stat()
        if not S_ISREG(known.st_mode) or known.st_size > most_bytes:
            return None
        return _read(path, known.st_mtime_ns, known.st_size)
    except (OSError, ValueError):
        # The name may be none that a file has.
        return None


@lru_cache(maxsize=256)
def _read(path: Path, changed_ns: int, size_bytes: int) -> str:  # noqa: ARG001 - a file that changes is read again
    """The text of a file: kernels of one library name the same headers."""
    return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")


def forget_texts() -> None:
    """Free the texts of sources and headers: judging kernels takes long and reads none of them."""
    for each in (_words, _resolved, _read):
        each.cache_clear()

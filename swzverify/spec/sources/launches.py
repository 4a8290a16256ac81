"""The blocks of launches that stand in a CUDA source file: `kernel<<<grid, dim3(32, ROWS)>>>`.

The source is read as text. It is not compiled: a macro may launch another kernel than its text says,
a function may write a variable unseen, and other files may launch the same kernels. What is found is
a hint for an assumption that every verdict states, never a fact.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Final

from swzverify.compiled.scan.launch import LaunchedBlock
from swzverify.errors import SwzError
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.conditions import with_branches_taken
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language
from swzverify.spec.sources.launch_sites import LaunchSite, launch_sites, template_arguments
from swzverify.spec.sources.launch_values import ConstantOf, LaunchValues

_OTHER: Final = re.compile(r"\b(?:cuda|cu|hip)Launch\w*\s*\([^;]{0,400}", re.ASCII)
"""A launch by a function, which may state another block."""
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
    """The blocks of kernels' launches in several CUDA source files, as `blocks_of_source`; other files are skipped.

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
    for name, each in _launches(texts[0], lambda name: _first_or_only(name, every), kernels, path).items():
        _agree(found, name, each)


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


def _first_or_only(name: str, texts: tuple[str, ...]) -> int | None:
    """The value of a constant in the first text, else the only value that the others give it."""
    own = _constant(texts[0], name)
    found = {each for text in dict.fromkeys(texts[1:]) if (each := _constant(text, name)) is not None}
    return own if own is not None else found.pop() if len(found) == 1 else None


@lru_cache(maxsize=4096)
def _constant(text: str, name: str) -> int | None:
    try:
        return constant(text, Language.C, name).value if name in text else None
    except SwzError:
        return None


def blocks_of_source(
    source: str, kernels: Collection[str], constant_of: ConstantOf | None = None
) -> dict[str, LaunchedBlock]:
    """The block of each of some kernels, which have names without namespace, with their template arguments.

    An extent is an integer expression of numbers, of the file's constants and macros, of variables of the
    function that are set where they are declared and nowhere else, and of template parameters of the function to
    which the kernel's template arguments give a value. The block is None if a launch has something else, or if
    launches differ. A kernel without a launch is left out.

    >>> text = "const int W = 32; void f() { dim3 b(W, 4 * 2); ns::k<8><<<n / 2, b>>>(p); k<4><<<1, n>>>(); }"
    >>> found = blocks_of_source(text, ["k<8>", "k<4>"])
    >>> found["k<8>"].extents, found["k<4>"].why_not
    ((32, 8, 1), '`n` threads, whose number the text does not tell')
    """
    (source,) = with_branches_taken([source])
    return _launches(source, constant_of or (lambda name: _constant(source, name)), kernels)


def _launches(
    source: str, constant_of: ConstantOf, kernels: Collection[str], path: str = ""
) -> dict[str, LaunchedBlock]:
    text = read_c(source).code
    sites: defaultdict[str, list[LaunchSite]] = defaultdict(list)
    for site in launch_sites(text):
        sites[site.kernel].append(site)
    others = {name for call in _OTHER.findall(text) for name in re.findall(r"\w+", call)}
    found: dict[str, LaunchedBlock] = {}
    for kernel in kernels:
        name, _, arguments = kernel.partition("<")
        for site in sites[name]:
            values = LaunchValues(text, site.at, constant_of).of_instance(site, template_arguments(arguments[:-1]))
            if values is None:
                continue
            extents = values.block(site.block)
            why_not = "" if extents else f"`{site.block}` threads, whose number the text does not tell"
            if name in others:
                extents, why_not = None, "a block that a function may change"
            _agree(found, kernel, LaunchedBlock(extents, source.count("\n", 0, site.at) + 1, path, why_not))
    return found


def _agree(found: dict[str, LaunchedBlock], kernel: str, block: LaunchedBlock) -> None:
    """Add the block of a launch; the kernel has no block if another launch has a different one."""
    first = found.setdefault(kernel, block)
    if first.extents and block.extents != first.extents:
        why_not = block.why_not or f"{_threads(first)} threads, and {block.place} with {_threads(block)}"
        found[kernel] = replace(first if block.extents else block, extents=None, why_not=why_not)


def _threads(block: LaunchedBlock) -> str:
    return ",".join(map(str, block.extents or ()))

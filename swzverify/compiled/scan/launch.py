"""The shapes that launches have: the block with which each kernel is judged, and the grid.

A kernel with `.reqntid` runs with no other block. `.maxntid` bounds the threads of a block, and
says nothing of its shape: where no block is given, its numbers are an assumption, which the report
states.

A user names kernels by the PTX's or a readable name, a unique prefix, or a glob.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import Final

from swzverify.compiled.kernel.clusters import MOST_RANKS
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function
from swzverify.core.demangle import demangled
from swzverify.errors import SwzError, nearest
from swzverify.hardware import MOST_BLOCK_EXTENTS, MOST_BLOCK_THREADS, MOST_GRID_EXTENTS

_HINT: Final = "give a smaller block, or name the kernel that this block is for: --block KERNEL=X,Y,Z"


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks that the user gives: for `every` kernel, and for kernels that a name or a glob means.

    Of several that mean a kernel, the last one counts.
    """

    every: BlockShape | None = None
    named: tuple[tuple[Wanted, BlockShape], ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """The block that a kernel is judged with; None if it is not known.

    `assumed` says where it comes from, if neither the user nor `.reqntid` gives it. `missing` says why the
    launches in the sources do not tell it.
    """

    shape: BlockShape | None
    assumed: str = ""
    missing: str = ""


@dataclass(frozen=True, slots=True)
class LaunchedBlock:
    """The threads of a block that every launch of a kernel in a source file states, and the first one's place.

    `extents` has three numbers; it is None where the launches do not tell them, and `why_not` says why.
    """

    extents: BlockShape | None
    line: int
    file: str = ""
    why_not: str = ""

    @property
    def place(self) -> str:
        """The line of the first launch, with the name of its file."""
        return f"line {self.line} of {os.path.basename(self.file)}"


def block_shape(extents: Sequence[int]) -> BlockShape | None:
    """One to three numbers as a block, 1 for each that is left out; None if no block has this shape.

    >>> block_shape((32, 8)), block_shape((1, 1, 65))
    ((32, 8, 1), None)
    """
    shape = _shape(extents, MOST_BLOCK_EXTENTS)
    return shape if shape is not None and prod(shape) <= MOST_BLOCK_THREADS else None


def grid_shape(extents: Sequence[int]) -> BlockShape | None:
    """One to three numbers as a grid, 1 for each that is left out; None if no grid has this shape.

    >>> grid_shape((4096,)), grid_shape((1, 65536))
    ((4096, 1, 1), None)
    """
    return _shape(extents, MOST_GRID_EXTENTS)


def cluster_shape(extents: Sequence[int]) -> BlockShape | None:
    """One to three numbers as the blocks of a cluster, 1 for each that is left out; None if no cluster has this shape.

    >>> cluster_shape((2,)), cluster_shape((4, 5))
    ((2, 1, 1), None)
    """
    shape = _shape(extents, dict.fromkeys("xyz", MOST_RANKS))
    return shape if shape is not None and prod(shape) <= MOST_RANKS else None


def _shape(extents: Sequence[int], most: Mapping[str, int]) -> BlockShape | None:
    if not 1 <= len(extents) <= len(most):
        return None
    x, y, z = (*extents, 1, 1)[: len(most)]
    return (x, y, z) if 1 <= x <= most["x"] and 1 <= y <= most["y"] and 1 <= z <= most["z"] else None


def judged_block(
    function: Function, blocks: Blocks, launched: Mapping[str, LaunchedBlock] = MappingProxyType({})
) -> JudgedBlock:
    """The block that a function is judged with.

    It is `.reqntid`, else the one that the user gives, else that of its launches in the source file, else
    the numbers of `.maxntid`. A block that a glob gives does not count for a kernel that does not allow it.

    Raises:
        SwzError: SWZ555 for another block that the kernel does not allow.

    >>> from swzverify.compiled.ptx import read_module
    >>> module = read_module(".version 8.0 .target sm_90 .entry k() .maxntid 384 { ret; }", "k.ptx")
    >>> judged_block(module.functions[0], Blocks())
    JudgedBlock(shape=(384, 1, 1), assumed='blocks of 384,1,1 threads, from .maxntid', missing='')
    """
    for wanted, shape in reversed(blocks.named):
        if function.is_entry and function.name in wanted.names:
            refusal = _refusal(function, shape)
            if not refusal:
                return JudgedBlock(shape)
            if not wanted.is_glob:
                raise SwzError("SWZ555", refusal, hint="leave out the block of this kernel, or give it another one")
    found = block_of_launch(function, blocks.every)
    if found is None and function.is_entry:
        source = launched.get(demangled(function.name).short)
        if source and source.extents and (shape := block_shape(source.extents)) and not _refusal(function, shape):
            return _assumed(shape, source.place)
        if (most := function.tuning.max_threads) is not None and (shape := block_shape(most)):
            return _assumed(shape, ".maxntid")
        if source and source.why_not:
            return JudgedBlock(None, missing=f"{source.place} launches it with {source.why_not}")
    return JudgedBlock(found)


def _assumed(shape: BlockShape, origin: str) -> JudgedBlock:
    return JudgedBlock(shape, f"blocks of {','.join(map(str, shape))} threads, from {origin}")


def block_of_launch(function: Function, block: BlockShape | None) -> BlockShape | None:
    """The block that a function is judged with: what it requires, else the one that is given.

    Errors: SWZ555 for a block with more threads than the function allows.

    >>> from swzverify.compiled.ptx import read_module
    >>> module = read_module(".version 8.0 .target sm_90 .entry k() .reqntid 64 { ret; }", "k.ptx")
    >>> block_of_launch(module.functions[0], (32, 1, 1))
    (64, 1, 1)
    """
    # A kernel that requires a shape runs with no other.
    if function.required_threads is not None or block is None:
        return function.required_threads
    if refusal := _refusal(function, block):
        raise SwzError("SWZ555", refusal, hint=_HINT)
    return block


def _refusal(function: Function, shape: BlockShape) -> str:
    """Why a kernel does not run with a block; empty if nothing in the text says so."""
    name, required, most = demangled(function.name).short, function.required_threads, function.most_threads
    if required is not None and required != shape:
        return f"block {_words(shape)}: kernel {name} runs with blocks of {_words(required)} (.reqntid) only"
    if most is not None and prod(shape) > most:
        extents = _words(function.tuning.max_threads or ())[1:-1]
        return f"block {_words(shape)} has {prod(shape)} threads; kernel {name} allows {most} (.maxntid {extents})"
    return ""


def _words(extents: Sequence[int]) -> str:
    return f"({', '.join(map(str, extents))})"


_MOST_LISTED: Final = 8
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """The names of the kernels that a user means; `is_glob` if they may be any number."""

    names: tuple[str, ...]
    is_glob: bool = False


def wanted_kernels(text: str, kernels: Iterable[str]) -> Wanted:
    """The kernels of these names that a text means.

    A name that is the whole of the text goes before longer ones. Spaces do not count.

    Errors: SWZ551 if there is none, or if a text without `*` and `?` may mean several.

    >>> wanted_kernels("gemm<8>", ["_Z4gemmILi8EEvPf", "_Z4gemmILi16EEvPf"]).names
    ('_Z4gemmILi8EEvPf',)
    >>> wanted_kernels("gemm*", ["_Z4gemmILi8EEvPf", "_Z4gemmILi16EEvPf"]).names
    ('_Z4gemmILi8EEvPf', '_Z4gemmILi16EEvPf')
    """
    names = list(dict.fromkeys(kernels))
    if text in names:
        return Wanted((text,))
    plain = _tight(text)
    if found := _fitting(names, lambda form: form == plain or form.partition("<")[0] == plain):
        return _one(text, found)
    if "*" in text or "?" in text:
        pattern = plain.replace("[", "[[]")
        if found := _fitting(names, lambda form: fnmatchcase(form, pattern)):
            return Wanted(tuple(found), is_glob=True)
    elif found := _fitting(names, lambda form: form.startswith(plain)):
        return _one(text, found)
    known = [form for each in names for form in dict.fromkeys((each, demangled(each).short))]
    hint = nearest(text, known) or f"the kernels are: {_listed(names)}"
    raise SwzError("SWZ551", f"no kernel is called {repr(text[:_LONGEST])[1:-1]}", hint=hint)


def _one(text: str, found: list[str]) -> Wanted:
    if len(found) > 1:
        hint = f"give more of the name; a glob such as '{text[:_LONGEST]}*' means all of them"
        message = f"{text[:_LONGEST]!r} may mean {len(found)} kernels: {_listed(found)}"
        raise SwzError("SWZ551", message, hint=hint)
    return Wanted(tuple(found))


def _fitting(names: Iterable[str], fits: Callable[[str], bool]) -> list[str]:
    return [each for each in names if any(fits(_tight(form)) for form in (each, *demangled(each)))]


def _tight(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _listed(names: list[str]) -> str:
    """Some of the names as people read them; whole ones where the short ones are alike."""
    short = [demangled(each).short for each in names]
    shown = [one if short.count(one) == 1 else demangled(each).whole for one, each in zip(short, names, strict=True)]
    more = ", ..." if len(names) > _MOST_LISTED else ""
    return ", ".join(each[:_LONGEST] for each in islice(shown, _MOST_LISTED)) + more if names else "none"

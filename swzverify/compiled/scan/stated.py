"""What compiled code does at an access, exactly, as formulas of a spec.

The formulas say which lanes make it, in which trips of which loops, at which bytes of which array.
Nothing is left out and nothing is bounded: if something is not known exactly, there is a reason
instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from swzverify.compiled.kernel import ArrayLeaf, KernelAccess, LaneLeaf, Leaf, TripsLeaf, accesses
from swzverify.compiled.kernel.access import LoopAround
from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.leaves import begin_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Location, Module, Symbol
from swzverify.compiled.scan.given import NOTHING_GIVEN, Given, facts_of
from swzverify.compiled.scan.price import Block
from swzverify.compiled.scan.spell import plain_name
from swzverify.compiled.scan.unwrapped import COORDINATES, NotWrittenError, all_of, unwrapped
from swzverify.hardware import INSTRUCTIONS, Instruction
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import Expr, conjuncts, variables

MOST_TRIPS: Final = 4096
_MOST_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class StatedLoop:
    """A loop that every thread runs `count` times.

    `name` is the name of its trip in the formulas, from 0; `line` is its first line in the PTX.
    """

    name: str
    line: int
    count: int


@dataclass(frozen=True, slots=True)
class Stated:
    """An access as formulas over `tid_x`, `tid_y`, `tid_z`, `lane` and the loops' names.

    `address` counts bytes from the begin of the array. `condition` says which lanes make it;
    if it is None, all do. Loops that neither of them depends on repeat the access; all lanes leave
    them at the same trip.
    """

    instruction: Instruction
    address: CFormula
    condition: CFormula | None
    loops: tuple[StatedLoop, ...]
    symbol: Symbol

    @property
    def array(self) -> str:
        """The array, by its name in the PTX."""
        return self.symbol.name

    @property
    def align_bytes(self) -> int:
        """What PTX aligns the array to."""
        return self.symbol.align_bytes


@dataclass(slots=True)
class _Names:
    """The names of the formulas, and the loops that they stand for."""

    known: dict[str, str] = field(default_factory=dict[str, str])
    limits: dict[str, int] = field(default_factory=dict[str, int])
    loops: list[StatedLoop] = field(default_factory=list[StatedLoop])


def read_accesses(
    module: Module, function: Function, block: BlockShape, given: Given = NOTHING_GIVEN
) -> tuple[KernelAccess, ...]:
    """All accesses of a function, with what is given of its parameters."""
    facts = facts_of(function, given)
    return tuple(map(facts.on, accesses(module, function, block, facts.arguments)))


def stated_at(found: Sequence[KernelAccess], line: int, block: BlockShape) -> Stated:
    """The one of the accesses that is at a line of the PTX.

    Raises:
        NotWrittenError: There is no such access, or a part of it is not known exactly; the text says which.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .align 16 .b8 s[512]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 3; mov.u32 %r2, s;"
    >>> text += "add.u32 %r2, %r2, %r1; ld.shared.u32 %r3, [%r2+64]; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> found = stated_at(read_accesses(module, module.functions[0], (32, 1, 1)), 1, (32, 1, 1))
    >>> str(found.address), found.array, found.align_bytes
    ('(tid_x << 3) + 64', 's', 16)
    """
    at_line = [each for each in found if each.site.line == line]
    if not at_line:
        lines = ", ".join(map(str, dict.fromkeys(each.site.line for each in found[:_MOST_LISTED])))
        more = ", ..." if len(found) > _MOST_LISTED else ""
        raise NotWrittenError(f"no access to shared memory; there are some at lines {lines or 'none'}{more}")
    if len(at_line) > 1:
        raise NotWrittenError(f"{len(at_line)} chains of calls lead to line {line}")
    return _stated(at_line[0], Block(block))


def lines_from(found: Sequence[KernelAccess], source: int, instruction: Instruction) -> list[int]:
    """The lines of the PTX with an instruction from a line of the source, in the order of the text.

    For inlined code, the lines of the calls count too.

    Raises:
        NotWrittenError: Several source files have that line, or the line has other widths of the same
            kind.
    """
    there = [
        (each.site.line, row, files)
        for each in found
        if (row := each.cost.row) is not None and (files := files_of(each.site.location, source))
    ]
    if len({file for _, _, files in there for file in files}) > 1:
        raise NotWrittenError(f"several source files have accesses at line {source}: give `line`, that of the PTX")
    kinds = {row.name for _, row, _ in there if row.kind is instruction.kind}
    if others := sorted(kinds - {instruction.name}):
        raise NotWrittenError(f"line {source} of the source has {', '.join(others)} too: give `line`, that of the PTX")
    return sorted({line for line, row, _ in there if row.name == instruction.name})


def files_of(location: Location | None, source: int) -> set[int]:
    """The numbers of the files in which this line is the place, or a call that leads to the place."""
    found: set[int] = set()
    while location is not None:
        if location.line == source:
            found.add(location.file)
        location = location.inlined_at
    return found


def _stated(access: KernelAccess, block: Block) -> Stated:
    row = access.cost.row
    if access.reason or row is None or access.address is None:
        raise NotWrittenError(access.reason or access.cost.reason or "the address is not known")
    if access.cost.note or row.name not in INSTRUCTIONS:
        raise NotWrittenError("a spec has no such instruction")
    if access.who.sure is None:
        raise NotWrittenError("it is not known whether each lane that may make it does")
    array = _array(access)
    offset = normal(sub(access.address, begin_of(array, 32)))
    guards = conjuncts(access.who.guard)
    names = _Names()
    for variable in variables(offset, *guards):
        _name(next(each for each in access.leaves if each.name == variable.name), access, block, names)
    if row.warp_wide and guards:
        raise NotWrittenError("some lanes of a warp may not make it, and it needs all")
    for loop in access.who.loops:
        if not loop.is_uniform and (loop.trips is None or loop.trips.name not in names.known):
            raise NotWrittenError(f"lanes may leave the loop at line {loop.line} at different trips")
    condition = all_of([unwrapped(each, names.known, names.limits) for each in guards])
    address = unwrapped(offset, names.known, names.limits, can_wrap=False)
    return Stated(row, address, condition, tuple(names.loops), array.symbol)


def _array(access: KernelAccess) -> ArrayLeaf:
    """The array that an address begins with."""
    address = access.address
    leaves = {each.name: each for each in access.leaves}
    found = [leaves[each.name] for each in (variables(address) if address is not None else ())]
    arrays = [each for each in found if isinstance(each, ArrayLeaf)]
    if len(arrays) != 1:
        raise NotWrittenError(
            "the address is made of several arrays" if arrays else "the address begins with no shared array"
        )
    return arrays[0]


def _name(leaf: Leaf, access: KernelAccess, block: Block, names: _Names) -> None:
    """Name a variable, if it is exactly known what it is."""
    if isinstance(leaf, LaneLeaf) and leaf.name in COORDINATES:
        names.known[leaf.name] = COORDINATES[leaf.name]
        return
    if not isinstance(leaf, TripsLeaf):
        raise NotWrittenError(f"it depends on {plain_name(leaf.name)}")
    loop = next((each for each in access.who.loops if each.trips is leaf.variable), None)
    if loop is None:
        raise NotWrittenError(f"it depends on how often the loop at line {leaf.line} ran before")
    count = _count(loop, leaf, block)
    name = f"trips_{leaf.line}"
    if any(each.name == name for each in names.loops):
        raise NotWrittenError(f"two loops begin at line {leaf.line}")
    names.known[leaf.name], names.limits[leaf.name] = name, count
    names.loops.append(StatedLoop(name, leaf.line, count))


def _count(loop: LoopAround, leaf: Leaf, block: Block) -> int:
    """The trip count of every thread.

    Raises:
        NotWrittenError: It is not known, or is not the same for all threads.
    """
    line, again = loop.line, loop.again
    if not again.is_exact or leaf.values is None or len(leaf.values) > MOST_TRIPS:
        raise NotWrittenError(f"it is not known how often the loop at line {line} runs")
    others = [each.name for each in variables(again.condition) if each is not leaf.variable]
    if any(name not in block.point for name in others):
        raise NotWrittenError(f"how often the loop at line {line} runs depends on {plain_name(others[0])}")
    count = len(leaf.values)
    goes_on = _follows(again.condition, leaf.name, range(count), block)
    if goes_on != [True] * (count - 1) + [False]:
        raise NotWrittenError(f"lanes leave the loop at line {line} at different trips, or not at trip {count - 1}")
    return count


def _follows(condition: Expr, name: str, trips: Sequence[int], block: Block) -> list[bool | None]:
    """Whether each trip is followed by another one; None where the threads differ."""
    found: list[bool | None] = []
    for trip in trips:
        more: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = {name: np.full((1, 1), trip)}
        held = block.values(condition, more)[block.exists] != 0
        found.append(bool(held[0]) if (held == held[0]).all() else None)
    return found

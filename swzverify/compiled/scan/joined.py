"""Which machine instructions an access of the PTX became, by the table of PTX lines.

ptxas makes one wide instruction of neighbouring scalar accesses, and gives it the line of one of
them. Which ones these are is clear where their addresses differ by numbers, they fill the width
without a gap, and the others have no instruction of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.powers import power_of_terms
from swzverify.compiled.sass import SassInstruction
from swzverify.hardware import Kind

_UNPLACED: Final = "some machine instructions have no line of the PTX"


class Relation(StrEnum):
    """How machine code and an access of the PTX relate.

    - `SAME`: instructions of the same width.
    - `MERGED`: a wider instruction, which other accesses are a part of.
    - `SPLIT`: narrower instructions, or a loop of several.
    - `NONE`: no instruction has its line, and no other one is known to cover it.
    - `UNKNOWN`: none of these is clear.
    """

    SAME = "same"
    MERGED = "merged"
    SPLIT = "split"
    NONE = "none"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Joined:
    """The machine instructions of one access.

    For merged instructions, `lines` are those of all accesses that they stand for, and `lowest` is the
    number of the access with the lowest address, if that is clear.
    """

    relation: Relation
    instructions: tuple[SassInstruction, ...] = ()
    reason: str = ""
    lines: tuple[int, ...] = ()
    lowest: int | None = None


def joined(accesses: Sequence[KernelAccess], code: Sequence[SassInstruction]) -> list[Joined]:
    """The machine instructions of each access of one function."""
    by_line: defaultdict[int, list[SassInstruction]] = defaultdict(list)
    for each in code:
        if each.line is not None:
            by_line[each.line].append(each)
    crowded = _crowded(accesses)
    found = [
        _by_itself(each, by_line.get(each.site.line, []), is_crowded=each.site.line in crowded) for each in accesses
    ]
    _Merging(accesses, found).run()
    if any(each.line is None for each in code):
        found = [
            replace(each, relation=Relation.UNKNOWN, reason=_UNPLACED) if each.relation is Relation.NONE else each
            for each in found
        ]
    return found


def _crowded(accesses: Sequence[KernelAccess]) -> set[int]:
    """The lines of the PTX that have several accesses."""
    texts: defaultdict[int, set[tuple[int, str]]] = defaultdict(set)
    seen: defaultdict[tuple[int, tuple[int, ...]], int] = defaultdict(int)
    for each in accesses:
        if each.site.piece is not None and each.site.piece.place:
            continue
        seen[each.site.line, each.site.calls] += 1
        texts[each.site.line].add((seen[each.site.line, each.site.calls], each.site.text))
    return {line for line, found in texts.items() if len(found) > 1}


def _by_itself(access: KernelAccess, mine: Sequence[SassInstruction], *, is_crowded: bool) -> Joined:
    """What the instructions of an access's own line say."""
    code = tuple(mine)
    row = access.cost.row
    if access.site.piece is not None:
        count = len(access.site.piece.fragment.starts)
        if len(code) % count:
            return Joined(Relation.UNKNOWN, code, "ptxas left out machine instructions of this line, or joined some")
        # They differ in a distance that all lanes share: which one is which does not matter.
        code = code[access.site.piece.place :: count]
    if row is None:
        return Joined(Relation.UNKNOWN, code, access.cost.reason or "the instruction is not looked at")
    if is_crowded:
        return Joined(Relation.UNKNOWN, code, "several accesses stand in this line")
    if not code:
        return Joined(Relation.NONE)
    kinds = {each.opcode.kind for each in code}
    widths = {each.opcode.width_bits for each in code}
    if None in widths:
        return Joined(Relation.UNKNOWN, code, "some machine instructions of this line are not understood")
    if row.kind is Kind.ATOMIC and kinds == {Kind.ATOMIC, Kind.LOAD}:
        return Joined(Relation.SPLIT, code)
    if kinds != {row.kind}:
        return Joined(Relation.UNKNOWN, code, "this line became machine instructions of another kind")
    width = row.width_bytes * 8
    numbers = {each for each in widths if each is not None}
    if numbers == {width}:
        if not _is_same_kind(access, code):
            return Joined(Relation.UNKNOWN, code, "this line became machine instructions of another form")
        return Joined(Relation.SAME, code)
    if row.kind not in (Kind.LOAD, Kind.STORE):
        return Joined(Relation.UNKNOWN, code, "the machine instructions have another width")
    if min(numbers) >= width:
        return Joined(Relation.MERGED, code)
    if max(numbers) < width:
        return Joined(Relation.SPLIT, code)
    return Joined(Relation.UNKNOWN, code, "some machine instructions are wider, and some narrower")


def _is_same_kind(access: KernelAccess, code: Sequence[SassInstruction]) -> bool:
    """Whether what width does not tell is the same: the matrices, and the way of a copy."""
    row = access.cost.row
    assert row is not None  # noqa: S101 - the caller has seen it
    if row.kind.moves_matrices:
        return all(each.opcode.matrices * 8 == row.address_lanes for each in code)
    if row.kind is Kind.CP_ASYNC and row.width_bytes == 16:
        return all(each.opcode.bypasses == row.by_octets for each in code)
    return True


@dataclass(frozen=True, slots=True)
class _Part:
    """An access of a group: its number, its first byte relative to the group, its bytes."""

    number: int
    first: int
    size: int


class _Merging:
    """Finds the accesses that a wide instruction stands for."""

    def __init__(self, accesses: Sequence[KernelAccess], found: list[Joined]) -> None:
        self.accesses, self.found = accesses, found
        self.groups: defaultdict[object, list[_Part]] = defaultdict(list)
        self.power: dict[object, int] = {}
        for number, access in enumerate(accesses):
            row, who = access.cost.row, access.who
            if row is None or access.address is None or row.kind not in (Kind.LOAD, Kind.STORE):
                continue
            whole = sum_of(access.address)
            key = (row.kind, access.site.calls, who.guard, who.loops, frozenset(whole.terms.items()))
            self.power[key] = power_of_terms(whole.terms)
            # Numbers near 2^32 are negative offsets.
            first = whole.number - (1 << 32 if whole.number >> 31 else 0)
            self.groups[key].append(_Part(number, first, row.width_bytes))

    def run(self) -> None:
        """Tell merged accesses of their instructions."""
        for key, parts in self.groups.items():
            wide = [each for each in parts if self.found[each.number].relation is Relation.MERGED]
            if wide:
                self._group(parts, wide, self.power[key])

    def _group(self, parts: Sequence[_Part], wide: Sequence[_Part], power: int) -> None:
        taken: set[int] = set()
        open_ = list(wide)
        while open_:
            # A window that is clear leaves fewer accesses for the others.
            choices = {each: self._windows(each, parts, power, taken) for each in open_}
            clear = [each for each in open_ if len(choices[each]) == 1]
            if not clear:
                break
            for each in clear:
                window = choices[each][0]
                if not {part.number for part in window} & taken:
                    taken |= {part.number for part in window}
                    self._tell(each, window)
                open_.remove(each)

    def _windows(self, wide: _Part, parts: Sequence[_Part], power: int, taken: set[int]) -> list[list[_Part]]:
        """The sets of accesses that may be what a wide instruction stands for."""
        sizes = {each.opcode.width_bits for each in self.found[wide.number].instructions} - {wide.size * 8}
        if len(sizes) != 1:
            return []
        size = (sizes.pop() or 0) // 8
        free = [
            each
            for each in parts
            if each.number == wide.number
            or (each.number not in taken and self.found[each.number].relation is Relation.NONE)
        ]
        found: list[list[_Part]] = []
        for first in sorted({each.first for each in free}):
            if not first <= wide.first < first + size or first % min(power, size):
                continue
            inside = [each for each in free if first <= each.first and each.first + each.size <= first + size]
            covered = sorted({(each.first, each.size) for each in inside})
            ends = [place + length for place, length in covered]
            if [place for place, _ in covered[1:]] == ends[:-1] and ends[-1] == first + size and wide in inside:
                found.append(inside)
        return found

    def _tell(self, wide: _Part, window: Sequence[_Part]) -> None:
        lowest = min(window, key=lambda each: each.first).number
        lines = tuple(sorted({self.accesses[each.number].site.line for each in window}))
        told = replace(self.found[wide.number], lines=lines, lowest=lowest)
        for each in window:
            self.found[each.number] = told

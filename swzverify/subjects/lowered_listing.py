"""The conflicts of a listing's instructions as an expression over the place of the instruction.

It shares nothing with the run through the listing that `Listing.counted` is. What the cache holds is
looked up backwards from each instruction; whether registers are one, and in one bank, is left to the
formula.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property

from swzverify.hardware.register_banks import REGISTERS
from swzverify.ir import integers as ints
from swzverify.ir.expr import FALSE, Comparison, Expr, Var, compare, conjunction, const, extract, ite, negation
from swzverify.ir.integers import Integer
from swzverify.subjects.listing import SLOTS, Listing, Work

_NONE = REGISTERS
"""In tables: no register."""
_BITS = 8
_OPERANDS = len(SLOTS)


class LoweredListing:
    """A listing as tables over `place`, a variable with a value for each instruction."""

    def __init__(self, listing: Listing, place: Var) -> None:
        """`place` has as many values as the listing has instructions."""
        self._all = listing.instructions
        self._banks = listing.banks
        self._place = place

    def most(self) -> Integer:
        """The extra cycles of the instruction where the cache holds only what it surely holds."""
        before = [self._kept_before(index) for index in range(len(self._all))]
        kept = [self._table([each.get(slot, _NONE) for each in before]) for slot in SLOTS]
        registers, slots = self._registers, self._slots
        held = [
            _any(
                conjunction([_equal(slots[k], const(slot, 3)), _equal(registers[k], kept[index])])
                for index, slot in enumerate(SLOTS)
            )
            for k in range(_OPERANDS)
        ]
        return self._extra(held)

    def least(self) -> Integer:
        """The extra cycles where it holds all that it may hold."""
        held: list[Expr] = []
        for k in range(_OPERANDS):
            bits = [
                int(k < len(each.reads) and self._perhaps_before(index, each.reads[k].register, each.reads[k].slot))
                for index, each in enumerate(self._all)
            ]
            held.append(self._table(bits, 1))
        return self._extra(held)

    @cached_property
    def _registers(self) -> list[Expr]:
        return [
            self._table(
                [
                    each.reads[k].register if each.work is Work.ARITHMETIC and k < len(each.reads) else _NONE
                    for each in self._all
                ]
            )
            for k in range(_OPERANDS)
        ]

    @cached_property
    def _slots(self) -> list[Expr]:
        return [
            self._table([(each.reads[k].slot or 0) if k < len(each.reads) else 0 for each in self._all], 3)
            for k in range(_OPERANDS)
        ]

    def _extra(self, held: Sequence[Expr]) -> Integer:
        """The cycles beyond the first, of the operands that the cache does not hold."""
        registers = self._registers
        width = self._banks.banks.bit_length() - 1
        banks = [extract(each, 0, width) for each in registers]
        read = [
            conjunction([negation(_equal(registers[k], const(_NONE, _BITS))), negation(held[k])])
            for k in range(_OPERANDS)
        ]

        def same(j: int, k: int) -> Expr:
            return conjunction([read[j], _equal(registers[j], registers[k])])

        def beside(j: int, k: int) -> Expr:
            return conjunction([read[j], _equal(banks[j], banks[k])])

        new = [conjunction([read[k], *(negation(same(j, k)) for j in range(k))]) for k in range(_OPERANDS)]
        one, nothing = ints.integer(1), ints.integer(0)
        if self._banks.reads_per_bank == 1:
            late = [conjunction([new[k], _any(beside(j, k) for j in range(k))]) for k in range(1, _OPERANDS)]
            return ints.total([ints.choose(each, one, nothing) for each in late])
        # Two of three registers fit into a cycle: only three different ones of one bank take another.
        return ints.choose(conjunction([*new, beside(0, 2), beside(1, 2)]), one, nothing)

    def _table(self, values: Sequence[int], width: int = _BITS) -> Expr:
        """The value of each instruction."""
        return table(self._place, values, width)

    def _kept_before(self, index: int) -> dict[int, int]:
        """What each slot surely holds, looked up from the arithmetic instruction before."""
        written: set[int] = set()
        at = index
        while at > 0 and not self._all[at].joined:
            at -= 1
            each = self._all[at]
            written.update(each.writes)
            if each.yields:
                break
            if each.work is Work.OTHER and self._banks.others_keep_reuse:
                continue
            if each.work is not Work.ARITHMETIC or each.predicated:
                break
            reads = [read for read in each.reads if read.reuse and read.slot and read.register not in written]
            return {read.slot or 0: read.register for read in reads}
        return {}

    def _perhaps_before(self, index: int, register: int, slot: int | None) -> bool:
        """Whether a slot may hold the register.

        It does if the register was marked there, or came from elsewhere, and has not been read there without
        a mark since.
        """
        return any(self._perhaps_in(index, register, each) for each in (SLOTS if slot is None else (slot,)))

    def _perhaps_in(self, index: int, register: int, slot: int) -> bool:
        marks = self._marks.get((slot, register), [])
        cleared = _last_before(self._cleared.get((slot, register), []), index)
        joined = _last_before(self._joins, index + 1)
        # One instruction may do both: a mark whose slot is not known may be on another operand of its register.
        return (
            _last_before(marks, index) >= max(cleared, 0)
            or _last_before(self._calls, index) > cleared
            or ((bool(marks) or self._has_unknown_marks) and joined > cleared)
        )

    @cached_property
    def _marks(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for index, each in enumerate(self._all):
            for read in each.reads:
                if read.reuse:
                    for slot in SLOTS if read.slot is None else (read.slot,):
                        found.setdefault((slot, read.register), []).append(index)
        return found

    @cached_property
    def _cleared(self) -> dict[tuple[int, int], list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for index, each in enumerate(self._all):
            if each.work is Work.ARITHMETIC and not each.predicated:
                for read in each.reads:
                    if read.slot is not None and not read.reuse:
                        found.setdefault((read.slot, read.register), []).append(index)
        return found

    @cached_property
    def _joins(self) -> list[int]:
        return [index for index, each in enumerate(self._all) if each.joined]

    @cached_property
    def _calls(self) -> list[int]:
        return [
            index
            for index, each in enumerate(self._all)
            if each.work is Work.CALL or (each.work is Work.UNKNOWN and each.reads)
        ]

    @cached_property
    def _has_unknown_marks(self) -> bool:
        return any(each.work is Work.UNKNOWN and each.reads for each in self._all)


def table(place: Var, values: Sequence[int], width: int) -> Expr:
    """The value at each place, as a choice by the bits of the variable, the highest first.

    >>> from swzverify.ir.evaluate import evaluate
    >>> from swzverify.ir.expr import var
    >>> [evaluate(table(var("x", 3), [7, 0, 5], 3), {"x": x}) for x in range(3)]
    [7, 0, 5]
    """
    level: list[Expr] = [const(value, width) for value in values]
    for bit in range(place.width):
        chosen = extract(place, bit, 1)
        level.append(level[-1])  # what no place reaches
        level = [ite(chosen, level[i + 1], level[i]) for i in range(0, len(level) - 1, 2)]
    return level[0]


def _last_before(places: Sequence[int], end: int) -> int:
    """The last place below `end`; -1 where there is none."""
    at = bisect_left(places, end)
    return places[at - 1] if at else -1


def _equal(left: Expr, right: Expr) -> Expr:
    return compare(Comparison.EQ, left, right)


def _any(conditions: Iterable[Expr]) -> Expr:
    found = FALSE
    for each in conditions:
        found = negation(conjunction([negation(found), negation(each)]))
    return found

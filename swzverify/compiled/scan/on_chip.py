"""What an access costs as the machine instructions that it became.

An instruction of the PTX's width costs what the PTX says. A merged one is priced again: its
addresses are those of the lowest access in it, its width is its own. `free` of a part is `free` of
the whole, for no two lanes' words meet in a bank, and wide words are aligned. Where the table of
lines leaves open what an instruction is, nothing is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.sass import SassInstruction
from swzverify.compiled.scan.joined import Joined, Relation, joined
from swzverify.compiled.scan.verdict import FAULT, Decision, Verdict, unknown
from swzverify.hardware import Kind, find_instruction
from swzverify.ir.expr import Expr, conjunction

Price = Callable[[KernelAccess], Decision]
"""Decides an access."""
Possible = Callable[[Expr], bool]
"""Whether a condition is known to be possible."""
_SUFFIXES: Final = {8: "b8", 16: "b16", 32: "b32", 64: "v2.b32", 128: "v4.b32"}
_WORD_BITS: Final = 32
_NOTHING: Final = "no machine instruction has this PTX line: ptxas removed the access or merged it with another line"
_NOT_CLEAR: Final = "which accesses were merged is not clear"
_OTHER_WAY: Final = "an access of another branch has no machine instruction: ptxas may have put both into this one"


@dataclass(frozen=True, slots=True)
class OnChip:
    """The machine instructions of an access, with their number, and what they cost.

    `lines` are those of the accesses that were merged, where that is clear. `code` has the
    instructions one by one, with their places.
    """

    relation: Relation
    instructions: tuple[tuple[SassInstruction, int], ...]
    decision: Decision
    lines: tuple[int, ...] = ()
    code: tuple[SassInstruction, ...] = ()

    @property
    def words(self) -> str:
        """The instructions for people.

        >>> OnChip(Relation.NONE, (), unknown("")).words
        'no instruction'
        """
        names = [f"{count} {each.name}" if count > 1 else each.name for each, count in self.instructions]
        return ", ".join(names) or "no instruction"


def on_chip(
    accesses: Sequence[KernelAccess],
    decisions: Sequence[Decision],
    code: Sequence[SassInstruction],
    price: Price,
    possible: Possible,
) -> list[OnChip]:
    """What each access of a function costs on the chip; `price` decides what the PTX does not have."""
    found = joined(accesses, code)
    judge = _Chip(accesses, decisions, found, price, possible)
    return [_on_chip(each, judge.decided(number)) for number, each in enumerate(found)]


def _on_chip(found: Joined, decision: Decision) -> OnChip:
    counts = Counter((each.name, each.opcode) for each in found.instructions)
    instructions = tuple((SassInstruction(name, opcode, None), count) for (name, opcode), count in counts.items())
    return OnChip(found.relation, instructions, decision, found.lines, found.instructions)


class _Chip:
    """Decides the accesses of one function as machine code."""

    def __init__(
        self,
        accesses: Sequence[KernelAccess],
        decisions: Sequence[Decision],
        found: Sequence[Joined],
        price: Price,
        possible: Possible,
    ) -> None:
        self.accesses, self.decisions, self.found = accesses, decisions, found
        self.price, self.possible = price, possible
        self.priced: dict[tuple[int, int], Decision] = {}
        self.lost = [
            each for each, told in zip(accesses, found, strict=True) if told.relation is Relation.NONE and each.cost.row
        ]

    def decided(self, number: int) -> Decision:
        """The verdict on one access."""
        found, access, own = self.found[number], self.accesses[number], self.decisions[number]
        if found.relation is Relation.UNKNOWN:
            return unknown(found.reason)
        if found.relation is Relation.NONE:
            return unknown(_NOTHING)
        if self._takes_others(access):
            return unknown(_OTHER_WAY)
        if found.relation is Relation.SAME:
            return self._same(access, own, found)
        if found.relation is Relation.SPLIT:
            return self._split(number, own, found)
        return self._merged(own, found)

    def _takes_others(self, access: KernelAccess) -> bool:
        """Whether an instruction may also be that of an access which no thread makes as well.

        This is an access in the other branch of an `if`.
        """
        row = access.cost.row
        return row is not None and any(
            lost.cost.row is not None
            and lost.cost.row.kind is row.kind
            and lost.cost.row.width_bytes == row.width_bytes
            and lost.who.guard is not access.who.guard
            and not self.possible(conjunction((lost.who.guard, access.who.guard)))
            for lost in self.lost
        )

    def _same(self, access: KernelAccess, own: Decision, found: Joined) -> Decision:
        row = access.cost.row
        if row is None or row.kind is not Kind.ATOMIC:
            return own
        # The machine code says whether equal words count once or each.
        is_once = all(each.opcode.adds_one for each in found.instructions)
        merging = replace(access.cost.merging, of_words=is_once and access.cost.merging.of_words is not False)
        return replace(self.price(replace(access, cost=replace(access.cost, merging=merging))), assumes=())

    def _split(self, number: int, own: Decision, found: Joined) -> Decision:
        access = self.accesses[number]
        row = access.cost.row
        if row is None or any(each.opcode.kind is Kind.ATOMIC for each in found.instructions):
            # The table of costs knows these loops, as far as they are known.
            return own if access.cost.note else unknown("the cost of this loop is not known")
        widths = {each.opcode.width_bits or 0 for each in found.instructions}
        if min(widths) < _WORD_BITS:
            return unknown("the costs of parts of words are not known")
        # A part begins some words further on in all lanes, which moves all banks alike.
        return _worst([self._at_width(number, width) for width in sorted(widths)])

    def _merged(self, own: Decision, found: Joined) -> Decision:
        if found.lowest is None:
            return _without_cost(own) if own.verdict is Verdict.FREE else unknown(_NOT_CLEAR)
        wide = {each.opcode.width_bits or 0 for each in found.instructions}
        decided = _worst([self._at_width(found.lowest, width) for width in sorted(wide)])
        if own.verdict is not Verdict.FREE or decided.verdict is Verdict.FREE:
            return decided
        if decided.verdict is Verdict.UNKNOWN:
            return _without_cost(own)
        return unknown(FAULT)

    def _at_width(self, number: int, width_bits: int) -> Decision:
        access = self.accesses[number]
        row = access.cost.row
        if row is not None and row.width_bytes * 8 == width_bits:
            return self.decisions[number]
        if (number, width_bits) not in self.priced:
            name = "ld" if row is not None and row.kind is Kind.LOAD else "st"
            wide = find_instruction(f"{name}.shared.{_SUFFIXES[width_bits]}")
            self.priced[number, width_bits] = self.price(replace(access, cost=replace(access.cost, row=wide)))
        return self.priced[number, width_bits]


def _without_cost(own: Decision) -> Decision:
    """The verdict of the PTX without wavefronts: wider instructions take another number."""
    return replace(own, wavefronts=None, minimum=None)


def _worst(found: Sequence[Decision]) -> Decision:
    """The verdict on several instructions: what is open counts more than what is known."""
    order = (Verdict.UNKNOWN, Verdict.CONFLICT, Verdict.DEPENDS, Verdict.FREE)
    return min(found, key=lambda each: (order.index(each.verdict), -(each.ways or 0), -(each.wavefronts or 0)))

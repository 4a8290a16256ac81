"""What claims on the register banks of a listing share: their goals and the table of a conflict.

The extra cycles of each instruction are known at most and at least. At most as many as claimed is a
proof, at least one more is a refutation; between the two nobody knows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.places import Places, numbers
from swzverify.claims.stated import at_most
from swzverify.claims.verdict import Counterexample, Row
from swzverify.core.words import counted, listed
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Var, var
from swzverify.ir.integers import Integer
from swzverify.subjects.listing import SLOTS, Listing, RegisterRead, Work
from swzverify.subjects.lowered_listing import LoweredListing, table

INSTRUCTION = "instruction"
"""The variable of the goals: the place of an instruction, counted from 0."""
COLUMNS = ("line", "slot", "register", "bank", "cache holds", "read from")


class ListingClaim(Claim):
    """A claim on how many register bank conflicts a listing has."""

    __slots__ = ()
    listing: Listing

    @property
    @abstractmethod
    def limit(self) -> int:
        """The conflicts that the claim allows in the whole listing."""

    def evidence(self) -> str:
        """How the rule of the banks is known."""
        return self.listing.banks.evidence.value

    def scope(self) -> str:
        """The scope in words: the instructions that count, and the rule."""
        own = self.listing
        counted = sum(each.work is Work.ARITHMETIC for each in own.instructions)
        ends = {own.most, own.least}
        found = f"{own.least} to {own.most}" if len(ends) > 1 else f"{own.least}"
        found = f"{own.least} or more" if own.most is None else found
        return (
            f"{counted} arithmetic of {len(own.instructions)} instructions, {own.banks.text} ({own.target}), "
            f"from an empty reuse cache and without a switch to another warp: {found} "
            f"conflict{'' if found == '1' else 's'}"
        )

    def plan(self) -> Plan:
        """The conflicts up to each instruction stay below the limit.

        What stands before an instruction is counted plainly; where that is more than nothing, a goal
        says that the plain count of each instruction is its cost at most.
        """
        own = self.listing
        if not any(each.work is Work.ARITHMETIC for each in own.instructions) and own.most is not None:
            return Plan(empty=f"listing {own.name} has no arithmetic instruction")
        refuted = own.least > self.limit
        if not refuted and (own.most is None or own.most > self.limit):
            return Plan(unknown=self._open())
        counts = [each.least if refuted else each.most or 0 for each in own.counted]
        place = var(INSTRUCTION, len(counts))
        lowered = LoweredListing(own, place)
        cost = lowered.least() if refuted else lowered.most()
        before = [0, *accumulate(counts)][:-1]
        goals = [self._goal("so far", cost, before, [self.limit] * len(counts), counts)]
        if any(counts):
            goals.insert(0, self._goal("each", cost, [0] * len(counts), counts, counts))
        return Plan(tuple(goals))

    def _goal(self, what: str, cost: Integer, before: list[int], limits: list[int], counts: list[int]) -> Goal:
        """At each instruction, what stands before it and its cost are at most the limit."""
        place = var(INSTRUCTION, len(counts))
        total = ints.add(_numbers(place, before), cost)

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            at = arrays[INSTRUCTION]
            running = np.asarray(before)[at] + np.asarray(counts)[at]
            return np.asarray(True), running <= np.asarray(limits)[at]

        return Goal(Always(Domain((place,)), at_most(total, _numbers(place, limits)), definition), what)

    def _open(self) -> str:
        """Why the number of conflicts is open, in words."""
        own = self.listing
        for each, found in zip(own.instructions, own.counted, strict=True):
            if found.most is None:
                return f"line {each.line}: {each.why}"
        first = next(i for i, each in enumerate(own.counted) if (each.most or 0) > each.least)
        each, found = own.instructions[first], own.counted[first]
        reads = [
            f"R{read.register}"
            for read in each.reads
            if any(read.register in found.held.in_slot(slot)[1] for slot in read.slots)
        ]
        return (
            f"between {own.least} and {own.most} conflicts: whether the reuse cache still holds "
            f"{' and '.join(dict.fromkeys(reads))} at line {each.line} is not known"
        )

    def broken(self, *sides: Places) -> list[int]:
        """The instructions, by their extra cycles, at which the listing has more conflicts than claimed."""
        return numbers(np.cumsum(sides[0].first) > self.limit)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The instruction that passes the limit, and the arithmetic one before it."""
        own = self.listing
        costs = [each.least for each in own.counted]
        broken = self.broken(Places(np.asarray(costs)))
        if goal.what != "so far" or point.get(INSTRUCTION, 0) not in broken:
            return None
        # A later instruction fails as well: the first one that does is shown.
        at = broken[0]
        so_far, each = sum(costs[: at + 1]), own.instructions[at]
        shown = [i for i in range(at) if own.instructions[i].work is Work.ARITHMETIC][-1:]
        rows = [row for i in (*shown, at) for row in self._rows(i, i == at)]
        binding = {"line": each.line}
        return Counterexample(binding, self._note(at, so_far), COLUMNS, tuple(rows))

    def _note(self, at: int, so_far: int) -> str:
        own, each = self.listing, self.listing.instructions[at]
        missed = [read.register for read in self._from_banks(at)]
        groups = [
            [number for number in dict.fromkeys(missed) if own.banks.bank(number) == bank]
            for bank in range(own.banks.banks)
        ]
        told = "; ".join(
            f"{listed(f'R{number}' for number in group)} lie in bank {own.banks.bank(group[0])}"
            for group in groups
            if own.banks.extra_cycles(group)
        )
        wrong = [self._other_slot(at, read) for read in self._from_banks(at)]
        cycles = own.counted[at].least
        total = f"; conflict {so_far} of the listing's {own.least}" if own.least > 1 else ""
        told = f"{each.text}: {told}, {counted(cycles, 'extra cycle')}"
        return told + "".join(dict.fromkeys(each for each in wrong if each)) + total

    def _other_slot(self, at: int, read: RegisterRead) -> str:
        """A note that another slot of the cache holds the register; empty where none does."""
        held = self.listing.counted[at].held
        slots = [slot for slot in SLOTS if read.register == held.in_slot(slot)[0] and slot != read.slot]
        if not slots or read.slot is None:
            return ""
        return f"; the cache holds R{read.register} in slot {slots[0]}, and it is read in slot {read.slot}"

    def _from_banks(self, at: int) -> list[RegisterRead]:
        """The operands that come from the register file for certain."""
        held = self.listing.counted[at].held
        return [
            read
            for read in self.listing.instructions[at].reads
            if not any((slot, read.register) in held.perhaps for slot in read.slots)
        ]

    def _rows(self, at: int, marked: bool) -> list[Row]:
        each, own = self.listing.instructions[at], self.listing
        missed = self._from_banks(at)
        return [
            Row(
                (
                    each.line,
                    read.slot,
                    f"R{read.register}{'.reuse' if read.reuse else ''}",
                    own.banks.bank(read.register),
                    _held_text(self.listing, at, read),
                    "bank" if read in missed else "cache",
                ),
                "x" if marked and self._waits(read, missed) else "",
            )
            for read in sorted(each.reads, key=lambda read: read.slot or 0)
        ]

    def _waits(self, read: RegisterRead, missed: Sequence[RegisterRead]) -> bool:
        """Whether the reads from this one's bank take more than one cycle."""
        banks = self.listing.banks
        bank = banks.bank(read.register)
        return banks.extra_cycles([each.register for each in missed if banks.bank(each.register) == bank]) > 0


def _held_text(listing: Listing, at: int, read: RegisterRead) -> str:
    """What a slot holds, in words; registers that it may hold have a question mark."""
    if read.slot is None:
        return "unknown slot"
    sure, perhaps = listing.counted[at].held.in_slot(read.slot)
    words = [*([] if sure is None else [f"R{sure}"]), *(f"R{each}?" for each in perhaps[:3])]
    return ", ".join(words) + (", ..." if len(perhaps) > 3 else "") if words else "nothing"


def _numbers(place: Var, values: list[int]) -> Integer:
    """A table of numbers, as an integer of what its values need."""
    low, high = 0, max(values)
    width = ints.width_for(low, high)
    return Integer(table(place, values, width), low, high)

"""The best numbers of a listing's registers: they exchange their numbers among themselves.

Which sources the cache holds does not depend on numbers, so with the best marks each instruction has
a fixed set of registers that it reads from the banks. The search chooses the bank of each register,
as many in each bank as there are now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from swzverify.search.synth.code.found import Found, from_banks, is_markable, price_of
from swzverify.search.synth.code.marks import best_marks
from swzverify.subjects.listing import ListedInstruction, Listing, Work

MOST_NODES = 200_000
"""Choices that are looked at; where these do not suffice, the minimum stays open."""
_REGISTER = re.compile(r"(?<![A-Za-z0-9_])R(\d+)")
_VECTOR = 4
"""Registers that a load or store may name by its first one, addresses too."""


def best_numbers(listing: Listing) -> Found:
    """The listing with registers renumbered so that few conflicts are left, and its best marks.

    Registers that other than arithmetic instructions name keep their numbers, and so do the three after
    each: a vector load needs neighbours.

    Raises:
        ValueError: An instruction is not understood.
    """
    given = price_of(listing)
    kept = all_marks(listing)
    sets = _bank_sets(kept)
    free = _free(listing)
    search = _Search(listing, sets, free)
    banks, is_exact = search.run()
    least = search.least
    numbers = _numbers(listing, free, banks)
    best = best_marks(_renumbered(listing, numbers))
    space = f"every exchange of numbers among {len(free)} registers, with every choice of reuse marks"
    how = "every other choice of banks was looked at, as far as it could have fewer"
    if not is_exact:
        how = f"those that keep their numbers have as many; {MOST_NODES} choices of banks were looked at"
    bound = least if is_exact else search.base
    return Found(best.listing, tuple(range(len(listing.instructions))), best.price, given, bound, space, how)


def all_marks(listing: Listing) -> Listing:
    """The listing with every mark that may be chosen set: the cache holds as much as it can."""
    own = tuple(
        replace(each, reads=tuple(replace(read, reuse=True) for read in each.reads)) if is_markable(each) else each
        for each in listing.instructions
    )
    return replace(listing, instructions=own)


def _bank_sets(listing: Listing) -> list[frozenset[int]]:
    """The registers that each instruction reads from the banks; only sets that may conflict."""
    found: list[frozenset[int]] = []
    for each, counted in zip(listing.instructions, listing.counted, strict=True):
        if each.work is Work.ARITHMETIC:
            read = from_banks(each, dict(counted.held.surely))
            if len(read) > listing.banks.reads_per_bank:
                found.append(frozenset(read))
    return found


def _free(listing: Listing) -> list[int]:
    """The registers that may change their numbers."""
    fixed = {
        int(number) + more
        for each in listing.instructions
        if each.work is not Work.ARITHMETIC
        for number in _REGISTER.findall(each.text)
        for more in range(_VECTOR)
    }
    used = {
        number
        for each in listing.instructions
        if each.work is Work.ARITHMETIC
        for number in (*(read.register for read in each.reads), *each.writes)
    }
    return sorted(used - fixed)


class _Search:
    """Chooses banks for registers by branch and bound, first for the registers in most sets.

    The best choice so far bounds the rest.
    """

    def __init__(self, listing: Listing, sets: list[frozenset[int]], free: list[int]) -> None:
        self.rule = listing.banks
        self.fixed = {number: self.rule.bank(number) for each in sets for number in each if number not in free}
        self.order = sorted((n for n in free if any(n in s for s in sets)), key=lambda n: -sum(n in s for s in sets))
        self.of = {number: [each for each in sets if number in each] for number in self.order}
        self.base = sum(self._cost(each, self.fixed) for each in sets)
        self.room = [sum(self.rule.bank(number) == bank for number in free) for bank in range(self.rule.banks)]
        self.best = {number: self.rule.bank(number) for number in self.order}
        self.least = sum(self._cost(each, {**self.fixed, **self.best}) for each in sets)
        self.nodes = count()

    def run(self) -> tuple[dict[int, int], bool]:
        """The banks with the fewest conflicts, and whether that is certain."""
        is_exact = self._choose(0, dict(self.fixed), self.base) if self.least else True
        return self.best, is_exact or self.least == self.base

    def _cost(self, registers: frozenset[int], banks: Mapping[int, int]) -> int:
        """The conflicts of the registers of a set that have a bank."""
        known = [banks[number] for number in registers if number in banks]
        return sum(-(-known.count(bank) // self.rule.reads_per_bank) - 1 for bank in set(known))

    def _choose(self, at: int, banks: dict[int, int], spent: int) -> bool:
        """Try the banks of the next register; False where the search was cut short."""
        if spent >= self.least:
            return True
        if next(self.nodes) > MOST_NODES:
            return False
        if at == len(self.order):
            self.best, self.least = {number: banks[number] for number in self.order}, spent
            return True
        number = self.order[at]
        before = sum(self._cost(each, banks) for each in self.of[number])
        tried: list[tuple[int, int]] = []
        for bank in range(self.rule.banks):
            if self.room[bank]:
                banks[number] = bank
                tried.append((sum(self._cost(each, banks) for each in self.of[number]) - before, bank))
                del banks[number]
        is_exact = True
        for added, bank in sorted(tried, key=lambda pair: (pair[0], pair[1] != self.rule.bank(number), pair[1])):
            banks[number] = bank
            self.room[bank] -= 1
            is_exact &= self._choose(at + 1, banks, spent + added)
            self.room[bank] += 1
            del banks[number]
            if self.least == self.base:
                break
        return is_exact


def _numbers(listing: Listing, free: list[int], banks: Mapping[int, int]) -> dict[int, int]:
    """A number in its bank for each register; a register keeps its own number where it can."""
    left = set(free)
    numbers: dict[int, int] = {}
    waiting: list[int] = []
    for number in free:
        if banks.get(number, listing.banks.bank(number)) == listing.banks.bank(number) and number in banks:
            numbers[number] = number
            left.remove(number)
        else:
            waiting.append(number)
    for number in sorted(waiting, key=lambda each: each not in banks):
        fitting = [each for each in sorted(left) if number not in banks or listing.banks.bank(each) == banks[number]]
        numbers[number] = number if number in fitting else fitting[0]
        left.remove(numbers[number])
    return numbers


def _renumbered(listing: Listing, numbers: Mapping[int, int]) -> Listing:
    def new(each: ListedInstruction) -> ListedInstruction:
        if each.work is not Work.ARITHMETIC:
            return each
        reads = tuple(replace(read, register=numbers.get(read.register, read.register)) for read in each.reads)
        return replace(each, reads=reads, writes=tuple(numbers.get(number, number) for number in each.writes))

    return replace(listing, instructions=tuple(new(each) for each in listing.instructions))

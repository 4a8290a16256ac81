"""The best order of a listing's instructions, each order with its best reuse marks.

The instructions must not depend on each other. Then an order is a path through all of them, and a
step costs what the next instruction takes after the one before: all that the marks could keep is
kept, since a mark never costs a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swzverify.errors import SwzError
from swzverify.search.synth.code.found import Found, is_markable, price_of
from swzverify.search.synth.code.marks import best_marks
from swzverify.subjects.listing import ListedInstruction, Listing

MOST_EXACT = 12
"""Up to so many instructions all orders are compared; beyond that there are a search and a bound.
"""
MOST = 512
_Step = tuple[int, int]
"""Conflicts, and registers that are read from the banks."""
_FIRST = -1
_ROUNDS = 40


def best_order(listing: Listing) -> Found:
    """The listing in an order with few conflicts, and among such orders with few reads from the banks.

    Raises:
        SwzError: SWZ568 if instructions depend on each other, jump, or have unknown slots.
    """
    own = listing.instructions
    _check(listing)
    given = price_of(listing)
    steps = _Steps(listing)
    if len(own) <= MOST_EXACT:
        order, how = _every(steps, len(own)), "every order was counted, by subsets and last instructions"
        bound = steps.cost(order)[0]
    else:
        starts = [list(range(len(own))), _greedy(steps, len(own))]
        order = min((_improved(steps, start) for start in starts), key=steps.cost)
        bound = steps.bound(0)
        how = "each instruction costs at least as much as after the best of all the others"
    how += f"; no order reads fewer than {steps.bound(1)} registers from the banks"
    best = best_marks(replace(listing, instructions=tuple(own[place] for place in order)))
    space = f"every order of the {len(own)} instructions, with every choice of reuse marks"
    return Found(best.listing, tuple(order), best.price, given, bound, space, how)


def _check(listing: Listing) -> None:
    own = listing.instructions
    if len(own) > MOST:
        raise SwzError("SWZ568", f"listing {listing.name} has {len(own)} instructions: at most {MOST} are ordered")
    for each in own:
        if not is_markable(each) or each.joined or each.yields:
            message = f"listing {listing.name}, line {each.line}: {each.text} cannot change its place"
            hint = "an order is searched for arithmetic instructions without predicates, labels and yield hints"
            raise SwzError("SWZ568", message, hint=hint)
    written: dict[int, ListedInstruction] = {}
    for each in own:
        for register in each.writes:
            if register in written:
                _refuse(listing, written[register], each, register)
            written[register] = each
    for each in own:
        for read in each.reads:
            other = written.get(read.register)
            if other is not None and other is not each:
                _refuse(listing, other, each, read.register)


def _refuse(listing: Listing, one: ListedInstruction, other: ListedInstruction, register: int) -> None:
    lines = sorted((one.line, other.line))
    message = f"listing {listing.name}: lines {lines[0]} and {lines[1]} depend on each other by R{register}"
    raise SwzError("SWZ568", message, hint="an order is searched for instructions that may stand in any order")


class _Steps:
    """The cost of each instruction after each other one, or as the first."""

    def __init__(self, listing: Listing) -> None:
        own = listing.instructions
        self.count = len(own)
        kept = [{read.slot: read.register for read in each.reads if read.register not in each.writes} for each in own]
        self._costs: list[list[_Step]] = []
        for each in own:
            row: list[_Step] = []
            for held in [*kept, {}]:
                read = {read.register for read in each.reads if held.get(read.slot) != read.register}
                row.append((listing.banks.extra_cycles(read), len(read)))
            self._costs.append(row)

    def of(self, before: int, then: int) -> _Step:
        """The cost of an instruction after another one, or after nothing."""
        return self._costs[then][before]

    def cost(self, order: Sequence[int]) -> _Step:
        """The cost of a whole order."""
        steps = [self.of(before, then) for before, then in zip([_FIRST, *order], order, strict=False)]
        return (sum(each[0] for each in steps), sum(each[1] for each in steps))

    def bound(self, part: int) -> int:
        """A lower bound of the conflicts (`part` 0) or reads (`part` 1) of every order.

        One instruction is the first; each other one costs at least what it costs after the best predecessor.
        """
        if not self.count:
            return 0
        least = [
            min((self.of(before, then)[part] for before in range(self.count) if before != then), default=10**6)
            for then in range(self.count)
        ]
        first = [self.of(_FIRST, then)[part] for then in range(self.count)]
        return min(sum(least) - least[then] + first[then] for then in range(self.count))


def _every(steps: _Steps, count: int) -> list[int]:
    """The best path through all instructions, from the best for each set and last instruction."""
    best: dict[tuple[int, int], tuple[_Step, int]] = {(1 << i, i): (steps.of(_FIRST, i), _FIRST) for i in range(count)}
    for size in range(1, count):
        for (seen, last), (cost, _) in [each for each in best.items() if each[0][0].bit_count() == size]:
            for then in range(count):
                if seen >> then & 1:
                    continue
                step = steps.of(last, then)
                total = (cost[0] + step[0], cost[1] + step[1])
                key = (seen | 1 << then, then)
                if key not in best or total < best[key][0]:
                    best[key] = (total, last)
    full = (1 << count) - 1
    last = min(range(count), key=lambda i: best[full, i][0])
    order, seen = [last], full
    while True:
        before = best[seen, order[-1]][1]
        if before == _FIRST:
            return order[::-1]
        seen ^= 1 << order[-1]
        order.append(before)


def _greedy(steps: _Steps, count: int) -> list[int]:
    """From each instruction to the cheapest of those that are left."""
    left = set(range(count))
    order: list[int] = []
    before = _FIRST
    while left:
        before = min(left, key=lambda then: (steps.of(before, then), then))
        order.append(before)
        left.remove(before)
    return order


def _improved(steps: _Steps, start: Sequence[int]) -> list[int]:
    """The order after moves of instructions and reversals of parts, as long as these help."""
    order = list(start)
    cost = steps.cost(order)
    for _ in range(_ROUNDS):
        better = _one_better(steps, order, cost)
        if better is None:
            break
        order, cost = better
    return order


def _one_better(steps: _Steps, order: list[int], cost: _Step) -> tuple[list[int], _Step] | None:
    """The first cheaper order that moves a costly instruction, or reverses a part that it ends."""
    if cost == (steps.bound(0), steps.bound(1)):
        return None
    costly = [i for i in range(len(order)) if steps.of(order[i - 1] if i else _FIRST, order[i])[0]] or range(len(order))
    for i in costly:
        rest = [*order[:i], *order[i + 1 :]]
        for j in range(len(order)):
            low, high = min(i, j), max(i, j) + 1
            turned = [*order[:low], *order[low:high][::-1], *order[high:]]
            for changed in ([*rest[:j], order[i], *rest[j:]], turned):
                found = steps.cost(changed)
                if found < cost:
                    return changed, found
    return None

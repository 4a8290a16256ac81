"""Which leaves decide what a thread does to barriers, and the periods of the trips among them.

The leaves are those in the addresses, parities and counts of events, and in what loops make of them. A trip
counts only as a number of a period: it is shown that nothing that is read of it changes if the trip is
later by one period.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import lcm
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, widened
from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, TripsLeaf, largest_parts
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.booleans import BOOLEAN, boolean_parts, joined
from swzverify.compiled.order.choices import Choices
from swzverify.compiled.order.events import Event
from swzverify.compiled.order.instance import BASE, MOST_TRIPS
from swzverify.compiled.order.launch_counts import LaunchCount, few_of, launch_count_of
from swzverify.compiled.order.low_bits import low_bits
from swzverify.compiled.order.needed import closure_of, first_trips_only, stages_of_products
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    TRUE,
    Binary,
    Compare,
    Comparison,
    Const,
    Expr,
    Ite,
    Var,
    compare,
    conjunction,
    conjuncts,
    const,
    negation,
    operands,
    postorder,
    substitute,
    var,
    variables,
)

_MOST_START: Final = 16
_MOST_PERIOD: Final = 24
_SEEN: Final = 4 * _MOST_PERIOD
_SAMPLES: Final = 4


@dataclass(frozen=True, slots=True)
class Period:
    """Trips from `start` on count as those from `start` to `end` - 1."""

    start: int
    end: int


class Tracked:
    """The leaves that are run on numbers; `open_leaf` is one that events read and that is not known; None without one.

    `never` says whether a condition is shown not to hold, `loaded` are leaves of loads that are followed, and `guards`
    are conditions that a run reads, too.
    """

    def __init__(
        self,
        kernel: Kernel,
        events: Mapping[int, Event],
        never: Callable[[Expr], bool],
        loaded: Iterable[Var] = (),
        guards: Iterable[Expr] = (),
    ) -> None:
        self._kernel, self._never, self._events = kernel, never, list(events.values())
        self._periodic: dict[tuple[Expr, Var, Period], bool] = {}
        answers = [each.answer for each in events.values() if each.answer is not None]
        values = [each for event in events.values() for each in event.values]
        _, needed = closure_of(kernel, values, lambda value: value)
        followed = {*answers, *loaded}
        self.choices = Choices(kernel, needed, followed, lambda value: value, never)
        self.count = launch_count_of(kernel, needed, self.choices.conditions, never)
        if self.count is not None:
            self.choices = Choices(kernel, map(self.count.put, needed), followed, self.count.put, never)
        self.leaves, self._needed = closure_of(kernel, values, self.put)
        self._few = few_of(kernel, self.leaves, self.put) if self.count is not None else {}
        self.periods = {each: self._period(each) for each in self.leaves if isinstance(kernel.leaves[each], TripsLeaf)}
        if self.count is not None:
            self._keep_periods(self.count)
        else:
            self._follow_stages()
        self.open_leaf = self._open_leaf()
        self.leaves = (*dict.fromkeys((*self.leaves, *first_trips_only(kernel))), *answers, *loaded)
        self.leaves = (*self.leaves, *kernel.ranks.targets.values())
        self._readable: dict[Expr, bool] = {}
        self._parts: dict[Expr, list[Expr]] = {}
        self._conditions = [self.put(event.guard) for event in events.values()]
        self._conditions += [
            self.put(kernel.edge(block.index, target))
            for block in kernel.flow.blocks
            if block.is_choice and kernel.flow.is_reachable(block.index)
            for target in kernel.flow.following[block.index]
        ]
        self._low_bits = self._find_low_bits(guards)

    def put(self, value: Expr) -> Expr:
        """A value with the count of the launch, and with a variable for each condition that is a choice."""
        return self.choices.put(value if self.count is None else self.count.put(value))

    def put_in(self, value: Expr, known: Mapping[Var, Expr], coordinates: Collection[Var] = ()) -> Expr:
        """A value with what is known of what is tracked, and of some coordinates; choices that are not known stay."""
        given = self.choices.put(value)
        numbers = {*self.pinned(given), *self.choices.variables, *coordinates}
        put = {each: known[each] for each in variables(given) if each in known and each in numbers}
        return self.choices.put_back(substitute(given, put))

    def kept(self, variable: Var, value: Expr) -> Expr:
        """What is kept of the value that a loop carries: the low bits that count."""
        bits = self._low_bits.get(variable, variable.width)
        return const(value.value & ((1 << bits) - 1), value.width) if isinstance(value, Const) else value

    def _find_low_bits(self, guards: Iterable[Expr]) -> dict[Var, int]:
        """How many low bits count of each variable, wherever a run may read it."""
        kernel = self._kernel
        accesses = [each for parts in kernel.parts.values() for each in parts]
        conditions = map(self.put, (*kernel.owns.values(), *guards))
        read = [*self._conditions, *conditions, *(each.address for each in accesses)]
        asked = [(each, each.width) for each in (*read, *map(self.put, read))]
        for event in self._events:
            asked += [(self.put(each), 1 if each is event.parity else each.width) for each in event.values]

        def carried(variable: Var) -> tuple[Expr, ...]:
            carry = kernel.carried.get(variable)
            return () if carry is None else (self.put(carry.before), self.put(carry.after))

        return low_bits(asked, carried)

    def truth(self, condition: Expr, value: Callable[[Expr], Expr]) -> bool | None:
        """Whether a condition holds; None if it depends on what is not tracked. `value` is asked for parts of it."""
        known: dict[Expr, bool | None] = {}
        if condition not in self._parts:
            self._parts[condition] = boolean_parts(condition)
        for node in self._parts[condition]:
            match node:
                case Binary(operator, left, right) if node.width == 1 and operator in BOOLEAN:
                    known[node] = joined(operator, known[left], known[right])
                case Ite(test, then, otherwise) if node.width == 1:
                    chosen = known[test]
                    if chosen is None:
                        known[node] = known[then] if known[then] == known[otherwise] else None
                    else:
                        known[node] = known[then if chosen else otherwise]
                case _:
                    is_test = self.count is not None and node in self.count.tests
                    found = value(node) if is_test or self.can_read(node) else node
                    known[node] = bool(found.value) if isinstance(found, Const) else None
        return known[condition]

    def can_read(self, value: Expr) -> bool:
        """Whether a value depends on coordinates and tracked leaves alone, and on trips as numbers of a period."""
        if value not in self._readable:
            read, leaves = variables(value), self._kernel.leaves
            is_here = all(
                self._is_made_up(each) or each in self.leaves or isinstance(leaves[each], LaneLeaf) for each in read
            )
            self._readable[value] = is_here and all(self._is_known(each, value) for each in read)
        return self._readable[value]

    def pinned(self, value: Expr) -> list[Var]:
        """The tracked leaves that may be replaced in a value by their numbers."""
        return [each for each in variables(value) if each in self.leaves and self._is_known(each, value)]

    def of_coordinates(self, guards: Iterable[Expr]) -> dict[Expr, set[Expr]]:
        """The expressions of thread coordinates that decide events: threads that agree on all of them behave alike.

        Each has the conditions on coordinates of which one has to hold, or it does not matter what the expression is.
        `guards` are more conditions that decide what a thread does.
        """
        conditions = [*self._conditions, *map(self.put, guards)]
        atoms = [each for condition in conditions for each in boolean_parts(condition) if self.can_read(each)]
        found: dict[Expr, set[Expr]] = {}
        owned: dict[Expr, set[Expr]] = {}
        for event in self._events:
            for value in event.values:
                owned.setdefault(self.put(value), set()).add(self._makers(event))
        carries = [self._kernel.carried[each] for each in self.leaves if each in self._kernel.carried]
        # Loops carry a value whether or not the event is executed that reads it, too.
        for carried in (self.put(part) for each in carries for part in (each.before, each.after)):
            owned.pop(carried, None)
        for root in (*self._needed, *atoms):
            for part in largest_parts(root, self._is_coordinate):
                found.setdefault(part, set()).update(owned.get(root, {TRUE}))
        return found

    def _makers(self, event: Event) -> Expr:
        """A condition on coordinates that every thread satisfies that executes an event."""
        conditions = [event.guard, *(each.who.guard for each in self._kernel.parts.get(event.index, ()))]
        parts = [part for each in conditions for part in conjuncts(self.put(each))]
        return conjunction(each for each in dict.fromkeys(parts) if all(map(self._is_coordinate, variables(each))))

    def _is_coordinate(self, leaf: Var) -> bool:
        return not self._is_made_up(leaf) and isinstance(self._kernel.leaves[leaf], LaneLeaf)

    # ---- parts

    def _is_known(self, leaf: Var, value: Expr) -> bool:
        if leaf in self.choices or (not self._is_count(leaf) and isinstance(self._kernel.leaves[leaf], LaneLeaf)):
            return True
        period = self.periods.get(leaf)
        return (leaf in self.leaves or self._is_count(leaf)) and (
            leaf not in self.periods or (period is not None and self._has(value, leaf, period))
        )

    def _is_count(self, variable: Var) -> bool:
        return self.count is not None and variable is self.count.variable

    def _is_made_up(self, variable: Var) -> bool:
        """Whether a variable is no leaf of the kernel."""
        return variable in self.choices or self._is_count(variable)

    def _open_leaf(self) -> Var | None:
        """A leaf that is needed and no coordinate, no address of an array, and not tracked; None without one."""
        kernel = self._kernel
        for value in self._needed:
            for each in variables(value):
                if self.count is not None and each is self.count.variable:
                    if self.periods[each] is None:
                        return self.count.leaf
                    continue
                if each in self.choices:
                    continue
                leaf = kernel.leaves[each]
                is_given = isinstance(leaf, LaneLeaf | ArrayLeaf)
                if not is_given and (each not in self.leaves or (each in self.periods and not self.periods[each])):
                    return each
        return None

    @cached_property
    def exact(self) -> int:
        """How many trips of loops that compare them with a count of the launch stand for themselves."""
        tests = () if self.count is None else self.count.tests.values()
        return min((period.start for each in tests if (period := self.periods.get(each.trip)) is not None), default=0)

    def need(self, block: int, events: Mapping[int, Event], guards: Mapping[int, Expr]) -> int:
        """From which number on a block need not tell counts of the launch apart; 0 if it does not ask for the count."""
        count, flow = self.count, self._kernel.flow
        if count is None:
            return 0
        inside = range(flow.blocks[block].start, flow.blocks[block].stop)
        values = [each for index in inside if index in events for each in events[index].values]
        for leaf in self.leaves:
            carry = self._kernel.carried.get(leaf)
            if carry is not None and self._kernel.leaves[leaf].block in flow.following[block]:
                is_back = flow.is_back(block, self._kernel.leaves[leaf].block or 0)
                values.append(carry.after if is_back else carry.before)
        if any(map(count.reads, values)):
            return count.end
        conditions = [self._kernel.edge(block, target) for target in flow.following[block]]
        conditions += [events[index].guard for index in inside if index in events]
        conditions += [guards[index] for index in inside if index in guards]
        return max((count.need(self.put(each)) for each in conditions), default=0)

    def forgotten(self, header: int, events: Mapping[int, Event]) -> set[Var]:
        """The choices that are not kept from one trip of a loop to the next one, and the count of the launch.

        A choice is kept that is asked for behind the loop, or in the loop, which does not decide it again. A count is
        forgotten if a loop inside compares its trips with it.
        """
        flow = self._kernel.flow
        around = flow.around(header)
        found: set[Var] = set()
        if len(around) == 1:
            inside = around[0].blocks
            edges = [self._kernel.edge(each, target) for each in inside for target in flow.following[each]]
            decided = {each for edge in edges for each in variables(self.put(edge))}
            found = {*self.choices.variables}
            for index, event in events.items():
                if flow.block_of[index] in reached([header], flow.following, lambda _: False):
                    _, values = closure_of(self._kernel, event.values, self.put)
                    asked = {each for value in values for each in variables(value)}
                    found -= asked - decided if flow.block_of[index] in inside else asked
        tests = () if self.count is None else self.count.tests.values()
        tested = {self._kernel.leaves[each.trip].block for each in tests}
        is_inner = not tested.isdisjoint(flow.loop_at[header].blocks)
        if self.count is not None and is_inner and tested.isdisjoint(each.header for each in around):
            found.add(self.count.variable)
        return found

    def _keep_periods(self, count: LaunchCount) -> None:
        """Find the period of a count, and count the trips of loops that compare them with it in such periods."""
        found = self.periods[count.variable] = self._period(count.variable, count.start)
        if found is None:
            return
        count.start, count.end = found.start, found.end
        for trip in {each.trip: None for each in count.tests.values()}:
            own = self.periods.get(trip)
            length = lcm(found.end - found.start, own.end - own.start if own else 1)
            start = max(found.start, own.start if own else 0)
            if trip not in self.leaves:
                self.leaves = (*self.leaves, trip)
            elif own is None or length > _MOST_PERIOD:
                # The trip is kept as a number of another period: it does not say which number the count is.
                count.drop(trip)
                continue
            self.periods[trip] = Period(start, start + length)

    def _follow_stages(self) -> None:
        """Follow trips that say which stage a product reads, where no event asks for them."""
        for leaf, parts in stages_of_products(self._kernel, self.put).items():
            needed = self._needed
            if leaf not in self.leaves:
                self._needed = [*needed, *parts]
                period = self._period(leaf)
                if period is None:
                    self._needed = needed
                else:
                    self.leaves, self.periods[leaf] = (*self.leaves, leaf), period

    def _period(self, leaf: Var, least: int = 0) -> Period | None:
        """A period of the trips in all that is needed, from `least` on or later; None if none is shown."""
        needed = [each for each in self._needed if leaf in variables(each)]
        rng, rows = random.Random(0), list[tuple[int, ...]]()  # noqa: S311 - samples, no secrets
        others = {each.name: self._few.get(each, each.limit) for each in variables(*needed) if each is not leaf}
        points = [{name: rng.randrange(limit) for name, limit in others.items()} for _ in range(_SAMPLES)]
        for trip in range(_SEEN):
            rows.append(tuple(evaluate(each, {**point, leaf.name: trip}) for each in needed for point in points))
        for end, start in _candidates():
            if all(rows[at] == rows[at + end - start] for at in range(start, _SEEN - end + start)):
                # Behind the first trips, in which a register is what it was before the loop, there is less to show.
                later = sorted((each for each in _first_trips(needed, leaf) if each > start), reverse=True)
                firsts = dict.fromkeys(max(each, least) for each in (*later, start))
                starts = (Period(each, each + end - start) for each in firsts)
                return next((p for p in starts if all(self._has(each, leaf, p) for each in needed)), None)
        return None

    def _has(self, value: Expr, leaf: Var, period: Period) -> bool:
        """Whether a value is the same in trips that are a period apart: because its parts are, or by itself."""
        key = value, leaf, period
        if key not in self._periodic:
            parts = [each for each in operands(value) if leaf in variables(each)]
            is_leaf = value is leaf
            by_parts = not is_leaf and all(self._has(each, leaf, period) for each in parts)
            self._periodic[key] = by_parts or (not is_leaf and self._is_shown(value, leaf, period))
        return self._periodic[key]

    def _is_shown(self, value: Expr, leaf: Var, period: Period) -> bool:
        point = {each.name: 0 for each in variables(value)}
        for number in range(_MOST_PERIOD):
            one, two = (evaluate(value, {**point, leaf.name: by + number}) for by in (period.start, period.end))
            if one != two:
                return False
        if self.count is not None and leaf is self.count.variable:
            return self.count.is_periodic(value, period.start, period.end, self._few)
        trip = var(f"{BASE}{leaf.name}", MOST_TRIPS)

        def later(by: int) -> Expr:
            return substitute(value, {leaf: add(widened(trip, leaf.width), const(by, leaf.width))})

        return self._never(negation(compare(Comparison.EQ, later(period.start), later(period.end))))


def _candidates() -> Iterable[tuple[int, int]]:
    """Ends and starts of periods, the earliest ends first."""
    for end in range(1, _MOST_START + _MOST_PERIOD + 1):
        for start in range(max(0, end - _MOST_PERIOD), min(end, _MOST_START + 1)):
            yield end, start


def _first_trips(values: Iterable[Expr], leaf: Var) -> set[int]:
    """Numbers of trips below which some values are told apart from later ones."""
    return {
        node.right.value
        for value in values
        for node in postorder(value)
        if isinstance(node, Compare) and node.left is leaf and isinstance(node.right, Const)
        if node.comparison is Comparison.ULT and node.right.value <= _MOST_START
    }

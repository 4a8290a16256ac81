"""The leaf oracle: every leaf that two threads share has one value in both, in all trips of random programs.

All pairs of accesses that two threads really make between the same barriers are looked up among the
meetings; there, addresses and conditions have the values that the threads computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest

from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.leaves import Leaf, LoopLeaf, TripsLeaf
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order import instance, intervals
from swzverify.compiled.order.barriers import Scope, orders_of
from swzverify.compiled.order.instance import BASE, Instances, Place
from swzverify.compiled.order.intervals import Meeting, Trip, Trips, meetings
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.step import InStep, Sharing, in_step
from swzverify.compiled.order.threads import Couple
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, Var, variables
from tests.order.conftest import module_of
from tests.order.programs import NESTED, Event, Run, Writer, run

THREADS = 6
ARRAY = 4096
LARGE = 3
"""The seed of a program with many pairs of accesses, which takes as long as all others by day."""
BY_DAY = [seed for seed in range(35) if seed != LARGE]
BY_NIGHT = [LARGE, *range(35, 700)]


class WrongError(AssertionError):
    """The analysis says something that no run does."""


class Seen(Instances):
    """Instances that keep which variable stands for which leaf."""

    def __init__(self, kernel: Kernel, sharing: Sharing) -> None:
        super().__init__(kernel, sharing, Couple.ANY)
        self.named: list[tuple[str, Leaf, int, Place]] = []

    def _named(self, leaf: Leaf, who: int, place: Place) -> Expr:
        found = super()._named(leaf, who, place)
        assert isinstance(found, Var)
        self.named.append((found.name, leaf, who, place))
        return found


class Oracle:
    """One program, run by all threads."""

    def __init__(self, body: str, n: int) -> None:
        module = module_of(body)
        self.kernel = Kernel(module, inlined(module, module.functions[0]), (THREADS, 1, 1))
        self.step: InStep = in_step(self.kernel, Scope.BLOCK, orders_of(self.kernel))
        self.n = n
        runs = [run(self.kernel, thread, n, ARRAY) for thread in range(THREADS)]
        self.runs = [each for each in runs if each is not None]
        self.checked = 0

    def check(self) -> None:
        """Look up every pair of accesses that two threads make between the same barriers.

        Raises:
            WrongError: One of them is no meeting, or has other values.
        """
        assert not self.step.divergent, self.step.divergent
        by_pair: dict[tuple[int, int], list[Meeting]] = {}
        for each in meetings(self.kernel, self.step):
            by_pair.setdefault((each.first, each.second), []).append(each)
        for one, first in enumerate(self.runs):
            for two, second in enumerate(self.runs):
                if one == two:
                    continue
                for a in first.events:
                    for b in second.events:
                        if a.interval == b.interval and a.index <= b.index:
                            self._look_up((one, two), (a, b), by_pair.get((a.index, b.index), []))

    def _look_up(self, threads: tuple[int, int], events: tuple[Event, Event], found: list[Meeting]) -> None:
        self.checked += 1
        fitting = [(each, bases) for each in found if (bases := _bases(each, events)) is not None]
        if not fitting:
            raise WrongError("no meeting", threads, events)
        if not [each for each in fitting if self._has_way(threads, events, *each)]:
            raise WrongError("no way", threads, events)

    def _has_way(
        self, threads: tuple[int, int], events: tuple[Event, Event], meeting: Meeting, bases: dict[int, int]
    ) -> bool:
        """Whether the threads took one of the ways of a meeting; all values of it are checked."""
        both = self.kernel.parts[meeting.first][0], self.kernel.parts[meeting.second][0]
        asked = Asked(Instances(self.kernel, self.step.sharing, Couple.ANY), meeting, both)
        seen = Seen(self.kernel, self.step.sharing)
        places = asked._places(seen)
        addresses = [seen.value(each.address, who, places[who]) for who, each in enumerate(asked.accesses)]
        true = [seen.value(each.who.guard, who, places[who]) for who, each in enumerate(asked.accesses)]
        true += [each for who in (0, 1) for each in seen.reached(who, places[who])]
        ways = [asked._way(seen, way) for way in meeting.ways]
        env = {"thread": threads[0], "thread'": threads[1], "n+0:4": self.n, "shared s": ARRAY // 16}
        env |= {f"{BASE}{self.kernel.trips(header).name}": number for header, number in bases.items()}
        for name, leaf, who, place in seen.named:
            value = self._leaf(leaf, self.runs[threads[who]], events[who], place, bases)
            if value is not None and env.setdefault(name, value) != value:
                raise WrongError("one name for two values", name, env[name], value, threads, events)
        for who in (0, 1):
            if _known(addresses[who], env) not in (None, events[who].address):
                raise WrongError("another address", threads, events, meeting)
        if any(_known(each, env) == 0 for each in (*true, *seen.uses.facts)):
            raise WrongError("a condition that does not hold", threads, events, meeting)
        return any(all(_known(each, env) != 0 for each in way) for way in ways)

    def _leaf(self, leaf: Leaf, of: Run, event: Event, place: Place, bases: dict[int, int]) -> int | None:
        """The value that a leaf had in a run; None if the leaf is of no loop."""
        if leaf.block is None or not isinstance(leaf, LoopLeaf):
            return None
        known, trips, is_left = dict(place), list[int](), False
        for loop in self.kernel.flow.around(leaf.block):
            is_left = is_left or loop.header not in known
            trip = known.get(loop.header)
            if is_left:
                trips.append(of.last[loop.header, tuple(trips)])
            elif trip is None:
                trips.append(event.trips[loop.header])
            else:
                trips.append((trip.number or 0) + (0 if trip.is_absolute else bases[loop.header]))
        if isinstance(leaf, TripsLeaf):
            return trips[-1]
        text = leaf.name.partition(" beside ")
        register = (text[2] or text[0]).partition(":")[0]
        now = of.registers[leaf.block, tuple(trips)].get(register, 0)
        if not text[2]:
            return now & (leaf.variable.limit - 1)
        start = of.registers[leaf.block, (*trips[:-1], 0)].get(register, 0)
        multiple = int(text[0].removeprefix("multiples of "))
        return (now - start) % (1 << 32) // multiple


def _bases(meeting: Meeting, events: tuple[Event, Event]) -> dict[int, int] | None:
    """The trips from which a meeting counts, if these events fit it."""
    found: dict[int, int] = {}
    for trips, event in zip(meeting.trips, events, strict=True):
        if not _fits(trips, event, found):
            return None
    return found


def _fits(trips: Trips, event: Event, bases: dict[int, int]) -> bool:
    for header, trip in trips:
        if trip.number is None:
            continue
        base = event.trips[header] - trip.number
        if base < 0 or base != (0 if trip.is_absolute else bases.setdefault(header, base)):
            return False
    return True


def _known(value: Expr, env: dict[str, int]) -> int | None:
    """The value of an expression; None if it reads what the oracle does not know."""
    return evaluate(value, env) if all(each.name in env for each in variables(value)) else None


def _check(seeds: Iterable[int]) -> int:
    checked = 0
    for seed in seeds:
        rng = random.Random(seed)
        oracle = Oracle(Writer(rng).body() if seed else NESTED, rng.randrange(4))
        try:
            oracle.check()
        except WrongError as error:
            raise WrongError(seed, *error.args) from None
        checked += oracle.checked
    return checked


def test_every_shared_leaf_has_one_value() -> None:
    """No random program has two threads that differ in a leaf that they share."""
    assert _check(BY_DAY) > 1000


@pytest.mark.nightly
def test_many_programs() -> None:
    """As above, for more programs."""
    assert _check(BY_NIGHT) > 10_000


def _trips_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A leaf of a trip is shared whatever the trips are."""
    right = Instances._named

    def wrong(self: Instances, leaf: Leaf, who: int, place: Place) -> Expr:
        tied = tuple((header, trip or Trip(is_absolute=False, number=0)) for header, trip in place)
        return right(self, leaf, who, tied)

    patch.setattr(Instances, "_named", wrong)


def _left_together(patch: pytest.MonkeyPatch) -> None:
    """Threads leave every loop at one trip."""
    patch.setattr(Sharing, "_leaves_together", lambda _self, _header: True)


def _inner_trip_kept(patch: pytest.MonkeyPatch) -> None:
    """In the trip before, a thread is still in the trip of the inner loop that it is in now."""
    right = instance.outside

    def wrong(place: Place, header: int) -> Place:
        return tuple(each for each in place if each[0] != header) if len(place) > 1 else right(place, header)

    patch.setattr(instance, "outside", wrong)


def _back_edge_forgotten(patch: pytest.MonkeyPatch) -> None:
    """An edge back to a loop's header begins no new trip."""
    patch.setattr(intervals, "_next", lambda trip: trip)


def _all_is_shared(patch: pytest.MonkeyPatch) -> None:
    """Every leaf of a loop is shared."""
    patch.setattr(Sharing, "leaf", lambda *_: True)


def _choices_of_all(patch: pytest.MonkeyPatch) -> None:
    """All threads take one edge of every choice."""
    patch.setattr(Sharing, "is_shared_choice", lambda _self, _block: True)


FOUND = [
    (_trips_forgotten, 32),
    (_left_together, 3),
    (_inner_trip_kept, 0),
    (_back_edge_forgotten, 0),
    (_all_is_shared, 3),
    (_choices_of_all, 5),
]
"""Planted mistakes, each with the first seed whose runs contradict it."""


@pytest.mark.parametrize(("plant", "seed"), FOUND, ids=[plant.__name__ for plant, _ in FOUND])
def test_planted_mistake(
    plant: Callable[[pytest.MonkeyPatch], None], seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oracle finds a mistake in what is shared."""
    plant(monkeypatch)
    with pytest.raises(WrongError):
        _check([seed])

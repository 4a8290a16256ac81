"""Named barriers, barrier objects and bulk copies: right kernels are free, and none with a mistake is."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import product

import pytest

from swzverify.compiled.kernel import elections
from swzverify.compiled.kernel.slices import Wanted
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order import interleaved, objects, pipelines
from swzverify.compiled.order.at_nodes import AtNodes
from swzverify.compiled.order.barriers import Scope
from swzverify.compiled.order.events import Act
from swzverify.compiled.order.flights import Flight, Flights, Running
from swzverify.compiled.order.groups import Groups
from swzverify.compiled.order.nodes import Deed
from swzverify.compiled.order.pipelines import Pipelines
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.step import Sharing
from swzverify.compiled.order.together import ACTIVE
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.order.walk import Walk
from swzverify.compiled.scan import race_parts
from swzverify.ir.expr import Expr
from tests.order.conftest import races
from tests.order.ends import ELECTIONS, ENDS
from tests.order.rings import RINGS

SLOW = {
    "answer of the other sense",
    "arrival before the load",
    "arrival before the store",
    "cp.async, freed before the load",
    "cp.async, no group",
    "cp.async, no wait",
    "cp.async, one group too late",
    "cp.async, one lane waits",
    "cp.async, wait behind the arrival",
    "elected lane",
    "elected lane alone",
    "elected lane before the load",
    "ended, ring of copies, which is not proved",
    "stages overlap",
}
Patch = Callable[[pytest.MonkeyPatch], None]


KERNELS = (
    RINGS
    | {f"ended, {name}": each for name, each in ENDS.items()}
    | {f"elected, {name}": each for name, each in ELECTIONS.items()}
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.nightly] * (n in SLOW)) for n in KERNELS])
def test_free_only_if_right(name: str) -> None:
    """A kernel is free if it is right, and only then."""
    body, is_free, threads = KERNELS[name]
    assert (races(body, threads).verdict is RaceVerdict.FREE) is is_free


def test_the_elected_lane_is_assumed_in_words() -> None:
    found = races(ELECTIONS["and the first lane are one"].body, 32)
    assert found.assumptions == ("elect.sync elects lane 0 of each warp, at line 16",)


def _nothing(*_: object) -> list[object]:
    return []


def _phases_are_ignored(patch: pytest.MonkeyPatch) -> None:
    """A wait waits for everyone once, whatever its parity is: it passes in phase 1 alone."""
    right = interleaved._Runs._done

    def wrong(self: interleaved._Runs, state: interleaved._State, who: int, deed: Deed) -> object:
        if deed.act is Act.WAIT:
            place = self._keys.get(self._named(deed.key, who), -1)
            return state if place < 0 or state.objects[place].phase == 1 else None
        return right(self, state, who, deed)

    patch.setattr(interleaved._Runs, "_done", wrong)


def _counts_need_not_add_up(patch: pytest.MonkeyPatch) -> None:
    """The count of `init` is taken to be what the threads add up to."""

    right = objects._maker

    def wrong(key: Expr, deeds: list[tuple[int, Deed]], roles: Sequence[Role]) -> tuple[int, int]:
        shares = {at: deed.count for at, deed in deeds if deed.act is Act.ARRIVE}
        return right(key, deeds, roles)[0], sum(len(roles[at].threads) * count for at, count in shares.items())

    patch.setattr(objects, "_maker", wrong)


def _copies_are_done_at_once(patch: pytest.MonkeyPatch) -> None:
    """A copy is complete when it is issued."""
    right = interleaved._Runs._keep

    def wrong(self: interleaved._Runs, state: interleaved._State) -> None:
        right(self, state._replace(flights=()))

    patch.setattr(interleaved._Runs, "_keep", wrong)


def _fences_are_not_needed(patch: pytest.MonkeyPatch) -> None:
    """A copy comes after what was stored before it, without a fence."""
    right = Flights.behind

    def wrong(self: Flights, index: int, flights: frozenset[Flight]) -> frozenset[Flight]:
        return frozenset(each for each in right(self, index, flights) if each.how is not Running.UNFENCED)

    patch.setattr(Flights, "behind", wrong)


def _copies_release_their_thread(patch: pytest.MonkeyPatch) -> None:
    """The end of a copy says that its thread has done what stands before it."""
    patch.setattr(objects, "_late_copies", _nothing)


def _arrival_of_one_is_that_of_its_warp(patch: pytest.MonkeyPatch) -> None:
    """The lanes of a warp are where the lane is that arrives: no thread is behind another one."""
    patch.setattr(Groups, "pairs", _nothing)


def _shared_memory_is_constant_between_barriers(patch: pytest.MonkeyPatch) -> None:
    """Lemma 3 is used although barriers of parts of the block order writes, too."""
    right = Sharing.__init__

    def wrong(self: Sharing, kernel: Kernel, scope: Scope, barriers: set[int], **_: object) -> None:
        right(self, kernel, scope, barriers)

    patch.setattr(Sharing, "__init__", wrong)


def _objects_are_made_before(patch: pytest.MonkeyPatch) -> None:
    """An object is taken to be initialised before all that uses it."""
    patch.setattr(Pipelines, "_unmade", lambda *_: None)


def _arrivals_are_never_early(patch: pytest.MonkeyPatch) -> None:
    """Lemma 6 is used without lemma 7: nobody asks whether a thread arrives twice in one phase."""
    patch.setattr(Pipelines, "early", lambda _: "")


def _nobody_uses_what_has_ended(patch: pytest.MonkeyPatch) -> None:
    """An object is taken to be ended behind all that uses it."""
    patch.setattr(Pipelines, "_ended", lambda *_: None)


def _copies_need_no_object(patch: pytest.MonkeyPatch) -> None:
    """An object may end while a copy to it is in flight."""
    right = interleaved._Runs._done

    def wrong(self: interleaved._Runs, state: interleaved._State, who: int, deed: Deed) -> object:
        return right(self, state._replace(flights=()) if deed.act is Act.END else state, who, deed)

    patch.setattr(interleaved._Runs, "_done", wrong)


def _any_lanes_elect(patch: pytest.MonkeyPatch) -> None:
    """Lane 0 is elected among lanes of which it is none."""
    patch.setattr(elections, "lane_in_whole_warp", lambda slices, _: slices.threads.lane(slices.leaves))


def _any_mask_names_all(patch: pytest.MonkeyPatch) -> None:
    """Lane 0 is elected whatever the mask is."""

    def wrong(*_: object) -> Generator[Wanted, Expr, bool]:
        yield from ()
        return True

    patch.setattr(elections, "names_all", wrong)


def _places_are_not_counted(patch: pytest.MonkeyPatch) -> None:
    """All threads are taken to come equally often to a barrier without a count."""
    patch.setattr(pipelines, "arrivals_of", lambda *_: 1)


def _lanes_come_together(patch: pytest.MonkeyPatch) -> None:
    """The lanes of a warp are taken to come together to each barrier."""
    patch.setattr(race_parts, "missed_by_lanes", lambda *_: set[int]())


def _copies_end_at_once(patch: pytest.MonkeyPatch) -> None:
    """A `cp.async` has written when its instruction is executed."""

    def wrong(walk: Walk) -> AtNodes:
        found: AtNodes = {}
        for at, node in enumerate(walk.nodes):
            for touch, being in product(node.touches, ACTIVE):
                there = found.setdefault(touch.index, {})
                there[at, being] = (*there.get((at, being), ()), touch.values)
        return found

    patch.setattr(pipelines, "made_at", wrong)


MISTAKES: dict[str, tuple[Patch, str]] = {
    "phases": (_phases_are_ignored, "phase never flips"),
    "counts": (_counts_need_not_add_up, "count too small"),
    "cp.async": (_copies_end_at_once, "cp.async, wait behind the arrival"),
    "flights": (_copies_are_done_at_once, "copy that a barrier does not wait for"),
    "fences": (_fences_are_not_needed, "copies over what was stored"),
    "releases": (_copies_release_their_thread, "store after the arrival"),
    "lemma 3": (_shared_memory_is_constant_between_barriers, "flag behind objects"),
    "objects": (_objects_are_made_before, "object that is made at last"),
    "ends": (_nobody_uses_what_has_ended, "ended, an arrival behind it"),
    "ends and waits": (_nobody_uses_what_has_ended, "ended, a wait behind it"),
    "ends and questions": (_nobody_uses_what_has_ended, "ended, a question behind it"),
    "ends and ends": (_nobody_uses_what_has_ended, "ended, twice"),
    "ends and copies": (_copies_need_no_object, "ended, copy in flight"),
    "ends and barriers": (_copies_need_no_object, "ended, copy in flight, behind a barrier"),
    "elections": (_any_lanes_elect, "elected, among the upper lanes"),
    "elections by masks": (_any_mask_names_all, "elected, by a mask in a parameter"),
    "lemma 7": (_arrivals_are_never_early, "object with two arrivals of one thread in the place of another"),
    "lemma 7 in a ring": (_arrivals_are_never_early, "one warp arrives for two"),
    "named": (_shared_memory_is_constant_between_barriers, "flag behind named barriers"),
    "places": (_places_are_not_counted, "two places of one barrier, one of them in no warp"),
    "places, once and twice": (_places_are_not_counted, "two places of one barrier, once and twice"),
    "places in a warp": (_lanes_come_together, "two places of one barrier for the lanes of a warp"),
    "lanes": (_arrival_of_one_is_that_of_its_warp, "elected lane frees copies alone"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake of ours, some kernel gets a wrong verdict."""
    patch, kernel = MISTAKES[name]
    body, _, threads = KERNELS[kernel]
    patch(monkeypatch)
    assert races(body, threads).verdict is RaceVerdict.FREE

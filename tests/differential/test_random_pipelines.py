"""Random pipelines of bulk copies and wgmma against all runs of a few iterations, and misreadings that they show."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from swzverify.subjects import phase, role_closure, role_lines, role_run
from swzverify.subjects.role import WaitProducts
from swzverify.subjects.role_closure import Closure
from swzverify.subjects.role_lines import Event, Kind
from swzverify.subjects.role_unrolled import Unrolled
from tests.differential.comparison import against_runs
from tests.nightly import counts, share
from tests.oracle.oracle_errors import OracleAmbiguousError
from tests.oracle.random_pipelines import ROUNDS, pipeline_spec
from tests.oracle.yaml_values import Spec, Yaml, as_dict

pytestmark = pytest.mark.usefixtures("small_groups")
Patch = pytest.MonkeyPatch


def drawn(seed: int) -> Spec:
    return pipeline_spec(random.Random(seed))


@pytest.mark.parametrize("count", counts(4, 1_200))
def test_every_verdict_on_pipelines_is_that_of_the_runs(count: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(count):
        try:
            outcome, wrong = against_runs(drawn(seed), ROUNDS)
        except OracleAmbiguousError:  # more states than all runs are followed for
            seen["left out"] += 1
            continue
        assert not wrong, (seed, outcome)
        seen[outcome] += 1
    assert seen["left out"] <= count // 100, seen
    assert seen["unknown"] <= max(1, count // 20), seen
    assert min(seen["proved"], seen["refuted"]) >= count // 5, seen


def ring(
    fill: list[Yaml], take: list[Yaml], threads: str = "tid == 32", end: list[Yaml] | None = None, arrivals: int = 1
) -> Spec:
    """One iteration of a producer and a consumer with two tiles of one stage."""
    spec = drawn(0)
    roles: dict[str, Yaml] = {
        "producer": {"threads": "tid == 0", "steps": fill},
        "consumer": {"threads": threads, "steps": take, "after": end or []},
    }
    barriers: dict[str, Yaml] = {"full": {"arrivals": 1}, "read": {"arrivals": arrivals}}
    common: dict[str, Yaml] = {"threads": 128, "for": {"i": "any"}}
    places = {
        "fill": "0",
        "read": "0",
        "store": "4 * (tid / 64)",
        "own": "4 * (tid / 64)",
        "next": "4 - 4 * (tid / 64)",
    }
    spec["accesses"] = {
        name: {"instruction": f"{'st' if name in ('fill', 'store') else 'ld'}.shared.b32", "address": place, **common}
        for name, place in places.items()
    }
    tile = {**as_dict(as_dict(spec["tiles"])["T"]), "stages": 1}
    operand = {**as_dict(as_dict(spec["operands"])["G"]), "for": {"s": 1}}
    spec["tiles"] = {"T": tile, "U": {**tile, "base": 4096}}
    spec["operands"] = {"G": operand, "H": {**operand, "reads": {**as_dict(operand["reads"]), "tile": "U"}}}
    spec["phases"] = {"P": {"for": {"i": 1}, "threads": 128, "barriers": barriers, "roles": roles}}
    return spec


WAIT: Yaml = {"wait": "full", "phase": 0}
FULL: Yaml = {"arrive": "full"}
COPY: Yaml = {"tma": "T", "barrier": "full"}
READ: Yaml = {"wgmma": "G", "at": {"s": 0}}
BOTH = "tid == 32 || tid == 64"
COPIED: list[Yaml] = [{"arrive": "full", "bytes": 256}, COPY]

OTHER: Yaml = {"tma": "U", "barrier": "full"}
READ_OTHER: Yaml = {"wgmma": "H", "at": {"s": 0}}
DONE: Yaml = {"wgmma_wait": 0}
FENCE: Yaml = {"fence": "proxy"}
MEET: Yaml = {"bar_sync": 1, "threads": 2}
LANES = "tid == 32 || tid == 33"
TAKEN: list[Yaml] = [{"wait": "read", "phase": 0}, "fill"]
ONE: Yaml = {"arrive": "read", "by": "tid == 32"}


def expecting(bytes_: int) -> Yaml:
    return {"arrive": "full", "bytes": bytes_}


NAMED: dict[str, tuple[Spec, str]] = {
    "a copy": (ring(COPIED, [WAIT, READ]), "proved"),
    "a copy before its bytes are expected": (ring(COPIED[::-1], [WAIT, READ]), "proved"),
    "bytes of one copy of two": (ring([expecting(256), COPY, OTHER], [WAIT, READ]), "refuted"),
    "bytes of two copies": (ring([expecting(512), COPY, OTHER], [WAIT, READ, READ_OTHER]), "proved"),
    "bytes that nobody copies": (ring([expecting(512), COPY], [WAIT, READ]), "refuted"),
    "no bytes": (ring([FULL, COPY], [WAIT, READ]), "refuted"),
    "a copy that nobody waits for": (ring([*COPIED, "read"], [WAIT]), "refuted"),
    "an access before the copy": (ring(["read", *COPIED], [WAIT]), "proved"),
    "a store before the copy": (ring(["fill", *COPIED], [WAIT]), "refuted"),
    "a store and a fence before the copy": (ring(["fill", FENCE, *COPIED], [WAIT]), "proved"),
    "a fence before the store": (ring([FENCE, "fill", *COPIED], [WAIT]), "refuted"),
    "wgmma without a wait": (ring(COPIED, [WAIT, READ, "fill"]), "refuted"),
    "wgmma with a wait": (ring(COPIED, [WAIT, READ, DONE, "fill"]), "proved"),
    "one group left": (ring(COPIED, [WAIT, READ, {"wgmma_wait": 1}, "fill"]), "refuted"),
    "two steps of a group": (ring(COPIED, [WAIT, READ, READ_OTHER, {"wgmma_wait": 1}, "fill"]), "refuted"),
    "two groups": (ring(COPIED, [WAIT, READ, FENCE, READ_OTHER, {"wgmma_wait": 1}, "fill"]), "proved"),
    "wgmma of a fenced store": (ring(["fill", FENCE, FULL], [WAIT, READ]), "proved"),
    "wgmma of a store": (ring(["fill", FULL], [WAIT, READ]), "refuted"),
    "a fence of the reader": (ring(["fill", FULL], [WAIT, FENCE, READ]), "proved"),
    "an epilogue": (ring(COPIED, [WAIT, READ, DONE], BOTH, ["store"]), "refuted"),
    "an epilogue behind a barrier": (ring(COPIED, [WAIT, READ, DONE], BOTH, [MEET, "store"]), "proved"),
    "a barrier where nobody waits": (
        ring(COPIED, [WAIT, "own"], BOTH, ["store", {"bar_arrive": 1, "threads": 2}, "next"]),
        "refuted",
    ),
    "a barrier where both wait": (ring(COPIED, [WAIT, "own"], BOTH, ["store", MEET, "next"]), "proved"),
    "a barrier with a thread too many": (ring(COPIED, [WAIT, MEET, READ]), "refuted"),
    "lanes": (ring(COPIED, [WAIT, "own", "store"], LANES), "refuted"),
    "lanes of two warps": (ring(COPIED, [WAIT, "own", "syncwarp", "store", "syncwarp", "next"], BOTH), "refuted"),
    "lanes that stay apart": (ring(COPIED, [WAIT, "own", "syncwarp", "store", "syncwarp", "own"], BOTH), "proved"),
    "one lane arrives for two": (ring([*COPIED, *TAKEN], [WAIT, "read", ONE], LANES), "refuted"),
    "one lane arrives behind syncwarp": (ring([*COPIED, *TAKEN], [WAIT, "read", "syncwarp", ONE], LANES), "proved"),
    "one warp arrives for two": (ring([*COPIED, *TAKEN], [WAIT, "read", "syncwarp", ONE], BOTH), "refuted"),
}
"""Pipelines of one iteration, with their verdicts."""


@pytest.mark.parametrize("name", share(NAMED, 3))
def test_named_pipelines(name: str) -> None:
    spec, outcome = NAMED[name]
    assert against_runs(spec, 1) == (outcome, False)


def any_number(roles: dict[str, Yaml]) -> Spec:
    """A loop of any number of iterations, with these roles."""
    spec = ring([FULL], ["own"])
    whole = as_dict(as_dict(spec["phases"])["P"])
    spec["phases"] = {"P": {**whole, "for": {"i": "any"}, "roles": roles}}
    return spec


def test_a_prologue_that_waits_for_many_iterations(monkeypatch: Patch) -> None:
    """What comes before a step before the loop, in the iterations that are unrolled, is not all that there is."""
    monkeypatch.setattr(role_run, "find_hang", lambda _: "")
    waits: list[Yaml] = [{"wait": "full", "phase": at % 2} for at in range(14)]
    roles: dict[str, Yaml] = {
        "producer": {"threads": "tid == 0", "steps": ["fill", FULL]},
        "consumer": {"threads": "tid == 32", "before": [*waits, "read"], "steps": [{"wait": "read", "phase": 0}]},
    }
    assert against_runs(any_number(roles), 16) == ("unknown", False)


def test_an_arrival_behind_the_loop_out_of_turn(monkeypatch: Patch) -> None:
    """A thread that is through arrives for the producer."""
    monkeypatch.setattr(role_run, "find_hang", lambda _: "")
    roles: dict[str, Yaml] = {
        "producer": {"threads": "tid == 0", "steps": ["fill", FULL, {"wait": "read", "phase": "i % 2"}]},
        "consumer": {
            "threads": "tid == 32",
            "steps": [{"wait": "full", "phase": "i % 2"}, "read", {"arrive": "read"}],
        },
    }
    assert against_runs(any_number(roles), 3) == ("proved", False)
    roles["third"] = {"threads": "tid == 64", "steps": [FENCE], "after": [FULL]}
    assert against_runs(any_number(roles), 3) == ("refuted", False)


def fence_ignored(patch: Patch) -> None:
    patch.setattr(Unrolled, "needs_fence", lambda *_: False)


def fence_covers_later_writes(patch: Patch) -> None:
    sound = Closure._advance

    def wrong(order: Closure, found: list[role_closure.Known], number: int, good: set[tuple[str, int]]) -> bool:
        moved = sound(order, found, number, good)
        own = found[number]
        if moved and own.fences[-1]:
            own.fences[-1] = own.at
        return moved

    patch.setattr(Closure, "_advance", wrong)


def bytes_ignored(patch: Patch) -> None:
    """Who expects less than is copied waits for the copies all the same."""
    sound = Closure._adds_up

    def wrong(order: Closure, those: tuple[str, int]) -> bool:
        return sound(order, those) or any(order.lines.all[number].is_async for number in order._arrivals[those])

    patch.setattr(Closure, "_adds_up", wrong)


def no_group_is_left(patch: Patch) -> None:
    sound = role_lines._Writer._drain

    def wrong(writer: role_lines._Writer, step: WaitProducts, *given: object) -> None:
        sound(writer, replace(step, pending=0), *given)  # type: ignore[arg-type]

    patch.setattr(role_lines._Writer, "_drain", wrong)


def groups_of_one_step(patch: Patch) -> None:
    """Each wgmma is a group of its own: a wait leaves one of them, and not all of the last group."""
    sound = role_lines._Writer._start

    def wrong(writer: role_lines._Writer, *given: object) -> None:
        if writer.is_open:
            writer._close()
        sound(writer, *given)  # type: ignore[arg-type]

    patch.setattr(role_lines._Writer, "_start", wrong)


def arrive_is_a_barrier(patch: Patch) -> None:
    sound = role_lines._Writer._meet

    def wrong(writer: role_lines._Writer, *given: object, **_: object) -> None:
        sound(writer, *given)  # type: ignore[arg-type]

    patch.setattr(role_lines._Writer, "_meet", wrong)


def copies_are_complete_at_once(patch: Patch) -> None:
    """What a thread does behind the start of a copy comes behind the copy."""
    sound = Closure._advance

    def wrong(order: Closure, found: list[role_closure.Known], number: int, good: set[tuple[str, int]]) -> bool:
        moved = sound(order, found, number, good)
        own = found[number]
        event = own.line.events[own.at - 1] if moved else Event(Kind.FENCE, phase.Place(phase.Part.STEPS, 0), 0)
        if event.kind is Kind.START:
            done = list(own.done[-1])
            for line, each in enumerate(found):
                started = [start for each in each.line.operations for start in each.starts]
                done[line] = max(done[line], sum(start == (number, own.at - 1) for start in started))
            own.done[-1] = done
        return moved

    patch.setattr(Closure, "_advance", wrong)


def warps_wait_for_each_other(patch: Patch) -> None:
    """`syncwarp` waits for all lanes of the role."""
    patch.setattr(role_lines, "WARP_THREADS", 1024)


def who_is_chosen_is_ignored(patch: Patch) -> None:
    """An elected thread arrives for what all threads of its role have done."""
    sound = Closure._join

    def wrong(order: Closure, found: list[role_closure.Known], number: int, event: Event, least: int) -> object:
        joined = sound(order, found, number, event, least)
        if joined is None:
            return None
        done = joined[0]
        for at, line in enumerate(order.lines.all):
            mine = [each for each in range(len(found)) if order.lines.all[each].role is line.role]
            if not line.is_async and at != number:
                done[at] = max([done[at], *(done[each] for each in mine if not order.lines.all[each].is_async)])
        return joined

    patch.setattr(Closure, "_join", wrong)


FOUND_AT: dict[Callable[[Patch], None], str] = {
    fence_ignored: "wgmma of a store",
    fence_covers_later_writes: "a fence before the store",
    bytes_ignored: "bytes of one copy of two",
    no_group_is_left: "one group left",
    groups_of_one_step: "two steps of a group",
    arrive_is_a_barrier: "a barrier where nobody waits",
    copies_are_complete_at_once: "a copy that nobody waits for",
    warps_wait_for_each_other: "lanes of two warps",
    who_is_chosen_is_ignored: "one lane arrives for two",
}
"""Each with the named pipeline that finds it."""


@pytest.mark.parametrize("plant", share(FOUND_AT, 2), ids=lambda plant: plant.__name__)
def test_a_planted_misreading_of_pipelines_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    # A hang would refute what the race should.
    monkeypatch.setattr(role_run, "find_hang", lambda _: "")
    spec, _ = NAMED[FOUND_AT[plant]]
    assert not against_runs(spec, 1)[1]
    plant(monkeypatch)
    assert against_runs(spec, 1)[1]

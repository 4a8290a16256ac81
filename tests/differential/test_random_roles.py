"""Random rings of producers and consumers against all runs of a few iterations, and misreadings that they show."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from swzverify.apps.diff.compare import phase_changes
from swzverify.claims import race_free
from swzverify.claims.phase_points import Pair
from swzverify.prover import prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects import Phase, role_closure, role_order, role_run
from swzverify.subjects.role_closure import Closure
from swzverify.subjects.role_order import RoleOrder
from swzverify.subjects.role_periods import Periods
from tests.differential.comparison import against_runs, as_yaml
from tests.nightly import counts, share
from tests.oracle.brute_force import OracleAmbiguousError
from tests.oracle.random_rates import rates_spec
from tests.oracle.random_roles import ITERATIONS, role_spec
from tests.oracle.role_runs import all_runs
from tests.oracle.yaml_values import Spec, Yaml

Patch = pytest.MonkeyPatch


def drawn(seed: int) -> Spec:
    return role_spec(random.Random(seed))


@pytest.mark.parametrize("count", counts(8, 1_500))
def test_every_verdict_on_roles_is_that_of_the_runs(count: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(count):
        outcome, wrong = against_runs(drawn(seed), ITERATIONS)
        assert not wrong, (seed, outcome)
        seen[outcome] += 1
    assert seen["unknown"] <= max(1, count // 20), seen
    assert min(seen["proved"], seen["refuted"]) >= count // 5, seen


def slow_reader(arrivals: int, waits: int) -> Spec:
    """A writer that arrives more often in an iteration than its reader waits: after some iterations it is ahead."""
    access = {"threads": 32, "for": {"i": 100}, "address": "4*i", "base": 0}
    names: tuple[Yaml, ...] = ("write", {"wait": "ready", "stage": 0, "phase": 0})
    return {
        "swzverify": 1,
        "target": "sm_90",
        "accesses": {
            "write": {"instruction": "st.shared.b32", **access},
            "read": {"instruction": "ld.shared.b32", **access},
        },
        "phases": {
            "P": {
                "for": {"i": 14},
                "barriers": {"done": {"arrivals": 1}, "ready": {"arrivals": 1}},
                "roles": {
                    "writer": {
                        "threads": "tid == 0",
                        "steps": [*names, *({"arrive": "done"} for _ in range(arrivals))],
                    },
                    "reader": {
                        "threads": "tid == 1",
                        "steps": [
                            {"arrive": "ready"},
                            *({"wait": "done", "stage": 0, "phase": each % 2} for each in range(waits)),
                            {"arrive": "ready"},
                            "read",
                        ],
                    },
                },
            }
        },
        "claims": [{"race_free": "P"}],
    }


@pytest.mark.parametrize("count", counts(5, 300))
def test_no_rate_gives_an_order_that_no_run_has(count: int, monkeypatch: Patch) -> None:
    """Many of these specs hang, which would be told first: here the order alone is judged."""
    monkeypatch.setattr(role_run, "find_hang", lambda _: "")
    seen: Counter[str] = Counter()
    for seed in range(count):
        spec, iterations = rates_spec(random.Random(seed))
        [claim] = parse_spec(as_yaml(spec)).claims
        outcome = prove(claim.claim).outcome.value
        try:
            races = all_runs(spec, iterations).race
        except OracleAmbiguousError:
            continue
        assert not (races and outcome == "proved"), seed
        assert races or outcome != "refuted", seed
        seen[outcome] += 1
    assert seen["proved"] >= count // 4, seen


def test_a_role_that_falls_behind_gets_no_order() -> None:
    """The first periods look alike, although the reader falls behind by two arrivals in each of them."""
    spec = slow_reader(26, 24)
    assert all_runs(spec, 14).race
    [claim] = parse_spec(as_yaml(spec)).claims
    assert prove(claim.claim).outcome.value != "proved"


def behind_the_loop(arrivals: int, waits: int) -> Spec:
    """The same, whose reader reads once, behind the loop; the number of iterations is open."""
    spec = slow_reader(arrivals, waits)
    phase = spec["phases"]["P"]  # pyright: ignore[reportIndexIssue, reportArgumentType, reportCallIssue]
    phase["for"] = {"i": "any"}  # pyright: ignore[reportIndexIssue, reportArgumentType, reportCallIssue]
    role = phase["roles"]["reader"]  # pyright: ignore[reportIndexIssue, reportArgumentType, reportCallIssue]
    role["after"] = [role["steps"].pop()]  # pyright: ignore
    for each in spec["accesses"].values():  # pyright: ignore
        each |= {"for": {"i": "any"}, "address": "0"}  # pyright: ignore
    return spec


@pytest.mark.parametrize("make", [slow_reader, behind_the_loop])
def test_a_role_that_keeps_up_has_its_order(make: Callable[[int, int], Spec]) -> None:
    """With as many waits as arrivals, the write of an iteration comes before the read."""
    [claim] = parse_spec(as_yaml(make(4, 4))).claims
    assert prove(claim.claim).outcome.value == "proved"


def test_a_role_that_falls_behind_gets_no_order_behind_its_loop() -> None:
    """Also not where the loop has no end that is known."""
    [claim] = parse_spec(as_yaml(behind_the_loop(26, 24))).claims
    assert prove(claim.claim).outcome.value != "proved"


@pytest.mark.parametrize("make", [slow_reader, behind_the_loop])
def test_a_role_that_is_taken_to_keep_up_is_found(make: Callable[[int, int], Spec], monkeypatch: Patch) -> None:
    """A planted mistake: what holds in the first periods is taken to hold in all of them."""
    monkeypatch.setattr(role_order, "uneven", lambda *_: set[object]())
    monkeypatch.setattr(Periods, "first", 0)
    monkeypatch.setattr(role_order, "repeats_behind", lambda *_: True)
    [claim] = parse_spec(as_yaml(make(26, 24))).claims
    assert prove(claim.claim).outcome.value == "proved"


def phase_ignored(patch: Patch) -> None:
    patch.setattr(role_closure, "complete_after", lambda least, _: least + 1)


def credit_forgotten(patch: Patch) -> None:
    """A wait at a fresh object is taken to wait for its first phase, whatever its parity."""
    sound = role_closure.complete_after
    patch.setattr(role_closure, "complete_after", lambda least, parity: max(1, sound(least, parity)))


def count_ignored(patch: Patch) -> None:
    patch.setattr(Closure, "_adds_up", lambda *_: True)


def turns_ignored(patch: Patch) -> None:
    patch.setattr(Closure, "_in_turn", lambda *_: True)


def gap_off_by_one(patch: Patch) -> None:
    sound = RoleOrder._bound

    def wrong(order: RoleOrder, *given: Any, **named: Any) -> int | None:
        found = sound(order, *given, **named)
        return None if found is None else found - 1

    patch.setattr(RoleOrder, "_bound", wrong)


def no_run_asked_for(patch: Patch) -> None:
    patch.setattr(Pair, "may_never_be", lambda *_: False)


def hang_invented(patch: Patch) -> None:
    patch.setattr(role_run, "find_hang", lambda _: "a hang")


FULL: Yaml = {"arrive": "full"}


def ring(iterations: int, arrivals: int, fill: list[Yaml], take: list[Yaml], producers: int = 1) -> Spec:
    """One consumer behind some producers, with one barrier and a stage for each iteration."""
    common: dict[str, Yaml] = {"threads": 32, "for": {"i": "any"}}
    roles: dict[str, Yaml] = {
        "producer": {"threads": f"tid < {producers}", "steps": fill},
        "consumer": {"threads": "tid == 8", "steps": take},
    }
    phase: dict[str, Yaml] = {"for": {"i": iterations}, "barriers": {"full": {"arrivals": arrivals}}, "roles": roles}
    return {
        "swzverify": 1,
        "target": "sm_90",
        "accesses": {
            "fill": {"instruction": "st.shared.b32", "address": "i % 4 * 128 + tid * 4", **common},
            "read": {"instruction": "ld.shared.b32", "address": "i % 4 * 128", **common},
        },
        "phases": {"P": phase},
        "claims": [{"race_free": "P"}],
    }


FRESH = ring(1, 1, ["fill", FULL], [{"wait": "full", "phase": 1}, "read"])
"""The consumer passes the fresh barrier."""
FOUND_AT: dict[Callable[[Patch], None], tuple[Spec, int]] = {
    phase_ignored: (FRESH, 1),
    credit_forgotten: (FRESH, 1),
    count_ignored: (ring(1, 1, ["fill", FULL], [{"wait": "full", "phase": 0}, "read"], producers=2), 1),
    turns_ignored: (ring(2, 2, ["fill", FULL], [{"wait": "full", "phase": "i % 2"}, "read"], producers=2), 2),
    no_run_asked_for: (ring(1, 2, ["fill", FULL, FULL], [{"wait": "full", "phase": 0}, "read"]), 1),
    gap_off_by_one: (drawn(21), ITERATIONS),
    hang_invented: (drawn(5), ITERATIONS),
}
"""Each with a spec that finds it, and its iterations."""


@pytest.mark.parametrize("plant", share(FOUND_AT, 2), ids=lambda plant: plant.__name__)
def test_a_planted_misreading_of_roles_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    # A hang would refute what the race should.
    monkeypatch.setattr(role_run, "find_hang", lambda _: "")
    assert not against_runs(*FOUND_AT[plant])[1]
    plant(monkeypatch)
    assert against_runs(*FOUND_AT[plant])[1]


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        (ring(1, 2, ["fill", FULL], [{"wait": "full", "phase": 0}, "read"]), "refuted"),
        (ring(1, 1, ["fill", FULL], [{"wait": "full", "phase": 0}, "read"]), "proved"),
        (FRESH, "refuted"),
        (ring(1, 2, ["fill", FULL, FULL], [{"wait": "full", "phase": 0}, "read"]), "unknown"),
    ],
    ids=["a count that nobody reaches", "one arrival", "a fresh barrier", "two arrivals of one thread"],
)
def test_named_rings(spec: Spec, outcome: str) -> None:
    assert against_runs(spec, 1) == (outcome, False)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("tid == 8", "tid >= 0", "SWZ105"),
        ("tid == 8", "tid == 99", "SWZ105"),
        ('"phase": 0', '"phase": 2', "SWZ105"),
        ('"phase": 0', '"phase": "i / 50 % 2"', "SWZ105"),
        ('"arrive": "full"', '"arrive": "empty"', "SWZ106"),
        ('["fill"', '["barrier", "fill"', "SWZ105"),
        ('"roles":', '"before": ["fill"], "roles":', "SWZ105"),
        ('"roles":', '"steps": ["fill"], "roles":', "SWZ104"),
        ("st.shared.b32", "cp.async.4", "SWZ105"),
    ],
)
def test_what_is_refused(old: str, new: str, code: str) -> None:
    text = json.dumps(ring(1, 1, ["fill", FULL], [{"wait": "full", "phase": 0}, "read"]))
    assert old in text
    parse_spec(text)
    with pytest.raises(SpecError) as refused:
        parse_spec(text.replace(old, new))
    assert {each.code for each in refused.value.problems} == {code}


@pytest.mark.parametrize(
    ("change", "what"),
    [(ring(1, 2, ["fill", FULL], ["read"]), "arrivals of P"), (ring(1, 1, ["fill", FULL], ["read"], 2), "roles of P")],
)
def test_what_a_diff_tells_of_roles(change: Spec, what: str) -> None:
    phases: list[Phase] = []
    for spec in (ring(1, 1, ["fill", FULL], ["read"]), change):
        [claim] = parse_spec(as_yaml(spec)).claims
        assert isinstance(claim.claim, race_free.RaceFree)
        phases.append(claim.claim.phase)
    assert [each.what for each in phase_changes(*phases, "race_free")] == [what]

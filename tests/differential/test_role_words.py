"""`reads_what_was_written` of phases with roles against all runs of a few iterations; misreadings are found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from swzverify.claims import reads_what_was_written
from swzverify.claims.reads_what_was_written import ReadsWhatWasWritten
from swzverify.claims.role_sources import Between, Delivery
from swzverify.prover import prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects.role_order import RoleOrder
from tests.differential.comparison import as_yaml
from tests.nightly import counts
from tests.oracle.oracle_errors import OracleAmbiguousError
from tests.oracle.random_pipelines import ROUNDS, pipeline_spec
from tests.oracle.random_roles import ITERATIONS, role_spec
from tests.oracle.role_words import Words, all_words
from tests.oracle.yaml_values import Spec, Yaml

pytestmark = pytest.mark.usefixtures("small_groups")
Patch = pytest.MonkeyPatch


def drawn(seed: int) -> tuple[Spec, int, str, str, int | None]:
    """A spec, the iterations in which its mistakes show, the read, the write and the lag."""
    source = random.Random(seed)
    lag = source.choice((None, None, None, 0, 1, 2))
    if source.random() < 0.6:
        return role_spec(source), ITERATIONS, "read", "fill", lag
    spec = pipeline_spec(source)
    said = str(spec["phases"])
    reads = [name for name, word in (("G", "wgmma"), ("read", "'read'")) if word in said]
    writes = [name for name, word in (("T", "tma"), ("fill", "'fill'")) if word in said]
    return spec, ROUNDS, source.choice(reads or ["read"]), source.choice(writes or ["fill"]), lag


def judged(seed: int) -> tuple[str, Words | None]:
    """The verdict, and what all runs show; `refused` where the claim says nothing of the phase."""
    return judged_spec(*drawn(seed))


def judged_spec(spec: Spec, iterations: int, read: str, write: str, lag: int | None) -> tuple[str, Words | None]:
    """The same of a spec."""
    stated: dict[str, Yaml] = {"read": read, "write": write, **({} if lag is None else {"lag": lag})}
    spec["claims"] = [{"reads_what_was_written": stated}]
    try:
        [claim] = parse_spec(as_yaml(spec)).claims
    except SpecError:
        return "refused", None
    outcome = prove(claim.claim).outcome.value
    try:
        return outcome, all_words(spec, iterations, read, write, lag)
    except OracleAmbiguousError:
        return outcome, None


def contradicts(outcome: str, words: Words | None) -> bool:
    """Whether a verdict is not what the runs show."""
    if words is None:
        return False
    is_wrong = words.race or words.hang or words.wrong
    return {"proved": is_wrong or not words.reads, "refuted": not is_wrong, "vacuous": words.reads}.get(outcome, False)


@pytest.mark.parametrize("count", counts(40, 2_000))
def test_every_verdict_on_what_roles_read_is_that_of_the_runs(count: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(count):
        outcome, words = judged(seed)
        assert not contradicts(outcome, words), (seed, outcome, words)
        seen[outcome] += 1
    assert seen["unknown"] <= max(1, count // 10), seen
    assert min(seen["proved"], seen["refuted"]) >= count // 10, seen


@pytest.mark.parametrize("seed", [1757, 1830, 2683])
def test_a_loop_that_is_shorter_than_the_lag_says_nothing(seed: int) -> None:
    """Though each read would come before its write, or a wait hangs."""
    outcome, words = judged(seed)
    assert outcome == "vacuous"
    assert words is not None
    assert not words.reads


def ring(
    writer: list[Yaml],
    reader: list[Yaml],
    before: list[Yaml] | None = None,
    after: list[Yaml] | None = None,
    first: list[Yaml] | None = None,
) -> tuple[Spec, int, str, str, int]:
    """Two iterations of a writer and a reader, with a barrier for each iteration."""
    common: dict[str, Yaml] = {"threads": 32, "for": {"i": "any"}}
    places = {"fill": "i * 128", "over": "0", "wide": "i * 128 + tid * 4", "beside": "i * 128 + 4", "again": "i * 128"}
    accesses: dict[str, Yaml] = {
        name: {"instruction": "st.shared.b32", "address": place, **common} for name, place in places.items()
    }
    accesses["read"] = {"instruction": "ld.shared.b32", "address": "i * 128", **common}
    roles: dict[str, Yaml] = {
        "writer": {"threads": "tid < 2", "before": before or [], "steps": writer, "after": after or []},
        "reader": {"threads": "tid == 8", "before": first or [], "steps": reader},
    }
    barriers: dict[str, Yaml] = {"full": {"stages": 2, "arrivals": 2}, "empty": {"stages": 2, "arrivals": 1}}
    phases: dict[str, Yaml] = {"P": {"for": {"i": 2}, "barriers": barriers, "roles": roles}}
    spec: Spec = {"swzverify": 1, "target": "sm_90", "accesses": accesses, "phases": phases}
    return spec, 2, "read", "wide", 0


FULL: Yaml = {"arrive": "full", "stage": "i % 2"}
LAST: Yaml = {"wait": "full", "stage": 0, "phase": 0}
WAIT: Yaml = {"wait": "full", "stage": "i % 2", "phase": 0}
RINGS: dict[str, tuple[Spec, int, str, str, int]] = {
    "right": ring(["wide", FULL], [WAIT, "read"]),
    "read before it is written": ring(
        [{"wait": "empty", "stage": "i % 2", "phase": 0}, "wide"], ["read", {"arrive": "empty", "stage": "i % 2"}]
    ),
    "written over before the loop, which is no harm": ring(["wide", FULL], [WAIT, "read"], before=["over", "syncwarp"]),
    "written over behind the loop": ring(
        ["wide"], [LAST, "read"], after=["syncwarp", "over", {"arrive": "full", "stage": 0}]
    ),
    "written over by the reader before its loop": ring(["wide", FULL], [WAIT, "read"], first=[LAST, "over"]),
    "written over in the loop": ring(["wide", "syncwarp", "again", FULL], [WAIT, "read"]),
    "another write beside": ring(["wide", "beside", FULL], [WAIT, "read"]),
}
"""Rings that few random specs are like."""


def others_forgotten(patch: Patch) -> None:
    """Only the right write is looked at."""
    patch.setattr(Delivery, "_in_loop", lambda *_: iter(()))


def before_forgotten(patch: Patch) -> None:
    """What is written before the loop is taken to be written over."""
    patch.setattr(RoleOrder, "unknown_in", lambda *_: set[int]())


def after_forgotten(patch: Patch) -> None:
    """What is written behind the loop is taken to come behind all reads."""
    patch.setattr(RoleOrder, "is_last", lambda *_: True)


def order_taken_for_granted(patch: Patch) -> None:
    """The right write is taken to come before its read."""
    right = Delivery._is_before

    def wrong(self: Delivery, first: Any, second: Any, gap: int) -> bool:
        if (first, second) == (self.writing, self.reading):
            return True
        return (first, second) != (self.reading, self.writing) and right(self, first, second, gap)

    patch.setattr(Delivery, "_is_before", wrong)


def lag_ignored(patch: Patch) -> None:
    """The write of the same iteration is taken for the right one."""
    patch.setattr(ReadsWhatWasWritten, "actual_lag", 0)


def gap_off_by_one(patch: Patch) -> None:
    """One iteration less is taken to be open."""
    right = RoleOrder.latest

    def wrong(self: RoleOrder, first: Any, second: Any) -> int | None:
        found = right(self, first, second)
        return None if found is None else found - 1

    patch.setattr(RoleOrder, "latest", wrong)


def race_forgotten(patch: Patch) -> None:
    """Races with the read or the write are not looked for."""
    patch.setattr(ReadsWhatWasWritten, "_is_about", lambda *_: False)


def always_between(patch: Patch) -> None:
    """What may come between is taken to do so."""
    patch.setattr(Between, "doubt", lambda *_: "")


def hang_forgotten(patch: Patch) -> None:
    patch.setattr(reads_what_was_written, "hang_of", lambda _: "")


@pytest.mark.parametrize("name", RINGS)
def test_a_ring_is_judged_as_its_runs_say(name: str) -> None:
    outcome, words = judged_spec(*deepcopy(RINGS[name]))
    assert words is not None
    assert not contradicts(outcome, words)
    assert (outcome == "proved") is not (words.race or words.wrong)


MISTAKES: dict[Callable[[Patch], None], int | str] = {
    others_forgotten: "written over in the loop",
    before_forgotten: "written over by the reader before its loop",
    after_forgotten: "written over behind the loop",
    order_taken_for_granted: "read before it is written",
    race_forgotten: "another write beside",
    lag_ignored: 34,
    gap_off_by_one: 50,
    always_between: 601,
    hang_forgotten: 382,
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.__name__)
def test_a_planted_mistake_is_found(mistake: Callable[[Patch], None], monkeypatch: Patch) -> None:
    where = MISTAKES[mistake]
    given = drawn(where) if isinstance(where, int) else RINGS[where]
    assert not contradicts(*judged_spec(*deepcopy(given)))
    mistake(monkeypatch)
    assert contradicts(*judged_spec(*deepcopy(given)))

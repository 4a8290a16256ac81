"""Cures of phases with roles: the mistakes of the library, each with the change that mends it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from swzverify.claims import RaceFree
from swzverify.search.cures import find_order_cures
from swzverify.search.cures.barriers import role_candidates
from swzverify.spec import load_spec
from swzverify.subjects.phase import Part
from tests.nightly import share

ORDER = Path(__file__).parents[2] / "specs" / "order"
CURES: dict[tuple[str, str], list[str]] = {
    ("transform_for_wgmma", "not_fenced"): ["one more fence proxy behind write_V (step 2 of transform)"],
    ("transform_for_wgmma", "one_warp_fences"): ["one more fence proxy behind write_V (step 2 of transform)"],
    ("elected_arrival", "no_syncwarp"): ["one more syncwarp before arrive empty[i%4] by lane == 0 (step 3 of readers)"],
    ("elected_arrival", "syncwarp_behind"): [
        "one more syncwarp before arrive empty[i%4] by lane == 0 (step 3 of readers)",
        "arrive empty[i%4] by lane == 0 as the last step of readers, in place of step 3",
    ],
    ("producer_consumer", "no_empty"): [],
    ("producer_consumer", "credit_forgotten"): [
        "wait empty[i%3] phase (i/3%2 + 1)%2 in place of wait empty[i%3] phase i/3%2 (step 1 of producer)"
    ],
    ("producer_consumer", "released_early"): ["arrive empty[i%3] as the last step of consumer, in place of step 2"],
    ("producer_consumer", "one_arrival"): ["96 arrivals of empty in place of 1"],
    ("hopper_mainloop", "released_early"): ["wgmma_wait 0 in place of wgmma_wait 1 (step 4 of consumers)"],
    ("hopper_mainloop", "too_few_bytes"): ["32768 bytes in place of 16384 (step 2 of producer)"],
    ("hopper_mainloop", "no_barrier_in_epilogue"): [
        "bar_sync 1 of 256 threads as the first step of `after` of consumers"
    ],
}


@cache
def claims(name: str) -> dict[str, RaceFree]:
    spec = load_spec(str(ORDER / f"{name}.swz.yaml"))
    return {each.claim.phase.name: each.claim for each in spec.claims if isinstance(each.claim, RaceFree)}


@pytest.mark.parametrize("case", share(CURES, 6), ids="-".join)
def test_the_cures_of_roles(case: tuple[str, str]) -> None:
    assert [each.change for each in find_order_cures(claims(case[0])[case[1]])] == CURES[case]


def test_a_change_leaves_all_other_steps() -> None:
    """One step of one role comes, goes, moves or changes."""
    phase = claims("hopper_mainloop")["one_group_under_way"].phase
    seen = set[str]()
    for kind, words, other in role_candidates(phase):
        seen.add(kind)
        differences = 0
        for role, changed in zip(phase.roles, other.roles, strict=True):
            for part in Part:
                old, new = (
                    list(map(str, each.part(part)[slice(*getattr(own, part.value))]))
                    for each, own in ((phase, role), (other, changed))
                )
                differences += old != new
                assert abs(len(set(old) ^ set(new))) <= 2, words
        assert differences == 1, words
    assert seen == {"phase", "wait", "syncwarp", "fence", "arrival", "named barrier"}

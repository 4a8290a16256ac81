"""A verdict names computations that were really made; a formula that is `true` as built answers for
no engine.
"""

from __future__ import annotations

import pytest

from swzverify.claims import Aligned, Bijective, Equivalent, InBounds, Outcome, Permutation, Wavefronts
from swzverify.claims.claim import Claim
from swzverify.engines.bounds import Intervals
from swzverify.engines.obligations import Always, Answer
from swzverify.hardware import INSTRUCTIONS, find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import TRUE
from swzverify.layout import Layout, Swizzle
from swzverify.prover import Options, panel, prove
from swzverify.subjects import Access, IndexMap, Loop, Tile

CHIP = find_target("sm_90")
A = Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))


def access(address: str = "", instruction: str = "ld.shared.b32", *, loops: tuple[Loop, ...] = (), **more) -> Access:
    address = address or "tid*4"
    return Access("a", find_instruction(instruction), CHIP, (32,), loops=loops, address=parse(address), **more)


def inside(tile: Tile) -> Access:
    coord = (parse("tid/4"), parse("tid%4*8"))
    return Access("r", find_instruction("ld.shared.v4.b32"), CHIP, (32,), tile=tile, coord=coord)


INTERVALS_TELL = [
    InBounds(A),
    InBounds(inside(Tile("P", 16, Layout((8, 64), (72, 1)), allocation_bytes=1152))),
    InBounds(access("tid*4", bytes=128)),
    Permutation(IndexMap("m", (("x", 16),), (parse("x ^ 5"),), (16,))),
]


@pytest.mark.parametrize("claim", INTERVALS_TELL, ids=lambda claim: f"{claim.kind} {claim.subject}")
def test_what_intervals_tell_is_asked_of_engines_all_the_same(claim: Claim) -> None:
    """The lowering's own intervals know the answer; the formula keeps the question, and Z3 answers
    it.
    """
    goals = [goal.obligation for goal in claim.plan().goals if isinstance(goal.obligation, Always)]
    assert goals
    assert all(goal.holds is not TRUE for goal in goals)
    verdict = prove(claim)
    assert verdict.outcome is Outcome.PROVED
    assert "z3" in verdict.engines
    assert "folding" not in verdict.engines


def test_z3_is_asked_where_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    panel._by_z3.cache_clear()
    panel._native.cache_clear()
    monkeypatch.setattr("swzverify.engines.smt.query.Query.solve", lambda *_: pytest.fail("asked"))
    with pytest.raises(pytest.fail.Exception, match="asked"):
        prove(InBounds(A))
    panel._by_z3.cache_clear()


@pytest.mark.parametrize("claim", [Equivalent(A, A), Equivalent(access(), access("tid*4"))])
def test_two_sides_that_are_one_expression_are_compared_by_their_definitions(claim: Claim) -> None:
    verdict = prove(claim)
    assert (verdict.outcome, verdict.engines) == (Outcome.PROVED, ("exhaustion", "folding"))
    alone = prove(claim, options=Options(single_engine=True))
    assert alone.engines == ("folding",)
    assert alone.reason


def test_too_many_points_leave_folding_alone_and_the_verdict_says_so() -> None:
    loops = (Loop("k", 0, 1 << 20),)
    pair = (access("tid*4 + k*128", loops=loops), access("tid*4 + k*128", loops=loops))
    verdict = prove(Equivalent(*pair))
    assert verdict.engines == ("folding",)
    assert "folding alone" in verdict.reason


def test_a_wrong_fold_is_seen_by_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should lowering make one expression of two maps that differ, the plain definition refutes it."""
    panel._native.cache_clear()
    first, other = access("tid*4"), access("tid*4 + (tid == 31)*4")
    monkeypatch.setattr(
        "swzverify.claims.equal_lanes._lowered", lambda _: (first.lowered.position, first.lowered.active)
    )
    verdict = prove(Equivalent(first, other))
    assert (verdict.outcome, verdict.engines) == (Outcome.REFUTED, ("exhaustion", "replay"))


def test_bytes_are_always_aligned_and_nobody_is_asked() -> None:
    verdict = prove(Aligned(access("tid", "ld.shared.b8")))
    assert (verdict.outcome, verdict.engines) == (Outcome.PROVED, ("arithmetic",))
    assert "multiple of 1" in verdict.reason
    assert prove(Aligned(access("tid", "ld.shared.b8", predicate=parse("tid > 40")))).outcome is Outcome.VACUOUS


@pytest.mark.parametrize("name", [row.name for row in INSTRUCTIONS.values()])
def test_a_limit_of_a_wavefront_for_each_lane_needs_no_solver(name: str) -> None:
    """Odd multipliers permute the banks in a way that no engine but enumeration sees, and here are
    2^24 bases.
    """
    row = find_instruction(name)
    width = row.width_bytes
    hard = access(f"(tid*77 ^ (k*k*k >> 7))%64*{width}", name, loops=(Loop("k", 0, 1000), Loop("m", 0, 1 << 24)))
    verdict = prove(Wavefronts(hard, row.address_lanes), options=Options(rlimit=1_000))
    assert verdict.outcome is Outcome.PROVED
    assert "arithmetic" in verdict.engines
    assert "one wavefront for each lane" in verdict.reason


def test_a_limit_beyond_all_still_reports_the_worst_case() -> None:
    verdict = prove(Wavefronts(access("tid*16"), 32))
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.exact) == (4, True)
    misaligned = prove(Wavefronts(access("tid*6"), 32))
    assert misaligned.outcome is Outcome.REFUTED


def test_intervals_say_only_that_something_holds() -> None:
    engine = Intervals()
    (goal,) = [goal.obligation for goal in InBounds(access("tid*4", bytes=124)).plan().goals]
    assert engine.decide(goal).answer is Answer.NOT_APPLICABLE
    (goal,) = [goal.obligation for goal in InBounds(access("tid*4", bytes=128)).plan().goals]
    assert engine.decide(goal).answer is Answer.HOLDS


def test_bijective_names_what_decides() -> None:
    assert set(prove(Bijective(A)).engines) == {"gf2", "z3", "intervals"}

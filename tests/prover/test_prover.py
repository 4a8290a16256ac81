"""The prover's rules, with engines that answer what a test wants and with the real ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from swzverify.claims import Aligned, Bijective, Claim, ConflictFree, Contiguous, Equivalent, InBounds, Wavefronts
from swzverify.claims import Injective as InjectiveClaim
from swzverify.claims.goal import Fact, Plan
from swzverify.claims.verdict import Outcome, Verdict
from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.obligations import Always, Answer, Cost, Finding, Obligation, formula_of
from swzverify.engines.residue import Residues
from swzverify.engines.smt import SMT
from swzverify.errors import InternalError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout, Swizzle
from swzverify.prover import Options, panel, prove
from swzverify.prover.judgement import _smallest_alignment
from swzverify.prover.panel import Panel
from swzverify.subjects import Access, AlignedBase, Loop, Tile
from tests.engines.memory import forget

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
K_MAJOR = Layout((8, 64), (64, 1))


def tile(layout: Layout = K_MAJOR, swizzle: Swizzle | None = None, bits: int = 16, align: int = 1024) -> Tile:
    return Tile("A", bits, layout, swizzle, base=AlignedBase(align))


def access(
    address: str,
    instruction: str = "ld.shared.b32",
    target: str = "sm_90",
    loops: tuple[Loop, ...] = (),
    condition: str = "",
    assume: tuple[str, ...] = (),
) -> Access:
    return Access(
        "X",
        find_instruction(instruction),
        find_target(target),
        (32,),
        loops,
        address=parse(address),
        predicate=parse(condition) if condition else None,
        assume=tuple(parse(each) for each in assume),
    )


@dataclass(eq=False)
class Fake:
    """An engine that answers as told."""

    name: str
    answer: Callable[[Obligation], Finding]
    asked: list[Obligation] = field(default_factory=list)

    def decide(self, obligation: Obligation) -> Finding:
        self.asked.append(obligation)
        return self.answer(obligation)


def always(name: str, answer: Answer, point: dict[str, int] | None = None) -> Fake:
    return Fake(name, lambda _: Finding(name, answer, point))


def natives(patch: Patch, *engines: Fake) -> None:
    patch.setattr(panel, "NATIVE", engines)
    forget()


def z3_says(patch: Patch, answer: Answer, point: dict[str, int] | None = None) -> list[Obligation]:
    asked: list[Obligation] = []

    def decide(_: SMT, obligation: Obligation) -> Finding:
        asked.append(obligation)
        return Finding("z3", answer, point)

    patch.setattr(SMT, "decide", decide)
    forget()
    return asked


# --- proofs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "engines"),
    [
        (Bijective(tile(swizzle=Swizzle(3, 3, 3))), ("gf2", "intervals", "z3")),
        (InjectiveClaim(tile(Layout((48, 20), (21, 1)))), ("radix", "z3")),
        (ConflictFree(access("lane*4 + lane/8*8")), ("gf2", "residues", "exhaustion", "z3")),
        (Aligned(access("lane*16", "ld.shared.v4.b32")), ("gf2", "residues", "exhaustion", "z3")),
    ],
    ids=lambda value: value.kind if hasattr(value, "kind") else "",
)
def test_a_proof_names_z3_and_another_engine(claim: Claim, engines: tuple[str, ...]) -> None:
    verdict = prove(claim)
    assert verdict.outcome in {Outcome.PROVED, Outcome.REFUTED}
    if verdict.outcome is Outcome.PROVED:
        assert "z3" in verdict.engines
        assert len(verdict.engines) >= 2
        assert set(verdict.engines) <= set(engines)
    assert verdict.time_ms > 0


def test_a_proof_needs_z3(monkeypatch: Patch) -> None:
    z3_says(monkeypatch, Answer.UNDECIDED)
    verdict = prove(ConflictFree(access("lane*4")))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "a proof needs Z3 too" in verdict.reason


def test_a_proof_by_z3_alone_says_so(monkeypatch: Patch) -> None:
    natives(monkeypatch, always("mute", Answer.NOT_APPLICABLE))
    verdict = prove(ConflictFree(access("lane*4")))
    assert verdict.outcome is Outcome.PROVED
    assert verdict.engines == ("z3",)
    assert "Z3 alone" in verdict.reason


def test_z3_alone_for_one_goal_is_not_hidden_by_the_others(monkeypatch: Patch) -> None:
    """The alignment has two engines, the cost one."""
    partial = Fake(
        "partial",
        lambda o: Finding("partial", Answer.HOLDS if isinstance(o, Always) else Answer.NOT_APPLICABLE),
    )
    natives(monkeypatch, partial)
    verdict = prove(ConflictFree(access("lane*4")))
    assert verdict.outcome is Outcome.PROVED
    assert len(partial.asked) == 2
    assert "Z3 alone" in verdict.reason
    assert verdict.engines == ("z3",)


def test_single_engine_leaves_the_second_out_and_says_so(monkeypatch: Patch) -> None:
    silent = always("other", Answer.HOLDS)
    natives(monkeypatch, silent)
    verdict = prove(Bijective(tile()), options=Options(single_engine=True))
    assert verdict.outcome is Outcome.PROVED
    assert verdict.engines == ("z3",)
    assert verdict.reason == "the second engine was left out"
    assert not silent.asked


def test_single_engine_still_refutes() -> None:
    verdict = prove(InjectiveClaim(tile(Layout((4, 4), (2, 1)))), options=Options(single_engine=True))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.engines == ("z3", "replay")


def test_the_first_engine_that_applies_is_the_only_one_asked(monkeypatch: Patch) -> None:
    engines = [always("a", Answer.NOT_APPLICABLE), always("b", Answer.HOLDS), always("c", Answer.HOLDS)]
    natives(monkeypatch, *engines)
    assert prove(InjectiveClaim(tile())).engines == ("b", "z3")
    assert [len(engine.asked) for engine in engines] == [1, 1, 0]


def test_every_engine_is_asked_and_compared(monkeypatch: Patch) -> None:
    engines = [always("a", Answer.HOLDS), always("b", Answer.NOT_APPLICABLE), always("c", Answer.HOLDS)]
    natives(monkeypatch, *engines)
    verdict = prove(InjectiveClaim(tile()), options=Options(every_engine=True))
    assert verdict.outcome is Outcome.PROVED
    assert [len(engine.asked) for engine in engines] == [1, 1, 1]


def test_every_engine_finds_the_third_one_out(monkeypatch: Patch) -> None:
    """Which the ordinary run, satisfied with the first, does not ask."""
    collision = {"leaf.0": 0, "leaf.1": 0, "leaf.0'": 0, "leaf.1'": 1}
    natives(monkeypatch, always("a", Answer.HOLDS), always("c", Answer.FAILS, collision))
    assert prove(InjectiveClaim(tile())).outcome is Outcome.PROVED
    verdict = prove(InjectiveClaim(tile()), options=Options(every_engine=True))
    assert verdict.outcome is Outcome.ERROR
    assert "contradict" in verdict.reason
    assert "c: fails" in verdict.reason


def test_a_refutation_by_the_second_engine_does_without_z3(monkeypatch: Patch) -> None:
    asked = z3_says(monkeypatch, Answer.UNDECIDED)
    verdict = prove(InjectiveClaim(tile(Layout((4, 4), (2, 1)))))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.engines[-1] == "replay"
    assert not asked


def test_every_engine_asks_z3_after_a_refutation_too() -> None:
    verdict = prove(InjectiveClaim(tile(Layout((4, 4), (2, 1)))), options=Options(every_engine=True))
    assert verdict.outcome is Outcome.REFUTED
    assert {"z3", "exhaustion", "replay"} <= set(verdict.engines)


# --- faults ---------------------------------------------------------------------------------------------------------


def test_contradiction_is_an_error(monkeypatch: Patch) -> None:
    natives(monkeypatch, always("a", Answer.HOLDS))
    verdict = prove(InjectiveClaim(tile(Layout((4, 4), (2, 1)))))
    assert verdict.outcome is Outcome.ERROR
    assert "a: holds" in verdict.reason
    assert "z3: fails" in verdict.reason
    assert verdict.counterexample is None


def test_contradiction_the_other_way_round(monkeypatch: Patch) -> None:
    z3_says(monkeypatch, Answer.HOLDS)
    verdict = prove(InjectiveClaim(tile(Layout((4, 4), (2, 1)))), options=Options(every_engine=True))
    assert verdict.outcome is Outcome.ERROR
    assert "z3: holds" in verdict.reason


@pytest.mark.parametrize("who", ["native", "z3"])
@pytest.mark.parametrize(
    ("claim", "point"),
    [
        (InjectiveClaim(tile()), {"leaf.0": 0, "leaf.1": 0, "leaf.0'": 0, "leaf.1'": 1}),
        (InjectiveClaim(tile()), {"leaf.0": 1, "leaf.1": 0, "leaf.0'": 1, "leaf.1'": 0}),
        (InjectiveClaim(tile()), None),
        (ConflictFree(access("lane*4")), {"warp": 0, "lane": 3}),
        (Aligned(access("lane*4")), {"warp": 0, "lane": 3}),
        (InBounds(tile()), {"leaf.0": 7, "leaf.1": 63}),
        (Contiguous(tile(), 8), {"vector": 0, "coord.0": 1, "item": 3}),
    ],
    ids=["apart", "one point", "no point", "no conflict", "aligned", "inside", "whole"],
)
def test_a_counterexample_that_does_not_replay_is_an_error(
    monkeypatch: Patch, who: str, claim: Claim, point: dict[str, int] | None
) -> None:
    if who == "native":
        natives(monkeypatch, always("a", Answer.FAILS, point))
    else:
        natives(monkeypatch, always("a", Answer.NOT_APPLICABLE))
        z3_says(monkeypatch, Answer.FAILS, point)
    verdict = prove(claim)
    assert verdict.outcome is Outcome.ERROR
    assert "does not replay" in verdict.reason
    assert verdict.counterexample is None


def test_a_point_outside_the_assumptions_does_not_replay(monkeypatch: Patch) -> None:
    loops = (Loop("i", 0, 4),)
    claim = ConflictFree(access("lane*4*(i + 1)", loops=loops, assume=("i == 0",)))
    assert prove(claim).outcome is Outcome.PROVED
    forget()
    natives(monkeypatch, always("a", Answer.FAILS, {"warp": 0, "lane": 0, "i": 1}))
    assert prove(claim).outcome is Outcome.ERROR


@pytest.mark.parametrize("who", ["native", "z3", "both"])
def test_an_engine_that_sees_no_case_where_there_are_some_is_an_error(monkeypatch: Patch, who: str) -> None:
    if who in {"native", "both"}:
        natives(monkeypatch, always("a", Answer.EMPTY))
    if who in {"z3", "both"}:
        z3_says(monkeypatch, Answer.EMPTY)
    verdict = prove(ConflictFree(access("lane*4")))
    assert verdict.outcome is Outcome.ERROR
    assert "empty" in verdict.reason


def test_undecided_second_engine_is_no_proof(monkeypatch: Patch) -> None:
    natives(monkeypatch, always("a", Answer.UNDECIDED))
    assert prove(ConflictFree(access("lane*4"))).outcome is not Outcome.PROVED


def test_an_error_wins_over_a_fact_that_fails(monkeypatch: Patch) -> None:
    """A bijective claim with gaps and engines that contradict each other."""
    padded = Tile("A", 16, Layout((8, 8), (9, 1)))
    assert prove(Bijective(padded)).engines == ("arithmetic",)
    natives(monkeypatch, always("a", Answer.HOLDS))
    z3_says(monkeypatch, Answer.FAILS, {})
    assert prove(Bijective(padded)).outcome is Outcome.ERROR


# --- vacuous and unknown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nobody",
    [
        access("lane*4", condition="lane > 40"),
        access("lane*4 + i*4", loops=(Loop("i", 0, 4),), assume=("i > 7",)),
        access("lane*4 + i*4", loops=(Loop("i", 0, 4),), condition="i == 3", assume=("i < 3",)),
        access("lane*4 + i*4", loops=(Loop("i", 3, 3),)),
    ],
    ids=["predicate", "assumption", "both together", "empty loop"],
)
@pytest.mark.parametrize("kind", [Aligned, ConflictFree, lambda x: Wavefronts(x, 1), lambda x: Equivalent(x, x)])
def test_nobody_runs_it(nobody: Access, kind: Callable[[Access], Claim]) -> None:
    for options in (Options(), Options(every_engine=True), Options(single_engine=True)):
        verdict = prove(kind(nobody), options=options)
        assert verdict.outcome is Outcome.VACUOUS
        assert verdict.reason
        assert verdict.measure is None


@pytest.mark.parametrize("plan", [Plan(), Plan(facts=(Fact(True, ""),))])
def test_a_claim_that_asks_nothing_is_a_fault_and_no_proof(plan: Plan, monkeypatch: Patch) -> None:
    monkeypatch.setattr(InjectiveClaim, "plan", lambda _: plan)
    verdict = prove(InjectiveClaim(tile()))
    assert verdict.outcome is Outcome.ERROR
    assert "has no question for any engine" in verdict.reason


def test_no_vector_fits() -> None:
    verdict = prove(Contiguous(tile(Layout((8, 4), (4, 1))), 8))
    assert verdict.outcome is Outcome.VACUOUS
    assert "no vector of 8" in verdict.reason


def hard() -> Access:
    """Odd multipliers permute the banks, which one unit of work does not show."""
    return access("lane*(2*i + 1)*4", loops=(Loop("i", 0, 4096),))


def test_no_budget_is_unknown_and_never_proved() -> None:
    claims: list[Claim] = [
        ConflictFree(hard()),
        ConflictFree(access("(lane ^ (i & 7))*4", loops=(Loop("i", 0, 64),))),
        InjectiveClaim(tile(swizzle=Swizzle(3, 3, 3))),
    ]
    outcomes = [prove(claim, options=Options(rlimit=1)).outcome for claim in claims]
    assert Outcome.UNKNOWN in outcomes
    assert outcomes[0] is Outcome.UNKNOWN
    for claim, outcome in zip(claims, outcomes, strict=True):
        assert prove(claim).outcome is Outcome.PROVED
        assert outcome in {Outcome.PROVED, Outcome.UNKNOWN}


def test_no_budget_for_the_question_whether_a_case_exists(monkeypatch: Patch) -> None:
    monkeypatch.setattr(SMT, "possible", lambda *_: Finding("z3", Answer.UNDECIDED))
    verdict = prove(ConflictFree(access("lane*4", condition="lane == 31")))
    assert verdict.outcome is Outcome.UNKNOWN
    assert "could not be decided" in verdict.reason


def test_lanes_that_repeat_an_address_do_not_copy() -> None:
    """All even lanes write to one address and all odd ones to another: lanes 0 and 1 copy, into two
    lines.
    """
    rows = access("lane%2*1024", "cp.async.16")
    assert prove(Wavefronts(rows, 2)).outcome is Outcome.PROVED
    verdict = prove(Wavefronts(rows, 1))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.minimum, verdict.measure.exact) == (2, 1, True)
    assert verdict.counterexample is not None
    note = "cp.async.16 takes 2 wavefronts where at most 1 are claimed; lanes 0 | 1 copy in wavefronts of their own"
    assert verdict.counterexample.note == note
    assert [row.mark for row in verdict.counterexample.rows] == ["1", "2", *[""] * 30]


# --- alignments, evidence, loops -------------------------------------------------------------------------------------


def pair(bits: int, row: int, align: int) -> Equivalent:
    """CuTe's element swizzle against the swizzle that TMA puts on addresses, on rows of halfs in 32
    rows.
    """
    layout = Layout((32, row), (row, 1))
    element = Tile("cute", 16, layout, Swizzle(bits, 3, 3), base=AlignedBase(align))
    address = Tile("tma", 16, layout, Swizzle(bits, 4, 3), "address", base=AlignedBase(align))
    return Equivalent(element, address)


@pytest.mark.parametrize(("bits", "row", "smallest"), [(3, 64, 1024), (2, 32, 512), (1, 16, 256)])
@pytest.mark.parametrize("align", [16, 128])
def test_smallest_alignment(bits: int, row: int, smallest: int, align: int) -> None:
    verdict = prove(pair(bits, row, align))
    assert verdict.outcome is Outcome.REFUTED
    found = re.search(r"multiple of (\d+),", verdict.reason)
    assert found is not None
    assert int(found[1]) == smallest
    assert prove(pair(bits, row, smallest)).outcome is Outcome.PROVED
    assert prove(pair(bits, row, smallest // 2)).outcome is Outcome.REFUTED


def test_no_alignment_helps() -> None:
    layout = Layout((8, 64), (64, 1))
    verdict = prove(Equivalent(Tile("P", 16, layout), Tile("Q", 16, layout, Swizzle(3, 3, 3))))
    assert verdict.outcome is Outcome.REFUTED
    assert "no base alignment" in verdict.reason


@pytest.mark.parametrize(
    ("instruction", "target", "evidence"),
    [
        ("ld.shared.b32", "sm_90", "measured"),
        ("ld.shared.v4.b32", "sm_90", "measured"),
        ("ld.shared.b32", "sm_80", "documented"),
        ("ld.shared.v4.b32", "sm_80", "assumed"),
        ("ld.shared.v4.b32", "sm_100", "assumed"),
    ],
)
def test_evidence_on_targets(instruction: str, target: str, evidence: str) -> None:
    width = 16 if "v4" in instruction else 4
    verdict = prove(ConflictFree(access(f"lane*{width}", instruction, target)))
    assert verdict.outcome is Outcome.PROVED
    assert verdict.evidence == evidence
    assert bool(verdict.notes) == (evidence != "measured")
    assert all(evidence in note and "not measured" in note for note in verdict.notes)
    assert evidence in verdict.scope


def test_claims_without_hardware_facts_have_no_evidence() -> None:
    for claim in (Bijective(tile()), Aligned(access("lane*4", target="sm_80"))):
        verdict = prove(claim)
        assert (verdict.evidence, verdict.notes) == ("", ())


def test_unbounded_loops() -> None:
    every = Loop("k", 0, None)
    free = prove(ConflictFree(access("lane*4 + k*4", loops=(every,))))
    assert free.outcome is Outcome.PROVED
    assert "k in 0..1073741792 (beyond, thread 31 overflows), the same in all lanes" in free.scope
    assert "z3" in free.engines
    assert len(free.engines) >= 2
    stepped = Loop("k", 0, None, 8)
    assert prove(Aligned(access("lane*16 + k*2", "ld.shared.v4.b32", loops=(stepped,)))).outcome is Outcome.PROVED
    verdict = prove(Aligned(access("lane*16 + k*2", "ld.shared.v4.b32", loops=(every,))))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.binding["k"] * 2 % 16 != 0


def test_a_late_failure_of_an_unbounded_loop_is_found() -> None:
    """Free for the first 100000 iterations."""
    late = access("lane*4*(1 + (k >= 100000))", loops=(Loop("k", 0, None),))
    verdict = prove(ConflictFree(late))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.binding["k"] >= 100_000


@pytest.mark.parametrize("every", [False, True])
def test_worst_case_is_measured_again(every: bool) -> None:
    claim = Wavefronts(access("lane*4*(i + 1)", loops=(Loop("i", 0, 4),)), 4)
    verdict: Verdict = prove(claim, options=Options(every_engine=every))
    assert verdict.outcome is Outcome.PROVED
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.minimum, verdict.measure.where["i"]) == (4, 1, 3)
    assert any(isinstance(goal.obligation, Cost) for goal in claim.plan().goals)


def test_nothing_is_said_of_alignments_that_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step of the search that nobody decides is no "no"."""
    claim = pair(3, 64, 128)
    assert "multiple of 1024" in _smallest_alignment(claim, panel.Panel(Options(single_engine=True)))
    asked = z3_says(monkeypatch, Answer.UNDECIDED)
    assert _smallest_alignment(claim, panel.Panel(Options(single_engine=True, rlimit=7))) == ""
    assert len(asked) == 1


# --- equal questions ------------------------------------------------------------------------------------------------


def test_equal_questions_of_two_claims_are_asked_once(monkeypatch: Patch) -> None:
    """Two tiles of one layout: engines that read the formula hear of one, those that read the definition of both."""
    asked: list[Obligation] = z3_says(monkeypatch, Answer.HOLDS)
    heard: list[Obligation] = []

    class Formulas(Residues):
        def decide(self, obligation: Obligation) -> Finding:
            heard.append(obligation)
            return Finding("formulas", Answer.NOT_APPLICABLE)

    plain = always("plain", Answer.HOLDS)
    monkeypatch.setattr(panel, "NATIVE", (Formulas(), plain))
    goals = [InjectiveClaim(tile()).plan().goals[0].obligation for _ in range(2)]
    assert goals[0] != goals[1]
    for goal in goals:
        mine = Panel(Options())
        assert [each.engine for each in mine.natives(goal)] == ["plain"]
        assert mine.smt(goal).answer is Answer.HOLDS
    assert (len(asked), len(heard)) == (1, 1)
    assert heard == asked == [formula_of(goals[0])]


def test_an_engine_that_reads_formulas_has_no_definition() -> None:
    goal = InjectiveClaim(tile()).plan().goals[0].obligation
    assert Exhaustion().decide(goal).answer is Answer.HOLDS
    with pytest.raises(InternalError, match="plain definition"):
        Exhaustion().decide(formula_of(goal))

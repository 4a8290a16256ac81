"""The rules that make a verdict worth trusting.

`proved` needs Z3 and one engine that shares no code with it beyond the expression form, for every
obligation of the claim. `refuted` needs a point that fails in plain Python integers, from the front
end's own definition. Engines that contradict each other, or a failing point that does not replay,
are faults of ours: `error`. What satisfies no assumption is `vacuous`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeGuard

from swzverify.claims import Claim, Counterexample, Measure, Outcome, SectorMeasure, Verdict, is_outside
from swzverify.claims.cost_claim import CostClaim, cost_goal, measured
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.verdict import ARITHMETIC
from swzverify.core.shown import Shown, drawn, html_facts
from swzverify.engines.obligations import Answer, AnyCost, Finding
from swzverify.errors import SwzError, graphic
from swzverify.ir.expr import FALSE, TRUE, Expr
from swzverify.prover.options import Options
from swzverify.prover.panel import FOLDING, Panel

if TYPE_CHECKING:
    # Few specs have such claims; their kind says which they are.
    from swzverify.claims import Coalesced, Equivalent

_SEND = "this is a fault of swzverify: please send the spec and this text to the issue tracker"


@dataclass(frozen=True, slots=True, eq=False)
class Judgement(Shown):
    """The result of judging a claim: the verdict, plus the data that reports and pictures need.

    `point` is a point that satisfies the claim's assumptions, if the prover had to look for one. `panel`
    has the engines, within the options of this claim.
    """

    claim: Claim
    verdict: Verdict
    plan: Plan
    point: Mapping[str, int] | None
    panel: Panel

    def __str__(self) -> str:
        """The claim, and the verdict.

        >>> from swzverify.claims import Injective
        >>> from swzverify.layout import Layout
        >>> from swzverify.subjects import Tile
        >>> print(judge(Injective(Tile("A", 16, Layout((8, 64), (64, 1))))))
        injective: A
        proved
          scope    all 512 elements of 16 bits at (8,64):(64,1), any base that is a multiple of 1024
          engines  gf2 + z3
        """
        return f"{self._heading}\n{self.verdict}"

    def _repr_html_(self) -> str:
        """The same for notebooks, with a picture of the warp instruction that breaks a cost claim."""
        told = self.verdict._repr_html_()  # pyright: ignore[reportPrivateUsage]  # IPython's name
        return html_facts(self._heading, []) + told + (drawn(self) or "")

    @property
    def _heading(self) -> str:
        numbers = "".join(f", {name} = {value}" for name, value in self.claim.numbers.items())
        return graphic(f"{self.claim.kind}: {self.claim.subject}{numbers}")


@dataclass(frozen=True, slots=True)
class _Decision:
    """What became of one goal."""

    outcome: Outcome
    engines: tuple[str, ...] = ()
    reason: str = ""
    counterexample: Counterexample | None = None
    worst: Finding | None = None


def prove(claim: Claim, *, options: Options | None = None) -> Verdict:
    """The verdict on one claim.

    >>> from swzverify.claims import Bijective
    >>> from swzverify.layout import Layout, Swizzle
    >>> from swzverify.subjects import Tile
    >>> verdict = prove(Bijective(Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))))
    >>> verdict.outcome.value, verdict.engines
    ('proved', ('gf2', 'z3', 'intervals'))
    """
    return judge(claim, options=options).verdict


def judge(claim: Claim, *, options: Options | None = None) -> Judgement:
    """The verdict on one claim, with what it was found by.

    Raises:
        SwzError: SWZ105 if it is no claim.
    """
    if not isinstance(claim, Claim):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SwzError("SWZ105", f"{claim!r} ({type(claim).__name__}) is no claim", hint="prove(Bijective(tile))")
    started = perf_counter()
    panel, plan = Panel(options or Options()), claim.plan()
    verdict, point = _verdict(claim, plan, panel)
    verdict = replace(verdict, time_ms=(perf_counter() - started) * 1000)
    return Judgement(claim, verdict, plan, point, panel)


def _verdict(claim: Claim, plan: Plan, panel: Panel) -> tuple[Verdict, Mapping[str, int] | None]:
    """The verdict, and a point at which the claim says something."""
    bare = Verdict(Outcome.PROVED, claim.scope(), evidence=claim.evidence())
    if plan.empty:
        return replace(bare, outcome=Outcome.VACUOUS, reason=plan.empty), None
    if is_outside(claim) and any(fact.decides for fact in plan.facts):
        reason = f"{claim.kind} is added by another package, whose claims are proved by goals and not by facts"
        return replace(bare, outcome=Outcome.UNKNOWN, reason=reason), None
    if plan.unknown:
        return replace(bare, outcome=Outcome.UNKNOWN, reason=plan.unknown), None
    exists = _possible(plan.exists, panel)
    if exists.answer is Answer.EMPTY:
        reason = "no thread in any case satisfies the assumptions and predicates"
        # Where the condition is the word "false", nobody was asked.
        engines = () if plan.exists is FALSE else (exists.engine,)
        return replace(bare, outcome=Outcome.VACUOUS, reason=reason, engines=engines), None
    if exists.answer is not Answer.HOLDS:
        reason = "whether any case satisfies the assumptions could not be decided within the budget"
        return replace(bare, outcome=Outcome.UNKNOWN, reason=reason), None
    if not plan.goals and all(fact.holds and not fact.decides for fact in plan.facts):
        return _fault(bare, "the claim has no question for any engine"), None
    decisions: list[_Decision] = []
    for goal in plan.goals:
        decisions.append(_decide(claim, goal, panel))
        if decisions[-1].outcome in (Outcome.REFUTED, Outcome.ERROR):
            break
    return _combine(claim, plan, decisions, bare, panel), exists.point


def _possible(exists: Expr, panel: Panel) -> Finding:
    """Whether some point satisfies the claim's assumptions; the finding has one if a search was needed."""
    if exists is TRUE or exists is FALSE:
        return Finding(FOLDING, Answer.HOLDS if exists is TRUE else Answer.EMPTY)
    return panel.possible(exists)


def _fault(bare: Verdict, what: str) -> Verdict:
    """A verdict that tells of a fault of ours."""
    return replace(bare, outcome=Outcome.ERROR, reason=f"{what}; {_SEND}", is_fault=True)


def _combine(claim: Claim, plan: Plan, decisions: list[_Decision], bare: Verdict, panel: Panel) -> Verdict:
    """The worst decision is the verdict; facts that fail refute."""
    engines = tuple(dict.fromkeys(name for decision in decisions for name in decision.engines))
    # A claim rests on its weakest part: one goal by one engine only is what a reader must see.
    alone = [decision.engines for decision in decisions if len(decision.engines) == 1]
    engines = alone[0] if alone else engines
    if any(fact.decides for fact in plan.facts) and not alone:
        engines = (*engines, ARITHMETIC)
    measure = _measure(claim, plan, decisions, panel)
    bare = replace(bare, sectors=_sectors(claim, plan, decisions, panel))
    for outcome in (Outcome.ERROR, Outcome.REFUTED):
        for decision in decisions:
            if decision.outcome is outcome:
                reason = decision.reason
                if outcome is Outcome.REFUTED and _is_equivalent(claim):
                    reason = _smallest_alignment(claim, panel) or reason
                return replace(
                    bare,
                    outcome=outcome,
                    engines=decision.engines,
                    reason=reason,
                    counterexample=decision.counterexample,
                    measure=measure,
                    is_fault=outcome is Outcome.ERROR,
                )
    for fact in plan.facts:
        if not fact.holds:
            counterexample = Counterexample({}, fact.note)
            return replace(
                bare, outcome=Outcome.REFUTED, engines=(ARITHMETIC,), reason=fact.note, counterexample=counterexample
            )
    for outcome in (Outcome.VACUOUS, Outcome.UNKNOWN):
        for decision in decisions:
            if decision.outcome is outcome:
                return replace(bare, outcome=outcome, engines=engines, reason=decision.reason, measure=measure)
    worst = claim.exceeded(measure) if isinstance(claim, CostClaim) and measure is not None else None
    if worst is not None:
        said = f"proved, but the plain rule gives {worst.wavefronts} wavefronts at {dict(worst.where)}"
        return replace(_fault(bare, said), engines=engines, measure=measure)
    if _is_coalesced(claim) and bare.sectors is not None and claim.exceeded(bare.sectors):
        return replace(_fault(bare, f"proved, but the plain count gives {bare.sectors}"), engines=engines)
    said = [*(decision.reason for decision in decisions), *(fact.note for fact in plan.facts if fact.decides)]
    reason = "; ".join(dict.fromkeys(each for each in said if each))
    notes = ()
    if bare.evidence and bare.evidence != "measured":
        notes = (f"the hardware rule for this instruction on this target is {bare.evidence}, not measured",)
    proved = replace(bare, engines=engines, reason=reason, measure=measure, notes=notes)
    return _reached(claim, proved, panel) if isinstance(claim, CostClaim) else proved


def _reached(claim: CostClaim, proved: Verdict, panel: Panel) -> Verdict:
    """The verdict after the upper bound was proved: some warp instruction must also take that many.

    This applies only if the claim says so. An instruction counts if it is priced by the plain rule at a
    point. That none does is a proof by the same rules as any other.
    """
    wanted, measure = claim.reaches, proved.measure
    if wanted is None or (measure is not None and measure.wavefronts == wanted):
        return proved
    goal = Goal(cost_goal(claim.access, wanted - 1), "reached")
    natives, smt = panel.natives(goal.obligation), panel.smt(goal.obligation)
    said = (*natives, smt)
    for finding in said:
        if finding.answer is not Answer.FAILS or finding.point is None:
            continue
        if any(other.answer is Answer.HOLDS for other in said):
            return _fault(proved, _contradiction([*said]).removesuffix(f"; {_SEND}"))
        found = measured(claim.access, finding.point)
        if found is None or found.wavefronts != wanted:
            return _fault(proved, f"{finding.engine} found {wanted} wavefronts at a point that does not replay")
        return replace(proved, measure=measure or Measure.of_one(found))
    native = natives[0] if natives else None
    if smt.answer is Answer.HOLDS and (native is None or native.answer is Answer.HOLDS):
        most = f"the worst takes {measure.wavefronts}" if measure is not None else f"all take at most {wanted - 1}"
        note = f"no warp instruction takes {wanted} wavefronts: {most}"
        engines = (smt.engine,) if native is None else (native.engine, smt.engine)
        return replace(
            proved, outcome=Outcome.REFUTED, reason=note, engines=engines, counterexample=Counterexample({}, note)
        )
    open_ = f"at most {wanted} is proved; whether some warp instruction takes {wanted} is open"
    return replace(proved, outcome=Outcome.UNKNOWN, reason=open_)


def _priced(plan: Plan, decisions: list[_Decision], panel: Panel) -> Iterator[tuple[Finding, Mapping[str, int]]]:
    """The findings that have a point whose cost can be told, of the decisions first."""
    findings = [decision.worst for decision in decisions]
    if plan.measured is not None and all(decision.outcome is Outcome.PROVED for decision in decisions):
        findings += panel.natives(plan.measured)
    for finding in findings:
        if finding is not None and finding.point is not None:
            yield finding, finding.point


def _measure(claim: Claim, plan: Plan, decisions: list[_Decision], panel: Panel) -> Measure | None:
    """The worst cases of a cost claim, priced again by the plain rule."""
    if not isinstance(claim, CostClaim):
        return None
    for finding, point in _priced(plan, decisions, panel):
        if finding.worst is None:
            # A failing point alone need not be the worst.
            found = measured(claim.access, point)
            return None if found is None else Measure.of_one(found, exact=False)
        slowest, most_conflicts = finding.worst.most_wavefronts.point, finding.worst.most_conflicts.point
        first = measured(claim.access, slowest)
        second = first if most_conflicts == slowest else measured(claim.access, most_conflicts)
        if first is not None and second is not None:
            return Measure(first, second)
    return None


def _is_equivalent(claim: Claim) -> TypeGuard[Equivalent]:
    return claim.kind == "equivalent"


def _is_coalesced(claim: Claim) -> TypeGuard[Coalesced]:
    return claim.kind == "coalesced"


def _sectors(claim: Claim, plan: Plan, decisions: list[_Decision], panel: Panel) -> SectorMeasure | None:
    """The worst case of a claim on sectors, counted again byte by byte."""
    if not _is_coalesced(claim):
        return None
    for finding, point in _priced(plan, decisions, panel):
        found = claim.measured(point if finding.worst is None else finding.worst.most_wavefronts.point)
        # A failing point alone need not be the worst.
        return found if found is None or finding.worst is not None else replace(found, exact=False)
    return None


def _decide(claim: Claim, goal: Goal, panel: Panel) -> _Decision:
    """One obligation, by the two-engine rule."""
    natives = panel.natives(goal.obligation)
    native = natives[0] if natives else None
    if native is not None and native.answer is Answer.FAILS and not panel.options.every_engine:
        return _refuted(claim, goal, native, [native.engine])
    smt = panel.smt(goal.obligation)
    answers = {finding.answer for finding in (*natives, smt)}
    if Answer.HOLDS in answers and Answer.FAILS in answers:
        return _Decision(Outcome.ERROR, reason=_contradiction([*natives, smt]))
    of_cost = isinstance(goal.obligation, AnyCost)
    cost = native if of_cost and native is not None else None
    if cost is None and of_cost and smt.worst is not None:
        cost = smt
    if Answer.FAILS in answers:
        found = next(finding for finding in (*natives, smt) if finding.answer is Answer.FAILS)
        engines = [finding.engine for finding in (*natives, smt) if finding.answer is Answer.FAILS]
        decision = _refuted(claim, goal, found, engines)
        return replace(decision, worst=cost or decision.worst)
    if Answer.EMPTY in answers:
        # The prover has asked before whether any case exists: an engine that sees none contradicts
        # that.
        return _Decision(Outcome.ERROR, reason=_contradiction([*natives, smt]))
    if smt.answer is Answer.HOLDS:
        if native is not None and native.answer is Answer.HOLDS:
            return _Decision(Outcome.PROVED, (native.engine, smt.engine), worst=cost)
        if native is not None:
            return _Decision(Outcome.ERROR, reason=_contradiction([*natives, smt]))
        return _Decision(Outcome.PROVED, (smt.engine,), reason=_alone(smt, panel.options), worst=cost)
    details = [f"{finding.engine}: {finding.detail or finding.answer}" for finding in (*natives[:1], smt)]
    if native is not None and native.answer is Answer.HOLDS:
        details[0] = f"{native.engine} finds that it holds, but a proof needs Z3 too"
    return _Decision(Outcome.UNKNOWN, reason="; ".join(details), worst=cost)


def _alone(finding: Finding, options: Options) -> str:
    """Why one engine is all that a proof rests on."""
    if options.single_engine:
        return "the second engine was left out"
    who = "Z3 alone" if finding.engine != FOLDING else "folding alone: the claim is true as it is written down"
    return f"{who}: no other engine applies"


def _refuted(claim: Claim, goal: Goal, finding: Finding, engines: list[str]) -> _Decision:
    """A failing point counts once it fails in plain integers."""
    counterexample = None if finding.point is None else claim.replay(goal, finding.point)
    if counterexample is None:
        where = dict(finding.point or {})
        reason = f"{finding.engine} found a counterexample that does not replay: {where}; {_SEND}"
        return _Decision(Outcome.ERROR, reason=reason)
    doubt = claim.doubt(goal, finding.point or {})
    if doubt:
        return _Decision(Outcome.UNKNOWN, reason=doubt)
    return _Decision(
        Outcome.REFUTED,
        (*dict.fromkeys(engines), "replay"),
        reason=counterexample.note,
        counterexample=replace(counterexample, point=finding.point),
        worst=finding if isinstance(goal.obligation, AnyCost) else None,
    )


def _contradiction(findings: list[Finding]) -> str:
    said = "; ".join(f"{finding.engine}: {finding.answer} {dict(finding.point or {})}" for finding in findings)
    return f"the engines contradict each other ({said}); {_SEND}"


def _smallest_alignment(claim: Equivalent, panel: Panel) -> str:
    """The smallest power of two such that the maps agree at every multiple of it, in words.

    If maps agree at every multiple of one power of two, they agree at those of the larger ones. The
    first engine that answers leads the search; the result needs Z3, as any proof does. The text is empty
    if a step of the search stays open.
    """
    choices = claim.alignments()
    if not choices:
        return ""
    low, high = -1, len(choices)
    while high - low > 1:
        middle = (low + high) // 2
        match _holds_at(claim, choices[middle], panel, sure=False):
            case True:
                high = middle
            case False:
                low = middle
            case None:
                return ""
    if high == len(choices):
        return "no base alignment up to 2^20 makes them equal"
    if not _holds_at(claim, choices[high], panel, sure=True):
        return ""
    return f"they are equal for every base that is a multiple of {choices[high]}, and for no smaller power of two"


def _holds_at(claim: Equivalent, align_bytes: int, panel: Panel, *, sure: bool) -> bool | None:
    """Whether the claim holds for bases that are multiples of `align_bytes`; None if that stays open.

    Z3 decides if no other engine does, or if `sure` is set.
    """
    goals = claim.plan_for(align_bytes).goals
    answers: set[Answer] = set()
    for goal in goals:
        natives = panel.natives(goal.obligation)
        answers |= {finding.answer for finding in natives}
        if sure or not natives:
            answers.add(panel.smt(goal.obligation).answer)
        if Answer.FAILS in answers:
            return False
    return True if answers == {Answer.HOLDS} else None

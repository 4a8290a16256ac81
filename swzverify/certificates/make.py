"""From a proved claim to its certificate: statements, scripts, witnesses, points; what does not check is not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from swzverify.certificates.encode import UnwrittenError, parts
from swzverify.certificates.export import state, state_condition
from swzverify.certificates.folder import CLAIMS, FORMULAS, SPECS, claim_file, save, save_shared
from swzverify.certificates.propose import periods, possible_point
from swzverify.certificates.recheck import CHECKERS
from swzverify.certificates.record import Certificate, Fact, Formula, Goal, Json, Possible, write_certificate
from swzverify.certificates.smtlib import script
from swzverify.certificates.statement import Statement, write_statement
from swzverify.certificates.vacuity import conditions_of
from swzverify.certificates.witness import WitnessError
from swzverify.certificates.witness_gf2 import find_gf2
from swzverify.certificates.witness_radix import find_radix
from swzverify.certificates.witness_residues import find_residues
from swzverify.claims import Bijective, Claim, ConflictFree, Permutation, Verdict, Wavefronts
from swzverify.claims.goal import Goal as ClaimGoal
from swzverify.claims.goal import Plan
from swzverify.engines import obligation as ob
from swzverify.errors import SwzError
from swzverify.hardware import basis
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, Expr, Var, conjunction, negation
from swzverify.ir.expr import variables as variables_of
from swzverify.prove import Options
from swzverify.prove.panel import Panel

__all__ = ["CLAIMS", "Claimed", "certify"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim of a spec with the spec's text and where it stands in it."""

    id: str
    claim: Claim
    spec: str
    spec_text: str
    line: int
    case: Mapping[str, int]


def certify(folder: str, claimed: Claimed, verdict: Verdict, versions: Mapping[str, str], options: Options) -> None:
    """Write the certificate of a proved claim into a folder that `prepare` made ready.

    Errors: SWZ606 where it cannot be written; SWZ607 where no point shows that the claim says anything.
    """
    plan = claimed.claim.plan()
    panel = Panel(options)
    certificate = Certificate(
        id=claimed.id,
        spec=claimed.spec,
        spec_sha256=save_shared(folder, SPECS, claimed.spec_text),
        line=claimed.line,
        kind=claimed.claim.kind,
        subject=claimed.claim.subject,
        case=dict(claimed.case),
        scope=verdict.scope,
        evidence=verdict.evidence,
        engines=verdict.engines,
        reason=verdict.reason,
        assumptions=_assumptions(claimed.claim, verdict),
        versions=versions,
        goals=tuple(_goal(folder, goal, panel) for goal in plan.goals),
        exists=_exists(plan.exists, panel),
        facts=_facts(claimed.claim, plan),
    )
    save(folder, claim_file(claimed.id), write_certificate(certificate))


def _goal(folder: str, goal: ClaimGoal, panel: Panel) -> Goal:
    obligation = goal.obligation
    statement = state(obligation)
    formulas: list[Formula] = []
    unwritten = ""
    try:
        formulas = [Formula(p.name, save_shared(folder, FORMULAS, script(p))) for p in parts(statement)]
    except UnwrittenError as error:
        unwritten = str(error)
    engines = tuple(found.engine for found in panel.natives(obligation) if found.answer is ob.Answer.HOLDS)
    return Goal(
        what=goal.what,
        engines=(*engines, "z3"),
        statement=Possible(write_statement(statement), _point(statement, _presumed(obligation), panel)),
        formulas=tuple(formulas),
        witnesses=_witnesses(statement, obligation, engines),
        unwritten=unwritten,
    )


def _witnesses(statement: Statement, obligation: ob.Obligation, engines: Sequence[str]) -> dict[str, Json]:
    """The witness of the engine that decided, else of the first that has one; none where none applies."""
    finders = {
        "gf2": lambda: find_gf2(statement),
        "radix": lambda: find_radix(statement),
        "residues": lambda: find_residues(statement, periods(obligation)),
    }
    for name in (*(engine for engine in engines if engine in finders), *finders):
        found = finders[name]()
        if found is not None:
            with suppress(WitnessError):
                CHECKERS[name](statement, found)
                return {name: found}
    return {}


def _presumed(goal: ob.Obligation) -> tuple[Sequence[Var], Expr]:
    """What some point must satisfy for an obligation to be about anything."""
    match goal:
        case ob.Always(domain) | ob.Injective(domain):
            return domain.variables, domain.assumption
        case ob.Cost(domain, _, _, active):
            return domain.variables, conjunction([domain.assumption, active])
        case ob.Apart(shared=shared, first=first, second=second, condition=condition):
            return (*shared, *first.variables, *second.variables), condition
        case ob.Covers():
            variables = (*goal.shared, *goal.points.variables, *goal.elements)
            return variables, conjunction([goal.points.assumption, goal.active])


def _point(statement: Statement, presumed: tuple[Sequence[Var], Expr], panel: Panel) -> dict[str, int]:
    """A point by trial; where that finds none, by asking the solver for one. The checker evaluates it either way."""
    found = possible_point(statement.program, conditions_of(statement))
    if found is not None:
        return found
    variables, condition = presumed
    question = ob.Always(Domain(tuple(variables)), negation(condition), _undefined)
    answer = panel.smt(question)
    if answer.answer is not ob.Answer.FAILS or answer.point is None:
        raise SwzError(
            "SWZ607", "no point was found at which the claim says anything", hint="no certificate is written"
        )
    names = [line.name for line in statement.program if line.operator == "var"]
    return {name: answer.point.get(name, 0) for name in sorted(names)}


def _undefined(_: ob.Arrays) -> tuple[ob.Truths, ob.Truths]:
    """Such a question has no definition in a front end, and only Z3 is asked, which reads the expression."""
    raise AssertionError("only exhaustion reads a definition")


def _exists(exists: Expr, panel: Panel) -> Possible | None:
    if exists is TRUE:
        return None
    variables = variables_of(exists)
    statement = state_condition(exists, variables)
    return Possible(write_statement(statement), _point(statement, (variables, exists), panel))


def _facts(claim: Claim, plan: Plan) -> tuple[Fact, ...]:
    """The counts that make one-to-one maps onto: as many points as there is room for."""
    if not plan.facts:
        return ()
    goal = next(i for i, one in enumerate(plan.goals) if isinstance(one.obligation, ob.Injective))
    match claim:
        case Bijective(tile):
            bits, room = tile.element_bits, 8 * tile.allocation_bytes
            return (Fact(f"elements of {bits} bits fill the allocation of {room} bits", goal, bits, room),)
        case Permutation(index_map):
            room = 1
            for extent in index_map.onto or ():
                room *= extent
            return (Fact(f"points fill the box of {room}", goal, 1, room),)
        case _:
            raise SwzError("SWZ607", f"{claim.kind} rests on arithmetic that no certificate states")


def _assumptions(claim: Claim, verdict: Verdict) -> tuple[str, ...]:
    """What the certificate takes for granted, in words."""
    found = ["the obligations state the claim as docs/semantics.md means it; a recheck does not read the spec again"]
    if isinstance(claim, ConflictFree | Wavefronts):
        access = claim.access
        known = basis(access.target, access.instruction)
        found.append(f"the cost rule of docs/semantics.md, section 4, holds for {access.instruction.name}: {known}")
    return (*found, *verdict.notes)

"""From a proved claim to its certificate: statement, scripts, points and checked witnesses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from swzrecheck import claim as st
from swzrecheck.claim_file import read_claim
from swzrecheck.claim_write import claim_data
from swzrecheck.draft import Asked, Goals, MeaninglessError, UntrueError
from swzrecheck.encode import UnwrittenError, is_folded, parts
from swzrecheck.errors import CertificateError
from swzrecheck.folder import CLAIMS, FORMULAS, SPECS, claim_file, save, save_shared
from swzrecheck.kinds import goals_of
from swzrecheck.propose import holds_at, possible_point
from swzrecheck.reader import Reader
from swzrecheck.record import Certificate, Formula, Goal, Possible, Said, Shown, write_certificate
from swzrecheck.smtlib import script
from swzrecheck.statement import Statement, check_names, write_statement
from swzrecheck.vacuity import conditions_of
from swzrecheck.witnesses import find_witness
from swzverify.certificates.describe import describe
from swzverify.claims import Aligned, Claim, Coalesced
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.listing_claim import ListingClaim
from swzverify.engines import obligations as ob
from swzverify.errors import SwzError
from swzverify.hardware import basis
from swzverify.ir.expr import Expr, conjunction
from swzverify.prover import Judgement
from swzverify.subjects import Access, Operand

__all__ = ["CLAIMS", "Claimed", "certify"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """Where a claim stands: its spec with the text, its line, its case."""

    id: str
    spec: str
    spec_text: str
    line: int
    case: Mapping[str, int]


def certify(folder: str, claimed: Claimed, judgement: Judgement, versions: Mapping[str, str]) -> None:
    """Write the certificate of a proved claim into a folder that `prepare` made ready.

    Raises:
        SwzError: SWZ607 if no certificate can state it, or no point shows that it says anything.
        CertificateError: SWZ606 if it cannot be written.
    """
    verdict = judgement.verdict
    stated, goals = _stated(judgement.claim)
    points = Points(judgement.point, _asked(judgement))
    certificate = Certificate(
        id=claimed.id,
        spec=claimed.spec,
        spec_sha256=save_shared(folder, SPECS, claimed.spec_text, "yaml"),
        line=claimed.line,
        case=dict(claimed.case),
        claim=stated,
        said=Said(
            scope=verdict.scope,
            evidence=verdict.evidence,
            engines=verdict.engines,
            reason=verdict.reason,
            assumptions=_assumptions(judgement),
            versions=versions,
        ),
        goals=tuple(goal_of(folder, asked, points) for asked in goals.asked),
        exists=None if goals.exists is None else points.possible(goals.exists),
    )
    save(folder, claim_file(claimed.id), write_certificate(certificate))


def _stated(claim: Claim) -> tuple[st.Claim, Goals]:
    """The statement of a claim, as a recheck reads it, and its goals."""
    if isinstance(claim, CostClaim) and claim.reaches is not None:
        raise SwzError(
            "SWZ607",
            "no certificate can state this: it says that some warp instruction takes "
            f"exactly {claim.reaches} wavefronts, and certificates state bounds only",
            hint=f"claim `at_most: {claim.reaches}`, and `at_most: {claim.reaches - 1}` with `expect: refuted`",
        )
    if isinstance(claim, CostClaim | Aligned) and isinstance(claim.access, Access) and claim.access.source is not None:
        raise SwzError(
            "SWZ607",
            "no certificate can state this: it says where a copy reads, and certificates state where it writes",
            hint="leave `source` out of the access for a certificate that takes each octet to read one 128-byte line",
        )
    return checked(describe(claim))


def checked(stated: st.Claim) -> tuple[st.Claim, Goals]:
    """A statement, as a recheck reads it, and its goals.

    Raises:
        SwzError: SWZ607 if a recheck would refuse it.
    """
    try:
        read_claim(Reader(claim_data(stated), "claim"))
        return stated, goals_of(stated)
    except (CertificateError, MeaninglessError, UntrueError) as error:
        why = error.message if isinstance(error, CertificateError) else str(error)
        raise SwzError("SWZ607", f"no certificate can state this: {why}") from None


def goal_of(folder: str, asked: Asked, points: Points) -> Goal:
    """A goal with its formulas, which are written, and its witness.

    Raises:
        SwzError: SWZ607 if no point shows that it says anything.
        CertificateError: SWZ606 if a formula cannot be written.
    """
    statement = asked.statement
    possible = points.possible(statement)
    try:
        questions, unwritten = parts(statement), ""
    except UnwrittenError as error:
        questions, unwritten = (), str(error)
    formulas = tuple(Formula(part.name, save_shared(folder, FORMULAS, script(part), "smt2")) for part in questions)
    if questions and all(is_folded(part) for part in questions):
        return Goal(asked.what, possible, Shown.FOLDED, formulas, {})
    found = find_witness(statement)
    shown = Shown.by(written=bool(questions), witnessed=found is not None)
    return Goal(asked.what, possible, shown, formulas, {} if found is None else dict([found]), unwritten)


class Points:
    """Points at which statements say something: by trial, else those that are suggested.

    Whatever point is suggested is evaluated in the statement itself.
    """

    def __init__(self, first: Mapping[str, int] | None, others: Iterator[Mapping[str, int]]) -> None:
        self._found = [] if first is None else [first]
        self._left = others

    def possible(self, statement: Statement) -> Possible:
        """A statement with a point at which it says something.

        Raises:
            SwzError: SWZ607 if none is found, and for names that no certificate can hold.
        """
        try:
            check_names(statement.program)
        except ValueError as error:
            raise SwzError("SWZ607", f"no certificate can state this: {error}") from None
        conditions = conditions_of(statement)
        point = possible_point(statement.program, conditions)
        if point is not None:
            return Possible(write_statement(statement), point)
        limits = {line.name: line.number for line in statement.program if line.operator == "var"}
        for suggested in self._suggested():
            point = {name: suggested.get(name, 0) for name in sorted(limits)}
            inside = all(value < limits[name] for name, value in point.items())
            if inside and holds_at(statement.program, conditions, point):
                return Possible(write_statement(statement), point)
        raise SwzError(
            "SWZ607", "no point was found at which the claim says anything", hint="no certificate is written"
        )

    def _suggested(self) -> Iterator[Mapping[str, int]]:
        yield from self._found
        for point in self._left:
            self._found.append(point)
            yield point


def _asked(judgement: Judgement) -> Iterator[Mapping[str, int]]:
    """The solver's points for the prover's goals, whose variables have the same names."""
    for goal in judgement.plan.goals:
        point = judgement.panel.possible(_presumed(goal.obligation)).point
        if point is not None:
            yield point


def _presumed(goal: ob.Obligation) -> Expr:
    """What some point must satisfy, so that the prover's obligation says something."""
    match goal:
        case ob.Always(domain) | ob.Injective(domain):
            return domain.assumption
        case ob.Cost(domain, _, _, active):
            return conjunction([domain.assumption, active])
        case ob.GatherCost(cost) | ob.CopyCost(cost):
            return conjunction([cost.domain.assumption, cost.active])
        case ob.Apart():
            return goal.condition
        case ob.Covers():
            return conjunction([goal.points.assumption, goal.active])


def _assumptions(judgement: Judgement) -> tuple[str, ...]:
    """What the certificate takes for granted, in words."""
    claim = judgement.claim
    found = ["the statement is what the spec says; a recheck does not read the spec again"]
    if isinstance(claim, CostClaim | Coalesced):
        access = claim.access
        known = basis(access.target, access.instruction)
        found.append(f"the cost rule of docs/semantics.md, section 4, holds for {access.instruction.name}: {known}")
    for each in claim.subjects:
        if isinstance(each, Operand):
            family = each.instruction.family
            found.append(f"the rule of docs/semantics.md, section 9, holds for {each.instruction.name}: {family.basis}")
    if isinstance(claim, ListingClaim):
        banks = claim.listing.banks
        found.append(f"the rule of docs/semantics.md, section 8, holds for {claim.listing.target}: {banks.source}")
    return (*found, *judgement.verdict.notes)

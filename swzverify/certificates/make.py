"""From a proved claim to its certificate: statement, scripts, points and checked witnesses.

From the prover's subjects to the statement of a certificate: a plain copy of what was read.

This is the only part between a spec and a recheck that must be trusted; docs/certificates.md, "What a
recheck believes".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from swzrecheck import claim as st
from swzrecheck import compiled
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
from swzverify.claims import Aligned, Claim, Coalesced, Delivers
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import role_of
from swzverify.claims.listing_claim import ListingClaim
from swzverify.engines import obligations as ob
from swzverify.errors import SwzError
from swzverify.hardware import basis
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import Expr, conjunction
from swzverify.prover import Judgement
from swzverify.subjects import (
    Access,
    AlignedBase,
    Base,
    FixedBase,
    IndexMap,
    Listing,
    Memory,
    MemoryBase,
    OffsetMap,
    Operand,
    Phase,
    Tile,
)
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop

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
    points = Points(judgement.point, _solver_points(judgement))
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


def _solver_points(judgement: Judgement) -> Iterator[Mapping[str, int]]:
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


Stated = TypeVar("Stated", st.Tile, st.Access, st.IndexMap, compiled.Listing, st.Operand)


def describe(claim: Claim) -> st.Claim:
    """The statement of a claim.

    Raises:
        SwzError: SWZ607 for two subjects of one role and name, which a statement cannot tell apart, for
            an access that was moved, for a fragment, and for an order of K that two operands share.
    """
    tiles, accesses, maps = dict[str, st.Tile](), dict[str, st.Access](), dict[str, st.IndexMap]()
    listings, operands = dict[str, compiled.Listing](), dict[str, st.Operand]()
    if isinstance(claim, Delivers) and claim.second is not None:
        raise SwzError("SWZ607", "no certificate can state this: an order of K that two operands share")
    for subject in claim.subjects:
        if isinstance(subject, Phase):
            raise SwzError("SWZ607", f"no certificate can state this: the order of accesses in phase {subject.name}")
        if isinstance(subject, Access) and isinstance(claim, Delivers):
            raise SwzError("SWZ607", f"no certificate can state this: the fragment of access {subject.name}")
        if isinstance(subject, Access):
            _add(accesses, _access(subject))
            subject = subject.tile  # noqa: PLW2901 - its tile is part of the statement
        if isinstance(subject, Operand):
            _add(operands, _operand(subject))
            subject = subject.tile  # noqa: PLW2901 - as above
        if isinstance(subject, Listing):
            _add(listings, _listing(subject))
            continue
        if isinstance(subject, Tile):
            _add(tiles, _tile(subject))
        elif subject is not None:
            _add(maps, _map(subject))
    of = tuple((role_of(subject).value, subject.name) for subject in claim.subjects)
    return st.Claim(claim.kind, of, claim.numbers, tiles, accesses, maps, listings, operands=operands)


def _add(found: dict[str, Stated], one: Stated) -> None:
    if found.setdefault(one.name, one) != one:
        raise SwzError("SWZ607", f"no certificate can state this: two different subjects have the name {one.name!r}")


def _base(base: Base) -> st.Base:
    match base:
        case FixedBase(address_bytes=address):
            return st.Base(address, 0)
        case AlignedBase(align_bytes=align):
            return st.Base(0, align)
        case MemoryBase(memory=Memory(base_bytes=None) as memory, offset_bytes=offset):
            return st.Base(offset, memory.alignment_bytes, memory.name)
        case MemoryBase(memory=memory, offset_bytes=offset):
            return st.Base((memory.base_bytes or 0) + offset, 0, memory.name)


def _tile(tile: Tile) -> st.Tile:
    found = tile.swizzle
    on_address = tile.swizzle_on == "address"
    return st.Tile(
        name=tile.name,
        element_bits=tile.element_bits,
        modes=() if isinstance(tile.layout, OffsetMap) else tuple(mode.leaves for mode in tile.layout.modes),
        swizzle=None if found is None else st.Swizzle(found.bits, found.base, found.shift, on_address),
        base=_base(tile.base),
        stages=tile.stages,
        allocation=tile.allocation_bytes,
        pitch=tile.pitch_bytes if tile.stages > 1 else 0,
        placing=_placing(tile.layout) if isinstance(tile.layout, OffsetMap) else None,
    )


def _placing(layout: OffsetMap) -> st.Placing:
    index = layout.index
    constants = _constants(index.constants, index.value)
    return st.Placing(index.over, layout.value.text, "bytes" if layout.in_bytes else "elements", constants)


def _access(access: Access) -> st.Access:
    if access.place is not None:
        raise SwzError("SWZ607", f"no certificate can state this: access {access.name} was moved to another base")
    single = (access.stage, access.address, access.predicate)
    read = (*access.coord, *access.assume, *(each for each in single if each is not None))
    return st.Access(
        name=access.name,
        instruction=access.instruction.name,
        block=access.block,
        loops=tuple(_loop(loop) for loop in access.loops),
        constants=_constants(access.constants, read),
        tile="" if access.tile is None else access.tile.name,
        coord=tuple(each.text for each in access.coord),
        stage=None if access.stage is None else access.stage.text,
        address=None if access.address is None else access.address.text,
        base=st.Base(0, 0) if access.tile is not None else _base(access.base),
        bytes=None if access.tile is not None else access.bytes,
        predicate=None if access.predicate is None else access.predicate.text,
        assume=tuple(each.text for each in access.assume),
        unknowns=tuple(st.Unknown(each.name, each.start, each.stop, each.step) for each in access.read_unknowns),
    )


def _loop(loop: AnyLoop) -> st.Loop | st.ListedLoop:
    if isinstance(loop, ListedLoop):
        return st.ListedLoop(loop.name, loop.values)
    return st.Loop(loop.name, loop.start, loop.stop, loop.step)


def _map(index: IndexMap) -> st.IndexMap:
    constants = _constants(index.constants, index.value)
    texts = tuple(each.text for each in index.value)
    base = None if index.base is None else _base(index.base)
    return st.IndexMap(index.name, index.over, texts, index.onto, constants, base)


def _operand(operand: Operand) -> st.Operand:
    fields, stage = operand.descriptor, operand.stage
    read = (operand.start, *operand.at, *(each for each in (stage,) if each is not None))
    return st.Operand(
        name=operand.name,
        instruction=operand.instruction.name,
        role=operand.role.value,
        major=operand.major.value,
        lbo=fields.lbo_bytes,
        sbo=fields.sbo_bytes,
        swizzle=fields.swizzle.value,
        base_offset=fields.base_offset,
        start=operand.start.text,
        base=_base(operand.own_base),
        tile=operand.tile.name,
        at=tuple(each.text for each in operand.at),
        stage=None if stage is None else stage.text,
        modes=operand.modes,
        loops=tuple(_loop(loop) for loop in operand.loops),
        constants=_constants(operand.constants, read),
    )


def _listing(listing: Listing) -> compiled.Listing:
    lines = tuple(
        compiled.Line(
            work=each.work.value,
            reads=tuple((read.register, read.slot or 0, read.reuse) for read in each.reads),
            writes=each.writes,
            predicated=each.predicated,
            joined=each.joined,
            yields=each.yields,
        )
        for each in listing.instructions
    )
    return compiled.Listing(listing.name, listing.target, lines)


def _constants(constants: Mapping[str, int], read: Sequence[CFormula]) -> dict[str, int]:
    """The constants that some expression reads."""
    names = frozenset[str]().union(*(each.names for each in read))
    return {name: value for name, value in constants.items() if name in names}

"""Finds what would make a refuted cost hold, for a claim and everything beside it in the spec."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TypeAlias

from swzverify.claims import Aligned
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Subject
from swzverify.claims.likeness import likeness
from swzverify.cures import Cure, Surroundings, find_cures
from swzverify.prover import Options
from swzverify.report.result import ClaimResult
from swzverify.run.fault import fault
from swzverify.spec import Spec, SpecClaim
from swzverify.subjects import Access, Tile

KnownCures: TypeAlias = dict[tuple[Hashable, ...], tuple[Cure, ...]]
"""The changes that were found, by claim and surroundings."""


def with_cures(
    result: ClaimResult, spec: Spec, claim: SpecClaim, options: Options, known: KnownCures | None = None
) -> ClaimResult:
    """The result of a refuted claim, with the changes that help, and the constants that decide how
    its tile lies. `known` remembers what was found for the same claim among the same others.

    A fault in this search costs no verdict: it is noted.
    """
    if not isinstance(claim.claim, CostClaim):
        return result
    result = replace(result, deciding=claim.deciding)
    known = {} if known is None else known
    try:
        beside = _beside(spec, claim, claim.claim.access)
        key = _key(claim.claim, beside)
        cures = known.get(key) if key else None
        if cures is None:
            cures = find_cures(claim.claim, beside, options, result.verdict.measure)
        if key:
            known[key] = cures
    except Exception as error:  # noqa: BLE001 - see above
        note = f"looking for changes that would help failed: {fault(error)}"
        return replace(result, verdict=replace(result.verdict, notes=(*result.verdict.notes, note)))
    return replace(result, cures=cures)


def _beside(spec: Spec, claim: SpecClaim, access: Access) -> Surroundings:
    """The claims and accesses of the claim's own case that are about the same tile."""
    case = next(case for case in spec.cases if any(each is access for each in case.accesses.values()))
    if access.tile is None:
        return Surroundings((), (access,), spec.tma_tiles)
    claims = [each.claim for each in spec.claims if dict(each.case) == dict(claim.case)]
    on_it = [each for each in claims if any(_tile_of(subject) == access.tile for subject in each.subjects)]
    accesses = tuple(each for each in case.accesses.values() if each.tile == access.tile)
    return Surroundings(on_it, accesses, spec.tma_tiles)


def _tile_of(subject: Subject) -> Tile | None:
    if isinstance(subject, Access):
        return subject.tile
    return subject if isinstance(subject, Tile) else None


def _key(claim: CostClaim, beside: Surroundings) -> tuple[Hashable, ...]:
    """What the search depends on; empty where it cannot be compared."""
    others = (*beside.claims, *map(Aligned, beside.accesses))
    keys = tuple(likeness(each) for each in (claim, *others))
    return () if None in keys else keys

"""Finds what would make a refuted cost hold, for a claim and everything beside it in the spec."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from swzverify.apps.run.fault import fault
from swzverify.claims import Aligned, Claim, Delivers, Injective, RaceFree, ReadsWhatWasWritten
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Subject
from swzverify.claims.likeness import likeness
from swzverify.core.words import binding_text
from swzverify.prover import Options
from swzverify.report.result import ClaimResult
from swzverify.search.cures import Cure, OtherCase, Surroundings, find_cures, find_operand_cures, find_order_cures
from swzverify.spec import Spec, SpecClaim
from swzverify.spec.build import SpecCase
from swzverify.subjects import Access, Tile

_Key: TypeAlias = tuple[Hashable, ...]


@dataclass(slots=True)
class KnownCures:
    """The cures found within one file.

    `found` has changes by claim and surroundings. `cases` has for each tile its cases that differ, by
    the claims on it there.
    """

    found: dict[_Key, tuple[Cure, ...]] = field(default_factory=dict[_Key, tuple[Cure, ...]])
    cases: dict[str, dict[_Key, OtherCase]] = field(default_factory=dict[str, dict[_Key, OtherCase]])


def with_cures(
    result: ClaimResult, spec: Spec, claim: SpecClaim, options: Options, known: KnownCures | None = None
) -> ClaimResult:
    """The result of a refuted claim, with the changes that help and the constants that decide its tile.

    `known` remembers the cures of the same claim among the same other claims. A fault in this search
    costs no verdict: it is noted.
    """
    found = claim.claim
    if isinstance(found, Delivers):
        return _with_cures_of(result, lambda: find_operand_cures(found, options))
    if isinstance(found, RaceFree | ReadsWhatWasWritten):
        return _with_cures_of(result, lambda: find_order_cures(found, options))
    if not isinstance(claim.claim, CostClaim):
        return result
    result = replace(result, deciding=claim.deciding)
    known = KnownCures() if known is None else known
    try:
        beside = _beside(spec, claim, claim.claim.access, known)
        key = _key(claim.claim, beside)
        cures = known.found.get(key) if key else None
        if cures is None:
            cures = find_cures(claim.claim, beside, options, result.verdict.measure)
        if key:
            known.found[key] = cures
    except Exception as error:  # noqa: BLE001 - see above
        return _failed(result, error)
    return replace(result, cures=cures)


def _with_cures_of(result: ClaimResult, find: Callable[[], tuple[Cure, ...]]) -> ClaimResult:
    try:
        return replace(result, cures=find())
    except Exception as error:  # noqa: BLE001 - as above
        return _failed(result, error)


def _failed(result: ClaimResult, error: Exception) -> ClaimResult:
    note = f"looking for changes that would help failed: {fault(error)}"
    return replace(result, verdict=replace(result.verdict, notes=(*result.verdict.notes, note)))


def _beside(spec: Spec, claim: SpecClaim, access: Access, known: KnownCures) -> Surroundings:
    """The context of a claim: claims and accesses of its case on the same tile, and the other cases.

    The other cases are those in which something else is claimed of the tile of that name. A base at a
    multiple of more bytes has fewer addresses, so it breaks no other claim on a bare access.
    """
    if access.tile is None:
        return Surroundings((), (access,), spec.tma_tiles)
    name = access.tile.name
    if name not in known.cases:
        known.cases[name] = _cases(spec, name)
    case = next(case for case in spec.cases if any(each is access for each in case.accesses.values()))
    claims = [each.claim for each in spec.claims if dict(each.case) == dict(claim.case)]
    own = _case(case, access.tile, claims)
    own_key = _claims_key(own)
    others = [each for key, each in known.cases[name].items() if key != own_key and each.name != own.name]
    return Surroundings(own.claims, own.accesses, spec.tma_tiles, others)


def _cases(spec: Spec, tile: str) -> dict[_Key, OtherCase]:
    """The cases of a tile, one for all in which the same is claimed of the same tile."""
    claims: dict[_Key, list[Claim]] = {}
    for each in spec.claims:
        claims.setdefault(tuple(each.case.items()), []).append(each.claim)
    found: dict[_Key, OtherCase] = {}
    for case in spec.cases if len(spec.cases) > 1 else ():
        each = _case(case, case.tiles[tile], claims.get(tuple(case.chosen.items()), []))
        found.setdefault(_claims_key(each) or (each.name,), each)
    return found


def _case(case: SpecCase, tile: Tile, claims: Sequence[Claim]) -> OtherCase:
    """What one case has and claims of a tile."""
    on_it = [each for each in claims if any(_tile_of(subject) == tile for subject in each.subjects)]
    accesses = tuple(each for each in case.accesses.values() if each.tile == tile)
    return OtherCase(binding_text(case.chosen), tile, on_it, accesses)


def _tile_of(subject: Subject) -> Tile | None:
    if isinstance(subject, Access):
        return subject.tile
    return subject if isinstance(subject, Tile) else None


def _key(claim: CostClaim, beside: Surroundings) -> _Key:
    """What the search within a file depends on; empty where it cannot be compared."""
    return _keys((claim, *beside.claims, *map(Aligned, beside.accesses)))


def _claims_key(case: OtherCase) -> _Key:
    """What the search in one case depends on; empty where it cannot be compared."""
    return _keys((Injective(case.tile), *case.claims, *map(Aligned, case.accesses)))


def _keys(claims: Iterable[Claim]) -> _Key:
    keys = tuple(likeness(each) for each in claims)
    return () if None in keys else keys

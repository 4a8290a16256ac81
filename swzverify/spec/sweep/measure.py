"""Measures one built case of a sweep: one row for each of many swizzles of one tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from swzverify.claims.verdict import Outcome
from swzverify.errors import InternalError, SwzError
from swzverify.hardware import evidence
from swzverify.prover import Options, prove
from swzverify.search.costs import cost
from swzverify.search.synth.pricing import Fields, Path, Truths
from swzverify.spec.build import BuiltSpec, SpecCase
from swzverify.spec.sweep.soundness import TileCheck, leaves_tile, vector_elements
from swzverify.subjects import Access, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn

NO_SWIZZLE = Fields.of([(0, 0, 0)])


@dataclass(slots=True)
class Row:
    """The results of one case of a sweep.

    Attributes:
        status: The status of the case.
        code: The error code of a refused case.
        message: Its message.
        bytes: The bytes of all tiles.
        wavefronts: The worst wavefronts of each access that has a cost.
        conflicts: The worst bank conflicts of each such access.
        evidence: How the cost rule of each such access is known.
        weights: The weights of the accesses.
        claims: The gravest outcome of the claims.
        proved: The number of claims that were proved.
    """

    status: str = ""
    code: str = ""
    message: str = ""
    bytes: int | None = None
    wavefronts: dict[str, int] = field(default_factory=dict[str, int])
    conflicts: dict[str, int] = field(default_factory=dict[str, int])
    evidence: dict[str, str] = field(default_factory=dict[str, str])
    weights: Mapping[str, int] = field(default_factory=dict[str, int])
    claims: str = ""
    proved: int | None = None


def measure(case: SpecCase, swept: str | None, fields: Fields, on: SwizzleOn) -> list[Row]:
    """The rows of one built case, with each of the swizzles on the tile `swept`."""
    count = len(fields)
    rows = [
        Row(bytes=sum(tile.total_bytes for tile in case.tiles.values()), weights=case.weights) for _ in range(count)
    ]
    try:
        checks = {name: _tile(tile, fields if name == swept else None, on) for name, tile in case.tiles.items()}
        faults = {
            "overlaps": np.zeros(count, np.bool_),
            "outside": np.zeros(count, np.bool_),
            "torn": np.zeros(count, np.bool_),
        }
        for each in checks.values():
            faults["overlaps"] |= each.check.overlaps(each.fields, each.on)
            faults["outside"] |= each.check.outside(each.fields, each.on)
        for name, access in case.accesses.items():
            if access.instruction.is_global:
                continue  # it takes no wavefronts
            place = None if access.tile is None else checks[access.tile.name]
            torn = _price(name, access, place, rows)
            faults["outside"] |= torn.leaves
            faults["torn"] |= torn.torn
    except SwzError as error:
        if count > 1:  # what is too much for all of them together may do for each
            each = (fields.pick(slice(at, at + 1)) for at in range(count))
            return [measure(case, swept, one, on)[0] for one in each]
        return [Row("refused", error.code, error.message, row.bytes) for row in rows]
    for index, row in enumerate(rows):
        broken = [name for name, where in faults.items() if where[index]]
        row.status = broken[0] if broken else "conflicts" if any(row.conflicts.values()) else "free"
    return rows


@dataclass(frozen=True, slots=True)
class _Place:
    """A tile without its swizzle, and the swizzles to put on it: those that are swept, or its own."""

    tile: Tile
    check: TileCheck
    fields: Fields
    on: SwizzleOn


def _tile(tile: Tile, swept: Fields | None, on: SwizzleOn) -> _Place:
    bare = tile.relaid(tile.layout)
    if swept is not None:
        return _Place(bare, TileCheck(bare), swept, on)
    own = tile.swizzle
    fields = Fields.of([(0, 0, 0) if own is None else (own.bits, own.base, own.shift)])
    return _Place(bare, TileCheck(bare), fields, tile.swizzle_on)


@dataclass(frozen=True, slots=True)
class _Faults:
    """Whether an access leaves its tile, and under which swizzles its vectors are torn."""

    leaves: bool
    torn: Truths


def _price(name: str, access: Access, place: _Place | None, rows: list[Row]) -> _Faults:
    """Put the costs of an access into the rows where it has a cost.

    Errors are those of `cost`.
    """
    count = len(rows)
    shown = str(evidence(access.target, access.instruction))
    for row in rows:
        row.evidence[name] = shown
    whole = np.zeros(count, dtype=np.bool_)
    if place is None or isinstance(place.tile.layout, OffsetMap):
        torn = whole if place is None else whole | place.check.torn(vector_elements(access), place.fields, "offset")
        leaves = place is not None and leaves_tile(Path(access), vector_elements(access))
        try:
            found = cost(access)
        except SwzError as error:
            if error.code != "SWZ404":
                raise
            return _Faults(leaves, ~whole)
        for row in [] if torn.any() else rows:
            row.wavefronts[name], row.conflicts[name] = found.wavefronts, found.bank_conflicts
        return _Faults(leaves, torn)
    path = Path(access)
    prices = path.price(place.tile, place.fields, place.on)
    torn = whole | place.check.torn(vector_elements(access), place.fields, place.on) | ~prices.aligned
    wavefronts = np.broadcast_to(prices.wavefronts, (count,)).tolist()
    conflicts = np.broadcast_to(prices.conflicts, (count,)).tolist()
    for index in np.flatnonzero(~torn).tolist():
        rows[index].wavefronts[name], rows[index].conflicts[name] = wavefronts[index], conflicts[index]
    return _Faults(leaves_tile(path, vector_elements(access)), torn)


_ORDER = (Outcome.ERROR, Outcome.UNKNOWN, Outcome.REFUTED, Outcome.VACUOUS, Outcome.PROVED)
"""The outcome of a case is the first of these outcomes that one of its claims has."""


def judge(built: BuiltSpec, row: Row) -> None:
    """Prove the spec's claims, and compare the verdicts with what was measured.

    Raises:
        InternalError: The prover and the measure contradict each other.
    """
    found: list[Outcome] = []
    for stated in built.claims:
        verdict = prove(stated.claim, options=Options())
        found.append(verdict.outcome)
        name = stated.claim.subjects[0].name
        if stated.claim.kind == "conflict_free" and name in row.conflicts:
            wrong = Outcome.REFUTED if row.conflicts[name] == 0 else Outcome.PROVED
            if verdict.outcome is wrong:
                raise InternalError(
                    f"the sweep counts {row.conflicts[name]} bank conflicts of {name}, and the prover says "
                    f"{verdict.outcome}: {verdict.reason}"
                )
    row.claims = next((str(outcome) for outcome in _ORDER if outcome in found), "")
    row.proved = sum(outcome is Outcome.PROVED for outcome in found)

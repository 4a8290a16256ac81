"""The code of tests that counterexamples become: how the places of a case are found.

The code has the case as literals, in people's values. Helpers of `swzverify.testing.cases` find the
places of each subject there, and the claim says of them whether it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swzverify.claims import (
    Claim,
    Contiguous,
    Counterexample,
    Covers,
    Delivers,
    Disjoint,
    RaceFree,
    ReadsWhatWasWritten,
)
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.form import Subject
from swzverify.claims.listing_claim import ListingClaim
from swzverify.claims.tile_points import TilePoints
from swzverify.engines.obligations import second
from swzverify.hardware import LANES
from swzverify.subjects import Access, IndexMap, Operand
from swzverify.subjects.loop import LANE, STAGE
from swzverify.subjects.memory import Origin
from swzverify.subjects.unknown import own_values

_WIDTH = 96


@dataclass(frozen=True, slots=True)
class CaseCode:
    """A test's lines after the one that finds the claim, and the `cases` helpers that they call."""

    lines: Sequence[str]
    helpers: Sequence[str] = ()


def literal(value: object) -> str:
    r"""A value as Python code: ASCII, on one line.

    >>> literal('a"\n')
    '\'a"\\n\''
    """
    text = ascii(value)
    return f'"{text[1:-1]}"' if text.startswith("'") and '"' not in text else text


def _mapping(values: Mapping[str, object]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {value}" for name, value in values.items()) + "}"


def case_code(claim: Claim, found: Counterexample) -> CaseCode:
    """The code that evaluates a refuted claim's counterexample."""
    if found.point is None:
        if isinstance(claim, CostClaim):
            # None takes as many as `exactly` says: there is no single case.
            lines = ["wavefronts = most_wavefronts(claim.access)", "assert wavefronts == claim.limit"]
            return CaseCode(lines, ["most_wavefronts"])
        # The sizes or the shapes of subjects differ: there is no single case.
        return CaseCode(
            ["failing = [fact.note for fact in claim.plan().facts if not fact.holds]", "assert not failing"]
        )
    if isinstance(claim, RaceFree | ReadsWhatWasWritten):
        # The threads and iterations that meet are others as soon as a step moves: the whole claim is asked.
        return CaseCode(["assert is_proved(claim), claim.form.title"], ["is_proved"])
    if isinstance(claim, Disjoint) and isinstance(claim.first, Operand):
        return CaseCode([f"assert not claim.meeting(), {literal(claim.form.title)}"])
    calls = _calls(claim, found)
    short = f"broken = claim.broken({', '.join(calls)})"
    lines = [short] if len(short) <= _WIDTH else ["broken = claim.broken(", *(f"    {call}," for call in calls), ")"]
    return CaseCode(
        [*lines, f"assert not broken, {literal(claim.form.title)}"],
        [call.partition("(")[0].lstrip("*") for call in calls],
    )


def _calls(claim: Claim, found: Counterexample) -> list[str]:
    """The calls that find the places of each side."""
    point, stage = found.point or {}, found.binding.get(STAGE, 0)
    if isinstance(claim, Delivers) or isinstance(claim.subjects[0], Operand):
        return [f"*reads_at(claim, {_mapping(found.binding)})"]
    match claim:
        case Disjoint():
            column = found.columns.index(STAGE)
            sides = zip(("first", "other"), claim.tiles, found.rows, _coords(found), strict=True)
            return [
                f"elements_at(claim.{name}, [{literal(coord)}], stage={row.cells[column]}, "
                f"base={found.binding[f'base of {tile.name}']})"
                for name, tile, row, coord in sides
            ]
        case Contiguous():
            base = claim.tile.origin.at(point)
            return [f"vector_at(claim, {literal(_coords(found)[0])}, stage={stage}, base={base})"]
        case Covers():
            bases = [place.at(point) for _, place in claim.placed]
            coord = TilePoints.of(claim.tile, "", claim.placed[1][1]).coordinate_at(point, second(""))
            return [
                f"every_lane(claim.access, stage={stage}, base={bases[0]})",
                f"elements_at(claim.tile, [{literal(coord)}], stage={stage}, base={bases[1]})",
            ]
        case ListingClaim():
            return ["conflicts_at(claim.listing)"]
        case _:
            names = [name for name in claim.__match_args__ if name not in claim.numbers]
            sides = zip(names, claim.placed, strict=False)
            return [_call(f"claim.{name}", subject, place, found) for name, (subject, place) in sides]


def _call(named: str, subject: Subject, place: Origin | None, found: Counterexample) -> str:
    """The call that finds the places of one subject, by what the counterexample's table has."""
    point = found.point or {}
    base = 0 if place is None else place.at(point)
    match subject:
        case Access():
            where = {name: value for name, value in found.binding.items() if name != LANE}
            # The claim sets the base itself: it compares two accesses.
            compared = place is not None
            where |= {"base": base} if compared else {}
            return f"lanes_at({named}, {_mapping(where)}{_own(subject, point)}{', compared=True' * compared})"
        case IndexMap():
            names = [name for name, _ in subject.over]
            coords = _coords(found) or [row.cells[: len(names)] for row in found.rows]
            points = [_mapping(dict(zip(names, coord, strict=True))) for coord in dict.fromkeys(coords)]
            return f"points_at({named}, [{', '.join(points)}]{f', base={base}' if subject.uses_base else ''})"
        case _:
            coords = literal([*dict.fromkeys(_coords(found))])
            return f"elements_at({named}, {coords}, stage={found.binding.get(STAGE, 0)}, base={base})"


def _coords(found: Counterexample) -> list[Any]:
    """The coordinates in a table that has them."""
    column = found.columns.index("coord") if "coord" in found.columns else None
    return [] if column is None else [row.cells[column] for row in found.rows]


def _own(access: Access, point: Mapping[str, int]) -> str:
    """The argument for the values that lanes have of their own, lane by lane; empty without any."""
    values = [own_values(access.read_unknowns, point, lane) for lane in range(LANES)]
    chosen = {each.name: literal([lane[each.name] for lane in values]) for each in access.read_unknowns}
    return f", own={_mapping(chosen)}" if chosen else ""

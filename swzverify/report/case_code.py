"""The code of tests that counterexamples become: how the case of each kind of claim is evaluated.

The code calls the helpers of `swzverify.testing.cases`, and has the case as literals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swzverify.claims import (
    Aligned,
    Bijective,
    Claim,
    Coalesced,
    Contiguous,
    Counterexample,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
)
from swzverify.claims.common_base import common_origins
from swzverify.claims.cost_claim import CostClaim
from swzverify.claims.equal_places import EqualPlaces
from swzverify.claims.listing_claim import ListingClaim
from swzverify.claims.tile_points import TilePoints
from swzverify.engines.obligations import second
from swzverify.hardware import LANES
from swzverify.subjects import Access, IndexMap, Tile
from swzverify.subjects.loop import LANE, STAGE
from swzverify.subjects.memory import Origin
from swzverify.subjects.unknown import own_values


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
    match claim:
        case Injective() | Bijective():
            return _of_elements(claim, found)
        case InBounds(about=about):
            return _outside_tile(about, found, "claim.about") if isinstance(about, Tile) else _outside(about, found)
        case Contiguous():
            return _torn(claim, found)
        case Aligned():
            return CaseCode([_lanes(claim, found), *_ALIGNED], ["lanes_of"])
        case CostClaim():
            return _cost(claim, found)
        case Coalesced():
            return _sectors(claim, found)
        case Covers():
            return _touched(claim, found)
        case Disjoint():
            return _meeting(claim, found)
        case Equivalent():
            return _unequal(claim, found)
        case Permutation():
            return _no_permutation(claim, found)
        case ListingClaim():
            lines = ["conflicts = conflicts_of(claim.listing)", f"assert conflicts <= {claim.limit}"]
            return CaseCode(lines, ["conflicts_of"])
        case _:
            raise TypeError(f"no test is known for {claim.kind}")


def _lanes(claim: Aligned | Coalesced | CostClaim, found: Counterexample) -> str:
    return f"lanes = lanes_of(claim.access, {_where(found)}{_own(claim.access, found)})"


def _own(access: Access, found: Counterexample) -> str:
    """The argument for the values that lanes have of their own, lane by lane; empty without any."""
    point = found.point or {}
    values = [own_values(access.read_unknowns, point, lane) for lane in range(LANES)]
    chosen = {each.name: literal([lane[each.name] for lane in values]) for each in access.read_unknowns}
    return f", own={_mapping(chosen)}" if chosen else ""


_ALIGNED = (
    "misaligned = [lane.lane for lane in lanes if lane.first_bit is not None and lane.first_bit % lane.width_bits]",
    "assert not misaligned",
)


def _where(found: Counterexample) -> str:
    return _mapping({name: value for name, value in found.binding.items() if name != LANE})


def _placed(found: Counterexample, base: int) -> str:
    """The arguments for the stage and the base of a tile."""
    return f"stage={found.binding.get(STAGE, 0)}, base={base}"


def _coords(found: Counterexample) -> list[str]:
    column = found.columns.index("coord")
    return [literal(row.cells[column]) for row in found.rows]


def _base_at(place: Origin, found: Counterexample) -> int:
    """The base address in bytes."""
    return place.at(found.point or {})


def _of_elements(claim: Injective | Bijective, found: Counterexample) -> CaseCode:
    """Two elements that share a bit, one outside the allocation, or a count that does not fit."""
    if not found.rows:
        return CaseCode(["tile = claim.tile", "assert tile.size * tile.element_bits == 8 * tile.allocation_bytes"])
    if len(found.rows) == 1:
        return _outside_tile(claim.tile, found, "claim.tile")
    where = _placed(found, _base_at(claim.tile.origin, found))
    first, other = _coords(found)
    lines = [
        f"first = bits_of(claim.tile, {first}, {where})",
        f"other = bits_of(claim.tile, {other}, {where})",
        'assert first.stop <= other.start or other.stop <= first.start, "the two elements share a bit"',
    ]
    return CaseCode(lines, ["bits_of"])


def _outside_tile(tile: Tile, found: Counterexample, named: str) -> CaseCode:
    where = _placed(found, _base_at(tile.origin, found))
    lines = [
        f"element = bits_of({named}, {_coords(found)[0]}, {where})",
        f"room = allocation_of({named}, {where})",
        'assert room.start <= element.start and element.stop <= room.stop, "the element lies outside"',
    ]
    return CaseCode(lines, ["allocation_of", "bits_of"])


def _outside(about: Access, found: Counterexample) -> CaseCode:
    lines = [
        f"for lane in lanes_of(claim.about, {_where(found)}{_own(about, found)}):",
        "    if lane.first_bit is not None:",
        "        assert all(c < n for c, n in zip(lane.coord, lane.extents, strict=True)), lane",
        "        assert lane.room.start <= lane.first_bit, lane",
        "        assert lane.first_bit + lane.width_bits <= lane.room.stop, lane",
    ]
    return CaseCode(lines, ["lanes_of"])


def _torn(claim: Contiguous, found: Counterexample) -> CaseCode:
    where = _placed(found, _base_at(claim.tile.origin, found))
    lines = [
        f"places, step = vector_of(claim, {_coords(found)[0]}, {where})",
        "assert places == [places[0] + step * item for item in range(claim.elements)]",
        'assert places[0] % (step * claim.elements) == 0, "the vector begins between two"',
    ]
    return CaseCode(lines, ["vector_of"])


def _cost(claim: CostClaim, found: Counterexample) -> CaseCode:
    if found.point is None:
        # None takes as many as `exactly` says: there is no single case.
        lines = ["wavefronts = most_wavefronts(claim.access)", "assert wavefronts == claim.limit"]
        return CaseCode(lines, ["most_wavefronts"])
    lines = [
        _lanes(claim, found),
        *_ALIGNED,
        "addresses = [lane.address for lane in lanes]",
        "banks = [None if address is None else address // 4 % 32 for address in addresses]",
        "cost = access_cost(claim.access.instruction, addresses, claim.access.target)",
    ]
    limit = "cost.minimum" if claim.limit is None else "claim.limit"
    lines.append(f"wavefronts, limit = cost.wavefronts, {limit}")
    lines.append('assert wavefronts <= limit, f"the lanes go to the banks {banks}"')
    return CaseCode(lines, ["lanes_of"])


def _sectors(claim: Coalesced, found: Counterexample) -> CaseCode:
    lines = [
        _lanes(claim, found),
        *_ALIGNED,
        "sectors = [None if lane.address is None else lane.address // 32 for lane in lanes]",
        "touched = set(sectors) - {None}",
    ]
    if claim.at_most is None:
        width = claim.access.instruction.width_bytes
        lines.append("active = [sector for sector in sectors if sector is not None]")
        lines.append(f"limit = -(-len(active) * {width} // 32)")
    limit = "limit" if claim.at_most is None else "claim.at_most"
    lines.append(f'assert len(touched) <= {limit}, f"the lanes go to the sectors {{sectors}}"')
    return CaseCode(lines, ["lanes_of"])


def _touched(claim: Covers, found: Counterexample) -> CaseCode:
    places = tuple(place for _, place in claim.placed)
    coord = TilePoints.of(claim.tile, "", places[1]).coordinate_at(found.point or {}, second(""))
    bases = tuple(_base_at(place, found) for place in places)
    lines = [
        f"touches = touches_of(claim, {literal(coord)}, stage={found.binding.get(STAGE, 0)}, bases={literal(bases)})",
        "assert len(touches) == claim.times, touches",
    ]
    return CaseCode(lines, ["touches_of"])


def _meeting(claim: Disjoint, found: Counterexample) -> CaseCode:
    column = found.columns.index(STAGE)
    lines: list[str] = []
    tiles = (claim.first, claim.other)
    for name, tile, coord, row in zip(("first", "other"), tiles, _coords(found), found.rows, strict=True):
        base = found.binding[f"base of {tile.name}"]
        lines.append(f"{name} = bits_of(claim.{name}, {coord}, stage={row.cells[column]}, base={base})")
    lines.append('assert first.stop <= other.start or other.stop <= first.start, "the two elements share a bit"')
    return CaseCode(lines, ["bits_of"])


_FACTS = CaseCode(["failing = [fact.note for fact in claim.plan().facts if not fact.holds]", "assert not failing"])
"""Where the shapes of two subjects differ: there is no single case."""


def _unequal(claim: Equivalent, found: Counterexample) -> CaseCode:
    if found.point is None:
        return _FACTS
    places = common_origins(*claim.bases)
    sides = (claim.first, claim.second)
    if isinstance(claim.first, Access) and isinstance(claim.second, Access):
        where = {name: value for name, value in found.binding.items() if name != LANE}
        lines = [
            f"{name} = lanes_of(claim.{name}, {_mapping({**where, 'base': _base_at(place, found)})}"
            f"{_own(side, found)}, compared=True)"
            for name, side, place in zip(("first", "second"), (claim.first, claim.second), places, strict=True)
        ]
        lines.append("assert [lane.first_bit for lane in first] == [lane.first_bit for lane in second]")
        return CaseCode(lines, ["lanes_of"])
    two_maps = all(isinstance(side, IndexMap) for side in sides)
    lines: list[str] = []
    helpers: list[str] = []
    coord = _common_coord(claim, found, places)
    for name, side, place in zip(("first", "second"), sides, places, strict=True):
        base = _base_at(place, found)
        if isinstance(side, IndexMap):
            point = dict(zip((each for each, _ in side.over), coord, strict=True))
            call = f"value_of(claim.{name}, {_mapping(point)}{f', base={base}' if side.uses_base else ''})"
            lines.append(f"{name} = {call}" if two_maps else f"{name} = 8 * {call}[0]")
            helpers.append("value_of")
        else:
            lines.append(f"{name} = bits_of(claim.{name}, {literal(coord)}, {_placed(found, base)}).start")
            helpers.append("bits_of")
    return CaseCode([*lines, "assert first == second"], helpers)


def _common_coord(claim: Equivalent, found: Counterexample, places: tuple[Origin, Origin]) -> tuple[int, ...]:
    if isinstance(claim.first, Access) or isinstance(claim.second, Access):
        raise TypeError("accesses are compared lane by lane")
    point = found.point or {}
    return tuple(point[node.name] for node in EqualPlaces.of(claim.first, claim.second, places).coords)


def _no_permutation(claim: Permutation, found: Counterexample) -> CaseCode:
    """A value outside the box, two points with one value, or a count that does not fit."""
    names = [name for name, _ in claim.map.over]
    if not found.rows:
        return _FACTS
    place = claim.map.origin
    base = "" if place is None else f", base={_base_at(place, found)}"
    points = [dict(zip(names, row.cells[: len(names)], strict=True)) for row in found.rows]
    calls = [f"value_of(claim.map, {_mapping(point)}{base})" for point in points]
    if len(calls) == 1:
        lines = [f"value = {calls[0]}", "assert all(0 <= v < n for v, n in zip(value, claim.box, strict=True)), value"]
        return CaseCode(lines, ["value_of"])
    lines = [f"first = {calls[0]}", f"other = {calls[1]}", 'assert first != other, "two points have one value"']
    return CaseCode(lines, ["value_of"])

"""The cases of counterexamples, which tests of `swzverify prove --write-test` evaluate in integers.

A test finds its claim in the spec, so that it follows the spec as it is mended. What it asks then
needs no engine: the address of one element, of the lanes of one warp instruction, or the value of a
map at one point. Where the spec has no such case any more (the base is aligned better, a loop ends
earlier), there is nothing to evaluate, and the test is skipped. If the claim itself is gone, the
test fails: a deleted contract does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NoReturn, TypeVar

import numpy as np
import pytest

from swzverify.claims import Claim, Outcome
from swzverify.claims.conflict_free import ConflictFree
from swzverify.claims.contiguous import Contiguous
from swzverify.claims.covers import Covers
from swzverify.claims.covers import every_lane as lanes_of_loops
from swzverify.claims.delivers import Delivers
from swzverify.claims.equal_lanes import lanes_of as lanes_of_access
from swzverify.claims.form import Subject
from swzverify.claims.operand_points import OperandPoints
from swzverify.claims.places import Places, element_places, lane_places, numbers
from swzverify.engines.obligations import of_lane
from swzverify.errors import SwzError, nearest
from swzverify.hardware import LANES
from swzverify.prover import prove
from swzverify.spec import load_spec
from swzverify.subjects import Access, IndexMap, Listing, Operand, Phase, Tile
from swzverify.subjects.loop import STAGE, WARP
from swzverify.subjects.memory import Origin
from swzverify.subjects.plain_access import LaneRecord

_Claim = TypeVar("_Claim", bound=Claim)
_Subject = TypeVar("_Subject", Tile, Access, IndexMap, Listing, Operand, Phase)
_AGAIN = "write the tests again with `swzverify prove --write-test`"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of a warp instruction.

    Attributes:
        lane: The number of the lane.
        coord: The coordinate in the tile; empty for a bare address.
        extents: The extents of the tile; empty for a bare address.
        address: The byte address; None if the lane is not active.
        first_bit: The first bit that the lane touches, from address 0.
        width_bits: The number of bits that the lane touches.
        room: The bits of the stage that the access goes to, or of the bytes that a bare address may
            touch.
    """

    lane: int
    coord: tuple[int, ...]
    extents: tuple[int, ...]
    address: int | None
    first_bit: int | None
    width_bits: int
    room: range


def claim_of(kind: type[_Claim], file: str | PathLike[str], name: str, *, target: str | None = None) -> _Claim:
    """The claim `name` of a spec file, `A::bijective` for example: a claim's id without the file.

    Raises:
        SwzError: SWZ808 if the file has no such claim; those of `load_spec`.
    """
    spec = load_spec(file, target=target)
    found = {each.id.removeprefix(f"{spec.path}::"): each.claim for each in spec.claims}
    claim = found.get(name)
    if isinstance(claim, kind):
        return claim
    near = nearest(name, [each for each, other in found.items() if isinstance(other, kind)])
    hint = f"{_AGAIN}, or delete this one" + (f"; {near}" if near else "")
    raise SwzError("SWZ808", f"{Path(file).name} has no claim {name!r} any more", hint=hint)


def bits_of(tile: Subject, coord: Sequence[int], *, stage: int, base: int) -> range:
    """The bits of an element, counted from address 0, in a stage of a tile at a base in bytes."""
    tile = _only(Tile, tile)
    inside = len(coord) == len(tile.extents) and all(c < n for c, n in zip(coord, tile.extents, strict=True))
    if not inside:
        _skip(f"tile {tile.name} has no element {tuple(coord)}")
    _check_place(tile, stage, base)
    first = int(tile.position(coord, stage=stage, base=base)) * tile.unit_bits
    return range(first, first + tile.element_bits)


def allocation_of(tile: Subject, *, stage: int, base: int) -> range:
    """The bits of a stage's allocation, counted from address 0."""
    tile = _only(Tile, tile)
    _check_place(tile, stage, base)
    start = 8 * (base + stage * tile.pitch_bytes)
    return range(start, start + 8 * tile.allocation_bytes)


def vector_of(claim: Contiguous, coord: Sequence[int], *, stage: int, base: int) -> tuple[list[int], int]:
    """(where the elements of the claim's vector at `coord` lie, how far apart two must be).

    Offsets in elements, 1 apart; where the tile's swizzle acts on addresses, or its expression
    counts bytes, addresses in bits, an element apart.
    """
    tile, along = claim.tile, claim.along
    if coord[along] % claim.elements:
        _skip(f"no vector of {claim.elements} elements begins at {tuple(coord)}")
    items = [(*coord[:along], coord[along] + item, *coord[along + 1 :]) for item in range(claim.elements)]
    bits = [bits_of(tile, item, stage=stage, base=base) for item in items]
    if tile.offsets_decide:
        return [int(tile.offset(item)) for item in items], 1
    return [each.start for each in bits], tile.element_bits


def conflicts_of(listing: Subject) -> int:
    """The register bank conflicts that a listing has at least."""
    return _only(Listing, listing).least


def value_of(index: Subject, point: Mapping[str, int], *, base: int = 0) -> tuple[int, ...]:
    """The values of a map at one point of its box, with `base` in bytes where the map reads it."""
    index = _only(IndexMap, index)
    extents = dict(index.over)
    _check_names(f"map {index.name}", extents, point)
    if any(value >= extents[name] for name, value in point.items()):
        _skip(f"map {index.name} has no point {dict(point)}")
    return index.at({**point, "base": base} if index.uses_base else point)


def lanes_of(
    access: Subject,
    where: Mapping[str, int],
    *,
    own: Mapping[str, Sequence[int]] | None = None,
    compared: bool = False,
) -> list[Lane]:
    """The 32 lanes of the warp instruction at `where`.

    `where` has `warp`, the loops by value, and `stage` and `base` if they apply. `own` has the values of
    each lane's own, lane by lane. With `compared`, an iteration that does not exist, or that the
    assumptions exclude, has inactive lanes: such a case is a difference for `equivalent`, and no case for
    every other claim.
    """
    access = _only(Access, access)
    extents = () if access.tile is None else access.tile.extents
    room_bits = 8 * (access.tile.allocation_bytes if access.tile is not None else access.bytes or 0)
    width_bits = 8 * access.instruction.width_bytes
    found: list[Lane] = []
    for each in _records(access, where, own or {}, compared=compared):
        address, start = each.address_bytes, 8 * each.start_bytes
        first = None if address is None else 8 * address + each.bit
        room = range(start, start + room_bits)
        found.append(Lane(each.lane, each.coord or (), extents, address, first, width_bits, room))
    return found


def _records(
    access: Access, where: Mapping[str, int], own: Mapping[str, Sequence[int]], *, compared: bool
) -> tuple[LaneRecord, ...]:
    """The lanes of a warp instruction; the test is skipped where there is no such one."""
    point = _point(access, where, compared=compared) | _choice(access, own)
    if not compared and not access.assumed_at(point):
        _skip(f"access {access.name} does not run at {dict(where)}")
    return lanes_of_access(access, point)


def touches_of(
    claim: Covers, coord: Sequence[int], *, stage: int, bases: tuple[int, int]
) -> list[tuple[int, int, dict[str, int]]]:
    """Every (warp, lane, loops) of the access that touches the element; both bases are bytes."""
    element = elements_at(claim.tile, [coord], stage=stage, base=bases[1])
    lanes, where = _every_lane(claim.access, stage, bases[0])
    names = [loop.name for loop in claim.access.loops]
    hit = numbers(lanes.active & (lanes.touched_by(element) > 0))
    return [
        (warp, each % LANES, dict(zip(names, loops, strict=True)))
        for each in hit
        for warp, *loops in [where[each // LANES]]
    ]


def elements_at(tile: Subject, coords: Sequence[Sequence[int]], *, stage: int, base: int) -> Places:
    """Where the elements at some coordinates are, in a stage of a tile at a base in bytes."""
    for coord in coords:
        bits_of(tile, coord, stage=stage, base=base)  # skips where there is none
    return element_places(_only(Tile, tile), coords, stage, base)


def vector_at(claim: Contiguous, coord: Sequence[int], *, stage: int, base: int) -> Places:
    """Where the elements of the claim's vector that begins at a coordinate are."""
    vector_of(claim, coord, stage=stage, base=base)  # skips where there is none
    along = claim.along
    items = [(*coord[:along], coord[along] + item, *coord[along + 1 :]) for item in range(claim.elements)]
    return element_places(claim.tile, items, stage, base)


def lanes_at(
    access: Subject,
    where: Mapping[str, int],
    *,
    own: Mapping[str, Sequence[int]] | None = None,
    compared: bool = False,
) -> Places:
    """Where the 32 lanes of the warp instruction at `where` are; the arguments are those of `lanes_of`."""
    access = _only(Access, access)
    return lane_places(access, _records(access, where, own or {}, compared=compared))


def every_lane(access: Subject, *, stage: int, base: int) -> Places:
    """Where the lanes of all warp instructions are, in a stage and at a base in bytes."""
    return _every_lane(_only(Access, access), stage, base)[0]


def points_at(index: Subject, points: Sequence[Mapping[str, int]], *, base: int = 0) -> Places:
    """The values of a map at some points of its box, with `base` in bytes where the map reads it."""
    return Places(np.asarray([value_of(index, point, base=base) for point in points]))


def reads_at(claim: Claim, where: Mapping[str, int]) -> tuple[Places, ...]:
    """What `delivers`, or another claim on an operand of the tensor core, judges in one iteration.

    `where` has the loops by value, and `warp`, `stage` and `base` if they apply. Of two operands it judges
    each one that has such an iteration.
    """
    if isinstance(claim, Delivers) and claim.second is not None:
        found: list[Places] = []
        for number, subject in enumerate(claim.subjects):
            # The iteration is that of one of the two.
            with suppress(SwzError, pytest.skip.Exception):
                found += claim.sides_of(number, _iteration(subject, where))
        return tuple(found) or _skip(f"neither of {claim.subject} is read at {dict(where)}")
    return claim.sides_at(_iteration(claim.subjects[0], where))


def _iteration(subject: Subject, where: Mapping[str, int]) -> dict[str, int]:
    """An iteration of an access or an operand as the engines know it."""
    if isinstance(subject, Access):
        point = _point(subject, where, compared=False)
        return point if subject.assumed_at(point) else _skip(f"{subject.name} does not run at {where}")
    operand = _only(Operand, subject)
    known = {loop.name: 0 for loop in operand.loops}
    _check_names(f"operand {operand.name}", known, {name: 0 for name in where if name != "base"})
    point = OperandPoints(operand).point_of(where)
    return point if point is not None else _skip(f"operand {operand.name} is not read at {dict(where)}")


def is_proved(claim: Claim) -> bool:
    """Whether a claim on the order of accesses is proved: it is about all threads and iterations at once."""
    return prove(claim).outcome is Outcome.PROVED


def conflicts_at(listing: Subject) -> Places:
    """The register bank conflicts that each instruction of a listing has at least."""
    return Places(np.asarray([each.least for each in _only(Listing, listing).counted]))


def _every_lane(access: Access, stage: int, base: int) -> tuple[Places, list[tuple[int, ...]]]:
    stages = 1 if access.tile is None else access.tile.stages
    if stage >= stages:
        _skip(f"access {access.name} has no stage {stage}")
    place = access.origin
    return lanes_of_loops(access, {STAGE: stage, place.name: _base_index(access.name, place, base)})


def _only(kind: type[_Subject], subject: Subject) -> _Subject:
    if isinstance(subject, kind):
        return subject
    message = f"{subject.name} was of the kind {kind.__name__}, and is a {type(subject).__name__} now"
    raise SwzError("SWZ808", message, hint=_AGAIN)


def _skip(why: str) -> NoReturn:
    pytest.skip(f"the spec has no such case any more: {why}; {_AGAIN}")


def _check_names(what: str, known: Mapping[str, int], given: Mapping[str, int]) -> None:
    if set(known) != set(given):
        message = f"{what} goes over {', '.join(known) or 'nothing'}, this test over {', '.join(given) or 'nothing'}"
        raise SwzError("SWZ808", message, hint=_AGAIN)


def _check_place(tile: Tile, stage: int, base: int) -> None:
    if stage >= tile.stages:
        _skip(f"tile {tile.name} has no stage {stage}")
    _base_index(tile.name, tile.origin, base)


def _base_index(name: str, place: Origin, base: int) -> int:
    """The place of a base in its range; a test is skipped where it is none of the bases."""
    index, rest = divmod(base - place.start_bytes, place.unit_bytes)
    if rest or not 0 <= index < place.count:
        _skip(f"{name} never begins at byte {base}")
    return index


def _point(access: Access, where: Mapping[str, int], *, compared: bool) -> dict[str, int]:
    """A case as the engines know it: loops counted from 0, the base by its place in the range."""
    given = {name: value for name, value in where.items() if name not in (WARP, STAGE, "base")}
    limits = dict(zip((loop.name for loop in access.loops), access.loop_limits, strict=True))
    _check_names(f"access {access.name}", limits, given)
    if where.get(WARP, 0) >= access.warps:
        _skip(f"access {access.name} has no warp {where[WARP]}")
    point = {WARP: where.get(WARP, 0)}
    for loop in access.loops:
        turn = loop.iteration_of(where[loop.name])
        if turn is None or (turn >= limits[loop.name] and not (compared and loop.is_unbounded)):
            _skip(f"loop {loop.name} of {access.name} never takes {where[loop.name]}")
        point[loop.name] = turn
    stages = 1 if access.tile is None else access.tile.stages
    stage = where.get(STAGE, 0)
    if stage >= stages and not compared:
        _skip(f"access {access.name} has no stage {stage}")
    place = access.origin
    return {**point, STAGE: stage, place.name: _base_index(access.name, place, where.get("base", place.start_bytes))}


def _choice(access: Access, own: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The choice of the lanes' values as the engines know it: each by its place in the range."""
    _check_names(
        f"in its lanes, access {access.name}", {each.name: 0 for each in access.read_unknowns}, dict.fromkeys(own, 0)
    )
    found: dict[str, int] = {}
    for each in access.read_unknowns:
        for lane, value in enumerate(own[each.name]):
            place, rest = divmod(value - each.start, each.step)
            if rest or not 0 <= place < each.count:
                _skip(f"{each.name} of {access.name} never is {value}")
            found[of_lane(each.name, lane)] = place
    return found


def most_wavefronts(access: Subject) -> int:
    """The wavefronts of the worst warp instruction of an access, exactly; 0 where none is found."""
    measure = prove(ConflictFree(_only(Access, access))).measure
    return measure.wavefronts if measure is not None and measure.exact else 0

"""Measures one built case of a sweep: one row for each of many swizzles of one tile.

Faults of a tile or an access under each of many swizzles, by the plain definition.

A fault is two elements in one place, an element outside the allocation, or a torn vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from swzverify.claims.verdict import Outcome
from swzverify.errors import InternalError, SwzError
from swzverify.hardware import evidence
from swzverify.prover import Options, prove
from swzverify.search.costs import cost
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.pricing import Array, Fields, Path, Truths
from swzverify.search.synth.starts import starts
from swzverify.spec.build import BuiltSpec, SpecCase
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


MAX_ELEMENTS = 1 << 21
"""The most elements of a tile, times the places where a stage may begin, that are looked at."""
_CHUNK = 1 << 20


class TileCheck:
    """A tile without its swizzle, looked at once, and then under many swizzles.

    Raises:
        SwzError: SWZ206 for more elements than are looked at.
    """

    def __init__(self, tile: Tile) -> None:
        """List the tile's elements."""
        if tile.size > MAX_ELEMENTS:
            raise SwzError(
                "SWZ206",
                f"tile {tile.name} has {tile.size} elements: at most {MAX_ELEMENTS} are looked at",
                hint="sweep a smaller tile; `swzverify prove` takes any",
            )
        self.tile = tile
        self._whole: dict[int, bool] = {}
        grid = np.indices(tile.extents, dtype=np.int64)
        self._offsets: Array = np.asarray(tile.layout(*grid), dtype=np.int64)

    def overlaps(self, fields: Fields, on: SwizzleOn) -> Truths:
        """Under which swizzles two elements share a bit."""
        tile = self.tile
        flat = self._offsets.reshape(-1) * tile.step_units
        plain = np.full(len(fields), _share(flat[None], tile.element_units)[0], dtype=np.bool_)
        if on == "offset":
            return plain  # a swizzle takes different offsets to different ones
        # A swizzle of addresses may tear elements; one that keeps them whole changes no overlap.
        tears = (fields.bits > 0) & ((1 << fields.base) < tile.element_units)
        for index in np.flatnonzero(tears):
            one = fields.pick(slice(index, index + 1))
            begin = np.array(starts(tile, 1 << int(one.top[0])), dtype=np.int64)
            self._refuse_many(begin.size * flat.size)
            plain[index] = _share(one.apply(flat[None] + begin[:, None]), tile.element_units).any()
        return plain

    def outside(self, fields: Fields, on: SwizzleOn) -> Truths:
        """Under which swizzles an element leaves its stage's allocation."""
        tile = self.tile
        if isinstance(tile.layout, OffsetMap):
            begin = self._offsets * tile.step_units
            room = tile.allocation_bytes * tile.units_per_byte
            out = int(begin.min()) < 0 or int(begin.max()) + tile.element_units > room
            return np.full(len(fields), out, dtype=np.bool_)
        return ~Frame((tile,), fields, on).inside()

    def torn(self, elements: int, fields: Fields, on: SwizzleOn) -> Truths:
        """For each swizzle, whether it tears vectors of `elements` elements.

        A vector is whole if its elements are contiguous, aligned and in order, along the tile's contiguous
        mode. If the mode is shorter than a vector, every swizzle tears it.
        """
        tile = self.tile
        if tile.extents[tile.contiguous_mode] < elements:
            return np.ones(len(fields), dtype=np.bool_)
        if on == "offset" and not tile.counts_bytes:
            # A swizzle of whole vectors keeps them; what tears one depends on the layout alone then.
            safe = (fields.bits == 0) | (1 << fields.base >= elements if elements & (elements - 1) == 0 else False)
            found = np.full(len(fields), not self._is_whole(elements), dtype=np.bool_)
            left = np.flatnonzero(~safe)
            vectors = self._vectors(elements)
            for at in _steps(left, vectors.size):
                found[at] = _apart(fields.pick(at).apply(vectors[None]), elements, 1)
            return found
        return self._torn_addresses(elements, fields)

    def _refuse_many(self, count: int) -> None:
        if count > MAX_ELEMENTS:
            raise SwzError(
                "SWZ206",
                f"tile {self.tile.name}: {count} addresses to look at; at most {MAX_ELEMENTS}",
                hint="align the tile's base to more bytes",
            )

    def _is_whole(self, elements: int) -> bool:
        if elements not in self._whole:
            self._whole[elements] = not _apart(self._vectors(elements)[None], elements, 1)[0]
        return self._whole[elements]

    def _vectors(self, elements: int) -> Array:
        """The offsets, one row per vector."""
        along = self.tile.contiguous_mode
        count = self.tile.extents[along] // elements
        offsets = np.moveaxis(self._offsets, along, -1)[..., : count * elements]
        return offsets.reshape(-1, elements)

    def _torn_addresses(self, elements: int, fields: Fields) -> Truths:
        tile = self.tile
        step = tile.element_units
        # Beyond the period of the widest vector and swizzle nothing changes.
        reach = max(int(fields.top.max()), (elements * step - 1).bit_length())
        begin = np.array(starts(tile, 1 << reach), dtype=np.int64)
        vectors = self._vectors(elements) * tile.step_units
        raw = vectors[None] + begin[:, None, None]
        self._refuse_many(raw.size)
        found = np.zeros(len(fields), dtype=np.bool_)
        for at in _steps(np.arange(len(fields)), raw.size):
            moved = fields.pick(at).apply(raw[None])
            found[at] = _apart(moved.reshape(len(at), -1, elements), elements, step)
        return found


def _share(places: Array, width: int) -> Truths:
    """For each row whether two stretches of `width` units that begin at its places overlap."""
    return np.asarray((np.diff(np.sort(places, axis=-1), axis=-1) < width).any(axis=-1))


def _steps(which: NDArray[np.signedinteger], size: int) -> list[NDArray[np.signedinteger]]:
    """The numbers in parts, so that no array grows large."""
    step = max(1, _CHUNK // max(1, size))
    return [which[at : at + step] for at in range(0, len(which), step)]


def _apart(places: Array, elements: int, step: int) -> Truths:
    """For each first index whether some vector is not aligned, or not one element behind the other."""
    first = places[..., :1]
    wanted = first + step * np.arange(elements, dtype=np.int64)
    wrong = (places != wanted).any(axis=-1) | (first[..., 0] % (elements * step) != 0)
    return np.asarray(wrong.any(axis=-1))


def leaves_tile(path: Path, elements: int) -> bool:
    """Whether an active lane's vector begins or ends outside the tile's extents.

    Errors are those of `lanes_of`.
    """
    access = path.access
    tile = access.tile
    assert tile is not None  # noqa: S101 - only accesses to tiles have coordinates
    lanes = path.lanes
    for mode, (extent, coord) in enumerate(zip(tile.extents, lanes.coord, strict=True)):
        reach = elements if mode == tile.contiguous_mode else 1
        last = coord + (reach - 1)
        if (lanes.active & ((coord < 0) | (last >= extent))).any():
            return True
    return False


def vector_elements(access: Access) -> int:
    """The elements that a lane's vector touches, one at least.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.layout import Layout
    >>> tile = Tile("A", 16, Layout((8, 64), (64, 1)))
    >>> row = find_instruction("ldmatrix.x4")
    >>> vector_elements(Access("r", row, find_target("sm_90"), (32,), tile=tile, coord=(parse("lane"), parse("0"))))
    8
    """
    assert access.tile is not None  # noqa: S101 - see `leaves_tile`
    return max(1, -(-8 * access.instruction.width_bytes // access.tile.element_bits))

"""The cost of an access under each of many swizzles: the exact worst case.

It is the worst over every warp, iteration, stage and base. Linear accesses are priced by ranks, the
others by the plain rule on each distinct warp instruction. The prices are those that `costs` gives
for each tile alone.

Every distinct warp instruction of an access, as coordinates.

The plain rule prices these where ranks cannot tell the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.engines.gf2 import rank
from swzverify.errors import SwzError
from swzverify.hardware import LANES, cost_many
from swzverify.layout import Layout
from swzverify.search.costs.access_costs import granule_bytes, refuse_what_has_no_end, run_digits
from swzverify.search.synth.linear import LinearLanes, linear_lanes, ranks, slot_bits
from swzverify.search.synth.starts import free_bits, starts
from swzverify.subjects import Access, Tile
from swzverify.subjects.loop import LANE, STAGE
from swzverify.subjects.plain_access import stage_at
from swzverify.subjects.tile import SwizzleOn

MAX_LANES = 1 << 27
"""Lanes that are priced for one access on one layout; some ten seconds."""
_CHUNK_LANES = 1 << 20
Integers: TypeAlias = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Fields:
    """Swizzles as three columns, B, M and S; B = 0 is no swizzle.

    The caller knows what they act on.
    """

    bits: Array
    base: Array
    shift: Array

    @staticmethod
    def of(triples: list[tuple[int, int, int]]) -> Fields:
        """The columns of a list."""
        rows = np.array(triples or [(0, 0, 0)], dtype=np.int64).reshape(-1, 3)
        return Fields(rows[:, 0], rows[:, 1], rows[:, 2])

    def __len__(self) -> int:
        """The number of swizzles."""
        return len(self.bits)

    def pick(self, which: Truths | Array | slice) -> Fields:
        """The swizzles that a mask, a list of places or a slice chooses."""
        return Fields(self.bits[which], self.base[which], self.shift[which])

    @property
    def top(self) -> Array:
        """M + B + |S|: the first bit that a swizzle does not look at."""
        return np.where(self.bits > 0, self.base + self.bits + np.abs(self.shift), 0)

    def recast(self, up: int) -> Fields:
        """The swizzles counted in units 2^up times smaller; the same object if the units are the same."""
        if up <= 0:
            return self
        if up not in self._recast:
            self._recast[up] = Fields(self.bits, self.base + up, self.shift)
        return self._recast[up]

    @cached_property
    def _recast(self) -> dict[int, Fields]:
        """The answers of `recast` so far."""
        return {}

    @cached_property
    def _moves(self) -> tuple[Integers, Integers, Integers | None]:
        """The mask of the bits that are read, and how far these move down and up.

        The last is None if no bit moves up. The numbers have 32 bits if these suffice, because they are read
        often.
        """
        forward, back = np.maximum(self.shift, 0), np.maximum(-self.shift, 0)
        mask = ((np.int64(1) << self.bits) - 1) << (self.base + forward)
        kind = np.int32 if len(mask) and int((mask | mask << back).max()) >> 31 == 0 else np.int64
        return mask.astype(kind), forward.astype(kind), back.astype(kind) if back.any() else None

    def apply(self, values: Array) -> Array:
        """The swizzled values: `values` broadcasts against a leading axis of swizzles."""
        mask, forward, back = self._moves
        shape = (-1, *(1,) * (values.ndim - 1))
        moved = (values & mask.reshape(shape)) >> forward.reshape(shape)
        return values ^ (moved if back is None else moved << back.reshape(shape))

    def apply_one(self, value: int) -> Integers:
        """One value under each swizzle, in 32 bits where these suffice."""
        mask, forward, back = self._moves
        if value >> 31:
            mask = mask.astype(np.int64)
        one = mask.dtype.type(value)
        moved = (mask & one) >> forward
        return one ^ (moved if back is None else moved << back)


@dataclass(frozen=True, slots=True)
class Prices:
    """A row for each swizzle: wavefronts and bank conflicts in the worst case, and alignment.

    `aligned` says whether every lane's address is a multiple of the width. If it is not, the other
    numbers have no meaning.
    """

    wavefronts: Array
    conflicts: Array
    aligned: Truths


class Path:
    """An access, listed once, to be priced on many layouts."""

    def __init__(self, access: Access) -> None:
        self.access = access

    @cached_property
    def lanes(self) -> Lanes:
        """Its distinct warp instructions.

        Errors are those of `lanes_of`.
        """
        return lanes_of(self.access)

    def price(self, tile: Tile, fields: Fields, on: SwizzleOn) -> Prices:
        """The prices on this tile, which has no swizzle, under each swizzle.

        Raises:
            SwzError: SWZ206 if there is too much to list or to price.
        """
        access, free = self.access, free_bits(tile)
        linear = linear_lanes(access, tile) if 1 << free >= granule_bytes(access) else None
        if linear is None:
            return self._listed(tile, fields, on)
        # A start that is a multiple of all that a swizzle of addresses looks at changes nothing.
        agree = np.ones(len(fields), dtype=np.bool_) if on == "offset" else fields.top <= free
        if agree.all():
            return self._linear(linear, tile, fields, on)
        parts = [(agree, self._linear(linear, tile, fields.pick(agree), on))] if agree.any() else []
        parts.append((~agree, self._listed(tile, fields.pick(~agree), on)))
        count = len(fields)
        whole = Prices(np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.bool_))
        for which, found in parts:
            whole.wavefronts[which], whole.conflicts[which] = found.wavefronts, found.conflicts
            whole.aligned[which] = found.aligned
        return whole

    def _linear(self, linear: LinearLanes, tile: Tile, fields: Fields, on: SwizzleOn) -> Prices:
        if linear.every_lane and not self.access.instruction.by_octets:
            return _by_ranks(linear, tile, fields, on)
        at_zero = np.zeros(1, dtype=np.int64)
        return _by_rule(self.access, tile, linear.offsets(), _active(self.access), None, fields, on, at_zero)

    def _listed(self, tile: Tile, fields: Fields, on: SwizzleOn) -> Prices:
        lanes = self.lanes
        assert isinstance(tile.layout, Layout)  # noqa: S101 - an expression has no swizzle
        period = granule_bytes(self.access)
        if on == "address":
            period = max(period, 1 << int(fields.top.max()))
        begin = np.array(starts(tile, period, every_stage=lanes.stage is None), dtype=np.int64)
        offsets = np.asarray(tile.layout(*lanes.coord))
        return _by_rule(self.access, tile, offsets, lanes.active, lanes.stage, fields, on, begin)


def _active(access: Access) -> Truths:
    """Which lanes of any warp are active, where that depends on the lane alone."""
    point = {node.name: np.zeros((1, 1), dtype=np.int64) for node in access.free}
    point[access.lane.name] = np.arange(LANES, dtype=np.int64)[None, :]
    _, active, _, _ = access.definition(point)
    return np.broadcast_to(active, (1, LANES))


def _by_ranks(lanes: LinearLanes, tile: Tile, fields: Fields, on: SwizzleOn) -> Prices:
    """Price linear lanes by ranks.

    The lanes of a group touch 2^rank(unit bits) units. Each slot that is touched holds 2^(rank(unit
    bits) - rank(slot bits)) of them.
    """
    shift = tile.element_bits.bit_length() - 1 - 3
    first, end = slot_bits(lanes.instruction)
    # Columns count bytes, or elements where those are smaller; a swizzle of offsets is recast.
    columns = [column << max(shift, 0) for column in lanes.columns[: lanes.group_bits]]
    low, high = (first, end) if shift >= 0 else (first - shift, end - shift)
    act = fields if on == "address" else fields.recast(shift)
    units = [act.apply_one(column) >> low for column in columns]
    mask = (1 << (high - low)) - 1
    slots = ranks([(unit & mask).astype(np.uint8) for unit in units], len(fields))
    if lanes.instruction.counts_equal_words:
        touched = len(columns)
    elif ((act.bits == 0) | (act.base >= low)).all():
        # A swizzle that moves whole units keeps them apart.
        touched = rank([column >> low for column in columns])
    else:
        touched = ranks(units, len(fields)).astype(np.int64)
    # There are few different ranks: each is priced once.
    by_rank = lanes.groups << np.maximum(np.int64(touched) - np.arange(8), 0) if isinstance(touched, int) else None
    wavefronts = lanes.groups << (touched - slots) if by_rank is None else by_rank[slots]
    width = 8 * lanes.instruction.width_bytes // tile.element_bits
    aligned = width <= 1 or 1 << lanes.low_bits >= width
    return Prices(wavefronts, wavefronts - lanes.groups, np.full(len(fields), aligned, dtype=np.bool_))


def _by_rule(
    access: Access,
    tile: Tile,
    offsets: Array,
    active: Truths,
    stage: Array | None,
    fields: Fields,
    on: SwizzleOn,
    begin: Array,
) -> Prices:
    """The plain rule on every distinct warp instruction, at every start that differs."""
    lanes = len(offsets) * LANES * len(begin)
    if lanes * len(fields) > MAX_LANES:
        raise SwzError(
            "SWZ206",
            f"access {access.name}: {lanes * len(fields)} lanes to price, {len(fields)} candidates at "
            f"{len(begin)} starts; at most {MAX_LANES} are priced",
            hint="align the tile's base to more bytes, or state fewer iterations",
        )
    start = 8 * begin[:, None, None]
    if stage is not None:
        start = start + 8 * tile.pitch_bytes * stage[None]

    def rows(fields: Fields) -> tuple[Array, Array, Truths]:
        shape = (len(fields), len(begin), len(offsets), LANES)
        if on == "offset":
            bits = start[None] + tile.element_bits * fields.apply(offsets[None])[:, None]
        else:
            bits = 8 * fields.apply(((start + tile.element_bits * offsets[None]) // 8)[None])
        bits = np.broadcast_to(bits, shape).reshape(-1, LANES)
        on_lanes = np.broadcast_to(active, shape).reshape(-1, LANES)
        wrong = (on_lanes & (bits % (8 * access.instruction.width_bytes) != 0)).any(axis=1)
        found = cost_many(access.instruction, np.where(wrong[:, None], 0, bits // 8), np.ascontiguousarray(on_lanes))
        grid = (len(fields), -1)
        aligned = ~wrong.reshape(grid).any(axis=1)
        return found.wavefronts.reshape(grid).max(axis=1), found.bank_conflicts.reshape(grid).max(axis=1), aligned

    step = max(1, _CHUNK_LANES // lanes)
    parts = [rows(fields.pick(slice(at, at + step))) for at in range(0, len(fields), step)]
    wavefronts, conflicts, aligned = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Prices(wavefronts, conflicts, aligned.astype(np.bool_))


MAX_LISTED = 1 << 23
"""Lanes of all warp instructions of an access that are listed."""
Array = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lanes:
    """The distinct warp instructions with an active lane; all arrays have the shape (n, 32).

    `coord` has the coordinates for each mode. `stage` is None if the access does not choose the stage.
    """

    coord: tuple[Array, ...]
    active: Truths
    stage: Array | None

    @property
    def count(self) -> int:
        """The number of warp instructions."""
        return len(self.active)


def lanes_of(access: Access) -> Lanes:
    """The warp instructions of every warp and iteration, by the plain definition.

    Raises:
        SwzError: SWZ206 for a loop without a bound, values of the lanes' own, or too many lanes; SWZ105
            if no lane is ever active.
    """
    refuse_what_has_no_end(access)
    sizes = {node.name: node.limit for node in access.free if node.name not in (STAGE, access.origin.name)}
    count = prod(sizes.values())
    if count * LANES > MAX_LISTED:
        raise SwzError(
            "SWZ206",
            f"access {access.name}: {count * LANES} lanes to list, over all warps and iterations; at most {MAX_LISTED}",
            hint="a search needs fewer iterations: state the ones that differ, or make the access linear over bits",
        )
    point = {name: values[:, None] for name, values in run_digits(np.arange(count, dtype=np.int64), sizes).items()}
    point[LANE] = np.arange(LANES, dtype=np.int64)[None, :]
    staged = access.tile is not None and access.tile.stages > 1
    if staged and access.stage is None:
        point[STAGE] = np.zeros((1, 1), dtype=np.int64)
    if access.origin.variable is not None:
        point[access.origin.name] = np.zeros((1, 1), dtype=np.int64)
    shape = (count, LANES)
    assumed, on, _, _ = access.definition(point)
    active = np.broadcast_to(on, shape) & np.broadcast_to(assumed, shape)
    env = access.environment(point)
    coord = [np.where(active, np.broadcast_to(each, shape), 0) for each in access.coordinates(env)]
    own = staged and access.stage is not None
    stage = np.where(active, np.broadcast_to(stage_at(access, point, env), shape), 0) if own else None
    columns = [*coord, active.astype(np.int64), *([] if stage is None else [stage])]
    rows = np.concatenate(columns, axis=1)[active.any(axis=1)]
    if not len(rows):
        raise SwzError(
            "SWZ105",
            f"access {access.name}: no warp instruction has an active lane, so that nothing has a cost",
            hint="look at `if:`, `assume:` and the loops' bounds",
        )
    rows = _distinct(rows)
    parts = np.split(rows, len(columns), axis=1)
    modes = len(coord)
    return Lanes(tuple(parts[:modes]), parts[modes].astype(np.bool_), parts[-1] if own else None)


def _distinct(rows: Array) -> Array:
    """Each row once, compared as bytes."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first = np.unique(packed, return_index=True)
    return rows[np.sort(first)]

"""What the warps of a block cost, in plain numbers: every thread's address is computed.

The costs of all warps are counted by `hardware.cost_many`, the worst ones again by
`hardware.access_cost`, which shares no code with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.verdict import DisagreementError, LaneRow, WarpTable
from swzverify.hardware import (
    BANK_PERIOD_BYTES,
    BANK_WORD_BYTES,
    BANKS,
    CHUNK_BYTES,
    CHUNKS_PER_LINE,
    LANES,
    Instruction,
    access_cost,
    copies_many,
    cost_many,
)
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Price:
    """The worst of some warp instructions.

    `ways` is the most words of one bank in one group; by the octet rule it is 1 more than the wavefronts
    beyond the minimum. `wavefronts` is the most wavefronts, with its `minimum`. `worst` is the warp with
    the most words. Without `is_exact`, there may be more.
    """

    ways: int
    wavefronts: int
    minimum: int
    worst: int
    is_exact: bool = True

    @property
    def is_free(self) -> bool:
        """Whether every group takes one wavefront."""
        return self.ways <= 1


class Block:
    """All threads of a block, as warps of 32 lanes."""

    def __init__(self, shape: BlockShape) -> None:
        threads = Threads(shape)
        self.shape = shape
        self.count = len(threads.point["tid.x"])
        self.point, self.exists = threads.in_warps()
        self.warps = len(self.exists)

    def values(self, value: Expr, more: Mapping[str, Array]) -> Array:
        """The values of an expression for all threads, as rows of 32 lanes.

        Arrays of `more` have the shape samples x 1 x 1; then the result has samples x warps x lanes.
        """
        return self.all_values((value,), more)[0]

    def all_values(self, values: Sequence[Expr], more: Mapping[str, Array]) -> list[Array]:
        """As `values`, of several expressions; what they have in common is evaluated once."""
        found = evaluate_many(tuple(values), {**self.point, **more})
        return [np.ascontiguousarray(np.broadcast_to(each, self._shape_of(each))) for each in found]

    def _shape_of(self, found: Array) -> tuple[int, ...]:
        if found.ndim == 3:  # samples by warps by lanes, where each of the two may be 1
            return (found.shape[0], *self.exists.shape)
        return np.broadcast_shapes(found.shape, self.exists.shape)


@lru_cache(maxsize=64)
def block_of(shape: BlockShape) -> Block:
    """The block of a shape, made once."""
    return Block(shape)


@lru_cache(maxsize=64)
def alone(row: Instruction) -> Instruction:
    """The row without joins, and for lanes that may be absent.

    A compiler's other choices may undo joins.
    """
    return replace(row, joins=False, warp_wide=False)


def price(row: Instruction, addresses: Array, active: Mask) -> Price | None:
    """The worst cost of warp instructions, arrays of n by 32; None where no lane is active."""
    row = alone(row)
    addresses = np.where(active, addresses & 0xFFFFFFFF, 0)
    busy = np.flatnonzero(active[:, : row.address_lanes].any(axis=1))
    if not busy.size:
        return None
    addresses, active = addresses[busy], active[busy]
    whole = cost_many(row, addresses, active)
    ways = np.ones(len(busy), dtype=np.int64) if row.by_octets else _ways(row, addresses, active)
    if row.by_octets:
        ways = np.maximum(1, whole.bank_conflicts + 1)
    most, dear = int(np.argmax(ways)), int(np.argmax(whole.wavefronts))
    for each in {most, dear}:
        lanes = [int(a) if on else None for a, on in zip(addresses[each], active[each], strict=True)]
        again = access_cost(row, lanes)
        if again.wavefronts != whole.wavefronts[each] or again.minimum != whole.minimum[each]:
            raise DisagreementError
        if not row.by_octets and max(group.wavefronts for group in again.groups) != ways[each]:
            raise DisagreementError
    return Price(int(ways[most]), int(whole.wavefronts[dear]), int(whole.minimum[dear]), int(busy[most]))


def price_of_copies(row: Instruction, addresses: Array, active: Mask, chunks: Array) -> Price | None:
    """As `price`, by the octet rule, for lanes that read these chunks of global memory."""
    busy = np.flatnonzero(active.any(axis=1))
    if not busy.size:
        return None
    costs = copies_many(addresses[busy] // CHUNK_BYTES, chunks[busy], active[busy])
    if are_coalesced(chunks, active):
        found = price(row, addresses, active)
        if found is None or found.wavefronts != costs.wavefronts.max():
            raise DisagreementError
    beyond = costs.wavefronts - costs.minimum
    most, dear = int(np.argmax(beyond)), int(np.lexsort((costs.minimum, costs.wavefronts))[-1])
    return Price(
        int(beyond[most]) + 1,
        int(costs.wavefronts[dear]),
        int(costs.minimum[dear]),
        int(busy[most]),
        bool(costs.is_exact.all()),
    )


def price_by_cache(row: Instruction, addresses: Array, active: Mask, sources: Array, read: Mask) -> Price | None:
    """As `price`, for `cp.async.ca` with these sources in bytes, of the lanes that `read` all of theirs.

    Lanes conflict at the source, too: it is a lower bound.

    Source: docs/hardware.md, "Copies from any source". Of 1,483 patterns with several lines one took a
    wavefront less than lanes meet at the source.
    """
    found = price(row, addresses, active)
    if found is None:
        return None
    on = (active & read).reshape(-1, row.group_lanes)
    at = sources.reshape(on.shape)
    slots = at // row.width_bytes % (BANK_PERIOD_BYTES // row.width_bytes)
    same = (slots[:, :, None] == slots[:, None, :]) & on[:, :, None] & on[:, None, :]
    most = same.sum(axis=2).max(axis=1)
    lines = at // BANK_PERIOD_BYTES
    first = np.take_along_axis(lines, on.argmax(axis=1)[:, None], axis=1)
    most -= ((lines != first) & on).any(axis=1)
    by_warp = most.reshape(len(active), -1).max(axis=1)
    worst = int(by_warp.argmax())
    if by_warp[worst] <= found.ways:
        return replace(found, is_exact=False)
    return replace(found, ways=int(by_warp[worst]), worst=worst, is_exact=False)


def are_coalesced(chunks: Array, active: Mask) -> bool:
    """Whether each octet reads one line in the order of its lanes, and no other octet reads that line.

    A spec assumes this.
    """
    lane, lines = np.arange(LANES), chunks // CHUNKS_PER_LINE
    in_order = (chunks % CHUNKS_PER_LINE == lane % CHUNKS_PER_LINE) | ~active
    same_octet = lane[:, None] // CHUNKS_PER_LINE == lane // CHUNKS_PER_LINE
    same_line = lines[:, :, None] == lines[:, None, :]
    both = active[:, :, None] & active[:, None, :]
    return bool(in_order.all() and ((same_line == same_octet) | ~both).all())


def ways_of_samples(row: Instruction, addresses: Array, active: Mask) -> Array:
    """The most words of one bank in one group, for each sample of all warps.

    Arrays have the shape samples x warps x 32 lanes. The result is 0 if no lane is active. By the octet
    rule it is as in `Price`. Warp instructions that differ only in the line at which they start are
    priced once.
    """
    row, shape = alone(row), addresses.shape[:2]
    active = active.reshape(-1, LANES) & (np.arange(LANES) < row.address_lanes)
    addresses = addresses.reshape(-1, LANES) & 0xFFFFFFFF
    found = np.zeros(len(active), dtype=np.int64)
    busy = np.flatnonzero(active.any(axis=1))
    if not busy.size:
        return found.reshape(shape).max(axis=1)
    lines = np.where(active[busy], addresses[busy], 1 << 32).min(axis=1, keepdims=True)
    kept = np.where(active[busy], addresses[busy] - lines // BANK_PERIOD_BYTES * BANK_PERIOD_BYTES, -1)
    _, first, which = np.unique(kept.view(f"V{kept.itemsize * LANES}"), return_index=True, return_inverse=True)
    kept = kept[first]
    on = kept >= 0
    if row.by_octets:
        ways = np.maximum(1, cost_many(row, np.where(on, kept, 0), on).bank_conflicts + 1)
    else:
        ways = _ways(row, np.where(on, kept, 0), on)
    found[busy] = ways[which.reshape(-1)]
    return found.reshape(shape).max(axis=1)


def _ways(row: Instruction, addresses: Array, active: Mask) -> Array:
    """The most words of one bank in one group, of each warp: each group priced by itself."""
    found = np.zeros(len(addresses), dtype=np.int64)
    lanes = np.arange(LANES)
    for first in range(0, row.address_lanes, row.group_lanes):
        inside = active & (lanes >= first) & (lanes < first + row.group_lanes)
        found = np.maximum(found, cost_many(row, addresses, inside).wavefronts)
    return found


def table_of(row: Instruction, block: Block, warp: int, addresses: Array, active: Mask) -> WarpTable:
    """The lanes of one warp as a table, with marks on those that collide in the worst bank."""
    row = alone(row)
    on = np.flatnonzero(active[: row.address_lanes])
    made = on.tolist()
    wide: list[int] = (addresses & 0xFFFFFFFF).tolist()
    lanes: list[int | None] = [None] * LANES
    for lane in made:
        lanes[lane] = wide[lane]
    if not made:
        return WarpTable(warp, (), row, tuple(lanes))
    groups = access_cost(row, lanes).groups
    worst = max(groups, key=lambda group: group.wavefronts)
    first = wide[made[0]]
    threads = list(zip(*(block.point[f"tid.{axis}"][warp].tolist() for axis in "xyz"), strict=True))
    rows: list[LaneRow] = []
    for lane in made:
        address = wide[lane]
        word = address // BANK_WORD_BYTES
        hit = worst.bank is not None and any((word + at) % BANKS == worst.bank for at in range(row.words))
        rows.append(
            LaneRow(
                lane,
                threads[lane],
                address - first,
                address % BANK_PERIOD_BYTES // BANK_WORD_BYTES,
                hit and lane in worst.lanes and worst.wavefronts > 1,
            )
        )
    return WarpTable(warp, tuple(rows), row, tuple(lanes))

"""An access whose offsets are linear over bits: what each bit of the lane flips, and prices by rank.

Every warp, iteration, stage and base then flips the same bits in all lanes, which permutes words and
banks: one warp stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.engines.gf2 import flips
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES, PAIR_DISTANCES, Instruction
from swzverify.ir.expr import TRUE, variables
from swzverify.ir.gf2 import VariableBits, affine_bits, looks_affine
from swzverify.subjects import Access, OffsetMap, Tile

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearLanes:
    """An access whose offsets are a linear map of the lane's bits.

    `columns` has for each of the five bits of the lane the bits of the element's offset that it flips.
    `origin` is the offset of lane 0 where every other variable is 0. All offsets that were seen are
    multiples of 2^low_bits: no variable moves a lower bit.
    """

    instruction: Instruction
    columns: tuple[int, ...]
    origin: int
    low_bits: int
    every_lane: bool

    @property
    def group_bits(self) -> int:
        """Bits of the lane inside a group, after joining."""
        row = self.instruction
        agree = row.joins and any(not self.columns[distance.bit_length() - 1] for distance in PAIR_DISTANCES)
        lanes = row.joined_group_lanes if agree else row.group_lanes
        return lanes.bit_length() - 1

    @property
    def groups(self) -> int:
        """Groups of a warp: the least wavefronts."""
        return self.instruction.address_lanes >> self.group_bits

    def byte_columns(self, element_bits: int) -> tuple[int, ...]:
        """The bits of the byte address that each bit of the lane inside a group flips."""
        shift = element_bits.bit_length() - 4
        own = self.columns[: self.group_bits]
        return tuple(column << shift if shift >= 0 else column >> -shift for column in own)

    def offsets(self) -> Array:
        """The offsets of one warp, (1, 32): those of every other one differ by an XOR."""
        found = np.full(LANES, self.origin, dtype=np.int64)
        lane = np.arange(LANES)
        for bit, column in enumerate(self.columns):
            found = found ^ np.where(lane >> bit & 1, column, 0)
        return found[None, :]


def linear_lanes(access: Access, tile: Tile) -> LinearLanes | None:
    """The access on this tile as a linear map of the lane's bits; None if it is not seen to be linear.

    `tile` stands in place of the access's own tile. It has a layout; its swizzle does not count. Which
    lanes are active may depend on the lane alone.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.layout import Layout
    >>> tile = Tile("T", 32, Layout((32, 32), (32, 1)))
    >>> column = (parse("lane"), parse("warp"))
    >>> read = Access("r", find_instruction("ld.shared.b32"), find_target("sm_90"), (1024,), tile=tile, coord=column)
    >>> linear_lanes(read, tile).columns
    (32, 64, 128, 256, 512)
    """
    if isinstance(tile.layout, OffsetMap) or tile.element_bits & (tile.element_bits - 1):
        return None
    if access.lowered.assumption is not TRUE or access.own or (access.stage is not None and tile.stages > 1):
        return None
    if any(node is not access.lane for node in variables(access.lowered.active)):
        return None
    bare = Tile(tile.name, tile.element_bits, tile.layout)
    offset = bare.lower_offset(access.lowered.coord).bits
    if not looks_affine(offset):
        return None
    numbering = VariableBits.of(access.variables)
    (forms,) = affine_bits([offset], numbering)
    columns = flips(forms, numbering, [access.lane])
    if columns is None:
        return None
    low = next((index for index, form in enumerate(forms) if form != 0), 62)
    origin = sum(1 << row for row, form in enumerate(forms) if form is not None and form & 1)
    every = access.lowered.active is TRUE or access.instruction.address_lanes < LANES
    if access.instruction.address_lanes < LANES and (access.predicate is not None or access.threads % LANES):
        every = False
    return LinearLanes(access.instruction, tuple(columns), origin, low, every)


def slot_bits(instruction: Instruction) -> tuple[int, int]:
    """The bits [first, end) of a byte address that say where in the 128-byte line a lane's unit lies.

    >>> from swzverify.hardware import find_instruction
    >>> slot_bits(find_instruction("ldmatrix.x4")), slot_bits(find_instruction("ld.shared.b16"))
    ((4, 7), (2, 7))
    """
    unit = max(BANK_WORD_BYTES, instruction.width_bytes)
    return unit.bit_length() - 1, BANK_PERIOD_BYTES.bit_length() - 1


def xor_of(columns: Sequence[int], which: int) -> int:
    """The XOR of the columns that the bits of `which` name.

    >>> xor_of([1, 2, 7], 0b101)
    6
    """
    found = 0
    for index, column in enumerate(columns):
        if which >> index & 1:
            found ^= column
    return found


def ranks(columns: Sequence[NDArray[np.unsignedinteger] | Array], count: int) -> NDArray[np.uint8]:
    """The ranks over GF(2) of `count` small matrices at once.

    `columns[i]` has the i-th column of each matrix, as the bits of an integer that is not negative.

    >>> ranks([np.array([1, 3], np.uint8), np.array([1, 5], np.uint8), np.array([2, 6], np.uint8)], 2).tolist()
    [2, 2]
    """
    rest = [column.copy() for column in columns]
    total = np.zeros(count, dtype=np.uint8)
    for index, pivot in enumerate(rest):
        total += pivot != 0
        low = pivot & (~pivot + pivot.dtype.type(1))  # the lowest bit that is set
        for other in rest[index + 1 :]:
            np.bitwise_xor(other, pivot * ((other & low) != 0), out=other)
    return total

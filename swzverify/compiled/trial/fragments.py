"""Fragments of `wmma` in a run: the bytes of memory that each lane of a warp reads or writes.

PTX does not say which lane has which element, so a lane's bytes are those of the machine instructions that ptxas
makes. Elements are not followed: what a product gives is a sum of floats in an order that PTX leaves open.

Source: PTX ISA, "wmma.load", "wmma.store"; docs/hardware.md, Fragments of wmma.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from swzverify.compiled.kernel.fragments import Distance, fragment_of
from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES, find_instruction

_ROW_BYTES: Final = 16
"""Bytes of a row of a matrix, which one lane names."""
_BEFORE_STRIDE: Final = 2
"""The operands before the stride, which may be absent."""


def is_in_memory(opcode: str) -> bool:
    """Whether an instruction moves a fragment between registers and memory.

    >>> is_in_memory("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"), is_in_memory("wmma.mma.sync.aligned.f16")
    (True, False)
    """
    return opcode.startswith(("wmma.load.", "wmma.store."))


def pieces(
    instruction: Instruction, capability: int | None, lanes: Lanes, starts: Array, active: Mask
) -> Iterator[tuple[Array, Mask, int]]:
    """The machine instructions of a fragment: the address of each thread, which threads access it, and the bytes.

    `starts` has the address of the fragment for each thread. `capability` is the target's, such as 90, None if it is
    not known.

    Raises:
        EndError: The stride is not known, or it is not known what ptxas makes of the instruction.
    """
    fragment = None if capability is None else fragment_of(instruction.opcode, capability)
    if fragment is None:
        raise EndError(f"`{instruction.opcode}` is not followed")
    pitch: Array | int = fragment.dense_stride * fragment.element_bytes
    if given := instruction.operands[_BEFORE_STRIDE:]:
        stride, known = lanes.read(given[0], 32)
        if (lost := active & ~known).any():
            raise EndError("the stride of a fragment is not known", np.flatnonzero(lost))
        pitch = stride * fragment.element_bytes

    def length(distance: Distance) -> Array | int:
        return distance.bytes + pitch * distance.strides

    lane = np.arange(len(active)) % LANES
    places = starts + sum((lane >> bit & 1) * length(step) for bit, step in enumerate(fragment.lanes))
    row = find_instruction(fragment.instruction)
    is_matrix = fragment.instruction.startswith("ldmatrix")
    for distance in fragment.starts:
        yield (
            places + length(distance),
            active & (lane < row.address_lanes),
            _ROW_BYTES if is_matrix else row.width_bytes,
        )

"""The threads of a block and their warps: what an expression of their coordinates is in each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Expr, postorder
from swzverify.kernel.special import BlockShape

LANES = 32


class Threads:
    """Coordinates of all threads of a block; the last warp may have fewer lanes.

    A thread's lane is its number in the block, counted along x first, modulo 32.
    Source: CUDA Programming Guide 13, Thread Hierarchy; PTX ISA, Special Registers: %laneid.
    """

    def __init__(self, block: BlockShape) -> None:
        across, down, _ = block
        number = np.arange(block[0] * block[1] * block[2], dtype=np.int64)
        self.point: dict[str, NDArray[np.int64]] = {
            "tid.x": number % across,
            "tid.y": number // across % down,
            "tid.z": number // (across * down),
            "laneid": number % LANES,
        }
        self.starts = np.arange(0, len(number), LANES)
        self.first_of_warp = number // LANES * LANES

    def is_uniform(self, value: Expr) -> bool:
        """Whether a value that depends on coordinates alone is one in each warp."""
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(value)):
            return False
        (found,) = evaluate_many((value,), self.point)
        spread = np.broadcast_to(found, self.first_of_warp.shape)
        return bool((spread == spread[self.first_of_warp]).all())

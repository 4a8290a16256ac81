"""Instances of barriers of a block, and of its cluster, that are not complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from swzverify.compiled.trial.memory import Array, Mask

CLUSTER: Final = 16
"""The number of the barrier of the cluster, behind those of the block."""


@dataclass(slots=True)
class Gathering:
    """An instance of a barrier of the block that is not complete.

    Attributes:
        count: The threads that have to arrive; None for all threads of the block.
        arrived: The threads that have arrived.
        waiting: Those of them that wait.
        row: What they tell.
    """

    count: int | None
    arrived: Mask
    waiting: Mask
    row: Array

"""What accesses reach in shared memory, as a trial keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES

MOST_SEEN: Final = 400
"""Different warp instructions that are kept of one instruction."""


@dataclass(slots=True)
class Seen:
    """The warp instructions that an access made.

    They are rows of 32 addresses in shared memory, the active lanes, and the warp of each row. `is_all`
    is False if some were not known, or if there were too many.
    """

    addresses: list[Array] = field(default_factory=list[Array])
    active: list[Mask] = field(default_factory=list[Mask])
    warps: list[int] = field(default_factory=list[int])
    is_all: bool = True
    patterns: set[bytes] = field(default_factory=set[bytes], repr=False)


class Kept:
    """What the instructions with the indices `wanted` access in shared memory, for each block.

    There are `blocks` blocks of `warps` warps. It does not hold the machine: else a machine and its memory
    would live on until Python looks for cycles.
    """

    def __init__(self, wanted: frozenset[int], blocks: int, warps: int) -> None:
        self._wanted, self._warps = wanted, warps
        self.seen: list[dict[int, Seen]] = [{} for _ in range(blocks)]

    def keep(self, instruction: Instruction, addresses: Array | None, active: Mask) -> None:
        """Keep copies of new patterns: a row of an array would hold the rows of all blocks."""
        if instruction.index not in self._wanted:
            return
        on = active.reshape(-1, LANES)
        made = np.flatnonzero(on.any(axis=1))
        if addresses is None:
            for block in np.unique(made // self._warps):
                self.seen[int(block)].setdefault(instruction.index, Seen()).is_all = False
            return
        on = on[made]
        rows = np.where(on, addresses.reshape(-1, LANES)[made], 0)
        least = rows.min(axis=1, where=on, initial=np.iinfo(np.int64).max)
        patterns = np.where(on, rows - least[:, None], -1)
        for at, number in enumerate(made.tolist()):
            block, warp = divmod(number, self._warps)
            seen = self.seen[block].setdefault(instruction.index, Seen())
            if len(seen.patterns) >= MOST_SEEN:
                seen.is_all = False
                continue
            pattern = patterns[at].tobytes()
            if pattern not in seen.patterns:
                seen.patterns.add(pattern)
                seen.addresses.append(rows[at].copy())
                seen.active.append(on[at].copy())
                seen.warps.append(warp)

"""What accesses reach in shared memory, as a trial keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

import numpy as np

from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import BANK_PERIOD_BYTES, LANES

UNREAD: Final = -1
"""The source address of a lane that copies fewer bytes than it writes, or of which it is not known."""
MOST_SEEN: Final = 400
"""Different warp instructions that are kept of one instruction."""
_MOST_KEPT: Final = 256
"""Patterns of several warps that are known when they come again."""


@dataclass(slots=True)
class Seen:
    """The warp instructions that an access made.

    They are rows of 32 addresses in shared memory, the active lanes, and the warp of each row. Copies have
    the 32 addresses that they read as well. `is_all` is False if some were not known, or if there were too
    many. `rows` has a digest of all that a cost depends on.
    """

    addresses: list[Array] = field(default_factory=list[Array])
    active: list[Mask] = field(default_factory=list[Mask])
    rows: list[bytes] = field(default_factory=list[bytes], repr=False)
    warps: list[int] = field(default_factory=list[int])
    sources: list[Array] = field(default_factory=list[Array])
    is_all: bool = True
    patterns: set[bytes] = field(default_factory=set[bytes], repr=False)


class Kept:
    """What instructions access in shared memory, for each block.

    There are `blocks` blocks of `warps` warps. It does not hold the machine: else a machine and its memory
    would live on until Python looks for cycles.
    """

    def __init__(self, blocks: int, warps: int) -> None:
        self._warps = warps
        self.seen: list[dict[int, Seen]] = [{} for _ in range(blocks)]
        self._kept: dict[tuple[int, bytes, bytes], list[Seen]] = {}
        """Patterns of some warps that are kept, and where."""

    def keep(
        self, instruction: Instruction, addresses: Array | None, active: Mask, sources: Array | None, warps: Array
    ) -> None:
        """Keep copies of new patterns of these warps: a row of an array would hold the rows of all blocks.

        What a copy costs depends on where its lines of 128 bytes begin, too.
        """
        on = active.reshape(-1, LANES)
        made = np.flatnonzero(on.any(axis=1))
        if addresses is None:
            for block in np.unique(warps[made] // self._warps):
                self.seen[int(block)].setdefault(instruction.index, Seen()).is_all = False
            return
        rows = addresses.reshape(-1, LANES)
        patterns = _from_first(rows, on, 1 if sources is None else BANK_PERIOD_BYTES)
        read = None if sources is None else np.where(on, sources.reshape(-1, LANES), UNREAD)
        if read is not None:
            patterns = np.concatenate((patterns, _from_first(read, read != UNREAD, BANK_PERIOD_BYTES)), axis=1)
        size, raw = patterns.itemsize * patterns.shape[1], patterns.tobytes()
        key = instruction.index, warps.tobytes(), raw
        if key in self._kept:
            for seen in self._kept[key]:
                seen.is_all = seen.is_all and len(seen.patterns) < MOST_SEEN
            return
        if len(self._kept) == _MOST_KEPT:
            self._kept.clear()
        again: list[Seen] = []
        self._kept[key] = again
        rows = np.where(on, rows, 0)
        mine, seen = -1, Seen()
        numbers: list[int] = warps[made].tolist()
        for at, number in zip(made.tolist(), numbers, strict=True):
            block, warp = divmod(number, self._warps)
            if block != mine:
                mine, seen = block, self.seen[block].setdefault(instruction.index, Seen())
                again.append(seen)
            if len(seen.patterns) >= MOST_SEEN:
                seen.is_all = False
                continue
            pattern = raw[at * size : (at + 1) * size]
            if pattern not in seen.patterns:
                seen.patterns.add(pattern)
                seen.addresses.append(rows[at].copy())
                seen.active.append(on[at].copy())
                seen.rows.append(blake2b(pattern + rows[at].tobytes(), digest_size=16).digest())
                seen.warps.append(warp)
                if read is not None:
                    seen.sources.append(read[at].copy())


def _from_first(rows: Array, on: Mask, step: int) -> Array:
    """Where lanes are, counted from a multiple of `step` at or before the first of them; -1 of the others."""
    if np.count_nonzero(on) == on.size:
        least = np.minimum.reduce(rows, axis=1)
        return rows - (least if step == 1 else least // step * step)[:, None]
    least = np.where(on, rows, np.iinfo(np.int64).max).min(axis=1) // step * step
    return np.where(on, rows - least[:, None], -1)

"""The history of a run in which the lanes of a warp run each instruction together (`--lockstep`)."""

from __future__ import annotations

import numpy as np

from swzverify.compiled.trial.history import Accesses, History
from swzverify.compiled.trial.memory import Array, Bytes
from swzverify.compiled.trial.touches import Effect
from swzverify.hardware import LANES


class LockstepHistory(History):
    """A history where each access of a warp is ordered before the next one, as if by a barrier of the warp.

    Lanes of one instruction at one time are unordered, and copies are in flight as ever.
    """

    def access(
        self,
        line: int,
        effect: Effect,
        threads: Array,
        starts: Array,
        width: int,
        values: Bytes | None = None,
        row: int | None = None,
    ) -> Accesses | None:
        """As `History.access`."""
        found = super().access(line, effect, threads, starts, width, values, row)
        warps: list[int] = np.unique(threads // LANES).tolist()
        for warp in warps:
            self.warp_barrier(np.arange(warp * LANES, min((warp + 1) * LANES, self.knowledge.threads)))
        return found

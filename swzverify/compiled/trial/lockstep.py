"""The history of a run in which the lanes of a warp run each instruction together (`--lockstep`)."""

from __future__ import annotations

import numpy as np

from swzverify.compiled.trial.history import Effect, History
from swzverify.compiled.trial.memory import Array, Bytes
from swzverify.hardware import LANES


class LockstepHistory(History):
    """A history where each access of a warp is ordered before the next one, as if by a barrier of the warp.

    Lanes of one instruction at one time are unordered, and copies are in flight as ever.
    """

    def access(
        self, line: int, effect: Effect, threads: Array, starts: Array, width: int, values: Bytes | None
    ) -> bool:
        """As `History.access`."""
        has_room = super().access(line, effect, threads, starts, width, values)
        warps: list[int] = np.unique(threads // LANES).tolist()
        for warp in warps:
            lanes: Array = np.arange(warp * LANES, min((warp + 1) * LANES, self._threads))
            self.warp_barrier(lanes)
        return has_room

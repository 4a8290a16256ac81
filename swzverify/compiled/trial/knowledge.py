"""What each thread of a block knows of the others: rows of times, which threads with the same knowledge share.

A row has a time for each component: each thread of the block, then each warpgroup (how many of its groups of
`wgmma` are complete), then each mbarrier object (how many of its phases are complete). What a component did until
its time comes before what follows. A second half, of the same components, has what a proxy fence is
behind. What lanes of one warp learn from one another is in rows of its own, of 32 times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.trial.memory import Array
from swzverify.hardware import LANES

MOST_OBJECTS: Final = 64
"""Mbarrier objects of one run."""
MOST_ROW_BYTES: Final = 1 << 27
"""Bytes of all rows; a run that needs more ends."""
GROUP: Final = 4 * LANES
"""Threads of a warpgroup."""


@dataclass(frozen=True, slots=True)
class Tables:
    """All rows, stacked; `components` is the length of one half, and 0 where rows have no second half."""

    wide: Array
    warp: Array
    components: int


@dataclass(frozen=True, slots=True)
class Known:
    """What a thread knew at a time."""

    wide: Array
    warp: Array
    thread: int
    time: int


class Knowledge:
    """The rows of `threads` threads; with `has_proxies` they have second halves."""

    def __init__(self, threads: int, *, has_proxies: bool) -> None:
        self.threads = threads
        self._objects = threads + -(-threads // GROUP)
        self._used = self._objects
        self.components = self._objects + MOST_OBJECTS
        self._length = self.components * (2 if has_proxies else 1)
        self._has_proxies = has_proxies
        self._wide: list[Array] = [np.full(self._length, -1, dtype=np.int64)]
        self._warp: list[Array] = [np.full(LANES, -1, dtype=np.int64)]
        self.wide = np.zeros(threads, dtype=np.int64)
        self.warp = np.zeros(threads, dtype=np.int64)

    @property
    def is_full(self) -> bool:
        """Whether there are too many rows."""
        return 8 * (len(self._wide) * self._length + len(self._warp) * LANES) > MOST_ROW_BYTES

    @property
    def tables(self) -> Tables:
        """All rows."""
        wide: Array = np.stack(self._wide)
        warp: Array = np.stack(self._warp)
        return Tables(wide, warp, self.components if self._has_proxies else 0)

    def component_of_group(self, thread: int) -> int:
        """The component of a thread's warpgroup."""
        return self.threads + thread // GROUP

    def new_object(self) -> int | None:
        """The component of a new mbarrier object; None if there are too many."""
        if self._used == self.components:
            return None
        self._used += 1
        return self._used - 1

    def nothing(self) -> Array:
        """A row that knows nothing."""
        return self._wide[0].copy()

    def add(self, row: Array) -> int:
        """A row that no thread has; returns its number."""
        self._wide.append(row)
        return len(self._wide) - 1

    def _joined(self, rows: list[int]) -> Array:
        found = self._wide[rows[0]].copy()
        for each in rows[1:]:
            found = np.maximum(found, self._wide[each])
        return found

    # ---- telling

    def told(self, threads: Array, time: int) -> Array:
        """What some threads know together, and what they did until now."""
        rows: list[int] = np.unique(self.wide[threads]).tolist()
        found = self._joined(rows)
        pairs: list[tuple[int, int]] = np.unique(np.stack([threads // LANES, self.warp[threads]]), axis=1).T.tolist()
        for warp, row in pairs:
            if row:
                here = found[warp * LANES : (warp + 1) * LANES]
                np.maximum(here, self._warp[row], out=here)
        found[threads] = time
        return found

    def learn(self, threads: Array, row: Array) -> None:
        """Some threads learn what a row says."""
        if not len(threads):
            return
        rows: list[int] = np.unique(self.wide[threads]).tolist()
        for each in rows:
            if (self._wide[each] < row).any():
                mine = threads[self.wide[threads] == each]
                self.wide[mine] = self.add(np.maximum(self._wide[each], row))

    def reach(self, threads: Array, component: int, time: int) -> None:
        """Some threads learn that a component has come to a time."""
        row = self.nothing()
        row[component] = time
        self.learn(threads, row)

    def warp_barrier(self, threads: Array, time: int) -> None:
        """Some lanes of one warp learn what any of them did and knew."""
        rows: list[int] = np.unique(self.warp[threads]).tolist()
        known: Array = np.stack([self._warp[row] for row in rows]).max(axis=0)
        known[threads % LANES] = time
        self.warp[threads] = len(self._warp)
        self._warp.append(known)
        wide: list[int] = np.unique(self.wide[threads]).tolist()
        if len(wide) > 1:
            self.wide[threads] = self.add(self._joined(wide))

    def block_barrier(self, time: int) -> None:
        """All threads know what any of them did and knew; no older row is used any more."""
        rows: list[int] = np.unique(self.wide).tolist()
        found = self._joined(rows)
        found[: self.threads] = time
        self._wide[1:], self._warp[1:] = [found], []
        self.wide[:] = 1
        self.warp[:] = 0

    def fence_proxy(self, threads: Array, time: int) -> None:
        """Some threads execute a fence between the generic and the async proxy.

        Threads that execute it together share what it is behind. This can only hide that a fence is missing.
        """
        if not self._has_proxies:
            return
        row = self.nothing()
        row[self.components :] = self.told(threads, time)[: self.components]
        self.learn(threads, row)

    def known(self, thread: int, time: int) -> Known:
        """What a thread knows now; `row_of` makes a row of it."""
        return Known(self._wide[int(self.wide[thread])], self._warp[int(self.warp[thread])], thread, time)

    def row_of(self, known: Known) -> Array:
        """What a thread knew, as a row."""
        found = known.wide.copy()
        warp = known.thread // LANES * LANES
        here = found[warp : warp + LANES]
        np.maximum(here, known.warp, out=here)
        found[known.thread] = known.time
        return found

    def least(self, threads: Array) -> Array:
        """What each of some threads knows of every other one."""
        found = self._wide[0] if not len(threads) else np.full(self._length, np.iinfo(np.int64).max)
        rows: list[int] = np.unique(self.wide[threads]).tolist()
        for row in rows:
            mine = threads[self.wide[threads] == row]
            values = self._wide[row].copy()
            if len(mine) == 1:
                values[mine] = np.iinfo(np.int64).max
            found = np.minimum(found, values)
        return found

"""The accesses of a block to shared memory, and which of them are unordered.

Time is a number that grows with every event of the run. An access has the time at which it begins and
the time at which it ends, which differ for an asynchronous one: it ends when its own thread waits for it, or with
a phase of an mbarrier object, or with a group of `wgmma` of its warpgroup. An access is ordered before another
one if it ends earlier in the same thread, or if the other thread knows of its end. Between a write through the
generic proxy and an access through the async proxy, there has to be a fence, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.trial.knowledge import Knowledge
from swzverify.compiled.trial.memory import Array, Bytes, Mask
from swzverify.compiled.trial.touches import (
    ASYNC,
    GENERIC_WRITES,
    MANY,
    NEVER,
    Effect,
    Touches,
    Unordered,
    find_pairs,
    find_suspects,
)
from swzverify.hardware import LANES

MOST_BYTES: Final = 1 << 22
"""Bytes of all accesses that are kept; a run with more of them ends."""
LOOK_BYTES: Final = 1 << 15
"""Bytes of new accesses after which pairs are looked for, and accesses are forgotten that all threads know of."""


@dataclass(slots=True)
class Accesses:
    """What one instruction accesses at one time, a row for each thread.

    Attributes:
        line: The line of the PTX.
        effect: What it does.
        threads: The threads.
        starts: The offsets of the first bytes.
        width: The bytes of each.
        time: When the accesses begin.
        ends: When they end, in the time of their threads.
        components: Other components of what threads know, with which they end, too.
        closes: When they end in the time of these.
        wide: What each thread knows, as a row of the knowledge.
        warp: What each thread knows of its warp.
        groups: The group of each copy, by the number of groups that its thread committed before.
        values: The bytes that a store writes; None if they are not known.
        is_old: Whether pairs of it and of what came before it have been looked for.
    """

    line: int
    effect: Effect
    threads: Array
    starts: Array
    width: int
    time: int
    ends: Array
    components: Array
    closes: Array
    wide: Array
    warp: Array
    groups: Array
    values: Bytes | None
    is_old: bool = False

    def keep(self, left: Mask) -> None:
        """Forget all but some threads' accesses."""
        for name in ("threads", "starts", "ends", "components", "closes", "wide", "warp", "groups"):
            setattr(self, name, getattr(self, name)[left])
        self.values = None if self.values is None else self.values[left]


class History:
    """The accesses of `threads` threads of one block, of those in `only` alone if it is given.

    `found` has one pair for each two lines, one with two values if there is one. With `only`, it has one pair for
    each two lines and their threads. `knowledge` says what threads know; `ended` are those that have returned.
    With `has_proxies`, accesses may be made through the async proxy. In `lockstep`, each access of a warp is
    ordered before the next one, as if by a barrier of the warp; copies are in flight as ever.
    """

    def __init__(
        self, threads: int, only: frozenset[int] | None = None, *, has_proxies: bool = False, lockstep: bool = False
    ) -> None:
        self.found: dict[tuple[int, ...], Unordered] = {}
        self.knowledge = Knowledge(threads, has_proxies=has_proxies)
        self.ended: Mask = np.zeros(threads, dtype=np.bool_)
        self.time = 0
        self._only: Mask | None = None
        if only is not None:
            self._only = np.zeros(threads, dtype=np.bool_)
            self._only[[*only]] = True
        self._has_proxies, self._lockstep = has_proxies, lockstep
        self._bytes, self._look_at = 0, LOOK_BYTES
        self._is_partial = False
        self._accesses: list[Accesses] = []
        self._committed = {each: np.zeros(threads, dtype=np.int64) for each in (Effect.COPY, Effect.BULK_READ)}

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more."""
        return self._bytes > MOST_BYTES or self.knowledge.is_full

    @property
    def is_partial(self) -> bool:
        """Whether there was no room for more, or a byte had more accesses than are all compared."""
        return self._is_partial or self.is_full

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
        """An instruction of some threads, which know `row` if it is given; None if none of them is wanted."""
        self.time += 1
        if self._only is not None:
            mine = self._only[threads]
            threads, starts = threads[mine], starts[mine]
            values = None if values is None else values[mine]
        if not len(threads):
            return None
        count = len(threads)
        committed = self._committed.get(effect)
        found = Accesses(
            line,
            effect,
            threads,
            starts,
            width,
            self.time,
            np.full(count, NEVER if effect in ASYNC else self.time, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            np.full(count, NEVER, dtype=np.int64),
            self.knowledge.wide[threads] if row is None else np.full(count, row, dtype=np.int64),
            self.knowledge.warp[threads],
            np.zeros(count, dtype=np.int64) if committed is None else committed[threads],
            values,
        )
        self._accesses.append(found)
        self._bytes += count * width
        if self._bytes > self._look_at:
            self.look()
            self._forget()
            self._look_at = max(LOOK_BYTES, 2 * self._bytes)
        if self._lockstep:
            warps: list[int] = np.unique(threads // LANES).tolist()
            for warp in warps:
                self.warp_barrier(np.arange(warp * LANES, min((warp + 1) * LANES, self.knowledge.threads)))
        return found

    def commit(self, active: Mask, effect: Effect = Effect.COPY) -> None:
        """Close the group of copies of some threads."""
        self._committed[effect][active] += 1

    def wait_for_copies(self, active: Mask, left: int, effect: Effect = Effect.COPY) -> None:
        """Threads wait until at most `left` of their groups of copies are in flight."""
        self.time += 1
        for each in self._accesses:
            if each.effect is effect:
                done = active[each.threads] & (each.groups < self._committed[effect][each.threads] - left)
                each.ends[done & (each.ends == NEVER)] = self.time

    def end_copies(self, thread: int, component: int, close: int) -> None:
        """The copies of a thread so far end with a phase of an mbarrier object, too."""
        for each in self._accesses:
            if each.effect is Effect.COPY:
                open_ones = (each.threads == thread) & (each.ends == NEVER) & (each.closes == NEVER)
                each.components[open_ones], each.closes[open_ones] = component, close

    def told(self, threads: Array) -> Array:
        """What some threads did and know, as a row to learn from."""
        self.time += 1
        return self.knowledge.told(threads, self.time)

    def warp_barrier(self, threads: Array) -> None:
        """A barrier of some threads of one warp: each knows what any of them did, and what any of them knew."""
        self.time += 1
        self.knowledge.warp_barrier(threads, self.time)

    def fence_proxy(self, threads: Array) -> None:
        """Some threads execute a fence between the generic and the async proxy."""
        self.time += 1
        self.knowledge.fence_proxy(threads, self.time)

    def block_barrier(self) -> None:
        """A barrier of all threads of the block: what ended before it is ordered before what follows."""
        self.look()
        self.time += 1
        self.knowledge.block_barrier(self.time)
        self._forget()
        for each in self._accesses:
            # They begin before what follows, whatever their threads knew.
            each.wide[:], each.warp[:] = 0, 0

    def _forget(self) -> None:
        """Forget accesses that are ordered before whatever a thread does from now on."""
        least = self.knowledge.least(np.flatnonzero(~self.ended))
        half = self.knowledge.components
        kept: list[Accesses] = []
        for each in self._accesses:
            known = (least[each.threads] >= each.ends) | (least[each.components] >= each.closes)
            if self._has_proxies and each.effect in GENERIC_WRITES:
                known &= least[half + each.threads] >= each.ends
            if not known.all():
                each.keep(~known)
                kept.append(each)
        self._accesses = kept
        self._bytes = sum(len(each.threads) * each.width for each in kept)

    # ---- pairs

    def look(self) -> None:
        """Find the unordered pairs among the accesses that are kept."""
        if all(each.is_old for each in self._accesses) or all(each.effect <= Effect.OPERAND for each in self._accesses):
            return
        touches = self._touches()
        order: Array = np.argsort(touches.byte, kind="stable")
        touches = touches.of(order)
        first = np.flatnonzero(np.concatenate(([True], np.diff(touches.byte) != 0)))
        stops = np.append(first[1:], len(touches.byte))
        tables = self.knowledge.tables
        suspects = find_suspects(touches, first, stops)
        self._is_partial |= bool((stops - first > MANY)[suspects].any())
        is_by_thread = self._only is not None
        for pair in find_pairs(touches, first[suspects], stops[suspects], tables, by_thread=is_by_thread):
            key = (*pair.lines, *pair.threads) if is_by_thread else pair.lines
            before = self.found.get(key)
            if before is None or _rank(before) > _rank(pair):
                self.found[key] = pair
        for each in self._accesses:
            each.is_old = True

    def _touches(self) -> Touches:
        """A row for each byte of each thread."""
        kept = self._accesses
        counts = [len(each.threads) for each in kept]
        sizes = np.asarray([count * each.width for count, each in zip(counts, kept, strict=True)])
        widths = np.repeat(np.asarray([each.width for each in kept]), counts)

        def of_access(values: Iterable[int]) -> Array:
            return np.repeat(np.asarray([*values], dtype=np.int64), sizes)

        def of_thread(values: Iterable[Array]) -> Array:
            return np.repeat(np.concatenate([*values]).astype(np.int64, copy=False), widths)

        starts = of_thread(each.starts for each in kept)
        written = [
            np.full(size, -1, dtype=np.int64) if each.values is None else each.values.reshape(-1).astype(np.int64)
            for size, each in zip(sizes.tolist(), kept, strict=True)
        ]
        return Touches(
            starts + np.arange(len(starts)) - np.repeat(np.cumsum(widths) - widths, widths),
            of_thread(each.threads for each in kept),
            of_access(each.line for each in kept),
            of_access(int(each.effect) for each in kept),
            starts,
            of_access(each.width for each in kept),
            of_access(each.time for each in kept),
            of_thread(each.ends for each in kept),
            of_thread(each.components for each in kept),
            of_thread(each.closes for each in kept),
            of_thread(each.wide for each in kept),
            of_thread(each.warp for each in kept),
            of_access(int(each.is_old) for each in kept),
            np.concatenate(written),
        )


def _rank(pair: Unordered) -> tuple[bool, ...]:
    """What says most of a pair of lines is kept: the lowest rank."""
    return pair.one_value, pair.is_open, pair.are_stores, pair.lacks_fence

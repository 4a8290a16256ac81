"""The accesses of a block to shared memory since its last barrier, and which of them are unordered.

Time is a number that grows with every event of the run. An access has the time at which it begins and
the time at which it ends, which differ for an asynchronous copy: it ends when its own thread waits for it. An
access is ordered before another one if it ends before a barrier of the block that the other one's thread
has passed, if it ends earlier in the same thread, or if the other thread knows of its end from a
barrier of their warp.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.trial.memory import Array, Bytes, Mask
from swzverify.hardware import LANES

NEVER: Final = np.iinfo(np.int64).max
"""When a copy ends for which its thread has not waited yet."""
MOST_BYTES: Final = 1 << 22
"""Bytes of all accesses between two barriers of the block; a run with more of them ends."""
_MANY: Final = 256
"""Accesses of one byte of which all pairs are looked at."""


Sides: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Two accesses by their lines and threads, the smaller one first."""


class Effect(IntEnum):
    """What an access does to memory."""

    READ = 0
    WRITE = 1
    ATOMIC = 2
    COPY = 3


@dataclass(frozen=True, slots=True)
class Unordered:
    """Two accesses that share a byte, neither ordered before the other; at least one writes it.

    Attributes:
        lines: The lines of the PTX of both accesses, the smaller one first.
        threads: The numbers of their threads in the block; the same for a thread and its own copy.
        byte: The offset of the byte in the block's shared memory.
        one_value: Whether both write, and both write one value.
    """

    lines: tuple[int, int]
    threads: tuple[int, int]
    byte: int
    one_value: bool

    @property
    def sides(self) -> Sides:
        """The line and the thread of each."""
        return (self.lines[0], self.threads[0]), (self.lines[1], self.threads[1])


@dataclass(slots=True)
class _Accesses:
    """What one instruction accesses at one time, a row for each thread.

    Attributes:
        line: The line of the PTX.
        effect: What it does.
        threads: The threads.
        starts: The offsets of the first bytes.
        time: When the accesses begin.
        ends: When they end.
        base: When the last barrier of the block was.
        rows: What each thread knows of its warp, as a row of the history's table.
        groups: The group of each copy, by the number of groups that its thread committed before.
        values: The bytes that a store writes; None if they are not known.
    """

    line: int
    effect: Effect
    threads: Array
    starts: Array
    width: int
    time: int
    ends: Array
    base: int
    rows: Array
    groups: Array
    values: Bytes | None


@dataclass(slots=True)
class _Touches:
    """Accesses byte by byte, in columns."""

    byte: Array
    thread: Array
    line: Array
    effect: Array
    start: Array
    width: Array
    time: Array
    end: Array
    base: Array
    row: Array
    value: Array

    def of(self, which: Array | Mask | slice) -> _Touches:
        """Some of them."""
        return _Touches(*(getattr(self, name)[which] for name in self.__slots__))


class History:
    """The accesses of `threads` threads of one block, of those in `only` alone if it is given.

    `found` has one pair for each two lines, one with two values if there is one. With `only`, it has one pair for
    each two lines and their threads.
    """

    def __init__(self, threads: int, only: frozenset[int] | None = None) -> None:
        self.found: dict[tuple[int, ...], Unordered] = {}
        self._threads, self._only = threads, only
        self._time = self._base = self._bytes = 0
        self._accesses: list[_Accesses] = []
        self._committed = np.zeros(threads, dtype=np.int64)
        self._forget()

    def _forget(self) -> None:
        """No thread knows anything of its warp since the barrier of the block."""
        self._table: list[Array] = [np.full(LANES, -1, dtype=np.int64)]
        self._rows = np.zeros(self._threads, dtype=np.int64)

    def access(
        self, line: int, effect: Effect, threads: Array, starts: Array, width: int, values: Bytes | None
    ) -> bool:
        """An instruction of some threads; whether the history has room for it."""
        self._time += 1
        if self._only is not None:
            mine = np.isin(threads, [*self._only])
            threads, starts = threads[mine], starts[mine]
            values = None if values is None else values[mine]
        if not len(threads):
            return True
        ends = np.full(len(threads), NEVER if effect is Effect.COPY else self._time, dtype=np.int64)
        groups = self._committed[threads]
        self._accesses.append(
            _Accesses(
                line, effect, threads, starts, width, self._time, ends, self._base, self._rows[threads], groups, values
            )
        )
        self._bytes += len(threads) * width
        return self._bytes <= MOST_BYTES

    def commit(self, active: Mask) -> None:
        """Close the group of copies of some threads."""
        self._committed[active] += 1

    def wait_for_copies(self, active: Mask, left: int) -> None:
        """Threads wait until at most `left` of their groups of copies are in flight."""
        self._time += 1
        for each in self._accesses:
            if each.effect is Effect.COPY:
                done = active[each.threads] & (each.groups < self._committed[each.threads] - left)
                each.ends[done & (each.ends == NEVER)] = self._time

    def warp_barrier(self, threads: Array) -> None:
        """A barrier of some threads of one warp: each knows what any of them did, and what any of them knew."""
        self._time += 1
        rows: list[int] = np.unique(self._rows[threads]).tolist()
        known = np.stack([self._table[row] for row in rows]).max(axis=0)
        known[threads % LANES] = self._time
        self._rows[threads] = len(self._table)
        self._table.append(known)

    def block_barrier(self) -> None:
        """A barrier of all threads of the block: nothing from before it is unordered with what follows."""
        self.look()
        self._time += 1
        self._base = self._time
        kept: list[_Accesses] = []
        for each in self._accesses:
            if each.effect is Effect.COPY and (left := each.ends == NEVER).any():
                each.threads, each.starts, each.ends = each.threads[left], each.starts[left], each.ends[left]
                each.groups, each.rows = each.groups[left], np.zeros(int(left.sum()), dtype=np.int64)
                kept.append(each)
        self._accesses = kept
        self._bytes = sum(len(each.threads) * each.width for each in kept)
        self._forget()

    # ---- pairs

    def look(self) -> None:
        """Find the unordered pairs among the accesses since the last barrier of the block."""
        if all(each.effect is Effect.READ for each in self._accesses):
            return
        touches = self._touches()
        order: Array = np.argsort(touches.byte, kind="stable")
        touches = touches.of(order)
        first = np.flatnonzero(np.concatenate(([True], np.diff(touches.byte) != 0)))
        stops = np.append(first[1:], len(touches.byte))
        table = np.stack(self._table)
        suspects = _suspects(touches, first, stops)
        for start, stop in zip(first[suspects].tolist(), stops[suspects].tolist(), strict=True):
            for pair in _pairs(touches.of(slice(start, stop)), table, by_thread=self._only is not None):
                key = pair.lines if self._only is None else (*pair.lines, *pair.threads)
                before = self.found.get(key)
                if before is None or (before.one_value and not pair.one_value):
                    self.found[key] = pair

    def _touches(self) -> _Touches:
        columns: list[list[Array]] = []
        for each in self._accesses:
            count, width = len(each.threads), each.width
            shape = (count, width)

            def wide(values: Array | int, shape: tuple[int, int] = shape) -> Array:
                column = np.asarray(values, dtype=np.int64)
                return np.broadcast_to(column[:, None] if column.ndim else column, shape).reshape(-1)

            written = np.full(shape, -1, dtype=np.int64) if each.values is None else each.values.astype(np.int64)
            columns.append(
                [
                    (each.starts[:, None] + np.arange(width)).reshape(-1),
                    wide(each.threads),
                    wide(each.line),
                    wide(int(each.effect)),
                    wide(each.starts),
                    wide(width),
                    wide(each.time),
                    wide(each.ends),
                    wide(each.base),
                    wide(each.rows),
                    written.reshape(-1),
                ]
            )
        return _Touches(*(np.concatenate(parts) for parts in zip(*columns, strict=True)))


def _suspects(touches: _Touches, first: Array, stops: Array) -> Array:
    """The bytes that may have a race, one of those that have the same accesses and values."""
    writes = np.maximum.reduceat(touches.effect, first)
    reads = np.minimum.reduceat(touches.effect, first)
    parted = np.minimum.reduceat(touches.thread, first) != np.maximum.reduceat(touches.thread, first)
    wanted = (stops - first > 1) & ((writes == Effect.COPY) | (parted & (writes != Effect.READ)))
    alike = (writes == Effect.ATOMIC) & (reads == Effect.ATOMIC)
    for each in (touches.start, touches.width):
        alike &= np.minimum.reduceat(each, first) == np.maximum.reduceat(each, first)
    # Values count only where two accesses write.
    is_write = touches.effect == Effect.WRITE
    several = np.repeat(np.add.reduceat(is_write.astype(np.int64), first) > 1, stops - first)
    value = np.where(several & is_write, touches.value + 1, 0)
    mixed = _mixed(np.stack([touches.time, touches.thread, value])).view(np.int64)
    marks = np.add.reduceat(mixed, first)
    suspects = np.flatnonzero(wanted & ~alike)
    return suspects[np.sort(np.unique(marks[suspects], return_index=True)[1])]


def _mixed(rows: Array) -> NDArray[np.uint64]:
    """A number of 64 bits for each column, such that sums of different columns differ."""
    found = np.zeros(rows.shape[1], dtype=np.uint64)
    for row in rows.view(np.uint64):
        found = (found ^ row) * np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(32)
    return found


def _pairs(touches: _Touches, table: Array, *, by_thread: bool) -> Iterator[Unordered]:
    """The unordered pairs among touches of one byte: one for each two lines, or for each two threads there."""
    if len(touches.byte) > _MANY:
        touches = _distinct(touches)
    one, other = np.triu_indices(len(touches.byte), 1)
    a, b = touches.of(one), touches.of(other)
    is_copy = (a.effect == Effect.COPY) | (b.effect == Effect.COPY)
    found = (a.thread != b.thread) | is_copy
    found &= (a.effect != Effect.READ) | (b.effect != Effect.READ)
    alike = (a.effect == Effect.ATOMIC) & (b.effect == Effect.ATOMIC) & (a.start == b.start) & (a.width == b.width)
    found &= ~alike & ~_before(a, b, table) & ~_before(b, a, table)
    differs = (a.value != b.value) | (a.value < 0)
    seen: set[tuple[object, ...]] = set()
    for at in np.flatnonzero(found).tolist():
        sides = sorted(((int(a.line[at]), int(a.thread[at])), (int(b.line[at]), int(b.thread[at]))))
        lines, threads = (sides[0][0], sides[1][0]), (sides[0][1], sides[1][1])
        pair = Unordered(lines, threads, int(a.byte[at]), not differs[at])
        if (key := (lines, threads if by_thread else None, pair.one_value)) not in seen:
            seen.add(key)
            yield pair


def _before(a: _Touches, b: _Touches, table: Array) -> Mask:
    """Where the first access is ordered before the second one."""
    of_warp = (a.thread // LANES == b.thread // LANES) & (table[b.row, a.thread % LANES] >= a.end)
    return (a.end < b.base) | ((a.thread == b.thread) & (a.end < b.time)) | of_warp


def _distinct(touches: _Touches) -> _Touches:
    """Fewer touches of one byte with the same pairs of lines.

    Two of one thread and line with the same knowledge and value have the same pairs, as long as the thread has
    no copy of its own. Threads of two warps are never ordered, so the lowest and the highest warp, and
    the threads with the least and the largest value, are enough.
    """
    kept = np.ones(len(touches.byte), dtype=np.bool_)
    if not (touches.effect == Effect.COPY).any():
        keys = np.stack([touches.thread, touches.line, touches.effect, touches.row, touches.value], axis=1)
        kept[:] = False
        kept[np.unique(keys, axis=0, return_index=True)[1]] = True
    touches = touches.of(kept)
    warps = touches.thread // LANES
    kept = np.zeros(len(warps), dtype=np.bool_)
    for line in np.unique(touches.line):
        mine = touches.line == line
        edges = {warps[mine].min(), warps[mine].max()}
        kept |= mine & np.isin(warps, [*edges])
        places = np.flatnonzero(mine)
        kept[places[[touches.value[mine].argmin(), touches.value[mine].argmax()]]] = True
    return touches.of(kept)

"""Accesses byte by byte, and which of those of one byte are unordered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.trial.knowledge import Tables
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES

NEVER: Final = np.iinfo(np.int64).max
"""When an asynchronous access ends of which nothing says yet when it does."""
MANY: Final = 256
"""Accesses of one byte of which all pairs are looked at."""
MOST: Final = 2048
"""Accesses of one byte of which any pairs are looked at where there are more than `MANY`: writes first."""
_AT_ONCE: Final = 1 << 17
"""Pairs that are looked at at once."""


Sides: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Two accesses by their lines and threads, the smaller one first."""


class Effect(IntEnum):
    """What an access does to memory: those up to `OPERAND` read, the others write.

    `CHANGE` is a write of no value of its own: a barrier object is made or ended, or a field of a tensor map replaced.
    """

    READ = 0
    STRONG_READ = 1
    BULK_READ = 2
    OPERAND = 3
    WRITE = 4
    ATOMIC = 5
    SIGNAL = 6
    COPY = 7
    BULK_WRITE = 8
    CHANGE = 9


_STRONG: Final = (Effect.STRONG_READ, Effect.ATOMIC, Effect.SIGNAL)
"""They do not race with each other at one address. A signal is an operation on an mbarrier object."""
GENERIC_WRITES: Final = (Effect.WRITE, Effect.ATOMIC, Effect.COPY, Effect.CHANGE)
"""They write data through the generic proxy."""
_PROXIED: Final = (Effect.BULK_READ, Effect.OPERAND, Effect.BULK_WRITE)
"""They are made through the async proxy."""
_STORES: Final = (Effect.WRITE, Effect.COPY)
"""They write a value through the generic proxy, and do nothing else."""
ASYNC: Final = (*_PROXIED, Effect.COPY)
"""They go on after their instruction."""


@dataclass(frozen=True, slots=True)
class Unordered:
    """Two accesses that share a byte, neither ordered before the other; at least one writes it.

    Attributes:
        lines: The lines of the PTX of both accesses, the smaller one first.
        threads: The numbers of their threads in the block; the same for a thread and its own copy.
        byte: The offset of the byte in the block's shared memory.
        one_value: Whether both write, and both write one value.
        lacks_fence: Whether they are in order, but for a fence between the generic and the async proxy.
        is_open: Whether both write, and they may write one value: it is not known what one of them writes.
        are_stores: Whether both write a value through the generic proxy, and do nothing else.
    """

    lines: tuple[int, int]
    threads: tuple[int, int]
    byte: int
    one_value: bool
    lacks_fence: bool = False
    is_open: bool = False
    are_stores: bool = False

    @property
    def is_harmful(self) -> bool:
        """Whether they surely are no two writes of one value."""
        return not self.one_value and not self.is_open

    @property
    def sides(self) -> Sides:
        """The line and the thread of each."""
        return (self.lines[0], self.threads[0]), (self.lines[1], self.threads[1])


@dataclass(slots=True)
class Touches:
    """Accesses byte by byte, in columns."""

    byte: Array
    thread: Array
    line: Array
    effect: Array
    start: Array
    width: Array
    time: Array
    end: Array
    component: Array
    close: Array
    wide: Array
    warp: Array
    old: Array
    value: Array

    def of(self, which: Array | Mask | slice) -> Touches:
        """Some of them."""
        return Touches(*(getattr(self, name)[which] for name in self.__slots__))


def _table(effects: Iterable[Effect]) -> Mask:
    found = np.zeros(len(Effect), dtype=np.bool_)
    found[[*effects]] = True
    return found


_IS_STRONG, _IS_ASYNC, _IS_PROXIED, _IS_GENERIC_WRITE, _IS_STORE = map(
    _table, (_STRONG, ASYNC, _PROXIED, GENERIC_WRITES, _STORES)
)


def find_suspects(touches: Touches, first: Array, stops: Array) -> Array:
    """The bytes that may have a race, one of those that have the same accesses and values."""
    writes = np.maximum.reduceat(touches.effect, first) > Effect.OPERAND
    has_async = np.maximum.reduceat(_IS_ASYNC[touches.effect], first)
    parted = np.minimum.reduceat(touches.thread, first) != np.maximum.reduceat(touches.thread, first)
    is_new = np.minimum.reduceat(touches.old, first) == 0
    wanted = (stops - first > 1) & writes & is_new & (parted | has_async)
    alike = np.minimum.reduceat(_IS_STRONG[touches.effect], first)
    for each in (touches.start, touches.width):
        alike &= np.minimum.reduceat(each, first) == np.maximum.reduceat(each, first)
    # Values count only where two accesses write.
    is_write = touches.value >= 0
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


def find_pairs(touches: Touches, first: Array, stops: Array, tables: Tables, *, by_thread: bool) -> Iterator[Unordered]:
    """The unordered pairs among touches of some bytes: for each two lines, or for each two threads there."""
    sizes = stops - first
    lengths: list[int] = np.unique(sizes).tolist()
    for size in lengths:
        begins = first[sizes == size]
        if size > MANY:
            for begin in begins.tolist():
                few = _distinct(touches.of(slice(begin, begin + size)))
                if len(few.byte) > MOST:
                    few = few.of(np.argsort(few.effect <= Effect.OPERAND, kind="stable")[:MOST])
                for pairs in _by_rows(len(few.byte)):
                    yield from _among(few, *pairs, tables, by_thread=by_thread)
            continue
        one, other = np.triu_indices(size, 1)
        at_once = max(1, _AT_ONCE // len(one))
        for begin in range(0, len(begins), at_once):
            here = begins[begin : begin + at_once, None]
            pairs = (here + one).reshape(-1), (here + other).reshape(-1)
            yield from _among(touches, *pairs, tables, by_thread=by_thread)


def _by_rows(count: int) -> Iterator[tuple[Array, Array]]:
    """All pairs of so many, in parts of about `_AT_ONCE`: thousands of accesses to one byte have millions.

    >>> [list(zip(*map(np.ndarray.tolist, part))) for part in _by_rows(3)]
    [[(0, 1), (0, 2), (1, 2)]]
    """
    rows = max(1, _AT_ONCE // max(1, count))
    for begin in range(0, count - 1, rows):
        one, other = np.triu_indices(min(rows, count - begin), 1, count - begin)
        yield one + begin, other + begin


def _among(touches: Touches, one: Array, other: Array, tables: Tables, *, by_thread: bool) -> Iterator[Unordered]:
    # Most pairs are of two reads or of one thread: few columns show that.
    effects, threads, old = ((column[one], column[other]) for column in (touches.effect, touches.thread, touches.old))
    may = (threads[0] != threads[1]) | _IS_ASYNC[effects[0]] | _IS_ASYNC[effects[1]]
    may &= (np.maximum(*effects) > Effect.OPERAND) & ((old[0] == 0) | (old[1] == 0))
    a, b = touches.of(one[may]), touches.of(other[may])
    found = ~(_IS_STRONG[a.effect] & _IS_STRONG[b.effect] & (a.start == b.start) & (a.width == b.width))
    one_before, other_before = _before(a, b, tables), _before(b, a, tables)
    found &= ~(one_before & _is_fenced(a, b, tables)) & ~(other_before & _is_fenced(b, a, tables))
    lacks_fence = (one_before | other_before)[found]
    a, b = a.of(found), b.of(found)
    one_value = (a.value == b.value) & (a.value >= 0)
    is_alike = (a.line == b.line) & (a.effect == Effect.CHANGE) & (b.effect == Effect.CHANGE)
    are_stores = _IS_STORE[a.effect] & _IS_STORE[b.effect]
    is_open = (are_stores & ((a.value < 0) | (b.value < 0))) | is_alike
    is_swapped = (a.line > b.line) | ((a.line == b.line) & (a.thread > b.thread))
    lines, threads = (
        (np.where(is_swapped, y, x), np.where(is_swapped, x, y)) for x, y in ((a.line, b.line), (a.thread, b.thread))
    )
    parts = (*lines, *(threads if by_thread else ()), one_value, lacks_fence, is_open, are_stores)
    for at in _first_of_each(parts):
        yield Unordered(
            (int(lines[0][at]), int(lines[1][at])),
            (int(threads[0][at]), int(threads[1][at])),
            int(a.byte[at]),
            bool(one_value[at]),
            bool(lacks_fence[at]),
            bool(is_open[at]),
            bool(are_stores[at]),
        )


def _first_of_each(columns: Iterable[Array | Mask]) -> list[int]:
    """The first place of each distinct row, in order.

    >>> _first_of_each([np.asarray([3, 1, 3, 3]), np.asarray([0, 0, 0, 1])])
    [0, 1, 3]
    """
    numbers: Array | None = None
    for column in columns:
        # Numbers of rows stay small, so that no product wraps.
        one = np.unique(column, return_inverse=True)[1].reshape(-1)
        numbers = (
            one if numbers is None else np.unique(numbers * (one.max(initial=0) + 1) + one, return_inverse=True)[1]
        )
    if numbers is None:
        return []
    places: list[int] = np.sort(np.unique(numbers, return_index=True)[1]).tolist()
    return places


def _before(a: Touches, b: Touches, tables: Tables) -> Mask:
    """Where the first access is ordered before the second one, fences between proxies aside."""
    of_warp = (a.thread // LANES == b.thread // LANES) & (tables.warp[b.warp, a.thread % LANES] >= a.end)
    known = (tables.wide[b.wide, a.thread] >= a.end) | (tables.wide[b.wide, a.component] >= a.close)
    return known | of_warp | ((a.thread == b.thread) & (a.end < b.time))


def _is_fenced(a: Touches, b: Touches, tables: Tables) -> Mask:
    """Where the first access needs no fence between proxies before the second one, or has one."""
    if not tables.components:
        return np.ones(len(a.byte), dtype=np.bool_)
    needed = _IS_GENERIC_WRITE[a.effect] & _IS_PROXIED[b.effect]
    return ~needed | (tables.wide[b.wide, tables.components + a.thread] >= a.end)


def _distinct(touches: Touches) -> Touches:
    """Fewer touches of one byte with the same pairs of lines.

    Two of one thread and line with the same knowledge and value have the same pairs, as long as the thread has
    no asynchronous access. Of the others, the lowest and the highest warp, and the threads with the least and the
    largest value, are kept. This is enough where barriers of warps are all that orders them; else pairs may be
    left out.
    """
    kept = np.ones(len(touches.byte), dtype=np.bool_)
    if not _IS_ASYNC[touches.effect].any():
        parts = (touches.thread, touches.line, touches.effect, touches.wide, touches.warp, touches.old, touches.value)
        keys = np.stack(parts, axis=1)
        kept[:] = False
        kept[np.unique(keys, axis=0, return_index=True)[1]] = True
    touches = touches.of(kept)
    warps = touches.thread // LANES
    kept = np.zeros(len(warps), dtype=np.bool_)
    lines = 2 * touches.line + touches.old
    for line in np.unique(lines):
        mine = lines == line
        edges = {warps[mine].min(), warps[mine].max()}
        kept |= mine & np.isin(warps, [*edges])
        places = np.flatnonzero(mine)
        kept[places[[touches.value[mine].argmin(), touches.value[mine].argmax()]]] = True
    return touches.of(kept)

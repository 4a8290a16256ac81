"""Vector clocks of one thread block: which accesses of shared memory no order puts in sequence.

Written from section 10 of docs/semantics.md alone. Every thread has a clock; lanes of a warp have
no order among each other. The asynchronous copies of a thread have a clock of their own, which the
thread learns when it waits for them. A pair of accesses that race is found whatever order the
interpreter ran them in, as long as the run itself reads the same values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .fetch import Array
from .past import Since

if TYPE_CHECKING:
    from .model import Instr
    from .record import Access
    from .splits import Split

KINDS = {"ld": "R", "ldmatrix": "R", "st": "W", "stmatrix": "W", "cp.async.ca": "W", "cp.async.cg": "W"}
"""R reads, W writes; what is not here is an atomic, A."""


class Touch(NamedTuple):
    """One access of one cell that later accesses have to be ordered behind."""

    component: int
    """The place of the thread, or of its copies, in a clock."""
    time: int
    line: int
    kind: str
    start: int
    size: int
    data: bytes | None
    """What was written, where it is known."""


class Race(NamedTuple):
    """Two accesses of one byte without order; the line of the first is not the larger one.

    `copies` says of each whether an asynchronous copy did it.
    """

    lines: tuple[int, int]
    kinds: tuple[str, str]
    threads: tuple[int, int]
    copies: tuple[bool, bool]
    byte: int
    is_benign: bool

    @property
    def key(self) -> tuple[tuple[int, int], tuple[str, str], bool]:
        """What tells pairs of instructions apart."""
        return self.lines, self.kinds, self.is_benign


class Divergence(NamedTuple):
    """A barrier that not all threads of its scope reach together."""

    lines: tuple[int, ...]
    why: str


@dataclass(eq=False)
class Pending:
    """An instruction whose data are not stored yet."""

    record: Access
    lanes: list[int]
    address: list[int]
    data: dict[int, dict[int, bytes]]


class Clocks:
    """The clocks of a block's threads, and the touches of its shared memory.

    `exits_order` puts the accesses of a thread that has returned before the barriers that complete
    after that, as if returning were an arrival.
    """

    def __init__(self, lanes: int, threads: int, base: int, *, exits_order: bool = True) -> None:
        self.lanes = lanes
        self.threads = threads
        self.base = base
        self.exits_order = exits_order
        self.clock = np.zeros((lanes, 2 * lanes), np.int32)
        self.clock[np.arange(lanes), np.arange(lanes)] = 1
        self.known_by_all = np.zeros(2 * lanes, np.int32).tolist()
        self.copies = [0] * lanes
        self.groups: list[list[int]] = [[] for _ in range(lanes)]
        self.returned: set[int] = set()
        self.rests_on_returns = False
        """A barrier completed after a thread that had touched shared memory returned."""
        self.races: dict[tuple[tuple[int, int], tuple[str, str], bool], Race] = {}
        self.divergences: set[Divergence] = set()
        self._writes: dict[int, dict[tuple[object, ...], Touch]] = defaultdict(dict)
        self._reads: dict[int, dict[tuple[object, ...], Touch]] = defaultdict(dict)
        self._rows: dict[int, list[int]] = {}
        self._pending: Pending | None = None
        self._arrived: dict[object, Array] = {}
        self._ended = np.zeros(2 * lanes, np.int32)
        self._since = Since.start(lanes)
        """Since the last barrier of the block."""
        self._since_warps: dict[tuple[int, int], Since] = {}
        """The same for barriers of a warp and a mask; those of the block, and those with more lanes count, too."""

    # ---- accesses

    def access(self, record: Access, lanes: Array, address: Array, place: int, depth: int) -> None:
        """An instruction of shared memory by some lanes."""
        self.settle()
        who = np.flatnonzero(lanes).tolist()
        self._pending = Pending(record, who, address[lanes].tolist(), {})
        if depth == 0:
            for since in (self._since, *self._since_warps.values()):
                since.touch(who, place)

    def come(self, lanes: list[int], rank: int) -> None:
        """Threads come to a place of the kernel, by the order of the code."""
        for since in (self._since, *self._since_warps.values()):
            since.come(lanes, rank)

    def stored(self, lanes: Array, address: Array, value: Array) -> None:
        """Data that the instruction stores."""
        if self._pending is None:
            return
        data = self._pending.data
        value = np.broadcast_to(value, lanes.shape)
        for lane, at, number in zip(lanes.tolist(), address.tolist(), value, strict=True):
            data.setdefault(lane, {})[at] = number.tobytes()

    def settle(self) -> None:
        """Judge the last instruction, now that its data are known."""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        record = pending.record
        kind, is_copy = KINDS.get(record.kind, "A"), record.kind.startswith("cp.async")
        for lane, start in zip(pending.lanes, pending.address, strict=True):
            row = self._row(lane)
            component, time = lane, row[lane]
            if is_copy:
                self.copies[lane] += 1
                component, time = self.lanes + lane, self.copies[lane]
            written = pending.data.get(lane, {}) if record.kind != "stmatrix" else {}
            data = b"".join(written[at] for at in sorted(written)) if kind == "W" else b""
            for offset in range(record.bytes):
                byte = data[offset : offset + 1] if len(data) == record.bytes else None
                touch = Touch(component, time, record.line, kind, start, record.bytes, byte)
                self._touch(start + offset, touch, row)

    def _touch(self, at: int, new: Touch, row: list[int]) -> None:
        """Hold an access of a byte against the earlier ones, and keep it."""
        writes, reads = self._writes[at], self._reads[at]
        known = self.known_by_all
        for kept in (writes,) if new.kind == "R" else (writes, reads):
            for key, old in list(kept.items()):
                if known[old.component] >= old.time:
                    del kept[key]
                elif row[old.component] < old.time and not _both_atomic(old, new):
                    self._found(at, old, new)
        kept = reads if new.kind == "R" else writes
        # Of a thread's own accesses the last one stands for all, but copies complete in no order.
        is_copy = new.component >= self.lanes
        key = (new.component, new.line, new.kind, new.start, new.data, new.time if is_copy else 0)
        kept[key] = new

    def _found(self, at: int, old: Touch, new: Touch) -> None:
        first, second = (old, new) if (old.line, old.kind) <= (new.line, new.kind) else (new, old)
        same = first.data is not None and first.data == second.data
        is_benign = same and first.kind == second.kind == "W"
        race = Race(
            (first.line, second.line),
            (first.kind, second.kind),
            (first.component % self.lanes, second.component % self.lanes),
            (first.component >= self.lanes, second.component >= self.lanes),
            at - self.base,
            is_benign,
        )
        self.races.setdefault(race.key, race)

    # ---- order

    def _row(self, lane: int) -> list[int]:
        if lane not in self._rows:
            self._rows[lane] = self.clock[lane].tolist()
        return self._rows[lane]

    def _learn(self, lanes: Iterable[int], what: Array) -> None:
        """Threads come to know a clock."""
        chosen = list(lanes)
        self.clock[chosen] = np.maximum(self.clock[chosen], what)
        for lane in chosen:
            self._rows.pop(lane, None)

    def _tell(self, lanes: list[int]) -> Array:
        """What threads know together; what they do from now on is later."""
        self.settle()
        told = self.clock[lanes].max(0)
        self.clock[lanes, lanes] += 1
        for lane in lanes:
            self._rows.pop(lane, None)
        return told

    def arrive(self, key: object, lanes: list[int]) -> None:
        """Threads arrive at a barrier, whether they wait there or not."""
        told = self._tell(lanes)
        self._arrived[key] = np.maximum(self._arrived.get(key, np.zeros_like(told)), told)

    def opened(self, key: object, waiting: list[tuple[Split, Instr]], *, whole: bool, loose: bool) -> None:
        """A barrier completes; `whole` ones are for the block, `loose` ones lack lanes."""
        told = self._arrived.pop(key)
        lanes = _waiting(waiting)
        if whole:
            self._complete(waiting, loose=loose)
            self.rests_on_returns |= any(self._since.places[lane] for lane in self.returned)
            if self.exits_order:
                told = np.maximum(told, self._ended)
        self._learn(lanes, told)
        if whole and len(lanes) + len(self.returned) == self.threads:
            self.known_by_all = self.clock[lanes].min(0).tolist()
        for since in (self._since, *self._since_warps.values()):
            since.clear(lanes)

    def warp_arrive(self, warp: int, mask: int, lanes: list[int]) -> None:
        """Lanes arrive at the barrier of a warp with this mask."""
        self._since_warps.setdefault((warp, mask), self._since.copy())
        self.arrive((warp, mask), lanes)

    def warp_opened(self, warp: int, mask: int, waiting: list[tuple[Split, Instr]], *, loose: bool) -> None:
        """The barrier of a warp with this mask completes; a `loose` one lacks lanes, and orders nothing."""
        told, lanes = self._arrived.pop((warp, mask)), _waiting(waiting)
        named = [lane for lane in lanes_of(warp, mask) if lane < self.threads]
        lines = tuple(sorted({end.line for _, end in waiting}))
        if loose:
            self.divergences.add(Divergence(lines, "some lanes that it names come, and others do not"))
        if not set(lanes) <= set(named):
            self.divergences.add(Divergence(lines, "lanes come that it does not name"))
        if loose:
            return
        gone = [lane for lane in named if lane in self.returned]
        self._look_past(waiting, gone, self._since_warps[warp, mask])
        self.rests_on_returns |= any(self._since.places[lane] for lane in gone)
        if self.exits_order and gone:
            told = np.maximum(told, self.clock[gone].max(0))
        self._learn(lanes, told)
        for (other, part), since in self._since_warps.items():
            if other == warp and part & ~mask == 0:
                since.clear(lanes)

    def _complete(self, waiting: list[tuple[Split, Instr]], *, loose: bool) -> None:
        """Look for threads that do not come to a barrier of the whole block."""
        lines = tuple(sorted({end.line for _, end in waiting}))
        aligned = [end for _, end in waiting if end.op == "bar" or "aligned" in end.mods]
        if loose:
            self.divergences.add(Divergence(lines, "some lanes of a warp come, and others do not"))
        if aligned and len(lines) > 1:
            self.divergences.add(Divergence(lines, "threads wait at different barriers"))
        self._look_past(waiting, self.returned, self._since)

    def _look_past(self, waiting: list[tuple[Split, Instr]], gone: Iterable[int], since: Since) -> None:
        """Look for threads that returned, and touched memory past a barrier at which others wait."""
        for split, end in waiting:
            if split.depth == 0 and any(since.is_past(lane, split.code, split.block) for lane in gone):
                self.divergences.add(Divergence((end.line,), "a thread goes past it, and touches memory"))

    def leave(self, lanes: list[int]) -> None:
        """Threads return from the kernel."""
        self.returned.update(lanes)
        self._ended = np.maximum(self._ended, self._tell(lanes))

    def commit(self, lanes: list[int]) -> None:
        """Threads put their copies since the last group into a group."""
        self.settle()
        for lane in lanes:
            self.groups[lane].append(self.copies[lane])

    def wait_copies(self, lanes: list[int], pending: int | None) -> None:
        """Threads wait until only so many groups are pending; None waits for all copies."""
        self.settle()
        for lane in lanes:
            groups = self.groups[lane]
            done = self.copies[lane] if pending is None else 0
            if pending is not None and len(groups) > pending:
                done = groups[len(groups) - pending - 1]
            self.clock[lane, self.lanes + lane] = max(int(self.clock[lane, self.lanes + lane]), done)
            self._rows.pop(lane, None)


def _both_atomic(old: Touch, new: Touch) -> bool:
    return old.kind == new.kind == "A" and (old.start, old.size) == (new.start, new.size)


def _waiting(waiting: list[tuple[Split, Instr]]) -> list[int]:
    """The threads that wait."""
    return [lane for split, _ in waiting for lane in lanes_of(split.warp, split.mask)]


def lanes_of(warp: int, mask: int) -> list[int]:
    """The threads of a warp that a mask names."""
    return [32 * warp + lane for lane in range(32) if mask >> lane & 1]

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

if TYPE_CHECKING:
    from .model import Instr
    from .program import Code
    from .record import Access
    from .splits import Split

KINDS = {"ld": "R", "ldmatrix": "R", "st": "W", "stmatrix": "W", "cp.async.ca": "W", "cp.async.cg": "W"}
"""R reads, W writes; what is not here is an atomic, A."""
FAR = 1 << 30
"""Behind all places of the code."""


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
        self._places: list[set[tuple[int, int]]] = [set() for _ in range(lanes)]
        self._first = [0] * lanes
        """The first place, in the order of the code, that a thread was at since its last barrier."""
        self._reach: dict[int, list[set[int]]] = {}

    # ---- accesses

    def access(self, record: Access, lanes: Array, address: Array, place: int, depth: int) -> None:
        """An instruction of shared memory by some lanes."""
        self.settle()
        who = np.flatnonzero(lanes).tolist()
        self._pending = Pending(record, who, address[lanes].tolist(), {})
        if depth == 0:
            for lane in who:
                self._places[lane].add((place, self._first[lane]))

    def come(self, lanes: list[int], rank: int) -> None:
        """Threads come to a place of the kernel, by the order of the code."""
        for lane in lanes:
            self._first[lane] = min(self._first[lane], rank)

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
        lanes = [lane for split, _ in waiting for lane in lanes_of(split.warp, split.mask)]
        if whole:
            self._complete(waiting, loose=loose)
            self.rests_on_returns |= any(self._places[lane] for lane in self.returned)
            if self.exits_order:
                told = np.maximum(told, self._ended)
        self._learn(lanes, told)
        if whole and len(lanes) + len(self.returned) == self.threads:
            self.known_by_all = self.clock[lanes].min(0).tolist()
        for lane in lanes:
            self._places[lane].clear()
            self._first[lane] = FAR

    def _complete(self, waiting: list[tuple[Split, Instr]], *, loose: bool) -> None:
        """Look for threads that do not come to a barrier of the whole block."""
        lines = tuple(sorted({end.line for _, end in waiting}))
        aligned = [end for _, end in waiting if end.op == "bar" or "aligned" in end.mods]
        if loose:
            self.divergences.add(Divergence(lines, "some lanes of a warp come, and others do not"))
        if aligned and len(lines) > 1:
            self.divergences.add(Divergence(lines, "threads wait at different barriers"))
        for split, end in waiting:
            if split.depth == 0:
                rank = split.code.flow.rank
                for lane in self.returned:
                    if any(
                        split.block not in self._after(split.code, place) or first < rank[split.block] < rank[place]
                        for place, first in self._places[lane]
                    ):
                        self.divergences.add(Divergence((end.line,), "a thread goes past it, and touches memory"))

    def _after(self, code: Code, place: int) -> set[int]:
        """The blocks of a function that can be reached from one of them, and that one."""
        if code.order not in self._reach:
            self._reach[code.order] = [_reached(code.flow.nexts, at) for at in range(len(code.flow.nexts))]
        return self._reach[code.order][place]

    def leave(self, lanes: list[int]) -> None:
        """Threads return from the kernel."""
        self.returned.update(lanes)
        self._ended = np.maximum(self._ended, self._tell(lanes))

    def warp_barrier(self, line: int, lanes: Array, members: Array) -> None:
        """Lanes come to bar.warp.sync; where not all that it names come together, it orders nothing."""
        for mask in np.unique(members[lanes]).tolist():
            for warp in range(self.lanes // 32):
                here = [32 * warp + lane for lane in range(32) if lanes[32 * warp + lane]]
                here = [lane for lane in here if members[lane] == mask]
                named = {32 * warp + lane for lane in range(32) if mask >> lane & 1}
                named = {lane for lane in named if lane < self.threads} - self.returned
                if not here:
                    continue
                if set(here) != named:
                    self.divergences.add(Divergence((line,), "some lanes that it names come, and others do not"))
                    continue
                self._learn(here, self._tell(here))

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


def _reached(nexts: list[list[int]], start: int) -> set[int]:
    """The blocks that can be reached from one, and that one."""
    found, todo = {start}, [start]
    while todo:
        for after in nexts[todo.pop()]:
            if after not in found:
                found.add(after)
                todo.append(after)
    return found


def lanes_of(warp: int, mask: int) -> list[int]:
    """The threads of a warp that a mask names."""
    return [32 * warp + lane for lane in range(32) if mask >> lane & 1]

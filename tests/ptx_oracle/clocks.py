"""Vector clocks of one thread block: which accesses of shared memory no order puts in sequence.

Written from sections 10 and 11 of docs/semantics.md alone. Every thread has a clock; lanes of a warp
have no order among each other. Each asynchronous operation has a number, which threads learn when
they wait for it. A pair of accesses that race is found whatever order the interpreter ran them in,
as long as the run itself reads the same values and waits for the same phases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .fetch import Array
from .knowledge import Knowledge, Told
from .model import Imm
from .past import Since
from .strong import Strong
from .touches import Race, Touch, Touches

if TYPE_CHECKING:
    from .model import Instr
    from .record import Access
    from .splits import Split

KINDS = {"ld": "R", "ldmatrix": "R", "st": "W", "stmatrix": "W", "cp.async.ca": "W", "cp.async.cg": "W"}
"""R reads, W writes; what is not here is an atomic, A."""
PRODUCTS = "wgmma"
"""The groups of products, as distinct from those of copies."""


class Divergence(NamedTuple):
    """A barrier that not all threads of its scope reach together."""

    lines: tuple[int, ...]
    why: str


@dataclass(eq=False)
class Product:
    """One operation of `wgmma` that some warps of a warpgroup have issued: its number, and what each of them knew."""

    number: int
    told: Told | None = None
    warps: int = 0


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

    def __init__(self, lanes: int, threads: int, base: int, *, exits_order: bool = True, proxies: bool = True) -> None:
        self.lanes = lanes
        self.threads = threads
        self.exits_order = exits_order
        self.knowledge = Knowledge(lanes)
        self.touches = Touches(self.knowledge, base, proxies=proxies)
        self.strong = Strong(self.knowledge)
        self.returned: set[int] = set()
        self.rests_on_returns = False
        """A barrier completed after a thread that had touched shared memory returned."""
        self.divergences: set[Divergence] = set()
        self._groups: dict[tuple[int, object], list[int]] = {}
        """The groups of a thread's copies, of `cp.async` and of bulk copies, and of its products, as bits."""
        self._products: dict[tuple[int, int], Product] = {}
        """Products by their warpgroup and their place among its products."""
        self._issued: dict[int, int] = {}
        """How many products each warp has issued."""
        self._loose: dict[tuple[int, object], int] = {}
        """The copies that are in no group."""
        self._objects: dict[tuple[int, int, int], int] = {}
        """When a thread last touched an mbarrier at a line."""
        self._touched: set[int] = set()
        """Threads that did anything in shared memory but make mbarriers."""
        self._made: set[int] = set()
        """Threads that made mbarriers and have executed no fence for that since."""
        self._invalid: set[int] = set()
        """Where `inval` has ended mbarriers."""
        self._pending: Pending | None = None
        self._arrived: dict[object, Told] = {}
        self.of_block = threads
        """Threads of a block; there are several in a cluster."""
        self._begun: set[int] = set()
        """The ranks of the blocks of which a thread has begun."""
        self._ended: dict[int, Told] = {}
        self._since = Since.start(lanes)
        """Since the last barrier of the block."""
        self._since_warps: dict[tuple[int, int], Since] = {}
        """The same for barriers of a warp and a mask; those of the block, and those with more lanes count, too."""

    @property
    def races(self) -> dict[tuple[tuple[int, int], tuple[str, str], bool], Race]:
        """One race of each pair of instructions."""
        return self.touches.races

    # ---- accesses

    def reach(self, rank: int) -> None:
        """A thread of another block reaches the memory of a block, which has to be there."""
        threads = range(rank * self.of_block, (rank + 1) * self.of_block)
        if rank not in self._begun or self.returned.issuperset(threads):
            self.divergences.add(Divergence((), "the memory of a block is reached that is not there"))

    def access(self, record: Access, lanes: Array, address: Array, place: int, depth: int) -> None:
        """An instruction of shared memory by some lanes."""
        self.settle()
        who = lanes.nonzero()[0].tolist()
        where = address[lanes].tolist()
        self._pending = Pending(record, who, where, {})
        self._touched.update(who)
        self.touch_in(who, place, depth)
        if record.sem and record.kind in ("ld", "st"):
            self.settle()
            loads = record.kind == "ld"
            for lane, start in zip(who, where, strict=True):
                self.strong.access(lane, (start, record.bytes), record.sem, reads=loads, writes=not loads)

    def touch_in(self, lanes: list[int], place: int, depth: int) -> None:
        """Threads touch shared memory in a block of code."""
        if depth == 0:
            for since in (self._since, *self._since_warps.values()):
                since.touch(lanes, place)

    def atomic(self, record: Access, lane: int, start: int, *, writes: bool) -> None:
        """An atomic has done its work; a `cas` that fails writes nothing."""
        self.settle()
        self.strong.access(lane, (start, record.bytes), record.sem, reads=True, writes=writes)

    def touch_object(self, line: int, lane: int, start: int, *, copy: int = -1, how: str = "") -> None:
        """An operation on an mbarrier; `how` is `init` or `inval` for those that write it."""
        self.settle()
        if start in self._invalid and how != "init":
            self.misused(line, "an mbarrier is used behind its inval")
        (self._made if how == "init" else self._touched).add(lane)
        if how:
            (self._invalid.add if how == "inval" else self._invalid.discard)(start)
        time = self.knowledge.row(lane)[lane]
        if self._objects.get((lane, line, start)) == time and copy < 0:
            return  # Asking again at the same time says nothing new.
        self._objects[lane, line, start] = time
        self.touches.add(Touch(lane, time, line, "W" if how else "A", start, 8, copy=copy))

    def bulk(self, line: int, lane: int, start: int, size: int, *, writes: bool) -> int:
        """A bulk operation begins; give its number."""
        self.settle()
        self._touched.add(lane)
        number = self.knowledge.issue()
        kind, time = "W" if writes else "R", self.knowledge.row(lane)[lane]
        self.touches.add(Touch(lane, time, line, kind, start, size, None, number, is_async=True))
        if writes:
            self.strong.overwrite(start, size)
        return number

    def product(self, line: int, warp: int, ranges: list[tuple[int, int]]) -> None:
        """A warp issues an operation of `wgmma`, which may read as soon as one of the four warps of a warpgroup has."""
        self.settle()
        lanes = [32 * warp + lane for lane in range(32)]
        self._touched.update(lanes)
        key = warp // 4, self._issued.get(warp, 0)
        self._issued[warp] = key[1] + 1
        found = self._products.get(key)
        if found is None:
            found = self._products[key] = Product(self.knowledge.issue())
        found.told, found.warps = self.knowledge.all_of(lanes).common(found.told), found.warps + 1
        for lane in lanes:
            self.put_in_group(lane, found.number, bulk=PRODUCTS)
        if found.warps == 4:
            thread = 128 * (warp // 4)
            for start, size in ranges:
                new = Touch(thread, found.told.clock.tolist()[thread], line, "R", start, size, None, found.number)
                self.touches.add_product(new._replace(is_async=True), found.told)

    def come(self, lanes: list[int], rank: int) -> None:
        """Threads come to a place of the kernel, by the order of the code."""
        self._begun.update(lane // self.of_block for lane in lanes)
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
        kind = KINDS.get(record.kind, "A")
        if record.sem:
            kind = "S" if kind == "R" else "A"
        is_copy = record.kind.startswith("cp.async")
        for lane, start in zip(pending.lanes, pending.address, strict=True):
            copy = -1
            if is_copy:
                copy = self.knowledge.issue()
                self.put_in_group(lane, copy, bulk=False)
            time = self.knowledge.row(lane)[lane]
            touch = Touch(lane, time, record.line, kind, start, record.bytes, copy=copy)
            written = pending.data.get(lane, {})
            data = b"".join(written[at] for at in sorted(written)) if kind == "W" else b""
            if len(data) == record.bytes:
                self.touches.add(touch, [data[at : at + 1] for at in range(len(data))])
            else:
                self.touches.add(touch)
            if kind == "W":
                self.strong.overwrite(start, record.bytes)

    # ---- order

    def _tell(self, lanes: list[int]) -> Told:
        """What threads know together; what they do from now on is later."""
        self.settle()
        return self.knowledge.tell(lanes)

    def fence(self, lanes: list[int], *, proxies: bool) -> None:
        """Threads execute a fence, of memory or of the proxies."""
        self.settle()
        if proxies:
            self.knowledge.fence_proxies(lanes)
        else:
            self.strong.fence(lanes)

    def fence_made(self, lanes: list[int]) -> None:
        """Threads execute a fence for the mbarriers that they have made."""
        self._made.difference_update(lanes)

    def has_only_made(self, lane: int) -> bool:
        """Whether all that a thread did in shared memory was to make mbarriers, with a fence behind that."""
        self.settle()
        return lane not in self._touched and lane not in self._made

    def ended_phase(self, key: object) -> Told:
        """A phase of a barrier ends at which threads arrive without waiting; give what comes before its end."""
        self.rests_on_returns |= any(self._since.places[lane] for lane in self.returned)
        told = self._arrived.pop(key, self.knowledge.nothing())
        for ended in self._ended.values() if self.exits_order else ():
            told = told.joined(ended)
        return told

    def release(self, lane: int) -> Told:
        """A thread arrives at an mbarrier."""
        return self._tell([lane])

    def acquire(self, lane: int, told: Told | None) -> None:
        """A thread has waited for a phase of an mbarrier."""
        self.settle()
        self.knowledge.learn([lane], told)

    def arrive(self, key: object, lanes: list[int]) -> None:
        """Threads arrive at a barrier, whether they wait there or not."""
        self._arrived[key] = self._tell(lanes).joined(self._arrived.get(key))

    def opened(self, key: object, waiting: list[tuple[Split, Instr]], *, whole: bool, loose: bool) -> None:
        """A barrier completes; `whole` ones are for the block, `loose` ones lack lanes."""
        told = self._arrived.pop(key)
        lanes = _waiting(waiting)
        if whole:
            self._complete(waiting, loose=loose)
            rank = lanes[0] // self.of_block
            self.rests_on_returns |= any(self._since.places[lane] for lane in self._gone(rank))
            if self.exits_order:
                told = told.joined(self._ended.get(rank))
        else:
            self._named(waiting, loose=loose)
        self.knowledge.learn(lanes, told)
        if not whole:
            return
        if len(lanes) + len(self.returned) == self.threads:
            self.touches.all_know(self.knowledge.common_to(lanes))
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
            told = told.joined(self.knowledge.all_of(gone))
        self.knowledge.learn(lanes, told)
        for (other, part), since in self._since_warps.items():
            if other == warp and part & ~mask == 0:
                since.clear(lanes)

    def _complete(self, waiting: list[tuple[Split, Instr]], *, loose: bool) -> None:
        """Look for threads that do not come to a barrier of the whole block."""
        lines = tuple(sorted({end.line for _, end in waiting}))
        self._named(waiting, loose=loose)
        if len(lines) > 1 and any(_is_syncthreads(end) for _, end in waiting):
            self.divergences.add(Divergence(lines, "threads wait at different barriers"))
        self._look_past(waiting, self._gone(_waiting(waiting)[0] // self.of_block), self._since)

    def _gone(self, rank: int) -> list[int]:
        """The threads of a block that have returned."""
        return [each for each in self.returned if each // self.of_block == rank]

    def _named(self, waiting: list[tuple[Split, Instr]], *, loose: bool) -> None:
        """Look for warps that do not come together to a barrier."""
        if loose:
            lines = tuple(sorted({end.line for _, end in waiting}))
            self.divergences.add(Divergence(lines, "some lanes of a warp come, and others do not"))
        for warp in {split.warp for split, _ in waiting}:
            ends = {end.line: end for split, end in waiting if split.warp == warp}
            if len(ends) > 1 and any(_is_aligned(end) for end in ends.values()):
                self.divergences.add(Divergence(tuple(sorted(ends)), "lanes of a warp wait at different barriers"))

    def misused(self, line: int, why: str) -> None:
        """A barrier is used as the manual forbids."""
        self.divergences.add(Divergence((line,), why))

    def _look_past(self, waiting: list[tuple[Split, Instr]], gone: Iterable[int], since: Since) -> None:
        """Look for threads that returned, and touched memory past a barrier at which others wait."""
        for split, end in waiting:
            if split.depth == 0 and any(since.is_past(lane, split.code, split.block) for lane in gone):
                self.divergences.add(Divergence((end.line,), "a thread goes past it, and touches memory"))

    def leave(self, lanes: list[int]) -> None:
        """Threads return from the kernel."""
        self.returned.update(lanes)
        for rank in {lane // self.of_block for lane in lanes}:
            told = self._tell([lane for lane in lanes if lane // self.of_block == rank])
            self._ended[rank] = told.joined(self._ended.get(rank))

    # ---- groups of copies

    def put_in_group(self, lane: int, copy: int, *, bulk: object) -> None:
        """A copy is to be in the thread's next group."""
        self._loose[lane, bulk] = self._loose.get((lane, bulk), 0) | 1 << copy

    def commit(self, lanes: list[int], *, bulk: object = False) -> None:
        """Threads put their copies since the last group into a group."""
        self.settle()
        for lane in lanes:
            self._groups.setdefault((lane, bulk), []).append(self._loose.pop((lane, bulk), 0))

    def wait_copies(self, lanes: list[int], pending: int | None, *, bulk: object = False) -> None:
        """Threads wait until only so many groups are pending; None waits for all copies."""
        self.settle()
        for lane in lanes:
            if pending is None:
                self.commit([lane], bulk=bulk)
            groups = self._groups.get((lane, bulk), [])
            for group in groups[: len(groups) - (pending or 0)]:
                self.knowledge.complete(lane, group)

    def copies_of(self, lane: int) -> int:
        """The `cp.async` that a thread has issued so far."""
        self.settle()
        found = self._loose.get((lane, False), 0)
        for group in self._groups.get((lane, False), []):
            found |= group
        return found


def _is_aligned(end: Instr) -> bool:
    """Whether all lanes of a warp have to execute this very barrier."""
    return end.op == "bar" or "aligned" in end.mods


def _is_syncthreads(end: Instr) -> bool:
    """Whether C++ has this barrier as a call to which all threads of the block have to come."""
    named = end.operands[1:-1] if "red" in end.mods else end.operands
    return _is_aligned(end) and named == [Imm(0)]


def _waiting(waiting: list[tuple[Split, Instr]]) -> list[int]:
    """The threads that wait."""
    return [lane for split, _ in waiting for lane in lanes_of(split.warp, split.mask)]


def lanes_of(warp: int, mask: int) -> list[int]:
    """The threads of a warp that a mask names."""
    return [32 * warp + lane for lane in range(32) if mask >> lane & 1]

"""Who waits in a block: at barriers, at mbarriers, and what happens when nobody can run."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .block import BlockState, words
from .clocks import lanes_of
from .clusters import ClusterBarrier
from .errors import FaultError, HangError
from .fetch import Array, Batch
from .flow import Block
from .model import Instr
from .splits import Barrier, Split, Warp, WarpBarrier

VAIN_POLLS = 500
"""So often lanes ask an mbarrier that cannot open before that is a fault."""


class Barriers:
    """The barriers of one block, and the splits that wait at them."""

    def __init__(self, state: BlockState, warps: list[Warp], warnings: Counter[str]) -> None:
        self.state = state
        self.warps = warps
        self.warnings = warnings
        self.barriers: dict[object, Barrier] = {}
        self.pollers: list[Split] = []
        self._vain = 0
        state.on_arrive = self.arrive
        self.cluster = ClusterBarrier(state, warps)
        state.on_arrive_in_cluster = self._arrive_in_cluster

    def _ready(self, split: Split, place: int) -> None:
        """Let a split that waited go on."""
        warp = self.warps[split.warp]
        if split in warp.blocked:
            warp.blocked.remove(split)
            warp.loose = warp.loose and bool(warp.blocked)
        split.go(place)
        warp.add(split)

    def _block(self, split: Split) -> None:
        self.warps[split.warp].blocked.append(split)

    def kill(self, warp: int, mask: int) -> None:
        """Lanes leave the kernel: nobody waits for them any more."""
        self.warps[warp].live &= ~mask
        if self.state.clocks is not None:
            self.state.clocks.leave(lanes_of(warp, mask))
        for key in list(self.barriers):
            self._open(key)
        self.cluster.open(self._go_on)

    # ---- mbarriers

    def wake(self) -> None:
        """An mbarrier has come to the end of a phase: whoever waits for one asks again."""
        self.state.woken, self._vain = False, 0
        self._ask_again()

    def _ask_again(self) -> None:
        pollers, self.pollers = self.pollers, []
        for split in pollers:
            self._ready(split, split.block)

    def poll(self, batch: Batch, splits: list[Split], block: Block) -> None:
        """Ask mbarriers; who would only hear no waits until something has arrived."""
        wait = splits[0].code.waits[block.index]
        mask = self.state.mask(splits)
        over = wait.over(batch, mask)
        told = words(over & mask)
        forced = self._vain > 0
        if forced:
            self._vain += 1
            if self._vain > VAIN_POLLS:
                raise HangError("an mbarrier never opens")
        going = [split for split in splits if forced or told[split.warp] == split.mask]
        for split in splits:
            if split not in going:
                self.pollers.append(split)
                self._block(split)
        if going:
            wait.answer(batch, over, self.state.mask(going))
            for split in going:
                self._ready(split, block.follow)

    # ---- barriers of the block

    def wait(self, batch: Batch, splits: list[Split], end: Instr) -> None:
        """Let splits arrive at a barrier and wait."""
        if "warp" in end.mods:
            self._wait_in_warp(batch, splits, end)
            return
        if "cluster" in end.mods:
            for split in splits:
                if not self.cluster.wait(split, end.line):
                    self._block(split)
                else:
                    self._go_on(split)
            return
        numbers = list(end.operands)
        if "red" in end.mods:
            numbers = numbers[1:-1]
        code = splits[0].code
        values = [np.broadcast_to(code.env.src(n, "u32", end.line)(batch), batch.mask.shape) for n in numbers]
        for split in splits:
            lane = 32 * split.warp + (split.mask & -split.mask).bit_length() - 1
            key: object = self._key(split.warp, int(values[0][lane]) if values else 0)
            barrier = self.barriers.setdefault(key, Barrier())
            self._come(barrier, int(values[1][lane]) if len(values) > 1 else None, split.warp, split.mask, end.line)
            barrier.waiting.append((split, end))
            if self.state.clocks is not None:
                self.state.clocks.arrive(key, lanes_of(split.warp, split.mask))
            self._block(split)
        for key in list(self.barriers):
            self._open(key)

    def _key(self, warp: int, number: int) -> object:
        """A barrier of the block of a warp."""
        return number if self.state.ranks == 1 else ("block", 32 * warp // self.state.of_block, number)

    def _warps_of(self, key: object) -> list[Warp]:
        """The warps that a barrier may wait for."""
        if self.state.ranks == 1 or not isinstance(key, tuple) or key[0] != "block":
            return self.warps
        count = self.state.of_block // 32
        return self.warps[count * key[1] : count * (key[1] + 1)]

    def _wait_in_warp(self, batch: Batch, splits: list[Split], end: Instr) -> None:
        """Let splits wait for the lanes of their warps that they name.

        Lanes with one mask wait for each other, whichever bar.warp.sync they come to.
        """
        get = splits[0].code.env.src(end.operands[0], "b32", end.line)
        named = np.broadcast_to(get(batch), batch.mask.shape)
        for split in splits:
            for mask in np.unique(named[self.state.mask([split])]).tolist():
                part = split.part(split.mask & words(named == mask)[split.warp], split.block)
                barrier = self.barriers.setdefault((part.warp, mask), WarpBarrier(warp=part.warp, mask=mask))
                barrier.arrive(part.warp, part.mask)
                barrier.waiting.append((part, end))
                if self.state.clocks is not None:
                    self.state.clocks.warp_arrive(part.warp, mask, lanes_of(part.warp, part.mask))
                self._block(part)
        for key in list(self.barriers):
            self._open(key)

    def _come(self, barrier: Barrier, count: int | None, warp: int, mask: int, line: int) -> None:
        """Lanes of a warp come to a barrier, which they may do in a way that the manual forbids."""
        if self.state.clocks is not None and barrier.arrived:
            if barrier.count != count:
                self.state.clocks.misused(line, "threads come to a barrier with another number of threads")
            if barrier.arrived.get(warp, 0) & mask:
                self.state.clocks.misused(line, "a warp arrives twice at a barrier")
        barrier.count = count
        barrier.arrive(warp, mask)

    def arrive(self, number: int, count: int, masks: list[int], line: int) -> None:
        """Lanes arrive at a barrier and do not wait."""
        for warp, mask in enumerate(masks):
            if mask:
                key = self._key(warp, number)
                self._come(self.barriers.setdefault(key, Barrier()), count, warp, mask, line)
                if self.state.clocks is not None:
                    self.state.clocks.arrive(key, lanes_of(warp, mask))
                self._open(key)

    def _arrive_in_cluster(self, masks: list[int], line: int, releases: bool) -> None:
        self.cluster.arrive(masks, line, releases=releases)
        self.cluster.open(self._go_on)

    def _go_on(self, split: Split) -> None:
        self._ready(split, split.code.flow.blocks[split.block].follow)

    def _open(self, key: object, *, loose: bool = False) -> bool:
        """Open a barrier if all that it waits for are there."""
        barrier = self.barriers[key]
        warps = self.warps if isinstance(barrier, WarpBarrier) else self._warps_of(key)
        if not barrier.arrived or not barrier.complete(warps, loose=loose):
            return False
        waiting, arrived = barrier.waiting, barrier.arrived
        barrier.waiting, barrier.arrived = [], {}
        in_warp = isinstance(barrier, WarpBarrier)
        # Threads that arrive and do not wait make it a barrier of some threads for the others.
        waits = sum(split.mask.bit_count() for split, _ in waiting)
        everyone = waits == sum(mask.bit_count() for mask in arrived.values())
        whole = not in_warp and barrier.count in (None, self.state.lanes // self.state.ranks) and everyone
        if self.state.clocks is not None and isinstance(barrier, WarpBarrier):
            self.state.clocks.warp_opened(barrier.warp, barrier.mask, waiting, loose=loose)
        elif self.state.clocks is not None:
            self.state.clocks.opened(key, waiting, whole=whole, loose=loose)
        if self.state.recorder is not None and whole:
            self.state.recorder.passed(self.state.mask([split for split, _ in waiting]))
        if any("red" in end.mods for _, end in waiting):
            self._reduce(waiting)
        for split, _ in waiting:
            self._ready(split, split.code.flow.blocks[split.block].follow)
        return True

    def _reduce(self, waiting: list[tuple[Split, Instr]]) -> None:
        """Give all lanes at a barrier the count, or the and or the or, of their predicates."""
        said, lanes = [], []
        # Where threads part, some may wait at a barrier that does not reduce.
        waiting = [(split, end) for split, end in waiting if "red" in end.mods]
        for split, end in waiting:
            batch = self._batch(split)
            said.append(split.code.env.src(end.operands[-1], "pred", end.line)(batch) & batch.mask)
            lanes.append(batch.mask)
        yes, everyone = np.any(said, 0), np.any(lanes, 0)
        for split, end in waiting:
            batch = self._batch(split)
            value: Array = np.array([yes.sum()], np.uint32)
            if "popc" not in end.mods:
                value = np.array([yes[everyone].all() if "and" in end.mods else yes.any()])
            split.code.env.dst(end.operands[0], end.line)(batch, value, batch.mask)

    def _batch(self, split: Split) -> Batch:
        mask = self.state.mask([split])
        return Batch(self.state, self.state.registers(split.code, split.depth), mask, split.depth, split.block)

    # ---- when nobody can run

    def unblock(self) -> bool:
        """Find somebody to run when all wait; False if all lanes have left."""
        if not any(warp.live for warp in self.warps):
            return False
        stuck = [warp for warp in self.warps if warp.ready and not warp.loose]
        if stuck:
            self.warnings["lanes went on past others of their warp that wait at a barrier"] += 1
            for warp in stuck:
                warp.loose = True
            return True
        if self.pollers:
            self._vain = 1
            self._ask_again()
            return True
        for key in list(self.barriers):
            if self._open(key, loose=True):
                self.warnings[f"barrier {key} opened although lanes of some warps had not come"] += 1
                return True
        counted = any(each.arrived and each.count is not None for each in self.barriers.values())
        raise (HangError if counted else FaultError)(f"all lanes wait: {self.where()}")

    def line(self, split: Split) -> int:
        """The PTX line at which a split is."""
        flow, function = split.code.flow, split.code.function
        if split.block >= len(flow.blocks):
            return function.line
        return function.instrs[min(flow.blocks[split.block].start, len(function.instrs) - 1)].line

    def where(self) -> str:
        """The lines at which splits are, for messages."""
        splits = [split for warp in self.warps for split in (*warp.ready, *warp.blocked)]
        return f"splits at lines {sorted({self.line(split) for split in splits})}"

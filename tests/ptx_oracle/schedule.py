"""Runs the warps of one block: which splits run next, and what the ends of blocks do to them."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from . import calls
from .barriers import Barriers
from .block import BlockState, Shape, words
from .clocks import lanes_of
from .errors import BudgetError, FaultError, OracleError, UnsupportedError
from .fetch import Batch
from .flow import Block
from .model import Instr
from .program import Program
from .splits import Frame, Split, Warp

FAIR = 16
"""Every so many turns the split that has waited longest runs, not the one at the earliest block."""
LOOK = 12
"""Every so many blocks of code, a split that others of its warp wait for is looked at.

If it comes to the same block with the same registers, it may wait for them, as at a lock.
"""
PATIENCE = 100_000
"""After so many blocks such a split is taken to wait for the others in any case."""
YIELD = 4
"""For so many turns it then lets the others run."""


LANDS = 0.2
"""How probable it is in a random order that a copy completes before the next turn."""


class Runner:
    """The splits of one block until all its lanes have left."""

    def __init__(self, program: Program, index: tuple[int, int, int], shape: Shape, limit: int) -> None:
        self.program = program
        self.state = BlockState(index, shape, program.layout)
        self.limit = limit
        self.warnings: Counter[str] = Counter()
        self.warps: list[Warp] = []
        for number in range(self.state.lanes // 32):
            live = (1 << min(32, shape.threads - 32 * number)) - 1
            self.warps.append(Warp(number, live, [Split(number, live, program.entry, 0)]))
        self.barriers = Barriers(self.state, self.warps, self.warnings)
        self.random = None if shape.shuffle is None else random.Random(shape.shuffle)

    def run(self) -> None:
        """Run to the end."""
        while True:
            if self.state.woken:
                self.barriers.wake()
            self._land()
            chosen = [split for warp in self.warps if (split := warp.candidate()) is not None]
            if chosen:
                self._turn(chosen)
            elif not self._land(some=True) and not self.barriers.unblock():
                return
            if self.state.clock > self.limit:
                raise BudgetError(f"no end after {self.limit} steps: {self.barriers.where()}")

    def _land(self, *, some: bool = False) -> bool:
        """Let a copy complete: perhaps, or in any case; say whether one did."""
        flights = self.state.flights
        if not flights or self.random is None or not (some or self.random.random() < LANDS):
            return False
        flights.pop(self.random.randrange(len(flights)))()
        if self.state.woken:
            self.barriers.wake()
        return True

    def _turn(self, chosen: list[Split]) -> None:
        """Let all warps at one place run that block of the program."""
        self.state.clock += 1
        if self.state.clock % FAIR:
            first = min(chosen, key=lambda split: split.key)
        else:
            first = min(chosen, key=lambda split: split.last)
        splits = [s for s in chosen if s.block == first.block and s.code is first.code and s.depth == first.depth]
        if self.random is not None:
            first = self.random.choice(chosen)
            splits = [first]
        for split in splits:
            warp = self.warps[split.warp]
            warp.ready.remove(split)
            split.last = self.state.clock
            split.turns += 1
            for other in warp.ready:
                other.yielded = max(0, other.yielded - 1)
            if warp.ready or warp.blocked or split.asked:
                self._watch(split)
        self._run_block(splits)

    def _run_block(self, splits: list[Split]) -> None:
        """Run the instructions of a block, and its end."""
        first = splits[0]
        code = first.code
        if first.block == code.flow.end:
            self._return(splits)
            return
        if self.state.clocks is not None and first.depth == 0:
            for split in splits:
                self.state.clocks.come(lanes_of(split.warp, split.mask), code.flow.rank[first.block])
        registers = self.state.registers(code, first.depth)
        batch = Batch(self.state, registers, self.state.mask(splits), first.depth, first.block)
        block = code.flow.blocks[first.block]
        line = 0
        recorder = self.state.recorder if first.depth == 0 else None
        try:
            if recorder is not None:
                recorder.come(code.flow, first.block, batch.mask)
            for at, (line, run) in enumerate(code.steps[first.block]):  # noqa: B007
                run(batch)
                if recorder is not None:
                    recorder.note(code.function.instrs[block.start + at], batch)
            if block.end is not None:
                line = block.end.line
            self._finish(batch, splits, block)
        except OracleError as error:
            if error.line is None:
                raise type(error)(str(error), line) from error
            raise
        except Exception as error:
            error.add_note(f"PTX line {line}")
            raise

    def _finish(self, batch: Batch, splits: list[Split], block: Block) -> None:
        """Do what the end of a block says."""
        end = block.end
        if end is None:
            for split in splits:
                self._go(split, block.follow)
            return
        taken = batch.mask
        if end.pred is not None:
            guard = batch.regs[end.pred.slot]
            taken = batch.mask & (~guard if end.negated else guard)
        lanes = words(taken)
        if end.op == "brx":
            self._branch_table(batch, splits, block, end, lanes)
        elif end.op in ("bra", "ret"):
            for split in splits:
                part = lanes[split.warp]
                places = {block.targets[0]: part}
                places[block.follow] = places.get(block.follow, 0) | split.mask & ~part
                self._part(split, places)
        else:
            acting = [found for split in splits if (found := self._acting(split, lanes[split.warp], block))]
            if acting:
                self._act(batch, acting, block, end)

    def _acting(self, split: Split, part: int, block: Block) -> Split | None:
        """Split off the lanes that a guarded call, exit or barrier is for.

        The others go on to the next block.
        """
        if part == split.mask:
            return split
        self._go(split.part(split.mask & ~part, block.follow), block.follow)
        return split.part(part, split.block) if part else None

    def _act(self, batch: Batch, splits: list[Split], block: Block, end: Instr) -> None:
        if end.op == "trap":
            raise FaultError("trap", end.line)
        if end.op == "exit":
            for split in splits:
                self.barriers.kill(split.warp, split.mask)
        elif end.op == "call":
            self._call(batch, splits, block, end)
        elif end.op == "mbarrier":
            self.barriers.poll(batch, splits, block)
        else:
            self.barriers.wait(batch, splits, end)

    def _go(self, split: Split, place: int) -> None:
        """Bring a split to a block."""
        split.go(place)
        self.warps[split.warp].add(split)

    def _part(self, split: Split, places: dict[int, int]) -> None:
        """Send the lanes of a split to several places."""
        ways = [(place, mask) for place, mask in places.items() if mask]
        if len(ways) == 1:
            self._go(split, ways[0][0])
            return
        for place, mask in ways:
            self._go(split.part(mask, place), place)

    def _branch_table(self, batch: Batch, splits: list[Split], block: Block, end: Instr, lanes: list[int]) -> None:
        index = np.broadcast_to(splits[0].code.env.src(end.operands[0], "u32", end.line)(batch), batch.mask.shape)
        for split in splits:
            places: dict[int, int] = {}
            for lane in range(32):
                if split.mask >> lane & 1:
                    where = block.follow
                    if lanes[split.warp] >> lane & 1:
                        at = int(index[32 * split.warp + lane])
                        if at >= len(block.targets):
                            raise FaultError(f"brx.idx {at} of {len(block.targets)} labels", end.line)
                        where = block.targets[at]
                    places[where] = places.get(where, 0) | 1 << lane
            self._part(split, places)

    # ---- lanes that wait for lanes of their own warp

    def _watch(self, split: Split) -> None:
        """Let a split that runs in circles yield to its warp, if no other warp can help."""
        if split.turns % LOOK == 0:
            split.mark, split.circling = (split.block, self._registers(split)), False
        elif split.mark is not None and split.mark[0] == split.block:
            split.circling = split.mark[1] == self._registers(split)
            split.mark = None
        mates = self.warps[split.warp].ready
        if (mates and split.circling and self._alone(split)) or split.turns % PATIENCE == 0:
            split.yielded, split.circling = YIELD, False
            line = self.barriers.line(split)
            self.warnings[f"line {line}: lanes ran in circles until others of their warp went on without them"] += 1

    def _registers(self, split: Split) -> bytes:
        """All registers of a split's lanes."""
        mask = self.state.mask([split])
        return b"".join(file[mask].tobytes() for file in self.state.registers(split.code, split.depth))

    def _alone(self, split: Split) -> bool:
        """Whether every other warp waits or runs in circles too."""
        others = [other for warp in self.warps if warp.number != split.warp and (other := warp.candidate())]
        for other in others:
            other.asked = True
        return all(other.circling for other in others)

    # ---- calls

    def _call(self, batch: Batch, splits: list[Split], block: Block, end: Instr) -> None:
        code = splits[0].code
        _, target, _ = calls.parts(end)
        if calls.outside(self.program, target, end.line):
            for split in splits:
                self._go(split, block.follow)
            return
        address = np.broadcast_to(code.env.src(target, "b64", end.line)(batch), batch.mask.shape)
        for where in np.unique(address[self.state.mask(splits)]).tolist():
            callee = self.program.by_address.get(where)
            if callee is None and not self.state.shared.lenient:
                raise UnsupportedError(f"call of {where:#x}, which is no known function", end.line)
            chosen = words(address == where)
            going = []
            for split in splits:
                mask = split.mask & chosen[split.warp]
                if mask:
                    part = split.part(mask, split.block)
                    if callee is None:
                        # As if that function changed nothing and its result were what lies there.
                        self._go(part, block.follow)
                        continue
                    part.frame = Frame(code, block.follow, end, split.frame, split.key)
                    part.code, part.depth = callee, split.depth + 1
                    going.append(part)
            if callee is not None:
                calls.enter(self.state, code, callee, end, self.state.mask(going), batch.depth)
            for part in going:
                self._go(part, 0)

    def _return(self, splits: list[Split]) -> None:
        """Lanes at the end of a function go back to their callers; those of the kernel leave."""
        for split in splits:
            frame = split.frame
            if frame is None:
                self.barriers.kill(split.warp, split.mask)
                continue
            mask = self.state.mask([split])
            calls.leave(self.state, split.code, frame.code, frame.call, mask, split.depth)
            split.code, split.depth, split.frame = frame.code, split.depth - 1, frame.outer
            self._go(split, frame.follow)

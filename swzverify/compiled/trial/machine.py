"""All warps of some blocks, from the kernel's begin to its end.

The blocks are of launches of one kernel with one shape of the block. They run side by side, so that an
instruction is one step for the threads of all of them; no block sees anything of another one, and
each does what it would do alone.

In each warp the lanes at the earliest block run. The order of blocks puts each block behind those
that lead to it, and keeps loops in one piece. So lanes that parted wait for each other wherever
their ways join; only lanes that leave a loop early do not wait. A run for costs ends where lanes begin
a trip before others. All warps that are at one instruction run it together, with arrays of their lanes alone,
and go on so behind the block as long as all of them stay together and no other thread is at an earlier instruction.

Source: PTX ISA, Control Flow Instructions; Parallel Synchronization and Communication
Instructions: bar, barrier. That an H200 has the same lanes together is measured:
tests/ptx_oracle/h200_answers.npz.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Final

import numpy as np

from swzverify.compiled.kernel.flow import Block, FlowError
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.ptx import Function, Immediate, Instruction, Module, PtxError
from swzverify.compiled.trial.branches import count_ways, targets_of
from swzverify.compiled.trial.code import Code, CutOffError, EndError
from swzverify.compiled.trial.exchange import REDUCTION, reduce_at_barrier
from swzverify.compiled.trial.kept import Kept, Seen
from swzverify.compiled.trial.kinds import Kind, kind_of, steps_of_blocks
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.launch import Launch
from swzverify.compiled.trial.memory import Array, FaultError, LimitError, Mask, Memory, StopError
from swzverify.compiled.trial.placement import Placement, coordinates_of
from swzverify.compiled.trial.schedule import EarlyTrips, paths_of
from swzverify.hardware import LANES

MOST_THREADS: Final = 4096
"""Threads that run at once: with more, an instruction takes as much longer."""
NOTHING: Final = Memory([()], 1)
"""The memory of a trial of which it is not kept."""
_EARLY_TRIP: Final = "lanes begin a trip while others are in the one before"
_TOO_MANY_STEPS: Final = "it takes more steps than a trial has"


@dataclass(frozen=True, slots=True)
class Trial:
    """What a launch did.

    Attributes:
        seen: What each watched instruction accessed, by its index.
        ended: Why the launch ended before its end.
        fault: The fault of the launch; a launch with a fault shows nothing.
        steps: The steps that it took.
        starts: The start addresses of the variables in shared memory, in their order, and their alignments.
        memory: The memory after the launch.
        ways: The branches that it took, with rough counts.
        compared: The numbers that it compared.
        is_cut_off: Whether it would go on with more steps.
    """

    seen: dict[int, Seen]
    ended: str
    fault: str
    steps: int
    starts: tuple[tuple[int, int], ...]
    memory: Memory
    ways: frozenset[tuple[int, ...]] = frozenset()
    compared: frozenset[int] = frozenset()
    is_cut_off: bool = False


def run(module: Module, function: Function, launch: Launch, wanted: Iterable[int], most_steps: int) -> Trial:
    """Run one block of a launch, as `run_all` does; the trial has the memory that it leaves behind."""
    return run_all(module, function, [launch], wanted, [most_steps], keeps_memory=True)[0]


def run_all(
    module: Module,
    function: Function,
    launches: Sequence[Launch],
    wanted: Iterable[int],
    most_steps: Sequence[int],
    *,
    keeps_memory: bool = False,
    undefined: int | None = None,
) -> list[Trial]:
    """Run one block of each launch, and keep the shared addresses of the instructions `wanted`.

    The launches are of a function with its calls inlined. They have one shape of the block, the same
    numbers of buffers and parameters, and at most `most_steps` steps. Trials have the memory of their
    block only with `keeps_memory`, because it is large. Registers that were not written are `undefined`;
    None: not known.
    """
    found: list[Trial] = []
    kept, at = frozenset(wanted), 0
    while at < len(launches):
        try:
            threads = -(-prod(launches[at].block) // LANES) * LANES
            here = slice(at, at + max(1, MOST_THREADS // threads))
            machine = Machine(module, function, launches[here], kept, most_steps[here], undefined)
        except (FlowError, LimitError) as error:
            return [Trial({}, str(error), "", 0, (), NOTHING)] * len(launches)
        machine.run()
        found += machine.trials(keeps_memory=keeps_memory)
        at = len(found)
    return found


@dataclass(frozen=True, slots=True)
class _Barrier:
    """What warps of a block wait at.

    `count` is how many threads have to come, None for all of them. `reduction` is the instruction, if the
    barrier makes something of a predicate of each thread: only warps that are at one instruction wait
    together then.
    """

    block: int
    number: int
    count: int | None
    reduction: Instruction | None = None


class Machine:
    """Some blocks: where each of their threads is, which of them wait, and at which barrier.

    Threads and warps are numbered through all blocks.
    """

    def __init__(
        self,
        module: Module,
        function: Function,
        launches: Sequence[Launch],
        wanted: frozenset[int],
        most_steps: Sequence[int],
        undefined: int | None,
    ) -> None:
        self.function, self.blocks = function, len(launches)
        self.flow, self.order, self.waiting = paths_of(function)
        rows, here = Threads(launches[0].block).in_warps()
        self.warps, self.threads = len(here), len(here) * LANES
        self.early = EarlyTrips(self.flow, len(function.instructions)) if wanted else None
        self.kept = Kept(self.blocks, self.warps)
        exists = np.tile(here.reshape(-1), self.blocks)
        point = {name: np.tile(values.reshape(-1), self.blocks) for name, values in rows.items()}
        # The last warp has lane numbers for the lanes that are not there, too.
        point["laneid"] = np.arange(self.blocks * self.threads) % LANES
        places = [coordinates_of(launch) for launch in launches]
        point |= {name: np.repeat([each[name] for each in places], self.threads) for name in places[0]}
        placed = [Placement(module, function, launch) for launch in launches]
        self.starts = placed[0].starts
        self.memory = Memory([each.regions for each in placed], self.threads)
        self.lanes = Lanes(launches[0].block, point, placed[0].addresses, exists, self.blocks, undefined)
        self.code = Code(self.lanes, self.memory, self.kept.keep, wanted)
        self.order_of: list[int] = self.order.tolist()
        self.kinds = [kind_of(each.opcode) for each in function.instructions]
        self.needs = steps_of_blocks(function, self.threads)
        self.is_alone = True
        """Whether what a thread does lets no other thread go on: only then a group runs as its warps alone."""
        self.went = 0
        """Where all threads that ran last have gone; the end if they parted."""
        self.end = len(function.instructions)
        self.at = np.where(exists, 0, self.end)
        self.waits: Mask = np.zeros(self.blocks * self.threads, dtype=np.bool_)
        self.barriers: dict[_Barrier, list[int]] = {}
        self.ways: list[Counter[tuple[int, int]]] = [Counter() for _ in launches]
        self.most_steps = np.array(most_steps, dtype=np.int64)
        self.steps = np.zeros(self.blocks, dtype=np.int64)
        self.stopped: dict[int, tuple[str, type[Exception]]] = {}

    def trials(self, *, keeps_memory: bool) -> list[Trial]:
        """What each block did."""
        found: list[Trial] = []
        for block, ways in enumerate(self.ways):
            text, kind = self.stopped.get(block, ("", EndError))
            is_fault = kind is FaultError
            found.append(
                Trial(
                    self.kept.seen[block],
                    "" if is_fault else text,
                    text if is_fault else "",
                    int(self.steps[block] + self.code.steps[block]),
                    self.starts,
                    self.memory.of_block(block) if keeps_memory else NOTHING,
                    frozenset((*way, count.bit_length()) for way, count in ways.items()),
                    frozenset(self.code.compared[block]),
                    kind is CutOffError,
                )
            )
        return found

    def run(self) -> None:
        """Run until all threads are at the end, or their blocks cannot go on."""
        with np.errstate(over="ignore"):  # numbers wrap
            self._run()

    def _run(self) -> None:
        while np.count_nonzero(self.at < self.end):
            order = np.where(self.waits, self.end, self.order[self.at])
            first = int(order.min())
            if first == self.end:
                self._release()
            else:
                active = self._choose(order, first)
                self._run_group(int(self.at[active.argmax()]), active, self._next(order, active))

    def _choose(self, order: Array, first: int) -> Mask:
        """The threads that run next: those at the earliest instruction, which is `first`."""
        return order == first

    def _next(self, order: Array, active: Mask) -> int:
        """Where the earliest of the other threads are: the active ones go on until they come there."""
        return int(np.where(active, self.end, order).min()) if self.is_alone else 0

    def _lanes_of(self, active: Mask) -> Lanes:
        """The lanes of the warps that have active threads."""
        which: Mask = np.logical_or.reduce(active.reshape(-1, LANES), axis=1)
        return self.lanes.of_warps(which) if self.is_alone else self.lanes

    def _run_group(self, at: int, active: Mask, until: int) -> None:
        """Run threads from an instruction on as long as all stay together, and no others are at an earlier one."""
        lanes = self._lanes_of(active)
        self.code.turn_to(lanes)
        mine = lanes.part(active)
        mine = lanes.everything if np.count_nonzero(mine) == lanes.threads else mine
        room, here = 0, lanes.blocks_of(mine)
        while True:
            needs = self.needs[self.flow.block_of[at]]
            if room < needs:
                room = int((self.most_steps - self.steps - self.code.steps)[here].min())
            at = self._together(at, lanes, mine, here, may_be_cut_off=room < needs)
            if self.order_of[at] >= until:
                return
            room -= needs

    def _together(self, at: int, lanes: Lanes, active: Mask, here: list[int], *, may_be_cut_off: bool) -> int:
        """Run threads from an instruction to the end of its block, or to a barrier.

        Returns the instruction where all of them are then; the end if some are elsewhere, wait, or ended.
        """
        block, started = self.flow.blocks[self.flow.block_of[at]], active
        counted = at
        for index in range(at, block.stop):
            instruction, kind, left = self.function.instructions[index], self.kinds[index], active
            if may_be_cut_off:
                self.steps[here] += index + 1 - counted
                counted = index + 1
                left = self._try(partial(self._count_steps, lanes), lanes, active)
            if kind is Kind.PLAIN and (left is active or left.any()):
                try:
                    self.code.run(instruction, left)
                except (StopError, PtxError) as error:
                    left = self._go_on_without(error, partial(self.code.run, instruction), lanes, left)
                if left is active:
                    continue
            elif kind is Kind.JUMP and left is active:
                break
            self.steps[here] += index + 1 - counted
            counted = index + 1
            if kind is not Kind.PLAIN and kind is not Kind.JUMP:
                self._try(partial(self._stand, instruction, block, kind, lanes), lanes, left)
                return self.end
            active, here = left, lanes.blocks_of(left)
            if not here:
                return self.end
        self.steps[here] += block.stop - counted
        self.went = self.end
        left = self._try(partial(self._leave, block, lanes), lanes, active)
        return self.went if left is started else self.end

    def _try(self, work: Callable[[Mask], None], lanes: Lanes, active: Mask) -> Mask:
        """Do something with threads; returns the threads of the blocks that go on.

        It is done again without the blocks that cannot go on.
        """
        try:
            work(active)
        except (StopError, PtxError) as error:
            return self._go_on_without(error, work, lanes, active)
        return active

    def _go_on_without(self, error: Exception, work: Callable[[Mask], None], lanes: Lanes, active: Mask) -> Mask:
        """Stop the blocks that cannot go on, and do it again with the threads of the others, which are returned."""
        threads = error.threads if isinstance(error, StopError) else None
        blocks = lanes.block_of[active] if threads is None else threads // self.threads
        for block in np.unique(blocks).tolist():
            self._stop(block, error)
        left = active & (lanes.part(self.at) < self.end)
        return self._try(work, lanes, left) if left.any() else left

    def _stop(self, block: int, error: Exception) -> None:
        """A block ends before its end. The error is not held: its traceback would hold this machine."""
        self.stopped[block] = (error.message if isinstance(error, PtxError) else str(error), type(error))
        self.at[block * self.threads : (block + 1) * self.threads] = self.went = self.end
        self.waits[block * self.threads : (block + 1) * self.threads] = False
        self.barriers = {barrier: waiting for barrier, waiting in self.barriers.items() if barrier.block != block}

    def _count_steps(self, lanes: Lanes, active: Mask) -> None:
        over = self.steps + self.code.steps > self.most_steps
        if over.any() and (late := active & over[lanes.block_of]).any():
            raise CutOffError(_TOO_MANY_STEPS, lanes.numbers[late])

    def _stand(self, instruction: Instruction, block: Block, kind: Kind, lanes: Lanes, active: Mask) -> None:
        """An instruction behind which no thread goes on at once."""
        match kind:
            case Kind.BARRIER:
                self._wait(instruction, lanes.spread(active), block)
            case Kind.TRAP:
                raise FaultError("a trap is reached")
            case _:
                raise EndError(f"`{instruction.opcode}` is not followed")

    def _start(self, block: int) -> int:
        """The first instruction of a block; behind the last one for the end."""
        return self.flow.blocks[block].start if block < self.flow.exit else self.end

    def _leave(self, block: Block, lanes: Lanes, active: Mask) -> None:
        if not block.is_choice:
            self._jump(block, lanes, self._start(block.ways[0].target), active)
            return
        last = self.function.instructions[block.stop - 1]
        targets = targets_of(block, last, lanes, active, self._start)
        self._jump(block, lanes, targets, active)
        count_ways(self.ways, block, lanes, targets, active)
        if block.index in self.waiting:
            self._cut_off_waiting(block, lanes.spread(active))

    def _jump(self, block: Block, lanes: Lanes, targets: Array | int, active: Mask) -> None:
        if self.early is not None and self.early.may_be_behind(block):
            early = self.early.of(block, lanes.part(self.at), np.broadcast_to(targets, active.shape), active)
            if len(early):
                raise EndError(_EARLY_TRIP, lanes.numbers[early])
        place = lanes.place if active is lanes.everything else lanes.numbers[active]
        if isinstance(targets, int):
            self.at[place] = self.went = targets
        else:
            self.at[place] = targets[active]

    def _cut_off_waiting(self, block: Block, active: Mask) -> None:
        """Count the trips that are left to blocks whose threads all go on to wait, as if they were made."""
        here, goes_on = self.lanes.in_blocks(active), self.lanes.in_blocks(active & (self.at == block.start))
        for number in np.flatnonzero(here.any(axis=1) & (here == goes_on).all(axis=1)).tolist():
            left = int(self.most_steps[number] - self.steps[number] - self.code.steps[number])
            self.ways[number][block.index, block.start] += left // (block.stop - block.start)
            self.steps[number] += left + 1
            self._stop(number, CutOffError(_TOO_MANY_STEPS))

    # ---- barriers

    def _wait(self, instruction: Instruction, active: Mask, block: Block) -> None:
        reduces = REDUCTION.fullmatch(instruction.opcode) is not None
        named = instruction.operands[1:-1] if reduces else instruction.operands
        numbers = [each.value for each in named if isinstance(each, Immediate)]
        if instruction.guard is not None or len(numbers) != len(named) or len(numbers) > 2 or (reduces and not numbers):
            raise EndError("a barrier's number is not known")
        here, live = active.reshape(-1, LANES), (self.at < self.end).reshape(-1, LANES)
        coming = np.flatnonzero(here.any(axis=1))
        parted = (here[coming] != live[coming]).any(axis=1)
        if parted.any():
            raise EndError("some lanes of a warp wait at a barrier, and others do not", coming[parted] * LANES)
        behind = instruction.index + 1
        self.at[active] = behind if behind < block.stop else self._start(block.ways[0].target)
        self.waits |= active
        number, count = (*numbers, 0)[0], numbers[1] if len(numbers) == 2 else None
        reduction = instruction if reduces else None
        for warp in coming.tolist():
            self.barriers.setdefault(_Barrier(warp // self.warps, number, count, reduction), []).append(warp)

    def _release(self) -> None:
        """Let those go on that all wait for one barrier; in each block that is left all warps wait."""
        left = (self.at < self.end).reshape(-1, LANES).any(axis=1)
        waits = self.waits.reshape(-1, LANES)
        counts = (left | waits.any(axis=1)).reshape(self.blocks, -1).sum(axis=1)
        for block in np.flatnonzero(left.reshape(self.blocks, -1).any(axis=1)).tolist():
            full = [
                barrier
                for barrier, waiting in self.barriers.items()
                if barrier.block == block and len(waiting) * LANES == (barrier.count or counts[block] * LANES)
            ]
            if not full:
                self._stop(block, EndError("warps wait for a barrier that the others do not come to"))
            for barrier in full:
                waiting = self.barriers.pop(barrier)
                if barrier.reduction is not None:
                    active = np.zeros((self.blocks * self.warps, LANES), dtype=np.bool_)
                    active[waiting] = (self.at < self.end).reshape(-1, LANES)[waiting]
                    reduce_at_barrier(barrier.reduction, self.lanes, active.reshape(-1))
                waits[waiting] = False

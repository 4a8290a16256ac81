"""A launch with a clock for each thread: which accesses to shared memory nothing orders.

The machine runs lanes of a warp together, but this orders nothing here: two accesses are ordered by the program
of one thread, by barriers of the block, and by barriers of a warp. An asynchronous copy is in flight until its
own thread waits for it, and for other threads until the barrier behind that wait. So one run shows the
races of every schedule in which all threads take the same branches.

A run ends where order comes from something that is not followed: barriers of a part of the block, barrier
objects, bulk copies, loads and stores with acquire or release.

Source: PTX ISA, Memory Consistency Model; docs/semantics.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments, Field
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.flow import Block, FlowError
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import Witness
from swzverify.compiled.ptx import Function, Instruction, Module, Operand
from swzverify.compiled.trial.code import CutOffError, EndError
from swzverify.compiled.trial.exchange import REDUCTION, reduce_at_barrier
from swzverify.compiled.trial.history import History, Sides, Unordered
from swzverify.compiled.trial.launch import GRID, Data, Launch, Launcher, Plan
from swzverify.compiled.trial.lockstep import LockstepHistory
from swzverify.compiled.trial.machine import Kind, Machine, kind_of
from swzverify.compiled.trial.memory import Array, LimitError, Mask
from swzverify.compiled.trial.recorder import Recorder
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr

STEPS: Final = 20_000
"""Instructions of one run, each for all warps that are there."""
STEPS_OF_WITNESS: Final = 2_000
"""Instructions of a run that looks for one witness. The run ends when it has shown the race."""
DYNAMIC_BYTES: Final = 48 << 10
"""Dynamic shared memory of a launch for which none is given."""
_PLANS: Final = (
    Plan((4, 8), (Data.SMALL,)),
    Plan((64,), (Data.SMALL,)),
    Plan((1,), (Data.UP,)),
)
"""What a witness does not say of a launch, in the order in which it is tried."""
_WARP_BARRIER: Final = "bar.warp.sync"
_EVERY_LANE: Final = (1 << LANES) - 1
_OF_PARAMETER: Final = re.compile(r"(.+)\+(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Missed:
    """A barrier at which one thread waits, and to which another one does not come.

    Attributes:
        line: The line of the PTX.
        waiting: The number of the thread that waits.
        absent: The number of the thread that does not come.
    """

    line: int
    waiting: int
    absent: int


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run shows of the order of accesses to shared memory.

    Attributes:
        races: The unordered pairs, one for each two lines.
        missed: The barriers that not all threads reach.
        ended: Why the run ended early, or which of its values are not known. Empty if it shows all pairs of its launch.
        is_cut_off: Whether it would go on with more steps.
    """

    races: tuple[Unordered, ...]
    missed: tuple[Missed, ...]
    ended: str
    is_cut_off: bool = False


def replay(
    module: Module,
    function: Function,
    launch: Launch,
    most_steps: int = STEPS,
    wanted: Sides | None = None,
    *,
    lockstep: bool = False,
) -> Replay:
    """Run one block of a launch; `function` has its calls inlined.

    With `wanted`, accesses of these two threads alone are compared, and the run ends when it has this pair. With
    `lockstep`, the lanes of a warp run each instruction together, and each instruction before the next one.
    """
    try:
        machine = _Clocked(module, function, launch, most_steps, wanted, lockstep=lockstep)
    except (FlowError, LimitError) as error:
        return Replay((), (), str(error))
    machine.run()
    return machine.result()


def replayed(
    module: Module,
    function: Function,
    block: BlockShape,
    witness: Witness,
    lines: tuple[int, int],
    arguments: Arguments = NO_ARGUMENTS,
    conditions: tuple[Expr, ...] = (),
    smem: int | None = None,
    *,
    lockstep: bool = False,
) -> bool:
    """Whether a launch with the values of a witness has the race between accesses at two lines.

    The two threads have to share a byte there. It need not be the byte of the witness. Values that neither the
    witness nor `arguments` give are made up, within the `conditions` on bytes of parameters.

    Args:
        module: The module of the kernel.
        function: The kernel, with or without its calls inlined.
        block: The shape of the block.
        witness: The threads, and values by name: `NAME+OFFSET:BYTES` or `NAME` for a parameter, `ctaid.x`,
            `nctaid.x` and so on for the place and the shape of the grid.
        lines: The lines of the PTX of the two accesses, in the order of the threads.
        arguments: What is given of every launch.
        conditions: What holds of every launch.
        smem: The bytes of dynamic shared memory.
        lockstep: Whether the lanes of a warp run each instruction together.

    Returns:
        Whether a run shows the pair. False does not show that there is no race.
    """
    if function.tuning.cluster not in (None, (1, 1, 1)):
        # A run is a block alone, which is no cluster of several.
        return False
    whole = inlined(module, function).function
    values = dict(witness.parameters)
    launcher = Launcher(
        whole, block, DYNAMIC_BYTES if smem is None else smem, _arguments(whole, values, arguments), conditions
    )
    one, other = sorted(zip(lines, witness.threads, strict=True))
    wanted = one, other
    for plan in _PLANS:
        launch = launcher.launch(_placed(plan, values), 0)
        if launch is None:
            continue
        found = replay(module, whole, launch, STEPS_OF_WITNESS, wanted, lockstep=lockstep)
        if any(each.sides == wanted for each in found.races):
            return True
        if found.is_cut_off:
            break
    return False


def missed_barriers(
    module: Module,
    function: Function,
    block: BlockShape,
    arguments: Arguments = NO_ARGUMENTS,
    conditions: tuple[Expr, ...] = (),
    smem: int | None = None,
) -> frozenset[int]:
    """The lines of the barriers that some threads miss in one of a few launches; arguments as of `replayed`."""
    if function.tuning.cluster not in (None, (1, 1, 1)):
        return frozenset()
    whole = inlined(module, function).function
    launcher = Launcher(whole, block, DYNAMIC_BYTES if smem is None else smem, arguments, conditions)
    launches = (launcher.launch(plan, 0) for plan in _PLANS)
    runs = (replay(module, whole, launch) for launch in launches if launch is not None)
    return frozenset(each.line for run in runs for each in run.missed)


def _arguments(function: Function, values: Mapping[str, int], given: Arguments) -> Arguments:
    """What is given, with the parameters and the grid of a witness."""
    known = dict(given.known)
    for name, value in values.items():
        part = _OF_PARAMETER.fullmatch(name)
        parameter = function.parameter(part[1] if part else name)
        if parameter is not None:
            offset, size = (int(part[2]), int(part[3])) if part else (0, parameter.size_bytes or 0)
            if given.value(parameter.name, offset, size) is None:
                known[parameter.name] = (*known.get(parameter.name, ()), Field(offset, size, value % (1 << 8 * size)))
    grid = given.grid
    if grid is None and any(_of_axis(values, "nctaid", axis) is not None for axis in "xyz"):
        x, y, z = (_of_axis(values, "nctaid", axis) or 1 for axis in "xyz")
        grid = (x, y, z)
    return Arguments(known, given.whole, grid)


def _placed(plan: Plan, values: Mapping[str, int]) -> Plan:
    """A plan with the block of the grid that a witness names."""
    x, y, z = (_of_axis(values, "ctaid", axis) or 0 for axis in "xyz")
    across, along, up = (max(most, at + 1) for most, at in zip(GRID, (x, y, z), strict=True))
    return Plan(plan.numbers, plan.data, (x, y, z), plan.seed, plan.reals, (across, along, up))


def _of_axis(values: Mapping[str, int], name: str, axis: str) -> int | None:
    return values.get(f"{name}.{axis}", values.get(f"%{name}.{axis}"))


class _Clocked(Machine):
    """One block, whose threads wait one by one."""

    def __init__(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        most_steps: int,
        wanted: Sides | None,
        *,
        lockstep: bool,
    ) -> None:
        super().__init__(module, function, [launch], frozenset(), [most_steps], None)
        self.wanted = wanted
        self.history = (LockstepHistory if lockstep else History)(
            self.threads, None if wanted is None else frozenset(thread for _, thread in wanted)
        )
        self.recorder = Recorder(self.lanes, self.memory, self.history)
        self.code = self.recorder
        self.size = prod(launch.block)
        self.stands = np.zeros(self.threads, dtype=np.int64)
        self.numbers = np.zeros(self.threads, dtype=np.int64)
        self.of_warp = np.zeros(self.threads, dtype=np.bool_)
        self.leading: dict[int, frozenset[int]] = {}
        self.missed: dict[int, Missed] = {}

    def result(self) -> Replay:
        """What the run showed."""
        self.history.look()
        ended, kind = self.stopped.get(0, (self.recorder.lost, EndError))
        races = tuple(self.history.found.values())
        return Replay(races, tuple(self.missed.values()), ended, kind is CutOffError)

    def kinds(self, opcode: str) -> Kind:
        """Lanes wait at barriers of a warp, too."""
        return Kind.BARRIER if opcode == _WARP_BARRIER else kind_of(opcode)

    def _wait(self, instruction: Instruction, active: Mask, block: Block) -> None:
        """Threads wait whose guard holds; others go on."""
        waiting = active
        if (guard := instruction.guard) is not None:
            holds, known = self.lanes.read(guard.register, 1)
            if (active & ~known).any():
                raise EndError("a guard is not known")
            waiting = active & ((holds == 0) if guard.negated else (holds != 0))
        is_warp = instruction.opcode == _WARP_BARRIER
        named = instruction.operands[1:-1] if _reduces(instruction) else instruction.operands
        numbers = [self._number(each, waiting) for each in named]
        if not numbers:
            numbers = [np.full(self.threads, _EVERY_LANE if is_warp else 0, dtype=np.int64)]
        if len(numbers) > 1 and (numbers[1][waiting] != -(-self.size // LANES) * LANES).any():
            raise EndError("a barrier of a part of the block is not followed")
        behind = instruction.index + 1
        self.at[active] = behind if behind < block.stop else self._start(block.ways[0].target)
        self.waits |= waiting
        self.stands[waiting], self.of_warp[waiting] = instruction.index, is_warp
        self.numbers[waiting] = numbers[0][waiting]

    def _number(self, operand: Operand, waiting: Mask) -> Array:
        values, known = self.lanes.read(operand, 32)
        if (waiting & ~known).any():
            raise EndError("a barrier's number is not known")
        return values

    def _release(self) -> None:
        """Let the lanes of a warp go on, else all threads of the block; each that is left waits."""
        alive = self.waits | (self.at < self.end)
        if self._release_warps(alive):
            return
        waiting = np.flatnonzero(self.waits)
        whole = self.waits & ~self.of_warp
        if (alive & ~whole).any() or len(np.unique(self.numbers[waiting])) != 1:
            self._miss_stuck(alive)
            self._stop(0, EndError("threads wait for a barrier that the others do not come to"))
            return
        self._miss_parted(waiting)
        self._miss_ended(waiting, ~alive)
        self.recorder.touched.clear()
        numbers: list[int] = np.unique(self.stands[waiting]).tolist()
        places = [self.function.instructions[each] for each in numbers]
        if any(map(_reduces, places)):
            if len(places) > 1:
                self._stop(0, EndError("threads reduce a predicate at several instructions"))
                return
            reduce_at_barrier(places[0], self.lanes, self.waits.copy())
        self.waits[:] = False
        self.history.block_barrier()
        if any(each.sides == self.wanted for each in self.history.found.values()):
            self._stop(0, EndError("it has shown the pair"))

    def _release_warps(self, alive: Mask) -> bool:
        """Let lanes go on whose warp's barrier is complete: whether there are any."""
        found = False
        for warp in np.unique(np.flatnonzero(self.waits & self.of_warp) // LANES).tolist():
            here = slice(warp * LANES, (warp + 1) * LANES)
            waits, masks = self.waits[here] & self.of_warp[here], self.numbers[here]
            for mask in np.unique(masks[waits]).tolist():
                named = (mask >> np.arange(LANES) & 1 != 0) & alive[here]
                if (named & ~(waits & (masks == mask))).any() or not named.any():
                    continue
                found = True
                threads = warp * LANES + np.flatnonzero(named)
                self.waits[threads] = False
                self.history.warp_barrier(threads)
        return found

    def _miss(self, waiting: int, absent: int) -> None:
        index = int(self.stands[waiting])
        self.missed.setdefault(index, Missed(self.function.instructions[index].line, waiting, absent))

    def _miss_parted(self, waiting: Array) -> None:
        """Threads stand at several barriers, and one of these needs them all at the same one."""
        places: list[int] = np.unique(self.stands[waiting]).tolist()
        if len(places) > 1 and any(_is_aligned(self.function.instructions[each]) for each in places):
            for place in places:
                here = self.stands[waiting] == place
                self._miss(int(waiting[here][0]), int(waiting[~here][0]))

    def _miss_ended(self, waiting: Array, ended: Mask) -> None:
        """Threads ended behind an access from which no path leads to the barrier: they do not count as arrived."""
        places: list[int] = np.unique(self.stands[waiting]).tolist()
        behind = [self._leading_to(each) for each in places]
        for index, threads in self.recorder.touched.items():
            absent = np.flatnonzero(threads & ended)
            block = self.flow.block_of[index]
            leads = any(
                block in blocks or (block == self.flow.block_of[place] and index < place)
                for place, blocks in zip(places, behind, strict=True)
            )
            if len(absent) and not leads:
                self._miss(int(waiting[0]), int(absent[0]))

    def _leading_to(self, place: int) -> frozenset[int]:
        """The blocks at whose end a path to an instruction begins."""
        if place not in self.leading:
            found: set[int] = set()
            wanted = {self.flow.block_of[place]}
            while wanted:
                before = {block.index for block in self.flow.blocks if any(way.target in wanted for way in block.ways)}
                wanted = before - found
                found |= before
            self.leading[place] = frozenset(found)
        return self.leading[place]

    def _miss_stuck(self, alive: Mask) -> None:
        """Nobody can go on: each barrier lacks a thread that waits elsewhere."""
        waiting = np.flatnonzero(alive)
        for thread in waiting.tolist():
            alike = (self.of_warp == self.of_warp[thread]) & (self.numbers == self.numbers[thread])
            if self.of_warp[thread]:
                named = self.numbers[thread] >> (waiting % LANES) & 1 != 0
                others = waiting[(waiting // LANES == thread // LANES) & named & ~alike[waiting]]
            else:
                others = waiting[~alike[waiting]]
            if len(others):
                self._miss(thread, int(others[0]))


def _reduces(instruction: Instruction) -> bool:
    """Whether a barrier makes something of a predicate of each thread."""
    return REDUCTION.fullmatch(instruction.opcode) is not None


def _is_aligned(instruction: Instruction) -> bool:
    """Whether all threads have to execute a barrier of the block at one place."""
    words = instruction.opcode.split(".")
    return words[0] == "bar" or "aligned" in words

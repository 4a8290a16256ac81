"""Launches with a clock for each thread: which accesses to shared memory nothing orders.

The machine runs lanes of a warp together, but this orders nothing here: two accesses are ordered by the program
of one thread, and by what threads know of one another, from barriers, mbarrier objects, release and acquire. An
asynchronous access is in flight until its thread waits for it, or the phase of an mbarrier object is complete. So
one run shows the races of every schedule in which all threads take the same branches.

A run ends where order or bytes come from something that is not followed: barriers of a cluster, `st.async`,
`tcgen05`, and copies by a tensor map, but in a search. What it showed until then counts.

Source: PTX ISA, Memory Consistency Model; docs/semantics.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments, Field
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import Witness
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.trial.clocked import Clocked, depends_on_others
from swzverify.compiled.trial.launch import GRID, ONE_BLOCK, Data, Launch, Launcher, Plan
from swzverify.compiled.trial.memory import LimitError
from swzverify.compiled.trial.misses import Replay
from swzverify.compiled.trial.placement import Placement
from swzverify.compiled.trial.touches import Sides
from swzverify.ir.expr import Expr

STEPS: Final = 20_000
"""Instructions of one run, each for all warps that are there."""
STEPS_OF_WITNESS: Final = 2_000
"""Instructions of a run that looks for one witness. The run ends when it has shown the race."""
DYNAMIC_BYTES: Final = 48 << 10
"""Dynamic shared memory of a launch where none is given: what every launch may have.

Source: CUDA Programming Guide 13, 5.1.3, table 31: more has to be asked for.
"""
_MOST_ALONE: Final = 12
"""Pairs that are run alone where a run with all of them compares too few accesses."""
STEPS_OF_SEARCH: Final = 12_000
"""Instructions of all runs that look for any race of one kernel."""
_SEARCHED: Final = (
    Plan((4, 8), (Data.SMALL,)),
    Plan((7,), (Data.ANY,)),
    Plan((64, 32), (Data.UP,)),
    Plan((2, 3), (Data.BYTES,), grid=ONE_BLOCK),
    Plan((3,), (Data.SMALL,), (1, 0, 0)),
    Plan((1,), (Data.ZERO,)),
)
"""Launches in which any race is looked for."""
_WITHOUT_BUFFERS: Final = Plan((1,), (Data.NONE,))
_PLANS: Final = (
    Plan((4, 8), (Data.SMALL,)),
    Plan((64,), (Data.SMALL,)),
    Plan((1,), (Data.UP,)),
)
"""What a witness does not say of a launch, in the order in which it is tried."""
_ROUND: Final = Plan((128,), (Data.SMALL,))
"""The last launch, if all others have a fault: code for large tiles may need whole ones."""
Shown: TypeAlias = tuple[Witness, tuple[int, int]]
"""A witness and the lines of its accesses."""


class Outcome(IntEnum):
    """What runs show of two accesses.

    - `NOTHING`: no byte that both touch without an order.
    - `ONE_VALUE`: such a byte, which both may write with one value.
    - `RACE`: such a byte, which one of them reads, or to which they write two values.
    """

    NOTHING = 0
    ONE_VALUE = 1
    RACE = 2


_OF_PARAMETER: Final = re.compile(r"(.+)\+(\d+):(\d+)")


def replay(
    module: Module,
    function: Function,
    launch: Launch,
    most_steps: int = STEPS,
    wanted: frozenset[Sides] | None = None,
    *,
    is_late: bool = False,
    lockstep: bool = False,
    follows_boxes: bool = False,
) -> Replay:
    """Run one block of a launch; `function` has its calls inlined.

    With `wanted`, accesses of these threads alone are compared, and the run ends when it has these pairs. With
    `is_late`, the warps run first that have come furthest in the code; else those that are furthest behind. With
    `lockstep`, the lanes of a warp run each instruction together, and each instruction before the next one. With
    `follows_boxes` the run goes on at copies of boxes of tensor maps.
    """
    try:
        machine = Clocked(
            module,
            function,
            launch,
            most_steps,
            wanted,
            is_late=is_late,
            lockstep=lockstep,
            follows_boxes=follows_boxes,
        )
    except (FlowError, LimitError) as error:
        return Replay((), frozenset(), str(error))
    machine.run()
    machine.memory.release()
    return machine.result()


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a launch, and what it shows.

    Attributes:
        found: What it shows.
        launch: The launch.
        values: What the launch has that nobody gave, and that may matter; no pointers.
        placement: Where it has its arrays.
    """

    found: Replay
    launch: Launch
    values: tuple[tuple[str, int], ...]
    placement: Placement

    @property
    def is_stopped(self) -> bool:
        """Whether threads wait for ever in it, or misuse a barrier object."""
        return bool(self.found.hangs) or self.found.misuse is not None


@dataclass(frozen=True, slots=True)
class Launches:
    """The launches of a kernel that may be run; what nobody gives of them is made up.

    Attributes:
        module: The module of the kernel.
        function: The kernel, with or without its calls inlined.
        block: The shape of the block.
        arguments: What is given of every launch.
        conditions: What holds of the bytes of parameters in every launch.
        smem: The bytes of dynamic shared memory; None if not given.
        lockstep: Whether the lanes of a warp run each instruction together.
    """

    module: Module
    function: Function
    block: BlockShape
    arguments: Arguments = NO_ARGUMENTS
    conditions: tuple[Expr, ...] = ()
    smem: int | None = None
    lockstep: bool = False

    @property
    def has_boxes(self) -> bool:
        """Whether the kernel copies boxes of tensor maps."""
        return any(".bulk.tensor." in each.opcode for each in self._whole().instructions)

    def replayed(
        self, asked: Sequence[Shown], most_steps: int = STEPS_OF_WITNESS, *, follows_boxes: bool = False
    ) -> list[Outcome]:
        """What launches with the values of witnesses show of their races between accesses at two lines.

        The two threads have to share a byte there. It need not be the byte of the witness. Witnesses with the same
        values have the same launches.

        Args:
            asked: The witnesses, which have threads, and values by name: `NAME+OFFSET:BYTES` or `NAME` for a
                parameter, `ctaid.x`, `nctaid.x` and so on for the place and the shape of the grid. With each, the
                lines of the PTX of the two accesses, in the order of the threads.
            most_steps: Instructions of a run.
            follows_boxes: Whether runs go on at copies of boxes of tensor maps, of which the bytes are assumed.

        Returns:
            What runs show of each pair. `NOTHING` does not show that there is no race.
        """
        groups: dict[tuple[tuple[str, int], ...], set[Sides]] = {}
        sides = [_sides(witness, lines) for witness, lines in asked]
        for (witness, _), both in zip(asked, sides, strict=True):
            groups.setdefault(witness.parameters, set()).add(both)
        found = {
            values: self._found(dict(values), frozenset(wanted), most_steps, follows_boxes=follows_boxes)
            for values, wanted in groups.items()
        }
        return [found[witness.parameters][both] for (witness, _), both in zip(asked, sides, strict=True)]

    def _found(
        self, values: Mapping[str, int], wanted: frozenset[Sides], most_steps: int, *, follows_boxes: bool
    ) -> Mapping[Sides, Outcome]:
        """What launches with some values show of some races."""
        whole, left, is_partial = self._whole(), wanted, False
        shown = dict.fromkeys(wanted, Outcome.NOTHING)
        has_faults = True
        for is_last, launch in self._launches(whole, _PLANS, values):
            if is_last and not has_faults:
                break
            found = replay(
                self.module, whole, launch, most_steps, left, lockstep=self.lockstep, follows_boxes=follows_boxes
            )
            has_faults = has_faults and found.is_fault
            # Where boxes come that nobody expects, the launch is none.
            for each in found.races if not (found.has_boxes and found.is_fault) else ():
                if each.sides in shown:
                    outcome = Outcome.RACE if each.is_harmful else Outcome.ONE_VALUE
                    shown[each.sides] = max(shown[each.sides], outcome)
            left = frozenset(each for each in left if shown[each] is not Outcome.RACE)
            is_partial = is_partial or found.is_partial
            if not left or found.is_cut_off:
                break
        if is_partial and len(wanted) > 1:
            # Alone, a pair has fewer accesses beside it, of which more are compared.
            for each in sorted(left)[:_MOST_ALONE]:
                alone = self._found(values, frozenset([each]), most_steps, follows_boxes=follows_boxes)
                shown[each] = max(shown[each], alone[each])
        return shown

    def missed_barriers(
        self, values: Iterable[tuple[tuple[str, int], ...]] = ()
    ) -> dict[int, tuple[tuple[str, int], ...]]:
        """The lines of the barriers that some threads miss in one of a few launches, with what was made up for it.

        `values` are those of further launches, by names as in `replayed`.
        """
        whole, found = self._whole(), dict[int, tuple[tuple[str, int], ...]]()
        for each in ((), *values):
            known, plans = dict(each), _PLANS[:1] if each else _PLANS
            launcher, has_faults = self._launcher(whole), True
            for is_last, launch in self._launches(whole, plans, known):
                if is_last and not has_faults:
                    break
                run = replay(self.module, whole, launch)
                has_faults = has_faults and run.is_fault
                found |= dict.fromkeys(run.missed - found.keys(), launcher.made_up(launch))
        return found

    def search(self) -> Iterator[Run]:
        """A few launches, as far as they are followed. One with a fault shows nothing.

        If all of them stop, one without buffers shows whether a null pointer prevents it.
        """
        every, stopped = set[str](), set[str]()
        has_buffers = False
        for run in self._searched(_SEARCHED):
            every.add(run.launch.words)
            if run.is_stopped:
                stopped.add(run.launch.words)
                has_buffers |= bool(run.launch.buffers)
            yield run
        if has_buffers and stopped == every:
            yield from self._searched([_WITHOUT_BUFFERS])

    def _searched(self, plans: Sequence[Plan]) -> Iterator[Run]:
        """The launches of some plans, with both orders of the warps."""
        whole, left = self._whole(), STEPS_OF_SEARCH
        launcher = self._launcher(whole)
        depends_on_order = any(map(depends_on_others, whole.instructions))
        has_races, has_faults = False, True
        for (is_last, launch), is_late in product(self._launches(whole, plans), (False, True)):
            if left <= 0 or (is_last and not has_faults):
                return
            if is_late and not depends_on_order and not has_races:
                continue  # every order of the warps gives this run
            try:
                machine = Clocked(
                    self.module, whole, launch, left, is_late=is_late, lockstep=self.lockstep, follows_boxes=True
                )
            except (FlowError, LimitError):
                return
            machine.run()
            machine.memory.release()
            left -= int(machine.steps[0] + machine.code.steps[0])
            found = machine.result()
            has_races = bool(found.races)
            if not found.is_fault:
                has_faults = is_last
                yield Run(found, launch, launcher.made_up(launch), Placement(self.module, whole, launch))

    def _whole(self) -> Function:
        return inlined(self.module, self.function).function

    def _launcher(self, whole: Function, values: Mapping[str, int] | None = None) -> Launcher:
        smem = DYNAMIC_BYTES if self.smem is None else self.smem
        return Launcher(whole, self.block, smem, _arguments(whole, values or {}, self.arguments), self.conditions)

    def _launches(
        self, whole: Function, plans: Sequence[Plan], values: Mapping[str, int] | None = None
    ) -> Iterator[tuple[bool, Launch]]:
        """The launches by some plans and by `_ROUND`, and whether it is this one.

        There are none of a cluster of several blocks, as a run is one block. With `values` of a witness, they are of
        its block of the grid.
        """
        if self.function.tuning.cluster in (None, (1, 1, 1)):
            launcher = self._launcher(whole, values)
            for plan in (*plans, _ROUND):
                made = launcher.launch(plan if values is None else _placed(plan, values), 0)
                if made is not None:
                    yield plan is _ROUND, made


def _sides(witness: Witness, lines: tuple[int, int]) -> Sides:
    one, other = sorted(zip(lines, witness.threads, strict=True))
    return one, other


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

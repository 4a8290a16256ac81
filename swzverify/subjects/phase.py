"""The order of accesses in a loop: what each thread of a block does, step by step.

Every thread runs the steps of `before` once, those of `steps` in each iteration, and those of `after` once.
What a step orders is said in `phase_order`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from swzverify.errors import SwzError
from swzverify.hardware import LANES, Kind
from swzverify.ir.whole import keep_whole
from swzverify.subjects.access import Access
from swzverify.subjects.loop import ANY_LIMIT, Loop, own_tuple
from swzverify.subjects.operand import Operand
from swzverify.subjects.role import ROOM, Barrier, Cycle, Named, Role, RoleStep
from swzverify.subjects.tile import Tile

WARPGROUP = 128
"""Threads that issue a `wgmma` together. Source: PTX ISA 9.2, "wgmma.mma_async": four contiguous warps."""
MAX_STEPS = 64
"""Steps of a phase; every pair of them can be a question."""
MAX_PENDING = 32
"""The largest `wait_group`; Source: CUTLASS uses stages - 1, and no ring that fits has more stages."""


class Sync(StrEnum):
    """A step that orders others and touches no memory; the value is its name in a spec."""

    BARRIER = "barrier"
    """Every thread of the block waits for every other one: `__syncthreads()`."""
    WARP = "syncwarp"
    """The lanes of each warp wait for one another: `__syncwarp()`."""
    COMMIT = "commit"
    """The thread's copies since its last commit become a group: `cp.async.commit_group`."""
    WAIT_ALL = "wait_all"
    """The thread waits for all its copies: `cp.async.wait_all`."""


@dataclass(frozen=True, slots=True)
class WaitGroup:
    """The thread waits for all its groups of copies but the `pending` newest: `cp.async.wait_group`."""

    pending: int

    def __post_init__(self) -> None:
        """Refuse what no instruction can wait for."""
        keep_whole(self, "wait_group", "pending")
        if not 0 <= self.pending <= MAX_PENDING:
            raise SwzError("SWZ105", f"wait_group leaves {self.pending} groups: 0 to {MAX_PENDING}")

    def __str__(self) -> str:
        """The step as a spec has it."""
        return f"wait_group {self.pending}"


@dataclass(frozen=True, slots=True)
class Bound:
    """The iteration of an access's loop that a step runs: `number`, plus the phase's own if it `follows`.

    `variable` is what the phase calls its own iteration. `is_stated` says that the step gives the value.

    >>> Bound("k", 2).at(5), Bound("k", 1, follows=False).at(5)
    (7, 1)
    """

    loop: str
    number: int = 0
    follows: bool = True
    variable: str = "i"
    is_stated: bool = False

    def at(self, iteration: int) -> int:
        """The iteration of the access's loop in an iteration of the phase."""
        return self.number + (iteration if self.follows else 0)

    def __str__(self) -> str:
        """The value in words, over the phase's variable."""
        if not self.follows:
            return str(self.number)
        return f"{self.variable} + {self.number}" if self.number else self.variable


@dataclass(frozen=True, slots=True)
class Proxy:
    """What an operation of the asynchronous proxy is: a bulk copy into a tile, or a `wgmma` that reads an operand.

    Attributes:
        name: What the step is called in a spec.
        tile: The tile whose bytes it touches.
        operand: What `wgmma` reads; None for a copy.
        barrier: The mbarrier at which the bytes of a copy count; None for `wgmma`.
        stage: Which of its objects; None for `wgmma`.
        bytes: How many bytes count there.
        thread: The thread that starts a copy.
    """

    name: str
    tile: Tile
    operand: Operand | None = None
    barrier: Barrier | None = None
    stage: Cycle | None = None
    bytes: int = 0
    thread: int = 0


@dataclass(frozen=True)
class Run:
    """A step in which every thread runs an access, in every iteration of those of its loops that are not bound.

    `role` is set by the phase: only the threads of the role run it. With `proxy` the threads only start an operation,
    and the lanes of `access` have the bytes that the operation touches.
    """

    access: Access
    bound: tuple[Bound, ...] = ()
    role: Role | None = None
    proxy: Proxy | None = None

    @property
    def subject(self) -> Access | Tile | Operand:
        """What the step names: an access, the tile that a copy writes, or the operand that `wgmma` reads."""
        proxy = self.proxy
        return self.access if proxy is None else proxy.operand or proxy.tile

    @property
    def writes(self) -> bool:
        """Whether it changes shared memory."""
        return not self.access.instruction.kind.loads

    @property
    def starting(self) -> list[int]:
        """Of an operation the thread that starts it; of `wgmma` the first thread of each warp group of the role."""
        if self.proxy is None or self.role is None:
            return []
        if self.proxy.barrier is not None:
            return [self.proxy.thread]
        return list({thread // WARPGROUP: thread for thread in reversed(self.role.threads)}.values())[::-1]

    @property
    def is_copy(self) -> bool:
        """Whether it only starts copies, which the thread has to wait for."""
        return self.access.instruction.kind is Kind.CP_ASYNC

    @property
    def is_of_warp(self) -> bool:
        """Whether the lanes of a warp touch memory together: no byte belongs to one lane."""
        return self.access.instruction.kind.moves_matrices

    @property
    def follows(self) -> Bound | None:
        """The bound of the loop that goes on with the phase's iterations; None if there is none."""
        return next((each for each in self.bound if each.follows), None)

    @property
    def room(self) -> int:
        """The iterations of the phase, from 0, in which the access exists; 0 if there is none."""
        limits = {loop.name: limit for loop, limit in zip(self.access.loops, self.access.loop_limits, strict=True)}
        rooms = [limits[each.loop] - each.number if each.follows else ANY_LIMIT for each in self.bound]
        return max(0, min([ANY_LIMIT if self.role is None else ROOM, *rooms]))

    def __str__(self) -> str:
        """The step in words."""
        if self.proxy is not None:
            return self.proxy.name
        given = [f"{each.loop}: {each}" for each in self.bound if each.is_stated]
        return self.access.name + (f" at {{{', '.join(given)}}}" if given else "")


Step: TypeAlias = Run | Sync | WaitGroup | RoleStep


class Part(StrEnum):
    """Where a step stands."""

    BEFORE = "before"
    STEPS = "steps"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Place:
    """A step of a phase: the list that it stands in, and its place there from 0."""

    part: Part
    index: int


@dataclass(frozen=True, eq=False)
class Phase:
    """A loop with the order of its accesses.

    Attributes:
        name: The name.
        loop: The loop, from 0 in steps of 1; None for steps that run once.
        steps: What each thread does in each iteration, in order.
        before: What each thread does before the loop; None if nothing is said of it.
        after: What each thread does after the loop; None if nothing is said of it.
        roles: The roles, whose steps stand one after the other in `steps`; none if all threads run all steps.

    Raises:
        SwzError: SWZ104 without an access, SWZ105 for steps that no block of threads can run or that
            nothing relates, SWZ107 for too many steps, SWZ409 for an access to global memory.
    """

    name: str
    loop: Loop | None
    steps: tuple[Step, ...]
    before: tuple[Step, ...] | None = None
    after: tuple[Step, ...] | None = None
    roles: tuple[Role, ...] = ()

    def __post_init__(self) -> None:
        """Refuse steps that do not fit together."""
        for part in Part:
            steps = getattr(self, part.value)
            if steps is not None:
                object.__setattr__(self, part.value, own_tuple(f"phase {self.name}", part.value, steps))
        for role in self.roles:
            for part in Part:
                steps, (first, end) = self.part(part), getattr(role, part.value)
                own = [replace(each, role=role) if isinstance(each, Run) else each for each in steps[first:end]]
                if own:
                    object.__setattr__(self, part.value, (*steps[:first], *own, *steps[end:]))
        if self.loop is not None and (self.loop.start, self.loop.step) != (0, 1):
            self._refuse(f"its loop is {self.loop.describe(1)}", "a phase counts its iterations: `for: {i: any}`")
        if not any(True for _ in self.runs):
            raise SwzError("SWZ104", f"phase {self.name} has no access among its steps", hint="name one of `accesses:`")
        if sum(len(self.part(part)) for part in Part) > MAX_STEPS:
            raise SwzError("SWZ107", f"phase {self.name} has more than {MAX_STEPS} steps", hint="split it")
        for place, run in self.runs:
            self._check_run(place.part, run)
        blocks = {run.access.name: run.access.threads for _, run in self.runs if run.proxy is None}
        if len(set(blocks.values())) > 1:
            told = ", ".join(f"{name} has {count}" for name, count in blocks.items())
            self._refuse(
                f"its accesses have different numbers of threads: {told}",
                "give each the threads of the whole block, and leave threads out with `if:`",
            )
        self._check_roles()

    @property
    def threads(self) -> int:
        """The threads of the block, as far as the phase says it."""
        ends = [role.ranges[-1][1] for role in self.roles if role.ranges]
        return next((run.access.threads for _, run in self.runs if run.proxy is None), max(ends, default=0))

    def _check_roles(self) -> None:
        """Refuse roles that share threads, and steps that no role can have."""
        taken = dict[int, str]()
        for role in self.roles:
            if not role.count or role.ranges[-1][1] > self.threads:
                self._refuse(f"role {role.name} has no thread of the {self.threads}", f"its threads are `{role.text}`")
            for thread in role.threads:
                if thread in taken:
                    self._refuse(
                        f"thread {thread} has the roles {taken[thread]} and {role.name}",
                        "each thread has at most one role",
                    )
                taken[thread] = role.name
        for step in [step for part in Part for step in self.part(part)]:
            is_shared = isinstance(step, Run | WaitGroup | Sync) and not (
                isinstance(step, Run) and step.proxy is not None
            )
            if not self.roles and not is_shared:
                self._refuse(f"the step {step} is no step of a phase without roles", "state `roles:`")
            if not self.roles:
                continue
            if (is_shared and not isinstance(step, Run) and step is not Sync.WARP) or (
                isinstance(step, Run) and step.is_copy
            ):
                self._refuse(
                    f"the step {step} of a role is not modelled",
                    "a role accesses memory, waits at barriers of the phase and arrives there",
                )
        counts = dict[int, int]()
        for role in self.roles:
            for part in Part:
                for step in self.part(part)[slice(*getattr(role, part.value))]:
                    self._check_whole(role, step)
                    if isinstance(step, Named) and counts.setdefault(step.number, step.threads) != step.threads:
                        self._refuse(
                            f"barrier {step.number} is used with {counts[step.number]} and {step.threads} threads",
                            "all threads that meet at a barrier name one number of threads",
                        )

    def _check_whole(self, role: Role, step: Step) -> None:
        """Refuse a step for whole warps or warp groups in a role that has parts of them."""
        what, size = "", LANES
        if isinstance(step, Run) and step.proxy is not None and step.proxy.barrier is None:
            what, size = str(step), WARPGROUP
        elif isinstance(step, Named) or (isinstance(step, Run) and step.is_of_warp):
            what = step.access.name if isinstance(step, Run) else str(step)
        if what and any(end % size for each in role.ranges for end in each):
            of = "warps" if size == LANES else f"warp groups of {WARPGROUP} threads"
            self._refuse(f"{what} needs whole {of}", f"give role {role.name} whole {of}")

    def role_at(self, place: Place) -> Role | None:
        """The role that a step belongs to; None where all threads run it."""
        for role in self.roles:
            first, end = getattr(role, place.part.value)
            if first <= place.index < end:
                return role
        return None

    def part(self, part: Part) -> tuple[Step, ...]:
        """The steps of one list; none if nothing is said of it."""
        return getattr(self, part.value) or ()

    def at(self, place: Place) -> Step:
        """The step at a place."""
        return self.part(place.part)[place.index]

    def run_at(self, place: Place) -> Run:
        """The access that runs at a place."""
        step = self.at(place)
        assert isinstance(step, Run)  # noqa: S101 - who asks has looked
        return step

    @property
    def runs(self) -> Iterator[tuple[Place, Run]]:
        """Every step that is an access, with its place."""
        for part in Part:
            for index, step in enumerate(self.part(part)):
                if isinstance(step, Run):
                    yield Place(part, index), step

    @property
    def count(self) -> int | None:
        """The number of iterations; None for any number."""
        return 1 if self.loop is None else self.loop.count

    @property
    def variable(self) -> str:
        """What an iteration is called in counterexamples."""
        return "i" if self.loop is None else self.loop.name

    def describe(self, place: Place) -> str:
        """A step in words."""
        where = "" if place.part is Part.STEPS else f" of `{place.part.value}`"
        role, index = self.role_at(place), place.index + 1
        if role is not None:
            where, index = f"{where} of {role.name}", index - getattr(role, place.part.value)[0]
        return f"{self.at(place)} (step {index}{where})"

    def _refuse(self, what: str, hint: str) -> None:
        raise SwzError("SWZ105", f"phase {self.name}: {what}", hint=hint)

    def _check_run(self, part: Part, run: Run) -> None:
        """Refuse what is not known of one access: its memory, its stage, its iterations."""
        access = run.access
        if access.instruction.is_global:
            raise SwzError(
                "SWZ409",
                f"phase {self.name}: {access.instruction.name} of access {access.name} goes to global memory, and "
                "phases order accesses to shared memory",
                hint="leave it out",
            )
        if access.tile is not None and access.tile.stages > 1 and access.stage is None:
            self._refuse(
                f"access {access.name} does not say which of the {access.tile.stages} stages of tile "
                f"{access.tile.name} it touches",
                "give the access a `stage:`, such as `stage: i%" + f"{access.tile.stages}`",
            )
        for each in run.bound:
            self._check_bound(part, run, each)

    def _check_bound(self, part: Part, run: Run, bound: Bound) -> None:
        """Refuse an iteration that the access does not have."""
        access, name = run.access, bound.loop
        loops = {loop.name: (loop, limit) for loop, limit in zip(access.loops, access.loop_limits, strict=True)}
        if name not in loops:
            self._refuse(
                f"access {access.name} has no loop '{name}'",
                f"its loops: {', '.join(loops)}" if loops else f"it has none: give it `for: {{{name}: any}}`",
            )
        loop, limit = loops[name]
        if bound.follows and (not isinstance(loop, Loop) or (loop.start, loop.step) != (0, 1)):
            self._refuse(
                f"loop '{name}' of access {access.name} does not count from 0 in steps of 1, as the phase does",
                f"give the access `for: {{{name}: any}}`, and compute with {name}",
            )
        last = {Part.BEFORE: 0, Part.STEPS: (self.count or 1) - 1, Part.AFTER: self.count or 0}[part]
        ends = (bound.at(0), bound.at(last)) if part is not Part.AFTER or self.count is None else (bound.at(last),) * 2
        grows = bound.follows and self.count is None and part is not Part.BEFORE
        if ends[0] < 0 or ends[1] >= limit or (grows and not loop.is_unbounded):
            wrong = "any number of them" if grows and ends[0] >= 0 else ends[0] if ends[0] < 0 else ends[1]
            self._refuse(
                f"access {access.name} has the iterations 0..{limit - 1} of {name}, and the phase runs {wrong}",
                f"count {name} from the first one that runs, or give the access `for: {{{name}: any}}`",
            )


def run_of(access: Access, loop: str) -> Run:
    """The step that names an access alone: a loop of the phase's name goes with the phase."""
    return Run(access, (Bound(loop, variable=loop),) if any(each.name == loop for each in access.loops) else ())

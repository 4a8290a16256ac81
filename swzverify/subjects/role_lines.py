"""The threads of roles as lines of events, and the operations that they start.

A *line* is threads that do the same events in the same order. An operation of the asynchronous proxy is no event of
its thread: it runs from its start on, so that the operations of one thread at one object are a line of their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, partial
from typing import NamedTuple, TypeAlias

from swzverify.hardware import LANES
from swzverify.subjects.phase import WARPGROUP, Part, Phase, Place, Run, Step, Sync
from swzverify.subjects.role import Arrive, Named, ProxyFence, Role, Wait, WaitProducts

WARP_THREADS = LANES
"""Threads of a warp, for `syncwarp` and named barriers."""
WARPGROUP_THREADS = WARPGROUP
"""Threads of a warp group, for `wgmma`."""

_Does: TypeAlias = Callable[[int], None]
"""Writes what a line does at a step in an iteration."""
Object = tuple[str, int]
"""An `mbarrier` object (the barrier and the stage), a named barrier, or the lanes of a warp that wait together."""


class Kind(Enum):
    """What an event does."""

    TOUCH = "touch"
    START = "start"
    WAIT = "wait"
    ARRIVE = "arrive"
    PASS = "pass the barrier"  # noqa: S105 - no password
    """Wait for the phase of the thread's last own arrival: the second half of a named barrier."""
    DRAIN = "drain"
    FENCE = "fence"


class Event(NamedTuple):
    """One step of the threads of a line, or a part of it.

    Attributes:
        kind: What it does.
        place: The step.
        iteration: The iteration of the step.
        those: The object.
        number: The parity of a wait; the bytes that an arrival expects; the operations that a drain waits for.
        line: The line of operations of a drain.
    """

    kind: Kind
    place: Place
    iteration: int
    those: Object = ("", 0)
    number: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: the step that starts it, where its lines start it, and what completes with it."""

    place: Place
    iteration: int
    starts: list[tuple[int, int]]
    those: Object | None = None
    bytes: int = 0


@dataclass(slots=True)
class Line:
    """Threads that do the same, or operations of some of them; `role` is the role of the threads."""

    role: Role
    threads: list[int]
    events: list[Event] = field(default_factory=list[Event])
    operations: list[Operation] = field(default_factory=list[Operation])
    is_async: bool = False

    @property
    def count(self) -> int:
        """How many threads it has; a line of operations counts as one."""
        return 1 if self.is_async else len(self.threads)


@dataclass(slots=True)
class Lines:
    """All lines of a phase, for some iterations of its loop.

    Attributes:
        all: The lines: those of threads, then those of operations.
        counts: The arrivals that complete a phase, by object.
        at: The line of each thread.
    """

    all: list[Line] = field(default_factory=list[Line])
    counts: dict[Object, int] = field(default_factory=dict[Object, int])
    at: dict[int, int] = field(default_factory=dict[int, int])


def lines_of(phase: Phase, iterations: int, *, whole: bool = False, alone: tuple[int, ...] = ()) -> Lines:
    """The lines of a phase over some iterations; `whole` adds the steps behind the loop.

    The threads `alone` have lines of their own.
    """
    found = Lines()
    for role in phase.roles:
        for threads in _classes(phase, role, alone):
            found.at |= dict.fromkeys(threads, len(found.all))
            found.all.append(Line(role, threads))
    groups: dict[tuple[object, ...], int] = {}
    for number in range(len(found.all)):
        _Writer(phase, found, number, groups).write(iterations, whole=whole)
    return found


def _classes(phase: Phase, role: Role, alone: tuple[int, ...]) -> list[list[int]]:
    """The threads of a role that do the same, each list in ascending order."""
    steps = role_steps(phase, role)
    chosen = [step.by.threads for step in steps if isinstance(step, Wait | Arrive | ProxyFence) and step.by is not None]
    copies = [set(own) for own in (_starting(step) for step in steps) if own is not None]
    by_warp = any(step is Sync.WARP for step in steps)
    by_group = any(isinstance(step, Run) and step.proxy is not None and step.proxy.barrier is None for step in steps)
    classes: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for thread in role.threads:
        key = (
            tuple(thread in each for each in (*chosen, *copies)),
            thread // WARP_THREADS if by_warp else 0,
            thread // WARPGROUP_THREADS if by_group else 0,
            thread if thread in alone else -1,
        )
        classes[key].append(thread)
    return list(classes.values())


def role_steps(phase: Phase, role: Role) -> list[Step]:
    """Every step of a role: before the loop, in it, and behind it."""
    return [step for part in Part for step in phase.part(part)[slice(*getattr(role, part.value))]]


def _starting(step: Step) -> list[int] | None:
    """The thread that starts a copy; None for another step."""
    if isinstance(step, Run) and step.proxy is not None and step.proxy.barrier is not None:
        return [step.proxy.thread]
    return None


@dataclass
class _Writer:
    """Writes the events of one line; `groups` has the lines of operations by what tells them apart."""

    phase: Phase
    lines: Lines
    number: int
    groups: dict[tuple[object, ...], int]
    products: int = 0
    closed: list[int] = field(default_factory=list[int])
    is_open: bool = False

    @cached_property
    def line(self) -> Line:
        return self.lines.all[self.number]

    def write(self, iterations: int, *, whole: bool) -> None:
        """All events of the line."""
        self._write(self._part(Part.BEFORE), 0)
        steps = self._part(Part.STEPS)
        for iteration in range(iterations):
            self._write(steps, iteration)
        if whole:
            self._write(self._part(Part.AFTER), iterations)

    def _part(self, part: Part) -> list[tuple[bool, _Does | None]]:
        """The steps of one list: whether each is a product, and what the line does there, if anything."""
        first, end = getattr(self.line.role, part.value)
        return [
            (
                isinstance(step, Run) and step.proxy is not None and step.proxy.barrier is None,
                self._does(step, Place(part, index)),
            )
            for index, step in enumerate(self.phase.part(part)[first:end], first)
        ]

    def _write(self, steps: list[tuple[bool, _Does | None]], iteration: int) -> None:
        for is_product, does in steps:
            if self.is_open and not is_product:
                self._close()
            if does is not None:
                does(iteration)
            self.is_open = is_product
        if self.is_open:
            self._close()

    def _close(self) -> None:
        """The products since the last group are a group."""
        self.closed.append(self.products)
        self.is_open = False

    def _add(
        self, kind: Kind, place: Place, iteration: int, those: Object = ("", 0), number: int = 0, line: int = 0
    ) -> None:
        self.line.events.append(Event(kind, place, iteration, those, number, line))

    def _does(self, step: Step, place: Place) -> _Does | None:
        own = self.line.threads[0]
        if isinstance(step, Wait | Arrive | ProxyFence) and step.by is not None and own not in step.by.threads:
            return None
        match step:
            case Run(proxy=None):
                return partial(self._add, Kind.TOUCH, place)
            case Run():
                return partial(self._start, step, place)
            case Wait():
                return partial(self._wait, step, place)
            case Arrive():
                return partial(self._arrive, step, place)
            case Named():
                return partial(self._meet, ("barrier", step.number), step.threads, place, waits=step.waits)
            case ProxyFence():
                return partial(self._add, Kind.FENCE, place)
            case WaitProducts():
                return partial(self._drain, step, place)
            case _:
                assert step is Sync.WARP, step  # noqa: S101 - the phase refuses others
                warp = own // WARP_THREADS
                lanes = sum(thread // WARP_THREADS == warp for thread in self.line.role.threads)
                return partial(self._meet, (f"warp of {self.line.role.name}", warp), lanes, place)

    def _wait(self, step: Wait, place: Place, iteration: int) -> None:
        those = step.barrier.name, step.stage.at(iteration)
        self.lines.counts[those] = step.barrier.arrivals
        self._add(Kind.WAIT, place, iteration, those, step.phase.at(iteration))

    def _arrive(self, step: Arrive, place: Place, iteration: int) -> None:
        those = step.barrier.name, step.stage.at(iteration)
        self.lines.counts[those] = step.barrier.arrivals
        self._add(Kind.ARRIVE, place, iteration, those, step.expects)

    def _meet(self, those: Object, count: int, place: Place, iteration: int, *, waits: bool = True) -> None:
        """Arrive at a barrier, and wait until it is complete."""
        self.lines.counts[those] = count
        self._add(Kind.ARRIVE, place, iteration, those)
        if waits:
            self._add(Kind.PASS, place, iteration, those)

    def _start(self, step: Run, place: Place, iteration: int) -> None:
        """Start an operation, as one of the threads that do."""
        proxy = step.proxy
        assert proxy is not None  # noqa: S101 - who asks has looked
        at = self.number, len(self.line.events)
        if proxy.barrier is None or proxy.stage is None:
            mine = self._operations(("product", self.line.role.name, self.line.threads[0] // WARPGROUP_THREADS))
            if self.products == len(mine.operations):
                mine.operations.append(Operation(place, iteration, []))
            mine.operations[self.products].starts.append(at)
            self.products += 1
            self._add(Kind.START, place, iteration)
        elif self.line.threads[0] == proxy.thread:
            those = proxy.barrier.name, proxy.stage.at(iteration)
            self.lines.counts[those] = proxy.barrier.arrivals
            mine = self._operations(("copy", self.number, those, proxy.tile.name))
            mine.operations.append(Operation(place, iteration, [at], those, proxy.bytes))
            self._add(Kind.START, place, iteration)

    def _operations(self, key: tuple[object, ...]) -> Line:
        """The line of operations of this key."""
        if key not in self.groups:
            self.groups[key] = len(self.lines.all)
            self.lines.all.append(Line(self.line.role, self.line.threads, is_async=True))
        return self.lines.all[self.groups[key]]

    def _drain(self, step: WaitProducts, place: Place, iteration: int) -> None:
        kept = len(self.closed) - step.pending
        key = ("product", self.line.role.name, self.line.threads[0] // WARPGROUP_THREADS)
        if kept > 0 and key in self.groups:
            self._add(Kind.DRAIN, place, iteration, number=self.closed[kept - 1], line=self.groups[key])

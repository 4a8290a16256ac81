"""A run of a phase with roles, one step of one thread at a time: whether it ends, and whether two threads meet in it.

Two touches race if a run comes to a point where both are the next step of their threads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from swzverify.subjects.phase import Part, Phase, Place
from swzverify.subjects.role import Arrive, Role, Wait
from swzverify.subjects.role_order import Object, period_of

MAX_STEPS_RUN = 400_000
"""Steps of all threads after which a run is given up."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A thread before a step in an iteration."""

    thread: int
    place: Place
    iteration: int


@dataclass
class RoleRun:
    """The threads of a phase, each before its next step; `limit` is the number of iterations."""

    phase: Phase
    limit: int
    at: dict[int, int] = field(default_factory=dict[int, int])
    phases: dict[Object, int] = field(default_factory=lambda: defaultdict[Object, int](int))
    pending: dict[Object, int] = field(default_factory=lambda: defaultdict[Object, int](int))
    stops: dict[int, int] = field(default_factory=dict[int, int])
    spent: int = 0

    def __post_init__(self) -> None:
        """No thread has done a step."""
        self.roles = {thread: role for role in self.phase.roles for thread in role.threads}
        self.at = dict.fromkeys(self.roles, 0)

    def next_step(self, thread: int) -> tuple[int, Wait | Arrive | object] | None:
        """The iteration and the step that is next; None where the thread has to stop."""
        role, at = self.roles[thread], self.at[thread]
        iteration, index = divmod(at, role.end - role.first)
        if iteration >= self.limit or at == self.stops.get(thread):
            return None
        return iteration, self.phase.steps[role.first + index]

    def _move(self, thread: int) -> bool:
        """Do the next step of a thread; whether it could."""
        found = self.next_step(thread)
        if found is None:
            return False
        iteration, step = found
        completed: Object | None = None
        if isinstance(step, Wait):
            those = step.barrier.name, step.stage.at(iteration)
            if (self.phases[those] - 1) % 2 != step.phase.at(iteration):
                return False
        elif isinstance(step, Arrive):
            those = step.barrier.name, step.stage.at(iteration)
            self.pending[those] += 1
            if self.pending[those] == step.barrier.arrivals:
                self.pending[those] = 0
                self.phases[those] += 1
                completed = those
        self.at[thread] += 1
        self.spent += 1
        if completed is not None:
            for other in self.roles:
                self._pass(other, completed)
        return True

    def _pass(self, thread: int, those: Object) -> None:
        """Let a thread that waits at this object go on, before anybody arrives there again."""
        found = self.next_step(thread)
        if found is not None and isinstance(found[1], Wait):
            step = found[1]
            if (step.barrier.name, step.stage.at(found[0])) == those:
                self._move(thread)

    def go(self, first: Iterable[int] = ()) -> None:
        """Go on until nobody can; the threads in `first` go whenever they can."""
        moved = True
        while moved and self.spent < MAX_STEPS_RUN:
            moved = False
            for thread in self.roles:
                for each in first:
                    while self._move(each):
                        moved = True
                moved |= self._move(thread)

    @property
    def waiting(self) -> str:
        """A wait that nobody lets pass, in words; empty if all threads are through."""
        for thread in self.roles:
            found = self.next_step(thread)
            if found is not None and isinstance(found[1], Wait):
                role = self.roles[thread]
                words = self.phase.describe(_place(role, self.at[thread]))
                name, step = self.phase.variable, found[1]
                those = step.barrier.name, step.stage.at(found[0])
                return (
                    f"thread {thread} never gets through {words} in {name} = {found[0]}: {self.phases[those]} phases "
                    f"are complete, and the next one has {self.pending[those]} of {step.barrier.arrivals} arrivals"
                )
        return ""


def _place(role: Role, at: int) -> Place:
    index = role.first + at % (role.end - role.first)
    return Place(Part.STEPS, index)


def find_hang(phase: Phase) -> str:
    """A wait that some thread never gets through, in words; empty if none was found.

    All go on as far as they can; once without a delay, and once for each role with its first thread delayed until the
    others cannot go on.
    """
    most = 2 * period_of(phase)
    for late in ((), *((role.threads[0],) for role in phase.roles)):
        run = RoleRun(phase, most if phase.count is None else min(most, phase.count))
        run.stops = dict.fromkeys(late, 0)
        run.go()
        run.stops = {}
        run.go()
        if run.waiting and run.spent < MAX_STEPS_RUN:
            return run.waiting
    return ""


def can_meet(phase: Phase, first: Stop, second: Stop) -> bool:
    """Whether a run was found in which two threads are before two steps at the same time."""
    if first.thread == second.thread:
        return False
    shift, period = 0, period_of(phase)
    if _is_fresh_after(phase, period):
        # All threads can come to each multiple of the period together, and there everything is as in the beginning.
        shift = min(first.iteration, second.iteration) // period * period
    limit = max(first.iteration, second.iteration) - shift + 1
    run = RoleRun(phase, limit + period if phase.count is None else phase.count - shift)
    stops = dict[int, int]()
    for each in (first, second):
        role = run.roles.get(each.thread)
        if role is None:
            return False
        length = role.end - role.first
        stops[each.thread] = (each.iteration - shift) * length + each.place.index - role.first
    if sum(run.limit for _ in run.roles) > MAX_STEPS_RUN:
        return False
    run.stops = stops
    run.go(tuple(stops))
    return all(run.at[thread] == stop for thread, stop in stops.items())


def _is_fresh_after(phase: Phase, period: int) -> bool:
    """Whether everything is as in the beginning after so many iterations of all threads."""
    run = RoleRun(phase, period)
    run.go()
    done = all(run.next_step(thread) is None for thread in run.roles)
    return done and not any(run.pending.values()) and all(count % 2 == 0 for count in run.phases.values())

"""Which steps of a phase can meet: those that nothing orders.

Without roles all threads run the same steps (`role_order` is for phases with roles). The steps are one line then:
`before`, each iteration of the loop, `after`. A step that runs an access begins at its place in the line. It ends there
as well; a copy ends where its thread waits for its group. Of two accesses the earlier one is ordered before the
later one

- for threads of different warps, if a barrier lies behind its end and before the later one;
- for lanes of one warp, if a barrier or a `syncwarp` lies there;
- for one thread, if it has ended.

What is not ordered meets: it may happen in any order, or at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from swzverify.hardware import Kind
from swzverify.subjects.phase import Part, Phase, Place, Run, Step, Sync, WaitGroup
from swzverify.subjects.phase_meeting import Meeting, Who

NEVER = 1 << 62
"""A place in the line that is never reached."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A place in the line: the step and its iteration, from that of the first one."""

    place: Place
    iteration: int
    step: Step


@dataclass(frozen=True, slots=True)
class Window:
    """How far a step at the start of a line reaches, as places in the line.

    Attributes:
        end: Where its own thread knows that it has ended.
        warp: Where the other lanes of its warp know it.
        block: Where every thread knows it.
    """

    end: int
    warp: int
    block: int

    def who(self, at: int) -> Who | None:
        """Which threads are not ordered behind it at a later place; None if all are."""
        if at < self.end:
            return Who.ANY
        return Who.THREADS if at < self.warp else Who.WARPS if at < self.block else None


def window(line: Sequence[Step]) -> Window:
    """How far the first step of a line reaches.

    >>> from swzverify.subjects.phase import Sync
    >>> window([Sync.COMMIT, Sync.WARP, Sync.COMMIT, Sync.BARRIER])
    Window(end=0, warp=1, block=3)
    """
    first, end = line[0], 0
    if isinstance(first, Run) and first.is_copy:
        end = _end_of_copy(line)
    ends = [at for at in range(end + 1, len(line)) if line[at] is Sync.BARRIER]
    lanes = [at for at in range(end + 1, len(line)) if line[at] in (Sync.BARRIER, Sync.WARP)]
    return Window(end, lanes[0] if lanes else NEVER, ends[0] if ends else NEVER)


def _end_of_copy(line: Sequence[Step]) -> int:
    """Where the thread waits for the copies that the first step of a line starts."""
    newer: int | None = None
    for at, step in enumerate(line[1:], 1):
        if step is Sync.WAIT_ALL:
            return at
        if step is Sync.COMMIT:
            newer = 0 if newer is None else newer + 1
        if isinstance(step, WaitGroup) and newer is not None and newer >= step.pending:
            return at
    return NEVER


def horizon(phase: Phase) -> int:
    """Iterations after which a step still meets another one only if it does so ever after.

    A copy's group is closed within one iteration. Then each iteration commits at least one more group, or none
    ever does. One iteration further its wait comes, and another one further the barrier.
    """
    every = (step for part in Part for step in phase.part(part))
    return 4 + max([0, *(step.pending for step in every if isinstance(step, WaitGroup))])


def meetings(phase: Phase) -> list[Meeting]:
    """Every pair of steps that can meet, of which one writes."""
    found = _of_one_line(phase)
    if phase.roles:
        from swzverify.subjects.role_order import order_of  # noqa: PLC0415 - few phases have roles

        found = order_of(phase).meetings
    return [each for each in dict.fromkeys(found) if _matters(phase, each)]


def _of_one_line(phase: Phase) -> list[Meeting]:
    """The meetings of a phase whose threads all run the same steps."""
    return [*_in_loop(phase), *_from_before(phase), *_with_after(phase)]


def _matters(phase: Phase, each: Meeting) -> bool:
    """Whether one of the two writes, and not both are atomic operations on one kind of word."""
    first, second = phase.run_at(each.first).access.instruction, phase.run_at(each.second).access.instruction
    both_atomic = first.kind is second.kind is Kind.ATOMIC and first.width_bytes == second.width_bytes
    return not (first.kind.loads and second.kind.loads) and not both_atomic


def iterations(phase: Phase, count: int) -> list[_Spot]:
    """The line of the first iterations of the loop."""
    return [
        _Spot(Place(Part.STEPS, index), iteration, step)
        for iteration in range(count)
        for index, step in enumerate(phase.steps)
    ]


def part_of(phase: Phase, part: Part, iteration: int) -> list[_Spot]:
    """The line of `before` or `after`."""
    return [_Spot(Place(part, index), iteration, step) for index, step in enumerate(phase.part(part))]


def _behind(line: Sequence[_Spot], start: int, tail: int | None, of: Part | None = None) -> Iterator[Meeting]:
    """What the step at a place in the line meets from there on.

    `tail` is the first gap that the line no longer has, where it goes on for ever. `of` restricts the later
    steps to one list.
    """
    first = line[start]
    rest = line[start:]
    reach = window([spot.step for spot in rest])
    for at, spot in enumerate(rest):
        who = reach.who(at)
        if who is None:
            return
        if isinstance(spot.step, Run) and of in (None, spot.place.part):
            gap = spot.iteration - first.iteration
            yield Meeting(first.place, spot.place, gap, who)
    who = reach.who(len(rest))
    if tail is not None and who is not None:
        for spot in dict.fromkeys((spot.place, spot.step) for spot in line if spot.place.part is Part.STEPS):
            if isinstance(spot[1], Run):
                yield Meeting(first.place, spot[0], tail, who, at_least=True)


def _in_loop(phase: Phase) -> Iterator[Meeting]:
    """Steps of the loop with steps of the loop."""
    most = horizon(phase) if phase.count is None else min(horizon(phase), phase.count - 1)
    if most < 0:
        return
    line = iterations(phase, most + 1)
    has_more = phase.count is None or phase.count - 1 > most
    runs = [index for index, step in enumerate(phase.steps) if isinstance(step, Run)]
    synced = [step for step in phase.steps if step in (Sync.BARRIER, Sync.WARP)]
    always = Who.WARPS if Sync.WARP in synced else Who.THREADS
    if Sync.BARRIER not in synced:
        # No iteration is ordered behind another one: any two are one question.
        for at, index in enumerate(runs):
            for other in runs[: at + 1]:
                yield Meeting(Place(Part.STEPS, other), Place(Part.STEPS, index), 0, always, unrelated=True)
    for index in runs:
        for each in _behind(line, index, most + 1 if has_more else None):
            if Sync.BARRIER in synced or each.who not in (always, Who.WARPS):
                yield each


def _from_before(phase: Phase) -> Iterator[Meeting]:
    """Steps of `before` with each other, and with steps of the loop."""
    most = horizon(phase) if phase.count is None else min(horizon(phase), phase.count)
    has_more = phase.count is None or phase.count > most
    line = [*part_of(phase, Part.BEFORE, 0), *iterations(phase, most)]
    for start, spot in enumerate(line):
        if spot.place.part is Part.BEFORE and isinstance(spot.step, Run):
            yield from _behind(line, start, most if has_more else None)


def _with_after(phase: Phase) -> Iterator[Meeting]:
    """Steps of `after` with each other, and with what was before."""
    if not phase.part(Part.AFTER):
        return
    most = horizon(phase) if phase.count is None else min(horizon(phase), phase.count)
    has_more = phase.count is None or phase.count > most
    for count in range(most + 1):
        is_last = count == most
        line = [*iterations(phase, count), *part_of(phase, Part.AFTER, count)]
        for start, spot in enumerate(line):
            if isinstance(spot.step, Run) and (spot.place.part is Part.AFTER or spot.iteration == 0):
                for each in _behind(line, start, None, Part.AFTER):
                    yield replace(each, at_least=has_more and is_last and each.gap > 0)
        if phase.count is None or is_last:
            line = [*part_of(phase, Part.BEFORE, 0), *line]
            for start, spot in enumerate(line):
                if isinstance(spot.step, Run) and spot.place.part is Part.BEFORE:
                    for each in _behind(line, start, None, Part.AFTER):
                        yield replace(each, at_least=has_more and is_last)

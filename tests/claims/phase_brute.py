"""Races of a phase by brute force: every thread, every byte, a few iterations, and order by the line of steps.

Written from docs/claims/race_free.md and docs/claims/reads_what_was_written.md. It shares nothing with the product but
the addresses of a thread, and knows no windows, gaps or horizons: it compares every two touches of a byte.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from swzverify.subjects import Access, Phase
from swzverify.subjects.phase import Run, Sync, WaitGroup


@dataclass(frozen=True)
class Touch:
    """One thread's touch of a byte: from its start to its end, in the line of all steps."""

    at: int
    end: float
    thread: int
    writes: bool
    atomic: int
    of_warp: bool
    inner: int
    step: int


def line_of(phase: Phase, count: int) -> list[tuple[int, object]]:
    """The steps of a run of `count` iterations, each with its iteration."""
    line = [(0, step) for step in phase.before or ()]
    line += [(i, step) for i in range(count) for step in phase.steps]
    return line + [(count, step) for step in phase.after or ()]


def touches(access: Access, given: Mapping[str, int], base: int) -> Iterator[tuple[int, int, int]]:
    """Each byte that an access touches: (thread, byte, number of the inner iteration)."""
    names = [loop.name for loop in access.loops]
    ranges = [
        [given[loop.name]] if loop.name in given else range(limit)
        for loop, limit in zip(access.loops, access.loop_limits, strict=True)
    ]
    for number, values in enumerate(product(*ranges)):
        for warp in range(access.warps):
            point = {"warp": warp, **dict(zip(names, values, strict=True)), access.origin.name: base}
            if not access.assumed_at(point):
                continue
            for record in access.lanes_at(point):
                if record.address_bytes is not None:
                    for byte in range(access.instruction.width_bytes):
                        yield 32 * warp + record.lane, record.address_bytes + byte, number


def waits(line: list[tuple[int, object]], at: int) -> float:
    """Where the thread waits for the copies of the step at a place; infinity if it never does."""
    groups: list[list[int]] = [[]]
    for place, (_, step) in enumerate(line):
        if isinstance(step, Run) and step.access.instruction.name.startswith("cp.async"):
            groups[-1].append(place)
        elif step is Sync.COMMIT:
            groups.append([])
        elif step is Sync.WAIT_ALL and place > at:
            return place
        elif isinstance(step, WaitGroup) and place > at:
            closed = groups[:-1]
            done = closed[: max(0, len(closed) - step.pending)]
            if any(at in group for group in done):
                return place
    return float("inf")


def ordered(line: list[tuple[int, object]], one: Touch, other: Touch) -> bool:
    """Whether the earlier touch is over before the later one starts, for both threads."""
    first, second = (one, other) if one.at <= other.at else (other, one)
    if first.thread == second.thread and not ((first.of_warp or second.of_warp) and first.step != second.step):
        return first.end < second.at or (first.end == first.at and (first.at, first.inner) != (second.at, second.inner))
    synced = (Sync.BARRIER,) if first.thread // 32 != second.thread // 32 else (Sync.BARRIER, Sync.WARP)
    return any(first.end < place < second.at and line[place][1] in synced for place in range(first.at, second.at))


def races(phase: Phase, count: int, base: int = 0) -> list[tuple[int, Touch, Touch]]:
    """The races of a run: the byte and the two touches."""
    line = line_of(phase, count)
    touched: dict[int, set[Touch]] = defaultdict(set)
    for at, (iteration, step) in enumerate(line):
        if not isinstance(step, Run):
            continue
        access, row = step.access, step.access.instruction
        is_copy = row.name.startswith("cp.async")
        end = waits(line, at) if is_copy else at
        given = {each.loop: each.number + (iteration if each.follows else 0) for each in step.bound}
        atomic = row.width_bytes if row.name.startswith("atom") else 0
        of_warp = "matrix" in row.name
        for thread, byte, inner in touches(access, given, base):
            touched[byte].add(Touch(at, end, thread, not row.name.startswith("ld"), atomic, of_warp, inner, id(step)))
    found: list[tuple[int, Touch, Touch]] = []
    for byte, those in touched.items():
        listed = sorted(those, key=lambda each: (each.at, each.thread, each.inner))
        for number, one in enumerate(listed):
            for other in listed[number + 1 :]:
                conflict = (one.writes or other.writes) and not (one.atomic and one.atomic == other.atomic)
                if conflict and not ordered(line, one, other):
                    found.append((byte, one, other))
    return found


def last_writes(phase: Phase, count: int, read: Access, write: Access) -> dict[tuple[int, int], set[float | None]]:
    """For each (iteration, byte) that `read` touches, which instances of which write were last before it in the line.

    An instance of `write` is its iteration, or -1 before the loop; None stands for another access or nothing.
    """
    line = line_of(phase, count)
    content: dict[int, set[float | None]] = {}
    found: dict[tuple[int, int], set[float | None]] = {}
    first_of_loop = len(phase.before or ())
    for at, (iteration, step) in enumerate(line):
        if not isinstance(step, Run):
            continue
        given = {each.loop: each.number + (iteration if each.follows else 0) for each in step.bound}
        mine = list(touches(step.access, given, 0))
        if step.access is read:
            for _, byte, _ in mine:
                found[iteration, byte] = content.get(byte, {None})
        if not step.access.instruction.name.startswith("ld"):
            key = next((each for each in step.bound), None)
            value = key.number + (iteration if key.follows else 0) if key else iteration if at >= first_of_loop else -1
            fresh: dict[int, set[float | None]] = {}
            for _, byte, _ in mine:
                fresh.setdefault(byte, set()).add(value if step.access is write else None)
            content |= fresh
    return found

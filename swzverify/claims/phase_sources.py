"""Whether the bytes that one step of a phase reads are those that one run of another step writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lcm, prod

import numpy as np

from swzverify.claims.access_points import access_enough
from swzverify.claims.goal import Goal
from swzverify.claims.phase_points import COLUMNS
from swzverify.claims.run_points import P, Q, RunPoints, Turn
from swzverify.claims.stated import multiple
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.enumeration import grid
from swzverify.engines.obligations import Always, Arrays, Covers, Numbers, Truths, second
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Expr, Var, var
from swzverify.ir.periods import repetition
from swzverify.subjects import Phase
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.phase import Part, Place, Run

CHUNK = "chunk"
"""Which piece of the bytes that a lane reads."""
MAX_POINTS = 1 << 19
"""Threads times iterations of a step that are looked at to find the write of a byte."""


@dataclass(frozen=True)
class Source:
    """A run of the write, and the read that gets its bytes.

    `iteration` is that of the read; None for every one from `lag` on, or for every one where the write stands before
    the loop.
    """

    phase: Phase
    writing: Place
    reading: Place
    iteration: int | None
    lag: int = 0

    @cached_property
    def _sides(self) -> tuple[RunPoints, RunPoints]:
        """The read and the write."""
        name, count = self.phase.variable, self.phase.count
        read, write = self.phase.run_at(self.reading), self.phase.run_at(self.writing)
        is_before = self.writing.part is Part.BEFORE
        if self.iteration is not None:
            turns = Turn(self.iteration), Turn(0)
        else:
            room = read.room - self.lag if is_before else min(read.room - self.lag, write.room)
            room = room if count is None else min(room, count - self.lag)
            node = var(name, max(1, room))
            turns = Turn(self.lag, node), Turn(0) if is_before else Turn(0, node)
        units = [8 // run.access.unit_bits for run in (read, write)]
        scale = max(units)
        return (
            RunPoints(read, P, turns[0], scale // units[0]),
            RunPoints(write, Q, turns[1], scale // units[1]),
        )

    @property
    def _words(self) -> str:
        where = f", {self.phase.variable} = {self.iteration}" if self.iteration is not None else ""
        return f"{self.phase.describe(self.reading)}{where} and {self.phase.describe(self.writing)}"

    @property
    def names(self) -> tuple[str, str, str]:
        """What its goals are called."""
        return f"aligned: read of {self._words}", f"aligned: write of {self._words}", f"written: {self._words}"

    @property
    def _chunk(self) -> int:
        """A length that both kinds of ranges consist of."""
        return gcd(*(side.extent for side in self._sides))

    @property
    def _shared(self) -> tuple[Var, ...]:
        nodes = [side.access.origin.variable for side in self._sides] + [self._sides[0].turn.node]
        return tuple(dict.fromkeys(node for node in nodes if node is not None))

    @property
    def _enough(self) -> tuple[tuple[str, int], ...]:
        """How many bases and iterations stand for all."""
        read, write = self._sides
        enough = dict[str, int]()
        for side in self._sides:
            for name, count in access_enough(side.access, 1):
                enough[name] = max(count, enough.get(name, 0))
        node = read.turn.node
        if node is not None:
            period = _period((read.position.bits, write.position.bits), (read.active, write.active), node.name)
            if period is not None:
                enough[node.name] = period
        return tuple(enough.items())

    def goals(self) -> list[Goal]:
        """Both are aligned to their common pieces, and each piece that is read is written once."""
        chunk = self._chunk
        named = zip(self._sides, self.names, strict=False)
        aligned = [Goal(self._aligned(side, chunk), name) for side, name in named] if chunk > 1 else []
        return [*aligned, Goal(self._covers(chunk), self.names[2])]

    def _aligned(self, side: RunPoints, chunk: int) -> Always:
        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            on, position = side.plain(arrays)
            return on, position % chunk == 0

        nodes = (*self._shared, *side.variables)
        return Always(Domain(nodes, side.active, self._enough), multiple(side.position, chunk), definition)

    def _covers(self, chunk: int) -> Covers:
        read, write = self._sides
        piece = var(CHUNK, read.extent // chunk)
        place = ints.add(read.position, ints.multiply(ints.variable(piece), ints.integer(chunk)))

        def pieces(arrays: Arrays) -> Numbers:
            return read.plain(arrays)[1] + chunk * arrays[CHUNK]

        return Covers(
            self._shared,
            self._enough,
            Domain(write.variables),
            write.position.bits,
            write.active,
            write.extent,
            (*read.variables, piece),
            place.bits,
            chunk,
            1,
            write.plain,
            pieces,
            read.active,
            lambda arrays: read.plain(arrays)[0],
        )

    def replay(self, what: str, point: Mapping[str, int]) -> Counterexample | None:
        """The lane that is not aligned, or the byte that is not written once."""
        read, write = self._sides
        if what != self.names[2]:
            return self._crooked(read if what == self.names[0] else write, point)
        here = {name.removesuffix(second("")): value for name, value in point.items()}
        thread, record, _ = read.record(here)
        if record.address_bytes is None:
            return None
        chunk_bytes = self._chunk * read.access.unit_bits // 8 // read.scale
        byte = record.address_bytes + here[CHUNK] * chunk_bytes
        given = {node.name: here[node.name] for node in self._shared}
        touching = touches(write, given, byte)
        if len(touching) == 1:
            return None
        turn, name = read.turn.at(here), self.phase.variable
        rows = [Row((self.phase.describe(self.reading), thread, thread // LANES, thread % LANES, turn, byte), "x")]
        when = write.turn.at(here)
        for each, address in touching[:LANES]:
            rows.append(Row((self.phase.describe(self.writing), each, each // LANES, each % LANES, when, address), "x"))
        run = self.phase.describe(self.writing)
        run += "" if self.writing.part is Part.BEFORE else f" in {name} = {when}"
        times = {0: "does not write it"}.get(len(touching), f"writes it {len(touching)} times")
        read_by = f"thread {thread} reads byte {byte} in {name} = {turn}, {self.phase.describe(self.reading)}"
        note = f"{read_by}; {run} {times}"
        binding = {name: turn, "byte": byte}
        if read.access.origin.variable is not None:
            binding["base"] = read.access.origin.at(here)
        return Counterexample(binding, note, COLUMNS, tuple(rows))

    def _crooked(self, side: RunPoints, point: Mapping[str, int]) -> Counterexample | None:
        thread, record, _ = side.record(point)
        chunk_bits = self._chunk * side.access.unit_bits // side.scale
        if record.address_bytes is None or (8 * record.address_bytes + record.bit) % chunk_bits == 0:
            return None
        place = self.reading if side is self._sides[0] else self.writing
        step, turn, address = self.phase.describe(place), side.turn.at(point), record.address_bytes
        note = f"{step}: thread {thread} is at {address}, no multiple of {chunk_bits // 8}"
        row = Row((step, thread, thread // LANES, thread % LANES, turn, address), "x")
        return Counterexample({self.phase.variable: turn}, note, COLUMNS, (row,))


def _period(positions: tuple[Expr, Expr], guards: tuple[Expr, Expr], name: str) -> int | None:
    """Iterations after which both positions grew by the same amount, and the guards are as before."""
    steps = [repetition(each, name) for each in (*positions, *guards)]
    known = [step for step in steps if step is not None and step.exact]
    if len(known) < len(steps):
        return None
    period = lcm(*(step.period for step in known))
    grown = [step.increment * (period // step.period) for step in known]
    return period if grown[0] == grown[1] and not any(grown[2:]) else None


def touches(side: RunPoints, given: Mapping[str, int], byte: int) -> list[tuple[int, int]]:
    """The threads of a step that touch a byte, each as often as it does, with their addresses; plain integers."""
    arrays = {name: np.full(1, value, dtype=np.int64) for name, value in given.items()}
    own = grid({node.name: node.limit for node in side.variables})
    size = prod(node.limit for node in side.variables)
    on, position = (np.broadcast_to(each, size) for each in side.plain({**arrays, **own}))
    units = 8 // side.access.unit_bits * side.scale
    hit = np.flatnonzero(on & (position < (byte + 1) * units) & (position + side.extent > byte * units))
    warps, lanes = (own.get(f"{side.prefix}{name}", np.zeros(size, dtype=np.int64)) for name in (WARP, LANE))
    return [(int(warps[at]) * LANES + int(lanes[at]), int(position[at]) // units) for at in hit]


def _starts(run: Run, first: int, end: int) -> list[tuple[Numbers, Numbers]]:
    """For the iterations from `first` up to `end`, the threads that a step touches memory with at the first base.

    Each iteration has the threads, and the bit at which each of them starts.
    """
    turn = var("turn of the phase", max(1, end - first))
    side = RunPoints(run, P, Turn(first, turn), 1)
    base = side.access.origin.variable
    given = {} if base is None else {base.name: np.zeros(1, dtype=np.int64)}
    own = grid({node.name: node.limit for node in side.variables})
    shape = end - first, prod(node.limit for node in side.variables)
    turns = {turn.name: np.arange(end - first, dtype=np.int64)[:, None]}
    on, position = (np.broadcast_to(each, shape) for each in side.plain({**given, **own, **turns}))
    lanes, warps = (own.get(f"{side.prefix}{name}", np.zeros(shape[1], dtype=np.int64)) for name in (LANE, WARP))
    threads, unit = warps * LANES + lanes, side.access.unit_bits
    return [(threads[here], bits[here] * unit) for here, bits in zip(on, position, strict=True)]


def first_byte(phase: Phase, reading: Place, last: int, first: int = 0) -> str:
    """A byte that a read touches in some of its iterations up to `last`, in words; empty if none is found."""
    run = phase.run_at(reading)
    for at in range(first, _last(phase, run, last) + 1):
        ((threads, bits),) = _starts(run, at, at + 1)
        if threads.size:
            return f"thread {threads[0]} reads byte {bits[0] // 8} in {phase.variable} = {at}"
    return ""


def _last(phase: Phase, run: Run, most: int) -> int:
    """The last iteration of a step that is looked at."""
    return min(most, run.room - 1, *(() if phase.count is None else (phase.count - 1,)))


def find_lag(phase: Phase, reading: Place, writing: Place, most: int) -> tuple[int | None, bool]:
    """The least number of iterations from a write to a read of one byte, in the iterations up to `most`.

    Returns:
        The number, None if none was found; and whether no other iteration has one then.
    """
    read, write = phase.run_at(reading), phase.run_at(writing)
    points = max(prod(node.limit for node in RunPoints(run, P, Turn(0), 1).variables) for run in (read, write))
    last = min(most, MAX_POINTS // points)
    if points > MAX_POINTS:
        return None, False
    starts = [[bits for _, bits in _starts(run, 0, _last(phase, run, last) + 1)] for run in (read, write)]
    widths = [8 * run.access.instruction.width_bytes for run in (read, write)]
    chunk = gcd(*widths, *(int(np.gcd.reduce(each)) for side in starts for each in side))
    reads, writes = (
        [frozenset(np.unique((each[:, None] + np.arange(0, width, chunk)) // chunk).tolist()) for each in side]
        for side, width in zip(starts, widths, strict=True)
    )
    for lag in range(0 if phase.roles or writing.index < reading.index else 1, len(reads)):
        pairs = {(reads[at], writes[at - lag]) for at in range(lag, len(reads)) if at - lag < len(writes)}
        if any(not one.isdisjoint(other) for one, other in pairs):
            return lag, True
    whole = phase.count is not None and len(reads) >= min(read.room, phase.count)
    return None, whole or _repeats(phase, (read, write), len(reads) // 2)


def _repeats(phase: Phase, runs: tuple[Run, Run], most: int) -> bool:
    """Whether both steps touch the same bytes again after a number of iterations, which is at most `most`."""
    node = var(phase.variable, max(1, min(run.room for run in runs)))
    sides = [RunPoints(run, prefix, Turn(0, node), 1) for run, prefix in zip(runs, (P, Q), strict=True)]
    steps = [repetition(each, node.name) for side in sides for each in (side.position.bits, side.active)]
    if any(step is None or not step.exact or step.increment for step in steps):
        return False
    return lcm(*(step.period for step in steps if step is not None)) <= most

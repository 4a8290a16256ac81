"""What registers get in a launch: by thread, by the trips of the loops around, and by the barriers
of the block that the thread has passed.

Two threads share a value by lemma 2 of section 10 of docs/semantics.md, if their occurrences of it
are equal wherever they are in the same trips behind the same barrier. `differing` finds the values
that are not shared, whatever a tool thinks of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .fetch import Array, Batch, registers_in
from .model import Instr

if TYPE_CHECKING:
    from .flow import Flow

STORES = frozenset({"st", "red", "bra", "cp", "stmatrix", "bar", "barrier", "ret", "exit", "mbarrier"})
"""Opcodes whose first operand is no result."""


class Place(NamedTuple):
    """One occurrence of a value, in all threads that have it."""

    line: int
    register: str
    block: tuple[int, int, int]
    instance: int
    """So many barriers of the block were passed before."""
    trips: tuple[tuple[int, int], ...]
    """The line of the head of each loop around, from the outermost on, with its trip from 0."""


class Difference(NamedTuple):
    """Two threads at one place with different values."""

    place: Place
    threads: tuple[int, int]
    values: tuple[int, int]


class Loops:
    """The natural loops of a function: their heads, and the blocks inside."""

    def __init__(self, flow: Flow) -> None:
        count = len(flow.nexts)
        self.before: list[set[int]] = [set() for _ in range(count)]
        for block, nexts in enumerate(flow.nexts):
            for after in nexts:
                self.before[after].add(block)
        dominators = self._dominators(count)
        self.inside: dict[int, set[int]] = {}
        for block, nexts in enumerate(flow.nexts):
            for head in nexts:
                if head in dominators[block]:
                    self.inside.setdefault(head, {head}).update(self._body(head, block))
        sizes = {head: len(blocks) for head, blocks in self.inside.items()}
        heads = sorted(sizes, key=lambda head: -sizes[head])
        self.around = [tuple(head for head in heads if block in self.inside[head]) for block in range(count)]

    def _dominators(self, count: int) -> list[set[int]]:
        """For each block the blocks that every path to it passes."""
        found = [{0}, *(set(range(count)) for _ in range(count - 1))]
        while True:
            changed = False
            for block in range(1, count):
                ways = [found[before] for before in self.before[block]]
                now = {block} | (set.intersection(*ways) if ways else set())
                changed |= now != found[block]
                found[block] = now
            if not changed:
                return found

    def _body(self, head: int, end: int) -> set[int]:
        """The blocks from which one reaches the end of a trip without the head."""
        found, todo = {head}, [end]
        while todo:
            block = todo.pop()
            if block not in found:
                found.add(block)
                todo += self.before[block]
        return found


class Recorder:
    """Writes down the occurrences of a launch, for the kernel itself and not for functions it calls."""

    def __init__(self) -> None:
        self.values: dict[Place, dict[int, int]] = defaultdict(dict)
        self._loops: Loops | None = None
        self._lines: dict[int, int] = {}
        self._at = 0

    def begin(self, block: tuple[int, int, int], lanes: int) -> None:
        """A block of the launch begins."""
        self._block = block
        self._instance = [0] * lanes
        self._last = [-1] * lanes
        self._trips: list[dict[int, int]] = [{} for _ in range(lanes)]

    def passed(self, mask: Array) -> None:
        """Threads pass a barrier of the block."""
        for lane in np.flatnonzero(mask).tolist():
            self._instance[lane] += 1

    def come(self, flow: Flow, block: int, mask: Array) -> None:
        """Threads come to a basic block."""
        if self._loops is None:
            self._loops = Loops(flow)
            instrs = flow.function.instrs
            self._lines = {each.index: instrs[min(each.start, len(instrs) - 1)].line for each in flow.blocks}
        self._at = block
        inside = self._loops.inside.get(block)
        for lane in np.flatnonzero(mask).tolist():
            if inside is not None:
                again = self._last[lane] in inside
                self._trips[lane][block] = self._trips[lane][block] + 1 if again else 0
            self._last[lane] = block

    def note(self, instr: Instr, batch: Batch) -> None:
        """An instruction has run."""
        assert self._loops is not None
        if instr.op in STORES or not instr.operands:
            return
        mask = batch.mask
        if instr.pred is not None:
            guard = batch.regs[instr.pred.slot]
            mask = mask & (~guard if instr.negated else guard)
        heads = self._loops.around[self._at]
        for register in registers_in(instr.operands[:1]):
            values = batch.regs[register.slot]
            for lane in np.flatnonzero(mask).tolist():
                trips = tuple((self._lines[head], self._trips[lane][head]) for head in heads)
                place = Place(instr.line, register.name, self._block, self._instance[lane], trips)
                self.values[place][lane] = int(values[lane])

    def differing(self, *, within_warps: bool = False) -> Iterator[Difference]:
        """Places at which two threads, or two lanes of one warp, have different values: one for each place."""
        for place, values in self.values.items():
            first: dict[int, int] = {}
            for thread, value in sorted(values.items()):
                other = first.setdefault(thread // 32 if within_warps else 0, thread)
                if values[other] != value:
                    yield Difference(place, (other, thread), (values[other], value))
                    break

"""What a run shows: unordered pairs, barriers that some threads miss or misuse, and where threads wait for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from swzverify.compiled.kernel.flow import Flow
from swzverify.compiled.ptx import Function, Immediate, Instruction
from swzverify.compiled.trial.exchange import REDUCTION
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.compiled.trial.touches import Unordered
from swzverify.hardware import LANES


@dataclass(frozen=True, slots=True)
class Hang:
    """An instruction at which a thread waits for ever: for a phase, a write, or a count of threads.

    Attributes:
        line: The line of the PTX.
        opcode: The opcode in the PTX.
        thread: The number of the first thread that waits.
    """

    line: int
    opcode: str
    thread: int


@dataclass(frozen=True, slots=True)
class Misuse:
    """An operation on a barrier object that the object is in no state for.

    Attributes:
        line: The line of the PTX.
        opcode: The opcode in the PTX.
        reason: What is wrong, with the number of a thread.
    """

    line: int
    opcode: str
    reason: str


@dataclass(frozen=True, slots=True)
class Replay:
    """What a run shows of the order of accesses to shared memory.

    Attributes:
        races: The unordered pairs, one for each two lines.
        missed: The lines of the barriers that not all threads reach.
        ended: Why the run ended early, or which of its values are not known. Empty if it shows all pairs of its launch.
        is_cut_off: Whether it would go on with more steps.
        hangs: Where threads wait for ever.
        is_fault: Whether the launch does what no launch may do.
        has_boxes: Whether it rests on what is assumed of boxes of tensor maps.
        is_partial: Whether not all accesses of some byte were compared, or kept.
        misuse: What ended the run, if that was an operation on a barrier object.
    """

    races: tuple[Unordered, ...]
    missed: frozenset[int]
    ended: str
    is_cut_off: bool = False
    hangs: tuple[Hang, ...] = ()
    is_fault: bool = False
    has_boxes: bool = False
    is_partial: bool = False
    misuse: Misuse | None = None


class Misses:
    """Barriers that some threads of a block miss: their lines in the PTX.

    `stands` has the instruction at which each thread waits, `numbers` the number or the mask of its barrier.
    """

    def __init__(self, function: Function, flow: Flow) -> None:
        self.lines: set[int] = set()
        self._function, self._flow = function, flow
        self._leading: dict[int, frozenset[int]] = {}

    def _note(self, stands: Array, waiting: int) -> None:
        self.lines.add(self._function.instructions[int(stands[waiting])].line)

    def note_parted(self, stands: Array, waiting: Array) -> None:
        """Threads stand at several places of one barrier, and one of these needs a warp, or all, at the same one."""
        stand: list[int] = np.unique(stands[waiting]).tolist()
        places = [self._function.instructions[each] for each in stand]
        warps = np.zeros_like(waiting) if any(map(_is_syncthreads, places)) else waiting // LANES
        groups = [waiting[warps == each] for each in np.unique(warps)]
        for group in groups if len(places) > 1 and any(map(_is_aligned, places)) else ():
            for place in stand:
                here = stands[group] == place
                if here.any() and not here.all():
                    self._note(stands, int(group[here][0]))

    def note_ended(self, stands: Array, waiting: Array, ended: Mask, touched: Mapping[int, Mask]) -> None:
        """Threads ended behind an access from which no path leads to the barrier: they do not count as arrived."""
        places: list[int] = np.unique(stands[waiting]).tolist()
        behind = [self._leading_to(each) for each in places]
        for index, threads in touched.items():
            is_absent = bool((threads & ended).any())
            block = self._flow.block_of[index]
            leads = any(
                block in blocks or (block == self._flow.block_of[place] and index < place)
                for place, blocks in zip(places, behind, strict=True)
            )
            if is_absent and not leads:
                self._note(stands, int(waiting[0]))

    def _leading_to(self, place: int) -> frozenset[int]:
        """The blocks at whose end a path to an instruction begins."""
        if place not in self._leading:
            found: set[int] = set()
            wanted = {self._flow.block_of[place]}
            while wanted:
                before = {block.index for block in self._flow.blocks if any(way.target in wanted for way in block.ways)}
                wanted = before - found
                found |= before
            self._leading[place] = frozenset(found)
        return self._leading[place]

    def note_stuck(self, stands: Array, numbers: Array, of_warp: Mask, alive: Mask) -> None:
        """Nobody can go on: each barrier lacks a thread that waits elsewhere."""
        waiting = np.flatnonzero(alive)
        for thread in waiting.tolist():
            alike = (of_warp == of_warp[thread]) & (numbers == numbers[thread])
            if of_warp[thread]:
                named = numbers[thread] >> (waiting % LANES) & 1 != 0
                others = waiting[(waiting // LANES == thread // LANES) & named & ~alike[waiting]]
            else:
                others = waiting[~alike[waiting]]
            if len(others):
                self._note(stands, thread)


def _is_aligned(instruction: Instruction) -> bool:
    """Whether all lanes of a warp have to execute a barrier of the block at one place."""
    words = instruction.opcode.split(".")
    return words[0] == "bar" or "aligned" in words


def _is_syncthreads(instruction: Instruction) -> bool:
    """Whether C++ has this barrier as a call to which all threads of the block have to come.

    Source: CUDA Programming Guide, Synchronization Functions; docs/semantics.md, section 10.
    """
    reduces = REDUCTION.fullmatch(instruction.opcode) is not None
    named = instruction.operands[1:-1] if reduces else instruction.operands
    return _is_aligned(instruction) and list(named) == [Immediate(0)]

"""Verdicts on races: of a pair of accesses, and of a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class RaceVerdict(StrEnum):
    """What is known of the order of shared-memory accesses."""

    FREE = "free"
    RACE = "race"
    BENIGN = "race-benign"
    DEPENDS = "depends"
    DIVERGENT = "divergent-barrier"
    DEADLOCK = "deadlock"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Participant:
    """One of the two accesses of a pair.

    Attributes:
        line: The line of the PTX.
        opcode: The opcode in the PTX.
        source: The place in the source as text, such as `kernel.cu:12`; empty if it is not known.
        calls: The lines of the inlined calls that lead to it.
    """

    line: int
    opcode: str
    source: str = ""
    calls: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Witness:
    """Two threads of one block that touch one byte, neither ordered before the other.

    Attributes:
        threads: The numbers of the two threads in the block (x fastest).
        trips: For each of the two, the line of the head of each loop around the access and its trip, from 0.
        byte: The byte offset in the block's shared memory, or in the array that `array` names.
        array: The name of the array; empty if the address names none.
        parameters: The value of each launch value or parameter that the witness needs, by name.
        is_replayed: Whether an interpreter ran both threads and found them unordered.
    """

    threads: tuple[int, int]
    trips: tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
    byte: int
    array: str
    parameters: tuple[tuple[str, int], ...]
    is_replayed: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses that can meet between two barriers, with the verdict on them.

    Attributes:
        first: One access.
        second: The other one; the same for two threads of one instruction.
        verdict: The verdict.
        reason: Why it is so, for people.
        engines: The engines that proved `free`.
        witness: Of a race.
        condition: Of `depends`: the condition on parameters under which it races, as text.
    """

    first: Participant
    second: Participant
    verdict: RaceVerdict
    reason: str
    engines: tuple[str, ...] = ()
    witness: Witness | None = None
    condition: str = ""


@dataclass(frozen=True, slots=True)
class BarrierFinding:
    """A barrier, or another instruction at which threads wait, with the verdict on whether all threads go on.

    Attributes:
        line: The line of the PTX.
        opcode: The opcode in the PTX.
        source: The place in the source as text.
        verdict: `free` if all threads reach it together, `divergent-barrier`, `deadlock` if threads wait there for
            ever, `depends` if they do for some parameters, or `unknown`.
        reason: Why it is so.
        is_misuse: Whether it is an operation on a barrier object that is in no state for it: then the verdict is
            `divergent-barrier`, or `depends`.
    """

    line: int
    opcode: str
    source: str
    verdict: RaceVerdict
    reason: str
    is_misuse: bool = False


@dataclass(frozen=True, slots=True)
class KernelRaces:
    """What is known of the races of a kernel's shared-memory accesses.

    Attributes:
        verdict: The verdict on the kernel: the worst of its pairs and barriers, `free` only if all are.
        reason: Why it is so, in one sentence.
        pairs: The pairs that are not free, worst first; free ones are counted only.
        free_pairs: How many pairs are free.
        barriers: The barriers.
        assumptions: What the verdict assumes, a sentence each.
        is_lockstep: Whether the lanes of a warp were taken to run in lockstep (`--lockstep`).
        free_by: What proved the free pairs: engines, joined by `+`, or `distinct arrays`; and how many pairs each.
    """

    verdict: RaceVerdict
    reason: str
    pairs: tuple[Pair, ...] = ()
    free_pairs: int = 0
    barriers: tuple[BarrierFinding, ...] = ()
    assumptions: tuple[str, ...] = ()
    is_lockstep: bool = False
    free_by: tuple[tuple[str, int], ...] = ()


_WORST_FIRST: Final = (
    RaceVerdict.DIVERGENT,
    RaceVerdict.DEADLOCK,
    RaceVerdict.RACE,
    RaceVerdict.DEPENDS,
    RaceVerdict.UNKNOWN,
    RaceVerdict.BENIGN,
    RaceVerdict.FREE,
)


def rank(verdict: RaceVerdict) -> int:
    """The place of a verdict in the order in which one decides that of the whole: the worst one is 0.

    >>> rank(RaceVerdict.RACE) < rank(RaceVerdict.UNKNOWN) < rank(RaceVerdict.FREE)
    True
    """
    return _WORST_FIRST.index(verdict)


def worst_of(found: Iterable[BarrierFinding | Pair]) -> tuple[RaceVerdict, str] | None:
    """The worst verdict of pairs and barriers, with the reason of the first that has it; None without any."""
    worst = min(found, key=lambda each: rank(each.verdict), default=None)
    return None if worst is None else (worst.verdict, worst.reason)

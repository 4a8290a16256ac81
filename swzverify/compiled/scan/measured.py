"""What a GPU's counters say of a scanned access, instruction by instruction.

The counters hold no verdict up and change none: they agree with it, contradict it, or say nothing.
`free` and an exact `conflict` bound what each machine instruction takes; a `conflict` that every
thread must meet has to be seen.

The counters of whole launches agree with a verdict or leave it open. They never contradict one: an
access that takes fewer wavefronts than the ideal, since its lanes read one word, can hide another
one's conflict, and lanes that take no part can make the ideal too small. Counters of each
instruction can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from swzverify.compiled.profiler import Counts, Total
from swzverify.compiled.sass import SassInstruction
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.joined import Relation
from swzverify.compiled.scan.scanned import ScannedAccess
from swzverify.compiled.scan.verdict import Verdict
from swzverify.hardware import LANES

Counted = Mapping[tuple[str, int], Counts]
"""Counters by the section and the place of an instruction in it."""
_NO_BOUND: Final = "the cost of this instruction is not known"
_WORD_BITS: Final = 32


class Status(StrEnum):
    """How counters and a verdict stand to each other.

    - `AGREES`: what was counted is what the verdict says.
    - `DISAGREES`: it cannot be so, if the verdict is right.
    - `NOT_SEEN`: no warp executed the access in what was profiled.
    - `OPEN`: it was counted, and the verdict leaves open what this launch costs.
    """

    AGREES = "agrees"
    DISAGREES = "disagrees"
    NOT_SEEN = "not seen"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Row:
    """A machine instruction that was executed, with its counts.

    `most` is the most wavefronts of one warp instruction by the verdict; None if the verdict has no
    bound.
    """

    instruction: SassInstruction
    counts: Counts
    most: int | None = None

    @property
    def is_exceeded(self) -> bool:
        """Whether more was counted than the verdict allows."""
        return self.most is not None and self.counts.wavefronts > self.most * self.counts.executed

    @property
    def has_conflict(self) -> bool:
        """Whether the counters saw a bank conflict."""
        least = self.counts.ideal
        if least is None:
            least = (_groups(self.instruction) or 1) * self.counts.executed
        return self.counts.wavefronts > least * _fills_twice(self.instruction)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was counted of an access, and how the verdict stands to it."""

    status: Status
    reason: str = ""
    rows: tuple[Row, ...] = ()


def measured_in(access: ScannedAccess, launches: Sequence[Counted], *, is_alone: bool = True) -> Measured:
    """Hold the verdict on the chip against several launches, as `measured` does for one.

    Each launch is compared alone, so that none hides another one; the counts are sums.
    """
    for number, each in enumerate(launches, 1):
        found = measured(access, each, is_alone=is_alone)
        if found.status is Status.DISAGREES:
            where = f" (launch {number} of {len(launches)})" if len(launches) > 1 else ""
            return replace(found, reason=found.reason + where)
    whole: dict[tuple[str, int], Counts] = {}
    for each in launches:
        for place, counts in each.items():
            whole[place] = whole[place] + counts if place in whole else counts
    return measured(access, whole, is_alone=is_alone)


def measured(access: ScannedAccess, counted: Counted, *, is_alone: bool = True) -> Measured:
    """Hold the verdict on the chip against the counters of one launch.

    `is_alone` says that no other access has the same line of the PTX.
    """
    chip = access.chip
    if chip is None:
        return Measured(Status.NOT_SEEN, "there is no machine code of this kernel")
    if not chip.code:
        return Measured(Status.NOT_SEEN, "no machine instruction has this line")
    found = [
        (each, counts) for each in chip.code if (counts := counted.get((each.section, each.offset_bytes))) is not None
    ]
    if not found:
        return Measured(Status.NOT_SEEN, "the counters do not have its instructions")
    made = [(each, counts) for each, counts in found if counts.executed and counts.wavefronts]
    if not made:
        return Measured(Status.NOT_SEEN, "no lane made it in what was profiled")
    decision = chip.decision
    bound = decision.wavefronts if not decision.at_least else None
    # A loop of parts has no known cost; a merged instruction that is free takes its groups.
    is_plain = decision.verdict is Verdict.FREE and chip.relation is Relation.MERGED
    rows = tuple(
        Row(each, counts, _most(each, _groups(each) if bound is None and is_plain else bound, decision.minimum))
        for each, counts in made
    )
    if is_alone and decision.reason == NEVER_MADE and any(row.counts.lanes for row in rows):
        return Measured(Status.DISAGREES, "no lane makes it by the verdict, and lanes were counted", rows)
    if decision.verdict is Verdict.UNKNOWN:
        return Measured(Status.OPEN, "there is no verdict on the chip", rows)
    if not is_alone:
        return Measured(Status.OPEN, "several accesses have this line of the PTX", rows)
    if any(row.is_exceeded for row in rows):
        if decision.assumes:
            return Measured(
                Status.OPEN, f"the launch does not keep what is assumed: {'; '.join(decision.assumes)}", rows
            )
        return Measured(Status.DISAGREES, "more wavefronts were counted than the verdict allows", rows)
    if decision.verdict is Verdict.FREE:
        bounded = all(row.most is not None for row in rows)
        return Measured(Status.AGREES if bounded else Status.OPEN, "" if bounded else _NO_BOUND, rows)
    if decision.verdict is Verdict.DEPENDS:
        return Measured(Status.OPEN, "it depends on parameters, which the counters do not have", rows)
    if any(row.has_conflict for row in rows):
        return Measured(Status.AGREES, "" if bound is not None else "at least so many; more is no contradiction", rows)
    if decision.is_for_some:
        return Measured(Status.OPEN, "this run had no conflict; other arguments or data have one", rows)
    if access.is_certain and all(row.counts.lanes == LANES * row.counts.executed for row in rows):
        return Measured(Status.DISAGREES, "every thread made it, and no conflict was counted", rows)
    return Measured(Status.OPEN, "this run had no conflict; others may have one, or the verdict is wrong", rows)


def _most(instruction: SassInstruction, bound: int | None, minimum: int | None) -> int | None:
    """The bound, where the verdict does not count what a copy with zeros takes."""
    counts_once = minimum is None or minimum <= (_groups(instruction) or 0)
    return bound if bound is None or not counts_once else bound * _fills_twice(instruction)


def _fills_twice(instruction: SassInstruction) -> int:
    """How often the counter counts a wavefront.

    It is twice for LDGSTS.BYPASS.ZFILL, even if all bytes are read, which takes no more time.

    Source: measured on an H100, docs/hardware.md.
    """
    return 2 if instruction.opcode.bypasses and instruction.opcode.fills else 1


def _groups(instruction: SassInstruction) -> int | None:
    """The groups of lanes of a warp instruction; if it is free, each group takes one wavefront."""
    opcode = instruction.opcode
    if opcode.kind is not None and opcode.kind.moves_matrices:
        return opcode.matrices or None
    if opcode.width_bits is None or opcode.kind is None:
        return None
    return max(1, opcode.width_bits // _WORD_BITS)


def held_against(accesses: Sequence[ScannedAccess], launches: Sequence[Total]) -> list[Measured]:
    """For each access of a kernel, how its verdict stands to the totals of the launches."""
    if not any(each.wavefronts for each in launches):
        return [Measured(Status.NOT_SEEN, "no wavefront in shared memory was counted")] * len(accesses)
    is_exceeded = any(each.wavefronts > each.ideal for each in launches)
    is_free = all(each.settled.verdict is Verdict.FREE for each in accesses)
    return [_held(each.settled.verdict, is_exceeded=is_exceeded, is_free=is_free) for each in accesses]


def _held(verdict: Verdict, *, is_exceeded: bool, is_free: bool) -> Measured:
    match verdict:
        case Verdict.FREE if not is_exceeded:
            return Measured(Status.AGREES, "the kernel took no more wavefronts than the ideal")
        case Verdict.FREE if is_free:
            why = "the kernel took more wavefronts than the ideal: --check-run counts each instruction"
            return Measured(Status.OPEN, why)
        case Verdict.FREE:
            return Measured(Status.OPEN, "the total of the kernel does not tell it from the other accesses")
        case Verdict.CONFLICT if is_exceeded:
            return Measured(Status.AGREES, "the kernel took more wavefronts than the ideal")
        case Verdict.CONFLICT:
            return Measured(Status.OPEN, "the kernel took no more wavefronts than the ideal")
        case Verdict.DEPENDS:
            return Measured(Status.OPEN, "it depends on parameters, which the counters do not have")
        case _:
            return Measured(Status.OPEN, "there is no verdict")

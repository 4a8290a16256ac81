"""The problems that a scan found, each once, the most expensive one first.

Instructions with one source line and one verdict are one block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.scan import ScannedAccess, Verdict
from swzverify.compiled.scan.measured import Measured, Status
from swzverify.report.scan import ScannedFile
from swzverify.report.source_line import SourceLine, source_line

_NUMBERS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Shown:
    """An access with its counters, the line of its source, and whether it is a known finding."""

    access: ScannedAccess
    measured: Measured | None
    source: SourceLine | None
    is_known: bool = False

    @property
    def is_problem(self) -> bool:
        """Whether a person has to look at it: machine code has the last word on what is free."""
        return self.has_fault or self.access.settled.verdict not in (Verdict.FREE, Verdict.BULK)

    @property
    def has_fault(self) -> bool:
        """Whether a lane breaks a claim, or counters contradict the verdict."""
        is_contradicted = self.measured is not None and self.measured.status is Status.DISAGREES
        return is_contradicted or any(each.is_broken for each in self.access.claims)

    @property
    def wasted(self) -> int:
        """The wavefronts that a warp wastes in a launch, as far as that is known.

        They are those of one execution, times the executions if these are counted.
        """
        settled = self.access.settled
        if settled.verdict not in (Verdict.CONFLICT, Verdict.DEPENDS):
            return 0
        once = settled.wasted if settled.wasted is not None else (settled.ways or 1) - 1
        return once * (self.access.executions or 1)


@dataclass(frozen=True, slots=True)
class Block:
    """Problems that are one for a person, the worst one first."""

    members: tuple[Shown, ...]

    @property
    def worst(self) -> Shown:
        """The one that is told in full."""
        return self.members[0]

    @property
    def rank(self) -> tuple[bool, bool, bool, int]:
        """The place among the others: known findings last, faults first, then by wasted wavefronts."""
        worst = self.worst
        is_open = worst.access.settled.verdict is Verdict.UNKNOWN
        return worst.is_known, not worst.has_fault, is_open, -sum(each.wasted for each in self.members)


@dataclass(frozen=True, slots=True)
class KernelPart:
    """The accesses of one kernel of a file, in the order of the text."""

    file: ScannedFile
    shown: tuple[Shown, ...]

    @property
    def first(self) -> ScannedAccess:
        """Any access of the kernel."""
        return self.shown[0].access

    def blocks(self, *, known: bool = True) -> list[Block]:
        """The problems, the worst one first; without `known`, only those that are new."""
        found: dict[tuple[object, ...], list[Shown]] = {}
        for each in self.shown:
            if each.is_problem and (known or each.has_fault or not each.is_known):
                found.setdefault(_alike(each), []).append(each)
        blocks = [Block(tuple(sorted(each, key=lambda one: -one.wasted))) for each in found.values()]
        return sorted(blocks, key=lambda block: block.rank)


def kernel_parts(files: Sequence[ScannedFile], known: Sequence[bool] = ()) -> Iterator[KernelPart]:
    """The accesses of each kernel; `known` tells the known failures, access by access."""
    is_known = iter(known)
    for file in files:
        shown: list[Shown] = []
        for access, found in file.held:
            if shown and access.kernel != shown[0].access.kernel:
                yield KernelPart(file, tuple(shown))
                shown = []
            source = source_line(access.location, file.sources)
            shown.append(Shown(access, found, source, next(is_known, False)))
        if shown:
            yield KernelPart(file, tuple(shown))


def _alike(shown: Shown) -> tuple[object, ...]:
    """What problems of one block have in common.

    It is the source line and the verdict; without a source line the opcode, the figures and the lanes.
    """
    access, settled = shown.access, shown.access.settled
    broken = tuple((number, each.verdict) for number, each in enumerate(access.claims) if each.is_broken)
    status = None if shown.measured is None else shown.measured.status
    reason = "" if settled.verdict is Verdict.CONFLICT else _NUMBERS.sub("#", settled.reason)
    common = (settled.verdict, reason, broken, status, shown.is_known, access.is_of_ptx)
    if shown.source is not None:
        return (shown.source.chain, *common)
    return (access.opcode, settled.ways, settled.wavefronts, settled.at_least, settled.lanes, *common)

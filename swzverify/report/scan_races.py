"""Races, divergent barriers and hangs as findings: each once for two source lines, with the name of a known finding.

Pairs of two source lines with the same opcodes and one verdict are one finding, such as those of an
unrolled loop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kinds import ONE_WRITER, RACE_FREE
from swzverify.compiled.order.verdict import BarrierFinding, KernelRaces, Pair, Participant, RaceVerdict
from swzverify.compiled.scan import ScannedAccess
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_race_record import source_place
from swzverify.report.source_line import below, source_line

PAIRS: Final = (RaceVerdict.RACE, RaceVerdict.DEPENDS, RaceVerdict.BENIGN)
"""The verdicts of pairs that are findings, the gravest first."""
_BARRIERS: Final = (RaceVerdict.DIVERGENT, RaceVerdict.DEADLOCK, RaceVerdict.DEPENDS)
"""The verdicts of barriers that are findings."""
_LINES: Final = re.compile(r"@\d+")


@dataclass(frozen=True, slots=True)
class RaceFinding:
    """A race, a barrier that not all threads reach, or an instruction at which threads wait for ever.

    Attributes:
        file: The file of the kernel.
        kernel: The name of the kernel.
        races: The races of the kernel.
        id: What the finding is known by from run to run, without the kind of its claim: no register, and no line.
        verdict: The verdict.
        pairs: The pairs of instructions; empty for a barrier.
        barrier: The barrier; None for pairs.
    """

    file: ScannedFile
    kernel: str
    races: KernelRaces
    id: str
    verdict: RaceVerdict
    pairs: tuple[Pair, ...] = ()
    barrier: BarrierFinding | None = None

    @property
    def block(self) -> BlockShape | None:
        """The shape of the block that was judged."""
        return block_of(self.file, self.kernel)

    @property
    def kind(self) -> str:
        """The kind of claim that it breaks."""
        return (ONE_WRITER if self.verdict is RaceVerdict.BENIGN else RACE_FREE).kind

    @property
    def result_id(self) -> str:
        """The id of its claim."""
        return f"{self.id}::{self.kind}"

    @property
    def sides(self) -> tuple[Participant | BarrierFinding, ...]:
        """The instructions that take part; of several pairs those of the first one."""
        if self.barrier is not None:
            return (self.barrier,)
        first, second = self.pairs[0].first, self.pairs[0].second
        return (first,) if first == second else (first, second)


def race_findings(files: Sequence[ScannedFile]) -> Iterator[RaceFinding]:
    """The findings of all kernels, kernel by kernel, in each the gravest first."""
    seen: Counter[str] = Counter()
    for file in files:
        for kernel, races in file.races.items():
            for verdict, pairs, barrier in _grouped(file, kernel, races):
                sides = (barrier,) if barrier is not None else (pairs[0].first, pairs[0].second)
                words = " and ".join(dict.fromkeys(_known_by(file, kernel, each) for each in sides))
                name = f"{file.name}::{kernel}::{words}"
                seen[name] += 1
                number = f"#{seen[name]}" if seen[name] > 1 else ""
                yield RaceFinding(file, kernel, races, name + number, verdict, pairs, barrier)


def _grouped(
    file: ScannedFile, kernel: str, races: KernelRaces
) -> Iterator[tuple[RaceVerdict, tuple[Pair, ...], BarrierFinding | None]]:
    for barrier in races.barriers:
        if barrier.verdict in _BARRIERS:
            yield barrier.verdict, (), barrier
    for verdict in PAIRS:
        groups: dict[tuple[object, ...], list[Pair]] = {}
        for pair in races.pairs:
            if pair.verdict is verdict:
                sides = ((each.opcode, place_of_side(file, kernel, each)) for each in (pair.first, pair.second))
                groups.setdefault((*sides, pair.condition), []).append(pair)
        for pairs in groups.values():
            yield verdict, tuple(pairs), None


def place_of_side(file: ScannedFile, kernel: str, side: Participant | BarrierFinding) -> tuple[str, int]:
    """The file and line at which a person looks for an instruction."""
    access = _access(file, kernel, side)
    found = None if access is None else source_line(access.location, file.sources)
    place = source_place(side.source, file.sources) if found is None else (found.shown.file, found.shown.line)
    return (file.name, side.line) if place is None else (below(place[0]) or place[0], place[1])


def block_of(file: ScannedFile, kernel: str) -> BlockShape | None:
    """The shape of the block with which a kernel was judged; None if it is not known."""
    return next((each.block for each in (*file.accesses, *file.operands) if each.kernel == kernel), None)


def _access(file: ScannedFile, kernel: str, side: Participant | BarrierFinding) -> ScannedAccess | None:
    """The access that an instruction makes."""
    calls = side.calls if isinstance(side, Participant) else ()
    lines = (each for each in file.accesses if (each.kernel, each.line, each.calls) == (kernel, side.line, calls))
    return next(lines, None)


def _known_by(file: ScannedFile, kernel: str, side: Participant | BarrierFinding) -> str:
    access = _access(file, kernel, side)
    return f"{side.opcode} {'' if access is None else _LINES.sub('', access.address)}".rstrip()

"""The races of compiled kernels as claims with verdicts: a kernel that is free, or each finding.

A kernel whose races are not decided is left out, as undecided claims are; text and JSON have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from swzverify.claims.verdict import Counterexample, Outcome, Row, Verdict
from swzverify.compiled.kinds import RACE_FREE
from swzverify.compiled.order.verdict import KernelRaces, Pair, RaceVerdict
from swzverify.report.result import ClaimResult
from swzverify.report.scan import ScannedFile, block_words
from swzverify.report.scan_race_record import coordinates_of
from swzverify.report.scan_race_text import readable, witness_lines
from swzverify.report.scan_races import RaceFinding, block_of, place_of_side, race_findings

_COLUMNS = ("line", "instruction", "thread")


def race_results(files: Sequence[ScannedFile]) -> Iterator[ClaimResult]:
    """A result for each kernel with accesses that is free, and for each finding."""
    seen: Counter[str] = Counter()
    for file in files:
        accessed = {each.kernel: each for each in (*file.operands, *file.accesses)}
        for kernel, races in file.races.items():
            if races.verdict is RaceVerdict.FREE and kernel in accessed:
                place = accessed[kernel].line
                verdict = Verdict(Outcome.PROVED, _scope(file, kernel, races), reason=races.reason)
                seen[name := f"{file.name}::{kernel}"] += 1
                name += f"#{seen[name]}" if seen[name] > 1 else ""
                name += f"::{RACE_FREE.kind}"
                yield ClaimResult(name, file.name, place, RACE_FREE.kind, kernel, Outcome.PROVED, verdict)
    yield from map(_result, race_findings(files))


def _result(finding: RaceFinding) -> ClaimResult:
    file, side = finding.file, finding.sides[0]
    place, line = place_of_side(file, finding.kernel, side)
    origin = f" ({file.origin})" if file.origin else ""
    lines = " and ".join(dict.fromkeys(str(each.line) for each in finding.sides))
    words = " and ".join(dict.fromkeys(each.opcode for each in finding.sides))
    return ClaimResult(
        finding.result_id,
        place,
        line,
        finding.kind,
        f"{finding.kernel}: {words}",
        Outcome.PROVED,
        _verdict(finding),
        source=f"{file.name}{origin}, line {lines}",
    )


def _scope(file: ScannedFile, kernel: str, races: KernelRaces) -> str:
    known = [block_words(block_of(file, kernel)), *(f"assumed {text}" for text in races.assumptions)]
    return ", ".join(known + (["lanes of a warp in lockstep"] if races.is_lockstep else []))


def _verdict(finding: RaceFinding) -> Verdict:
    scope = _scope(finding.file, finding.kernel, finding.races)
    if finding.barrier is not None:
        return Verdict(Outcome.REFUTED, scope, reason=readable(finding.barrier.reason))
    pair = finding.pairs[0]
    if finding.verdict is RaceVerdict.DEPENDS:
        scope += ", for some values of parameters"
    more = f"{len(finding.pairs)} pairs of instructions of these lines" if len(finding.pairs) > 1 else ""
    condition = f"condition: {readable(pair.condition)}" if pair.condition else ""
    notes = tuple(each for each in (condition, more) if each)
    example = _example(finding, pair)
    return Verdict(Outcome.REFUTED, scope, pair.engines, reason=pair.reason, counterexample=example, notes=notes)


def _example(finding: RaceFinding, pair: Pair) -> Counterexample | None:
    """The two threads at their instructions."""
    witness = pair.witness
    if witness is None:
        return None
    rows: list[Row] = []
    for side, thread in zip((pair.first, pair.second), witness.threads, strict=True):
        place, line = place_of_side(finding.file, finding.kernel, side)
        who = (thread, 0, 0) if finding.block is None else coordinates_of(thread, finding.block)
        rows.append(Row((f"{place}:{line}", side.opcode, who), "x"))
    note = "; ".join(witness_lines(witness, finding.block))
    values = {readable(name): value for name, value in witness.parameters}
    return Counterexample(values, note, _COLUMNS, tuple(rows))

"""Scanned accesses as claims with verdicts, for the reports that know claims.

Each access is claimed to be free of conflicts, and to satisfy the claims of the registry
`compiled/kinds.py`. Undecided claims of the registry are left out; the scan's text and JSON have
them. Kernels are claimed to be free of races.

An access has its source line (`source_line`), if `.loc` gives one, else its line of the PTX.

A kernel without races is one claim; otherwise each finding is one. A kernel whose races are not
decided is left out, as undecided claims are; text and JSON have it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
from swzverify.compiled.kinds import OPERAND_CLAIMS, RACE_CLAIMS, RACE_FREE, SCAN_CLAIMS
from swzverify.compiled.order.verdict import KernelRaces, Pair, RaceVerdict
from swzverify.compiled.scan import AnyOperand, Claim, ClaimVerdict, ScannedAccess
from swzverify.compiled.scan import Verdict as Scanned
from swzverify.compiled.scan.measured import Measured, Status
from swzverify.compiled.scan.verdict import Decision
from swzverify.explain.pictures import Picture
from swzverify.hardware import access_cost
from swzverify.report.result import ClaimResult, ExitCode, Report
from swzverify.report.rules import Rule, Vocabulary
from swzverify.report.scan import ScannedFile, block_words, conflict_words, shape_words
from swzverify.report.scan_chip import chip_words, differs
from swzverify.report.scan_counts import row_words
from swzverify.report.scan_names import ScanNames
from swzverify.report.scan_race_record import coordinates_of
from swzverify.report.scan_race_text import readable, witness_lines
from swzverify.report.scan_races import RaceFinding, block_of, place_of_side, race_findings
from swzverify.report.source_line import below, source_line

KIND: Final = "bank_conflicts"
COUNTERS: Final = "counters"
KINDS: Final = {
    "conflict": KIND,
    **{each.failure: each.kind for each in (*OPERAND_CLAIMS, *RACE_CLAIMS)},
    "disagreement": COUNTERS,
}
"""What --fail-on names, and the kind of claim that is then refuted."""
NOTHING: Final = "no access to shared memory found"
NO_VERDICT: Final = "no verdict: bulk copies have none on bank conflicts, and no other claim was decided"
"""What a report says of kernels all of whose accesses are bulk copies or operands, if nothing is known of them."""
_LINES: Final = re.compile(r"@\d+")
_WITNESS: Final = ("warp", "lane", "thread", "at")
_COLUMNS: Final = ("lane", "thread", "offset", "bank")
_OUTCOMES: Final = {
    Scanned.FREE: Outcome.PROVED,
    Scanned.CONFLICT: Outcome.REFUTED,
    Scanned.DEPENDS: Outcome.REFUTED,
    Scanned.UNKNOWN: Outcome.UNKNOWN,
}
VOCABULARY: Final = Vocabulary(
    (
        Rule(
            KIND,
            "No warp instruction has a bank conflict.",
            "The compiled kernel has an access whose lanes need different words of one bank, or one that could not "
            "be decided. Pad or swizzle the array, or change which lane takes which element; the table has the lanes.",
        ),
        *(Rule(each.kind, each.meaning, each.help) for each in (*OPERAND_CLAIMS, *RACE_CLAIMS)),
        Rule(
            COUNTERS,
            "A GPU's counters say what the verdict says.",
            "Nsight Compute counted wavefronts that the verdict on the machine code rules out. Check that the block, "
            "the parameters and the build are those of the profiled launch; else this is a fault of swzverify.",
        ),
    ),
    {
        0: "every access was listed",
        1: "there is a verdict that --fail-on names",
        2: "an error in a file, in the usage, or in swzverify",
        5: NOTHING,
        ExitCode.INTERRUPTED: "interrupted: the report is on what was judged",
    },
)


def report_of(files: Sequence[ScannedFile], wall_ms: float = 0.0, *, pictures: bool = False) -> Report:
    """The accesses as results, in their order; problems are what could not be read.

    `pictures` draws the conflicts that are known lane by lane.
    """
    seen: Counter[str] = Counter()
    results: list[ClaimResult] = []
    for file in files:
        for access, counted in file.held:
            name = _id(file, access)
            seen[name] += 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            if access.settled.verdict is not Scanned.BULK:
                found = _result(file, access, f"{name}{number}::{KIND}", KIND, _verdict(access))
                found = replace(found, cures=access.cures) if found.failing else found
                results.append(replace(found, picture=_picture(access.decision)) if pictures else found)
            for kind, claim in zip((each.kind for each in SCAN_CLAIMS), access.claims, strict=True):
                if claim.verdict is not ClaimVerdict.UNKNOWN:
                    results.append(_result(file, access, f"{name}{number}::{kind}", kind, _of_claim(access, claim)))
            if counted is not None and counted.status is Status.DISAGREES:
                results.append(
                    _result(file, access, f"{name}{number}::{COUNTERS}", COUNTERS, _contradicted(access, counted))
                )
        for operand in file.operands:
            name = _id(file, operand)
            seen[name] += 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            for each, claim in zip(operand.kinds, operand.claims, strict=True):
                if claim.verdict is not ClaimVerdict.UNKNOWN:
                    verdict = _of_claim(operand, claim)
                    results.append(_result(file, operand, f"{name}{number}::{each.kind}", each.kind, verdict))
    results += race_results(files)
    problems = tuple(problem for file in files for problem in file.problems)
    names = ScanNames(kernel for file in files for kernel in file.kernels)
    results = [_readable(each, names) for each in results]
    has_accesses = any(file.accesses or file.operands for file in files)
    return Report(tuple(results), problems, wall_ms, nothing=NO_VERDICT if has_accesses else NOTHING)


def _readable(result: ClaimResult, names: ScanNames) -> ClaimResult:
    """A result with the names that people read.

    Files of known failures compare the id and the scope, which stay as they are.
    """
    verdict = result.verdict
    example = verdict.counterexample
    verdict = replace(
        verdict,
        reason=names.line(verdict.reason),
        notes=tuple(map(names.line, verdict.notes)),
        counterexample=None if example is None else replace(example, note=names.line(example.note)),
    )
    return replace(result, subject=names.line(result.subject), verdict=verdict)


def _id(file: ScannedFile, access: ScannedAccess | AnyOperand) -> str:
    """What an access is known by from run to run: no register, and no line."""
    address = _LINES.sub("", access.address)
    role = f" {access.fields.role}" if not isinstance(access, ScannedAccess) else ""
    return f"{file.name}::{access.kernel}::{access.opcode}{role} {address}".rstrip()


def _result(
    file: ScannedFile, access: ScannedAccess | AnyOperand, name: str, kind: str, verdict: Verdict
) -> ClaimResult:
    place, line = place_of(file, access)
    origin = f" ({file.origin})" if file.origin else ""
    return ClaimResult(
        name,
        place,
        line,
        kind,
        f"{access.kernel}: {access.instruction}",
        Outcome.PROVED,
        verdict,
        source=f"{file.name}{origin}, line {access.line}",
    )


def place_of(file: ScannedFile, access: ScannedAccess | AnyOperand) -> tuple[str, int]:
    """The file and line at which a person looks for an access."""
    found = source_line(access.location, file.sources)
    if found is None:
        return file.name, access.line
    return below(found.shown.file) or found.shown.file, found.shown.line


def _verdict(access: ScannedAccess) -> Verdict:
    decision = access.settled
    known = [shape_words(access), *(f"assumed {text}" for text in access.assumptions)]
    if decision.verdict is Scanned.DEPENDS:
        known.append(f"for some values of {', '.join(decision.parameters)}")
    measure: Measure | None = None
    if decision.wavefronts is not None and decision.minimum is not None:
        where = {} if decision.table is None else {"warp": decision.table.warp}
        worst = WarpMeasure(decision.wavefronts, decision.minimum, where)
        measure = Measure.of_one(worst, exact=not decision.at_least)
    elif decision.ways is not None and decision.ways > 1:
        # Without a measure the scope is what a file of known failures compares.
        known.append(conflict_words(decision))
    counterexample: Counterexample | None = None
    if _OUTCOMES[decision.verdict] is Outcome.REFUTED:
        rows = tuple(
            Row((row.lane, row.thread, row.offset, row.bank), "x" if row.collides else "") for row in decision.lanes
        )
        binding = {} if decision.table is None else {"warp": decision.table.warp}
        counterexample = Counterexample(binding, conflict_words(decision), _COLUMNS if rows else (), rows)
    return Verdict(
        _OUTCOMES[decision.verdict],
        ", ".join(known),
        decision.engines,
        reason=decision.reason,
        measure=measure,
        counterexample=counterexample,
        notes=((f"address: {access.address}",) if access.address else ()) + _of_machine(access),
    )


def _of_machine(access: ScannedAccess) -> tuple[str, ...]:
    """Notes on a finding where the machine code has another verdict than the PTX."""
    if access.is_of_ptx or access.chip is None or not differs(access):
        return ()
    return (chip_words(access.chip), f"in the PTX: {access.decision.verdict}")


def _contradicted(access: ScannedAccess, found: Measured) -> Verdict:
    """The result for a verdict that counters contradict; other verdicts have none."""
    words = f"{found.reason}: {'; '.join(row_words(each) for each in found.rows)}"
    return Verdict(Outcome.REFUTED, shape_words(access), (), reason=words)


def _picture(decision: Decision) -> Picture | None:
    """The picture of the warp instruction that conflicts.

    None if its lanes are not known, or if the picture would not show what was decided.
    """
    table = decision.table
    if table is None or table.instruction is None or not table.addresses:
        return None
    cost = access_cost(table.instruction, table.addresses)
    if max(group.wavefronts for group in cost.groups) != decision.ways:
        return None
    from swzverify.explain.pictures.views.refuted import refuted_lanes  # noqa: PLC0415 - few reports have pictures

    return refuted_lanes(table.instruction, table.addresses)


def _of_claim(access: ScannedAccess | AnyOperand, claim: Claim) -> Verdict:
    known = [shape_words(access), *(f"assumed {text}" for text in claim.assumptions)]
    if claim.verdict is ClaimVerdict.DEPENDS:
        known.append(f"for some values of {', '.join(claim.parameters)}")
    counterexample: Counterexample | None = None
    if claim.witness is not None:
        rows = tuple(Row((each.warp, each.lane, each.thread, each.at), "x") for each in claim.witness.lanes)
        counterexample = Counterexample(dict(claim.witness.values), claim.reason, _WITNESS, rows)
    return Verdict(
        Outcome.REFUTED if claim.is_broken else Outcome.PROVED,
        ", ".join(known),
        claim.engines,
        reason=claim.reason,
        counterexample=counterexample,
        notes=(f"address: {access.address}",) if access.address else (),
    )


_RACE_COLUMNS = ("line", "instruction", "thread")


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
    yield from map(_race_result, race_findings(files))


def _race_result(finding: RaceFinding) -> ClaimResult:
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
        _race_verdict(finding),
        source=f"{file.name}{origin}, line {lines}",
    )


def _scope(file: ScannedFile, kernel: str, races: KernelRaces) -> str:
    known = [block_words(block_of(file, kernel)), *(f"assumed {text}" for text in races.assumptions)]
    return ", ".join(known + (["lanes of a warp in lockstep"] if races.is_lockstep else []))


def _race_verdict(finding: RaceFinding) -> Verdict:
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
    return Counterexample(values, note, _RACE_COLUMNS, tuple(rows))

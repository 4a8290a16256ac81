"""A cross-check over spec files: their verdicts, what the device says of them, and the recording of both."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from swzverify.claims import Claim, Outcome
from swzverify.gpu.crosscheck import Claims, CrossCheck, CrossResult, Method, crosscheck, subject_key
from swzverify.gpu.recording import RecordedClaim, RecordedCost, RecordedSubject, Recording, digest
from swzverify.report.cross_result import CrossReport, CrossRow
from swzverify.report.result import ClaimResult, Report
from swzverify.run.run import Progress, run_specs
from swzverify.run.settings import Settings
from swzverify.run.version import installed_version
from swzverify.spec import SpecClaim, load_spec
from swzverify.spec.problems import Problem
from swzverify.subjects import Access

Chosen: TypeAlias = dict[str, list[tuple[SpecClaim, ClaimResult]]]
"""Claims with their results, by file."""
NO_VERDICT = frozenset({Outcome.ERROR})


def run_crosscheck(
    files: Sequence[str],
    settings: Settings,
    method: Method,
    *,
    against: Path | None = None,
    problems: Sequence[Problem] = (),
    watch: Callable[[Progress], None] | None = None,
) -> CrossReport:
    """Prove every spec's claims, then hold them against the device, or against what an emitted program answered.

    Errors: those of `gpu.crosscheck` and `run.emit`.
    """
    report = run_specs(files, settings, problems=problems, watch=watch)
    chosen = claims_of(report, settings)
    failed = tuple(
        Problem("SWZ901", f"{result.id} has no verdict: {result.verdict.reason}", file=result.spec, line=result.line)
        for result in report.results
        if result.verdict.outcome in NO_VERDICT
    )
    problems = (*report.problems, *failed)
    if not chosen:
        return CrossReport((), None, problems)
    if against is not None:
        from swzverify.run.emit import check_against  # noqa: PLC0415 - it needs this module

        return cross_report(chosen, check_against(chosen, against), problems)
    with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
        found = crosscheck(verdicts(chosen), Path(folder), method)
    return cross_report(chosen, found, problems)


def verdicts(chosen: Chosen) -> dict[str, Claims]:
    """Claims and verdicts alone."""
    return {file: [(claim.claim, result.verdict) for claim, result in pairs] for file, pairs in chosen.items()}


def claims_of(report: Report, settings: Settings) -> Chosen:
    """The claims with their results, by file; those without a verdict are left out."""
    results = {(result.spec, result.id): result for result in report.results}
    chosen: Chosen = {}
    for file in dict.fromkeys(result.spec for result in report.results):
        pairs = [
            (claim, result)
            for claim in load_spec(file, target=settings.target).claims
            if (result := results.get((file, claim.id))) is not None and result.verdict.outcome not in NO_VERDICT
        ]
        if pairs:
            chosen[file] = pairs
    return chosen


def cross_report(chosen: Chosen, found: CrossCheck, problems: tuple[Problem, ...]) -> CrossReport:
    """The rows of a report, in the order of the claims, and what a recording keeps."""
    rows: list[CrossRow] = []
    subjects: dict[str, RecordedSubject] = {}
    for file, pairs in chosen.items():
        for (claim, result), cross in zip(pairs, found.results[file], strict=True):
            rows.append(CrossRow(result, cross))
            _note(subjects, file, claim.claim, cross)
    recording = Recording(
        found.device.name,
        found.device.capability,
        found.device.driver,
        datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        found.method.value,
        {name: installed_version(name) for name in ("swzverify", "numpy", "cuda-bindings")},
        subjects,
        tuple(
            RecordedClaim(
                row.result.id,
                row.result.verdict.outcome.value,
                row.cross.agrees,
                row.cross.seen.text,
                row.cross.differences,
            )
            for row in rows
        ),
    )
    return CrossReport(tuple(rows), recording, problems)


def _note(subjects: dict[str, RecordedSubject], file: str, claim: Claim, cross: CrossResult) -> None:
    """Keep what was run of an access, once, with its cost where some claim asked for it."""
    access = getattr(claim, "access", None)
    if not isinstance(access, Access) or subject_key(claim)[1] is not None:
        return
    key = digest(access)
    before = subjects.get(key)
    compared, cost = cross.comparison, cross.cost
    recorded = None if cost is None else RecordedCost(cost.patterns, cost.counted, cost.wavefronts, not cost.differing)
    if before is None or (before.cost is None and recorded is not None):
        subjects[key] = RecordedSubject(
            access.name, file, compared.places, compared.bytes, compared.agrees, cross.whole, recorded
        )

"""A cross-check over spec files: their verdicts, what the device says, and a recording of both."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.one import Judged, run_spec
from swzverify.apps.run.run import Progress
from swzverify.apps.run.version import installed_version
from swzverify.claims import Claim, Outcome
from swzverify.errors import Problem
from swzverify.gpu.crosscheck import Claims, CrossCheck, CrossResult, Method, crosscheck, subject_key
from swzverify.gpu.recording import RecordedClaim, RecordedCost, RecordedSubject, Recording, digest
from swzverify.report.crosscheck import CrossReport, CrossRow
from swzverify.subjects import Access

Chosen: TypeAlias = Mapping[str, Sequence[Judged]]
"""Claims with their verdicts, by file; claims without a verdict are left out."""
Ask: TypeAlias = Callable[[Mapping[str, Claims]], CrossCheck]
"""What answers for the claims: the device here, or the file of an emitted program."""


def run_crosscheck(
    files: Sequence[str],
    settings: Settings,
    ask: Ask,
    *,
    problems: Sequence[Problem] = (),
    watch: Callable[[Progress], None] | None = None,
) -> CrossReport:
    """Prove every spec's claims, then hold them against what answers.

    Errors are those of `ask`.
    """
    chosen, found = judged_claims(files, settings, watch=watch)
    problems = (*problems, *found)
    return cross_report(chosen, ask(verdicts(chosen)), problems) if chosen else CrossReport((), None, problems)


def by_device(method: Method) -> Ask:
    """The answers of the device at hand.

    Errors are those of `gpu.crosscheck`.
    """

    def ask(specs: Mapping[str, Claims]) -> CrossCheck:
        with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
            return crosscheck(specs, Path(folder), method)

    return ask


def judged_claims(
    files: Sequence[str], settings: Settings, *, watch: Callable[[Progress], None] | None = None
) -> tuple[Chosen, tuple[Problem, ...]]:
    """The claims of some files, proved here, and problems of files and claims without verdict."""
    chosen: dict[str, list[Judged]] = {}
    problems: list[Problem] = []
    progress = Progress(len(files))

    def tell(judged: Judged) -> None:
        result = judged.result
        progress.count(result)
        if watch is not None:
            watch(progress)
        if result.verdict.outcome is Outcome.ERROR:
            message = f"{result.id} has no verdict: {result.verdict.reason}"
            problems.append(Problem("SWZ901", message, file=result.spec, line=result.line))
        else:
            chosen.setdefault(result.spec, []).append(judged)

    for file in files:
        problems += run_spec(file, settings, tell)
        progress.specs_done += 1
    return chosen, tuple(problems)


def verdicts(chosen: Chosen) -> dict[str, Claims]:
    """The claims with their verdicts, without the rest of the judgements."""
    return {file: [(each.claim.claim, each.result.verdict) for each in judged] for file, judged in chosen.items()}


def cross_report(chosen: Chosen, found: CrossCheck, problems: tuple[Problem, ...]) -> CrossReport:
    """The rows of a report, in the order of the claims, and what a recording keeps."""
    rows: list[CrossRow] = []
    subjects: dict[str, RecordedSubject] = {}
    for file, judged in chosen.items():
        for each, cross in zip(judged, found.results[file], strict=True):
            rows.append(CrossRow(each.result, cross))
            _note(subjects, file, each.claim.claim, cross)
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
    """Keep what was run of an access, once, with its cost where a claim asked for it."""
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

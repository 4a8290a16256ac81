"""Proves the claims of many spec files; the report keeps the files' order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.certificates import list_certificates
from swzverify.apps.run.collect import size_bytes
from swzverify.core.processes import processes_for
from swzverify.errors import Problem
from swzverify.report.result import ClaimResult, Report

FEW_SPECS = 4
"""Up to so many specs are proved in this process: starting others would take longer than it saves."""


@dataclass(slots=True)
class Progress:
    """How far a run is: specs, decided claims, those that came out unexpectedly, the last claim."""

    specs: int
    specs_done: int = 0
    claims: int = 0
    unexpected: int = 0
    latest: str = ""

    def count(self, result: ClaimResult) -> None:
        """Count one more decided claim."""
        self.claims += 1
        self.unexpected += not result.ok
        self.latest = result.id


@dataclass(slots=True)
class _SpecRun:
    """What came of one file so far."""

    results: list[ClaimResult] = field(default_factory=list[ClaimResult])
    problems: list[Problem] = field(default_factory=list[Problem])


def run_specs(
    files: Sequence[str],
    settings: Settings,
    *,
    problems: Sequence[Problem] = (),
    watch: Callable[[Progress], None] | None = None,
) -> Report:
    """Prove every spec's claims.

    `problems` were found before and come first in the report; `watch` sees the progress.

    >>> run_specs([], Settings()).exit_code.name
    'NO_CLAIM'
    """
    started = perf_counter()
    runs = [_SpecRun() for _ in files]
    progress = Progress(len(files))

    # Large files first: no process waits long for another one at the end. Copies of a file come one behind the other.
    order = sorted(range(len(files)), key=lambda place: -size_bytes(files[place]))
    ordered = [files[place] for place in order]

    def hear(at: int, message: ClaimResult | list[Problem]) -> None:
        if isinstance(message, ClaimResult):
            runs[order[at]].results.append(message)
            progress.count(message)
        else:
            runs[order[at]].problems += message
            progress.specs_done += 1
        if watch is not None:
            watch(progress)

    processes = processes_for(len(files), settings.jobs, FEW_SPECS)
    if processes > 1:
        from swzverify.apps.run.pool import run_in_pool  # noqa: PLC0415 - most runs are of one process

        run_in_pool(ordered, settings, processes, hear)
    elif files:
        from swzverify.apps.run.one import Known, run_spec  # noqa: PLC0415 - a pool's processes import it, this one need not

        known = Known()
        for at, file in enumerate(ordered):
            hear(at, run_spec(file, settings, lambda judged, at=at: hear(at, judged.result), known))
    results = tuple(result for run in runs for result in run.results)
    if settings.certificates is not None:
        list_certificates(settings.certificates, results)
    return Report(
        results=results,
        problems=(*problems, *(problem for run in runs for problem in run.problems)),
        wall_ms=(perf_counter() - started) * 1000,
    )

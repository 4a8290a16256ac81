"""Spec files proved in several processes; one that dies costs only the file it was at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TypeAlias

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.collect import size_bytes
from swzverify.claims.verdict import Measure
from swzverify.core.pool import Lost, Service, run_jobs, serve
from swzverify.errors import Problem
from swzverify.report.result import ClaimResult

Message: TypeAlias = ClaimResult | list[Problem]
"""From a worker: a claim's result, or the problems of a file, which end it."""


def run_in_pool(files: Sequence[str], settings: Settings, processes: int, hear: Callable[[int, Message], None]) -> None:
    """Prove the files in `processes` processes; `hear` gets every message with its file's index.

    `hear` runs in this process. The workers are ended before this returns or raises, also after an
    interrupt from the keyboard.
    """
    service: Service[str, Message] = Service(_serve, (settings,), _is_last, _death, kin=size_bytes)
    # Files of one size may be copies, of which a process judges one only.
    with closing(run_jobs(files, processes, service)) as heard:
        for at, message, _ in heard:
            hear(at, message)


def _is_last(message: Message) -> bool:
    return not isinstance(message, ClaimResult)


def _serve(pipe: Connection[Message, str], settings: Settings) -> None:
    """Prove the files that come along the pipe."""

    def prepare() -> Callable[[str], Message]:
        # What proves takes a while to import, and the process that hands out the work never needs it.
        from swzverify.apps.run.one import Known, run_spec  # noqa: PLC0415

        known = Known()
        return lambda file: run_spec(file, settings, lambda judged: pipe.send(_portable(judged.result)), known)

    serve(pipe, prepare)


def _portable(result: ClaimResult) -> ClaimResult:
    """The result with plain dictionaries, since not every mapping can cross to another process."""
    verdict = result.verdict
    measure, counterexample = verdict.measure, verdict.counterexample
    if measure is not None:
        worst = (
            replace(each, where=dict(each.where), point=dict(each.point))
            for each in (measure.most_wavefronts, measure.most_conflicts)
        )
        measure = Measure(*worst, exact=measure.exact)
    if counterexample is not None:
        point = None if counterexample.point is None else dict(counterexample.point)
        counterexample = replace(counterexample, binding=dict(counterexample.binding), point=point)
    sectors = verdict.sectors
    if sectors is not None:
        sectors = replace(sectors, where=dict(sectors.where), point=dict(sectors.point))
    verdict = replace(verdict, measure=measure, sectors=sectors, counterexample=counterexample)
    return replace(result, verdict=verdict)


def _death(lost: Lost[str, Message]) -> Message:
    message = f"the process at this spec {lost.how} after {lost.told} of its claims; the others have no verdict"
    hint = "if memory ran out, use fewer processes (-j 1) or a smaller --rlimit"
    return [Problem("SWZ902", message, hint, lost.job)]

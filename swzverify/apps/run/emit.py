"""Writes programs for machines without Python, for the claims of specs, and reads their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from swzverify.apps.options.prove import Settings
from swzverify.apps.run.crosscheck import Ask, judged_claims, verdicts
from swzverify.apps.run.run import Progress
from swzverify.errors import Problem
from swzverify.gpu.cost_check import clocked
from swzverify.gpu.costs import joined
from swzverify.gpu.crosscheck import (
    Claims,
    CrossCheck,
    Method,
    judge_all,
    patterns_of,
    plan_all,
    priced_runs,
)
from swzverify.gpu.emit import Emitted, emit, read_answers
from swzverify.gpu.plan import Plan


def run_emit(
    files: Sequence[str],
    settings: Settings,
    folder: Path,
    *,
    problems: Sequence[Problem] = (),
    watch: Callable[[Progress], None] | None = None,
) -> tuple[int, tuple[Problem, ...]]:
    """Write the program for the claims of some specs, if there are any.

    How many claims there are, and what is wrong with the specs.

    Raises:
        SwzError: SWZ504.
    """
    chosen, found = judged_claims(files, settings, watch=watch)
    specs = verdicts(chosen)
    claims = sum(len(each) for each in specs.values())
    if claims:
        emit(folder, emitted(specs, plan_all(specs)))
    return claims, (*problems, *found)


def emitted(specs: Mapping[str, Claims], plans: Mapping[str, Plan]) -> Emitted:
    """The kernels, launches and patterns that an emitted program holds."""
    jobs = [each.job for each in plans.values()]
    kernels = tuple(run.source for each in plans.values() for run in each.runs.values() if run.launches)
    wanted = joined(patterns_of(run, run.predicted_bytes())[0] for _, _, run in priced_runs(specs, plans))
    some = {name: each for name, each in wanted.items() if len(each)}
    return Emitted(kernels, tuple(launch for job in jobs for launch in job.launches), some)


def by_answers(path: Path) -> Ask:
    """The answers of an emitted program, from its file.

    Raises:
        SwzError: SWZ503, SWZ703.
    """
    return lambda specs: _answered(specs, path)


def _answered(specs: Mapping[str, Claims], path: Path) -> CrossCheck:
    plans = plan_all(specs)
    program = emitted(specs, plans)
    read = read_answers(path, program)
    rest = iter(read.answers)
    answers = {name: list(islice(rest, len(each.job.launches))) for name, each in plans.items()}
    check = clocked(read.slopes, program.patterns)
    return judge_all(specs, plans, read.device, answers, Method.CLOCKS, lambda _: check)

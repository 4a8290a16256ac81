"""Theorems over several processes, each with a pipe; one that dies costs only its present theorem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from multiprocessing.connection import Connection

from swzverify.apps.theorems.discover import find_theorems
from swzverify.apps.theorems.solve import Judgement, judge
from swzverify.apps.theorems.theorem import Outcome, Theorem
from swzverify.core.pool import Lost, Service, run_jobs, serve
from swzverify.core.processes import processes_for

FEW_THEOREMS = 3
"""Up to so many theorems, a second process does not pay for its start."""


def judge_all(theorems: Sequence[Theorem], processes: int | None = None) -> Iterator[Judgement]:
    """Every theorem's judgement as it comes, in no order.

    By default there is one process per processor for more than a few theorems. With several processes
    the theorems must be those that `find_theorems` finds. The processes are ended before this returns or
    raises.
    """
    wanted = processes_for(len(theorems), processes, FEW_THEOREMS)
    if wanted == 1:
        yield from map(judge, theorems)
        return
    service: Service[str, Judgement] = Service(_serve, (), lambda _: True, _death)
    with closing(run_jobs([theorem.name for theorem in theorems], wanted, service)) as heard:
        yield from (judgement for _, judgement, _ in heard)


def _death(lost: Lost[str, Judgement]) -> Judgement:
    why = f"the process ended with code {lost.exit_code}; with -j 1 it may say more"
    return Judgement(lost.job, Outcome.ERROR, (), why)


def _serve(pipe: Connection[Judgement, str]) -> None:
    """Judge the theorems whose names come along the pipe."""

    def prepare() -> Callable[[str], Judgement]:
        by_name = {theorem.name: theorem for theorem in find_theorems()}
        return lambda name: judge(by_name[name])

    serve(pipe, prepare)

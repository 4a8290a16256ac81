"""Worker processes that prove one spec file at a time; one that dies costs only the file it was at.

`concurrent.futures` would give up every file left when one process dies (of memory, in a solver),
and `multiprocessing.Pool` would wait for ever. Each worker has a pipe of its own here: its death
shows as the pipe's end.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from swzverify.claims.verdict import Measure
from swzverify.errors import Problem
from swzverify.processes import collect_rarely, start
from swzverify.report.result import ClaimResult
from swzverify.run.settings import Settings

Message: TypeAlias = ClaimResult | list[Problem]
"""From a worker: a claim's result, or the problems of a file, which end it."""

Job: TypeAlias = tuple[int, str]
"""To a worker: a file and its place in the order."""


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and the job that it is at."""

    process: BaseProcess
    pipe: Connection[Job, Message]
    job: Job
    told: int = 0


def run_in_pool(files: Sequence[str], settings: Settings, processes: int, hear: Callable[[int, Message], None]) -> None:
    """Prove the files in so many processes; `hear` gets every message with its file's place, in
    this process.

    The workers are ended before this returns or raises, an interrupt from the keyboard included.
    """
    # Large files first: the last ones to end are then short, and no process waits long for another.
    waiting = deque(sorted(enumerate(files), key=lambda job: -_size_bytes(job[1])))
    workers: list[_Worker] = []
    try:
        while waiting and len(workers) < processes:
            workers.append(_start(waiting.popleft(), settings))
        while workers:
            ready = wait([worker.pipe for worker in workers])
            for worker in [worker for worker in workers if worker.pipe in ready]:
                if not _listen(worker, waiting, hear):
                    workers.remove(worker)
                    if waiting:
                        workers.append(_start(waiting.popleft(), settings))
    finally:
        for worker in workers:
            _end(worker)


def _size_bytes(file: str) -> int:
    """A file's size; 0 where it cannot be told, which its reader will say."""
    try:
        return os.stat(file).st_size
    except OSError:
        return 0


def _listen(worker: _Worker, waiting: deque[Job], hear: Callable[[int, Message], None]) -> bool:
    """Take one message and hand out the next job; whether the worker stays in service."""
    index, file = worker.job
    try:
        message = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        hear(index, [_death(worker, file)])
        _end(worker)
        return False
    if isinstance(message, ClaimResult):
        worker.told += 1
        hear(index, message)
        return True
    hear(index, message)
    if not waiting:
        _end(worker)
        return False
    job = waiting.popleft()
    worker.job, worker.told = job, 0
    with contextlib.suppress(OSError):  # it died between two jobs: the end of the pipe tells so next time
        worker.pipe.send(job)
    return True


def _start(job: Job, settings: Settings) -> _Worker:
    process, pipe = start(_serve, settings, first=job)
    return _Worker(process, pipe, job)


def _end(worker: _Worker) -> None:
    worker.process.terminate()
    worker.process.join()
    worker.pipe.close()


def _serve(pipe: Connection[Message, Job], settings: Settings) -> None:
    """A worker's life: prove the files that come along the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    # What proves takes a while to import, and the process that hands out the work never needs it.
    from swzverify.run.one import run_spec  # noqa: PLC0415

    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            _, file = pipe.recv()
            pipe.send(run_spec(file, settings, lambda judged: pipe.send(_portable(judged.result))))


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
    return replace(result, verdict=replace(verdict, measure=measure, counterexample=counterexample))


def _death(worker: _Worker, file: str) -> Problem:
    code = worker.process.exitcode or 0
    how = f"ended with code {code}"
    if code < 0:
        with contextlib.suppress(ValueError):
            how = f"was killed by {signal.Signals(-code).name}"
    message = f"the process at this spec {how} after {worker.told} of its claims; the others have no verdict"
    hint = "if memory ran out, use fewer processes (-j 1) or a smaller --rlimit"
    return Problem("SWZ902", message, hint, file)

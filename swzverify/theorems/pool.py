"""Theorems over several processes, each with a pipe of its own; one that dies costs only the
theorem it was at.
"""

from __future__ import annotations

import contextlib
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from swzverify.processes import start, usable_cpus
from swzverify.theorems.discover import find_theorems
from swzverify.theorems.judge import Judgement, judge
from swzverify.theorems.theorem import Outcome, Theorem

WORTH_A_PROCESS = 4
"""Theorems from which on a second process pays for its start."""


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, and the name of the theorem that it is at."""

    process: BaseProcess
    pipe: Connection[str, Judgement]
    name: str


def judge_all(theorems: Sequence[Theorem], processes: int | None = None) -> Iterator[Judgement]:
    """Every theorem's judgement as it comes, in no order; by default one process a processor for
    more than a few.

    With several processes the theorems must be those that `find_theorems` finds. The processes are
    ended before this returns or raises.
    """
    wanted = processes or (1 if len(theorems) < WORTH_A_PROCESS else usable_cpus())
    if min(wanted, len(theorems)) < 2:
        yield from map(judge, theorems)
        return
    waiting = deque(theorem.name for theorem in theorems)
    workers: list[_Worker] = []
    try:
        while waiting and len(workers) < wanted:
            workers.append(_start(waiting.popleft()))
        while workers:
            ready = wait([worker.pipe for worker in workers])
            for worker in [worker for worker in workers if worker.pipe in ready]:
                try:
                    yield worker.pipe.recv()
                except (EOFError, OSError):
                    yield _death(worker)
                    _end(worker)
                    workers.remove(worker)
                    if waiting:
                        workers.append(_start(waiting.popleft()))
                    continue
                if waiting:
                    worker.name = waiting.popleft()
                    with contextlib.suppress(OSError):  # it died since: the end of the pipe tells so next time
                        worker.pipe.send(worker.name)
                else:
                    _end(worker)
                    workers.remove(worker)
    finally:
        for worker in workers:
            _end(worker)


def _start(name: str) -> _Worker:
    process, pipe = start(_serve, first=name)
    return _Worker(process, pipe, name)


def _end(worker: _Worker) -> None:
    worker.process.terminate()
    worker.process.join()
    worker.pipe.close()


def _death(worker: _Worker) -> Judgement:
    worker.process.join()
    code = worker.process.exitcode
    return Judgement(worker.name, Outcome.ERROR, (), f"the process ended with code {code}; with -j 1 it may say more")


def _serve(pipe: Connection[Judgement, str]) -> None:
    """A worker's life: judge the theorems whose names come along the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear, who then ends this process
    by_name = {theorem.name: theorem for theorem in find_theorems()}
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        while True:
            pipe.send(judge(by_name[pipe.recv()]))

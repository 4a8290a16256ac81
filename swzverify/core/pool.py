"""Processes with a pipe each: one that dies or hangs costs only the job that it was at.

`concurrent.futures` would give up every job left when one process dies (of memory, in a solver),
and `multiprocessing.Pool` would wait for ever. Here a death shows as the end of a pipe.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from swzverify.core.processes import collect_rarely, start

Job = TypeVar("Job")
News = TypeVar("News")


@dataclass(frozen=True, slots=True)
class Lost(Generic[Job, News]):
    """A job whose process died (`exit_code`, negative for a signal) or took too long (None).

    `told` counts the news of the job that it sent before, `last` is the last of them.
    """

    job: Job
    told: int
    last: News | None
    exit_code: int | None

    @property
    def how(self) -> str:
        """How the process ended, for a sentence about it.

        >>> Lost("a.yaml", 0, None, -9).how, Lost("a.yaml", 0, None, 1).how
        ('was killed by SIGKILL', 'ended with code 1')
        """
        return f"was killed by {self.signal_name}" if self.signal_name else f"ended with code {self.exit_code}"

    @property
    def signal_name(self) -> str:
        """The signal that ended the process; empty for any other end.

        >>> Lost("a.yaml", 0, None, -9).signal_name, Lost("a.yaml", 0, None, 1).signal_name
        ('SIGKILL', '')
        """
        if self.exit_code is not None and self.exit_code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-self.exit_code).name
        return ""


@dataclass(frozen=True, slots=True)
class Service(Generic[Job, News]):
    """The work of the processes: `serve(pipe, *arguments)` takes jobs until the pipe is closed.

    It sends news of each job. `ends` says which news is the last of a job, and `lost` makes the last
    news of a job that was lost. `allowed_s` is how many seconds a process may be silent after some news
    of a job, or after the start of the job (None). Jobs that stand side by side and have one `kin` go to
    one process, as long as there are others for the rest.
    """

    serve: Callable[..., None]
    arguments: tuple[object, ...]
    ends: Callable[[News], bool]
    lost: Callable[[Lost[Job, News]], News]
    allowed_s: Callable[[News | None], float] | None = None
    kin: Callable[[Job], object] | None = None


def serve(pipe: Connection[News, Job], prepare: Callable[[], Callable[[Job], News]]) -> None:
    """A worker's life: answer the jobs that come along the pipe until it is closed.

    Ctrl-C is for the parent, which then ends this process.

    Args:
        pipe: Where jobs come from and answers go to.
        prepare: Gives the function that answers; what takes a while to import or read belongs in here.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_rarely()
    answer = prepare()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            pipe.send(answer(pipe.recv()))


@dataclass(slots=True)
class _Worker(Generic[Job, News]):
    """A worker process with its present job.

    Attributes:
        process: The process.
        pipe: Our end of its pipe.
        place: The index of the job.
        job: The job.
        given: When it got the job.
        deadline: When it must have sent news.
        told: The number of news of the job so far.
        last: The last of them.
    """

    process: BaseProcess
    pipe: Connection[Any, Any]
    place: int
    job: Job
    given: float
    deadline: float
    told: int = 0
    last: News | None = None


def run_jobs(
    jobs: Iterable[Job], processes: int, service: Service[Job, News]
) -> Generator[tuple[int, News, float], None, None]:
    """Do the jobs in so many processes: yields (job's place, its news, seconds since it was given).

    Jobs are given in their order. The processes are ended when the generator ends or is closed.
    """
    waiting = deque(enumerate(jobs))
    kins = [place if service.kin is None else service.kin(job) for place, job in waiting]
    workers: list[_Worker[Job, News]] = []

    def pick(mine: object = None) -> int:
        """Where the next job waits: one of the kin of the last job, else one whose kin no other process is at."""
        others = {kins[each.place] for each in workers}
        for at, (place, _) in enumerate(waiting):
            if kins[place] == mine or kins[place] not in others:
                return at
        return 0

    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                at = pick()
                workers.append(_begin(*waiting[at], service))
                del waiting[at]
            pause = None if service.allowed_s is None else min(each.deadline for each in workers) - time.monotonic()
            ready = wait([each.pipe for each in workers], None if pause is None else max(0.0, pause))
            for worker in list(workers):
                if worker.pipe not in ready and time.monotonic() < worker.deadline:
                    continue
                news, lives = _listen(worker, worker.pipe in ready, service)
                yield worker.place, news, time.monotonic() - worker.given
                if lives and not service.ends(news):
                    continue
                at = pick(kins[worker.place])
                if not (lives and waiting and _give(worker, *waiting[at], service)):
                    workers.remove(worker)
                    _end(worker)
                else:
                    del waiting[at]
    finally:
        for worker in workers:
            _end(worker)


def lead_group() -> None:
    """Make this process the head of a group: what a `serve` starts then ends with it."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()


def _begin(place: int, job: Job, service: Service[Job, News]) -> _Worker[Job, News]:
    process, pipe = start(service.serve, *service.arguments, first=job)
    worker: _Worker[Job, News] = _Worker(process, pipe, place, job, 0.0, 0.0)
    _now(worker, service, None)
    worker.given = time.monotonic()
    return worker


def _give(worker: _Worker[Job, News], place: int, job: Job, service: Service[Job, News]) -> bool:
    """Give a process the next job; whether it took it."""
    try:
        worker.pipe.send(job)
    except OSError:
        return False
    worker.place, worker.job, worker.told, worker.last = place, job, 0, None
    worker.given = time.monotonic()
    _now(worker, service, None)
    return True


def _listen(worker: _Worker[Job, News], is_ready: bool, service: Service[Job, News]) -> tuple[News, bool]:
    """What a process has to say of its job, or what counts as that; and whether it lives."""
    if is_ready:
        try:
            news: News = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            return service.lost(Lost(worker.job, worker.told, worker.last, worker.process.exitcode)), False
        worker.told, worker.last = worker.told + 1, news
        _now(worker, service, news)
        return news, True
    return service.lost(Lost(worker.job, worker.told, worker.last, None)), False


def _now(worker: _Worker[Job, News], service: Service[Job, News], news: News | None) -> None:
    """Count the seconds of silence from now on."""
    allowed = float("inf") if service.allowed_s is None else service.allowed_s(news)
    worker.deadline = time.monotonic() + allowed


def _end(worker: _Worker[Any, Any]) -> None:
    """End a process, and its group where it leads one."""
    group = worker.process.pid
    if group is not None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    with contextlib.suppress(OSError):
        worker.process.kill()
    worker.process.join()
    worker.pipe.close()

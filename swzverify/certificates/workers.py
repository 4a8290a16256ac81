"""Worker processes that recheck one certificate at a time, each step within hard limits of time and
memory.

A worker says what it is about to do; one that does not get done with it, or dies, is ended, costs
the certificate it was at, and is replaced. Its whole process group is ended, the solvers' programs
that it started included.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from swzverify.certificates.folder import Entry
from swzverify.certificates.recheck import Limits, Outcome, Recheck, Status
from swzverify.processes import start

GRACE_S = 5.0
"""Beyond its limit of time, before a step is ended from outside: solvers end themselves first."""
STARTUP_S = 60.0
Message: TypeAlias = str | Outcome


@dataclass(slots=True)
class _Worker:
    """A process, our end of its pipe, what it is at, since when, and until when."""

    process: BaseProcess
    pipe: Connection[Entry, Message]
    entry: Entry
    started: float
    deadline: float
    step: str = "starting"


def recheck_all(
    folder: str, entries: Sequence[Entry], limits: Limits, processes: int, hear: Callable[[int, Outcome], None]
) -> None:
    """Recheck certificates in so many processes; `hear` gets each outcome with its place, in this
    process.

    The workers are ended before this returns or raises, an interrupt from the keyboard included.
    """
    places = {entry: place for place, entry in enumerate(entries)}
    waiting = deque(entries)
    workers: list[_Worker] = []
    try:
        while waiting and len(workers) < processes:
            workers.append(_start(waiting.popleft(), folder, limits))
        while workers:
            pause = max(0.0, min(worker.deadline for worker in workers) - time.monotonic())
            ready = wait([worker.pipe for worker in workers], timeout=pause)
            for worker in list(workers):
                outcome = _news(worker, worker.pipe in ready, limits)
                if outcome is None:
                    continue
                hear(places[worker.entry], outcome)
                if not (waiting and worker.process.is_alive() and _hand_out(worker, waiting)):
                    workers.remove(worker)
                    _end(worker)
                    if waiting:
                        workers.append(_start(waiting.popleft(), folder, limits))
    finally:
        for worker in workers:
            _end(worker)


def _news(worker: _Worker, is_ready: bool, limits: Limits) -> Outcome | None:
    """Take what a worker has to say; its outcome once there is one, its own or that of its end."""
    spent = time.monotonic() - worker.started
    if not is_ready:
        if time.monotonic() < worker.deadline:
            return None
        _kill(worker)
        worker.process.join()  # or it would look alive, and be handed the next one
        why = f"more than {limits.timeout_s:g} s, at: {worker.step}"
        return Outcome(worker.entry.id, Status.NOT_RECHECKED, (why,), time_s=spent)
    try:
        message = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        why = f"the process died{_how(worker.process.exitcode)}, at: {worker.step}"
        return Outcome(worker.entry.id, Status.NOT_RECHECKED, (why,), time_s=spent)
    if isinstance(message, Outcome):
        return replace(message, time_s=spent)
    worker.step = message
    # A proof takes three programs, each within the limit.
    worker.deadline = time.monotonic() + limits.timeout_s * (3 if message.startswith("a proof") else 1) + GRACE_S
    return None


def _how(code: int | None) -> str:
    """The signal that ended a process, in words."""
    if code is None or code >= 0:
        return ""
    with contextlib.suppress(ValueError):
        return f" of {signal.Signals(-code).name}"
    return ""


def _hand_out(worker: _Worker, waiting: deque[Entry]) -> bool:
    """Give a worker the next certificate; whether it took it."""
    entry = waiting[0]
    try:
        worker.pipe.send(entry)
    except OSError:
        return False
    waiting.popleft()
    worker.entry, worker.step = entry, "reading"
    worker.started = time.monotonic()
    worker.deadline = worker.started + STARTUP_S
    return True


def _start(entry: Entry, folder: str, limits: Limits) -> _Worker:
    process, pipe = start(_serve, folder, limits, first=entry)
    now = time.monotonic()
    return _Worker(process, pipe, entry, now, now + STARTUP_S)


def _kill(worker: _Worker) -> None:
    """End a worker and what it started; it leads a process group of its own once it has begun."""
    group = worker.process.pid
    if group is not None and hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    with contextlib.suppress(OSError):
        worker.process.kill()


def _end(worker: _Worker) -> None:
    _kill(worker)
    worker.process.join()
    worker.pipe.close()


def _serve(pipe: Connection[Message, Entry], folder: str, limits: Limits) -> None:
    """A worker's life: recheck the certificates that come along the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    _limit_memory(limits.memory_mib)
    recheck = Recheck(folder, limits, pipe.send)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            entry = pipe.recv()
            try:
                outcome = recheck.claim(entry)
            except MemoryError:
                why = f"more than {limits.memory_mib} MiB of memory"
                outcome = Outcome(entry.id, Status.NOT_RECHECKED, (why,))
            except Exception as error:  # noqa: BLE001 - one certificate's fault must not cost the others theirs
                why = f"SWZ901 a fault of swzverify: {type(error).__name__}: {error}"
                outcome = Outcome(entry.id, Status.BROKEN, (why,))
            pipe.send(outcome)


def _limit_memory(mebibytes: int) -> None:
    """Bound this process's address space, and that of what it starts, where the system can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - Unix only

        size = mebibytes << 20
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))

"""Worker processes that recheck one certificate at a time, within hard limits of time and memory.

A worker reports each step before it starts. A worker that dies or does not finish is ended and
replaced, and its certificate counts as not rechecked. Its whole process group is ended, also the
solvers' programs that it started.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Sequence
from contextlib import closing
from multiprocessing.connection import Connection
from typing import TypeAlias

from swzrecheck.folder import Entry
from swzrecheck.memory import limit_memory
from swzrecheck.recheck import Limits, Recheck, Rechecked, Status
from swzverify.core.pool import Lost, Service, lead_group, run_jobs

GRACE_S = 5.0
"""Seconds beyond a step's limit before it is ended from outside; solvers end themselves first."""
STARTUP_S = 60.0
Message: TypeAlias = str | Rechecked


def recheck_all(
    folder: str, entries: Sequence[Entry], limits: Limits, processes: int, hear: Callable[[int, Rechecked], None]
) -> None:
    """Recheck certificates in `processes` processes; `hear` gets each outcome with its index.

    `hear` runs in this process. The workers are ended before this returns or raises, also after an
    interrupt from the keyboard.
    """

    def allowed_s(step: Message | None) -> float:
        if not isinstance(step, str):
            return STARTUP_S
        # A proof takes three programs, each within the limit.
        return limits.timeout_s * (3 if step.startswith("a proof") else 1) + GRACE_S

    def lost(job: Lost[Entry, Message]) -> Message:
        step = job.last if isinstance(job.last, str) else "reading"
        signalled = f" of {job.signal_name}" if job.signal_name else ""
        how = f"more than {limits.timeout_s:g} s" if job.exit_code is None else f"the process died{signalled}"
        return Rechecked(job.job.id, Status.NOT_RECHECKED, (f"{how}, at: {step}",))

    service: Service[Entry, Message] = Service(
        _serve, (folder, limits), lambda message: isinstance(message, Rechecked), lost, allowed_s
    )
    with closing(run_jobs(entries, processes, service)) as heard:
        for place, message, _ in heard:
            if isinstance(message, Rechecked):
                hear(place, message)


def _serve(pipe: Connection[Message, Entry], folder: str, limits: Limits) -> None:
    """The loop of a worker: recheck certificates from the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lead_group()
    limit_memory(limits.memory_mib)
    recheck = Recheck(folder, limits, pipe.send)
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            entry = pipe.recv()
            pipe.send(recheck.entry(entry))

"""Worker processes: how many, and how one is started so that Ctrl-C and a loaded solver do it no harm."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess


def usable_cpus() -> int:
    """The processors that this process may use.

    >>> usable_cpus() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def collect_rarely() -> None:
    """Have Python look for garbage in cycles seldom: a proof makes many objects and hardly a cycle.

    For a process of this program's own, once at its start; the searches take a twelfth of its time otherwise.
    """
    gc.set_threshold(20_000, 50, 100)


def start(serve: Callable[..., None], *arguments: object, first: object) -> tuple[BaseProcess, Connection[Any, Any]]:
    """A fresh process that runs `serve(pipe, *arguments)`, and our end of its pipe, into which `first` went.

    Spawned and not forked: a fork of a process with threads or a loaded solver may hang, and has all that this one
    imported. A process that dies at once shows as the end of its pipe.
    """
    import multiprocessing  # noqa: PLC0415 - most runs are of one process

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)
    with _no_interrupt():
        process.start()
    theirs.close()
    with contextlib.suppress(OSError):
        ours.send(first)
    return process, ours


@contextlib.contextmanager
def _no_interrupt() -> Generator[None]:
    """Hold back Ctrl-C while a process starts, so that the new one never sees it: ending it is this one's task."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker  # noqa: PLC0415 - see `start`

    resource_tracker.ensure_running()  # started within, it would lift the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

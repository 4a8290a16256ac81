"""Worker processes: how many, and how one starts so that Ctrl-C and a loaded solver do no harm.

Each process uses this very package, wherever it was found: installed, by PYTHONPATH or in the
working folder, which is on no path of a process that the command starts. So each process runs this
file first: it puts its own package, and nothing else of its folder, where imports look first.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import pickle
import runpy
import signal
import sys
import types
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_FILE = os.path.abspath(__file__)
_PACKAGE = os.path.dirname(os.path.dirname(_FILE))
_NAME, _RECHECK = "swzverify", "swzrecheck"
_WORKER = "swzverify's worker"
"""The name of this file where it runs in a process of `start`."""


_FIRST_SEARCH, _LATER_SEARCHES = 300_000, 20_000
"""Objects that are made before Python looks for garbage in cycles."""


def usable_cpus() -> int:
    """The processors that this process may use.

    >>> usable_cpus() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processes_for(tasks: int, jobs: int | None, few: int) -> int:
    """How many processes to do so many tasks in; 1 stands for this one alone.

    Args:
        tasks: How many tasks there are.
        jobs: The most processes to use; None: one for every usable processor.
        few: Up to so many tasks, no other process is started where `jobs` is None.

    >>> processes_for(2, 8, 4), processes_for(2, None, 4)
    (2, 1)
    """
    if jobs is None:
        return 1 if tasks <= few else min(usable_cpus(), tasks)
    return max(1, min(jobs, tasks))


def collect_rarely() -> None:
    """Have Python look for garbage in cycles seldom: a proof makes many objects and hardly a cycle.

    For a process of this program's own, once at its start; the searches take a twelfth of its time
    otherwise. The first search waits until more objects are made than a small proof needs with all its
    modules, which stay: to look through them takes a sixteenth of its time.
    """
    gc.set_threshold(_FIRST_SEARCH, 50, 100)
    gc.callbacks.append(_after_first_search)


def _after_first_search(phase: str, info: dict[str, int]) -> None:
    """Let all searches but the first come after fewer objects."""
    del info
    if phase == "stop":
        gc.callbacks.remove(_after_first_search)
        gc.set_threshold(_LATER_SEARCHES, 50, 100)


def leave_to_system() -> None:
    """Have Python look for no garbage any more, at the very end: the system takes all memory back.

    Python would look through every object twice as it ends, which takes as long as a small proof.
    """
    gc.freeze()


def command_of(module: str, *arguments: str, python: str = sys.executable) -> list[str]:
    """The command that runs a module of this package in a process of its own, as `python -m` would.

    >>> command_of("swzverify.gpu.worker", "clocks")[-2:]
    ['swzverify.gpu.worker', 'clocks']
    """
    return [python, "-P", _FILE, module, *arguments]


def start(serve: Callable[..., None], *arguments: object, first: object) -> tuple[BaseProcess, Connection[Any, Any]]:
    """A fresh process that runs `serve(pipe, *arguments)`, and our pipe to it, with `first` in it.

    Spawned and not forked: a fork of a process with threads or a loaded solver may hang, and has
    all that this one imported. A process that dies at once shows as the end of its pipe.
    """
    import multiprocessing  # noqa: PLC0415 - most runs are of one process

    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    call = pickle.dumps((serve, arguments))  # to be read only once the new process has the package
    what = (_FILE, {"PIPE": theirs, "CALL": call}, _WORKER)
    process = context.Process(target=runpy.run_path, args=what, daemon=True)
    with _no_interrupt(), _no_main():
        process.start()
    theirs.close()
    with contextlib.suppress(OSError):
        ours.send(first)
    return process, ours


@contextlib.contextmanager
def _no_main() -> Generator[None]:
    """Hide the program's main file while a process starts, which would run it: no worker needs it.

    It would import the package by the path alone.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _no_interrupt() -> Generator[None]:
    """Hold back Ctrl-C while a process starts: the new one never sees it, and this one ends it."""
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


def load_recheck() -> None:
    """Have every import of `swzrecheck` find the one beside this package, whatever else is installed."""
    _load(_RECHECK, os.path.join(os.path.dirname(_PACKAGE), _RECHECK))


def _load_packages() -> None:
    """Have every import of the package find the one that this file lies in, and the one beside it."""
    _load(_NAME, _PACKAGE)
    load_recheck()


def _load(name: str, folder: str) -> None:
    file = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"no package at {folder}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)


def _run_module(module: str, arguments: list[str]) -> None:
    """Run the module that `command_of` named."""
    _load_packages()
    sys.argv[1:] = arguments
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _serve(pipe: Connection[Any, Any], call: bytes) -> None:
    """Run in the process that `start` begins."""
    _load_packages()
    serve, arguments = pickle.loads(call)  # noqa: S301 - from our own parent
    serve(pipe, *arguments)


if __name__ == "__main__":
    _run_module(sys.argv[1], sys.argv[2:])
elif __name__ == _WORKER:
    _serve(globals()["PIPE"], globals()["CALL"])

"""Measures many kernels, one process for each, so that none takes the others down."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.corpus.measure import Measured, Shape, measure

MANIFEST = Path(__file__).parent / "manifest.json"
PATIENCE = 900.0
"""Seconds after which a process is ended."""


def _child(end: Connection, job: tuple[Any, ...]) -> None:
    os.environ["PYTHONHASHSEED"] = "0"
    end.send(measure(*job).as_json())
    end.close()


def measured(jobs: Sequence[tuple[Any, ...]], workers: int) -> Iterator[dict[str, Any]]:
    """The figures of each job, as they come; a process that dies is a crash."""
    context = get_context("fork")
    waiting = list(reversed(jobs))
    running: dict[Connection, tuple[Any, float, tuple[Any, ...]]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            mine, theirs = context.Pipe(duplex=False)
            job = waiting.pop()
            process = context.Process(target=_child, args=(theirs, job))
            process.start()
            theirs.close()
            running[mine] = (process, time.monotonic(), job)
        for end, (process, started, job) in list(running.items()):
            late = time.monotonic() - started > PATIENCE
            if not late and not end.poll(0.02):
                continue
            try:
                found = _crash(job, f"no end after {PATIENCE:g} s") if late else end.recv()
            except EOFError:
                found = _crash(job, "the process died")
            process.kill()
            process.join()
            del running[end]
            yield found


def _crash(job: tuple[Any, ...], why: str) -> dict[str, Any]:
    path, kernel, block, origin = job[:4]
    return Measured(path.name, kernel, block, origin, block, crash=why).as_json()


def jobs_of(folder: Path, manifest: dict[str, Any], steps: int, limit: int) -> list[tuple[Any, ...]]:
    """A job for each kernel of the manifest whose PTX is there, and for each shape of its block."""
    found: list[tuple[Any, ...]] = []
    for each in manifest["files"]:
        path = folder / name_of(each["repository"], each["file"])
        if not path.exists():
            continue
        for kernel in each["kernels"]:
            shapes = [(block, kernel["origin"]) for block in kernel["blocks"]]
            shapes += [(block, "other") for block in kernel.get("others", ())]
            for block, origin in shapes:
                shape: Shape = (block[0], block[1], block[2])
                found.append((path, kernel["name"], shape, origin, steps, limit))
    return found


def name_of(repository: str, file: str) -> str:
    """The name of the PTX of a source file.

    >>> name_of("owner/name", "src/main.cu")
    'owner__name__src__main.cu.ptx'
    """
    return "__".join((repository, file)).replace("/", "__") + ".ptx"


def key_of(found: dict[str, Any]) -> tuple[Any, ...]:
    """What names a measurement."""
    return found["file"], found["kernel"], tuple(found["asked"])


def load(path: Path) -> list[dict[str, Any]]:
    """Measurements that were kept, one in each line."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

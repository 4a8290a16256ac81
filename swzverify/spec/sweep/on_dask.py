"""The chunks of a sweep on the workers of a Dask cluster.

Dask is an extra that few sweeps need, and has no types.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any

from swzverify.errors import SwzError
from swzverify.spec.sweep.bench import Question
from swzverify.spec.sweep.chunk import Chunk, measured

AHEAD = 4
"""Chunks that wait for each thread of the cluster: none is idle, and memory holds them all."""
CONNECT_SECONDS = 20


@contextmanager
def client_at(address: str) -> Generator[Any]:
    """A client of the scheduler at an address.

    Raises:
        SwzError: SWZ573 without Dask, SWZ576 if no scheduler answers.
    """
    _require("distributed")
    try:
        client = import_module("distributed").Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SwzError("SWZ576", f"no Dask scheduler answers at {address}", hint="start one: dask scheduler") from error
    with client:
        yield client


@contextmanager
def client_of_slurm(jobs: int) -> Generator[Any]:
    """A client of a cluster with so many Slurm jobs for workers.

    Queue, cores, memory and time of a job are those of dask-jobqueue's own configuration.

    Raises:
        SwzError: SWZ573 without dask-jobqueue, SWZ576 if Slurm cannot be used.
    """
    _require("dask_jobqueue")
    try:
        cluster = import_module("dask_jobqueue").SLURMCluster()
    except ValueError as error:
        hint = "set cores, memory and walltime in ~/.config/dask/jobqueue.yaml"
        raise SwzError("SWZ576", f"dask-jobqueue has no Slurm cluster: {error}", hint=hint) from error
    with cluster, import_module("distributed").Client(cluster, set_as_default=False) as client:
        cluster.scale(jobs=jobs)
        yield client


def run_on_dask(question: Question, chunks: Sequence[Chunk], client: Any) -> Generator[tuple[Chunk, bytes], None, None]:
    """Each chunk with its bytes, in the order in which they finish.

    Chunks of a lost worker go to another one. Errors of a chunk are passed on.

    Raises:
        SwzError: SWZ575 if workers died at one chunk repeatedly, or if all workers are gone.
    """
    distributed = import_module("distributed")
    waiting = iter(chunks)
    owner: dict[Any, Chunk] = {}
    running: Any = distributed.as_completed([], loop=client.loop)

    def give(count: int) -> None:
        for chunk in islice(waiting, count):
            # Keyed by the question as well: a scheduler may know the chunks of another sweep.
            key = f"swzverify-{question.spec_sha256[:16]}-{question.version}-{question.prove}-{chunk.first}-{chunk.end}"
            future = client.submit(measured, question, chunk, key=key)
            owner[future.key] = chunk
            running.add(future)

    threads = max(1, sum(client.nthreads().values()))
    give(AHEAD * threads)
    for future in running:
        chunk = owner.pop(future.key)
        try:
            data = future.result()
        except distributed.KilledWorker as error:
            raise SwzError(
                "SWZ575",
                f"Dask lost every worker that was at cases {chunk.first} to {chunk.end - 1}: {error}",
                hint="what is finished stays; look at the workers' logs, and run it again",
            ) from error
        future.release()
        yield chunk, data
        give(1)


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise SwzError("SWZ573", f"{package} is not installed", hint="pip install 'swzverify[dask]'")

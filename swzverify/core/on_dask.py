"""Jobs on the workers of a Dask cluster.

Dask is an extra that few runs need, and has no types.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import Any, Generic, TypeVar

from swzverify.errors import SwzError

Job = TypeVar("Job")
Result = TypeVar("Result")
AHEAD = 4
"""Jobs that wait for each thread of the cluster: none is idle, and memory holds them all."""
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


@dataclass(frozen=True, slots=True)
class Task(Generic[Job, Result]):
    """What the workers do: `work(job, *shared)`.

    Attributes:
        work: A function of a module that the workers can import.
        shared: What all jobs have in common; a worker gets it once.
        key: What names a job and everything that its result depends on: a scheduler may know others.
        words: A job in words, for messages.
    """

    work: Callable[..., Result]
    shared: tuple[object, ...]
    key: Callable[[Job], str]
    words: Callable[[Job], str]


def run_on_dask(client: Any, jobs: Iterable[Job], task: Task[Job, Result]) -> Generator[tuple[Job, Result], None, None]:
    """Each job with its result, in the order in which they finish.

    Jobs of a lost worker go to another one. Errors of a job are passed on.

    Raises:
        SwzError: SWZ575 if workers died at one job repeatedly, or if all workers are gone.
    """
    distributed = import_module("distributed")
    waiting = iter(jobs)
    owner: dict[Any, Job] = {}
    running: Any = distributed.as_completed([], loop=client.loop)
    # As results of jobs, which a cluster whose workers are still to come can take.
    shared = [client.submit(_itself, each, pure=False) for each in task.shared]

    def give(count: int) -> None:
        for job in islice(waiting, count):
            future = client.submit(task.work, job, *shared, key=f"swzverify-{task.key(job)}")
            owner[future.key] = job
            running.add(future)

    threads = max(1, sum(client.nthreads().values()))
    give(AHEAD * threads)
    for future in running:
        job = owner.pop(future.key)
        try:
            result: Result = future.result()
        except distributed.KilledWorker as error:
            raise SwzError(
                "SWZ575",
                f"Dask lost every worker that was at {task.words(job)}: {error}",
                hint="what is finished stays; look at the workers' logs, and run it again",
            ) from error
        future.release()
        yield job, result
        give(1)


def _itself(value: object) -> object:
    return value


def _require(package: str) -> None:
    if find_spec(package) is None:
        raise SwzError("SWZ573", f"{package} is not installed", hint="pip install 'swzverify[dask]'")

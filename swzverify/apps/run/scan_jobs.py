"""The functions of a scan, one job each: judged in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Final, TypeAlias

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.fault import fault
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.sass import Listing
from swzverify.compiled.scan import (
    AnyOperand,
    Given,
    JudgedBlock,
    ScannedAccess,
    ScannedStage,
    scan_fragments,
    scan_function,
    scan_operands_and_stages,
)
from swzverify.compiled.scan.races import races_of
from swzverify.compiled.scan.verdict import NO_BLOCK, Goals
from swzverify.core.pool import Lost, Service, run_jobs, serve

Job: TypeAlias = tuple[int, int]
"""The number of a text, and of a function in it."""
_ONE_AT_A_TIME: Final = threading.Lock()
"""Several threads of a worker may have jobs; Z3 allows one at a time."""


@dataclass(frozen=True, slots=True)
class Asks:
    """What a scan is asked: the verdicts of accesses and operands, and those on races."""

    accesses: bool = True
    races: bool = True


EVERYTHING: Final = Asks()
ACCESSES_ALONE: Final = Asks(races=False)
RACES_ALONE: Final = Asks(accesses=False)


@dataclass(frozen=True, slots=True)
class Launches:
    """What is known of each function that is scanned, and what is asked; parameters have the names of the PTX."""

    blocks: Mapping[Job, JudgedBlock]
    given: Given
    smem: int | None
    asks: Asks


@dataclass(frozen=True, slots=True)
class SentText:
    """A PTX text as other processes get it: what certificates call it, the text, and its machine code."""

    path: str
    text: str
    machine: Listing | None


@dataclass(frozen=True, slots=True)
class Work:
    """What all jobs of a scan have in common. `digest` names all of it."""

    texts: tuple[SentText, ...]
    options: ScanOptions
    launches: Launches
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong at a function, in words; `is_ours` tells a fault of swzverify."""

    words: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Scanned:
    """The accesses of a function, its operands that the tensor core reads by descriptors, and a kernel's races.

    `stages` has what barrier objects expect.
    """

    accesses: tuple[ScannedAccess, ...]
    operands: tuple[AnyOperand, ...]
    races: KernelRaces | None = None
    stages: tuple[ScannedStage, ...] = ()


Told: TypeAlias = "Scanned | Fault"
Judged: TypeAlias = Generator[tuple[Job, Told], None, None]


def judge_here(
    jobs: Sequence[Job], modules: Sequence[Module], work: Work, begins: Callable[[Job], None] = lambda _: None
) -> Judged:
    """Each job with what was found, in this process; `begins` hears of each job before its work."""
    for job in jobs:
        begins(job)
        yield job, _scanned(modules[job[0]], job, work)


def judge_in_pool(jobs: Sequence[Job], processes: int, work: Work) -> Judged:
    """Each job with what was found, as it is done, in so many processes."""
    service: Service[Job, Told] = Service(_serve, (work,), lambda _: True, _death)
    with closing(run_jobs(jobs, processes, service)) as heard:
        for at, news, _ in heard:
            yield jobs[at], news


def judge_on_dask(jobs: Sequence[Job], address: str, work: Work) -> Judged:
    """Each job with what was found, as it is done, on the cluster whose scheduler has an address.

    Raises:
        SwzError: SWZ573, SWZ575 and SWZ576.
    """
    from swzverify.core.on_dask import Task, client_at, run_on_dask  # noqa: PLC0415 - few scans use a cluster

    task: Task[Job, Told] = Task(
        _answer,
        (work,),
        lambda job: f"scan-{work.digest}-{job[0]}-{job[1]}",
        lambda job: f"function {job[1] + 1} of {work.texts[job[0]].path}",
    )
    with ExitStack() as stack:
        yield from run_on_dask(stack.enter_context(client_at(address)), jobs, task)


def _scanned(module: Module, job: Job, work: Work) -> Scanned:
    """What is asked of a function; certificates of free accesses are written where they are wanted."""
    options, launches, text = work.options, work.launches, work.texts[job[0]]
    block, function = launches.blocks[job], module.functions[job[1]]
    races = _races(module, function, block, work)
    if not launches.asks.accesses:
        return Scanned((), (), races)
    given = launches.given, launches.smem
    operands, stages = scan_operands_and_stages(module, function, block.shape, *given, assumed=block.assumed)
    fragments: Sequence[AnyOperand] = ()
    if options.fragments:
        fragments = scan_fragments(module, function, block.shape, *given, assumed=block.assumed)
    accesses = tuple(
        scan_function(
            module,
            function,
            block.shape,
            options.target,
            launches.given,
            smem=launches.smem,
            machine=text.machine,
            suggest=options.suggest,
            trials=options.trials,
            assumed=block.assumed,
        )
    )
    if block.missing:
        accesses = tuple(_with_missing_block(each, block) for each in accesses)
    if options.certificates is not None:
        from swzverify.apps.run.certificates import certify_accesses  # noqa: PLC0415 - few runs write certificates

        accesses = certify_accesses(options.certificates, text.path, text.text, accesses)
    # The formulas of proofs are large, and only certificates need them.
    accesses = tuple(replace(each, decision=replace(each.decision, goals=Goals())) for each in accesses)
    return Scanned(accesses, (*operands, *fragments), races, tuple(stages))


def _races(module: Module, function: Function, block: JudgedBlock, work: Work) -> KernelRaces | None:
    """The races of a kernel; a function that kernels call has none of its own."""
    options, launches = work.options, work.launches
    if not function.is_entry or not launches.asks.races:
        return None
    found = races_of(
        module,
        function,
        launches.given,
        lockstep=options.lockstep,
        block=block.shape,
        target=options.target,
        smem=launches.smem,
    )
    if block.missing and found.reason and NO_BLOCK.startswith(found.reason):
        return replace(found, reason=_without_block(block))
    return replace(found, assumptions=(block.assumed, *found.assumptions)) if block.assumed else found


def _with_missing_block(access: ScannedAccess, block: JudgedBlock) -> ScannedAccess:
    """An access whose reason says why the block is not known, if that is the reason."""
    if access.decision.reason != NO_BLOCK:
        return access
    return replace(access, decision=replace(access.decision, reason=_without_block(block)))


def _without_block(block: JudgedBlock) -> str:
    return NO_BLOCK.replace("give --block", f"{block.missing}; give --block")


def _serve(pipe: Connection[Told, Job], work: Work) -> None:
    """Scan the functions that come along the pipe."""
    serve(pipe, lambda: lambda job: _answer(job, work))


def _answer(job: Job, work: Work) -> Told:
    """What was found at a function, or what went wrong: the process that has the terminal tells it."""
    text = work.texts[job[0]]
    try:
        with _ONE_AT_A_TIME:
            return _scanned(_module_of(text.text, text.path), job, work)
    except Exception as error:  # noqa: BLE001 - it is told elsewhere
        return Fault(fault(error), is_ours=True)


@lru_cache(maxsize=8)
def _module_of(text: str, path: str) -> Module:
    """The module of a text; a process reads it once."""
    return read_module(text, path)


def _death(lost: Lost[Job, Told]) -> Told:
    return Fault(f"the process at function {lost.job[1] + 1} {lost.how}", is_ours=False)

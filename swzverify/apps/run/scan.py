"""Files scanned, in this process or in several: PTX in, the accesses of each text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import TypeAlias

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.fault import fault
from swzverify.compiled.binaries import NOT_GIVEN, Machine, PtxText, machine_of_file, ptx_of_file
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.ptx.plain import text_of_file
from swzverify.compiled.sass import Listing, ListingError, read_listing
from swzverify.compiled.scan import (
    NOTHING_GIVEN,
    Given,
    ScannedAccess,
    block_of_launch,
    facts_of,
    scan_function,
    scanned_functions,
    synchronizations,
    unknown_names,
)
from swzverify.core.pool import Lost, Service, run_jobs, serve
from swzverify.core.processes import processes_for
from swzverify.errors import InternalError, SwzError, nearest
from swzverify.hardware import find_target
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile

FEW_FUNCTIONS = 8
"""Up to so many functions are scanned in this process, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What is known of a kernel's launches: the shape of the block (None: what the text says), what is
    given of parameters, and the bytes of dynamic shared memory.
    """

    block: BlockShape | None = None
    given: Given = NOTHING_GIVEN
    smem: int | None = None


@dataclass(frozen=True, slots=True)
class ReadText:
    """A PTX text that was read: the file's name, where the text was in it, the text, its module,
    and its machine code, or why there is none.
    """

    name: str
    origin: str
    text: str
    module: Module
    machine: Listing | None = None
    no_machine: str = NOT_GIVEN


def scan_files(options: ScanOptions, launch: LaunchFacts) -> list[ScannedFile]:
    """The accesses of each PTX text of the files, in their order. The folder of certificates is ready.

    Errors: those of reading (SWZ531 to SWZ543), SWZ402, SWZ551 for a kernel, parameter or condition
    that no file has, SWZ552 for conditions that no values fulfil, SWZ555 for a block that a kernel
    does not allow.
    """
    find_target(options.target)
    return scan_texts([text for name in options.files for text in _texts(name, options)], options, launch)


def scan_texts(texts: Sequence[ReadText], options: ScanOptions, launch: LaunchFacts) -> list[ScannedFile]:
    """As `scan_files`, of texts that are read already."""
    facts = _check(texts, options, launch)
    jobs = [
        (number, place) for number, text in enumerate(texts) for place in scanned_functions(text.module, options.kernel)
    ]
    found: dict[tuple[int, int], Told] = {}
    processes, paths = processes_for(len(jobs), options.jobs, FEW_FUNCTIONS), _paths(texts)
    if processes == 1:
        for job in jobs:
            text = texts[job[0]]
            told_here = _scanned(text.module, job[1], options, launch, text.machine)
            found[job] = _certified(told_here, paths[job[0]], text.text, options)
    else:
        sent: _Sent = tuple((path, each.text, each.machine) for path, each in zip(paths, texts, strict=True))
        service: Service[Job, Told] = Service(_serve, (sent, options, launch), lambda _: True, _death)
        with closing(run_jobs(jobs, processes, service)) as heard:
            for at, news, _ in heard:
                found[jobs[at]] = news
    told: list[list[Told]] = [[] for _ in texts]
    for job in jobs:
        told[job[0]].append(found[job])
    return [_file(text, mine, facts) for text, mine in zip(texts, told, strict=True)]


Job: TypeAlias = tuple[int, int]
"""The number of a text, and of a function in it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong at a function, in words; `is_ours` tells a fault of swzverify."""

    words: str
    is_ours: bool


Told: TypeAlias = "tuple[ScannedAccess, ...] | Fault"
_Sent: TypeAlias = tuple[tuple[str, str, Listing | None], ...]


def _texts(name: str, options: ScanOptions) -> Iterator[ReadText]:
    held = ptx_of_file(name, options.target, options.nvcc_arguments)
    if held is None:
        # What other processes read is this very text, whatever becomes of the file.
        held = [PtxText(text_of_file(name), "")]
    modules = [read_module(each.text, name) for each in held]
    texts = [each.text for each in held]
    machines = machine_of_file(name, texts, options.target, options.cubins, options.nvcc_arguments)
    for each, module, machine in zip(held, modules, machines, strict=True):
        yield read_text(name, each.origin, each.text, module, machine)


def read_text(name: str, origin: str, text: str, module: Module, machine: Machine) -> ReadText:
    """A text that was read, with the machine code that was made of it as data."""
    listing, reason = _listing(machine)
    return ReadText(name, origin, text, module, listing, reason)


def _listing(machine: Machine) -> tuple[Listing | None, str]:
    """The machine code as data, or why there is none."""
    if machine.reason:
        return None, machine.reason
    try:
        listing = read_listing(machine.listing, machine.shift)
    except ListingError as error:
        return None, str(error)
    if not listing.has_lines:
        return None, "the machine code has no table of PTX lines: build it with -lineinfo"
    return listing, ""


def _check(texts: Sequence[ReadText], options: ScanOptions, launch: LaunchFacts) -> dict[Function, tuple[str, ...]]:
    """What is given of each function to scan; refuses early what fits no kernel."""
    functions = [function for text in texts for function in text.module.functions]
    names = list(dict.fromkeys(each.name for each in functions if each.is_entry))
    if options.kernel is not None and options.kernel not in names:
        hint = nearest(options.kernel, names) or "there are " + ", ".join(names[:8])
        hint = (hint + (", ..." if len(names) > 8 else "")) if names else "there are none"
        raise SwzError("SWZ551", f"no kernel is called {visible(options.kernel)}", hint=hint)
    wanted = [text.module.functions[each] for text in texts for each in scanned_functions(text.module, options.kernel)]
    if message := unknown_names(launch.given, wanted):
        raise SwzError("SWZ551", message, hint="param0, param1, ... name parameters by their places too")
    for each in wanted:
        block_of_launch(each, launch.block)
    return {each: facts_of(each, launch.given).applied for each in wanted}


def _scanned(
    module: Module, place: int, options: ScanOptions, launch: LaunchFacts, machine: Listing | None
) -> tuple[ScannedAccess, ...]:
    function = module.functions[place]
    return tuple(
        scan_function(
            module,
            function,
            launch.block,
            options.target,
            launch.given,
            smem=launch.smem,
            machine=machine,
            suggest=options.suggest,
            trials=options.trials,
        )
    )


def _paths(texts: Sequence[ReadText]) -> list[str]:
    """What certificates call each text: the file, and where the text is in it; no two alike."""
    found: list[str] = []
    for each in texts:
        path = f"{each.name} ({each.origin})" if each.origin else each.name
        found.append(path if path not in found else f"{path} ({len(found) + 1})")
    return found


def _certified(
    told: tuple[ScannedAccess, ...], path: str, text: str, options: ScanOptions
) -> tuple[ScannedAccess, ...]:
    """The accesses; certificates of those that are free are written where they are wanted."""
    if options.certificates is None:
        return told
    from swzverify.apps.run.certificates import certify_accesses  # noqa: PLC0415 - few runs write certificates

    return certify_accesses(options.certificates, path, text, told)


def _file(text: ReadText, told: list[Told], given: Mapping[Function, tuple[str, ...]]) -> ScannedFile:
    accesses: list[ScannedAccess] = []
    problems = [replace(each, file=text.name) for each in text.module.problems]
    for each in told:
        if isinstance(each, Fault):
            if each.is_ours:
                raise InternalError(each.words)
            raise SwzError("SWZ902", f"{visible(text.name)}: {each.words}", hint="use fewer processes: -j 1")
        accesses += each
    scanned = [each for each in text.module.functions if each in given]
    applied = {each.name: texts for each in scanned if (texts := given[each])}
    barriers = {each.name: count for each in scanned if (count := synchronizations(text.module, each))}
    files, code = dict(text.module.files), "" if text.machine is None else text.machine.target
    return ScannedFile(
        text.name,
        tuple(accesses),
        files,
        tuple(problems),
        text.origin,
        applied,
        code,
        text.no_machine,
        text.machine,
        barriers=barriers,
    )


# ---- other processes


def _serve(pipe: Connection[Told, Job], texts: _Sent, options: ScanOptions, launch: LaunchFacts) -> None:
    """Scan the functions that come along the pipe."""
    modules: dict[int, Module] = {}

    def answer(job: Job) -> Told:
        number, place = job
        try:
            name, text, machine = texts[number]
            if number not in modules:
                modules[number] = read_module(text, name)
            return _certified(_scanned(modules[number], place, options, launch, machine), name, text, options)
        except Exception as error:  # noqa: BLE001 - it is told by the process that has the terminal
            return Fault(fault(error), is_ours=True)

    serve(pipe, lambda: answer)


def _death(lost: Lost[Job, Told]) -> Told:
    return Fault(f"the process at function {lost.job[1] + 1} {lost.how}", is_ours=False)

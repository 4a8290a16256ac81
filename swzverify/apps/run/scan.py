"""Files scanned, in this process or in several: PTX in, the accesses of each text out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import TypeAlias

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.fault import fault
from swzverify.compiled.binaries import (
    NOT_GIVEN,
    LaunchedBlock,
    Machine,
    PtxText,
    blocks_of_file,
    machine_of_file,
    ptx_of_file,
)
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.ptx.plain import text_of_file
from swzverify.compiled.sass import Listing, ListingError, read_listing
from swzverify.compiled.scan import (
    NOTHING_GIVEN,
    Blocks,
    BlockShape,
    Given,
    JudgedBlock,
    ScannedAccess,
    ScannedOperand,
    facts_of,
    judged_block,
    scan_function,
    scan_operands,
    scanned_functions,
    synchronizations,
    unknown_names,
    wanted_kernels,
    with_whole_names,
)
from swzverify.compiled.scan.races import races_of
from swzverify.core.pool import Lost, Service, run_jobs, serve
from swzverify.core.processes import processes_for
from swzverify.errors import InternalError, SwzError
from swzverify.hardware import find_target
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile

FEW_FUNCTIONS = 8
"""Up to so many functions are scanned in this process, unless told otherwise."""


Job: TypeAlias = tuple[int, int]
"""The number of a text, and of a function in it."""


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What is known of launches.

    Attributes:
        block: The threads of a block of every kernel; None if the text of the kernel says it.
        given: What is given of parameters, of the grid and of where dynamic memory begins.
        smem: The bytes of dynamic shared memory.
        named: Blocks of the kernels that a name or a glob means.
    """

    block: BlockShape | None = None
    given: Given = NOTHING_GIVEN
    smem: int | None = None
    named: tuple[tuple[str, BlockShape], ...] = ()


@dataclass(frozen=True, slots=True)
class Asks:
    """What a scan is asked: the verdicts of accesses and operands, and those on races."""

    accesses: bool = True
    races: bool = True


EVERYTHING = Asks()
ACCESSES_ALONE = Asks(races=False)
RACES_ALONE = Asks(accesses=False)


@dataclass(frozen=True, slots=True)
class _Launch:
    """What is known of each function that is scanned, and what is asked; parameters have the names of the PTX."""

    blocks: Mapping[Job, JudgedBlock]
    given: Given
    smem: int | None
    asks: Asks


@dataclass(frozen=True, slots=True)
class ReadText:
    """A PTX text that was read, with its module.

    `name` is the file's name, and `origin` the place of the text in it. `machine` is its machine code;
    `no_machine` says why there is none. `launched` has blocks of launches that stand in the file.
    """

    name: str
    origin: str
    text: str
    module: Module
    machine: Listing | None = None
    no_machine: str = NOT_GIVEN
    launched: Mapping[str, LaunchedBlock] = field(default_factory=dict[str, LaunchedBlock])


def scan_files(options: ScanOptions, launch: LaunchFacts, asks: Asks = EVERYTHING) -> list[ScannedFile]:
    """The accesses and races of each PTX text of the files, in their order. The folder of certificates is ready.

    Raises:
        SwzError: Those of reading (SWZ531 to SWZ543), SWZ402, SWZ551 for a kernel, parameter or
            condition that no file has, SWZ552 for conditions that no values fulfil, SWZ555 for a block
            that a kernel does not allow.
    """
    find_target(options.target)
    return scan_texts([text for name in options.files for text in _texts(name, options)], options, launch, asks)


def scan_texts(
    texts: Sequence[ReadText], options: ScanOptions, launch: LaunchFacts, asks: Asks = EVERYTHING
) -> list[ScannedFile]:
    """As `scan_files`, of texts that are read already."""
    options, known, facts = _check(texts, options, launch, asks)
    jobs = [*known.blocks]
    found: dict[tuple[int, int], Told] = {}
    processes, paths = processes_for(len(jobs), options.jobs, FEW_FUNCTIONS), _paths(texts)
    if processes == 1:
        for job in jobs:
            text = texts[job[0]]
            told_here = _scanned(text.module, job, options, known, text.machine)
            found[job] = _certified(told_here, paths[job[0]], text.text, options)
    else:
        sent: _Sent = tuple((path, each.text, each.machine) for path, each in zip(paths, texts, strict=True))
        service: Service[Job, Told] = Service(_serve, (sent, options, known), lambda _: True, _death)
        with closing(run_jobs(jobs, processes, service)) as heard:
            for at, news, _ in heard:
                found[jobs[at]] = news
    told: list[dict[int, Told]] = [{} for _ in texts]
    for number, place in jobs:
        told[number][place] = found[number, place]
    return [_file(text, mine, facts) for text, mine in zip(texts, told, strict=True)]


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong at a function, in words; `is_ours` tells a fault of swzverify."""

    words: str
    is_ours: bool


@dataclass(frozen=True, slots=True)
class Scanned:
    """The accesses of a function, its operands that the tensor core reads by descriptors, and a kernel's races."""

    accesses: tuple[ScannedAccess, ...]
    operands: tuple[ScannedOperand, ...]
    races: KernelRaces | None = None


Told: TypeAlias = "Scanned | Fault"
_Sent: TypeAlias = tuple[tuple[str, str, Listing | None], ...]


def _texts(name: str, options: ScanOptions) -> Iterator[ReadText]:
    held = ptx_of_file(name, options.target, options.nvcc_arguments)
    if held is None:
        # What other processes read is this very text, whatever becomes of the file.
        held = [PtxText(text_of_file(name), "")]
    launched = blocks_of_file(name)
    modules = [read_module(each.text, name) for each in held]
    texts = [each.text for each in held]
    machines = machine_of_file(name, texts, options.target, options.cubins, options.nvcc_arguments)
    for each, module, machine in zip(held, modules, machines, strict=True):
        found = read_text(name, each.origin, each.text, module, machine)
        yield replace(found, launched=launched) if launched else found


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


def _check(
    texts: Sequence[ReadText], options: ScanOptions, launch: LaunchFacts, asks: Asks
) -> tuple[ScanOptions, _Launch, dict[Function, tuple[str, ...]]]:
    """The options and the launch with the names of the PTX, and what is given of each function.

    What fits no kernel is refused early.
    """
    names = [each.name for text in texts for each in text.module.functions if each.is_entry]
    if options.kernel is not None:
        options = replace(options, kernel=wanted_kernels(options.kernel, names).names[0])
    wanted = [text.module.functions[each] for text in texts for each in scanned_functions(text.module, options.kernel)]
    given = with_whole_names(launch.given, wanted)
    if message := unknown_names(given, wanted):
        raise SwzError("SWZ551", message, hint="param0, param1, ... name parameters by their places too")
    blocks = Blocks(launch.block, tuple((wanted_kernels(text, names), shape) for text, shape in launch.named))
    judged = {
        (number, place): judged_block(text.module.functions[place], blocks, text.launched, text.name)
        for number, text in enumerate(texts)
        for place in scanned_functions(text.module, options.kernel)
    }
    return options, _Launch(judged, given, launch.smem, asks), {each: facts_of(each, given).applied for each in wanted}


def _scanned(module: Module, job: Job, options: ScanOptions, launch: _Launch, machine: Listing | None) -> Scanned:
    block, function = launch.blocks[job], module.functions[job[1]]
    races = _races(module, function, block, options, launch)
    if not launch.asks.accesses:
        return Scanned((), (), races)
    operands = scan_operands(module, function, block.shape, launch.given, launch.smem, assumed=block.assumed)
    accesses = tuple(
        scan_function(
            module,
            function,
            block.shape,
            options.target,
            launch.given,
            smem=launch.smem,
            machine=machine,
            suggest=options.suggest,
            trials=options.trials,
            assumed=block.assumed,
        )
    )
    return Scanned(accesses, tuple(operands), races)


def _races(
    module: Module, function: Function, block: JudgedBlock, options: ScanOptions, launch: _Launch
) -> KernelRaces | None:
    """The races of a kernel; a function that kernels call has none of its own."""
    if not function.is_entry or not launch.asks.races:
        return None
    found = races_of(
        module, function, launch.given, lockstep=options.lockstep, block=block.shape, target=options.target
    )
    return replace(found, assumptions=(block.assumed, *found.assumptions)) if block.assumed else found


def _paths(texts: Sequence[ReadText]) -> list[str]:
    """What certificates call each text: the file, and where the text is in it; no two alike."""
    found: list[str] = []
    for each in texts:
        path = f"{each.name} ({each.origin})" if each.origin else each.name
        found.append(path if path not in found else f"{path} ({len(found) + 1})")
    return found


def _certified(told: Scanned, path: str, text: str, options: ScanOptions) -> Scanned:
    """The accesses; certificates of those that are free are written where they are wanted."""
    if options.certificates is None:
        return told
    from swzverify.apps.run.certificates import certify_accesses  # noqa: PLC0415 - few runs write certificates

    return replace(told, accesses=certify_accesses(options.certificates, path, text, told.accesses))


def _file(text: ReadText, told: Mapping[int, Told], given: Mapping[Function, tuple[str, ...]]) -> ScannedFile:
    accesses: list[ScannedAccess] = []
    operands: list[ScannedOperand] = []
    races: dict[str, KernelRaces] = {}
    problems = [replace(each, file=text.name) for each in text.module.problems]
    for place, each in told.items():
        if isinstance(each, Fault):
            if each.is_ours:
                raise InternalError(each.words)
            raise SwzError("SWZ902", f"{visible(text.name)}: {each.words}", hint="use fewer processes: -j 1")
        accesses += each.accesses
        operands += each.operands
        if each.races is not None:
            races[text.module.functions[place].name] = each.races
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
        operands=tuple(operands),
        races=races,
    )


# ---- other processes


def _serve(pipe: Connection[Told, Job], texts: _Sent, options: ScanOptions, launch: _Launch) -> None:
    """Scan the functions that come along the pipe."""
    modules: dict[int, Module] = {}

    def answer(job: Job) -> Told:
        number = job[0]
        try:
            name, text, machine = texts[number]
            if number not in modules:
                modules[number] = read_module(text, name)
            return _certified(_scanned(modules[number], job, options, launch, machine), name, text, options)
        except Exception as error:  # noqa: BLE001 - it is told by the process that has the terminal
            return Fault(fault(error), is_ours=True)

    serve(pipe, lambda: answer)


def _death(lost: Lost[Job, Told]) -> Told:
    return Fault(f"the process at function {lost.job[1] + 1} {lost.how}", is_ours=False)

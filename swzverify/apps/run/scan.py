"""Files scanned: PTX in, the accesses of each text out, and of each function as soon as it is judged."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any, Final

from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.launches import blocks_of_files, forget_texts
from swzverify.apps.run.scan_jobs import (
    EVERYTHING,
    Asks,
    Job,
    Judged,
    Launches,
    Scanned,
    SentText,
    Work,
    judge_here,
    judge_in_pool,
    judge_on_dask,
)
from swzverify.apps.run.scan_run import InterruptedScanError, Listeners, ReadText, ScanRun
from swzverify.apps.run.version import package_version
from swzverify.compiled.binaries import (
    Machine,
    PtxText,
    machine_of_file,
    ptx_of_file,
)
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.ptx.plain import text_of_file
from swzverify.compiled.sass import Listing, ListingError, read_listing
from swzverify.compiled.scan import (
    NOTHING_GIVEN,
    Blocks,
    BlockShape,
    Given,
    facts_of,
    judged_block,
    scanned_functions,
    unknown_names,
    wanted_kernels,
    with_whole_names,
)
from swzverify.core.demangle import demangled
from swzverify.core.processes import processes_for
from swzverify.errors import SwzError
from swzverify.hardware import find_target
from swzverify.report.scan import ScannedFile
from swzverify.report.source_line import is_of_the_program
from swzverify.spec.sources.conditions import macros_of

FEW_FUNCTIONS = 8
"""Up to so many functions are scanned in this process, unless told otherwise."""

_UNRELATED: Final = frozenset(
    {"reports", "fail_on", "baseline", "write_baseline", "write_spec", "exports", "check_run"}
    | {"jobs", "scheduler", "resume", "watch", "top", "verbose", "quiet"}
)
"""Options that change no verdict."""


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


def scan_files(
    options: ScanOptions,
    launch: LaunchFacts,
    to: Listeners = Listeners(),  # noqa: B008 - it is frozen
    asks: Asks = EVERYTHING,
) -> list[ScannedFile]:
    """The accesses and races of each PTX text of the files, in their order. The folder of certificates is ready.

    Raises:
        SwzError: Those of reading (SWZ531 to SWZ543), SWZ402, SWZ551 for a kernel, parameter or
            condition that no file has, SWZ552 for conditions that no values fulfil, SWZ555 for a block
            that a kernel does not allow; SWZ573 to SWZ576 for a folder or a cluster that cannot be used.
        InterruptedScanError: Ctrl-C, after some functions were judged.
    """
    find_target(options.target)
    texts = [text for name in options.files for text in _texts(name, options)]
    forget_texts()
    return scan_texts(texts, options, launch, to, asks)


def scan_texts(
    texts: Sequence[ReadText],
    options: ScanOptions,
    launch: LaunchFacts,
    to: Listeners = Listeners(),  # noqa: B008 - it is frozen
    asks: Asks = EVERYTHING,
) -> list[ScannedFile]:
    """As `scan_files`, of texts that are read already."""
    options, known, facts = _check(texts, options, launch, asks)
    jobs = [*known.blocks]
    sent = tuple(SentText(path, each.text, each.machine) for path, each in zip(_paths(texts), texts, strict=True))
    run = ScanRun(texts, jobs, facts, to)
    try:
        with ExitStack() as stack:
            left, work = jobs, Work(sent, options, known)
            keep: Callable[[Job, Scanned], None] = lambda _, __: None  # noqa: E731 - it is one of two
            if options.resume is not None or options.scheduler is not None:
                identity = _identity(texts, options, launch, asks)
                work = replace(work, digest=sha256(repr(identity).encode()).hexdigest()[:32])
                if options.resume is not None:
                    from swzverify.apps.run.scan_kept import kept_in  # noqa: PLC0415 - few scans keep what they find

                    kept = stack.enter_context(kept_in(options.resume, identity))
                    keep, left = kept.put, [job for job in jobs if not run.knows(job, kept.find(job))]
            for job, told in stack.enter_context(closing(_judged(left, work, [each.module for each in texts], run))):
                if isinstance(told, Scanned):
                    keep(job, told)
                run.take(job, told)
    except KeyboardInterrupt:
        if not run.found:
            raise
        raise InterruptedScanError(run.files(), run.progress) from None
    return run.files()


def _judged(left: Sequence[Job], work: Work, modules: Sequence[Module], run: ScanRun) -> Judged:
    """Judge functions where the options say."""
    if left and work.options.scheduler is not None:
        return judge_on_dask(left, work.options.scheduler, work)
    processes = processes_for(len(left), work.options.jobs, FEW_FUNCTIONS)
    return judge_here(left, modules, work, run.begin) if processes == 1 else judge_in_pool(left, processes, work)


def _identity(texts: Sequence[ReadText], options: ScanOptions, launch: LaunchFacts, asks: Asks) -> dict[str, Any]:
    """What the verdicts of a scan depend on."""
    chosen = {each.name: getattr(options, each.name) for each in fields(options) if each.name not in _UNRELATED}
    return {
        "version": package_version(),
        "files": [[each.name, each.origin, sha256(each.text.encode()).hexdigest()] for each in texts],
        "machine_code": sha256(repr([each.machine for each in texts]).encode()).hexdigest(),
        "options": {name: repr(value) for name, value in chosen.items()},
        "launches": repr((launch, asks, [sorted(each.launched.items()) for each in texts])),
    }


def _texts(name: str, options: ScanOptions) -> Iterator[ReadText]:
    held = ptx_of_file(name, options.target, options.nvcc_arguments)
    if held is None:
        # What other processes read is this very text, whatever becomes of the file.
        held = [PtxText(text_of_file(name), "")]
    modules = [read_module(each.text, name) for each in held]
    texts = [each.text for each in held]
    machines = machine_of_file(name, texts, options.target, options.cubins, options.nvcc_arguments)
    for each, module, machine in zip(held, modules, machines, strict=True):
        found = read_text(name, each.origin, each.text, module, machine)
        # The line table names the sources; a .cu that is scanned itself, or beside its PTX, may come without one.
        sources = (name, f"{os.path.splitext(name)[0]}.cu", *module.files.values())
        kernels = [demangled(each.name).short for each in module.functions if each.is_entry]
        near = [each for each in sources if is_of_the_program(each)]
        launched = blocks_of_files(sources, kernels, near, macros_of(options.nvcc_arguments))
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
) -> tuple[ScanOptions, Launches, dict[Function, tuple[str, ...]]]:
    """The options and the launch with the names of the PTX, and what is given of each function.

    What fits no kernel is refused early.
    """
    names = [each.name for text in texts for each in text.module.functions if each.is_entry]
    if options.kernel is not None:
        options = replace(options, kernel=wanted_kernels(options.kernel, names).names[0])
    wanted = [text.module.functions[each] for text in texts for each in scanned_functions(text.module, options.kernel)]
    given = with_whole_names(launch.given, wanted)
    if message := unknown_names(given, wanted):
        raise SwzError(
            "SWZ551", message, hint="or give its place, from 0: param0, param1, ...; nvcc drops the names of the source"
        )
    blocks = Blocks(launch.block, tuple((wanted_kernels(text, names), shape) for text, shape in launch.named))
    judged = {
        (number, place): judged_block(text.module.functions[place], blocks, text.launched)
        for number, text in enumerate(texts)
        for place in scanned_functions(text.module, options.kernel)
    }
    return options, Launches(judged, given, launch.smem, asks), {each: facts_of(each, given).applied for each in wanted}


def _paths(texts: Sequence[ReadText]) -> list[str]:
    """What certificates call each text: the file, and where the text is in it; no two alike."""
    found: list[str] = []
    for each in texts:
        path = f"{each.name} ({each.origin})" if each.origin else each.name
        found.append(path if path not in found else f"{path} ({len(found) + 1})")
    return found

"""Scanned files compared with counters: profiles in, and the counts beside each access out."""

from __future__ import annotations

import shlex
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from swzverify.apps.options.declare import asked
from swzverify.apps.options.scan import ScanOptions
from swzverify.apps.run.version import versions
from swzverify.compiled.profiler import (
    Export,
    Launch,
    Profile,
    Total,
    Totals,
    fitted,
    may_be,
    profile,
    read_counters_of,
)
from swzverify.compiled.sass import Section
from swzverify.compiled.scan import ScannedAccess
from swzverify.compiled.scan.measured import Counted, held_against, measured_in
from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_check import Check

DISAGREEMENT = "disagreement"


@dataclass(frozen=True, slots=True)
class Counters:
    """The exports that were read, the launches where they are known, and the totals of whole launches."""

    exports: tuple[Export, ...] = ()
    launches: tuple[Launch, ...] = ()
    totals: tuple[Totals, ...] = ()


def read_counters(options: ScanOptions) -> Counters | None:
    """Read the exports and profile the command, before minutes of work; None where neither is given.

    Raises:
        SwzError: SWZ542 to SWZ544, SWZ546.
    """
    if not options.exports and options.check_run is None:
        return None
    found = counters_of(*(read_counters_of(each) for each in options.exports))
    if options.check_run is None:
        return found
    export, launches = profile(options.check_run, options.kernel)
    return replace(found, exports=(*found.exports, export), launches=launches)


def counters_of(*found: Export | Totals) -> Counters:
    """Counters by their kinds."""
    exports = tuple(each for each in found if isinstance(each, Export))
    return Counters(exports, totals=tuple(each for each in found if isinstance(each, Totals)))


def spelled(options: ScanOptions) -> str:
    """The command that finds the same again, as a shell reads it.

    >>> spelled(ScanOptions(("k.ptx",), blocks=("32,8",), parameters=("n=1", "m=2"), quiet=True))
    'swzverify scan k.ptx --block 32,8 --param n=1 --param m=2'
    """
    words = ["swzverify", "scan", *options.files]
    for name, value in asked(options, writing=False).items():
        if isinstance(value, bool):
            words.append(name)
        else:
            values = cast("tuple[str, ...]", value) if isinstance(value, tuple) else (str(value),)
            words += [word for each in values for word in (name, each)]
    return shlex.join(words)


def checked(files: Sequence[ScannedFile], found: Counters, again: str) -> tuple[list[ScannedFile], Check]:
    """The files with their counts, and what to say about all of them.

    Raises:
        SwzError: SWZ544 for counters of both kinds, SWZ545 if no kernel of the files was profiled.
    """
    if found.totals and found.exports:
        hint = "scan twice, once with each kind"
        raise SwzError("SWZ544", "counters of instructions and of whole launches do not go together", hint=hint)
    return _by_launch(files, found.totals, again) if found.totals else _by_instruction(files, found, again)


def _by_launch(files: Sequence[ScannedFile], totals: Sequence[Totals], again: str) -> tuple[list[ScannedFile], Check]:
    """The files with what the totals of launches say."""
    kernels = list(dict.fromkeys((number, each.kernel) for number, file in enumerate(files) for each in file.accesses))
    launches: defaultdict[tuple[int, str], list[Total]] = defaultdict(list)
    notes = [visible(each) for of in totals for each in of.notes]
    for each in (launch for of in totals for launch in of.launches):
        exact = [place for place in kernels if place[1] == each.kernel]
        fits = exact or [place for place in kernels if may_be(place[1], each.kernel)]
        if len(fits) == 1:
            launches[fits[0]].append(each)
            continue
        why = "several kernels have this name: give --kernel" if fits else "no kernel that was scanned has this name"
        notes.append(f"{visible(each.kernel)}: {why}")
    if not launches:
        reasons = "; ".join(dict.fromkeys(notes)) or "there is no launch"
        hint = "scan the files of which the profiled program was built"
        raise SwzError("SWZ545", f"nothing that was profiled is a kernel of these files: {reasons}", hint=hint)
    for (_, kernel), of in launches.items():
        counts = dict.fromkeys(f"{each.wavefronts} wavefronts, ideal {each.ideal}" for each in of)
        notes.append(f"{visible(kernel)}: {'; '.join(counts)} in a launch")
    held: list[ScannedFile] = []
    for number, file in enumerate(files):
        by_kernel: defaultdict[str, list[ScannedAccess]] = defaultdict(list)
        for access in file.accesses:
            by_kernel[access.kernel].append(access)
        found = {
            kernel: iter(held_against(accesses, launches.get((number, kernel), ())))
            for kernel, accesses in by_kernel.items()
        }
        held.append(replace(file, measured=tuple(next(found[each.kernel]) for each in file.accesses)))
    devices = tuple(dict.fromkeys(each.device for of in launches.values() for each in of if each.device))
    counted = {kernel: len(of) for (_, kernel), of in launches.items()}
    names = tuple(visible(each.name) for each in totals)
    return held, Check(names, tuple(dict.fromkeys(notes)), again, devices, counted, versions())


def _by_instruction(files: Sequence[ScannedFile], found: Counters, again: str) -> tuple[list[ScannedFile], Check]:
    """The files with what was counted of each machine instruction."""
    places = [(number, each) for number, file in enumerate(files) if file.listing for each in file.listing.sections]
    if not places:
        reasons = "; ".join(dict.fromkeys(file.no_machine for file in files if file.no_machine)) or "there is none"
        hint = "give the cubin that was profiled, built with -lineinfo: --cubin FILE"
        raise SwzError("SWZ545", f"counters need machine code: {visible(reasons)}", hint=hint)
    counted: defaultdict[tuple[int, str], list[Counted]] = defaultdict(list)
    launched: Tally[str] = Tally()
    notes: list[str] = []
    fits = 0
    for export in found.exports:
        if export.missing:
            notes.append(f"{visible(export.name)} has no column {', '.join(map(repr, export.missing))}")
        for each in export.profiles:
            fit = fitted(each, [section for _, section in places])
            if fit.section is None:
                notes.append(f"{visible(each.kernel)}: {fit.reason}")
                continue
            number, section = places[fit.section]
            if all(access.kernel != section.name for access in files[number].accesses):
                continue
            fits += 1
            if other := _other_block(files[number], section.name, found.launches):
                notes.append(other)
                continue
            launched[section.name] += 1
            counted[number, section.name].append(_of_launch(section, each))
    if not fits:
        reasons = "; ".join(dict.fromkeys(notes)) or "the export has no kernel"
        hint = "scan the files of which the profiled program was built"
        raise SwzError("SWZ545", f"nothing that was profiled is a kernel of these files: {reasons}", hint=hint)
    if not found.launches:
        notes.append("the export does not say the block of the launches: it is taken to be the one that was judged")
    devices = tuple(dict.fromkeys(each.device for each in found.launches if each.device))
    names = tuple(visible(each.name) for each in found.exports)
    check = Check(names, tuple(dict.fromkeys(notes)), again, devices, dict(launched), versions())
    return [_held(number, file, counted) for number, file in enumerate(files)], check


def _other_block(file: ScannedFile, kernel: str, launches: Sequence[Launch]) -> str:
    """Why launches of a kernel are not the judged ones; empty where nothing tells them apart."""
    shapes = {each.block for each in launches if each.kernel == kernel}
    first = next((each for each in file.accesses if each.kernel == kernel), None)
    if first is None or not shapes:
        return ""
    shape = first.assumed_block if first.block is None else ",".join(map(str, first.block))
    if first.block is None:
        # A verdict for blocks of one dimension, if there is one, is about those of a whole warp at least.
        others = {each for each in shapes if shape and (each[1:] != (1, 1) or each[0] < LANES)}
    else:
        others = shapes - {first.block}
    if not others:
        return ""
    words = " and ".join(sorted(",".join(map(str, each)) for each in shapes))
    return f"{visible(kernel)}: launched with blocks of {words}, judged for {shape}: not compared"


def _of_launch(section: Section, found: Profile) -> Counted:
    return {(section.name, place): counts for place, (_, counts) in found.instructions.items() if counts is not None}


def _held(number: int, file: ScannedFile, counted: Mapping[tuple[int, str], Sequence[Counted]]) -> ScannedFile:
    lines = Tally((access.kernel, access.line) for access in file.accesses)
    return replace(
        file,
        measured=tuple(
            measured_in(
                access,
                counted.get((number, access.kernel), ()),
                is_alone=lines[access.kernel, access.line] == 1,
            )
            for access in file.accesses
        ),
    )

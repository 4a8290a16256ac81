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
from swzverify.compiled.profiler import Export, Launch, Profile, fitted, profile, read_export
from swzverify.compiled.sass import Section
from swzverify.compiled.scan.measured import Counted, measured_in
from swzverify.errors import SwzError
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_check import Check

DISAGREEMENT = "disagreement"


@dataclass(frozen=True, slots=True)
class Counters:
    """The exports that were read, and the launches where they are known."""

    exports: tuple[Export, ...]
    launches: tuple[Launch, ...] = ()


def read_counters(options: ScanOptions) -> Counters | None:
    """Read the exports and profile the command, before minutes of work; None where neither is given.

    Raises:
        SwzError: SWZ542 to SWZ544, SWZ546.
    """
    if not options.exports and options.check_run is None:
        return None
    exports = [read_export(each) for each in options.exports]
    launches: tuple[Launch, ...] = ()
    if options.check_run is not None:
        export, launches = profile(options.check_run, options.kernel)
        exports.append(export)
    return Counters(tuple(exports), launches)


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
        SwzError: SWZ545 if no kernel of the files was profiled.
    """
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
    judged = next((each.block for each in file.accesses if each.kernel == kernel), None)
    if judged is None or not shapes or shapes == {judged}:
        return ""
    words = " and ".join(sorted(",".join(map(str, each)) for each in shapes))
    shape = ",".join(map(str, judged))
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

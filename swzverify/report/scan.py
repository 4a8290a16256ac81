"""What the scan of compiled kernels found, as JSON and as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

from swzverify.compiled.binaries import NOT_GIVEN
from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.order.verdict import KernelRaces, RaceVerdict
from swzverify.compiled.ptx import Location
from swzverify.compiled.sass import Listing
from swzverify.compiled.scan import (
    AnyOperand,
    Claim,
    ClaimVerdict,
    ScannedAccess,
    ScannedFragment,
    ScannedOperand,
    ScannedStage,
    Verdict,
)
from swzverify.compiled.scan.measured import Measured
from swzverify.compiled.scan.scanned import Scanned
from swzverify.compiled.scan.verdict import Decision
from swzverify.core.demangle import demangled
from swzverify.errors import Problem
from swzverify.hardware.tensor_cores import Family
from swzverify.report.json import cure_object
from swzverify.report.plain import members, to_json
from swzverify.report.scan_chip import chip_record, decision_record, verdict_word
from swzverify.report.scan_counts import counts_record
from swzverify.report.scan_race_record import races_record
from swzverify.report.source_line import source_line

INTERRUPTED: Final = "SWZ903"
"""The code of the problem that a report on a part of the functions has."""
NO_CONFLICTS: Final = "no verdict on bank conflicts: the counters of wgmma count none, whatever the layout"
_NO_COSTS: Final = "no verdict on bank conflicts: none are measured of tcgen05.mma"
_OF_LOADS: Final = "bank conflicts are those of the loads that fill its registers"
"""Source: tests/data/README.md, h100_wgmma.csv."""


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """The accesses of one PTX text.

    Attributes:
        name: The name of the file.
        accesses: The accesses.
        sources: The source files by the numbers of `.loc` lines.
        problems: The parts of the text that could not be read.
        origin: The place of the text in a binary.
        applied: What was given of the parameters of each kernel.
        machine: The target of the machine code that was made of it.
        no_machine: Why there is no machine code.
        listing: The machine code.
        measured: What counters say of each access; empty without counters.
        barriers: For each kernel, the number of operations that synchronize threads or order memory. No
            verdict is about them.
        operands: What the tensor core reads by matrix descriptors. It has claims, and no verdict on bank
            conflicts.
        races: The verdict on the races of each kernel.
        stages: What barrier objects expect of copies and operands, with the verdicts on their balance.
    """

    name: str
    accesses: tuple[ScannedAccess, ...]
    sources: dict[int, str]
    problems: tuple[Problem, ...] = ()
    origin: str = ""
    applied: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    machine: str = ""
    no_machine: str = NOT_GIVEN
    listing: Listing | None = None
    measured: tuple[Measured, ...] = ()
    barriers: Mapping[str, int] = field(default_factory=dict[str, int])
    operands: tuple[AnyOperand, ...] = ()
    races: Mapping[str, KernelRaces] = field(default_factory=dict[str, KernelRaces])
    stages: tuple[ScannedStage, ...] = ()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of all kernels and functions of which something is told."""
        inside = (each.kernel for each in (*self.accesses, *self.operands))
        return tuple(dict.fromkeys((*inside, *self.races)))

    @property
    def held(self) -> Iterator[tuple[ScannedAccess, Measured | None]]:
        """Each access with what counters say of it; None without counters."""
        return zip(self.accesses, self.measured or repeat(None, len(self.accesses)), strict=True)

    @property
    def is_partial(self) -> bool:
        """Whether the scan was interrupted before it judged all functions."""
        return any(each.code == INTERRUPTED for each in self.problems)


def block_words(block: tuple[int, int, int] | None) -> str:
    """The shape that was judged.

    >>> block_words((32, 8, 1)), block_words(None)
    ('blocks of 32,8,1 threads', 'blocks of any shape')
    """
    return "blocks of any shape" if block is None else f"blocks of {','.join(map(str, block))} threads"


def shape_words(access: Scanned) -> str:
    """The shapes for which the verdicts on an access hold, without what else they assume."""
    return access.assumed_block if access.block is None and access.assumed_block else block_words(access.block)


def conflict_words(decision: Decision) -> str:
    """How many words of a bank meet.

    >>> conflict_words(Decision(Verdict.CONFLICT, ways=4, at_least=True))
    'at least 4-way conflict'
    """
    return f"{'at least ' if decision.at_least else ''}{decision.ways}-way conflict"


SCHEMA: Final = "swzverify.scan-report/1"


def scan_json(files: Iterable[ScannedFile], check: Mapping[str, Any] | None = None) -> str:
    """All accesses as one JSON document; `check` is what counters say of all of them."""
    given = list(files)
    rows = [row for file in given for row in _rows(file)]
    barriers = [
        {"file": file.name, "origin": file.origin, "kernel": kernel, "count": count}
        for file in given
        for kernel, count in file.barriers.items()
    ]
    kernels = [each for file in given for each in _kernels(file)]
    whole = {
        "schema": SCHEMA,
        "accesses": rows,
        "kernels": kernels,
        "stages": [each for file in given for each in _stages(file)],
        "barriers": barriers,
        "problems": _problems(given),
        "partial": any(file.is_partial for file in given),
    } | ({} if check is None else {"check": check})
    return json.dumps(whole, indent=1) + "\n"


def scan_jsonl(files: Iterable[ScannedFile], check: Mapping[str, Any] | None = None) -> str:
    """A line of JSON for each access, each kernel with its races, and each problem, with its `type`.

    The values are those of the JSON document. The last line is the summary; the result of counters is
    the line before it.
    """
    given = list(files)
    return "".join(map(access_lines, given)) + last_lines(given, check)


def access_lines(file: ScannedFile) -> str:
    """The lines of the accesses and operands of a file, or of a part of it."""
    return "".join(_line({"type": "access", **row}) for row in _rows(file))


def last_lines(files: Sequence[ScannedFile], check: Mapping[str, Any] | None = None) -> str:
    """The lines behind those of all accesses."""
    rows: list[dict[str, Any]] = [{"type": "kernel", **each} for file in files for each in _kernels(file)]
    rows += [{"type": "stage", **each} for file in files for each in _stages(file)]
    rows += [{"type": "problem", **each} for each in _problems(files)]
    problems = sum(row["type"] == "problem" for row in rows)
    accesses = [access for file in files for access in file.accesses]
    verdicts = [access.decision.verdict for access in accesses]
    counts = {verdict.value: verdicts.count(verdict) for verdict in Verdict}
    claims = {title.replace(" ", "_"): of for title, of in claim_counts(accesses).items()}
    of_kernels = [each.verdict for file in files for each in file.races.values()]
    races = {verdict.value: of_kernels.count(verdict) for verdict in RaceVerdict}
    operands = sum(len(file.operands) for file in files)
    if check is not None:
        rows.append({"type": "check", **check})
    barriers = sum(sum(file.barriers.values()) for file in files)
    more = {"races": races, "barriers": barriers, "operands": operands, "problems": problems}
    is_partial = any(file.is_partial for file in files)
    rows.append({"type": "summary", **counts, **claims, **more, "partial": is_partial})
    return "".join(map(_line, rows))


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":")) + "\n"


def _kernels(file: ScannedFile) -> Iterator[dict[str, Any]]:
    """The races of each kernel."""
    blocks = {each.kernel: each.block for each in (*file.accesses, *file.operands)}
    for kernel, races in file.races.items():
        yield {**_kernel(file, kernel), **races_record(races, blocks.get(kernel), file.sources)}


def _kernel(file: ScannedFile, name: str) -> dict[str, Any]:
    """The file of a kernel, and its name."""
    return {"file": file.name, "origin": file.origin, "kernel": name, "demangled": demangled(name).whole}


def _stages(file: ScannedFile) -> Iterator[dict[str, Any]]:
    """What each announcement expects, what brings it, and what reads it."""
    for each in file.stages:
        yield {
            **_kernel(file, each.kernel),
            "line": each.line,
            "source": _source(file, each.location),
            "instruction": each.opcode,
            **members(each, "expects", "copies", "brings", "reads"),
            "balance": _claim(each.claim),
        }


def _problems(files: Sequence[ScannedFile]) -> list[dict[str, Any]]:
    return [{"file": file.name, "message": problem_words(each)} for file in files for each in file.problems]


def problem_words(problem: Problem) -> str:
    """What could not be read, with its line if it has one."""
    return f"line {problem.line}: {problem.message}" if problem.line else problem.message


def _rows(file: ScannedFile) -> Iterator[dict[str, Any]]:
    """The accesses in the order of the text; the operands of each kernel follow its accesses."""
    operands = list(file.operands)
    held = list(file.held)
    for at, (access, found) in enumerate(held):
        yield _record(file, access, found)
        if at + 1 == len(held) or held[at + 1][0].kernel != access.kernel:
            yield from (_operand(file, each) for each in operands if each.kernel == access.kernel)
            operands = [each for each in operands if each.kernel != access.kernel]
    yield from (_operand(file, each) for each in operands)


def _place(file: ScannedFile, access: ScannedAccess | AnyOperand) -> dict[str, Any]:
    """The instruction, and where it is."""
    return {
        **_kernel(file, access.kernel),
        **members(access, "block", "line", "calls", "loops"),
        "source": _source(file, access.location),
        "inlined": _inlined(file, access.location),
    }


def no_conflicts(operand: ScannedOperand) -> str:
    """Why an operand that a descriptor names has no verdict on bank conflicts."""
    return _NO_COSTS if operand.opcode.startswith(Family.TCGEN05.value) else NO_CONFLICTS


def _operand(file: ScannedFile, operand: AnyOperand) -> dict[str, Any]:
    """An operand of the tensor core; it has no verdict on bank conflicts, and nothing that belongs to one."""
    return {
        **_place(file, operand),
        "instruction": operand.opcode,
        "address": operand.address,
        "operand": to_json(operand.fields),
        "elements": to_json(operand.elements),
        "verdict": None,
        "settled": None,
        "reason": _OF_LOADS if isinstance(operand, ScannedFragment) else no_conflicts(operand),
        "parameters": [],
        "assumptions": list(operand.assumptions),
        "engines": [],
        **{each.kind: _claim(operand.claim(each.kind)) for each in operand.kinds},
        "cures": [],
    }


def _record(file: ScannedFile, access: ScannedAccess, found: Measured | None) -> dict[str, Any]:
    decision = access.decision
    return {
        **_place(file, access),
        **members(access, "instruction", "address"),
        **decision_record(decision),
        "wasted": access.settled.wasted,
        "executions": access.executions,
        "parameters": list(decision.parameters),
        "assumptions": list(access.assumptions),
        **members(decision, "reason", "engines"),
        "trial": None if decision.launch is None else decision.launch.record(),
        **{each.kind: _claim(access.claim(each.kind)) for each in SCAN_CLAIMS},
        "settled": verdict_word(access.settled.verdict),
        **chip_record(access, file.no_machine),
        "measured": counts_record(found),
        "cures": [cure_object(each) for each in access.cures],
        "no_cure": access.no_cure,
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {**members(claim, "verdict", "reason", "witness", "parameters", "assumptions", "needs", "engines")}


def _source(file: ScannedFile, location: Location | None) -> dict[str, Any] | None:
    if location is None or not location.line:
        return None
    found: dict[str, Any] = {"file": file.sources.get(location.file, ""), "line": location.line}
    if location.inlined_at is not None:
        found["function"] = location.function_name
        found["inlined_at"] = _source(file, location.inlined_at)
    return found


def _inlined(file: ScannedFile, location: Location | None) -> list[dict[str, Any]]:
    """The line that text shows, and the lines that were inlined there."""
    found = source_line(location, file.sources)
    return [] if found is None else [{"file": each.file, "line": each.line} for each in found.chain]


def claim_counts(accesses: Sequence[ScannedAccess]) -> dict[str, dict[str, int]]:
    """How many accesses have each verdict of each claim."""
    return {
        each.adjective: {
            verdict.value: sum(access.claims[place].verdict is verdict for access in accesses)
            for verdict in ClaimVerdict
        }
        for place, each in enumerate(SCAN_CLAIMS)
    }

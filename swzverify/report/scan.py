"""What the scan of compiled kernels found, as text, as JSON and as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from typing import Any

from swzverify.compiled.binaries import NOT_GIVEN
from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.ptx import Location
from swzverify.compiled.sass import Listing
from swzverify.compiled.scan import Claim, ClaimVerdict, LaneRow, ScannedAccess, Verdict
from swzverify.compiled.scan.measured import Measured, Status
from swzverify.compiled.scan.verdict import Decision
from swzverify.core.demangle import demangled
from swzverify.errors import Problem
from swzverify.report.escape import visible
from swzverify.report.scan_chip import chip_record, chip_words, decision_record, decision_words, differs
from swzverify.report.scan_counts import counts_lines, counts_record
from swzverify.report.scan_names import ScanNames


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

    @property
    def held(self) -> Iterator[tuple[ScannedAccess, Measured | None]]:
        """Each access with what counters say of it; None without counters."""
        return zip(self.accesses, self.measured or repeat(None, len(self.accesses)), strict=True)


def block_words(block: tuple[int, int, int] | None) -> str:
    """The shape that was judged.

    >>> block_words((32, 8, 1)), block_words(None)
    ('blocks of 32,8,1 threads', 'blocks of any shape')
    """
    return "blocks of any shape" if block is None else f"blocks of {','.join(map(str, block))} threads"


def conflict_words(decision: Decision) -> str:
    """How many words of a bank meet.

    >>> conflict_words(Decision(Verdict.CONFLICT, ways=4, at_least=True))
    'at least 4-way conflict'
    """
    return f"{'at least ' if decision.at_least else ''}{decision.ways}-way conflict"


def scan_json(files: Iterable[ScannedFile], check: Mapping[str, Any] | None = None) -> str:
    """All accesses as one JSON document; `check` is what counters say of all of them."""
    given = list(files)
    rows = [_record(file, access, found) for file in given for access, found in file.held]
    whole = {"accesses": rows, "problems": _problems(given)} | ({} if check is None else {"check": check})
    return json.dumps(whole, indent=1) + "\n"


def scan_jsonl(files: Iterable[ScannedFile], check: Mapping[str, Any] | None = None) -> str:
    """A line of JSON for each access and each problem, with its `type`.

    The values are those of the JSON document. The last line is the summary; the result of counters is
    the line before it.
    """
    given = list(files)
    rows = [{"type": "access", **_record(file, access, found)} for file in given for access, found in file.held]
    rows += [{"type": "problem", **each} for each in _problems(given)]
    verdicts = [access.decision.verdict for file in given for access in file.accesses]
    counts = {verdict.value: verdicts.count(verdict) for verdict in Verdict}
    claims = {title.replace(" ", "_"): of for title, of in _claim_counts(given).items()}
    problems = len(rows) - len(verdicts)
    if check is not None:
        rows.append({"type": "check", **check})
    rows.append({"type": "summary", **counts, **claims, "problems": problems})
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def _problems(files: Sequence[ScannedFile]) -> list[dict[str, Any]]:
    return [{"file": file.name, "message": _problem(each)} for file in files for each in file.problems]


def _problem(problem: Problem) -> str:
    return f"line {problem.line}: {problem.message}"


def _record(file: ScannedFile, access: ScannedAccess, found: Measured | None) -> dict[str, Any]:
    decision = access.decision
    return {
        "file": file.name,
        "origin": file.origin,
        "kernel": access.kernel,
        "demangled": demangled(access.kernel).whole,
        "block": None if access.block is None else list(access.block),
        "line": access.line,
        "calls": list(access.calls),
        "loops": list(access.loops),
        "source": _source(file, access.location),
        "instruction": access.instruction,
        "address": access.address,
        **decision_record(decision),
        "parameters": list(decision.parameters),
        "assumptions": list(access.assumptions),
        "reason": decision.reason,
        "engines": list(decision.engines),
        "trial": None if decision.launch is None else decision.launch.record(),
        **{each.kind: _claim(access.claim(each.kind)) for each in SCAN_CLAIMS},
        "settled": access.settled.verdict.value,
        **chip_record(access, file.no_machine),
        "measured": counts_record(found),
        "cures": [asdict(each) for each in access.cures],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    witness: dict[str, Any] | None = None
    if claim.witness is not None:
        lanes = [
            {"lane": each.lane, "warp": each.warp, "thread": list(each.thread), "at": each.at}
            for each in claim.witness.lanes
        ]
        witness = {"lanes": lanes, "values": dict(claim.witness.values)}
    return {
        "verdict": claim.verdict.value,
        "reason": claim.reason,
        "witness": witness,
        "parameters": list(claim.parameters),
        "assumptions": list(claim.assumptions),
        "needs": claim.needs,
        "engines": list(claim.engines),
    }


def _source(file: ScannedFile, location: Location | None) -> dict[str, Any] | None:
    if location is None or not location.line:
        return None
    found: dict[str, Any] = {"file": file.sources.get(location.file, ""), "line": location.line}
    if location.inlined_at is not None:
        found["function"] = location.function_name
        found["inlined_at"] = _source(file, location.inlined_at)
    return found


def scan_text(files: Sequence[ScannedFile], known: Sequence[bool] = (), *, quiet: bool = False) -> str:
    """All accesses as lines for people, the summary last.

    `known` marks the known failures, access by access. With `quiet`, only accesses that are neither free
    nor known are shown. Machine code has the last word on what is free.
    """
    lines: list[str] = []
    names = ScanNames(access.kernel for file in files for access in file.accesses)
    counts = dict.fromkeys(Verdict, 0)
    is_known = iter(known)
    accepted = 0
    for file in files:
        lines += [f"{visible(file.name)}: {visible(_problem(each))}" for each in file.problems]
        kernel: str | None = None
        for access, found in file.held:
            verdict, accept = access.decision.verdict, next(is_known, False)
            counts[verdict] += 1
            accepted += accept
            broken = any(each.is_broken for each in access.claims)
            broken = broken or (found is not None and found.status is Status.DISAGREES)
            if quiet and not broken and (accept or access.settled.verdict is Verdict.FREE):
                continue
            if access.kernel != kernel:
                kernel = access.kernel
                lines += _head(file, access)
            lines += access_lines(file, access, accept, found)
    parts = [f"{count} {verdict}" for verdict, count in counts.items() if count]
    last = f"{sum(counts.values())} accesses: {', '.join(parts)}" if parts else "0 accesses"
    for title, of in _claim_counts(files).items():
        if parts:
            lines.append(f"{title}: " + ", ".join(f"{count} {verdict}" for verdict, count in of.items() if count))
    lines.append(last + (f"; {accepted} known" if accepted else ""))
    if any(not access.is_of_ptx for file in files for access in file.accesses):
        settled = [access.settled.verdict for file in files for access in file.accesses]
        counted = [f"{settled.count(each)} {each}" for each in Verdict if each in settled]
        lines.append(f"with the machine code: {', '.join(counted)}")
    return "\n".join(map(names.line, lines)) + "\n"


def _claim_counts(files: Iterable[ScannedFile]) -> dict[str, dict[str, int]]:
    """How many accesses have each verdict of each claim."""
    told = [access.claims for file in files for access in file.accesses]
    return {
        each.adjective: {verdict.value: sum(of[place].verdict is verdict for of in told) for verdict in ClaimVerdict}
        for place, each in enumerate(SCAN_CLAIMS)
    }


def _head(file: ScannedFile, access: ScannedAccess) -> list[str]:
    kind = "kernel" if access.is_entry else "function"
    origin = f" ({visible(file.origin)})" if file.origin else ""
    found = [f"{visible(file.name)}{origin}: {kind} {visible(access.kernel)}"]
    if file.machine:
        found.append(f"  machine code: of {visible(file.machine)}")
    elif file.no_machine != NOT_GIVEN:
        found.append(f"  without machine code: {visible(file.no_machine)}")
    if access.assumed_block:
        found.append(f"  assuming {access.assumed_block}")
    return found + [f"  given: {visible(text)}" for text in file.applied.get(access.kernel, ())]


def access_lines(
    file: ScannedFile, access: ScannedAccess, is_known: bool = False, measured: Measured | None = None
) -> list[str]:
    """One access with its verdict and, where lanes collide, their table."""
    decision = access.decision
    words = decision_words(decision) + (", known" if is_known else "")
    place = ""
    source = _source(file, access.location)
    if source is not None:
        place = f" ({visible(str(source['file']))}:{source['line']})"
    through = "".join(f", called at line {line}" for line in reversed(access.calls))
    found = [f"  line {access.line}{through}{place}: {visible(access.instruction)}", f"    {words}"]
    if decision.reason:
        found.append(f"    {visible(decision.reason)}")
    found += _claim_lines(access)
    if access.chip is not None and differs(access):
        found.append(f"    {chip_words(access.chip)}")
    if measured is not None:
        found += counts_lines(measured)
    found += [f"    fix: {visible(each.text)}" for each in access.cures]
    if access.address:
        found.append(f"    address: {visible(access.address)}")
    assumptions = [each for each in access.assumptions if each != access.assumed_block]
    if assumptions:
        found.append(f"    assumed: {visible('; '.join(assumptions))}")
    if decision.lanes and decision.verdict is not Verdict.FREE and not is_known:
        found += _table(decision.warp or 0, decision.lanes)
    return found


def _claim_lines(access: ScannedAccess) -> list[str]:
    """A line for each claim that is not proved, but for a reason that stands there already."""
    found: list[str] = []
    for name, claim in zip((each.adjective for each in SCAN_CLAIMS), access.claims, strict=True):
        if claim.verdict is ClaimVerdict.PROVED or claim.reason == access.decision.reason:
            continue
        words = {ClaimVerdict.REFUTED: f"not {name}", ClaimVerdict.DEPENDS: f"not always {name}"}
        found.append(f"    {words.get(claim.verdict, f'{name}: unknown')}: {visible(claim.reason)}")
    return found


def _table(warp: int, lanes: Sequence[LaneRow]) -> list[str]:
    """The lanes of a warp; offsets are relative to the first lane's address."""
    found = [f"    warp {warp}:  lane  thread        offset  relative bank"]
    for row in lanes:
        thread = ",".join(map(str, row.thread))
        mark = "  x" if row.collides else ""
        found.append(f"             {row.lane:4}  {thread:<12}{row.offset:8}  {row.bank:4}{mark}")
    return found

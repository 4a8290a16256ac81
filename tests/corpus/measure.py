"""One kernel at one shape of the block: what the scan says, and what the interpreter sees."""

from __future__ import annotations

import resource
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from swzverify.compiled.kernel.listing import OF_BULK
from swzverify.compiled.ptx import Function, Module, read_module_file
from swzverify.compiled.scan import NOTHING_GIVEN, ScannedAccess, scan_function
from swzverify.compiled.trial import Launch
from tests.corpus.witness import chosen, search
from tests.ptx_oracle import Access, OracleError, run_auto
from tests.ptx_oracle.summary import Line, Summary
from tests.scan.whole import scan_module, scan_operands
from tests.trial.against import by_oracle

Shape = tuple[int, int, int]
HIDDEN = ("are not judged", OF_BULK, "may belong to another space", "` is not known")
"""Parts of the reasons of accesses that the scan does not look at."""
NEVER = ("no path leads here", "no lane makes this access", "no thread of the block makes this access")


UNMET = ("less", "never met", "not run")


@dataclass
class Seen:
    """One line of PTX: the verdict of the scan, and what the interpreter says of it.

    `outcome` is one of: same, less (the interpreter met fewer ways), never met (a conflict that it
    did not meet), not run, wrong free, wrong ways.
    """

    line: int
    source: str
    instruction: str
    verdict: str
    ways: int | None
    at_least: bool
    wavefronts: int | None
    minimum: int | None
    reason: str
    kind: str
    outcome: str = "not run"
    seen_ways: int = 0
    seen_wavefronts: int = 0
    seen_minimum: int = 0


@dataclass
class Measured:
    """One kernel at one shape."""

    file: str
    kernel: str
    block: Shape
    origin: str
    asked: Shape = (0, 0, 0)
    accesses: list[Seen] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: float = 0.0
    crash: str = ""
    stopped: str = ""
    missing: list[int] = field(default_factory=list)
    oracle_seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


class OutOfTimeError(Exception):
    """The interpreter or the scan took too long."""


def within(seconds: int, what: Callable[[], Any]) -> Any:
    """What a function gives, within so many seconds of processor time: a busy machine changes no
    figure.
    """

    def stop(*_: object) -> None:
        raise OutOfTimeError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return what()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def kind_of(access: ScannedAccess) -> str:
    """`hidden` where the scan does not look and for bulk copies, `never` where no lane comes, else `visible`."""
    reason = access.decision.reason
    if access.decision.verdict == "bulk":
        return "hidden"
    if access.decision.verdict != "unknown":
        return "visible"
    if reason in NEVER:
        return "never"
    return "hidden" if any(part in reason for part in HIDDEN) else "visible"


def measure(path: Path, kernel: str, block: Shape, origin: str, steps: int, limit: int) -> Measured:
    """Scan a kernel, run it, and lay both side by side."""
    found = Measured(path.name, kernel, block, origin, block)
    started = time.perf_counter()
    try:
        module = read_module_file(path)
        function = next(each for each in module.functions if each.name == kernel)
        found.block = function.required_threads or block
        started = time.process_time()
        scanned: list[ScannedAccess] = within(600, lambda: _scan(module, function, found.block))
    except OutOfTimeError:
        found.crash = "no end after 600 s"
        return found
    except Exception as error:  # noqa: BLE001 - a crash of whatever kind is a figure
        found.crash = f"{type(error).__name__}: {error}"
        return found
    found.seconds = time.process_time() - started
    found.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found.accesses = [_seen(each) for each in scanned]
    started = time.perf_counter()
    try:
        text = path.read_text(encoding="utf-8")
        seen: Summary = within(limit, lambda: run_auto(text, kernel, found.block, steps=steps))
        compare(found, seen)
        met = [each.decision.launch for each in scanned if each.decision.launch is not None]
        with suppress(OutOfTimeError):
            within(limit, lambda: find_witnesses(text, module, function, met, found, seen, steps))
        if found.missing:
            # Functions that are called through pointers are scanned by themselves.
            listed = {each.line for each in scan_module(module, found.block, kernel)}
            listed |= {each.line for each in scan_operands(module, function, found.block, NOTHING_GIVEN, None)}
            found.missing = [line for line in found.missing if line not in listed]
        found.stopped = "; ".join(sorted(set(seen.errors.values())))[:300]
    except OutOfTimeError:
        found.stopped = "out of time"
    except OracleError as error:
        found.stopped = f"{type(error).__name__}: {error}"
    found.oracle_seconds = time.perf_counter() - started
    return found


def _scan(module: Module, function: Function, block: Shape) -> list[ScannedAccess]:
    return scan_function(module, function, block)


def _seen(access: ScannedAccess) -> Seen:
    decision, place = access.decision, access.location
    source = f"{place.file}:{place.line}" if place is not None else ""
    return Seen(
        access.line,
        source,
        access.instruction,
        decision.verdict.value,
        decision.ways,
        decision.at_least,
        decision.wavefronts,
        decision.minimum,
        decision.reason,
        kind_of(access),
    )


def compare(found: Measured, seen: Summary) -> None:
    """Hold each line's verdict against what the interpreter saw in all launches."""
    by_line: dict[int, list[Seen]] = defaultdict(list)
    for access in found.accesses:
        by_line[access.line].append(access)
    # A barrier object is no access: the scan counts what is done with it.
    ran = [line for line in seen.lines.values() if line.executions and line.kind != "mbarrier"]
    found.missing = [line.line for line in ran if line.line not in by_line]
    for number, here in by_line.items():
        line = seen.lines.get(number)
        if line is None or not line.by_launch:
            continue
        outcome = outcome_of(here, line)
        for access in here:
            access.outcome = outcome
            access.seen_ways, access.seen_wavefronts, access.seen_minimum = line.ways, line.wavefronts, line.minimum


def find_witnesses(
    text: str,
    module: Module,
    function: Function,
    met: Sequence[Launch],
    found: Measured,
    seen: Summary,
    steps: int,
) -> None:
    """Make launches in the interpreter that may meet the conflicts which it did not meet: those of
    the trials that met conflicts, then some with chosen values, then those of a search.
    """

    def take(name: str, made: Sequence[Access]) -> set[int]:
        for access in made:
            seen.lines[access.line].take(name, access)
        compare(found, seen)
        return {each.line for each in found.accesses if each.outcome in UNMET and each.verdict == "conflict"}

    def repeat(made: Launch) -> set[int]:
        result = by_oracle(text, function.name, [each.name for each in function.parameters], made)
        return take(f"trial {made.number}", result.accesses)

    for made in {each.number: each for each in met}.values():
        repeat(made)
    if take("", ()):
        chosen(text, function.name, found.block, steps, take)
    if unmet := take("", ()):
        search(module, function, found.block, unmet, repeat)


def outcome_of(here: list[Seen], line: Line) -> str:
    """What the interpreter says of one line's verdicts; a line has several where it is inlined."""
    verdicts = {access.verdict for access in here}
    if verdicts == {"free"}:
        return "same" if line.ways <= 1 else "wrong free"
    if not verdicts <= {"free", "conflict"}:
        return "same"
    most = max(access.ways or 1 for access in here)
    if line.ways > most:
        return "same" if any(access.at_least for access in here) else "wrong ways"
    if line.ways == most:
        return "same"
    return "less" if line.ways > 1 else "never met"

"""What the scan of compiled kernels found, as text: a summary of each kernel, then each problem once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from swzverify.compiled.binaries import NOT_GIVEN
from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.scan import AnyOperand, Claim, ClaimVerdict, LaneRow, ScannedAccess, ScannedOperand, Verdict
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.verdict import Decision
from swzverify.core.words import counted
from swzverify.errors import Problem
from swzverify.report.escape import visible
from swzverify.report.scan import INTERRUPTED, ScannedFile, claim_counts, no_conflicts, problem_words
from swzverify.report.scan_blocks import Block, KernelPart, Shown, kernel_parts
from swzverify.report.scan_chip import chip_words, decision_words, differs
from swzverify.report.scan_counts import counts_lines
from swzverify.report.scan_names import ScanNames, names_of_loops
from swzverify.report.scan_operands import operand_lines, operand_summary, stage_lines, stage_summary
from swzverify.report.scan_race_text import RaceLines, race_summary, race_totals
from swzverify.report.source_line import source_line

MOST_LANES: Final = 8
"""Lanes of one bank that the table of a problem has."""
_MOST_LINES: Final = 3
_MOST_FIGURES: Final = 3
_MOST_REASONS: Final = 3
_MOST_KERNELS: Final = 8
_ADDRESS: Final = "    address: "
_NUMBERS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Detail:
    """How much text says.

    Attributes:
        verbosity: 1 lists every access with all its lanes, -1 leaves out lanes, addresses, known
            findings, and kernels without a problem.
        top: How many problems of all kernels are shown, the worst ones; None for all.
    """

    verbosity: int = 0
    top: int | None = None


def scan_text(
    files: Sequence[ScannedFile],
    known: Sequence[bool] = (),
    detail: Detail = Detail(),
    known_races: Collection[str] = (),
) -> str:
    """A summary of each kernel with its problems, and the totals last.

    `known` marks the known failures, access by access; `known_races` has the ids of known findings of races.
    """
    parts = list(kernel_parts(files, known))
    races = RaceLines(files, known_races, detail.verbosity)
    lines = [line for file in files for line in _problem_lines(file.problems, file.name)]
    if detail.top is not None:
        blocks = [(part, block) for part in parts for block in part.blocks(known=detail.verbosity >= 0)]
        first = races.first(detail.top)
        for file, kernel in first.kernels:
            lines += [*_head(file, kernel), *first.of(file, kernel)]
        shown = sorted(blocks, key=lambda each: each[1].rank)[: detail.top - first.count]
        for part, of_part in groupby(shown, key=lambda each: each[0]):
            lines += _kernel_lines(part, [block for _, block in of_part], detail)
        every = counted(len(blocks) + races.count, "problem")
        lines.append(f"{len(shown) + first.count} of {every} shown")
    else:
        lines += [line for part in parts for line in _part_lines(part, races, detail)]
        lines += [line for file in files for line in _without_accesses(file, races, detail)]
    accepted = sum(each.is_known for part in parts for each in part.shown)
    lines += _last_lines(files, accepted)
    return _text(lines, ScanNames(kernel for file in files for kernel in file.kernels))


class TextParts:
    """The text of a scan in parts, as functions are judged; no finding is known.

    `kernels` are the names of all functions, and `problems` those of all files.
    """

    def __init__(self, kernels: Sequence[str], problems: Sequence[Problem], detail: Detail) -> None:
        self.first = _text(_problem_lines(problems), ScanNames(()))
        self._names, self._detail = ScanNames(kernels), detail

    def part(self, file: ScannedFile) -> str:
        """The text on one function."""
        races = RaceLines([file], (), self._detail.verbosity)
        lines = [line for part in kernel_parts([file]) for line in _part_lines(part, races, self._detail)]
        return _text(lines + _without_accesses(file, races, self._detail), self._names)

    def last(self, files: Sequence[ScannedFile]) -> str:
        """The totals of all files, and that the scan was interrupted."""
        partial = [each for file in files for each in file.problems if each.code == INTERRUPTED]
        return _text(_problem_lines(partial) + _last_lines(files), self._names)


def _text(lines: Iterable[str], names: ScanNames) -> str:
    return "".join(f"{names.line(each)}\n" for each in lines)


def _problem_lines(problems: Iterable[Problem], file: str = "") -> list[str]:
    return [f"{visible(file or each.file)}: {visible(problem_words(each))}" for each in problems]


def _part_lines(part: KernelPart, races: RaceLines, detail: Detail) -> list[str]:
    """A kernel with its problems; quiet output has no kernel without any."""
    blocks, of_races = list(part.blocks(known=detail.verbosity >= 0)), races.of(part.file, part.first.kernel)
    is_shown = blocks or of_races or detail.verbosity >= 0
    return _kernel_lines(part, blocks, detail) + of_races if is_shown else []


def _last_lines(files: Sequence[ScannedFile], accepted: int = 0) -> list[str]:
    """The totals."""
    accesses = [access for file in files for access in file.accesses]
    lines = _totals(accesses) + race_totals(files)
    lines += operand_summary([each for file in files for each in file.operands])
    lines += stage_summary([each for file in files for each in file.stages])
    lines.append(_count_words(accesses) + (f"; {accepted} known" if accepted else "") + _no_access(files))
    return lines + _chip_totals(accesses)


def _kernel_lines(part: KernelPart, blocks: Sequence[Block], detail: Detail) -> list[str]:
    operands = [each for each in part.file.operands if each.kernel == part.first.kernel]
    lines = _head(part.file, part.first.kernel) + _summary(part) + _operands(part.file, operands, detail)
    if detail.verbosity > 0:
        wanted = part.shown if detail.top is None else [each for block in blocks for each in block.members]
        blocks = [Block((each,)) for each in wanted]
    listed = [line for block in blocks for line in _lines_of(block, detail.verbosity)]
    meanings = names_of_loops(line for line in listed if line.startswith(_ADDRESS))
    return lines + listed + [f"  {each}" for each in meanings]


def _without_accesses(file: ScannedFile, races: RaceLines, detail: Detail) -> list[str]:
    """Kernels that reach shared memory by matrix descriptors alone, and those of which only a barrier is told."""
    kernels = {each.kernel for each in file.accesses}
    found: list[str] = []
    for kernel in dict.fromkeys((*(each.kernel for each in file.operands), *file.races)):
        operands = [each for each in file.operands if each.kernel == kernel]
        lines = races.of(file, kernel)
        if kernel not in kernels and (operands or lines):
            found += _head(file, kernel) + _of_races(file, kernel) + _operands(file, operands, detail) + lines
    return found


def _operands(file: ScannedFile, operands: Sequence[AnyOperand], detail: Detail) -> list[str]:
    """What the tensor core reads; quiet output has operands that break a claim alone."""
    reasons = dict.fromkeys(no_conflicts(each) for each in operands if isinstance(each, ScannedOperand))
    summary = [f"  {each}" for each in (*operand_summary(operands), *reasons)]
    kernels = {each.kernel for each in operands}
    stages = [each for each in file.stages if each.kernel in kernels]
    summary += [f"  {each}" for each in stage_summary(stages)]
    if detail.verbosity < 0 or detail.top is not None:
        operands = [each for each in operands if any(claim.is_broken for claim in each.claims)]
        stages = [each for each in stages if each.claim.is_broken]
    return summary + operand_lines(file, operands) + stage_lines(file, stages)


def _head(file: ScannedFile, kernel: str) -> list[str]:
    inside = [each for each in (*file.accesses, *file.operands) if each.kernel == kernel]
    kind = "kernel" if kernel in file.races or any(each.is_entry for each in inside) else "function"
    origin = f" ({visible(file.origin)})" if file.origin else ""
    found = [f"{visible(file.name)}{origin}: {kind} {visible(kernel)}"]
    if file.machine:
        found.append(f"  machine code: of {visible(file.machine)}")
    elif file.no_machine != NOT_GIVEN:
        found.append(f"  verdicts are those of the PTX, without machine code: {visible(file.no_machine)}")
    if inside and inside[0].assumed_block:
        found.append(f"  assuming {inside[0].assumed_block}; give --block for other launches")
    return found + [f"  given: {visible(text)}" for text in file.applied.get(kernel, ())]


def _of_races(file: ScannedFile, kernel: str) -> list[str]:
    """The verdict on the races of a kernel; of a function how many barriers it has."""
    if (races := file.races.get(kernel)) is not None:
        inside = (each.assumed_block for each in (*file.accesses, *file.operands) if each.kernel == kernel)
        return race_summary(races, {*inside, *file.applied.get(kernel, ())})
    if count := file.barriers.get(kernel):
        kinds = "barrier, fence or wait" if count == 1 else "barriers, fences and waits"
        return [f"  {count} {kinds}, not judged"]
    return []


def _summary(part: KernelPart) -> list[str]:
    """The counts of a kernel, and why claims on its accesses are broken or not decided."""
    accesses = [each.access for each in part.shown]
    found = [f"  {each}" for each in (_count_words(accesses), *_chip_totals(accesses))]
    found += [*_never_made(accesses), *_of_races(part.file, part.first.kernel)]
    for place, kind in enumerate(SCAN_CLAIMS):
        claims = [access.claims[place] for access in accesses if access.claims[place].reason != access.decision.reason]
        broken = Counter(each.verdict for each in claims if each.is_broken)
        if broken:
            words = ", ".join(f"{count} {verdict}" for verdict, count in broken.items())
            found.append(f"  {kind.adjective}: {words}")
        reasons = _reasons([each for each in claims if each.verdict is ClaimVerdict.UNKNOWN])
        for reason, count in reasons[:_MOST_REASONS]:
            found.append(f"  {kind.adjective}: {count} unknown: {visible(reason)}")
        if len(reasons) > _MOST_REASONS:
            rest = sum(count for _, count in reasons[_MOST_REASONS:])
            found.append(f"  {kind.adjective}: {rest} unknown for other reasons; -v lists them")
    return found


def _never_made(accesses: Sequence[ScannedAccess]) -> list[str]:
    """A hint if no lane makes any access: kernels check the shape of their block, and return if it is another one."""
    first = accesses[0]
    if first.block is None or any(each.decision.reason != NEVER_MADE for each in accesses):
        return []
    shape = ",".join(map(str, first.block))
    return [f"  no lane makes any of them in a block of {shape}: if launches have another one, give it by --block"]


def _reasons(claims: Iterable[Claim]) -> list[tuple[str, int]]:
    """Why claims are unknown, with how many are.

    Of reasons that differ in numbers alone, or in what they add behind a semicolon, it is the one that
    needs most.
    """
    alike: dict[str, list[Claim]] = {}
    for each in claims:
        alike.setdefault(_NUMBERS.sub("#", each.reason.partition(";")[0]), []).append(each)
    found = [(max(each, key=lambda claim: claim.needs or 0).reason, len(each)) for each in alike.values()]
    return sorted(found, key=lambda each: -each[1])


def _count_words(accesses: Sequence[ScannedAccess]) -> str:
    words = _verdict_words([access.decision.verdict for access in accesses])
    return f"{counted(len(accesses), 'access')}: {words}" if words else "0 accesses"


def _no_access(files: Sequence[ScannedFile]) -> str:
    """What was read, if nothing in it accesses shared memory."""
    if any(file.accesses or file.operands for file in files):
        return ""
    kernels = list(dict.fromkeys(visible(kernel) for file in files for kernel in file.kernels))
    if not kernels:
        return ": the files have no kernel"
    more = ", ..." if len(kernels) > _MOST_KERNELS else ""
    return f": no instruction of these functions accesses shared memory: {', '.join(kernels[:_MOST_KERNELS])}{more}"


def _verdict_words(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdicts.count(each)} {each}" for each in Verdict if each in verdicts)


def _totals(accesses: Sequence[ScannedAccess]) -> list[str]:
    if not accesses:
        return []
    return [
        f"{title}: " + ", ".join(f"{count} {verdict}" for verdict, count in of.items() if count)
        for title, of in claim_counts(accesses).items()
    ]


def _chip_totals(accesses: Sequence[ScannedAccess]) -> list[str]:
    if all(access.is_of_ptx for access in accesses):
        return []
    return [f"with the machine code: {_verdict_words([access.settled.verdict for access in accesses])}"]


# ---- one problem


def access_lines(file: ScannedFile, access: ScannedAccess) -> list[str]:
    """One access with its verdict and, where lanes collide, their table."""
    return _lines_of(Block((Shown(access, None, source_line(access.location, file.sources)),)), 0)


def _lines_of(block: Block, verbosity: int) -> list[str]:
    worst = block.worst
    access, decision = worst.access, worst.access.decision
    found = [f"  {_where(block)}", *(f"    {each}" for each in _figures(block))]
    if decision.reason:
        found.append(f"    {visible(decision.reason)}")
    found += _claim_lines(access, verbosity)
    if access.chip is not None and differs(access):
        found.append(f"    {chip_words(access.chip)}")
    if worst.measured is not None:
        found += counts_lines(worst.measured)
    if cost := _cost(block):
        found.append(f"    {cost}")
    cures = dict.fromkeys(cure.text for each in block.members for cure in each.access.cures)
    found += [f"    fix: {visible(each)}" for each in cures]
    if access.no_cure and not cures:
        found.append(f"    no fix: {visible(access.no_cure)}")
    if callers := _callers(block):
        found.append(f"    inlined at {visible(callers)}")
    if access.address and verbosity >= 0:
        found.append(f"{_ADDRESS}{visible(access.address)}")
    assumptions = [each for each in access.assumptions if each != access.assumed_block]
    if assumptions:
        found.append(f"    assumed: {visible('; '.join(assumptions))}")
    if decision.verdict is not Verdict.FREE and not worst.is_known and verbosity >= 0:
        found += _table(decision, is_whole=verbosity > 0)
    return found


def _where(block: Block) -> str:
    """The lines of the source and of the PTX, and the instruction; of several the worst one."""
    worst, count = block.worst, len(block.members)
    places = list(dict.fromkeys(each.access.line for each in block.members))
    if len(places) == 1:
        through = "".join(f", called at line {line}" for line in reversed(worst.access.calls)) if count == 1 else ""
        words = f"line {places[0]}{through}"
    else:
        words = f"lines {', '.join(map(str, places[:_MOST_LINES]))}"
        words += f" and {len(places) - _MOST_LINES} more" if len(places) > _MOST_LINES else ""
    if worst.source is not None:
        words = f"{visible(worst.source.words)} (PTX {words})"
    several = f"{count} instructions, such as " if count > 1 else ""
    return f"{words}: {several}{visible(worst.access.instruction)}"


def _callers(block: Block) -> str:
    """Where the source line was inlined; empty if nowhere."""
    chains = dict.fromkeys(each.source.callers for each in block.members if each.source and each.source.callers)
    if not chains:
        return ""
    names = " -> ".join(each.name for each in reversed(next(iter(chains))))
    return names + (f" and at {counted(len(chains) - 1, 'other place')}" if len(chains) > 1 else "")


def _figures(block: Block) -> list[str]:
    """The verdict; if the instructions of a block have different figures, each with how many have it."""
    known = ", known" if block.worst.is_known else ""
    seen = Counter(decision_words(each.access.decision) for each in block.members)
    if len(seen) == 1:
        return [f"{words}{known}" for words in seen]
    found = [f"{words}{known} ({counted(count, 'instruction')})" for words, count in seen.items()]
    more = len(found) - _MOST_FIGURES
    return found[:_MOST_FIGURES] + ([f"{counted(more, 'smaller figure')} not shown"] if more > 0 else [])


def _cost(block: Block) -> str:
    """The wavefronts that a conflict wastes; empty where they are not known."""
    if block.worst.access.settled.verdict not in (Verdict.CONFLICT, Verdict.DEPENDS):
        return ""
    costs = [(each.access.settled.wasted, each.access.executions) for each in block.members]
    known = [once for once, _ in costs if once is not None]
    if not sum(known) or len(known) < len(costs):
        return ""
    each_once = " of each" if len(costs) > 1 else ""
    at_least = "at least " if any(each.access.settled.at_least for each in block.members) else ""
    words = f"wasted: {at_least}{counted(sum(known), 'wavefront')} per execution{each_once}"
    if any(times is None for _, times in costs) or all(times == 1 for _, times in costs):
        return words
    whole = sum((once or 0) * (times or 0) for once, times in costs)
    return f"{words}, up to {whole} per warp and launch"


def _claim_lines(access: ScannedAccess, verbosity: int) -> list[str]:
    """A line for each claim that a lane breaks, and in the whole listing for each that is not decided.

    A reason that stands there already is not repeated.
    """
    found: list[str] = []
    for name, claim in zip((each.adjective for each in SCAN_CLAIMS), access.claims, strict=True):
        if claim.verdict is ClaimVerdict.PROVED or claim.reason == access.decision.reason:
            continue
        words = {ClaimVerdict.REFUTED: f"not {name}", ClaimVerdict.DEPENDS: f"not always {name}"}
        if verbosity > 0 or claim.verdict in words:
            found.append(f"    {words.get(claim.verdict, f'{name}: unknown')}: {visible(claim.reason)}")
    return found


def _table(decision: Decision, *, is_whole: bool) -> list[str]:
    """The lanes of a warp, all of them or those that collide."""
    hits = [row for row in decision.lanes if row.collides]
    rows: Sequence[LaneRow] = decision.lanes if is_whole else hits[:MOST_LANES]
    if not rows:
        return []
    offset = f"bytes from lane {decision.lanes[0].lane}"
    warp = decision.table.warp if decision.table else 0
    found = [f"    warp {warp}:  lane  {'thread':<12}{offset}  relative bank"]
    for row in rows:
        thread = ",".join(map(str, row.thread))
        mark = "  x" if row.collides else ""
        found.append(f"             {row.lane:4}  {thread:<12}{row.offset:{len(offset)}}  {row.bank:4}{mark}")
    if not is_whole:
        rest = [f"{len(hits) - len(rows)} more in this bank"] if len(hits) > len(rows) else []
        rest += [f"{len(decision.lanes) - len(hits)} other lanes"] if len(decision.lanes) > len(hits) else []
        found += [f"             {', '.join(rest)}"] if rest else []
    return found

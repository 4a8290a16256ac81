"""Races of compiled kernels as lines of text: a summary of each kernel, then each finding once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.order.verdict import BarrierFinding, KernelRaces, Pair, Participant, RaceVerdict, Witness
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_race_record import coordinates_of
from swzverify.report.scan_races import RaceFinding, place_of_side, race_findings

OUT_OF_SCOPE: Final = "races in global memory are not looked for"
_BAD: Final = {
    RaceVerdict.DIVERGENT: "divergent",
    RaceVerdict.DEADLOCK: "with a deadlock",
    RaceVerdict.DEPENDS: "with a deadlock for some parameters",
    RaceVerdict.UNKNOWN: "unknown",
}
_HANG: Final = "threads that wait for ever"
_MISUSE: Final = "misused barrier object"
_WORDS: Final = {
    RaceVerdict.RACE: "race",
    RaceVerdict.DEPENDS: "race for some parameters",
    RaceVerdict.BENIGN: "race with one value",
    RaceVerdict.DIVERGENT: "barrier that not all threads reach",
    RaceVerdict.DEADLOCK: _HANG,
    RaceVerdict.UNKNOWN: "unknown order",
}
_FIRST_BYTES: Final = re.compile(r"(?<=[\w$])\+0:[1248]\b", re.ASCII)
_REGISTER: Final = re.compile(r"(?<![\w$%.])n?(?:ctaid|clusterid|cluster_ctaid)\.[xyz]\b", re.ASCII)


def race_summary(races: KernelRaces, told: Collection[str] = ()) -> list[str]:
    """The verdict of a kernel with its counts, why it is unknown, and what it assumes beside what is `told`."""
    counts = Counter(each.verdict for each in races.pairs)
    counts[RaceVerdict.FREE] += races.free_pairs
    parts = [counted(counts.total(), "pair")] if counts.total() else []
    if races.pairs:
        parts[0] += ": " + ", ".join(f"{counts[each]} {each}" for each in RaceVerdict if counts[each])
    if races.barriers:
        parts.append(counted(len(races.barriers), "barrier"))
        verdicts = Counter(each.verdict for each in races.barriers if not each.is_misuse)
        bad = [f"{verdicts[each]} {word}" for each, word in _BAD.items() if verdicts[each]]
        misused = sum(each.is_misuse for each in races.barriers)
        bad += [f"{misused} misused"] if misused else []
        parts[-1] += f": {', '.join(bad)}" if bad else ""
    kind = "races with lanes in lockstep" if races.is_lockstep else "races"
    reason = f": {visible(races.reason)}" if races.verdict is RaceVerdict.UNKNOWN else ""
    figures = f" ({'; '.join(parts)})" if parts else ""
    found = [f"  {kind}: {races.verdict}{figures}{reason}"]
    if assumed := [each for each in races.assumptions if each not in told]:
        found.append(f"    assumed: {visible('; '.join(assumed))}")
    return found


def race_totals(files: Sequence[ScannedFile]) -> list[str]:
    """How many kernels have each verdict, and what was not looked for."""
    verdicts = Counter(each.verdict for file in files for each in file.races.values())
    if not verdicts:
        return []
    words = ", ".join(f"{verdicts[each]} {each}" for each in RaceVerdict if verdicts[each])
    return [f"races in shared memory of {counted(verdicts.total(), 'kernel')}: {words}; {OUT_OF_SCOPE}"]


class RaceLines:
    """The findings of all kernels as text; known ones are left out of quiet text, which `known` names by their ids."""

    def __init__(self, files: Sequence[ScannedFile], known: Collection[str], verbosity: int) -> None:
        self._known, self._verbosity = known, verbosity
        findings = [each for each in race_findings(files) if verbosity >= 0 or each.result_id not in known]
        self._findings = sorted(findings, key=lambda each: each.result_id in known)

    @property
    def count(self) -> int:
        """How many findings there are."""
        return len(self._findings)

    @property
    def kernels(self) -> list[tuple[ScannedFile, str]]:
        """The kernels that have findings."""
        found = {(id(each.file), each.kernel): (each.file, each.kernel) for each in self._findings}
        return [*found.values()]

    def first(self, count: int) -> RaceLines:
        """The first findings, which are those that are not known."""
        found = copy(self)
        found._findings = self._findings[:count]
        return found

    def of(self, file: ScannedFile, kernel: str) -> list[str]:
        """The findings of a kernel, and in verbose text the pairs that are not decided."""
        mine = [each for each in self._findings if each.file is file and each.kernel == kernel]
        lines = [
            line
            for each in mine
            for line in finding_lines(each, self._verbosity, is_known=each.result_id in self._known)
        ]
        races = file.races.get(kernel)
        if races is None or self._verbosity <= 0:
            return lines
        return [*proof_lines(races), *lines, *unknown_lines(file, kernel, races)]


def finding_lines(finding: RaceFinding, verbosity: int, *, is_known: bool = False) -> list[str]:
    """One finding: the instructions with their lines, the threads that meet, and why."""
    known = ", known" if is_known else ""
    count = len(finding.pairs)
    several = f" ({count} pairs of instructions, such as this one)" if count > 1 else ""
    places = [_side(finding.file, finding.kernel, each) for each in finding.sides]
    witness = finding.pairs[0].witness if finding.pairs else None
    if witness is not None and len(places) == len({*witness.threads}) == 2 and verbosity >= 0:
        places = [f"{place}, by thread {each}" for place, each in zip(places, witness.threads, strict=True)]
    words = _WORDS[finding.verdict]
    if finding.barrier is not None:
        words = _MISUSE if finding.barrier.is_misuse else words
        if finding.verdict is RaceVerdict.DEPENDS:
            words = f"{words if finding.barrier.is_misuse else _HANG}, for some parameters"
    found = [f"  {words}{known}{several}", *(f"    {each}" for each in places)]
    if finding.barrier is not None:
        return [*found, f"    {visible(readable(finding.barrier.reason))}"]
    if len(places) == 1:
        found[-1] += ", by two threads"
    return [*found, *_why(finding.pairs[0], finding.block, verbosity)]


def proof_lines(races: KernelRaces) -> list[str]:
    """What proved the pairs that are free."""
    proofs = ", ".join(f"{count} by {name.replace('+', ' and ')}" for name, count in races.free_by)
    return [f"  pairs without a race: {proofs}"] if proofs else []


def unknown_lines(file: ScannedFile, kernel: str, races: KernelRaces) -> list[str]:
    """The pairs and barriers that are not decided, with the reasons."""
    found: list[str] = []
    for pair in races.pairs:
        if pair.verdict is RaceVerdict.UNKNOWN:
            found += _open(file, kernel, dict.fromkeys((pair.first, pair.second)), pair.reason)
    for barrier in races.barriers:
        if barrier.verdict is RaceVerdict.UNKNOWN:
            found += _open(file, kernel, (barrier,), barrier.reason)
    return found


def _open(file: ScannedFile, kernel: str, sides: Iterable[Participant | BarrierFinding], reason: str) -> list[str]:
    places = (f"    {_side(file, kernel, each)}" for each in sides)
    return [f"  {_WORDS[RaceVerdict.UNKNOWN]}", *places, f"    {visible(reason)}"]


def _side(file: ScannedFile, kernel: str, side: Participant | BarrierFinding) -> str:
    """The line of the source and of the PTX, and the instruction."""
    calls = side.calls if isinstance(side, Participant) else ()
    line = f"line {side.line}" + "".join(f", called at line {each}" for each in reversed(calls))
    path, number = place_of_side(file, kernel, side)
    is_ptx = (path, number) == (file.name, side.line)
    return f"{line if is_ptx else f'{visible(path)}:{number} (PTX {line})'}: {visible(side.opcode)}"


def _why(pair: Pair, block: BlockShape | None, verbosity: int) -> list[str]:
    found = [f"    {visible(pair.reason)}"] if pair.reason else []
    told = [] if pair.witness is None or verbosity < 0 else witness_lines(pair.witness, block)
    condition = visible(readable(pair.condition))
    if condition and condition not in told:
        found.append(f"    condition: {condition}")
    return found + [f"    {each}" for each in told]


def witness_lines(witness: Witness, block: BlockShape | None) -> list[str]:
    """The threads and the byte, the trips of their loops, the parameters, and whether a run has shown it."""
    threads = [_thread(each, block) for each in witness.threads]
    array = f" of {visible(witness.array)}" if witness.array else " of shared memory"
    who = " and ".join(dict.fromkeys(threads))
    own = " and its own copy" if len({*witness.threads}) == 1 else ""
    found = [f"{'thread' if own else 'threads'} {who}{own} touch byte {witness.byte}{array}"]
    if any(witness.trips):
        found.append(_trips(*witness.trips))
    if witness.parameters:
        found.append(", ".join(f"{visible(readable(name))} = {value}" for name, value in witness.parameters))
    if witness.is_replayed:
        found.append("a run of the kernel with these values has this race")
    return found


def readable(text: str) -> str:
    """Text with names of values of a launch as people write them: parameters without the place of their first bytes.

    >>> readable("n+0:4 < p+8:4"), readable("ctaid.x")
    ('n < p+8:4', '%ctaid.x')
    """
    return _REGISTER.sub(r"%\g<0>", _FIRST_BYTES.sub("", text))


def _thread(thread: int, block: BlockShape | None) -> str:
    if block is None or block[1] * block[2] == 1:
        return str(thread)
    return f"{thread} ({','.join(map(str, coordinates_of(thread, block)))})"


def _trips(first: Sequence[tuple[int, int]], second: Sequence[tuple[int, int]]) -> str:
    """The trips of the loops around both accesses, or around each of them."""
    if [line for line, _ in first] != [line for line, _ in second]:
        sides = (
            ", ".join(f"trip {trip} of the loop at line {line}" for line, trip in each) for each in (first, second)
        )
        return "; ".join(each or "outside of loops" for each in sides)
    return ", ".join(
        f"{f'trip {one}' if one == other else f'trips {one} and {other}'} of the loop at line {line}"
        for (line, one), (_, other) in zip(first, second, strict=True)
    )

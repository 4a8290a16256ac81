"""The text report of a run over many files: a line per file, with outcomes and the worst cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from swzverify.claims.verdict import Outcome
from swzverify.hardware.targets import Evidence
from swzverify.report.console import indented, padded
from swzverify.report.escape import visible
from swzverify.report.marks import mark, mark_colour
from swzverify.report.matrix import cell_words
from swzverify.report.result import ClaimResult
from swzverify.report.story import subject_words
from swzverify.report.style import TextStyle

_MAX_FILE = 60
_INDENT = 4
_NEXT = "Worst access per file as wavefronts/minimum. Use -v to list every claim."


def file_lines(results: Sequence[ClaimResult], style: TextStyle) -> list[RenderableType]:
    """A line for each file: its path, the counts, the access with the most bank conflicts."""
    files = {spec: tuple(found) for spec, found in groupby(results, key=lambda result: result.spec)}
    width = min(_MAX_FILE, max(cell_len(visible(spec)) for spec in files))
    counts = {spec: counts_words(found) for spec, found in files.items()}
    count_width = max(map(cell_len, counts.values()))
    blocks: list[RenderableType] = []
    for spec, found in files.items():
        worst = worst_words(found)
        gravest = max(found, key=_gravity)
        line = Text(overflow="fold")
        line.append(f"{mark(gravest, style)} ", style=mark_colour(gravest))
        line.append(padded(visible(spec), width))
        tail = f"  {padded(counts[spec], count_width)}  {worst}".rstrip()
        if line.cell_len + cell_len(tail) <= style.columns:
            blocks.append(line.append(tail))
        else:
            below = "  ".join(part for part in (counts[spec], worst) if part)
            blocks += [line, indented(Text(below, overflow="fold"), _INDENT)]
    return [*blocks, Text(_NEXT, style="dim")]


def _gravity(result: ClaimResult) -> tuple[bool, bool, int]:
    """Which of a file's results its mark is for."""
    order = list(Outcome)
    return (result.failing, not result.ok, order.index(result.verdict.outcome) if result.failing else 0)


def counts_words(results: Iterable[ClaimResult]) -> str:
    """How many claims came out how; what did not come out as expected says so.

    >>> from swzverify.claims.verdict import Verdict
    >>> verdict = Verdict(Outcome.REFUTED, "", ("z3", "replay"))
    >>> counts_words([ClaimResult("", "a.yaml", 3, "bijective", "A", expected, verdict) for expected in Outcome])
    '1 refuted as expected, 5 refuted unexpectedly'
    """
    counts: dict[str, int] = {}
    alone = 0
    weak: set[str] = set()
    for result in sorted(results, key=lambda result: (not result.ok, list(Outcome).index(result.verdict.outcome))):
        verdict = result.verdict
        said = verdict.outcome.value
        if not result.ok:
            said += " unexpectedly" if result.failing else ", a known failure"
        elif verdict.outcome is not Outcome.PROVED:
            said += " as expected"
        counts[said] = counts.get(said, 0) + 1
        if verdict.outcome is Outcome.PROVED:
            alone += verdict.is_by_one_engine
            weak |= {verdict.evidence} - {"", Evidence.MEASURED.value}
    parts = [f"{count} {said}" for said, count in counts.items()]
    parts += [f"{alone} by one engine only"] if alone else []
    return ", ".join(parts) + "".join(f" [{visible(each)}]" for each in sorted(weak))


def worst_words(results: Iterable[ClaimResult]) -> str:
    """The access with the most bank conflicts, and its cost."""
    priced = [(measure, result) for result in results if (measure := result.verdict.measure) is not None]
    if not priced:
        return ""
    measure, worst = max(priced, key=lambda each: (each[0].bank_conflicts, each[0].wavefronts))
    return f"worst {cell_words(measure)} {subject_words(worst)}"


def is_for_files(results: Sequence[ClaimResult]) -> bool:
    """Whether there are several files, so that a line per file tells more than a line per claim.

    >>> is_for_files(())
    False
    """
    return len({result.spec for result in results}) > 1

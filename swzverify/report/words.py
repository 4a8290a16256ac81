"""Small phrases that the renderers share: times, costs, bindings, cells and the line that sums a run up."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.claims.verdict import Measure, Outcome
from swzverify.report.escape import visible
from swzverify.report.result import Report


def duration(time_ms: float) -> str:
    """A time for people.

    >>> [duration(ms) for ms in (0.2, 12.4, 3140.0, 200_000.0)]
    ['<1 ms', '12 ms', '3.1 s', '3 min 20 s']
    """
    if time_ms < 1:
        return "<1 ms"
    if time_ms < 999.5:
        return f"{time_ms:.0f} ms"
    if time_ms < 119_950:
        return f"{time_ms / 1000:.1f} s"
    minutes, seconds = divmod(round(time_ms / 1000), 60)
    return f"{minutes} min {seconds} s"


def counted(count: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "lane"), counted(24, "lane")
    ('1 lane', '24 lanes')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def cost(measure: Measure) -> str:
    """The worst case of a warp instruction, in few words; a case that need not be the worst tells the least it can be.

    >>> cost(Measure(wavefronts=32, minimum=4, bank_conflicts=28, where={}))
    '32 wavefronts (minimum 4)'
    >>> cost(Measure(wavefronts=2, minimum=1, bank_conflicts=1, where={}, exact=False))
    'at least 2 wavefronts (minimum 1)'
    """
    bound = "" if measure.exact else "at least "
    return f"{bound}{counted(measure.wavefronts, 'wavefront')} (minimum {measure.minimum})"


def cost_in_full(measure: Measure) -> str:
    """The worst case, the conflicts and where they happen.

    >>> cost_in_full(Measure(wavefronts=32, minimum=4, bank_conflicts=28, where={"warp": 1, "k": 16}))
    '32 wavefronts (minimum 4), 28 bank conflicts, at warp = 1, k = 16'
    """
    where = f", at {binding(measure.where)}" if measure.where else ""
    return f"{cost(measure)}, {counted(measure.bank_conflicts, 'bank conflict')}{where}"


def binding(values: Mapping[str, int]) -> str:
    """The variables' values.

    >>> binding({"warp": 0, "base": 1024})
    'warp = 0, base = 1024'
    """
    return ", ".join(f"{visible(name)} = {value}" for name, value in values.items())


def cell(value: int | str | tuple[int, ...] | None) -> str:
    """One cell of a counterexample's table.

    >>> cell((0, 8)), cell(None), cell(1040)
    ('(0, 8)', '-', '1040')
    """
    match value:
        case None:
            return "-"
        case str():
            return visible(value)
        case tuple():
            return f"({', '.join(map(str, value))})"
        case _:
            return str(value)


def summary_line(report: Report) -> str:
    """The last line of a run.

    >>> summary_line(Report((), wall_ms=3100.0))
    'no claim found in 3.1 s'
    """
    summary = report.summary
    elapsed = duration(report.wall_ms)
    parts: list[str] = []
    if summary.total:
        proved = summary.as_expected[Outcome.PROVED]
        alone = sum(
            result.ok and result.verdict.outcome is Outcome.PROVED and len(result.verdict.engines) == 1
            for result in report.results
        )
        parts.append(f"{proved} proved" + (f" ({alone} by one engine only)" if alone else ""))
        parts += [
            f"{summary.as_expected[outcome]} {outcome} as expected"
            for outcome in Outcome
            if outcome is not Outcome.PROVED and summary.as_expected[outcome]
        ]
        if summary.accepted:
            parts.append(f"{counted(summary.accepted, 'known failure')} accepted")
        parts.append(f"{summary.unexpected} unexpected{_unexpected_kinds(report)}")
    elif not report.problems:
        parts.append("no claim found")
    if report.problems:
        parts.append(counted(len(report.problems), "problem"))
    return f"{', '.join(parts)} in {elapsed}"


def _unexpected_kinds(report: Report) -> str:
    failing = [result.verdict.outcome for result in report.results if result.failing]
    kinds = [f"{missed} {outcome}" for outcome in Outcome if (missed := failing.count(outcome))]
    return f" ({', '.join(kinds)})" if kinds else ""

"""Small phrases that renderers share: times, costs, bindings, cells, a run's summary line."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.claims.verdict import Measure, Outcome, Verdict, WarpMeasure
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.result import Report


def duration(time_ms: float) -> str:
    """A time in words, such as `12 ms`.

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


def cost(measure: Measure) -> str:
    """The worst cases in few words; a case that need not be the worst tells the least it can be.

    >>> cost(Measure.of_one(WarpMeasure(wavefronts=32, minimum=4, where={})))
    '32 wavefronts (minimum 4)'
    >>> cost(Measure.of_one(WarpMeasure(wavefronts=2, minimum=1, where={}), exact=False))
    'at least 2 wavefronts (minimum 1)'
    >>> cost(Measure(WarpMeasure(4, 4, {}), WarpMeasure(2, 1, {})))
    '4 wavefronts (minimum 4), elsewhere 2 wavefronts (minimum 1)'
    """
    bound = "" if measure.exact else "at least "
    text = f"{bound}{_warp_cost(measure.most_wavefronts)}"
    return text if measure.is_one_case else f"{text}, elsewhere {_warp_cost(measure.most_conflicts)}"


def cost_of(verdict: Verdict) -> str:
    """The worst case of a verdict in few words, in whichever memory; empty where none was measured.

    >>> from swzverify.claims.verdict import Outcome, SectorMeasure
    >>> cost_of(Verdict(Outcome.PROVED, "the warp", sectors=SectorMeasure(4, 4, {})))
    '4 sectors (minimum 4)'
    """
    if verdict.sectors is not None:
        return str(verdict.sectors)
    return "" if verdict.measure is None else cost(verdict.measure)


def cost_of_in_full(verdict: Verdict) -> str:
    """The same, with the conflicts and where it happens.

    >>> from swzverify.claims.verdict import Outcome, SectorMeasure
    >>> cost_of_in_full(Verdict(Outcome.REFUTED, "the warp", sectors=SectorMeasure(5, 4, {"base": 4})))
    '5 sectors (minimum 4), at base = 4'
    """
    if verdict.sectors is not None:
        where = f", at {binding(verdict.sectors.where)}" if verdict.sectors.where else ""
        return f"{verdict.sectors}{where}"
    return "" if verdict.measure is None else cost_in_full(verdict.measure)


def _warp_cost(found: WarpMeasure) -> str:
    return f"{counted(found.wavefronts, 'wavefront')} (minimum {found.minimum})"


def cost_in_full(measure: Measure) -> str:
    """The worst cases, the conflicts and where they happen.

    >>> cost_in_full(Measure.of_one(WarpMeasure(wavefronts=32, minimum=4, where={"warp": 1, "k": 16})))
    '32 wavefronts (minimum 4), 28 bank conflicts, at warp = 1, k = 16'
    >>> cost_in_full(Measure(WarpMeasure(4, 4, {"warp": 0}), WarpMeasure(2, 1, {"warp": 1})))
    'most: 4 wavefronts (minimum 4), 0 bank conflicts, at warp = 0; worst: 2 wavefronts (minimum 1), 1 bank conflict...'
    """
    bound = "" if measure.exact else "at least "
    if measure.is_one_case:
        return bound + _in_full(measure.most_wavefronts)
    return f"most: {_in_full(measure.most_wavefronts)}; worst: {_in_full(measure.most_conflicts)}"


def _in_full(found: WarpMeasure) -> str:
    where = f", at {binding(found.where)}" if found.where else ""
    return f"{_warp_cost(found)}, {counted(found.bank_conflicts, 'bank conflict')}{where}"


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
        alone = sum(result.ok and result.verdict.is_by_one_engine for result in report.results)
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
        parts.append(report.nothing)
    if report.problems:
        parts.append(counted(len(report.problems), "problem"))
    return f"{', '.join(parts)} in {elapsed}"


def _unexpected_kinds(report: Report) -> str:
    failing = [result.verdict.outcome for result in report.results if result.failing]
    kinds = [f"{missed} {outcome}" for outcome in Outcome if (missed := failing.count(outcome))]
    return f" ({', '.join(kinds)})" if kinds else ""

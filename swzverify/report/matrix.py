"""What each access costs in each case of the constants: rows of cases, columns of accesses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from swzverify.claims.verdict import Measure, WarpMeasure
from swzverify.report.cases import box_words, boxes
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult

TITLE = "wavefronts/minimum"
_NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The costs of one spec: `rows` are cases in words, each with a cell for every access.

    `conflicts` says of each cell whether the access has bank conflicts there.
    """

    accesses: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    conflicts: tuple[tuple[bool, ...], ...] = ()


def matrix(results: Iterable[ClaimResult], least: int = 2) -> Matrix | None:
    """The costs of a spec; None if nothing has a cost, or rows differ in fewer than `least` ways.

    Cases with equal rows share one. An access without a cost in some case has `-` there, or its
    verdict where no cost was found.

    >>> from swzverify.claims.verdict import Outcome, Verdict
    >>> def of(case, wavefronts):
    ...     cost = Measure.of_one(WarpMeasure(wavefronts, 4, {}))
    ...     verdict = Verdict(Outcome.PROVED, "", measure=cost)
    ...     return ClaimResult("", "a.yaml", 3, "wavefronts", "read_A", Outcome.PROVED, verdict, case=case)
    >>> matrix([of({"BK": 32}, 8), of({"BK": 64}, 4), of({"BK": 128}, 4)]).rows
    (('BK = 32', ('8/4',)), ('BK = 64 or 128', ('4/4',)))
    """
    of_cost = [result for result in results if result.case and result.kind in {"conflict_free", "wavefronts"}]
    if all(result.verdict.measure is None for result in of_cost):
        return None
    accesses = tuple(dict.fromkeys(result.subject for result in of_cost))
    best: dict[tuple[tuple[str, int], ...], dict[str, ClaimResult]] = {}
    for result in of_cost:
        row = best.setdefault(tuple(result.case.items()), {})
        row[result.subject] = max(row.get(result.subject, result), result, key=_weight)
    same: dict[tuple[tuple[str, bool], ...], list[dict[str, int]]] = {}
    for case, row in best.items():
        same.setdefault(tuple(_cell(row.get(name)) for name in accesses), []).append(dict(case))
    if len(same) < least:
        return None
    rows = [(box_words(box), cells) for cells, cases in same.items() for box in boxes(cases)]
    return Matrix(
        tuple(map(visible, accesses)),
        tuple((label, tuple(text for text, _ in cells)) for label, cells in rows),
        tuple(tuple(conflict for _, conflict in cells) for _, cells in rows),
    )


def _weight(result: ClaimResult) -> tuple[bool, bool, int]:
    """Of several claims on one access the one that knows its cost best."""
    measure = result.verdict.measure
    return (False, False, 0) if measure is None else (True, measure.exact, measure.wavefronts)


def _cell(result: ClaimResult | None) -> tuple[str, bool]:
    """What stands in a cell, and whether it says that there are conflicts."""
    if result is None:
        return _NOTHING, False
    measure = result.verdict.measure
    if measure is None:
        return result.verdict.outcome.value, False
    return cell_words(measure), measure.bank_conflicts > 0


def cell_words(measure: Measure) -> str:
    """A cost in few signs: the most wavefronts, and the most conflicts where they are elsewhere.

    >>> cell_words(Measure(WarpMeasure(4, 4, {}), WarpMeasure(2, 1, {})))
    '4/4 and 2/1'
    >>> cell_words(Measure.of_one(WarpMeasure(8, 4, {}), exact=False))
    '>=8/4'
    """
    bound = "" if measure.exact else ">="
    text = f"{bound}{_pair(measure.most_wavefronts)}"
    return text if measure.is_one_case else f"{text} and {_pair(measure.most_conflicts)}"


def _pair(found: WarpMeasure) -> str:
    return f"{found.wavefronts}/{found.minimum}"

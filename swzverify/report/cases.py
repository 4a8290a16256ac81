"""The cases of a spec's constants in few words: those that came out the same are told once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TypeAlias

from swzverify.claims.verdict import Verdict
from swzverify.core.words import listed
from swzverify.report import words
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult

Case: TypeAlias = Mapping[str, int]
Box: TypeAlias = Mapping[str, tuple[int, ...]]
"""Values by constant; it stands for every combination of them."""


@dataclass(frozen=True, slots=True)
class Told:
    """A result, and the cases for which it is told: all of them came out like this one."""

    result: ClaimResult
    box: Box

    @property
    def count(self) -> int:
        """How many cases these are."""
        return prod(map(len, self.box.values()))

    @property
    def words(self) -> str:
        """The cases, constants with one value first; empty where it is one case only."""
        if self.count == 1:
            return ""
        one = box_words({name: values for name, values in self.box.items() if len(values) == 1})
        several = box_words({name: values for name, values in self.box.items() if len(values) > 1})
        return f"{one}; {several}: the same" if one else f"{several}: the same"


def told_once(results: Iterable[ClaimResult]) -> list[Told]:
    """The results in their order, those of several cases that read the same put together.

    >>> from swzverify.claims.verdict import Outcome
    >>> proved = Verdict(Outcome.PROVED, "all elements")
    >>> cases = [{"MB": value} for value in (1, 2, 3, 4)]
    >>> told = told_once(ClaimResult("", "a.yaml", 3, "bijective", "A", Outcome.PROVED, proved, case=c) for c in cases)
    >>> [each.words for each in told]
    ['MB = 1..4: the same']
    """
    groups: dict[Hashable, list[ClaimResult]] = {}
    for place, result in enumerate(results):
        key = _shown(result) if result.case else place
        groups.setdefault(key, []).append(result)
    told: list[Told] = []
    for group in groups.values():
        by_case = {tuple(result.case.items()): result for result in group}
        if len(by_case) < len(group):
            told += [Told(result, {}) for result in group]  # one claim that is stated twice
            continue
        for box in boxes([result.case for result in group]):
            first = by_case[tuple((name, values[0]) for name, values in box.items())]
            inside = (each for each in group if all(each.case[name] in values for name, values in box.items()))
            spent = sum(each.verdict.time_ms for each in inside)
            told.append(Told(replace(first, verdict=replace(first.verdict, time_ms=spent)), box))
    return told


def boxes(cases: Sequence[Case]) -> list[Box]:
    """The cases, over the same constants, as few products of values; each case is in one of them.

    >>> boxes([{"a": 1, "b": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 2, "b": 2}, {"a": 3, "b": 1}])
    [{'a': (1, 2), 'b': (1, 2)}, {'a': (3,), 'b': (1,)}]
    """
    if not cases:
        return []
    names = tuple(cases[0])
    found = _products([tuple(case[name] for name in names) for case in cases], len(names))
    return [dict(zip(names, box, strict=True)) for box in found]


def _products(rows: Sequence[tuple[int, ...]], depth: int) -> list[tuple[tuple[int, ...], ...]]:
    if depth == 0:
        return [()]
    rest: dict[int, list[tuple[int, ...]]] = {}
    for first, *others in rows:
        rest.setdefault(first, []).append(tuple(others))
    merged: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for first, others in rest.items():
        for box in _products(others, depth - 1):
            merged.setdefault(box, []).append(first)
    return [(tuple(values), *box) for box, values in merged.items()]


def box_words(box: Box) -> str:
    """The values of each constant.

    >>> box_words({"MB": (1, 2, 3, 4), "BK": (32, 64)}), box_words({"BK": (32,)})
    ('MB = 1..4, BK = 32 or 64', 'BK = 32')
    """
    return ", ".join(f"{visible(name)} = {_values(values)}" for name, values in box.items())


def _values(values: tuple[int, ...]) -> str:
    if len(values) > 2 and all(b == a + 1 for a, b in pairwise(values)):
        return f"{values[0]}..{values[-1]}"
    return listed(values, "or")


def _shown(result: ClaimResult) -> Hashable:
    """Everything that a report tells of a result but its case and its time."""
    verdict = result.verdict
    return (
        (result.spec, result.line, result.kind, result.subject, result.expected),
        (result.because, result.source, result.accepted, result.cures, result.deciding),
        (verdict.outcome, verdict.scope, verdict.engines, verdict.evidence, verdict.reason, verdict.notes),
        (verdict.measure is None or verdict.measure.exact, words.cost_of_in_full(verdict)),
        _counterexample(verdict),
    )


def _counterexample(verdict: Verdict) -> Hashable:
    found = verdict.counterexample
    if found is None:
        return None
    return (tuple(found.binding.items()), found.note, found.columns, found.rows)

"""Cases that came out the same are told once, and no case is lost or told twice."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.claims.verdict import Measure, WarpMeasure
from swzverify.report.cases import boxes, told_once
from swzverify.report.markdown import render_markdown
from swzverify.report.matrix import matrix
from swzverify.report.result import Report
from swzverify.search.cures import Cure

CASES = [dict(zip(("a", "b", "c"), values, strict=True)) for values in product((1, 2, 3), (4, 8), (0, 1))]


@given(st.lists(st.sampled_from(CASES), unique_by=lambda case: tuple(case.values())))
def test_boxes_have_each_case_once(cases):
    held = [dict(zip(box, values, strict=True)) for box in boxes(cases) for values in product(*box.values())]
    assert sorted(held, key=str) == sorted(cases, key=str)


def test_all_cases_of_a_product_are_one_box():
    assert boxes(CASES) == [{"a": (1, 2, 3), "b": (4, 8), "c": (0, 1)}]


@pytest.mark.parametrize(
    "change",
    [
        {"expected": "refuted"},
        {"outcome": "unknown"},
        {"scope": "another"},
        {"engines": ("z3",)},
        {"reason": "so"},
        {"evidence": "assumed"},
        {"subject": "B"},
        {"measure": Measure.of_one(WarpMeasure(2, 1, {}))},
        {"notes": ("n",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_reads_otherwise_is_told_for_itself(make, change):
    outcome = change.pop("outcome", "proved")
    told = told_once([make(case={"K": 1}), make(outcome, case={"K": 2}, **change), make(case={"K": 3})])
    assert [(each.result.case["K"], each.words) for each in told] == [(1, "K = 1 or 3: the same"), (2, "")]


def test_other_cures_are_told_for_themselves(make):
    one, other = make("refuted", case={"K": 1}), make("refuted", case={"K": 2})
    assert len(told_once([one, other])) == 1
    assert len(told_once([one, replace(other, cures=(Cure("A", "pad 1", "1 wavefront"),))])) == 2


def test_without_cases_every_result_is_told(make):
    assert len(told_once([make(), make()])) == 2


def test_a_claim_that_is_stated_twice_is_told_twice(make):
    results = [make(case={"K": 1}), make(case={"K": 1}), make(case={"K": 2}), make(case={"K": 2})]
    assert len(told_once(results)) == 4


def test_a_matrix_needs_costs_that_differ(make):
    cost = Measure.of_one(WarpMeasure(4, 4, {}))
    same = [make(case={"K": value}, measure=cost) for value in (1, 2)]
    assert matrix(same) is None
    assert matrix([make(case={"K": value}) for value in (1, 2)]) is None
    worse = replace(same[1].verdict, measure=Measure.of_one(WarpMeasure(8, 4, {}), exact=False))
    found = matrix([same[0], replace(same[1], verdict=worse)])
    assert found is not None
    assert found.rows == (("K = 1", ("4/4",)), ("K = 2", (">=8/4",)))


def test_an_exact_cost_counts_more_than_a_bound(make):
    exact, bound = Measure.of_one(WarpMeasure(4, 4, {})), Measure.of_one(WarpMeasure(3, 1, {}), exact=False)
    other = make(case={"K": 2}, measure=Measure.of_one(WarpMeasure(5, 4, {})))
    for first, second in ((exact, bound), (bound, exact)):
        found = matrix([make(case={"K": 1}, measure=first), make(case={"K": 1}, measure=second), other])
        assert found is not None
        assert found.rows[0] == ("K = 1", ("4/4",))


def test_no_cost_and_no_claim_are_told_apart(make):
    cost = Measure.of_one(WarpMeasure(4, 4, {}))
    found = matrix([make(case={"K": 1}, measure=cost), make("unknown", case={"K": 2}, subject="other")])
    assert found is not None
    assert found.rows == (("K = 1", ("4/4", "-")), ("K = 2", ("-", "unknown")))


def test_markdown_has_the_matrix(make):
    results = [
        make(case={"K": value}, measure=Measure.of_one(WarpMeasure(value, 1, {})), scope=str(value)) for value in (1, 2)
    ]
    text = render_markdown(Report(tuple(results)))
    assert "### Costs by case" in text
    assert r"| K \= 2 | 2\/1 |" in text

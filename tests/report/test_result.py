"""The summary and the exit code of a report."""

from __future__ import annotations

import pytest

from swzverify.claims.verdict import Outcome
from swzverify.errors import Problem
from swzverify.report.result import ExitCode, Report

PROBLEM = Problem("SWZ104", "unknown key")


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], ExitCode.NO_CLAIM),
        ([("proved", "proved")], ExitCode.AS_EXPECTED),
        ([("proved", "proved"), ("refuted", "refuted"), ("vacuous", "vacuous")], ExitCode.AS_EXPECTED),
        ([("proved", "proved"), ("refuted", "proved")], ExitCode.UNEXPECTED),
        ([("proved", "refuted")], ExitCode.UNEXPECTED),
        ([("unknown", "proved")], ExitCode.UNDECIDED),
        ([("vacuous", "proved"), ("proved", "proved")], ExitCode.UNDECIDED),
        ([("unknown", "refuted"), ("vacuous", "proved")], ExitCode.UNDECIDED),
        ([("unknown", "proved"), ("refuted", "proved")], ExitCode.UNEXPECTED),
        ([("unknown", "proved"), ("proved", "refuted")], ExitCode.UNEXPECTED),
        ([("error", "proved"), ("refuted", "proved")], ExitCode.ERROR),
        ([("error", "error")], ExitCode.ERROR),
    ],
)
def test_exit_code(make, outcomes, code):
    assert Report(tuple(make(outcome, expected=expected) for outcome, expected in outcomes)).exit_code is code


def test_a_problem_outweighs_everything_but_costs_no_result(make):
    report = Report((make(),), (PROBLEM,))
    assert report.exit_code is ExitCode.ERROR
    assert report.summary.counts[Outcome.PROVED] == 1
    assert Report((), (PROBLEM,)).exit_code is ExitCode.ERROR


def test_summary_counts_every_outcome_and_the_unexpected(make):
    results = (make(), make("refuted", expected="refuted"), make("refuted"), make("unknown"))
    summary = Report(results).summary
    assert {outcome.value: count for outcome, count in summary.counts.items()} == {
        "proved": 1,
        "refuted": 2,
        "unknown": 1,
        "vacuous": 0,
        "error": 0,
    }
    assert summary.as_expected[Outcome.REFUTED] == 1
    assert (summary.unexpected, summary.total) == (2, 4)

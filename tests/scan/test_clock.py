"""A query that the wall clock ended: no verdict rests on it, and the reason says so."""

from __future__ import annotations

from collections import Counter

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, asker, subject
from swzverify.engines.obligations import BY_CLOCK, Answer, Finding
from swzverify.errors import SwzError
from swzverify.ir.expr import Expr
from swzverify.prover.panel import Panel
from tests.scan.texts import SKEWED, last, strided, text_of
from tests.scan.whole import scan_module

pytestmark = pytest.mark.usefixtures("without_trials")

STORE = "@%p1 st.shared.u32 [%r20], %r1;"
GUARDED = f"setp.lt.u32 %p1, %r1, %r2; {strided(8, STORE)}"
ENDED = Finding("z3", Answer.UNDECIDED, detail=BY_CLOCK.format(3600))


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Every query is ended by the clock; how many there were."""
    asked: Counter[str] = Counter()

    def possible(_self: object, _condition: Expr) -> Finding:
        asked["queries"] += 1
        return ENDED

    monkeypatch.setattr(Panel, "possible", possible)
    monkeypatch.setattr(Panel, "smt", possible)
    return asked


@pytest.mark.parametrize("body", [GUARDED, SKEWED, strided(4)])
def test_no_verdict_rests_on_it(no_time: Counter[str], body: str) -> None:
    """Where the budget ends, samples show a conflict. Where the clock ends, another run may differ."""
    found = last(body)
    assert no_time["queries"]
    assert (found.decision.verdict, found.decision.reason) == ("unknown", ENDED.detail)
    assert all(each.verdict == "unknown" or "z3" not in each.engines for each in (found.aligned, found.in_bounds))


@pytest.mark.usefixtures("no_time")
def test_claims_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "is_met", lambda *_: False)
    found = last(GUARDED)
    assert found.aligned.reason == found.in_bounds.reason == ENDED.detail


@pytest.mark.usefixtures("no_time")
def test_conditions_that_it_leaves_open_are_an_error() -> None:
    with pytest.raises(SwzError, match=r"SWZ552: .*wall clock"):
        scan_module(read_module(text_of(strided(4)), "k.ptx"), (64, 1, 1), given=Given((), ("n * n == 3806519809",)))


def test_what_the_clock_ends_is_asked_with_the_whole_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that the clock ended has not used up the budget of the others."""
    mine = asker.Asker(most_open=1, share=2)
    monkeypatch.setattr(Panel, "possible", lambda *_: ENDED)
    with pytest.raises(asker.OutOfClockError):
        mine.possible(last_guard())
    assert mine._left == 1


def last_guard() -> Expr:
    from tests.kernel.texts import last as access

    return access(GUARDED).who.guard


def test_a_clock_that_is_taken_for_the_budget_is_seen(monkeypatch: pytest.MonkeyPatch, no_time: Counter[str]) -> None:
    monkeypatch.setattr(Finding, "is_by_clock", False)
    with pytest.raises(AssertionError):
        test_no_verdict_rests_on_it(no_time, GUARDED)

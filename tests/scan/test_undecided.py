"""Where the SMT engine gives no answer: values that let lanes come show a conflict, and no more."""

from __future__ import annotations

import pytest

from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.verdict import NOT_DECIDED, Decision
from swzverify.engines.obligations import Answer, Finding
from swzverify.prover.panel import Panel
from tests.scan.texts import last, strided

pytestmark = pytest.mark.usefixtures("without_trials")

STORE = "@%p1 st.shared.u32 [%r20], %r1;"


@pytest.fixture(autouse=True)
def no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def undecided(_self: object, _question: object) -> Finding:
        return Finding("smt", Answer.UNDECIDED, {})

    monkeypatch.setattr(Asker, "possible", undecided)
    monkeypatch.setattr(Panel, "smt", undecided)


def decision(condition: str, factor: int = 8) -> Decision:
    """The decision on a store that such a condition guards."""
    return last(f"{condition} {strided(factor, STORE)}").decision


def test_values_that_let_all_lanes_come_show_the_conflict() -> None:
    found = decision("setp.lt.u32 %p1, %r1, %r2;")
    assert (found.verdict, found.ways, found.wavefronts, found.minimum) == ("conflict", 2, 2, 1)
    assert found.engines == ("exhaustion", "samples")
    assert len(found.lanes) == 32


def test_fewer_ways_than_all_lanes_give_say_nothing() -> None:
    assert decision("setp.eq.u32 %p1, %r1, %r2;").reason == NOT_DECIDED
    assert decision("setp.eq.u32 %p1, %r1, %r2;", 128).reason == NOT_DECIDED


def test_a_guard_that_no_sample_fulfils_says_nothing() -> None:
    assert decision("setp.eq.u32 %p1, %r2, 305419896;").reason == NOT_DECIDED


def test_free_needs_the_answer() -> None:
    assert decision("setp.lt.u32 %p1, %r1, %r2;", 4).reason == NOT_DECIDED


def test_data_of_lanes_that_all_let_pass_count() -> None:
    condition = (
        "ld.param.u64 %d1, [q]; mad.wide.u32 %d2, %r1, 4, %d1; ld.global.u32 %r21, [%d2]; setp.lt.u32 %p1, %r1, %r21;"
    )
    assert decision(condition).ways == 2

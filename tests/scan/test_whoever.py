"""Where nothing says whether any lane makes an access: lanes that are free together are free whoever
of them comes. Nothing else may come of it: no conflict, and no verdict by the octet rule, whose cost
may grow when a lane goes.
"""

from __future__ import annotations

import pytest

from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.verdict import NOT_DECIDED
from swzverify.engines.obligations import Answer
from tests.ptx_oracle import Buffer, launch
from tests.scan.texts import last, strided, text_of

pytestmark = pytest.mark.usefixtures("without_trials")

COPY = "@%p1 cp.async.cg.shared.global [%r20], [%d1], 16;"
ARRAY = ".shared .align 128 .b8 z[8192]; "
PLACE = "mov.u32 %r5, z; mad.lo.u32 %r20, %r1, 16, %r5; "
READ = "@%p1 ld.shared.u32 %r30, [%r20];"
OF_PARAMETER = "mad.lo.u32 %r11, %r1, %r2, 3; rem.u32 %r11, %r11, 7; setp.lt.u32 %p1, %r11, 5; "
"""A guard that reads the lane and a parameter."""
OF_EVERY_OTHER = "and.b32 %r12, %r1, 1; add.u32 %r12, %r12, %r2; setp.eq.u32 %p1, %r12, 0; "
"""A guard that one lane of two passes, if any does: of `%r2` 0 the even ones."""


@pytest.fixture
def nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether any lane makes an access is never decided, and no sample is one."""
    monkeypatch.setattr(Question, "_made", Answer.UNDECIDED)
    monkeypatch.setattr(Question, "sampled", lambda _: None)


@pytest.mark.usefixtures("nobody_knows")
def test_what_is_free_for_all_lanes_is_free() -> None:
    decision = last(OF_PARAMETER + strided(4, READ)).decision
    assert decision.verdict == "free"


@pytest.mark.usefixtures("nobody_knows")
@pytest.mark.parametrize("guard", [OF_PARAMETER, OF_EVERY_OTHER])
@pytest.mark.parametrize("factor", [8, 128])
def test_what_conflicts_for_all_lanes_is_not_known(guard: str, factor: int) -> None:
    decision = last(guard + strided(factor, READ)).decision
    assert (decision.verdict, decision.reason) == ("unknown", NOT_DECIDED)


@pytest.mark.usefixtures("nobody_knows")
def test_a_copy_is_free_if_it_is_so_for_whole_octets_and_all_parts_of_them() -> None:
    together = "setp.lt.u32 %p1, %r2, 5; "
    assert last(together + PLACE + COPY, outside=ARRAY).decision.verdict == "free"
    assert last(OF_EVERY_OTHER + PLACE + COPY, outside=ARRAY).decision.verdict == "free"
    assert last(OF_PARAMETER + PLACE + COPY, outside=ARRAY).decision.verdict == "unknown"


def test_what_no_lane_makes_is_not_free() -> None:
    never = "and.b32 %r11, %r2, 1; setp.eq.u32 %p1, %r11, 2; "
    decision = last(never + strided(4, READ)).decision
    assert (decision.verdict, decision.reason) == ("unknown", NEVER_MADE)


def test_lanes_of_which_none_comes_are_not_taken_for_all() -> None:
    """Of 128 bytes a lane, only those that the guard lets through decide: one of each warp is free."""
    body = "and.b32 %r11, %r1, 31; setp.eq.u32 %p1, %r11, %r2; " + strided(128, READ)
    assert last(body).decision.verdict == "free"
    met = launch(text_of(body), "k", [1], [64], 0, [3, Buffer(4096, "iota")]).accesses[-1]
    assert met.ways == 1


@pytest.mark.usefixtures("nobody_knows")
def test_what_only_the_guard_frees_needs_a_lane_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lanes at all would be free of conflicts, too."""
    body = "and.b32 %r11, %r1, 31; setp.eq.u32 %p1, %r11, %r2; " + strided(128, READ)
    decision = last(body).decision
    assert (decision.verdict, decision.reason) == ("unknown", NOT_DECIDED)
    monkeypatch.setattr(Question, "is_free_for_all", True)
    assert last(body).decision.verdict == "free"

"""Races beside values of which nothing is known, such as roots of floats: such a value counts only where it matters.

A run finds a race of common launches by itself. `12345` is a parameter that no run tries.
"""

from __future__ import annotations

import pytest

from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.scan.race_meetings import MeetingJudge

from .conftest import races

_ROOT = "mov.b32 %f1, %r1;\nsqrt.rn.f32 %f2, %f1;\nsetp.gt.f32 %p1, %f2, 0f3F800000;\n"
_RARE = "setp.ne.u32 %p2, %r7, 12345;\n@%p2 bra END;\n"
_FIRST = "setp.lt.u32 %p3, %r1, 2;\nor.pred %p1, %p1, %p3;\n"
_TOUCH = "@%p1 st.shared.f32 [s], %f1;\nld.shared.f32 %f3, [s];\nEND:\n"
_DOES_NOT_MATTER = _RARE + _ROOT + _FIRST + _TOUCH


def test_threads_that_store_whatever_the_value_is() -> None:
    found = races(_DOES_NOT_MATTER)
    assert found.verdict is RaceVerdict.DEPENDS
    assert "parameter n" in found.reason


def test_a_value_that_decides_who_stores() -> None:
    assert races(_RARE + _ROOT + _TOUCH).verdict is RaceVerdict.UNKNOWN


def test_planted_no_question_is_asked_without_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeetingJudge, "_without_loose", lambda *_: None)
    assert races(_DOES_NOT_MATTER).verdict is RaceVerdict.UNKNOWN

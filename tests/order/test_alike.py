"""Stores of values that an instruction makes which is not followed: equal operands give one value."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel.leaves import Made
from swzverify.compiled.order import alike
from tests.order.conftest import races_in
from tests.ptx_oracle.races import races_of as launched

_HEAD = """.version 8.3
.target sm_90
.address_size 64
.entry k()
{
.reg .b32 %r<16>;
.reg .f32 %f<8>;
.reg .b16 %h<4>;
.reg .pred %p<4>;
.shared .align 16 .b8 s[1024];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
and.b32 %r3, %r1, 31;
mad.lo.u32 %r4, %r3, 4, %r2;
"""
_STORE = "st.shared.f32 [%r4], %f1;\n"
_LOOP = "mov.u32 %r7, 0;\nL:\n{}add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p1, %r7, 2;\n@%p1 bra L;\n"
_LEAD = "setp.eq.u32 %p1, %r1, 1;\nselp.u32 %r5, 7, 0, %p1;\ncvt.rn.f32.u32 %f2, %r5;\n"
_HALF = "shfl.sync.bfly.b32 %f3, %f2, 1, 31, -1;\nadd.f32 %f1, %f2, %f3;\n"
_TWO = "or.b32 %r6, %r1, 2;\nsetp.eq.u32 %p2, %r6, 2;\n@%p2 st.shared.f32 [s], %f1;\n"

CASES = {
    "of the lane": ("cvt.rn.f32.u32 %f1, %r3;\n" + _STORE, "race-benign"),
    "of the thread": ("cvt.rn.f32.u32 %f1, %r1;\n" + _STORE, "race"),
    "of a value of the lane": ("cvt.rn.f32.u32 %f2, %r3;\nex2.approx.f32 %f1, %f2;\n" + _STORE, "race-benign"),
    "of a value of the thread": ("cvt.rn.f32.u32 %f2, %r1;\nmul.f32 %f1, %f2, 0f40000000;\n" + _STORE, "race"),
    "of two operands, one of the thread": (
        "cvt.rn.f32.u32 %f2, %r1;\ncvt.rn.f32.u32 %f3, %r3;\nadd.f32 %f1, %f2, %f3;\n" + _STORE,
        "race",
    ),
    "of what lanes exchange": (_LEAD + _HALF + _TWO, "race"),
    "in a loop, behind a barrier": (
        _LOOP.format("cvt.rn.f32.u32 %f1, %r3;\n" + _STORE + "bar.sync 0;\n"),
        "race-benign",
    ),
    "of the trip, without a barrier": (_LOOP.format("cvt.rn.f32.u32 %f1, %r7;\n" + _STORE), "race"),
    "of the last trip": (_LOOP.format("cvt.rn.f32.u32 %f1, %r7;\n") + _STORE, "race-benign"),
}
"""The code of 64 threads of two warps, and the verdict."""


def said(body: str) -> str:
    return races_in(f"{_HEAD}{body}ret;\n}}\n").verdict.value


@pytest.mark.parametrize("name", CASES)
def test_equal_operands_give_one_value(name: str) -> None:
    body, verdict = CASES[name]
    assert said(body) == verdict
    assert launched(f"{_HEAD}{body}ret;\n}}\n", "k", (64,)).verdict == verdict


def test_planted_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lanes exchange is taken for a value of the lane's own operands: the run contradicts the proof."""
    monkeypatch.setattr(alike, "is_of_operands", lambda leaf: leaf.made in (Made.DETERMINED, Made.EXCHANGED))
    assert said(CASES["of what lanes exchange"][0]) != "race-benign"
    monkeypatch.setattr("swzverify.compiled.scan.race_replay._as_shown", lambda pair, _: pair)
    assert said(CASES["of what lanes exchange"][0]) == "race-benign"

"""Guards on values of the lanes that are not free to be anything: which lanes come together is not
known, so a conflict of theirs is no verdict. The interpreter says what really happens.
"""

from __future__ import annotations

import pytest

from swzverify.compiled.scan import surely
from tests.ptx_oracle import Buffer, launch
from tests.scan.texts import last, text_of

STORE = "mad.lo.u32 %r20, %r1, 8, %r3; "
LEADER = (
    "match.any.sync.b32 %r4, %r2, 0xffffffff; brev.b32 %r5, %r4; bfind.shiftamt.u32 %r6, %r5; mov.u32 %r7, %laneid;"
    "setp.eq.s32 %p1, %r7, %r6; " + STORE + "@%p1 st.shared.u32 [%r20], %r1;"
)
LOADED = ".reg .f32 %f<3>; ld.param.u64 %d1, [q]; mad.wide.u32 %d2, %r1, 4, %d1; ld.global.f32 %f1, [%d2]; "
APART = (
    LOADED + "add.f32 %f2, %f1, %f1; sqrt.rn.f32 %f1, %f1; setp.lt.f32 %p1, %f1, 0f3F800000;"
    " setp.gt.f32 %p2, %f2, 0f40000000; and.pred %p1, %p1, %p2;" + STORE + "@%p1 st.shared.u32 [%r20], %r1;"
)
NEXT = (
    "mov.u32 %r6, 0; AGAIN: shfl.sync.up.b32 %r4, %r1, 1, 0, 0xffffffff; add.u32 %r6, %r6, 1;"
    " setp.lt.u32 %p2, %r6, %r1; @%p2 bra AGAIN; sub.u32 %r5, %r1, %r4; setp.gt.u32 %p1, %r5, 1; "
    + STORE
    + "@%p1 st.shared.u32 [%r20], %r1;"
)
"""In each of them no two lanes store together, in the last one none does."""


@pytest.mark.usefixtures("without_trials")
@pytest.mark.parametrize(("body", "named"), [(LEADER, "match@"), (APART, "sqrt@"), (NEXT, "shfl@")])
def test_lanes_that_may_never_come_together_are_no_conflict(body: str, named: str) -> None:
    decision = last(body).decision
    assert decision.verdict == "unknown"
    assert named in decision.reason
    assert decision.reason.startswith(surely.NOT_SURE)


@pytest.mark.parametrize("body", [LEADER, APART, NEXT])
def test_the_interpreter_meets_no_conflict_there(body: str) -> None:
    for content in ("zero", "iota", "u32"):
        made = launch(text_of(body), "k", [1], [32], 0, [3, Buffer(4096, content)])
        assert not made.error
        assert made.accesses[-1].ways <= 1


@pytest.mark.usefixtures("without_trials")
@pytest.mark.parametrize(
    "guard",
    [
        LOADED + "setp.lt.f32 %p1, %f1, 0f3F800000;",
        LOADED + "ld.global.u32 %r4, [%d2]; setp.lt.u32 %p1, %r4, 7;",
    ],
)
def test_one_comparison_may_come_out_as_it_will(guard: str) -> None:
    assert last(f"{guard} {STORE} @%p1 st.shared.u32 [%r20], %r1;").decision.verdict == "conflict"


@pytest.mark.usefixtures("without_trials")
def test_comparisons_of_one_float_are_computed() -> None:
    both = "setp.lt.f32 %p1, %f1, 0f3F800000; setp.gt.f32 %p2, %f1, {}; and.pred %p1, %p1, %p2;"
    store = f"{STORE} @%p1 st.shared.u32 [%r20], %r1;"
    assert last(LOADED + both.format("0f40000000") + store).decision.reason == "no lane makes this access"
    assert last(LOADED + both.format("0f3F000000") + store).decision.verdict == "conflict"


@pytest.mark.usefixtures("without_trials")
def test_a_result_of_what_the_address_reads_is_not_free() -> None:
    """Half of a thread's number is below 1 for two threads: the scan does not compute it."""
    half = ".reg .f32 %f<3>; cvt.rn.f32.u32 %f1, %r1; mul.f32 %f1, %f1, 0f3F000000; setp.lt.f32 %p1, %f1, 0f3F800000;"
    decision = last(f"{half} mad.lo.u32 %r20, %r1, 128, %r3; @%p1 st.shared.u32 [%r20], %r1;").decision
    assert decision.verdict == "unknown"
    assert "mul@" in decision.reason


def test_values_taken_for_free_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surely, "_is_chosen", lambda *_: True)
    assert [last(body).decision.verdict for body in (LEADER, NEXT)] == ["conflict"] * 2

"""What the races of a kernel take is freed when its verdict is there: nothing of it refers to itself."""

from __future__ import annotations

import gc
import weakref

import pytest

from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.race_meetings import MeetingJudge
from swzverify.compiled.scan.races import races_of

_ELECTED = """.version 8.3 .target sm_90 .address_size 64
.entry elected() {
    .reg .pred %p<4>; .reg .b32 %r<8>; .shared .align 16 .b8 s[128]; .shared .align 8 .b64 full;
    mov.u32 %r1, %tid.x; mov.u32 %r2, s; setp.ne.u32 %p1, %r1, 0; setp.gt.u32 %p2, %r1, 31; @%p1 bra READY;
    mbarrier.init.shared.b64 [full], 1;
READY:
    bar.sync 0; @%p2 bra CONSUMER;
    mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1; bar.warp.sync 0xffffffff; @%p1 bra END;
    mbarrier.arrive.shared.b64 _, [full]; bra END;
CONSUMER:
    mbarrier.try_wait.parity.shared.b64 %p3, [full], 0; @!%p3 bra CONSUMER;
    sub.u32 %r3, 63, %r1; mad.lo.u32 %r3, %r3, 4, %r2; ld.shared.u32 %r4, [%r3];
END:
    ret;
}"""


def _is_freed(monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether nothing of the judge and its questions is left without the collector of circles."""
    kept: list[weakref.ref[object]] = []
    decide = MeetingJudge.decide

    def noted(self: MeetingJudge, asked: list[Asked], *rest: object) -> None:
        decide(self, asked, *rest)  # pyright: ignore[reportArgumentType]
        kept.extend([weakref.ref(self), *(weakref.ref(each.instances) for each in asked)])

    monkeypatch.setattr(MeetingJudge, "decide", noted)
    module = read_module(_ELECTED, "k.ptx")
    gc.collect()
    gc.disable()
    try:
        found = races_of(module, module.functions[0], Given(), block=(64, 1, 1))
        assert found.free_pairs
        assert kept
        return not any(each() is not None for each in kept)
    finally:
        gc.enable()


def test_a_judge_is_freed_with_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _is_freed(monkeypatch)


def test_a_question_that_holds_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.compiled.order.instance.Instances.values", property(lambda self: self))
    assert not _is_freed(monkeypatch)

"""Barriers of parts of a warp whose masks each lane computes, as tiles of cooperative groups do."""

from __future__ import annotations

import pytest

from swzverify.compiled.order import masks
from swzverify.compiled.order.verdict import KernelRaces, RaceVerdict
from tests.order.conftest import races_in

_KERNEL = """.version 8.3
.target sm_90
.address_size 64
.shared .align 128 .b8 s[4096];
.visible .entry k(.param .u64 data) {{
.reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<9>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3;
ld.param.u64 %d1, [data]; cvta.to.global.u64 %d1, %d1;
and.b32 %r5, %r2, {start}; mov.u32 %r6, {ones}; shl.b32 %r7, %r6, %r5;
{mask}
st.shared.u32 [%r4], %r1;
{before}
bar.warp.sync %r7;
xor.b32 %r8, %r4, {partner};
ld.shared.u32 %r9, [%r8];
END: ret;
}}
"""


def _races(
    *, ones: int = 0xFFFF, start: int = -16, mask: str = "", before: str = "", partner: int = 32, threads: int = 64
) -> KernelRaces:
    text = _KERNEL.format(ones=ones, start=start, mask=mask, before=before, partner=partner)
    return races_in(text, (threads, 1, 1))


@pytest.mark.parametrize(
    ("ones", "start", "partner"),
    [(0xFFFF, -16, 32), (0xFFFF, -16, 4), (0xFF, -8, 16), (0x3, -2, 4), (0xFFFFFFFF, 0, 64)],
)
def test_tiles_are_free(ones: int, start: int, partner: int) -> None:
    assert _races(ones=ones, start=start, partner=partner).verdict is RaceVerdict.FREE


def test_a_partner_in_another_tile() -> None:
    assert _races(partner=64).verdict in (RaceVerdict.RACE, RaceVerdict.UNKNOWN)
    assert any(each.verdict is not RaceVerdict.FREE for each in _races(partner=64).pairs)


_MISTAKES = {
    "a lane that its mask does not name": {"mask": "shl.b32 %r7, %r6, 16;"},
    "a mask that lanes do not have in common": {
        "mask": "and.b32 %r10, %r2, 1; xor.b32 %r7, %r7, %r10;",
        "ones": 0xFFFE,
    },
    "a mask of data": {"mask": "ld.global.u32 %r7, [%d1];"},
    "a mask without lanes": {"mask": "mov.u32 %r11, 0; and.b32 %r7, %r7, %r11;"},
    "lanes that part before": {"before": "and.b32 %r12, %r2, 8; setp.ne.u32 %p1, %r12, 0; @%p1 bra END;"},
}


@pytest.mark.parametrize("name", _MISTAKES)
def test_mistakes_are_not_free(name: str) -> None:
    given = {"ones": 0xFFFF, **_MISTAKES[name]}
    assert _races(**given).verdict is not RaceVerdict.FREE  # pyright: ignore[reportArgumentType]


def test_lanes_that_have_returned_do_not_count() -> None:
    """Whole tiles return, and their lanes are in no mask of the others."""
    before = "and.b32 %r12, %r2, 16; setp.ne.u32 %p1, %r12, 0; @%p1 bra END;"
    assert _races(before=before).verdict is not RaceVerdict.RACE


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lane 2 names lane 3, which comes with another mask: nobody may take that for a meeting."""
    change = "setp.eq.u32 %p1, %r2, 3; @%p1 mov.u32 %r7, 8;"
    assert _races(mask=change, partner=0).verdict is not RaceVerdict.FREE
    monkeypatch.setattr(masks, "_are_mutual", lambda *_: True)
    assert _races(mask=change, partner=0).verdict is RaceVerdict.FREE

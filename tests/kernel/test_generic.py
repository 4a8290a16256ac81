"""Generic addresses that a program swizzles: their places, against plain integers at several windows."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from swzverify.compiled.kernel.symbols import WINDOW_ALIGN_BYTES, WINDOW_ALIGNED
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.races import races_of
from tests.kernel.test_ways_to_be_wrong import at
from tests.kernel.texts import last
from tests.scan.texts import last as last_scanned
from tests.scan.texts import text_of

FLIP = "xor.b64 %d3, %d3, %d4; "
ROW = "mul.wide.u32 %d1, %r1, {step}; mov.u64 %d2, s; cvta.shared.u64 %d3, %d2; add.u64 %d3, %d3, %d1; "
GENERIC = importlib.import_module("swzverify.compiled.kernel.generic")
WINDOWS = (0, WINDOW_ALIGN_BYTES, 0x7F32 << 24, (1 << 64) - WINDOW_ALIGN_BYTES)
SWIZZLES: dict[str, tuple[str, Callable[[int], int]]] = {
    "mask, then shift": (
        "and.b64 %d4, %d3, 896; shr.u64 %d4, %d4, 3; ",
        lambda a: (a & 896) >> 3,
    ),
    "shift, then mask": (
        "shr.u64 %d4, %d3, 3; and.b64 %d4, %d4, 112; ",
        lambda a: (a >> 3) & 112,
    ),
    "32 bits": (
        "cvt.u32.u64 %r4, %d3; and.b32 %r4, %r4, 128; shr.u32 %r4, %r4, 3; cvt.u64.u32 %d4, %r4; ",
        lambda a: (a & 128) >> 3,
    ),
    "of a product": (
        "add.u64 %d4, %d3, %d3; mul.lo.u64 %d4, %d4, 3; and.b64 %d4, %d4, 64; ",
        lambda a: 6 * a & 64,
    ),
}
OTHERS = {
    "bits of the window": "and.b64 %d4, %d3, 262144; shr.u64 %d4, %d4, 12; ",
    "a shift that brings high bits": "shr.u64 %d4, %d3, 12; and.b64 %d4, %d4, 112; ",
    "a quotient": "div.u64 %d4, %d3, 3; and.b64 %d4, %d4, 112; ",
    "a sign": "shr.s64 %d4, %d3, 63; and.b64 %d4, %d4, 112; ",
    "a comparison": "setp.gt.u64 %p1, %d3, 5000; selp.b64 %d4, 16, 0, %p1; ",
    "high bits are flipped": "and.b64 %d4, %d3, 896; shl.b64 %d4, %d4, 12; ",
}


@pytest.mark.parametrize("name", SWIZZLES)
def test_a_swizzled_generic_address_is_where_plain_integers_say(name: str) -> None:
    text, flips = SWIZZLES[name]
    found = last(ROW.format(step=16) + text + FLIP + "st.u32 [%d3], %r9;")
    assert (found.reason, found.is_window_aligned) == ("", True)
    for thread in range(64):
        for window in WINDOWS:
            generic = (window + 16 * thread) % (1 << 64)
            assert (generic ^ flips(generic)) - window == at(found, tid_x=thread)


@pytest.mark.parametrize("name", OTHERS)
def test_flips_by_or_of_high_bits_say_nothing(name: str) -> None:
    found = last(ROW.format(step=16) + OTHERS[name] + FLIP + "st.u32 [%d3], %r9;")
    assert "another space" in found.reason


def test_a_verdict_on_a_swizzled_generic_address_states_the_assumption() -> None:
    swizzled = ROW.format(step=128) + SWIZZLES["mask, then shift"][0] + FLIP + "st.v4.u32 [%d3], {%r9, %r9, %r9, %r9};"
    found = last_scanned(swizzled, outside=".shared .align 1024 .b8 z[16];\n")
    plain = last_scanned(ROW.format(step=128) + "st.v4.u32 [%d3], {%r9, %r9, %r9, %r9};")
    assert plain.decision.verdict.value == "conflict"
    assert WINDOW_ALIGNED not in plain.assumptions
    assert WINDOW_ALIGNED in found.assumptions
    assert WINDOW_ALIGNED in found.aligned.assumptions


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that takes all bits for low ones puts an address into the window that is elsewhere there."""
    monkeypatch.setattr(GENERIC, "_window_bits_read", lambda *_: GENERIC._Read.LOW)
    found = last(ROW.format(step=16) + OTHERS["bits of the window"] + FLIP + "st.u32 [%d3], %r9;")
    assert found.reason == ""
    window = WINDOW_ALIGN_BYTES
    assert window ^ ((window & 262144) >> 12) != window + at(found, tid_x=0)


@pytest.mark.parametrize(
    ("place", "is_free"),
    [
        ("and.b64 %d5, %d4, -4;", True),
        ("and.b64 %d5, -256, %d4;", True),
        ("and.b64 %d5, %d4, -4; add.u64 %d5, %d5, 8;", True),
        ("and.b64 %d5, %d4, -512;", False),
        ("and.b64 %d5, %d4, 60;", False),
        ("mov.u64 %d2, s; cvta.shared.u64 %d3, %d2; add.u64 %d5, %d3, %d1; and.b64 %d5, %d5, -4;", False),
    ],
)
def test_a_pointer_of_the_host_that_is_rounded_down_leads_to_no_shared_memory(place: str, is_free: bool) -> None:
    body = f"ld.param.u64 %d4, [q]; mul.wide.u32 %d1, %r1, 2; add.u64 %d4, %d4, %d1; {place}"
    body += "mul.wide.u32 %d6, %r1, 4; cvt.u32.u64 %r5, %d6; add.u32 %r5, %r5, %r3; "
    body += "st.shared.u32 [%r5], 1; atom.add.noftz.bf16x2 %r7, [%d5], %r1;"
    module = read_module(text_of(body), "k.ptx")
    found = races_of(module, module.functions[0], Given(), block=(64, 1, 1))
    assert (found.verdict == "free") is is_free

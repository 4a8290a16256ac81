"""Tensor maps in shared memory: a thread changes one there, and a warp copies it to global memory.

Each of the two instructions accesses the 128 bytes of a map, as other accesses of its thread do (PTX ISA,
"tensormap.replace", "tensormap.cp_fenceproxy").
"""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel import listing
from swzverify.compiled.kernel.bulk import Bulk
from swzverify.compiled.order.verdict import RaceVerdict
from tests.order.conftest import races

BEGIN = "mov.u32 %r10, m;\nsetp.eq.u32 %p1, %r1, 0;\ncvta.to.global.u64 %rd2, %rd1;\nld.global.u32 %r12, [%rd2];\n"
ARRAY = ".shared .align 128 .b8 m[256];\n"
STORE = "shl.b32 %r11, %r1, 2;\nadd.u32 %r11, %r11, %r10;\nsetp.lt.u32 %p2, %r1, 32;\n@%p2 st.shared.u32 [%r11], %r1;\n"
REPLACE = "@%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r10], 1;\n"
COPY = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd2], [%r10], 128;\n"
WARP = "bar.warp.sync -1;\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (STORE + WARP + REPLACE + WARP + COPY, RaceVerdict.FREE),
        (STORE + REPLACE, RaceVerdict.RACE),
        (STORE + WARP + REPLACE + COPY, RaceVerdict.RACE),
        (STORE + COPY, RaceVerdict.RACE),
        (COPY + STORE, RaceVerdict.RACE),
        # The other map is another array's part: no byte is shared.
        (STORE + REPLACE.replace("[%r10]", "[%r10+128]"), RaceVerdict.FREE),
        # What all lanes write there may be one value.
        (REPLACE.replace("@%p1 ", ""), RaceVerdict.UNKNOWN),
        (COPY + COPY, RaceVerdict.FREE),
    ],
)
def test_maps_are_ordered_as_other_bytes(body: str, expected: RaceVerdict) -> None:
    assert races(ARRAY + BEGIN + body, 32).verdict is expected


def test_two_warps_need_a_barrier_of_the_block() -> None:
    order = "bar.sync 0;\n"
    assert races(ARRAY + BEGIN + STORE + order + REPLACE + order + COPY, 64).verdict is RaceVerdict.FREE
    assert races(ARRAY + BEGIN + STORE + order + REPLACE + WARP + COPY, 64).verdict is RaceVerdict.RACE


@pytest.mark.parametrize(
    ("mistake", "body"),
    [
        # A map of 16 bytes: the words of other lanes are not in it.
        (Bulk(0, 128, None, 16), STORE.replace("setp.lt.u32 %p2, %r1, 32", "setp.gt.u32 %p2, %r1, 3") + REPLACE),
        # A copy whose address is taken from its first operand, which is in global memory.
        (Bulk(0, 128, None, 128), STORE + COPY),
    ],
)
def test_planted_mistakes_are_found(mistake: Bulk, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert races(ARRAY + BEGIN + body, 32).verdict is RaceVerdict.RACE
    real = listing.ends_of
    monkeypatch.setattr(listing, "ends_of", lambda opcode: [mistake] if "tensormap" in opcode else real(opcode))
    assert races(ARRAY + BEGIN + body, 32).verdict is not RaceVerdict.RACE

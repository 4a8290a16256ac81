"""Addresses that count bits of a word that all lanes of a warp load: the verdict of the scan, and what the
interpreter of the tests meets for many words.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from swzverify.engines.distances import Distances
from swzverify.engines.obligations import Answer, Finding
from tests.ptx_oracle import Buffer, run_kernel
from tests.scan.texts import last, text_of

pytestmark = pytest.mark.usefixtures("without_trials")

WORD = """
ld.param.u64 %d1, [q]; and.b32 %r5, %r1, 31; mov.u32 %r6, -1; shl.b32 %r7, %r6, %r5; not.b32 %r7, %r7;
shr.u32 %r8, %r1, 5; mad.wide.u32 %d2, %r8, 4, %d1; ld.global.u32 %r9, [%d2];
"""
"""%r9: a word of the warp. %r7: the bits below the lane."""
COUNTED = WORD + "and.b32 %r10, %r9, %r7; popc.b32 %r11, %r10; add.u32 %r11, %r11, %r2;"
KEPT = COUNTED + "shr.u32 %r12, %r9, %r5; and.b32 %r12, %r12, 1; setp.eq.u32 %p1, %r12, 1;"
OF_TWO = (
    COUNTED.replace("shl.b32 %r7, %r6, %r5", "shl.b32 %r7, %r6, %r5; mov.u32 %r14, 1; shl.b32 %r14, %r14, %r5")
    + "and.b32 %r15, %r9, %r14; setp.eq.u32 %p2, %r15, 0; add.u32 %r16, %r11, 1; selp.b32 %r11, %r11, %r16, %p2;"
)
KERNELS = {
    "words": (COUNTED + "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];", True),
    "half words": (COUNTED + "mad.lo.u32 %r20, %r11, 2, %r3; ld.shared.u16 %h1, [%r20];", True),
    "kept lanes": (KEPT + "mad.lo.u32 %r20, %r11, 4, %r3; @%p1 st.shared.u32 [%r20], %r1;", True),
    "the bits up to the lane": (OF_TWO + "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];", True),
    "lanes of a ballot": (
        "setp.lt.u32 %p3, %r1, %r2; vote.sync.ballot.b32 %r9, %p3, 0xffffffff; mov.u32 %r7, %lanemask_lt;"
        "and.b32 %r10, %r9, %r7; popc.b32 %r11, %r10; add.u32 %r11, %r11, %r2; mad.lo.u32 %r20, %r11, 4, %r3;"
        "@%p3 st.shared.u32 [%r20], %r1;",
        True,
    ),
    "rows of two words": (COUNTED + "mad.lo.u32 %r20, %r11, 8, %r3; ld.shared.u32 %r30, [%r20];", False),
    "a word of each lane": (
        COUNTED.replace("%r8, 4, %d1", "%r1, 4, %d1") + "mad.lo.u32 %r20, %r11, 4, %r3; ld.shared.u32 %r30, [%r20];",
        True,
    ),
}


def ways(body: str, words: np.ndarray, n: int) -> int:
    """The most ways of the last access in a launch with these words."""
    result = run_kernel(text_of(body), "k", (64,), params=[n, Buffer(256, content=words)])
    assert not result.error
    return max(each.ways for line, each in result.by_line().items() if line == max(result.by_line()))


@pytest.mark.parametrize("name", KERNELS)
def test_the_interpreter_meets_no_conflict_of_what_is_free(name: str) -> None:
    body, is_free = KERNELS[name]
    found = last(body).decision
    assert (found.verdict.value == "free") is is_free, found
    source = random.Random(name)
    most = 0
    for at in range(12):
        chosen = [source.getrandbits(32) for _ in range(64)] if at else [0xFFFFFFFF] * 64
        most = max(most, ways(body, np.array(chosen, dtype=np.uint32), source.randrange(9)))
    assert (most == 1) is is_free
    if found.verdict.value == "free":
        assert found.engines in (("distances",), ("z3",), ("residues", "z3"))


def test_without_the_engine_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Distances, "decide", lambda *_: Finding("distances", Answer.NOT_APPLICABLE))
    assert last(KERNELS["words"][0]).decision.engines != ("distances",)


def test_planted_an_engine_that_always_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prices of samples contradict it."""
    monkeypatch.setattr(Distances, "decide", lambda *_: Finding("distances", Answer.HOLDS))
    assert last(KERNELS["rows of two words"][0]).decision.verdict.value == "unknown"

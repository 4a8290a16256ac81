"""Words of global memory that the kernel may write itself: no launch chooses them, so no conflict rests on them.

In every run of these kernels the words are 0, and no lanes meet that could meet with other words.
"""

from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.kernel.leaves import Leaves, OpaqueLeaf
from swzverify.compiled.kernel.own_stores import OwnStores
from swzverify.compiled.scan import mixed
from tests.kernel.texts import last as read_last
from tests.scan.test_forwarded import nothing, of_two_pointers
from tests.scan.texts import last

surely: Any = import_module("swzverify.compiled.scan.surely")

HEAD = "ld.param.u64 %d1, [q]; mul.wide.u32 %d7, %r1, 4; add.s64 %d7, %d7, %d1; mov.u32 %r9, 0;"
ONE = "ld.global.u32 %r7, [%d1];"
EACH = "ld.global.u32 %r7, [%d7];"
USES = {
    "whether lanes get there": (
        ONE + "setp.eq.u32 %p1, %r7, 3; shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r3; @%p1 st.shared.u32 [%r8], %r2;",
        "conflict",
    ),
    "how often lanes get there": (
        ONE + "L: setp.ge.u32 %p1, %r9, %r7; @%p1 bra E; shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r3;"
        "st.shared.u32 [%r8], %r2; add.u32 %r9, %r9, 1; bra L; E:",
        "conflict",
    ),
    "how far lanes are apart": (
        ONE + "add.u32 %r7, %r7, 1; mul.lo.u32 %r7, %r7, %r1; shl.b32 %r7, %r7, 2; add.u32 %r8, %r7, %r3;"
        "st.shared.u32 [%r8], %r2;",
        "depends",
    ),
    "where each lane goes": (
        EACH + "and.b32 %r7, %r7, 1; mul.lo.u32 %r7, %r7, 132; shl.b32 %r8, %r1, 2; add.u32 %r8, %r8, %r7;"
        "add.u32 %r8, %r8, %r3; st.shared.u32 [%r8], %r2;",
        "conflict",
    ),
}
STORES = {
    "to all words": "st.global.u32 [%d7], %r9; bar.sync 0;",
    "by a generic address": "st.u32 [%d7], %r9; bar.sync 0;",
    "volatile": "st.volatile.global.u32 [%d7], %r9; bar.sync 0;",
    "an atomic operation": "atom.global.and.b32 %r10, [%d7], 0; bar.sync 0;",
    "a reduction": "red.global.and.b32 [%d7], 0; bar.sync 0;",
}


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
@pytest.mark.parametrize(("use", "otherwise"), USES.values(), ids=USES)
def test_words_that_the_kernel_writes(store: str, use: str, otherwise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule it would be a conflict, which no run has."""
    assert last(HEAD + store + use).decision.verdict == "unknown"
    monkeypatch.setattr(Leaves, "mark", nothing)
    assert last(HEAD + store + use).decision.verdict == otherwise


@pytest.mark.parametrize(("use", "otherwise"), USES.values(), ids=USES)
def test_words_that_the_host_chooses(use: str, otherwise: str) -> None:
    """Stores by another pointer, or to shared memory, change nothing: some launch has the conflict."""
    for store in ("", "mov.u64 %d9, g; st.global.u32 [%d9], %r9; bar.sync 0;", "st.shared.u32 [%r3], %r9; bar.sync 0;"):
        assert last(HEAD + store + use, outside=".global .u32 g[64];").decision.verdict == otherwise
    read_only = STORES["to all words"] + use.replace("ld.global", "ld.global.nc")
    assert last(HEAD + read_only).decision.verdict == otherwise


def is_true(*_: object) -> bool:
    """What a rule says that is left out."""
    return True


TWO_LOADS = {
    "of the lanes next to each other": "xor.b32 %r10, %r1, 1; mul.wide.u32 %d8, %r10, 4; add.s64 %d8, %d8, %d1;"
    "ld.global.u32 %r7, [%d7]; ld.global.u32 %r9, [%d8]; setp.eq.u32 %p1, %r7, 1; setp.lt.and.u32 %p1, %r1, 2, %p1;",
    "of a part of the word": "ld.global.u32 %r7, [%d1]; ld.global.u16 %h1, [%d1+2]; cvt.u32.u16 %r9, %h1;"
    "setp.eq.u32 %p1, %r7, 256;",
    "of one of two words": "ld.global.v2.u32 {%r9, %r7}, [%d1]; ld.global.u32 %r9, [%d1+4]; setp.eq.u32 %p1, %r7, 1;",
}
APART = "ld.global.u32 %r7, [%d1]; ld.global.u32 %r9, [%d1+4]; setp.eq.u32 %p1, %r7, 1;"


@pytest.mark.parametrize("loads", TWO_LOADS.values(), ids=TWO_LOADS)
def test_words_of_two_loads_that_have_a_byte_in_common(loads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No launch gives the byte two values: no two lanes make this access."""
    use = "setp.eq.and.u32 %p2, %r9, 2, %p1; shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r3; @%p2 st.shared.u32 [%r8], %r2;"
    assert last(HEAD + loads + use).decision.verdict == "unknown"
    assert last(HEAD + APART + use).decision.verdict == "conflict"
    monkeypatch.setattr(surely, "_are_apart", is_true)
    assert last(HEAD + loads + use).decision.verdict == "conflict"


ONES = {
    "global": "mov.u32 %r9, 1; st.global.u32 [%d1], %r9; bar.sync 0; ld.global.u32 %r7, [%d1];",
    "shared": "mov.u32 %r9, 1; st.shared.u32 [s+12], %r9; bar.sync 0; ld.shared.u32 %r7, [s+12];",
}
BEHIND_A_LOOP = (
    "mov.u32 %r40, 0; L: mul.lo.u32 %r41, %r40, %r40; add.u32 %r40, %r40, 1; setp.lt.u32 %p1, %r40, %r2; @%p1 bra L;"
    "mul.lo.u32 %r8, %r1, %r7; shl.b32 %r8, %r8, 2; mul.lo.u32 %r42, %r40, 128; mad.lo.u32 %r8, %r1, %r42, %r8;"
    "add.u32 %r8, %r8, %r3; st.shared.u32 [%r8], %r2;"
)


@pytest.mark.parametrize("ones", ONES.values(), ids=ONES)
def test_a_word_that_is_1_behind_a_loop(ones: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes are a word apart in every run: that they meet for other words says nothing."""
    assert last(HEAD + ones + BEHIND_A_LOOP).decision.verdict == "unknown"
    monkeypatch.setattr(mixed, "is_given", bool)
    assert last(HEAD + ones + BEHIND_A_LOOP).decision.verdict == "depends"


def test_words_that_a_function_may_write() -> None:
    """What a function does that is only declared is not known: it may set the word to 0."""
    call = "{ .param .b64 P0; st.param.b64 [P0], %d1; call.uni f, (P0); }"
    declared = ".extern .func f(.param .b64 P0);"
    use = USES["whether lanes get there"][0]
    assert last(HEAD + call + use, outside=declared).decision.verdict == "unknown"
    assert last(HEAD + use, outside=declared).decision.verdict == "conflict"


EQUAL = {
    "by a branch": "setp.ne.u64 %p1, %d1, %d2; @%p1 bra E; {0} setp.eq.u32 %p2, %r7, 3; {1}"
    "@%p2 st.shared.u32 [%r8], %r2; E:",
    "by the guard": "{0} setp.eq.u32 %p2, %r7, 3; {1} setp.eq.and.u64 %p1, %d1, %d2, %p2;"
    "@%p1 st.shared.u32 [%r8], %r2;",
    "by the address": "{0} setp.eq.u32 %p2, %r7, 3; setp.eq.and.u64 %p1, %d1, %d2, %p2; {1} shl.b32 %r10, %r1, 2;"
    "add.u32 %r10, %r10, %r3; selp.b32 %r8, %r8, %r10, %p1; st.shared.u32 [%r8], %r2;",
}


@pytest.mark.parametrize("use", EQUAL.values(), ids=EQUAL)
def test_pointers_that_have_to_be_one(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes meet only where both pointers are one, and there the word is 0."""
    words = "st.global.u32 [%d2], %r9; bar.sync 0; ld.global.u32 %r7, [%d1];"
    body = HEAD + "ld.param.u64 %d2, [p];" + use.format(words, "shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r3;")
    assert of_two_pointers(body) == "unknown"
    monkeypatch.setattr(OwnStores, "compared", nothing)
    assert of_two_pointers(body) in ("conflict", "depends")


def test_pointers_that_are_no_null() -> None:
    """A test for null compares no pointers with each other: lanes meet in some launch."""
    body = HEAD + "ld.param.u64 %d2, [p]; setp.eq.u64 %p1, %d1, 0; setp.ne.u64 %p3, %d2, 0; or.pred %p1, %p1, %p3;"
    body += "@%p1 bra E; st.global.u32 [%d2], %r9; bar.sync 0; E:" + USES["whether lanes get there"][0]
    assert of_two_pointers(body) == "conflict"


def test_the_marks_of_a_load_are_apart() -> None:
    """Behind a barrier lanes share a word that the kernel writes."""
    access = read_last(HEAD + STORES["to all words"] + USES["how far lanes are apart"][0])
    (leaf,) = (each for each in access.leaves if isinstance(each, OpaqueLeaf))
    assert (leaf.is_written, leaf.is_forwarded, leaf.uniform) == (True, False, True)

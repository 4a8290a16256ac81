"""Loads that may give a lane what it stored itself: lanes share what they load only if none may have stored there.

An H200 took two wavefronts where all lanes of a warp had loaded the address of a store from one word, in which each of
them had stored its own number before: ptxas had used the stored register in place of the load.
"""

import re

import pytest

from swzverify.compiled.kernel import forwarded
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.own_stores import OwnStores
from swzverify.compiled.ptx import read_module
from swzverify.ir.expr import Compare, Const, Expr, Var
from tests.scan.texts import WHOLE, last, text_of
from tests.scan.whole import scan_module

STORES = {
    "to the word": "st.shared.u32 [s+12], %r1;",
    "to the word, if some lanes do": "setp.lt.u32 %p1, %r1, 5; @%p1 st.shared.u32 [s+12], %r1;",
    "to a part of the word": "st.shared.u8 [s+13], %r1;",
    "of several words": "st.shared.v4.u32 [s], {%r1, %r1, %r1, %r1};",
    "to the word, by its generic address": "mov.u32 %r9, s; cvt.u64.u32 %d7, %r9; cvta.shared.u64 %d7, %d7;"
    "st.u32 [%d7+12], %r1;",
    "to words of which one is this": "mad.lo.u32 %r9, %r1, 4, %r3; st.shared.u32 [%r9], %r1;",
    "to the word, in the memory of the cluster": "st.shared::cluster.u32 [s+12], %r1;",
    "behind a barrier that a parameter leaves out": "setp.ne.u32 %p1, %r2, 0; st.shared.u32 [s+12], %r1;"
    "@%p1 bar.sync 0;",
    "at an unknown place": "mad.lo.u32 %r9, %r2, 4, %r3; st.shared.u32 [%r9], %r1;",
}
HARMLESS = {
    "behind a barrier": STORES["to the word"] + "bar.sync 0;",
    "behind a barrier of the warp": STORES["to the word"] + "bar.warp.sync -1;",
    "volatile": "st.volatile.shared.u32 [s+12], %r1;",
    "to the next word": "st.shared.u32 [s+16+32], %r1;",
    "to words that are elsewhere": "mad.lo.u32 %r9, %r1, 4, %r3; st.shared.u32 [%r9+128], %r1;",
    "to global memory": "st.global.u32 [%d1], %r1;",
}
LOAD = "ld.shared.u32 %r7, [s+12]; and.b32 %r7, %r7, 1020; add.u32 %r7, %r7, %r3; st.shared.u32 [%r7+1024], %r2;"


def nothing(*_: object, **__: object) -> tuple[int, ...]:
    """What a rule says that is left out."""
    return ()


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_a_store_before_the_load(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lane of it is known to share the word; without the rule it would be free."""
    assert last(store + LOAD).decision.verdict == "unknown"
    monkeypatch.setattr(Leaves, "mark", nothing)
    assert last(store + LOAD).decision.verdict == "free"


def test_a_load_from_the_memory_of_the_cluster() -> None:
    """ptxas (sm_90) uses the stored register here, too, and in place of the load of this block's own memory."""
    load = LOAD.replace("ld.shared.", "ld.shared::cluster.")
    assert last(load).decision.verdict == "free"
    assert last(STORES["to the word"] + load).decision.verdict == "unknown"


@pytest.mark.parametrize("store", HARMLESS.values(), ids=HARMLESS)
def test_a_store_that_does_no_harm(store: str) -> None:
    assert last(store + LOAD).decision.verdict == "free"


def test_a_place_that_is_in_an_array_or_elsewhere() -> None:
    """The arrays differ, and in some launch both accesses are where the parameter says."""
    places = "setp.eq.u32 %p1, %r2, 8; setp.eq.u32 %p2, %r2, 12; mov.u32 %r8, A; selp.b32 %r8, %r8, %r2, %p1;"
    places += "mov.u32 %r9, B; selp.b32 %r9, %r9, %r2, %p2; st.shared.u32 [{0}], %r1;"
    arrays = ".shared .align 16 .b8 A[64]; .shared .align 16 .b8 B[64];"
    pairs = (("%r8", "%r9"), ("A", "%r9"), ("%r8", "B"), ("A", "B"))
    found = [last(places.format(one) + LOAD.replace("s+12", other), outside=arrays) for one, other in pairs]
    assert [each.decision.verdict for each in found] == ["unknown", "unknown", "unknown", "free"]


def test_a_store_of_the_trip_before() -> None:
    """It comes behind the load in the text, and before it in the next trip; a barrier in the loop parts them."""
    loop = "mov.u32 %r5, 0; L: " + LOAD + " {} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;"
    assert last(loop.format(STORES["to the word"])).decision.verdict == "free"  # the last access is the store itself
    found = [last(loop.format(STORES["to the word"] + more) + LOAD).decision.verdict for more in ("", "bar.sync 0;")]
    assert found == ["unknown", "free"]


P = "ld.param.u64 %d1, [q]; ld.param.u64 %d2, [p];"
OWN = "mul.wide.u32 %d7, %r1, 4; add.s64 %d7, %d7, %d1;"
USE = "and.b32 %r7, %r7, 1020; add.u32 %r7, %r7, %r3; st.shared.u32 [%r7+1024], %r2;"
WORD = "ld.global.u32 %r7, [%d1+8];" + USE
TO_WORD = "st.global.u32 [%d1+8], %r1;"
GLOBAL_STORES = {
    "to the word": TO_WORD,
    "to the word, with a hint": "st.global.L1::no_allocate.u32 [%d1+8], %r1;",
    "to the word, if some lanes do": "setp.lt.u32 %p1, %r1, 5; @%p1 st.global.u32 [%d1+8], %r1;",
    "to a part of the word": "st.global.u8 [%d1+9], %r1;",
    "by a generic address": "st.u32 [%d1+8], %r1;",
    "by another register": "cvta.to.global.u64 %d9, %d1; add.s64 %d9, %d9, 4; st.global.u32 [%d9+4], %r1;",
    "to words of which one is this": OWN + "st.global.u32 [%d7], %r1;",
    "at a place that a parameter gives": "mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d7, %d1; st.global.u32 [%d7], %r1;",
    "behind a fence": TO_WORD + "membar.gl;",
    "behind a vote": TO_WORD + "vote.sync.ballot.b32 %r8, %p1, -1;",
    "behind a wait for a barrier object": TO_WORD + "mbarrier.try_wait.parity.shared.b64 %p2, [s], %r2;",
    "by a pointer that is not followed": ".local .align 8 .b8 l[8]; st.local.u64 [l], %d1; ld.local.u64 %d9, [l];"
    "st.global.u32 [%d9+8], %r1;",
    "by a pointer that is compared with this one": "setp.ne.u64 %p1, %d1, %d2; @%p1 bra E; st.global.u32 [%d2+8], %r1;",
    "by a pointer of which both are compared with a number": "setp.eq.u64 %p1, %d1, 4096;"
    "setp.eq.u64 %p2, %d2, 4096; and.pred %p1, %p1, %p2; @%p1 st.global.u32 [%d2+8], %r1;",
    "by a pointer whose distance from this one a loop squares": "sub.s64 %d9, %d1, %d2;"
    "mov.u32 %r5, 0; L: setp.ne.s64 %p1, %d9, 0; @%p1 bra E; mul.lo.s64 %d9, %d9, %d9; add.u32 %r5, %r5, 1;"
    "setp.lt.u32 %p1, %r5, %r2; @%p1 bra L;"
    "st.global.u32 [%d2+8], %r1;",
    "in the trip before": "mov.u32 %r5, 0; L: ld.global.u32 %r7, [%d1+8]; st.global.u32 [%d1+8], %r1;"
    "add.u32 %r5, %r5, %r7; setp.lt.u32 %p1, %r5, 3; @%p1 bra L; mov.u32 %r7, %r5;" + USE,
}
GLOBAL_HARMLESS = {
    "behind a barrier": TO_WORD + "bar.sync 0;",
    "behind a barrier of the warp": TO_WORD + "bar.warp.sync -1;",
    "volatile": "st.volatile.global.u32 [%d1+8], %r1;",
    "relaxed": "st.relaxed.gpu.global.u32 [%d1+8], %r1;",
    "an atomic operation": "red.global.add.u32 [%d1+8], %r1;",
    "to words that are elsewhere": OWN + "st.global.u32 [%d7+128], %r1;",
    "by another pointer": "st.global.u32 [%d2+8], %r1;",
    "by another pointer that is no null": "setp.eq.u64 %p1, %d2, 0; @%p1 bra L; st.global.u32 [%d2+8], %r1; L:",
    "by another pointer, if both are no null": "setp.eq.u64 %p1, %d1, 0; setp.eq.u64 %p2, 0, %d2;"
    "or.pred %p1, %p1, %p2; @%p1 bra L; st.global.u32 [%d2+8], %r1; L:",
    "to a variable": "mov.u64 %d9, g; st.global.u32 [%d9+8], %r1;",
    "to shared memory": "st.shared.u32 [s+12], %r1;",
    "behind the load": "",
}


def of_two_pointers(body: str) -> str:
    """Of the last access of a kernel with two pointers, q and p."""
    module = read_module(
        text_of(body, ".global .u32 g[4];").replace(".param .u64 q", ".param .u64 q, .param .u64 p"), "k.ptx"
    )
    return scan_module(module, WHOLE)[-1].decision.verdict.value


@pytest.mark.parametrize("store", GLOBAL_STORES.values(), ids=GLOBAL_STORES)
def test_a_store_to_global_memory_before_the_load(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = store if USE in store else store + WORD
    body += "E:" if "bra E" in store else ""
    assert of_two_pointers(P + body) == "unknown"
    monkeypatch.setattr(Leaves, "mark", nothing)
    assert of_two_pointers(P + body) in ("free", "depends")


@pytest.mark.parametrize("store", GLOBAL_HARMLESS.values(), ids=GLOBAL_HARMLESS)
def test_a_store_to_global_memory_that_does_no_harm(store: str) -> None:
    assert of_two_pointers(P + store + WORD + TO_WORD.replace("%r1", "%r7")) == "free"


@pytest.mark.parametrize(
    "load", ["ld.global.nc", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.gpu.global"]
)
def test_loads_that_ptxas_makes_as_they_are(load: str) -> None:
    assert of_two_pointers(P + TO_WORD + WORD.replace("ld.global", load)) == "free"


@pytest.mark.parametrize("load", ["ld.weak.global", "ldu.global", "ld.global.cg", "ld.global.L1::evict_last"])
def test_loads_that_may_be_forwarded(load: str) -> None:
    assert of_two_pointers(P + TO_WORD + WORD.replace("ld.global", load)) == "unknown"


def is_a_test(_: object, node: Expr) -> bool:
    """Without a look at what is tested."""
    return isinstance(node, Compare) and isinstance(node.left, Var) and isinstance(node.right, Const)


MISTAKES = {
    "by a pointer whose distance from this one a loop squares": (OwnStores, "_is_test_for_null", is_a_test),
    "behind a wait for a barrier object": (forwarded, "_BARRIER", re.compile(r"bar\..*|mbarrier\.try_wait.*")),
    "by a pointer that is compared with this one": (OwnStores, "compared", nothing),
    "by a pointer of which both are compared with a number": (OwnStores, "compared", nothing),
    "to words of which one is this": (forwarded._Places, "may_meet", nothing),
    "to the word, with a hint": (forwarded, "_PLAIN", re.compile(r"(?:st|ld)(?:\.(shared|global))?(?:\.\w+)*")),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_that_forward_too_little(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rule has a kernel that is wrongly free without it."""
    monkeypatch.setattr(*MISTAKES[name])
    assert of_two_pointers(P + GLOBAL_STORES[name] + WORD + "E:") == "free"

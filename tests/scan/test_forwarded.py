"""Loads that may give a lane what it stored itself: lanes share what they load only if none may have stored there.

An H200 took two wavefronts where all lanes of a warp had loaded the address of a store from one word, in which each of
them had stored its own number before: ptxas had used the stored register in place of the load.
"""

import pytest

from swzverify.compiled.kernel.leaves import Leaves
from tests.scan.texts import last

STORES = {
    "to the word": "st.shared.u32 [s+12], %r1;",
    "to the word, if some lanes do": "setp.lt.u32 %p1, %r1, 5; @%p1 st.shared.u32 [s+12], %r1;",
    "to a part of the word": "st.shared.u8 [s+13], %r1;",
    "of several words": "st.shared.v4.u32 [s], {%r1, %r1, %r1, %r1};",
    "to the word, by its generic address": "mov.u32 %r9, s; cvt.u64.u32 %d7, %r9; cvta.shared.u64 %d7, %d7;"
    "st.u32 [%d7+12], %r1;",
    "to words of which one is this": "mad.lo.u32 %r9, %r1, 4, %r3; st.shared.u32 [%r9], %r1;",
    "to the word, in the memory of the cluster": "st.shared::cluster.u32 [s+12], %r1;",
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


@pytest.mark.parametrize("store", STORES.values(), ids=STORES)
def test_a_store_before_the_load(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No lane of it is known to share the word; without the rule it would be free."""
    assert last(store + LOAD).decision.verdict == "unknown"
    monkeypatch.setattr(Leaves, "make_own", lambda *_: None)
    assert last(store + LOAD).decision.verdict == "free"


def test_a_load_from_the_memory_of_the_cluster() -> None:
    """ptxas (sm_90) uses the stored register here, too, and in place of the load of this block's own memory."""
    load = LOAD.replace("ld.shared.", "ld.shared::cluster.")
    assert last(load).decision.verdict == "free"
    assert last(STORES["to the word"] + load).decision.verdict == "unknown"


@pytest.mark.parametrize("store", HARMLESS.values(), ids=HARMLESS)
def test_a_store_that_does_no_harm(store: str) -> None:
    assert last(store + LOAD).decision.verdict == "free"


def test_a_store_of_the_trip_before() -> None:
    """It comes behind the load in the text, and before it in the next trip; a barrier in the loop parts them."""
    loop = "mov.u32 %r5, 0; L: " + LOAD + " {} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra L;"
    assert last(loop.format(STORES["to the word"])).decision.verdict == "free"  # the last access is the store itself
    found = [last(loop.format(STORES["to the word"] + more) + LOAD).decision.verdict for more in ("", "bar.sync 0;")]
    assert found == ["unknown", "free"]

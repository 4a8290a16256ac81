"""Generic addresses that begin with a pointer from global memory."""

from __future__ import annotations

import pytest

from swzverify.compiled.order.verdict import RaceVerdict
from tests.order.conftest import races

LOADED = "ld.global.u64 %rd2, [%rd1];\nld.u32 %r9, [%rd2+4];\nst.u32 [%rd2], %r1;\nst.shared.u32 [%r4], %r1;\n"


def test_pointers_from_global_memory_are_assumed_not_to_be_shared() -> None:
    """If the kernel makes no generic address of a shared one; and it is said."""
    found = races(LOADED)
    assert found.verdict is RaceVerdict.FREE
    assert "no pointer that the kernel loads from global memory at line 16 points to shared memory" in found.assumptions


@pytest.mark.parametrize(
    "body",
    [
        "cvta.shared.u64 %rd5, %rd5;\n" + LOADED,
        "cvta.shared::cluster.u64 %rd5, %rd5;\n" + LOADED,
        LOADED.replace("ld.u32 %r9, [%rd2+4]", "add.u64 %rd2, %rd2, %rd1;\nld.u32 %r9, [%rd2]"),
        LOADED.replace("ld.global.u64 %rd2, [%rd1]", "ld.shared.u64 %rd2, [%r3]"),
    ],
    ids=["cvta.shared", "cvta.shared::cluster", "sum of two pointers", "pointer in shared memory"],
)
def test_other_generic_addresses_may_be_shared(body: str) -> None:
    assert races(body).verdict is not RaceVerdict.FREE

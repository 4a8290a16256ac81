"""numpy's integers are read wherever ints are, and become ints, so that nothing wraps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from swzverify import Layout, Swizzle, Tile, access_cost, prove
from swzverify.claims import Bijective, Contiguous, Covers, Wavefronts
from swzverify.errors import SwzError
from swzverify.ir.c_parse import parse
from swzverify.ir.whole import whole
from swzverify.layout import TmaMode, padded_layout, tma_allocation_bytes, tma_layout
from swzverify.prover import Options
from swzverify.subjects import (
    AlignedBase,
    FixedBase,
    IndexMap,
    Loop,
    Memory,
    MemoryBase,
    Unknown,
)
from swzverify.testing import assert_conflict_free, assert_contiguous, assert_wavefronts

Number = Callable[[int], int]
KINDS = [np.int8, np.uint8, np.int32, np.uint64]


def tile(n: Number) -> Tile:
    layout = Layout((n(8), n(16)), (n(16), n(1)))
    return Tile("A", n(16), layout, Swizzle(n(1), n(3), n(3)), base=AlignedBase(n(64)), stages=n(2))


MADE: dict[str, Callable[[Number], object]] = {
    "tile": tile,
    "allocation": lambda n: Tile("A", n(8), Layout(n(64)), allocation_bytes=n(100), pitch_bytes=n(112)),
    "fixed base": lambda n: FixedBase(n(64)),
    "memory": lambda n: MemoryBase(Memory("smem", n(100), align_bytes=n(64)), n(16)),
    "memory with a base": lambda n: Memory("smem", n(100), base_bytes=n(0)),
    "loop": lambda n: Loop("k", n(0), n(64), n(16)),
    "unknown": lambda n: Unknown("bin", n(0), n(64), n(2)),
    "padding": lambda n: padded_layout((n(8), n(8)), "row", n(1)),
    "tma": lambda n: (
        tma_layout(TmaMode.B128, n(8), n(32), n(16)),
        tma_allocation_bytes(TmaMode.B64, n(8), n(16), n(16)),
    ),
    "options": lambda n: Options(rlimit=n(100)),
    "access": lambda n: tile(n).read("ld.shared.b16", coord=["lane%8", n(3)], threads=(n(32), n(2))).cost(),
    "loops": lambda n: (
        tile(n)
        .read("ld.shared.b16", coord=["lane%8", "k"], threads=n(32), loops={"k": n(4)}, constants={"c": n(1)})
        .loops
    ),
    "lists of values": lambda n: (
        tile(n).read("ld.shared.b16", coord=["lane%8", "k"], threads=32, loops={"k": [n(1), n(2), n(4)]}).loops
    ),
    "map": lambda n: IndexMap("m", (("b", n(8)),), (parse("b ^ 1"),), (n(8),)).over,
    "measure": lambda n: access_cost("ld.shared.b8", [n(lane) for lane in range(32)]),
    "contiguous": lambda n: dataclasses.replace(prove(Contiguous(tile(n), n(8), n(1))), time_ms=0),
    "bijective": lambda n: dataclasses.replace(prove(Bijective(tile(n))), time_ms=0),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_the_same_comes_of_numpy_integers(make: Callable[[Number], object], kind: type[np.integer]) -> None:
    found = make(kind)
    assert found == make(int)
    assert repr(found) == repr(make(int))  # `np.int8(8)` would show


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_claims_about_accesses_take_them_too(kind: type[np.integer]) -> None:
    read = tile(int).read("ld.shared.b16", coord=["tid/16", "tid%16"], threads=128)
    assert prove(Wavefronts(read, kind(1))).outcome == prove(Wavefronts(read, 1)).outcome
    assert prove(Covers(read, read.tile, kind(1))).outcome == "proved"
    assert type(Covers(read, read.tile, kind(1)).times) is int


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_assertions_take_them_too(kind: type[np.integer]) -> None:
    assert_contiguous("(8,16):(16,1)", elements=kind(8), element_bits=kind(16), base_align=kind(16))
    walk = {"instruction": "ld.shared.b32", "element_bits": kind(32), "base_align": kind(4), "rlimit": np.int64(10**7)}
    verdict = assert_conflict_free("32:1", threads=kind(32), coord=["lane"], **walk)
    assert verdict.outcome == "proved"
    assert_wavefronts("32:1", at_most=kind(1), threads=(kind(32),), coord=["lane"], **walk)
    assert_wavefronts(lambda lane: kind(4) * kind(0) + 4 * lane, at_most=1, instruction="ld.shared.b32", threads=32)


NO_INTS = [True, np.bool_(True), 8.0, np.float32(8), "8", None, [8], np.array([8]), np.array(8)]


@pytest.mark.parametrize("value", NO_INTS, ids=lambda value: f"{type(value).__name__}-{value!r}")
def test_what_is_no_int_is_refused_with_a_code(value: object) -> None:
    assert whole(value) is None
    makers = [
        lambda: Tile("A", value, Layout(8)),
        lambda: Tile("A", 8, Layout(8), stages=value),
        lambda: FixedBase(value),
        lambda: AlignedBase(value),
        lambda: Memory("m", value),
        lambda: Loop("k", value, 8),
        lambda: Loop("k", 0, 8, value),
        lambda: Unknown("u", 0, value),
        lambda: Contiguous(Tile("A", 8, Layout(8)), value),
        lambda: IndexMap("m", (("b", value),), (parse("b"),)),
        lambda: tma_layout(TmaMode.NONE, value, 16, 8),
        lambda: Layout((8, value)),
        lambda: Swizzle(3, value, 3),
    ]
    for make in makers:
        with pytest.raises(SwzError) as caught:
            make()
        assert caught.value.code in ("SWZ202", "SWZ105"), str(caught.value)

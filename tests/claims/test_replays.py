"""Each claim's words and its counterexamples at given points, whole: no engine is asked.

`golden/replays` has them, and golden.py says what an entry is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import Claim, Contiguous, Covers, Equivalent, Permutation, Wavefronts
from swzverify.errors import SwzError
from swzverify.spec.load import parse_spec
from swzverify.subjects import AlignedBase
from tests.claims.golden import Entry, entries, entry_of, points

SPEC = """\
swzverify: 1
target: sm_90
memories: {smem: {bytes: 65536, align: 1024}}
tiles:
  plain: {element: f16, layout: "(8,64):(64,1)"}
  overlap: {element: f16, layout: "(8,8):(4,1)"}
  short: {element: f16, layout: "(8,64):(64,1)", bytes: 1000}
  padded: {element: f16, layout: "(8,64):(65,1)"}
  torn: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,2,3>"}
  nibbles: {element: u4, layout: "(8,32):(31,1)"}
  tma: {element: f16, tma: {swizzle: 128B, box: [8, 64]}, base: {align: 128}}
  ring: {element: f16, tma: {swizzle: 128B, box: [8, 64]}, base: {align: 256}, stages: {count: 3, pitch: 896}}
  flat: {element: f16, layout: "(8,64):(64,1)", base: {align: 256}, stages: {count: 3, pitch: 896}}
  cute: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {align: 128}}
  left: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 0}}
  crossing: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 1008}}
  stacked: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 2048}, stages: 2}
  floats: {element: f32, layout: "(32,32):(32,1)", base: 256}
  tall: {element: f16, layout: "(16,64):(64,1)"}
accesses:
  linear: {instruction: ld.shared.v4.b32, threads: 64, address: tid*16, bytes: 1024}
  beyond: {instruction: ld.shared.v4.b32, threads: 64, address: tid*16, bytes: 1000}
  odd: {instruction: ld.shared.v4.b32, threads: 64, for: {i: 3}, address: tid*16 + i*4, bytes: 2048}
  some: {instruction: ld.shared.b32, threads: 64, if: tid < 40, address: tid*4, bytes: 1024, base: {align: 64}}
  column:
    {tile: floats, instruction: ld.shared.b32, threads: 32, for: {i: {start: 4, stop: 32, step: 4}}, coord: [lane, i]}
  past: {tile: floats, instruction: ld.shared.b32, threads: 32, coord: [lane, lane + 1]}
  row: {tile: floats, instruction: ld.shared.b32, threads: 64, for: {i: 16}, coord: [i*2 + tid/32, lane]}
  turned: {tile: floats, instruction: ld.shared.b32, threads: 64, for: {i: 16}, coord: [i*2 + tid/32, 31 - lane]}
  wave: {tile: ring, instruction: ldmatrix.x4, threads: 32, coord: [lane % 8, lane / 8 * 8]}
  edge: {tile: ring, instruction: ldmatrix.x4, threads: 32, coord: [lane % 8 + 1, lane / 8 * 8]}
maps:
  twice: {over: {x: 16}, value: [x/2*2], onto: [16]}
  outside: {over: {x: 24}, value: [x ^ 8], onto: [24]}
  grouped: {over: {bid: 128}, value: [bid%8 + bid/64*8, bid/8%8], onto: [16, 8]}
  offsets: {over: {r: 8, c: 64}, value: ["base + 2*(r*64 + c)"]}
  flipped: {over: {r: 8, c: 64}, value: ["base + 2*(r*64 + (c ^ 1))"]}
claims: []
"""
WHOLE = entries("replays")


def made(text: str) -> Claim:
    (claim,) = parse_spec(SPEC.replace("claims: []", f"claims: [{{{text}}}]"), path="claims.yaml").claims
    return claim.claim


@pytest.mark.parametrize("entry", WHOLE, ids=[entry["claim"] for entry in WHOLE])
def test_words_and_replays(entry: Entry) -> None:
    assert entry_of(entry["claim"], made(entry["claim"]), points(entry)) == entry


UNRELATED = (
    "0 bytes into smem, at any multiple of 1024 and any base that is a multiple of 128 are not related to each other\n"
    "  place both in one memory, or give both `base: {align: n}` for a common base"
)


def tile(name: str) -> Any:
    return made(f"injective: {name}").tile  # type: ignore[union-attr]


def access(name: str) -> Any:
    return made(f"aligned: {name}").access  # type: ignore[union-attr]


def index_map(name: str) -> Any:
    return made(f"equivalent: [{name}, {name}]").first  # type: ignore[union-attr]


REFUSED: dict[str, tuple[Callable[[], Claim], str]] = {
    "no such mode": (
        lambda: Contiguous(tile("plain"), 4, 2),
        "SWZ105: contiguous: tile plain has no mode 2",
    ),
    "no such mode, below": (
        lambda: Contiguous(tile("plain"), 4, -1),
        "SWZ105: contiguous: tile plain has no mode -1",
    ),
    "no element": (
        lambda: Contiguous(tile("plain"), 0),
        "SWZ105: contiguous: vectors of 0 elements; at least 1",
    ),
    "no wavefront": (
        lambda: Wavefronts(access("wave"), 0),
        "SWZ105: wavefronts at_most 0: an access takes at least 1",
    ),
    "stages of another": (
        lambda: Covers(access("wave"), tile("cute")),
        "SWZ105: covers: wave goes to tile ring, and ring or cute has stages\n  say what it covers of ring itself",
    ),
    "unrelated coverage": (
        lambda: Covers(access("some"), tile("floats")),
        "SWZ105: covers: some of floats: any base that is a multiple of 64 and base 256 are not related to each other\n"
        "  place both in one memory, or give both `base: {align: n}` for a common base",
    ),
    "of two kinds": (
        lambda: Equivalent(access("row"), tile("plain")),
        "SWZ105: equivalent: row and plain are of different kinds\n"
        "  compare two tiles, two accesses, two maps, or a tile and a map",
    ),
    "unrelated tiles": (
        lambda: Equivalent(tile("left"), tile("tma")),
        f"SWZ105: equivalent: left and tma: {UNRELATED}",
    ),
    "a map with a base of its own": (
        lambda: Equivalent(tile("tma"), replace(index_map("offsets"), base=AlignedBase(64))),
        "SWZ105: equivalent: map offsets has a `base:` other than tile tma's, which counts here\n"
        "  leave the map's `base:` out",
    ),
    "no box": (
        lambda: Permutation(index_map("offsets")),
        "SWZ104: permutation: map offsets has no `onto`\n  onto: [16, 8], one extent per value",
    ),
    "another box": (
        lambda: Permutation(replace(index_map("grouped"), onto=(16,))),
        "SWZ105: map grouped has 2 values, `onto` 1 extents",
    ),
}


@pytest.mark.parametrize(("make", "said"), REFUSED.values(), ids=REFUSED)
def test_claim_that_says_nothing(make: Callable[[], Claim], said: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()
    assert str(caught.value) == said


def test_maps_of_other_numbers_of_values_differ() -> None:
    whole = index_map("grouped")
    (fact,) = Equivalent(whole, replace(whole, name="half", value=whole.value[:1], onto=(16,))).plan().facts
    assert (fact.holds, fact.note) == (False, "the maps go grouped from [128] to 2 values, half from [128] to 1 values")

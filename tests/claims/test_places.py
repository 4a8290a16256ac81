"""What claims say of concrete places, against loops over every pair of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from swzverify.claims import (
    Aligned,
    Bijective,
    Claim,
    Coalesced,
    ConflictFree,
    Contiguous,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
    Wavefronts,
)
from swzverify.claims.places import Places
from swzverify.spec import parse_spec

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A: {element: f16, layout: "(4,6):(6,1)", stages: 2}
  B: {element: f16, layout: "(4,6):(6,1)"}
accesses:
  read: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane%4, 0], if: lane < 4}
  copy: {instruction: cp.async.16, threads: 32, address: tid*16}
  global: {instruction: ld.global.b32, threads: 32, address: tid*4}
maps:
  turn: {over: {x: 6}, value: [x], onto: [6]}
claims:
  - injective: A
  - bijective: A
  - in_bounds: {tile: A}
  - contiguous: {tile: A, elements: 3}
  - disjoint: A
  - disjoint: [A, B]
  - aligned: read
  - conflict_free: read
  - {wavefronts: {access: copy, at_most: 3}}
  - coalesced: global
  - covers: {access: read, tile: A}
  - equivalent: [read, read]
  - permutation: turn
"""


@pytest.fixture(scope="module")
def claims() -> dict[type[Claim], Claim]:
    return {type(each.claim): each.claim for each in parse_spec(SPEC).claims}


def meet(one: int, other: int, bits: int, wide: int | None = None) -> bool:
    return bool({*range(one, one + bits)} & {*range(other, other + (wide or bits))})


def placed(rows: list[list[int]], bits: int = 16, active: object = True) -> Places:
    on = np.asarray(active)
    return Places(np.asarray(rows), bits, on, low=0, room_bits=200)


@pytest.mark.parametrize("seed", range(30))
def test_elements_against_every_pair(claims: dict[type[Claim], Claim], seed: int) -> None:
    rng = random.Random(seed)
    rows = [[rng.randrange(0, 400, rng.choice([1, 16])) for _ in range(8)] for _ in range(2)]
    shared = [
        8 * number + i
        for number, row in enumerate(rows)
        for i in range(8)
        if any(meet(row[i], row[j], 16) for j in range(8) if j != i)
    ]
    outside = [8 * number + i for number, row in enumerate(rows) for i in range(8) if row[i] + 16 > 200]
    places = placed(rows)
    assert claims[Injective].broken(places) == shared
    assert claims[InBounds].broken(places) == outside
    assert claims[Bijective].broken(places) == sorted({*shared, *outside})
    (a, b) = places.rows
    met = [i for i in range(8) if any(meet(rows[0][i], each, 16) for each in rows[1])]
    assert claims[Disjoint].broken(a, b) == met
    active = [rng.random() < 0.7 for _ in range(8)]
    lanes = placed([rows[1]], 32, [active])
    touched = [sum(meet(each, at, 16, 32) for at, on in zip(rows[1], active, strict=True) if on) for each in rows[0]]
    assert claims[Covers].broken(lanes, placed([rows[0]])) == [i for i in range(8) if touched[i] != 1]
    expected = [i for i in range(8) if active[i] and rows[1][i] % 32]
    assert claims[Aligned].broken(lanes) == expected


def test_the_stages_of_one_tile_are_taken_two_by_two() -> None:
    ring = parse_spec(SPEC.replace("  - disjoint: [A, B]\n", "")).claims
    claim = next(each.claim for each in ring if isinstance(each.claim, Disjoint))
    places = placed([[0, 48], [8, 64], [80, 96]])
    assert [claim.broken(*pair) for pair in claim.arranged(places)] == [[0], [], []]


def test_vectors_of_a_whole_tile(claims: dict[type[Claim], Claim]) -> None:
    """Elements come with the first mode fastest: rows of 6, of which a vector takes 3."""
    claim = claims[Contiguous]
    whole = [[16 * (6 * row + column) for column in range(6) for row in range(4)] for _ in range(2)]
    (vectors,) = next(iter(claim.arranged(placed(whole))))
    assert vectors.first.shape == (16, 3)
    assert not claim.broken(vectors)
    whole[1][4 * 4 + 1] += 16  # row 1, column 4, which is the second item of its vector
    (vectors,) = next(iter(claim.arranged(placed(whole))))
    assert [divmod(each, 3) for each in claim.broken(vectors)] == [(8 + 3, 1)]
    moved = placed([[each + 16 for each in whole[0]]])
    (vectors,) = next(iter(claim.arranged(moved)))
    assert claim.broken(vectors) == [*range(24)]


def test_lanes_that_collide_and_octets_that_single_out_none(claims: dict[type[Claim], Claim]) -> None:
    column = placed([[8 * 128 * lane for lane in range(32)], [32 * lane for lane in range(32)]], 32)
    assert claims[ConflictFree].broken(column) == [*range(32)]
    odd = placed([[32 * lane + 8 * (lane == 5) for lane in range(32)]], 32)
    assert claims[ConflictFree].broken(odd) == [5]
    copied = placed([[128 * lane for lane in range(32)]], 128)
    assert claims[Wavefronts].broken(copied)  # four octets of one wavefront each, and three are claimed
    nobody = placed([[0] * 32], 32, [[False] * 32])
    assert not claims[ConflictFree].broken(nobody)


def test_sectors(claims: dict[type[Claim], Claim]) -> None:
    rows = [[32 * lane for lane in range(32)], [32 * lane + 32 for lane in range(32)]]
    assert claims[Coalesced].broken(placed(rows, 32)) == [*range(32, 64)]


def test_lanes_that_only_one_side_has_differ(claims: dict[type[Claim], Claim]) -> None:
    one = placed([[0, 32, 64]], 32, [[True, False, False]])
    other = placed([[0, 32, 96]], 32, [[True, True, False]])
    assert claims[Equivalent].broken(one, other) == [1]


def test_values_of_maps(claims: dict[type[Claim], Claim]) -> None:
    claim = claims[Permutation]
    assert claim.broken(Places(np.asarray([[0], [5], [6], [-1], [5]]))) == [1, 2, 3, 4]
    assert claim.broken(Places(np.asarray([[5], [3], [4]]))) == []

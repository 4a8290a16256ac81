"""The definition, which exhaustion reads, and the expression form, which Z3 reads, say one thing of
every goal.
"""

from __future__ import annotations

import pytest

from swzverify.claims import Injective
from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.obligations import Answer
from swzverify.engines.smt import SMT
from swzverify.layout import Layout, Swizzle
from swzverify.subjects import AlignedBase, Base, Memory, MemoryBase, Tile
from tests.claims.test_replays import WHOLE, made

# goals that are just kept, or just broken
EDGES = [
    "in_bounds: linear",
    "in_bounds: plain",
    "in_bounds: row",
    "aligned: row",
    "contiguous: {tile: cute, elements: 8}",
    "contiguous: {tile: tma, elements: 16}",
    "covers: {access: turned, tile: floats}",
    "equivalent: [tma, tma]",
    "equivalent: [ring, ring]",
    "equivalent: [offsets, offsets]",
    "equivalent: [offsets, plain]",
    "equivalent: [nibbles, nibbles]",
    "equivalent: [linear, beyond]",
    "equivalent: [twice, twice]",
    "bijective: tma",
    "bijective: cute",
    "injective: cute",
    "injective: stacked",
]


@pytest.mark.parametrize("text", [*(row["claim"] for row in WHOLE), *EDGES])
def test_exhaustion_and_z3_agree(text: str) -> None:
    for goal in made(text).plan().goals:
        by_points = Exhaustion().decide(goal.obligation)
        by_formula = SMT().decide(goal.obligation)
        assert by_formula.answer in {Answer.HOLDS, Answer.FAILS}
        assert by_points.answer in {by_formula.answer, Answer.NOT_APPLICABLE}
        if by_formula.answer is Answer.FAILS:
            break  # what comes after rests on it: a cost needs addresses that are aligned


def on_addresses(element_bits: int, swizzle: Swizzle, base: Base, **fields: int) -> Tile:
    return Tile("T", element_bits, Layout((8, 8), (8, 1)), swizzle, "address", base, **fields)


SMEM = Memory("smem", 4096, 64)
TILES = {
    "elements torn by the swizzle": on_addresses(16, Swizzle(3, 0, 3), AlignedBase(64)),
    "elements of three bytes": on_addresses(24, Swizzle(3, 4, 3), AlignedBase(64)),
    "elements of three bytes, in stages": on_addresses(24, Swizzle(2, 4, 3), AlignedBase(64), stages=2),
    "a start inside an element": on_addresses(32, Swizzle(2, 4, 3), MemoryBase(SMEM, 2)),
    "a start at an element": on_addresses(32, Swizzle(2, 4, 3), MemoryBase(SMEM, 4)),
    "bases inside an element": on_addresses(32, Swizzle(2, 4, 3), AlignedBase(2)),
    "stages inside an element": on_addresses(32, Swizzle(2, 4, 3), AlignedBase(64), stages=2, pitch_bytes=258),
    "stages of whole elements": on_addresses(32, Swizzle(2, 4, 3), AlignedBase(64), stages=2, pitch_bytes=256),
}


@pytest.mark.parametrize("tile", TILES.values(), ids=TILES)
def test_injectivity_on_addresses(tile: Tile) -> None:
    (goal,) = Injective(tile).plan().goals
    answers = {Exhaustion().decide(goal.obligation).answer, SMT().decide(goal.obligation).answer}
    assert len(answers) == 1
    assert answers < {Answer.HOLDS, Answer.FAILS}

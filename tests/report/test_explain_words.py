"""The sentence of each kind of statement, word by word; tests/explanations judges the statements."""

# ruff: noqa: E501 - a sentence stands in a line
from __future__ import annotations

from typing import get_args

import pytest

from swzverify.explain.explanations import statements as said
from swzverify.layout import Swizzle
from swzverify.report.explain_words import sentence

AT = {"warp": 1, "k": 16}
SENTENCES: list[tuple[said.Statement, str]] = [
    (
        said.Cost("a", "ldmatrix.x4", "sm_90", "measured", 8, 4, 4, 16, AT),
        "ldmatrix.x4 on sm_90 (measured) takes at most 8 wavefronts, in the worst of 16 warp instructions, at warp = 1, k = 16; without conflicts it would take 4. There are at most 4 bank conflicts.",
    ),
    (
        said.Cost("a", "ldmatrix.x4", "sm_90", "measured", 4, 4, 0, 1, {}),
        "ldmatrix.x4 on sm_90 (measured) takes at most 4 wavefronts, in its only warp instruction. There are no bank conflicts.",
    ),
    (
        said.Limit("conflict_free", "a", None, False, False),
        "These costs break the claim conflict_free of a: no bank conflicts.",
    ),
    (
        said.Limit("wavefronts", "a", 1, True, True),
        "These costs keep the claim wavefronts of a: exactly 1 wavefront.",
    ),
    (
        said.Limit("wavefronts", "a", 4, False, True),
        "These costs keep the claim wavefronts of a: at most 4 wavefronts.",
    ),
    (said.BankBit(2, (said.Bit("lane", 0), said.Bit("k", 1, 8, 24)), 1), "bank[2] = lane[0] ^ ((k-8)/24)[1] ^ 1"),
    (said.TileBankBit("A", 0, (), 0, 0), "bank[0] = 0"),
    (
        said.Matrix("access", (said.Bit("lane", 0), said.Bit("lane", 1)), ((1, 0),), (0,), 1),
        "Its matrix over GF(2) has 2 columns and rank 1.",
    ),
    (
        said.Rank(3, 16, 3, 1, 4, False, False),
        "A group has 8 lanes, which touch 2^3 = 8 different units of 16 bytes (rank 3) in 2^1 = 2 of the 8 places of a 128-byte line (rank 1). So 2^(3 - 1) = 4 of them share each place: 4 wavefronts per group, 16 in 4 groups.",
    ),
    (
        said.Rank(4, 16, 3, 3, 2, True, False),
        "A group has 16 lanes (two joined), which touch 2^3 = 8 different units of 16 bytes (rank 3) in 2^3 = 8 of the 8 places of a 128-byte line (rank 3). So no two of them share a place: 1 wavefront per group, 2 in 2 groups.",
    ),
    (
        said.Rank(5, 4, 0, 0, 1, False, True),
        "A group has 32 lanes, which touch 2^0 = 1 unit of 4 bytes (rank 0) in 2^0 = 1 of the 32 places of a 128-byte line (rank 0). So 2^(5 - 0) = 32 lanes share each place, and each lane counts: 32 wavefronts per group, 32 in 1 group.",
    ),
    (
        said.Kernel(8, (0, 8), (0, 32), 0, True, AT),
        "Lanes 0 and 8 differ in bit 3 only, which reaches no bank bit: they need the words 0 and 32 of bank 0 at warp = 1, k = 16. In every warp instruction, lanes l and l ^ 8 of a group collide in this way.",
    ),
    (
        said.Kernel(5, (0, 5), (3, 35), 3, False, AT),
        "Lanes 0 and 5 differ in the bits 0 and 2, whose effects on the bank cancel: they need the words 3 and 35 of bank 3 at warp = 1, k = 16. In every warp instruction, lanes l and l ^ 5 of a group collide in this way.",
    ),
    (
        said.Kernel(1, (0, 1), (7, 7), 7, True, AT),
        "Lanes 0 and 1 differ in bit 0 only, which reaches no bank bit: they need word 7 twice, where each counts, of bank 7 at warp = 1, k = 16. In every warp instruction, lanes l and l ^ 1 of a group collide in this way.",
    ),
    (said.Merged(4), "Lanes l and l ^ 4 of a group touch the same unit, which counts once."),
    (
        said.Crowd((0, 8, 16), 3, (3, 35, 67), 3, False, AT),
        "Lanes 0, 8 and 16 need the words 3, 35 and 67 of bank 3, at warp = 1, k = 16. No bank has more: the group takes 3 wavefronts.",
    ),
    (
        said.Crowd((5,), 3, (3,), 1, False, AT),
        "Lane 5 needs word 3 of bank 3, at warp = 1, k = 16. No bank has more: the group takes 1 wavefront.",
    ),
    (
        said.Crowd((0, 1, 2, 3), 0, (0,), 4, True, AT),
        "Lanes 0-3 need word 0 of bank 0, and each lane counts, at warp = 1, k = 16. No bank has more: the group takes 4 wavefronts.",
    ),
    (
        said.Crowd(tuple(range(9)), 0, tuple(range(0, 288, 32)), 9, False, AT),
        "Lanes 0-8 need 9 words, from 0 to 256, of bank 0, at warp = 1, k = 16. No bank has more: the group takes 9 wavefronts.",
    ),
    (
        said.Apart((tuple(range(8)),), 1, AT),
        "Lanes 0-7 copy together: the octet takes 1 wavefront, and none takes more, at warp = 1, k = 16.",
    ),
    (
        said.Apart(((0, 1, 4, 5), (2, 3, 6, 7)), 2, AT),
        "Lanes 0, 1, 4 and 5 | 2, 3, 6 and 7 copy in wavefronts of their own: the octet takes 2 wavefronts, and none takes more, at warp = 1, k = 16.",
    ),
    (
        said.Steps(tuple(range(32)), (said.Level(32, 132),), 1, AT),
        "Lanes 0-31 have 32 addresses 132 bytes apart, at warp = 1, k = 16: gcd(132, 128) = 4, so 128/4 = 32 steps in a row reach different places of a 128-byte line, and the next steps reach the same places again: 1 wavefront for the group.",
    ),
    (
        said.Steps(tuple(range(8)), (said.Level(2, 0), said.Level(4, 128)), None, AT),
        "Lanes 0-7 have 2 addresses 0 bytes apart, repeated 4 times 128 bytes apart, at warp = 1, k = 16: 128 is a multiple of 128, so all of them lie in the same banks.",
    ),
    (
        said.Pitch("A", "row", 0, 1, said.Level(64, 144), False),
        "A step of row moves by 144 bytes: gcd(144, 128) = 16, so 128/16 = 8 steps in a row reach different places of a 128-byte line, and the next steps reach the same places again.",
    ),
    (
        said.Pitch("A", "col", 1, 2, said.Level(8, 256), True),
        "Without the swizzle, a step of leaf 2 of 2 of col moves by 256 bytes: 256 is a multiple of 128, so all of them lie in the same banks.",
    ),
    (said.Period("A", "row", 64, 8, 0), "Along row the banks repeat every 8 steps, and not before."),
    (said.Period("A", "col", 64, None, 0), "Along col the banks have no period of up to 32 steps."),
    (said.Period("A", "row", 64, 1, 0), "A step along row changes no element's bank."),
    (
        said.SwizzleBits("A", Swizzle(3, 4, 3), "address", 12, 0),
        "Swizzle<3,4,3> acts on the bits of the byte address, 0bxxYYYZZZxxxx: Y (7-9) is XORed onto Z (4-6). Z holds the bits 2, 3 and 4 of the bank.",
    ),
    (
        said.SwizzleBits("A", Swizzle(1, 6, 3), "offset", 10, 1),
        "Swizzle<1,6,3> acts on the bits of the element offset, 0bYxxZxxxxxx: Y (9) is XORed onto Z (6). Where the stage begins at a multiple of 128 bytes, Z reaches no bit of the bank.",
    ),
    (
        said.SwizzleBits("A", Swizzle(2, 2, -2), "offset", 8, None),
        "Swizzle<2,2,-2> acts on the bits of the element offset, 0bxxZZYYxx: Y (2 and 3) is XORed onto Z (4 and 5).",
    ),
    (
        said.OneToOne("A", 10, 12),
        "The map from the 12 bits of the coordinate to offsets has rank 10: 4 coordinates share each offset.",
    ),
    (said.Change("none", None, 32, 28), "Without a swizzle it takes 32 wavefronts, 28 bank conflicts."),
    (said.Change("B", Swizzle(1, 3, 3), 1, 0), "With Swizzle<1,3,3> it takes 1 wavefront, no bank conflicts."),
    (
        said.Parameter("B", 2, 8, 4, (0, 1, 2, 3), 4, (3,)),
        "B = 2 is too small: with B = 3 it takes 4 wavefronts, the fewest of any B from 0 to 3; now it takes 8.",
    ),
    (
        said.Parameter("B", 3, 8, 4, (1, 2, 3), 4, (1, 2)),
        "B = 3 is too large: with B = 1 or 2 it takes 4 wavefronts, the fewest of any B from 1 to 3; now it takes 8.",
    ),
    (
        said.Parameter("M", 4, 8, 4, (3, 4, 6), 4, (3, 6)),
        "M = 4 is misplaced: with M = 3 or 6 it takes 4 wavefronts, the fewest of any M of 3, 4 or 6; now it takes 8.",
    ),
    (
        said.Parameter("S", -3, 4, 0, (-5, -4, -3), 4, (-4, -3)),
        "S = -3 takes 4 wavefronts, as with -4, the fewest of any S from -5 to -3.",
    ),
    (
        said.Parameter("S", 3, 8, 4, (3, 4), 8, (3, 4)),
        "No other S alone helps: with any S from 3 to 4 it takes 8 wavefronts or more.",
    ),
    (
        said.BestSwizzle("offset", 22, 3, 9, 5, 4, 0, 1, Swizzle(3, 3, 3)),
        "Of the 22 swizzles of element offsets with B up to 5 and M from 3 on that read only the lowest 9 bits, 1 takes the fewest: 4 wavefronts, no bank conflicts. The first is Swizzle<3,3,3>.",
    ),
    (
        said.BestSwizzle("address", 22, 4, 10, 5, 8, 4, 2, Swizzle(2, 4, 3)),
        "Of the 22 swizzles of byte addresses with B up to 5 and M from 4 on that read only the lowest 10 bits, 2 take the fewest: 8 wavefronts, 4 bank conflicts. The first is Swizzle<2,4,3>.",
    ),
    (said.LeastBase(3, "offset"), "A swizzle with M below 3 can split vectors of 8 elements."),
    (said.LeastBase(4, "address"), "A swizzle with M below 4 can split vectors of 16 bytes."),
    (
        said.BestPad(8, 64, "(64,64):(72,1)", 4, 0),
        "With a pad of 8 elements after every 64, (64,64):(72,1), it takes 4 wavefronts, no bank conflicts.",
    ),
    (
        said.NotLinear("access", "a", (3, 4)),
        "No formula of XORs is known for the bits 3 and 4 of the bank of a lane's first word.",
    ),
    (said.NotLinear("tile", "A", (2,)), "No formula of XORs is known for bank[2] of an element."),
    (
        said.Unpriced("a", "SWZ404", "lane 1 has address 2"),
        "The cost of its warp instructions cannot be computed: lane 1 has address 2.",
    ),
]


@pytest.mark.parametrize(("statement", "words"), SENTENCES, ids=lambda value: type(value).__name__)
def test_the_sentence_of_a_statement(statement: said.Statement, words: str) -> None:
    assert sentence(statement) == words


def test_every_kind_is_here() -> None:
    assert {type(statement) for statement, _ in SENTENCES} == set(get_args(said.Statement))

"""Wrong encodings and wrong statements: each theorem that is proved is refuted when one part of it
is changed.

A mutant replaces a name in the proof's module. Were an encoding trivially true, its mutant would be
proved as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from swzverify.apps.theorems import Obligation, Outcome, Sequent, Symbols, Theorem, choose, lesser
from swzverify.apps.theorems.discover import PACKAGE, find_theorems
from swzverify.apps.theorems.solve import settle

THEOREMS = {theorem.name: theorem for theorem in find_theorems()}
PROVED = [theorem for theorem in THEOREMS.values() if theorem.expected is Outcome.PROVED]
WRONG = [theorem for theorem in THEOREMS.values() if theorem.expected is Outcome.REFUTED]


def proofs(module: str):
    return sys.modules[f"{PACKAGE}.{module}"]


_swizzle = proofs("_swizzle")
Parameters, change, ones, span_bits, swizzle, yyy = (
    getattr(_swizzle, name) for name in ("Parameters", "change", "ones", "span_bits", "swizzle", "yyy")
)


@dataclass(frozen=True)
class Mutant:
    """What is wrong, in which module, which name, and what it is replaced by.

    `shown_by` is the place of the obligation that is soon refuted, which is asked first; `is_long`
    leaves a mutant whose refutation takes long to the nightly run, where the theorem has another one.
    """

    wrong: str
    module: str
    name: str
    value: Callable
    shown_by: int = 0
    is_long: bool = False


def ors(x, p):
    return x | change(x, p)


def adds(x, p):
    return x + change(x, p)


def unmasked(x, p):
    return x ^ (x << p.s if p.up else x >> p.s)


def twice(x, p):
    return change(x, p) << 1


def shift_of_four(v, b):
    return Parameters(v.number(b), v.number(4), v.number(4))


def moved_up(b, m, s, up=False):
    return Parameters(b, m + 1, s, up)


def universal(s, n, x, _):
    return proofs("universal_parameters").universal(s, n, x)


real_firsts = proofs("_banks").firsts_in_bank
real_group_lanes = proofs("_banks").group_lanes


def firsts_but_all_of_many(v, lanes, width, which):
    """In the joined groups every touch counts, as if equal words there were different."""
    if len(lanes) == real_group_lanes(width):
        return real_firsts(v, lanes, width, which)
    return [first for lane in lanes for first in real_firsts(v, [lane], width, which)]


def never_smaller(_, b):
    return b


def rest_of_any_size(a, divisor, quotient, rest):
    return (a == quotient * divisor + rest) & (rest <= divisor)


def rows_of(grid, _):
    return grid.group


MUTANTS: dict[str, list[Mutant]] = {
    "quotients-are-unique": [Mutant("a rest may be the divisor", "block_groups", "divided", rest_of_any_size)],
    "grouped-order": [
        Mutant("no min", "block_groups", "smaller", never_smaller, shown_by=1),
        Mutant("a rest may be the divisor", "block_groups", "divided", rest_of_any_size, shown_by=1, is_long=True),
        Mutant(
            "the groups overlap", "block_groups", "rows_in", lambda grid, _: grid.group + 1, shown_by=1, is_long=True
        ),
    ],
    "grouped-order-older-row": [
        Mutant("no min", "block_groups", "rows_in", rows_of),
        Mutant("a rest may be the divisor", "block_groups", "divided", rest_of_any_size, is_long=True),
    ],
    "column-groups": [
        Mutant("no min", "block_groups", "rows_in", rows_of, shown_by=3),
        Mutant("a rest may be the divisor", "block_groups", "divided", rest_of_any_size, shown_by=4),
    ],
    "identity-swizzle": [
        Mutant("no mask", "block_strips", "tile_of", lambda x, y, log: (x >> log, (y << log) + x)),
        Mutant("rows and columns change places", "block_strips", "tile_of", lambda x, y, log: (y, x >> log)),
    ],
    "identity-swizzle-exact": [
        Mutant("no mask", "block_strips", "tile_of", lambda x, y, log: (x >> log, (y << log) + x)),
    ],
    "xor-interval": [
        Mutant("the first element is left out", "xor_interval", "inside", lambda x, a, b: (a < x) & (x <= b)),
        Mutant("the interval is one longer", "xor_interval", "inside", lambda x, a, b: (a <= x) & (x <= b + 1)),
    ],
    "xor-interval-only-aligned": [Mutant("everything is inside", "xor_interval", "inside", lambda x, _a, _b: x >= 0)],
    "xor-tile-rows": [
        Mutant("or for xor", "xor_tile", "moved", lambda x, y: x | y),
        Mutant("plus for xor", "xor_tile", "moved", lambda x, y: x + y),
    ],
    "xor-tile-columns": [Mutant("and for xor", "xor_tile", "moved", lambda x, y: x & y)],
    "xor-tile-tall": [Mutant("plus for xor", "xor_tile", "moved", lambda x, y: x + y)],
    "swizzle-involution": [Mutant("plus for xor", "swizzle_algebra", "swizzle", adds)],
    "swizzle-involution-only-legal": [Mutant("the identity", "swizzle_algebra", "swizzle", lambda x, _: x)],
    "swizzle-bijection": [Mutant("or for xor", "swizzle_algebra", "swizzle", ors)],
    "swizzle-one-to-one-iff": [
        Mutant("or for xor", "swizzle_algebra", "swizzle", ors),
        Mutant("no mask", "swizzle_algebra", "swizzle", unmasked),
    ],
    "swizzle-keeps-low-bits": [Mutant("no mask", "swizzle_algebra", "swizzle", unmasked)],
    "swizzle-only-zzz": [Mutant("YYY for ZZZ", "swizzle_algebra", "zzz", yyy)],
    "swizzle-blocks": [
        Mutant("no mask", "swizzle_algebra", "swizzle", unmasked),
        Mutant("half the span", "swizzle_algebra", "span_bits", lambda p: span_bits(p) - 1),
    ],
    "swizzle-blocks-smallest": [Mutant("the identity", "swizzle_algebra", "swizzle", lambda x, _: x)],
    "swizzle-scaling": [Mutant("M is off by one", "swizzle_algebra", "Parameters", moved_up)],
    "swizzle-vectors": [
        Mutant("no mask", "swizzle_vectors", "swizzle", unmasked),
        Mutant("the identity", "swizzle_vectors", "swizzle", lambda x, _: x),
    ],
    "vectors-share-high-bits": [Mutant("one bit too many", "swizzle_vectors", "ones", lambda n: 1 << n)],
    "row-xor": [Mutant("the XOR is one bit higher", "swizzle_periods", "change", twice)],
    "row-xor-long-rows": [Mutant("the XOR is one bit higher", "swizzle_periods", "change", twice)],
    "row-period": [
        Mutant("half the period", "swizzle_periods", "span_bits", lambda p: span_bits(p) - 1),
        Mutant("twice the period", "swizzle_periods", "span_bits", lambda p: span_bits(p) + 1),
    ],
    "rows-untouched": [
        Mutant("the identity", "swizzle_periods", "swizzle", lambda x, _: x),
        Mutant("no mask", "swizzle_periods", "swizzle", unmasked),
    ],
    "element-swizzle-is-address-swizzle": [
        Mutant("half the span", "address_swizzle", "span_bits", lambda p: span_bits(p) - 1, shown_by=3),
        Mutant("twice the span", "address_swizzle", "span_bits", lambda p: span_bits(p) + 1, shown_by=4),
    ],
    "column-free": [
        Mutant("S = min(c, k)", "columns", "greater", lesser),
        Mutant("groups of 32 for every width", "columns", "group_lanes", lambda _: 32),
        Mutant("groups of 8 for every width", "columns", "group_lanes", lambda _: 8),
    ],
    "pigeonhole-bites": [Mutant("half the banks", "pigeonhole", "PERIOD_BYTES", 64)],
    "pigeonhole-does-not-bite": [
        Mutant("S = min(c, k)", "pigeonhole", "greater", lesser),
        Mutant("twice as many lanes per group", "pigeonhole", "group_lanes", lambda width: 2 * real_group_lanes(width)),
    ],
    "universal-legal": [
        Mutant("no bound on the row", "universal_parameters", "in_region", lambda s, n, _: (1 << n + s) <= 128),
        Mutant("no bound on the vector", "universal_parameters", "in_region", lambda s, _, x: (1 << x + s) >= 128),
    ],
    "universal-keeps-vectors": [
        Mutant("M = 0", "universal_parameters", "universal", lambda s, n, x: Parameters(7 - s - n, n - n, x - n)),
    ],
    "universal-columns": [
        Mutant("groups of 32 for every width", "universal_parameters", "group_lanes", lambda _: 32, shown_by=20),
        Mutant(
            "S off by one", "universal_parameters", "universal", lambda s, n, x: Parameters(7 - s - n, n, x - n + 1)
        ),
    ],
    "universal-mended": [Mutant("the published choice", "universal_parameters", "mended", universal)],
    "joining-never-costs": [
        Mutant("equal words of joined groups all count", "joining", "firsts_in_bank", firsts_but_all_of_many),
    ],
    "pitch-free": [
        Mutant("odd, whatever the width", "padding", "odd_words", lambda pitch, _: pitch % 2 == 1),
        Mutant("any multiple of a word", "padding", "odd_words", lambda pitch, width: pitch * width % 4 == 0),
    ],
    "plus-one": [Mutant("odd, whatever the width", "padding", "odd_words", lambda pitch, _: pitch % 2 == 1)],
    "pitch-aligned": [
        Mutant("half the vector", "padding", "multiple", lambda number, size: number & size == 0),
    ],
    "tma-modes": [Mutant("a shift of 4", "tma", "mode", shift_of_four)],
    "tma-chunks": [Mutant("a shift of 4", "tma", "mode", shift_of_four)],
    "tma-rows": [
        Mutant("the base is ignored", "tma", "tma_address", lambda _v, b, _base, y, byte: y * (16 << b) + byte),
    ],
    "tma-article-chunks": [Mutant("a shift of 4", "tma", "mode", shift_of_four)],
    "tma-misplaced-tile": [Mutant("a shift of 4", "tma", "mode", shift_of_four)],
    "cp-async-xor-rows": [
        Mutant("the lane is left out of the move", "tma", "move", lambda a, _: (a // 128, a // 16 % 8)),
    ],
    "xor-double-buffer": [
        Mutant("half the alignment", "double_buffer", "ones", lambda n: ones(n) >> 1),
        Mutant("the other branch", "double_buffer", "choose", lambda condition, a, b: choose(condition, b, a)),
    ],
}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        pytest.param(name, mutant, id=f"{name}: {mutant.wrong}", marks=[pytest.mark.nightly] * mutant.is_long)
        for name, mutants in MUTANTS.items()
        for mutant in mutants
    ],
)
def test_a_wrong_encoding_is_refuted(name: str, mutant: Mutant, monkeypatch: pytest.MonkeyPatch):
    assert hasattr(proofs(mutant.module), mutant.name)
    monkeypatch.setattr(proofs(mutant.module), mutant.name, mutant.value)
    obligations = THEOREMS[name].obligations
    for obligation in (obligations[mutant.shown_by], *obligations):
        if settle(obligation, smallest=False).outcome is Outcome.REFUTED:
            return
    pytest.fail("every obligation of the mutant is proved")


def test_every_proved_theorem_has_a_mutant():
    assert set(MUTANTS) == {theorem.name for theorem in PROVED}
    assert all(any(not mutant.is_long for mutant in mutants) for mutants in MUTANTS.values())


def opposite(obligation: Obligation) -> Obligation:
    """With the opposite conclusion: it fails where the original holds."""

    def encode(v: Symbols) -> Sequent:
        sequent = obligation.encode(v)
        return Sequent(sequent.hypotheses, ~sequent.conclusion)

    return Obligation(obligation.name, encode)


@pytest.mark.parametrize("theorem", WRONG, ids=lambda theorem: theorem.name)
def test_a_refuted_statement_is_not_trivially_false(theorem: Theorem):
    """Where it holds its replay says so; only one of them is wrong everywhere."""
    (obligation,) = theorem.obligations
    answer = settle(opposite(obligation), smallest=False)
    if theorem.name == "column-shift-published":
        assert answer.outcome is Outcome.PROVED
    else:
        assert answer.outcome is Outcome.REFUTED
        assert theorem.refutes is not None
        assert not theorem.refutes(dict(answer.point))

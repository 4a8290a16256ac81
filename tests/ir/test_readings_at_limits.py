"""The three readings (intervals, repetitions, forms over bits) at the edges of each rule, as whole
answers.
"""

from __future__ import annotations

from itertools import product

import pytest

from swzverify.ir import integers as ints
from swzverify.ir.expr import BinaryOperator as Op
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.expr import Expr, binary, compare, const, extend, extract, ite, var
from swzverify.ir.gf2 import VariableBits, affine_bits, looks_affine
from swzverify.ir.intervals import intervals
from swzverify.ir.periods import Repetition, repetition

W = 4


def ranged(name: str, low: int, high: int, width: int = W) -> Expr:
    """An expression whose interval is low .. high."""
    if low == high:
        return const(low, width)
    node = var(name, high - low + 1)
    wide = extend(node, width, signed=False) if node.width < width else node
    return binary(Op.ADD, const(low, width), wide) if low else wide


def ends(node: Expr) -> tuple[int, int]:
    return intervals(node)[node]


FULL = (0, 15)
# operator, left, right, the interval of the result in 4 bits
BINARY = [
    (Op.ADD, (3, 5), (2, 10), (5, 15)),
    (Op.ADD, (3, 6), (2, 10), FULL),
    (Op.SUB, (4, 6), (1, 4), (0, 5)),
    (Op.SUB, (4, 6), (1, 5), FULL),
    (Op.MUL, (1, 3), (2, 5), (2, 15)),
    (Op.MUL, (1, 4), (2, 4), FULL),
    (Op.UDIV, (6, 9), (1, 3), (2, 9)),
    (Op.UDIV, (6, 9), (2, 3), (2, 4)),
    (Op.UDIV, (6, 9), (0, 3), FULL),
    (Op.UREM, (1, 3), (4, 6), (1, 3)),
    (Op.UREM, (1, 3), (3, 6), (0, 3)),
    (Op.UREM, (1, 9), (3, 6), (0, 5)),
    (Op.UREM, (1, 9), (1, 15), (0, 9)),
    (Op.UREM, (1, 3), (0, 6), (0, 6)),
    (Op.UREM, (1, 9), (0, 6), (0, 9)),
    (Op.SHL, (1, 3), (1, 2), (2, 12)),
    (Op.SHL, (1, 15), (0, 0), (1, 15)),
    (Op.SHL, (1, 4), (1, 2), FULL),
    (Op.SHL, (0, 0), (3, 4), FULL),
    (Op.SHL, (0, 0), (2, 3), (0, 0)),
    (Op.LSHR, (5, 13), (1, 2), (1, 6)),
    (Op.LSHR, (5, 13), (1, 4), (0, 6)),
    (Op.LSHR, (5, 13), (4, 5), (0, 0)),
    (Op.LSHR, (8, 13), (3, 3), (1, 1)),
    (Op.AND, (3, 9), (2, 6), (0, 6)),
    (Op.AND, (3, 6), (2, 9), (0, 6)),
    (Op.OR, (1, 5), (2, 3), (2, 7)),
    (Op.OR, (3, 5), (2, 8), (3, 15)),
    (Op.XOR, (1, 5), (2, 3), (0, 7)),
    (Op.XOR, (1, 2), (2, 8), FULL),
    (Op.SDIV, (6, 7), (2, 3), (2, 3)),
    (Op.SDIV, (6, 8), (2, 3), FULL),
    (Op.SDIV, (6, 7), (2, 8), FULL),
    (Op.SREM, (1, 7), (3, 6), (0, 5)),
    (Op.ASHR, (4, 7), (1, 2), (1, 3)),
    (Op.ASHR, (4, 8), (1, 2), FULL),
]


@pytest.mark.parametrize(("operator", "left", "right", "found"), BINARY)
def test_interval(operator: Op, left: tuple[int, int], right: tuple[int, int], found: tuple[int, int]) -> None:
    node = binary(operator, ranged("a", *left), ranged("b", *right))
    assert ends(node) == found


# comparison, left, right, the interval of the truth
COMPARED = [
    (Cmp.EQ, (1, 3), (4, 6), (0, 0)),
    (Cmp.EQ, (4, 6), (1, 3), (0, 0)),
    (Cmp.EQ, (1, 4), (4, 6), (0, 1)),
    (Cmp.EQ, (4, 6), (1, 4), (0, 1)),
    (Cmp.ULT, (1, 3), (4, 6), (1, 1)),
    (Cmp.ULT, (1, 4), (4, 6), (0, 1)),
    (Cmp.ULT, (4, 6), (1, 4), (0, 0)),
    (Cmp.ULT, (4, 6), (1, 5), (0, 1)),
    (Cmp.ULE, (1, 4), (4, 6), (1, 1)),
    (Cmp.ULE, (1, 5), (4, 6), (0, 1)),
    (Cmp.ULE, (4, 6), (1, 3), (0, 0)),
    (Cmp.ULE, (4, 6), (1, 4), (0, 1)),
    (Cmp.SLT, (1, 3), (4, 6), (0, 1)),
    (Cmp.SLE, (4, 6), (1, 3), (0, 1)),
]


@pytest.mark.parametrize(("comparison", "left", "right", "found"), COMPARED)
def test_interval_of_a_truth(
    comparison: Cmp, left: tuple[int, int], right: tuple[int, int], found: tuple[int, int]
) -> None:
    assert ends(compare(comparison, ranged("a", *left), ranged("b", *right))) == found


HERE: dict[str, tuple[Expr, tuple[int, int]]] = {
    "the same above the cut": (extract(ranged("a", 9, 11), 0, 3), (1, 3)),
    "another above the cut": (extract(ranged("a", 7, 9), 0, 3), (0, 7)),
    "cut from below": (extract(ranged("a", 9, 13), 1, 3), (4, 6)),
    "cut on both sides": (extract(ranged("a", 9, 13), 1, 2), (0, 2)),
    "widened": (extend(ranged("a", 9, 13), 6, signed=False), (9, 13)),
    "signed, never negative": (extend(ranged("a", 3, 7), 6, signed=True), (3, 7)),
    "signed, always negative": (extend(ranged("a", 8, 13), 6, signed=True), (56, 61)),
    "signed, of both": (extend(ranged("a", 7, 8), 6, signed=True), (0, 63)),
    "either": (ite(var("c", 2), ranged("a", 3, 7), ranged("b", 5, 9)), (3, 9)),
    "either, turned": (ite(var("c", 2), ranged("a", 5, 9), ranged("b", 3, 7)), (3, 9)),
    "always the first": (
        ite(compare(Cmp.ULT, ranged("a", 1, 2), ranged("b", 3, 4)), ranged("a", 3, 7), ranged("b", 8, 9)),
        (3, 7),
    ),
    "never the first": (
        ite(compare(Cmp.ULT, ranged("a", 4, 5), ranged("b", 3, 4)), ranged("a", 3, 7), ranged("b", 8, 9)),
        (8, 9),
    ),
}


@pytest.mark.parametrize(("node", "found"), HERE.values(), ids=HERE)
def test_interval_of_what_is_cut_widened_and_chosen(node: Expr, found: tuple[int, int]) -> None:
    assert ends(node) == found


# --- repetitions ---

V = var("v", 9)
V16, V8, V7 = var("v", 16), var("v", 8), var("v", 7)


def up(node: Expr, width: int = W) -> Expr:
    return extend(node, width, signed=False) if node.width < width else node


def times(value: Expr, factor: int) -> Expr:
    return binary(Op.MUL, value, const(factor, value.width))


REPEATS: dict[str, tuple[Expr, Repetition | None]] = {
    "itself": (V, Repetition(1, 1, True)),
    "a sum that just fits": (binary(Op.ADD, V, const(7, W)), Repetition(1, 1, True)),
    "a sum that wraps by one": (binary(Op.ADD, V, const(8, W)), Repetition(1, 1, False)),
    "a sum of both": (binary(Op.ADD, up(V8), up(V8)), Repetition(1, 2, True)),
    "a difference that is never negative": (binary(Op.SUB, const(8, W), V), Repetition(1, -1, True)),
    "a difference that is negative once": (binary(Op.SUB, const(7, W), V), Repetition(1, -1, False)),
    "a product that just fits": (times(up(var("v", 6)), 3), Repetition(1, 3, True)),
    "a product that wraps": (times(up(V7), 3), Repetition(1, 3, False)),
    "a product on the left": (binary(Op.MUL, const(3, W), up(var("v", 6))), Repetition(1, 3, True)),
    "a product that wraps by one": (times(V, 2), Repetition(1, 2, False)),
    "a shift that just fits": (binary(Op.SHL, up(V8), const(1, W)), Repetition(1, 2, True)),
    "a shift that wraps by one": (binary(Op.SHL, V, const(1, W)), Repetition(1, 2, False)),
    "a shift by the whole width": (binary(Op.SHL, V, const(4, W)), None),
    "a quotient": (binary(Op.UDIV, V16, const(3, W)), Repetition(3, 1, True)),
    "a remainder": (binary(Op.UREM, V16, const(3, W)), Repetition(3, 0, True)),
    "a quotient by zero": (binary(Op.UDIV, V16, const(0, W)), None),
    "a remainder by zero": (binary(Op.UREM, V16, const(0, W)), None),
    "a quotient of what goes round": (binary(Op.UDIV, times(V16, 4), const(3, W)), Repetition(4, 0, True)),
    "shifted down": (binary(Op.LSHR, V16, const(2, W)), Repetition(4, 1, True)),
    "shifted down by the whole width": (binary(Op.LSHR, V16, const(4, W)), None),
    "high bits": (binary(Op.AND, V16, const(12, W)), Repetition(4, 4, True)),
    "low bits": (binary(Op.AND, V16, const(3, W)), Repetition(4, 0, True)),
    "middle bits": (binary(Op.AND, V16, const(6, W)), Repetition(8, 0, True)),
    "middle bits, on the left": (binary(Op.AND, const(6, W), V16), Repetition(8, 0, True)),
    "flipped below": (binary(Op.XOR, V16, const(3, W)), Repetition(4, 4, True)),
    "flipped below, on the left": (binary(Op.XOR, const(3, W), V16), Repetition(4, 4, True)),
    "set below": (binary(Op.OR, V16, const(4, W)), Repetition(8, 8, True)),
    "cut that loses nothing": (extract(V8 if V8.width == W else up(V8), 0, 3), Repetition(1, 1, True)),
    "cut that loses one": (extract(V, 0, 3), Repetition(1, 1, False)),
    "cut from below": (extract(V16, 2, 2), Repetition(4, 1, True)),
    "cut from below that loses one": (extract(V16, 1, 2), Repetition(2, 1, False)),
    "cut of what goes round": (extract(binary(Op.ADD, V16, const(1, W)), 1, 2), Repetition(8, 0, True)),
    "widened": (extend(V, 6, signed=False), Repetition(1, 1, True)),
    "signed, never negative": (extend(up(V8), 6, signed=True), Repetition(1, 1, True)),
    "signed, negative once": (extend(V, 6, signed=True), Repetition(16, 0, True)),
    "widened after a wrap": (extend(binary(Op.ADD, V16, const(1, W)), 6, signed=False), Repetition(16, 0, True)),
    "equal to what moves alike": (compare(Cmp.EQ, V16, binary(Op.ADD, V16, const(1, W))), Repetition(1, 0, True)),
    "equal to what moves against": (compare(Cmp.EQ, V, binary(Op.SUB, const(8, W), V)), None),
    "less than what moves alike": (compare(Cmp.ULT, V, binary(Op.ADD, V, const(7, W))), Repetition(1, 0, True)),
    "at most what moves alike": (compare(Cmp.ULE, V, binary(Op.ADD, V, const(7, W))), Repetition(1, 0, True)),
    "less than a number": (compare(Cmp.ULT, V, const(5, W)), None),
    "less, of low bits": (
        compare(Cmp.ULT, binary(Op.AND, V16, const(3, W)), const(2, W)),
        Repetition(4, 0, True),
    ),
    "signed less than what moves alike": (compare(Cmp.SLT, V, binary(Op.ADD, V, const(7, W))), None),
    "less, after a wrap": (
        compare(Cmp.ULT, binary(Op.ADD, V16, const(1, W)), const(2, W)),
        Repetition(16, 0, True),
    ),
    "chosen by the low bit": (
        ite(extract(V16, 0, 1), V16, binary(Op.XOR, V16, const(1, W))),
        Repetition(2, 2, True),
    ),
    "a signed shift, never negative": (binary(Op.ASHR, up(V8), const(1, W)), Repetition(2, 1, True)),
    "a signed shift of both signs": (binary(Op.ASHR, V, const(1, W)), None),
    "a signed quotient, never negative": (binary(Op.SDIV, up(V8), const(3, W)), Repetition(3, 1, True)),
    "a product that goes round at once": (times(var("v", 16), 0), Repetition(1, 0, True)),
    "another variable": (var("w", 9), Repetition(1, 0, True)),
}


@pytest.mark.parametrize(("node", "found"), REPEATS.values(), ids=REPEATS)
def test_repetition(node: Expr, found: Repetition | None) -> None:
    assert repetition(node, "v") == found


# --- forms over bits ---

X, Y = var("x", 8), var("y", 4)


def forms(*roots: Expr) -> tuple[tuple[int | None, ...], ...]:
    return affine_bits(roots, VariableBits.of([X, Y]))


# x's bits are the forms 2, 4 and 8, y's 16 and 32; 1 is the constant
FORMS: dict[str, tuple[Expr, tuple[int | None, ...]]] = {
    "a variable": (X, (2, 4, 8)),
    "one more": (binary(Op.ADD, X, const(1, 3)), (3, 6, None)),
    "one less": (binary(Op.SUB, X, const(1, 3)), (3, 7, None)),
    "half the range more": (binary(Op.ADD, X, const(4, 3)), (2, 4, 9)),
    "twice": (binary(Op.ADD, X, X), (0, 2, 4)),
    "times two": (times(X, 2), (0, 2, 4)),
    "two on the left": (binary(Op.MUL, const(2, 3), X), (0, 2, 4)),
    "a product of variables": (binary(Op.MUL, X, X), (None, None, None)),
    "copies side by side": (times(up(Y, 4), 5), (16, 32, 16, 32)),
    "a quarter": (binary(Op.UDIV, X, const(4, 3)), (8, 0, 0)),
    "modulo four": (binary(Op.UREM, X, const(4, 3)), (2, 4, 0)),
    "a third": (binary(Op.UDIV, X, const(3, 3)), (None, None, None)),
    "by zero": (binary(Op.UDIV, X, const(0, 3)), (None, None, None)),
    "signed quotient of what may be negative": (binary(Op.SDIV, X, const(2, 3)), (None, None, None)),
    "signed quotient, never negative": (binary(Op.SDIV, up(X, 4), const(2, 4)), (4, 8, 0, 0)),
    "signed remainder, never negative": (binary(Op.SREM, up(X, 4), const(2, 4)), (2, 0, 0, 0)),
    "by what may be negative": (binary(Op.SDIV, up(X, 4), const(8, 4)), (None, None, None, None)),
    "shifted up": (binary(Op.SHL, X, const(1, 3)), (0, 2, 4)),
    "shifted out": (binary(Op.SHL, X, const(5, 3)), (0, 0, 0)),
    "shifted down": (binary(Op.LSHR, X, const(1, 3)), (4, 8, 0)),
    "shifted down with its sign": (binary(Op.ASHR, X, const(1, 3)), (4, 8, 8)),
    "shifted by a variable": (binary(Op.SHL, X, X), (None, None, None)),
    "masked": (binary(Op.AND, X, const(5, 3)), (2, 0, 8)),
    "set": (binary(Op.OR, X, const(5, 3)), (1, 4, 1)),
    "flipped": (binary(Op.XOR, X, const(5, 3)), (3, 4, 9)),
    "with itself": (binary(Op.AND, X, X), (2, 4, 8)),
    "with its inverse": (binary(Op.AND, X, binary(Op.XOR, X, const(7, 3))), (0, 0, 0)),
    "or its inverse": (binary(Op.OR, X, binary(Op.XOR, X, const(7, 3))), (1, 1, 1)),
    "of two": (binary(Op.XOR, X, up(Y, 3)), (18, 36, 8)),
    "both of two": (binary(Op.AND, X, up(Y, 3)), (None, None, 0)),
    "widened": (extend(X, 5, signed=False), (2, 4, 8, 0, 0)),
    "widened with its sign": (extend(X, 5, signed=True), (2, 4, 8, 8, 8)),
    "cut": (extract(X, 1, 2), (4, 8)),
    "equal to a number in one bit": (compare(Cmp.EQ, binary(Op.AND, X, const(4, 3)), const(4, 3)), (8,)),
    "equal to a number in two bits": (compare(Cmp.EQ, binary(Op.AND, X, const(6, 3)), const(4, 3)), (None,)),
    "never equal": (compare(Cmp.EQ, binary(Op.AND, X, const(6, 3)), const(1, 3)), (0,)),
    "always less": (compare(Cmp.ULT, binary(Op.AND, X, const(3, 3)), const(4, 3)), (1,)),
    "never less": (compare(Cmp.ULT, binary(Op.OR, X, const(4, 3)), const(4, 3)), (0,)),
    "perhaps less": (compare(Cmp.ULT, binary(Op.AND, X, const(3, 3)), const(3, 3)), (None,)),
    "always at most": (compare(Cmp.ULE, binary(Op.AND, X, const(3, 3)), const(3, 3)), (1,)),
    "perhaps at most": (compare(Cmp.ULE, binary(Op.AND, X, const(3, 3)), const(2, 3)), (None,)),
    "never at most": (compare(Cmp.ULE, binary(Op.OR, X, const(4, 3)), const(3, 3)), (0,)),
    "always less, signed": (compare(Cmp.SLT, binary(Op.OR, X, const(4, 3)), const(0, 3)), (1,)),
    "never at most, signed": (compare(Cmp.SLE, binary(Op.AND, X, const(3, 3)), const(7, 3)), (0,)),
    "chosen by a bit": (ite(extract(X, 0, 1), const(1, 2), const(2, 2)), (2, 3)),
    "chosen alike": (ite(extract(X, 0, 1), extract(X, 1, 2), extract(X, 1, 2)), (4, 8)),
    "chosen between variables": (ite(extract(X, 0, 1), extract(X, 1, 1), extract(X, 2, 1)), (None,)),
    "carries that agree": (binary(Op.ADD, binary(Op.AND, X, const(1, 3)), binary(Op.AND, X, const(1, 3))), (0, 2, 0)),
}


@pytest.mark.parametrize(("node", "found"), FORMS.values(), ids=FORMS)
def test_forms(node: Expr, found: tuple[int | None, ...]) -> None:
    assert forms(node) == (found,)


LOOKS: dict[str, tuple[Expr, bool]] = {
    "a variable": (X, True),
    "times a power of two": (times(X, 4), True),
    "copies side by side": (times(up(Y, 4), 5), True),
    "copies that overlap": (times(up(Y, 4), 3), False),
    "copies that overlap further up": (times(up(Y, 8), 13), False),
    "three copies side by side": (times(up(Y, 8), 21), True),
    "copies of all bits": (times(X, 5), False),
    "a number on the left": (binary(Op.MUL, const(5, 4), up(Y, 4)), True),
    "a product of variables": (binary(Op.MUL, X, X), False),
    "by four": (binary(Op.UDIV, X, const(4, 3)), True),
    "by six": (binary(Op.UDIV, X, const(6, 3)), False),
    "modulo six": (binary(Op.UREM, X, const(6, 3)), False),
    "by a variable": (binary(Op.UREM, X, X), False),
    "a sum": (binary(Op.ADD, X, X), True),
    "a product below a sum": (binary(Op.ADD, binary(Op.MUL, X, X), X), False),
    "a sum below a quotient": (binary(Op.UDIV, binary(Op.ADD, X, X), const(3, 3)), False),
}


@pytest.mark.parametrize(("node", "found"), LOOKS.values(), ids=LOOKS)
def test_what_looks_affine(node: Expr, found: bool) -> None:
    assert looks_affine(node) is found


# --- integers of a range: the range of the result, and its width ---

INTEGERS = {
    "+": (ints.add, lambda a, b: a + b),
    "-": (ints.subtract, lambda a, b: a - b),
    "*": (ints.multiply, lambda a, b: a * b),
    "min": (ints.minimum, min),
    "max": (ints.maximum, max),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_the_range_of_a_result_is_the_least(name: str) -> None:
    made, plain = INTEGERS[name]
    for low, high, start, stop in product((-3, 0, 2), (2, 5), (-2, 0, 1), (1, 4)):
        a = ints.add(ints.named("a", high - low + 1), ints.integer(low))
        b = ints.add(ints.named("b", stop - start + 1), ints.integer(start))
        result = made(a, b)
        values = [plain(x, y) for x in range(low, high + 1) for y in range(start, stop + 1)]
        assert (result.low, result.high) == (min(values), max(values))
        assert result.bits.width == ints.width_for(min(values), max(values))

"""How expressions repeat in a variable: by hand, and every answer against every pair of points."""

from __future__ import annotations

import random

import numpy as np
import pytest

from swzverify.ir import integers as ints
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    postorder,
)
from swzverify.ir.integers import Integer, add, bit_and, bit_or, bit_xor, divide, integer, multiply, named, remainder
from swzverify.ir.periods import MAX_PERIOD, Repetition, repetition
from tests.ir.reference import build, grid, random_formula, random_tree

V, U, W = named("v", 1000), named("u", 8), named("v", 4096)


def scaled(value: Integer, factor: int) -> Integer:
    return multiply(value, integer(factor))


def swizzled(value: Integer, bits: int, base: int, shift: int) -> Integer:
    """Swizzle<bits, base, shift> of a value."""
    moved = ints.shift_right(bit_and(value, integer(((1 << bits) - 1) << (base + shift))), integer(shift))
    return bit_xor(value, moved)


def word(value: Integer, width: int) -> Expr:
    """The value modulo 2^width."""
    return ints.resize(value, width)


KNOWN = [
    pytest.param(V.bits, Repetition(1, 1, exact=True), id="itself"),
    pytest.param(U.bits, Repetition(1, 0, exact=True), id="another-variable"),
    pytest.param(scaled(V, 12).bits, Repetition(1, 12, exact=True), id="stride"),
    pytest.param(
        add(scaled(divide(V, integer(4)), 132), remainder(V, integer(4))).bits, Repetition(4, 132, True), id="padded"
    ),
    pytest.param(remainder(V, integer(12)).bits, Repetition(12, 0, exact=True), id="remainder-by-12"),
    pytest.param(remainder(scaled(V, 9), integer(12)).bits, Repetition(4, 0, exact=True), id="strided-remainder"),
    pytest.param(divide(scaled(V, 9), integer(12)).bits, Repetition(4, 3, exact=True), id="strided-quotient"),
    pytest.param(swizzled(W, 3, 4, 3).bits, Repetition(1024, 1024, exact=True), id="swizzle-128b"),
    pytest.param(
        swizzled(remainder(V, integer(64)), 1, 1, 1).bits, Repetition(8, 8, exact=False), id="swizzle-of-remainder"
    ),
    pytest.param(ints.subtract(integer(5000), V).bits, Repetition(1, -1, exact=True), id="subtracted"),
    pytest.param(
        binary(BinaryOperator.SUB, const(0, 10), V.bits), Repetition(1, -1, exact=False), id="subtracted-round"
    ),
    pytest.param(extract(scaled(V, 8).bits, 0, 5), Repetition(1, 8, exact=False), id="low-bits"),
    pytest.param(extend(word(scaled(V, 8), 5), 9, signed=False), Repetition(4, 0, exact=True), id="low-bits-wide"),
    pytest.param(extract(binary(BinaryOperator.SHL, word(V, 6), const(3, 6)), 4, 2),
                 Repetition(8, 0, True), id="middle-bits-of-inexact"),
    pytest.param(compare(Comparison.EQ, bit_and(V, integer(3)).bits, const(2, 2)), Repetition(4, 0, True), id="equal"),
    pytest.param(compare(Comparison.ULT, V.bits, const(5, 10)), None, id="compared-with-a-constant"),
    pytest.param(
        compare(Comparison.ULT, V.bits, add(V, integer(1)).bits), Repetition(1, 0, exact=True), id="compared-with-next"
    ),
    pytest.param(ints.equal(remainder(V, integer(4)), integer(1)).bits, Repetition(4, 0, True), id="remainder-is-1"),
    pytest.param(ints.less(remainder(V, integer(4)), integer(3)).bits, Repetition(4, 0, True), id="remainder-below-3"),
    pytest.param(divide(remainder(V, integer(16)), integer(11)).bits, Repetition(16, 0, True), id="remainder-over-11"),
    pytest.param(multiply(V, V).bits, None, id="square"),
    pytest.param(multiply(V, U).bits, None, id="product-of-variables"),
    pytest.param(bit_or(scaled(V, 8), U).bits, Repetition(1, 8, exact=True), id="or-below"),
    pytest.param(
        ite(extract(V.bits, 0, 1), V.bits, binary(BinaryOperator.ADD, V.bits, const(3, 10))), Repetition(2, 2, True),
        id="choice-of-parallel-branches",
    ),
    pytest.param(ite(extract(V.bits, 0, 1), V.bits, const(3, 10)), None, id="choice-of-crossing-branches"),
    pytest.param(remainder(named("v", 4000000), integer(MAX_PERIOD + 1)).bits, None, id="period-too-long"),
]  # fmt: skip


@pytest.mark.parametrize(("root", "found"), KNOWN)
def test_known(root: Expr, found: Repetition | None) -> None:
    assert repetition(root, "v") == found


def judge(root: Expr, limits: dict[str, int]) -> tuple[int, int]:
    """Compare every pair v, v + period; how many sub-expressions had an answer with a pair, and how
    many none.
    """
    nodes = [node for node in postorder(root) if node.width <= 40]
    values = evaluate_many(tuple(nodes), grid(limits))
    seen = silent = 0
    for node, value in zip(nodes, values, strict=True):
        for axis, (name, limit) in enumerate(limits.items()):
            found = repetition(node, name)
            if found is None:
                silent += 1
                continue
            assert found.period >= 1
            table = np.moveaxis(np.broadcast_to(value, tuple(limits.values())), axis, 0)
            if found.period >= limit:
                continue
            wrong = table[found.period :] - table[: -found.period] - found.increment
            if not found.exact:
                wrong %= 1 << node.width
            assert not wrong.any(), (node, name, found)
            seen += 1
    return seen, silent


@pytest.mark.parametrize("linear", [True, False], ids=["constant-operands", "any-operands"])
def test_every_answer_holds_on_bit_vectors(linear: bool) -> None:
    source = random.Random(5 + linear)
    seen = silent = 0
    for _ in range(1100):
        limits = {"v": source.choice([5, 13, 37, 64]), "u": source.choice([3, 4, 7])}
        tree = random_tree(source, limits, source.randint(1, 7), source.randint(1, 8), linear=linear)
        counts = judge(build(tree), limits)
        seen, silent = seen + counts[0], silent + counts[1]
    # An answer of None is never wrong: there must be many others for the test to mean something.
    assert seen > 2000
    assert silent > 500


def test_every_answer_holds_on_integers() -> None:
    source = random.Random(11)
    seen = 0
    for _ in range(700):
        limits = {"v": source.choice([24, 50, 96]), "u": source.choice([2, 5])}
        seen += judge(random_formula(source, limits, source.randint(2, 8)).integer.bits, limits)[0]
    assert seen > 2000


def test_every_answer_holds_on_layouts() -> None:
    """Swizzles of padded and strided sums, the maps that the reading is for."""
    source = random.Random(12)
    seen = 0
    for _ in range(120):
        limits = {"v": source.choice([96, 200]), "u": 4}
        v, u = named("v", limits["v"]), named("u", limits["u"])
        base = add(scaled(v, source.choice([1, 2, 3, 4, 12, 16])), scaled(u, source.choice([1, 5, 8, 32])))
        if source.random() < 0.5:
            row = source.choice([3, 4, 8, 12])
            padded = scaled(divide(base, integer(row)), row + source.choice([1, 2, 4]))
            base = add(padded, remainder(base, integer(row)))
        swizzle = swizzled(base, source.randint(1, 3), source.randint(0, 3), source.randint(1, 4))
        cut = remainder(swizzle, integer(source.choice([32, 40, 128])))
        seen += judge(add(cut, scaled(u, 3)).bits, limits)[0]
    assert seen > 700

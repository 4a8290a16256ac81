"""Intervals and GF(2) forms against every point of random expressions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.ir import integers as ints
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    postorder,
    var,
    variables,
)
from swzverify.ir.gf2 import Form, VariableBits, affine_bits
from swzverify.ir.integers import integer, named
from swzverify.ir.intervals import intervals
from tests.ir.reference import build, grid, random_formula, random_tree


def random_roots(seed: int, count: int) -> list[tuple[Expr, dict[str, int]]]:
    source = random.Random(seed)
    roots: list[tuple[Expr, dict[str, int]]] = []
    for at in range(count):
        limits = {"x": source.choice([8, 11, 16, 32]), "y": source.choice([2, 5, 16])}
        if at % 3 == 2:
            root = random_formula(source, limits, source.randint(1, 7)).integer.bits
        else:
            root = build(random_tree(source, limits, source.randint(1, 9), source.randint(1, 9), linear=at % 3 == 0))
        roots.append((root, limits))
    return roots


def test_every_value_lies_in_its_interval() -> None:
    narrow = 0
    for root, limits in random_roots(1, 2400):
        nodes = postorder(root)
        found = intervals(root)
        for node, values in zip(nodes, evaluate_many(tuple(nodes), grid(limits)), strict=True):
            low, high = found[node]
            assert 0 <= low <= values.min() <= values.max() <= high < 1 << node.width, node
            narrow += (low, high) != (0, (1 << node.width) - 1)
    assert narrow > 4000


def test_variables_come_in_the_order_in_which_they_are_met() -> None:
    """Of several expressions as of one walk over all of them; so many names that the order tells."""
    source = random.Random(5)
    names = dict.fromkeys("uvwxyz", 4)
    trees = [build(random_tree(source, names, 6, 9)) for _ in range(300)]
    orders: set[tuple[str, ...]] = set()
    for at in range(0, len(trees), 3):
        roots = tuple(trees[at : at + 3])
        found = variables(*roots)
        assert found == tuple(node for node in postorder(*roots) if isinstance(node, Var))
        orders.add(tuple(node.name for node in found))
    assert len(orders) > 50
    assert variables() == ()


X6 = var("x", 64)
INTERVALS = [
    pytest.param(binary(BinaryOperator.UREM, X6, const(12, 6)), (0, 11), id="remainder"),
    pytest.param(binary(BinaryOperator.UDIV, var("x", 50), const(12, 6)), (0, 4), id="quotient"),
    pytest.param(binary(BinaryOperator.UDIV, const(9, 6), X6), (0, 63), id="quotient-by-maybe-0"),
    pytest.param(binary(BinaryOperator.UREM, const(9, 6), X6), (0, 63), id="remainder-by-maybe-0"),
    pytest.param(binary(BinaryOperator.SUB, const(63, 6), X6), (0, 63), id="difference"),
    pytest.param(binary(BinaryOperator.SUB, const(60, 6), var("x", 50)), (11, 60), id="difference-that-stays"),
    pytest.param(binary(BinaryOperator.SUB, const(40, 6), var("x", 50)), (0, 63), id="difference-that-wraps"),
    pytest.param(binary(BinaryOperator.OR, const(9, 6), X6), (9, 63), id="or"),
    pytest.param(binary(BinaryOperator.SDIV, const(9, 6), X6), (0, 63), id="signed-quotient"),
    pytest.param(extend(extract(X6, 0, 3), 6, signed=True), (0, 63), id="sign-either-way"),
    pytest.param(extend(binary(BinaryOperator.OR, const(4, 3), var("u", 8)), 6, signed=True), (60, 63), id="sign-set"),
    pytest.param(extract(binary(BinaryOperator.OR, const(48, 6), var("v", 33)), 4, 2), (3, 3), id="bits-that-stay"),
    pytest.param(compare(Comparison.ULE, X6, const(63, 6)), (1, 1), id="always"),
    pytest.param(compare(Comparison.ULT, const(50, 6), var("x", 50)), (0, 0), id="never"),
]


@pytest.mark.parametrize(("root", "found"), INTERVALS)
def test_interval(root: Expr, found: tuple[int, int]) -> None:
    assert intervals(root)[root] == found


# --- GF(2)


PARITY = np.array([bin(number).count("1") % 2 for number in range(1 << 9)])


def values_of_form(form: Form, patterns: NDArray[np.int64]) -> NDArray[np.int64]:
    """A form at every pattern of the variable bits: the parity of the picked bits, and the
    constant.
    """
    return PARITY[patterns & (form >> 1)] ^ (form & 1)


def test_every_form_gives_the_bit() -> None:
    known = unknown = moving = 0
    for root, limits in random_roots(2, 1500):
        numbering = VariableBits.of([var(name, limit) for name, limit in limits.items()])
        at = grid(limits)
        patterns = at["x"] | at["y"] << numbering.first["y"]
        nodes = tuple(postorder(root))
        for node, values, forms in zip(nodes, evaluate_many(nodes, at), affine_bits(nodes, numbering), strict=True):
            assert len(forms) == node.width
            for bit, form in enumerate(forms):
                if form is None:
                    unknown += 1
                    continue
                known += 1
                moving += form > 1
                assert np.array_equal(
                    np.broadcast_to(values >> bit & 1, patterns.shape), values_of_form(form, patterns)
                )
    assert known > 10000
    assert moving > 5000
    assert unknown > 1000


T = named("t", 256)
T_BITS = [1 << i + 1 for i in range(8)]
WIRING = [
    pytest.param(ints.bit_xor(T, ints.shift_right(T, integer(4))).bits,
                 [2 ^ 32, 4 ^ 64, 8 ^ 128, 16 ^ 256, *T_BITS[4:]], id="xor-shift"),
    pytest.param(ints.add(ints.multiply(ints.divide(T, integer(8)), integer(8)), ints.remainder(T, integer(8))).bits,
                 T_BITS, id="split-and-joined"),
    pytest.param(ints.add(ints.multiply(T, integer(4)), integer(3)).bits, [1, 1, *T_BITS], id="disjoint-sum"),
    pytest.param(ints.subtract(integer(255), T).bits, [bit ^ 1 for bit in T_BITS], id="complement"),
    pytest.param(ints.equal(ints.remainder(T, integer(2)), integer(0)).bits, [3], id="even"),
    pytest.param(ints.choose(extract(T.bits, 0, 1), integer(5), integer(2)).bits, [2, 3, 2], id="choice-of-constants"),
    pytest.param(binary(BinaryOperator.ADD, T.bits, T.bits), [0, *T_BITS[:7]], id="doubled"),
    pytest.param(binary(BinaryOperator.XOR, T.bits, T.bits), [0] * 8, id="cancelled"),
    pytest.param(binary(BinaryOperator.SUB, T.bits, T.bits), [0] * 8, id="subtracted-from-itself"),
    pytest.param(binary(BinaryOperator.ASHR, T.bits, const(6, 8)), [128, *[256] * 7], id="sign-copies"),
    pytest.param(extend(T.bits, 10, signed=True), [*T_BITS, 256, 256], id="sign-extended"),
    pytest.param(ite(extract(T.bits, 7, 1), T.bits, T.bits), T_BITS, id="same-branches"),
    pytest.param(compare(Comparison.SLT, T.bits, const(0, 8)), [None], id="sign-not-seen"),
    pytest.param(ints.add(T, integer(1)).bits, [3, 2 ^ 4, *[None] * 7], id="carry"),
    pytest.param(binary(BinaryOperator.MUL, T.bits, T.bits), [None] * 8,
                 id="square"),
]  # fmt: skip


@pytest.mark.parametrize(("root", "forms"), WIRING)
def test_known_wiring(root: Expr, forms: list[Form | None]) -> None:
    assert list(affine_bits([root], VariableBits.of([var("t", 256)]))[0]) == forms

"""The expression form: folding and every operator against SMT-LIB's definitions, identity,
substitution.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.ir.evaluate import evaluate, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    BinaryOperator,
    Comparison,
    Expr,
    binary,
    compare,
    conjunction,
    conjuncts,
    const,
    extend,
    extract,
    ite,
    negation,
    postorder,
    substitute,
    var,
    variables,
)
from tests.ir.reference import (
    BINARY,
    COMPARISONS,
    build,
    grid,
    meaning,
    operator_meaning,
    points,
    random_tree,
    width_of,
)

X, Y = var("x", 8), var("y", 8)
SOURCES = st.integers(0, 2**64).map(random.Random)


def combined(name: str, left: Expr, right: Expr) -> Expr:
    if name in COMPARISONS:
        return compare(Comparison(name), left, right)
    return binary(BinaryOperator(name), left, right)


@pytest.mark.parametrize("name", [*BINARY, *COMPARISONS])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_operator_everywhere(name: str, width: int) -> None:
    """Variable with variable, variable with each constant, constant with variable, constant with
    constant.
    """
    size = 1 << width
    x, y = var("x", size), var("y", size)
    expected = np.array([[operator_meaning(name, a, b, width) for b in range(size)] for a in range(size)])
    table = evaluate_many((combined(name, x, y),), grid({"x": size, "y": size}))[0]
    assert np.array_equal(np.broadcast_to(table, expected.shape), expected)
    line = {"x": np.arange(size), "y": np.arange(size)}
    for c in range(size):
        fixed = const(c, width)
        with_constants = evaluate_many((combined(name, x, fixed), combined(name, fixed, y)), line)
        assert np.broadcast_to(with_constants[0], (size,)).tolist() == expected[:, c].tolist()
        assert np.broadcast_to(with_constants[1], (size,)).tolist() == expected[c, :].tolist()
        for d in range(size) if width <= 3 else ():
            both = combined(name, fixed, const(d, width))
            assert both is const(int(expected[c, d]), both.width)
            assert evaluate(combined(name, x, y), {"x": c, "y": d}) == expected[c, d]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("width", [6, 32, 63, 64])
def test_operator_at_the_edges(name: str, width: int) -> None:
    top = 1 << width
    edges = [0, 1, 2, 5, width - 1, width, width + 1, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]
    edges = sorted({value % top for value in edges})
    node = binary(BinaryOperator(name), var("x", top), var("y", top))
    for a, b in product(edges, edges):
        expected = operator_meaning(name, a, b, width)
        assert evaluate(node, {"x": a, "y": b}) == expected
        arrays = {"x": np.array([a], dtype=np.uint64), "y": np.array([b], dtype=np.uint64)}
        many = evaluate_many((node,), arrays)[0]  # pyright: ignore[reportArgumentType]
        assert int(many[0]) % top == expected, (a, b)


@given(SOURCES, st.integers(0, 12), st.integers(1, 10))
def test_folding_keeps_the_value(source: random.Random, size: int, width: int) -> None:
    limits = {"x": 7, "y": 4}
    tree = random_tree(source, limits, size, width)
    root = build(tree)
    assert root.width == width_of(tree)
    expected = [meaning(tree, point) for point in points(limits)]
    assert [evaluate(root, point) for point in points(limits)] == expected
    many = np.broadcast_to(evaluate_many((root,), grid(limits))[0], (7, 4))
    assert many.ravel().tolist() == expected


@given(SOURCES, st.integers(0, 12), st.integers(1, 8))
def test_equal_expressions_are_one_object(source: random.Random, size: int, width: int) -> None:
    tree = random_tree(source, {"x": 7, "y": 4}, size, width)
    first = build(tree)
    assert build(tree) is first
    assert substitute(first, {}) is first
    nodes = postorder(first)
    assert len(set(nodes)) == len(nodes)
    assert nodes[-1] is first


@given(SOURCES, st.integers(0, 10), st.integers(1, 8))
def test_substitution_is_evaluation_there(source: random.Random, size: int, width: int) -> None:
    limits = {"x": 8, "y": 4}
    root = build(random_tree(source, limits, size, width))
    inner = build(random_tree(source, limits, size // 2, 3))
    replaced = substitute(root, {X: inner})
    for point in points(limits):
        assert evaluate(replaced, point) == evaluate(root, {**point, "x": evaluate(inner, point)})
        fixed = substitute(root, {X: const(point["x"], 3), var("y", 4): const(point["y"], 2)})
        assert fixed is const(evaluate(root, point), width)


def test_different_expressions_are_different_objects() -> None:
    different = {
        X, Y, var("x", 7), const(1, 3), const(1, 4), extend(X, 4, signed=False), extend(X, 4, signed=True),
        extract(X, 0, 2), extract(X, 1, 2), binary(BinaryOperator.SUB, X, Y), binary(BinaryOperator.SUB, Y, X),
        compare(Comparison.ULT, X, Y), compare(Comparison.SLT, X, Y), ite(TRUE, X, Y),
        ite(compare(Comparison.EQ, X, Y), X, Y),
    }  # fmt: skip
    assert len(different) == 14  # ite(TRUE, X, Y) is X


@pytest.mark.parametrize(
    ("parts", "result"),
    [
        pytest.param([], TRUE, id="none"),
        pytest.param([TRUE, TRUE], TRUE, id="true"),
        pytest.param([TRUE, extract(X, 0, 1), FALSE], FALSE, id="false-last"),
        pytest.param([FALSE, extract(X, 0, 1)], FALSE, id="false-first"),
        pytest.param([TRUE, extract(X, 0, 1)], extract(X, 0, 1), id="one"),
    ],
)
def test_conjunction_folds(parts: list[Expr], result: Expr) -> None:
    assert conjunction(parts) is result


def test_conjuncts_undo_conjunction() -> None:
    parts = tuple(extract(node, low, 1) for node in (X, Y) for low in range(3))
    assert conjuncts(conjunction(parts)) == parts
    assert conjuncts(TRUE) == ()
    assert conjuncts(negation(parts[0])) == (negation(parts[0]),)


def test_two_negations_are_none() -> None:
    assert negation(negation(TRUE)) is TRUE


REFUSED = [
    pytest.param(lambda: const(0, 0), "at least one bit", id="no-bits"),
    pytest.param(lambda: var("x", 0), "no value", id="no-values"),
    pytest.param(lambda: binary(BinaryOperator.ADD, X, const(1, 4)), "widths 3 and 4", id="add-widths"),
    pytest.param(lambda: compare(Comparison.EQ, X, const(1, 4)), "widths 3 and 4", id="compare-widths"),
    pytest.param(lambda: extract(X, 1, 3), "bits 1..3", id="bits-above"),
    pytest.param(lambda: extend(X, 2, signed=False), "cannot extend", id="narrower"),
    pytest.param(lambda: ite(X, X, Y), "if-then-else", id="wide-condition"),
    pytest.param(lambda: substitute(X, {X: const(0, 2)}), "x has 3 bits", id="narrow-replacement"),
    pytest.param(lambda: evaluate(X, {"x": 8}), "outside 0..7", id="point-outside"),
    pytest.param(lambda: evaluate_many((const(0, 65),), {}), "at most 64", id="too-wide-for-numpy"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=words):
        make()


def test_depth_has_no_limit() -> None:
    node: Expr = X
    for i in range(20000):
        node = binary(BinaryOperator.ADD, node, const(i % 7 + 1, 3))
    expected = (5 + sum(i % 7 + 1 for i in range(20000))) % 8
    assert evaluate(node, {"x": 5}) == expected
    assert variables(node) == (X,)

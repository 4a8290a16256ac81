"""The certificates' own arithmetic against the expression form's, which shares no code with it."""

from __future__ import annotations

import random

import pytest

from swzrecheck.meaning import BINARY, COMPARISONS, binary, comparison
from swzrecheck.program import Builder, Operation, evaluate
from swzverify.ir.evaluate import evaluate as evaluate_form
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    apply_binary,
    apply_comparison,
    compare,
    const,
    extend,
    extract,
    ite,
    var,
)
from swzverify.ir.expr import binary as form_binary
from tests.certificates.export import state_condition
from tests.certificates.judge import all_points, random_program

EDGES = [0, 1, 2, 3, 5, 7]


def test_every_operator_is_known() -> None:
    assert {operator.value for operator in BinaryOperator} == BINARY
    assert {operator.value for operator in Comparison} == COMPARISONS


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_every_operator_on_every_value_of_small_widths(width: int) -> None:
    for a in range(1 << width):
        for b in range(1 << width):
            for operator in BinaryOperator:
                assert binary(operator.value, width, a, b) == apply_binary(operator, a, b, width), (operator, a, b)
            for order in Comparison:
                assert comparison(order.value, width, a, b) == apply_comparison(order, a, b, width), (order, a, b)


@pytest.mark.parametrize("width", [8, 16, 31, 32, 33, 64])
def test_edges_of_large_widths(width: int) -> None:
    top = 1 << width
    values = {
        *EDGES,
        *(top - 1 - edge for edge in EDGES),
        top // 2,
        top // 2 - 1,
        top // 2 + 1,
        width,
        width - 1,
        width + 1,
    }
    for a in values:
        for b in values:
            for operator in BinaryOperator:
                assert binary(operator.value, width, a, b) == apply_binary(operator, a, b, width), (operator, a, b)
            for order in Comparison:
                assert comparison(order.value, width, a, b) == apply_comparison(order, a, b, width), (order, a, b)


def test_unknown_operators_are_refused() -> None:
    with pytest.raises(ValueError, match="bvnand"):
        binary("bvnand", 4, 1, 1)
    with pytest.raises(ValueError, match="bvugt"):
        comparison("bvugt", 4, 1, 1)


def test_exported_expressions_have_the_same_values() -> None:
    """Every kind of node, copied and evaluated by both evaluators at every point."""
    x, y = var("x", 6), var("y", 5)
    wide = form_binary(BinaryOperator.MUL, extend(x, 6, signed=False), extend(y, 6, signed=True))
    low = extract(wide, 1, 4)
    chosen = ite(compare(Comparison.SLT, low, const(3, 4)), low, form_binary(BinaryOperator.ASHR, low, const(1, 4)))
    for condition in (
        compare(Comparison.ULE, chosen, const(9, 4)),
        compare(Comparison.EQ, form_binary(BinaryOperator.SREM, low, extend(x, 4, signed=False)), const(0, 4)),
    ):
        statement = state_condition(condition, (x, y))
        for point in all_points(statement.program):
            assert evaluate(statement.program, point)[statement.assumption] == evaluate_form(condition, point)


def test_folding_changes_no_value() -> None:
    """A program copied with some variables known has the values of the program as written."""
    for seed in range(400):
        rng = random.Random(seed)
        program = random_program(rng)
        points = all_points(program)
        for point in rng.sample(points, min(len(points), 4)):
            known = [name for name in point if rng.random() < 0.6]
            out = Builder()
            given = {
                place: out.const(point[line.name], line.width)
                for place, line in enumerate(program)
                if line.operator == "var" and line.name in known
            }
            for root, wanted in enumerate(evaluate(program, point)):
                here = out.copy(program, [root], given)[0]
                free = {line.name: point[line.name] for line in tuple(out.lines) if line.operator == "var"}
                assert evaluate(tuple(out.lines), free)[here] == wanted, (seed, root)


def test_points_outside_the_limits_are_refused() -> None:
    program = (Operation("var", 3, number=6, name="x"),)
    for point in ({"x": 6}, {"x": -1}, {}):
        with pytest.raises(ValueError, match="x ="):
            evaluate(program, point)


@pytest.mark.parametrize(
    "line",
    [
        Operation("bvadd", 4, (0, 1)),
        Operation("bvadd", 3, (0,)),
        Operation("=", 2, (0, 0)),
        Operation("extract", 3, (0,), 1),
        Operation("zero_extend", 2, (0,)),
        Operation("ite", 3, (0, 0, 0)),
        Operation("const", 3, number=8),
        Operation("var", 3, number=9, name="y"),
        Operation("var", 3, number=0, name="y"),
        Operation("bvnot", 3, (0,)),
        Operation("bvadd", 3, (0, 2)),
        Operation("const", 0, number=0),
    ],
)
def test_operations_that_smtlib_would_refuse(line: Operation) -> None:
    out = Builder()
    out.var("x", 8, 3)
    out.var("z", 4, 2)
    with pytest.raises(ValueError, match=r"."):
        out.place(line)

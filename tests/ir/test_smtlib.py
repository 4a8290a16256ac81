"""SMT-LIB scripts: what Z3's parser reads in them is what the expression means."""

# z3py ships no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import random

import pytest
import z3

from swzverify.ir.evaluate import evaluate
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
    negation,
    var,
)
from swzverify.ir.smtlib import smtlib_script, smtlib_symbol, smtlib_term
from tests.ir.reference import build, points, random_tree


def satisfiable(script: str) -> bool:
    solver = z3.Solver(ctx=z3.Context())
    solver.from_string(script)
    verdict = str(solver.check())
    assert verdict in ("sat", "unsat")
    return verdict == "sat"


def test_verdict_is_that_of_every_point() -> None:
    source = random.Random(1)
    limits = {"x": 5, "leaf.0": 6}
    verdicts: list[bool] = []
    for _ in range(80):
        width = source.randint(1, 4)
        root = build(random_tree(source, limits, source.randint(1, 8), width, most_bits=6))
        values = {evaluate(root, point) for point in points(limits)}
        for target in {source.randrange(1 << width), min(values)}:
            condition = compare(Comparison.EQ, root, const(target, width))
            verdicts.append(satisfiable(smtlib_script(condition)))
            assert verdicts[-1] == (target in values), smtlib_script(condition)
    assert min(verdicts.count(True), verdicts.count(False)) > 10


@pytest.mark.parametrize("operator", [*BinaryOperator, *Comparison])
def test_operator_keeps_its_meaning(operator: BinaryOperator | Comparison) -> None:
    """No point differs from the table of the operator's values, written as constants."""
    x, y = var("x", 8), var("y", 8)
    applied = compare(operator, x, y) if isinstance(operator, Comparison) else binary(operator, x, y)
    table: Expr = const(0, applied.width)
    for point in points({"x": 8, "y": 8}):
        here = binary(BinaryOperator.AND, *(compare(Comparison.EQ, v, const(point[v.name], 3)) for v in (x, y)))
        table = ite(here, const(evaluate(applied, point), applied.width), table)
    assert not satisfiable(smtlib_script(negation(compare(Comparison.EQ, applied, table))))


def test_bounds_are_part_of_the_script() -> None:
    x = var("x", 6)
    assert not satisfiable(smtlib_script(compare(Comparison.EQ, x, const(6, 3))))
    assert satisfiable(smtlib_script(compare(Comparison.EQ, x, const(5, 3))))
    assert not satisfiable(smtlib_script(compare(Comparison.EQ, var("one", 1), const(1, 1))))


NAMES = [
    "tid", "leaf.0", "k'", "threadIdx.x", "n0", "n_1", "bvadd", "and", "let", "true", "concat", ".hidden", "@at",
    "a b", "a|b", "a\\b", "$and", "$", "0", "select", "-", "\u03bb", "x;y", "x\ny", '"', "|x|", "BitVec", "assert",
    "bvsub", "ite", "extract", "repeat", "bvcomp", "ext_rotate_left", "int2bv", "and$", "$x24$and", "",
]  # fmt: skip


def test_symbols_are_different_and_parse_all_together() -> None:
    assert len({smtlib_symbol(name).strip("|") for name in NAMES}) == len(NAMES)
    condition = const(0, 1)
    for name in NAMES:
        condition = binary(BinaryOperator.XOR, condition, extract(var(name, 6), 0, 1))
    assert satisfiable(smtlib_script(condition, comments=["any\n(assert false)", ""]))


@pytest.mark.parametrize("name", NAMES)
def test_symbol_is_one_variable(name: str) -> None:
    x = var(name, 6)
    assert not satisfiable(smtlib_script(compare(Comparison.EQ, binary(BinaryOperator.MUL, x, x), const(7, 3))))
    assert satisfiable(smtlib_script(compare(Comparison.EQ, binary(BinaryOperator.MUL, x, x), const(4, 3))))


def test_term_is_the_definition() -> None:
    source = random.Random(2)
    for _ in range(40):
        root = build(random_tree(source, {"x": 8, "y'": 4}, 8, 3, most_bits=6))
        condition = compare(Comparison.EQ, root, const(0, 3))
        declared = "(declare-const x (_ BitVec 3)) (declare-const |y'| (_ BitVec 2))"
        same = f"{declared} (assert (= {smtlib_term(root)} (_ bv0 3)))"
        assert satisfiable(same) == satisfiable(smtlib_script(condition))


def test_text_is_linear_in_shared_nodes() -> None:
    node: Expr = var("x", 8)
    for _ in range(300):
        node = binary(BinaryOperator.MUL, node, node)
    script = smtlib_script(compare(Comparison.EQ, node, const(3, 3)))
    assert script.count("define-fun") == 301
    # Three-digit symbols: a node costs about 70 characters, and would cost 2^300 without sharing.
    assert len(script) < 80 * 301
    assert len(smtlib_term(extend(node, 5, signed=True))) < 40 * 301


def test_refused() -> None:
    with pytest.raises(ValueError, match="one bit"):
        smtlib_script(var("x", 4))
    with pytest.raises(ValueError, match="one name"):
        smtlib_term(compare(Comparison.ULT, var("x", 7), var("x", 8)))

"""Ten thousand C expressions: every sub-expression stays in the interval that was computed for it,
and in its bits.

The expressions are those of the random specs: every operator in every other one, shift amounts and
divisors composite.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import CExpr, Name, Number, render
from swzverify.ir.c_eval_many import evaluate_many as plain_many
from swzverify.ir.c_lower import Lowering
from swzverify.ir.c_parse import parse
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import postorder
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.ir.intervals import intervals
from tests.ir.reference import grid
from tests.nightly import share
from tests.oracle import c_expr
from tests.oracle.random_expressions import Source, condition, text_of, wild

EXPRESSIONS = 10_000
CHUNKS = 20
LIMITS = {"tid": 13, "k": 3, "i": 4}
GRID = grid(LIMITS)
POINTS = 13 * 3 * 4
ENV: dict[str, Integer] = {
    "tid": ints.named("tid", 13),
    "k": ints.named("k", 3),
    # A loop variable with a start and a step, as lowered.
    "i": ints.add(ints.multiply(ints.named("i", 4), ints.integer(8)), ints.integer(-16)),
}
PLAIN = {**GRID, "i": GRID["i"] * 8 - 16}
COLUMNS = {name: array.ravel().tolist() for name, array in PLAIN.items()}


def every(names: frozenset[str]) -> dict[str, NDArray[np.int64]]:
    return {name: PLAIN[name] for name in names}


class Recording(Lowering):
    """A lowering that keeps the value of every sub-expression."""

    def value(self, node: CExpr) -> Integer:
        found = super().value(node)
        KEPT.append((node, found))
        return found


KEPT: list[tuple[CExpr, Integer]] = []


UNDEFINED = {"SWZ303", "SWZ304", "SWZ305"}


def lowered_or_code(text: str) -> Integer | str:
    """The expression lowered, its parts kept; the code where it is refused."""
    KEPT.clear()
    try:
        return Recording(Reading(ENV, every), text).value(parse(text).root)
    except SwzError as error:
        return error.code


@pytest.mark.parametrize("chunk", share(range(CHUNKS), 10))
def test_sub_expressions_stay_in_their_intervals(chunk: int) -> None:
    rng = random.Random(chunk)
    lowered = parts = refused = 0
    for _ in range(EXPRESSIONS // CHUNKS):
        source = Source(rng, {}, ("tid", "k", "i"), slip=0.04)
        drawn = wild(source, rng.randint(1, 5)).tree if rng.random() < 0.7 else condition(source, rng.randint(1, 4))
        text = text_of(drawn, rng)
        root = lowered_or_code(text)
        if isinstance(root, str):
            refused += 1
            with pytest.raises(c_expr.OracleError) as judged:
                c_expr.evaluate(c_expr.parse(text), COLUMNS, POINTS)
            assert {judged.value.code, root} <= UNDEFINED
            continue
        lowered += 1
        parts += len(KEPT)
        for node, value in KEPT:
            if not isinstance(node, Number | Name):
                check_part(node, value)
        check_nodes(root)
        exact = c_expr.evaluate(c_expr.parse(text), COLUMNS, POINTS)
        assert decoded(root, evaluate_many((root.bits,), GRID)[0]) == exact, text
    assert lowered > EXPRESSIONS // CHUNKS * 0.9
    assert refused > 2
    assert parts > 4 * lowered


def check_part(node: CExpr, value: Integer) -> None:
    """The sub-expression in plain integers, inside its interval."""
    exact = np.asarray(plain_many(node, PLAIN))
    assert value.low <= exact.min() <= exact.max() <= value.high, render(node)


def check_nodes(root: Integer) -> None:
    """Every node of the expression form, inside the interval of its bits."""
    nodes = postorder(root.bits)
    found = intervals(root.bits)
    for node, values in zip(nodes, evaluate_many(tuple(nodes), GRID), strict=True):
        low, high = found[node]
        assert 0 <= low <= values.min() <= values.max() <= high < 1 << node.width


def decoded(value: Integer, bits: NDArray[np.int64]) -> list[int]:
    every_point = np.broadcast_to(bits, GRID["tid"].shape).ravel().tolist()
    width = value.bits.width
    return [b - 2**width if value.low < 0 and b >= 2 ** (width - 1) else b for b in every_point]

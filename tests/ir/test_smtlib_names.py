"""Symbols and names of nodes, spelt out."""

from __future__ import annotations

import pytest

from swzverify.ir.expr import BinaryOperator, binary, const, var
from swzverify.ir.smtlib import smtlib_symbol, smtlib_term

SYMBOLS = {
    "x": "x",
    ".x": "$.x",
    "@x": "$@x",
    "x.y": "x.y",
    "let": "$let",
    "a b": "|a b|",
    "a|b": "$a$x7c$b",
    "a$b": "$a$x24$b",
}


@pytest.mark.parametrize(("name", "symbol"), SYMBOLS.items())
def test_symbol(name: str, symbol: str) -> None:
    assert smtlib_symbol(name) == symbol


@pytest.mark.parametrize(("name", "node"), [("x", "n0"), ("n0", "n_0"), ("n12", "n_0")])
def test_a_node_has_no_variables_name(name: str, node: str) -> None:
    root = binary(BinaryOperator.XOR, var(name, 4), const(1, 2))
    assert smtlib_term(root) == f"(let (({node} (bvxor {name} (_ bv1 2)))) {node})"

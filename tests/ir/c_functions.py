"""Expressions as C functions, for a compiler to evaluate."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.ir.c_source import c_identifier, c_locals, c_type
from swzverify.ir.expr import Expr, Var


def c_function(name: str, parameters: Sequence[Var], root: Expr) -> str:
    """A C function of the parameters that returns the value of an expression."""
    arguments = ", ".join(f"{c_type(node.width)} {c_identifier(node.name)}" for node in parameters) or "void"
    body = c_locals(root)
    lines = [*body.declarations, f"return {body.values[0]};"]
    return f"static {c_type(root.width)} {name}({arguments}) {{\n" + "\n".join(lines) + "\n}\n"

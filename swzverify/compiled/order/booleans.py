"""Conditions as ands, ors and choices of parts that may be known or not."""

from __future__ import annotations

from typing import Final

from swzverify.ir.expr import Binary, BinaryOperator, Expr, Ite, postorder

BOOLEAN: Final = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})
"""The operators of one bit that join truth values."""


def boolean_parts(condition: Expr) -> list[Expr]:
    """The nodes of a condition down to those that are no ands, ors and choices; parts come first."""
    found: dict[Expr, None] = {}
    inner: set[Expr] = {condition}
    for node in reversed(postorder(condition)):
        if node not in inner:
            continue
        found[node] = None
        match node:
            case Binary(operator) if node.width == 1 and operator in BOOLEAN:
                inner |= {node.left, node.right}
            case Ite() if node.width == 1:
                inner |= {node.condition, node.then, node.otherwise}
            case _:
                pass
    return list(reversed(found))


def joined(operator: BinaryOperator, left: bool | None, right: bool | None) -> bool | None:
    """What an and, an or or an exclusive or of two truth values is; None if that is not known."""
    if operator is BinaryOperator.AND and False in (left, right):
        return False
    if operator is BinaryOperator.OR and True in (left, right):
        return True
    if left is None or right is None:
        return None
    return {BinaryOperator.AND: left and right, BinaryOperator.OR: left or right}.get(operator, left != right)

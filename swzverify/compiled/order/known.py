"""Formulas of which some variables are not known: what they are where that does not matter.

Products and quotients of values that are not known are hard for Z3, so some questions leave them open.

Docs: docs/semantics.md, section 10, the lemma on known values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from typing import Final, NamedTuple

from swzverify.compiled.kernel.arithmetic import both, either
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Ite,
    Var,
    const,
    negation,
    operands,
    postorder,
    rebuilt,
    var,
)


class Part(NamedTuple):
    """A part of a formula over variables that are known, and the bit that says where it is not known."""

    value: Expr
    lost: Expr


def part_of(node: Expr, parts: Mapping[Expr, Part]) -> Part:
    """An operation, from the parts of its operands."""
    value = rebuilt(node, {each: parts[each].value for each in operands(node)})
    match node:
        case Ite(condition, then, otherwise):
            chosen = parts[condition].value
            sides = (
                both(chosen, parts[then].lost),
                both(negation(chosen), parts[otherwise].lost),
                parts[condition].lost,
            )
        case Binary(BinaryOperator.AND | BinaryOperator.OR as operator, left, right, 1):
            # One side alone decides where it is known to be 0, or 1.
            one, other = (
                either(part.lost, part.value if operator is BinaryOperator.AND else negation(part.value))
                for part in (parts[left], parts[right])
            )
            sides = (both(parts[left].lost, other), both(parts[right].lost, one))
        case _:
            sides = tuple(parts[each].lost for each in operands(node))
    return Part(value, reduce(either, sides, FALSE))


_PRODUCTS: Final = (
    BinaryOperator.MUL,
    BinaryOperator.UDIV,
    BinaryOperator.UREM,
    BinaryOperator.SDIV,
    BinaryOperator.SREM,
)


def without_products(condition: Expr) -> Expr:
    """A condition that holds if the given one does: any value stands for a product or quotient of variables.

    >>> from swzverify.ir.expr import binary, var
    >>> x, y = var("x", 16), var("y", 16)
    >>> without_products(binary(BinaryOperator.MUL, x, y)).name
    'product 0'
    """
    new: dict[Expr, Expr] = {}
    found = 0
    for node in postorder(condition):
        match node:
            case Binary(operator, left, right) if operator in _PRODUCTS and not (
                isinstance(left, Const) or isinstance(right, Const)
            ):
                new[node] = var(f"product {found}", 1 << node.width)
                found += 1
            case _:
                new[node] = rebuilt(node, new)
    return new[condition] if found else condition


def whatever(condition: Expr, unknown: Collection[Var]) -> Expr:
    """That a condition holds whatever some variables are, which the result does not read.

    It may be false at points where the condition holds for all values of these variables.

    >>> from swzverify.ir.evaluate import evaluate
    >>> from swzverify.ir.expr import ite, var
    >>> x, y = var("x", 2), var("y", 2)
    >>> found = whatever(ite(x, y, TRUE), {y})
    >>> evaluate(found, {"x": 0}), evaluate(found, {"x": 1})
    (1, 0)
    """
    parts: dict[Expr, Part] = {}
    for node in postorder(condition):
        if isinstance(node, Var):
            found = Part(const(0, node.width), TRUE) if node in unknown else Part(node, FALSE)
        else:
            found = part_of(node, parts)
        parts[node] = Part(const(0, node.width), TRUE) if found.lost is TRUE else found
    return both(parts[condition].value, negation(parts[condition].lost))

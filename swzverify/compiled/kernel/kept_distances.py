"""Registers of a loop that keep their distance from another register of it.

A queue has a register for its head and one for its tail, and code asks whether they are equal: so the next value of
the tail is a choice by itself and by the head. By induction on the trips, two registers keep the distance with
which they begin if, for any values with this distance at the begin of a trip, they have it at the end too.
"""

from __future__ import annotations

from swzverify.compiled.kernel.arithmetic import add, sub
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.narrow import is_same, narrowed
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extend,
    Var,
    const,
    operands,
    postorder,
    rebuilt,
    substitute,
)


def kept_distance(one: tuple[Var, Expr, Expr], two: tuple[Var, Expr, Expr]) -> Const | None:
    """How much register `one` is above register `two` in each trip of a loop; None if that is not known.

    Each is given by its variable, its value before the loop, and its next value.

    >>> from swzverify.ir.expr import compare, extract, ite, var
    >>> tail, head, whole = var("tail", 256), var("head", 256), const(1, 8)
    >>> following = ite(compare(Comparison.EQ, add(head, whole), tail), tail, add(tail, whole))
    >>> kept_distance((tail, const(4, 8), following), (head, const(6, 8), add(head, whole))) == const(254, 8)
    True
    """
    variable, before, after = one
    if variable.width != two[0].width:
        return None
    found = sum_of(sub(before, two[1]))
    if found.terms:
        return None
    distance = const(found.number, variable.width)
    put = {variable: add(two[0], distance)}
    last, other = (decided(substitute(each, put)) for each in (after, two[2]))
    return distance if is_same(last, add(other, distance)) else None


def decided(root: Expr) -> Expr:
    """An expression with the comparisons of values that have a known distance decided.

    >>> from swzverify.ir.expr import compare, var
    >>> x = var("x", 1 << 32)
    >>> decided(compare(Comparison.EQ, add(x, const(1, 32)), x)) == const(0, 1)
    True
    """
    new: dict[Expr, Expr] = {}
    for node in postorder(root):
        made = rebuilt(node, new) if operands(node) else node
        if isinstance(made, Binary) and made.operator in (BinaryOperator.ADD, BinaryOperator.SUB):
            total = sum_of(made)
            made = made if total.terms else const(total.number, made.width)
        if isinstance(made, Compare) and made.comparison is Comparison.EQ:
            is_equal = _are_equal(made.left, made.right)
            made = made if is_equal is None else const(is_equal, 1)
        new[node] = made
    return new[root]


def _are_equal(left: Expr, right: Expr) -> bool | None:
    left, right = narrowed(left), narrowed(right)
    if isinstance(left, Extend) and isinstance(right, Extend) and left.signed == right.signed:
        if left.operand.width != right.operand.width:
            return None
        left, right = left.operand, right.operand
    found = sum_of(sub(left, right))
    return None if found.terms else found.number == 0

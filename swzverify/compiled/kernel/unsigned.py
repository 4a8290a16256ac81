"""Signed divisions of numbers that are not negative as unsigned ones.

A compiler writes `x % 4` of a signed x as `x - ((x + ((x >> 31) >>> 30)) & -4)`, and `x % 3` as a product and shifts
with the sign of x added. If x is not negative, both are remainders without a sign.

Source: docs/semantics.md, section 9, "Fragments of a compiled kernel".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from swzverify.compiled.kernel.remainders import with_low_bits, with_remainders
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Var,
    binary,
    const,
    extend,
    extract,
    postorder,
    rebuilt,
    variables,
)


def unsigned(value: Expr, is_read: Callable[[Sequence[Var]], bool]) -> tuple[Expr, tuple[Expr, ...]]:
    """A value without signed divisions, and the numbers that are taken not to be negative for that.

    `is_read` says of the variables of such a number whether it is looked at.

    >>> from swzverify.compiled.kernel.arithmetic import add, sub
    >>> from swzverify.ir.expr import var
    >>> x = var("x", 1 << 32)
    >>> sign = binary(BinaryOperator.LSHR, x, const(31, 32))
    >>> rest = sub(x, binary(BinaryOperator.AND, add(x, sign), const(-4, 32)))
    >>> found, roots = unsigned(rest, lambda read: True)
    >>> found is extend(extract(x, 0, 2), 32, signed=False), roots == (x,)
    (True, True)
    """
    nodes = postorder(value)
    signed = {root for node in nodes if (root := _signed(node)) is not None and (of := variables(root)) and is_read(of)}
    new: dict[Expr, Expr] = {}
    roots: dict[Expr, Expr] = {}
    for node in nodes:
        own = _without_sign(rebuilt(node, new))
        if node in signed and not (isinstance(own, Extend) and not own.signed):
            # The top bit is 0, and all that reads it folds.
            low = extract(own, 0, own.width - 1)
            roots[low], own = own, extend(low, own.width, signed=False)
        new[node] = own
    return _whole(with_remainders(new[value]), roots), tuple(_whole(root, roots) for root in roots.values())


def _whole(value: Expr, roots: Mapping[Expr, Expr]) -> Expr:
    """A value in which roots stand for their low bits, which are all but one that is 0."""
    for _ in range(len(roots) + 1):
        nodes = postorder(value)
        new: dict[Expr, Expr] = {}
        for node in nodes:
            new[node] = _widened(node, roots) or with_low_bits(rebuilt(node, new))
        value = new[value]
        if roots.keys().isdisjoint(nodes):
            break
    return value


def _widened(node: Expr, roots: Mapping[Expr, Expr]) -> Expr | None:
    match node:
        case Extend(operand, width, False) if operand in roots and roots[operand].width == width:
            return roots[operand]
        case Extend(Binary(BinaryOperator.UDIV | BinaryOperator.UREM as operator, left, Const(by)), width, False):
            whole = roots.get(left)
            return None if whole is None or whole.width != width else binary(operator, whole, const(by, width))
        case _:
            return None


def _signed(node: Expr) -> Expr | None:
    """What a node reads the sign of, as divisions by numbers do; None if it reads none."""
    match node:
        case Binary(BinaryOperator.SREM | BinaryOperator.SDIV, left, Const(by)) if 0 < by < 1 << left.width - 1:
            return left
        case Binary(BinaryOperator.ASHR, left, Const()):
            return left
        case Binary(BinaryOperator.LSHR, left, Const(by)) if by == left.width - 1:
            return left
        case Extend(operand, _, True) if operand.width > 1:  # a single bit is spread, not divided
            return operand
        case _:
            return None


def _without_sign(node: Expr) -> Expr:
    """A node that reads a sign as one that does not, where the top bit of what it reads is 0 by its form."""
    root = _signed(node)
    if not isinstance(root, Extend) or root.signed:
        return node
    match node:
        case Binary(BinaryOperator.SREM, _, right):
            return binary(BinaryOperator.UREM, root, right)
        case Binary(BinaryOperator.SDIV, _, right):
            return binary(BinaryOperator.UDIV, root, right)
        case Binary(BinaryOperator.ASHR, _, Const(by) as right) if by < root.width - 1:
            return binary(BinaryOperator.LSHR, root, right)
        case Extend():
            return extend(root.operand, node.width, signed=False)
        case _:
            return const(0, node.width)

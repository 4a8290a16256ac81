"""Expressions, rewritten over the low bits that they depend on.

Compilers cut a number to its low bits in several ways: a mask, a conversion, a shift to the left
and back. Here all of them become extensions of low bits, so that equal values are often equal
expressions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from swzverify.compiled.kernel.arithmetic import bit_and, shift_left, shift_right, sub
from swzverify.compiled.kernel.graph import folded
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Ite,
    binary,
    const,
    extend,
    extract,
    ite,
    operands,
    postorder,
    rebuilt,
)

MOST_NODES: Final = 400
"""An expression with more parts stays as it is."""
_RING: Final = frozenset({BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL})
_BY_BITS: Final = frozenset({BinaryOperator.AND, BinaryOperator.OR, BinaryOperator.XOR})
_RIGHT: Final = frozenset({BinaryOperator.ASHR, BinaryOperator.LSHR})


class _Low(NamedTuple):
    """The low `width` bits of an expression."""

    value: Expr
    width: int


def low_bits(root: Expr, width: int) -> Expr:
    """The low bits of an expression, 1 <= width <= its width, from the low bits of its operands.

    For their low bits, sums, products and shifts to the left need no higher bits of their operands;
    bitwise operations need the same bits.

    >>> from swzverify.ir.expr import var
    >>> x = var("x", 1 << 32)
    >>> there_and_back = shift_right(shift_left(x, const(24, 32)), const(24, 32), signed=True)
    >>> low_bits(there_and_back, 32) is extend(extract(x, 0, 8), 32, signed=True)
    True
    >>> low_bits(binary(BinaryOperator.AND, x, const(-8, 32)), 3) is const(0, 3)
    True
    """
    if len(postorder(root)) > MOST_NODES:
        return extract(root, 0, width)
    return folded(_Low(root, width), _parts, _combined)


def narrowed(value: Expr) -> Expr:
    """The same value, rewritten over the low bits that it depends on.

    >>> from swzverify.ir.expr import binary, var
    >>> x = var("x", 1 << 32)
    >>> narrowed(binary(BinaryOperator.AND, x, const(255, 32))) is extend(extract(x, 0, 8), 32, signed=False)
    True
    """
    return low_bits(value, value.width)


def is_same(left: Expr, right: Expr) -> bool:
    """Whether two expressions of one width are shown to have the same value. False says nothing.

    >>> from swzverify.ir.expr import var
    >>> x = var("x", 1 << 32)
    >>> is_same(extract(shift_left(x, const(8, 32)), 0, 8), const(0, 8)), is_same(x, const(0, 32))
    (True, False)
    """
    found = sum_of(sub(narrowed(left), narrowed(right)))
    return not found.terms and found.number == 0


def _parts(wanted: _Low) -> list[_Low]:
    """The low bits of operands that make up the wanted ones."""
    node, width = wanted
    match node:
        case Binary(BinaryOperator.AND, left, right) if (kept := _mask(node)) is not None:
            return [_Low(right if isinstance(left, Const) else left, min(kept, width))]
        case Binary(operator, left, right) if operator in _RING or operator in _BY_BITS:
            return [_Low(left, width), _Low(right, width)]
        case Binary(BinaryOperator.SHL, left, Const(count)):
            return [_Low(left, width - count)] if count < width else []
        case Binary(_, left, Const(count)) if _is_low_shift(node, width):
            return [_Low(left, count + width)]
        case Extend(operand):
            return [_Low(operand, min(width, operand.width))]
        case Extract(operand, low):
            return [_Low(operand, low + width)]
        case Ite(condition, then, otherwise):
            return [_Low(condition, 1), _Low(then, width), _Low(otherwise, width)]
        case _:
            return [_Low(each, each.width) for each in operands(node)]


def _combined(wanted: _Low, parts: list[Expr]) -> Expr:
    node, width = wanted
    match node:
        case Binary(BinaryOperator.AND) if _mask(node) is not None:
            return _extended(parts[0], width, signed=False)
        case Binary(operator) if operator in _RING:
            return normal(binary(operator, *parts))
        case Binary(BinaryOperator.AND):
            return bit_and(*parts)
        case Binary(operator) if operator in _BY_BITS:
            return binary(operator, *parts)
        case Binary(BinaryOperator.SHL, _, Const(count)):
            return _shifted(parts[0], width, count) if parts else const(0, width)
        case Binary(_, _, Const(count)) if _is_low_shift(node, width):
            return extract(parts[0], count, width)
        case Binary(operator, _, Const(count)) if operator in _RIGHT and count < node.width:
            whole = _back(parts[0], count, signed=operator is BinaryOperator.ASHR)
            return extract(binary(operator, *parts) if whole is None else whole, 0, width)
        case Extend(_, _, signed):
            return _extended(parts[0], width, signed=signed)
        case Extract(_, low):
            return extract(parts[0], low, width)
        case Ite():
            return ite(*parts)
        case _:
            return extract(rebuilt(node, dict(zip(operands(node), parts, strict=True))), 0, width)


def _is_low_shift(node: Binary, width: int) -> bool:
    """Whether a shift to the right by a number takes all of the wanted bits from its operand.

    `_back` handles an operand that was shifted to the left before.
    """
    shifted, by = node.left, node.right
    if node.operator not in _RIGHT or not isinstance(by, Const) or by.value + width > node.width:
        return False
    return not (isinstance(shifted, Binary) and shifted.operator is BinaryOperator.SHL)


def _mask(node: Binary) -> int | None:
    """How many low bits an AND with a number keeps, where it keeps low bits alone."""
    for each in (node.left, node.right):
        if isinstance(each, Const) and each.value and each.value & (each.value + 1) == 0:
            return each.value.bit_length()
    return None


def _extended(value: Expr, width: int, *, signed: bool) -> Expr:
    """A value with more bits; one that begins with a 0 is widened with zeros in any case."""
    if signed and isinstance(value, Extend) and not value.signed:
        signed = False
    return extend(value, width, signed=signed)


def _shifted(low: Expr, width: int, count: int) -> Expr:
    return shift_left(_extended(low, width, signed=False), const(count, width))


def _back(value: Expr, count: int, *, signed: bool) -> Expr | None:
    """A shift to the right of what was shifted to the left; None if it was not.

    With L the bits that the first shift keeps, `(L << d) >> c` is `L << (d - c)` for c <= d, with L
    widened in the way of the second shift: both are `L * 2^(d-c)`, which fits.
    """
    if not isinstance(value, Binary) or value.operator is not BinaryOperator.SHL or not isinstance(value.right, Const):
        return None
    width, left = value.width, value.right.value
    if not 0 < left < width:
        return None
    kept = _extended(low_bits(value.left, width - left), width, signed=signed)
    if count > left:
        return shift_right(kept, const(count - left, width), signed=signed)
    back = left - count
    return _shifted(low_bits(kept, width - back), width, back) if back else kept

"""Short names for building expressions."""

from __future__ import annotations

from swzverify.ir.expr import (
    TRUE,
    Binary,
    BinaryOperator,
    Comparison,
    Const,
    Expr,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    negation,
)


def add(left: Expr, right: Expr) -> Expr:
    """The sum, which wraps; numbers at the end of sums become one."""
    if isinstance(left, Const):
        left, right = right, left
    if isinstance(right, Const) and isinstance(left, Binary) and left.operator is BinaryOperator.ADD:
        inner = left.right
        if isinstance(inner, Const):
            return binary(BinaryOperator.ADD, left.left, const(inner.value + right.value, left.width))
    return binary(BinaryOperator.ADD, left, right)


def sub(left: Expr, right: Expr) -> Expr:
    """The difference, which wraps."""
    if isinstance(right, Const):
        return add(left, const(-right.value, right.width))
    return const(0, left.width) if left is right else binary(BinaryOperator.SUB, left, right)


def mul(left: Expr, right: Expr) -> Expr:
    """The low half of the product."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value in (0, 1):
            return other if one.value else one
    return binary(BinaryOperator.MUL, left, right)


def bit_and(left: Expr, right: Expr) -> Expr:
    """The bits that both have."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value == 0:
            return one
        if isinstance(one, Const) and one.value == ones(one.width).value:
            return other
    return left if left is right else binary(BinaryOperator.AND, left, right)


def bit_or(left: Expr, right: Expr) -> Expr:
    """The bits that at least one has."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value == ones(one.width).value:
            return one
        if isinstance(one, Const) and one.value == 0:
            return other
    return left if left is right else binary(BinaryOperator.OR, left, right)


def bit_xor(left: Expr, right: Expr) -> Expr:
    """The bits in which both differ."""
    return const(0, left.width) if left is right else binary(BinaryOperator.XOR, left, right)


def bit_not(value: Expr) -> Expr:
    """All bits inverted."""
    if isinstance(value, Binary) and value.operator is BinaryOperator.XOR and value.right is ones(value.width):
        return value.left
    return binary(BinaryOperator.XOR, value, ones(value.width))


def shift_left(value: Expr, count: Expr) -> Expr:
    """A shift to the left; zero from the width on."""
    return binary(BinaryOperator.SHL, value, count)


def shift_right(value: Expr, count: Expr, *, signed: bool) -> Expr:
    """A shift to the right, which fills with the sign or with zeros."""
    return binary(BinaryOperator.ASHR if signed else BinaryOperator.LSHR, value, count)


def ones(width: int) -> Const:
    """All bits set."""
    return const(-1, width)


def widened(value: Expr, width: int, *, signed: bool = False) -> Expr:
    """The value with more bits, or its low bits."""
    if width <= value.width:
        return extract(value, 0, width)
    return extend(value, width, signed=signed)


def is_zero(value: Expr) -> Expr:
    """Whether all bits are clear."""
    return compare(Comparison.EQ, value, const(0, value.width))


def less(left: Expr, right: Expr, *, signed: bool) -> Expr:
    """Whether the left is smaller."""
    return compare(Comparison.SLT if signed else Comparison.ULT, left, right)


def is_negative(value: Expr) -> Expr:
    """Whether the highest bit is set."""
    return extract(value, value.width - 1, 1)


either = bit_or
"""Whether one of two conditions holds, or both do."""
both = bit_and
"""Whether two conditions hold."""


def choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """One of two values; of bits TRUE and FALSE the condition itself."""
    if then.width == 1 and isinstance(then, Const) and isinstance(otherwise, Const) and then is not otherwise:
        return condition if then is TRUE else negation(condition)
    return ite(condition, then, otherwise)


def joined(parts: tuple[Expr, ...]) -> Expr:
    """Several values behind one another, the first one in the lowest bits."""
    width = sum(part.width for part in parts)
    result: Expr = const(0, width)
    at = 0
    for part in parts:
        result = bit_or(result, shift_left(widened(part, width), const(at, width)))
        at += part.width
    return result

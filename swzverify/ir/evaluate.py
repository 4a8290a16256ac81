"""Reading: the value of an expression at one point (Python integers) and at many (numpy)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Count,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    apply_binary,
    apply_comparison,
    operands,
    postorder,
    to_signed,
)

Unsigned: TypeAlias = NDArray[np.uint64]

MAX_ARRAY_WIDTH = 64
_FEW_NODES = 64
"""So many small arrays may be kept at a time."""
_FEW_POINTS = 1 << 14
"""Points of a small array."""


def evaluate(root: Expr, point: Mapping[str, int]) -> int:
    """The unsigned value of `root` where each variable has the value that `point` gives it.

    >>> from swzverify.ir.expr import binary, const, var
    >>> evaluate(binary(BinaryOperator.XOR, var("x", 8), const(5, 3)), {"x": 6})
    3
    """
    value: dict[Expr, int] = {}
    for node in postorder(root):
        match node:
            case Const(constant):
                value[node] = constant
            case Var(name, limit):
                if not 0 <= point[name] < limit:
                    raise ValueError(f"{name} = {point[name]} is outside 0..{limit - 1}")
                value[node] = point[name]
            case Binary(operator, left, right, width):
                value[node] = apply_binary(operator, value[left], value[right], width)
            case Compare(comparison, left, right):
                value[node] = int(apply_comparison(comparison, value[left], value[right], left.width))
            case Extract(operand, low, width):
                value[node] = value[operand] >> low & ((1 << width) - 1)
            case Extend(operand, width, signed):
                inner = to_signed(value[operand], operand.width) if signed else value[operand]
                value[node] = inner & ((1 << width) - 1)
            case Ite(condition, then, otherwise):
                value[node] = value[then] if value[condition] else value[otherwise]
            case Count(operand):
                value[node] = value[operand].bit_count()
            case _:
                assert_never(node)
    return value[root]


def evaluate_many(roots: tuple[Expr, ...], point: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.int64], ...]:
    """The unsigned values of several expressions over arrays that broadcast against each other.

    Widths up to 63 bits fit the int64 result; 64-bit intermediates wrap as they should. Arrays are
    let go after their last use: of thousands of parts few are needed at a time.
    """
    value: dict[Expr, Unsigned] = {}
    nodes = postorder(*roots)
    last = _last_uses(roots, nodes) if len(nodes) > _FEW_NODES else None
    with np.errstate(over="ignore"):  # of single numbers numpy says that they wrap
        for node in nodes:
            if node.width > MAX_ARRAY_WIDTH:
                raise ValueError(f"numpy evaluates at most {MAX_ARRAY_WIDTH} bits, not {node.width}")
            match node:
                case Binary(operator, left, right, width):
                    value[node] = _BINARY[operator](value[left], value[right], width)
                case Const(constant):
                    value[node] = np.asarray(constant, dtype=np.uint64)
                case Var(name):
                    given = np.asarray(point[name])
                    value[node] = given.view(np.uint64) if given.dtype == np.int64 else given.astype(np.uint64)
                case Compare(comparison, left, right):
                    value[node] = _COMPARE[comparison](value[left], value[right], left.width).astype(np.uint64)
                case Extract(operand, low, width):
                    value[node] = _reduce(value[operand] >> np.uint64(low), width)
                case Extend(operand, width, signed):
                    inner = value[operand]
                    value[node] = _reduce(_signed(inner, operand.width).view(np.uint64), width) if signed else inner
                case Ite(condition, then, otherwise):
                    value[node] = np.where(value[condition] != 0, value[then], value[otherwise])
                case Count(operand):
                    value[node] = _count(value[operand])
                case _:
                    assert_never(node)
            if last is None and value[node].size > _FEW_POINTS:
                last = _last_uses(roots, nodes)
            for operand in () if last is None else last.get(node, ()):
                del value[operand]
    return tuple(value[root].astype(np.int64) for root in roots)


def _last_uses(roots: tuple[Expr, ...], nodes: tuple[Expr, ...]) -> dict[Expr, list[Expr]]:
    """For each node, the operands that no later one reads."""
    users = {operand: node for node in nodes for operand in operands(node)}
    found: dict[Expr, list[Expr]] = {}
    for operand, node in users.items():
        if operand not in roots:
            found.setdefault(node, []).append(operand)
    return found


def _reduce(value: Unsigned, width: int) -> Unsigned:
    """The low bits of an array that nobody else has: it is written to, which takes half the time."""
    if width == MAX_ARRAY_WIDTH:
        return value
    mask = np.uint64((1 << width) - 1)
    return np.bitwise_and(value, mask, out=value) if value.ndim else value & mask


def _count(value: Unsigned) -> Unsigned:
    """The ones of each number: of pairs of bits, of groups of four, of bytes, and their sum in the highest byte.

    Source: Warren, Hacker's Delight, chapter 5. Only numpy 2 has a function for it.
    """
    pairs = value - (value >> np.uint64(1) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (pairs >> np.uint64(2) & np.uint64(0x3333333333333333))
    octets = fours + (fours >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return octets * np.uint64(0x0101010101010101) >> np.uint64(56)


def _signed(value: Unsigned, width: int) -> NDArray[np.int64]:
    """Two's complement: flip the sign bit and subtract it again, modulo 2^64."""
    sign = np.uint64(1 << (width - 1))
    return ((value ^ sign) - sign).view(np.int64)


def _divide_many(operator: BinaryOperator, left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    """The quotient, all ones where the divisor is 0; or the remainder, which is the dividend there."""
    zero = right == 0
    divisor = np.where(zero, np.uint64(1), right) if zero.any() else right
    if operator is BinaryOperator.UREM:
        result, by_zero = left % divisor, left
    else:
        result, by_zero = left // divisor, np.uint64((1 << width) - 1)
    return result if divisor is right else np.where(zero, by_zero, result)


def _signed_divide_many(operator: BinaryOperator, left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    """Divide magnitudes; the quotient gets the product's sign, the remainder the dividend's."""
    a, b = _signed(left, width), _signed(right, width)
    magnitude_a, magnitude_b = np.abs(a).astype(np.uint64), np.abs(b).astype(np.uint64)
    zero = magnitude_b == 0
    safe = np.where(zero, np.uint64(1), magnitude_b)
    if operator is BinaryOperator.SREM:
        rest = magnitude_a % safe
        return _reduce(np.where(zero, left, np.where(a < 0, np.uint64(0) - rest, rest)), width)
    quotient = magnitude_a // safe
    signed_quotient = np.where((a < 0) != (b < 0), np.uint64(0) - quotient, quotient)
    by_zero = np.where(a >= 0, np.uint64((1 << width) - 1), np.uint64(1))
    return _reduce(np.where(zero, by_zero, signed_quotient), width)


def _ashr(left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    amount = np.minimum(right, np.uint64(width - 1)).astype(np.int64)
    return _reduce((_signed(left, width) >> amount).astype(np.uint64), width)


_BINARY: Final[Mapping[BinaryOperator, Callable[[Unsigned, Unsigned, int], Unsigned]]] = {
    BinaryOperator.ADD: lambda left, right, width: _reduce(left + right, width),
    BinaryOperator.SUB: lambda left, right, width: _reduce(left - right, width),
    BinaryOperator.MUL: lambda left, right, width: _reduce(left * right, width),
    BinaryOperator.UDIV: partial(_divide_many, BinaryOperator.UDIV),
    BinaryOperator.UREM: partial(_divide_many, BinaryOperator.UREM),
    BinaryOperator.SDIV: partial(_signed_divide_many, BinaryOperator.SDIV),
    BinaryOperator.SREM: partial(_signed_divide_many, BinaryOperator.SREM),
    BinaryOperator.SHL: lambda left, right, width: _reduce(left << right, width),  # by 64 or more numpy gives 0
    BinaryOperator.LSHR: lambda left, right, _: left >> right,
    BinaryOperator.ASHR: _ashr,
    BinaryOperator.AND: lambda left, right, _: left & right,
    BinaryOperator.OR: lambda left, right, _: left | right,
    BinaryOperator.XOR: lambda left, right, _: left ^ right,
}
_COMPARE: Final[Mapping[Comparison, Callable[[Unsigned, Unsigned, int], NDArray[np.bool_]]]] = {
    Comparison.EQ: lambda left, right, _: left == right,
    Comparison.ULT: lambda left, right, _: left < right,
    Comparison.ULE: lambda left, right, _: left <= right,
    Comparison.SLT: lambda left, right, width: _signed(left, width) < _signed(right, width),
    Comparison.SLE: lambda left, right, width: _signed(left, width) <= _signed(right, width),
}
"""In tables, as `match` compares with one operator after another: half of the time of small arrays went there."""

"""The same value in plainer words, where the limits of variables allow them.

Compilers divide signed numbers by shifting and adding sign bits. Where a number is a thread's
coordinate its sign bit is 0: the detour goes away. Where a sum does not wrap, a part of it that is a multiple
of what it is divided by stands outside of the quotient.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extend,
    binary,
    compare,
    const,
    extend,
    operands,
    rebuilt,
)
from swzverify.ir.intervals import Interval, interval_of

_UNSIGNED: Final = {
    BinaryOperator.ASHR: BinaryOperator.LSHR,
    BinaryOperator.SDIV: BinaryOperator.UDIV,
    BinaryOperator.SREM: BinaryOperator.UREM,
}
_UNSIGNED_ORDER: Final = {Comparison.SLT: Comparison.ULT, Comparison.SLE: Comparison.ULE}


@lru_cache(maxsize=64)
def bounded(root: Expr) -> Expr:
    """An expression with the value of `root` at every point where variables are below their limits.

    >>> from swzverify.ir.expr import var
    >>> x = extend(var("x", 64), 32, signed=False)
    >>> sign = binary(BinaryOperator.ASHR, x, const(31, 32))
    >>> bounded(binary(BinaryOperator.ADD, x, sign)) is x
    True
    """
    return Bounded().of(root)


class Bounded:
    """Gives what `bounded` gives, for expressions that have parts in common: each part is looked at once."""

    def __init__(self) -> None:
        self._found: dict[Expr, Expr] = {}
        self._spans: dict[Expr, Interval] = {}

    def of(self, root: Expr) -> Expr:
        """The expression in plainer words."""
        found = self._found
        pending = [root]
        while pending:
            node = pending[-1]
            waiting = [] if node in found else [each for each in operands(node) if each not in found]
            pending += waiting
            if not waiting:
                if node not in found:
                    plain = _plain(rebuilt(node, found), self._span)
                    low, high = self._span(plain)
                    found[node] = const(low, plain.width) if low == high else plain
                pending.pop()
        return found[root]

    def _span(self, node: Expr) -> Interval:
        if node not in self._spans:
            for each in operands(node):
                self._span(each)
            self._spans[node] = interval_of(node, self._spans)
        return self._spans[node]


def _plain(node: Expr, span: Callable[[Expr], Interval]) -> Expr:
    """One node in plainer words, if there are some; its operands are as plain as they get."""
    match node:
        case Binary(operator, left, right) if operator in _UNSIGNED:
            sign = 1 << (node.width - 1)
            if span(left)[1] < sign and span(right)[1] < sign:
                return _plain(binary(_UNSIGNED[operator], left, right), span)
        case Compare(comparison, left, right) if comparison in _UNSIGNED_ORDER:
            sign = 1 << (left.width - 1)
            if span(left)[1] < sign and span(right)[1] < sign:
                return compare(_UNSIGNED_ORDER[comparison], left, right)
        case Extend(operand, width, True) if span(operand)[1] < 1 << (operand.width - 1):
            return extend(operand, width, signed=False)
        case Binary(BinaryOperator.AND, Const() as mask, right) if not isinstance(right, Const):
            return _plain(binary(BinaryOperator.AND, right, mask), span)
        case Binary(BinaryOperator.AND, left, Const(mask)):
            return _masked(left, mask, span)
        case Binary(BinaryOperator.SUB, left, Binary(BinaryOperator.AND, masked, Const(mask))) if masked is left:
            return _masked(left, ~mask & ((1 << node.width) - 1), span)
        case Binary(BinaryOperator.UREM, left, Const(divisor)) if span(left)[1] < divisor:
            return left
        case Binary(BinaryOperator.LSHR, Binary(BinaryOperator.ADD, left, Const(more)), Const(count)):
            if count < node.width and more % (1 << count) == 0 and span(left)[1] + more < 1 << node.width:
                shifted = _plain(binary(BinaryOperator.LSHR, left, const(count, node.width)), span)
                return binary(BinaryOperator.ADD, shifted, const(more >> count, node.width))
        case _:
            pass
    return node


def _masked(value: Expr, mask: int, span: Callable[[Expr], Interval]) -> Expr:
    """The bits of a value that a mask has, with as few bits in the mask as do."""
    mask &= (1 << span(value)[1].bit_length()) - 1
    while mask & (mask + 1) == 0 and isinstance(value, Binary):
        shorter = _modulo(value, mask + 1)
        if shorter is value:
            break
        value = shorter
    if isinstance(value, Binary) and value.operator is BinaryOperator.AND and isinstance(value.right, Const):
        return _masked(value.left, mask & value.right.value, span)
    bits = (1 << span(value)[1].bit_length()) - 1
    if mask & bits == bits:
        return value
    power = mask & -mask
    if mask & bits == bits & -power and isinstance(value, Binary) and value.operator is BinaryOperator.ADD:
        # Only low bits are cleared: a part that is a multiple of what they count has none of them.
        for part, rest in ((value.left, value.right), (value.right, value.left)):
            if power > 1 and _is_multiple(part, power):
                return binary(BinaryOperator.ADD, part, _plain(_low_cleared(rest, power), span))
    return binary(BinaryOperator.AND, value, const(mask & bits, value.width))


def _low_cleared(value: Expr, power: int) -> Expr:
    return binary(BinaryOperator.AND, value, const(-power, value.width))


def _modulo(value: Binary, power: int) -> Expr:
    """A sum without a part that is a multiple of a power of two: the same value modulo that."""
    if value.operator is BinaryOperator.ADD:
        for part, rest in ((value.left, value.right), (value.right, value.left)):
            if _is_multiple(part, power):
                return rest
    if value.operator is BinaryOperator.SUB and _is_multiple(value.right, power):
        return value.left
    return value


def _is_multiple(value: Expr, power: int) -> bool:
    match value:
        case Const(number):
            return number % power == 0
        case Binary(BinaryOperator.MUL, left, right):
            return _is_multiple(left, power) or _is_multiple(right, power)
        case Binary(BinaryOperator.SHL, left, Const(count)):
            return _is_multiple(left, max(1, power >> count))
        case Binary(BinaryOperator.AND, _, Const(mask)):
            return mask % power == 0
        case Binary(BinaryOperator.ADD | BinaryOperator.SUB, left, right):
            return _is_multiple(left, power) and _is_multiple(right, power)
        case _:
            return power == 1

"""Sums: an expression as multiples of other expressions plus a number, all modulo 2^width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import add, mul, shift_left
from swzverify.compiled.kernel.graph import folded
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extract,
    Ite,
    binary,
    const,
    extend,
    extract,
    operands,
)

MOST_TERMS: Final = 200
"""Terms of a sum; a longer one counts as one term."""
Terms: TypeAlias = dict[Expr, int]


@dataclass(frozen=True, slots=True)
class Sum:
    """`terms` gives the factor, which is not 0, of each expression that is no sum itself."""

    terms: Terms
    number: int
    width: int

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        """This sum plus a multiple of another one."""
        limit = 1 << self.width
        terms = dict(self.terms)
        for term, count in other.terms.items():
            new = (terms.get(term, 0) + factor * count) % limit
            if new:
                terms[term] = new
            else:
                terms.pop(term, None)
        return Sum(terms, (self.number + factor * other.number) % limit, self.width)

    def expression(self) -> Expr:
        """The sum as an expression."""
        result: Expr = const(0, self.width)
        for term, count in self.terms.items():
            result = add(result, _times(term, count))
        return add(result, const(self.number, self.width))


def _times(term: Expr, count: int) -> Expr:
    if count & (count - 1) == 0 and count > 1:
        return shift_left(term, const(count.bit_length() - 1, term.width))
    return mul(term, const(count, term.width))


@lru_cache(maxsize=4096)
def sum_of(root: Expr) -> Sum:
    """An expression as a sum, as far as additions, constant factors, shifts and flips of low bits go.

    A choice between two writings of one sum is that sum.

    >>> from swzverify.ir.expr import extend, var
    >>> x = var("x", 256)
    >>> (term, factor), = sum_of(add(shift_left(x, const(2, 8)), x)).terms.items()
    >>> term is x, factor
    (True, 5)
    >>> sum_of(extract(add(extend(add(x, const(1, 8)), 16, signed=False), const(2, 16)), 0, 8)).number
    3
    >>> flip = const(4, 8)
    >>> there = binary(BinaryOperator.XOR, add(binary(BinaryOperator.XOR, x, flip), const(32, 8)), flip)
    >>> sum_of(there) == sum_of(add(x, const(32, 8)))
    True
    """
    return folded(root, _parts, _combined)


@lru_cache(maxsize=4096)
def normal(root: Expr) -> Expr:
    """The same value, its terms collected."""
    return sum_of(root).expression()


def _parts(node: Expr) -> tuple[Expr, ...]:
    """The operands that contribute to the sum of a node."""
    if isinstance(node, Binary):
        match node.operator:
            case BinaryOperator.ADD | BinaryOperator.SUB:
                return operands(node)
            case BinaryOperator.MUL if isinstance(node.left, Const):
                return (node.right,)
            case BinaryOperator.MUL | BinaryOperator.SHL | BinaryOperator.XOR if isinstance(node.right, Const):
                return (node.left,)
            case _:
                return ()
    if isinstance(node, Extract) and node.low == 0:
        return (node.operand,)
    if isinstance(node, Ite):
        return (node.then, node.otherwise)
    return ()


def _alone(node: Expr) -> Sum:
    """A number, or an expression that is one term."""
    return Sum({}, node.value, node.width) if isinstance(node, Const) else Sum({node: 1}, 0, node.width)


def _combined(node: Expr, parts: list[Sum]) -> Sum:
    width = node.width
    if not parts:
        return _alone(node)
    if isinstance(node, Extract):
        found = Sum({}, parts[0].number % (1 << width), width)
        for term, count in parts[0].terms.items():
            part = extract(term, 0, width)
            # The low part of a term that is no sum may be one: that of a sum which was extended.
            found = found.plus(_alone(part) if isinstance(part, Extract) else sum_of(part), count)
        return found
    if isinstance(node, Ite):
        return parts[0] if parts[0] == parts[1] else _alone(node)
    if sum(len(part.terms) for part in parts) > MOST_TERMS:
        return Sum({node: 1}, 0, width)
    if isinstance(node, Binary) and len(parts) == 2:
        return parts[0].plus(parts[1], 1 if node.operator is BinaryOperator.ADD else -1)
    if isinstance(node, Binary):
        factor = node.left if isinstance(node.left, Const) else node.right
        if isinstance(factor, Const) and node.operator is BinaryOperator.XOR:
            return _flipped(node, parts[0], factor.value)
        if isinstance(factor, Const):
            count = factor.value if node.operator is BinaryOperator.MUL else 1 << min(factor.value, width)
            return Sum({}, 0, width).plus(parts[0], count)
    raise AssertionError(f"no sum of {node}")


def flipped(value: Expr, bits: int, where: Expr) -> Expr:
    """A value of which some bits are flipped where a condition of one bit holds.

    Multiples of a power of two above these bits, as the start of an aligned array, stand outside.
    """
    above, inside = _parted(sum_of(value), bits)
    flips = binary(BinaryOperator.AND, extend(where, value.width, signed=True), const(bits, value.width))
    return add(above.expression(), binary(BinaryOperator.XOR, inside.expression(), flips))


def _parted(total: Sum, bits: int) -> tuple[Sum, Sum]:
    """A sum as the multiples of a power of two above some bits, and the rest."""
    power = 1 << bits.bit_length()
    outside = {term: count for term, count in total.terms.items() if count % power == 0}
    above = Sum(outside, total.number // power * power, total.width)
    return above, total.plus(above, -1)


def _flipped(node: Expr, total: Sum, bits: int) -> Sum:
    """A sum of which some bits are flipped."""
    above, rest = _parted(total, bits)
    inside, left = rest.expression(), bits
    while isinstance(inside, Binary) and inside.operator is BinaryOperator.XOR and isinstance(inside.right, Const):
        inside, left = inside.left, left ^ inside.right.value
    if left == bits and not above.terms and not above.number:
        return _alone(node)
    turned = binary(BinaryOperator.XOR, inside, const(left, node.width))
    return above.plus(_alone(turned) if left else sum_of(inside))

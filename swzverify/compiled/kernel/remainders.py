"""Divisions by a number that compilers write as a product and a shift, as divisions again.

`x / 7` of 32 bits is `(x * 613566757) >> 32` and some sums around it; `x mod 7` is `x - 7*(x / 7)`. Persistent
kernels take the stage of a pipeline so, where the number of stages is no power of two.

With `e = m*d - 2^s >= 0`, `floor(x*m / 2^s)` is `floor(x / d)` for all x with `x*e < 2^s`: it is the floor of
`x/d + x*e/(d*2^s)`. The first summand ends in a fraction of `(d-1)/d` at most, and the second one is below `1/d`.

Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.kernel.graph import folded
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    binary,
    const,
    extend,
    extract,
    operands,
    postorder,
    rebuilt,
)


class _Floor(NamedTuple):
    """A value that is `floor(root * factor / 2^shift)`, where `root` is `most` at most."""

    root: Expr
    factor: int
    shift: int
    most: int

    @property
    def greatest(self) -> int:
        return self.most * self.factor >> self.shift

    @property
    def divisor(self) -> int | None:
        """The number by which this divides `root`; None if it does not divide."""
        number = -(-(1 << self.shift) // self.factor)
        rest = number * self.factor - (1 << self.shift)
        is_one = 1 < number <= self.most and self.factor > 1 and self.most * rest < 1 << self.shift
        return number if is_one else None


def with_remainders(value: Expr) -> Expr:
    """The same value, where products and shifts that divide by a number are divisions and remainders.

    >>> from swzverify.compiled.kernel.arithmetic import mul, shift_right, sub
    >>> from swzverify.ir.expr import var
    >>> x = var("x", 1 << 32)
    >>> fifth = widened(shift_right(mul(widened(x, 64), const(3435973837, 64)), const(34, 64), signed=False), 32)
    >>> with_remainders(sub(x, mul(fifth, const(5, 32)))) is binary(BinaryOperator.UREM, x, const(5, 32))
    True
    """
    floors: dict[Expr, _Floor] = {}
    for node in postorder(value):
        floors[node] = _floor(node, floors)
    divisors = {node: number for node, floor in floors.items() if (number := floor.divisor) is not None}
    if not divisors and not any(isinstance(e, Binary) and e.operator is BinaryOperator.UDIV for e in floors):
        return value

    def parts(node: Expr) -> tuple[Expr, ...]:
        return (floors[node].root,) if node in divisors else operands(node)

    def combined(node: Expr, new: list[Expr]) -> Expr:
        if node not in divisors:
            return _summed(rebuilt(node, dict(zip(operands(node), new, strict=True))))
        quotient = binary(BinaryOperator.UDIV, new[0], const(divisors[node], new[0].width))
        return widened(quotient, node.width)

    return folded(value, parts, combined)


def _summed(node: Expr) -> Expr:
    """A sum in which `x - d*(x / d)` is a remainder."""
    return _combined(node, _of_quotient)


def with_low_bits(node: Expr) -> Expr:
    """A sum in which `x - (x & -d)`, or `x - d*(x / d)`, is a remainder.

    >>> from swzverify.compiled.kernel.arithmetic import bit_and, sub
    >>> from swzverify.ir.expr import extend, extract, var
    >>> x = var("x", 1 << 32)
    >>> with_low_bits(sub(x, bit_and(x, const(-8, 32)))) is extend(extract(x, 0, 3), 32, signed=False)
    True
    """
    return _combined(node, lambda term: _of_quotient(term) or _of_mask(term))


def _of_quotient(term: Expr) -> tuple[Expr, int, Expr] | None:
    """What a term is a quotient of, the number that it is times to be that less a remainder, and the remainder."""
    match term:
        case Binary(BinaryOperator.UDIV, left, Const(by) as divisor) if by:
            return left, by, binary(BinaryOperator.UREM, left, divisor)
        case _:
            return None


def _of_mask(term: Expr) -> tuple[Expr, int, Expr] | None:
    """As `_of_quotient`, of what has no low bits."""
    match term:
        case Binary(BinaryOperator.AND, left, Const(mask)):
            low = -mask % (1 << term.width)
            if low > 1 and low & (low - 1) == 0:
                return left, 1, extend(extract(left, 0, low.bit_length() - 1), term.width, signed=False)
        case _:
            pass
    return None


def _combined(node: Expr, split: Callable[[Expr], tuple[Expr, int, Expr] | None]) -> Expr:
    """A sum with remainders in the place of quotients, as long as it has fewer terms then."""
    if not isinstance(node, Binary) or node.operator not in (BinaryOperator.ADD, BinaryOperator.SUB):
        return node
    total = sum_of(node)
    for term, count in total.terms.items():
        found = split(term)
        below = -count % (1 << node.width)
        if found is not None and below % found[1] == 0:
            whole, times = found[0], below // found[1]
            own = total.plus(Sum({term: 1}, 0, node.width), -count).plus(sum_of(whole), -times)
            own = own.plus(sum_of(found[2]), times)
            if len(own.terms) < len(total.terms):
                return _combined(own.expression(), split)
    return node


def _floor(node: Expr, known: dict[Expr, _Floor]) -> _Floor:
    """A node as a part of its root, from those of its operands; it is its own root if nothing else is known."""
    own = _Floor(node, 1, 0, (1 << node.width) - 1)
    match node:
        case Extend(operand, _, False):
            return known[operand]
        case Extract(operand, low) if known[operand].greatest >> low <= own.most:
            return _shifted(known[operand], low)
        case Binary(BinaryOperator.LSHR, left, Const(count)) if count < node.width:
            return _shifted(known[left], count)
        case Binary(BinaryOperator.MUL, left, Const(factor)) | Binary(BinaryOperator.MUL, Const(factor), left):
            part = known[left]
            if part.shift:
                part = _Floor(left, 1, 0, part.greatest)
            return part._replace(factor=part.factor * factor) if factor and part.greatest * factor <= own.most else own
        case Binary(BinaryOperator.ADD, left, right):
            return _half(left, right, known) or _half(right, left, known) or own
        case _:
            return own


def _shifted(floor: _Floor, count: int) -> _Floor:
    return floor._replace(shift=floor.shift + count)


def _half(half: Expr, part: Expr, known: dict[Expr, _Floor]) -> _Floor | None:
    """`((y - part) >> 1) + part` as `(y + part) >> 1`, for a part that is `y` at most."""
    match half:
        case Binary(BinaryOperator.LSHR, Binary(BinaryOperator.SUB, whole, other), Const(1)) if other is part:
            full, found = known[whole], known[part]
            is_part = full.root is found.root and not full.shift and found.factor <= full.factor << found.shift
            factor = (full.factor << found.shift) + found.factor
            return _Floor(full.root, factor, found.shift + 1, full.most) if is_part else None
        case _:
            return None

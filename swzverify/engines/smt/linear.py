"""Expressions that are sums of variable * constant over the integers, for linear arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, reduce

from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Var,
    binary,
    const,
    extend,
    postorder,
)
from swzverify.ir.intervals import intervals


@dataclass(frozen=True, slots=True)
class LinearSum:
    """constant + sum of factor * variable."""

    factors: dict[Var, int]
    constant: int


@lru_cache(maxsize=1024)
def linear_sum(root: Expr) -> LinearSum | None:
    """The linear sum that `root` equals at every point; None if there is none or a step could wrap.

    >>> from swzverify.ir.integers import add, integer, multiply, named
    >>> found = linear_sum(add(multiply(named("r", 48), integer(72)), named("c", 64)).bits)
    >>> {node.name: factor for node, factor in found.factors.items()}, found.constant
    ({'r': 72, 'c': 1}, 0)
    """
    bounds = intervals(root)
    sums: dict[Expr, LinearSum | None] = {}
    for node in postorder(root):
        sums[node] = _sum(node, sums, bounds)
    return sums[root]


def _sum(node: Expr, sums: dict[Expr, LinearSum | None], bounds: Mapping[Expr, tuple[int, int]]) -> LinearSum | None:
    top = 1 << node.width
    match node:
        case Const(value):
            return LinearSum({}, value)
        case Var():
            return LinearSum({node: 1}, 0)
        case Extend(operand, _, signed):
            if signed and bounds[operand][1] >= 1 << (operand.width - 1):
                return None
            return sums[operand]
        case Extract(operand, low, width):
            return sums[operand] if low == 0 and bounds[operand][1] < 1 << width else None
        case Binary(BinaryOperator.ADD, left, right):
            a, b = sums[left], sums[right]
            if a is None or b is None or bounds[left][1] + bounds[right][1] >= top:
                return None
            factors = dict(a.factors)
            for name, factor in b.factors.items():
                factors[name] = factors.get(name, 0) + factor
            return LinearSum(factors, a.constant + b.constant)
        case Binary(BinaryOperator.SHL, left, Const(amount)) if amount < node.width:
            return _scaled(sums[left], 1 << amount, bounds[left][1], top)
        case Binary(BinaryOperator.MUL, left, Const(factor)):
            return _scaled(sums[left], factor, bounds[left][1], top)
        case Binary(BinaryOperator.MUL, Const(factor), right):
            return _scaled(sums[right], factor, bounds[right][1], top)
        case _:
            return None


def _scaled(value: LinearSum | None, factor: int, high: int, top: int) -> LinearSum | None:
    if value is None or high * factor >= top:
        return None
    return LinearSum({name: own * factor for name, own in value.factors.items()}, value.constant * factor)


def addends(root: Expr) -> Iterator[Expr]:
    """Expressions whose sum over the integers is the value of `root` at every point.

    >>> from swzverify.ir.integers import add, integer, named
    >>> [each.width for each in addends(add(named("k", 100), integer(200)).bits)]
    [7, 9]
    """
    match root:
        case Extend(operand, _, False):
            yield from addends(operand)
        case Binary(BinaryOperator.ADD, left, right) if _highest(left) + _highest(right) < 1 << root.width:
            yield from addends(left)
            yield from addends(right)
        case _:
            yield root


def total(parts: Iterable[Expr]) -> Expr:
    """The sum over the integers, in a width that holds it."""
    known = tuple(parts)
    width = max(1, sum(map(_highest, known)).bit_length(), *(each.width for each in known))
    terms = [extend(each, width, signed=False) for each in known]
    return reduce(partial(binary, BinaryOperator.ADD), terms, const(0, width))


def _highest(node: Expr) -> int:
    return intervals(node)[node][1]

"""A question split into cases: by the residue of a trip that is divided by a small number, or by few values.

Compilers divide by a number m with the high bits of a product. Of a trip m * u + c for one residue c the
quotient is a sum, and the stages of a ring are known: Z3 then answers in no time what it gives up else.

Source: Granlund, Montgomery, "Division by Invariant Integers using Multiplication" (1994), theorem 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, mul, sub, widened
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extend,
    Extract,
    Var,
    compare,
    const,
    extract,
    postorder,
    rebuilt,
    substitute,
    var,
    variables,
)

_MOST_DIVISOR: Final = 16
_ADDRESS_BITS: Final = 32
_BITS: Final = 31
"""Bits of dividends: a trip is below 2^30."""
_DIVISIONS: Final = (BinaryOperator.UDIV, BinaryOperator.UREM)
_MOST_BEHIND: Final = 1 << 16
"""A trip plus such a number is still far from the limit of 32 bits."""


def by_values(condition: Expr, few: Mapping[Var, tuple[int, ...]]) -> Iterator[Expr]:
    """Conditions of which one holds if the given one does, with each value of one variable that has few of them.

    There is none if the condition reads no such variable.
    """
    read = [each for each in variables(condition) if each in few]
    if read:
        split = min(read, key=lambda each: len(few[each]))
        for number in few[split]:
            yield bounded(substitute(condition, {split: const(number, split.width)}))


def by_residues(condition: Expr, trips: list[Var]) -> Iterator[tuple[Expr, dict[Var, Expr]]]:
    """Conditions of which one holds for some values if the given one does, with the trip in terms of theirs.

    There is none if no trip is divided, or several are, or by several numbers.
    """
    divisors = {found[0] for node in postorder(condition) if (found := _quotient(node)) is not None}
    if len(divisors) != 1 or len(trips) != 1:
        return
    divisor, trip = divisors.pop(), trips[0]
    round_ = var(f"{trip.name} in rounds of {divisor}", trip.limit // divisor + 1)
    for residue in range(divisor):
        value = _trip_of(round_, divisor, residue, trip.width)
        yield bounded(_divided(condition, trip, divisor, residue, round_, value)), {trip: value}


def _trip_of(round_: Var, divisor: int, residue: int, width: int) -> Expr:
    return add(mul(widened(round_, width), const(divisor, width)), const(residue, width))


def _quotient(node: Expr) -> tuple[int, Expr] | None:
    """The divisor and the dividend, if a node is the quotient of a number below 2^31, or what is left of it."""
    match node:
        case Binary(BinaryOperator.LSHR, product, Const(bits)):
            pass
        case Binary(operator, dividend, Const(divisor)) if operator in _DIVISIONS and 1 < divisor <= _MOST_DIVISOR:
            return divisor, dividend
        case Extract(product, bits):
            pass
        case _:
            return None
    match product:
        case Binary(BinaryOperator.MUL, Extend(dividend), Const(factor), 64) if bits >= _BITS and factor:
            least = (1 << bits) // factor
            for divisor in (least, least + 1):
                over = factor * divisor - (1 << bits)
                is_exact = 0 <= over <= 1 << (bits - _BITS) and factor < 1 << (64 - _BITS)
                if is_exact and 1 < divisor <= _MOST_DIVISOR:
                    return divisor, dividend
        case _:
            pass
    return None


def _divided(condition: Expr, trip: Var, divisor: int, residue: int, round_: Var, value: Expr) -> Expr:
    """The condition where the trip is `divisor * round_ + residue`.

    What is divided once more may be a number then: a stage is a trip minus three times its third. And rounds that two
    addresses have in common are left out.
    """
    new: dict[Expr, Expr] = {trip: value}
    nodes = postorder(condition)
    quotients = {node: found for node in nodes if (found := _quotient(node)) is not None}
    dividends = {dividend for _, dividend in quotients.values()}
    for node in nodes:
        found = quotients.get(node)
        behind = None if found is None or found[0] != divisor else _behind(found[1], trip)
        if behind is not None:
            number, rest = divmod(residue + behind, divisor)
            quotient = add(widened(round_, max(node.width, 32)), const(number, max(node.width, 32)))
            is_rest = isinstance(node, Binary) and node.operator is BinaryOperator.UREM
            new[node] = const(rest, node.width) if is_rest else extract(quotient, 0, node.width)
        elif isinstance(node, Extend) and node.operand is trip and not node.signed:
            # In more bits the sum does not wrap, and is one of rounds.
            new[node] = _trip_of(round_, divisor, residue, node.width)
        elif node not in new:
            new[node] = rebuilt(node, new)
        if node in dividends and not (total := sum_of(new[node])).terms:
            new[node] = const(total.number, node.width)
        elif isinstance(node, Compare) and node.comparison is Comparison.EQ and node.left.width == _ADDRESS_BITS:
            between = normal(sub(new[node.left], new[node.right]))
            new[node] = compare(Comparison.EQ, between, const(0, _ADDRESS_BITS))
    return new[condition]


def _behind(dividend: Expr, trip: Var) -> int | None:
    """By how much a dividend is more than a trip; None if it is something else."""
    found = plus_number(dividend) if dividend.width > _BITS else None
    return None if found is None or found[0] is not trip else found[1]


def plus_number(value: Expr) -> tuple[Var, int] | None:
    """A variable and a small number whose sum a value is, without wrapping; None if it is something else.

    >>> from swzverify.compiled.kernel.arithmetic import widened
    >>> plus_number(add(widened(var("x", 100), 32), const(3, 32)))
    (Var(name='x', limit=100, width=7), 3)
    """
    total = sum_of(value)
    if len(total.terms) != 1 or total.number >= _MOST_BEHIND:
        return None
    ((term, count),) = total.terms.items()
    least = value.width
    while not isinstance(term, Var):
        least = min(least, term.width)
        match term:
            case Extract(term, 0) | Extend(term, _, False):
                pass
            case _:
                return None
    is_whole = count == 1 and term.limit <= 1 << least and term.limit + total.number <= 1 << value.width
    return (term, total.number) if is_whole else None

"""A question split into cases: by the residue of a trip that is divided by a small number.

Compilers divide by a number m with the high bits of a product. Of a trip m * u + c for one residue c the
quotient is a sum, and the stages of a ring are known: Z3 then answers in no time what it gives up else.

Source: Granlund, Montgomery, "Division by Invariant Integers using Multiplication" (1994), theorem 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, mul, sub, widened
from swzverify.compiled.kernel.linear import Sum, normal, sum_of
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
    var,
)

_MOST_DIVISOR: Final = 16
_ADDRESS_BITS: Final = 32
_BITS: Final = 31
"""Bits of dividends: a trip is below 2^30."""
_DIVISIONS: Final = (BinaryOperator.UDIV, BinaryOperator.UREM)
_MOST_BEHIND: Final = 1 << 16
"""A trip plus such a number is still far from the limit of 32 bits."""


def by_residues(condition: Expr, trips: list[Var]) -> Iterator[tuple[Expr, dict[Var, Expr]]]:
    """Conditions of which one holds for some values if the given one does, with the trip in terms of theirs.

    There is none if no trip is divided, or several are, or by several numbers. Masks of bits count as no divisor.
    """
    found = {each.divisor for each in _quotients(condition).values() if not each.is_masked}
    if len(found) != 1 or len(trips) != 1:
        return
    (period,), (trip,) = found, trips
    for residue in range(period):
        yield bounded(_divided(condition, trip, period, residue)), {trip: _trip(trip, period, residue, trip.width)}


def sums_by_residues(sums: Sequence[Sum], trips: Sequence[Var]) -> list[tuple[Sum, ...]]:
    """The sums for each residue of the one trip that their terms divide by small numbers; none if there is none.

    >>> trip = var("trip", 1 << 30)
    >>> stage = Binary(BinaryOperator.UREM, widened(trip, 32), const(3, 32), 32)
    >>> [each.number for each, in sums_by_residues([sum_of(stage)], [trip])]
    [0, 1, 2]
    """
    if len(trips) != 1:
        return []
    (trip,) = trips
    quotients = _quotients(*(term for each in sums for term in each.terms)).values()
    period = lcm(*(each.divisor for each in quotients if _behind(each.dividend, trip) is not None))
    if not 1 < period <= _MOST_DIVISOR:
        return []
    return [tuple(_sum_at(each, trip, period, residue) for each in sums) for residue in range(period)]


def _sum_at(total: Sum, trip: Var, period: int, residue: int) -> Sum:
    found = Sum({}, total.number, total.width)
    for term, count in total.terms.items():
        found = found.plus(_term_at(term, trip, period, residue), count)
    return found


@lru_cache(maxsize=4096)
def _term_at(term: Expr, trip: Var, period: int, residue: int) -> Sum:
    return sum_of(bounded(_divided(term, trip, period, residue)))


def _trip(trip: Var, period: int, residue: int, width: int) -> Expr:
    """A trip with a residue: the number of its round, times the period, plus the residue."""
    return add(mul(widened(_round(trip, period), width), const(period, width)), const(residue, width))


def _round(trip: Var, period: int) -> Var:
    return var(f"{trip.name} in rounds of {period}", trip.limit // period + 1)


@dataclass(frozen=True, slots=True)
class _Quotient:
    """A quotient; with `shift`, what is left of the dividend, times 2^shift. `is_masked` if a mask takes that."""

    divisor: int
    dividend: Expr
    shift: int | None = None
    is_masked: bool = False


def _quotients(*roots: Expr) -> dict[Expr, _Quotient]:
    return {node: found for node in postorder(*roots) if (found := _quotient(node)) is not None}


def _quotient(node: Expr) -> _Quotient | None:
    """What a node divides, if it is the quotient of a number below 2^31 by a small one, or what is left of it."""
    match node:
        case Binary(BinaryOperator.LSHR, product, Const(bits)):
            pass
        case Binary(operator, dividend, Const(divisor)) if operator in _DIVISIONS and 1 < divisor <= _MOST_DIVISOR:
            return _Quotient(divisor, dividend, 0 if operator is BinaryOperator.UREM else None)
        case Binary(BinaryOperator.AND, masked, Const(mask)):
            return _low_bits(masked, mask)
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
                    return _Quotient(divisor, dividend)
        case _:
            pass
    return None


def _low_bits(masked: Expr, mask: int) -> _Quotient | None:
    """The low bits of a number, perhaps shifted to the left, as what a power of two leaves of it."""
    shift = 0
    match masked:
        case Binary(BinaryOperator.SHL, dividend, Const(shift)) if mask % (1 << shift) == 0:
            pass
        case dividend:
            shift = 0
    divisor = (mask >> shift) + 1
    is_power = divisor & (divisor - 1) == 0 and 1 < divisor <= _MOST_DIVISOR
    return _Quotient(divisor, dividend, shift, is_masked=True) if is_power else None


def _divided(condition: Expr, trip: Var, period: int, residue: int) -> Expr:
    """The condition where the trip is `period * round + residue`.

    What is divided once more may be a number then: a stage is a trip minus three times its third. And rounds that two
    addresses have in common are left out.
    """
    round_ = _round(trip, period)
    new: dict[Expr, Expr] = {trip: _trip(trip, period, residue, trip.width)}
    quotients = _quotients(condition)
    dividends = {each.dividend for each in quotients.values()}
    for node in postorder(condition):
        found = quotients.get(node)
        behind = None if found is None or period % found.divisor else _behind(found.dividend, trip)
        if found is not None and behind is not None:
            number, rest = divmod(residue + behind, found.divisor)
            if found.shift is None:
                width = max(node.width, 32)
                rounds = mul(widened(round_, width), const(period // found.divisor, width))
                new[node] = extract(add(rounds, const(number, width)), 0, node.width)
            else:
                new[node] = const(rest << found.shift, node.width)
        elif isinstance(node, Extend) and node.operand is trip and not node.signed:
            # In more bits the sum does not wrap, and is one of rounds.
            new[node] = _trip(trip, period, residue, node.width)
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

"""The number of the last trip of a loop that goes on unless a sum with this number is 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.repeats import Again
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Expr,
    Var,
    extract,
    negation,
    operands,
    postorder,
    rebuilt,
    to_signed,
    variables,
)


@dataclass(frozen=True, slots=True)
class LastTrip:
    """A multiple of the number of the last trip, modulo 2^width.

    Attributes:
        term: The low bits of the number.
        count: The multiple of it.
        total: What that is.
    """

    term: Expr
    count: int
    total: Expr

    def put_into(self, value: Expr) -> Expr:
        """A value in which multiples of this multiple are replaced, wherever they are parts of sums.

        >>> from swzverify.compiled.kernel.arithmetic import add, mul
        >>> from swzverify.ir.expr import const, var
        >>> n, trips = var("n", 1 << 32), var("trips", 1 << 32)
        >>> last = LastTrip(trips, 4, add(n, const(-4, 32)))
        >>> last.put_into(add(mul(trips, const(4, 32)), const(4, 32))) is n
        True
        """
        new: dict[Expr, Expr] = {}
        pending = [value]
        while pending:
            node = pending.pop()
            count = sum_of(node).terms.get(self.term, 0) if node.width == self.term.width else 0
            times, rest = divmod(to_signed(count, node.width), self.count)
            if count and not rest:
                whole = sum_of(node).plus(Sum({self.term: 1}, 0, node.width), -count)
                new[node] = whole.plus(sum_of(self.total), times).expression()
            elif node not in new:
                pending += operands(node)
        for node in postorder(value):
            new.setdefault(node, rebuilt(node, new))
        return new[value]


def last_trip(again: Again, trips: Var) -> LastTrip | None:
    """What is known of the last trip of a loop with a condition for going on; None for other conditions."""
    condition = again.condition
    is_negated = isinstance(condition, Binary) and condition.operator is BinaryOperator.XOR
    end = condition.left if is_negated and isinstance(condition, Binary) else condition
    if not again.is_exact or negation(end) is not condition:
        return None
    if not isinstance(end, Compare) or end.comparison is not Comparison.EQ:
        return None
    total = sum_of(sub(end.left, end.right))
    counted = [(term, count) for term, count in total.terms.items() if trips in variables(term)]
    if len(counted) != 1 or counted[0][0] is not extract(trips, 0, total.width):
        return None
    (term, count), half = counted[0], 1 << total.width - 1
    rest = total.plus(Sum({term: 1}, 0, total.width), -count)
    if count < half:
        return LastTrip(term, count, Sum({}, 0, total.width).plus(rest, -1).expression())
    return LastTrip(term, 2 * half - count, rest.expression())


def behind_loops(value: Expr, left: Callable[[Var], Again | None]) -> Expr:
    """A value behind loops in which their last trips are put in; `left` has for numbers of their trips the condition.

    This is exact: what is known is known modulo 2^width.
    """
    for each in variables(value):
        again = left(each)
        found = None if again is None else last_trip(again, each)
        value = value if found is None else found.put_into(value)
    return value

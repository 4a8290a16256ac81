"""Registers that a loop takes through a few values, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, less, sub
from swzverify.compiled.kernel.slices import Carried
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, Comparison, Const, Expr, binary, compare, const, ite, variables

MOST_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class Sequence:
    """The values of a register in the trips of a loop.

    After the last one, it returns to the value at index `turn`.
    """

    values: tuple[int, ...]
    turn: int

    def in_trip(self, trip: int) -> int:
        """The value in a trip."""
        count = len(self.values)
        return self.values[trip if trip < count else self.turn + (trip - self.turn) % (count - self.turn)]

    def at(self, trips: Expr, width: int) -> Expr:
        """The value of so many bits in a trip."""
        count = len(self.values)
        period = count - self.turn
        if period > 1:
            turn, whole = const(self.turn, trips.width), const(period, trips.width)
            round_ = add(turn, binary(BinaryOperator.UREM, sub(trips, turn), whole))
            is_first = less(trips, const(count, trips.width), signed=False)
            trips = ite(is_first, trips, round_) if self.turn else round_
        found: Expr = const(self.values[-1], width)
        for place in reversed(range(count - 1)):
            is_here = compare(Comparison.EQ, trips, const(place, trips.width))
            found = ite(is_here, const(self.values[place], width), found)
        return found


def sequence_of(carried: Carried) -> Sequence | None:
    """All values of a register that each trip computes from its last value alone, from a number on.

    None if there are many.

    >>> from swzverify.compiled.kernel.arithmetic import mul
    >>> from swzverify.compiled.kernel.flow import Loop
    >>> from swzverify.ir.expr import const, var
    >>> x = var("x", 256)
    >>> sequence_of(Carried(x, Loop(0, (0,), frozenset({0})), const(96, 8), mul(x, const(2, 8))))
    Sequence(values=(96, 192, 128, 0), turn=3)
    """
    if not isinstance(carried.before, Const) or variables(carried.after) != (carried.variable,):
        return None
    found: dict[int, int] = {}
    value = carried.before.value
    while value not in found:
        if len(found) == MOST_VALUES:
            return None
        found[value] = len(found)
        value = evaluate(carried.after, {carried.variable.name: value})
    return Sequence(tuple(found), found[value])

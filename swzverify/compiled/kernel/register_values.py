"""The values that a register which a loop changes can have in any trip, where they are few.

By induction on the trips: the values before the loop, and what a trip makes of a value that another trip may
follow. Expressions are evaluated over sets of values. So the values of one register do not depend on those of
another one, or on the number of the trip: there may be more than occur, and never fewer.

`reachable` beside it has the values that registers have together. It needs numbers before the loop, and does
not read the condition of the next trip; this reads it, and takes shifts by any amount.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from swzverify.compiled.kernel.leaves import CarriedLeaf
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Ite,
    Var,
    const,
    operands,
    postorder,
    rebuilt,
)

MOST: Final = 64
"""Values of a register up to which they are counted one by one."""
_MOST_IMAGES: Final = 4096
_SHIFTS: Final = (BinaryOperator.SHL, BinaryOperator.LSHR)


class Registers:
    """The values of the registers of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._found: dict[Var, frozenset[int] | None] = {}

    def values(self, register: Var) -> frozenset[int] | None:
        """The values of a register at the begin of any trip, and perhaps others; None if there are many."""
        carry = self._kernel.carried.get(register)
        if carry is None:
            return None
        if register not in self._found:
            self._found[register] = None  # a register that it depends on may depend on it
            self._found[register] = self._closed(register, carry.before, carry.after)
        return self._found[register]

    def _closed(self, register: Var, before: Expr, after: Expr) -> frozenset[int] | None:
        found = self._of(before, {})
        new = found
        while found is not None and new:
            new = frozenset(each for each in new if self._may_repeat(register, each))
            reached = self._of(after, {register: new}) if new else frozenset[int]()
            new = None if reached is None else reached - found
            found = None if new is None or len(found | new) > MOST else found | new
        return found

    def _may_repeat(self, register: Var, value: int) -> bool:
        """Whether a trip that a register begins with a value may be followed by another one."""
        header = self._kernel.leaves[register].block
        if header is None:
            return True
        latches = self._kernel.flow.loop_at[header].latches
        ends = (self._of(self._kernel.edge(latch, header), {register: (value,)}) for latch in latches)
        return any(each is None or 1 in each for each in ends)

    def _of(self, value: Expr, known: Mapping[Var, Collection[int]]) -> frozenset[int] | None:
        """The values of an expression, and perhaps others; None if there are many."""
        sets: dict[Expr, frozenset[int] | None] = {}
        for node in postorder(value):
            found = self._of_node(node, sets, known)
            sets[node] = None if found is None or len(found) > MOST else found
        return sets[value]

    def _of_node(
        self, node: Expr, sets: Mapping[Expr, frozenset[int] | None], known: Mapping[Var, Collection[int]]
    ) -> frozenset[int] | None:
        match node:
            case Const(number):
                return frozenset((number,))
            case Var() if node in known:
                return frozenset(known[node])
            case Var():
                is_carried = isinstance(self._kernel.leaves[node], CarriedLeaf)
                few = frozenset(range(node.limit)) if node.limit <= MOST else None
                return (self.values(node) or few) if is_carried else few
            case Ite(condition, then, otherwise):
                chosen = sets[condition] or (0, 1)
                sides = [sets[side] for number, side in ((1, then), (0, otherwise)) if number in chosen]
                known_sides = [each for each in sides if each is not None]
                return None if len(known_sides) < len(sides) else frozenset[int]().union(*known_sides)
            case Binary(operator, left, right) if operator in _SHIFTS and sets[right] is None:
                shifted = _images(node, [sets[left], frozenset(range(node.width))])
                return None if shifted is None else shifted | {0}
            case _:
                return _images(node, [sets[each] for each in operands(node)])


def _images(node: Expr, sets: Sequence[frozenset[int] | None]) -> frozenset[int] | None:
    """The values of a node for the values of its operands; None if there are many."""
    known = [each for each in sets if each is not None]
    if len(known) < len(sets) or prod(map(len, known)) > _MOST_IMAGES:
        return frozenset(range(1 << node.width)) if 1 << node.width <= MOST else None
    parts = operands(node)
    return frozenset(
        evaluate(
            rebuilt(node, {part: const(number, part.width) for part, number in zip(parts, numbers, strict=True)}), {}
        )
        for numbers in product(*known)
    )

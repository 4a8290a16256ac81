"""Parts of addresses that have few numbers, such as `trips mod 3`, as variables of their own.

Parts that differ by a number before the remainder is taken have one variable: `(t + 1) mod 3` is
`((t mod 3) + 1) mod 3`, if `t + 1` does not overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, shift_left, widened
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.reachable import numbers_of
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extract,
    Var,
    binary,
    const,
    extract,
    postorder,
    rebuilt,
    to_signed,
    var,
    variables,
)

NO_LONG_LOOPS: Final = "no count of trips overflows 32 bits"
"""What remainders by numbers that are no powers of two assume of sums in which trips are counted."""


class Parts:
    """Cuts parts with few numbers out of the values of one function; equal parts are one variable.

    Attributes:
        assumes: What the parts that were cut out assume.
    """

    def __init__(self) -> None:
        self.assumes: tuple[str, ...] = ()
        self._made: dict[Expr, Var] = {}

    def cut(self, value: Expr, is_cut: Callable[[Sequence[Var]], bool]) -> tuple[Expr, dict[Var, tuple[int, ...]]]:
        """A value in which the innermost such parts are variables, with the numbers of each.

        `is_cut` says of the variables of a part whether it is cut out.
        """
        found: dict[Var, tuple[int, ...]] = {}
        new: dict[Expr, Expr] = {}
        for node in postorder(value):
            own = rebuilt(node, new)
            new[node] = self._cut(own, is_cut, found)
        left = set(variables(new[value]))
        return new[value], {each: numbers for each, numbers in found.items() if each in left}

    def _cut(self, node: Expr, is_cut: Callable[[Sequence[Var]], bool], found: dict[Var, tuple[int, ...]]) -> Expr:
        part, by = _low_bits(node)
        if not numbers_of(part):
            return node
        number, divisor = 0, None
        if isinstance(part, Binary):
            total, divisor = sum_of(part.left), part.right
            number = to_signed(total.number, total.width)
            if number:
                part = binary(BinaryOperator.UREM, replace(total, number=0).expression(), divisor)
        elif isinstance(part, Extract) and part.low == 0:
            total = sum_of(part)
            number, part = total.number, replace(total, number=0).expression()
        read = variables(part)
        if not read or any(each in self._made.values() for each in read) or not is_cut(read):
            return node
        count = 1 << part.width if divisor is None or not isinstance(divisor, Const) else divisor.value
        made = self._made.setdefault(part, var(f"part {len(self._made)} with few numbers", count))
        found[made] = tuple(range(count))
        own = widened(made, part.width)
        if isinstance(divisor, Const) and number:
            if divisor.value & (divisor.value - 1):
                self.assumes = (NO_LONG_LOOPS,)
            own = binary(BinaryOperator.UREM, add(own, const(number % divisor.value, part.width)), divisor)
        elif number:
            own = add(own, const(number, part.width))
        return shift_left(widened(own, node.width), const(by, node.width))


def _low_bits(node: Expr) -> tuple[Expr, int]:
    """A value whose bits are cut out by a mask, as low bits of another one, shifted to the left by a number."""
    match node:
        case Binary(BinaryOperator.AND, value, Const(mask)) if mask:
            low, by = (mask & -mask).bit_length() - 1, 0
            bits = mask >> low
            if isinstance(value, Binary) and value.operator is BinaryOperator.SHL and isinstance(value.right, Const):
                value, by = value.left, value.right.value
            if bits & (bits + 1) == 0 and by <= low:
                return extract(value, low - by, bits.bit_length()), low
        case _:
            pass
    return node, 0

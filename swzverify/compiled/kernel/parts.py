"""Parts of addresses that have few numbers, such as `trips mod 3`, as variables of their own.

Parts that differ by a number before the remainder is taken have one variable: `(t + 1) mod 3` is
`((t mod 3) + 1) mod 3`, if `t + 1` does not overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, shift_left, widened
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.reachable import numbers_of
from swzverify.compiled.kernel.unsigned import unsigned
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extract,
    Var,
    binary,
    const,
    extract,
    operands,
    postorder,
    rebuilt,
    to_signed,
    var,
    variables,
)

NO_LONG_LOOPS: Final = "no trip count overflows 32 bits"
"""What remainders by numbers that are no powers of two assume of sums in which trips are counted."""
NOT_NEGATIVE: Final = "no number is negative whose sign, signed quotient or signed remainder an address uses"
"""What reading signed divisions as unsigned ones assumes, such as of the k-tiles behind a loop over all but two."""
FIRST_TRIP: Final = "a number that is negative in the first trip of a loop"
"""Why a place is not known: what remainders assume does not hold there."""
_DIVISIONS: Final = (BinaryOperator.UREM, BinaryOperator.UDIV)


class Parts:
    """Cuts parts with few numbers out of the values of one function; equal parts are one variable.

    Attributes:
        assumes: What the parts that were cut out assume.
    """

    def __init__(self) -> None:
        self.assumes: tuple[str, ...] = ()
        self._made: dict[Expr, Var] = {}
        self._of: dict[Var, Expr] = {}
        self._least: dict[Expr, int] = {}

    def cut(self, value: Expr, is_cut: Callable[[Sequence[Var]], bool]) -> tuple[Expr, dict[Var, tuple[int, ...]]]:
        """A value in which such parts are variables, with the numbers of each.

        `is_cut` says of the variables of a part whether it is cut out. These are the innermost parts. If they leave
        some variable over, they are the outermost ones, and signed divisions are read as unsigned ones.
        """
        first = self._cut_all(value, is_cut)
        if self._is_whole(first[0], is_cut):
            return first
        own, roots = unsigned(value, is_cut)
        found = self._cut_all(own, is_cut, is_outermost=True)
        if not self._is_whole(found[0], is_cut):
            return first
        if roots:
            self.assume(NOT_NEGATIVE)
        for root in roots:
            base, number = _apart(root)
            self._least[base] = max(self._least.get(base, 0), -number)
        return found

    def numbers(self, made: Var, conditions: Iterable[tuple[Expr, bool]]) -> tuple[int, ...] | None:
        """The numbers that a part can be where some conditions hold, or do not; None if these say nothing of it.

        >>> from swzverify.ir.expr import compare
        >>> n, parts = var("n", 1 << 32), Parts()
        >>> rest = binary(BinaryOperator.SREM, add(n, const(-2, 32)), const(3, 32))
        >>> cut, numbers = parts.cut(rest, lambda read: True)
        >>> parts.numbers(next(iter(numbers)), [(compare(Comparison.SLT, n, const(3, 32)), True)])
        (2,)
        """
        part = self._of.get(made)
        for condition, holds in conditions if part is not None else ():
            match condition:
                case Compare(Comparison.SLT | Comparison.ULT, left, Const(limit)) if holds:
                    base, number = _apart(unsigned(left, lambda _: True)[0])
                    if base not in self._least or not 0 < limit < 1 << left.width - 1:
                        continue
                    places = range(self._least[base], limit - number)
                    if len(places) < made.limit and part is not None and _is_of(part, base):
                        self.assume(NO_LONG_LOOPS)
                        return tuple(sorted({each % made.limit for each in places}))
                case _:
                    continue
        return None

    def assume(self, text: str) -> None:
        """Keep what parts assume."""
        self.assumes = (*dict.fromkeys((*self.assumes, text)),)

    def _is_whole(self, value: Expr, is_cut: Callable[[Sequence[Var]], bool]) -> bool:
        """Whether all variables that are to be cut out are."""
        made = set(self._made.values())
        return not any(is_cut([each]) for each in variables(value) if each not in made)

    def _cut_all(
        self, value: Expr, is_cut: Callable[[Sequence[Var]], bool], *, is_outermost: bool = False
    ) -> tuple[Expr, dict[Var, tuple[int, ...]]]:
        found: dict[Var, tuple[int, ...]] = {}
        new: dict[Expr, Expr] = {}
        pending = [value]
        while is_outermost and pending:
            node = pending.pop()
            if node not in new and (own := self._cut(node, is_cut, found)) is not node:
                new[node] = own
            elif node not in new:
                pending += operands(node)
        for node in postorder(value):
            if node not in new:
                own = rebuilt(node, new)
                new[node] = own if is_outermost else self._cut(own, is_cut, found)
        left = set(variables(new[value]))
        return new[value], {each: numbers for each, numbers in found.items() if each in left}

    def _cut(self, node: Expr, is_cut: Callable[[Sequence[Var]], bool], found: dict[Var, tuple[int, ...]]) -> Expr:
        part, by = _low_bits(node)
        if not numbers_of(part):
            return node
        number, divisor, is_unnested = 0, None, False
        if isinstance(part, Binary):
            own, divisor = sum_of(part.left), part.right
            total = _unnested(own, divisor)
            number = to_signed(total.number, total.width)
            is_unnested = total != own
            if number or is_unnested:
                part = binary(BinaryOperator.UREM, replace(total, number=0).expression(), divisor)
        elif isinstance(part, Extract) and part.low == 0:
            total = _unnested(sum_of(part))
            number, part = total.number, replace(total, number=0).expression()
        read = variables(part)
        if not read or any(each in self._made.values() for each in read) or not is_cut(read):
            return node
        count = 1 << part.width if divisor is None or not isinstance(divisor, Const) else divisor.value
        made = self._made.setdefault(part, var(f"part {len(self._made)} with few numbers", count))
        found[made], self._of[made] = tuple(range(count)), part
        own = widened(made, part.width)
        if isinstance(divisor, Const) and (number or is_unnested):
            if divisor.value & (divisor.value - 1):
                self.assume(NO_LONG_LOOPS)
            own = binary(BinaryOperator.UREM, add(own, const(number % divisor.value, part.width)), divisor)
        elif number:
            own = add(own, const(number, part.width))
        return shift_left(widened(own, node.width), const(by, node.width))


def falls_below(value: Expr, are_trips: Callable[[Sequence[Var]], bool]) -> bool:
    """Whether a value takes a remainder, or a signed quotient, of a sum that is negative in the first trip of loops.

    `are_trips` says whether variables are numbers of trips, which begin at 0.

    >>> trip = var("trip", 1 << 32)
    >>> falls_below(binary(BinaryOperator.UREM, add(trip, const(-1, 32)), const(3, 32)), lambda read: True)
    True
    """
    own, roots = unsigned(value, are_trips)
    divided = [each.left for each in postorder(own) if isinstance(each, Binary) and each.operator in _DIVISIONS]
    for each in (*roots, *divided):
        total, half = sum_of(each), 1 << each.width - 1
        read = variables(*total.terms)
        if read and total.number >= half > max(total.terms.values()) and are_trips(read):
            return True
    return False


def _unnested(total: Sum, divisor: Expr | None = None) -> Sum:
    """A sum with what its remainders by one number are of in the place of them: the remainder of the sum is the same.

    Without a `divisor` the sum is of low bits, and its terms may be low bits of sums. With one, nothing is subtracted:
    `(t mod 3) - 1` overflows where t is a multiple of 3.
    """
    found, limit = total, 1 << total.width - 1
    if divisor is not None and any(each >= limit for each in (total.number, *total.terms.values())):
        return total
    for term, count in total.terms.items():
        match term:
            case Binary(BinaryOperator.UREM, left, right) if right is divisor:
                inner = _unnested(sum_of(left), divisor)
            case Extract(_, 0) if divisor is None and (own := sum_of(term)) != Sum({term: 1}, 0, term.width):
                inner = _unnested(own)
            case _:
                continue
        found = found.plus(Sum({term: 1}, 0, total.width), -count).plus(inner, count)
    return found


def _apart(value: Expr) -> tuple[Expr, int]:
    """A sum without its number, and that number, with its sign."""
    total = sum_of(value)
    return replace(total, number=0).expression(), to_signed(total.number, total.width)


def _is_of(part: Expr, base: Expr) -> bool:
    """Whether a part is the remainder of a sum, or its low bits."""
    if isinstance(part, Binary) and part.operator is BinaryOperator.UREM:
        return part.left is base
    return part.width < base.width and _unnested(sum_of(extract(base, 0, part.width))) == sum_of(part)


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

"""That an offset stays within the shared memory of a block, as an integer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, less, mul, widened
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.symbols import SHARED_LIMIT
from swzverify.compiled.order.families import MOST_SHARED, signed
from swzverify.compiled.order.instance import DYNAMIC
from swzverify.ir.expr import TRUE, Comparison, Expr, compare, const, ite, postorder, var, variables
from swzverify.ir.intervals import interval_of

_WIDE: Final = 44
"""Bits in which distances of addresses do not wrap."""


def is_in_memory(address: Expr, arrays: Sequence[Leaf], who: int) -> Expr:
    """The offset in the memory of a block, over the integers, is below the most bytes that a block can have.

    PTX does not tell whether a term has a sign: it counts if the offset fits for one of both readings.
    """
    total = sum_of(address)
    starts = {each.variable for each in arrays} | {var(DYNAMIC, SHARED_LIMIT)}
    parts = [(term, signed(count)) for term, count in total.terms.items() if starts.isdisjoint(variables(term))]
    ends = [signed(total.number)] * 2
    for term, count in parts:
        most = _most(term)
        least = most + 1 - (1 << term.width) if most >= 1 << (term.width - 1) else 0
        ends = [end + choose(count * least, count * most) for end, choose in zip(ends, (min, max), strict=True)]
    if ends[0] >= 0 and ends[1] < MOST_SHARED:
        return TRUE
    width = max(_WIDE, max(map(abs, ends)).bit_length() + 2)
    offset: Expr = const(signed(total.number), width)
    for at, (term, count) in enumerate(parts):
        offset = add(offset, mul(_of_some_sign(term, f"term {at} of {who}", width), const(count, width)))
    return less(offset, const(MOST_SHARED, width), signed=False)


def _of_some_sign(term: Expr, name: str, width: int) -> Expr:
    """A term as a number, with its highest bit as a sign or not."""
    if _most(term) < 1 << (term.width - 1):
        return widened(term, width)
    has_sign = compare(Comparison.EQ, var(f"whether {name} has a sign", 2), const(1, 1))
    return ite(has_sign, widened(term, width, signed=True), widened(term, width))


@lru_cache(maxsize=4096)
def _most(term: Expr) -> int:
    """The largest value of an expression of coordinates, or more."""
    known: dict[Expr, tuple[int, int]] = {}
    for node in postorder(term):
        known[node] = interval_of(node, known)
    return known[term][1]

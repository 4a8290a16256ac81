"""That an offset stays within the shared memory of a block, as an integer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, less, mul, sub, widened
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.compiled.order.families import MOST_SHARED, signed
from swzverify.ir.expr import (
    TRUE,
    Comparison,
    Expr,
    compare,
    conjunction,
    const,
    ite,
    negation,
    postorder,
    var,
    variables,
)
from swzverify.ir.intervals import interval_of

_WIDE: Final = 44
"""Bits in which distances of addresses do not wrap."""


def is_in_memory(address: Expr, starts: Sequence[Expr], who: int) -> Expr:
    """The offset in the memory of a block, over the integers, is below the most bytes that a block can have.

    PTX does not tell whether a term has a sign: it counts if the offset fits for one of both readings. A term that
    reads where an array starts and is no such start, as what a mask leaves of an address, counts from that start.
    """
    total = sum_of(address)
    plain = {item for start in starts for item in sum_of(start).terms.items()}
    read = set(variables(*starts))
    parts: list[tuple[Expr, int]] = []
    inner: list[tuple[Expr, int]] = []
    for term, count in total.terms.items():
        if read.isdisjoint(variables(term)):
            parts.append((term, signed(count)))
        elif (term, count) not in plain:
            inner.append((term, count))
    if not inner:
        return _fits(parts, signed(total.number), None, who)
    (term, count), *more = inner
    if more or count != 1 or len(inner) + len(parts) < len(total.terms):
        return TRUE
    own = dict.fromkeys(start for start in starts if not set(variables(start)).isdisjoint(variables(term)))
    fits = (_fits(parts, signed(total.number), normal(sub(term, start)), who) for start in own)
    return negation(conjunction(map(negation, fits)))


def _fits(parts: Sequence[tuple[Expr, int]], number: int, distance: Expr | None, who: int) -> Expr:
    """A sum and a number are an offset in the memory of a block, with a distance of 32 bits that has a sign."""
    ends = [number] * 2
    for term, count in parts:
        most = _most(term)
        least = most + 1 - (1 << term.width) if most >= 1 << (term.width - 1) else 0
        ends = [end + choose(count * least, count * most) for end, choose in zip(ends, (min, max), strict=True)]
    if distance is not None:
        ends = [ends[0] - (ADDRESSES >> 1), ends[1] + (ADDRESSES >> 1)]
    if ends[0] >= 0 and ends[1] < MOST_SHARED:
        return TRUE
    width = max(_WIDE, max(map(abs, ends)).bit_length() + 2)
    offset: Expr = const(number, width)
    if distance is not None:
        offset = add(offset, widened(distance, width, signed=True))
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

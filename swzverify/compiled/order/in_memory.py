"""That an offset stays within the shared memory of a block, as an integer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, less, mul, shift_left, sub, widened
from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.compiled.order.families import MOST_SHARED, signed
from swzverify.ir.expr import (
    TRUE,
    Binary,
    BinaryOperator,
    Comparison,
    Const,
    Expr,
    compare,
    const,
    extract,
    ite,
    postorder,
    var,
    variables,
)
from swzverify.ir.intervals import interval_of

_WIDE: Final = 44
"""Bits in which distances of addresses do not wrap."""


def is_in_memory(address: Expr, starts: Sequence[Expr], who: int, ranks: int = 1) -> Expr:
    """The offset in the memory of a block, over the integers, is below the most bytes that a block can have.

    It is an offset in the memory of some block, if there are several in a cluster.

    PTX does not tell whether a term has a sign: it counts if the offset fits for one of both readings. If a term is
    made of the start of an array, as an XOR makes one, nothing is said of how far behind the start it is.
    """
    total = _not_rounded(sum_of(address), starts)
    plain = {item for start in starts for item in sum_of(start).terms.items()}
    rest = {term: count for term, count in total.terms.items() if (term, count) not in plain}
    if _reads(rest, starts):
        return TRUE
    parts = [(term, signed(count)) for term, count in rest.items()]
    ends = [signed(total.number)] * 2
    for term, count in parts:
        most = _most(term)
        least = most + 1 - (1 << term.width) if most >= 1 << (term.width - 1) else 0
        ends = [end + choose(count * least, count * most) for end, choose in zip(ends, (min, max), strict=True)]
    if ranks == 1 and ends[0] >= 0 and ends[1] < MOST_SHARED:
        return TRUE
    width = max(_WIDE, max(map(abs, ends)).bit_length() + 2)
    offset: Expr = const(signed(total.number), width)
    for at, (term, count) in enumerate(parts):
        offset = add(offset, mul(_of_some_sign(term, f"term {at} of {who}", width), const(count, width)))
    if ranks > 1:
        rank = widened(var(f"the rank whose memory {who} is in", ranks), width)
        offset = sub(offset, shift_left(rank, const(RANK_BITS, width)))
    return less(offset, const(MOST_SHARED, width), signed=False)


def _not_rounded(total: Sum, starts: Sequence[Expr]) -> Sum:
    """A sum in which what is behind the start of an array, rounded down, is the same less its low bits."""
    for term, count in total.terms.items():
        match term:
            case Binary(BinaryOperator.AND, whole, Const(mask)) if _reads([term], starts):
                size = -mask % ADDRESSES
                if size > 1 and size & (size - 1) == 0:
                    low = widened(extract(whole, 0, size.bit_length() - 1), term.width)
                    total = total.plus(sum_of(sub(sub(whole, low), term)), count)
            case _:
                pass
    return total


def _reads(terms: Iterable[Expr], starts: Sequence[Expr]) -> bool:
    """Whether terms are made of where an array starts."""
    return not {*variables(*terms)}.isdisjoint(variables(*starts))


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

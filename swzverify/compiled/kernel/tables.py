"""Lists of numbers as expressions of the place in the list."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.compiled.kernel.arithmetic import add, widened
from swzverify.ir.expr import Expr, const, extract, ite


def table(index: Expr, values: Sequence[int], width: int) -> Expr:
    """The value at an index, which is below the number of values.

    A list, or a part of it, that is the index shifted to the right plus a number is written so. Of
    a list that repeats itself only the first round is written. Elsewhere a bit of the index chooses
    between two halves.

    >>> from swzverify.ir.expr import var
    >>> x = var("x", 8)
    >>> table(x, (5, 5, 6, 6, 7, 7, 8, 8), 16) is add(widened(extract(x, 1, 2), 16), const(5, 16))
    True
    """
    if len(set(values)) == 1:
        return const(values[0], width)
    bits = (len(values) - 1).bit_length()
    for shift in range(bits):
        if all(value - values[0] == place >> shift for place, value in enumerate(values)):
            return add(widened(extract(index, shift, bits - shift), width), const(values[0], width))
    half = 1 << (bits - 1)
    low, high = values[:half], values[half:]
    first = table(index, low, width)
    if tuple(low[: len(high)]) == tuple(high):
        return first
    return ite(extract(index, bits - 1, 1), table(index, high, width), first)

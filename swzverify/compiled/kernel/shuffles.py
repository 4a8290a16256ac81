"""From which lane a `shfl` takes a value."""

from __future__ import annotations

from swzverify.compiled.kernel.arithmetic import add, bit_and, bit_or, bit_xor, less, sub
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import Expr, const, ite, negation


def source_lane(mode: str, lane: Expr, step: Expr, control: int) -> tuple[Expr, Expr]:
    """The lane whose value a lane gets in a `shfl`, and whether that lane is in range.

    A lane whose source is not in range keeps its own value. All values have 32 bits.

    Source: PTX ISA, Data Movement and Conversion Instructions, shfl.sync.

    >>> from swzverify.ir.expr import const
    >>> [each.value for each in source_lane("up", const(1, 32), const(2, 32), 0)]
    [1, 0]
    """
    segment = control >> 8 & 31
    first = bit_and(lane, const(segment, 32))
    last = bit_or(first, const(control & 31 & ~segment, 32))
    step = bit_and(step, const(31, 32))
    match mode:
        case "up":
            place = sub(lane, step)
            is_in = negation(less(place, last, signed=True))
        case "down":
            place = add(lane, step)
            is_in = negation(less(last, place, signed=False))
        case "bfly":
            place = bit_xor(lane, step)
            is_in = negation(less(last, place, signed=False))
        case _:
            place = bit_or(first, bit_and(step, const(~segment, 32)))
            is_in = negation(less(last, place, signed=False))
    is_in = bounded(is_in)
    return ite(is_in, place, lane), is_in

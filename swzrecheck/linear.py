"""Lines as sums: a factor for each of some variables, and a rest without them.

Exact as unsigned integers: what could wrap is not a sum here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzrecheck.bounds import bounds
from swzrecheck.program import Operation, Program


@dataclass(frozen=True, slots=True)
class Sum:
    """`factors[i]` times the i-th variable, plus a rest between `low` and `high`."""

    factors: tuple[int, ...]
    low: int
    high: int

    @property
    def plain(self) -> bool:
        """Whether no variable takes part."""
        return not any(self.factors)


def sums(program: Program, variables: Sequence[int]) -> list[Sum | None]:
    """Every line as a sum over some variables; None where it is no such sum.

    >>> x, y = (Operation("var", 6, number=4, name=name) for name in "xy")
    >>> eight = Operation("const", 6, number=8)
    >>> sums((x, y, eight, Operation("bvmul", 6, (0, 2)), Operation("bvadd", 6, (3, 1))), [0])[-1]
    Sum(factors=(8,), low=0, high=3)
    """
    ranges = bounds(program)
    index = {place: number for number, place in enumerate(variables)}
    limits = [program[place].number for place in variables]
    none = (0,) * len(index)
    found: list[Sum | None] = []
    for place, line in enumerate(program):
        given = [found[operand] for operand in line.operands]
        known = [one for one in given if one is not None]
        result: Sum | None = None
        if place in index:
            result = Sum(tuple(int(number == index[place]) for number in range(len(index))), 0, 0)
        elif len(known) == len(given):
            result = Sum(none, *ranges[place]) if all(one.plain for one in known) else _line(line, known)
        if result is not None and not result.plain:
            largest = result.high + sum(f * (limit - 1) for f, limit in zip(result.factors, limits, strict=True))
            result = None if largest >> line.width else result
        found.append(result)
    return found


def _line(line: Operation, given: Sequence[Sum]) -> Sum | None:
    """The sum of integers that an operator gives; the caller checks that it fits the width."""
    if line.operator in ("zero_extend", "extract"):
        return given[0] if line.number == 0 else None
    if line.operator == "bvadd":
        a, b = given
        return Sum(tuple(x + y for x, y in zip(a.factors, b.factors, strict=True)), a.low + b.low, a.high + b.high)
    if line.operator in ("bvmul", "bvshl"):
        for one, other in ((given[0], given[1]), (given[1], given[0])):
            if other.plain and other.low == other.high and (line.operator == "bvmul" or other is given[1]):
                if line.operator == "bvshl" and other.low >= line.width:
                    return None
                factor = other.low if line.operator == "bvmul" else 1 << other.low
                return Sum(tuple(x * factor for x in one.factors), one.low * factor, one.high * factor)
    return None

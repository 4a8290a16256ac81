"""The unsigned values that each line of a program can take: never too few, perhaps too many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from swzrecheck.program import Operation

Bounds: TypeAlias = tuple[int, int]


def bounds(program: Sequence[Operation], variables: Mapping[int, Bounds] | None = None) -> list[Bounds]:
    """The (least, largest) of every line.

    Each variable has the bounds in `variables`, else all values below its limit.

    >>> x = Operation("var", 7, number=100, name="x")
    >>> bounds((x, Operation("const", 7, number=12), Operation("bvand", 7, (0, 1))))
    [(0, 99), (12, 12), (0, 12)]
    """
    found: list[Bounds] = []
    for place, line in enumerate(program):
        if variables is not None and place in variables:
            found.append(variables[place])
            continue
        full = (1 << line.width) - 1
        low, high = _line(line, [found[place] for place in line.operands], [program[p].width for p in line.operands])
        found.append((low, high) if 0 <= low <= high <= full else (0, full))
    return found


def _line(line: Operation, given: Sequence[Bounds], widths: Sequence[int]) -> Bounds:
    """The bounds of the exact integer result; `bounds` replaces those that do not fit the width."""
    operator, full = line.operator, (1 << line.width) - 1
    if operator == "const":
        return line.number, line.number
    if operator == "var":
        return 0, line.number - 1
    if operator == "extract":
        low, high = (value >> line.number for value in given[0])
        return (low, high) if high <= full else (0, full)
    if operator in ("zero_extend", "sign_extend"):
        positive = operator == "zero_extend" or given[0][1] < 1 << (widths[0] - 1)
        return given[0] if positive else (0, full)
    if operator == "ite":
        return min(given[1][0], given[2][0]), max(given[1][1], given[2][1])
    (a, b), (c, d) = given
    if operator in ("=", "bvult", "bvule", "bvslt", "bvsle"):
        return _order(operator, given[0], given[1], widths[0])
    if operator == "bvadd":
        return a + c, b + d
    if operator == "bvsub":
        return a - d, b - c
    if operator == "bvmul":
        return a * c, b * d
    if operator == "bvand":
        return (full if a == c == full else 0), min(b, d)
    if operator == "bvxor" and a == b and c == d:
        return a ^ c, a ^ c
    if operator in ("bvor", "bvxor"):
        return (max(a, c) if operator == "bvor" else 0), (1 << max(b.bit_length(), d.bit_length())) - 1
    if operator == "bvudiv" and c:
        return a // d, b // c
    if operator == "bvurem" and c:
        return 0, min(b, d - 1)
    if operator == "bvlshr":
        return a >> min(d, line.width), b >> min(c, line.width)
    if operator == "bvshl" and d <= line.width:
        return a << c, b << d
    return 0, full


def _order(operator: str, first: Bounds, other: Bounds, width: int) -> Bounds:
    """Whether two ranges decide a comparison; a signed one only where no sign bit can be set."""
    if operator in ("bvslt", "bvsle") and max(first[1], other[1]) >> (width - 1):
        return 0, 1
    if operator == "=":
        one = first[0] == first[1] and first == other
        return int(one), int(first[0] <= other[1] and other[0] <= first[1])
    if operator in ("bvult", "bvslt"):
        return int(first[1] < other[0]), int(first[0] < other[1])
    return int(first[1] <= other[0]), int(first[0] <= other[1])

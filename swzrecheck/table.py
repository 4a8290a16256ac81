"""The values of a program at every point of a box at once: bit i of an integer belongs to point i.

The circuit of `gates` over such integers: a million points cost as much as a hundred operations on
large numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from swzrecheck.gates import Circuit
from swzrecheck.program import Program, reachable, selected

MAX_POINTS = 1 << 21


@dataclass(frozen=True, slots=True)
class SlicedGates:
    """Bits of many points: `one` has a 1 for every point."""

    one: int
    zero: int = 0

    def xor(self, a: int, b: int) -> int:
        """XOR, point by point."""
        return a ^ b

    def conj(self, a: int, b: int) -> int:
        """AND, point by point."""
        return a & b

    def choose(self, condition: int, then: int, otherwise: int) -> int:
        """One of two values by a bit, point by point."""
        return otherwise ^ condition & (then ^ otherwise)

    def majority(self, a: int, b: int, c: int) -> int:
        """The bit that at least two of three have, point by point."""
        return a & b | c & (a ^ b)


@dataclass(frozen=True, slots=True)
class Table:
    """Some lines' bits at every point of a box; the last variable is the fastest.

    `counts` is how many values each variable has, 0 onwards; the others have the value 0.
    """

    points: int
    words: tuple[tuple[int, ...], ...]

    def numbers(self, index: int) -> list[int]:
        """The values of the index-th line, point by point."""
        word = self.words[index]
        if not any(word):
            return [0] * self.points
        # Strings of digits are the quickest way in plain Python from columns to rows; points come
        # last first.
        rows = zip(*(format(bit, f"0{self.points}b") for bit in reversed(word)), strict=True)
        return [int("".join(row), 2) for row in rows][::-1]

    def truths(self, index: int) -> int:
        """The only bit of the index-th line, as an integer over the points."""
        return self.words[index][0]

    def flags(self, truths: int) -> list[bool]:
        """An integer over the points as a list."""
        return [digit == "1" for digit in reversed(format(truths, f"0{self.points}b"))]

    def digest(self) -> str:
        """A fingerprint of all values."""
        size = (self.points + 7) // 8
        found = hashlib.sha256(str(self.points).encode())
        for word in self.words:
            for bit in word:
                found.update(bit.to_bytes(size, "little"))
        return found.hexdigest()


def table(program: Program, roots: Sequence[int], counts: Sequence[tuple[int, int]]) -> Table:
    """The values of some lines; `counts` has variables' places and how many of their values to try.

    Raises:
        ValueError: There are more than 2^21 points.

    >>> from swzrecheck.program import Operation
    >>> x, y = (Operation("var", 2, number=3, name=name) for name in "xy")
    >>> table((x, y, Operation("bvadd", 2, (0, 1))), [2], [(0, 3), (1, 2)]).numbers(0)
    [0, 1, 1, 2, 2, 3]
    """
    points = prod(count for _, count in counts)
    if points > MAX_POINTS:
        raise ValueError(f"{points} points are more than {MAX_POINTS}")
    given: dict[int, list[int]] = {}
    stride = points
    for place, count in counts:
        stride //= count
        given[place] = [_pattern(bit, count, stride, points) for bit in range(program[place].width)]
    needed = reachable(program, roots)
    lines, again = selected(program, needed)
    variables = {
        again[place]: given.get(place, [0] * program[place].width)
        for place in needed
        if program[place].operator == "var"
    }
    words = Circuit(SlicedGates((1 << points) - 1)).run(lines, variables)
    return Table(points, tuple(tuple(words[again[root]]) for root in roots))


def _pattern(bit: int, count: int, stride: int, points: int) -> int:
    """One bit of a variable that takes each value `stride` times, over and over."""
    once = 0
    # Values with this bit set come in runs of 2^bit.
    for start in range(1 << bit, count, 2 << bit):
        length = min(1 << bit, count - start)
        once |= ((1 << length * stride) - 1) << start * stride
    result, filled = once, count * stride
    while filled < points:
        result |= result << filled
        filled *= 2
    return result & ((1 << points) - 1)

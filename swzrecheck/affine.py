"""Bits as affine forms over GF(2): which variable bits a bit is the XOR of, where it is one.

A form is an integer: bit 0 is the constant, bit i + 1 the i-th variable bit; None is a bit that is
not seen to be affine. The circuit is that of `gates`, so nothing here knows an operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from swzrecheck.gates import Circuit
from swzrecheck.program import Program

Form: TypeAlias = int | None


@dataclass(frozen=True, slots=True)
class AffineGates:
    """XOR adds forms. AND is affine of a constant, of equal forms and of opposite forms."""

    zero: Form = 0
    one: Form = 1

    def xor(self, a: Form, b: Form) -> Form:
        """The sum of two forms over GF(2)."""
        return None if a is None or b is None else a ^ b

    def conj(self, a: Form, b: Form) -> Form:
        """The product, where it is affine."""
        if a == 0 or b == 0:
            return 0
        if a in (1, b):
            return b
        if b == 1:
            return a
        return 0 if a is not None and b is not None and a ^ b == 1 else None

    def choose(self, condition: Form, then: Form, otherwise: Form) -> Form:
        """The form otherwise ^ condition & (then ^ otherwise)."""
        if condition == 1:
            return then
        if condition == 0 or then == otherwise:
            return otherwise
        if then is None or otherwise is None:
            return None
        return self.xor(otherwise, self.conj(condition, then ^ otherwise))

    def majority(self, a: Form, b: Form, c: Form) -> Form:
        """Two that agree decide; two that are opposite leave it to the third."""
        for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
            if x is not None and y is not None and x ^ y in (0, 1):
                return z if x ^ y else x
        return None


def numbering(program: Program, variables: Sequence[int]) -> dict[int, int]:
    """The number of each variable's lowest bit among all bits of the variables."""
    first: dict[int, int] = {}
    count = 0
    for place in variables:
        first[place] = count
        count += program[place].width
    return first


def forms(program: Program, variables: Sequence[int], roots: Sequence[int]) -> list[list[Form]]:
    """The forms of some lines' bits, lowest first.

    >>> from swzrecheck.program import Operation
    >>> lines = (Operation("var", 2, number=4, name="x"), Operation("const", 2, number=1))
    >>> forms((*lines, Operation("bvadd", 2, (0, 1))), [0], [2])
    [[3, 6]]
    """
    first = numbering(program, variables)
    given: dict[int, list[Form]] = {}
    for place, line in enumerate(program):
        if line.operator == "var":
            start = first.get(place)
            bits = range(line.width)
            given[place] = [None if start is None else 1 << (start + bit + 1) for bit in bits]
    words = Circuit(AffineGates()).run(program, given)
    return [words[root] for root in roots]


def columns(rows: Sequence[int], bits: Sequence[int]) -> list[int]:
    """For each of some variable bits, which of the rows it flips."""
    return [sum((row >> (bit + 1) & 1) << place for place, row in enumerate(rows)) for bit in bits]


def times(matrix: Sequence[int], vector: int) -> int:
    """The XOR of the columns that a vector selects.

    >>> times([0b01, 0b11], 0b11)
    2
    """
    result = 0
    for place, column in enumerate(matrix):
        if vector >> place & 1:
            result ^= column
    return result


def left_inverse(matrix: Sequence[int]) -> list[int] | None:
    """Columns L that take column i of the matrix to unit vector i; None if columns are dependent.

    >>> left = left_inverse([0b110, 0b100])
    >>> [times(left, column) for column in (0b110, 0b100)]
    [1, 2]
    """
    reduced: list[tuple[int, int, int]] = []  # lowest bit, vector, the combination of columns that it is
    for place, column in enumerate(matrix):
        rest, used = column, 1 << place
        for low, vector, combination in reduced:
            if rest & low:
                rest, used = rest ^ vector, used ^ combination
        if not rest:
            return None
        low = rest & -rest
        # Every vector keeps its own lowest bit to itself, so that a unit row has one preimage.
        reduced = [
            (other, vector ^ rest, combination ^ used) if vector & low else (other, vector, combination)
            for other, vector, combination in reduced
        ]
        reduced.append((low, rest, used))
    rows = max((column.bit_length() for column in matrix), default=0)
    inverse = [0] * rows
    for low, _, combination in reduced:
        inverse[low.bit_length() - 1] = combination
    return inverse


def rank(vectors: Sequence[int]) -> int:
    """The number of independent vectors among some.

    >>> rank([0b011, 0b101, 0b110])
    2
    """
    basis: list[int] = []
    for vector in vectors:
        rest = vector
        for other in basis:
            rest = min(rest, rest ^ other)
        if rest:
            basis.append(rest)
    return len(basis)

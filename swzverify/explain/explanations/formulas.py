"""Statements on the bits of the bank: as formulas, and as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Bit:
    """A bit of a variable: bit `bit` of (value - start) / step.

    If a loop's values are `listed`, it is a bit of the value's index in the list.

    >>> str(Bit("lane", 3)), str(Bit("k", 0, start=8, step=24)), str(Bit("s", 1, listed=True))
    ('lane[3]', '((k-8)/24)[0]', 'index(s)[1]')
    """

    variable: str
    bit: int
    start: int = 0
    step: int = 1
    listed: bool = False

    @property
    def whole(self) -> str:
        """The number that has the bit."""
        if self.listed:
            return f"index({self.variable})"
        minus = f"{self.variable}{-self.start:+d}" if self.start else self.variable
        if self.step == 1:
            return f"({minus})" if self.start else minus
        return f"(({minus})/{self.step})" if self.start else f"({minus}/{self.step})"

    def __str__(self) -> str:
        """The bit as formulas write it."""
        return f"{self.whole}[{self.bit}]"


@dataclass(frozen=True, slots=True)
class BankBit:
    """A bit of the bank of each lane's first word, in every warp instruction.

    Bit `index` of the bank is the XOR of `terms` and `constant`.
    """

    index: int
    terms: tuple[Bit, ...]
    constant: int

    def __str__(self) -> str:
        """The formula.

        >>> str(BankBit(2, (Bit("row", 0), Bit("col", 4)), 1))
        'bank[2] = row[0] ^ col[4] ^ 1'
        """
        return f"bank[{self.index}] = {_formula(self.terms, self.constant)}"


@dataclass(frozen=True, slots=True)
class TileBankBit:
    """A bit of the bank of an element's first byte, by the element's coordinate.

    Bit `index` of the bank is the XOR of `terms` and `constant`, in the stage that starts at
    `start_bytes`.
    """

    tile: str
    index: int
    terms: tuple[Bit, ...]
    constant: int
    start_bytes: int

    def __str__(self) -> str:
        """The formula."""
        return f"bank[{self.index}] = {_formula(self.terms, self.constant)}"


def _formula(terms: tuple[Bit, ...], constant: int) -> str:
    parts = [str(term) for term in terms]
    return " ^ ".join([*parts, *(["1"] if constant else [])]) or "0"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrix over GF(2) from bits of variables (columns) to bits of the bank (rows, bank[0] first).

    `of` says whose bank it is: that of a lane's first word, or of an element. Bits of variables that are
    left out reach no bank bit. `constants` are XORed to the results of the rows.
    """

    of: Literal["access", "tile"]
    columns: tuple[Bit, ...]
    entries: tuple[tuple[int, ...], ...]
    constants: tuple[int, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class NotLinear:
    """The bits of the bank for which no XOR formula is known.

    The bank is that of the access's lanes, or of the tile's elements.
    """

    of: Literal["access", "tile"]
    name: str
    bits: tuple[int, ...]

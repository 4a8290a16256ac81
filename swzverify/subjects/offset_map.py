"""Where a C expression puts the elements of a tile: an index map of one value, read as an offset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula, exchanged, number_text
from swzverify.ir.c_parse import parse
from swzverify.ir.expr import substitute
from swzverify.ir.integers import Integer
from swzverify.layout.int_tuple import Ints
from swzverify.subjects.index_map import IndexMap

MODE_NAMES = "ijklmnop"
"""What the modes of a shape without names are called."""
MAX_ELEMENTS = 1 << 22
"""Of a box that is evaluated point by point; no shared memory has more elements that share no bit."""
BLOCK = 1 << 16


@dataclass(frozen=True, init=False, eq=False, repr=False)
class OffsetMap:
    """The offset of each coordinate of a box, as a C expression: a tile has it in place of a layout.

    `over` names the modes with their extents. The value counts elements or, with `in_bytes`, bytes from
    the start of a stage.

    Raises:
        SwzError: As `IndexMap`; SWZ306 if a value is negative.

    >>> marlin = OffsetMap((("i", 64), ("j", 8)), parse("i*8 + (j ^ i%8)"))
    >>> marlin(9, 0), marlin.extents, marlin.greatest, str(marlin)
    (73, (64, 8), 511, "offset 'i*8 + (j ^ i%8)' for i < 64, j < 8")
    """

    index: IndexMap
    value: CFormula
    in_bytes: bool

    def __init__(
        self,
        over: Sequence[tuple[str, int]],
        value: CFormula,
        *,
        in_bytes: bool = False,
        constants: Mapping[str, int] | None = None,
        name: str = "of a tile",
    ) -> None:
        """`name` is that of the tile, for messages."""
        if "base" in value.names:
            raise SwzError(
                "SWZ105",
                f"tile {name}: its {_word(in_bytes)} counts from the start of a stage and may not read `base`",
                hint="for an XOR of address bits give `layout:` and `swizzle: {..., on: address}`",
                text=value.text,
                span=value.span_of("base"),
            )
        object.__setattr__(self, "index", IndexMap(name, tuple(over), (value,), constants=constants or {}))
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "in_bytes", in_bytes)
        self._require_not_negative()

    @property
    def word(self) -> str:
        """The key that states it: `offset` or `address`."""
        return _word(self.in_bytes)

    @property
    def names(self) -> tuple[str, ...]:
        """The modes' names."""
        return tuple(name for name, _ in self.index.over)

    @property
    def extents(self) -> tuple[int, ...]:
        """The extent of each mode."""
        return tuple(extent for _, extent in self.index.over)

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(self.index.over)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.extents)

    def __str__(self) -> str:
        """The expression and its box."""
        box = ", ".join(f"{name} < {extent}" for name, extent in self.index.over)
        return f"{self.word} '{self.value}' for {box}"

    def __call__(self, *coord: Ints) -> Ints:
        """The value at a coordinate, in plain integers: ints or int64 arrays."""
        if all(isinstance(each, int) for each in coord):
            return self.index.at(dict(zip(self.names, cast("Sequence[int]", coord), strict=True)))[0]
        arrays = {name: np.asarray(each, dtype=np.int64) for name, each in zip(self.names, coord, strict=True)}
        return self.index.at_many(arrays)[0]

    def lower(self, coord: Sequence[Integer]) -> Integer:
        """The value over expressions, at coordinates that lie in the box."""
        places = zip(self.index.variables, coord, strict=True)
        within = {node: ints.resize(each, node.width) for node, each in places}
        found = self._lowered
        return Integer(substitute(found.bits, dict(within)), found.low, found.high)

    def at_coordinate(self, coord: Sequence[CFormula]) -> CFormula:
        """The expression with each mode's name replaced by the coordinate's text in parentheses.

        Constants are written as numbers, because those of an access are its own.

        Raises:
            SwzError: SWZ302 if the result is too long.

        >>> stored = OffsetMap((("i", 8), ("j", 8)), parse("i*P + j"), constants={"P": 9})
        >>> str(stored.at_coordinate((parse("tid/8"), parse("tid%8"))))
        '(tid/8)*9 + (tid%8)'
        """
        stands_for = {name: number_text(value) for name, value in self.index.constants.items()}
        stands_for |= {name: f"({each.text})" for name, each in zip(self.names, coord, strict=True)}
        try:
            return parse(exchanged(self.value, stands_for))
        except SwzError as error:
            raise SwzError(
                error.code,
                f"tile {self.index.name}: its {self.word} with the coordinate written out: {error.message}",
                hint="shorten the coordinate, or the tile's expression",
            ) from None

    @property
    def high(self) -> int:
        """A number that no value exceeds; not always the least one."""
        return self._lowered.high

    @cached_property
    def greatest(self) -> int:
        """The greatest value, exactly.

        Raises:
            SwzError: SWZ206 if there are too many elements to try each, and the bounds do not tell.
        """
        if self.size <= MAX_ELEMENTS:
            return max(int(values.max()) for _, values in self._blocks())
        # Bounds are never too small: where a corner reaches them, they are the greatest value.
        corners = product(*(dict.fromkeys((0, extent - 1)) for extent in self.extents))
        if any(self.index.at(dict(zip(self.names, corner, strict=True)))[0] == self.high for corner in corners):
            return self.high
        raise SwzError(
            "SWZ206",
            f"tile {self.index.name}: its {self.size} elements are too many to find the greatest {self.word} of "
            f"'{self.value}', which is at most {self.high}",
            hint="give `bytes:`, the allocation of one stage",
            text=self.value.text,
            span=(0, len(self.value.text)),
        )

    def room_bits(self, element_bits: int) -> int:
        """The exact number of bits from the start to the end of the last element; errors as `greatest`."""
        return _end_bits(self.greatest, element_bits, in_bytes=self.in_bytes)

    def room_bits_at_most(self, element_bits: int) -> int:
        """A number of bits that `room_bits` does not exceed."""
        return _end_bits(self.high, element_bits, in_bytes=self.in_bytes)

    @cached_property
    def _lowered(self) -> Integer:
        """The value over the box's variables; it is not negative."""
        return ints.maximum(self.index.lowered[0], ints.integer(0))

    def _blocks(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Every element's number and value, some at a time; the first mode runs fastest."""
        for first in range(0, self.size, BLOCK):
            rest = numbers = np.arange(first, min(self.size, first + BLOCK), dtype=np.int64)
            coord: list[NDArray[np.int64]] = []
            for extent in self.extents:
                coord.append(rest % extent)
                rest = rest // extent
            yield numbers, np.broadcast_to(np.asarray(self(*coord)), numbers.shape)

    def _coordinate(self, number: int) -> tuple[int, ...]:
        """The coordinate of an element's number."""
        found: list[int] = []
        for extent in self.extents:
            number, digit = divmod(number, extent)
            found.append(digit)
        return tuple(found)

    def _require_not_negative(self) -> None:
        low = self.index.lowered[0].low
        if low >= 0:
            return
        said = f"was not shown to be at least 0: bounds allow {low}, and {self.size} elements are too many to try each"
        if self.size <= MAX_ELEMENTS:
            worst = min(((int(values.min()), int(numbers[values.argmin()])) for numbers, values in self._blocks()))
            if worst[0] >= 0:
                return
            said = f"is {worst[0]} at {self._coordinate(worst[1])}"
        raise SwzError(
            "SWZ306",
            f"tile {self.index.name}: the {self.word} '{self.value}' {said}; it must not be negative",
            hint="it counts from the tile's start: add what is missing",
            text=self.value.text,
            span=(0, len(self.value.text)),
        )


def _word(in_bytes: bool) -> str:
    return "address" if in_bytes else "offset"


def _end_bits(value: int, element_bits: int, *, in_bytes: bool) -> int:
    return value * 8 + element_bits if in_bytes else (value + 1) * element_bits

"""Statements on what an access would take with another swizzle of its tile, or with a pad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from swzverify.layout import Swizzle
from swzverify.subjects.tile import SwizzleOn


@dataclass(frozen=True, slots=True)
class Change:
    """The cost of the access if its tile has `swizzle` in place of its own swizzle.

    It is the same swizzle with `parameter` one more or one less, or no swizzle.
    """

    parameter: Literal["B", "M", "S", "none"]
    swizzle: Swizzle | None
    wavefronts: int
    bank_conflicts: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """The effect of swizzles that differ from the tile's in `parameter` alone.

    Attributes:
        parameter: The parameter that differs.
        now: The tile's own value of the parameter.
        wavefronts: The wavefronts of the access with the tile's own value.
        bank_conflicts: Its bank conflicts with that value.
        tried: The values that were priced.
        fewest: The fewest wavefronts of the access with one of them.
        values: The values that give the fewest wavefronts.
    """

    parameter: Literal["B", "M", "S"]
    now: int
    wavefronts: int
    bank_conflicts: int
    tried: tuple[int, ...]
    fewest: int
    values: tuple[int, ...]

    @property
    def verdict(self) -> Literal["right", "no help", "too small", "too large", "misplaced"]:
        """Whether the tile's value is right, and if not, what is wrong with it.

        It is `right` if there is no conflict, and `no help` if no other value gives fewer wavefronts. If
        another value does, B is `too small` or `too large`, and M or S is `misplaced`.
        """
        if self.fewest == self.wavefronts:
            return "no help" if self.bank_conflicts else "right"
        if self.parameter == "B":
            return "too small" if min(self.values) > self.now else "too large"
        return "misplaced"


@dataclass(frozen=True, slots=True)
class BestSwizzle:
    """The best of all swizzles that read the lowest `reach` bits only.

    Attributes:
        on: What the swizzles act on.
        count: The number of swizzles that were priced.
        least: The lowest M.
        reach: The number of bits that the swizzles may read.
        most_bits: The largest B; B starts at 1, and S at B.
        wavefronts: The fewest wavefronts of the access.
        bank_conflicts: The bank conflicts with these wavefronts.
        winners: The number of swizzles that give the fewest wavefronts.
        first: The winner with the fewest bits, then the lowest M, then the lowest S.
    """

    on: SwizzleOn
    count: int
    least: int
    reach: int
    most_bits: int
    wavefronts: int
    bank_conflicts: int
    winners: int
    first: Swizzle


@dataclass(frozen=True, slots=True)
class LeastBase:
    """The lowest M of a swizzle that keeps the access's vectors whole.

    The vectors have 2^least elements, or bytes if the swizzle acts on addresses.
    """

    least: int
    on: SwizzleOn


@dataclass(frozen=True, slots=True)
class BestPad:
    """The first pad, the fewest bytes first, that leaves the access without conflicts.

    `pad` elements follow each run of `row` elements. `wavefronts` and `bank_conflicts` are those with
    the padded `layout`.
    """

    pad: int
    row: int
    layout: str
    wavefronts: int
    bank_conflicts: int

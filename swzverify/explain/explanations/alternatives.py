"""Statements on what an access would take with another swizzle of its tile, or with a pad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from swzverify.layout import Swizzle
from swzverify.subjects.tile import SwizzleOn


@dataclass(frozen=True, slots=True)
class Change:
    """What the access takes where its tile has `swizzle` in place of its own: the same with
    `parameter` one more or one less, or no swizzle at all.
    """

    parameter: Literal["B", "M", "S", "none"]
    swizzle: Swizzle | None
    wavefronts: int
    bank_conflicts: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """What swizzles do that differ from the tile's in `parameter` alone, at the values `tried`.
    `fewest` are the fewest wavefronts that the access takes with one of them, `values` give these.
    `now` is the tile's own value, `wavefronts` and `bank_conflicts` are what the access takes with
    it.
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
        """`right` where there is no conflict, `no help` where no other value gives fewer
        wavefronts. Where another value does, B is `too small` or `too large`, and M or S is
        `misplaced`.
        """
        if self.fewest == self.wavefronts:
            return "no help" if self.bank_conflicts else "right"
        if self.parameter == "B":
            return "too small" if min(self.values) > self.now else "too large"
        return "misplaced"


@dataclass(frozen=True, slots=True)
class BestSwizzle:
    """The best of all `count` swizzles that look at the lowest `reach` bits only, with B from 1 to
    `most_bits`, M from `least` on and S from B on. `winners` of them give the access the fewest
    `wavefronts`; `first` is the winner with the fewest bits, then the lowest M, then the lowest S.
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
    """A swizzle with an M below `least` can tear the access's vectors apart: they have 2^least
    elements, or bytes where it acts `on` addresses.
    """

    least: int
    on: SwizzleOn


@dataclass(frozen=True, slots=True)
class BestPad:
    """The first pad, the fewest bytes first, that leaves the access no conflict: `pad` elements
    behind each run of `row` elements. `wavefronts` and `bank_conflicts` are those with the padded
    `layout`.
    """

    pad: int
    row: int
    layout: str
    wavefronts: int
    bank_conflicts: int

"""Statements on what an access would take with another swizzle of its tile, or with a pad."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from swzverify.layout import Swizzle
from swzverify.subjects.tile import SwizzleOn


@dataclass(frozen=True, slots=True)
class Change:
    """What the access takes where the swizzle of its tile is `swizzle` in place of its own: its
    parameter `parameter` one more or one less, or none at all.
    """

    parameter: Literal["B", "M", "S", "none"]
    swizzle: Swizzle | None
    wavefronts: int
    bank_conflicts: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """Of the swizzles that differ from the tile's in `parameter` alone, at the values `tried`: the
    fewest wavefronts that the access takes, and the values that give them. `now` is the tile's own
    value, `wavefronts` and `bank_conflicts` what the access takes with it.
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
        """`right` for no conflict, `no help` for no other value with fewer wavefronts; a B that is
        `too small` or `too large`, and an M or S that is `misplaced`, where others have fewer.
        """
        if self.fewest == self.wavefronts:
            return "no help" if self.bank_conflicts else "right"
        if self.parameter == "B":
            return "too small" if min(self.values) > self.now else "too large"
        return "misplaced"


@dataclass(frozen=True, slots=True)
class BestSwizzle:
    """Of all `count` swizzles with B from 1 to `most_bits`, M from `least` on and S from B on that look
    at the lowest `reach` bits only, `winners` have the fewest `wavefronts` of the access; `first` is
    the one of them with the fewest bits, then the lowest M, then the lowest S.
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
    """With an M below `least`, a swizzle can tear the access's vectors of 2^least elements, or bytes
    of addresses, apart.
    """

    least: int
    on: SwizzleOn


@dataclass(frozen=True, slots=True)
class BestPad:
    """The first pad behind each run of `row` elements, the fewest bytes first, that leaves the access
    no conflict: what it takes with `layout`.
    """

    pad: int
    row: int
    layout: str
    wavefronts: int
    bank_conflicts: int

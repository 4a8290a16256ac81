"""What an explanation says: statements, each with all that a check of it needs.

A renderer makes a sentence of each and adds nothing. docs/explain.md says what each statement
means; tests judge every field by brute force. A *unit* is what a lane touches, 4 bytes at least; a
*slot* is the place of a unit in the 128 bytes that all banks give at once: the bank of its first
word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd
from typing import Literal, TypeAlias

from swzverify.explain.explanations.alternatives import BestPad, BestSwizzle, Change, LeastBase, Parameter
from swzverify.explain.explanations.formulas import BankBit, Bit, Matrix, NotLinear, TileBankBit
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES
from swzverify.layout import Swizzle
from swzverify.subjects.tile import SwizzleOn

__all__ = [
    "Apart",
    "BankBit",
    "BestPad",
    "BestSwizzle",
    "Bit",
    "Change",
    "Cost",
    "Crowd",
    "Explained",
    "Explanation",
    "Kernel",
    "LeastBase",
    "Level",
    "Limit",
    "Matrix",
    "Merged",
    "NotLinear",
    "OneToOne",
    "Parameter",
    "Period",
    "Pitch",
    "Rank",
    "Statement",
    "Steps",
    "SwizzleBits",
    "TileBankBit",
    "Unpriced",
]


@dataclass(frozen=True, slots=True)
class Cost:
    """The worst warp instruction of an access.

    Attributes:
        access: The name of the access.
        instruction: The name of the instruction.
        target: The name of the target.
        evidence: How the cost rule is known.
        wavefronts: The wavefronts of the worst warp instruction.
        minimum: The minimum of its active lanes.
        bank_conflicts: The most bank conflicts of a warp instruction.
        instructions: The number of warp instructions with an active lane.
        where: The values of the variables at the worst warp instruction.
    """

    access: str
    instruction: str
    target: str
    evidence: str
    wavefronts: int
    minimum: int
    bank_conflicts: int
    instructions: int
    where: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Limit:
    """A claim on costs: `at_most` wavefronts, or no conflict if that is None.

    `kept` says whether the costs keep it.
    """

    kind: str
    subject: str
    at_most: int | None
    exactly: bool
    kept: bool


@dataclass(frozen=True, slots=True)
class Rank:
    """The units and slots of every warp instruction, by ranks.

    Attributes:
        group_bits: A group has 2^group_bits lanes.
        unit_bytes: The size of a unit.
        unit_rank: The lanes of a group touch 2^unit_rank different units.
        slot_rank: These units lie in 2^slot_rank slots of the 128 / unit_bytes, equally many in each.
        groups: The number of groups of a warp instruction.
        joined: Whether neighbouring groups are joined.
        counts_equal: Whether equal words are not merged: the number of lanes then stands for the number
            of units.
    """

    group_bits: int
    unit_bytes: int
    unit_rank: int
    slot_rank: int
    groups: int
    joined: bool
    counts_equal: bool

    @property
    def each(self) -> int:
        """Wavefronts of a group."""
        return 1 << ((self.group_bits if self.counts_equal else self.unit_rank) - self.slot_rank)

    @property
    def wavefronts(self) -> int:
        """Wavefronts of a warp instruction."""
        return self.groups * self.each

    @property
    def slots(self) -> int:
        """Slots of a line of 128 bytes."""
        return BANK_PERIOD_BYTES // self.unit_bytes


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel vector: lanes l and l ^ vector of a group meet in a slot and are not merged.

    This holds in every warp instruction. `lanes` are such a pair, and `words` are their first words at
    `where`. `bits` are the bits of the lane that differ. `alone` says that each of them reaches no bit of
    the slot by itself; else they reach some, and cancel.
    """

    vector: int
    lanes: tuple[int, int]
    words: tuple[int, int]
    bank: int
    alone: bool
    where: Mapping[str, int]

    @property
    def bits(self) -> tuple[int, ...]:
        """The bits of the lane that differ."""
        return _bits(self.vector)


@dataclass(frozen=True, slots=True)
class Merged:
    """A merging vector: lanes l and l ^ vector of a group touch the same unit, which counts once.

    This holds in every warp instruction.
    """

    vector: int

    @property
    def bits(self) -> tuple[int, ...]:
        """The bits of the lane that differ."""
        return _bits(self.vector)


def _bits(vector: int) -> tuple[int, ...]:
    return tuple(bit for bit in range(vector.bit_length()) if vector >> bit & 1)


@dataclass(frozen=True, slots=True)
class Crowd:
    """The lanes of a group that need a word of one bank, at `where`.

    `words` are the different words that `lanes` need in `bank`: no bank of any group has more that
    count. `wavefronts` is the cost of the group. `counts_equal` says that each lane counts, even with an
    equal word.
    """

    lanes: tuple[int, ...]
    bank: int
    words: tuple[int, ...]
    wavefronts: int
    counts_equal: bool
    where: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Apart:
    """The lanes that copy in the most expensive octet at `where`, by classes.

    Lanes of different classes never share a wavefront.
    """

    classes: tuple[tuple[int, ...], ...]
    wavefronts: int
    where: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Level:
    """`count` steps of `step_bytes`."""

    count: int
    step_bytes: int

    @property
    def divisor(self) -> int:
        """The gcd of the step and 128 bytes, the period of the banks."""
        return gcd(self.step_bytes, BANK_PERIOD_BYTES)

    @property
    def order(self) -> int:
        """The order of the step modulo 128 bytes.

        After this many steps, and not before, an address is back at its place in the banks.
        """
        return BANK_PERIOD_BYTES // self.divisor


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps by which the addresses of a group of lanes go up, at `where`.

    `levels` has the fastest level first. The i-th lane's address is the first one's plus the sum of
    (digit of i) * step_bytes, with the digits of i by the counts. If there is one level, which steps by
    whole units, `wavefronts` are those of the group by the order of the step; else None.
    """

    lanes: tuple[int, ...]
    levels: tuple[Level, ...]
    wavefronts: int | None
    where: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pitch:
    """The step of a mode's leaf, number `leaf` of `leaves`.

    One step moves by `level.step_bytes`; the leaf has `level.count` values. If the tile is `swizzled`,
    this holds without the swizzle.
    """

    tile: str
    mode: str
    leaf: int
    leaves: int
    level: Level
    swizzled: bool


@dataclass(frozen=True, slots=True)
class Period:
    """The number of steps of a mode after which the banks of all elements repeat.

    The other modes stay. `period` is the smallest such number, at most half of the mode's `extent`, or
    None if there is none. The stage starts at `start_bytes`.
    """

    tile: str
    mode: str
    extent: int
    period: int | None
    start_bytes: int


@dataclass(frozen=True, slots=True)
class SwizzleBits:
    """The swizzle of a tile: it XORs bits Y of the offset or address onto bits Z, in the same order.

    `width` bits are drawn. `byte_shift` is log2 of the bytes of its unit, which is an element or a byte;
    None if the unit is no power of two of bytes.
    """

    tile: str
    swizzle: Swizzle
    on: SwizzleOn
    width: int
    byte_shift: int | None

    @property
    def picture(self) -> str:
        """The bits, the highest first: Y is read, Z is changed.

        >>> SwizzleBits("A", Swizzle(3, 4, 3), "address", 16, 0).picture
        '0bxxxxxxYYYZZZxxxx'
        """
        read, changed = self.swizzle.yyy_mask, self.swizzle.zzz_mask
        signs = ("Y" if read >> bit & 1 else "Z" if changed >> bit & 1 else "x" for bit in reversed(range(self.width)))
        return "0b" + "".join(signs)

    @property
    def bank_bits(self) -> tuple[int, ...] | None:
        """The bits of the bank that the swizzle can change; None without a `byte_shift`."""
        if self.byte_shift is None:
            return None
        low = BANK_WORD_BYTES.bit_length() - 1
        high = BANK_PERIOD_BYTES.bit_length() - 1
        moved = [bit + self.byte_shift for bit in _bits(self.swizzle.zzz_mask)]
        return tuple(bit - low for bit in moved if low <= bit < high)


@dataclass(frozen=True, slots=True)
class OneToOne:
    """The map from a tile's coordinates to its offsets, linear over GF(2).

    It is one to one if its `rank` equals the number of `bits` of a coordinate.
    """

    tile: str
    rank: int
    bits: int


@dataclass(frozen=True, slots=True)
class Unpriced:
    """Why the access has no list of warp instructions to price: an error of `cost`."""

    access: str
    code: str
    why: str


Statement: TypeAlias = (
    Cost
    | Limit
    | BankBit
    | TileBankBit
    | Matrix
    | Rank
    | Kernel
    | Merged
    | Crowd
    | Apart
    | Steps
    | Pitch
    | Period
    | SwizzleBits
    | OneToOne
    | Change
    | Parameter
    | BestSwizzle
    | LeastBase
    | BestPad
    | NotLinear
    | Unpriced
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """All statements on one tile or access; `heading` has its name and its map or instruction."""

    kind: Literal["access", "tile"]
    name: str
    heading: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanations of `what` a command line names, in a case of a spec's constants."""

    what: str
    case: Mapping[str, int]
    explanations: tuple[Explanation, ...]

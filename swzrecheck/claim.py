"""What a certificate says, as data: a claim, and its tiles, accesses, maps, listings, kernels and operands.

This is the statement: a recheck prints it in words (`claim_words`) and derives from it everything
that is asked (`kinds`). Nothing of the front end is used; numbers are in bytes and bits as
docs/semantics.md has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import TypeAlias

from swzrecheck.compiled import KernelAccess, Listing

ADDRESS_LIMIT_BYTES = 1 << 24
"""Open bases lie below this."""
ANY_VALUES = 1 << 32
"""An unbounded loop ends before this value."""
LANES = 32
THREAD_NAMES = frozenset({"tid", "lane", "warp", "tid_x", "tid_y", "tid_z"}).union(
    f"{part}.{axis}" for part in ("threadIdx", "blockDim") for axis in "xyz"
)
"""What an access's expressions may read besides constants and loop variables."""


@dataclass(frozen=True, slots=True)
class Base:
    """The address `start` plus every multiple of `align` bytes below 2^24; with `align` 0, `start` only.

    `memory` names the memory of the base.
    """

    start: int
    align: int
    memory: str = ""

    @property
    def count(self) -> int:
        """The number of bases."""
        return ADDRESS_LIMIT_BYTES // self.align if self.align else 1


@dataclass(frozen=True, slots=True)
class Swizzle:
    """CuTe's `Swizzle<bits,base,shift>`, on element offsets or on byte addresses."""

    bits: int
    base: int
    shift: int
    on_address: bool


@dataclass(frozen=True, slots=True)
class Placing:
    """A C expression of the coordinate that gives each element's offset from the start of a stage.

    `counts` says whether it counts elements or bytes.
    """

    over: tuple[tuple[str, int], ...]
    value: str
    counts: str
    constants: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of elements at a layout.

    Attributes:
        name: The name of the tile.
        element_bits: The size of an element in bits.
        modes: The (extent, stride) of each leaf of each mode, in order; empty with a `placing`.
        swizzle: The swizzle, if there is one; None with a `placing`.
        base: The base of the tile.
        stages: The number of stages.
        allocation: The size of one stage in bytes.
        pitch: The distance of stages in bytes; 0 for one stage.
        placing: The expression that places elements instead of a layout.
    """

    name: str
    element_bits: int
    modes: tuple[tuple[tuple[int, int], ...], ...]
    swizzle: Swizzle | None
    base: Base
    stages: int
    allocation: int
    pitch: int
    placing: Placing | None = None

    @property
    def leaves(self) -> tuple[tuple[int, int], ...]:
        """All (extent, stride), in order."""
        return tuple(leaf for mode in self.modes for leaf in mode)

    @property
    def extents(self) -> tuple[int, ...]:
        """How many coordinates each mode has."""
        if self.placing is not None:
            return tuple(extent for _, extent in self.placing.over)
        return tuple(prod(extent for extent, _ in mode) for mode in self.modes)

    @property
    def size(self) -> int:
        """The number of elements of the tile."""
        return prod(self.extents)

    @property
    def run_bits(self) -> int:
        """The bits side by side without the swizzle: leaves that continue each other."""
        run = 1
        for extent, stride in sorted(self.leaves, key=lambda leaf: leaf[1]):
            run *= extent if stride == run else 1
        return run * self.element_bits

    @property
    def unit_bits(self) -> int:
        """Bits of a unit, in which positions count: 8, or 1 where elements are not whole bytes."""
        return 1 if self.element_bits % 8 else 8

    @property
    def element_units(self) -> int:
        """The units of an element: bytes, or bits where a unit is a bit."""
        return self.element_bits // self.unit_bits

    @property
    def step_units(self) -> int:
        """Units from one offset to the next."""
        return 1 if self.counts_bytes else self.element_units

    @property
    def counts_bytes(self) -> bool:
        """Whether a placing gives byte addresses, from the start of the stage."""
        return self.placing is not None and self.placing.counts == "bytes"

    @property
    def offsets_decide(self) -> bool:
        """Whether a claim on vectors speaks of offsets, not of addresses."""
        return not (self.swizzle is not None and self.swizzle.on_address) and not self.counts_bytes


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (name = start; name < stop; name += step)`; without `stop` every value below 2^32."""

    name: str
    start: int
    stop: int | None
    step: int

    @property
    def count(self) -> int:
        """The number of iterations."""
        return max(0, -(-((ANY_VALUES if self.stop is None else self.stop) - self.start) // self.step))

    @property
    def is_unbounded(self) -> bool:
        """Whether it goes on as long as nothing overflows."""
        return self.stop is None

    @property
    def key(self) -> tuple[int, ...]:
        """Equal for two loops of the same start, step and number of iterations."""
        return (self.start, self.step, self.count)


@dataclass(frozen=True, slots=True)
class ListedLoop:
    """A loop over these values, which are in ascending order."""

    name: str
    values: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of iterations."""
        return len(self.values)

    @property
    def is_unbounded(self) -> bool:
        """Whether the loop has no bound: a list of values always has one."""
        return False

    @property
    def key(self) -> tuple[int | str, ...]:
        """Equal for two loops of the same values, and for no `Loop`."""
        return ("values", *self.values)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A thread's own value in each iteration: one of start, start + step, ... below stop."""

    name: str
    start: int
    stop: int
    step: int

    @property
    def count(self) -> int:
        """The number of values."""
        return -(-(self.stop - self.start) // self.step)


@dataclass(frozen=True, slots=True)
class Access:
    """A warp instruction at a tile's coordinate, or at an address.

    Attributes:
        name: The name of the access.
        instruction: The name of the instruction.
        block: The shape of the block.
        loops: The loops around the access.
        constants: The values of the constants that expressions name.
        tile: The name of the tile; empty for an address.
        coord: The coordinate, a C text for each mode.
        stage: The stage, as C text, if the access chooses it.
        address: The byte address from `base` on, as C text.
        base: The base of an address.
        bytes: The size of the array, if it is known.
        predicate: The condition under which a lane takes part, as C text.
        assume: The conditions on iterations, as C texts.
        unknowns: The values that each lane has of its own.
    """

    name: str
    instruction: str
    block: tuple[int, ...]
    loops: tuple[Loop | ListedLoop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    tile: str = ""
    coord: tuple[str, ...] = ()
    stage: str | None = None
    address: str | None = None
    base: Base = Base(0, 0)
    bytes: int | None = None
    predicate: str | None = None
    assume: tuple[str, ...] = ()
    unknowns: tuple[Unknown, ...] = ()

    @property
    def threads(self) -> int:
        """The number of threads in the block."""
        return prod(self.block)

    @property
    def warps(self) -> int:
        """Warps of the block, the last one perhaps partial."""
        return -(-self.threads // LANES)


@dataclass(frozen=True, slots=True)
class IndexMap:
    """C expressions over a box of variables; `onto` is the box that the values should fill."""

    name: str
    over: tuple[tuple[str, int], ...]
    value: tuple[str, ...]
    onto: tuple[int, ...] | None = None
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    base: Base | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """What the tensor core reads through a descriptor, and what it should read (semantics, section 9)."""

    name: str
    instruction: str
    role: str
    major: str
    lbo: int
    sbo: int
    swizzle: str
    base_offset: int
    start: str
    base: Base
    tile: str
    at: tuple[str, ...]
    stage: str | None
    modes: tuple[str, ...]
    loops: tuple[Loop | ListedLoop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def _shape(self) -> list[int]:
        """M, N and K."""
        return [int(each) for each in re.findall(r"(?<=[mnk])\d+", self.instruction.split(".")[-2])]

    @property
    def rows(self) -> int:
        """Rows of M for A, columns of N for B."""
        return self._shape[0 if self.role == "A" else 1]

    @property
    def columns(self) -> int:
        """Elements along K."""
        return self._shape[2]

    @property
    def element_bytes(self) -> int:
        """Bytes of an element: an instruction reads 32 bytes of K."""
        return 32 // self.columns

    @property
    def width(self) -> int:
        """Bytes of a row of the swizzle's atom; 0 without a swizzle."""
        return 0 if self.swizzle == "none" else int(self.swizzle[:-1])


Subject: TypeAlias = Tile | Access | IndexMap | Listing | KernelAccess | Operand


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with everything that it names.

    Attributes:
        kind: The kind of the claim.
        of: The subjects by role and name, such as `("tile", "A")`.
        numbers: The numbers of the claim by name.
        tiles: The tiles by name.
        accesses: The accesses by name.
        maps: The index maps by name.
        listings: The listings by name.
        kernels: The accesses of kernels by name.
    """

    kind: str
    of: tuple[tuple[str, str], ...]
    numbers: Mapping[str, int]
    tiles: Mapping[str, Tile]
    accesses: Mapping[str, Access]
    maps: Mapping[str, IndexMap]
    listings: Mapping[str, Listing] = field(default_factory=dict[str, Listing])
    kernels: Mapping[str, KernelAccess] = field(default_factory=dict[str, KernelAccess])
    operands: Mapping[str, Operand] = field(default_factory=dict[str, Operand])

    def about(self, index: int) -> Subject:
        """The index-th subject."""
        role, name = self.of[index]
        found: dict[str, Mapping[str, Subject]] = {
            "tile": self.tiles,
            "access": self.accesses,
            "map": self.maps,
            "listing": self.listings,
            "kernel": self.kernels,
            "operand": self.operands,
        }
        return found[role][name]

    def tile_of(self, access: Access) -> Tile | None:
        """The tile that an access goes to; None for a bare address."""
        return self.tiles[access.tile] if access.tile else None

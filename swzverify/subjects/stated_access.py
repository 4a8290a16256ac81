"""The fields of an access, their direct consequences, and checks against what no hardware can run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from types import NoneType
from typing import Final, NoReturn, Self

from swzverify.errors import SwzError
from swzverify.hardware import (
    BANK_PERIOD_BYTES,
    CHUNK_BYTES,
    LANES,
    MOST_BLOCK_THREADS,
    Instruction,
    Target,
    require,
    require_rows,
)
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import Var, var
from swzverify.ir.whole import keep_whole, required, whole
from swzverify.subjects.fragment import Fragment
from swzverify.subjects.listed_loop import AnyLoop, ListedLoop
from swzverify.subjects.loop import AXIS_WORDS, LANE, STAGE, WARP, Loop, check_variables, own_constants, own_tuple
from swzverify.subjects.memory import BASE, AlignedBase, Base, FixedBase, MemoryBase, Origin, origin
from swzverify.subjects.offset_map import OffsetMap
from swzverify.subjects.tile import Tile
from swzverify.subjects.unknown import Unknown

UNSAID = FixedBase(0)
"""The base of an access that says none: this very object, so that a base of 0 that is said is
another one.
"""


ANYWHERE: Final = AlignedBase(CHUNK_BYTES)
"""Where an array begins that a copy reads, if nothing is said of it: anywhere that the copy can read from."""
SOURCE: Final = "source.base"
"""The variable of where the array begins that a copy reads, in lines of 128 bytes; no name of a spec has a dot."""


@dataclass(frozen=True, eq=False)
class StatedAccess:
    """The fields of an `Access`; its formulas are not judged yet.

    Attributes:
        name: The name.
        instruction: The row of the table.
        target: The target.
        block: The shape of the block.
        loops: The loops around it, the outermost first.
        constants: The values of the constants that expressions name.
        tile: The tile that it reads or writes; None for an address.
        coord: The coordinate in the tile, one formula per mode.
        stage: The stage of the tile, if the access chooses it.
        address: The byte address from `base` on; None for a tile.
        base: The base of the address.
        bytes: The size of the array of an address, if it is stated.
        predicate: The condition under which a lane takes part.
        assume: The conditions on iterations.
        place: The base after the access was moved; None if it was not.
        room: How far loop variables go in a comparison with another access.
        unknowns: The values that each lane has of its own.
        source: The byte address in global memory that each lane of a copy reads, counted from
            `source_base`. Without it an octet reads one line.
        source_base: The base of the source.
        fragment: What its registers should hold for `mma.sync`; None if nothing is said.
    """

    name: str
    instruction: Instruction
    target: Target
    block: tuple[int, ...]
    loops: tuple[AnyLoop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    tile: Tile | None = None
    coord: tuple[CFormula, ...] = ()
    stage: CFormula | None = None
    address: CFormula | None = None
    base: Base = UNSAID
    bytes: int | None = None
    predicate: CFormula | None = None
    assume: tuple[CFormula, ...] = ()
    place: Origin | None = None
    room: tuple[int, ...] = ()
    unknowns: tuple[Unknown, ...] = ()
    source: CFormula | None = None
    source_base: AlignedBase | FixedBase = ANYWHERE
    fragment: Fragment | None = None

    def __post_init__(self) -> None:
        """Refuse what no hardware would run and what C leaves undefined."""
        owner = f"access {self.name}"
        for name in ("block", "loops", "coord", "assume", "room", "unknowns"):
            object.__setattr__(self, name, own_tuple(owner, name, getattr(self, name)))
        object.__setattr__(self, "block", tuple(whole(each) or each for each in self.block))
        object.__setattr__(self, "room", tuple(required(each, f"{owner}: an entry of room") for each in self.room))
        keep_whole(self, owner, optional=("bytes",))
        self._check_types()
        object.__setattr__(self, "constants", own_constants(owner, self.constants))
        if (self.tile is None) == (self.address is None):
            raise SwzError("SWZ104", f"access {self.name} needs a tile and a coordinate, or an address")
        require_rows(self.target, self.instruction)
        require(self.target, self.instruction)
        self._settle_memory()
        self._check_source()
        self._check_lanes()
        self._check_names()
        self._check_width()

    def _check_types(self) -> None:
        """Refuse, by SWZ105, texts where objects are wanted."""
        wanted: list[tuple[str, object, type | tuple[type, ...], str]] = [
            ("instruction", self.instruction, Instruction, "find_instruction('ld.shared.b32')"),
            ("target", self.target, Target, "find_target('sm_90')"),
            ("tile", self.tile, (Tile, NoneType), "the Tile itself"),
            ("base", self.base, (AlignedBase, FixedBase, MemoryBase), "AlignedBase(1024)"),
            ("source_base", self.source_base, (AlignedBase, FixedBase), "AlignedBase(256)"),
            ("place", self.place, (Origin, NoneType), "origin(AlignedBase(1024))"),
            ("fragment", self.fragment, (Fragment, NoneType), "a Fragment"),
            *(("block", extent, int, "a tuple of ints, such as (32, 4)") for extent in self.block),
            *(("loops", loop, (Loop, ListedLoop), "Loop('k', 0, 64, 16)") for loop in self.loops),
            *(("unknowns", each, Unknown, "Unknown('bin', 0, 64)") for each in self.unknowns),
        ]
        for what, value, kinds, example in wanted:
            if not isinstance(value, kinds) or isinstance(value, bool):
                self._refuse_type(value, what, example)
        for each in self._stated:
            if not isinstance(each, CFormula):  # pyright: ignore[reportUnnecessaryIsInstance]
                self._refuse_type(each, "expression", "parse('tid*4')")

    def _refuse_type(self, value: object, what: str, example: str) -> NoReturn:
        raise SwzError("SWZ105", f"access {self.name}: {value!r} ({type(value).__name__}) is no {what}", hint=example)

    def _settle_memory(self) -> None:
        """Give an access to global memory its default base, and refuse places in shared memory for it.

        The default base is any multiple of the width.

        Raises:
            SwzError: SWZ409.
        """
        if not self.instruction.is_global:
            return
        if self.tile is not None or isinstance(self.base, MemoryBase):
            what = "a tile" if self.tile is not None else "a place in a memory"
            raise SwzError(
                "SWZ409",
                f"access {self.name}: {self.instruction.name} goes to global memory, and {what} is of shared memory",
                hint="say the byte address in the array: `address: tid*4`, with `base: {align: 256}` for where it "
                "begins",
            )
        if self.base is UNSAID:
            object.__setattr__(self, "base", AlignedBase(self.instruction.width_bytes))

    def _check_source(self) -> None:
        """Refuse, by SWZ105, a source of an instruction whose cost does not depend on it in a known way."""
        if self.source is not None and not self.instruction.by_octets:
            raise SwzError(
                "SWZ105",
                f"access {self.name}: `source` is where cp.async.16 reads, and {self.instruction.name} is another "
                "instruction",
                hint="the cost of other copies is known for sources in one line of 128 bytes only: leave `source` out",
            )

    def _check_names(self) -> None:
        """Each name has one meaning, and axes of a thread are those that the block says."""
        if self.place is not None and self.place.name != BASE:
            raise SwzError(
                "SWZ105",
                f"access {self.name}: the variable of its place is called '{self.place.name}', not '{BASE}'",
                hint="a name of its own would let the base and another variable be one",
            )
        own = [each.name for each in (*self.loops, *self.unknowns)]
        check_variables(f"access {self.name}", own, self.constants)
        self._check_unknowns()
        unsaid = {f"{word}{axis}": axis for axis in "xyz"[len(self.block) :] for word in AXIS_WORDS}
        for expression in self.expressions:
            for name in sorted(expression.names & set(unsaid)):
                raise SwzError(
                    "SWZ307",
                    f"access {self.name}: '{name}' has no value: a block of {list(self.block)} says nothing of "
                    f"{unsaid[name]}",
                    hint=f"give `block:` with {'xyz'.index(unsaid[name]) + 1} extents, such as "
                    f"block: {_example_block(self.threads, 'xyz'.index(unsaid[name]) + 1)}, in place of `threads:`",
                    text=expression.text,
                    span=expression.span_of(name),
                )

    def _check_unknowns(self) -> None:
        """Refuse an assumption on a lane's value, and an unbounded loop beside such a value.

        Neither has a meaning.
        """
        names = {each.name for each in self.unknowns}
        for condition in self.assume:
            for name in sorted(condition.names & names):
                raise SwzError(
                    "SWZ105",
                    f"access {self.name}: an assumption is about iterations, and '{name}' is a value of each lane",
                    hint="give it a smaller range in `lanes:`, or leave lanes out with `if:`",
                    text=condition.text,
                    span=condition.span_of(name),
                )
        if self.source is not None and self.read_unknowns:
            raise SwzError(
                "SWZ206",
                f"access {self.name}: it says where it reads, and lanes have values of their own "
                f"({', '.join(sorted(names))}): not modelled together",
                hint="leave `source` out: then each octet is taken to read one line of 128 bytes",
            )
        if names and self.is_unbounded:
            loop = next(loop.name for loop in self.loops if loop.is_unbounded)
            raise SwzError(
                "SWZ206",
                f"access {self.name}: loop '{loop}' has no bound, and lanes have values of their own "
                f"({', '.join(sorted(names))}): not modelled together",
                hint=f"give the loop a bound, such as `for: {{{loop}: 1024}}`",
            )

    def _check_lanes(self) -> None:
        if not 1 <= len(self.block) <= 3 or min(self.block) < 1 or prod(self.block) > MOST_BLOCK_THREADS:
            raise SwzError(
                "SWZ105",
                f"access {self.name}: a block of {self.block} threads; 1 to {MOST_BLOCK_THREADS}, in 1 to 3 extents",
            )
        if self.instruction.warp_wide and (self.predicate is not None or self.threads % LANES):
            why = "a predicate" if self.predicate is not None else f"{self.threads} threads"
            raise SwzError(
                "SWZ406",
                f"access {self.name}: {self.instruction.name} needs all 32 lanes of every warp, but it has {why}",
                hint="whole warps and no `if:`; let the whole warp skip the loop instead",
            )

    def _check_width(self) -> None:
        if self.tile is None:
            return
        if len(self.coord) != self.tile.layout.rank:
            raise SwzError(
                "SWZ105",
                f"access {self.name}: {len(self.coord)} coordinates for tile {self.tile.name}, "
                f"which has {self.tile.layout.rank} modes",
            )
        if self.tile.run_elements is None:
            return  # what lies side by side an expression does not say: `contiguous` proves it
        run_bits = self.tile.run_elements * self.tile.element_bits
        if 8 * self.instruction.width_bytes > max(run_bits, self.tile.element_bits):
            raise SwzError(
                "SWZ407",
                f"access {self.name}: {self.instruction.name} touches {self.instruction.width_bytes} bytes, but tile "
                f"{self.tile.name} has {self.tile.run_elements} elements of {self.tile.element_bits} bits side by side",
                hint="use a narrower instruction, or a layout with a longer contiguous run",
            )

    def require_banks(self) -> None:
        """Refuse an access that a look at wavefronts and banks does not cover.

        Raises:
            SwzError: SWZ409 for an access to global memory; SWZ206 for one that says where it reads, since
                only destinations are looked at.
        """
        if self.source is not None:
            raise SwzError(
                "SWZ206",
                f"access {self.name}: its cost depends on where it reads, which is not modelled here",
                hint="claim `wavefronts` of it and prove that",
            )
        if self.instruction.is_global:
            raise SwzError(
                "SWZ409",
                f"access {self.name}: {self.instruction.name} goes to global memory, which has no banks",
                hint="`coalesced` counts the sectors that it touches: claim and prove that",
            )

    @property
    def threads(self) -> int:
        """The number of threads in the block."""
        return prod(self.block)

    @property
    def warps(self) -> int:
        """Warps of the block, the last one perhaps partial."""
        return -(-self.threads // LANES)

    @property
    def origin(self) -> Origin:
        """The base as a variable: the tile's, or the access's own; `moved` puts it elsewhere."""
        if self.place is not None:
            return self.place
        return self.tile.origin if self.tile is not None else origin(self.base)

    def moved(self, place: Origin) -> Self:
        """The same access with its base elsewhere, for comparisons at a common base."""
        return self if place == self.origin else replace(self, place=place)

    @property
    def source_origin(self) -> Origin:
        """Where the array begins that a copy reads, modulo 128 bytes: its cost depends on no more."""
        if isinstance(self.source_base, FixedBase):
            return Origin(self.source_base.address_bytes % BANK_PERIOD_BYTES, 1, 1, SOURCE)
        align = min(self.source_base.align_bytes, BANK_PERIOD_BYTES)
        return Origin(0, align, BANK_PERIOD_BYTES // align, SOURCE)

    @property
    def unit_bits(self) -> int:
        """Bits of the units in which positions count."""
        return 8 if self.tile is None else self.tile.unit_bits

    @property
    def width_units(self) -> int:
        """The instruction's width in units."""
        return 8 * self.instruction.width_bytes // self.unit_bits

    @cached_property
    def offset(self) -> CFormula | None:
        """The tile's expression at the coordinate; None where the tile has a layout.

        Raises:
            SwzError: SWZ302 if it is too long.
        """
        if self.tile is None or not isinstance(self.tile.layout, OffsetMap):
            return None
        return self.tile.layout.at_coordinate(self.coord)

    @property
    def expressions(self) -> tuple[CFormula, ...]:
        """Every expression that each thread evaluates in each iteration."""
        return self._stated if self.offset is None else (*self._stated, self.offset)

    @property
    def _stated(self) -> tuple[CFormula, ...]:
        """The access's own expressions."""
        single = (self.address, self.source, self.stage, self.predicate)
        return (*self.coord, *(each for each in single if each is not None), *self.assume)

    @property
    def is_unbounded(self) -> bool:
        """Whether some loop has no bound, so that some iterations do not exist."""
        return any(loop.is_unbounded for loop in self.loops)

    @property
    def read_unknowns(self) -> tuple[Unknown, ...]:
        """The unknowns that some expression reads: on the others nothing depends."""
        if not self.unknowns:
            return ()
        read = frozenset[str]().union(*(each.names for each in self.expressions))
        return tuple(each for each in self.unknowns if each.name in read)

    @property
    def lane(self) -> Var:
        """The lane's variable."""
        return var(LANE, LANES)

    def binding(self, point: Mapping[str, int]) -> dict[str, int]:
        """The variables' values as the user knows them: loops by value, the base as a byte address."""
        shown = {name: point[name] for name in (WARP, LANE) if name in point}
        shown |= {loop.name: loop.value(point.get(loop.name, 0)) for loop in self.loops}
        if STAGE in point:
            shown[STAGE] = point[STAGE]
        place = self.origin
        if place.variable is not None or place.start_bytes:
            shown["base"] = place.at(point)
        if self.source_origin.variable is not None and SOURCE in point:
            shown[SOURCE] = self.source_origin.at(point)
        return shown


def _example_block(threads: int, extents: int) -> list[int]:
    """A block of that many threads with so many extents."""
    first = LANES if threads % LANES == 0 else threads
    return [first, threads // first, 1][:extents]

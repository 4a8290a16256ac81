"""A warp instruction that a block runs: which lane touches which bytes, in every warp, iteration, stage and base.

What it means is written twice: `plain_access` is the definition in integers, `lowered_access` the expressions that
engines read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from types import NoneType

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES, Instruction, Target, require
from swzverify.ir.expr import TRUE, Var, var
from swzverify.ir.formula import Formula
from swzverify.subjects.iterations import Iterations, iterations
from swzverify.subjects.loop import AXIS_WORDS, LANE, STAGE, WARP, Loop, check_variables, describe_loops, own_constants
from swzverify.subjects.lowered_access import LoweredAccess, lowered_access
from swzverify.subjects.memory import Base, FixedBase, Origin, origin
from swzverify.subjects.plain_access import (
    LaneRecord,
    assumed_at,
    coordinates,
    definition,
    environment,
    exists_at,
    lanes_at,
)
from swzverify.subjects.tile import Tile

AT_ZERO = FixedBase(0)
Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Access:
    """An instruction at a tile's coordinates, or at byte addresses outright.

    Expressions read `tid`, `lane`, `warp`, `tid_x` to `tid_z` as far as the block has extents, constants and loop
    variables. Errors: SWZ301 unknown name, SWZ303 to SWZ305 what C leaves undefined, SWZ306 negative coordinates or
    addresses, SWZ307 a thread's axis that the block does not say, SWZ403 not on the target, SWZ406 a warp-wide
    instruction without all its lanes, SWZ407 wider than the tile's run of consecutive elements.
    """

    name: str
    instruction: Instruction
    target: Target
    block: tuple[int, ...]
    loops: tuple[Loop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    tile: Tile | None = None
    coord: tuple[Formula, ...] = ()
    stage: Formula | None = None
    address: Formula | None = None
    base: Base = AT_ZERO
    bytes: int | None = None
    predicate: Formula | None = None
    assume: tuple[Formula, ...] = ()
    place: Origin | None = None
    room: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no hardware would run and what C leaves undefined."""
        self._check_types()
        object.__setattr__(self, "constants", own_constants(f"access {self.name}", self.constants))
        if (self.tile is None) == (self.address is None):
            raise SwzError("SWZ104", f"access {self.name} needs a tile and a coordinate, or an address")
        require(self.target, self.instruction)
        self._check_lanes()
        self._check_names()
        self._check_width()
        _ = self.lowered

    def _check_types(self) -> None:
        """Refuse, by SWZ105, texts where objects are wanted."""
        wanted: list[tuple[str, object, type | tuple[type, ...], str]] = [
            ("instruction", self.instruction, Instruction, "find_instruction('ld.shared.b32')"),
            ("target", self.target, Target, "find_target('sm_90')"),
            ("tile", self.tile, (Tile, NoneType), "the Tile itself"),
            *(("block", extent, int, "a tuple of ints, such as (32, 4)") for extent in self.block),
            *(("loops", loop, Loop, "Loop('k', 0, 64, 16)") for loop in self.loops),
            *(("expression", each, Formula, "parse('tid*4')") for each in self.expressions),
        ]
        for what, value, kinds, example in wanted:
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise SwzError(
                    "SWZ105", f"access {self.name}: {value!r} ({type(value).__name__}) is no {what}", hint=example
                )

    def _check_names(self) -> None:
        """Each name has one meaning, and axes of a thread are those that the block says."""
        check_variables(f"access {self.name}", [loop.name for loop in self.loops], self.constants)
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

    def _check_lanes(self) -> None:
        if not self.block or min(self.block) < 1 or prod(self.block) > 1024:
            raise SwzError("SWZ105", f"access {self.name}: a block of {self.block} threads; 1 to 1024")
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
        run_bits = self.tile.run_elements * self.tile.element_bits
        if 8 * self.instruction.width_bytes > max(run_bits, self.tile.element_bits):
            raise SwzError(
                "SWZ407",
                f"access {self.name}: {self.instruction.name} touches {self.instruction.width_bytes} bytes, but tile "
                f"{self.tile.name} has {self.tile.run_elements} elements of {self.tile.element_bits} bits side by side",
                hint="use a narrower instruction, or a layout with a longer contiguous run",
            )

    @property
    def threads(self) -> int:
        """Threads of the block."""
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

    def moved(self, place: Origin) -> Access:
        """The same access with its base elsewhere, for comparisons at a common base."""
        return self if place == self.origin else replace(self, place=place)

    @property
    def unit_bits(self) -> int:
        """Bits of the units in which positions count."""
        return 8 if self.tile is None else self.tile.unit_bits

    @property
    def width_units(self) -> int:
        """The instruction's width in units."""
        return 8 * self.instruction.width_bytes // self.unit_bits

    @property
    def expressions(self) -> tuple[Formula, ...]:
        """Every expression that each thread evaluates in each iteration."""
        single = (self.address, self.stage, self.predicate)
        return (*self.coord, *(each for each in single if each is not None), *self.assume)

    @property
    def is_unbounded(self) -> bool:
        """Whether some loop has no bound, so that some iterations do not exist."""
        return any(loop.stop is None for loop in self.loops)

    @cached_property
    def iterations(self) -> Iterations:
        """How far the loops go, and whether every iteration within that exists."""
        return iterations(self)

    @property
    def loop_limits(self) -> tuple[int, ...]:
        """Iterations of each loop; 0 where it never runs. Beyond them no iteration exists."""
        return self.iterations.limits

    @property
    def loop_room(self) -> tuple[int, ...]:
        """How far each loop's variable goes: to its limit, or farther for a comparison with another access."""
        return self.room or self.loop_limits

    def within(self, room: Mapping[str, int]) -> Access:
        """The same access over loop variables that go as far as `room` says, at least to their limits."""
        wider = tuple(room[loop.name] for loop in self.loops)
        return self if wider == self.loop_room else replace(self, room=wider)

    @property
    def variables(self) -> tuple[Var, ...]:
        """The lane, then the free variables: warp, loops (counted from 0), stage, base."""
        return (self.lane, *self.free)

    @property
    def lane(self) -> Var:
        """The lane's variable."""
        return var(LANE, LANES)

    @cached_property
    def free(self) -> tuple[Var, ...]:
        """Every variable but the lane, if it has more than one value."""
        nodes = [var(WARP, self.warps)]
        nodes += [var(loop.name, max(1, n)) for loop, n in zip(self.loops, self.loop_room, strict=True)]
        if self.tile is not None and self.tile.stages > 1 and self.stage is None:
            nodes.append(var(STAGE, self.tile.stages))
        base = self.origin.variable
        if base is not None:
            nodes.append(base)
        return tuple(nodes)

    @cached_property
    def lowered(self) -> LoweredAccess:
        """The access over expressions."""
        return lowered_access(self)

    def environment(self, point: Mapping[str, Array]) -> dict[str, Array]:
        """The plain definition of every name, from arrays of the variables (loops counted from 0)."""
        return environment(self, point)

    def definition(self, point: Mapping[str, Array]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array, Array]:
        """(assumed, active, position in units, the stage's start in units), from plain integer functions."""
        return definition(self, point)

    def coordinates(self, env: Mapping[str, Array]) -> list[Array]:
        """The tile coordinate at each point; what is negative belongs to no active lane and counts as 0."""
        return coordinates(self, env)

    def assumed_at(self, point: Mapping[str, int]) -> bool:
        """Whether the assumptions hold at a point of the free variables, in plain Python integers."""
        return assumed_at(self, point)

    def exists_at(self, point: Mapping[str, int]) -> bool:
        """Whether the iteration at a point exists, in plain Python integers: whether no thread leaves C's range."""
        return exists_at(self, point)

    def binding(self, point: Mapping[str, int]) -> dict[str, int]:
        """The variables' values as the user knows them: loops by value, the base as a byte address."""
        shown = {name: point[name] for name in (WARP, LANE) if name in point}
        shown |= {loop.name: loop.start + loop.step * point.get(loop.name, 0) for loop in self.loops}
        if STAGE in point:
            shown[STAGE] = point[STAGE]
        place = self.origin
        if place.variable is not None or place.start_bytes:
            shown["base"] = place.start_bytes + place.unit_bytes * point.get(place.name, 0)
        return shown

    def lanes_at(self, point: Mapping[str, int]) -> tuple[LaneRecord, ...]:
        """All 32 lanes at one point of the free variables, in plain Python integers."""
        key = tuple(sorted(point.items()))
        found = self._lanes.get(key)
        if found is None:
            found = self._lanes[key] = lanes_at(self, point)
        return found

    @cached_property
    def _lanes(self) -> dict[tuple[tuple[str, int], ...], tuple[LaneRecord, ...]]:
        """Points asked before: a report asks for the same few again and again."""
        return {}

    def describe_loops(self) -> tuple[str, ...]:
        """The loops in words: which values, where an unbounded one ends and why, and that lanes share them."""
        found = self.iterations
        return describe_loops(self.loops, found.limits, dict(found.ended_by), all_exist=found.all_exist)

    @property
    def conditional(self) -> bool:
        """Whether some lane or case may be excluded, so that claims could be vacuous."""
        return self.lowered.assumption is not TRUE or self.lowered.active is not TRUE


def _example_block(threads: int, extents: int) -> list[int]:
    """A block of that many threads with so many extents."""
    first = LANES if threads % LANES == 0 else threads
    return [first, threads // first, 1][:extents]

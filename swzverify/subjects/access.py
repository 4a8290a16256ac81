"""A warp instruction that a block runs: which lane touches which bytes, in every warp, iteration, stage and base.

What it means is written twice: `plain_access` is the definition in integers, `lowered_access` the expressions that
engines read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES, Instruction, Target, require
from swzverify.ir.c_ast import Expression
from swzverify.ir.expr import TRUE, Var, var
from swzverify.subjects.loop import ANY_LIMIT, LANE, STAGE, WARP, Loop
from swzverify.subjects.lowered_access import LoweredAccess, iteration_counts, lowered_access
from swzverify.subjects.memory import Base, FixedBase, Origin, origin
from swzverify.subjects.plain_access import LaneRecord, assumed_at, coordinates, definition, environment, lanes_at
from swzverify.subjects.tile import Tile

AT_ZERO = FixedBase(0)
Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Access:
    """An instruction at a tile's coordinates, or at byte addresses outright.

    Expressions read `tid`, `lane`, `warp`, `tid_x` to `tid_z`, constants and loop variables. Errors: SWZ301 unknown
    name, SWZ303 to SWZ305 what C leaves undefined, SWZ306 negative coordinates or addresses, SWZ403 not on the
    target, SWZ406 a warp-wide instruction without all its lanes, SWZ407 wider than the tile's run of consecutive
    elements.
    """

    name: str
    instruction: Instruction
    target: Target
    block: tuple[int, ...]
    loops: tuple[Loop, ...] = ()
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    tile: Tile | None = None
    coord: tuple[Expression, ...] = ()
    stage: Expression | None = None
    address: Expression | None = None
    base: Base = AT_ZERO
    bytes: int | None = None
    predicate: Expression | None = None
    assume: tuple[Expression, ...] = ()
    place: Origin | None = None

    def __post_init__(self) -> None:
        """Refuse what no hardware would run and what C leaves undefined."""
        if (self.tile is None) == (self.address is None):
            raise SwzError("SWZ104", f"access {self.name} needs a tile and a coordinate, or an address")
        require(self.target, self.instruction)
        self._check_lanes()
        self._check_width()
        _ = self.lowered

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

    @cached_property
    def loop_limits(self) -> tuple[int, ...]:
        """Iterations of each loop; 0 where it never runs. An unbounded one ends where everything beyond overflows."""
        return iteration_counts(self)

    @cached_property
    def wide(self) -> bool:
        """Whether points where an expression leaves C's range are inside the loops' limits and must be excluded."""
        return any(loop.stop is None and n == ANY_LIMIT for loop, n in zip(self.loops, self.loop_limits, strict=True))

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
        nodes += [var(loop.name, max(1, n)) for loop, n in zip(self.loops, self.loop_limits, strict=True)]
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

    @property
    def conditional(self) -> bool:
        """Whether some lane or case may be excluded, so that claims could be vacuous."""
        return self.lowered.assumption is not TRUE or self.lowered.active is not TRUE

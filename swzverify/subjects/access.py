"""A warp instruction that a block runs: which lane touches which bytes.

It covers every warp, iteration, stage and base. `stated_access` has its fields. Their meaning is
written twice: `plain_access` is the definition in integers, and `lowered_access` has the expressions
that engines read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir.expr import TRUE, Var, var
from swzverify.ir.whole import required
from swzverify.subjects.check_fragment import check_fragment
from swzverify.subjects.iterations import Iterations, iterations
from swzverify.subjects.listed_loop import describe_loops
from swzverify.subjects.loop import STAGE, WARP
from swzverify.subjects.lowered_access import LoweredAccess, lowered_access
from swzverify.subjects.plain_access import (
    LaneRecord,
    assumed_at,
    coordinates,
    definition,
    environment,
    exists_at,
    lanes_at,
)
from swzverify.subjects.stated_access import StatedAccess

Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Access(StatedAccess):
    """An instruction at a tile's coordinates, or at byte addresses outright.

    Expressions read `tid`, `lane`, `warp`, `tid_x` to `tid_z` as far as the block has extents,
    constants and loop variables.

    Raises:
        SwzError: SWZ301 for an unknown name, SWZ303 to SWZ305 for what C leaves undefined, SWZ306 for
            negative coordinates or addresses, SWZ307 for a thread's axis that the block does not state,
            SWZ401 and SWZ402 for a changed copy of an instruction or a target, SWZ403 for an
            instruction that the target lacks, SWZ406 for a warp-wide instruction without all its lanes,
            SWZ407 for one that is wider than the tile's run of consecutive elements; those of
            `check_fragment`.
    """

    def __post_init__(self) -> None:
        """Refuse what no hardware would run and what C leaves undefined."""
        super().__post_init__()
        self._check_room()
        _ = self.lowered
        if self.fragment is not None:
            check_fragment(self, self.fragment, self.iterations)

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
        """The number of values of each loop's variable: its limit, or more for a comparison of accesses."""
        return self.room or self.loop_limits

    def within(self, room: Mapping[str, int]) -> Access:
        """The same access, with variables of unbounded loops that go as far as `room`.

        They go at least to their limits. A loop with a bound keeps its iterations.
        """
        wider = tuple(
            max(limit, required(room.get(loop.name, limit), f"access {self.name}: the room of {loop.name}"))
            if loop.is_unbounded
            else limit
            for loop, limit in zip(self.loops, self.loop_limits, strict=True)
        )
        return self if wider == self.loop_room else replace(self, room=wider)

    def _check_room(self) -> None:
        """Refuse room that leaves iterations out or goes beyond a loop's bound.

        The scope of a verdict names all iterations and no others.

        Raises:
            SwzError: SWZ105.
        """
        if self.room and (
            len(self.room) != len(self.loops)
            or any(
                space < limit or (space > limit and not loop.is_unbounded)
                for loop, space, limit in zip(self.loops, self.room, self.loop_limits, strict=True)
            )
        ):
            raise SwzError(
                "SWZ105",
                f"access {self.name}: room={self.room} does not fit its loops, of {self.loop_limits} iterations",
                hint="leave `room` out; `within` makes it longer for a comparison",
            )

    @property
    def variables(self) -> tuple[Var, ...]:
        """The lane, then the free variables (warp, loops counted from 0, stage, base), then the unknowns."""
        return (self.lane, *self.free, *self.own)

    @property
    def own(self) -> tuple[Var, ...]:
        """The unknowns that expressions read: each lane has values of its own."""
        return tuple(each.variable for each in self.read_unknowns)

    @cached_property
    def free(self) -> tuple[Var, ...]:
        """Every variable that all lanes of a warp instruction share, if it has more than one value."""
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
        """The access as expressions."""
        return lowered_access(self, self.iterations, self.loop_room)

    def environment(self, point: Mapping[str, Array]) -> dict[str, Array]:
        """The plain definition of every name, from arrays of the variables (loops counted from 0)."""
        return environment(self, point)

    def definition(self, point: Mapping[str, Array]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array, Array]:
        """The plain definition (assumed, active, position in units, the stage's start in units) at points."""
        return definition(self, point)

    def coordinates(self, env: Mapping[str, Array]) -> list[Array]:
        """The tile coordinate at each point; a negative one belongs to no active lane and counts as 0."""
        return coordinates(self, env)

    def assumed_at(self, point: Mapping[str, int]) -> bool:
        """Whether the assumptions hold at a point of the free variables, in plain Python integers."""
        return assumed_at(self, point)

    def exists_at(self, point: Mapping[str, int]) -> bool:
        """Whether the iteration at a point exists: no thread leaves C's range.

        It is decided in plain Python integers.
        """
        return exists_at(self, point)

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
        """The loops in words: their values, the end of an unbounded loop with its reason, and shared values."""
        found = self.iterations
        return describe_loops(self.loops, found.limits, dict(found.ended_by), all_exist=found.all_exist)

    def describe_unknowns(self) -> tuple[str, ...]:
        """The values of the lanes' own in words."""
        return tuple(each.describe() for each in self.read_unknowns)

    @property
    def conditional(self) -> bool:
        """Whether some lane or case may be excluded, so that claims could be vacuous."""
        return self.lowered.assumption is not TRUE or self.lowered.active is not TRUE

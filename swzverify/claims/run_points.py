"""A step of a phase that runs an access, over variables of its own: its threads, its iteration and its bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swzverify.engines.obligations import Arrays, Numbers, Side, Truths, of_lane
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Expr, Var, conjunction, negation, substitute, var
from swzverify.ir.integers import Integer
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.phase import Run
from swzverify.subjects.phase_meeting import Ranges
from swzverify.subjects.plain_access import LaneRecord

P, Q = "p.", "q."
"""What the names of the variables of the two sides begin with."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The iteration of the phase in which a step runs: a number, or a variable that counts from `first`."""

    first: int
    node: Var | None = None

    @property
    def value(self) -> Integer:
        """The iteration over the variable."""
        first = ints.integer(self.first)
        return first if self.node is None else ints.add(ints.variable(self.node), first)

    def of(self, arrays: Arrays) -> Numbers:
        """The iteration in plain integers."""
        return np.full(1, self.first, dtype=np.int64) if self.node is None else arrays[self.node.name] + self.first

    def at(self, point: Mapping[str, int]) -> int:
        """The iteration at one point."""
        return self.first + (0 if self.node is None else point[self.node.name])


@dataclass(frozen=True)
class RunPoints:
    """A step that runs an access: its threads and free loops under names of one side, in one iteration."""

    run: Run
    prefix: str
    turn: Turn
    scale: int
    threads: Ranges | None = None

    @property
    def access(self) -> Access:
        """The access."""
        return self.run.access

    @cached_property
    def own(self) -> dict[Var, Var]:
        """The variables that are this side's own, by those of the access."""
        bound = {each.loop for each in self.run.bound}
        shared = self.access.origin.variable
        nodes = (node for node in self.access.variables if node is not shared and node.name not in bound)
        return {node: var(self.prefix + node.name, node.limit) for node in nodes}

    @property
    def inner(self) -> list[str]:
        """The access's loops that the step runs through."""
        bound = {each.loop for each in self.run.bound}
        return [loop.name for loop in self.access.loops if loop.name not in bound]

    @property
    def variables(self) -> tuple[Var, ...]:
        """This side's own variables; that of its iteration is added by the relation."""
        return tuple(self.own.values())

    def expression(self, root: Expr) -> Expr:
        """An expression of the access over this side's variables."""
        new: dict[Var, Expr] = dict(self.own)
        for node in self.access.free:
            bound = next((each for each in self.run.bound if each.loop == node.name), None)
            if bound is not None:
                value = self.turn.value if bound.follows else ints.integer(0)
                new[node] = ints.resize(ints.add(value, ints.integer(bound.number)), node.width)
        return substitute(root, new)

    @property
    def position(self) -> Integer:
        """Where the lane's bytes begin, in the units that both sides count."""
        found = self.access.lowered.position
        wide = Integer(self.expression(found.bits), found.low, found.high)
        return ints.multiply(wide, ints.integer(self.scale))

    @property
    def extent(self) -> int:
        """The length of the lane's bytes, in the same units."""
        return self.access.width_units * self.scale

    @property
    def active(self) -> Expr:
        """Whether the lane runs the access."""
        lowered = self.access.lowered
        return conjunction(self.expression(each) for each in (lowered.assumption, lowered.active, self._of_role))

    @property
    def _ranges(self) -> Ranges | None:
        """The threads that run it, as far as that is restricted; the lanes of an operation are no threads."""
        role = self.run.role
        if role is None or self.run.proxy is not None:
            return None
        return role.ranges if self.threads is None else self.threads

    @property
    def _of_role(self) -> Expr:
        """Whether the thread is one of those that run the step."""
        ranges = self._ranges
        if ranges is None:
            return TRUE
        named = {node.name: ints.variable(node) for node in self.access.variables}
        warp = ints.multiply(named[WARP], ints.integer(LANES)) if WARP in named else ints.integer(0)
        thread = ints.add(warp, named[LANE])
        outside = [
            negation(
                conjunction(
                    ints.truth(each)
                    for each in (ints.less_equal(ints.integer(first), thread), ints.less(thread, ints.integer(end)))
                )
            )
            for first, end in ranges
        ]
        return negation(conjunction(outside))

    def plain(self, arrays: Arrays) -> tuple[Truths, Numbers]:
        """The plain definition of both: whether the lane runs it, and where its bytes begin."""
        point = {node.name: arrays[mine.name] for node, mine in self.own.items()}
        shared = self.access.origin.variable
        if shared is not None:
            point[shared.name] = arrays[shared.name]
        for each in self.run.bound:
            turn = self.turn.of(arrays) if each.follows else np.zeros(1, dtype=np.int64)
            point[each.loop] = turn + each.number
        assumed, active, position, _ = self.access.definition(point)
        ranges = self._ranges
        if ranges is not None:
            own = np.zeros(self.access.warps * LANES, dtype=np.bool_)
            own[[thread for first, end in ranges for thread in range(first, end)]] = True
            active = active & own[np.asarray(point.get(WARP, 0)) * LANES + point[LANE]]
        return assumed & active, np.asarray(position * self.scale)

    def side(self, variables: tuple[Var, ...]) -> Side:
        """This side of an obligation."""
        return Side(
            variables,
            self.position.bits,
            self.extent,
            lambda arrays: self.plain(arrays)[1],
            self.active,
            lambda arrays: self.plain(arrays)[0],
        )

    def candidates(self, thread: int) -> list[int]:
        """The threads that may touch what a thread of a point touches: some lanes of its warp, or who start it."""
        if self.run.starting:
            return self.run.starting
        if not self.run.is_of_warp:
            return [thread]
        first = thread // LANES * LANES
        return list(dict.fromkeys((thread, first, first + 1, first + LANES - 1)))

    def record(self, point: Mapping[str, int]) -> tuple[int, LaneRecord, dict[str, int]]:
        """The thread at a point, what it touches, and the values of the access's variables.

        Of an operation it is the first thread that starts it.
        """
        here = {node.name: point[mine.name] for node, mine in self.own.items()}
        here |= {each.loop: each.at(self.turn.at(point)) for each in self.run.bound}
        shared = self.access.origin.variable
        if shared is not None:
            here[shared.name] = point[shared.name]
        lane, warp = here.pop(LANE), here.get(WARP, 0)
        names = [each.name for each in self.access.read_unknowns]
        others = {of_lane(name, each): 0 for name in names for each in range(LANES)}
        whole = {**here, **others, **{of_lane(name, lane): here.pop(name) for name in names}}
        if self.run.proxy is not None:
            return self.run.starting[0], self.access.lanes_at(whole)[lane], here
        ranges = self._ranges
        has_role = ranges is None or any(first <= warp * LANES + lane < end for first, end in ranges)
        if not self.access.assumed_at(here) or not has_role:
            return warp * LANES + lane, LaneRecord(lane, None, None, None), here
        return warp * LANES + lane, self.access.lanes_at(whole)[lane], here

"""`covers`: over all threads and iterations an access touches each element exactly so often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Self

import numpy as np

from swzverify.claims.access_points import access_domain, access_scope, exists_active
from swzverify.claims.claim import Claim
from swzverify.claims.common_base import check_comparable, common_origins, origin_text, refuse_moved
from swzverify.claims.form import Form, Named, Number, Role, Subject
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.places import Places, element_places, numbers
from swzverify.claims.stated import less
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Point, Truths, second
from swzverify.engines.obligations import Covers as Obligation
from swzverify.errors import SwzError
from swzverify.hardware import LANES, Space
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, binary, conjunction, extend, negation, substitute, var
from swzverify.ir.whole import keep_whole
from swzverify.subjects import Access, Tile
from swzverify.subjects.iterations import last_active
from swzverify.subjects.loop import LANE, STAGE, WARP
from swzverify.subjects.memory import Origin

MAX_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Covers(Claim):
    """Each element is touched `times` times, in every stage."""

    kind: ClassVar[str] = "covers"
    space = Space.SHARED
    form = Form(
        title="Each element is touched exactly so often.",
        says="over all threads and iterations the access touches each element exactly so often",
        roles=(Role.ACCESS, Role.TILE),
        examples=({"access": "write_A", "times": 1},),
        keys=(
            Named(Role.ACCESS, "the name of an access", "write_A"),
            Named(Role.TILE, "the tile that is covered; default: the access's own", "A", optional=True),
            Number("times", "how often each element is touched", (1, 2), least=0, optional=True, default=1),
        ),
        keys_title="Each element of the tile is touched so often.",
    )
    access: Access
    tile: Tile
    times: int = 1

    def __post_init__(self) -> None:
        """Refuse an access to another tile with stages, lanes' own values, and unrelated bases."""
        self.check_subjects()
        refuse_moved(self.kind, self.access)
        keep_whole(self, "covers", "times")
        own = self.access.tile
        if own is not None and own is not self.tile and (own.stages > 1 or self.tile.stages > 1):
            raise SwzError(
                "SWZ105",
                f"covers: {self.access.name} goes to tile {own.name}, and {own.name} or {self.tile.name} has stages",
                hint=f"say what it covers of {own.name} itself",
            )
        if self.access.own:
            names = ", ".join(f"'{each.name}'" for each in self.access.own)
            raise SwzError(
                "SWZ105",
                f"covers: the lanes of {self.access.name} read {names}, which each lane has of its own: "
                "which elements are touched depends on the data",
                hint="`in_bounds`, `conflict_free` and `wavefronts` hold for every choice of the lanes",
            )
        base = own.base if own is not None else self.access.base
        check_comparable(base, self.tile.base, f"covers: {self.access.name} of {self.tile.name}")

    @classmethod
    def stated(cls, subjects: Sequence[Subject], numbers: Mapping[str, int]) -> Self:
        """Of the access's own tile where no other one is named."""
        access = subjects[0]
        if isinstance(access, Access) and len(subjects) == 1:
            if access.tile is None:
                message = f"access {access.name} is a bare address: nothing says which tile it should cover"
                raise SwzError("SWZ104", message, hint="give `tile:`")
            return cls(access, access.tile, **numbers)
        return cls(*subjects, **numbers)  # pyright: ignore[reportArgumentType]  # the form's roles say what they are

    @property
    def placed(self) -> tuple[tuple[Access, Origin], tuple[Tile, Origin]]:
        """Access and tile at their common base."""
        own = self.access.tile.base if self.access.tile is not None else self.access.base
        places = common_origins(own, self.tile.base)
        return ((self.access, places[0]), (self.tile, places[1]))

    def _placed(self) -> tuple[Access, TilePoints]:
        """The access and the tile at their common base."""
        (_, first), (_, second) = self.placed
        return self.access.moved(first), TilePoints.of(self.tile, "", second)

    def plan(self) -> Plan:
        """One obligation over elements and threads."""
        access, points = self._placed()
        scale = max(8 // access.unit_bits, points.tile.units_per_byte)
        wide = (scale // (8 // access.unit_bits), scale // points.tile.units_per_byte)
        shared = points.placement
        lowered = access.lowered
        # Iterations in which no lane runs touch nothing: where a loop has only such ones from
        # somewhere on, that is a goal of its own, and the others are counted.
        ends = last_active(access, access.loop_limits)
        shorter = {node: var(node.name, max(1, ends[node.name])) for node in access.free if node.name in ends}
        idle = _idle_goal(access, ends)
        free = [shorter.get(node, node) for node in access.variables if node.name not in (STAGE, access.origin.name)]
        within = {node: extend(short, node.width, signed=False) for node, short in shorter.items()}
        address = ints.multiply(lowered.position, ints.integer(wide[0]))
        position = ints.multiply(points.position_of_digits(), ints.integer(wide[1]))

        def touched(arrays: Arrays) -> tuple[Truths, Numbers]:
            assumed, active, where, _ = access.definition(arrays)
            return assumed & active, where * wide[0]

        def elements(arrays: Arrays) -> Numbers:
            return points.positions(arrays) * wide[1]

        base, span = points.base, max(address_span(access.tile), address_span(self.tile))
        goal = Obligation(
            shared,
            () if base is None else ((base.name, base_values(points.place, span)),),
            Domain(tuple(free), substitute(lowered.assumption, dict(within))),
            substitute(address.bits, dict(within)),
            substitute(lowered.active, dict(within)),
            access.width_units * wide[0],
            points.digits,
            position.bits,
            self.tile.element_units * wide[1],
            self.times,
            touched,
            elements,
        )
        return Plan((*idle, Goal(goal)), exists=exists_active(access))

    def scope(self) -> str:
        """Every element, over the whole access."""
        where = "" if self.access.tile is self.tile else f", {origin_text(self._placed()[1].place)}"
        often = "once" if self.times == 1 else f"{self.times} times"
        return f"each of {self.tile.size} elements exactly {often}; {access_scope(self.access, hardware=False)}{where}"

    def broken(self, *sides: Places) -> list[int]:
        """The elements that are not touched `times` times."""
        lanes, elements = sides
        return numbers(elements.touched_by(lanes) != self.times)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The touches of one element, counted in plain integers."""
        if isinstance(goal.obligation, Always):
            return None
        access, points = self._placed()
        tile = self.tile
        coord = points.coordinate_at(point, second(""))
        stage, base = points.stage_at(point), points.base_at(point)
        element, (lanes, where) = element_places(tile, (coord,), stage, base), every_lane(access, point)
        if not self.broken(lanes, element):
            return None
        hit = numbers(lanes.active & (lanes.touched_by(element) > 0))
        touches: list[tuple[int, ...]] = []
        for each in hit:
            warp, *loops = where[each // LANES]
            touches.append((warp, each % LANES, *loops, int(lanes.first.flat[each]) // 8))
        position = int(tile.position(coord, stage=stage, base=base))
        rows = tuple(Row(touch, "x") for touch in touches[:MAX_SHOWN])
        note = f"element {coord} at {points.address_text(position)} is touched {len(touches)} times, not {self.times}"
        names = tuple(loop.name for loop in access.loops)
        return Counterexample(points.placement_at(point), note, ("warp", "lane", *names, "address"), rows)


def every_lane(access: Access, point: Mapping[str, int]) -> tuple[Places, list[tuple[int, ...]]]:
    """The lanes of every warp instruction in one stage and at one base, with their warps and loop values.

    Iterations that do not run are left out.
    """
    ends = last_active(access, access.loop_limits)
    limits = zip(access.loops, access.loop_limits, strict=True)
    ranges = [range(ends.get(loop.name, limit)) for loop, limit in limits]
    place: Point = {name: value for name, value in point.items() if name in (STAGE, access.origin.name)}
    where: list[tuple[int, ...]] = []
    first: list[Numbers] = []
    active: list[Truths] = []
    for warp, *loops in product(range(access.warps), *ranges):
        here = {**place, WARP: warp, **dict(zip((loop.name for loop in access.loops), loops, strict=True))}
        arrays = {name: np.asarray([value], dtype=np.int64) for name, value in here.items()}
        assumed, on, position, _ = access.definition({**arrays, LANE: np.arange(LANES, dtype=np.int64)})
        if bool(np.all(assumed)):
            where.append((warp, *(loop.value(i) for loop, i in zip(access.loops, loops, strict=True))))
            first.append(np.broadcast_to(position, LANES) * access.unit_bits)
            active.append(np.broadcast_to(on, LANES))
    rows = (len(where), LANES)
    begins, there = np.asarray(first, dtype=np.int64), np.asarray(active, dtype=np.bool_)
    return Places(begins.reshape(rows), 8 * access.instruction.width_bytes, there.reshape(rows)), where


def _idle_goal(access: Access, ends: Mapping[str, int]) -> tuple[Goal, ...]:
    """No lane runs in any iteration behind the given ones; no goal where none are given."""
    if not ends:
        return ()
    rooms = dict(zip((loop.name for loop in access.loops), access.loop_room, strict=True))
    early = conjunction(less(ints.named(name, rooms[name]), ints.integer(end)) for name, end in ends.items())

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, _, _ = access.definition(arrays)
        inside = np.asarray(True)
        for name, end in ends.items():
            inside = inside & (arrays[name] < end)
        return assumed & active, inside

    holds = binary(BinaryOperator.OR, negation(access.lowered.active), early)
    return (Goal(Always(access_domain(access, 1), holds, definition), "no lane runs later"),)

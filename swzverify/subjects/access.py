"""A warp instruction that a block runs: which lane touches which bytes, in every warp, iteration, stage and base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import cast

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES, Instruction, Target, require
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import VALUE_MAX, VALUE_MIN, Expression
from swzverify.ir.c_eval import evaluate, evaluate_many
from swzverify.ir.c_lower import Lowering
from swzverify.ir.expr import FALSE, TRUE, Expr, Var, compare, conjunction, const, var
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.integers import Integer
from swzverify.subjects.memory import Base, FixedBase, Origin, origin
from swzverify.subjects.tile import Tile

LANE, WARP, STAGE = "lane", "warp", "stage"
MAX_ENUMERATED = 1 << 18
ANY_LIMIT = 1 << 32
MAX_POSITION = 1 << 62
AT_ZERO = FixedBase(0)
Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (name = start; name < stop; name += step)`; without `stop`, every value from `start` that overflows nothing.

    >>> Loop("k", 0, 64, 16).count
    4
    """

    name: str
    start: int
    stop: int | None
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse a loop that goes down or nowhere."""
        if self.step < 1:
            raise SwzError("SWZ105", f"loop {self.name} has the step {self.step}: at least 1")

    @property
    def count(self) -> int | None:
        """Iterations; None without a bound."""
        if self.stop is None:
            return None
        return max(0, -(-(self.stop - self.start) // self.step))

    def describe(self) -> str:
        """The loop's values in words."""
        if self.stop is None:
            return f"every {self.name} >= {self.start} that overflows nothing"
        step = f" step {self.step}" if self.step > 1 else ""
        last = self.start + self.step * max(0, (self.count or 1) - 1)
        return f"{self.name} in {self.start}..{last}{step}"


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """One lane at one binding, in plain integers: None in place of an address where the lane is inactive."""

    lane: int
    coord: tuple[int, ...] | None
    offset_elements: int | None
    address_bytes: int | None
    in_whole_bytes: bool = True


@dataclass(frozen=True, slots=True)
class LoweredAccess:
    """The access over expressions: `position` in the tile's units, `start` the stage's first unit, `active` one bit."""

    position: Integer
    start: Integer | None
    coord: tuple[Integer, ...]
    active: Expr
    assumption: Expr


def _in_range(value: Integer) -> Expr:
    """Whether a value lies in C's range, -2^31 .. 2^32 - 1."""
    above = ints.less_equal(ints.integer(VALUE_MIN), value)
    return conjunction([ints.truth(above), ints.truth(ints.less_equal(value, ints.integer(VALUE_MAX)))])


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
        counts = [1 if loop.count is None else loop.count for loop in self.loops]
        open_loops = [index for index, loop in enumerate(self.loops) if loop.stop is None]
        if len(open_loops) == 1:
            counts[open_loops[0]] = self._unbounded_limit(open_loops[0], counts) or ANY_LIMIT
        else:
            for index in open_loops:
                counts[index] = ANY_LIMIT
        return tuple(counts)

    def _unbounded_limit(self, index: int, counts: list[int]) -> int | None:
        """The count beyond which some thread's expression overflows for certain; None where intervals cannot tell.

        Bisection finds the last count that intervals call safe; one thread that overflows at every later value shows
        that nothing real was cut off.
        """
        safe = [max(1, n) for n in counts]

        def overflows(count: int) -> bool:
            try:
                self._lower([count if i == index else n for i, n in enumerate(safe)])
            except SwzError as error:
                if error.code != "SWZ303":
                    raise
                return True
            return False

        good, bad = 1, ANY_LIMIT + 1
        if overflows(1):
            return None
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (good, middle) if overflows(middle) else (middle, bad)
        if good == ANY_LIMIT or self._certain_overflow(index, good, safe):
            return good
        return None

    def _certain_overflow(self, index: int, first: int, counts: list[int]) -> bool:
        """Whether the last thread overflows at every value from `first` on, whatever the other loops are at."""
        env = {name: ints.integer(value) for name, value in self.constants.items()}
        last = self._thread_names(np.asarray([self.threads - 1], dtype=np.int64))
        env |= {name: ints.integer(int(value[0])) for name, value in last.items()}
        for i, (loop, count) in enumerate(zip(self.loops, counts, strict=True)):
            number = ints.named(loop.name, ANY_LIMIT - first + 1 if i == index else count)
            if i == index:
                number = ints.add(number, ints.integer(first))
            env[loop.name] = ints.add(ints.multiply(number, ints.integer(loop.step)), ints.integer(loop.start))
        leaving: list[Integer] = [env[self.loops[index].name]]
        lowering = Lowering(env, leaving=leaving)
        for expression in self._expressions:
            lowering.lower(expression)
        return any(value.low > VALUE_MAX or value.high < VALUE_MIN for value in leaving)

    @property
    def _expressions(self) -> tuple[Expression, ...]:
        """Every expression that each thread evaluates."""
        single = (self.address, self.stage, self.predicate)
        return (*self.coord, *(each for each in single if each is not None))

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
        leaving: list[Integer] | None = [] if self.wide else None
        found = self._lower(list(self.loop_limits), leaving)
        if found.position.high >= MAX_POSITION:
            raise SwzError("SWZ206", f"access {self.name} reaches beyond unit 2^62: not modelled")
        if any(n == 0 for n in self.loop_limits):
            return replace(found, assumption=FALSE)
        if leaving:
            inside = [_in_range(value) for value in leaving]
            return replace(found, active=conjunction([found.active, *inside]))
        return found

    def _lower(self, counts: list[int], leaving: list[Integer] | None = None) -> LoweredAccess:
        env = self._names(counts)
        if leaving is not None:
            leaving += [env[loop.name] for loop in self.loops if loop.stop is None]
        loops = {loop.name: env[loop.name] for loop in self.loops}
        constants = {name: ints.integer(value) for name, value in self.constants.items()}
        assuming = Lowering(loops | constants, lambda names: self._enumerate(names, counts), leaving)
        assumption = conjunction(ints.truth(assuming.lower(each)) for each in self.assume)
        lowering = Lowering(env, lambda names: self._enumerate(names, counts), leaving)
        active = self._lower_active(lowering, env)
        stage = ints.integer(0)
        if self.tile is None:
            assert self.address is not None  # noqa: S101 - __post_init__ refuses neither
            own = self._not_negative(lowering.lower(self.address), self.address, "address", counts)
            return LoweredAccess(ints.add(self.origin.address(), own), None, (), active, assumption)
        if self.stage is not None:
            stage = self._in_stages(lowering.lower(self.stage), self.stage, counts)
        elif self.tile.stages > 1:
            stage = ints.named(STAGE, self.tile.stages)
        coord = tuple(self._not_negative(lowering.lower(each), each, "coordinate", counts) for each in self.coord)
        start = self.tile.lower_start(stage, self.origin)
        return LoweredAccess(self.tile.lower_position(coord, stage, self.origin), start, coord, active, assumption)

    def _names(self, counts: list[int]) -> dict[str, Integer]:
        """What each name in an expression stands for."""
        lane, warp = ints.named(LANE, LANES), ints.named(WARP, self.warps)
        tid = ints.add(ints.multiply(warp, ints.integer(LANES)), lane)
        env = {name: ints.integer(value) for name, value in self.constants.items()}
        for loop, count in zip(self.loops, counts, strict=True):
            index = ints.named(loop.name, max(1, count))
            env[loop.name] = ints.add(ints.multiply(index, ints.integer(loop.step)), ints.integer(loop.start))
        env |= {"tid": tid, "lane": lane, "warp": warp}
        rest = tid
        for axis, extent in zip("xyz", (*self.block, 1, 1), strict=False):
            size = ints.integer(extent)
            last = axis == "z" or prod(self.block["xyz".index(axis) + 1 :]) == 1
            # The last axis needs no remainder: only threads beyond the block would differ, and they are inactive.
            part = rest if last else ints.remainder(rest, size)
            rest = ints.integer(0) if last else ints.divide(rest, size)
            env[f"tid_{axis}"] = env[f"threadIdx.{axis}"] = part
            env[f"blockDim.{axis}"] = size
        return env

    def _lower_active(self, lowering: Lowering, env: Mapping[str, Integer]) -> Expr:
        parts: list[Expr] = []
        if self.threads % LANES:
            parts.append(ints.truth(ints.less(env["tid"], ints.integer(self.threads))))
        if self.instruction.address_lanes < LANES:
            parts.append(compare(Cmp.ULT, self.lane, const(self.instruction.address_lanes, 5)))
        if self.predicate is not None:
            parts.append(ints.truth(lowering.lower(self.predicate)))
        return conjunction(parts)

    def _enumerate(self, names: frozenset[str], counts: list[int]) -> dict[str, Array] | None:
        """Every joint value of some names; None when there are more than 2^18."""
        arrays: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in self.constants.items()}
        axes: dict[str, Array] = {}
        if not names <= {loop.name for loop in self.loops} | set(self.constants):
            axes["tid"] = np.arange(self.threads, dtype=np.int64)
        for loop, count in zip(self.loops, counts, strict=True):
            if loop.name in names:
                if count > MAX_ENUMERATED:
                    return None
                axes[loop.name] = loop.start + loop.step * np.arange(max(1, count), dtype=np.int64)
        if prod(axis.size for axis in axes.values()) > MAX_ENUMERATED:
            return None
        if axes:
            grids = np.meshgrid(*axes.values(), indexing="ij")
            arrays |= {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
        if "tid" in arrays:
            arrays |= self._thread_names(arrays["tid"])
        return arrays

    def _thread_names(self, tid: Array) -> dict[str, Array]:
        """The plain definition of every name that depends on the thread."""
        bx, by, bz = (*self.block, 1, 1)[:3]
        parts = {"x": tid % bx, "y": tid // bx % by, "z": tid // (bx * by)}
        names: dict[str, Array] = {"tid": tid, "lane": tid % LANES, "warp": tid // LANES}
        for axis, extent in zip("xyz", (bx, by, bz), strict=True):
            names[f"tid_{axis}"] = names[f"threadIdx.{axis}"] = parts[axis]
            names[f"blockDim.{axis}"] = np.full(1, extent, dtype=np.int64)
        return names

    def _active_values(self, node: Expression, counts: list[int]) -> Array | None:
        """The values that an expression takes where a lane is active and the assumptions hold; None if too many."""
        wanted = node.names.union(*(each.names for each in self.assume))
        if self.predicate is not None:
            wanted |= self.predicate.names
        arrays = self._enumerate(wanted | {"tid"}, counts)
        if arrays is None:
            return None
        shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
        keep = np.broadcast_to(arrays["lane"] < self.instruction.address_lanes, shape)
        for condition in (*self.assume, *(() if self.predicate is None else (self.predicate,))):
            keep = keep & (np.asarray(evaluate_many(condition, arrays)) != 0)
        return np.broadcast_to(np.asarray(evaluate_many(node, arrays)), shape)[keep]

    def _not_negative(self, value: Integer, node: Expression, what: str, counts: list[int]) -> Integer:
        if value.low >= 0:
            return value
        every = self._active_values(node, counts)
        if every is not None and (every.size == 0 or every.min() >= 0):
            return ints.maximum(value, ints.integer(0))
        low = value.low if every is None else int(every.min())
        raise SwzError(
            "SWZ306",
            f"access {self.name}: the {what} '{node}' can be {low}; negative ones mean nothing",
            hint="guard it with `if:`, or shift it",
            text=node.text,
            span=(0, len(node.text)),
        )

    def _in_stages(self, value: Integer, node: Expression, counts: list[int]) -> Integer:
        last = self.tile.stages - 1 if self.tile is not None else 0
        if value.low >= 0 and value.high <= last:
            return value
        every = self._active_values(node, counts)
        if every is not None and (every.size == 0 or (every.min() >= 0 and every.max() <= last)):
            return ints.minimum(ints.maximum(value, ints.integer(0)), ints.integer(last))
        low, high = (value.low, value.high) if every is None else (int(every.min()), int(every.max()))
        raise SwzError(
            "SWZ306",
            f"access {self.name}: the stage '{node}' goes from {low} to {high}, but the stages are 0..{last}",
            text=node.text,
            span=(0, len(node.text)),
        )

    def environment(self, point: Mapping[str, Array]) -> dict[str, Array]:
        """The plain definition of every name, from arrays of the variables (loops counted from 0)."""
        env: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in self.constants.items()}
        # Lanes beyond the block do not exist: what stands in for them must be a thread that does.
        tid = np.minimum(point[WARP] * LANES + point[LANE], self.threads - 1)
        env |= self._thread_names(np.asarray(tid))
        for loop in self.loops:
            env[loop.name] = loop.start + loop.step * point[loop.name]
        return env

    def base_bytes(self, point: Mapping[str, Array]) -> Array:
        """The base address at each point."""
        place = self.origin
        index = point[place.name] if place.variable is not None else np.zeros(1, dtype=np.int64)
        return place.start_bytes + place.unit_bytes * index

    def definition(self, point: Mapping[str, Array]) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array, Array]:
        """(assumed, active, position in units, the stage's start in units), from plain integer functions.

        Lanes that are not active have some position that means nothing.
        """
        env = self.environment(point)
        assumed = np.asarray(all(self.loop_limits))
        for condition in self.assume:
            assumed = assumed & (np.asarray(evaluate_many(condition, env)) != 0)
        active = (point[WARP] * LANES + point[LANE] < self.threads) & (point[LANE] < self.instruction.address_lanes)
        if self.predicate is not None:
            active = active & (np.asarray(evaluate_many(self.predicate, env)) != 0)
        base = self.base_bytes(point)
        if self.tile is None:
            assert self.address is not None  # noqa: S101 - __post_init__ refuses neither
            own = np.asarray(evaluate_many(self.address, env), dtype=np.int64)
            return np.asarray(assumed), active, base + own, base
        stage = self.stage_at(point, env)
        start = (base + stage * self.tile.pitch_bytes) * self.tile.units_a_byte
        position = cast("Array", self.tile.position(self.coordinates(env), stage=stage, base=base))
        return np.asarray(assumed), active, position, start

    def coordinates(self, env: Mapping[str, Array]) -> list[Array]:
        """The tile coordinate at each point; what is negative belongs to no active lane and counts as 0."""
        return [np.maximum(np.asarray(evaluate_many(each, env), dtype=np.int64), 0) for each in self.coord]

    def stage_at(self, point: Mapping[str, Array], env: Mapping[str, Array]) -> Array:
        """The stage at each point."""
        if self.stage is not None:
            last = self.tile.stages - 1 if self.tile is not None else 0
            return np.clip(np.asarray(evaluate_many(self.stage, env), dtype=np.int64), 0, last)
        return point.get(STAGE, np.zeros(1, dtype=np.int64))

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
            found = self._lanes[key] = tuple(self._lane_at(lane, point) for lane in range(LANES))
        return found

    @cached_property
    def _lanes(self) -> dict[tuple[tuple[str, int], ...], tuple[LaneRecord, ...]]:
        """Points asked before: a report asks for the same few again and again."""
        return {}

    def _lane_at(self, lane: int, point: Mapping[str, int]) -> LaneRecord:
        tid = point.get(WARP, 0) * LANES + lane
        nothing = LaneRecord(lane, None, None, None)
        if tid >= self.threads or lane >= self.instruction.address_lanes:
            return nothing
        env = dict(self.constants)
        env |= {loop.name: loop.start + loop.step * point.get(loop.name, 0) for loop in self.loops}
        bx, by, bz = (*self.block, 1, 1)[:3]
        env |= {"tid": tid, "lane": lane, "warp": tid // LANES}
        for axis, value, extent in (("x", tid % bx, bx), ("y", tid // bx % by, by), ("z", tid // (bx * by), bz)):
            env |= {f"tid_{axis}": value, f"threadIdx.{axis}": value, f"blockDim.{axis}": extent}
        if self.predicate is not None and not evaluate(self.predicate, env):
            return nothing
        place = self.origin
        base = place.start_bytes + place.unit_bytes * point.get(place.name, 0)
        if self.tile is None:
            assert self.address is not None  # noqa: S101 - __post_init__ refuses neither
            return LaneRecord(lane, None, None, base + evaluate(self.address, env))
        coord = tuple(evaluate(each, env) for each in self.coord)
        stage = evaluate(self.stage, env) if self.stage is not None else point.get(STAGE, 0)
        position = int(self.tile.position(coord, stage=stage, base=base))
        byte, rest = divmod(position, self.tile.units_a_byte)
        return LaneRecord(lane, coord, int(self.tile.offset(coord)), byte, in_whole_bytes=rest == 0)

    def assumed_at(self, point: Mapping[str, int]) -> bool:
        """Whether the assumptions hold at a point of the free variables, in plain Python integers."""
        env = dict(self.constants)
        env |= {loop.name: loop.start + loop.step * point.get(loop.name, 0) for loop in self.loops}
        return all(self.loop_limits) and all(evaluate(each, env) for each in self.assume)

    @property
    def conditional(self) -> bool:
        """Whether some lane or case may be excluded, so that claims could be vacuous."""
        return self.lowered.assumption is not TRUE or self.lowered.active is not TRUE

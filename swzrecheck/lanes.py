"""What an access's lanes do: docs/semantics.md, section 4, over exact integers.

Which lane is active, where it begins, in which iterations the access runs at all, and what must
hold for its expressions to mean something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from swzrecheck.bounds import bounds
from swzrecheck.c_text import names_of, read_expression
from swzrecheck.c_value import Conditions, Values
from swzrecheck.claim import THREAD_NAMES, Access, ListedLoop, Loop, Placing, Tile
from swzrecheck.exact import Arithmetic, Exact
from swzrecheck.places import Origin, digits_of, inner_offset, placed, position, stage_start
from swzrecheck.program import Builder
from swzrecheck.warp_rule import LANES, warp_rule


@dataclass(frozen=True, slots=True)
class Where:
    """Where a lane begins, in units: from address 0, and `relative` to the start of its stage."""

    unit_bits: int
    position: Exact
    start: Exact
    relative: Exact
    coord: tuple[Exact, ...] = ()


@dataclass(frozen=True, slots=True)
class Lanes:
    """The lanes of an access over its variables.

    Attributes:
        variables: The lane, the warp, the loops, and if present a stage, a base and the `own` variables.
        where: The first unit of a lane.
        active: Whether the lane is active.
        assumption: Which iterations there are.
        existing: Which iterations there are before `assume:` is read.
        present: The points at which each of `must_hold` must be 1.
        must_hold: The conditions under which the expressions are defined.
        own: The variables of which each lane has a value of its own.
    """

    variables: tuple[int, ...]
    where: Where
    active: int
    assumption: int
    existing: int
    present: int
    must_hold: tuple[int, ...]
    own: tuple[int, ...] = ()

    @property
    def lane(self) -> int:
        """The variable of the lane's number."""
        return self.variables[0]

    @property
    def free(self) -> tuple[int, ...]:
        """The variables that all lanes share."""
        return self.variables[1 : len(self.variables) - len(self.own)]


def lanes_of(
    numbers: Arithmetic, access: Access, tile: Tile | None, origin: Origin, counts: Mapping[str, int]
) -> Lanes:
    """The lanes of an access at an origin; `counts` gives the values of a loop to look at."""
    return _Reading(numbers, access, tile, origin, counts).lanes()


def existing_counts(access: Access, tile: Tile | None, origin: Origin) -> dict[str, int]:
    """For each unbounded loop the number of values beyond which bounds show no iteration."""
    return _counts(access, tile, origin, lambda _, lanes: lanes.existing)


def counted_counts(access: Access, tile: Tile | None, origin: Origin) -> dict[str, int]:
    """The numbers beyond which bounds show that no lane is active, or that assumptions fail."""
    return _counts(access, tile, origin, lambda out, lanes: out.all([lanes.assumption, lanes.active]))


def _counts(
    access: Access, tile: Tile | None, origin: Origin, counted: Callable[[Builder, Lanes], int]
) -> dict[str, int]:
    if not any(loop.is_unbounded for loop in access.loops):
        return {}
    reading = _Reading(Arithmetic(Builder()), access, tile, origin, {})
    return reading.counts_until(counted(reading.out, reading.lanes()))


class _Reading:
    """An access with what its names stand for, and the conditions of its expressions."""

    def __init__(
        self, numbers: Arithmetic, access: Access, tile: Tile | None, origin: Origin, counts: Mapping[str, int]
    ) -> None:
        self.numbers, self.access, self.tile, self.origin = numbers, access, tile, origin
        self.out = numbers.out
        self.lane, self.warp = numbers.variable("lane", LANES), numbers.variable("warp", access.warps)
        self.tid = numbers.add(numbers.times(self.warp, LANES), self.lane)
        self.indices = [numbers.variable(loop.name, counts.get(loop.name, max(1, loop.count))) for loop in access.loops]
        self.fixed: dict[str, Exact] = {name: numbers.number(value) for name, value in access.constants.items()}
        for loop, index in zip(access.loops, self.indices, strict=True):
            self.fixed[loop.name] = loop_value(numbers, loop, index)
        self.names = {
            **self.fixed,
            **thread_names(numbers, access.block, self.tid),
            "lane": self.lane,
            "warp": self.warp,
        }
        self.own = [numbers.variable(each.name, each.count) for each in access.unknowns]
        for each, index in zip(access.unknowns, self.own, strict=True):
            self.names[each.name] = numbers.add(numbers.times(index, each.step), numbers.number(each.start))
        self.open_ended = any(loop.is_unbounded for loop in access.loops)
        self.inside: list[int] = []
        self.defined: list[int] = []
        self.leaving: list[str] = []
        self.placing_leaves = False

    def lanes(self) -> Lanes:
        """Everything that goals ask of the access."""
        access, out, numbers = self.access, self.out, self.numbers
        assumed = [numbers.truth(self._value(text, self.fixed)) for text in access.assume]
        active = self._active()
        coord = [self._value(text, self.names) for text in access.coord]
        placed = None if self.tile is None or self.tile.placing is None else self._placed(self.tile.placing)
        own = None if access.address is None else self._value(access.address, self.names)
        stage = None if access.stage is None else self._value(access.stage, self.names)
        existing = self._existing()
        assumption = out.all([existing, *assumed])
        bounds = [numbers.within(value, 0, value.high) for value in (*coord, placed, own) if value is not None]
        if stage is not None and self.tile is not None:
            bounds.append(numbers.within(stage, 0, self.tile.stages - 1))
        # Negative ones, and stages that are none, matter where a lane has an address only.
        idle = out.negate(out.all([assumption, active]))
        held = [*self.defined, *([] if self.open_ended else self.inside)]
        held += [out.any([idle, bound]) for bound in bounds if out.known(bound) != 1]
        variables = [self.lane, self.warp, *self.indices]
        if self.tile is not None and self.tile.stages > 1 and stage is None:
            stage = numbers.variable("stage", self.tile.stages)
            variables.append(stage)
        if self.origin.count > 1:
            variables.append(numbers.variable(self.origin.name, self.origin.count))
        variables += self.own
        return Lanes(
            variables=tuple(one.place for one in variables),
            where=self._at_address(own) if self.tile is None else self._in_tile(self.tile, coord, placed, stage),
            active=active,
            assumption=assumption,
            existing=existing,
            present=out.all([existing, self._thread_exists()]),
            must_hold=tuple(one for one in held if out.known(one) != 1),
            own=tuple(one.place for one in self.own),
        )

    def _value(self, text: str, names: Mapping[str, Exact]) -> Exact:
        """The value of an expression; the conditions that it needs are kept."""
        conditions = Conditions()
        value = Values(self.numbers, names, conditions).of(text)
        self.defined += conditions.defined
        self.inside += conditions.inside
        if conditions.inside:
            self.leaving.append(text)
        return value

    def _placed(self, placing: Placing) -> Exact:
        """The value of the tile's expression at the coordinate, as one expression of the access."""
        conditions = Conditions()
        value = self._placed_under(placing, self.names, conditions)
        self.defined += conditions.defined
        self.inside += conditions.inside
        self.placing_leaves = bool(conditions.inside)
        return value

    def _placed_under(self, placing: Placing, names: Mapping[str, Exact], conditions: Conditions) -> Exact:
        coord = [Values(self.numbers, names, conditions).of(text) for text in self.access.coord]
        return placed(self.numbers, placing, coord, conditions)

    def _thread_exists(self) -> int:
        if self.access.threads % LANES == 0:
            return self.out.const(1, 1)
        return self.numbers.less(self.tid, self.numbers.number(self.access.threads))

    def _active(self) -> int:
        parts = [self._thread_exists()]
        leading = warp_rule(self.access.instruction).address_lanes
        if leading < LANES:
            parts.append(self.numbers.less(self.lane, self.numbers.number(leading)))
        if self.access.predicate is not None:
            parts.append(self.numbers.truth(self._value(self.access.predicate, self.names)))
        return self.out.all(parts)

    def _existing(self) -> int:
        """One bit: every loop has iterations; with an unbounded one, no thread leaves C's range."""
        if any(loop.count == 0 for loop in self.access.loops):
            return self.out.const(0, 1)
        if not self.open_ended:
            return self.out.const(1, 1)
        inside: list[int] = []
        for text in dict.fromkeys(self.leaving):
            of_threads = names_of(read_expression(text)) & THREAD_NAMES
            for thread in range(self.access.threads if of_threads else 1):
                conditions = Conditions()
                Values(self.numbers, self._names_in(thread), conditions).of(text)
                inside += conditions.inside
        if self.placing_leaves and self.tile is not None and self.tile.placing is not None:
            for thread in range(self.access.threads):
                conditions = Conditions()
                self._placed_under(self.tile.placing, self._names_in(thread), conditions)
                inside += conditions.inside
        return self.out.all(list(dict.fromkeys(inside)))

    def _names_in(self, thread: int) -> dict[str, Exact]:
        return {**self.fixed, **thread_names(self.numbers, self.access.block, self.numbers.number(thread))}

    def counts_until(self, counted: int) -> dict[str, int]:
        """For each unbounded loop the values beyond which bounds show a one-bit line to be 0."""
        loops = zip(self.access.loops, self.indices, strict=True)
        return {loop.name: self._count_until(index, counted) for loop, index in loops if loop.is_unbounded}

    def _count_until(self, index: Exact, counted: int) -> int:
        """By halving; the number found is right, whether it is the smallest or not."""
        low, high = 0, index.high + 1
        while high - low > 1:
            middle = (low + high) // 2
            after = bounds(self.out.lines, {index.place: (middle, index.high)})
            low, high = (low, middle) if after[counted] == (0, 0) else (middle, high)
        return high

    def _at_address(self, own: Exact | None) -> Where:
        start = self.origin.address(self.numbers)
        relative = _from_zero(self.numbers, self.numbers.number(0) if own is None else own)
        return Where(8, self.numbers.add(start, relative), start, relative)

    def _in_tile(self, tile: Tile, coord: Sequence[Exact], placed: Exact | None, stage: Exact | None) -> Where:
        numbers = self.numbers
        kept = tuple(_from_zero(numbers, value) for value in coord)
        here = numbers.number(0) if stage is None else numbers.clamp(stage, 0, tile.stages - 1)
        start = stage_start(numbers, tile, here, self.origin)
        if placed is not None:
            relative = numbers.times(_from_zero(numbers, placed), tile.step_units)
            return Where(tile.unit_bits, numbers.add(start, relative), start, relative, kept)
        digits = digits_of(numbers, tile, kept)
        return Where(
            tile.unit_bits,
            position(numbers, tile, digits, here, self.origin),
            start,
            numbers.times(inner_offset(numbers, tile, digits), tile.element_units),
            kept,
        )


def _from_zero(numbers: Arithmetic, value: Exact) -> Exact:
    """A value that counts only where it is not negative."""
    return numbers.clamp(value, 0, max(0, value.high))


def thread_names(numbers: Arithmetic, block: tuple[int, ...], tid: Exact) -> dict[str, Exact]:
    """What the names of a thread stand for."""
    extents = (*block, 1, 1)[:3]
    parts = {
        "x": numbers.remainder(tid, numbers.number(extents[0])),
        "y": numbers.remainder(numbers.divide(tid, numbers.number(extents[0])), numbers.number(extents[1])),
        "z": numbers.divide(tid, numbers.number(extents[0] * extents[1])),
    }
    names = {
        "tid": tid,
        "lane": numbers.remainder(tid, numbers.number(LANES)),
        "warp": numbers.divide(tid, numbers.number(LANES)),
    }
    for axis, extent in zip("xyz", extents, strict=True):
        names[f"tid_{axis}"] = names[f"threadIdx.{axis}"] = parts[axis]
        names[f"blockDim.{axis}"] = numbers.number(extent)
    return names


def loop_value(numbers: Arithmetic, loop: Loop | ListedLoop, index: Exact) -> Exact:
    """A loop variable's value in an iteration."""
    if isinstance(loop, Loop):
        return numbers.add(numbers.times(index, loop.step), numbers.number(loop.start))
    found = numbers.number(loop.values[-1])
    for at in range(loop.count - 2, -1, -1):
        here = numbers.equal(index, numbers.number(at))
        found = numbers.choose(here, numbers.number(loop.values[at]), found)
    return found

"""Accesses laid out as concrete warp instructions (docs/semantics.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from math import lcm

from . import c_expr
from .access_forms import AccessForm, Columns, Iteration, Walk, read_form
from .box_tiles import Box
from .existence import Survey
from .hardware import Instruction
from .lets import Trees
from .open_loops import representatives
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import Base, Tile
from .yaml_values import Yaml

PROBES = (0, 1, 2, 3, 31, 32, 33, 255, 1000, 2**31, 2**32 - 1)
MOST_PROBES = 200


@dataclass(frozen=True)
class Access:
    """All points (iteration, thread) of an access; a point is an index into the lists.

    `iterations` are those that exist, or as many as stand for all of them. `warps` holds for each
    warp instruction the points of its 32 lanes, None where a lane is inactive or has no address;
    instructions without any active lane are left out, and so are the iterations that `assume:`
    excludes.
    """

    form: AccessForm
    iterations: list[Iteration]
    coordinates: list[list[int]]
    raw_bits: list[int]
    stage_column: list[int] | None
    warps: list[list[int | None]]
    raw_sources: list[int] | None = None

    @property
    def name(self) -> str:
        return self.form.name

    @property
    def instruction(self) -> Instruction:
        return self.form.instruction

    @property
    def tile(self) -> Tile | None:
        return self.form.tile

    @property
    def base(self) -> Base:
        return self.form.base

    @cached_property
    def active(self) -> list[int]:
        """The points with an address, over all warp instructions."""
        return [point for warp in self.warps for point in warp if point is not None]

    @property
    def places(self) -> dict[tuple[tuple[int, ...], tuple[int, ...], int], int]:
        """Of each active (iteration, own values, thread) its point."""
        threads, found = self.form.threads, self.iterations
        return {
            (found[point // threads].values, found[point // threads].own, point % threads): point
            for point in self.active
        }

    @cached_property
    def choosing(self) -> list[list[set[int | None]]]:
        """For each warp instruction the points that each lane can choose by values of its own, None
        where it can be inactive.
        """
        threads, active = self.form.threads, set(self.active)
        together: dict[tuple[int, ...], list[int]] = {}
        for at, iteration in enumerate(self.iterations):
            together.setdefault(iteration.values, []).append(at)
        found: list[list[set[int | None]]] = []
        for members in together.values():
            for first in range(0, threads, 32):
                lanes: list[set[int | None]] = []
                for thread in range(first, first + 32):
                    points = {at * threads + thread for at in members} if thread < threads else {-1}
                    lanes.append({point if point in active else None for point in points})
                found.append(lanes)
        return [lanes for lanes in found if any(lane != {None} for lane in lanes)]

    def weight(self, point: int) -> int | None:
        """How many iterations the point stands for, None where that does not say how often it does
        the same.
        """
        return self.iterations[point // self.form.threads].weight

    @cached_property
    def raw_bytes(self) -> list[int]:
        if any(self.raw_bits[point] % 8 for point in self.active):
            raise OracleAmbiguousError(f"access {self.name}: a lane's element does not start at a whole byte")
        return [bits // 8 for bits in self.raw_bits]

    @property
    def stage_runs(self) -> list[int | None]:
        """The stages that the access runs in, or None alone when `stage:` tells."""
        if self.tile is None or self.stage_column is not None:
            return [None]
        return list(range(self.tile.stages))

    @property
    def period_bytes(self) -> int:
        """The period of all addresses, relative to the base, in the base."""
        return 1 if self.tile is None else self.tile.span_bytes

    def starts(self, base: int, stage: int | None) -> list[int]:
        """For each point the byte where its stage starts."""
        if self.tile is None:
            return [base] * len(self.raw_bits)
        if self.stage_column is not None:
            return [self.tile.start(base, s) for s in self.stage_column]
        return [self.tile.start(base, stage or 0)] * len(self.raw_bits)

    def addresses(self, base: int, stage: int | None) -> list[int]:
        """For each point the byte address."""
        tile = self.tile
        if tile is not None and tile.on_address:
            if self.stage_column is None:
                return tile.swizzle.shifted(self.raw_bytes, tile.start(base, stage or 0))
            starts = self.starts(base, stage)
            return [tile.swizzle(start + raw) for start, raw in zip(starts, self.raw_bytes, strict=True)]
        if self.stage_column is None:
            start = base if tile is None else tile.start(base, stage or 0)
            return [start + raw for raw in self.raw_bytes]
        return [start + raw for start, raw in zip(self.starts(base, stage), self.raw_bytes, strict=True)]

    def bit_addresses(self, base: int, stage: int | None) -> list[int]:
        """For each point the bit address, which tells elements apart that begin in one byte."""
        if self.tile is None or self.tile.element_bits % 8 == 0:
            return [8 * address for address in self.addresses(base, stage)]
        # A swizzle on addresses needs whole bytes, so here there is none.
        return [8 * start + bits for start, bits in zip(self.starts(base, stage), self.raw_bits, strict=True)]

    @property
    def source_runs(self) -> list[list[int]]:
        """For each place of the source's base modulo 128 bytes: for each point what it reads."""
        assert self.form.source_base is not None
        bases = self.form.source_base.values(128)
        return [[base + each for each in self.raw_sources or ()] for base in bases]

    def runs(self, extra_period: int = 1) -> list[tuple[int, int | None]]:
        """The (base, stage) pairs that are enough for a property of that period beyond the tile's
        own.
        """
        bases = self.base.values(lcm(self.period_bytes, extra_period))
        return [(base, stage) for base in bases for stage in self.stage_runs]


def read_access(
    name: str,
    value: Yaml,
    tiles: Mapping[str, Tile],
    memories: Mapping[str, Base],
    constants: Mapping[str, int],
    target: str = "sm_90",
    lets: Trees | None = None,
) -> Access:
    """An access, all its expressions evaluated over every thread and loop value, or over what
    stands for all.
    """
    form = read_form(name, value, tiles, memories, constants, target, lets)
    if not form.open_loops:
        return laid_out(form, form.closed_iterations())
    try:
        return laid_out(form, representatives([form]))
    except OracleAmbiguousError:
        # Too many iterations to know them all; but an error that one of them shows is an error.
        probes = [form.loops[name].judged if name not in form.open_loops else PROBES for name in form.loop_names]
        laid_out(form, [Iteration(values) for values in islice(product(*probes), MOST_PROBES)])
        raise


def laid_out(form: AccessForm, iterations: list[Iteration]) -> Access:
    """The access in those of the iterations that exist."""
    if form.open_loops:
        iterations = _existing(form, iterations)
    columns, points = form.point_columns(iterations), form.threads * len(iterations)
    active = [True] * points
    if form.condition is not None:
        active = [bool(x) for x in c_expr.evaluate(form.condition, columns, points)]
    judged = _warps(form.instruction, form.threads, active, _assumed(form, iterations))
    tile = form.tile
    coordinates: list[list[int]] = []
    stage_column: list[int] | None = None
    if tile is not None:
        coordinates = [c_expr.evaluate(tree, columns, points) for tree in form.coordinates]
        _check_signs(form.name, coordinates, judged)
        if form.placed is not None:
            raw_bits = [tile.offset_bits * x for x in c_expr.evaluate(form.placed, columns, points)]
            _check_signs(form.name, [raw_bits], judged)
        else:
            raw_bits = _tile_bits(tile, coordinates, points)
        if form.stage is not None:
            stage_column = c_expr.evaluate(form.stage, columns, points)
            lanes = [point for warp in judged for point in warp if point is not None]
            if any(not 0 <= stage_column[point] < tile.stages for point in lanes):
                raise OracleError(f"access {form.name}: a stage outside the tile's stages", "SWZ306")
    elif form.walk is not None:
        raw_bits = [8 * x for x in walked(form.walk, form.loops[form.walk.over].judged, columns, points)]
        _check_signs(form.name, [raw_bits], judged)
    else:
        assert form.address is not None
        raw_bits = [8 * x for x in c_expr.evaluate(form.address, columns, points)]
        _check_signs(form.name, [raw_bits], judged)
    raw_sources: list[int] | None = None
    if form.source is not None:
        raw_sources = c_expr.evaluate(form.source, columns, points)
        _check_signs(form.name, [raw_sources], judged)
    return Access(form, iterations, coordinates, raw_bits, stage_column, judged if form.runs else [], raw_sources)


def walked(walk: Walk, values: Sequence[int], columns: Columns, points: int) -> list[int]:
    """The address at every point, by going from each value of the loop to the next."""
    at = columns[walk.over]
    found = c_expr.evaluate(walk.start, columns, points)
    for value in sorted(values)[:-1]:
        there = {**columns, walk.over: [value] * points}
        changes, steps = (c_expr.evaluate(tree, there, points) for tree in (walk.xor, walk.step))
        for point in range(points):
            if at[point] > value:
                middle = found[point] ^ changes[point]
                found[point] = middle + steps[point]
                if not all(c_expr.LEAST <= each <= c_expr.MOST for each in (middle, found[point])):
                    raise OracleError("a walk leaves -2^31 .. 2^32 - 1", "SWZ303")
    return found


def _existing(form: AccessForm, iterations: list[Iteration]) -> list[Iteration]:
    """Those in which no sub-expression of any thread leaves the range."""
    of_threads = Survey(form.point_columns(iterations), form.threads * len(iterations))
    for tree in form.of_threads:
        of_threads.look(tree)
    of_loops = Survey(form.loop_columns(iterations), len(iterations))
    for tree in form.assumptions:
        of_loops.look(tree)
    gone = {point // form.threads for point in of_threads.outside} | of_loops.outside
    if ({point // form.threads for point in of_threads.doubtful} | of_loops.doubtful) - gone:
        raise OracleError(f"access {form.name}: a shift by more than 31", "SWZ304")
    return [iteration for at, iteration in enumerate(iterations) if at not in gone]


def _assumed(form: AccessForm, iterations: list[Iteration]) -> list[bool]:
    """For each iteration, whether every assumption holds."""
    columns = form.loop_columns(iterations)
    holds = [True] * len(iterations)
    for tree in form.assumptions:
        values = c_expr.evaluate(tree, columns, len(iterations))
        holds = [a and bool(b) for a, b in zip(holds, values, strict=True)]
    return holds


def _warps(instruction: Instruction, threads: int, active: list[bool], exists: list[bool]) -> list[list[int | None]]:
    warps: list[list[int | None]] = []
    for combo, there in enumerate(exists):
        if not there:
            continue
        for first in range(0, threads, 32):
            lanes: list[int | None] = []
            for lane in range(32):
                point = combo * threads + first + lane
                addressed = lane < instruction.lanes and first + lane < threads and active[point]
                lanes.append(point if addressed else None)
            if any(point is not None for point in lanes):
                warps.append(lanes)
    return warps


def _check_signs(name: str, coordinates: list[list[int]], warps: list[list[int | None]]) -> None:
    """Refuse what is negative where a lane is active; elsewhere it means nothing."""
    if all(min(column, default=0) >= 0 for column in coordinates):
        return
    lanes = [point for warp in warps for point in warp if point is not None]
    if any(column[point] < 0 for column in coordinates for point in lanes):
        raise OracleError(f"access {name}: a coordinate can be negative", "SWZ306")


def _tile_bits(tile: Tile, coordinates: list[list[int]], points: int) -> list[int]:
    if isinstance(tile.layout, Box):
        raise OracleAmbiguousError("the expression is the access's own")
    offsets = [0] * points
    for mode, column in enumerate(coordinates):
        share = {c: tile.layout.mode_offset(mode, max(c, 0)) for c in set(column)}
        offsets = [offset + share[c] for offset, c in zip(offsets, column, strict=True)]
    if not tile.on_address:
        offsets = tile.swizzle.shifted(offsets, 0)
    return [tile.element_bits * offset for offset in offsets]

"""Accesses laid out as concrete warp instructions (docs/semantics.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import lcm, prod

from . import c_expr
from .hardware import Instruction, read_instruction
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import Base, Tile, read_base
from .yaml_values import Spec, Yaml, as_dict, as_list, as_str

Columns = dict[str, list[int]]


@dataclass(frozen=True)
class Access:
    """All points (loop combination, thread) of an access; a point is an index into the lists.

    `exists` tells of each loop combination whether it does (a loop without iterations holds its start alone, and
    nothing exists). `warps` holds for each warp instruction the points of its 32 lanes, None where a lane is
    inactive or has no address; instructions without any active lane are left out.
    """

    name: str
    instruction: Instruction
    threads: int
    loops: dict[str, list[int]]
    exists: list[bool]
    tile: Tile | None
    base: Base
    coordinates: list[list[int]]
    raw_bits: list[int]
    stage_column: list[int] | None
    warps: list[list[int | None]]
    bytes_allowed: int | None

    @cached_property
    def active(self) -> list[int]:
        """The points with an address, over all warp instructions."""
        return [point for warp in self.warps for point in warp if point is not None]

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

    def runs(self, extra_period: int = 1) -> list[tuple[int, int | None]]:
        """The (base, stage) pairs that are enough for a property of that period beyond the tile's own."""
        bases = self.base.values(lcm(self.period_bytes, extra_period))
        return [(base, stage) for base in bases for stage in self.stage_runs]


def read_access(
    name: str,
    value: Yaml,
    tiles: Mapping[str, Tile],
    memories: Mapping[str, Base],
    constants: Mapping[str, int],
) -> Access:
    """An access, all its expressions evaluated over every thread and loop value."""
    spec = as_dict(value)
    instruction = read_instruction(as_str(spec["instruction"]))
    block = [c_expr.constant(extent, constants) for extent in as_list(spec.get("block", spec.get("threads")))]
    threads = prod(block)
    read = {key: _loop(bounds, constants) for key, bounds in as_dict(spec.get("for")).items()}
    runs = all(values for values, _ in read.values())
    # Without an iteration the expressions are judged at the loop's start, and nothing exists.
    loops = {key: values or [start] for key, (values, start) in read.items()}
    combos = list(product(*loops.values()))
    columns = _columns(block, loops, combos, constants)
    points = threads * len(combos)
    active = [bool(x) for x in c_expr.evaluate(c_expr.parse(spec.get("if", 1)), columns, points)]
    if instruction.kind == "matrix" and ("if" in spec or threads % 32):
        raise OracleError(f"access {name}: ldmatrix and stmatrix need all 32 lanes", "SWZ406")
    assumed = _assumed(spec, loops, combos, constants)
    judged = _warps(instruction, threads, active, assumed)
    warps, exists = (judged, assumed) if runs else ([], [False] * len(combos))
    tile = None
    coordinates: list[list[int]] = []
    stage_column: list[int] | None = None
    if "tile" in spec:
        tile = tiles.get(as_str(spec["tile"]))
        if tile is None:
            raise OracleError(f"access {name}: no tile {spec['tile']!r}")
        _check_run(name, instruction, tile)
        coordinates = [c_expr.evaluate(c_expr.parse(item), columns, points) for item in as_list(spec["coord"])]
        _check_coordinates(name, tile, coordinates, judged)
        raw_bits = _tile_bits(tile, coordinates, points)
        if "stage" in spec:
            stage_column = c_expr.evaluate(c_expr.parse(spec["stage"]), columns, points)
            if any(
                not 0 <= stage_column[point] < tile.stages for warp in judged for point in warp if point is not None
            ):
                raise OracleError(f"access {name}: a stage outside the tile's stages", "SWZ306")
    else:
        raw_bits = [8 * x for x in c_expr.evaluate(c_expr.parse(spec["address"]), columns, points)]
        _check_signs(name, [raw_bits], judged)
    base = tile.base if tile else read_base(spec.get("base", 0), memories, constants)
    limit = c_expr.constant(spec["bytes"], constants) if "bytes" in spec else None
    return Access(
        name,
        instruction,
        threads,
        loops,
        exists,
        tile,
        base,
        coordinates,
        raw_bits,
        stage_column,
        warps,
        limit,
    )


def _loop(bounds: Yaml, constants: Mapping[str, int]) -> tuple[list[int], int]:
    """The loop's values, and its start."""
    if bounds == "any":
        raise OracleAmbiguousError("an unbounded loop cannot be enumerated")
    if not isinstance(bounds, dict):
        return list(range(c_expr.constant(bounds, constants))), 0
    start = c_expr.constant(bounds.get("start", 0), constants)
    stop = c_expr.constant(bounds["stop"], constants)
    step = c_expr.constant(bounds.get("step", 1), constants)
    if step <= 0:
        raise OracleError("a loop's step must be positive")
    return list(range(start, stop, step)), start


def _columns(
    block: list[int], loops: dict[str, list[int]], combos: list[tuple[int, ...]], constants: Mapping[str, int]
) -> Columns:
    bx, by, bz = (*block, 1, 1)[:3]
    tids = list(range(bx * by * bz))
    n = len(combos)
    columns: Columns = {
        "tid": tids * n,
        "lane": [tid % 32 for tid in tids] * n,
        "warp": [tid // 32 for tid in tids] * n,
    }
    axes = {
        "x": [t % bx for t in tids],
        "y": [t // bx % by for t in tids],
        "z": [t // (bx * by) for t in tids],
    }
    for (axis, values), extent in zip(axes.items(), (bx, by, bz), strict=True):
        columns[f"tid_{axis}"] = columns[f"threadIdx.{axis}"] = values * n
        columns[f"blockDim.{axis}"] = [extent] * (len(tids) * n)
    for at, key in enumerate(loops):
        columns[key] = [combo[at] for combo in combos for _ in tids]
    return columns | {key: [number] * (len(tids) * n) for key, number in constants.items()}


def _assumed(
    spec: Spec, loops: dict[str, list[int]], combos: list[tuple[int, ...]], constants: Mapping[str, int]
) -> list[bool]:
    """For each loop combination, whether every assumption holds."""
    columns = {key: [combo[at] for combo in combos] for at, key in enumerate(loops)}
    columns |= {key: [number] * len(combos) for key, number in constants.items()}
    exists = [True] * len(combos)
    for item in as_list(spec.get("assume")):
        holds = c_expr.evaluate(c_expr.parse(item), columns, len(combos))
        exists = [a and bool(b) for a, b in zip(exists, holds, strict=True)]
    return exists


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


def _check_run(name: str, instruction: Instruction, tile: Tile) -> None:
    width_bits = 8 * instruction.width_bytes
    as_written, most = (run * tile.element_bits for run in tile.layout.contiguous_runs())
    if width_bits > most:
        raise OracleError(f"access {name} is wider than the contiguous run of tile {tile.name}", "SWZ407")
    if width_bits > as_written:
        raise OracleAmbiguousError(f"access {name}: the contiguous run depends on how leaves are merged")


def _check_coordinates(name: str, tile: Tile, coordinates: list[list[int]], warps: list[list[int | None]]) -> None:
    if len(coordinates) != len(tile.layout.modes):
        raise OracleError(f"access {name}: one coordinate a mode")
    _check_signs(name, coordinates, warps)


def _check_signs(name: str, coordinates: list[list[int]], warps: list[list[int | None]]) -> None:
    """Refuse what is negative where a lane is active; elsewhere it means nothing."""
    if all(min(column, default=0) >= 0 for column in coordinates):
        return
    lanes = [point for warp in warps for point in warp if point is not None]
    if any(column[point] < 0 for column in coordinates for point in lanes):
        raise OracleError(f"access {name}: a coordinate can be negative", "SWZ306")


def _tile_bits(tile: Tile, coordinates: list[list[int]], points: int) -> list[int]:
    offsets = [0] * points
    for mode, column in enumerate(coordinates):
        share = {c: tile.layout.mode_offset(mode, max(c, 0)) for c in set(column)}
        offsets = [offset + share[c] for offset, c in zip(offsets, column, strict=True)]
    if not tile.on_address:
        offsets = tile.swizzle.shifted(offsets, 0)
    return [tile.element_bits * offset for offset in offsets]

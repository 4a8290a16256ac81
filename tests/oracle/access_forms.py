"""What a spec writes of an access: its expressions as trees, its loops, and who runs it (section 4
of the page).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, product
from math import prod

from . import c_expr
from .box_tiles import Box
from .c_expr import MOST, Expr
from .hardware import Instruction, check_target, read_instruction
from .lets import Trees, put_in, read_lets
from .oracle_errors import OracleAmbiguousError, OracleError
from .subjects import Base, Tile, read_base
from .yaml_values import Yaml, as_dict, as_list, as_str

Columns = dict[str, list[int]]

FAR = 16_000
"""Characters of its trees, iteration by iteration, up to which a walk can be written out in any case."""
AXES_FROM = {
    name: extents
    for axis, extents in (("y", 2), ("z", 3))
    for name in (f"tid_{axis}", f"threadIdx.{axis}", f"blockDim.{axis}")
}
"""Names that a block must have so many extents for."""


@dataclass(frozen=True, slots=True)
class Loop:
    """C's loop from `start` below `stop`; one marked `any` takes every value up to 2^32 - 1.

    `listed` are the values of a loop that says them, or that multiplies.
    """

    start: int
    stop: int
    step: int
    is_open: bool = False
    listed: tuple[int, ...] | None = None

    @property
    def values(self) -> list[int]:
        if self.listed is not None:
            return list(self.listed)
        return list(range(self.start, self.stop, self.step))

    @property
    def judged(self) -> list[int]:
        """The values at which expressions are judged: a loop without an iteration is, as if it took
        its start.
        """
        return self.values or [self.start]

    @property
    def kind(self) -> tuple[object, ...]:
        """Equal for loops that `equivalent` calls the same."""
        if self.is_open:
            return ("any",)
        if self.listed is None:
            return (self.start, self.step, len(self.values))
        values = sorted(self.listed)
        distances = {after - before for before, after in pairwise(values)}
        if len(distances) > 1:
            return ("values", *values)
        # what steps evenly is the loop that does; of one value, in steps of 1
        return (self.start if not values else values[0], min(distances, default=1), len(values))


@dataclass(frozen=True, slots=True)
class Iteration:
    """One value of each loop, by the loops' names in alphabetical order.

    It stands for `weight` iterations in which every lane does the same; None where it is one of
    several that stand together for all others, though lanes do not do the same in them. `own` are
    values of the unknowns that a lane can have in it, by their names in alphabetical order.
    """

    values: tuple[int, ...]
    weight: int | None = 1
    own: tuple[int, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Walk:
    """An address that moves from one value of a loop to the next: `(p ^ xor) + step`."""

    over: str
    start: Expr
    xor: Expr
    step: Expr


@dataclass(frozen=True)
class AccessForm:
    """An access with all constants known and no iteration laid out."""

    name: str
    instruction: Instruction
    block: tuple[int, ...]
    loops: dict[str, Loop]
    constants: dict[str, int]
    tile: Tile | None
    base: Base
    bytes_allowed: int | None
    condition: Expr | None
    assumptions: tuple[Expr, ...]
    coordinates: tuple[Expr, ...]
    stage: Expr | None
    address: Expr | None
    walk: Walk | None
    own: dict[str, Loop]
    source: Expr | None = None
    source_base: Base | None = None

    @property
    def own_names(self) -> list[str]:
        return sorted(self.own)

    @property
    def reads_own(self) -> bool:
        """Whether something of a thread depends on values of its own."""
        return any(name in self.own for tree in self.of_threads for name in c_expr.names_in(tree))

    @property
    def threads(self) -> int:
        return prod(self.block)

    @property
    def loop_names(self) -> list[str]:
        return sorted(self.loops)

    @property
    def open_loops(self) -> list[str]:
        return [name for name in self.loop_names if self.loops[name].is_open]

    @property
    def runs(self) -> bool:
        """No loop is without iterations."""
        return all(loop.is_open or loop.values for loop in self.loops.values())

    @property
    def of_threads(self) -> list[Expr]:
        """The expressions that each thread evaluates, in the order in which they are judged."""
        walk = [self.walk.start, self.walk.xor, self.walk.step] if self.walk else []
        trees = [self.condition, *self.coordinates, self.placed, self.stage, self.address, *walk, self.source]
        return [tree for tree in trees if tree is not None]

    @property
    def placed(self) -> Expr | None:
        """The expression of the tile at the coordinate, where the tile has one."""
        if self.tile is None or not isinstance(self.tile.layout, Box):
            return None
        return self.tile.layout.at(self.coordinates)

    @cached_property
    def thread_columns(self) -> Columns:
        """For each name of the thread index its values over the threads; only those that the block
        gives.
        """
        bx, by, bz = (*self.block, 1, 1)[:3]
        tids = list(range(self.threads))
        columns: Columns = {"tid": tids, "lane": [t % 32 for t in tids], "warp": [t // 32 for t in tids]}
        axes = {"x": [t % bx for t in tids], "y": [t // bx % by for t in tids], "z": [t // (bx * by) for t in tids]}
        for (axis, values), extent in zip(axes.items(), (bx, by, bz), strict=True):
            columns[f"tid_{axis}"] = columns[f"threadIdx.{axis}"] = values
            columns[f"blockDim.{axis}"] = [extent] * len(tids)
        return {key: values for key, values in columns.items() if AXES_FROM.get(key, 1) <= len(self.block)}

    def point_columns(self, iterations: list[Iteration]) -> Columns:
        """The values of all names at all points: iteration by iteration, and in each thread by
        thread.
        """
        columns = {key: values * len(iterations) for key, values in self.thread_columns.items()}
        threads = self.threads
        shared = self.loop_columns(iterations)
        shared |= {key: [i.own[at] for i in iterations] for at, key in enumerate(self.own_names)}
        for key, values in shared.items():
            columns[key] = [value for value in values for _ in range(threads)]
        return columns

    def loop_columns(self, iterations: list[Iteration]) -> Columns:
        """The values of loop variables and constants in each iteration."""
        columns = {key: [i.values[at] for i in iterations] for at, key in enumerate(self.loop_names)}
        return columns | {key: [number] * len(iterations) for key, number in self.constants.items()}

    def closed_iterations(self) -> list[Iteration]:
        """All iterations, where no loop is open."""
        iterations = product(*(self.loops[name].judged for name in self.loop_names))
        own = list(product(*(self.own[name].values for name in self.own_names)))
        return [Iteration(values, 1, each) for values in iterations for each in own]


def read_form(
    name: str,
    value: Yaml,
    tiles: Mapping[str, Tile],
    memories: Mapping[str, Base],
    constants: Mapping[str, int],
    target: str,
    lets: Trees | None = None,
) -> AccessForm:
    """The form of an access, checked as far as that needs no values."""
    spec = as_dict(value)
    instruction = read_instruction(as_str(spec["instruction"]))
    check_target(as_str(spec["instruction"]), target)
    tile = None
    if "tile" in spec:
        tile = tiles.get(as_str(spec["tile"]))
        if tile is None:
            raise OracleError(f"access {name}: no tile {spec['tile']!r}")
    block = tuple(c_expr.constant(extent, constants) for extent in as_list(spec.get("block", spec.get("threads"))))
    loops = as_dict(spec.get("for"))
    if not set(loops).isdisjoint(lets or {}):
        raise OracleError(f"access {name}: a loop has the name of a let", "SWZ105")
    known = read_lets(spec.get("let"), {*constants, *loops}, lets)
    form = AccessForm(
        name,
        instruction,
        block,
        {key: read_loop(bounds, constants) for key, bounds in loops.items()},
        dict(constants),
        tile,
        tile.base if tile else read_base(spec.get("base", unsaid_base(instruction)), memories, constants),
        c_expr.constant(spec["bytes"], constants) if "bytes" in spec else None,
        _parsed(spec, "if", known),
        tuple(put_in(c_expr.parse(item), known) for item in as_list(spec.get("assume"))),
        tuple(put_in(c_expr.parse(item), known) for item in as_list(spec["coord"])) if tile else (),
        _parsed(spec, "stage", known) if tile else None,
        _parsed(spec, "address", known) if not tile else None,
        read_walk(name, spec["walk"], loops, known) if "walk" in spec else None,
        {key: read_own(values, constants) for key, values in as_dict(spec.get("lanes")).items()},
        *_read_source(name, instruction, spec.get("source"), known, constants),
    )
    if tile and isinstance(tile.layout, Box) and len(form.coordinates) != len(tile.layout.modes):
        raise OracleError(f"access {name}: one coordinate per mode")
    if form.placed is not None and form.open_loops:
        raise OracleAmbiguousError(f"access {name}: an open loop, and a tile by expression")
    _check_memory(form)
    _check_walk(form)
    if form.own and form.open_loops:
        raise OracleError(f"access {name}: an open loop, and values of the lanes' own", "SWZ206")
    if form.source is not None and form.reads_own:
        raise OracleError(f"access {name}: a source, and values of the lanes' own", "SWZ206")
    read_weight(spec, constants)
    _check_axes(form)
    _check_literals(form)
    if instruction.kind == "matrix" and (form.condition is not None or form.threads % 32):
        raise OracleError(f"access {name}: ldmatrix and stmatrix need all 32 lanes", "SWZ406")
    if tile:
        _check_run(name, instruction, tile)
        if len(form.coordinates) != len(tile.layout.modes):
            raise OracleError(f"access {name}: one coordinate per mode")
    return form


def _read_source(
    name: str, instruction: Instruction, source: Yaml, known: Trees, constants: Mapping[str, int]
) -> tuple[Expr | None, Base]:
    """What a copy reads, and where that begins: anywhere at a multiple of 16, if nothing is said."""
    anywhere: Yaml = {"align": 16}
    if source is None:
        return None, read_base(anywhere, {}, constants)
    if instruction.kind != "copy past L1":
        raise OracleError(f"access {name}: a source of another instruction than cp.async.16", "SWZ105")
    if not isinstance(source, dict):
        return put_in(c_expr.parse(source), known), read_base(anywhere, {}, constants)
    base = read_base(source.get("base", anywhere), {}, constants)
    return put_in(c_expr.parse(source["address"]), known), base


def unsaid_base(instruction: Instruction) -> Yaml:
    """The base of an access that says none: 0, and in global memory every address that can be one."""
    return {"align": instruction.width_bytes} if instruction.of_global_memory else 0


def _check_memory(form: AccessForm) -> None:
    """Tiles and memories are of shared memory."""
    if form.instruction.of_global_memory and (form.tile is not None or form.base.memory is not None):
        raise OracleError(f"access {form.name}: it goes to global memory", "SWZ409")


def read_weight(access: Mapping[str, Yaml], constants: Mapping[str, int]) -> int:
    """The weight of an access, which no claim reads."""
    weight = c_expr.constant(access.get("weight", 1), constants)
    if not 1 <= weight <= 1_000_000:
        raise OracleError(f"a weight of {weight}", "SWZ105")
    return weight


def read_loop(bounds: Yaml, constants: Mapping[str, int]) -> Loop:
    """A loop: a count, C's three numbers, or `any`."""
    if bounds == "any":
        return Loop(0, MOST + 1, 1, is_open=True)
    if isinstance(bounds, list):
        values = tuple(c_expr.constant(value, constants) for value in bounds)
        if not values or len(set(values)) < len(values):
            raise OracleError("a loop's values are given twice, or none is given", "SWZ105")
        return Loop(values[0], 0, 1, listed=values)
    if not isinstance(bounds, dict):
        return Loop(0, c_expr.constant(bounds, constants), 1)
    start = c_expr.constant(bounds.get("start", 0), constants)
    stop = c_expr.constant(bounds["stop"], constants)
    if "times" in bounds:
        times = c_expr.constant(bounds["times"], constants)
        if start < 1 or times < 2 or "step" in bounds:
            raise OracleError("a loop that multiplies begins at 1 or above and grows", "SWZ105")
        found: list[int] = []
        value = start
        while value < stop:
            found.append(value)
            value *= times
        return Loop(start, stop, 1, listed=tuple(found))
    step = c_expr.constant(bounds.get("step", 1), constants)
    if step <= 0:
        raise OracleError("a loop's step must be positive")
    return Loop(start, stop, step)


def read_walk(name: str, value: Yaml, loops: Mapping[str, Yaml], lets: Trees) -> Walk:
    """A walk, over the one loop where it names none."""
    spec = as_dict(value)
    over = as_str(spec["over"]) if "over" in spec else next(iter(loops), "")
    if over not in loops or ("over" not in spec and len(loops) != 1):
        raise OracleError(f"access {name}: a walk over no loop", "SWZ105")
    if "step" not in spec and "xor" not in spec:
        raise OracleError(f"access {name}: a walk that stands still", "SWZ104")
    start, xor, step = (put_in(c_expr.parse(spec.get(key, 0)), lets) for key in ("start", "xor", "step"))
    if over in c_expr.names_in(start):
        raise OracleError(f"access {name}: a walk begins before its loop does", "SWZ105")
    return Walk(over, start, xor, step)


def read_own(values: Yaml, constants: Mapping[str, int]) -> Loop:
    """The range of a lane's value: a count, C's three numbers, or bits."""
    if isinstance(values, dict) and "bits" in values:
        return Loop(0, 1 << c_expr.constant(values["bits"], constants), 1)
    found = read_loop(values, constants)
    if not found.values:
        raise OracleError("a lane's value has an empty range", "SWZ105")
    return found


def _parsed(spec: dict[str, Yaml], key: str, lets: Trees) -> Expr | None:
    return put_in(c_expr.parse(spec[key]), lets) if key in spec else None


def _check_walk(form: AccessForm) -> None:
    """A walk stands alone, goes as far as its loop does, and is the same for all data."""
    if form.walk is None:
        return
    if form.tile is not None or form.address is not None:
        raise OracleError(f"access {form.name}: a walk and another address", "SWZ105")
    if form.open_loops:
        raise OracleError(f"access {form.name}: a walk, and an open loop", "SWZ206")
    if any(name in form.own for tree in form.of_threads for name in c_expr.names_in(tree) if tree != form.condition):
        raise OracleError(f"access {form.name}: a walk of a lane's own value", "SWZ105")
    each = len(str(form.walk.xor)) + len(str(form.walk.step))
    if len(str(form.walk.start)) + len(form.loops[form.walk.over].values) * each > FAR:
        raise OracleAmbiguousError(f"access {form.name}: whether a walk is too long to be written out")


def _check_axes(form: AccessForm) -> None:
    """Refuse `tid_y` where nothing says what the y axis is."""
    read = {name for tree in form.of_threads for name in c_expr.names_in(tree)}
    for name in sorted(read - {*form.loops, *form.constants, *form.own}):
        if AXES_FROM.get(name, 0) > len(form.block):
            raise OracleError(f"access {form.name}: {name} under a block of {len(form.block)} extents", "SWZ307")


def _check_literals(form: AccessForm) -> None:
    """Refuse a literal that no value may have, which ends no iteration."""
    if form.open_loops:
        for tree in (*form.of_threads, *form.assumptions):
            if c_expr.largest_literal(tree) > MOST:
                raise OracleError(f"access {form.name}: a literal outside the range", "SWZ303")


def _check_run(name: str, instruction: Instruction, tile: Tile) -> None:
    width_bits = 8 * instruction.width_bytes
    as_written, most = (run * tile.element_bits for run in tile.layout.contiguous_runs())
    if width_bits > most:
        raise OracleError(f"access {name} is wider than the contiguous run of tile {tile.name}", "SWZ407")
    if width_bits > as_written:
        raise OracleAmbiguousError(f"access {name}: the contiguous run depends on how leaves are merged")

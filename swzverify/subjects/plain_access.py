"""The plain definition of an access, in integers: for exhaustion and replay.

The lowering must equal it. Nothing here knows of expressions over bit-vectors. The lowering uses
only two things of this file: the names of threads, and which iterations exist where it looks for a
negative coordinate. Therefore an error in one shows against the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.ir.c_ast import VALUE_MAX
from swzverify.ir.c_formula import CFormula
from swzverify.subjects.loop import LANE, STAGE, WARP
from swzverify.subjects.memory import Origin
from swzverify.subjects.stated_access import StatedAccess
from swzverify.subjects.unknown import own_values

Array = NDArray[np.int64]
MAX_POINTS = 1 << 20
"""Threads times iterations that are looked at in one go."""


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """One lane at one binding, in plain integers.

    Attributes:
        lane: The number of the lane.
        coord: The tile coordinate; None if the lane is inactive.
        offset_elements: The offset in elements; None if the lane is inactive.
        address_bytes: The byte address; None if the lane is inactive.
        bit: The bit 0 .. 7 of the byte at which the element begins; 0 for elements of whole bytes.
        values: The values of the unknowns that expressions read, for every lane that the block has.
        start_bytes: The address of the lane's stage, or of the base of a bare address.
        source_bytes: The address that a lane of a copy reads, if the access says it.
    """

    lane: int
    coord: tuple[int, ...] | None
    offset_elements: int | None
    address_bytes: int | None
    bit: int = 0
    values: tuple[int, ...] = ()
    start_bytes: int = 0
    source_bytes: int | None = None

    @property
    def in_whole_bytes(self) -> bool:
        """Whether it begins at a whole byte."""
        return self.bit == 0


def thread_names(access: StatedAccess, tid: Array) -> dict[str, Array]:
    """The plain definition of every name that depends on the thread."""
    bx, by, bz = (*access.block, 1, 1)[:3]
    parts = {"x": tid % bx, "y": tid // bx % by, "z": tid // (bx * by)}
    names: dict[str, Array] = {"tid": tid, "lane": tid % LANES, "warp": tid // LANES}
    for axis, extent in zip("xyz", (bx, by, bz), strict=True):
        names[f"tid_{axis}"] = names[f"threadIdx.{axis}"] = parts[axis]
        names[f"blockDim.{axis}"] = np.full(1, extent, dtype=np.int64)
    return names


def environment(access: StatedAccess, point: Mapping[str, Array]) -> dict[str, Array]:
    """The plain definition of every name, from arrays of the variables (loops counted from 0)."""
    env: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in access.constants.items()}
    # Lanes beyond the block do not exist: what stands in for them must be a thread that does.
    tid = np.minimum(point[WARP] * LANES + point[LANE], access.threads - 1)
    env |= thread_names(access, np.asarray(tid))
    for loop in access.loops:
        env[loop.name] = loop.values_at(point[loop.name])
    for each in access.read_unknowns:
        env[each.name] = each.start + each.step * point[each.name]
    return env


def base_bytes(place: Origin, point: Mapping[str, Array]) -> Array:
    """The base address at each point."""
    index = point[place.name] if place.variable is not None else np.zeros(1, dtype=np.int64)
    return place.start_bytes + place.unit_bytes * index


def definition(
    access: StatedAccess, point: Mapping[str, Array]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array, Array]:
    """The plain definition (assumed, active, position in units, the stage's start in units) at points.

    The positions of inactive lanes have no meaning.
    """
    env = environment(access, point)
    assumed = np.asarray(all(loop.count != 0 for loop in access.loops))
    assumed = assumed & exist(access, {loop.name: env[loop.name] for loop in access.loops})
    for condition in access.assume:
        assumed = assumed & (_read(access, condition, env) != 0)
    active = (point[WARP] * LANES + point[LANE] < access.threads) & (point[LANE] < access.instruction.address_lanes)
    if access.predicate is not None:
        active = active & (_read(access, access.predicate, env) != 0)
    base = base_bytes(access.origin, point)
    if access.tile is None:
        assert access.address is not None  # noqa: S101 - __post_init__ refuses neither
        return np.asarray(assumed), active, base + _read(access, access.address, env), base
    stage = stage_at(access, point, env)
    start = (base + stage * access.tile.pitch_bytes) * access.tile.units_per_byte
    if access.offset is None:
        offset = access.tile.offset(coordinates(access, env))
    else:
        offset = np.maximum(_read(access, access.offset, env), 0)
    position = cast("Array", access.tile.position_of(offset, stage=stage, base=base))
    return np.asarray(assumed), active, position, start


def sources(access: StatedAccess, point: Mapping[str, Array]) -> Array:
    """The byte addresses that a copy reads; those of lanes that are not active mean nothing."""
    assert access.source is not None  # noqa: S101 - who asks has looked
    return base_bytes(access.source_origin, point) + _read(access, access.source, environment(access, point))


def _read(access: StatedAccess, expression: CFormula, env: Mapping[str, Array]) -> Array:
    """An expression's values; those of iterations that do not exist mean nothing."""
    if access.is_unbounded:
        return expression.within(env)[0]
    return expression.at_many(env)


def exist(access: StatedAccess, loops: Mapping[str, Array]) -> NDArray[np.bool_]:
    """Whether each iteration exists: one in which some thread leaves C's range does not."""
    if not access.is_unbounded:
        return np.ones(1, dtype=np.bool_)
    shape = np.broadcast_shapes(*(values.shape for values in loops.values()))
    rows = np.stack([np.broadcast_to(values, shape).ravel() for values in loops.values()], axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    step = max(1, MAX_POINTS // access.threads)
    found = [_exist(access, loops, distinct[first : first + step]) for first in range(0, len(distinct), step)]
    every: NDArray[np.bool_] = np.concatenate([np.zeros(0, dtype=np.bool_), *found])
    return every[which.ravel()].reshape(shape)


def _exist(access: StatedAccess, loops: Mapping[str, Array], rows: Array) -> NDArray[np.bool_]:
    stay = _stay(access, {name: rows[:, [column]] for column, name in enumerate(loops)})
    return np.logical_and((rows <= VALUE_MAX).all(axis=1), stay.all(axis=1))


def _stay(access: StatedAccess, loops: Mapping[str, Array]) -> NDArray[np.bool_]:
    """Whether each thread stays in C's range in each iteration: iterations by threads."""
    env: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in access.constants.items()}
    env |= thread_names(access, np.arange(access.threads, dtype=np.int64)[None, :])
    inside = [expression.within({**env, **loops})[1] for expression in access.expressions]
    shape = np.broadcast_shapes((1, access.threads), *(each.shape for each in inside))
    return np.logical_and.reduce([np.broadcast_to(each, shape) for each in inside])


def threads_that_leave(access: StatedAccess, loops: Mapping[str, int]) -> list[int]:
    """The threads that leave C's range in one iteration."""
    arrays = {name: np.full((1, 1), value, dtype=np.int64) for name, value in loops.items()}
    return np.flatnonzero(~_stay(access, arrays)[0]).tolist()


def coordinates(access: StatedAccess, env: Mapping[str, Array]) -> list[Array]:
    """The tile coordinate at each point; a negative one belongs to no active lane and counts as 0."""
    return [np.maximum(_read(access, each, env), 0) for each in access.coord]


def stage_at(access: StatedAccess, point: Mapping[str, Array], env: Mapping[str, Array]) -> Array:
    """The stage at each point.

    A tile of one stage is in that one, whatever stage a point has for the access that it is
    compared with.
    """
    last = access.tile.stages - 1 if access.tile is not None else 0
    if access.stage is not None:
        return np.clip(_read(access, access.stage, env), 0, last)
    return point[STAGE] if last else np.zeros(1, dtype=np.int64)


def lanes_at(access: StatedAccess, point: Mapping[str, int]) -> tuple[LaneRecord, ...]:
    """All 32 lanes at a point of the free variables, in plain Python integers."""
    common = _loops_at(access, point)
    warp = point.get(WARP, 0)
    base = access.origin.at(point)
    read = [each.name for each in access.read_unknowns]
    found: list[LaneRecord] = []
    for lane in range(LANES):
        tid = warp * LANES + lane
        if tid >= access.threads or lane >= access.instruction.address_lanes:
            found.append(LaneRecord(lane, None, None, None))
            continue
        values = own_values(access.unknowns, point, lane)
        env = {**common, **_thread_at(access, tid), **values}
        record = _lane_at(access, env, base, point.get(STAGE, 0))
        source = None
        if access.source is not None and record.address_bytes is not None:
            source = access.source_origin.at(point) + access.source.at(env)
        found.append(replace(record, values=tuple(values[name] for name in read), source_bytes=source))
    return tuple(found)


def _thread_at(access: StatedAccess, tid: int) -> dict[str, int]:
    """The value of every name that depends on the thread or the block."""
    bx, by, bz = (*access.block, 1, 1)[:3]
    x, y, z = tid % bx, tid // bx % by, tid // (bx * by)
    return {
        "tid": tid, "lane": tid % LANES, "warp": tid // LANES,
        "tid_x": x, "tid_y": y, "tid_z": z, "threadIdx.x": x, "threadIdx.y": y, "threadIdx.z": z,
        "blockDim.x": bx, "blockDim.y": by, "blockDim.z": bz,
    }  # fmt: skip


def _lane_at(access: StatedAccess, env: Mapping[str, int], base: int, stage: int) -> LaneRecord:
    """The record of one thread, from the values of all names, the base in bytes, and a tile's stage."""
    lane = env["lane"]
    if access.predicate is not None and not access.predicate.at(env):
        return LaneRecord(lane, None, None, None)
    if access.tile is None:
        assert access.address is not None  # noqa: S101 - __post_init__ refuses neither
        return LaneRecord(lane, None, None, base + access.address.at(env), start_bytes=base)
    coord = tuple(each.at(env) for each in access.coord)
    if access.stage is not None:
        stage = access.stage.at(env)
    elif access.tile.stages == 1:
        stage = 0
    offset = int(access.tile.offset(coord)) if access.offset is None else access.offset.at(env)
    position = int(access.tile.position_of(offset, stage=stage, base=base))
    byte, bit = divmod(position, access.tile.units_per_byte)
    return LaneRecord(lane, coord, offset, byte, bit, start_bytes=base + stage * access.tile.pitch_bytes)


def _loops_at(access: StatedAccess, point: Mapping[str, int]) -> dict[str, int]:
    """The constants, and the loop variables at a point of the free variables."""
    return dict(access.constants) | {loop.name: loop.value(point.get(loop.name, 0)) for loop in access.loops}


def assumed_at(access: StatedAccess, point: Mapping[str, int]) -> bool:
    """Whether the assumptions hold at a point of the free variables, in plain Python integers."""
    env = _loops_at(access, point)
    return exists_at(access, point) and all(each.at(env) for each in access.assume)


def exists_at(access: StatedAccess, point: Mapping[str, int]) -> bool:
    """Whether the iteration at a point exists: no thread leaves C's range.

    It is decided in plain Python integers.
    """
    loops = _loops_at(access, point)
    if not access.is_unbounded:
        return all(loop.count != 0 for loop in access.loops)
    if any(loops[loop.name] > VALUE_MAX for loop in access.loops):
        return False
    for tid in range(access.threads):
        env = {**loops, **_thread_at(access, tid)}
        for expression in access.expressions:
            try:
                expression.at(env)
            except SwzError as error:
                if error.code != "SWZ303":
                    raise
                return False
    return True

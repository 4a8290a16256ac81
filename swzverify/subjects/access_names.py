"""The meaning of the names in an access's expressions: as expressions, and as all joint values.

Loop variables count iterations from 0, so that every variable starts at 0. The value of a name is
`loop.value(iteration)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.integers import Integer
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.plain_access import thread_names
from swzverify.subjects.stated_access import StatedAccess

MAX_ENUMERATED = 1 << 18
Array = NDArray[np.int64]


def constants(access: StatedAccess) -> dict[str, Integer]:
    """The constants' values."""
    return {name: ints.integer(value) for name, value in access.constants.items()}


def threads(access: StatedAccess) -> dict[str, Integer]:
    """The names of every thread, over the variables of lane and warp.

    Beyond the block they have no meaning.
    """
    return dict(_threads(access.block, access.warps))


@lru_cache(maxsize=64)
def _threads(block: tuple[int, ...], warps: int) -> Mapping[str, Integer]:
    """As `threads`: accesses of one block have the same names."""
    lane, warp = ints.named(LANE, LANES), ints.named(WARP, warps)
    tid = ints.add(ints.multiply(warp, ints.integer(LANES)), lane)
    env = {"tid": tid, "lane": lane, "warp": warp}
    rest = tid
    for axis, extent in zip("xyz", block, strict=False):
        size = ints.integer(extent)
        last = axis == "z" or prod(block["xyz".index(axis) + 1 :]) == 1
        # The last axis needs no remainder: only threads beyond the block would differ, and they are
        # inactive.
        part = rest if last else ints.remainder(rest, size)
        rest = ints.integer(0) if last else ints.divide(rest, size)
        env[f"tid_{axis}"] = env[f"threadIdx.{axis}"] = part
        env[f"blockDim.{axis}"] = size
    return env


def one_thread(access: StatedAccess, tid: int) -> dict[str, Integer]:
    """The names of one thread."""
    names = thread_names(access, np.asarray([tid], dtype=np.int64))
    return {name: ints.integer(int(value[0])) for name, value in names.items()}


def loops(
    access: StatedAccess,
    limits: Sequence[int],
    room: Sequence[int] | None = None,
    first: Mapping[str, int] | None = None,
) -> dict[str, Integer]:
    """Each loop variable's value over its iterations.

    `limits` has the numbers of iterations. Loops in `first` start at that iteration. If `room` is larger
    than the limit, the variable goes on to it, and the value stays that of the last iteration.
    """
    env: dict[str, Integer] = {}
    for loop, limit, space in zip(access.loops, limits, room or limits, strict=True):
        begin = (first or {}).get(loop.name, 0)
        index = ints.add(ints.named(loop.name, max(1, space - begin)), ints.integer(begin))
        if space > limit:
            index = ints.minimum(index, ints.integer(max(1, limit) - 1))
        env[loop.name] = loop.lowered(index)
    return env


def unknowns(access: StatedAccess) -> dict[str, Integer]:
    """Each unknown's value, over its place in the range."""
    env: dict[str, Integer] = {}
    for each in access.unknowns:
        index = ints.named(each.name, each.count)
        env[each.name] = ints.add(ints.multiply(index, ints.integer(each.step)), ints.integer(each.start))
    return env


def joint_values(
    access: StatedAccess, names: frozenset[str], limits: Sequence[int], tid: int | None = None
) -> dict[str, Array] | None:
    """Every joint value of some names; None if there are more than 2^18.

    With `tid`, the values are those of one thread.
    """
    arrays: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in access.constants.items()}
    axes: dict[str, Array] = {}
    own = [each for each in access.unknowns if each.name in names]
    if not names <= {each.name for each in (*access.loops, *own)} | set(access.constants):
        axes["tid"] = np.arange(access.threads, dtype=np.int64) if tid is None else np.full(1, tid, dtype=np.int64)
    for loop, limit in zip(access.loops, limits, strict=True):
        if loop.name in names:
            if limit > MAX_ENUMERATED:
                return None
            axes[loop.name] = loop.values_at(np.arange(max(1, limit), dtype=np.int64))
    if prod([*(axis.size for axis in axes.values()), *(each.count for each in own)]) > MAX_ENUMERATED:
        return None
    axes |= {each.name: each.start + each.step * np.arange(each.count, dtype=np.int64) for each in own}
    if axes:
        grids = np.meshgrid(*axes.values(), indexing="ij")
        arrays |= {name: grid.ravel() for name, grid in zip(axes, grids, strict=True)}
    if "tid" in arrays:
        arrays |= thread_names(access, arrays["tid"])
    return arrays

"""An access over the expression form: its address, activity and assumption, and how far unbounded loops go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import VALUE_MAX, VALUE_MIN, Expression
from swzverify.ir.c_eval import evaluate_many
from swzverify.ir.c_lower import Lowering
from swzverify.ir.expr import FALSE, Expr, compare, conjunction, const
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.integers import Integer
from swzverify.subjects.loop import ANY_LIMIT, LANE, STAGE, WARP
from swzverify.subjects.plain_access import thread_names

if TYPE_CHECKING:
    from swzverify.subjects.access import Access

MAX_ENUMERATED = 1 << 18
MAX_POSITION = 1 << 62
Array = NDArray[np.int64]


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


def iteration_counts(access: Access) -> tuple[int, ...]:
    """Iterations of each loop; 0 where it never runs. An unbounded one ends where everything beyond overflows."""
    counts = [1 if loop.count is None else loop.count for loop in access.loops]
    open_loops = [index for index, loop in enumerate(access.loops) if loop.stop is None]
    if len(open_loops) == 1:
        counts[open_loops[0]] = _unbounded_limit(access, open_loops[0], counts) or ANY_LIMIT
    else:
        for index in open_loops:
            counts[index] = ANY_LIMIT
    return tuple(counts)


def _unbounded_limit(access: Access, index: int, counts: list[int]) -> int | None:
    """The count beyond which some thread's expression overflows for certain; None where intervals cannot tell.

    Bisection finds the last count that intervals call safe; one thread that overflows at every later value shows
    that nothing real was cut off.
    """
    safe = [max(1, n) for n in counts]

    def overflows(count: int) -> bool:
        try:
            _lower_with(access, [count if i == index else n for i, n in enumerate(safe)])
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
    if good == ANY_LIMIT or _certain_overflow(access, index, good, safe):
        return good
    return None


def _certain_overflow(access: Access, index: int, first: int, counts: list[int]) -> bool:
    """Whether the last thread overflows at every value from `first` on, whatever the other loops are at."""
    env = {name: ints.integer(value) for name, value in access.constants.items()}
    last = thread_names(access, np.asarray([access.threads - 1], dtype=np.int64))
    env |= {name: ints.integer(int(value[0])) for name, value in last.items()}
    for i, (loop, count) in enumerate(zip(access.loops, counts, strict=True)):
        number = ints.named(loop.name, ANY_LIMIT - first + 1 if i == index else count)
        if i == index:
            number = ints.add(number, ints.integer(first))
        env[loop.name] = ints.add(ints.multiply(number, ints.integer(loop.step)), ints.integer(loop.start))
    leaving: list[Integer] = [env[access.loops[index].name]]
    lowering = Lowering(env, leaving=leaving)
    for expression in _expressions(access):
        lowering.lower(expression)
    return any(value.low > VALUE_MAX or value.high < VALUE_MIN for value in leaving)


def _expressions(access: Access) -> tuple[Expression, ...]:
    """Every expression that each thread evaluates."""
    single = (access.address, access.stage, access.predicate)
    return (*access.coord, *(each for each in single if each is not None))


def lowered_access(access: Access) -> LoweredAccess:
    """The access over expressions."""
    leaving: list[Integer] | None = [] if access.wide else None
    found = _lower_with(access, list(access.loop_limits), leaving)
    if found.position.high >= MAX_POSITION:
        raise SwzError("SWZ206", f"access {access.name} reaches beyond unit 2^62: not modelled")
    if any(n == 0 for n in access.loop_limits):
        return replace(found, assumption=FALSE)
    if leaving:
        inside = [_in_range(value) for value in leaving]
        return replace(found, active=conjunction([found.active, *inside]))
    return found


def _lower_with(access: Access, counts: list[int], leaving: list[Integer] | None = None) -> LoweredAccess:
    env = _names(access, counts)
    if leaving is not None:
        leaving += [env[loop.name] for loop in access.loops if loop.stop is None]
    loops = {loop.name: env[loop.name] for loop in access.loops}
    constants = {name: ints.integer(value) for name, value in access.constants.items()}
    assuming = Lowering(loops | constants, lambda names: _enumerate(access, names, counts), leaving)
    # All of them before they are joined: one that is false everywhere must not hide what another leaves undefined.
    assumed = [ints.truth(assuming.lower(each)) for each in access.assume]
    assumption = conjunction(assumed)
    lowering = Lowering(env, lambda names: _enumerate(access, names, counts), leaving)
    active = _lower_active(access, lowering, env)
    stage = ints.integer(0)
    if access.tile is None:
        assert access.address is not None  # noqa: S101 - __post_init__ refuses neither
        own = _not_negative(access, lowering.lower(access.address), access.address, "address", counts)
        return LoweredAccess(ints.add(access.origin.address(), own), None, (), active, assumption)
    if access.stage is not None:
        stage = _in_stages(access, lowering.lower(access.stage), access.stage, counts)
    elif access.tile.stages > 1:
        stage = ints.named(STAGE, access.tile.stages)
    coord = tuple(_not_negative(access, lowering.lower(each), each, "coordinate", counts) for each in access.coord)
    start = access.tile.lower_start(stage, access.origin)
    return LoweredAccess(access.tile.lower_position(coord, stage, access.origin), start, coord, active, assumption)


def _names(access: Access, counts: list[int]) -> dict[str, Integer]:
    """What each name in an expression stands for."""
    lane, warp = ints.named(LANE, LANES), ints.named(WARP, access.warps)
    tid = ints.add(ints.multiply(warp, ints.integer(LANES)), lane)
    env = {name: ints.integer(value) for name, value in access.constants.items()}
    for loop, count in zip(access.loops, counts, strict=True):
        index = ints.named(loop.name, max(1, count))
        env[loop.name] = ints.add(ints.multiply(index, ints.integer(loop.step)), ints.integer(loop.start))
    env |= {"tid": tid, "lane": lane, "warp": warp}
    rest = tid
    for axis, extent in zip("xyz", (*access.block, 1, 1), strict=False):
        size = ints.integer(extent)
        last = axis == "z" or prod(access.block["xyz".index(axis) + 1 :]) == 1
        # The last axis needs no remainder: only threads beyond the block would differ, and they are inactive.
        part = rest if last else ints.remainder(rest, size)
        rest = ints.integer(0) if last else ints.divide(rest, size)
        env[f"tid_{axis}"] = env[f"threadIdx.{axis}"] = part
        env[f"blockDim.{axis}"] = size
    return env


def _lower_active(access: Access, lowering: Lowering, env: Mapping[str, Integer]) -> Expr:
    parts: list[Expr] = []
    if access.threads % LANES:
        parts.append(ints.truth(ints.less(env["tid"], ints.integer(access.threads))))
    if access.instruction.address_lanes < LANES:
        parts.append(compare(Cmp.ULT, access.lane, const(access.instruction.address_lanes, 5)))
    if access.predicate is not None:
        parts.append(ints.truth(lowering.lower(access.predicate)))
    return conjunction(parts)


def _enumerate(access: Access, names: frozenset[str], counts: list[int]) -> dict[str, Array] | None:
    """Every joint value of some names; None when there are more than 2^18."""
    arrays: dict[str, Array] = {name: np.full(1, value, dtype=np.int64) for name, value in access.constants.items()}
    axes: dict[str, Array] = {}
    if not names <= {loop.name for loop in access.loops} | set(access.constants):
        axes["tid"] = np.arange(access.threads, dtype=np.int64)
    for loop, count in zip(access.loops, counts, strict=True):
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
        arrays |= thread_names(access, arrays["tid"])
    return arrays


def _active_values(access: Access, node: Expression, counts: list[int]) -> Array | None:
    """The values that an expression takes where a lane is active and the assumptions hold; None if too many."""
    wanted = node.names.union(*(each.names for each in access.assume))
    if access.predicate is not None:
        wanted |= access.predicate.names
    arrays = _enumerate(access, wanted | {"tid"}, counts)
    if arrays is None:
        return None
    shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    keep = np.broadcast_to(arrays["lane"] < access.instruction.address_lanes, shape)
    for condition in (*access.assume, *(() if access.predicate is None else (access.predicate,))):
        keep = keep & (np.asarray(evaluate_many(condition, arrays)) != 0)
    return np.broadcast_to(np.asarray(evaluate_many(node, arrays)), shape)[keep]


def _not_negative(access: Access, value: Integer, node: Expression, what: str, counts: list[int]) -> Integer:
    if value.low >= 0:
        return value
    every = _active_values(access, node, counts)
    if every is not None and (every.size == 0 or every.min() >= 0):
        return ints.maximum(value, ints.integer(0))
    low = value.low if every is None else int(every.min())
    raise SwzError(
        "SWZ306",
        f"access {access.name}: the {what} '{node}' can be {low}; negative ones mean nothing",
        hint="guard it with `if:`, or shift it",
        text=node.text,
        span=(0, len(node.text)),
    )


def _in_stages(access: Access, value: Integer, node: Expression, counts: list[int]) -> Integer:
    last = access.tile.stages - 1 if access.tile is not None else 0
    if value.low >= 0 and value.high <= last:
        return value
    every = _active_values(access, node, counts)
    if every is not None and (every.size == 0 or (every.min() >= 0 and every.max() <= last)):
        return ints.minimum(ints.maximum(value, ints.integer(0)), ints.integer(last))
    low, high = (value.low, value.high) if every is None else (int(every.min()), int(every.max()))
    raise SwzError(
        "SWZ306",
        f"access {access.name}: the stage '{node}' goes from {low} to {high}, but the stages are 0..{last}",
        hint=f"a ring of stages takes it modulo {last + 1}, as the kernel does",
        text=node.text,
        span=(0, len(node.text)),
    )

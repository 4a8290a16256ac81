"""An access over the expression form: its address, activity and assumption."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import FALSE, Expr, compare, conjunction, const
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.subjects import access_names as names
from swzverify.subjects.iterations import Iterations, existence
from swzverify.subjects.loop import STAGE
from swzverify.subjects.plain_access import exist
from swzverify.subjects.stated_access import StatedAccess

MAX_POSITION = 1 << 62
Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LoweredAccess:
    """The access as expressions.

    `position` is in the tile's units, and `start` is the stage's first unit. `relative` is the distance
    between the two before a swizzle of addresses. `active` is one bit. `source` is the byte address that
    a copy reads.
    """

    position: Integer
    start: Integer | None
    relative: Integer | None
    coord: tuple[Integer, ...]
    active: Expr
    assumption: Expr
    source: Integer | None = None


def lowered_access(access: StatedAccess, iterations: Iterations, room: tuple[int, ...]) -> LoweredAccess:
    """The access over expressions, whose loop variables go as far as `room`."""
    limits = iterations.limits
    found = _lower(access, iterations, room)
    if found.position.high >= MAX_POSITION:
        raise SwzError("SWZ206", f"access {access.name} reaches beyond unit 2^62: not modelled")
    if 0 in limits:
        return replace(found, assumption=FALSE)
    parts = [found.assumption]
    if not iterations.all_exist:
        parts.append(existence(access, limits, room))
    for loop, limit, space in zip(access.loops, limits, room, strict=True):
        if space > limit:
            parts.append(ints.truth(ints.less(ints.named(loop.name, space), ints.integer(limit))))
    return replace(found, assumption=conjunction(parts))


def _lower(access: StatedAccess, iterations: Iterations, room: tuple[int, ...]) -> LoweredAccess:
    """The access in every iteration that exists; its assumption does not tell yet which do."""
    limits = iterations.limits
    # Where a loop has no bound, what leaves C's range belongs to iterations that do not exist; else
    # it is an error.
    leaving: list[Integer] | None = [] if access.is_unbounded else None
    constants, loops = names.constants(access), names.loops(access, limits, room)

    def every(read: frozenset[str]) -> dict[str, Array] | None:
        return names.joint_values(access, read, limits)

    assuming = Reading(constants | loops, every, leaving)
    # All of them before they are joined: one that is false everywhere must not hide what another
    # leaves undefined.
    assumed = [ints.truth(each.lowered(assuming)) for each in access.assume]
    assumption = conjunction(assumed)
    env = constants | loops | names.threads(access) | names.unknowns(access)
    reading = Reading(env, every, leaving)
    active = _lower_active(access, reading)
    found = _lower_place(access, iterations, reading, active, assumption)
    if access.source is None:
        return found
    source = _not_negative(access, iterations, access.source.lowered(reading), access.source, "source")
    return replace(found, source=ints.add(access.source_origin.address(), source))


def _lower_place(
    access: StatedAccess, iterations: Iterations, reading: Reading, active: Expr, assumption: Expr
) -> LoweredAccess:
    """The access with what it touches in its own memory."""
    stage = ints.integer(0)
    if access.tile is None:
        assert access.address is not None  # noqa: S101 - __post_init__ refuses neither
        own = _not_negative(access, iterations, access.address.lowered(reading), access.address, "address")
        return LoweredAccess(ints.add(access.origin.address(), own), None, None, (), active, assumption)
    if access.stage is not None:
        stage = _in_stages(access, iterations, access.stage.lowered(reading), access.stage)
    elif access.tile.stages > 1:
        stage = ints.named(STAGE, access.tile.stages)
    coord = tuple(_not_negative(access, iterations, each.lowered(reading), each, "coordinate") for each in access.coord)
    start = access.tile.lower_start(stage, access.origin)
    if access.offset is None:
        offset = access.tile.lower_offset(coord)
    else:
        offset = _lower_expression(access, iterations, access.offset, reading)
    position = access.tile.lower_position_of(offset, stage, access.origin)
    relative = ints.multiply(offset, ints.integer(access.tile.step_units))
    return LoweredAccess(position, start, relative, coord, active, assumption)


def _lower_expression(access: StatedAccess, iterations: Iterations, offset: CFormula, reading: Reading) -> Integer:
    """The expression of the access's tile at its coordinate, judged as an expression of the access."""
    name = "" if access.tile is None else access.tile.name
    try:
        value = offset.lowered(reading)
    except SwzError as error:
        message = f"access {access.name}: the expression of tile {name} at this coordinate: {error.message}"
        raise SwzError(error.code, message, hint=error.hint, text=error.text, span=error.span) from None
    return _not_negative(access, iterations, value, offset, f"expression of tile {name} at this coordinate, ")


def _lower_active(access: StatedAccess, reading: Reading) -> Expr:
    parts: list[Expr] = []
    if access.threads % LANES:
        parts.append(ints.truth(ints.less(reading.env["tid"], ints.integer(access.threads))))
    if access.instruction.address_lanes < LANES:
        parts.append(compare(Cmp.ULT, access.lane, const(access.instruction.address_lanes, 5)))
    if access.predicate is not None:
        parts.append(ints.truth(access.predicate.lowered(reading)))
    return conjunction(parts)


def _active_values(access: StatedAccess, iterations: Iterations, node: CFormula) -> Array | None:
    """The values of an expression at active lanes where the assumptions hold; None if too many."""
    wanted = node.names.union(*(each.names for each in access.assume))
    if access.predicate is not None:
        wanted |= access.predicate.names
    if not iterations.all_exist:
        wanted |= {loop.name for loop in access.loops}
    arrays = names.joint_values(access, wanted | {"tid"}, iterations.limits)
    if arrays is None:
        return None
    shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    keep = np.broadcast_to(arrays["lane"] < access.instruction.address_lanes, shape)
    if not iterations.all_exist:
        keep = keep & exist(access, {loop.name: arrays[loop.name] for loop in access.loops})
    for condition in (*access.assume, *(() if access.predicate is None else (access.predicate,))):
        keep = keep & (condition.within(arrays)[0] != 0)
    return np.broadcast_to(node.within(arrays)[0], shape)[keep]


class _Reach(NamedTuple):
    """Bounds of an expression where a lane is active; without `is_exact` conditions did not count."""

    low: int
    high: int
    is_exact: bool


def _reach(access: StatedAccess, iterations: Iterations, node: CFormula) -> _Reach:
    """Bounds of an expression at active lanes: exact if its values can be listed, else by thread."""
    every = _active_values(access, iterations, node)
    if every is not None:
        return _Reach(int(every.min()), int(every.max()), True) if every.size else _Reach(0, 0, True)
    env = names.constants(access) | names.loops(access, iterations.limits) | names.unknowns(access)
    bounds: list[Integer] = []
    for tid in range(access.threads):
        if tid % LANES < access.instruction.address_lanes:
            reading = Reading(
                env | names.one_thread(access, tid),
                lambda read, tid=tid: names.joint_values(access, read, iterations.limits, tid),
                [],
            )
            bounds.append(node.lowered(reading))
    return _Reach(min(each.low for each in bounds), max(each.high for each in bounds), False)


def _not_negative(access: StatedAccess, iterations: Iterations, value: Integer, node: CFormula, what: str) -> Integer:
    if value.low >= 0:
        return value
    reach = _reach(access, iterations, node)
    if reach.low >= 0:
        return ints.maximum(value, ints.integer(0))
    said, hint = f"can be {reach.low}", "guard it with `if:`, or shift it"
    if not reach.is_exact and (access.predicate is not None or access.assume):
        said = f"was not shown to be at least 0: without the conditions it can be {reach.low}, and it has"
        said += " too many values to try each one"
        hint = "count the loop from its first value that matters, or give it a last one"
    raise SwzError(
        "SWZ306",
        f"access {access.name}: the {what} '{node}' {said}; it must not be negative",
        hint=hint,
        text=node.text,
        span=(0, len(node.text)),
    )


def _in_stages(access: StatedAccess, iterations: Iterations, value: Integer, node: CFormula) -> Integer:
    last = access.tile.stages - 1 if access.tile is not None else 0
    if value.low >= 0 and value.high <= last:
        return value
    low, high, _ = _reach(access, iterations, node)
    if low >= 0 and high <= last:
        return ints.minimum(ints.maximum(value, ints.integer(0)), ints.integer(last))
    raise SwzError(
        "SWZ306",
        f"access {access.name}: the stage '{node}' goes from {low} to {high}, but the stages are 0..{last}",
        hint=f"a ring of stages takes it modulo {last + 1}, as the kernel does",
        text=node.text,
        span=(0, len(node.text)),
    )

"""The differences between two operands of the tensor core of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.apps.diff.places import base_change
from swzverify.apps.diff.subjects import tile_changes
from swzverify.subjects import Operand

MAX_COMPARED = 1 << 12
"""Iterations that are compared one by one."""


def operand_changes(before: Operand, after: Operand, kind: str) -> list[Change]:
    """The differences between two operands: how many elements, in which iterations, of which tile.

    What the kernel computes, the descriptor and the coordinates, is the kernel's own: a claim on it
    says neither less nor more.
    """
    changes = tile_changes(before.tile, after.tile, kind)
    if before.tile.name != after.tile.name:
        what = f"tile of {before.name}"
        changes.append(Change(Aspect.STATEMENT, Direction.WEAKER, what, before.tile.name, after.tile.name))
    if canonical(before.own_base) != canonical(after.own_base):
        moved = base_change(before.own_base, after.own_base, before.name, None)
        changes += [] if moved is None else [moved]
    for what, old, new in (
        ("instruction", before.instruction.name, after.instruction.name),
        ("role", before.role.value, after.role.value),
    ):
        if old != new:
            changes.append(_instruction(f"{what} of {before.name}", before, after, old, new))
    changes += _loops(before, after)
    for what, old, new in zip(("descriptor", "coordinates"), _computed(before), _computed(after), strict=True):
        if old != new:
            changes.append(Change(Aspect.SUBJECT, Direction.NEITHER, f"{what} of {before.name}", old, new))
    if before.target.capability != after.target.capability:
        note = "the rule of operands is known for each target by itself"
        changes.append(
            Change(Aspect.STATEMENT, Direction.WEAKER, "target", before.target.name, after.target.name, note)
        )
    return changes


def _instruction(what: str, before: Operand, after: Operand, old: str, new: str) -> Change:
    """Another instruction, or the other operand: fewer elements say less."""
    grown = after.rows >= before.rows and after.columns >= before.columns
    way = Direction.WEAKER if not grown else Direction.NEITHER
    return Change(Aspect.DOMAIN, way, what, old, new)


def _loops(before: Operand, after: Operand) -> list[Change]:
    """Iterations that are left out, or new."""
    old, new = ({loop.name: loop.describe(loop.count or 0) for loop in each.loops} for each in (before, after))
    if old == new:
        return []
    names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    was, now = ("; ".join(each.get(name, f"no {name}") for name in names) for each in (old, new))
    what = f"loops of {before.name}"
    if max(before.iterations, after.iterations) > MAX_COMPARED or set(old) != set(new):
        return [Change(Aspect.DOMAIN, Direction.WEAKER, what, was, now, "cannot be told, so it counts as weaker")]
    runs = [set(_iterations(each)) for each in (before, after)]
    way = Direction.STRONGER if runs[0] <= runs[1] else Direction.WEAKER
    return [Change(Aspect.DOMAIN, way, what, was, now)]


def _iterations(operand: Operand) -> Iterator[tuple[int, ...]]:
    """The joint values of the loops, in the order of their names."""
    loops = sorted(operand.loops, key=lambda loop: loop.name)
    yield from product(*([loop.value(at) for at in range(loop.count or 0)] for loop in loops))


def _computed(operand: Operand) -> tuple[str, str]:
    """The descriptor and the coordinates in words, with the constants' values."""
    values: Mapping[str, int] = operand.constants
    fields = operand.descriptor
    descriptor = (
        f"{operand.major}-major, start {operand.start.spelled(values, {})}, lbo {fields.lbo_bytes}, "
        f"sbo {fields.sbo_bytes}, {fields.swizzle}, base offset {fields.base_offset}"
    )
    at = ", ".join(each.spelled(values, {}) for each in operand.at)
    stage = "" if operand.stage is None else f", stage {operand.stage.spelled(values, {})}"
    return descriptor, f"[{at}] of {'x'.join(operand.modes)}{stage}"

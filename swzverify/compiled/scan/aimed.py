"""Launches that a solver aims at accesses that no trial has reached.

The path condition of an access is asked for a model: values of parameters, and the place of the block. The model is
a guess: the condition may allow what no launch does, and memory holds what it holds. So verdicts rest on the trial
that runs such a launch, and never on the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.arithmetic import is_zero, less
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.asker import Asker, OutOfClockError
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.price import block_of
from swzverify.compiled.scan.samples import thread_values
from swzverify.compiled.scan.split import split
from swzverify.compiled.trial.launch import GRID, Data, Launcher, Plan
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr, conjunction, const, substitute, variables

MOST_CONDITIONS: Final = 4
"""Different path conditions of one kernel that are asked for a model."""
_LIMITS: Final = (0, 20)
"""Budgets of these queries, as of `Asker`."""
_SMALL: Final = 1 << 12
"""A limit of numbers, so that loops end soon."""
_BASES: Final = (Plan((64,), (Data.SMALL,)), Plan((8,), (Data.BYTES,)))
"""Where the values come from that the condition does not read."""


def aimed(accesses: Iterable[KernelAccess], block: BlockShape, launcher: Launcher) -> list[Plan]:
    """Launches in which the first and the last lane of a warp may make each of some accesses."""
    asker = Asker(*_LIMITS)
    asked: set[Expr] = set()
    found: list[Plan] = []
    for access in accesses:
        condition = None if len(asked) == MOST_CONDITIONS else _condition(access, block)
        if condition is not None and condition not in asked:
            asked.add(condition)
            values = _model(asker, condition, launcher)
            found += [_planned(base, values) for base in _BASES if values]
    return list(dict.fromkeys(found))


def _condition(access: KernelAccess, block: BlockShape) -> Expr | None:
    """The condition under which the first and the last lane of some warp make an access; None without such lanes."""
    if access.address is None:
        return None
    parts, threads = split(access, access.address), block_of(block)
    active = threads.exists & (threads.values(parts.own_guard, {}) != 0)
    warp = int(active.sum(axis=1).argmax())
    lanes = np.flatnonzero(active[warp]).tolist()
    if not lanes:
        return None
    whole = conjunction((parts.other_guard, *known_of(variables(parts.other_guard), parts.leaves)))
    made: list[Expr] = []
    for lane in (lanes[0], lanes[-1]):
        new = thread_values(threads, parts, warp * LANES + lane, f"@{lane}")
        made.append(substitute(whole, new(whole)))
    return conjunction(dict.fromkeys(made))


def _model(asker: Asker, condition: Expr, launcher: Launcher) -> Mapping[str, int]:
    """Values that fulfil a condition: small numbers and null pointers, where that is possible.

    Empty if none are found.
    """
    read = variables(condition)
    large = [each for each in read if _SMALL < each.limit <= 1 << 32]
    small = [less(each, const(_SMALL, each.width), signed=False) for each in large]
    null = [is_zero(each) for each in read if launcher.is_pointer(each.name)]
    for more in ((*small, *null), small, ()):
        try:
            found = asker.possible(conjunction((condition, *more)))
        except OutOfClockError:
            break
        if found.answer is Answer.HOLDS and found.point:
            return found.point
    return {}


def _planned(base: Plan, values: Mapping[str, int]) -> Plan:
    """A launch with these values of parameters, and of the place and the number of blocks."""
    x, y, z = (values.get(f"ctaid.{axis}", 0) for axis in "xyz")
    wide, high, deep = (values.get(f"nctaid.{axis}", most) for axis, most in zip("xyz", GRID, strict=True))
    fixed = tuple(sorted((name, value) for name, value in values.items() if ":" in name))
    return replace(base, place=(x, y, z), grid=(max(wide, x + 1), max(high, y + 1), max(deep, z + 1)), fixed=fixed)

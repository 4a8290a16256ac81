"""From the models of phases to the subjects, in one case of the constants."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swzverify.errors import nearest
from swzverify.spec.names import Names
from swzverify.spec.phase_models import PhasePart, RunPart, StepValue, WaitPart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Loop, Phase
from swzverify.subjects.loop import RESERVED_NAMES
from swzverify.subjects.phase import MAX_PENDING, Bound, Run, Step, Sync, WaitGroup, run_of

_SYNCS = {sync.value: sync for sync in Sync}
_SUM = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:[+-][\w\s+*/%()-]*)?)")
"""The phase's variable, and a number that is added to it."""


def build_phase(name: str, part: PhasePart, values: Values, names: Names) -> Phase:
    """A phase.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    loop = None
    for variable, count in part.for_.items():
        values.refuse_taken(variable, values.key("for", variable), RESERVED_NAMES, "give the variable another name")
        stop = None if count == "any" else values.number(count, "for", variable, least=0)
        with values.noted(values.at("for", variable)):
            loop = Loop(variable, 0, stop)
    follows = "" if loop is None else loop.name
    found: dict[str, tuple[Step, ...] | None] = {"before": None, "steps": (), "after": None}
    broken = False
    for key in found:
        steps: Sequence[StepValue] | None = getattr(part, key)
        if steps is not None:
            built: list[Step] = []
            for index, step in enumerate(steps):
                try:
                    built.append(_step(step, values, names, follows, (key, index)))
                except Broken:
                    broken = True
            found[key] = tuple(built)
    values.require_sound()
    if broken:
        raise Broken
    with values.noted(values.name):
        return Phase(name, loop, found["steps"] or (), found["before"], found["after"])
    raise Broken


def _step(step: StepValue, values: Values, names: Names, follows: str, path: tuple[str, int]) -> Step:
    """A step: an access, or one of the words that order accesses."""
    if isinstance(step, WaitPart):
        return WaitGroup(values.number(step.wait_group, *path, "wait_group", least=0, most=MAX_PENDING))
    if isinstance(step, RunPart):
        access = names.access(step.access, values.at(*path, "access"))
        bound = tuple(_bound(loop, value, values, follows, (*path, "at", loop)) for loop, value in step.at.items())
        others = {each.loop for each in bound}
        return Run(access, (*bound, *(each for each in run_of(access, follows).bound if each.loop not in others)))
    if step in _SYNCS:
        if step in names.accesses:
            values.fail("SWZ106", f"'{step}' is an access and a step", values.at(*path), "give the access another name")
        return _SYNCS[step]
    near = nearest(step, _SYNCS)
    if near and step not in names.accesses and ("accesses", step) not in names.broken:
        values.fail("SWZ106", f"unknown step '{step}'", values.at(*path), near)
        raise Broken
    return run_of(names.access(step, values.at(*path)), follows)


def _bound(loop: str, value: int | str, values: Values, follows: str, path: tuple[str | int, ...]) -> Bound:
    """`k: i + 2`, or `k: 0`."""
    stated = _SUM.fullmatch(value) if isinstance(value, str) else None
    if stated is None or not follows or stated[1] != follows:
        return Bound(loop, values.number(value, *path), follows=False, is_stated=True)
    number = values.number(f"0 {stated[2]}", *path) if stated[2].strip() else 0
    return Bound(loop, number, variable=follows, is_stated=True)

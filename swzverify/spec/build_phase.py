"""From the models of phases to the subjects, in one case of the constants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swzverify.errors import nearest
from swzverify.hardware import LANES
from swzverify.spec.names import Names
from swzverify.spec.phase_models import ArrivePart, PassPart, PhasePart, RolePart, RunPart, StepValue, WaitPart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Loop, Phase
from swzverify.subjects.loop import RESERVED_NAMES
from swzverify.subjects.phase import MAX_PENDING, Bound, Run, Step, Sync, WaitGroup, run_of
from swzverify.subjects.role import MAX_ARRIVALS, MAX_OBJECTS, Arrive, Barrier, Cycle, Role, Wait, ranges_of

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
    if bool(part.steps) == bool(part.roles):
        values.fail("SWZ104", f"phase {name} needs either `steps` or `roles`", values.name, "state one of the two")
        raise Broken
    reader = _Steps(values, names, follows, _barriers(part, values))
    found = {key: reader.all(getattr(part, key), key) for key in ("before", "steps", "after")}
    lines = [reader.all(each.steps, "roles", role, "steps") or () for role, each in part.roles.items()]
    values.require_sound()
    if reader.is_broken:
        raise Broken
    if part.roles:
        found["steps"] = tuple(step for line in lines for step in line)
    with values.noted(values.name):
        steps = found["steps"] or ()
        roles = _roles(part.roles, [len(line) for line in lines], steps, values)
        return Phase(name, loop, steps, found["before"], found["after"], roles)
    raise Broken


def _barriers(part: PhasePart, values: Values) -> dict[str, Barrier]:
    """The mbarriers of a phase by name."""
    return {
        name: Barrier(
            name,
            values.number(each.stages, "barriers", name, "stages", least=1, most=MAX_OBJECTS),
            values.number(each.arrivals, "barriers", name, "arrivals", least=1, most=MAX_ARRIVALS),
        )
        for name, each in part.barriers.items()
    }


def _roles(
    parts: Mapping[str, RolePart], lengths: list[int], steps: Sequence[Step], values: Values
) -> tuple[Role, ...]:
    """The roles: the threads that fulfil their condition, and where their steps stand."""
    threads = max([0, *(step.access.threads for step in steps if isinstance(step, Run))])
    found, first = list[Role](), 0
    for (name, part), length in zip(parts.items(), lengths, strict=True):
        who = values.expression(part.threads, ("tid", "warp", "lane"), "roles", name, "threads")
        values.require_sound()
        places = [{**values.constants, "tid": at, "warp": at // LANES, "lane": at % LANES} for at in range(threads)]
        ranges = ranges_of([at for at, place in enumerate(places) if who.at(place)])
        found.append(Role(name, who.text, ranges, first, first + length))
        first += length
    return tuple(found)


@dataclass
class _Steps:
    """Reads steps; `is_broken` once an access of one is."""

    values: Values
    names: Names
    follows: str
    barriers: Mapping[str, Barrier]
    is_broken: bool = False

    def all(self, steps: Sequence[StepValue] | None, *path: str) -> tuple[Step, ...] | None:
        """The steps of a list; None if it is left out."""
        if steps is None:
            return None
        built: list[Step] = []
        for index, step in enumerate(steps):
            try:
                built.append(self._one(step, (*path, index)))
            except Broken:
                self.is_broken = True
        return tuple(built)

    def _one(self, step: StepValue, path: tuple[str | int, ...]) -> Step:
        if isinstance(step, PassPart):
            barrier, stage = self._object(step.wait, step.stage, (*path, "wait"))
            return Wait(barrier, stage, self._cycle(step.phase, 2, (*path, "phase")))
        if isinstance(step, ArrivePart):
            return Arrive(*self._object(step.arrive, step.stage, (*path, "arrive")))
        return _shared_step(step, self.values, self.names, self.follows, path)

    def _object(self, name: str, stage: int | str, path: tuple[str | int, ...]) -> tuple[Barrier, Cycle]:
        barrier = self.barriers.get(name)
        if barrier is None:
            hint = nearest(name, self.barriers) or "state it in `barriers:` of the phase"
            self.values.fail("SWZ106", f"unknown barrier '{name}'", self.values.at(*path), hint)
            raise Broken
        return barrier, self._cycle(stage, barrier.stages, (*path[:-1], "stage"))

    def _cycle(self, value: int | str, limit: int, path: tuple[str | int, ...]) -> Cycle:
        formula = self.values.expression(value, (self.follows,) if self.follows else (), *path)
        self.values.require_sound()
        with self.values.noted(self.values.at(*path)):
            return Cycle.of(formula, self.follows, limit, self.values.constants)
        raise Broken


def _shared_step(
    step: str | RunPart | WaitPart, values: Values, names: Names, follows: str, path: tuple[str | int, ...]
) -> Step:
    """A step that a phase without roles can have: an access, or one of the words that order accesses."""
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

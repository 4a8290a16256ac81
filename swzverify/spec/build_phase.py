"""From the models of phases to the subjects, in one case of the constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from swzverify.hardware import MOST_BLOCK_THREADS, Target
from swzverify.spec.build_steps import THREAD_NAMES, RoleSteps, Steps, threads_with
from swzverify.spec.names import Names
from swzverify.spec.phase_models import PhasePart, RolePart, RunPart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import Loop, Phase
from swzverify.subjects.loop import RESERVED_NAMES
from swzverify.subjects.phase import Step
from swzverify.subjects.role import MAX_ARRIVALS, MAX_OBJECTS, Barrier, Role, ranges_of


def build_phase(name: str, part: PhasePart, values: Values, names: Names, target: Target) -> Phase:
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
    if part.roles:
        return _with_roles(name, part, loop, RoleSteps(values, names, follows, target=target))
    reader = Steps(values, names, follows)
    found = {key: reader.all(getattr(part, key), key) for key in ("before", "steps", "after")}
    values.require_sound()
    if reader.is_broken:
        raise Broken
    with values.noted(values.name):
        return Phase(name, loop, found["steps"] or (), found["before"], found["after"])
    raise Broken


def _with_roles(name: str, part: PhasePart, loop: Loop | None, reader: RoleSteps) -> Phase:
    """A phase whose roles have steps of their own."""
    values = reader.values
    for key in ("before", "after"):
        if getattr(part, key) is not None:
            values.fail("SWZ105", f"phase {name} has roles and `{key}`", values.key(key), f"say `{key}:` in each role")
    reader.barriers, reader.threads = _barriers(part, values), _block(name, part, values, reader.names)
    lists: dict[str, list[Step]] = {"before": [], "steps": [], "after": []}
    roles = list[Role]()
    for role in _roles(part.roles, reader.threads, values):
        spans = dict[str, tuple[int, int]]()
        for key, steps in lists.items():
            own = reader.of(role, getattr(part.roles[role.name], key), key)
            spans[key] = len(steps), len(steps) + len(own)
            steps.extend(own)
        roles.append(replace(role, **spans))
    values.require_sound()
    if reader.is_broken:
        raise Broken
    with values.noted(values.name):
        before, after = (tuple(lists[key]) or None for key in ("before", "after"))
        return Phase(name, loop, tuple(lists["steps"]), before, after, tuple(roles))
    raise Broken


def _block(name: str, part: PhasePart, values: Values, names: Names) -> int:
    """The threads of the block: those of the accesses, or those that the phase says."""
    stated = 0 if part.threads is None else values.number(part.threads, "threads", least=1, most=MOST_BLOCK_THREADS)
    found = stated
    for role in part.roles.values():
        for step in (*role.before, *role.steps, *role.after):
            named = step.access if isinstance(step, RunPart) else step
            access = names.accesses.get(named) if isinstance(named, str) else None
            found = found if access is None else max(found, access.threads)
    if not found:
        words = f"phase {name} does not say how many threads the block has"
        values.fail("SWZ104", words, values.key("roles"), "no step is an access of `accesses:`, so say `threads: 384`")
        raise Broken
    return found


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


def _roles(parts: Mapping[str, RolePart], threads: int, values: Values) -> tuple[Role, ...]:
    """The roles: the threads that fulfil their condition. Where their steps stand is not known yet."""
    found = list[Role]()
    for name, part in parts.items():
        who = values.expression(part.threads, THREAD_NAMES, "roles", name, "threads")
        values.require_sound()
        found.append(Role(name, who.text, ranges_of(threads_with(who, threads, values.constants))))
    return tuple(found)

"""What claims on phases have in common: the scope in words, and that some thread touches something."""

from __future__ import annotations

from swzverify.claims.run_points import P, RunPoints, Turn
from swzverify.ir.c_ast import VALUE_MAX
from swzverify.ir.expr import FALSE, BinaryOperator, Expr, binary, var
from swzverify.subjects import Phase
from swzverify.subjects.phase import Part, Place, Run


def phase_scope(phase: Phase) -> str:
    """The phase in words: its iterations, its threads, its steps."""
    runs = [run for _, run in phase.runs]
    parts = [_iterations(phase), f"every two of {phase.threads} threads"]
    for role in phase.roles:
        lists = {part: phase.part(part)[slice(*getattr(role, part.value))] for part in Part}
        told = [
            ("" if part is Part.STEPS else f"{part.value} the loop ") + ", ".join(map(str, steps))
            for part, steps in lists.items()
            if steps
        ]
        parts.append(f"{role.name} ({role.text}): {', '.join(told)}")
    for part in () if phase.roles else Part:
        if phase.part(part):
            name = "" if part is Part.STEPS else f"{part.value}: "
            parts.append(name + ", ".join(str(step) for step in phase.part(part)))
    accesses = list(dict.fromkeys(run.access for run in runs if run.proxy is None))
    parts += [f"{access.name} for lanes with {access.predicate}" for access in accesses if access.predicate is not None]
    parts += [f"{access.name} assuming {each}" for access in accesses for each in access.assume]
    unsaid = [part.value for part in (Part.BEFORE, Part.AFTER) if getattr(phase, part.value) is None]
    if phase.roles:
        parts.append("the barriers are fresh before the loop")
    elif unsaid and phase.loop is not None:
        parts.append(f"nothing is said of what runs {' and '.join(unsaid)} the loop")
    return "; ".join(parts)


def _iterations(phase: Phase) -> str:
    if phase.loop is None:
        return "the steps once"
    name = phase.loop.name
    if phase.count is not None:
        return f"{name} in 0..{phase.count - 1}" if phase.count else f"never any {name}"
    rooms = [run.room for _, run in phase.runs]
    most = min(rooms)
    return f"any number of iterations of {name}" + ("" if most >= VALUE_MAX else f", {name} below {most}")


def some_run(phase: Phase) -> Expr:
    """Some lane touches memory in some step of the phase, in an iteration that the phase has."""
    found = FALSE
    for number, (place, run) in enumerate(phase.runs):
        first = phase.count if place.part is Part.AFTER and phase.count is not None else 0
        active = active_from(phase, place, run, first, f"{number}.")
        found = active if found is FALSE else binary(BinaryOperator.OR, found, active)
    return found


def active_from(phase: Phase, place: Place, run: Run, first: int, prefix: str = P) -> Expr:
    """Some lane touches memory in the step, in an iteration of the phase from `first` on."""
    if place.part is Part.BEFORE or (place.part is Part.AFTER and phase.count is not None):
        return RunPoints(run, prefix, Turn(first), 1).active
    room = (run.room if phase.count is None else min(run.room, phase.count)) - first
    if room <= 0:
        return FALSE
    return RunPoints(run, prefix, Turn(first, var(prefix + phase.variable, room)), 1).active

"""What claims on phases have in common: the scope in words, and that some thread runs something."""

from __future__ import annotations

from swzverify.ir.c_ast import VALUE_MAX
from swzverify.ir.expr import BinaryOperator, Expr, Var, binary, conjunction, substitute, var
from swzverify.subjects import Phase
from swzverify.subjects.phase import Part


def phase_scope(phase: Phase) -> str:
    """The phase in words: its iterations, its threads, its steps."""
    runs = [run for _, run in phase.runs]
    parts = [_iterations(phase), f"every two of {runs[0].access.threads} threads"]
    for part in Part:
        if phase.part(part):
            name = "" if part is Part.STEPS else f"{part.value}: "
            parts.append(name + ", ".join(str(step) for step in phase.part(part)))
    accesses = list(dict.fromkeys(run.access for run in runs))
    parts += [f"{access.name} for lanes with {access.predicate}" for access in accesses if access.predicate is not None]
    parts += [f"{access.name} assuming {each}" for access in accesses for each in access.assume]
    unsaid = [part.value for part in (Part.BEFORE, Part.AFTER) if getattr(phase, part.value) is None]
    if unsaid and phase.loop is not None:
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


def some_access(phase: Phase) -> Expr:
    """Some lane runs some access of the phase in some case."""
    found: Expr | None = None
    for number, access in enumerate(dict.fromkeys(run.access for _, run in phase.runs)):
        own: dict[Var, Expr] = {node: var(f"{number}.{node.name}", node.limit) for node in access.variables}
        runs = substitute(conjunction([access.lowered.assumption, access.lowered.active]), own)
        found = runs if found is None else binary(BinaryOperator.OR, found, runs)
    assert found is not None  # noqa: S101 - a phase has an access
    return found

"""What a spec writes of a phase: its loop, and the steps before it, in it and after it
(docs/semantics.md, section 10).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from . import c_expr
from .accesses import Access
from .oracle_errors import OracleError
from .yaml_values import Yaml, as_dict, as_list, as_str

WORDS = ("barrier", "syncwarp", "commit", "wait_all")
MOST_PENDING = 32


@dataclass(frozen=True, slots=True)
class Bound:
    """Which iteration of a loop of its access a step makes: `number`, plus the phase's if it
    `follows`; `is_stated` says that the step gives it.
    """

    loop: str
    number: int
    follows: bool
    is_stated: bool

    def at(self, iteration: int) -> int:
        return self.number + (iteration if self.follows else 0)


@dataclass(frozen=True, slots=True)
class Step:
    """What all threads do: an access (its name), one of `WORDS`, or `wait_group`."""

    kind: str
    name: str = ""
    pending: int = 0
    bounds: tuple[Bound, ...] = ()

    def bound(self, loop: str) -> Bound | None:
        return next((each for each in self.bounds if each.loop == loop), None)


@dataclass(frozen=True)
class Phase:
    """A loop over steps, with the accesses that it names and the kind of each: R, W or A.

    `count` is the number of iterations, None for any number.
    """

    name: str
    count: int | None
    before: tuple[Step, ...] | None
    steps: tuple[Step, ...]
    after: tuple[Step, ...] | None
    accesses: dict[str, Access]
    kinds: dict[str, str]

    def part(self, part: str) -> tuple[Step, ...]:
        return {"before": self.before, "steps": self.steps, "after": self.after}[part] or ()

    def step(self, place: tuple[str, int]) -> Step:
        return self.part(place[0])[place[1]]

    def places(self, name: str) -> list[tuple[str, int]]:
        """The steps that make an access, in the order of the parts."""
        return [
            (part, at)
            for part in ("before", "steps", "after")
            for at, step in enumerate(self.part(part))
            if step.kind == "access" and step.name == name
        ]


def read_phase(
    name: str, value: Yaml, accesses: Mapping[str, Access], written: Mapping[str, Yaml], constants: Mapping[str, int]
) -> Phase:
    """A phase of a spec; `written` has the accesses as the spec says them."""
    spec = as_dict(value)
    loops = as_dict(spec.get("for", {}))
    if len(loops) > 1:
        raise OracleError(f"phase {name}: one loop")
    variable, bounds = next(iter(loops.items()), ("", 1))
    count = None if bounds == "any" else c_expr.constant(bounds, constants)
    parts = {
        part: tuple(_read_step(name, item, variable, accesses, constants) for item in as_list(spec[part]))
        if part in spec
        else None
        for part in ("before", "steps", "after")
    }
    steps = [step for those in parts.values() for step in those or ()]
    named = {step.name for step in steps if step.kind == "access"}
    if not named:
        raise OracleError(f"phase {name}: no access", "SWZ104")
    found = {each: accesses[each] for each in accesses if each in named}
    if len({access.form.threads for access in found.values()}) > 1:
        raise OracleError(f"phase {name}: accesses of several numbers of threads", "SWZ105")
    for part, those in parts.items():
        for step in those or ():
            if step.kind == "access":
                _check(name, part, count, step, accesses[step.name])
    kinds = {each: _kind(as_str(as_dict(written[each])["instruction"]), access) for each, access in found.items()}
    return Phase(name, count, parts["before"], parts["steps"] or (), parts["after"], found, kinds)


def _read_step(
    name: str, item: Yaml, variable: str, accesses: Mapping[str, Access], constants: Mapping[str, int]
) -> Step:
    if isinstance(item, dict) and list(item) == ["wait_group"]:
        pending = c_expr.constant(item["wait_group"], constants)
        if not 0 <= pending <= MOST_PENDING:
            raise OracleError(f"phase {name}: a wait for all groups but {pending}")
        return Step("wait_group", pending=pending)
    stated = as_dict(item["at"]) if isinstance(item, dict) and set(item) == {"access", "at"} else {}
    access = as_str(item["access"]) if isinstance(item, dict) and stated else item
    if access in WORDS and not stated:
        return Step(as_str(item))
    if not isinstance(access, str) or access not in accesses:
        raise OracleError(f"phase {name}: {item!r} is no step")
    bounds = [_bound(loop, each, variable, constants) for loop, each in stated.items()]
    if variable in accesses[access].form.loops and variable not in stated:
        bounds.append(Bound(variable, 0, follows=True, is_stated=False))
    return Step("access", access, bounds=tuple(bounds))


def _bound(loop: str, value: Yaml, variable: str, constants: Mapping[str, int]) -> Bound:
    """`k: i + 2`, or `k: 0`."""
    words = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*([+-].*)?", value) if isinstance(value, str) else None
    if words and variable and words[1] == variable:
        number = c_expr.constant(f"0 {words[2]}", constants) if words[2] else 0
        return Bound(loop, number, follows=True, is_stated=True)
    return Bound(loop, c_expr.constant(value, constants), follows=False, is_stated=True)


def _check(name: str, part: str, count: int | None, step: Step, access: Access) -> None:
    form = access.form
    if form.instruction.of_global_memory:
        raise OracleError(f"phase {name}: {form.name} goes to global memory", "SWZ409")
    if form.tile is not None and form.tile.stages > 1 and form.stage is None:
        raise OracleError(f"phase {name}: {form.name} says no stage", "SWZ105")
    for bound in step.bounds:
        if bound.loop not in form.loops:
            raise OracleError(f"phase {name}: {form.name} has no loop {bound.loop}", "SWZ105")
        loop = form.loops[bound.loop]
        if bound.follows and (loop.listed is not None or (loop.start, loop.step) != (0, 1)):
            raise OracleError(f"phase {name}: {form.name} does not count its {bound.loop} from 0", "SWZ105")
        first, last = 0, None if count is None else max(count - 1, 0)
        if part == "before":
            last = 0
        elif part == "after":
            first, last = count or 0, count
        ends = [bound.at(first), *([] if last is None else [bound.at(last)])]
        if not loop.is_open and (min(ends) < 0 or max(ends) >= len(loop.values) or (last is None and bound.follows)):
            raise OracleError(f"phase {name}: {form.name} has no such iteration of {bound.loop}", "SWZ105")
        if min(ends) < 0:
            raise OracleError(f"phase {name}: {form.name} has no negative iteration of {bound.loop}", "SWZ105")


def _kind(instruction: str, access: Access) -> str:
    if access.instruction.kind == "atomic":
        return "A"
    return "R" if access.instruction.kind == "load" or instruction.startswith("ldmatrix") else "W"

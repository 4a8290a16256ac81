"""Phases with roles, by all runs of a few iterations: every state that some order of the threads' steps reaches.

Two touches race where some state has both as next steps of their threads. Nothing here knows what orders what.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from . import c_expr
from .oracle_errors import OracleAmbiguousError
from .yaml_values import Spec, Yaml, as_dict, as_int, as_list, as_str

MOST_STATES = 400_000

Object = tuple[str, int]
"""An mbarrier: the name and the stage."""


@dataclass(frozen=True)
class Step:
    """A wait for a parity at an object, an arrival there, or a touch of bytes (kind R or W)."""

    kind: str
    those: Object = ("", 0)
    parity: int = 0
    bytes: range = range(0)


@dataclass(frozen=True)
class Runs:
    """What all runs do: whether some race, and whether some hang."""

    race: bool
    hang: bool


def _value(text: Yaml, **names: int) -> int:
    columns = {name: [value] for name, value in names.items()}
    return c_expr.evaluate(c_expr.parse(text), columns, 1)[0]


def _step(spec: Spec, step: Yaml, thread: int, i: int) -> Step:
    if isinstance(step, dict) and "wait" in step:
        return Step("wait", (as_str(step["wait"]), _value(step.get("stage", 0), i=i)), _value(step["phase"], i=i))
    if isinstance(step, dict) and "arrive" in step:
        return Step("arrive", (as_str(step["arrive"]), _value(step.get("stage", 0), i=i)))
    name, at = (step["access"], as_dict(step["at"])["i"]) if isinstance(step, dict) else (step, i)
    access = as_dict(as_dict(spec["accesses"])[as_str(name)])
    start = _value(access["address"], tid=thread, i=_value(at, i=i))
    return Step("R" if as_str(access["instruction"]).startswith("ld") else "W", bytes=range(start, start + 4))


def all_runs(spec: Spec, iterations: int) -> Runs:
    """Go through all states of the only phase with so many iterations, or with those that it says."""
    [phase] = map(as_dict, as_dict(spec["phases"]).values())
    [count] = as_dict(phase["for"]).values()
    iterations = iterations if count == "any" else as_int(count)
    counts = {name: as_int(as_dict(each)["arrivals"]) for name, each in as_dict(phase["barriers"]).items()}
    lines = [
        [_step(spec, step, thread, i) for i in range(iterations) for step in as_list(as_dict(role)["steps"])]
        for role in as_dict(phase["roles"]).values()
        for thread in range(32)
        if _value(as_dict(role)["threads"], tid=thread, warp=0, lane=thread)
    ]
    objects = sorted({step.those for line in lines for step in line})
    number = {each: len(lines) + 2 * at for at, each in enumerate(objects)}
    # A state has the place of each thread, then for each object the parity of its phase and the arrivals in it.
    first: tuple[int, ...] = (0,) * (len(lines) + 2 * len(objects))
    seen, pending = set[tuple[int, ...]]([first]), list[tuple[int, ...]]([first])
    race = hang = False
    while pending:
        state = pending.pop()
        following = [
            lines[thread][at] if at < len(lines[thread]) else None for thread, at in enumerate(state[: len(lines)])
        ]
        touches = [step for step in following if step is not None and step.kind in "RW"]
        race |= any(_clash(one, other) for one, other in combinations(touches, 2))
        moves = [
            _after(state, thread, step, number, counts) for thread, step in enumerate(following) if step is not None
        ]
        possible = [each for each in moves if each is not None]
        hang |= bool(moves) and not possible
        for each in possible:
            if each not in seen:
                seen.add(each)
                pending.append(each)
        if len(seen) > MOST_STATES:
            raise OracleAmbiguousError("too many states")
    return Runs(race, hang)


def _clash(one: Step, other: Step) -> bool:
    overlap = one.bytes.start < other.bytes.stop and other.bytes.start < one.bytes.stop
    return overlap and "W" in (one.kind, other.kind)


def _after(
    state: tuple[int, ...], thread: int, step: Step, number: dict[Object, int], counts: dict[str, int]
) -> tuple[int, ...] | None:
    """The state after a step of a thread; None while it has to wait."""
    new, place = list(state), number[step.those]
    new[thread] += 1
    if step.kind == "wait" and state[place] == step.parity:
        # The phase of this parity is under way. Otherwise it is over, or the object is fresh.
        return None
    if step.kind == "arrive":
        new[place + 1] += 1
        if new[place + 1] == counts[step.those[0]]:
            new[place : place + 2] = 1 - new[place], 0
    return tuple(new)

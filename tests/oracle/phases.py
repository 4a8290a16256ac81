"""Order in time between the accesses of a phase (docs/semantics.md, section 10), by going through
threads, iterations, steps and bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from math import gcd, inf, lcm

from . import c_expr
from .access_forms import AccessForm, Iteration, Loop, read_loop
from .accesses import Access, laid_out
from .judgement import REFUTED, VACUOUS, Finding, holds
from .oracle_errors import OracleAmbiguousError, OracleError
from .yaml_values import Yaml, as_dict, as_list, as_str

FEW = 24
"""So many iterations of a loop marked `any` are gone through."""
MANY = 64
"""More iterations of other loops are not."""
FAR = (5040, 5041, 5045, 1 << 20, (1 << 20) + 7)
"""Iterations of a loop marked `any` that have to do what the first ones make expect."""

Base = tuple[tuple[str, int], ...]
"""The base of each access."""


@dataclass(frozen=True, slots=True)
class Step:
    """What all threads do: an access (its name), `barrier`, `commit_group`, or a wait."""

    kind: str
    name: str = ""
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Touches:
    """What threads do to one unit of bytes with one access in one iteration.

    `start` counts steps from the first one of the first iteration, and `end` is the step by which
    the touch is done for its own thread: of a copy, the wait for it. `threads` says how often each
    thread does it.
    """

    name: str
    iteration: int
    start: int
    end: float
    kind: str
    is_copy: bool
    place: tuple[int, int]
    threads: Counter[int]


@dataclass(frozen=True)
class Phase:
    """A loop over steps, with the accesses that it names and the kind of each: R, W or A."""

    name: str
    variable: str
    loop: Loop
    steps: tuple[Step, ...]
    accesses: dict[str, Access]
    kinds: dict[str, str]

    def barrier_after(self, end: float, before: int) -> bool:
        """Whether a barrier lies between two steps."""
        if end == inf:
            return False
        return any(self.steps[at % len(self.steps)].kind == "barrier" for at in range(int(end) + 1, before))

    def done(self, start: int, iterations: int) -> float:
        """The step by which a copy is complete for its own thread."""
        last = iterations * len(self.steps)
        groups = 0
        for at in range(start + 1, last):
            step = self.steps[at % len(self.steps)]
            groups += step.kind == "commit_group"
            if step.kind == "wait_group" and groups > step.pending:
                return at
        return inf

    def comes_before(self, x: Touches, y: Touches, *, same_thread: bool) -> bool:
        """Whether a touch of x comes before one of y, of the same thread or of another one."""
        if x.start >= y.start:
            return False
        if same_thread:
            return not x.is_copy or x.end < y.start
        return self.barrier_after(x.end if x.is_copy else x.start, y.start)


def read_phase(
    name: str, value: Yaml, accesses: Mapping[str, Access], written: Mapping[str, Yaml], constants: Mapping[str, int]
) -> Phase:
    """A phase of a spec; `written` has the accesses as the spec says them."""
    spec = as_dict(value)
    loops = as_dict(spec.get("for"))
    if len(loops) != 1:
        raise OracleError(f"phase {name}: one loop", "SWZ105")
    [(variable, bounds)] = loops.items()
    loop = read_loop(bounds, constants)
    steps = tuple(_read_step(name, item, constants) for item in as_list(spec.get("steps")))
    named = {step.name for step in steps if step.kind == "access"}
    if named - set(accesses):
        raise OracleError(f"phase {name}: no accesses {sorted(named - set(accesses))}", "SWZ105")
    found = {each: accesses[each] for each in accesses if each in named}
    if len({access.form.threads for access in found.values()}) > 1:
        raise OracleError(f"phase {name}: accesses of several numbers of threads", "SWZ105")
    for access in found.values():
        _check(name, access.form, variable, loop)
    kinds = {each: _kind(as_str(as_dict(written[each])["instruction"]), access) for each, access in found.items()}
    return Phase(name, variable, loop, steps, found, kinds)


def _read_step(name: str, item: Yaml, constants: Mapping[str, int]) -> Step:
    if item in ("barrier", "commit_group"):
        return Step(as_str(item))
    if isinstance(item, str):
        return Step("access", item)
    if isinstance(item, dict) and list(item) == ["wait_group"]:
        return Step("wait_group", pending=c_expr.constant(item["wait_group"], constants))
    raise OracleError(f"phase {name}: {item!r} is no step", "SWZ105")


def _check(name: str, form: AccessForm, variable: str, loop: Loop) -> None:
    if form.instruction.of_global_memory:
        raise OracleError(f"phase {name}: {form.name} goes to global memory", "SWZ105")
    if variable in form.loops and form.loops[variable].kind != loop.kind:
        raise OracleError(f"phase {name}: {form.name} has other values of {variable}", "SWZ105")
    if any(each != variable for each in form.open_loops):
        raise OracleError(f"phase {name}: {form.name} has a further `any` loop", "SWZ105")
    if form.tile is not None and form.tile.stages > 1 and form.stage is None:
        raise OracleError(f"phase {name}: {form.name} says no stage", "SWZ104")


def _kind(instruction: str, access: Access) -> str:
    if access.instruction.kind == "atomic":
        return "A"
    return "R" if access.instruction.kind == "load" or instruction.startswith("ldmatrix") else "W"


# ---- what is touched


def _values(loop: Loop) -> list[int]:
    """The values of the loop in the order of the iterations."""
    if loop.is_open:
        return list(range(FEW))
    values = sorted(loop.values)
    if len(values) > MANY:
        raise OracleAmbiguousError("a phase of many iterations")
    return values


def _in_iteration(phase: Phase, access: Access, value: int) -> Access:
    """The access as a step of one iteration makes it."""
    form = access.form
    choices = [[value] if name == phase.variable else form.loops[name].judged for name in form.loop_names]
    own = list(product(*(form.own[name].values for name in form.own_names)))
    return laid_out(form, [Iteration(values, 1, each) for values in product(*choices) for each in own])


def _places(access: Access, base: int) -> list[tuple[int, int]]:
    """The thread and the address of each touch."""
    [stage] = access.stage_runs
    addresses = access.addresses(base, stage)
    return [(point % access.form.threads, addresses[point]) for point in access.active]


def _bases(phase: Phase) -> list[Base]:
    """The bases of the accesses that are enough, together."""
    forms = {name: access.form for name, access in phase.accesses.items()}
    subjects = {name: form.tile.name if form.tile else (name,) for name, form in forms.items()}
    period = lcm(*(access.period_bytes for access in phase.accesses.values())) if forms else 1
    bases = {name: form.base for name, form in forms.items()}
    memories = {base.memory for base in bases.values()}
    is_open = any(base.align is not None for base in bases.values())
    if len(set(subjects.values())) > 1 and is_open and (len(memories) > 1 or None in memories):
        raise OracleError(f"phase {phase.name}: nothing says where its subjects lie", "SWZ105")
    free = next((base.free_values(period) for base in bases.values()), [0])
    return [tuple((name, each + base.offset) for name, base in bases.items()) for each in free]


def _touches(phase: Phase, base: Base) -> dict[int, list[Touches]]:
    """The touches of each unit of bytes, with the first iterations of a loop marked `any`."""
    values, at_base = _values(phase.loop), dict(base)
    rows: list[tuple[str, int, int, list[tuple[int, int]]]] = []
    for number, value in enumerate(values):
        for at, step in enumerate(phase.steps):
            if step.kind == "access":
                access = _in_iteration(phase, phase.accesses[step.name], value)
                places = _places(access, at_base[step.name])
                rows.append((step.name, number, number * len(phase.steps) + at, places))
    widths = {name: access.instruction.width_bytes for name, access in phase.accesses.items()}
    unit = gcd(*widths.values(), *(address for *_, places in rows for _, address in places))
    found: dict[int, list[Touches]] = defaultdict(list)
    for name, number, start, places in rows:
        is_copy = phase.accesses[name].instruction.kind.startswith("copy")
        end = phase.done(start, len(values)) if is_copy else start
        here: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for thread, address in places:
            for byte in range(address, address + widths[name], unit):
                here[byte, address][thread] += 1
        for (byte, address), threads in here.items():
            place = (address, widths[name])
            found[byte].append(Touches(name, number, start, end, phase.kinds[name], is_copy, place, threads))
    return found


def _check_period(phase: Phase, base: Base) -> None:
    """Refuse a loop marked `any` whose first iterations do not stand for all, as far as one can see."""
    if not phase.loop.is_open:
        return
    at_base = dict(base)
    for name, access in phase.accesses.items():
        if phase.variable not in access.form.loops:
            continue

        def at(value: int, access: Access = access, name: str = name) -> list[tuple[int, int]]:
            return sorted(_places(_in_iteration(phase, access, value), at_base[name]))

        first = [at(value) for value in range(FEW)]
        periods = [p for p in range(1, FEW // 3 + 1) if all(first[k] == first[k + p] for k in range(FEW - p))]
        if not periods or any(at(value) != first[value % periods[0]] for value in FAR):
            raise OracleAmbiguousError(f"phase {phase.name}: {name} does not repeat")


# ---- claims


def race_free(phase: Phase) -> Finding:
    """Whether no two touches race, at any base."""
    any_touch = False
    for base in _bases(phase):
        _check_period(phase, base)
        touched = _touches(phase, base)
        any_touch |= bool(touched)
        for touches in touched.values():
            if any(_race(phase, x, y) for x, y in combinations_with_replacement(touches, 2)):
                return REFUTED
    return holds(True) if any_touch else VACUOUS


def _race(phase: Phase, x: Touches, y: Touches) -> bool:
    if x.kind == y.kind == "R" or (x.kind == y.kind == "A" and x.place == y.place):
        return False
    for same in (True, False):
        if _pair(x, y, same_thread=same) and (not same or x.is_copy or y.is_copy):
            forth = phase.comes_before(x, y, same_thread=same)
            if not forth and not phase.comes_before(y, x, same_thread=same):
                return True
    return False


def _pair(x: Touches, y: Touches, *, same_thread: bool) -> bool:
    """Whether there are two touches, of one thread or of two."""
    if not same_thread:
        return len(x.threads.keys() | y.threads.keys()) > 1
    if x is y:
        return any(times > 1 for times in x.threads.values())
    return not x.threads.keys().isdisjoint(y.threads.keys())


def reads_what_was_written(phases: list[Phase], read: str, write: str) -> Finding:
    """Whether what is read is what was written, a number of iterations earlier."""
    those = [phase for phase in phases if {read, write} <= set(phase.accesses)]
    if not those:
        raise OracleError(f"no phase has both {read} and {write}", "SWZ105")
    verdicts: list[str] = []
    for phase in those:
        if any([step.name for step in phase.steps].count(name) > 1 for name in (read, write)):
            raise OracleError(f"phase {phase.name} has a step twice", "SWZ105")
        if phase.kinds[read] != "R" or phase.kinds[write] != "W":
            raise OracleError(f"{read} does not load, or {write} does not store", "SWZ105")
        if any(phase.accesses[name].form.reads_own for name in (read, write)):
            raise OracleError(f"what {read} or {write} touches depends on data", "SWZ105")
        if any(access.form.reads_own for access in phase.accesses.values()):
            raise OracleAmbiguousError(f"phase {phase.name}: an access depends on data")
        for base in _bases(phase):
            _check_period(phase, base)
            verdicts.append(_delivered(phase, _touches(phase, base), read, write))
    if "refuted" in verdicts:
        return REFUTED
    return holds(True) if "proved" in verdicts else VACUOUS


def _delivered(phase: Phase, touched: dict[int, list[Touches]], read: str, write: str) -> str:
    reads = [(each, unit) for unit, touches in touched.items() for each in touches if each.name == read]
    if not reads:
        return "vacuous"
    back = [
        each.iteration - other.iteration
        for each, unit in reads
        for other in touched[unit]
        if other.name == write and other.start < each.start
    ]
    if not back:
        return "refuted"
    d, is_looked_at = min(back), False
    for each, unit in reads:
        if each.iteration < d:
            continue
        is_looked_at = True
        right = [w for w in touched[unit] if w.name == write and w.iteration == each.iteration - d]
        others = [w for w in touched[unit] if w.kind != "R" and w not in right]
        if not right or not all(_all_before(phase, w, each) for w in right):
            return "refuted"
        for other in others:
            if not all(_all_before(phase, other, w) for w in right) and not _all_before(phase, each, other):
                return "refuted"
    return "proved" if is_looked_at else "vacuous"


def _all_before(phase: Phase, x: Touches, y: Touches) -> bool:
    """Whether each touch of x comes before each one of y."""
    pairs: Iterator[bool] = (same for same in (True, False) if _pair(x, y, same_thread=same))
    return all(phase.comes_before(x, y, same_thread=same) for same in pairs)

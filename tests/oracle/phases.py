"""Order in time between the accesses of a phase (docs/semantics.md, section 10), by going through
threads, iterations, steps and bytes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import gcd, inf, lcm

from .access_forms import Iteration
from .accesses import Access, laid_out
from .judgement import REFUTED, VACUOUS, Finding, holds
from .oracle_errors import OracleAmbiguousError, OracleError
from .phase_steps import Phase, Step

FEW = 24
"""So many iterations of a loop marked `any` are gone through."""
ENDS = (*range(8), FEW)
"""Numbers of iterations after which a loop marked `any` is left for `after`."""
MANY = 64
"""More iterations of other loops are not."""
FAR = (5040, 5041, 5045, 1 << 20, (1 << 20) + 7)
"""Iterations of a loop marked `any` that have to do what the first ones make expect."""

Base = tuple[tuple[str, int], ...]
"""The base of each access."""
Place = tuple[str, int]
"""A step: `before`, `steps` or `after`, and its number there."""
SYNCS = ("barrier", "syncwarp")


@dataclass(frozen=True, slots=True)
class Spot:
    """A step of a run, in an iteration."""

    place: Place
    iteration: int
    step: Step


@dataclass(frozen=True)
class Line:
    """All steps of a run with a number of iterations, in order."""

    phase: Phase
    count: int

    @cached_property
    def spots(self) -> list[Spot]:
        parts = [("before", 0), *(("steps", number) for number in range(self.count)), ("after", self.count)]
        return [
            Spot((part, at), iteration, step)
            for part, iteration in parts
            for at, step in enumerate(self.phase.part(part))
        ]

    @cached_property
    def synced(self) -> dict[str, list[int]]:
        """Where threads that stand so to each other wait for each other."""
        places = {kind: [at for at, spot in enumerate(self.spots) if spot.step.kind == kind] for kind in SYNCS}
        return {"lanes": sorted(places["barrier"] + places["syncwarp"]), "warps": places["barrier"]}

    def done(self, start: int) -> float:
        """The step by which a copy is complete for its own thread."""
        groups = 0
        for at in range(start + 1, len(self.spots)):
            step = self.spots[at].step
            groups += step.kind == "commit"
            if step.kind == "wait_all" or (step.kind == "wait_group" and groups > step.pending):
                return at
        return inf

    def comes_before(self, x: Touches, y: Touches, relation: str) -> bool:
        """Whether a touch of x comes before one of y, of threads that stand so to each other."""
        if x.start >= y.start:
            return False
        end = x.end if x.is_copy else x.start
        if relation == "same":
            return not x.is_copy or end < y.start
        return any(end < at < y.start for at in self.synced[relation])

    def all_before(self, x: Touches, y: Touches) -> bool:
        """Whether each touch of x comes before each one of y."""
        return all(self.comes_before(x, y, relation) for relation in relations(x, y))

    def race(self, x: Touches, y: Touches) -> bool:
        """Whether some touch of x races with one of y."""
        if x.kind == y.kind == "R" or (x.kind == y.kind == "A" and x.bytes == y.bytes):
            return False
        return any(
            not self.comes_before(x, y, relation) and not self.comes_before(y, x, relation)
            for relation in relations(x, y)
            if relation != "same" or x.is_copy or y.is_copy
        )


@dataclass(frozen=True, slots=True)
class Touches:
    """What threads do to one unit of bytes with one step of a run.

    `start` is the number of the step in the line, and `end` the step by which the touch is done for
    its own thread: of a copy, the wait for it. `threads` says how often each thread does it.
    """

    place: Place
    iteration: int
    start: int
    end: float
    kind: str
    is_copy: bool
    is_matrix: bool
    bytes: tuple[int, int]
    threads: Counter[int]


def relations(x: Touches, y: Touches) -> Iterator[str]:
    """How two threads can stand to each other, of which one does x and the other does y."""
    warps, others = {each // 32 for each in x.threads}, {each // 32 for each in y.threads}
    if len(warps | others) > 1:
        yield "warps"
    if (x.is_matrix or y.is_matrix) and x.place != y.place:
        # Any lane of the warp may touch the row.
        if not warps.isdisjoint(others):
            yield "lanes"
        return
    if any(t != u and t // 32 == u // 32 for t in x.threads for u in y.threads):
        yield "lanes"
    if any(times > 1 for times in x.threads.values()) if x is y else not x.threads.keys().isdisjoint(y.threads):
        yield "same"


# ---- what is touched


def _in_iteration(access: Access, step: Step, iteration: int) -> Access:
    """The access as a step of one iteration makes it."""
    form = access.form
    choices: list[list[int]] = []
    for name in form.loop_names:
        loop, bound = form.loops[name], step.bound(name)
        if bound is None and loop.is_open:
            raise OracleAmbiguousError(f"{form.name}: a step with every iteration of an open loop")
        if bound is None:
            choices.append(loop.judged)
        else:
            number = bound.at(iteration)
            choices.append([number if loop.is_open else loop.values[number]])
    own = list(product(*(form.own[name].values for name in form.own_names)))
    return laid_out(form, [Iteration(values, 1, each) for values in product(*choices) for each in own])


def _places(access: Access, base: int) -> list[tuple[int, int]]:
    """The thread and the address of each touch."""
    [stage] = access.stage_runs
    addresses = access.addresses(base, stage)
    return [(point % access.form.threads, addresses[point]) for point in access.active]


def _bases(phase: Phase) -> list[Base]:
    """The bases of the accesses that are enough, together; the lowest one first."""
    forms = {name: access.form for name, access in phase.accesses.items()}
    subjects = {name: form.tile.name if form.tile else (name,) for name, form in forms.items()}
    period = lcm(*(access.period_bytes for access in phase.accesses.values())) if forms else 1
    bases = {name: form.base for name, form in forms.items()}
    memories = {base.memory for base in bases.values()}
    is_open = any(base.align is not None for base in bases.values())
    if len(set(subjects.values())) > 1 and is_open and (len(memories) > 1 or None in memories):
        raise OracleError(f"phase {phase.name}: nothing says where its subjects lie", "SWZ105")
    free = sorted(next((base.free_values(period) for base in bases.values()), [0]))
    return [tuple((name, each + base.offset) for name, base in bases.items()) for each in free]


def _counts(phase: Phase) -> list[int]:
    """How many iterations there can be, as many numbers as are enough; the most last."""
    if phase.count is None:
        return list(ENDS) if phase.after else [FEW]
    if phase.count > MANY:
        raise OracleAmbiguousError("a phase of many iterations")
    return [phase.count]


def _touches(line: Line, base: Base) -> dict[int, list[Touches]]:
    """The touches of each unit of bytes."""
    phase, at_base = line.phase, dict(base)
    rows: list[tuple[int, Spot, list[tuple[int, int]]]] = []
    for start, spot in enumerate(line.spots):
        if spot.step.kind == "access":
            access = _in_iteration(phase.accesses[spot.step.name], spot.step, spot.iteration)
            rows.append((start, spot, _places(access, at_base[spot.step.name])))
    widths = {name: access.instruction.width_bytes for name, access in phase.accesses.items()}
    unit = gcd(*widths.values(), *(address for *_, places in rows for _, address in places))
    found: dict[int, list[Touches]] = defaultdict(list)
    for start, spot, places in rows:
        name = spot.step.name
        kind = phase.accesses[name].instruction.kind
        is_copy = kind.startswith("copy")
        end = line.done(start) if is_copy else start
        here: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for thread, address in places:
            for byte in range(address, address + widths[name], unit):
                here[byte, address][thread] += 1
        for (byte, address), threads in here.items():
            those = (address, widths[name])
            found[byte].append(
                Touches(
                    spot.place,
                    spot.iteration,
                    start,
                    end,
                    phase.kinds[name],
                    is_copy,
                    kind == "matrix",
                    those,
                    threads,
                )
            )
    return found


def _check_period(phase: Phase, base: Base) -> None:
    """Refuse a loop marked `any` whose first iterations do not stand for all, as far as one can see."""
    if phase.count is not None:
        return
    at_base = dict(base)
    for step in (*phase.steps, *(phase.after or ())):
        if step.kind != "access" or not any(each.follows for each in step.bounds):
            continue

        def at(value: int, step: Step = step) -> list[tuple[int, int]]:
            return sorted(_places(_in_iteration(phase.accesses[step.name], step, value), at_base[step.name]))

        first = [at(value) for value in range(FEW)]
        periods = [p for p in range(1, FEW // 3 + 1) if all(first[k] == first[k + p] for k in range(FEW - p))]
        if not periods or any(at(value) != first[value % periods[0]] for value in FAR):
            raise OracleAmbiguousError(f"phase {phase.name}: {step.name} does not repeat")


# ---- claims


def race_free(phase: Phase) -> Finding:
    """Whether no two touches race, at any base and after any number of iterations."""
    any_touch = False
    for base in _bases(phase):
        _check_period(phase, base)
        for count in _counts(phase):
            line = Line(phase, count)
            touched = _touches(line, base)
            any_touch |= bool(touched)
            for touches in touched.values():
                if any(line.race(x, y) for x, y in combinations_with_replacement(touches, 2)):
                    return REFUTED
    return holds(True) if any_touch else VACUOUS


def reads_what_was_written(phase: Phase, read: str, write: str, lag: int | None = None) -> Finding:
    """Whether each byte that is read was written by the right run, and by nothing else since."""
    _check_delivery(phase, read, write)
    reading, [*writing] = phase.places(read)[0], phase.places(write)
    delivery = Delivery(phase, reading, writing, lag)
    verdicts: list[str] = []
    for base in _bases(phase):
        # The lowest base is the first one: there the lag is found.
        delivery.find_lag(base)
        _check_period(phase, base)
        verdicts.append(delivery.judge(base))
    if "refuted" in verdicts:
        return REFUTED
    return holds(True) if "proved" in verdicts else VACUOUS


def _check_delivery(phase: Phase, read: str, write: str) -> None:
    if phase.kinds[read] != "R" or phase.kinds[write] != "W":
        raise OracleError(f"{read} does not load, or {write} does not store", "SWZ105")
    if any(phase.accesses[name].form.reads_own for name in (read, write)):
        raise OracleError(f"what {read} or {write} touches depends on data", "SWZ105")
    if any(access.form.reads_own for access in phase.accesses.values()):
        raise OracleAmbiguousError(f"phase {phase.name}: an access depends on data")
    parts = [part for part, _ in phase.places(write)]
    if [part for part, _ in phase.places(read)] != ["steps"] or parts.count("steps") > 1 or "after" in parts:
        raise OracleError(f"{read} or {write} stands elsewhere in {phase.name}, or several times", "SWZ105")


class Delivery:
    """A read, and the runs of the write that it has its bytes from."""

    def __init__(self, phase: Phase, reading: Place, writing: list[Place], lag: int | None) -> None:
        """`lag` is that of the claim, if it says one."""
        self.phase, self.reading, self.writing = phase, reading, writing
        self.first = [place for place in writing if place[0] == "before"]
        self.of_loop = next((place for place in writing if place[0] == "steps"), None)
        self.claimed, self.lag = lag, lag
        self.is_possible: bool | None = None

    def judge(self, base: Base) -> str:
        """The verdict at one base."""
        lines = [Line(self.phase, count) for count in _counts(self.phase)]
        verdicts = [self._of_line(line, _touches(line, base)) for line in lines]
        return "refuted" if "refuted" in verdicts else verdicts[-1]

    def _of_line(self, line: Line, touched: dict[int, list[Touches]]) -> str:
        reads = [(each, unit) for unit, touches in touched.items() for each in touches if each.place == self.reading]
        if not reads:
            return "vacuous"
        if not self.is_possible:
            return "refuted"
        is_looked_at = False
        for each, unit in reads:
            right = self._right(each.iteration)
            if right is None:
                continue
            is_looked_at = True
            writes = [w for w in touched[unit] if (w.place, w.iteration) == right]
            if sum(sum(w.threads.values()) for w in writes) != 1 or not line.all_before(writes[0], each):
                return "refuted"
            if any(w.kind != "R" and writes[0].start < w.start < each.start for w in touched[unit]):
                return "refuted"
            if self._is_crooked(each, writes[0]):
                return "refuted"
        if not is_looked_at:
            return "vacuous"
        for touches in touched.values():
            for x, y in combinations_with_replacement(touches, 2):
                own = [z.place == self.reading or z.place in self.writing for z in (x, y)]
                others = [z.kind != "R" or z.place == self.reading for z in (x, y)]
                if any(own) and all(others) and line.race(x, y):
                    return "refuted"
        return "proved"

    def _is_crooked(self, read: Touches, write: Touches) -> bool:
        common = gcd(read.bytes[1], write.bytes[1])
        return bool(read.bytes[0] % common or write.bytes[0] % common)

    def find_lag(self, base: Base) -> None:
        """Find the lag, if steps or claim do not say it, and whether there is one that can be right."""
        if self.is_possible is None:
            self.is_possible = self.of_loop is None or self._has_lag(base)

    def _has_lag(self, base: Base) -> bool:
        assert self.of_loop is not None
        read, write = self.phase.step(self.reading), self.phase.step(self.of_loop)
        follows = [next((each for each in step.bounds if each.follows), None) for step in (write, read)]
        if follows[0] and follows[1] and any(each and each.is_stated for each in follows):
            self.lag = follows[0].number - follows[1].number
            if self.claimed not in (None, self.lag):
                return False
        elif self.lag is None:
            back = [
                each.iteration - other.iteration
                for touches in _touches(Line(self.phase, _counts(self.phase)[-1]), base).values()
                for each, other in product(touches, touches)
                if (each.place, other.place) == (self.reading, self.of_loop) and other.start < each.start
            ]
            if not back:
                return False
            self.lag = min(back)
        return self.lag > 0 or (self.lag == 0 and self.of_loop[1] < self.reading[1])

    def _right(self, iteration: int) -> tuple[Place, int] | None:
        """The right run of an iteration as a step and its iteration; None if nothing is said of it."""
        if self.of_loop is None:
            return self.first[-1], 0
        assert self.lag is not None
        if iteration >= self.lag:
            return self.of_loop, iteration - self.lag
        if self.phase.before is None:
            return None
        bound = next((each for each in self.phase.step(self.of_loop).bounds if each.follows), None)
        for place in reversed(self.first):
            if bound is None:
                if iteration == self.lag - 1:
                    return place, 0
                continue
            own = self.phase.step(place).bound(bound.loop)
            if own is not None and own.at(0) == bound.number + iteration - self.lag:
                return place, 0
        return ("before", -1), 0

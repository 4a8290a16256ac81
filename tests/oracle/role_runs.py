"""Phases with roles, by all runs of a few iterations: every state that some order of the threads' steps reaches.

Two touches race where some state has both as next steps of their threads, or under way. A write lacks a fence where
some state has an operation under way at its bytes, and nobody did a fence since. Nothing here knows what orders what.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from . import c_expr
from .oracle_errors import OracleAmbiguousError
from .yaml_values import Spec, Yaml, as_dict, as_int, as_list, as_str

MOST_STATES = 400_000
THREADS = 128
WARP = 32
GROUP = 32
"""Threads of a warp, and of a warp group: here one warp has one group."""
OPERAND_BYTES = 256
"""What an operand of these specs reads, from its start on."""

Object = tuple[str, int]
"""A barrier: the name and the stage."""


@dataclass(frozen=True)
class Step:
    """A step of one thread.

    Attributes:
        kind: R or W (a touch), wait, arrive, pass (to wait for the last own arrival), start, drain or fence.
        those: The barrier of a wait or an arrival.
        number: The parity of a wait, the bytes that an arrival expects, the operation of a start; of a drain, how many
            groups may be left.
        bytes: The bytes of a touch.
    """

    kind: str
    those: Object = ("", 0)
    number: int = 0
    bytes: range = range(0)


@dataclass(frozen=True)
class Operation:
    """A copy or the reads of a group: its bytes, the threads that start it, and the barrier where it counts."""

    kind: str
    bytes: range
    those: Object = ("", 0)
    own: tuple[int, ...] = ()


@dataclass(frozen=True)
class Runs:
    """What all runs do: whether some race, and whether some hang."""

    race: bool
    hang: bool


def value_of(text: Yaml, **names: int) -> int:
    columns = {name: [value] for name, value in names.items()}
    return c_expr.evaluate(c_expr.parse(text), columns, 1)[0]


def _of_thread(text: Yaml, thread: int) -> bool:
    return bool(value_of(text, tid=thread, warp=thread // WARP, lane=thread % WARP))


@dataclass
class Program:
    """The steps of all threads for a number of iterations, and the operations that they start.

    Attributes:
        spec: The spec, with one phase.
        iterations: How many.
        lines: The steps of each thread that has a role.
        operations: The operations.
        counts: How many arrivals complete a phase, by barrier.
        own: The threads of the role that is being written.
        name: Its name.
        part: The list of its steps that is being written.
        products: The operation of each wgmma of a warp group of this role.
        groups: How many wgmma each group of the thread has that is being written.
        started: How many wgmma it has started.
        is_open: Whether its last group may get another one.
    """

    spec: Spec
    iterations: int
    lines: dict[int, list[Step]] = field(default_factory=dict[int, list[Step]])
    operations: list[Operation] = field(default_factory=list[Operation])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    own: tuple[int, ...] = ()
    name: str = ""
    part: str = ""
    products: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    groups: list[int] = field(default_factory=list[int])
    started: int = 0
    is_open: bool = False

    def __post_init__(self) -> None:
        [phase] = map(as_dict, as_dict(self.spec["phases"]).values())
        for name, each in as_dict(phase["barriers"]).items():
            self.counts[name] = as_int(as_dict(each)["arrivals"])
        for name, each in as_dict(phase["roles"]).items():
            role = as_dict(each)
            self.own = tuple(thread for thread in range(THREADS) if _of_thread(role["threads"], thread))
            self.name, self.products = name, {}
            for thread in self.own:
                self.lines[thread], self.started = [], 0
                self.groups, self.is_open = [], False
                parts = [("before", 0), *(("steps", at) for at in range(self.iterations)), ("after", self.iterations)]
                for self.part, iteration in parts:
                    for step in as_list(role.get(self.part, [])):
                        self._step(step, thread, iteration)
                    self.is_open = False

    def _step(self, step: Yaml, thread: int, i: int) -> None:
        line = self.lines[thread]
        if isinstance(step, dict) and "by" in step and not _of_thread(step["by"], thread):
            self.is_open = False
            return
        if isinstance(step, dict) and "wgmma" in step:
            self._product(step, thread, i)
            return
        self.is_open = False
        if step == "syncwarp":
            lanes = [other for other in self.own if other // WARP == thread // WARP]
            self._meet((f"{self.name}.{thread // WARP}", -1), len(lanes), line)
        elif not isinstance(step, dict) or "access" in step:
            name, at = (step["access"], as_dict(step["at"])["i"]) if isinstance(step, dict) else (step, i)
            access = as_dict(as_dict(self.spec["accesses"])[as_str(name)])
            if "if" in access and not _of_thread(access["if"], thread):
                return
            start = value_of(access["address"], tid=thread, i=value_of(at, i=i))
            kind = "R" if as_str(access["instruction"]).startswith("ld") else "W"
            line.append(Step(kind, bytes=range(start, start + 4)))
        elif "wait" in step:
            those = as_str(step["wait"]), value_of(step.get("stage", 0), i=i)
            line.append(Step("wait", those, value_of(step["phase"], i=i)))
        elif "arrive" in step:
            those = as_str(step["arrive"]), value_of(step.get("stage", 0), i=i)
            line.append(Step("arrive", those, as_int(step.get("bytes", 0))))
        elif "tma" in step:
            stage = value_of(step.get("stage", 0), i=i)
            tile = as_dict(as_dict(self.spec["tiles"])[as_str(step["tma"])])
            first = as_int(tile["base"]) + (stage * OPERAND_BYTES if as_int(tile["stages"]) > 1 else 0)
            line.append(Step("start", number=len(self.operations)))
            those = as_str(step["barrier"]), stage
            self.operations.append(Operation("W", range(first, first + OPERAND_BYTES), those, (thread,)))
        elif "wgmma_wait" in step:
            # All groups but the newest ones: the operations of the others have to be complete.
            kept = self.groups[: max(0, len(self.groups) - as_int(step["wgmma_wait"]))]
            done = [self.products[thread // GROUP, at] for at in range(sum(kept))]
            line += [Step("drain", number=each) for each in done]
        elif "fence" in step:
            line.append(Step("fence"))
        elif "bar_sync" in step:
            self._meet(("bar", as_int(step["bar_sync"])), as_int(step["threads"]), line)
        else:
            self._meet(("bar", as_int(step["bar_arrive"])), as_int(step["threads"]), line, waits=False)

    def _meet(self, those: Object, count: int, line: list[Step], *, waits: bool = True) -> None:
        self.counts[those[0] if those[0] != "bar" else f"bar.{those[1]}"] = count
        line.append(Step("arrive", those))
        if waits:
            line.append(Step("pass", those))

    def _product(self, step: dict[str, Yaml], thread: int, i: int) -> None:
        key = thread // GROUP, self.started
        if key not in self.products:
            operand = as_dict(as_dict(self.spec["operands"])[as_str(step["wgmma"])])
            tile = as_dict(as_dict(self.spec["tiles"])[as_str(as_dict(operand["reads"])["tile"])])
            stage = value_of(as_dict(step["at"])["s"], i=i)
            first = as_int(tile["base"]) + value_of(as_dict(operand["descriptor"])["start"], s=stage)
            own = tuple(other for other in self.own if other // GROUP == thread // GROUP)
            self.products[key] = len(self.operations)
            self.operations.append(Operation("R", range(first, first + OPERAND_BYTES), own=own))
        self.lines[thread].append(Step("start", number=self.products[key]))
        self.started += 1
        if not self.is_open:
            self.groups.append(0)
        self.groups[-1] += 1
        self.is_open = True

    def count(self, those: Object) -> int:
        """The arrivals that complete a phase of a barrier."""
        return self.counts[f"bar.{those[1]}" if those[0] == "bar" else those[0]]


class State(NamedTuple):
    """A state of a program.

    Attributes:
        places: How many steps each thread has done.
        done: Whether each operation is complete.
        barriers: Of each barrier the parity of its phase, the arrivals in it, and the bytes that are expected.
        unfenced: The bytes that were written since the last fence, as far as an operation touches them.
    """

    places: tuple[int, ...]
    done: tuple[bool, ...]
    barriers: tuple[tuple[int, int, int], ...]
    unfenced: frozenset[range]


def all_runs(spec: Spec, iterations: int) -> Runs:
    """Go through all states of the only phase with so many iterations, or with those that it says."""
    [phase] = map(as_dict, as_dict(spec["phases"]).values())
    [count] = as_dict(phase["for"]).values()
    ends = any("after" in as_dict(role) for role in as_dict(phase["roles"]).values())
    found = Runs(race=False, hang=False)
    for each in [as_int(count)] if count != "any" else range(iterations + 1) if ends else [iterations]:
        runs = States(Program(spec, each)).all()
        found = Runs(found.race or runs.race, found.hang or runs.hang)
    return found


class States:
    """The states of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines = list(program.lines.values())
        steps = [step for line in self.lines for step in line]
        objects = sorted({each.those for each in (*steps, *program.operations) if each.those != ("", 0)})
        self.number = {each: at for at, each in enumerate(objects)}
        self.starts: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for thread, line in enumerate(self.lines):
            for at, step in enumerate(line):
                if step.kind == "start":
                    self.starts[step.number].append((thread, at))

    def first(self) -> State:
        """The state in which nothing has been done."""
        operations = (False,) * len(self.program.operations)
        return State((0,) * len(self.lines), operations, ((0, 0, 0),) * len(self.number), frozenset())

    def following(self, state: State) -> list[Step | None]:
        """The next step of each thread."""
        return [line[at] if at < len(line) else None for line, at in zip(self.lines, state.places, strict=True)]

    def all(self) -> Runs:
        """Whether some state has a race, and whether some state is an end with threads that wait."""
        operations, first = self.program.operations, self.first()
        seen, pending = {first}, [first]
        race = hang = False
        while pending:
            state = pending.pop()
            following = self.following(state)
            touches = [(step.kind, step.bytes) for step in following if step is not None and step.kind in "RW"]
            flying = [(each.kind, each.bytes) for each in self.flying(state)]
            race |= any(clash(one, other) for one, other in combinations([*touches, *flying], 2))
            race |= any(overlap(bytes_, written) for _, bytes_ in flying for written in state.unfenced)
            moves = [self.after(state, thread, step) for thread, step in enumerate(following) if step is not None]
            moves += [self.completed(state, number) for number in range(len(operations))]
            possible = [each for each in moves if each is not None]
            hang |= any(step is not None for step in following) and not possible
            for each in possible:
                if each not in seen:
                    seen.add(each)
                    pending.append(each)
            if len(seen) > MOST_STATES:
                raise OracleAmbiguousError("too many states")
        return Runs(race, hang)

    def flying(self, state: State) -> list[Operation]:
        """The operations that some thread has started, and that are not complete."""
        return [
            each
            for number, each in enumerate(self.program.operations)
            if not state.done[number] and any(state.places[thread] > at for thread, at in self.starts[number])
        ]

    def completed(self, state: State, number: int) -> State | None:
        """The state in which an operation is complete; None if it cannot be."""
        operation = self.program.operations[number]
        if state.done[number] or not all(state.places[thread] > at for thread, at in self.starts[number]):
            return None
        state = state._replace(done=(*state.done[:number], True, *state.done[number + 1 :]))
        if operation.those == ("", 0):
            return state
        return self._counted(state, operation.those, 0, -len(operation.bytes))

    def after(self, state: State, thread: int, step: Step) -> State | None:
        """The state after a step of a thread; None while it has to wait."""
        parity = state.barriers[self.number[step.those]][0] if step.those in self.number else 0
        if step.kind == "wait" and parity == step.number:
            # The phase of this parity is under way. Otherwise it is over, or the object is fresh.
            return None
        if step.kind == "pass" or (step.kind == "drain" and not state.done[step.number]):
            # Who completes the phase lets all pass that wait for it.
            return None
        places, unfenced = state.places, state.unfenced
        places = (*places[:thread], places[thread] + 1, *places[thread + 1 :])
        if step.kind == "fence":
            unfenced = frozenset[range]()
        elif step.kind == "W" and any(overlap(step.bytes, each.bytes) for each in self.program.operations):
            unfenced |= {step.bytes}
        state = state._replace(places=places, unfenced=unfenced)
        return self._counted(state, step.those, 1, step.number) if step.kind == "arrive" else state

    def _counted(self, state: State, those: Object, arrivals: int, bytes_: int) -> State:
        """The state after arrivals and bytes at a barrier."""
        at, places = self.number[those], state.places
        parity, arrived, expected = state.barriers[at]
        arrived, expected = arrived + arrivals, expected + bytes_
        if arrived == self.program.count(those) and not expected:
            parity, arrived = 1 - parity, 0
            places = tuple(
                place + (place < len(line) and line[place].kind == "pass" and line[place].those == those)
                for place, line in zip(places, self.lines, strict=True)
            )
        barriers = (*state.barriers[:at], (parity, arrived, expected), *state.barriers[at + 1 :])
        return state._replace(places=places, barriers=barriers)


def overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def clash(one: tuple[str, range], other: tuple[str, range]) -> bool:
    return overlap(one[1], other[1]) and "W" in (one[0], other[0])

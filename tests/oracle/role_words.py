"""Phases with roles, by all runs of a few iterations: whose word each read gets.

Each run is followed with what was written last into each word. A read is right if each of its words was written last by
the run of the write in the right iteration, and by exactly one thread of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .oracle_errors import OracleAmbiguousError
from .role_runs import MOST_STATES, Operation, Program, State, States, clash, overlap, value_of
from .yaml_values import Spec, Yaml, as_dict, as_int

WORD = 4


class Name(NamedTuple):
    """A step that touches memory: what it names, the iteration, and the value of its access's loop."""

    subject: str
    iteration: int
    value: int


@dataclass
class NamedProgram(Program):
    """A program that knows which step of the spec each touch and each operation is.

    Attributes:
        touches: By thread and place in its line.
        started: By number of the operation.
    """

    touches: dict[tuple[int, int], Name] = field(default_factory=dict[tuple[int, int], Name])
    operators: dict[int, Name] = field(default_factory=dict[int, Name])

    def _step(self, step: Yaml, thread: int, i: int) -> None:
        first, operations = len(self.lines[thread]), len(self.operations)
        super()._step(step, thread, i)
        # What runs before the loop is no run of an iteration.
        i -= self.part == "before"
        for number in range(operations, len(self.operations)):
            given = as_dict(step)
            self.operators[number] = Name(str(given.get("tma", given.get("wgmma"))), i, i)
        for at in range(first, len(self.lines[thread])):
            if self.lines[thread][at].kind in "RW":
                name, value = (step["access"], self._at(step, i)) if isinstance(step, dict) else (step, i)
                self.touches[thread, at] = Name(str(name), i, value)

    def _at(self, step: dict[str, Yaml], i: int) -> int:
        return value_of(as_dict(step["at"])["i"], i=i)


@dataclass(frozen=True)
class Words:
    """What all runs show of a claim: a race that it is about, a hang, or a read that gets the wrong word."""

    race: bool
    hang: bool
    wrong: bool
    reads: bool

    def __or__(self, other: Words) -> Words:
        """What either shows."""
        return Words(
            self.race or other.race, self.hang or other.hang, self.wrong or other.wrong, self.reads or other.reads
        )


def all_words(spec: Spec, iterations: int, read: str, write: str, lag: int | None) -> Words:
    """Go through all runs of the only phase; without `lag` it is the least at which the two touch a word."""
    [phase] = map(as_dict, as_dict(spec["phases"]).values())
    [count] = as_dict(phase["for"]).values()
    ends = any("after" in as_dict(role) for role in as_dict(phase["roles"]).values())
    numbers = [as_int(count)] if count != "any" else list(range(iterations + 1)) if ends else [iterations]
    if lag is None:
        lag = _lag(NamedProgram(spec, max(numbers)), read, write)
    if lag is None:
        # No run of the write touches what the read does: it gets its data from nowhere.
        reads = any(name.subject == read for name, _ in _all(NamedProgram(spec, max(numbers))))
        return Words(race=False, hang=False, wrong=reads, reads=reads)
    found = Words(race=False, hang=False, wrong=False, reads=False)
    for each in numbers:
        found |= _Words(NamedProgram(spec, each), read, write, lag).words()
    return found


def _lag(program: NamedProgram, read: str, write: str) -> int | None:
    """How many iterations lie between a write and its read."""
    reads, writes = ([each for each in _all(program) if each[0].subject == name] for name in (read, write))
    stated = {one.iteration - other.iteration for one, _ in reads for other, _ in writes if one.value == other.value}
    if any(name.value != name.iteration for name, _ in (*reads, *writes)):
        return min(stated) if stated else None
    found = [
        one.iteration - other.iteration
        for one, bytes_ in reads
        for other, written in writes
        if one.iteration >= other.iteration and overlap(bytes_, written)
    ]
    return min(found, default=None)


def _all(program: NamedProgram) -> Iterator[tuple[Name, range]]:
    """Every touch and every operation with its bytes."""
    for (thread, at), name in program.touches.items():
        yield name, program.lines[thread][at].bytes
    for number, name in program.operators.items():
        yield name, program.operations[number].bytes


Last = tuple[tuple[int, Name], ...]
"""What was written last into each word that was written."""


class _Words(States):
    """The runs of a program, with what each word has."""

    program: NamedProgram

    def __init__(self, program: NamedProgram, read: str, write: str, lag: int) -> None:
        super().__init__(program)
        self.read, self.write, self.lag = read, write, lag
        self.threads = list(program.lines)
        writers: dict[tuple[int, int], int] = defaultdict(int)
        for name, bytes_ in _all(program):
            if name.subject == write:
                for word in _words(bytes_):
                    writers[name.iteration, word] += 1
        self.once = {key for key, count in writers.items() if count == 1}

    def words(self) -> Words:
        """Whether some run has a race of the claim, hangs, or reads a wrong word."""
        start: tuple[State, Last] = self.first(), ()
        seen, pending = {start}, [start]
        race = hang = wrong = reads = False
        while pending:
            state, last = pending.pop()
            following = self.following(state)
            names = [self._name(thread, state) for thread in range(len(self.lines))]
            touches = [
                (name, step.kind, step.bytes)
                for name, step in zip(names, following, strict=True)
                if name is not None and step is not None
            ]
            flying = [(self.program.operators[at], each.kind, each.bytes) for at, each in self._under_way(state)]
            race |= self._race([*touches, *flying]) or self._unfenced(state, flying)
            for name, kind, bytes_ in (*touches, *flying):
                if name.subject == self.read and kind == "R" and name.iteration >= self.lag:
                    reads = True
                    wrong |= not self._is_right(name.iteration, bytes_, dict(last))
            moves = list[tuple[State, Last]]()
            for thread, step in enumerate(following):
                moved = None if step is None else self.after(state, thread, step)
                if moved is not None and step is not None:
                    moves.append((moved, self._written(last, names[thread], step.kind, step.bytes)))
            for number, operation in enumerate(self.program.operations):
                moved = self.completed(state, number)
                if moved is not None:
                    name = self.program.operators[number]
                    moves.append((moved, self._written(last, name, operation.kind, operation.bytes)))
            hang |= any(step is not None for step in following) and not moves
            for each in moves:
                if each not in seen:
                    seen.add(each)
                    pending.append(each)
            if len(seen) > MOST_STATES:
                raise OracleAmbiguousError("too many states")
        return Words(race, hang, wrong, reads)

    def _name(self, thread: int, state: State) -> Name | None:
        return self.program.touches.get((self.threads[thread], state.places[thread]))

    def _under_way(self, state: State) -> list[tuple[int, Operation]]:
        flying = self.flying(state)
        return [(at, each) for at, each in enumerate(self.program.operations) if any(each is one for one in flying)]

    def _race(self, touches: list[tuple[Name, str, range]]) -> bool:
        """Whether two touches race, of which one is the read or the write, and no other one reads."""
        for at, (name, kind, bytes_) in enumerate(touches):
            for other, its_kind, its_bytes in touches[at + 1 :]:
                is_about = {name.subject, other.subject} & {self.read, self.write}
                others_write = all(
                    each.subject == self.read or its == "W" for each, its in ((name, kind), (other, its_kind))
                )
                if is_about and others_write and clash((kind, bytes_), (its_kind, its_bytes)):
                    return True
        return False

    def _unfenced(self, state: State, flying: list[tuple[Name, str, range]]) -> bool:
        """Whether an operation may miss what was written without a fence; all writes count as of the claim."""
        return any(overlap(bytes_, written) for _, _, bytes_ in flying for written in state.unfenced)

    def _is_right(self, iteration: int, bytes_: range, last: dict[int, Name]) -> bool:
        right = iteration - self.lag
        return all(
            (right, word) in self.once
            and word in last
            and (last[word].subject, last[word].iteration) == (self.write, right)
            for word in _words(bytes_)
        )

    def _written(self, last: Last, name: Name | None, kind: str, bytes_: range) -> Last:
        if kind != "W" or name is None:
            return last
        found = dict(last)
        found.update((word, name) for word in _words(bytes_))
        return tuple(sorted(found.items()))


def _words(bytes_: range) -> range:
    return range(bytes_.start // WORD, bytes_.stop // WORD)

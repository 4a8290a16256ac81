"""Whether some launch makes all copies of a function, which fills take for granted.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelAccess, KernelFill, LaneLeaf, Leaf, LoopLeaf, OpaqueLeaf, TripsLeaf
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import Made
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.fill_zeros import when_whole
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.engines.obligations import Answer
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Var,
    conjunction,
    const,
    negation,
    postorder,
    substitute,
    var,
    variables,
)

_MOST_POINTS: Final = 1 << 16
_MOST_TRIPS: Final = 1 << 12
_LEAST_TRIPS: Final = 1 << 6
_ROUNDS: Final = 24
_SAMPLES: Final = 24
_MOST_NAMED: Final = 3
_SEED: Final = 20_261_128
_LARGE: Final = (0, 1, 2, 1 << 10, 1 << 20, (1 << 30) - 1)
_OTHERS: Final = re.compile(r" of block \d+$")
_WAIT: Final = re.compile(r"mbarrier\.(?:try|test)_wait")
_DATA: Final = (Made.INPUT, Made.MOMENT)


class NotFollowedError(Exception):
    """It is not known in which trips, or which threads, the copy of a line is left out."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}: in which trips or threads it copies is not known")


def own_name(name: str, rank: int) -> str:
    """The name of a value that the block of a rank has of its own.

    >>> own_name("n", 1)
    'n of block 1'
    """
    return f"{name} of block {rank}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A condition that some launch has to fulfil at each of some points.

    Attributes:
        line: The line of the copy.
        condition: The condition.
        points: For each variable of it that is no value of the launch, its numbers, as arrays that broadcast.
        known: What is known of the other variables.
    """

    line: int
    condition: Expr
    points: Mapping[str, NDArray[np.int64]]
    known: tuple[Expr, ...]

    def at(self, index: int) -> Expr:
        """The condition at one of its points."""
        shape = np.broadcast_shapes(*(each.shape for each in self.points.values()))
        place = np.unravel_index(index, shape)
        values: dict[Var, Expr] = {
            each: const(int(np.broadcast_to(self.points[each.name], shape)[place]), each.width)
            for each in variables(self.condition)
            if each.name in self.points
        }
        return substitute(self.condition, values)

    def fails(self, launch: Mapping[str, int]) -> NDArray[np.int64]:
        """The points at which it does not hold."""
        env = {each.name: np.asarray(launch.get(each.name, 0), np.uint64) for each in variables(self.condition)}
        (found,) = evaluate_many((self.condition,), {**env, **self.points})  # pyright: ignore[reportArgumentType]
        shape = np.broadcast_shapes(*(each.shape for each in self.points.values()))
        return np.flatnonzero(np.broadcast_to(found, shape).reshape(-1) == 0)


def wanted(
    fills: Iterable[KernelFill],
    left_out: Iterable[tuple[KernelAccess, Expr]],
    subject_of: Callable[[KernelAccess], ValueSubject],
    threads: Threads,
) -> Iterator[Wanted]:
    """What a launch has to fulfil so that all copies are made, of all bytes, and some instructions are left out.

    `left_out` has these instructions, each with what has to hold then.

    Raises:
        NotFollowedError: It is not known when one of the conditions holds.
    """
    for each in fills:
        for subject in map(subject_of, (each.destination, *each.origins)):
            yield from _wanted(subject, subject.access.who.guard, threads)
        if each.read_bytes is not None:
            yield from _wanted(*when_whole(each, subject_of), threads)
    for access, condition in left_out:
        yield from _wanted(subject_of(access), condition, threads)


def _wanted(subject: ValueSubject, condition: Expr, threads: Threads) -> Iterator[Wanted]:
    """What a launch has to fulfil so that a condition holds in each thread and each trip.

    Only those threads count whose coordinates let them execute the instruction.
    """
    runs, _ = by_coordinates(subject, _split(subject.access.who.guard), threads)
    _, rest = by_coordinates(subject, _split(condition), threads)
    around = {loop.header for loop in subject.access.who.loops}
    for part in rest:
        new: dict[Var, Expr] = {}
        axes: dict[str, Sequence[int]] = {}
        is_of_launch = False
        for each in variables(part):
            leaf = subject.here.leaves[each.name]
            axis = _axis(leaf, subject, around)
            if axis is not None:
                axes[each.name] = axis
            elif not isinstance(leaf, LaneLeaf):
                is_of_launch = True
                new[each] = var(_OTHERS.sub("", each.name), each.limit)
        if not is_of_launch:
            continue
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(part)):
            raise NotFollowedError(subject.access.site.line)
        lanes = [each.name for each in variables(part) if isinstance(subject.here.leaves[each.name], LaneLeaf)]
        points = _points(lanes, axes, runs, threads)
        known = [substitute(each, new) for each in known_of(tuple(new), subject.here.leaves)]
        yield Wanted(subject.access.site.line, substitute(part, new), points, tuple(known))


def _split(condition: Expr) -> Expr:
    """A condition as a conjunction of parts as small as negations let them be."""
    found: list[Expr] = []
    pending = [(condition, True)]
    while pending:
        node, is_meant = pending.pop()
        match node:
            case Binary(BinaryOperator.XOR, inner, Const(1), 1):
                pending.append((inner, not is_meant))
            case Binary(BinaryOperator.AND | BinaryOperator.OR as operator, left, right, 1) if is_meant is (
                operator is BinaryOperator.AND
            ):
                pending += [(left, is_meant), (right, is_meant)]
            case _:
                found.append(node if is_meant else negation(node))
    return conjunction(found)


def _axis(leaf: Leaf, subject: ValueSubject, around: Container[int]) -> Sequence[int] | None:
    """The numbers that a leaf has in the trips of loops; None if it is a coordinate, or one number in a launch.

    Raises:
        NotFollowedError: It is neither.
    """
    if isinstance(leaf, TripsLeaf) and leaf.block in around:
        return range(_MOST_TRIPS if leaf.most is None else leaf.most + 1)
    if isinstance(leaf, LoopLeaf):
        if leaf.values is None:
            raise NotFollowedError(subject.access.site.line)
        return leaf.values
    if isinstance(leaf, OpaqueLeaf) and not _is_chosen(leaf, subject):
        feeds = [subject.here.leaves[each.name] for each in variables(*leaf.feeds) if each.name in subject.here.leaves]
        is_own = leaf.made is not Made.DETERMINED or (
            any(isinstance(each, LaneLeaf) for each in feeds) or _OTHERS.search(leaf.name) is not None
        )
        if is_own or any(_axis(each, subject, around) is not None for each in feeds):
            raise NotFollowedError(subject.access.site.line)
    return None


def _is_chosen(leaf: OpaqueLeaf, subject: ValueSubject) -> bool:
    """Whether a value that is not followed counts as one number that a launch chooses.

    Words that lanes load do, but for those of global memory that the kernel writes, the result of a wait, and that of a
    division by 0. Which lane is elected counts for a copy that one lane makes whole, and not for those of which each
    lane makes a part.
    """
    if leaf.made in _DATA and leaf.name.startswith("ld"):
        return not leaf.is_written
    if leaf.name.startswith("elect.sync "):
        return subject.access.site.opcode.startswith("cp.async.bulk")
    return leaf.open is not None or _WAIT.match(leaf.name) is not None


def _points(
    lanes: Sequence[str],
    axes: Mapping[str, Sequence[int]],
    runs: NDArray[np.bool_],
    threads: Threads,
) -> dict[str, NDArray[np.int64]]:
    """All threads and the first trips, as arrays that broadcast."""
    found: dict[str, NDArray[np.int64]] = {}
    dimensions = len(axes) + 1
    count = 1
    if lanes:
        own = np.unique(np.stack([threads.point[name][runs] for name in lanes]), axis=1)
        count = own.shape[1]
        for name, numbers in zip(lanes, own, strict=True):
            found[name] = numbers.reshape(-1, *[1] * len(axes))
    most = max(_LEAST_TRIPS, int((_MOST_POINTS / max(1, count)) ** (1 / max(1, len(axes)))))
    for at, (name, numbers) in enumerate(axes.items(), 1):
        shape = [1] * dimensions
        shape[at] = -1
        found[name] = np.asarray(numbers[: min(most, _MOST_TRIPS)], np.int64).reshape(shape)
    return found


def find_left_out(every: Iterable[Wanted], asker: Asker) -> str:
    """Why each launch may leave out a copy, in words; empty if some launch surely makes all."""
    for group in _apart({(each.condition, *map(bytes, each.points.values())): each for each in every}.values()):
        if not _can_hold(group, asker):
            lines = " or ".join(map(str, sorted({each.line for each in group})[:_MOST_NAMED]))
            return f"each launch leaves out a copy of line {lines} in some thread or trip, as far as is known"
    return ""


def _apart(every: Iterable[Wanted]) -> list[list[Wanted]]:
    """The conditions, those together that read a value of the launch in common."""
    groups: list[tuple[set[str], list[Wanted]]] = []
    for each in every:
        read = {one.name for one in variables(each.condition, *each.known)} - each.points.keys()
        alike = [group for group in groups if not read.isdisjoint(group[0])]
        groups = [group for group in groups if read.isdisjoint(group[0])]
        names = reduce(set[str].union, (names for names, _ in alike), read)
        groups.append((names, [*(one for _, of_group in alike for one in of_group), each]))
    return [of_group for _, of_group in groups]


def _can_hold(group: Sequence[Wanted], asker: Asker) -> bool:
    """Whether numbers of a launch are found that fulfil some conditions at all of their points."""
    known = tuple(dict.fromkeys(fact for each in group for fact in each.known))
    own = {name for each in group for name in each.points}
    read = [each for each in variables(*(one.condition for one in group)) if each.name not in own]
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    for _ in () if known else range(_SAMPLES):
        launch = {each.name: min(draw.choice(_LARGE), each.limit - 1) for each in read}
        if not any(one.fails(launch).size for one in group):
            return True
    instances: dict[Expr, None] = {each.at(0): None for each in group}
    for _ in range(_ROUNDS):
        found = asker.possible(conjunction((*known, *instances)))
        if found.answer is not Answer.HOLDS:
            return False
        failing = [(each, each.fails(found.point or {})) for each in group]
        if not any(of.size for _, of in failing):
            return True
        instances |= {each.at(int(at)): None for each, of in failing for at in {*of[:1], *of[-1:]}}
    return False

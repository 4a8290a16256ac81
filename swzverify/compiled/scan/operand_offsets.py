"""The start addresses of an operand as numbers: for each warp group, or warp, all that it can be."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import LaneLeaf, TripsLeaf
from swzverify.compiled.kernel.lanes import GROUP_THREADS, Threads
from swzverify.compiled.kernel.reachable import TooManyError, cases, is_state
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.operand_subject import OperandSubject, ValueSubject
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Expr,
    Var,
    conjuncts,
    const,
    operands,
    postorder,
    rebuilt,
    substitute,
    to_signed,
    variables,
)

Offsets: TypeAlias = dict[int, tuple[int, ...]]
"""For each group of threads, the numbers that an offset can be: all that occur, and perhaps others.

A group is a warp group; of an instruction that one thread issues, it is a warp.
"""

_MOST_POINTS: Final = 512
_MOST_CASES: Final = 500


def offsets_of(subject: ValueSubject, offset: Expr) -> Offsets | None:
    """The numbers that an offset can be in each group that may execute the instruction.

    None if they are many or not known. Threads of one group have one number.
    """
    if subject.shape is None:
        return None
    # What is left, such as a parameter, may decide between numbers: both of them count.
    rest = [(leaf, leaf.values) for leaf in subject.leaves_of(offset) if leaf.values is not None]
    ranges = [values for _, values in rest]
    if prod(map(len, ranges)) > _MOST_POINTS:
        return None
    found: Offsets = {}
    for group, there in first_threads(subject, subject.shape).items():
        numbers: set[int] = set()
        for point in product(*ranges):
            for (leaf, _), value in zip(rest, point, strict=True):
                there[leaf.variable] = const(value, leaf.variable.width)
            try:
                numbers |= {
                    to_signed(each, offset.width) for (each,) in cases((substitute(offset, there),), _MOST_CASES)
                }
            except TooManyError:
                return None
        found[group] = tuple(sorted(numbers))
    return found


def first_threads(subject: ValueSubject, shape: BlockShape) -> dict[int, dict[Var, Expr]]:
    """The coordinates of the first thread of each group that may execute the instruction."""
    threads = Threads(shape)
    groups, lanes = _groups(subject, threads), _lanes(subject)
    runs, _ = by_coordinates(subject, subject.access.who.guard, threads)
    first_of = {int(group): int(np.argmax((groups == group) & runs)) for group in np.unique(groups[runs])}
    return {
        group: {each: const(int(threads.point[each.name][first]), each.width) for each in lanes}
        for group, first in first_of.items()
    }


def by_coordinates(
    subject: ValueSubject, condition: Expr, threads: Threads
) -> tuple[NDArray[np.bool_], frozenset[Expr]]:
    """For each thread, whether its coordinates fulfil the parts of a condition that they decide; and other parts."""
    lanes, fulfils = _lanes(subject), np.ones(len(threads.first_of_warp), dtype=np.bool_)
    rest: set[Expr] = set()
    for part in conjuncts(condition):
        if lanes.issuperset(variables(part)):
            fulfils &= _per_thread(part, threads) != 0
        else:
            rest.add(part)
    return fulfils, frozenset(rest)


def in_threads(subject: ValueSubject, value: Expr, runs: NDArray[np.bool_], threads: Threads) -> Expr:
    """A value with the numbers of those of its parts that coordinates alone decide, alike in all of some threads."""
    lanes, new, pending = _lanes(subject), dict[Expr, Expr](), [value]
    while pending:
        node = pending.pop()
        read = variables(node)
        if node in new or lanes.isdisjoint(read):
            continue
        if lanes.issuperset(read):
            numbers = np.unique(_per_thread(node, threads)[runs])
            if len(numbers) == 1:
                new[node] = const(int(numbers[0]), node.width)
                continue
        pending += operands(node)
    for node in postorder(value):
        new.setdefault(node, rebuilt(node, new))
    return new[value]


def is_alike(subject: ValueSubject, value: Expr) -> bool:
    """Whether a value is surely one number in each group that may execute the instruction, in one state of loops.

    Threads of a warp group have to be in one state, too. This is as far as coordinates decide it: the parts of it that
    depend on coordinates alone are one number there; the rest is what lanes share.
    """
    of_loops = [leaf for leaf in subject.leaves_of(value) if is_state(leaf) or isinstance(leaf, TripsLeaf)]
    if not subject.is_of_one_thread and not all(leaf.uniform for leaf in of_loops):
        return False
    lanes = _lanes(subject)
    is_shared = lanes.isdisjoint(variables(value))
    if is_shared or subject.shape is None:
        return is_shared
    threads = Threads(subject.shape)
    groups = _groups(subject, threads)
    runs, _ = by_coordinates(subject, subject.access.who.guard, threads)
    is_there = runs if subject.is_of_one_thread else np.isin(groups, groups[runs])
    # The first thread of each group that counts; other groups are not looked at.
    firsts = np.asarray([np.argmax((groups == each) & is_there) for each in range(int(groups[-1]) + 1)])
    pending, seen = [value], set[Expr]()
    while pending:
        node = pending.pop()
        read = variables(node)
        if node in seen or lanes.isdisjoint(read):
            continue
        seen.add(node)
        if lanes.issuperset(read):
            numbers = _per_thread(node, threads)
            if bool((numbers == numbers[firsts][groups])[is_there].all()):
                continue
        if isinstance(node, Var):
            return False
        pending += operands(node)
    return True


def is_issued_once(subject: ValueSubject, elected: frozenset[Var]) -> bool:
    """Whether one thread of the block at most executes the instruction, in each trip of the loops around it.

    `elected` are predicates that are true in one lane of each warp at most.
    """
    if subject.shape is None:
        return False
    runs, rest = by_coordinates(subject, subject.access.who.guard, Threads(subject.shape))
    threads = np.flatnonzero(runs)
    is_elected = any(substitute(part, {each: const(0, 1)}) is FALSE for each in elected for part in rest)
    return len(threads) <= 1 or (len(np.unique(threads // LANES)) == 1 and is_elected)


def whoever_is_elected(subject: OperandSubject) -> OperandSubject | None:
    """The same as if all lanes of a warp were elected: if each of them breaks a claim, the elected one does.

    None if no lane is elected, or the instruction or its descriptor depends on the lane in other ways.
    """
    access, elected = subject.access, subject.operand.elected
    if not elected or subject.shape is None or access.address is None:
        return None
    threads, lanes = Threads(subject.shape), _lanes(subject)
    runs, rest = by_coordinates(subject, access.who.guard, threads)
    if not threads.are_alike(runs.astype(np.int64)) or not lanes.isdisjoint(variables(access.address, *rest)):
        return None
    return replace(subject, access=access.with_values(dict.fromkeys(elected, TRUE)))


def _groups(subject: ValueSubject, threads: Threads) -> NDArray[np.int64]:
    return np.arange(len(threads.first_of_warp)) // (LANES if subject.is_of_one_thread else GROUP_THREADS)


def _lanes(subject: ValueSubject) -> set[Var]:
    return {leaf.variable for leaf in subject.access.leaves if isinstance(leaf, LaneLeaf)}


def _per_thread(value: Expr, threads: Threads) -> NDArray[np.int64]:
    """The number of each thread, for a value that depends on coordinates alone."""
    if any(node.width > MAX_ARRAY_WIDTH for node in postorder(value)):
        return threads.point["laneid"]  # which differs in every warp: nothing is claimed
    (found,) = evaluate_many((value,), threads.point)
    return np.broadcast_to(found, threads.first_of_warp.shape)

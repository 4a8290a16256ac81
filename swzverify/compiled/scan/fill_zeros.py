"""Which instructions write zeros, and whether coordinates alone decide that they do.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from swzverify.compiled.kernel import KernelAccess, KernelFill, LaneLeaf, Leaf, OpaqueLeaf, TripsLeaf
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import LoopLeaf, are_all, is_launch_value
from swzverify.compiled.kernel.special import is_place_of_cluster
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.engines.obligations import Answer
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Comparison,
    Expr,
    Extend,
    Ite,
    Var,
    compare,
    conjunction,
    conjuncts,
    const,
    negation,
    substitute,
    variables,
)

SubjectOf: TypeAlias = Callable[[KernelAccess], ValueSubject]
"""Gives a value with what questions about it need."""
_NO_DATA: Final = re.compile(r"(?:mbarrier|mov)\.")
"""Lanes get these together, but no launch chooses them: results of tests of barrier objects, clocks, `%warpid`."""


def may_be_zero(fill: KernelFill, subject_of: SubjectOf, threads: Threads) -> bool | None:
    """Whether a copy may write zeros for some bytes; None if coordinates or numbers of trips alone say that it does."""
    if fill.read_bytes is None:
        return False
    subject, value = subject_of(fill.read_bytes), fill.read_bytes.address
    if value is None:
        return True
    answer, _ = subject.other(negation(compare(Comparison.EQ, value, const(fill.width_bytes, value.width))))
    if answer is Answer.EMPTY:
        return False
    if answer is Answer.HOLDS and are_all(subject.leaves_of(value), (LaneLeaf, LoopLeaf)):
        return None
    while isinstance(value, Extend):
        value = value.operand
    if isinstance(value, Ite) and value.otherwise is const(0, value.width):
        runs, _ = by_coordinates(subject, subject.access.who.guard, threads)
        reads, _ = by_coordinates(subject, value.condition, threads)
        return True if bool((reads | ~runs).all()) else None
    return True


def when_whole(fill: KernelFill, subject_of: SubjectOf) -> tuple[ValueSubject, Expr]:
    """The condition under which a copy writes no zeros, with its subject."""
    subject = subject_of(fill.read_bytes or fill.destination)
    value = subject.access.address
    if fill.read_bytes is None or value is None:
        return subject, FALSE
    return subject, compare(Comparison.EQ, value, const(fill.width_bytes, value.width))


def is_left_out(
    subject: ValueSubject,
    decide: Container[Var],
    threads: Threads,
    are_fixed: Callable[[Sequence[int], int], bool],
) -> bool:
    """Whether numbers of trips alone say that a copy is not executed, so that what is there may be of another trip.

    A copy that is made in the first trip, and would bring the same in all others, leaves nothing out. `are_fixed` says
    that of the loop at a place of those around.
    """
    around = [loop.header for loop in subject.access.who.loops]
    _, rest = by_coordinates(subject, subject.access.who.guard, threads)
    for each in rest:
        behind = _leaves_behind(subject, each)
        changing = [leaf for leaf in behind if isinstance(leaf, LoopLeaf) and leaf.block in around]
        if all(leaf.variable in decide for leaf in changing) or _reads_launch(subject, each):
            continue
        first: dict[Var, Expr] = {leaf.variable: const(0, leaf.variable.width) for leaf in changing}
        is_first = are_all(changing, TripsLeaf) and substitute(each, first) is TRUE
        if not is_first or not all(are_fixed(around, around.index(leaf.block)) for leaf in changing):
            return True
    return False


def _reads_launch(subject: ValueSubject, condition: Expr) -> bool:
    """Whether a condition depends on values of the launch or on data, and not on coordinates and trips alone.

    A condition on the number of a trip alone holds in some trip of each launch that gets there: to assume that it
    never does would be wrong. A test of a barrier object does not count either: behind a wait for the phase, each
    launch has the same result. The place of a cluster does not count: a block finds its rank by remainders of `%ctaid`.
    """
    return any(
        (is_launch_value(leaf) and not is_place_of_cluster(leaf.name))
        or (isinstance(leaf, OpaqueLeaf) and leaf.is_moment and _NO_DATA.match(leaf.name) is None)
        for leaf in _leaves_behind(subject, condition)
    )


def _leaves_behind(subject: ValueSubject, value: Expr) -> list[Leaf]:
    """The leaves of a value, and those that feed them, but for what decides which test of an object it is."""
    found: dict[str, Leaf] = {}
    pending = [*variables(value)]
    while pending:
        name = pending.pop().name
        leaf = subject.here.leaves.get(name)
        if leaf is not None and name not in found:
            found[name] = leaf
            if isinstance(leaf, OpaqueLeaf) and _NO_DATA.match(name) is None:
                pending += variables(*leaf.feeds)
    return [*found.values()]


def when_left_out(writer: KernelAccess, access: KernelAccess, subject_of: SubjectOf, threads: Threads) -> Expr | None:
    """What has to hold so that a writer is left out, whose condition reads more than coordinates.

    None if an instruction cannot be executed then.
    """
    _, rest = by_coordinates(subject_of(writer), writer.who.guard, threads)
    rest -= frozenset(conjuncts(access.who.guard))
    if not any(_reads_launch(subject_of(writer), each) for each in rest):
        return None
    left = negation(conjunction(rest))
    every = (*access.leaves, *access.around, *writer.leaves, *writer.around)
    leaves = tuple({leaf.name: leaf for leaf in reversed(every)}.values())
    answer, _ = subject_of(replace(access, leaves=leaves, around=())).other(left)
    return left if answer is Answer.HOLDS else None

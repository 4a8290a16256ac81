"""Which instructions write zeros, and whether coordinates alone decide that they do.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from swzverify.compiled.kernel import KernelAccess, KernelFill, LaneLeaf
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.scan.operand_offsets import by_coordinates
from swzverify.compiled.scan.operand_subject import ValueSubject
from swzverify.engines.obligations import Answer
from swzverify.ir.expr import Comparison, Extend, Ite, compare, conjunction, conjuncts, const, negation

SubjectOf: TypeAlias = Callable[[KernelAccess], ValueSubject]
"""Gives a value with what questions about it need."""


def may_be_zero(fill: KernelFill, subject_of: SubjectOf, threads: Threads) -> bool | None:
    """Whether a copy may write zeros for some bytes; None if coordinates alone say that it does."""
    if fill.read_bytes is None:
        return False
    subject, value = subject_of(fill.read_bytes), fill.read_bytes.address
    if value is None:
        return True
    answer, _ = subject.other(negation(compare(Comparison.EQ, value, const(fill.width_bytes, value.width))))
    if answer is Answer.EMPTY:
        return False
    if answer is Answer.HOLDS and all(isinstance(leaf, LaneLeaf) for leaf in subject.leaves_of(value)):
        return None
    while isinstance(value, Extend):
        value = value.operand
    if isinstance(value, Ite) and value.otherwise is const(0, value.width):
        runs, _ = by_coordinates(subject, subject.access.who.guard, threads)
        reads, _ = by_coordinates(subject, value.condition, threads)
        return True if bool((reads | ~runs).all()) else None
    return True


def may_be_left_out(writer: KernelAccess, access: KernelAccess, subject_of: SubjectOf, threads: Threads) -> bool:
    """Whether an instruction can be executed where a writer is not, whose condition reads more than coordinates."""
    _, rest = by_coordinates(subject_of(writer), writer.who.guard, threads)
    if not (rest := rest - frozenset(conjuncts(access.who.guard))):
        return False
    every = (*access.leaves, *access.around, *writer.leaves, *writer.around)
    leaves = tuple({leaf.name: leaf for leaf in reversed(every)}.values())
    answer, _ = subject_of(replace(access, leaves=leaves, around=())).other(negation(conjunction(rest)))
    return answer is Answer.HOLDS

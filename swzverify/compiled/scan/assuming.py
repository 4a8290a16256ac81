"""Which reading of an access is judged: the one that holds of every launch, if it is decided.

Otherwise it is the reading of launches without a fault of the program: those in which every
division has a result. The assumption then stands beside the verdict. That reading leaves out each
thread that makes a division without a result. Where a divisor reads the block's place, a division
of another block may have no result and spoil the launch: so what is said to happen there has to
happen in the first block as well, which a launch can have alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel import KernelAccess
from swzverify.compiled.kernel.special import is_place
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.verdict import FAULT, Decision, Verdict, unknown
from swzverify.ir.expr import FALSE, TRUE, Expr, Var, const, variables

ELSEWHERE: Final = "it happens in some block, and another block of that launch may divide by 0"
Decide = Callable[[KernelAccess], Decision]
NeverMade = Callable[[KernelAccess], bool]
"""Whether no lane makes an access, which is free."""


def judged(access: KernelAccess, decide: Decide, is_never_made: NeverMade) -> tuple[KernelAccess, Decision]:
    """An access in the reading that is decided, with its verdict.

    If none is, it is the plain one, with what a launch may decide in another one.
    """
    decision = decide(access)
    if access.defined is None or access.cost.row is None or access.cost.row.warp_wide:
        # Of a warp-wide access the guard, which has the condition, says nothing of its addresses.
        return access, decision
    if decision.verdict is not Verdict.UNKNOWN or decision.reason == FAULT:
        return access, decision
    kept = access, decision
    reading = access.defined
    while reading is not None:
        other = _of_whole_launches(reading, decide, is_never_made)
        if other.verdict is not Verdict.UNKNOWN or other.reason == FAULT:
            return reading, other
        if kept[1].if_made is None and other.if_made is not None:
            # A conflict that a launch has needs no assumption: what is free otherwise has this one.
            assumes = (*reading.assumes, *other.if_made.assumes)
            kept = access, replace(other, if_made=replace(other.if_made, assumes=assumes))
        reading = reading.defined
    return kept


def in_first_block(access: KernelAccess) -> KernelAccess | None:
    """The access in the first block.

    None if no division that is assumed to have a result reads the block's place.
    """
    place = [each for each in variables(access.who.guard) if is_place(each.name)]
    if not access.assumes or not place:
        return None
    first: dict[Var, Expr] = {each: const(0, each.width) for each in place}
    return access.with_values(first)


def in_one_launch(access: KernelAccess) -> KernelAccess | None:
    """The access in launches of the first block alone in which all divisions have a result.

    None if nothing is assumed about other blocks or other divisions.
    """
    first = in_first_block(access)
    if first is None and access.who.launches is TRUE:
        return None
    strict = first or access
    return replace(strict, who=strict.who.in_launches)


def _of_whole_launches(access: KernelAccess, decide: Decide, is_never_made: NeverMade) -> Decision:
    """The verdict over whole launches.

    A conflict must occur in a launch that is correct otherwise. An access that only incorrect launches
    execute is not free.
    """
    found = decide(access)
    if found.verdict is Verdict.FREE and access.who.launches not in (TRUE, FALSE):
        return unknown(NEVER_MADE) if is_never_made(replace(access, who=access.who.in_launches)) else found
    strict = in_one_launch(access) if found.verdict in (Verdict.CONFLICT, Verdict.DEPENDS) else None
    if strict is None:
        return found
    there = decide(strict)
    if there.verdict not in (Verdict.CONFLICT, Verdict.DEPENDS):
        return replace(unknown(ELSEWHERE), if_made=found if found.verdict is Verdict.DEPENDS else None)
    return replace(there, verdict=found.verdict, reason=found.reason, parameters=found.parameters, at_least=True)

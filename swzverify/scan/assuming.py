"""Which reading of an access is judged: the one that holds of every launch, if it is decided.

Else the one of launches that are no fault of the program: those in which every division has a
result. What is assumed then stands beside the verdict.
"""

from __future__ import annotations

from collections.abc import Callable

from swzverify.kernel import KernelAccess
from swzverify.scan.verdict import FAULT, Decision, Verdict


def judged(access: KernelAccess, decide: Callable[[KernelAccess], Decision]) -> tuple[KernelAccess, Decision]:
    """An access in the reading that is decided, with its verdict; in the plain one if none is."""
    decision = decide(access)
    if access.defined is None or access.row is None or access.row.warp_wide:
        # Of a warp-wide access the guard, which has the condition, says nothing of its addresses.
        return access, decision
    if decision.verdict is not Verdict.UNKNOWN or decision.reason == FAULT:
        return access, decision
    other = decide(access.defined)
    if other.verdict is Verdict.UNKNOWN and other.reason != FAULT:
        return access, decision
    return access.defined, other

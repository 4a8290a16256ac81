"""What the counters of whole launches say of the accesses of a kernel.

They agree with a verdict or leave it open. They never contradict one: an access that takes fewer wavefronts than
the ideal, since its lanes read one word, can hide another one's conflict, and lanes that take no part can make the
ideal too small. Counters of each instruction (`measured.py`) can contradict.
"""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.compiled.profiler import Total
from swzverify.compiled.scan.measured import Measured, Status
from swzverify.compiled.scan.scanned import ScannedAccess
from swzverify.compiled.scan.verdict import Verdict


def held_against(accesses: Sequence[ScannedAccess], launches: Sequence[Total]) -> list[Measured]:
    """For each access of a kernel, how its verdict stands to the totals of the launches."""
    if not any(each.wavefronts for each in launches):
        return [Measured(Status.NOT_SEEN, "no wavefront in shared memory was counted")] * len(accesses)
    is_exceeded = any(each.wavefronts > each.ideal for each in launches)
    is_free = all(each.settled.verdict is Verdict.FREE for each in accesses)
    return [_held(each.settled.verdict, is_exceeded=is_exceeded, is_free=is_free) for each in accesses]


def _held(verdict: Verdict, *, is_exceeded: bool, is_free: bool) -> Measured:
    match verdict:
        case Verdict.FREE if not is_exceeded:
            return Measured(Status.AGREES, "the kernel took no more wavefronts than the ideal")
        case Verdict.FREE if is_free:
            why = "the kernel took more wavefronts than the ideal: --check-run counts each instruction"
            return Measured(Status.OPEN, why)
        case Verdict.FREE:
            return Measured(Status.OPEN, "the total of the kernel does not tell it from the other accesses")
        case Verdict.CONFLICT if is_exceeded:
            return Measured(Status.AGREES, "the kernel took more wavefronts than the ideal")
        case Verdict.CONFLICT:
            return Measured(Status.OPEN, "the kernel took no more wavefronts than the ideal")
        case Verdict.DEPENDS:
            return Measured(Status.OPEN, "it depends on parameters, which the counters do not have")
        case _:
            return Measured(Status.OPEN, "there is no verdict")

"""What is known of two accesses that can meet, and the words for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from swzverify.compiled.order.instance import MOST_TRIPS
from swzverify.compiled.order.question import Question
from swzverify.compiled.order.verdict import RaceVerdict, Witness
from swzverify.ir.expr import Expr

MOST_MEETINGS: Final = 1 << 13
"""Meetings of a kernel that are looked at; unrolled code has a few thousand."""
MOST_OF_PARTS: Final = 1 << 19
"""Meetings that are looked at if barriers order parts of a block: unrolled copies have a few 100,000."""
NOT_ASKED: Final = "not examined: other pairs used up the budget of this kernel"
TOO_MANY: Final = "the kernel has more pairs of accesses than swzverify examines"
IN_ARRAYS: Final = "each access stays within its array (in_bounds decides that)"
IN_MEMORY: Final = "offsets in shared memory do not wrap around 32 bits"
GAVE_UP: Final = "Z3 does not decide it within its budget"
TRIPS: Final = f"no loop with a barrier makes more than {MOST_TRIPS} trips"
OF_COPY: Final = "no order is known between a bulk copy and an access that may run at the same time"
INEXACT: Final = "which threads reach the accesses is not known exactly"
ONE_VALUE: Final = "all threads write one value"
UNORDERED: Final = "no barrier orders the accesses"


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of one meeting.

    Attributes:
        verdict: The verdict.
        reason: Why there is no other verdict, in words.
        engines: The engines that decided.
        witness: A launch in which the accesses race.
        met: The question that has the witness, and when threads surely make both accesses.
    """

    verdict: RaceVerdict
    reason: str
    engines: tuple[str, ...] = ()
    witness: Witness | None = None
    met: tuple[Question, Expr] | None = field(default=None, compare=False, repr=False)

    @property
    def condition(self) -> str:
        """The values of parameters with which the accesses race, if others prevent it."""
        if self.verdict is not RaceVerdict.DEPENDS or self.witness is None:
            return ""
        return ", ".join(f"{name} = {value}" for name, value in self.witness.parameters)


TOO_MANY_PATHS: Final = Found(RaceVerdict.UNKNOWN, "too many paths lead to the accesses")

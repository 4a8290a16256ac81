"""The interval engine: conditions that hold because every value in them lies between two bounds.

It reads the expression form's own intervals (`ir.intervals`), not those with which `ir.integers`
chose widths.
"""

from __future__ import annotations

from typing import assert_never

from swzverify.ir.intervals import intervals
from swzverify.obligations import Always, Answer, Apart, Cost, Covers, Finding, GatherCost, Injective, Obligation

NAME = "intervals"
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


class Intervals:
    """Decides conditions whose answer the bounds of their parts give; only that they hold."""

    name = NAME

    def decide(self, obligation: Obligation) -> Finding:
        """Holds where the condition's interval is 1..1."""
        match obligation:
            case Always():
                holds = obligation.holds
                return Finding(NAME, Answer.HOLDS) if intervals(holds)[holds] == (1, 1) else _OTHER
            case Injective() | Apart() | Cost() | GatherCost() | Covers():
                return _OTHER
            case _:
                assert_never(obligation)

"""The interval engine: conditions that hold because every value in them lies between two bounds.

It reads the expression form's own intervals (`ir.intervals`), not those with which `ir.integers`
chose widths.
"""

from __future__ import annotations

from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import Always, Answer, Finding
from swzverify.ir.intervals import intervals

NAME = "intervals"
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


def _always(goal: Always) -> Finding:
    """Holds where the condition's interval is 1..1."""
    holds = goal.holds
    return Finding(NAME, Answer.HOLDS) if intervals(holds)[holds] == (1, 1) else _OTHER


class Intervals(Native):
    """Decides conditions whose answer the bounds of their parts give; only that they hold."""

    name = NAME
    rules = Rules(always=_always)

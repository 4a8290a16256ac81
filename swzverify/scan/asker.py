"""Asks whether conditions can hold: by folding, else by the SMT engine, within what one function
may use up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from swzverify.ir.expr import FALSE, TRUE, Expr
from swzverify.obligations import Answer, Finding
from swzverify.prover import Options
from swzverify.prover.panel import FOLDING, Panel

Possible: TypeAlias = Callable[[Expr], Finding]
"""Asks the SMT engine whether a condition can hold."""
BUDGET: Final = 4_000_000
"""Z3's budget for one question."""


class OutOfClockError(Exception):
    """The wall clock ended a query: no verdict may rest on that. The text says so."""


class Asker:
    """Asks the questions of one function. `most_open` of them may use up the budget; each later one
    has `share` of it.

    >>> Asker(most_open=1, share=2).possible(FALSE).answer.value
    'empty'
    """

    def __init__(self, most_open: int, share: int) -> None:
        self._panel, self._small = Panel(Options(rlimit=BUDGET)), Panel(Options(rlimit=BUDGET // share))
        self._left = most_open
        self._asked: dict[Expr, Finding] = {}

    def possible(self, condition: Expr) -> Finding:
        """Whether a condition can hold. Each condition is asked once.

        Raises:
            OutOfClockError: The wall clock ended the query.
        """
        if condition is FALSE or condition is TRUE:
            return Finding(FOLDING, Answer.EMPTY if condition is FALSE else Answer.HOLDS, {})
        if condition not in self._asked:
            found = self._asked[condition] = (self._panel if self._left > 0 else self._small).possible(condition)
            self._left -= found.answer is Answer.UNDECIDED and not found.is_by_clock
        if self._asked[condition].is_by_clock:
            raise OutOfClockError(self._asked[condition].detail)
        return self._asked[condition]

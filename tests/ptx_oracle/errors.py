"""The errors of the oracle: a launch stops with one of them, never silently."""

from __future__ import annotations


class OracleError(Exception):
    """The oracle cannot go on; the message says why, and at which PTX line where there is one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line = line


class ParseError(OracleError):
    """The PTX text is not understood."""


class UnsupportedError(OracleError):
    """The PTX is understood, but the oracle cannot run it (an unknown opcode, say)."""


class BudgetError(OracleError):
    """The launch took more steps than it may take; what was seen so far is kept."""


class FaultError(OracleError):
    """The kernel did what a GPU faults at: a bad address, a trap, a barrier that never opens."""


class HangError(FaultError):
    """No thread can go on, for ever."""

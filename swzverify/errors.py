"""Errors that a person can act on: a stable code, what was wrong with which value, and the next step.

This module imports nothing of the package. Codes: SWZ1xx spec file, SWZ2xx layout and swizzle, SWZ3xx expression,
SWZ4xx hardware and instruction, SWZ5xx command line, SWZ9xx a fault of swzverify itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SwzError(Exception):
    """One mistake in the user's input: a stable code, a sentence, and what to do about it.

    `text` and `span` (start, end; in characters) mark the offending part of a notation or expression.

    >>> error = SwzError("SWZ301", "unknown name 'tidd'", hint="did you mean 'tid'?", text="tidd/8", span=(0, 4))
    >>> print(error)
    SWZ301: unknown name 'tidd'
      tidd/8
      ^^^^
      did you mean 'tid'?
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        text: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(code, message, hint, text, span)
        self.code = code
        self.message = message
        self.hint = hint
        self.text = text
        self.span = span

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if self.text is not None and self.span is not None and "\n" not in self.text:
            start, end = self.span
            lines += [f"  {self.text}", "  " + " " * start + "^" * max(1, end - start)]
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)


class InternalError(Exception):
    """A fault of swzverify itself, never of the input: engines that disagree, a counterexample that does not replay."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A "did you mean" sentence for a mistyped name, or the empty string when nothing is near.

    >>> nearest("ldmatrix.x5", ["ldmatrix.x4", "st.shared.b32"])
    "did you mean 'ldmatrix.x4'?"
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else ""

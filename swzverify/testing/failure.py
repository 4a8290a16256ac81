"""How an assertion ends: with the verdict, or an AssertionError that tells the whole story."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.errors import SwzError
from swzverify.report.console import rendered
from swzverify.report.result import ClaimResult
from swzverify.report.story import story
from swzverify.report.style import TextStyle

_STYLE = TextStyle(unicode=False)


@dataclass(frozen=True, slots=True)
class Judged:
    """The kind of a claim, its subject, and the verdict."""

    kind: str
    subject: str
    verdict: Verdict


def verdict_of(check: Callable[[], Judged]) -> Verdict:
    """The verdict of a check that holds; else AssertionError, at the line of the assertion.

    Mistakes in the arguments (`SwzError`) come without the frames of this package.
    """
    __tracebackhide__ = True
    try:
        judged = check()
    except SwzError as error:
        raise error.with_traceback(None) from None
    if judged.verdict.outcome not in {Outcome.PROVED, Outcome.CHECKED}:
        # The frame above this one is the assertion's, and the one above that its caller's.
        raise AssertionError(told(judged, _above(_above(inspect.currentframe()))))
    return judged.verdict


def _above(frame: FrameType | None) -> FrameType | None:
    return None if frame is None else frame.f_back


def told(judged: Judged, caller: FrameType | None) -> str:
    """The story of a check that does not hold, with the place of the assertion."""
    result = ClaimResult(
        id=f"{judged.subject}::{judged.kind}",
        spec="" if caller is None else _shown(caller.f_code.co_filename),
        line=0 if caller is None else caller.f_lineno,
        kind=judged.kind,
        subject=judged.subject,
        expected=Outcome.PROVED,
        verdict=judged.verdict,
    )
    return f"{judged.verdict.outcome}: {judged.kind} of {judged.subject}\n{rendered([story(result, _STYLE)], _STYLE)}"


def _shown(file: str) -> str:
    """The file from the current folder, if it lies below it."""
    try:
        relative = os.path.relpath(file)
    except ValueError:
        return file
    return file if relative.startswith(os.pardir) else relative

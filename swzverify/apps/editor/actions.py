"""What can be done about a refuted claim: apply a cure, or write its case as a test."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from swzverify.apps.editor.document import Analysis, Analyst
from swzverify.claims.verdict import Outcome
from swzverify.report.case_tests import RefutedClaim, render_case_tests


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `first` to before `last`, from 1, with the text that takes their place."""

    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """Changes of the text, or a new file with its text."""

    title: str
    line: int
    changes: tuple[Change, ...] = ()
    new_file: str = ""
    new_text: str = ""


def actions_at(analyst: Analyst, analysis: Analysis, first: int, last: int) -> list[Action]:
    """The actions for the refuted claims on these lines."""
    found: list[Action] = []
    for each in analysis.judged:
        result = each.result
        if result.ok or result.verdict.outcome is not Outcome.REFUTED or not first <= each.claim.line <= last:
            continue
        case = "".join(f" [{name}={value}]" for name, value in result.case.items())
        of = f"{result.kind} {result.subject}{case}"
        for change, after in analyst.cured(analysis, each):
            found.append(Action(f"Apply the cure for {of}: {change}", result.line, changes_to(analysis.text, after)))
        file = _test_file(analysis.path, f"{result.kind}_{result.subject}{case}")
        name = result.id.removeprefix(f"{result.spec}::")
        refuted = RefutedClaim(result, each.claim.claim, name, os.path.basename(analysis.path))
        text = render_case_tests([refuted])
        title = f"Write the counterexample of {of} as a test: {os.path.basename(file)}"
        found.append(Action(title, result.line, new_file=file, new_text=text))
    return found


def changes_to(before: str, after: str) -> tuple[Change, ...]:
    r"""The lines that differ.

    >>> changes_to("a\nb\nc\n", "a\nx\nc\n")
    (Change(first=2, last=3, text='x\n'),)
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(Change(a + 1, b + 1, "".join(new[c:d])) for tag, a, b, c, d in codes if tag != "equal")


def _test_file(path: str, name: str) -> str:
    """A file beside the spec that is not there yet."""
    folder, stem = os.path.dirname(path), re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    files = (os.path.join(folder, f"test_{stem}{'' if not at else f'_{at + 1}'}.py") for at in range(1000))
    return next(file for file in files if not os.path.lexists(file))

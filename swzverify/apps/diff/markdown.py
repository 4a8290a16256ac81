"""A comparison as Markdown, for the summary of a job or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.apps.diff.result import ClaimDiff, DiffCode, DiffReport, Status
from swzverify.apps.diff.words import change_words, cost_facts, side_words, summary_words, verdict_words
from swzverify.errors import Problem
from swzverify.report.escape import markdown_code, markdown_text

MAX_ROWS = 200
"""A job's summary takes a megabyte, a comment less."""

_HEADINGS = {
    DiffCode.NOTHING_LOST: "No claim was lost",
    DiffCode.LOST: "Claims were lost",
    DiffCode.ERROR: "Not every claim could be compared",
    DiffCode.NO_CLAIM: "No claim found",
}


def render_diff_markdown(report: DiffReport) -> str:
    """The comparison as Markdown: a heading, the sides, a table of what changed, the problems.

    >>> from swzverify.apps.diff.result import SideName
    >>> side = SideName("main", "a revision")
    >>> render_diff_markdown(DiffReport(side, side, ())).splitlines()[0]
    '### swzverify diff: No claim found'
    """
    lines = [
        f"### swzverify diff: {_HEADINGS[report.exit_code]}",
        "",
        f"From {markdown_code(side_words(report.base))} to {markdown_code(side_words(report.head))}: "
        f"{markdown_text(summary_words(report))}.",
        "",
    ]
    told = sorted((each for each in report.claims if each.is_news), key=lambda each: list(Status).index(each.status))
    # What fails must not be what the end of a long table cuts off.
    told.sort(key=lambda each: not each.failing)
    if told:
        lines += ["|  | what | claim | differs |", "|---|---|---|---|", *map(_row, told[:MAX_ROWS]), *_end(told)]
    sides = (("base", report.base_problems), ("head", report.head_problems))
    problems = [_problem(side, problem) for side, found in sides for problem in found]
    if problems:
        lines += ["**Problems**", "", *problems[:MAX_ROWS], *_end(problems)]
    return "\n".join(lines)


def _end(rows: Sequence[object]) -> list[str]:
    """What follows the rows that are shown."""
    return ["", f"{len(rows) - MAX_ROWS} more are not shown.", ""] if len(rows) > MAX_ROWS else [""]


def _row(claim: ClaimDiff) -> str:
    mark = ":x:" if claim.failing else ":white_check_mark:" if claim.status is not Status.NOT_COMPARED else ":warning:"
    what = claim.status.value + (", allowed" if claim.allowed else "")
    differs = [markdown_text(change_words(change)) for change in claim.changes]
    if claim.after is not None:
        differs += [f"was {markdown_code(each)}" for each in claim.ids[:-1]]
    costs = [(f"{label}: ", text) for label, text in cost_facts(claim)]
    facts = [("verdict: ", verdict_words(claim)), *costs, ("", claim.note)]
    differs += [markdown_text(label + text) for label, text in facts if text]
    return f"| {mark} | {what} | {markdown_code(claim.claim.id)} | {'<br>'.join(differs)} |"


def _problem(side: str, problem: Problem) -> str:
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return f"- {side}, {markdown_code(where)}: {problem.code} {markdown_text(problem.message)}"

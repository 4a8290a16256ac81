"""A comparison for people: losses first, every difference, and one line that sums it up."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from swzverify.apps.diff.change import Direction
from swzverify.apps.diff.result import ClaimDiff, DiffCode, DiffReport, Status
from swzverify.apps.diff.words import change_words, cost_facts, side_words, summary_words, verdict_words
from swzverify.report.console import indented, rendered
from swzverify.report.escape import prose, visible
from swzverify.report.style import TextStyle

_COLOUR_OF = {"weaker": "red", "stronger": "green"}
_COLOURS = {Status.DELETED: "bold red", Status.WEAKENED: "bold red", Status.NOT_COMPARED: "yellow"}


def render_diff_text(report: DiffReport, style: TextStyle) -> str:
    """The comparison as text; unchanged claims are listed where the style is verbose.

    >>> from swzverify.apps.diff.result import SideName
    >>> print(render_diff_text(DiffReport(SideName("a", "a file"), SideName("b", "a file"), ()), TextStyle()), end="")
    base  a (a file)
    head  b (a file)
    <BLANKLINE>
    no claim on either side, in <1 ms
    """
    blocks: list[RenderableType] = [
        Text(f"base  {visible(side_words(report.base))}", overflow="fold"),
        Text(f"head  {visible(side_words(report.head))}", overflow="fold"),
        Text(""),
    ]
    for status in Status:
        told = [each for each in report.claims if each.status is status and (style.verbosity > 0 or each.is_news)]
        if style.verbosity >= 0 or any(each.failing for each in told):
            blocks += _section(status, told, style)
    good = report.exit_code is DiffCode.NOTHING_LOST
    blocks.append(Text(visible(summary_words(report)), style="bold green" if good else "bold red", overflow="fold"))
    return rendered(blocks, style)


def _section(status: Status, claims: list[ClaimDiff], style: TextStyle) -> list[RenderableType]:
    """The claims of one status, each with what differs; quietly, only those that fail."""
    shown = [each for each in claims if each.failing or style.verbosity >= 0]
    if not shown:
        return []
    blocks: list[RenderableType] = [Text(f"{status.value}:".capitalize(), style=_COLOURS.get(status, "bold"))]
    for claim in shown:
        blocks += _claim(claim, style)
    return [*blocks, Text("")]


def _claim(claim: ClaimDiff, style: TextStyle) -> list[RenderableType]:
    line = Text("  ", overflow="fold")
    mark = "\u2717" if style.unicode else "x"
    line.append(f"{mark if claim.failing else ' '} ", style="bold red")
    line.append(visible(claim.claim.id), style="bold" if claim.failing else "")
    if claim.allowed:
        line.append("  allowed", style="yellow")
    blocks: list[RenderableType] = [line]
    for label, text in _facts(claim):
        fact = Text(f"{label:<11}", style="dim", overflow="fold")
        blocks.append(indented(fact.append(prose(text), style=_COLOUR_OF.get(label, "")), 6))
    return blocks


def _facts(claim: ClaimDiff) -> list[tuple[str, str]]:
    """What is told of a claim: a label, and plain text."""
    facts = [("was", each) for each in claim.ids[:-1]] if claim.after is not None else []
    for change in claim.changes:
        label = change.direction.value if change.direction is not Direction.NEITHER else "differs"
        facts.append((label, f"{change_words(change)} [{change.aspect}]"))
    facts += [("note", claim.note), ("verdict", verdict_words(claim)), *cost_facts(claim)]
    return [(label, text) for label, text in facts if text]

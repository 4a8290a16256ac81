"""All lines of a claim: place, scope, reason, cost, engines, and the case that breaks it."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from swzverify.claims.verdict import Outcome
from swzverify.report import words
from swzverify.report.console import indented
from swzverify.report.escape import prose, visible, visible_lines
from swzverify.report.marks import mark, mark_colour
from swzverify.report.result import ClaimResult
from swzverify.report.style import TextStyle
from swzverify.report.table import ROW_LIMIT, lanes_table, remainder


def story(result: ClaimResult, style: TextStyle, cases: str = "") -> RenderableType:
    """Everything that is known of a claim.

    A long table is cut unless the style is verbose. `cases` stands for the result's own case.
    """
    head = Text("  ", overflow="fold")
    head.append(f"{mark(result, style)} {result.verdict.outcome.value}  ", style=mark_colour(result))
    head.append(f"{visible(result.kind)}  ")
    head.append(subject_words(result, cases), style="bold")
    if expected := expectation(result):
        head.append(f"  {expected}")
    parts: list[RenderableType] = [head, indented(_facts(result), 4)]
    counterexample = result.verdict.counterexample
    if counterexample is not None and counterexample.rows:
        limit = ROW_LIMIT if style.verbosity <= 0 else None
        parts.append(indented(lanes_table(counterexample, limit), 4))
        if more := remainder(counterexample, limit):
            parts.append(indented(Text(f"{style.ellipsis} {more}", style="dim"), 4))
    return Group(*parts)


def expectation(result: ClaimResult) -> str:
    """How the outcome relates to what the spec expects; empty for a proof that was expected."""
    if not result.ok:
        known = "" if result.failing else ", a known failure"
        return f"expected {result.expected.value}{known}"
    return "" if result.expected is Outcome.PROVED else "as expected"


def subject_words(result: ClaimResult, cases: str = "") -> str:
    """The subject, with its case where the spec has several, or with the `cases` of the result."""
    case = cases or ", ".join(f"{visible(name)}={value}" for name, value in result.case.items())
    return visible(result.subject) + (f" [{case}]" if case else "")


def engine_words(result: ClaimResult) -> str:
    """The engines that agreed."""
    return " + ".join(map(visible, result.verdict.engines))


def headline(result: ClaimResult) -> str:
    """One line: the claim, how it came out, what was expected, and in a few words why.

    >>> from swzverify.claims.verdict import Verdict
    >>> verdict = Verdict(Outcome.UNKNOWN, "", reason="out of time")
    >>> headline(ClaimResult("", "a.yaml", 3, "bijective", "A", Outcome.PROVED, verdict))
    'bijective A: unknown, expected proved: out of time'
    """
    verdict = result.verdict
    parts = [f"{visible(result.kind)} {subject_words(result)}", verdict.outcome.value]
    if expected := expectation(result):
        parts[-1] += f", {expected}"
    if verdict.counterexample is not None and verdict.counterexample.note:
        parts.append(prose(verdict.counterexample.note))
    elif verdict.reason:
        parts.append(visible_lines(verdict.reason)[0])
    return ": ".join(parts)


def facts(result: ClaimResult) -> list[tuple[str, str]]:
    """What is known of a claim: labels with texts, none empty, all characters visible."""
    verdict = result.verdict
    counterexample = verdict.counterexample
    spent = words.duration(verdict.time_ms)
    known: list[tuple[str, str]] = [
        ("at", f"{visible(result.spec)}:{result.line}"),
        ("because", prose(result.because)),
        ("source", prose(result.source)),
        ("scope", prose(verdict.scope)),
        ("reason", "\n".join(visible_lines(verdict.reason))),
        ("cost", words.cost_of_in_full(verdict)),
        ("engines", f"{engine_words(result)}, {spent}" if verdict.engines else f"none, {spent}"),
        ("evidence", visible(verdict.evidence)),
        *(("note", "\n".join(visible_lines(note))) for note in verdict.notes),
    ]
    if counterexample is not None:
        found = "" if counterexample.note == verdict.reason else prose(counterexample.note)
        known += [("found", found), ("where", words.binding(counterexample.binding))]
    known += [("decides", prose(each.text)) for each in result.deciding]
    known += [("cure", prose(each.text)) for each in result.cures]
    return [(label, text) for label, text in known if text]


def _facts(result: ClaimResult) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, text in facts(result):
        grid.add_row(Text(label), Text(text))
    return grid

"""Problems of spec files and of the command line as text: place, source line, caret, next step."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.text import Text

from swzverify.errors import Problem, window
from swzverify.report.console import indented, rendered
from swzverify.report.escape import visible, visible_lines
from swzverify.report.style import TextStyle


def render_problems(problems: Sequence[Problem], style: TextStyle) -> str:
    """Each problem as `file:line:column: code sentence`, the line with a caret, and the next step.

    >>> print(render_problems([Problem("SWZ501", "no such file", file="a.swz.yaml")], TextStyle()), end="")
    a.swz.yaml: SWZ501 no such file
    """
    return rendered([_problem(problem) for problem in problems], style)


def _problem(problem: Problem) -> RenderableType:
    place = visible(problem.file)
    if place and problem.line:
        place += f":{problem.line}:{problem.column}"
    message, *more = visible_lines(problem.message)
    head = Text(f"{place}: " if place else "", overflow="fold")
    head.append(visible(problem.code), style="bold red")
    head.append(f" {message}", style="bold")
    parts: list[RenderableType] = [head]
    parts += [Text(f"  {line}", no_wrap=True, overflow="ignore") for line in more]
    if problem.line and problem.source_line.strip():
        parts.append(_source_line(problem))
    if problem.hint:
        parts += [indented(Text(line, style="cyan", overflow="fold"), 2) for line in visible_lines(problem.hint)]
    return Group(*parts)


def _source_line(problem: Problem) -> Text:
    """The source line over its carets; a tab counts as one blank, so that both lines agree."""
    source, start = window(problem.source_line.rstrip("\r\n").replace("\t", " "), max(0, problem.column - 1))
    marked = source[start : start + max(1, problem.caret_length)]
    gap = " " * cell_len(visible(source[:start]))
    text = Text(f"  {visible(source)}\n  {gap}", no_wrap=True, overflow="ignore")
    return text.append("^" * max(1, cell_len(visible(marked))), style="red")

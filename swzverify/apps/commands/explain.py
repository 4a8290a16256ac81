"""`swzverify explain`: why an access takes its wavefronts."""

from __future__ import annotations

import os

from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.numbers import loops_of, named_values
from swzverify.apps.commands.terminal import echo, one_way_out, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.run.explain import ExplainOptions
from swzverify.apps.run.explain import explain as told
from swzverify.explain.explanations.statements import Explained
from swzverify.report.escape import log_lines
from swzverify.report.explain_json import render_explanations_json
from swzverify.report.explain_latex import render_explanations_latex
from swzverify.report.explain_text import render_explanations_text

_SUFFIXES = {".tex": "latex", ".json": "json", ".txt": "text"}


def explain(
    *,
    what: str,
    access: str | None,
    tile: str | None,
    claim: str | None,
    element: str | None,
    coord: str | None,
    instruction: str | None,
    threads: int,
    loops: tuple[str, ...],
    at: tuple[str, ...],
    target: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Tell why an access takes its wavefronts."""
    if output is not None:
        check_output(output, [what], "--output")
    form = form or _SUFFIXES.get(os.path.splitext(output or "")[1].lower(), "text")
    with one_way_out("no explanation"):
        values = named_values(at, "--at", "such as warp=1 or k=16")
        wanted = ExplainOptions(
            tile, access, claim, element, instruction, coord, threads, loops_of(loops), values, target
        )
        _tell(told(what, wanted), form, output)


def _tell(explained: Explained, form: str, output: str | None) -> None:
    if form == "json":
        write_text(render_explanations_json(explained), output)
    elif form == "latex":
        write_text(render_explanations_latex(explained.explanations), output)
    else:
        _tell_text(explained, output)


def _tell_text(explained: Explained, output: str | None) -> None:
    if output is not None:
        write_text(log_lines(render_explanations_text(explained)), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(log_lines(render_explanations_text(explained, style.columns)), style, err=False)

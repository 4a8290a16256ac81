"""`swzverify theorems`: the general theorems, each proved again."""

from __future__ import annotations

import sys
import time
from typing import NoReturn, assert_never

import click

from swzverify.apps.commands.terminal import echo, terminal_style
from swzverify.apps.options.shared import PageFormat
from swzverify.apps.options.theorems import TheoremsOptions
from swzverify.apps.theorems.discover import find_theorems, select_theorems
from swzverify.apps.theorems.listing import Entry, render_json, render_table
from swzverify.apps.theorems.page import render_page
from swzverify.apps.theorems.pool import judge_all
from swzverify.errors import SwzError


def theorems_command(options: TheoremsOptions) -> NoReturn:
    """Prove the theorems again, and list them."""
    entries, wall_ms = _prove(options.names, options.jobs)
    _show(entries, wall_ms, options.form, options.verbose)
    sys.exit(0 if all(entry.ok for entry in entries) else 1)


def _prove(names: tuple[str, ...], jobs: int | None) -> tuple[list[Entry], float]:
    """The chosen theorems with their verdicts, in the list's order, and the milliseconds taken."""
    start = time.perf_counter()
    try:
        chosen = select_theorems(find_theorems(), names)
    except SwzError as error:
        message = f"{error.code} {error.message}"
        raise click.UsageError(f"{message}; {error.hint}" if error.hint else message) from error
    judged = {judgement.name: judgement for judgement in judge_all(chosen, jobs)}
    entries = [Entry(theorem, judged[theorem.name]) for theorem in chosen]
    return entries, (time.perf_counter() - start) * 1000


def _show(entries: list[Entry], wall_ms: float, form: PageFormat, verbose: bool) -> None:
    style = terminal_style(err=False, verbosity=int(verbose))
    match form:
        case PageFormat.TEXT:
            text = render_table(entries, style, wall_ms)
        case PageFormat.JSON:
            text = render_json(entries, wall_ms)
        case PageFormat.MARKDOWN:
            text = render_page(entries)
        case _:
            assert_never(form)
    echo(text, style, err=False)

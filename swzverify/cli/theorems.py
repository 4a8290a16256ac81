"""`swzverify theorems`: the general theorems, each proved again."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, assert_never

import click

from swzverify.cli.terminal import echo, one_way_out, terminal_style

if TYPE_CHECKING:
    from swzverify.theorems.listing import Entry


class Format(StrEnum):
    """What the list can be written as."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


@click.command()
@click.option(
    "-k",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only theorems with this text in their name; may be given again.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    default=Format.TEXT.value,
    show_default=True,
    help="What to write the list as; docs/theorems.md is the markdown.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few theorems]",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every theorem's LaTeX, source and obligations.")
def theorems(*, names: tuple[str, ...], form: str, jobs: int | None, verbose: bool) -> NoReturn:
    """List the general theorems on swizzles, pads and bank conflicts, and prove them all again.

    A published statement that does not hold is listed too, with a counterexample; refuted is what
    is expected of it.

    \b
    Exit codes:
      0  every theorem came out as expected
      1  some did not
      2  an error in the usage
    """
    with one_way_out("no list"):
        entries, wall_ms = _prove(names, jobs)
        _show(entries, wall_ms, Format(form), verbose)
    sys.exit(0 if all(entry.ok for entry in entries) else 1)


def _prove(names: tuple[str, ...], jobs: int | None) -> tuple[list[Entry], float]:
    """The chosen theorems with their verdicts, in the order of the list, and the milliseconds it
    took.
    """
    from swzverify.errors import SwzError  # noqa: PLC0415 - z3 and the proofs take a while; see cli/__init__.py
    from swzverify.theorems.discover import find_theorems, select_theorems  # noqa: PLC0415
    from swzverify.theorems.listing import Entry  # noqa: PLC0415
    from swzverify.theorems.pool import judge_all  # noqa: PLC0415

    start = time.perf_counter()
    try:
        chosen = select_theorems(find_theorems(), names)
    except SwzError as error:
        message = f"{error.code} {error.message}"
        raise click.UsageError(f"{message}; {error.hint}" if error.hint else message) from error
    judged = {judgement.name: judgement for judgement in judge_all(chosen, jobs)}
    entries = [Entry(theorem, judged[theorem.name]) for theorem in chosen]
    return entries, (time.perf_counter() - start) * 1000


def _show(entries: list[Entry], wall_ms: float, form: Format, verbose: bool) -> None:
    from swzverify.theorems.listing import render_json, render_table  # noqa: PLC0415 - see above
    from swzverify.theorems.page import render_page  # noqa: PLC0415

    style = terminal_style(err=False, verbosity=int(verbose))
    match form:
        case Format.TEXT:
            text = render_table(entries, style, wall_ms)
        case Format.JSON:
            text = render_json(entries, wall_ms)
        case Format.MARKDOWN:
            text = render_page(entries)
        case _:
            assert_never(form)
    echo(text, style, err=False)

"""`swzverify show`: pictures of layouts, swizzles, and a spec's tiles and accesses."""

from __future__ import annotations

import re
from typing import Literal, cast

import click

from swzverify.apps.commands.choices import picture_format
from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.numbers import loops_of, named_values
from swzverify.apps.commands.terminal import one_way_out
from swzverify.apps.run.show import ShowOptions
from swzverify.apps.run.show import show as draw
from swzverify.explain.pictures.grid import MAX_ROWS, View

TEXT_ROWS = 32
"""Rows that a terminal is shown unasked."""
_WINDOW = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def show(
    *,
    what: str,
    view: str | None,
    tile: str | None,
    accesses: tuple[str, ...],
    element: str | None,
    coord: str | None,
    instruction: str | None,
    threads: int,
    loops: tuple[str, ...],
    at: tuple[str, ...],
    sweep: str | None,
    numbers: str,
    vector: int | None,
    rows: str | None,
    columns: str | None,
    stage: int,
    base: int | None,
    target: str | None,
    form: str | None,
    output: str | None,
) -> None:
    """Draw a layout, a tile or an access."""
    if output is not None:
        check_output(output, [what], "--output")
    form = form or picture_format(output)
    with one_way_out("no picture"):
        most = TEXT_ROWS if form == "text" else MAX_ROWS
        window = View(vector, _window(rows, "--rows"), _window(columns, "--columns"), stage, base, most)
        wanted = ShowOptions(
            view,
            tile,
            accesses,
            element,
            instruction,
            coord,
            threads,
            loops_of(loops),
            named_values(at, "--at", "such as warp=1 or k=16"),
            target,
            cast("Literal['both', 'offset', 'bank']", numbers),
            sweep,
            window,
        )
        tell_picture(draw(what, wanted), form, output)


def _window(text: str | None, option: str) -> tuple[int, int] | None:
    if text is None:
        return None
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"{text!r}: from and to, such as 0:32", param_hint=option)
    return int(found[1]), int(found[2])

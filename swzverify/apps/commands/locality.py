"""`swzverify locality`: which tiles the blocks of a grid need together, wave by wave."""

from __future__ import annotations

import click

from swzverify.apps.commands.choices import picture_format
from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.numbers import named_values
from swzverify.apps.commands.terminal import one_way_out, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.run.locality import Counted, LocalityOptions, count_locality
from swzverify.explain.pictures.views.waves import waves
from swzverify.report.locality import locality_json, render_locality
from swzverify.report.style import TextStyle


def locality(
    *,
    spec: str,
    maps: tuple[str, ...],
    wave: int,
    at: tuple[str, ...],
    picture: bool,
    form: str | None,
    output: str | None,
) -> None:
    """Count the tiles that each wave of blocks needs, and tell or draw them."""
    if output is not None:
        check_output(output, [spec], "--output")
    if picture and form not in (None, "text"):
        raise click.UsageError("--picture draws as text; --format has a form of its own")
    form = form or ("json" if (output or "").lower().endswith(".json") else picture_format(output))
    values = named_values(at, "--at", "such as GROUP=8")
    with one_way_out("nothing counted"):
        _tell(count_locality(spec, LocalityOptions(maps, wave, values)), form, picture, output)


def _tell(found: Counted, form: str, picture: bool, output: str | None) -> None:
    if form == "json":
        write_text(locality_json(found.path, found.orders, found.words), output)
    elif form != "text" or picture:
        tell_picture(waves(found.orders, found.words), form, output)
    else:
        style = TextStyle() if output is not None else terminal_style(err=False, verbosity=0)
        write_text(render_locality(found.path, found.orders, found.words, style), output)

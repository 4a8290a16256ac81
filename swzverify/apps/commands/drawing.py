"""A picture on its way out: to the terminal, or to a file in the format that its name says."""

from __future__ import annotations

import os

from swzverify.apps.commands.terminal import echo, terminal_style
from swzverify.apps.commands.writing import write_bytes, write_text
from swzverify.explain.pictures import Picture
from swzverify.explain.pictures.html import render_html
from swzverify.explain.pictures.latex import render_latex
from swzverify.explain.pictures.png import render_png
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.text import Depth, TextLook, render_text
from swzverify.report.escape import log_lines
from swzverify.report.picture_json import render_picture_json
from swzverify.report.style import TextStyle


def tell_picture(picture: Picture, form: str, output: str | None) -> None:
    """Draw the picture in a format, to a file or to standard output.

    Raises:
        SwzError: SWZ582 if no PNG can be made.
    """
    if form == "svg":
        write_text(render_svg(picture), output)
    elif form == "html":
        write_text(render_html(picture), output)
    elif form == "latex":
        write_text(render_latex(picture), output)
    elif form == "json":
        write_text(render_picture_json(picture), output)
    elif form == "png":
        write_bytes(render_png(picture), output)
    else:
        _tell_text(picture, output)


def _tell_text(picture: Picture, output: str | None) -> None:
    if output is not None:
        write_text(log_lines(render_text(picture)), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(log_lines(render_text(picture, TextLook(style.columns, _depth(style)))), style, err=False)


def _depth(style: TextStyle) -> Depth:
    """The colours that a terminal has: fewer than 256 are none, since pictures need steps."""
    if not style.colour:
        return "plain"
    if os.environ.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return "truecolor"
    return "256" if "256" in os.environ.get("TERM", "") or os.environ.get("FORCE_COLOR") else "plain"

"""A picture on its way out: to the terminal, or to a file in the format that its name says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from swzverify.cli.terminal import echo, terminal_style
from swzverify.cli.writing import write_bytes, write_text

if TYPE_CHECKING:
    from swzverify.pictures import Picture
    from swzverify.pictures.text import Depth
    from swzverify.report.style import TextStyle

FORMATS = ("text", "svg", "html", "latex", "png")
SUFFIXES = {".svg": "svg", ".html": "html", ".htm": "html", ".tex": "latex", ".png": "png", ".txt": "text"}
"""The formats by the end of a file's name."""


def format_of(file: str | None) -> str:
    """The format that a file's name says; text for any other name, and for none.

    >>> format_of("a.svg"), format_of("a.txt"), format_of(None)
    ('svg', 'text', 'text')
    """
    return SUFFIXES.get(os.path.splitext(file or "")[1].lower(), "text")


def tell_picture(picture: Picture, form: str, output: str | None) -> None:
    """Draw the picture in a format, to a file or to standard output. Errors: SWZ582 no PNG here."""
    if form == "svg":
        from swzverify.pictures.svg import render_svg  # noqa: PLC0415

        write_text(render_svg(picture), output)
    elif form == "html":
        from swzverify.pictures.html import render_html  # noqa: PLC0415

        write_text(render_html(picture), output)
    elif form == "latex":
        from swzverify.pictures.latex import render_latex  # noqa: PLC0415

        write_text(render_latex(picture), output)
    elif form == "png":
        from swzverify.pictures.png import render_png  # noqa: PLC0415

        write_bytes(render_png(picture), output)
    else:
        _tell_text(picture, output)


def _tell_text(picture: Picture, output: str | None) -> None:
    from swzverify.pictures.text import TextLook, render_text  # noqa: PLC0415
    from swzverify.report.escape import log_lines  # noqa: PLC0415

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

"""`swzverify show`: pictures of layouts, swizzles, and a spec's tiles and accesses."""

from __future__ import annotations

from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.options.choices import picture_format
from swzverify.apps.options.show import ShowOptions
from swzverify.apps.run.show import show
from swzverify.explain.pictures.grid import MAX_ROWS

TEXT_ROWS = 32
"""Rows that a terminal is shown unasked."""


def show_command(options: ShowOptions) -> None:
    """Draw a layout, a tile or an access."""
    check_output(options.output, [options.what], "--output")
    form = options.form or picture_format(options.output)
    tell_picture(show(options, TEXT_ROWS if form == "text" else MAX_ROWS), form, options.output)

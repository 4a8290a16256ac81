"""`swzverify explore`: a page on which a layout is changed and proved anew."""

from __future__ import annotations

import click

from swzverify.apps.commands.terminal import say
from swzverify.apps.explorer.server import serve
from swzverify.apps.options.explore import ExploreOptions


def explore_command(options: ExploreOptions) -> None:
    """Serve the page until Ctrl-C, and say its link."""
    serve(options.host, options.port, lambda link: _ready(link, opens=options.opens))


def _ready(link: str, *, opens: bool) -> None:
    say(f"{link} (Ctrl-C ends it)\n")
    if opens:
        click.launch(link)

"""`swzverify explore`: a page on which a layout is changed and proved anew."""

from __future__ import annotations

import click

from swzverify.apps.commands.terminal import one_way_out, say
from swzverify.apps.explorer.server import serve


def explore(*, port: int, host: str, opens: bool) -> None:
    """Serve the page until Ctrl-C, and say its link."""
    with one_way_out("no page"):
        serve(host, port, lambda link: _ready(link, opens=opens))


def _ready(link: str, *, opens: bool) -> None:
    say(f"{link} (Ctrl-C ends it)\n")
    if opens:
        click.launch(link)

"""`swzverify explore`: a page on which a layout is changed and proved anew."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="The port; 0: a free one.",
)
@click.option(
    "--host",
    type=click.Choice(["127.0.0.1", "::1"]),
    default="127.0.0.1",
    show_default=True,
    help="The loopback address.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def explore(**given: object) -> None:
    """Serve a page on which a layout and an access to it are changed in a browser.

    Shape, element, swizzle, pad, instruction, thread map and target can be changed; verdict,
    wavefronts, pictures and explanation follow. The page keeps its state in its link, and copies it
    as a spec, as CuTe C++ and as CUDA. It is served to this machine alone, until Ctrl-C. It needs
    Flask, which comes with the extra `explore`.

    \b
    swzverify explore
    swzverify explore --port 0 --open
    """
    run("explore", given)

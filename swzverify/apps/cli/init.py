"""`swzverify init`: a commented spec to start from."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.values import Text

DEFAULT_FILE = "tile.swz.yaml"


@click.command()
@click.argument("file", metavar="[FILE]", default=DEFAULT_FILE)
@click.option(
    "--element", type=Text("element"), default="f16", show_default=True, help="Type of an element.", metavar="TYPE"
)
@click.option("--tile", default="64x64", show_default=True, help="Rows and elements of a row.", metavar="RxC")
@click.option(
    "--instruction",
    default="ldmatrix.x4",
    show_default=True,
    metavar="NAME",
    help="What reads or writes the tile, by its PTX name.",
)
@click.option(
    "--swizzle",
    type=Text("swizzle"),
    metavar="WHICH",
    help="auto, none, or Swizzle<B,M,S> on element offsets.  [default: auto]",
)
@click.option("--pad", type=click.IntRange(min=1), metavar="N", help="Pad each row by N elements instead.")
@click.option("--target", default="sm_90", show_default=True, metavar="NAME", help="The GPU.")
@click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Threads of the block.  [default: 128, or fewer]"
)
@click.option(
    "--stages", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Copies of the tile."
)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def init(**given: object) -> None:
    """Write a commented spec to start from: a tile, what writes and reads it, and what is claimed.

    FILE is tile.swz.yaml where none is given; - is standard output. Every claim is proved first:
    one that fails is written down as `expect: refuted`, with the reason. `--swizzle auto` takes the
    swizzle that frees columns of bank conflicts by a theorem (docs/theorems.md, universal-mended).

    \b
    Exit codes:
      0  written
      2  not written: an error in the options, or the file exists
    """
    run("init", given)

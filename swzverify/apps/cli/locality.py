"""`swzverify locality`: which tiles the blocks of a grid need together, wave by wave."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import PICTURE_FORMATS


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--map", "maps", multiple=True, metavar="NAME", help="An order of the spec; several are compared.  [default: all]"
)
@click.option(
    "--wave", type=click.IntRange(min=1), default=132, show_default=True, metavar="N", help="Blocks that run at a time."
)
@click.option("--at", multiple=True, metavar="NAME=N", help="The value of a constant that has several.")
@click.option("--picture", is_flag=True, help="Draw the grid with the wave of each tile, as text.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", *PICTURE_FORMATS]),
    help="[default: by the file's name, else text]; svg, html, latex and png are pictures.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def locality(**given: object) -> None:
    """Count the tiles of A and B that each wave of blocks needs.

    SPEC is a spec with maps from blocks to tiles: value is [row, column] of the tile. A block reads
    one row of tiles of A and one column of tiles of B; the fewer different ones a wave needs, the
    more of them are shared through the L2 cache. The first variable of a map runs fastest, as
    blockIdx.x does. Blocks outside of `onto` have no tile.

    \b
    swzverify locality orders.swz.yaml --map row_major --map grouped --wave 132
    swzverify locality orders.swz.yaml --map grouped -o grouped.svg
    """
    run("locality", given)

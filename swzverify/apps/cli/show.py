"""`swzverify show`: pictures of layouts, swizzles, and a spec's tiles and accesses."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.layout_options import layout_options
from swzverify.apps.cli.values import Text
from swzverify.apps.commands.choices import PICTURE_FORMATS, VIEWS


@click.command()
@click.argument("what", metavar="LAYOUT|FILE")
@click.option("--view", type=click.Choice(VIEWS), help="What is drawn.  [default: logical; of an access groups]")
@click.option("--tile", metavar="NAME", help="A tile of the spec.  [default: the only one]")
@click.option(
    "--access", "accesses", multiple=True, metavar="NAME", help="An access of the spec; a sweep takes several."
)
@layout_options
@click.option(
    "--sweep", metavar="B,S|pad", help="Worst-case wavefronts under every swizzle, or every pad; also B,S,M=3."
)
@click.option(
    "--numbers",
    type=click.Choice(["both", "offset", "bank"]),
    default="both",
    show_default=True,
    help="What cells of the views logical and swizzle say.",
)
@click.option(
    "--vector", type=click.IntRange(min=1), metavar="N", help="Elements per cell.  [default: what lies side by side]"
)
@click.option("--rows", metavar="FROM:TO", help="Rows of elements to draw; of the view physical rows of 128 bytes.")
@click.option("--columns", metavar="FROM:TO", help="Columns of elements to draw.")
@click.option("--stage", type=click.IntRange(min=0), default=0, metavar="N", help="The stage to draw of a tile.")
@click.option(
    "--base", type=click.IntRange(min=0), metavar="BYTES", help="The tile's base address.  [default: its first one]"
)
@click.option("--target", metavar="NAME", type=Text("target"), help="The GPU.  [default: the spec's, else sm_90]")
@click.option("--format", "form", type=click.Choice(PICTURE_FORMATS), help="[default: by the file's name, else text]")
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def show(**given: object) -> None:
    """Draw a layout, a swizzle, or a tile or access of a spec.

    LAYOUT is what CuTe prints, such as 'Sw<3,3,3> o (8,64):(64,1)', or a swizzle alone; FILE is a
    spec. Views of a tile: logical (offset and bank of each element), physical (what lies in each
    row of 128 bytes), swizzle (before and after). Views of an access: groups (which lanes need
    which words of a bank, group by group), ownership (threads and their values), swizzle.
    Each picture says the wavefronts.

    \b
    swzverify show 'Sw<3,3,3> o (8,64):(64,1)' --element f16
    swzverify show '(32,32):(32,1)' --coord lane,0
    swzverify show kernel.swz.yaml --access read_A -o read_A.svg
    swzverify show '(32,16):(16,1)' --coord lane,0 --sweep B,S
    """
    run("show", given)

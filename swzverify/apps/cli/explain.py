"""`swzverify explain`: why an access takes its wavefronts."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.layout_options import layout_options
from swzverify.apps.cli.values import Text


@click.command()
@click.argument("what", metavar="LAYOUT|FILE")
@click.option("--access", metavar="NAME", help="An access of the spec.  [default: the only one]")
@click.option("--tile", metavar="NAME", help="A tile of the spec.")
@click.option("--claim", metavar="ID", help="A claim of the spec, such as read_A::conflict_free.")
@layout_options
@click.option("--target", metavar="NAME", type=Text("target"), help="The GPU.  [default: the spec's, else sm_90]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "latex", "json"]),
    help="[default: by the file's name, else text]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def explain(**given: object) -> None:
    """Explain why an access takes its wavefronts, and what other parameters would do.

    LAYOUT is what CuTe prints, such as 'Sw<3,3,3> o (8,64):(64,1)', or a swizzle alone; FILE is a
    spec. Told are the costs, the rank of the map from lanes to banks, the lanes that collide, each
    bit of the bank as a formula, the bits and the period of the swizzle, the steps of padded rows,
    and the wavefronts with another B, M or S, or with a pad. Nothing is proved.

    \b
    swzverify explain '(32,32):(32,1)' --coord lane,0
    swzverify explain kernel.swz.yaml --access read_A
    swzverify explain kernel.swz.yaml --claim read_A::conflict_free --format json
    """
    run("explain", given)

"""`swzverify show`: pictures of layouts, swizzles, and a spec's tiles and accesses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, cast

import click

from swzverify.cli.drawing import FORMATS, format_of, tell_picture
from swzverify.cli.files import check_output
from swzverify.cli.layout_options import layout_options, loops_of
from swzverify.cli.numbers import named_values
from swzverify.cli.terminal import Failure, one_way_out
from swzverify.cli.values import Text, targets

if TYPE_CHECKING:
    from swzverify.pictures import Picture
    from swzverify.run.show import ShowOptions

VIEWS = ("logical", "physical", "ownership", "groups", "swizzle")
"""The views; listed here, and checked against `run/show.py` by a test."""
TEXT_ROWS = 32
"""Rows that a terminal is shown unasked."""
_WINDOW = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


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
@click.option("--target", metavar="NAME", type=Text(targets), help="The GPU.  [default: the spec's, else sm_90]")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="[default: by the file's name, else text]",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def show(
    *,
    what: str,
    view: str | None,
    tile: str | None,
    accesses: tuple[str, ...],
    element: str | None,
    coord: str | None,
    instruction: str | None,
    threads: int,
    loops: tuple[str, ...],
    at: tuple[str, ...],
    sweep: str | None,
    numbers: str,
    vector: int | None,
    rows: str | None,
    columns: str | None,
    stage: int,
    base: int | None,
    target: str | None,
    form: str | None,
    output: str | None,
) -> None:
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
    if output is not None:
        check_output(output, [what], "--output")
    form = form or format_of(output)
    with one_way_out("no picture"):
        from swzverify.pictures.grid import MAX_ROWS, View  # noqa: PLC0415 - `--help` is to be quick
        from swzverify.run.show import ShowOptions  # noqa: PLC0415

        most = TEXT_ROWS if form == "text" else MAX_ROWS
        window = View(vector, _window(rows, "--rows"), _window(columns, "--columns"), stage, base, most)
        wanted = ShowOptions(
            view,
            tile,
            accesses,
            element,
            instruction,
            coord,
            threads,
            loops_of(loops),
            named_values(at, "--at", "such as warp=1 or k=16"),
            target,
            cast("Literal['both', 'offset', 'bank']", numbers),
            sweep,
            window,
        )
        tell_picture(_picture(what, wanted), form, output)


def _picture(what: str, wanted: ShowOptions) -> Picture:
    from swzverify.run.show import show as draw  # noqa: PLC0415
    from swzverify.spec import SpecError  # noqa: PLC0415

    try:
        return draw(what, wanted)
    except SpecError as error:
        raise Failure(str(error)) from error


def _window(text: str | None, option: str) -> tuple[int, int] | None:
    if text is None:
        return None
    found = _WINDOW.fullmatch(text)
    if found is None:
        raise click.BadParameter(f"{text!r}: from and to, such as 0:32", param_hint=option)
    return int(found[1]), int(found[2])

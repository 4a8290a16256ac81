"""`swzverify locality`: which tiles the blocks of a grid need together, wave by wave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from swzverify.cli.drawing import FORMATS, format_of, tell_picture
from swzverify.cli.files import check_output
from swzverify.cli.numbers import named_values
from swzverify.cli.terminal import Failure, one_way_out, terminal_style
from swzverify.cli.writing import write_text

if TYPE_CHECKING:
    from swzverify.run.locality import Counted, LocalityOptions


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
    type=click.Choice(["json", *FORMATS]),
    help="[default: by the file's name, else text]; svg, html, latex and png are pictures.",
)
@click.option("-o", "--output", metavar="FILE", help="Write to a file instead of standard output.")
def locality(
    *,
    spec: str,
    maps: tuple[str, ...],
    wave: int,
    at: tuple[str, ...],
    picture: bool,
    form: str | None,
    output: str | None,
) -> None:
    """Count the tiles of A and B that each wave of blocks needs.

    SPEC is a spec with maps from blocks to tiles: value is [row, column] of the tile. A block reads
    one row of tiles of A and one column of tiles of B; the fewer different ones a wave needs, the
    more of them are shared through the L2 cache. The first variable of a map runs fastest, as
    blockIdx.x does. Blocks outside of `onto` have no tile.

    \b
    swzverify locality orders.swz.yaml --map row_major --map grouped --wave 132
    swzverify locality orders.swz.yaml --map grouped -o grouped.svg
    """
    if output is not None:
        check_output(output, [spec], "--output")
    if picture and form not in (None, "text"):
        raise click.UsageError("--picture draws as text; --format has a form of its own")
    form = form or ("json" if (output or "").lower().endswith(".json") else format_of(output))
    values = named_values(at, "--at", "such as GROUP=8")
    with one_way_out("nothing counted"):
        from swzverify.run.locality import LocalityOptions  # noqa: PLC0415 - `--help` is to be quick

        _tell(_counted(spec, LocalityOptions(maps, wave, values)), form, picture, output)


def _counted(spec: str, wanted: LocalityOptions) -> Counted:
    from swzverify.run.locality import count_locality  # noqa: PLC0415
    from swzverify.spec import SpecError  # noqa: PLC0415

    try:
        return count_locality(spec, wanted)
    except SpecError as error:
        raise Failure(str(error)) from error


def _tell(found: Counted, form: str, picture: bool, output: str | None) -> None:
    from swzverify.report.locality import locality_json, render_locality  # noqa: PLC0415 - `--help` is to be quick

    if form == "json":
        write_text(locality_json(found.path, found.orders, found.words), output)
    elif form != "text" or picture:
        from swzverify.pictures.views.waves import waves  # noqa: PLC0415

        tell_picture(waves(found.orders, found.words), form, output)
    else:
        from swzverify.report.style import TextStyle  # noqa: PLC0415

        style = TextStyle() if output is not None else terminal_style(err=False, verbosity=0)
        write_text(render_locality(found.path, found.orders, found.words, style), output)

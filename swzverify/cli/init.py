"""`swzverify init`: a commented spec to start from."""

from __future__ import annotations

import click

from swzverify.cli.terminal import one_way_out
from swzverify.cli.values import Text, elements, swizzles
from swzverify.cli.writing import write_text

DEFAULT_FILE = "tile.swz.yaml"
SUFFIX = ".swz.yaml"


@click.command()
@click.argument("file", metavar="[FILE]", default=DEFAULT_FILE)
@click.option(
    "--element", type=Text(elements), default="f16", show_default=True, help="Type of an element.", metavar="TYPE"
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
    type=Text(swizzles),
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
def init(
    *,
    file: str,
    element: str,
    tile: str,
    instruction: str,
    swizzle: str | None,
    pad: int | None,
    target: str,
    threads: int | None,
    stages: int,
    force: bool,
) -> None:
    """Write a commented spec to start from: a tile, what writes and reads it, and what is claimed.

    FILE is tile.swz.yaml where none is given; - is standard output. Every claim is proved first:
    one that fails is written down as `expect: refuted`, with the reason. `--swizzle auto` takes the
    swizzle that frees columns of bank conflicts by a theorem (docs/theorems.md, universal-mended).

    \b
    Exit codes:
      0  written
      2  not written: an error in the options, or the file exists
    """
    if pad is not None and swizzle is not None:
        raise click.UsageError("--pad and --swizzle cannot be used together")

    with one_way_out("nothing written"):
        from swzverify.run.starter import make_starter  # noqa: PLC0415 - likewise
        from swzverify.spec.starter import StarterOptions, parse_tile  # noqa: PLC0415

        rows, columns = parse_tile(tile)
        starter = make_starter(
            StarterOptions(
                element, rows, columns, instruction, swizzle or "auto", pad or 0, target, threads=threads, stages=stages
            )
        )
    write_text(starter.text, None if file == "-" else file, overwrite=force)
    failing = [
        f"{count} {word}" for count, word in ((starter.refuted, "refuted"), (starter.unknown, "unknown")) if count
    ]
    told = ", ".join([f"{starter.proved} claims proved", *failing])
    click.echo(
        f"{'standard output' if file == '-' else file}: {told}; the file says why" if failing else f"{file}: {told}",
        err=True,
    )
    if file != "-":
        click.echo(f"now: swzverify prove {file}", err=True)
        if not file.endswith(SUFFIX):
            click.echo(f"note: `swzverify prove FOLDER` finds only files named *{SUFFIX}", err=True)

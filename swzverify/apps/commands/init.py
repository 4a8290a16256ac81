"""`swzverify init`: a commented spec to start from."""

from __future__ import annotations

import click

from swzverify.apps.commands.terminal import one_way_out
from swzverify.apps.commands.writing import write_text
from swzverify.apps.run.starter import make_starter
from swzverify.spec.starter import StarterOptions, parse_tile

SUFFIX = ".swz.yaml"


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
    """Write a spec to start from, whose claims are proved."""
    if pad is not None and swizzle is not None:
        raise click.UsageError("--pad and --swizzle cannot be used together")
    with one_way_out("nothing written"):
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

"""`swzverify synth`: the best layout of a tile in a family, or of a listing's code, proved."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Literal, NoReturn, cast

import click

from swzverify.apps.commands.choices import OF_LISTINGS
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import Failure, echo, one_way_out, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.run.synth import SynthOptions, synthesize
from swzverify.apps.run.synth_listing import synthesize_listing
from swzverify.report.escape import visible
from swzverify.report.style import TextStyle
from swzverify.report.synth import render_synth
from swzverify.report.synth_json import render_synth_json
from swzverify.report.synth_listing import render_listing, render_listing_json
from swzverify.report.synth_listing_result import ListingResult
from swzverify.report.synth_result import SynthResult


class ExitCode(IntEnum):
    """The exit codes of `swzverify synth`."""

    FREE = 0
    CONFLICTS = 1
    BROKEN = 2
    NOT_PROVED = 3


def synth(
    *,
    spec: str,
    family: str,
    tile: str | None,
    listing: str | None,
    on: str | None,
    weights: tuple[str, ...],
    smem_bytes: int | None,
    blocks_per_sm: int | None,
    keep_aligned: int | None,
    stages: int | None,
    every: bool,
    target: str | None,
    form: str,
    output: str | None,
    write: bool,
    rlimit: int | None,
) -> NoReturn:
    """Find the best layout or code of a family, tell it, and write it where that is asked for."""
    if output is not None:
        check_output(output, [spec], "--output")
    if keep_aligned is not None and keep_aligned & (keep_aligned - 1):
        raise click.BadParameter(f"{keep_aligned} is no power of two", param_hint="--keep-aligned")
    if family in OF_LISTINGS or listing is not None:
        of_tiles = (tile, on, weights or None, smem_bytes, blocks_per_sm, keep_aligned, stages, every or None, target)
        _check_listing(family, any(each is not None for each in of_tiles) or write)
        with one_way_out("no answer"):
            found = synthesize_listing(spec, listing, family, rlimit)
            write_text(render_listing_json(found) if form == "json" else render_listing(found), output)
        sys.exit(int(_listing_code(found)))
    with one_way_out("no answer"):
        wanted = SynthOptions(
            family,
            tile,
            cast("Literal['offset', 'address'] | None", on),
            _weights(weights),
            smem_bytes,
            blocks_per_sm,
            keep_aligned or 1,
            stages,
            every,
            target,
            rlimit,
        )
        result = synthesize(spec, wanted)
        _tell(result, form, output)
        if write:
            _write(result)
    sys.exit(int(_exit_code(result)))


def _check_listing(family: str, has_others: bool) -> None:
    if family not in OF_LISTINGS:
        raise click.BadParameter(f"{family} is no family of listings: {', '.join(OF_LISTINGS)}", param_hint="--family")
    if has_others:
        raise click.UsageError(f"--family {family} goes with --listing, --format, --output and --rlimit only")


def _listing_code(found: ListingResult) -> ExitCode:
    if not found.confirmed or not found.found.is_least:
        return ExitCode.NOT_PROVED
    return ExitCode.CONFLICTS if found.found.price.conflicts else ExitCode.FREE


def _weights(given: tuple[str, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in given:
        name, sign, number = each.partition("=")
        if not sign or not number.isascii() or not number.isdigit() or len(number) > 6:
            raise click.BadParameter(f"{each!r}: an access and a number, such as read_A=4", param_hint="--weight")
        if name in found:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="--weight")
        found[name] = int(number)
    return found


def _tell(result: SynthResult, form: str, output: str | None) -> None:
    if form == "json":
        write_text(render_synth_json(result), output)
        return
    if output is not None:
        write_text(render_synth(result, TextStyle()), output)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(render_synth(result, style), style, err=False)


def _write(result: SynthResult) -> None:
    if result.not_patched:
        raise Failure(f"SWZ565 {result.path} is as it was: {result.not_patched}")
    if not result.confirmed:
        raise Failure(f"SWZ565 {result.path} is as it was: the answer was not proved")
    if result.spec_text != result.before:
        with open(result.path, "rb") as file:
            ends = "\r\n" if b"\r\n" in file.read() else "\n"
        write_text(result.spec_text.replace("\n", ends), result.path)
    done = "written" if result.spec_text != result.before else "as it was: it has this layout already"
    click.echo(f"{visible(result.path)}: {done}; now: swzverify prove {visible(result.path)}", err=True)


def _exit_code(result: SynthResult) -> ExitCode:
    if not result.confirmed or not result.solution.optimal:
        return ExitCode.NOT_PROVED
    return ExitCode.FREE if result.free else ExitCode.CONFLICTS

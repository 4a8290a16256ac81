"""`swzverify synth`: the best layout of a tile in a family, or of a listing's code, proved."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import Failure, echo, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.choices import OF_LISTINGS
from swzverify.apps.options.declare import asked
from swzverify.apps.options.synth import SynthOptions
from swzverify.apps.run.synth import synthesize
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


def synth_command(options: SynthOptions) -> NoReturn:
    """Find the best layout or code of a family, tell it, and write it where that is asked for."""
    check_output(options.output, [options.spec], "--output")
    if options.keep_aligned is not None and options.keep_aligned & (options.keep_aligned - 1):
        raise click.BadParameter(f"{options.keep_aligned} is no power of two", param_hint="--keep-aligned")
    if options.family in OF_LISTINGS or options.listing is not None:
        _check_listing(options)
        found = synthesize_listing(options.spec, options.listing, options.family, options.rlimit)
        write_text(render_listing_json(found) if options.form == "json" else render_listing(found), options.output)
        sys.exit(int(_listing_code(found)))
    result = synthesize(options)
    _tell(result, options.form, options.output)
    if options.write:
        _write(result)
    sys.exit(int(_exit_code(result)))


def _check_listing(options: SynthOptions) -> None:
    if options.family not in OF_LISTINGS:
        message = f"{options.family} is no family of listings: {', '.join(OF_LISTINGS)}"
        raise click.BadParameter(message, param_hint="--family")
    if asked(options).keys() - {"--family", "--listing", "--format", "--output", "--rlimit"}:
        message = f"--family {options.family} goes with --listing, --format, --output and --rlimit only"
        raise click.UsageError(message)


def _listing_code(found: ListingResult) -> ExitCode:
    if not found.confirmed or not found.found.is_least:
        return ExitCode.NOT_PROVED
    return ExitCode.CONFLICTS if found.found.price.conflicts else ExitCode.FREE


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

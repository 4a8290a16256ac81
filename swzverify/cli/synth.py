"""`swzverify synth`: the best layout of a tile in a family, or of a listing's code, proved."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, NoReturn, cast

import click

from swzverify.cli.files import check_output
from swzverify.cli.terminal import Failure, echo, one_way_out, terminal_style
from swzverify.cli.values import Text, targets
from swzverify.cli.writing import write_text

if TYPE_CHECKING:
    from swzverify.report.synth_listing_result import ListingResult
    from swzverify.report.synth_result import SynthResult

FAMILIES = ("swizzle", "tma", "pad", "pad+swizzle", "xor")
"""The families; listed here, and checked against `synth` by a test."""


OF_LISTINGS = ("reuse", "order", "registers")
"""The families of listings, checked in the same way."""


class ExitCode(IntEnum):
    """The exit codes of `swzverify synth`."""

    FREE = 0
    CONFLICTS = 1
    BROKEN = 2
    NOT_PROVED = 3


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--family",
    type=click.Choice([*FAMILIES, *OF_LISTINGS]),
    default="swizzle",
    show_default=True,
    help="What may be chosen: a swizzle, a TMA mode, a pad, both, or any XOR of address bits; of a listing its reuse "
    "marks, its order or its registers.",
)
@click.option("--tile", metavar="NAME", help="The tile.  [default: the only one that is accessed]")
@click.option("--listing", metavar="NAME", help="The listing, for its families.  [default: the only one]")
@click.option(
    "--on",
    type=click.Choice(["offset", "address"]),
    help="What a swizzle acts on: element offsets, or byte addresses.  [default: as the spec has it, else offset]",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="ACCESS=N",
    help="Count an access's wavefronts N times, in place of its `weight:` in the spec; may be given again.",
)
@click.option(
    "--smem-bytes", type=click.IntRange(min=1), metavar="N", help="All stages of the tile in N bytes at most."
)
@click.option(
    "--blocks-per-sm", type=click.IntRange(min=1, max=32), metavar="N", help="N blocks at once on a multiprocessor."
)
@click.option(
    "--keep-aligned", type=click.IntRange(min=1), metavar="BYTES", help="Keep vectors of BYTES whole as well."
)
@click.option("--stages", type=click.IntRange(min=1), metavar="N", help="Stages of the tile.  [default: the spec's]")
@click.option("--all", "every", is_flag=True, help="Tell every answer that is as good, and prove each.")
@click.option("--target", metavar="NAME", type=Text(targets), help="The GPU.  [default: the spec's]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to a file instead of standard output.")
@click.option("--write", is_flag=True, help="Write the answer into the spec; its comments stay.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Z3's budget for each query.")
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
    """Find the best layout of a tile for all accesses to it, and prove it.

    SPEC is a spec file. Every member of the family is priced or ruled out, so that none is better
    than the answer: no bank conflicts, else the fewest wavefronts. Where none is free of conflicts,
    the smallest set of accesses is told that cannot be free together, and why. The answer is proved
    as ordinary claims by two engines, and told as a change of the spec, as CuTe C++ and as CUDA.

    The families reuse, order and registers are those of a listing of machine code: the fewest
    register bank conflicts by other reuse marks, another order of the instructions, or other numbers
    of the registers.

    \b
    Exit codes:
      0  the answer has no bank conflict, and that is proved
      1  every layout of the family has bank conflicts; the best one is told
      2  no answer: an error in the spec or in the usage
      3  the answer was not proved by two engines, or not shown to be the best one
    """
    if output is not None:
        check_output(output, [spec], "--output")
    if keep_aligned is not None and keep_aligned & (keep_aligned - 1):
        raise click.BadParameter(f"{keep_aligned} is no power of two", param_hint="--keep-aligned")
    if family in OF_LISTINGS or listing is not None:
        of_tiles = (tile, on, weights or None, smem_bytes, blocks_per_sm, keep_aligned, stages, every or None, target)
        _check_listing(family, any(each is not None for each in of_tiles) or write)
        with one_way_out("no answer"):
            found = _listing_result(spec, listing, family, rlimit)
            _tell_listing(found, form, output)
        sys.exit(int(_listing_code(found)))
    with one_way_out("no answer"):
        result = _result(
            spec,
            family,
            tile,
            on,
            _weights(weights),
            smem_bytes,
            blocks_per_sm,
            keep_aligned,
            stages,
            every,
            target,
            rlimit,
        )
        _tell(result, form, output)
        if write:
            _write(result)
    sys.exit(int(_exit_code(result)))


def _result(
    spec: str,
    family: str,
    tile: str | None,
    on: str | None,
    weights: dict[str, int],
    smem_bytes: int | None,
    blocks_per_sm: int | None,
    keep_aligned: int | None,
    stages: int | None,
    every: bool,
    target: str | None,
    rlimit: int | None,
) -> SynthResult:
    from swzverify.run.synth import SynthOptions, synthesize  # noqa: PLC0415 - `--help` is to be quick
    from swzverify.spec import SpecError  # noqa: PLC0415

    wanted = SynthOptions(
        family,
        tile,
        cast("Literal['offset', 'address'] | None", on),
        weights,
        smem_bytes,
        blocks_per_sm,
        keep_aligned or 1,
        stages,
        every,
        target,
        rlimit,
    )
    try:
        return synthesize(spec, wanted)
    except SpecError as error:
        raise Failure(str(error)) from error


def _check_listing(family: str, has_others: bool) -> None:
    if family not in OF_LISTINGS:
        raise click.BadParameter(f"{family} is no family of listings: {', '.join(OF_LISTINGS)}", param_hint="--family")
    if has_others:
        raise click.UsageError(f"--family {family} goes with --listing, --format, --output and --rlimit only")


def _listing_result(spec: str, listing: str | None, family: str, rlimit: int | None) -> ListingResult:
    from swzverify.run.synth_listing import synthesize_listing  # noqa: PLC0415 - `--help` is to be quick
    from swzverify.spec import SpecError  # noqa: PLC0415

    try:
        return synthesize_listing(spec, listing, family, rlimit)
    except SpecError as error:
        raise Failure(str(error)) from error


def _tell_listing(found: ListingResult, form: str, output: str | None) -> None:
    from swzverify.report.synth_listing import render_listing, render_listing_json  # noqa: PLC0415 - see above

    write_text(render_listing_json(found) if form == "json" else render_listing(found), output)


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
        from swzverify.report.synth_json import render_synth_json  # noqa: PLC0415 - only one of the two is needed

        write_text(render_synth_json(result), output)
        return
    from swzverify.report.style import TextStyle  # noqa: PLC0415
    from swzverify.report.synth import render_synth  # noqa: PLC0415

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
    from swzverify.report.escape import visible  # noqa: PLC0415 - see `synth`

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

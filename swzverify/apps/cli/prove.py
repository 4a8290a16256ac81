"""`swzverify prove`: spec files in, a report and an exit code out."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.reports import format_option, output_option, report_option
from swzverify.apps.commands.open_choice import OpenChoice
from swzverify.claims import KINDS, claim_type
from swzverify.core.outside import Group


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@format_option
@output_option
@report_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few specs]",
)
@click.option(
    "--select",
    type=OpenChoice(list(KINDS), Group.CLAIMS, claim_type),
    multiple=True,
    metavar="KIND",
    help=f"Prove claims of this kind only; may be given again. Kinds: {', '.join(KINDS)}.",
)
@click.option("--target", metavar="NAME", help="Prove for this target instead of the specs' own, such as sm_90.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Budget of a query, in Z3's resource units.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a Z3 query after so long, in a process of its own; its claim is then unknown.",
)
@click.option(
    "--memory-limit",
    "memory_limit_mib",
    type=click.IntRange(min=1),
    metavar="MIB",
    help="Give a Z3 query so much memory, in a process of its own; out of it, its claim is unknown.",
)
@click.option("--certificates", metavar="DIR", help="Write a certificate of every proof, for `swzverify recheck DIR`.")
@click.option(
    "--recording",
    metavar="FILE",
    help="Name the device as evidence of costs that `swzverify crosscheck --record` measured in full.",
)
@click.option(
    "--calibration",
    metavar="FILE",
    help="Name the device as evidence of instructions whose rule `swzverify calibrate --output` found to hold.",
)
@click.option("--baseline", metavar="FILE", help="Accept the known failures in this file; fail on new ones only.")
@click.option(
    "--write-baseline",
    metavar="FILE",
    help="Write what fails now as known failures; the exit code stays what it would be.",
)
@click.option(
    "--write-test",
    metavar="FILE",
    help="Write each new counterexample as a pytest test, which fails until the spec is mended.",
)
@click.option(
    "--allow-no-claims",
    is_flag=True,
    help="Exit with 0 where no claim is found, or none at a path, for files that may hold none.",
)
@click.option("--single-engine", is_flag=True, help="Skip the second engine; the report says so.")
@click.option(
    "--no-cures",
    "--no-suggest",
    "no_cures",
    is_flag=True,
    help="Do not look for changes that would make refuted costs hold.",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell every claim's whole story.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what came out unexpectedly, and the summary.")
def prove(**given: object) -> None:
    """Prove the claims of spec files.

    PATH is a spec file, a folder (every *.swz.yaml below it) or a pattern in quotes, such as
    'specs/**/*.swz.yaml'; - is standard input, which is called <stdin>.

    \b
    Exit codes:
      0  every claim came out as expected
      1  some did not
      2  an error in a spec, in the usage, or in swzverify
      3  nothing was refuted unexpectedly, but something is unknown or vacuous
      5  no claim found, or none at one of the paths, without --allow-no-claims
    """
    run("prove", given)

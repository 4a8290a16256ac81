"""`swzverify recheck`: certificates in, a judgement by other solvers and an exit code out."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import SOLVERS


@click.command()
@click.argument("folder", metavar="DIR")
@click.option(
    "--solver",
    "solvers",
    type=click.Choice(SOLVERS),
    multiple=True,
    help="Who judges; may be given again, then each must agree.  [default: the first one installed]",
)
@click.option("--no-solver", is_flag=True, help="Ask no solver: check hashes, points, counts and witnesses only.")
@click.option("--drat", is_flag=True, help="Have CaDiCaL write a proof of every formula, and drat-trim check it.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0.1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="What one step may take.",
)
@click.option(
    "--memory",
    "memory_mib",
    type=click.IntRange(min=256),
    default=4096,
    show_default=True,
    metavar="MIB",
    help="What one process may hold.",
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use.  [default: one per CPU]")
@click.option("-v", "--verbose", is_flag=True, help="List what was rechecked too.")
def recheck(**given: object) -> None:
    """Prove certificates again, without Z3 and without reading specs or kernels.

    DIR is a folder that `swzverify prove PATH --certificates DIR` wrote, or `swzverify scan`.

    \b
    Exit codes:
      0  all were rechecked
      1  something contradicts a certificate
      2  a certificate is broken, or an error in the usage
      3  nothing contradicts, but something could not be rechecked
    """
    run("recheck", given)

"""`swzverify theorems`: the general theorems, each proved again."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import PageFormat


@click.command()
@click.option(
    "-k",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only theorems with this text in their name; may be given again.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in PageFormat]),
    default=PageFormat.TEXT.value,
    show_default=True,
    help="What to write the list as; docs/theorems.md is the markdown.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few theorems]",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every theorem's LaTeX, source and obligations.")
def theorems(**given: object) -> None:
    """List the general theorems on swizzles, pads and bank conflicts, and prove them all again.

    A published statement that does not hold is listed too, with a counterexample; refuted is what
    is expected of it.

    \b
    Exit codes:
      0  every theorem came out as expected
      1  some did not
      2  an error in the usage
    """
    run("theorems", given)

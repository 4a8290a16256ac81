"""`swzverify diff`: two states of a repository's claims in, what was lost and an exit code out."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import ALLOWED, PageFormat


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@click.option("--path", "paths", multiple=True, metavar="PATH", help="Compare only what is here; may be given again.")
@click.option(
    "--merge-base",
    is_flag=True,
    help="Compare with the commit where HEAD's history left BASE's, as for a pull request.",
)
@click.option(
    "--allow",
    type=click.Choice(ALLOWED),
    multiple=True,
    help="Do not fail for such claims, or for specs of BASE that cannot be read; may be given again.",
)
@click.option("--allow-claim", multiple=True, metavar="ID", help="Let this one claim be lost; may be given again.")
@click.option("--no-prove", is_flag=True, help="Compare what is claimed, and prove nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in PageFormat]),
    default=PageFormat.TEXT.value,
    show_default=True,
    help="What to write the comparison as.",
)
@click.option("--output", metavar="FILE", help="Write the comparison to a file instead of standard output.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use, as for `prove`.")
@click.option("--target", metavar="NAME", help="Compare for this target instead of the specs' own, such as sm_90.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Budget of a query, in Z3's resource units.")
@click.option("-v", "--verbose", is_flag=True, help="List unchanged claims too.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what fails, and the summary.")
def diff(**given: object) -> None:
    """Tell which claims were added, deleted or weakened between BASE and HEAD, and which verdicts
    changed.

    Each is a spec file, a folder, or a git revision such as main, HEAD~1 or v1.2:path. git:NAME is
    a revision whatever file has that name; without HEAD, the working tree is meant.

    \b
    Exit codes:
      0  nothing was lost
      1  a claim was deleted or weakened, or a verdict is no longer as expected
      2  an error in a spec, in the usage, or in swzverify
      5  no claim on either side
    """
    run("diff", given)

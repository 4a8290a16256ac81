"""The command line: one command a file, joined here.

Only click is imported at the top; what proves and renders is imported when a command runs, so that `--help` is quick.
"""

from __future__ import annotations

import click

from swzverify.cli.calibrate import calibrate
from swzverify.cli.completions import completions
from swzverify.cli.crosscheck import crosscheck
from swzverify.cli.diff import diff
from swzverify.cli.init import init
from swzverify.cli.prove import prove
from swzverify.cli.recheck import recheck
from swzverify.cli.schema import schema
from swzverify.cli.theorems import theorems
from swzverify.cli.values import complete_values

__all__ = ["main"]


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from swzverify.run.version import installed_version  # noqa: PLC0415 - see the top

    click.echo(f"swzverify {installed_version()}")
    context.exit()


_version_option = click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@_version_option
def main() -> None:
    """Prove shared-memory layouts of GPU kernels right: one to one, aligned, free of bank conflicts."""


main.add_command(prove)
main.add_command(crosscheck)
main.add_command(diff)
main.add_command(calibrate)
main.add_command(recheck)
main.add_command(theorems)
main.add_command(init)
main.add_command(schema)
main.add_command(completions)
complete_values(main)

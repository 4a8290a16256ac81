"""The command line: one command per file, of the command's name, imported when it is asked for.

A file declares a command's arguments, options and help. What the command does is the function of
the same name in `swzverify/apps/commands/`, which `body.py` imports when the command runs, so that `--help`
is quick.
"""

from __future__ import annotations

from importlib import import_module

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.values import complete_values

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    "calibrate",
    "completions",
    "crosscheck",
    "diff",
    "explain",
    "explore",
    "init",
    "locality",
    "prove",
    "recheck",
    "scan",
    "schema",
    "show",
    "sweep",
    "synth",
    "theorems",
)
"""The commands, in the order in which the help lists them."""


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    run("version", {})
    context.exit()


class _Commands(click.Group):
    """Imports a command when it is asked for, whose file and function have its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            command: click.Command = getattr(import_module(f"swzverify.apps.cli.{cmd_name}"), cmd_name)
            complete_values(command)
            self.add_command(command)
        return self.commands.get(cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Prove shared-memory layouts of GPU kernels right: one to one, aligned, free of bank
    conflicts.
    """

"""The command line: the registry of the commands.

The command NAME has its options in `options/NAME.py` and its work in `commands/NAME.py`. Both are imported at their
first use: the options for the help and for completion, the work when the command runs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click

from swzverify.apps.options.declare import Options, command

__all__ = ["COMMANDS", "main", "options_of", "work_of"]

COMMANDS = (
    "calibrate", "completions", "crosscheck", "diff", "explain", "explore", "init", "locality", "lsp", "mcp", "prove",
    "recheck", "scan", "schema", "show", "sweep", "synth", "theorems",
)  # fmt: skip
"""The commands, in the order in which the help lists them."""


def options_of(name: str) -> type[Options]:
    """The options of a command: the dataclass of its name.

    >>> options_of("prove").__name__
    'ProveOptions'
    """
    return getattr(import_module(f"swzverify.apps.options.{name}"), f"{name.title()}Options")


def work_of(name: str) -> Callable[[Options], object]:
    """The work of a command: the function of its name."""
    return getattr(import_module(f"swzverify.apps.commands.{name}"), f"{name}_command")


def _command(name: str) -> click.Command:
    def run(asked: Options) -> None:
        from swzverify.apps.commands.terminal import one_way_out  # noqa: PLC0415 - `--help` is to be quick

        with one_way_out(asked.without):
            work_of(name)(asked)

    return command(name, options_of(name), run)


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from swzverify.apps.commands.terminal import one_way_out, say  # noqa: PLC0415 - `--help` is to be quick
    from swzverify.apps.run.version import installed_version  # noqa: PLC0415 - likewise

    with one_way_out():
        say(f"swzverify {installed_version()}\n")
    context.exit()


class _Commands(click.Group):
    """Makes a command when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.add_command(_command(cmd_name))
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
    """Prove shared-memory layouts of GPU kernels right: one to one, aligned, without bank conflicts."""

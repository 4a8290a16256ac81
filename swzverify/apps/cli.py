"""The command line: which options and which work make each command.

Both are imported at their first use: the options for the help and for completion, the work when the
command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from swzverify.apps import commands, options
from swzverify.apps.options.declare import Options, command

__all__ = ["COMMANDS", "main"]

_O = TypeVar("_O", bound=Options)


def _command(
    given: Callable[[], type[_O]], work: Callable[[], Callable[[_O], object]]
) -> Callable[[str], click.Command]:
    """What makes a command of that name."""

    def run(asked: _O) -> None:
        from swzverify.apps.commands.terminal import one_way_out  # noqa: PLC0415 - `--help` is to be quick

        with one_way_out(asked.without):
            work()(asked)

    return lambda name: command(name, given(), run)


COMMANDS: Mapping[str, Callable[[str], click.Command]] = {
    "calibrate": _command(lambda: options.CalibrateOptions, lambda: commands.calibrate_command),
    "completions": _command(lambda: options.CompletionsOptions, lambda: commands.completions_command),
    "crosscheck": _command(lambda: options.CrosscheckOptions, lambda: commands.crosscheck_command),
    "diff": _command(lambda: options.DiffOptions, lambda: commands.diff_command),
    "explain": _command(lambda: options.ExplainOptions, lambda: commands.explain_command),
    "explore": _command(lambda: options.ExploreOptions, lambda: commands.explore_command),
    "init": _command(lambda: options.InitOptions, lambda: commands.init_command),
    "locality": _command(lambda: options.LocalityOptions, lambda: commands.locality_command),
    "lsp": _command(lambda: options.LspOptions, lambda: commands.lsp_command),
    "mcp": _command(lambda: options.McpOptions, lambda: commands.mcp_command),
    "prove": _command(lambda: options.ProveOptions, lambda: commands.prove_command),
    "recheck": _command(lambda: options.RecheckOptions, lambda: commands.recheck_command),
    "scan": _command(lambda: options.ScanOptions, lambda: commands.scan_command),
    "schema": _command(lambda: options.SchemaOptions, lambda: commands.schema_command),
    "show": _command(lambda: options.ShowOptions, lambda: commands.show_command),
    "sweep": _command(lambda: options.SweepOptions, lambda: commands.sweep_command),
    "synth": _command(lambda: options.SynthOptions, lambda: commands.synth_command),
    "theorems": _command(lambda: options.TheoremsOptions, lambda: commands.theorems_command),
}
"""The commands, in the order in which the help lists them."""


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
            self.add_command(COMMANDS[cmd_name](cmd_name))
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

"""`swzverify completions`: what makes a shell complete the command's words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from swzverify.apps.commands.terminal import say
from swzverify.apps.options.completions import CompletionsOptions

PROGRAM = "swzverify"
VARIABLE = "_SWZVERIFY_COMPLETE"
"""The variable by which the script asks the program; click makes the name from the program's."""


def completions_command(options: CompletionsOptions) -> None:
    """Print the completion script of a shell."""
    found = get_completion_class(options.shell)
    if found is None:  # the names above are click's own
        raise click.BadParameter(f"click knows no completion for {options.shell}")
    say(found(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source())

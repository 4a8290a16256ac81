"""`swzverify completions`: what makes a shell complete the command's words."""

from __future__ import annotations

import click

from swzverify.cli.terminal import say

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "swzverify"
VARIABLE = "_SWZVERIFY_COMPLETE"
"""The variable by which the script asks the program; click makes the name from the program's."""


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="|".join(SHELLS))
@click.pass_context
def completions(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash (4.4 or newer), in ~/.bashrc:
      eval "$(swzverify completions bash)"
    zsh, in ~/.zshrc after compinit:
      eval "$(swzverify completions zsh)"
    fish:
      swzverify completions fish > ~/.config/fish/completions/swzverify.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - few runs need it

    found = get_completion_class(shell)
    if found is None:  # the names above are click's own
        raise click.BadParameter(f"click knows no completion for {shell}")
    say(found(context.find_root().command, {}, PROGRAM, VARIABLE).source())

"""`swzverify completions`: what makes a shell complete the command's words."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import SHELLS


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), metavar="|".join(SHELLS))
def completions(**given: object) -> None:
    """Print the completion script of a shell.

    \b
    bash (4.4 or newer), in ~/.bashrc:
      eval "$(swzverify completions bash)"
    zsh, in ~/.zshrc after compinit:
      eval "$(swzverify completions zsh)"
    fish:
      swzverify completions fish > ~/.config/fish/completions/swzverify.fish
    """
    run("completions", given)

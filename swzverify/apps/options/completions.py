"""The options of `swzverify completions`."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.options.declare import Options, argument

SHELLS = ("bash", "zsh", "fish")
"""The shells that complete the command's words."""


@dataclass(frozen=True, slots=True)
class CompletionsOptions(Options):
    """Print the completion script of a shell.

    \b
    bash (4.4 or newer), in ~/.bashrc:
      eval "$(swzverify completions bash)"
    zsh, in ~/.zshrc after compinit:
      eval "$(swzverify completions zsh)"
    fish:
      swzverify completions fish > ~/.config/fish/completions/swzverify.fish
    """

    shell: str = argument("|".join(SHELLS), SHELLS)

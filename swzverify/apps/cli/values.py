"""What may be given for an option, for shells to complete: the tables are read when a shell asks."""

from __future__ import annotations

from typing import Literal

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from swzverify.apps.cli.body import words


class Text(StringParamType):
    """A text whose likely values a shell completes; what reads the option refuses wrong ones."""

    def __init__(self, what: Literal["element", "instruction", "swizzle", "target", "file", "dir"]) -> None:
        """`what` the text is; a shell completes the paths of files and folders itself."""
        self.what = what

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What the shell offers for a beginning."""
        del ctx, param
        if self.what in {"file", "dir"}:
            return [CompletionItem(incomplete, type=self.what)]
        return [CompletionItem(value) for value in words(self.what) if value.startswith(incomplete)]


_BY_METAVAR = {"FILE": Text("file"), "PATH": Text("file"), "DIR": Text("dir")}
_BY_OPTION = {"--target": Text("target"), "--instruction": Text("instruction")}


def complete_values(command: click.Command) -> None:
    """Have the texts of a command completed, by what its help calls them or by the option's name.

    Options with a type of their own, such as a choice, complete by it already.
    """
    for parameter in command.params:
        if parameter.type is not click.STRING:
            continue
        what = (parameter.metavar or "").strip("[].")
        by_name = next((found for name, found in _BY_OPTION.items() if name in parameter.opts), None)
        parameter.type = by_name or _BY_METAVAR.get(what, parameter.type)

"""What may be given for an option, for shells to complete: the tables are read when a shell asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

SWIZZLES = ("auto", "none", "Swizzle<3,3,3>", "Swizzle<2,3,3>", "Swizzle<1,3,3>", "Swizzle<5,0,5>")
"""Examples: a swizzle has any numbers."""


class Text(StringParamType):
    """A text whose likely values a shell completes; any other one is taken too, and refused where
    it is read.
    """

    def __init__(self, known: Callable[[], Iterable[str]] = tuple, kind: str = "plain") -> None:
        """`known` gives the values to complete; `kind` is "file" or "dir" where the shell completes
        paths itself.
        """
        self.known = known
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What the shell offers for a beginning."""
        del ctx, param
        if self.kind != "plain":
            return [CompletionItem(incomplete, type=self.kind)]
        return [CompletionItem(value) for value in self.known() if value.startswith(incomplete)]


def targets() -> Iterable[str]:
    """The names of the targets."""
    from swzverify.hardware import TARGETS  # noqa: PLC0415 - few commands complete anything

    return TARGETS


def instructions() -> Iterable[str]:
    """The names of the instructions."""
    from swzverify.hardware import INSTRUCTIONS  # noqa: PLC0415 - likewise

    return INSTRUCTIONS


def elements() -> Iterable[str]:
    """The names of the types of elements."""
    from swzverify.spec.elements import ELEMENT_BITS  # noqa: PLC0415 - likewise

    return ELEMENT_BITS


def swizzles() -> Iterable[str]:
    """Examples: a swizzle has any numbers."""
    return SWIZZLES


_BY_METAVAR = {"FILE": Text(kind="file"), "PATH": Text(kind="file"), "DIR": Text(kind="dir")}
_BY_OPTION = {"--target": Text(targets), "--instruction": Text(instructions)}


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

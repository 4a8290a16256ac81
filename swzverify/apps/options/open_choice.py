"""Words to choose from, to which other packages may add: the help lists those of swzverify only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from swzverify.core import outside
from swzverify.errors import SwzError


class OpenChoice(click.Choice[str]):
    """A choice among names of swzverify, and the names that other packages add to a group."""

    def __init__(self, inside: Sequence[str], group: outside.Group, load: Callable[[str], object]) -> None:
        """`load` imports what another package adds, so that it is refused before the work begins."""
        super().__init__([str(each) for each in inside])
        self.group = group
        self.load = load

    @property
    def names(self) -> list[str]:
        """Every name there is."""
        return [*self.choices, *outside.names(self.group, self.choices)]

    def knows(self, name: str) -> bool:
        """Whether there is a name; other packages are asked only for what swzverify has not."""
        return name in self.choices or outside.has(self.group, name)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name. A usage error for an unknown one, and for one of a package that cannot be used."""
        if value in self.choices:
            return value
        if not self.knows(value):
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names))}.", param, ctx)
        try:
            self.load(value)
        except SwzError as error:
            self.fail(str(error), param, ctx)
        return value

"""Values of options: what a shell completes them to, and what texts such as NAME=N say.

Other packages may add words to choose from; the help lists those of swzverify only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from swzverify.core import outside
from swzverify.errors import SwzError

_T = TypeVar("_T")
_VALUE = re.compile(r"([A-Za-z_]\w*)=(-?[0-9]{1,12})")
_LOOP = re.compile(r"([A-Za-z_]\w*)=(?:([0-9]{1,9}):)?([0-9]{1,9})(?::([0-9]{1,9}))?", re.ASCII)
_WINDOW = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
SWIZZLES = ("auto", "none", "Swizzle<3,3,3>", "Swizzle<2,3,3>", "Swizzle<1,3,3>", "Swizzle<5,0,5>")
"""Examples: a swizzle has any numbers."""


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
        return [CompletionItem(value) for value in _words(self.what) if value.startswith(incomplete)]


def _words(what: str) -> Iterable[str]:
    from swzverify.hardware import INSTRUCTIONS, TARGETS  # noqa: PLC0415 - only shells ask, and `--help` is to be quick
    from swzverify.spec.elements import ELEMENT_BITS  # noqa: PLC0415

    tables = {"element": ELEMENT_BITS, "instruction": INSTRUCTIONS, "swizzle": SWIZZLES, "target": TARGETS}
    return tables[what]


_BY_METAVAR = {"FILE": Text("file"), "PATH": Text("file"), "DIR": Text("dir")}
_BY_OPTION: Mapping[str, Text] = {
    "--element": Text("element"),
    "--instruction": Text("instruction"),
    "--swizzle": Text("swizzle"),
    "--target": Text("target"),
}


def value_type(names: Iterable[str], metavar: str | None) -> Text | None:
    """What completes a text, by the option's name or by what the help calls the value."""
    by_name = next((_BY_OPTION[name] for name in names if name in _BY_OPTION), None)
    return by_name or _BY_METAVAR.get((metavar or "").strip("[]."))


def by_name(option: str, such_as: str, read: Callable[[str], tuple[str, _T] | None]) -> Callable[..., dict[str, _T]]:
    """What turns the texts of an option into values by name; a name may be given once.

    >>> by_name("--at", "such as warp=1", named_value)(["warp=1", "k=16"])
    {'warp': 1, 'k': 16}
    """

    def convert(given: Iterable[str]) -> dict[str, _T]:
        found: dict[str, _T] = {}
        for each in given:
            pair = read(each)
            if pair is None:
                raise click.BadParameter(f"{each!r}: {such_as}", param_hint=option)
            if pair[0] in found:
                raise click.BadParameter(f"{pair[0]!r} is given twice", param_hint=option)
            found[pair[0]] = pair[1]
        return found

    return convert


def named_value(text: str) -> tuple[str, int] | None:
    """The name and the number of NAME=N; None where the text is no such pair."""
    parts = _VALUE.fullmatch(text)
    return None if parts is None else (parts[1], int(parts[2]))


def loop_in(text: str) -> tuple[str, range] | None:
    """A loop's name and values; None where the text is no loop.

    >>> loop_in("k=4"), loop_in("k=0:64:16"), loop_in("k=0:64:0")
    (('k', range(0, 4)), ('k', range(0, 64, 16)), None)
    """
    found = _LOOP.fullmatch(text)
    if found is None or found[4] == "0":
        return None
    return found[1], range(int(found[2] or 0), int(found[3]), int(found[4] or 1))


def weight(text: str) -> tuple[str, int] | None:
    """The access and the number of ACCESS=N; None where the text is no such pair."""
    name, sign, number = text.partition("=")
    return (name, int(number)) if sign and number.isascii() and number.isdigit() and len(number) <= 6 else None


def window(option: str) -> Callable[[str], tuple[int, int]]:
    """What reads FROM:TO of an option."""

    def convert(text: str) -> tuple[int, int]:
        found = _WINDOW.fullmatch(text)
        if found is None:
            raise click.BadParameter(f"{text!r}: from and to, such as 0:32", param_hint=option)
        return int(found[1]), int(found[2])

    return convert


def coordinate_parts(text: str) -> tuple[str, ...]:
    """The expressions of a coordinate, split at commas outside of parentheses.

    >>> coordinate_parts("lane % 8, max(k, 1)")
    ('lane % 8', 'max(k, 1)')
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return tuple(part.strip() for part in parts)


def two_axes(text: str) -> tuple[str, str]:
    """The axes of X,Y.

    Raises:
        click.BadParameter: The text names no two axes.
    """
    across, comma, down = text.partition(",")
    if not comma or not across.strip() or not down.strip() or across.strip() == down.strip():
        raise click.BadParameter(f"{text!r}: two axes, such as B,S", param_hint="--heatmap")
    return across.strip(), down.strip()


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

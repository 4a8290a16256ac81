"""What both scanners find: names with values, scopes and lines, and why one is no constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.errors import SwzError, nearest

NOT_FOUND = "SWZ122"
NOT_CONSTANT = "SWZ123"

_LOOKED_FOR = "read are `constexpr int BK = 64;`, `const int`, `#define BK 64`, and in Python `BK = 64`"
_MOST_PLACES = 5
UNNAMED = "{}"
"""Stands in a scope for a brace that has no name: a constant in it cannot be named from outside."""


@dataclass(frozen=True, slots=True)
class Definition:
    """One place where a name gets a value.

    Attributes:
        name: The name.
        scope: The names of the namespaces, classes and functions around it.
        place: A number that distinguishes scopes of equal names.
        line: The line.
        order: The position in the file.
        body: The text of the value; None if it cannot be a constant.
        refusal: Why it cannot be a constant.
        is_macro: Whether it is a macro.
        is_unsigned: Whether its type is unsigned.
        is_wide: Whether C computes with it up to 2^32 - 1; None if that depends on its value.
        least: The least value that it may have.
        most: The largest value that it may have.
        hint: What to do, if that is more than to write a plain constant.
    """

    name: str
    scope: tuple[str, ...]
    place: int
    line: int
    order: int
    body: str | None
    refusal: str = ""
    is_macro: bool = False
    is_unsigned: bool = False
    is_wide: bool | None = None
    least: int = -(2**31)
    most: int = 2**32 - 1
    hint: str = ""

    @property
    def full_name(self) -> str:
        """The name with its scopes.

        >>> Definition("BK", ("gemm", "Config"), 2, 7, 90, "64").full_name
        'gemm::Config::BK'
        """
        return "::".join((*self.scope, self.name))


def find(definitions: Sequence[Definition], name: str) -> Definition:
    """The definition of a name with every scope around it: `gemm::Config::BK`, `Config.BK`.

    A plain name is at file scope.

    Raises:
        SwzError: SWZ122 if there is none, SWZ123 if there are several.

    >>> find([Definition("BK", (), 0, 3, 20, "64"), Definition("BK", ("f",), 1, 9, 70, "32")], "BK").line
    3
    """
    *scope, last = (part.strip() for part in name.replace("::", ".").split("."))
    named = [each for each in definitions if each.name == last]
    fitting = [each for each in named if each.scope == tuple(scope) and UNNAMED not in scope]
    if not fitting:
        message = f"it defines no constant '{name}'" + ("" if scope else " at file scope")
        raise SwzError(NOT_FOUND, message, hint=_hint(definitions, last))
    if len(fitting) > 1:
        places = ", ".join(f"line {each.line}" for each in fitting[:_MOST_PLACES])
        more = f" and {len(fitting) - _MOST_PLACES} more" if len(fitting) > _MOST_PLACES else ""
        hint = "give the constant one definition, or another one a name of its own"
        raise SwzError(NOT_CONSTANT, f"it defines '{name}' {len(fitting)} times: {places}{more}", hint=hint)
    return fitting[0]


def _hint(definitions: Sequence[Definition], name: str) -> str:
    """Where the name is defined after all, or a name that is near, or what would be read."""
    reachable = [each for each in definitions if each.name == name and UNNAMED not in each.scope]
    if reachable:
        listed = ", ".join(f"{each.full_name} (line {each.line})" for each in reachable[:_MOST_PLACES])
        return f"name it with every scope around it: {listed}"
    return nearest(name, sorted({each.name for each in definitions})) or _LOOKED_FOR

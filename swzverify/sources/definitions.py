"""What the scanners of both languages find: names that get a value, with scope and line, and why one is no constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.errors import SwzError, nearest

NOT_FOUND = "SWZ122"
NOT_CONSTANT = "SWZ123"

_LOOKED_FOR = "read are `constexpr int BK = 64;`, `const int`, `#define BK 64`, and in Python `BK = 64`"
_MOST_PLACES = 5


@dataclass(frozen=True, slots=True)
class Definition:
    """One place where a name gets a value.

    `scope` has the names of the namespaces, classes and functions around it, and `place` tells scopes of equal names
    apart; `body` is the text of the value, or None where it cannot be a constant, with `refusal` saying why; the value
    must lie in `least .. most`.
    """

    name: str
    scope: tuple[str, ...]
    place: int
    line: int
    body: str | None
    refusal: str = ""
    is_macro: bool = False
    is_unsigned: bool = False
    least: int = -(2**31)
    most: int = 2**32 - 1

    @property
    def full_name(self) -> str:
        """The name with its scopes.

        >>> Definition("BK", ("gemm", "Config"), 2, 7, "64").full_name
        'gemm::Config::BK'
        """
        return "::".join((*self.scope, self.name))


def find(definitions: Sequence[Definition], name: str) -> Definition:
    """The one definition that a name stands for; `Config::BK` or `Config.BK` names the scopes next to it too.

    A plain name is that at file scope, or else the only one of all. Errors: SWZ122 where there is none, SWZ123 where
    there are several.

    >>> find([Definition("BK", (), 0, 3, "64"), Definition("BK", ("f",), 1, 9, "32")], "BK").line
    3
    """
    *scope, last = (part.strip() for part in name.replace("::", ".").split("."))
    fitting = [each for each in definitions if each.name == last and _ends_with(each.scope, scope)]
    if not scope:
        fitting = [each for each in fitting if not each.scope] or fitting
    if not fitting:
        near = nearest(last, sorted({each.name for each in definitions}))
        raise SwzError(NOT_FOUND, f"it defines no constant '{name}'", hint=near or _LOOKED_FOR)
    if len(fitting) > 1:
        places = ", ".join(f"line {each.line} ({each.full_name})" for each in fitting[:_MOST_PLACES])
        more = f" and {len(fitting) - _MOST_PLACES} more" if len(fitting) > _MOST_PLACES else ""
        hint = "name the scope too, such as Config::BK, or give the constant one definition"
        raise SwzError(NOT_CONSTANT, f"it defines '{name}' {len(fitting)} times: {places}{more}", hint=hint)
    return fitting[0]


def _ends_with(scope: tuple[str, ...], wanted: list[str]) -> bool:
    return not wanted or list(scope[-len(wanted) :]) == wanted

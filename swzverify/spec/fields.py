"""The kinds of value that the keys of a spec take: types shared by the models."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Literal, TypeAlias, cast

from swzverify.spec.part import Check, Pattern, WrongValueError, kind_of

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]*$"
IDENTIFIER_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"


def _expect(what: str) -> Check:
    """A check that a value is an integer or a text that is not empty; `what` says so to people."""

    def check(value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise WrongValueError("SWZ105", f"expected {what}, not {kind_of(value)}")

    return Check(check)


Count: TypeAlias = Annotated[int | str, _expect("an integer or an expression of constants")]
"""A number: an integer, or a C expression of the spec's constants."""

Expression: TypeAlias = Annotated[int | str, _expect("an expression")]
"""A C integer expression."""

Name: TypeAlias = Annotated[str, Pattern(NAME_PATTERN)]
"""The name of a tile, access, map or memory."""

Identifier: TypeAlias = Annotated[str, Pattern(IDENTIFIER_PATTERN)]
"""A name that can stand in an expression."""

Text: TypeAlias = str
"""Prose."""

Expect: TypeAlias = Literal["proved", "refuted", "unknown", "vacuous"]


Chooser: TypeAlias = Callable[[object], str | None]


def by_shape(
    *, mapping: str | Callable[[Collection[str]], str] = "", text: str = "", integer: str = "", items: str = ""
) -> Chooser:
    """Choose by what the value is: the tags for mappings, texts, integers and lists, each where it
    is allowed; that of mappings may depend on their keys.
    """
    tags: dict[type, str] = {str: text, int: integer, list: items}

    def choose(value: object) -> str | None:
        if isinstance(value, dict):
            return (mapping if isinstance(mapping, str) else mapping(cast("dict[str, object]", value))) or None
        return tags.get(type(value)) or None

    return choose

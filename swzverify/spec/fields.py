"""The kinds of value that the keys of a spec take, as pydantic types shared by the models."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Annotated, Literal, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, StringConstraints
from pydantic_core import PydanticCustomError

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_.-]*$"
IDENTIFIER_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]*$"


class Part(BaseModel):
    """What every mapping of a spec is: its keys are known, and nothing is converted silently.

    Validators are built at the first use: that of the whole spec holds all the others.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, populate_by_name=False, defer_build=True)


def kind_of(value: object) -> str:
    """What a value of the file is, in a reader's words.

    >>> kind_of([1]), kind_of(True), kind_of({})
    ('a list', 'true', 'a mapping')
    """
    match value:
        case bool():
            return str(value).lower()
        case None:
            return "nothing"
        case int():
            return f"the integer {value}"
        case float():
            return f"the number {value}"
        case str():
            return f"'{value}'" if len(value) <= 40 else "a text"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "something else"


def _expect(what: str) -> Callable[[object], object]:
    """A check that a value is an integer or a text that is not empty; `what` says so to people."""

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise PydanticCustomError("SWZ105", "{message}", {"message": f"expected {what}, not {kind_of(value)}"})
        return value

    return check


Count: TypeAlias = Annotated[int | str, BeforeValidator(_expect("an integer or an expression of constants"))]
"""A number: an integer, or a C expression of the spec's constants."""

Expression: TypeAlias = Annotated[int | str, BeforeValidator(_expect("an expression"))]
"""A C integer expression."""

Name: TypeAlias = Annotated[str, StringConstraints(pattern=NAME_PATTERN)]
"""The name of a tile, access, map or memory."""

Identifier: TypeAlias = Annotated[str, StringConstraints(pattern=IDENTIFIER_PATTERN)]
"""A name that can stand in an expression."""

Text: TypeAlias = str
"""Prose."""

Expect: TypeAlias = Literal["proved", "refuted", "unknown", "vacuous"]


Chooser: TypeAlias = Callable[[object], str | None]


def branch(expected: str, choose: Chooser) -> Discriminator:
    """A union's branch has the tag that `choose` gives; None: the value is not as `expected`."""
    return Discriminator(choose, custom_error_type="SWZ105", custom_error_message=f"expected {expected}")


def by_shape(
    *, mapping: str | Callable[[Collection[str]], str] = "", text: str = "", integer: str = "", items: str = ""
) -> Chooser:
    """Choose by the type of the value: the tags for mappings, texts, integers and lists.

    A type without a tag is not allowed. The tag of mappings may depend on their keys.
    """
    tags: dict[type, str] = {str: text, int: integer, list: items}

    def choose(value: object) -> str | None:
        if isinstance(value, dict):
            return (mapping if isinstance(mapping, str) else mapping(cast("dict[str, object]", value))) or None
        return tags.get(type(value)) or None

    return choose

"""Results as the plain values that JSON knows: a key for each field, in the order of the fields.

Most objects of the JSON formats have the names and the order of the records that they show. Their renderers
name those fields, and write out only what has another name or is computed.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import singledispatch
from typing import SupportsIndex, TypeAlias, cast

from swzverify.layout import Swizzle

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
_AS_IT_IS = frozenset((str, int, float, bool, type(None)))
_TIME = "_ms"
"""The end of the names of milliseconds, of which three decimals are shown."""


def to_json(value: object) -> Json:
    """A value with everything in it; a module adds a type of its own with `encode.register`.

    >>> from swzverify.claims.verdict import Row
    >>> to_json({"row": Row((1, (2, None)), "x"), "swizzle": Swizzle(3, 4, 3)})
    {'row': {'cells': [1, [2, None]], 'mark': 'x'}, 'swizzle': [3, 4, 3]}
    """
    return cast("Json", value) if type(value) in _AS_IT_IS else encode(value)


@singledispatch
def encode(value: object) -> Json:
    """The same, by the type of the value."""
    return members(value) if is_dataclass(value) else cast("Json", value)


@encode.register
def _(value: Enum) -> Json:
    return value.value


@encode.register(tuple)
@encode.register(list)
def _(value: tuple[object, ...] | list[object]) -> Json:
    return [to_json(each) for each in value]


@encode.register(Mapping)
def _(value: Mapping[object, object]) -> Json:
    return {str(key): to_json(each) for key, each in value.items()}


@encode.register
def _(value: Swizzle) -> Json:
    return [value.bits, value.base, value.shift]


def members(value: object, *names: str) -> dict[str, Json]:
    """These fields and properties of a record, in this order; without names all fields of a dataclass.

    >>> from swzverify.claims.verdict import Outcome, Verdict
    >>> members(Verdict(Outcome.PROVED, "the warp", ("gf2",), time_ms=1.23456), "engines", "outcome", "time_ms")
    {'engines': ['gf2'], 'outcome': 'proved', 'time_ms': 1.235}
    """
    if not names and is_dataclass(value):
        names = tuple(each.name for each in fields(value))
    found = {name: getattr(value, name) for name in names}
    return {name: round(each, 3) if name.endswith(_TIME) else to_json(each) for name, each in found.items()}


def json_text(values: Mapping[str, object]) -> str:
    r"""Plain values as a JSON document: ASCII, indented, with a line feed at its end.

    >>> json_text({"a": 1})
    '{\n  "a": 1\n}\n'
    """
    return json.dumps(values, indent=2, ensure_ascii=True, allow_nan=False, default=plain_integer) + "\n"


def plain_integer(value: SupportsIndex) -> int:
    """A foreign integer, such as numpy's, as a plain one; `TypeError` for what is none."""
    return operator.index(value)

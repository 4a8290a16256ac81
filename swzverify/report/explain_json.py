"""Explanations as JSON, schema "swzverify.explanation/1": ASCII only, keys in a fixed order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import cast

from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations.statements import Bit, Explained, Rank, SwizzleBits
from swzverify.layout import Swizzle
from swzverify.report.explain_words import sentence
from swzverify.report.json import Json, json_text

SCHEMA = "swzverify.explanation/1"
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def render_explanations_json(explained: Explained) -> str:
    """The explanations as JSON text with a line feed at its end."""
    return json_text(explanations_document(explained))


def explanations_document(explained: Explained) -> dict[str, Json]:
    """The explanations as the plain values that JSON knows."""
    return {
        "schema": SCHEMA,
        "what": explained.what,
        "case": dict(explained.case),
        "explanations": [_explanation(each) for each in explained.explanations],
    }


def _explanation(explanation: Explanation) -> Json:
    return {
        "kind": explanation.kind,
        "name": explanation.name,
        "heading": explanation.heading,
        "statements": [_statement(each) for each in explanation.statements],
    }


def _statement(statement: Statement) -> Json:
    kind = _WORD.sub("_", type(statement).__name__).lower()
    found: dict[str, Json] = {"kind": kind, **_fields(statement)}
    if isinstance(statement, Rank):
        found["wavefronts"] = statement.wavefronts
    elif isinstance(statement, SwizzleBits):
        found["picture"] = statement.picture
    found["text"] = sentence(statement)
    return found


def _fields(value: object) -> dict[str, Json]:
    assert is_dataclass(value)  # noqa: S101 - statements are
    return {each.name: _value(getattr(value, each.name)) for each in fields(value)}


def _value(value: object) -> Json:
    match value:
        case Bit():
            return str(value)
        case Swizzle(bits=bits, base=base, shift=shift):
            return [bits, base, shift]
        case Mapping():
            return {str(name): _value(each) for name, each in cast("Mapping[object, object]", value).items()}
        case tuple():
            return [_value(each) for each in cast("tuple[object, ...]", value)]
        case _ if is_dataclass(value):
            return _fields(value)
        case _:
            return cast("Json", value)

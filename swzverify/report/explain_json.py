"""Explanations as JSON, schema "swzverify.explanation/1": ASCII only, keys in a fixed order."""

from __future__ import annotations

import re

from swzverify.explain.explanations import Explanation, Statement
from swzverify.explain.explanations.statements import Bit, Explained, Rank, SwizzleBits
from swzverify.report.explain_words import sentence
from swzverify.report.plain import Json, encode, json_text, members

SCHEMA = "swzverify.explanation/1"
encode.register(Bit, str)
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def render_explanations_json(explained: Explained) -> str:
    """The explanations as JSON text with a line feed at its end."""
    return json_text(explanations_document(explained))


def explanations_document(explained: Explained) -> dict[str, Json]:
    """The explanations as the plain values that JSON knows."""
    return {
        "schema": SCHEMA,
        **members(explained, "what", "case"),
        "explanations": [_explanation(each) for each in explained.explanations],
    }


def _explanation(explanation: Explanation) -> Json:
    return {
        **members(explanation, "kind", "name", "heading"),
        "statements": [_statement(each) for each in explanation.statements],
    }


def _statement(statement: Statement) -> Json:
    kind = _WORD.sub("_", type(statement).__name__).lower()
    found: dict[str, Json] = {"kind": kind, **members(statement)}
    if isinstance(statement, Rank):
        found["wavefronts"] = statement.wavefronts
    elif isinstance(statement, SwizzleBits):
        found["picture"] = statement.picture
    found["text"] = sentence(statement)
    return found

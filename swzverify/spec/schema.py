"""The JSON Schema of spec files, made from the very models that read them, for editors."""

from __future__ import annotations

from typing import cast

from swzverify.spec.models import SpecPart

DIALECT = "http://json-schema.org/draft-07/schema#"


def json_schema() -> dict[str, object]:
    """The schema of a spec file in draft 7, which editors know.

    >>> schema = json_schema()
    >>> schema["$schema"], schema["required"]
    ('http://json-schema.org/draft-07/schema#', ['swzverify'])
    """
    schema = SpecPart.model_json_schema(by_alias=True, ref_template="#/definitions/{model}")
    definitions = cast("object", schema.pop("$defs", {}))
    result: dict[str, object] = {**schema, "$schema": DIALECT, "title": "swzverify spec", "definitions": definitions}
    _close(result)
    return result


def _close(part: object) -> None:
    """Refuse the names that no pattern allows: pydantic says which are right, and leaves it at that."""
    match part:
        case dict():
            entries = cast("dict[str, object]", part)
            if "patternProperties" in entries:
                entries["additionalProperties"] = False
            for value in entries.values():
                _close(value)
        case list():
            for item in cast("list[object]", part):
                _close(item)
        case _:
            pass

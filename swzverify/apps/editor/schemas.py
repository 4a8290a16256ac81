"""The JSON Schema of specs, asked by the path of keys: what a key means, and what may stand there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias, cast

from swzverify.apps.editor.places import Path
from swzverify.spec.schema import json_schema

Schema: TypeAlias = Mapping[str, Any]


@cache
def _root() -> Schema:
    return json_schema()


def _open(schema: Schema) -> Iterator[Schema]:
    """The schema and the branches that stand for it."""
    if "$ref" in schema:
        yield from _open(cast("Schema", _root()["definitions"][schema["$ref"].rpartition("/")[2]]))
        return
    yield schema
    for keyword in ("anyOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if "if" not in branch:
                yield from _open(branch)


def schemas_at(path: Path) -> list[Schema]:
    """The schemas of what stands at a path, branches included.

    >>> [each["description"] for each in schemas_at(("tiles", "A", "element")) if "description" in each]
    ['the type of an element: f16, bf16, f32, i8, ...']
    """
    found = [*_open(_root())]
    for index, step in enumerate(path):
        found = [below for each in found for below in _below(each, step)]
        if len(path) > index + 1 and isinstance(path[index + 1], str):
            key = path[index + 1]
            own = [each for each in found if key in each.get("properties", ())]
            found = own or found
    return found


def _below(schema: Schema, step: str | int) -> Iterator[Schema]:
    if isinstance(step, int):
        if "items" in schema:
            yield from _open(schema["items"])
        return
    own = schema.get("properties", {}).get(step)
    if own is not None:
        yield from _open(own)
    else:
        for each in schema.get("patternProperties", {}).values():
            yield from _open(each)


def meaning(path: Path) -> str:
    """What a key means, and examples of its values; empty for a key that no spec has."""
    found = schemas_at(path)
    texts = dict.fromkeys(each["description"] for each in found if "description" in each)
    return "\n\n".join([*texts][:2])


def keys_at(path: Path) -> dict[str, str]:
    """The keys that a mapping at a path may have, with what each one means."""
    keys: dict[str, str] = {}
    for each in schemas_at(path):
        for key, schema in each.get("properties", {}).items():
            keys.setdefault(key, schema.get("description", ""))
    return keys


def values_at(path: Path, *, samples: bool = True) -> list[str]:
    """The words that may stand at a path, and `samples` of other values."""
    words: dict[str, None] = {}
    for each in schemas_at(path):
        listed = [*each.get("enum", ()), *([each["const"]] if "const" in each else [])]
        listed += [sample for sample in each.get("examples", ()) if samples and isinstance(sample, str | int)]
        words |= dict.fromkeys(str(value) for value in listed if value is not None)
    return [*words]

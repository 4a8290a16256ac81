"""The JSON Schema of spec files, made from the very models that read them, for editors.

The types of the models become a schema; `schema_rules` and `schema_names` add what `build` checks
and a schema can say. It accepts every spec that loads. What it cannot say is left to
`swzverify prove`: names that are not there, expressions and layouts, sums of sizes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import cleandoc
from types import UnionType
from typing import Any, Literal, Union, cast

from swzverify.ir.c_parse import MAX_CHARACTERS
from swzverify.spec.models import SpecPart
from swzverify.spec.part import Kind, Length, Part, Pattern, Words, key_types, taken_apart
from swzverify.spec.schema_names import instruction_schema, target_schema
from swzverify.spec.schema_rules import BOUNDS, ENTRIES, EVERY_INTEGER, POWERS_OF_TWO, RULES, SIZES, TEXTS, Schema

DIALECT = "http://json-schema.org/draft-07/schema#"
_SAYS_NOTHING: tuple[object, ...] = (None, "", [], {})
"""Defaults that an editor would fill in and that mean no more than a missing key."""

_ROOT = SpecPart.__name__
_JSON_TYPES: dict[Any, str] = {str: "string", int: "integer"}
_OF_NAMES = ("properties", "patternProperties", "definitions")
_FIRST = ("$schema", "description", "examples", "default", "type", "required", "allOf", "anyOf", "$ref")


def schema_text() -> str:
    """The schema as a file: JSON in ASCII.

    >>> print(schema_text()[:57])
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
    """
    return json.dumps(json_schema(), indent=2) + "\n"


def json_schema() -> dict[str, object]:
    """The schema of a spec file in draft 7, which editors know.

    >>> schema = json_schema()
    >>> schema["$schema"], schema["required"]
    ('http://json-schema.org/draft-07/schema#', ['swzverify'])
    """
    parts = {part.__name__: _of_part(part) for part in _parts(SpecPart, {})}
    for place, found in (("AccessPart.instruction", instruction_schema()), (f"{_ROOT}.target", target_schema())):
        _replace(_at(parts, place), found)
    spec = parts.pop(_ROOT)
    # No title: editors would show it above every key.
    return _ordered({"$schema": DIALECT, **spec, "definitions": dict(sorted(parts.items()))})


def _parts(part: type[Part], found: dict[type[Part], None]) -> dict[type[Part], None]:
    """The model, and those that its keys take, each once."""
    if part not in found:
        found[part] = None
        for kind in key_types(part).values():
            _parts_of_type(kind, found)
    return found


def _parts_of_type(kind: Any, found: dict[type[Part], None]) -> None:
    taken = taken_apart(kind)
    part = taken.part
    if part is not None:
        _parts(part, found)
    elif taken.origin is not Literal:
        for each in taken.arguments:
            _parts_of_type(each, found)


def _of_part(part: type[Part]) -> Schema:
    """The schema of a model, with the rules for its keys."""
    properties: dict[str, Schema] = {}
    for attribute, kind in key_types(part).items():
        key = part.keys[attribute]
        schema = _of_type_said(kind)
        if not key.is_required and key.default not in _SAYS_NOTHING:
            schema["default"] = key.default
        schema |= {"description": key.description, "examples": key.examples}
        if "$ref" in schema:  # draft 7 reads nothing beside a reference
            schema["allOf"] = [{"$ref": schema.pop("$ref")}]
        _add_rules(f"{part.__name__}.{key.name}", schema)
        properties[key.name] = schema
    made: Schema = {"type": "object", "description": cleandoc(part.__doc__ or ""), "properties": properties}
    required = [key.name for key in part.keys.values() if key.is_required]
    made |= {"required": required} if required else {}
    made |= {"additionalProperties": False}
    return made | ({"allOf": RULES[part.__name__]} if part.__name__ in RULES else {})


def _of_type_said(kind: Any) -> Schema:
    """The schema of a type. `null` is no value that a key's description would offer."""
    taken = taken_apart(kind)
    length: Length = taken.find(Length) or Length()
    if taken.or_none:
        return {"anyOf": _flat([_bare(taken, length), {"type": "null"}])}
    return _bare(taken, length)


def _bare(taken: Kind, length: Length) -> Schema:
    sizes = {"min": length.least or None, "max": length.most}
    match taken.origin:
        case _ if taken.origin is list:
            made: Schema = {"type": "array", "items": _of_type_said(taken.arguments[0])}
            return made | {f"{name}Items": size for name, size in sizes.items() if size is not None}
        case _ if taken.origin is dict:
            pattern: Pattern = taken_apart(taken.arguments[0]).find(Pattern)
            entries = {pattern.pattern: _of_type_said(taken.arguments[1])}
            made = {"type": "object", "patternProperties": entries, "additionalProperties": False}
            return made | {f"{name}Properties": size for name, size in sizes.items() if size is not None}
        case _ if taken.origin is Literal:
            kind = _JSON_TYPES[type(taken.arguments[0])]
            words = [*taken.arguments]
            return {"type": kind, "enum": words} if len(words) > 1 else {"type": kind, "const": words[0]}
        case _ if taken.origin in (Union, UnionType):
            return {"anyOf": _flat([_of_type_said(each) for each in taken.arguments])}
        case _ if taken.origin in _JSON_TYPES:
            made = {"type": _JSON_TYPES[taken.origin]}
            for each in taken.said:
                if isinstance(each, Pattern):
                    made["pattern"] = each.pattern
                elif isinstance(each, Words):
                    made["enum"] = [*each.words]
            return made
        case part:
            return {"$ref": f"#/definitions/{part.__name__}"}


def _flat(branches: list[Schema]) -> list[Schema]:
    """The branches, with nested choices taken apart; single words come last.

    Where nothing fits, editors complain of what the first branch misses.
    """
    flat: list[Schema] = []
    for branch in branches:
        flat += cast("list[Schema]", branch["anyOf"]) if list(branch) == ["anyOf"] else [branch]
    return sorted(flat, key=lambda branch: "const" in branch)


def _add_rules(place: str, schema: Schema) -> None:
    """Add to a key's schema what the rules say of it, and of the entries where it is a mapping."""
    for part in _of_type("integer", schema):
        if "const" in part:
            continue
        part["minimum"], part["maximum"] = BOUNDS.get(place, EVERY_INTEGER)
        if place in POWERS_OF_TWO:
            _replace(part, {"type": "integer", "enum": POWERS_OF_TWO[place]})
    for choice in _choices(schema):
        if any(part.get("type") == "integer" for part in choice):
            for part in choice:
                if part.get("type") == "string":  # an expression
                    part.update(minLength=1, maxLength=MAX_CHARACTERS)
    for part in _of_type("string", schema):
        part.update(TEXTS.get(place, {}))
    for part in [*_of_type("array", schema), *_of_type("object", schema)]:
        part.update(SIZES.get(place, {}))
    for part in _of_type("array", schema):
        for item in _of_type("integer", cast("Schema", part["items"])):
            if f"{place}.items" in BOUNDS:  # those of a choice may be others than the numbers beside the list
                item["minimum"], item["maximum"] = BOUNDS[f"{place}.items"]
    for part in _of_type("object", schema):
        for entry in cast("dict[str, Schema]", part.get("patternProperties", {})).values():
            _add_rules(f"{place}[]", entry)
            _describe_entry(place, entry, cast("list[object]", schema.get("examples", [])))


def _describe_entry(place: str, entry: Schema, samples: list[object]) -> None:
    """Say what a mapping's entries are; their examples are those of the mapping's own."""
    kept = dict(entry)
    entry.clear()
    entry["description"] = ENTRIES.get(place, "")
    mappings = [cast("dict[str, object]", sample) for sample in samples if isinstance(sample, dict)]
    entry["examples"] = [value for mapping in mappings for value in mapping.values()]
    entry.update({"allOf": [kept]} if "$ref" in kept else kept)


def _of_type(kind: str, schema: Schema) -> Iterator[Schema]:
    """The parts of a key's own schema of this type: in choices and items, not in entries."""
    if schema.get("type") == kind:
        yield schema
    for part in cast("list[Schema]", schema.get("anyOf", [])):
        yield from _of_type(kind, part)
    if "items" in schema:
        yield from _of_type(kind, cast("Schema", schema["items"]))


def _choices(schema: Schema) -> Iterator[list[Schema]]:
    """Every choice in a key's own schema."""
    if "anyOf" in schema:
        choice = cast("list[Schema]", schema["anyOf"])
        yield choice
        for part in choice:
            yield from _choices(part)
    if "items" in schema:
        yield from _choices(cast("Schema", schema["items"]))


def _at(parts: dict[str, Schema], place: str) -> Schema:
    name, key = place.split(".")
    return cast("dict[str, Schema]", parts[name]["properties"])[key]


def _replace(schema: Schema, found: Schema) -> None:
    """Put other conditions into a schema, and leave what is said of it."""
    for keyword in [keyword for keyword in schema if keyword not in ("description", "examples", "default")]:
        del schema[keyword]
    schema.update(found)


def _ordered(schema: Schema) -> Schema:
    """The keywords in one order, whatever the order in which they were written."""
    result: Schema = {}
    for keyword in sorted(schema, key=_rank):
        value = schema[keyword]
        if keyword in _OF_NAMES:
            value = {name: _ordered(part) for name, part in cast("dict[str, Schema]", value).items()}
        elif keyword == "anyOf":
            value = [_ordered(part) for part in cast("list[Schema]", value)]
        elif keyword == "items":
            value = _ordered(cast("Schema", value))
        result[keyword] = value
    return result


def _rank(keyword: str) -> tuple[int, str]:
    """What a reader wants to know first comes first; what is long comes last."""
    order = (*_FIRST, "", *_OF_NAMES)
    return order.index(keyword if keyword in order else ""), keyword

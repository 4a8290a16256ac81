"""The JSON Schema of spec files, made from the very models that read them, for editors.

pydantic writes the schema of the models' types; `schema_rules` and the names of hardware add what `build`
checks and a schema can say. It accepts every spec that loads. What it cannot say is left to
`swzverify prove`: names that are not there, expressions and layouts, sums of sizes.

The names of hardware as JSON Schema: what `find_any_instruction` and `find_target` read.

Patterns are regular expressions of ECMA 262, which JSON Schema has: no named groups, no
look-behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import cast

from swzverify.hardware import GLOBAL_INSTRUCTIONS, INSTRUCTIONS, TARGETS
from swzverify.hardware.kinds import MATRIX_OPCODES
from swzverify.ir.c_parse import MAX_CHARACTERS
from swzverify.spec.fields import Part
from swzverify.spec.models import SpecPart
from swzverify.spec.schema_rules import BOUNDS, ENTRIES, EVERY_INTEGER, POWERS_OF_TWO, RULES, SIZES, TEXTS, Schema

DIALECT = "http://json-schema.org/draft-07/schema#"
_SAYS_NOTHING: tuple[object, ...] = (None, "", [])
"""Defaults that an editor would fill in and that mean no more than a missing key."""

_ROOT = "SpecPart"
_OF_NAMES = ("properties", "patternProperties", "definitions")
_FIRST = ("$schema", "description", "examples", "default", "type", "required", "allOf", "anyOf", "$ref")


def schema_text() -> str:
    """The schema as a file: JSON in ASCII, the same for every version of pydantic.

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
    root = SpecPart.model_json_schema(by_alias=True, ref_template="#/definitions/{model}")
    definitions = cast("dict[str, Schema]", root.pop("$defs", {}))
    parts = {_ROOT: _draft_7(root), **{name: _draft_7(part) for name, part in definitions.items()}}
    models = {model.__name__: model for model in _models(Part)}
    for name, part in parts.items():
        fields = {info.alias or key: info for key, info in models[name].model_fields.items()}
        for key, value in cast("dict[str, Schema]", part["properties"]).items():
            if fields[key].examples:
                value["examples"] = fields[key].examples  # pydantic sorts the keys in them
            _add_rules(f"{name}.{key}", value)
        if name in RULES:
            part["allOf"] = RULES[name]
    for place, found in (("AccessPart.instruction", instruction_schema()), (f"{_ROOT}.target", target_schema())):
        _replace(_at(parts, place), found)
    spec = parts.pop(_ROOT)
    # No title: editors would show it above every key.
    return _ordered({"$schema": DIALECT, **spec, "definitions": dict(sorted(parts.items()))})


def _models(base: type[Part]) -> Iterator[type[Part]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _draft_7(schema: Schema) -> Schema:
    """The same in draft 7, without what says nothing: titles made of names, defaults of null."""
    result: Schema = {}
    for keyword, value in schema.items():
        if keyword in _OF_NAMES:
            result[keyword] = {name: _draft_7(part) for name, part in cast("dict[str, Schema]", value).items()}
        elif keyword in ("anyOf", "oneOf"):  # the branches of ours exclude each other
            result["anyOf"] = _flat([_draft_7(part) for part in cast("list[Schema]", value)])
        elif keyword == "items":
            result[keyword] = _draft_7(cast("Schema", value))
        elif keyword != "title" and not (keyword == "default" and value in _SAYS_NOTHING):
            result[keyword] = value
    if "const" in result:
        result.pop("enum", None)
    if "patternProperties" in result:
        result["additionalProperties"] = False
    if "$ref" in result and len(result) > 1:  # draft 7 reads nothing beside a reference
        result["allOf"] = [{"$ref": result.pop("$ref")}]
    return result


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
    """The keywords in one order, whatever the order in which pydantic has them."""
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


_ORDER = r"(\.(weak|volatile|relaxed|acquire|release|acq_rel|mmio|cta|cluster|gpu|sys))*"
_SPACE = r"\.shared(::cta)?"
_UP_TO_32 = r"[bus](8|16|32)|f(16|32)|bf16|f16x2|bf16x2"
_UP_TO_64 = rf"{_UP_TO_32}|[busf]64"
_FROM_GLOBAL = rf"({_SPACE}\.global(\.L2::\w+)*)?"

_VALUES = rf"(b128|({_UP_TO_64})|v2\.({_UP_TO_64})|v4\.({_UP_TO_32}))"
_HINTS = r"(\.L1::(evict_\w+|no_allocate))?(\.L2::evict_\w+)?(\.L2::cache_hint)?(\.L2::(64|128|256)B)?"

_OPCODES = (
    rf"ld{_ORDER}\.global(\.(ca|cg|cs|lu|cv))?(\.nc)?{_HINTS}\.{_VALUES}",
    rf"st{_ORDER}\.global(\.(wb|cg|cs|wt))?{_HINTS}\.{_VALUES}",
    rf"(ld|st){_ORDER}{_SPACE}\.{_VALUES}",
    rf"({'|'.join(MATRIX_OPCODES)})\.sync\.aligned\.m8n8\.x[124](\.trans)?({_SPACE})?\.b16",
    rf"(atom|red){_ORDER}{_SPACE}\.((add|min|max)\.[us]32|(and|or|xor|exch)\.b32|(inc|dec)\.u32)",
    rf"cp\.async\.ca{_FROM_GLOBAL}\.(4|8|16)",
    rf"cp\.async\.cg{_FROM_GLOBAL}\.16",
)
"""Opcodes that any operands may follow. Source: PTX ISA 8.7, as `hardware` reads it."""

_CA_SIZE, _CG_SIZE = r"\s*(4|8|16)\s*", r"\s*(16)?\s*"
_COPIES = (
    rf"cp\.async\.ca{_FROM_GLOBAL} ({_CA_SIZE}|[^,]*,[^,]*,{_CA_SIZE}(,[\s\S]*)?)",
    rf"cp\.async\.cg{_FROM_GLOBAL}( ({_CG_SIZE}|[^,]*,[^,]*(,{_CG_SIZE}(,[\s\S]*)?)?))?",
)
"""Copies whose size is an operand; `.cg` has but one, which may be left out."""

SPELLING = rf"^\s*(({'|'.join(_OPCODES)})(;*| [\s\S]*)|({'|'.join(_COPIES)});*)\s*$"
"""PTX spellings of the instructions, operands allowed."""


def instruction_schema() -> dict[str, object]:
    """An instruction: a name of the table, or a PTX spelling of one.

    >>> import re
    >>> [bool(re.search(SPELLING, name)) for name in ("ld.volatile.shared.v4.f32", "ld.local.f32")]
    [True, False]
    """
    return {"anyOf": [*_named([*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS]), {"type": "string", "pattern": SPELLING}]}


def target_schema() -> dict[str, object]:
    """A target: a name of the table.

    >>> list(target_schema())
    ['anyOf']
    """
    return {"anyOf": _named(TARGETS)}


def _named(names: Iterable[str]) -> list[dict[str, object]]:
    """These names, for an editor to list; blanks around them are read over."""
    listed = list(names)
    either = "|".join(listed).replace(".", r"\.")
    return [{"type": "string", "enum": listed}, {"type": "string", "pattern": rf"^\s*({either})\s*$"}]

"""Ways through a schema, and from the text of a spec to the data that a schema judges."""

from __future__ import annotations

from collections.abc import Iterator

from swzverify.spec.problems import Problems
from swzverify.spec.source import read_tree, to_data

MAPS = ("properties", "patternProperties", "definitions")
LISTS = ("allOf", "anyOf", "oneOf")
SINGLE = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else", "contains")
RULES = ("not", "if", "then", "else", "propertyNames")
"""What lies below these says which documents are refused; it names no keys of its own."""


def subschemas(
    schema: object, path: tuple[str, ...] = (), *, rules: bool = False
) -> Iterator[tuple[tuple[str, ...], dict]]:
    """Every schema in a schema with its path, the keys' among them; with `rules` the conditions
    too.
    """
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword, value in schema.items():
        if keyword in MAPS:
            for name, part in value.items():
                yield from subschemas(part, (*path, keyword, name), rules=rules)
        elif keyword in LISTS:
            for index, part in enumerate(value):
                yield from subschemas(part, (*path, keyword, str(index)), rules=rules)
        elif keyword in SINGLE and (rules or keyword not in RULES):
            yield from subschemas(value, (*path, keyword), rules=rules)


def keys(schema: dict) -> Iterator[tuple[str, str, dict]]:
    """Every key that a spec may have: the model it belongs to, its name (or the pattern of names),
    its schema.
    """
    for path, part in subschemas(schema):
        if len(path) > 1 and path[-2] in ("properties", "patternProperties") and not _is_rule(path):
            yield (path[1] if path[0] == "definitions" else "SpecPart"), path[-1], part


def _is_rule(path: tuple[str, ...]) -> bool:
    """Whether the path leads into the rules on which keys go together, an `allOf` of a whole model."""
    return path[:1] == ("definitions",) and path[2:3] == ("allOf",)


def data_of(text: str) -> object | None:
    """What a spec's text holds; None where it is not even the YAML that specs are written in."""
    problems = Problems("<text>")
    tree = read_tree(text, problems)
    return None if tree is None or len(problems) else to_data(tree)

"""Write the reference pages, the JSON Schema of specs, the table of the claims, AGENTS.md and llms.txt.

Run it by `python docs/reference/generate.py`. The pages are `spec.md`, `commands.md` and `python.md`
beside this file. The first is the JSON Schema of specs in words, which is made from the models that
read them. The second is every command's `--help`, and the third is made of docstrings. A test
compares the files with what this would write.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias, cast

from click import Context, Group
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.claims import Claim, claim_types
from swzverify.claims.form import Count, Named
from swzverify.core.words import listed
from swzverify.hardware import Space
from swzverify.spec.schema import json_schema, schema_text

HERE = Path(__file__).parent
DOCS = HERE.parent
CLAIMS = DOCS / "claims" / "index.md"
sys.path.insert(0, str(HERE))

from agents_page import ROOT, agents_text, llms_text  # noqa: E402 - it stands beside this file
from python_page import python_page  # noqa: E402 - likewise

Schema: TypeAlias = dict[str, object]

_REST = {"Part": "", "Argument": " (argument)"}
_PLAIN = re.compile(r"[A-Za-z0-9_./<(][A-Za-z0-9_./<>()*+ ^-]*")


def spec_page(schema: Schema) -> str:
    """The keys of a spec: the file's own, then each mapping in the order in which it is named.

    Claims come last.
    """
    definitions = cast("dict[str, Schema]", schema["definitions"])
    names = list(dict.fromkeys(_mentioned(schema, definitions)))
    claims = [name for name in names if name.endswith("Claim")]
    parts = [name for name in names if not name.endswith(("Claim", "Argument"))]
    arguments = [name for name in names if name.endswith("Argument")]
    lines = [_INTRODUCTION, "", "## The file", "", *_table(schema)]
    for name in parts:
        lines += ["", f"## {_title(name)}", "", _cell(str(definitions[name].get("description", ""))), ""]
        lines += _table(definitions[name])
    lines += ["", "## claim", "", "Each item of the list `claims` has one of these keys,", "", *_CLAIM_HEAD]
    for name in claims:
        kind = _kind(name)
        row = next(row for row in _table(definitions[name]) if row.startswith(f"| `{kind}` |"))
        lines.append(row.replace(f"`{kind}`", f"[`{kind}`](../claims/{kind}.md)", 1).replace("| required |", "| |", 1))
    others = dict(cast("Schema", definitions[claims[0]]["properties"]))
    del others[_kind(claims[0])]
    lines += ["", "and may have these besides:", "", *_table({"properties": others})]
    for name in arguments:
        lines += ["", f"## {_title(name)}", "", _cell(str(definitions[name].get("description", ""))), ""]
        lines += _table(definitions[name])
    return "\n".join(lines) + "\n"


_CLAIM_HEAD = ("| key | takes | default | means |", "|---|---|---|---|")
_INTRODUCTION = """# The spec, key by key

What a key means exactly is in [semantics](../semantics.md), how large a spec may be in [limits](../limits.md), and what
the claims are about in [the claims](../claims/index.md). `swzverify schema` prints the JSON Schema, for editors, from
which this page is made.

An *expression* is a C integer expression. In `let`, `coord`, `stage`, `address`, `if`, `assume` and `value` it may use
variables, everywhere else constants only. Where YAML would read it otherwise it stands in quotes. Keys that no table
has are refused."""


def claims_table() -> str:
    """The table of docs/claims/index.md: each kind of claim, what it is about, and what it says."""
    rows = [f"| [{kind}]({kind}.md) | {_about(claim)} | {claim.form.says} |" for kind, claim in claim_types().items()]
    return "\n".join(["| claim | of | it says |", "|---|---|---|", *rows, ""])


def _about(claim: type[Claim]) -> str:
    """What a claim is about."""
    form = claim.form
    to = f" to {claim.space}" if claim.space is Space.GLOBAL else ""
    if form.keys:
        return " and ".join(f"{key.role.noun}{to}" for key in form.keys if isinstance(key, Named))
    if form.count is Count.ONE:
        return " or ".join(role.noun for role in form.roles) + to
    several = listed((role.section for role in form.roles), "or")
    return f"{form.count} {several}"


def with_claims(page: str) -> str:
    """The page docs/claims/index.md with the table as it is now."""
    return re.sub(r"^\| claim \|.*?\n(?=\n)", lambda _: claims_table(), page, flags=re.MULTILINE | re.DOTALL)


def commands_page() -> str:
    """Every command with what its `--help` says."""
    lines = ["# The commands", "", "What `--help` says of each."]
    for words in _commands(main, ()):
        command = " ".join(("swzverify", *words))
        said = CliRunner().invoke(main, [*words, "--help"], prog_name="swzverify").output.rstrip()
        lines += ["", f"## {command}", "", "```console", f"$ {command} --help", said, "```"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _commands(group: Group, before: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield before
    for name in group.list_commands(Context(group)):
        command = group.get_command(Context(group), name)
        if isinstance(command, Group):
            yield from _commands(command, (*before, name))
        elif command is not None and not command.hidden:
            yield (*before, name)


def _mentioned(part: object, definitions: dict[str, Schema], seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The definitions that a part of the schema leads to, depth first."""
    match part:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            if name not in seen:
                yield name
                yield from _mentioned(definitions[name], definitions, seen | {name})
        case dict():
            for key, value in cast("Schema", part).items():
                if key != "definitions":
                    yield from _mentioned(value, definitions, seen)
        case list():
            for item in cast("list[object]", part):
                yield from _mentioned(item, definitions, seen)
        case _:
            pass


def _title(name: str) -> str:
    ending = next((end for end in _REST if name.endswith(end)), "")
    return _words(name.removesuffix(ending), " ") + _REST.get(ending, "")


def _kind(name: str) -> str:
    return _words(name.removesuffix("Claim"), "_")


def _words(name: str, between: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", between, name).lower()


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title).replace(" ", "-")


def _table(schema: Schema) -> list[str]:
    """One line a key."""
    needed = cast("list[str]", schema.get("required", []))
    lines = ["| key | takes | default | means |", "|---|---|---|---|"]
    for key, value in cast("dict[str, Schema]", schema.get("properties", {})).items():
        default = "required" if key in needed else _code(value["default"]) if value.get("default") is not None else ""
        examples = cast("list[object]", value.get("examples", []))
        means = str(value.get("description", ""))
        if examples:
            means += ("; " if means else "") + "for example " + " or ".join(map(_code, examples))
        lines.append(f"| `{key}` | {_takes(value)} | {default} | {_cell(means)} |")
    return lines


def _takes(schema: Schema) -> str:
    """What a value may be, in words."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            title = "claim" if name.endswith("Claim") else _title(name)
            return f"[{title}](#{_anchor(title)})"
        case {"allOf": [dict() as only]}:
            return _takes(cast("Schema", only))
        case {"anyOf": list() as branches} | {"oneOf": list() as branches}:
            return _either([branch for branch in cast("list[Schema]", branches) if branch.get("type") != "null"])
        case {"const": value}:
            return _code(value)
        case {"enum": list() as values}:
            return _one_of(cast("list[object]", values))
        case {"type": "array"}:
            return _list(schema)
        case {"type": "object", "patternProperties": dict() as entries}:
            inner = next(iter(cast("dict[str, Schema]", entries).values()))
            return f"names, each with {_takes(inner)}"
        case {"type": "integer"}:
            return _integer(schema)
        case {"type": "string", "pattern": str(pattern)} if pattern.startswith("^[A-Za-z_]"):
            return "a name"
        case {"type": "string"}:
            return "text"
        case _:
            return "a mapping" if schema.get("type") == "object" else "any value"


def _either(branches: list[Schema]) -> str:
    """Several kinds of value, lists last.

    A pattern beside a list of words says no more than the list, and is left out.
    """
    if any("enum" in branch and branch.get("type") == "string" for branch in branches):
        branches = [branch for branch in branches if "pattern" not in branch]
    numbers = any(branch.get("type") == "integer" for branch in branches)
    branches = sorted(branches, key=lambda branch: branch.get("type") == "array")
    words = ["an expression" if numbers and branch.get("type") == "string" else _takes(branch) for branch in branches]
    return " or ".join(dict.fromkeys(words))


def _one_of(values: list[object]) -> str:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) > 8 and all(b == 2 * a for a, b in pairwise(numbers)):
        return f"a power of two ({numbers[0]} to {numbers[-1]})"
    return ", ".join(map(_code, values))


def _integer(schema: Schema) -> str:
    low, high = schema.get("minimum", -(2**31)), schema.get("maximum", 2**32 - 1)
    if (low, high) == (-(2**31), 2**32 - 1):
        return "an integer"
    return f"an integer ({f'{low} or more' if high == 2**32 - 1 else f'{low} to {high}'})"


def _list(schema: Schema) -> str:
    low, high = schema.get("minItems", 0), schema.get("maxItems")
    inner = _takes(cast("Schema", schema.get("items", {})))
    if low == high:
        return f"a list of {low} (each {inner})"
    return f"a list{f' of up to {high}' if high else ''} (each {inner})"


def _code(value: object) -> str:
    text = _flow(value)
    return f"<code>{_escaped(text)}</code>" if "|" in text or "`" in text else f"`{text}`"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;").replace("`", "&#96;")


def _flow(value: object) -> str:
    """A value as YAML writes it on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in cast("Schema", value).items()) + "}"
        case list():
            return "[" + ", ".join(_flow(item) for item in cast("list[object]", value)) + "]"
        case str():
            return (
                value if _PLAIN.fullmatch(value) and value == value.strip() else json.dumps(value, ensure_ascii=False)
            )
        case _:
            return json.dumps(value)


def _cell(text: str) -> str:
    """Prose within a table: bars are no borders; `<` outside code is no tag."""
    parts = re.split(r"(<code>.*?</code>|`[^`]*`)", " ".join(text.split()))
    return "".join(
        part if index % 2 else part.replace("<", r"\<").replace("|", r"\|") for index, part in enumerate(parts)
    )


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    (HERE / "spec.md").write_text(spec_page(json_schema()), encoding="utf-8")
    (HERE / "commands.md").write_text(commands_page(), encoding="utf-8")
    (HERE / "python.md").write_text(python_page(), encoding="utf-8")
    (DOCS / "schemas" / "spec-1.schema.json").write_text(schema_text(), encoding="utf-8")
    CLAIMS.write_text(with_claims(CLAIMS.read_text("utf-8")), encoding="utf-8")
    (ROOT / "llms.txt").write_text(llms_text(), encoding="utf-8")
    (ROOT / "AGENTS.md").write_text(agents_text(), encoding="utf-8")

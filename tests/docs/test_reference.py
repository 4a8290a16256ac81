"""The generated pages of docs/reference/ are what `python docs/reference/generate.py` writes now."""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

import pytest
from ruamel.yaml import YAML

from swzverify.apps.cli import COMMANDS
from swzverify.claims import KINDS
from swzverify.spec.claim_models import claim_part
from swzverify.spec.models import SECTIONS, SpecPart
from swzverify.spec.schema import json_schema
from tests.docs.blocks import ROOT

HERE = ROOT / "docs" / "reference"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_reference", HERE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_are_in_step(generate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    hint = "write them again: python docs/reference/generate.py"
    assert (HERE / "spec.md").read_text("utf-8") == generate.spec_page(json_schema()), hint
    assert (HERE / "commands.md").read_text("utf-8") == generate.commands_page(), hint
    assert (HERE / "python.md").read_text("utf-8") == generate.python_page(), hint
    assert (ROOT / "llms.txt").read_text("utf-8") == generate.llms_text(), hint
    assert (ROOT / "AGENTS.md").read_text("utf-8") == generate.agents_text(), hint
    index = generate.CLAIMS.read_text("utf-8")
    assert index == generate.with_claims(index), hint


@pytest.mark.parametrize("package", ["swzverify", "swzverify.claims", "swzverify.layout", "swzverify.testing"])
def test_every_public_python_name_is_there_once(package: str) -> None:
    page = (HERE / "python.md").read_text("utf-8")
    _, _, section = page.partition(f"## {package}\n")
    section = section.partition("\n## ")[0]
    names = re.findall(r"^### (\w+)$", section, re.MULTILINE)
    assert len(names) == len(set(names))
    left_out = {"KINDS", "Claim", "claim_types", "Coord", "IntTuple", "Ints", "Tiler", "Layout", "Swizzle"}
    public = set(importlib.import_module(package).__all__)
    assert set(names) == (public if package in ("swzverify", "swzverify.testing") else public - left_out)


def test_what_agents_read_is_whole() -> None:
    llms = (ROOT / "llms.txt").read_text("utf-8")
    pages = {file.relative_to(ROOT).as_posix() for file in (ROOT / "docs").glob("*.md")}
    linked = re.findall(r"^- \[.+?\]\((docs/[^)]+)\): \S.*\.?$", llms, re.MULTILINE)
    assert pages - set(linked) == set()
    assert len(linked) == len(set(linked)) == llms.count("\n- ")
    agents = (ROOT / "AGENTS.md").read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)", agents) + linked
    assert [target for target in targets if not (ROOT / target).is_file()] == []
    assert [name for name in COMMANDS if f"| `swzverify {name}` | " not in agents] == []
    assert "| 3 | nothing was refuted unexpectedly, but something is unknown or vacuous |" in agents


def test_every_key_and_every_command_is_there() -> None:
    page = (HERE / "spec.md").read_text("utf-8")
    models = [SpecPart, *SECTIONS.values(), *map(claim_part, KINDS)]
    keys = {field.alias or name for model in models for name, field in model.model_fields.items()}
    assert [key for key in sorted(keys) if not re.search(rf"^\| \[?`{key}`", page, re.MULTILINE)] == []
    commands = (HERE / "commands.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"## swzverify {name}\n" not in commands] == []


def test_examples_are_yaml() -> None:
    page = (HERE / "spec.md").read_text("utf-8")
    examples = [
        text for row in re.findall(r"for example (.*) \|$", page, re.MULTILINE) for text in re.findall("`([^`]*)`", row)
    ]
    assert len(examples) > 50
    for example in examples:
        YAML(typ="safe", pure=True).load(f"key: {example}")


def test_a_schema_that_changes_changes_the_page(generate: ModuleType) -> None:
    schema = json_schema()
    changed = {
        **schema,
        "properties": {**schema["properties"], "colour": {"type": "string", "description": "its <b>|b"}},
    }
    row = r"| `colour` | text |  | its \<b>\|b |"
    assert row not in generate.spec_page(schema)
    assert row in generate.spec_page(changed)

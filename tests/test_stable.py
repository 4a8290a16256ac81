"""Every name that docs/stability.md calls stable is still there.

`python -m tests.test_stable` records the names, at a release: what came since then is promised from then on.
"""

from __future__ import annotations

import inspect
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

import swzverify
from swzverify import testing
from swzverify.apps.cli import COMMANDS, main
from swzverify.apps.commands import mcp_tools, scan, synth
from swzverify.claims import KINDS
from swzverify.claims.verdict import OF_CLAIMS
from swzverify.core.error_codes import TITLES
from swzverify.core.outside import Group
from swzverify.report.result import ExitCode

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests" / "data" / "stable.json"


def surface() -> dict[str, list[str]]:
    """All names that are promised, by what they are."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    action, hooks = (YAML(typ="safe").load((ROOT / name).read_text("utf-8")) for name in ("action.yml", HOOKS))
    schemas = {path.name.removesuffix(".schema.json"): path for path in (ROOT / "docs/schemas").glob("*.schema.json")}
    found: dict[str, Iterable[str]] = {
        "claims": KINDS,
        "verdicts": OF_CLAIMS,
        "error codes": TITLES,
        "exit codes": (f"{where} {each.name}={each.value}" for where, codes in EXITS.items() for each in codes),
        "commands": (each for name in COMMANDS for each in _options(name)),
        "JSON": (f"{name} {key}" for name, path in schemas.items() for key in _keys(json.loads(path.read_text()))),
        "Python": [*_names(swzverify), *_names(testing)],
        "entry points": [each.value for each in Group],
        "extras": project["optional-dependencies"],
        "scripts": project["scripts"],
        "hooks": [hook["id"] for hook in hooks],
        "action": [*action["inputs"], *action["outputs"]],
        "tools": [tool.__name__ for tool in mcp_tools.TOOLS],
    }
    return {what: sorted(str(name) for name in names) for what, names in found.items()}


HOOKS = ".pre-commit-hooks.yaml"
EXITS: Mapping[str, Any] = {"prove": ExitCode, "scan": scan.ExitCode, "synth": synth.ExitCode}


def _options(name: str) -> Iterator[str]:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    yield name
    for each in command.params:
        written = [*each.opts, *each.secondary_opts] if isinstance(each, click.Option) else [f"<{each.name}>"]
        yield from (f"{name} {option}" for option in written)
        if isinstance(each.type, click.Choice):
            yield from (f"{name} {written[0]}={choice}" for choice in each.type.choices)


def _keys(schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    for name, part in schema.items():
        if name == "properties":
            yield from (f"{where}.{key}" for key in part)
        if isinstance(part, dict):
            yield from _keys(part, f"{where}.{name}" if name not in ("$defs", "definitions", "properties") else where)


def _names(module: Any) -> Iterator[str]:
    for name in module.__all__:
        value = getattr(module, name)
        yield f"{module.__name__}.{name}"
        if callable(value):
            yield from (f"{module.__name__}.{name}({each})" for each in inspect.signature(value).parameters)


def gone(recorded: Mapping[str, Iterable[str]], today: Mapping[str, Iterable[str]]) -> list[str]:
    """The recorded names that are not there any more."""
    return [f"{what}: {name}" for what, names in recorded.items() for name in names if name not in today.get(what, ())]


def test_no_stable_name_is_gone() -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert gone(recorded["names"], surface()) == []
    assert sum(map(len, recorded["names"].values())) > 1000


@pytest.mark.parametrize("what", json.loads(RECORDED.read_text("utf-8"))["names"])
def test_a_name_that_goes_is_noticed(what: str) -> None:
    recorded, names = json.loads(RECORDED.read_text("utf-8"))["names"], surface()
    lost = recorded[what][-1]
    names[what].remove(lost)
    assert gone(recorded, names) == [f"{what}: {lost}"]


def test_the_page_names_the_record() -> None:
    page = (ROOT / "docs" / "stability.md").read_text("utf-8")
    assert f"`{RECORDED.relative_to(ROOT).as_posix()}`" in page


if __name__ == "__main__":
    RECORDED.write_text(json.dumps({"release": swzverify.__version__, "names": surface()}, indent=1) + "\n", "utf-8")

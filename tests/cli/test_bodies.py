"""Each command finds what does its work, and nothing else imports it."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

import click
import pytest

import swzverify.apps.cli
from swzverify.apps.cli import COMMANDS, main

FOLDER = Path(swzverify.apps.cli.__file__).parent
LATE = {"body.py": 2}
"""Files with an import inside a function, and how many."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_body_takes_what_the_command_line_gives(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    body = getattr(import_module(f"swzverify.apps.commands.{name}"), name)
    parameters = inspect.signature(body).parameters
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters.values())
    assert all(parameter.default is inspect.Parameter.empty for parameter in parameters.values())
    assert set(parameters) == {parameter.name for parameter in command.params if parameter.expose_value}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_calls_the_body_of_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, object]] = []
    module = import_module(f"swzverify.apps.cli.{name}")
    monkeypatch.setattr(module, "run", lambda *given: called.append(given))
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.callback is not None
    command.callback(some="value")
    assert called == [(name, {"some": "value"})]


def test_one_file_waits_with_its_imports() -> None:
    found: dict[str, int] = {}
    for file in sorted(FOLDER.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        inside = [
            node
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        if inside:
            found[file.name] = len(inside)
    assert found == LATE

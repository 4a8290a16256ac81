"""The extension for VS Code starts the server, and the docs' setups name a command that is there."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from swzverify.apps.cli import COMMANDS

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def test_the_extension_starts_the_server() -> None:
    package = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    main = (EXTENSION / package["main"]).read_text("utf-8")
    setting = package["contributes"]["configuration"]["properties"]["swzverify.command"]
    assert setting["default"] == ["swzverify", "lsp", "--stdio"]
    assert 'get("command")' in main
    assert set(re.findall(r'require\("([^"/]+)', main)) == {"vscode", *package["dependencies"]}
    languages = {event.removeprefix("onLanguage:") for event in package["activationEvents"]}
    assert languages == {"yaml", *re.findall(r'language: "([^"]+)"', main)}
    assert package["version"] in (EXTENSION / "README.md").read_text("utf-8")


def test_the_setups_of_other_editors() -> None:
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")
    (helix,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    server = tomllib.loads(helix)["language-server"]["swzverify"]
    assert [server["command"], *server["args"]] == ["swzverify", "lsp"]
    assert 'cmd = { "swzverify", "lsp" }' in page
    assert "lsp" in COMMANDS

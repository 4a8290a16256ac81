"""The package of docs/extend.md, installed, and the command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from tests.outside.installed import EXAMPLE, install, page_code

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def example(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder; the package of the page is installed."""
    install(monkeypatch, tmp_path, "swz-example", page_code(), EXAMPLE)
    return here


@pytest.fixture
def swzverify() -> Run:
    """Runs the command in this process."""
    return lambda *arguments: CliRunner().invoke(main, list(arguments), prog_name="swzverify")

"""The first report of docs/scan.md and of the README, of a kernel as people write it, is what nvcc's code gives."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from tests.docs.blocks import blocks_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scan.md"
_COMPILER = re.compile(r"(?<=PTX line )\d+|%[a-z]+\d+|  (?:verdicts .* without )?machine code: .*\n")
"""What another version of nvcc, or a tool that is installed, changes."""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_the_report_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = blocks_of(PAGE.read_text(encoding="utf-8"))
    source = next(each.text for each in blocks if each.language == "cuda")
    command, _, shown = next(each.text for each in blocks if each.language == "console").partition("\n")
    monkeypatch.chdir(tmp_path)
    Path("transpose.cu").write_text(source, encoding="utf-8")
    words = command.removeprefix("$ swzverify ").split()
    found = CliRunner().invoke(main, words, prog_name="swzverify").stdout
    assert _COMPILER.sub("", found).strip() == _COMPILER.sub("", shown).strip()
    steps = next(each.text for each in blocks if each.language == "sh").splitlines()
    subprocess.run(shlex.split(steps[0]), check=True, timeout=100)
    two = CliRunner().invoke(main, shlex.split(steps[1])[1:], prog_name="swzverify").stdout
    assert _COMPILER.sub("", two).partition("\n")[2] == _COMPILER.sub("", found).partition("\n")[2]
    readme = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"))
    again, _, part = next(each.text for each in readme if each.language == "console").partition("\n")
    assert again == command
    lines = _COMPILER.sub("", shown).splitlines()
    assert [line for line in _COMPILER.sub("", part).splitlines() if line not in {*lines, "..."}] == []

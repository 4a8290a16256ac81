"""The README's way from a clone to a verdict on an own kernel: five commands, which exist.

`.ci/packages` runs them word for word; that needs the network, so that no test does it.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from click.testing import CliRunner

from swzverify.apps.cli import main
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.unrun import check_command

HERE = Path(__file__).parent


def test_a_stranger_needs_five_commands() -> None:
    (block,) = [each for each in blocks_of((ROOT / "README.md").read_text("utf-8")) if "stranger" in each.marks]
    commands = block.text.splitlines()
    assert len(commands) <= 5
    clone, enter, environment, install, scan = map(shlex.split, commands)
    assert clone[:2] == ["git", "clone"]
    assert enter == ["cd", clone[-1]]
    # the rest is what `.ci/run` runs to prove the library, with another command at the end
    proved = next(each.text for each in blocks_of((ROOT / "README.md").read_text("utf-8")) if "prove" in each.marks)
    assert " ".join(environment) in proved
    assert " ".join(install) in proved
    assert scan[0] == ".venv/bin/swzverify"
    check_command(" ".join(["swzverify", *scan[1:]]))


def test_the_kernel_of_the_stranger_is_that_of_the_page_and_gets_its_verdict() -> None:
    """`.ci/packages` scans it by the five commands; where there is no nvcc, the PTX that it made."""
    page = blocks_of((ROOT / "docs" / "scan.md").read_text("utf-8"))
    assert next(each.text for each in page if each.language == "cuda") == (HERE / "transpose.cu").read_text("utf-8")
    found = CliRunner().invoke(main, ["scan", str(HERE / "transpose.ptx"), "--block", "32,32"], prog_name="swzverify")
    wanted = "32-way, 32 wavefronts (minimum 1)"
    assert wanted in found.stdout
    assert wanted in (ROOT / ".ci" / "packages").read_text("utf-8")

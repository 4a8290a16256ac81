"""The README's way from a clone to a verdict on an own kernel: five commands, which exist.

`.ci/run` clones and installs; that needs the network, so that no test does it.
"""

from __future__ import annotations

import shlex

from tests.docs.blocks import ROOT, blocks_of
from tests.docs.unrun import check_command


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

"""What a user's own type checker says of the Python interface, strictly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
from swzverify import Access, AccessCosts, Layout, Spec, Swizzle, Tile, prove
from swzverify.claims import ConflictFree

tile = Tile("A", 16, Layout("(64,64):(64,1)"), Swizzle("Swizzle<3,3,3>"))
other = Tile("A", 16, Layout((64, 64), (64, 1)), Swizzle(3, 3, 3))
read: Access = tile.read("ldmatrix.x4", coord=["lane", 0], threads=32, loops={"k": range(4)})
found: AccessCosts = read.cost()
spec: Spec = Spec.from_text("swzverify: 1")
again: Access = spec.cases[0].accesses["x"]
costs: int = spec.cases[0].tiles["A"].write("x", coord=["a"], threads=(32, 4)).cost().wavefronts
outcome: str = prove(ConflictFree(read)).outcome
"""
WRONG = [
    'Layout("(8)", (1,))',
    "Layout([8])",
    'Swizzle("Swizzle<3,3,3>", 3)',
    "Swizzle(3, 3)",
    'Tile("A", "16", Layout(8))',
    'tile.read("x", coord=["lane"], threads="32")',
    "tile.read(coord=[0], threads=32)",
    "Spec.from_text(7)",
]


def test_a_strict_checker_accepts_the_interface_and_finds_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is in the extra dev")
    program = PROGRAM + "\n".join(f"wrong{index} = {each}" for index, each in enumerate(WRONG)) + "\n"
    (tmp_path / "user.py").write_text(program, encoding="utf-8")
    config = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)], "include": ["user.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    found = {each["range"]["start"]["line"] for each in said["generalDiagnostics"] if each["severity"] == "error"}
    first = len(PROGRAM.splitlines())
    assert found == set(range(first, first + len(WRONG)))

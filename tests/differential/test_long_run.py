"""The long run in processes of its own: what a worker runs must be importable there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_a_run_in_two_processes(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    command = [sys.executable, "-m", "tests.differential", "--seeds", "0-6", "--jobs", "2", "--record", str(record)]
    subprocess.run(command, check=True, timeout=600)
    found = json.loads(record.read_text())
    assert (found["specs"], found["chunks"], found["disagreements"]) == (6, [0], [])

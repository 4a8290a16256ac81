"""tests/README.md names every folder of tests."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent


def test_every_folder_has_a_row() -> None:
    rows = [
        line.split("|")[1] for line in (FOLDER / "README.md").read_text("utf-8").splitlines() if line.startswith("| `")
    ]
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    folders = {
        path.name for path in FOLDER.iterdir() if path.is_dir() and any(path.glob("*.*")) and path.name[0] not in "._"
    }
    assert sorted(named) == sorted(folders)

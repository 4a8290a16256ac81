"""No pattern repeats a group possessively: Python before 3.11.5 matches too little where such a
group can backtrack.

Source: CPython issue 106052. With it, a scanner of ours passed over anchors and counted too few
values.
"""

from __future__ import annotations

import re
from pathlib import Path

import swzverify

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+")


def test_no_possessive_groups() -> None:
    package = Path(swzverify.__file__).parent
    found = [
        f"{file.name}: {line.strip()}"
        for file in package.rglob("*.py")
        for line in file.read_text().splitlines()
        if POSSESSIVE_GROUP.search(line) and ("re.compile" in line or 'r"' in line)
    ]
    assert found == []

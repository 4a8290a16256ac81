"""docs/mutation_survivors.csv has as many survivors as docs/mutation.md says, each with its group."""

from __future__ import annotations

import csv
import re
from collections import Counter

from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "mutation.md").read_text("utf-8")


def test_the_groups_have_the_survivors_that_the_page_counts() -> None:
    with (ROOT / "docs" / "mutation_survivors.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    section = PAGE.split("\n## Survivors\n")[1].split("\n## ")[0]
    counted = {name: int(count) for name, count in re.findall(r"^\| ([^|]+) \| (\d+) \|", section, re.MULTILINE)}
    found = Counter(row["group"] for row in rows)
    assert found.pop("new modules") == int(re.findall(r"The (\d+) survivors change nothing", PAGE)[0])
    assert found == counted
    assert f"the file explains each of the\n{sum(counted.values())} that survive" in PAGE
    assert all(re.fullmatch(r"[\w/]+\.py:\d+", row["where"]) and row["function"] for row in rows)
    own = ("The same answer for every input that can come there", "What the solver does not need", "new modules")
    assert all(row["why"] for row in rows if row["group"] in own)

"""Whether the tree can be released as a version: `python .ci/release.py TAG`.

The tag, the package and the changelog name one version, and no fragment waits in changelog.d.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path


def faults(root: Path, tag: str) -> list[str]:
    """What stands in the way, in sentences; empty: nothing.

    >>> faults(Path("."), "1.0")
    ['the tag 1.0 is not of the form v1.2.3']
    """
    version = tag.removeprefix("v")
    if not re.fullmatch(r"v\d+\.\d+\.\d+", tag):
        return [f"the tag {tag} is not of the form v1.2.3"]
    found: list[str] = []
    stated = re.search(r'^__version__ = "(.+)"$', (root / "swzverify/__init__.py").read_text("utf-8"), re.MULTILINE)
    if stated is None or stated[1] != version:
        found.append(f"swzverify/__init__.py has version {stated and stated[1]}, the tag is {tag}")
    headings = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if not headings or not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", headings[0]):
        found.append(f"the first section of CHANGELOG.md is '{headings[:1]}', not '{version} (DATE)'")
    waiting = sorted(path.name for path in (root / "changelog.d").glob("+*.md"))
    if waiting:
        found.append(f"changelog.d has {len(waiting)} changes that are not in CHANGELOG.md, such as {waiting[0]}")
    return found


if __name__ == "__main__":
    problems = faults(Path(__file__).resolve().parents[1], sys.argv[1])
    print("\n".join(problems) or f"{sys.argv[1]} can be released")  # noqa: T201
    raise SystemExit(bool(problems))

"""Write what commands print now into the consoles of pages: `python -m tests.docs.rewrite
docs/claims/aligned.md ...`.

Look at the difference before you keep it: a page says in words what its consoles show.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs.blocks import ROOT, blocks_of
from tests.docs.session import Session


def rewritten(page: str, markdown: str) -> str:
    """The page with consoles as they would be now."""
    blocks = blocks_of(markdown)
    texts: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        Session(page, Path(folder), rewritten=texts).run(blocks)
    lines = markdown.splitlines(keepends=True)
    for block in reversed(blocks):
        if block.line in texts:
            lines[block.line : block.line + block.text.count("\n")] = texts[block.line]
    return "".join(lines)


def main(pages: list[str]) -> None:
    """Rewrite the pages in their places."""
    for page in pages:
        path = ROOT / page
        path.write_text(rewritten(page, path.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

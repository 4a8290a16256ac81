"""The files of the tutorial's pages, for examples/tutorial/.

`python -m tests.docs.tutorial` writes them again.
"""

from __future__ import annotations

from tests.docs.blocks import ROOT, blocks_of

FOLDER = ROOT / "examples" / "tutorial"
PAGES = ("transpose", "gemm", "next")


def tutorial_files() -> dict[str, str]:
    """The text of each file that a page shows, by its path below examples/tutorial/."""
    found: dict[str, str] = {}
    for page in PAGES:
        for block in blocks_of((ROOT / "docs" / "tutorial" / f"{page}.md").read_text("utf-8")):
            if block.file:
                assert f"{page}/{block.file}" not in found
                found[f"{page}/{block.file}"] = block.text
    return found


if __name__ == "__main__":
    for name, text in tutorial_files().items():
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(text, encoding="utf-8")

"""Write the titles of error codes into the pages beside this file and into their index.

Run it by `python docs/errors/generate.py`. The titles are those of
`swzverify/core/error_codes.py`. The rest of a page is written by hand; a new code gets a page with
its title. A test compares the files with what this would write.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from swzverify.core.error_codes import GROUPS, TITLES

HERE = Path(__file__).parent


def written() -> Iterator[tuple[Path, str]]:
    """Each file with its text."""
    for code, title in TITLES.items():
        page = HERE / f"{code}.md"
        body = page.read_text("utf-8").partition("\n")[2] if page.exists() else ""
        yield page, f"# {code}: {title}\n{body}"
    index = HERE / "index.md"
    introduction = index.read_text("utf-8").partition("\n## ")[0]
    yield index, introduction + "".join(map(_section, GROUPS))


def _section(group: str) -> str:
    rows = "".join(f"| [{code}]({code}.md) | {title} |\n" for code, title in GROUPS[group].items())
    return f"\n## {group}\n\n| code | means |\n|---|---|\n{rows}"


if __name__ == "__main__":
    for path, text in written():
        path.write_text(text, encoding="utf-8")

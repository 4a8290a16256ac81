"""The fenced blocks of a Markdown page, each with its language, its line and the comment that
stands above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]

_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
_NAMED = re.compile(r"(?:#|//|--|;)\s*([\w./-]*[\w-]\.[\w.]+)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; `marks` are the comments between it and what stands before it."""

    line: int
    language: str
    text: str
    marks: tuple[str, ...]

    def mark(self, kind: str) -> str | None:
        """What a mark of the form `kind: ...` (or `kind` alone) says."""
        for mark in self.marks:
            name, _, rest = mark.partition(":")
            if name.strip() == kind:
                return rest.strip()
        return None

    @property
    def file(self) -> str | None:
        """The file that this block is: named in a mark, or by a comment that is the whole first
        line.
        """
        named = _NAMED.fullmatch(self.text.partition("\n")[0].strip())
        return self.mark("file") or (named[1] if named else None)


def pages() -> list[str]:
    """Every page of the repository for readers; those of docs/errors/ have a form and a test of
    their own.
    """
    docs = [path for path in (ROOT / "docs").rglob("*.md") if not path.is_relative_to(ROOT / "docs" / "errors")]
    others = [
        ROOT / name for name in ("README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "specs/README.md")
    ]
    return sorted(path.relative_to(ROOT).as_posix() for path in [*others, *docs])


def blocks_of(markdown: str) -> list[Block]:
    """The fenced blocks in order, those in lists and tables of a page included."""
    return list(_blocks(MarkdownIt("commonmark").enable("table").parse(markdown)))


def _blocks(tokens: list[Token]) -> Iterator[Block]:
    marks: list[str] = []
    for token in tokens:
        match token.type:
            case "html_block":
                marks += _COMMENT.findall(token.content)
            case "fence" | "code_block":
                language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
                line = token.map[0] + 1 if token.map else 0
                yield Block(line, language, token.content, tuple(marks))
                marks = []
            case _:
                marks = []


def code_of(markdown: str) -> list[tuple[int, str]]:
    """The code within the text, with the line of its paragraph."""
    found: list[tuple[int, str]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "inline" and token.children:
            line = token.map[0] + 1 if token.map else 0
            found += [(line, child.content) for child in token.children if child.type == "code_inline"]
    return found


def links_of(markdown: str) -> list[str]:
    """Where the page's links and pictures lead."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    children = [child for token in tokens for child in token.children or []]
    return [
        str(child.attrs.get("href") or child.attrs.get("src"))
        for child in children
        if child.type in {"link_open", "image"}
    ]


@cache
def anchors_of(markdown: str) -> frozenset[str]:
    """The anchors that GitHub gives the headings of a page."""
    anchors: list[str] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            words = "".join(child.content for child in inline.children or [] if child.type in {"text", "code_inline"})
            slug = re.sub(r"[^\w\- ]", "", words.lower().strip()).replace(" ", "-")
            again = sum(1 for anchor in anchors if re.fullmatch(re.escape(slug) + r"(-\d+)?", anchor))
            anchors.append(f"{slug}-{again}" if again else slug)
    return frozenset(anchors)

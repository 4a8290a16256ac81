"""Reads a page as a tree, strictly: each element that is opened is closed in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input"}


@dataclass
class Element:
    """An element: its name, its attributes, and what is inside, texts among it."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Element | str] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        """This one, and all below it, in the page's order."""
        yield self
        for each in self.inside:
            if isinstance(each, Element):
                yield from each.walk()

    def find(self, tag: str, name: str = "") -> list[Element]:
        """All of this tag below, with a class of this name where one is given."""
        found = [each for each in self.walk() if each.tag == tag]
        return [each for each in found if not name or name in each.attributes.get("class", "").split()]

    @property
    def text(self) -> str:
        """What it says, without styles and scripts."""
        if self.tag in {"style", "script"}:
            return ""
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def raw(self) -> str:
        """The text of a style or a script."""
        return "".join(each for each in self.inside if isinstance(each, str))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, attrs)
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, tag

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_pi = handle_comment

    def handle_decl(self, decl: str) -> None:
        assert decl == "DOCTYPE html"


def read(page: str) -> Element:
    """The page's root element."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    (html,) = [each for each in reader.root.inside if isinstance(each, Element)]
    return html


def outline(element: Element, depth: int = 0) -> list[str]:
    """The structure in lines: tags with their ids, classes and data, and short texts."""
    if element.tag in {"style", "script"}:
        return [f"{'  ' * depth}{element.tag}"]
    told = {name: value for name, value in element.attributes.items() if name not in {"content", "class", "id"}}
    line = element.tag + "".join(f"#{value}" for name, value in element.attributes.items() if name == "id")
    line += "".join(f".{each}" for each in element.attributes.get("class", "").split())
    line += "".join(f" {name}={value}" for name, value in told.items())
    texts = " ".join(each.strip() for each in element.inside if isinstance(each, str) and each.strip())
    lines = ["  " * depth + line + (f": {texts}" if texts else "")]
    for each in element.inside:
        if isinstance(each, Element):
            lines += outline(each, depth + 1)
    return lines

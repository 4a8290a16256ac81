"""Names that a spec gives, in every format: text and nothing else."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hypothesis import given

from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.html import render_html
from swzverify.explain.pictures.latex import latex_text, render_latex
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.text import TextLook, render_text
from tests.report.test_sinks import NASTY, Tags


def picture(text: str) -> Picture:
    cell = Cell(0, 0, (text,), None, marked=True, tip=text)
    return Picture(text, (text,), (Panel(text, text, text, (text,), (text,), (cell,)),), None, text)


def tags(markup: str) -> int:
    reader = Tags()
    reader.feed(markup)
    reader.close()
    return reader.tags


@given(NASTY)
def test_svg_has_the_same_tags_whatever_the_name(text: str) -> None:
    root = ElementTree.fromstring(render_svg(picture(text)))  # noqa: S314 - our own text
    plain = ElementTree.fromstring(render_svg(picture("a")))  # noqa: S314
    kinds = {each.tag.rpartition("}")[2] for each in root.iter()}
    assert kinds <= {"svg", "style", "rect", "text", "path", "g", "title"}
    cells = [each for each in root.iter() if each.get("class") == "c"]
    assert len(cells) == len([each for each in plain.iter() if each.get("class") == "c"]) == 1
    assert all(set(each.attrib) <= {"class", "x", "y", "width", "height", "d"} for each in list(root.iter())[1:])


@given(NASTY)
def test_html_has_the_same_tags_whatever_the_name(text: str) -> None:
    page = render_html(picture(text))
    captions = page.count("<li>")
    assert captions == 1
    allowed = (
        "!DOCTYPE|html|head|meta|title|style|body|main|h1|ul|li|div|svg|rect|text|path|g|"
        "details|summary|table|caption|thead|tbody|tr|th|td"
    )
    assert not re.search(rf"<(?!/?(?:{allowed})\b)", page)
    body = page[page.index("<body>") :]
    assert tags(body) == body.count("<") + body.count("/>")


@given(NASTY)
def test_latex_has_no_command_of_a_name(text: str) -> None:
    shown = latex_text(text)
    assert shown.isascii()
    assert "\n" not in shown
    known = r"\\text(?:backslash|asciicircum|asciitilde|less|greater|bar|quotesingle|asciigrave)\{\}|\\[{}$&#_%]"
    rest = re.sub(known, "", shown)
    assert not re.search(r"[\\$&#%^_~]", rest)
    assert not re.search(r"[{}]", re.sub(r"(?:[-,?!]|'')\{\}", "", rest))
    document = render_latex(picture(text))
    assert document.count(r"\begin{document}") == document.count(r"\end{document}") == 1


@given(NASTY)
def test_a_terminal_is_told_nothing_by_a_name(text: str) -> None:
    for depth in ("plain", "truecolor"):
        shown = render_text(picture(text), TextLook(80, depth))
        assert all(line.isprintable() for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).split("\n"))

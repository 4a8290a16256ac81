"""Each place that a report goes to has its own way of being fooled, and its own escape."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from hypothesis import given
from hypothesis import strategies as st

from swzverify.errors import Problem
from swzverify.report import escape
from swzverify.report.problems import render_problems
from swzverify.report.style import TextStyle

NASTY = st.text(st.sampled_from(list("a0 \n\t:#[]()<>&'\"`*_~|{}\\%,@/.!-\x1b\u202e\u2028é")) | st.characters())


class Tags(HTMLParser):
    """Counts what is not text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self.tags = 0

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        _ = tag, attrs
        self.tags += 1

    handle_endtag = handle_comment = handle_decl = handle_pi = lambda self, _data: setattr(self, "tags", self.tags + 1)


@given(NASTY)
def test_html_is_text_and_nothing_else(text: str) -> None:
    shown = escape.html_text(text)
    reader = Tags()
    reader.feed(f"<p title='{shown}'>{shown}</p>")
    reader.close()
    assert reader.tags == 2
    assert reader.text == "\n".join(escape.visible_lines(text))
    assert html.unescape(shown) == reader.text
    # A page on standard output is a log too.
    assert "\n" not in shown
    assert "##" not in shown


@given(NASTY)
def test_no_line_of_a_log_is_a_command(text: str) -> None:
    shown = escape.log_lines("\n".join(escape.visible_lines(text)))
    for line in shown.split("\n"):
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##(\[|[A-Za-z]+\[)", line)


def test_a_log_keeps_what_is_no_command() -> None:
    text = "a.swz.yaml::A::injective\n  x :: y\n## title\n#[x]\n"
    assert escape.log_lines(text) == text


@given(NASTY, NASTY)
def test_a_workflow_command_has_the_message_and_properties_that_it_was_given(message: str, title: str) -> None:
    line = f"::error title={escape.github_property(title)}::{escape.github_message(message)}"
    assert "\n" not in line
    found = re.fullmatch(r"::error title=([^:,]*)::(.*)", line)
    assert found is not None
    decode = {"%25": "%", "%0A": "\n", "%0D": "\r", "%3A": ":", "%2C": ","}
    plain = [re.sub("%(?:25|0A|0D|3A|2C)", lambda code: decode[code[0]], part) for part in found.groups()]
    assert plain == [escape.visible(title), "\n".join(escape.visible_lines(message))]


@given(NASTY)
def test_markdown_has_no_punctuation_of_its_own(text: str) -> None:
    shown = escape.markdown_text(text)
    assert "\n" not in shown
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", shown.replace("@<!-- -->", ""))
    assert not re.search(r"[!-/:-@\[-`{-~]", bare)


@given(NASTY)
def test_a_code_span_ends_where_it_should(text: str) -> None:
    shown = escape.markdown_code(text)
    fence = re.match("`+", shown)
    assert fence is not None
    inside = shown[len(fence[0]) : -len(fence[0])]
    assert all(len(run) < len(fence[0]) for run in re.findall("`+", inside))
    assert "|" not in shown
    assert "\n" not in shown


@given(NASTY)
def test_a_sarif_message_has_no_links_or_placeholders(text: str) -> None:
    shown = escape.sarif_text(text)
    assert "](" not in shown
    assert not re.search(r"[{}]", shown.replace("{{", "").replace("}}", ""))
    assert json.loads(json.dumps(shown)) == shown


@given(NASTY)
def test_a_sarif_uri_is_a_relative_path(path: str) -> None:
    uri = escape.sarif_uri(path)
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
    assert re.fullmatch(r"[A-Za-z0-9_.~%/-]*", uri)
    assert not uri.startswith("/")
    if path.isascii() and "\\" not in path:
        assert unquote(uri) == path.lstrip("/")


def test_the_text_report_uses_the_log_s_escape() -> None:
    problem = Problem("SWZ104", "unknown key", "::add-mask::a", "::error::x", 1, 1, "::set-output name=x::y: 1", 3)
    shown = render_problems([problem], TextStyle())
    assert not re.search(r"^\s*::", shown, re.MULTILINE)
    assert "add-mask" in shown
    long = Problem("SWZ104", "word " * 40 + "::error::" + "z" * 300, file="a.yaml")
    for width in range(40, 130):
        assert not re.search(r"^\s*::", render_problems([long], TextStyle(width=width)), re.MULTILINE)

"""The job summary: nothing of a spec is markup, the whole fits a step's summary, and what is left
out is counted.
"""

from __future__ import annotations

import html
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from swzverify.report.escape import prose, visible
from swzverify.report.markdown import LIMIT_BYTES, render_markdown
from swzverify.report.result import Report
from swzverify.report.story import headline
from tests.report.conftest import hostile_claim, hostile_problem

_SUMMARY = re.compile(r"<details><summary>(?:All claims|\S+ <code>([^<>]*)</code>)</summary>\n")
_INLINE = {"text", "text_special", "code_inline", "html_inline", "strong_open", "strong_close"}
_BLOCKS = {"heading", "paragraph", "inline", "bullet_list", "list_item", "html_block"}
_BLOCKS |= {"table", "thead", "tbody", "tr", "th", "td"}


def parsed(report: Report, **options) -> list[Token]:
    """The page as a reader of GitHub's Markdown sees it, after a look at every token that would be
    markup.
    """
    tokens = MarkdownIt("commonmark").enable("table").parse(render_markdown(report, **options))
    depth = 0
    for token in tokens:
        assert re.sub("_(open|close)$", "", token.type) in _BLOCKS, token
        if token.type == "html_block":
            opens = _SUMMARY.fullmatch(token.content)
            assert opens or token.content == "</details>\n", token.content
            depth += 1 if opens else -1
            assert depth in {0, 1}
        for child in token.children or ():
            assert child.type in _INLINE, child
            if child.type == "html_inline":
                assert child.content == "<!-- -->"
    assert depth == 0
    return tokens


def shown(token: Token) -> str:
    """What a reader sees of a line, with the fullwidth bar of code spans as the bar that it stands
    for.
    """
    parts = [child.content for child in token.children or () if child.type in {"text", "text_special", "code_inline"}]
    return "".join(parts).replace("\uff5c", "|")


def rows(tokens: list[Token]) -> list[list[str]]:
    """The cells of every row of every table."""
    found: list[list[str]] = []
    for before, token in pairwise(tokens):
        if before.type == "tr_open":
            found.append([])
        if before.type in {"td_open", "th_open"}:
            found[-1].append(shown(token))
    return found


def test_what_is_wrong_comes_first_and_all_claims_last(mixed):
    text = render_markdown(mixed)
    assert text.startswith("## \u274c swzverify: 1 proved\\, 1 refuted as expected\\, ")
    parts = ["### Problems", "### Findings", "engines disagree", "8 lanes read 8 words of bank 0", "All claims"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    tables = rows(parsed(mixed))
    problem = ["specs/a.swz.yaml:3:5", "SWZ104", "unknown key 'tle'", "did you mean 'tile'?"]
    assert problem in tables
    assert ["no.swz.yaml", "SWZ501", "no such file or folder", ""] in tables
    subjects = [row[2] for row in tables if row[1] == "conflict_free"]
    assert subjects[:6] == ["broken", "naive_read", "late", "never", "open", "known"]
    assert subjects[6:] == [result.subject for result in mixed.results]


def test_a_finding_s_story_has_the_table_of_its_counterexample(refuted):
    tokens = parsed(Report((refuted,)))
    assert ["A", "7", "(7, 0)", "448", "1920", "0x780", "480", "0"] in rows(tokens)
    lines = [shown(token) for token in tokens if token.type == "inline"]
    assert "cost: 32 wavefronts (minimum 4), 28 bank conflicts, at warp = 1, k = 16" in lines
    assert "24 more lanes not shown" in lines


@pytest.mark.parametrize(
    ("outcome", "sign"), [("proved", "\u2705"), ("unknown", "\u26a0\ufe0f"), ("refuted", "\u274c"), ("error", "\u274c")]
)
def test_the_heading_has_the_sign_of_the_exit_code(make, outcome, sign):
    assert render_markdown(Report((make(outcome),))).startswith(f"## {sign} swzverify: ")


def test_no_claim_is_no_success_unless_it_is_allowed():
    assert render_markdown(Report(())).startswith("## \u274c swzverify: no claim found")
    assert render_markdown(Report(()), exit_code=0).startswith("## \u2705 swzverify: no claim found")


def test_a_stranger_s_words_are_words(hostile, evil):
    tokens = parsed(hostile)
    lines = [shown(token) for token in tokens if token.type == "inline"]
    for label in ("because", "source", "scope"):
        assert lines.count(f"{label}: {prose(evil)}".replace("\uff5c", "|")) == 2
    heads = [_SUMMARY.fullmatch(token.content) for token in tokens if token.type == "html_block"]
    folded = [html.unescape(head[1]) for head in heads if head and head[1]]
    assert folded == [headline(result) for result in hostile.results]
    tables = rows(tokens)
    assert [f"{visible(evil)}:3:5".strip(), "SWZ104", prose(evil), prose(evil)] in [
        [cell.strip() for cell in row] for row in tables
    ]
    assert sorted({len(row) for row in tables}) == [3, 4, 5]


@settings(max_examples=60)
@given(st.text(st.sampled_from(list("a|`*_<>&@\\[]()#-\n ~")) | st.characters(), min_size=1))
def test_any_text_is_inert(text):
    tables = rows(parsed(Report((hostile_claim(text),), (hostile_problem(text),))))
    assert [len(row) for row in tables] == [4, 4, 5, 5, 3, 3, 3, 5, 5]


@pytest.mark.parametrize("limit_bytes", [8192, 20_000, 60_000])
def test_it_fits_and_says_what_is_left_out(make, mixed, limit_bytes):
    results = tuple(make("refuted", subject=f"s{index}", because="漢" * 50) for index in range(200))
    report = Report((*results, *mixed.results), mixed.problems)
    text = render_markdown(report, limit_bytes=limit_bytes)
    assert len(text.encode()) <= limit_bytes
    tokens = parsed(report, limit_bytes=limit_bytes)
    left_out = {noun: int(count) for count, noun in re.findall(r"\*\*(\d+) of \d+ (\w+) are left out", text)}
    assert 0 < left_out["claims"] <= 208
    found = [row for row in rows(tokens) if row[1:2] == ["conflict_free"]]
    folded = text.count("<summary>") - text.count("<summary>All claims")
    assert len(found) == (206 - left_out.get("findings", 0)) + (208 - left_out["claims"])
    assert folded == 206 - left_out.get("stories", 0)
    assert "SWZ104" in text


def test_one_long_text_does_not_crowd_out_the_others(make):
    long = make("refuted", subject="s" * 100_000, reason="r" * 3_000_000)
    report = Report((long, make("refuted", subject="short")))
    text = render_markdown(report)
    assert len(text) < 60_000
    assert "characters left out" in text
    assert ["conflict_free", "short"] in [row[1:3] for row in rows(parsed(report))]


def test_the_limit_is_that_of_a_step():
    assert LIMIT_BYTES == 1 << 20

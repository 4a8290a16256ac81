"""The module that counterexamples become is Python of a known form, whatever names, paths and
values a claim has.
"""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from swzverify.claims import Counterexample, Injective, Outcome, Row, Verdict
from swzverify.layout import Layout
from swzverify.report.case_tests import MARK, RefutedClaim, render_case_tests
from swzverify.report.escape import visible
from swzverify.report.result import ClaimResult
from swzverify.subjects import Tile

TEXTS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ['"""', "'''", "\\", "\r", "\n    import os", "\x00", "\u2028", "\ud800", "{0}", "# -*- coding: x -*-"]
    ),
)
CLAIM = Injective(Tile("A", 16, Layout((8, 8), (4, 1))))


def refuted(file: str, name: str, note: str, variable: str) -> RefutedClaim:
    rows = (Row(((0, 4), 4, 8), "a"), Row(((1, 0), 4, note), "a"))
    found = Counterexample({variable: 7}, note, ("coord", "offset", "address"), rows, {})
    verdict = Verdict(Outcome.REFUTED, "", reason=note, counterexample=found)
    result = ClaimResult(f"{file}::{name}", file, 3, "injective", name, Outcome.PROVED, verdict)
    return RefutedClaim(result, CLAIM, name, file)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_any_text_stays_data(file: str, name: str, note: str, variable: str) -> None:
    text = render_case_tests([refuted(file, name, note, variable)] * 2, target=name)
    assert text.startswith(f"{MARK}\n")
    assert [line for line in text.split("\n") if visible(line) != line] == []
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body] == ["Expr", *["ImportFrom"] * 3, "Assign", *["FunctionDef"] * 2]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len({function.name for function in functions}) == 2
    for function in functions:
        assert [type(node).__name__ for node in function.body] == ["Assign", "Assign", "Assert"]
        call = ast.unparse(function.body[0])
        assert call == f"claim = claim_of(Injective, HERE / {file!r}, {name!r}, target={name!r})"


def test_a_note_without_words_has_no_line() -> None:
    assert "# found" in render_case_tests([refuted("a", "b", "", "c")])

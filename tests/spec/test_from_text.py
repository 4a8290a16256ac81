"""`Spec.from_text` and `Spec.from_file`, and what a spec says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify import Spec, load_spec
from swzverify.errors import SwzError
from swzverify.spec import SpecError, parse_spec

TEXT = """swzverify: 1
title: a <b>tile</b>
constants: {N: [8, 16]}
tiles: {A: {element: f16, layout: "(N,64):(64,1)"}}
claims:
  - injective: A
  - aligned: r
    expect: refuted
accesses: {r: {instruction: ld.shared.b32, threads: 32, address: tid*2}}
"""


def test_a_text_and_a_file_are_one_spec(tmp_path: Path) -> None:
    file = tmp_path / "a.swz.yaml"
    file.write_text(TEXT, encoding="utf-8")
    here = Spec.from_text(TEXT, path="a.swz.yaml")
    there = Spec.from_file(file)
    assert [each.kind for each in here.claims] == [each.kind for each in there.claims]
    assert here.text == there.text == TEXT
    assert type(load_spec(file)) is type(parse_spec(TEXT)) is type(here) is Spec
    assert len(here.cases) == 2


def test_a_contract_in_a_source_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.cu"
    file.write_text("// swz:begin\n// swzverify: 1\n// tiles: {A: {bits: 8, layout: '8:1'}}\n// swz:end\n", "utf-8")
    assert list(Spec.from_file(file).cases[0].tiles) == ["A"]


def test_the_target_can_be_said() -> None:
    text = "swzverify: 1\naccesses: {r: {instruction: ld.shared.b32, threads: 32, address: tid*4}}"
    assert Spec.from_text(text, target="sm_80").cases[0].accesses["r"].target.name == "sm_80"
    with pytest.raises(SwzError, match="unknown target 'sm_81'"):
        Spec.from_text(text, target="sm_81")


def test_what_it_prints() -> None:
    assert str(Spec.from_text(TEXT, path="a.yaml")).splitlines() == [
        "a.yaml: 4 claims, a <b>tile</b>",
        "  injective  A at N = 8",
        "  injective  A at N = 16",
        "  aligned    r at N = 8, expected refuted",
        "  aligned    r at N = 16, expected refuted",
    ]
    html = Spec.from_text(TEXT, path="<i>")._repr_html_()
    assert "&lt;b&gt;tile&lt;/b&gt;" in html
    assert "<b>" not in html
    assert "<i>" not in html


@pytest.mark.parametrize(("count", "rest"), [(100, ""), (101, "1 more claim"), (300, "200 more claims")])
def test_a_notebook_shows_the_first_claims_only(count: int, rest: str) -> None:
    text = f"swzverify: 1\nconstants: {{N: {list(range(1, count + 1))}}}\n"
    html = Spec.from_text(text + "tiles: {A: {bits: 8, layout: '(N):(1)'}}\nclaims: [injective: A]\n")._repr_html_()
    assert html.count("<tr>") == min(count, 100) + bool(rest)
    assert f"<td>{rest}</td>" in html or not rest


WRONG = {
    "a number": (lambda: Spec.from_text(7), "SWZ101", "Spec.from_file(path) opens one"),
    "bytes": (lambda: Spec.from_text(b"swzverify: 1"), "SWZ101", "not from bytes"),
    "a path": (lambda: Spec.from_text(Path("a.swz.yaml")), "SWZ101", "not from"),
    "a file's name": (lambda: Spec.from_text("a.swz.yaml"), "SWZ101", "Spec.from_file('a.swz.yaml')"),
    "no file's name": (lambda: Spec.from_file(7), "SWZ101", "Spec.from_text reads a text"),
}


@pytest.mark.parametrize(("make", "code", "said"), WRONG.values(), ids=WRONG)
def test_wrong_arguments_are_told(make: object, code: str, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()  # pyright: ignore[reportCallIssue]
    assert caught.value.code == code
    assert said in str(caught.value)


def test_mistakes_of_the_spec_are_all_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        Spec.from_text("swzverify: 1\ntile: {}\nclaim: []\n")
    assert [each.line for each in caught.value.problems] == [2, 3]
    with pytest.raises(SpecError, match="SWZ101"):
        Spec.from_file(tmp_path / "missing.swz.yaml")

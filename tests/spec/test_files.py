"""Files: what cannot be read, several mistakes together, how they are shown, speed and the JSON
Schema.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.spec import Problem, SpecError, json_schema, load_spec, parse_spec

from .samples import FULL


def problem_of(path: Path) -> Problem:
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    (problem,) = caught.value.problems
    assert problem.file == path.as_posix()
    return problem


@pytest.mark.parametrize(
    ("data", "code", "part"),
    [
        (b"", "SWZ101", "empty"),
        (b" \n\n", "SWZ101", "empty"),
        (b"\xef\xbb\xbf", "SWZ101", "empty"),
        (b"swzverify: 1\ntitle: \xff\n", "SWZ101", "byte 0xff is not UTF-8"),
        ("swzverify: 1\n".encode("utf-16"), "SWZ101", ""),
        (b"\x7fELF\0\0", "SWZ101", "not text"),
        (b"swzverify: 1\n#" + b"x" * 256 * 1024, "SWZ107", "256 KiB"),
    ],
    ids=["empty", "blank", "only a mark", "not UTF-8", "UTF-16", "binary", "large"],
)
def test_unreadable(tmp_path: Path, data: bytes, code: str, part: str) -> None:
    path = tmp_path / "a.swz.yaml"
    path.write_bytes(data)
    problem = problem_of(path)
    assert problem.code == code
    assert part in problem.message


def test_not_utf8_has_a_place(tmp_path: Path) -> None:
    path = tmp_path / "a.swz.yaml"
    path.write_bytes("swzverify: 1\ntitle: é".encode() + b"\xff\n")
    problem = problem_of(path)
    assert (problem.line, problem.column) == (2, 9)


def test_missing_and_directory(tmp_path: Path) -> None:
    assert "no such file" in problem_of(tmp_path / "none.yaml").message
    assert "directory" in problem_of(tmp_path).message
    assert str(problem_of(tmp_path)).startswith(f"{tmp_path.as_posix()}: SWZ101 ")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs permissions that bind")
def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("swzverify: 1\n")
    path.chmod(0)
    assert "cannot be read" in problem_of(path).message


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    text = "swzverify: 1\ntitle: x\nsource: >\n  a\n  b\ntiles: {A: {bits: 8, layout: '8:1'}}\nclaims: [{injective: A}]"
    for data in (text, text + "\n", "\ufeff" + text.replace("\n", "\r\n")):
        path.write_bytes(data.encode())
        spec = load_spec(path)
        assert (spec.title, spec.source) == ("x", "a b\n")
        assert [(claim.line, claim.column) for claim in spec.claims] == [(7, 11)]
        assert spec.path == path.as_posix()


MANY = """\
swzverify: 1
titel: x
constants: {BK: 64}
tiles:
  A: {elment: f16, layout: "8:1"}
  B: {bits: 16, layout: "(8,BQ):(64,1)", stages: 0}
  C: {bits: 16, layout: "8:1"}
accesses:
  r: {tile: C, instruction: ldmatrix.x5, threads: 0, coord: [tid +, 1]}
claims:
  - injectve: A
  - injective: A
  - injective: D
  - conflict_free: r
"""


def test_all_mistakes_together_and_nothing_that_follows_from_them() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(MANY, path="many.yaml")
    found = [(problem.line, problem.column, problem.code) for problem in caught.value.problems]
    assert found == [
        (2, 1, "SWZ104"),
        (5, 7, "SWZ104"),
        (6, 29, "SWZ301"),
        (6, 50, "SWZ105"),
        (9, 29, "SWZ401"),
        (9, 51, "SWZ105"),
        (9, 67, "SWZ302"),
        (11, 5, "SWZ104"),
        (13, 16, "SWZ106"),
    ]


def test_shown_with_the_line_and_a_caret() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("swzverify: 1\ntiles: {A: {element: fp16, layout: '8:1'}}\n", path="a.yaml")
    assert str(caught.value).split("\n")[:4] == [
        "a.yaml:2:22: SWZ105 unknown element type 'fp16'",
        "tiles: {A: {element: fp16, layout: '8:1'}}",
        "                     ^^^^",
        "  did you mean 'f16'?",
    ]


def test_long_lines_are_cut_around_the_caret() -> None:
    text = "swzverify: 1\ntiles: {" + ", ".join(f"T{i}: {{bits: 8, layout: '8:1'}}" for i in range(40))
    with pytest.raises(SpecError) as caught:
        parse_spec(text + ", U: {bits: 8, layot: '8:1'}}\n")
    _, line, caret, *_ = str(caught.value).split("\n")
    assert len(line) <= 110
    assert line[caret.index("^") :].startswith("layot: ")
    assert caret.strip() == "^" * 5


def test_many_mistakes_are_counted() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("swzverify: 1\ntiles:\n" + "".join(f"  T{i}: {{}}\n" for i in range(150)))
    assert len(caught.value.problems) == 100
    assert caught.value.left_out > 0
    assert str(caught.value).endswith(f"... and {caught.value.left_out} more")


def test_unknown_target_argument() -> None:
    with pytest.raises(SwzError, match="SWZ402"):
        parse_spec("swzverify: 1\n", target="sm_1")


def test_a_spec_of_a_hundred_lines_is_read_fast() -> None:
    text = FULL + FULL.split("claims:\n")[1] * 3
    assert text.count("\n") > 100
    best = min(_seconds(text) for _ in range(5))
    assert best < 0.25, "ordinarily 15 ms; this bound only catches what is far slower"


def _seconds(text: str) -> float:
    start = time.perf_counter()
    parse_spec(text)
    return time.perf_counter() - start


def test_json_schema() -> None:
    schema = json_schema()
    text = json.dumps(schema)
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == [
        *("swzverify", "title", "source", "target", "constants", "from_source", "let", "memories", "tiles"),
        *("accesses", "maps", "operands", "phases", "listings", "claims", "sweep"),
    ]
    definitions = schema["definitions"]
    assert isinstance(definitions, dict)
    assert {"TilePart", "AccessPart", "WavefrontsClaim"} <= definitions.keys()
    access = definitions["AccessPart"]["properties"]
    assert {"for", "if"} <= access.keys()
    assert "bf16" in definitions["TilePart"]["properties"]["element"]["anyOf"][0]["enum"]
    assert "$defs" not in text
    assert "discriminator" not in text
    references = {part.split('"')[0] for part in text.split('"#/definitions/')[1:]}
    assert references <= definitions.keys()

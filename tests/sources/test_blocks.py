"""Contracts in comments: what is a block, at which lines and columns, and that nothing like one is
passed over.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.spec.contracts import contract_text, read_contract
from swzverify.spec.problems import Problems
from swzverify.spec.source import read_tree, to_data
from swzverify.spec.sources.blocks import BlockError, blocks, may_hold_blocks
from swzverify.spec.sources.comments import comment_lines
from swzverify.spec.sources.languages import Language

C, PYTHON = Language.C, Language.PYTHON

FORMS = {
    "lines": (C, "// swz:begin\n{}\n// swz:end", "// "),
    "lines without a blank": (C, "//swz:begin\n{}\n//swz:end", "//"),
    "documentation lines": (C, "/// swz:begin\n{}\n/// swz:end", "/// "),
    "indented lines": (C, "void f() {{\n    // swz:begin\n{}\n    // swz:end\n}}", "    // "),
    "a comment": (C, "/* swz:begin\n{}\nswz:end */", ""),
    "a comment whose signs stand apart": (C, "/*\nswz:begin\n{}\nswz:end\n*/", ""),
    "a decorated comment": (C, "/**\n * Loads A.\n * swz:begin\n{}\n * swz:end\n * More.\n */", " * "),
    "Python": (PYTHON, "x = 1\n# swz:begin\n{}\n# swz:end", "# "),
    "Python in a function": (PYTHON, "def f():\n    # swz:begin\n{}\n    # swz:end\n    return 1", "    # "),
}
YAML = """swzverify: 1
tiles:
  # a remark
  A: {element: f16, layout: "(8,64):(64,1)"}

claims:
  - bijective: A
  - conflict_free: >
      read"""


def written(form: str, yaml: str) -> tuple[str, Language]:
    """A source with this text in its comments."""
    language, frame, sign = FORMS[form]
    return frame.format("\n".join(f"{sign}{line}" for line in yaml.split("\n"))), language


@pytest.mark.parametrize("form", FORMS)
def test_a_block_is_the_text_without_the_signs_at_its_own_columns(form: str) -> None:
    source, language = written(form, YAML)
    (block,) = blocks(source, language)
    lines = source.split("\n")
    width = len(FORMS[form][2])
    for index, (shown, plain) in enumerate(zip(block.lines, YAML.split("\n"), strict=True)):
        assert shown.rstrip() == (" " * width + plain).rstrip()
        assert lines[block.first - 1 + index].endswith(plain)


@pytest.mark.parametrize("form", FORMS)
def test_a_contract_reads_as_the_same_text_in_a_file_of_its_own(form: str) -> None:
    source, language = written(form, YAML)
    problems = Problems("k")
    found = read_contract(source, language, problems)
    plain = read_tree(YAML, Problems("y"))
    assert found is not None
    assert plain is not None
    assert to_data(found) == to_data(plain)
    assert not problems.found
    for key, _ in found.entries:
        assert source.split("\n")[key.line - 1][key.column - 1 :].startswith(key.text)


REFUSED = {
    "// swz:begin\n// a: 1\n": (1, "no `swz:end`"),
    "// a: 1\n// swz:end\n": (2, "ends no block"),
    "// swz:begin\n// a: 1\nint x;\n// swz:end\n": (1, "line 3 of this block"),
    "// swz:begin\n// a: 1\nint x; // b: 2\n// swz:end\n": (1, "line 3 of this block"),
    "// swz:begin\n// a: 1\n/* b: 2 */\n// swz:end\n": (1, "line 3 of this block"),
    "// swz:begin\n// swz:begin\n// swz:end\n": (2, "not alone"),
    "/* swz:begin\n a: 1 */\n": (1, "the comment ends"),
    "/* swz:begin */\n// a: 1\n// swz:end\n": (1, "the comment ends"),
    "/* swz:begin\n a: 1\n*/ // swz:end\n": (1, "the comment ends"),
    "/* swz:begin\n a: 1\n swz:end */ int x;\n": (1, "more than its comment"),
    "int x; // swz:begin\n// a: 1\n// swz:end\n": (1, "not alone"),
    "// swz:begin tiles\n// swz:end\n": (1, "not alone"),
    "// swz: begin\n// a: 1\n// swz:end\n": (1, "no marker"),
    "// SWZ:BEGIN\n": (1, "no marker"),
    "// swz-begin\n": (1, "no marker"),
    "// swz:start\n": (1, "no marker"),
    "// swz:begin:\n": (1, "not alone"),
    "// swz:begin\n// a: 1\n// swz.end\n": (3, "no marker"),
    "/*! swz begin\n swz end */": (1, "no marker"),
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_nearly_a_block_is_an_error(source: str) -> None:
    line, words = REFUSED[source]
    with pytest.raises(BlockError, match=words) as caught:
        blocks(source, C)
    error = caught.value
    assert error.line == line
    assert source.split("\n")[line - 1][error.column - 1 :][:3].lower() == "swz"
    assert may_hold_blocks(source.encode())


@pytest.mark.parametrize(
    "source",
    [
        'const char* s = "// swz:begin";\n',
        'auto s = R"x(\n// swz:begin\n)x";\n',
        "// the contract stands between swz:begin and swz:end\n",
        "int swz_begin = 1'000; // '\n",
        "char c = '\"'; int x; // \" swz\n",
    ],
)
def test_strings_and_prose_are_no_blocks(source: str) -> None:
    assert blocks(source, C) == []


def test_a_marker_in_a_string_of_python_is_none() -> None:
    source = 'kernel = """\n# swz:begin\n# swz:end\n"""\n# swz:begin\n# a: 1\n# swz:end\n'
    assert [block.first for block in blocks(source, PYTHON)] == [6]


def test_python_that_cannot_be_read_is_told() -> None:
    problems = Problems("a.py")
    assert read_contract('# swz:begin\n"""', PYTHON, problems) is None
    assert [problem.code for problem in problems.found] == ["SWZ121"]


def test_comment_signs_of_every_kind() -> None:
    source = "a; /* b */ c; // d \\\ne\n/*\n f */ g /* h */"
    found = comment_lines(source, C)
    assert [line.text.split() for line in found] == [["b", "d", "\\"], ["e"], [], ["f", "h"]]
    assert [line.has_code for line in found] == [True, False, False, True]
    for line, entry in zip(source.split("\n"), found, strict=True):
        for word in entry.text.split():
            assert line.index(word) == entry.text.index(word)


COMMENT = st.text(alphabet="ab*/ \"'\\\nR(", max_size=30)


@given(COMMENT)
def test_every_character_is_code_or_comment(text: str) -> None:
    lines = comment_lines(text, C)
    assert len(lines) == len(text.split("\n"))
    for line, entry in zip(text.split("\n"), lines, strict=True):
        for at, char in enumerate(entry.text):
            assert char == " " or line[at] == char
        assert entry.comment or not entry.text


def test_the_text_of_a_contract_keeps_lines() -> None:
    source, language = written("a decorated comment", YAML)
    shown = contract_text(source, language).split("\n")
    assert shown[:3] == ["", "", ""]
    assert shown[3] == "   swzverify: 1"


JOINED = """// swz:begin
// swzverify: 1
// tiles: {A: {bits: 8, layout: "8:1"}}
// claims: standard
// swz:end
int x;
// swz:begin
// swzverify: 1
// tiles: {B: {bits: 8, layout: "8:1"}}
// claims: [{injective: B}]
// swz:end"""


def test_blocks_of_a_file_are_one_spec() -> None:
    problems = Problems("k.cu")
    tree = read_contract(JOINED, C, problems)
    assert tree is not None
    data = to_data(tree)
    assert isinstance(data, dict)
    assert data["claims"] == ["standard", {"injective": "B"}]
    assert isinstance(data["tiles"], dict)
    assert list(data["tiles"]) == ["A", "B"]
    assert not problems.found


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("B: {bits", "A: {bits", 9),
        ("// swzverify: 1\n// tiles: {B", "// swzverify: 2\n// tiles: {B", 8),
        ("// claims: [", "// title: x\n// claims: [", 0),
        ('// tiles: {B: {bits: 8, layout: "8:1"}}', "// tiles: B", 9),
    ],
)
def test_what_two_blocks_may_not_both_say(before: str, after: str, line: int) -> None:
    problems = Problems("k.cu")
    assert before in JOINED
    read_contract(JOINED.replace(before, after), C, problems)
    assert [(problem.code, problem.line) for problem in problems.found] == ([("SWZ103", line)] if line else [])


def test_an_empty_block_is_refused() -> None:
    problems = Problems("k.cu")
    assert read_contract("// swz:begin\n// # later\n// swz:end", C, problems) is None
    assert [(problem.code, problem.line) for problem in problems.found] == [("SWZ101", 1)]


def test_a_contract_is_as_long_as_a_spec_may_be() -> None:
    problems = Problems("k.cu")
    long = "\n".join(f"// # {'x' * 1000}" for _ in range(300))
    assert read_contract(f"// swz:begin\n{long}\n// swz:end", C, problems) is None
    assert [problem.code for problem in problems.found] == ["SWZ107"]


def test_bytes_that_are_not_utf8_are_refused_in_a_contract_only() -> None:
    problems = Problems("k.cu")
    source = b"// \xe9\n// swz:begin\n// swzverify: 1 # \xe9\n// swz:end\n".decode("utf-8", "surrogateescape")
    assert read_contract(source, C, problems) is None
    assert [(problem.code, problem.line) for problem in problems.found] == [("SWZ102", 3)]


NEARLY = [
    "// swz::begin",
    "// swz;begin",
    "// swzverify:begin",
    "// @swz:begin",
    "// swz:beginn",
    "// swz:ende",
    "//\u00a0swz:begin",
    "//\u200bswz:begin",
    "// swz:begin\u200b",
    "//\vswz:begin",
    "// - swz:begin",
    "//> swz:begin",
    "//< swz:begin",
    "/* | swz:begin */",
    "// swz begin",
    "// swz_begin",
]


@pytest.mark.parametrize("line", NEARLY)
def test_whatever_was_meant_for_a_marker_is_an_error(line: str) -> None:
    source = f"{line}\n// injective: B\n"
    assert may_hold_blocks(source.encode())
    with pytest.raises(BlockError, match="SWZ121"):
        blocks(source, C)


@pytest.mark.parametrize(
    "line", ["// swzverify begins here", "// swz, begun long ago", "// see swz:begin", "// swzend of x y"]
)
def test_prose_is_no_marker(line: str) -> None:
    assert blocks(f"{line}\nint x;\n", C) == []


def test_a_python_comment_of_two_signs_is_no_remark() -> None:
    """`## - injective: B` would otherwise drop out of the contract as a remark of YAML."""
    (block,) = blocks("# swz:begin\n# claims:\n##  - injective: B\n# swz:end\n", PYTHON)
    assert block.lines[1].split() == ["-", "injective:", "B"]


def test_utf16_with_a_contract_is_looked_into() -> None:
    assert may_hold_blocks("// swz:begin\n".encode("utf-16"))

"""Texts that were written to hurt: a clear error or problem, soon, and nothing else."""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import Module, PtxError, read_module
from swzverify.compiled.ptx import read as read_part
from swzverify.compiled.ptx.problems import MAX_BYTES, MAX_OPERANDS, Counter
from swzverify.errors import SwzError
from tests.counted import calls_of
from tests.nightly import counts
from tests.ptx.texts import HEADER, OWN, kernel, own

MANY = 200_000


def flood(piece: str, count: int) -> str:
    return HEADER + ".entry k() {\n" + piece * count + "}"


def numbered(piece: str, count: int) -> str:
    return HEADER + ".entry k() {\n" + "".join(piece.replace("#", str(i)) for i in range(count)) + "}"


def floods(many: int) -> dict[str, str]:
    """Texts of many pieces, by names."""
    return {
        "open braces": flood("{", many),
        "closed braces": flood("}", many),
        "blocks": flood("{}", many // 4),
        "nested vectors": flood("mov.b32 " + "{" * 70 + "}" * 70 + ";", 1),
        "parentheses": flood("call " + "(" * many, 1),
        "brackets": flood("tex " + "[" * (many // 40) + "]" * (many // 40) + ";", 1),
        "minus signs": flood("mov.b32 " + "-" * many + "1;", 1),
        "complements": flood("mov.b32 " + "~" * (many // 40) + "1;", 1),
        "exclamation marks": flood("mov.b32 " + "!" * many + "1;", 1),
        "sums": flood("mov.b32 1" + "+1" * many + ";", 1),
        "pairs": flood("mov.b32 a" + "|a" * (many // 5) + ";", 1),
        "long vector": flood("mov.b32 {" + "1," * many + "1};", 1),
        "short vectors": flood("mov.b32 1" + ",{1}" * many + ";", 1),
        "vectors in a vector": flood("mov.b32 {" + "{}" * many + "};", 1),
        "vectors without an end": flood("mov.b32 {" + "{}" * many, 1),
        "opcodes of many words": flood("a" + " .a" * 63 + "\n", many // 40),
        "long name": flood("a" * many * 10, 1),
        "long opcode": flood("a" + ".a" * many + ";", 1),
        "long opcode without an end": flood("a" + " .a" * many, 1),
        "long number": flood("mov.b32 a, " + "1" * many + ";", 1),
        "long hexadecimal": flood("mov.b32 a, 0x" + "1" * many + ";", 1),
        "long range": flood(".reg .b32 a<" + "1" * many + ">;", 1),
        "long fraction": flood("mov.f32 a, 1." + "1" * many + ";", 1),
        "large exponent": flood("mov.f32 a, 1e999999999;", 1),
        "digits behind a name": flood(".reg .b32 a<9>; mov.b32 a" + "1" * many + ";", 1),
        "guards": flood("@", many),
        "labels": numbered("L#:", many),
        "one label": flood("L:", many),
        "late declarations": numbered(".reg .b32 a#; mov.b32 a#, 1;", 3 * many // 20),
        "inlined in one another": numbered(".loc 1 # 2, function_name f, inlined_at 1 # 2\n", many // 4),
        "targets": flood("T: .branchtargets " + "a, " * many + "a;", 1),
        "targets without an end": flood("T: .branchtargets " + "a, " * many, 1),
        "strings": flood('"\n', many),
        "quotes": flood('"', many),
        "comments": HEADER + "/*" * many,
        "ends of comments": HEADER + "*/" * many,
        "entries": HEADER + ".entry k(" * many,
        "open entries": HEADER + ".entry k{" * (many // 5),
        "linkage": HEADER + ".visible " * many,
        "attributes": HEADER + ".func .attribute(" + "(" * many,
        "pairs of brackets in attributes": HEADER + ".func .attribute(" + "()" * many + ") f;",
        "strings of a pragma": HEADER + '.pragma "a"' + ',"a"' * many + ";",
        "numbers of a directive": HEADER + ".entry k() .maxntid 1" + ",1" * many + " {}",
        "options of the target": HEADER.replace("sm_90a", "sm_90a" + ",a" * many),
        "variables": HEADER + ".global .b8 x" * many,
        "extents": HEADER + ".global .b8 x" + "[1]" * many + ";",
        "large extents": HEADER + ".shared .b8 x" + "[9999999999]" * 8 + ";",
        "initialiser": HEADER + ".global .b8 x[] = {" + "1," * many + "1};",
        "initialiser in braces": HEADER + ".global .b8 x[9][9] = {" + "{1}," * many + "{1}};",
        "initialiser in brackets": HEADER + ".global .b8 x = " + "(1)" * many + ";",
        "nested initialiser": HEADER + ".global .b8 x[] = " + "{" * many + "}" * many + ";",
        "padded initialiser": HEADER + ".global .b8 x[9][9999999] = {" + "{1}," * 9 + "};",
        "parameters": HEADER + ".entry k(" + ".param .b8 a, " * (many * 99 // 200) + ".param .b8 a) { ret; }",
        "directives": HEADER + ".entry k() " + ".a " * many + "{ ret; }",
        "sections": HEADER + ".section .debug_str { " * many,
        "bytes of strings": HEADER + ".section .debug_str { .b8 1" + ",1" * many + " }",
        "labels of strings": HEADER + ".section .debug_str { " + "L: " * many + "}",
        "blanks": HEADER + " " * many * 10,
        "lines": "\n" * many * 10,
        "returns": "\r" * many * 10,
        "dots": HEADER + "." * many,
        "semicolons": HEADER + ";" * many,
    }


def whole(text: str) -> None:
    """Read all there is; errors must be those of the reader, with lines of the text."""
    last = text.count("\n") + text.count("\r") + 1
    try:
        found = read_module(text, "k.ptx")
    except PtxError as error:
        refused = error
    else:
        every(found, last)
        return
    assert refused.code in {"SWZ531", "SWZ532", "SWZ533"}
    assert refused.line <= last
    assert len(str(refused)) < 1000


def every(found: Module, last: int) -> None:
    """All problems and operands of a module whose text has so many lines."""
    problems = [*found.problems, *(each.problem for each in found.functions if each.problem)]
    for problem in problems:
        assert problem.code in {"SWZ532", "SWZ533"}
        assert 1 <= problem.line <= last
        assert len(problem.message) < 500
    for function in found.functions:
        for instruction in function.instructions:
            assert 1 <= instruction.line <= last
            try:
                _ = instruction.operands, instruction.guard
            except SwzError as error:
                assert error.code == "SWZ532"  # noqa: PT017  # any other exception is the finding


@pytest.mark.parametrize("many", counts(MANY // 25, MANY))
@pytest.mark.parametrize("name", floods(1))
def test_a_flood_is_read_or_refused(name: str, many: int) -> None:
    whole(floods(many)[name])


@pytest.mark.parametrize("name", floods(1))
def test_a_flood_that_is_twice_as_long_takes_about_twice_the_work(name: str) -> None:
    """Calls of functions are counted; what a regular expression does by itself is not seen here."""
    first, second = (calls_of(lambda many=many: whole(floods(many)[name])) for many in (2000, 4000))
    assert second < 2.5 * first


@pytest.mark.parametrize("name", OWN)
def test_a_text_that_ends_anywhere(name: str) -> None:
    text = own(name)
    whole_names = [each.name for each in read_module(text, name).functions]
    for end in range(0, len(text), 41):
        whole(text[:end])
        try:
            found = read_module(text[:end], name)
        except PtxError:
            continue
        for function in found.functions:
            assert function.name in whole_names or function.problem or function.is_declaration


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("piece", ["{", "}", ";", '"', "/*", "\x00", "\x1b[0m", ".entry", "@", "%", "é", "\ud800"])
def test_a_text_with_something_anywhere(name: str, piece: str) -> None:
    text = own(name)
    for place in range(0, len(text), 211):
        whole(text[:place] + piece + text[place:])


def test_a_text_that_is_too_large() -> None:
    with pytest.raises(PtxError, match=r"SWZ533: k.ptx: larger than 32 MiB"):
        read_module("x" * (MAX_BYTES + 1), "k.ptx")


def test_too_many_comments() -> None:
    with pytest.raises(PtxError, match=r"SWZ533: k.ptx: found more than 2000000 comments and strings"):
        read_module(HEADER + "//\n" * 2_000_001, "k.ptx")


def test_too_many_functions() -> None:
    text = HEADER + "".join(f".func f{i};\n" for i in range(50_001))
    with pytest.raises(PtxError, match=r"SWZ533: k.ptx, line 50004: found more than 50000 functions"):
        read_module(text, "k.ptx")


@pytest.mark.parametrize(
    ("limit", "text"),
    [
        ("MAX_STATEMENTS", ".entry k() {\n" + "L#:\n" * 200 + "}"),
        ("MAX_STATEMENTS", ".entry k() {\n" + "ret;\n" * 200 + "}"),
        ("MAX_STATEMENTS", ".entry k() {\n" + ".loc 1 1 1\n" * 200 + "}"),
        ("MAX_STATEMENTS", ".entry k() {\n" + "{ }\n" * 200 + "}"),
        ("MAX_STATEMENTS", ".entry k() {\n" + ".pragma \"a\";\n" * 200 + "}"),
        ("MAX_STATEMENTS", ".entry k() {\n" + "call (q), k, ();\n" * 50 + "}"),
        ("MAX_STATEMENTS", ".file 1 \"a\"\n" * 200),
        ("MAX_NAMES", ".entry k() {\n .reg .b32 a#" + ", a#" * 200 + ";}"),
        ("MAX_NAMES", ".entry k() {\n .reg .b32 a#<3>" + ", b#<3>" * 200 + ";}"),
        ("MAX_NAMES", ".global .b32 a#;\n" * 200),
        ("MAX_NAMES", ".entry k() {\n L: T: .branchtargets L" + ", L" * 200 + ";}"),
        ("MAX_BRACES", ".entry k() {\n" + "{ }\n" * 200 + "}"),
    ],
)  # fmt: skip
def test_a_limit_ends_the_reading_with_its_line(monkeypatch: pytest.MonkeyPatch, limit: str, text: str) -> None:
    monkeypatch.setattr(read_part, limit, 100)
    pieces = text.split("#")
    text = HEADER + "".join(f"{piece}{i}" for i, piece in enumerate(pieces[:-1])) + pieces[-1]
    with pytest.raises(PtxError, match=r"SWZ533: k.ptx, line \d+: found more than 100 \w+") as caught:
        read_module(text, "k.ptx")
    assert 3 < caught.value.line <= text.count("\n") + 1


def test_a_counter_lets_through_what_it_may() -> None:
    counter = Counter(3, "things")
    counter.take(3)
    assert counter.left == 0


def test_blocks_in_one_another() -> None:
    assert kernel("{" * 63 + "ret;" + "}" * 63).problem is None
    problem = kernel("\n" + "{" * 64 + "ret;" + "}" * 64).problem
    assert problem is not None
    assert (problem.code, problem.line) == ("SWZ533", 6)
    assert "braces that are nested deeper than 64" in problem.message


def test_braces_far_too_deep_cost_their_function_only() -> None:
    found = read_module(HEADER + ".entry a() {" + "{" * 500 + "}\n.entry b() { ret; }", "k.ptx")
    assert [each.problem and each.problem.code for each in found.functions] == ["SWZ533", None]


def test_operands_that_are_too_long() -> None:
    usual, odd = "1, " * (MAX_OPERANDS // 3 + 1) + "1;", "(1), " * (MAX_OPERANDS // 5) + "1;"
    for text in (usual, odd):
        assert kernel("a " + text[15:]).problem is None
        problem = kernel("a " + text).problem
        assert problem is not None
        assert (problem.code, problem.message) == ("SWZ533", "found operands of more than 100000 characters")


def test_brackets_in_one_another() -> None:
    assert kernel("a " + "{" * 2 + "[" * 10 + "1" + "]" * 10 + "}" * 2 + ";").problem is None
    problem = kernel("a " + "[" * 20 + "1" + "]" * 20 + ";").problem
    assert problem is not None
    assert "nested deeper than 16" in problem.message


def test_many_problems_outside_of_functions_end_the_reading() -> None:
    assert len(read_module(HEADER + "?;\n" * 20, "k.ptx").problems) == 20
    with pytest.raises(PtxError, match=r"SWZ532: k.ptx, line 4: found `\?;`, expected a directive"):
        read_module(HEADER + "?;\n" * 21, "k.ptx")

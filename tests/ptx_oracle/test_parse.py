"""Reading PTX: tokens, scopes, declarations, operands."""

from __future__ import annotations

import pytest

from . import OracleError, ParseError, launch
from .lexer import number, tokens
from .model import Addr, Imm, Pair, Reg, Special, Sym, Symbol, Vec
from .parse import parse

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def body(code: str, top: str = "") -> str:
    """A kernel with a body."""
    return f"{HEAD}{top}\n.entry k() {{\n .reg .b32 %r<9>; .reg .pred %p<3>; .reg .b64 %d<9>;\n{code}\n}}\n"


def test_tokens_know_their_lines_through_comments() -> None:
    found = tokens("a /* x\n y */ b // c\n.loc 1 2 3\nld.global.L1::no_allocate.u32 %r1, [%r2+-4];")
    assert [(token.text, token.line) for token in found][:3] == [
        ("a", 1),
        ("b", 2),
        ("ld.global.L1::no_allocate.u32", 4),
    ]
    assert [token.text for token in found[3:]] == ["%r1", ",", "[", "%r2", "+", "-", "4", "]", ";"]


@pytest.mark.parametrize(
    ("text", "value", "bits"),
    [
        ("0f3F800000", 0x3F800000, 32),
        ("0d3FF0000000000000", 0x3FF0000000000000, 64),
        ("0x1F", 31, 0),
        ("0xFFu", 255, 0),
        ("017", 15, 0),
        ("0b101", 5, 0),
        ("12U", 12, 0),
        ("1.5", 1.5, 0),
        ("2e3", 2000.0, 0),
        ("0", 0, 0),
    ],
)
def test_numbers(text: str, value: float, bits: int) -> None:
    assert number(text) == (value, bits)


def test_what_cannot_be_read_is_an_error_with_its_line() -> None:
    with pytest.raises(ParseError, match="line 2"):
        tokens("a\n`")
    with pytest.raises(ParseError, match="ends"):
        parse(".entry k() { ret;")


def test_a_name_in_an_inner_scope_is_another_register() -> None:
    """The same name in two scopes of inline assembly: each has its own."""
    text = body("{ .reg .b32 t; mov.u32 t, 1; }\n{ .reg .b64 t; mov.u64 t, 2; }\nret;")
    first, second = parse(text).functions["k"].instrs[:2]
    assert [(type(i.operands[0]), i.operands[0].type) for i in (first, second) if isinstance(i.operands[0], Reg)] == [
        (Reg, "b32"),
        (Reg, "b64"),
    ]
    assert first.operands[0] != second.operands[0]


def test_the_same_label_in_two_scopes_is_two_places() -> None:
    code = (
        "mov.u32 %r1, 0;\n{ L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; }\n"
        "{ L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; }\nst.shared.u32 [s], %r1;\n"
        "ld.shared.u32 %r2, [s]; setp.ne.u32 %p1, %r2, 9; @%p1 trap; ret;"
    )
    result = launch(body(code, ".shared .align 4 .b8 s[4];"), "k", [1], [1])
    assert result.error == ""


def test_operands() -> None:
    code = "@!%p1 setp.eq.u32 %p1|_, %tid.x, -0x3;\nld.v2.u32 {%r1, _}, [tab+4];\nld.shared.u32 %r1, [%r2+-8];\nret;"
    setp, first, second, _ = parse(body(code, ".global .align 4 .u32 tab[4];")).functions["k"].instrs
    assert (setp.pred is not None, setp.negated, setp.line) == (True, True, 7)
    assert isinstance(setp.operands[0], Pair)
    assert setp.operands[1:] == [Special("%tid.x"), Imm(-3)]
    assert isinstance(first.operands[0], Vec)
    assert isinstance(first.operands[1], Addr)
    assert isinstance(first.operands[1].base, Sym)
    assert (first.operands[1].base.name, first.operands[1].base.offset) == ("tab", 4)
    assert isinstance(second.operands[1], Addr)
    assert second.operands[1].offset == -8


@pytest.mark.parametrize(
    ("declaration", "align", "size", "init"),
    [
        (".global .align 4 .u32 x = 33;", 4, 4, [(0, 4, 33)]),
        (".const .align 8 .b8 x[6] = {1, 2, 3};", 8, 6, [(0, 1, 1), (1, 1, 2), (2, 1, 3)]),
        (".global .u16 x[2][2] = {{1, 2}, {3, 4}};", 2, 8, [(0, 2, 1), (2, 2, 2), (4, 2, 3), (6, 2, 4)]),
        (".global .v4 .f32 x;", 16, 16, []),
        (".global .b32 x[] = {7, 8};", 4, 8, [(0, 4, 7), (4, 4, 8)]),
        (".extern .shared .align 16 .b8 x[];", 16, 0, []),
    ],
)
def test_variables(declaration: str, align: int, size: int, init: list[tuple[int, int, int]]) -> None:
    symbol = parse(HEAD + declaration).scope.symbols["x"]
    assert isinstance(symbol, Symbol)
    assert (symbol.align, symbol.size) == (align, size)
    assert [(at, width, item.value) for at, width, item in symbol.init if isinstance(item, Imm)] == init


def test_a_list_of_variables_shares_its_type() -> None:
    symbols = parse(f"{HEAD}.shared .align 8 .b32 a, b[4], c;").scope.symbols
    assert [(s.name, s.align, s.size) for s in symbols.values()] == [("a", 8, 4), ("b", 8, 16), ("c", 8, 4)]


def test_pointers_in_variables() -> None:
    """A table of addresses in global memory: of a variable and of a function."""
    top = (
        ".global .align 4 .u32 a[2] = {5, 6};\n.func f() { ret; }\n"
        ".global .align 8 .u64 table[3] = {a, generic(a)+4, f};"
    )
    code = (
        "ld.global.u64 %d1, [table]; ld.global.u32 %r1, [%d1]; ld.global.u64 %d2, [table+8]; ld.u32 %r2, [%d2];\n"
        "mad.lo.u32 %r1, %r1, 10, %r2; setp.ne.u32 %p1, %r1, 56; @%p1 trap;\n"
        "ld.global.u64 %d3, [table+16]; call %d3, (), proto; proto: .callprototype _ (); ret;"
    )
    assert launch(body(code, top), "k", [1], [1]).error == ""


def test_parameters_and_directives() -> None:
    text = (
        f"{HEAD}.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 b[24], .param .f32 c)\n"
        ".maxntid 256, 1, 1\n.minnctapersm 2\n{ ret; }"
    )
    function = parse(text).functions["k"]
    found = [(p.type, p.align, p.size, p.pointer) for p in function.params if isinstance(p, Symbol)]
    assert found == [("u64", 8, 8, True), ("b8", 8, 24, False), ("f32", 4, 4, False)]
    assert function.directives == {"maxntid": (256, 1, 1), "minnctapersm": (2,)}


def test_debug_sections_are_skipped() -> None:
    text = body("ret;") + '.section .debug_str\n{\nL:\n.b8 1,2\n}\n.file 1 "x.cu"\n'
    assert list(parse(text).functions) == ["k"]


@pytest.mark.parametrize("code", ["bra;", "brx.idx %r1;", "call;"])
def test_a_branch_without_its_operands_is_an_error(code: str) -> None:
    with pytest.raises(OracleError, match="operands"):
        launch(body(code), "k", [1], [1])


def test_an_unknown_label_is_an_error() -> None:
    with pytest.raises(OracleError, match="no label"):
        launch(body("bra NOWHERE;"), "k", [1], [1])

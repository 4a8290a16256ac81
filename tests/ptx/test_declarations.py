"""Variables, initialisers, parameters, and the heads of functions."""

from __future__ import annotations

import struct

import pytest

from swzverify.compiled.ptx import Function, Parameter, Space, Symbol, Tuning
from tests.ptx.texts import module, sound


def symbol(text: str) -> Symbol:
    found = module(text)
    assert not found.problems, found.problems
    return found.symbols[-1]


VARIABLES = [
    (".extern .shared .b8 smem[];", ("smem", Space.SHARED, "b8", 1, None, True)),
    (".extern .shared .align 16 .b8 smem[];", ("smem", Space.SHARED, "b8", 16, None, True)),
    (".shared .align 4 .b8 t[4224];", ("t", Space.SHARED, "b8", 4, 4224, False)),
    (".shared .f32 t[33][32];", ("t", Space.SHARED, "f32", 4, 4224, False)),
    (".shared .b64 t;", ("t", Space.SHARED, "b64", 8, 8, False)),
    (".shared .v4 .f32 t[2];", ("t", Space.SHARED, "v4.f32", 16, 32, False)),
    (".weak .global .u16 g;", ("g", Space.GLOBAL, "u16", 2, 2, False)),
    (".common .global .align 8 .u64 g;", ("g", Space.GLOBAL, "u64", 8, 8, False)),
    (".visible .const .align 0x10 .b8 c[0x20];", ("c", Space.CONST, "b8", 16, 32, False)),
    (".global .attribute(.managed) .s32 g;", ("g", Space.GLOBAL, "s32", 4, 4, False)),
    (".attribute(.unified(1,2)) .global .s32 g;", ("g", Space.GLOBAL, "s32", 4, 4, False)),
    (".global .texref t;", ("t", Space.GLOBAL, "texref", 8, 8, False)),
    (".tex .u32 t;", ("t", Space.GLOBAL, "texref", 8, 8, False)),
    (".shared .f16x2 h[4];", ("h", Space.SHARED, "f16x2", 4, 16, False)),
    (".shared .b128 h;", ("h", Space.SHARED, "b128", 16, 16, False)),
    (".shared .b8 a, b [ 7 ] ;", ("b", Space.SHARED, "b8", 1, 7, False)),
    (".extern.shared .b8 s[];", ("s", Space.SHARED, "b8", 1, None, True)),
]


@pytest.mark.parametrize(("text", "expected"), VARIABLES, ids=[text for text, _ in VARIABLES])
def test_variables(text: str, expected: tuple[object, ...]) -> None:
    found = symbol(text)
    assert (found.name, found.space, found.element, found.align_bytes, found.size_bytes, found.is_extern) == expected
    assert (found.scope, found.line, found.data, found.note) == (0, 4, None, "")


DATA = [
    (".const .b8 c[4] = {1, 2, 255};", b"\x01\x02\xff\x00"),
    (".const .b8 c[] = {1, 2};", b"\x01\x02"),
    (".const .b8 c[4] = {-1, 0x7F, 0b11};", b"\xff\x7f\x03\x00"),
    (".const .b8 c[4] = {017, 1, 256};", b"\x0f\x01\x00\x00"),
    (".const .b8 c[ ]={\n7 ,\n8 } ;", b"\x07\x08"),
    (".const .s8 c[] = {0};", b"\x00"),
    (".global .u32 g = (1+2)*(3+4);", struct.pack("<I", 21)),
    (".const .align 4 .u32 pitch = 33;", struct.pack("<I", 33)),
    (".global .s32 g[3] = {-1, 017};", struct.pack("<3i", -1, 15, 0)),
    (".global .u64 g = 0xFFFFFFFFFFFFFFFF;", b"\xff" * 8),
    (".global .u16 g = 65537;", b"\x01\x00"),
    (".global .f32 g[3] = {0f3F800000, 2.5, -1};", struct.pack("<3f", 1.0, 2.5, -1.0)),
    (".global .f64 g[2] = {0d3FF0000000000000, -2.5};", struct.pack("<2d", 1.0, -2.5)),
    (".global .b32 g = 0f3F800000;", struct.pack("<f", 1.0)),
    (".global .f32 g = 1e300;", struct.pack("<f", float("inf"))),
    (".global .u32 g[2] = {(1+2)*3, 1<<4};", struct.pack("<2I", 9, 16)),
    (".global .s32 g[2][3] = {{1}, {4, 5}};", struct.pack("<6i", 1, 0, 0, 4, 5, 0)),
    (".global .s32 g[][2] = {{1}, {4, 5}};", struct.pack("<4i", 1, 0, 4, 5)),
    (".global .s32 g[2][2] = {1, 2, 3};", struct.pack("<4i", 1, 2, 3, 0)),
    (".global .v2 .s32 g[2] = {{1}, {4, 5}};", struct.pack("<4i", 1, 0, 4, 5)),
    (".global .v4 .s32 g = {1, 2, 3, 4};", struct.pack("<4i", 1, 2, 3, 4)),
    (".global .b32 a = 7, g = 8;", struct.pack("<i", 8)),
]


@pytest.mark.parametrize(("text", "data"), DATA, ids=[text for text, _ in DATA])
def test_initialised_bytes(text: str, data: bytes) -> None:
    found = symbol(text)
    assert (found.data, found.size_bytes, found.note) == (data, len(data), "")


NOTED = [
    (".global .u64 g = generic(h);", "it holds addresses", 8),
    (".global .u64 g[3] = {1, h, h+8};", "it holds addresses", 24),
    (".global .b8 g[8] = {0xFF(h), 0xFF00(h)};", "it holds addresses", 8),
    (".global .samplerref g = { addr_mode_0 = clamp_to_border, filter_mode = nearest };", "has no bytes", 8),
    (".global .b8 g[99999999] = {1};", "longer than is kept", 99999999),
]


@pytest.mark.parametrize(("text", "note", "size"), NOTED, ids=[text for text, _, _ in NOTED])
def test_a_note_says_why_there_are_no_bytes(text: str, note: str, size: int) -> None:
    found = symbol(text)
    assert (found.data, found.size_bytes) == (None, size)
    assert note in found.note


REFUSED = [
    (".shared .b8 s[];", "found `s[]` without a size"),
    (".global .u64 g[] = {h};", "found `g[]` without a size: it holds addresses"),
    (".global .b8 g[2] = {1;", "found `{1;`, expected `,` or `;`"),
    (".shared .pred p;", "a type that has a size"),
    (".shared .b8 s[-1];", "found `[-1];`, expected"),
    (".shared .b8 s[4][];", "expected the sizes of an array"),
    (".shared .b8 s<4>;", "a type that has a size"),
    (".shared .b33 s;", "found `.b33` in a declaration"),
    (".shared s;", "expected a space and a type"),
    (".shared .align 3 .b8 s;", "found `.align 3`, expected a power of two"),
    (".shared .b8 s t;", "found `t;`, expected `,` or `;`"),
    (".shared .b8 .b8;", "found `.b8` in a declaration"),
    (".shared .b8 s[4]", "expected `,` or `;`"),
    (".shared .b8 s[4], ;", "expected a name"),
    (".global .b8 g[2] = {1, 2, 3};", "an initialiser of 3 bytes for a variable of 2"),
    (".global .b8 g[2] = {1 2};", "found `2`, expected `,`"),
    (".global .b8 g[2] = {1,, 2};", "expected an element"),
    (".global .b8 g[2] = 123;", "found `123`, expected an initialiser in braces"),
    (".global .b8 g[2] = {1,\x1d2};", "found `\ufffd2`, expected an operand"),
    (".global .b8 g[2][1] = {1,\x1d2};", "found `\ufffd2`, expected an operand"),
    (".global .b8 g[2] = {{1}};", "nested deeper than its array"),
    (".global .b8 g[2] = {,1};", "expected an element"),
    (".global .b32 g = 1.5;", "for an element of type .b32"),
    (".global .u64 g = 0x1FFFFFFFFFFFFFFFF;", "more than 64 bits"),
    (".reg .b32 r;", "registers outside of functions are not read"),
    (".global .b32 g; .global .b32 g;", "`g` is declared twice"),
    (".foo 3;", "found `.foo 3;`, expected a directive"),
    ("pragma;", "found `pragma;`, expected a directive"),
    ("@%p ret;", "found `@%p ret;`, expected a directive"),
    (".entry ();", "found `.entry ();`, expected a function"),
    ('.file 1 "a\nb"', 'found `.file 1 "a b"'),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[each for each, _ in REFUSED])
def test_an_unreadable_declaration_is_the_modules_problem(text: str, message: str) -> None:
    found = module(f"\n{text}\n.shared .b8 behind; .entry k() {{ ret; }}")
    assert (found.problems[0].code, found.problems[0].line) == ("SWZ532", 5)
    assert message in found.problems[0].message
    assert [each.problem for each in found.functions] == [None]


def test_a_definition_replaces_an_extern_declaration() -> None:
    found = module(".extern .global .b32 g; .visible .global .b32 g = 3; .extern .global .b32 g;")
    assert [(each.is_extern, each.data) for each in found.symbols] == [(False, b"\x03\0\0\0")]
    assert not found.problems


def head(text: str) -> Function:
    found = module(text)
    assert not found.problems, found.problems
    assert found.functions[0].problem is None, found.functions[0].problem
    return found.functions[0]


def test_parameters_are_laid_out_by_alignment() -> None:
    text = (
        ".entry k(.param .u8 a, .param .align 8 .b8 s[12], .param .u16 h, .param .u64 .ptr .shared .align 16 p,\n"
        ".param .u64 .ptr q, .param .b32 v[3], .param .v2 .f32 w, .param .u8 z) { ret; }"
    )
    assert head(text).parameters == (
        Parameter("a", "u8", 1, 1, 0),
        Parameter("s", "b8", 8, 12, 8),
        Parameter("h", "u16", 2, 2, 20),
        Parameter("p", "u64", 8, 8, 24),
        Parameter("q", "u64", 8, 8, 32),
        Parameter("v", "b32", 4, 12, 40),
        Parameter("w", "v2.f32", 8, 8, 56),
        Parameter("z", "u8", 1, 1, 64),
    )


def test_parameters_by_name() -> None:
    found = head(".entry k(.param .u8 a, .param .u32 b) { ret; }")
    second = found.parameter("b")
    assert second is not None
    assert (second.offset_bytes, found.parameter("c")) == (4, None)


def test_parameters_and_results_in_registers() -> None:
    found = head(".func (.reg .b32 r) f(.reg .b32 a, .reg .pred p) { @p mov.b32 r, a; ret; }")
    assert found.results == (Parameter("r", "b32", 4, 4, None),)
    assert found.parameters == (Parameter("a", "b32", 4, 4, None), Parameter("p", "pred", 1, None, None))


HEADS = [
    (".entry k { ret; }", (True, False, False), Tuning()),
    (".visible .entry k() { }", (True, False, False), Tuning()),
    (".extern .func k;", (False, True, True), Tuning()),
    (".func k(.param .b32 a)\n;", (False, False, True), Tuning()),
    (".weak .func (.param .b32 r) k() { ret; }", (False, False, False), Tuning()),
    (".func .attribute(.unified(1,2)) k() { ret; }", (False, False, False), Tuning()),
    (".entry k() .maxntid 128, 1, 1 { }", (True, False, False), Tuning(max_threads=(128, 1, 1))),
    (".entry k() .maxntid 128 { }", (True, False, False), Tuning(max_threads=(128, 1, 1))),
    (".entry k() .reqntid 16, 2 { }", (True, False, False), Tuning(required_threads=(16, 2, 1))),
    (".entry k()\n.minnctapersm 2\n.maxnreg 0x20\n{ }", (True, False, False), Tuning()),
    (".entry k() .maxclusterrank 8 { }", (True, False, False), Tuning()),
    (".entry k() .explicitcluster .reqnctapercluster 2, 1, 1 { }", (True, False, False), Tuning(cluster=(2, 1, 1))),
    ('.entry k() .pragma "nounroll"; .maxnctapersm 3 { }', (True, False, False), Tuning()),
    (".func k() .noreturn { exit; }", (False, False, False), Tuning()),
    (".func k() .abi_preserve 4 .later 1, 2 { }", (False, False, False), Tuning()),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kinds", "tuning"), HEADS, ids=[row[0] for row in HEADS])
def test_heads(text: str, kinds: tuple[bool, ...], tuning: Tuning) -> None:
    found = head(text)
    assert (found.name, found.line) == ("k", 4)
    assert (found.is_entry, found.is_extern, found.is_declaration) == kinds
    assert found.tuning == tuning
    assert found.required_threads == tuning.required_threads


BAD_HEADS = [
    (".entry k(.param .b32 a,) { ret; }", "expected a space and a type"),
    (".entry k(.param .b32 a .param .b32 b) { ret; }", "expected `,` or `)`"),
    (".entry k(.shared .b32 a) { ret; }", "found `a`, expected a parameter"),
    (".entry k(.param .b33 a) { ret; }", "found `.b33` in a declaration"),
    (".entry k() .maxntid 1 .maxntid 2 { ret; }", "found `.maxntid` twice"),
    (".entry k() .maxntid 1, 1, 1, 1 { ret; }", "expected at most 3"),
    (".entry k() .reqntid { ret; }", "found ``, expected an integer"),
    (".entry k() 7 { ret; }", "behind the head of `k`, expected `{`"),
    (".entry k( { ret; }", "behind the head of `k`, expected `{`"),
    (".func (.param .b33 a) k() { ret; }", "found `.b33` in a declaration"),
]


@pytest.mark.parametrize(("text", "message"), BAD_HEADS, ids=[text for text, _ in BAD_HEADS])
def test_a_head_that_cannot_be_read_is_the_functions_problem(text: str, message: str) -> None:
    found = module(f".entry a() {{ ret; }}\n{text}\n.entry b() {{ exit; }}")
    names = [(each.name, each.problem is None) for each in found.functions]
    assert names == [("a", True), ("k", False), ("b", True)]
    problem = found.functions[1].problem
    assert problem is not None
    assert problem.line == 5
    assert message in problem.message
    assert found.functions[2].instructions[0].line == 6


def test_declarations_give_way_to_definitions() -> None:
    text = ".func f(.param .b32 a); .extern .func g; .extern .func g; .func f(.param .b32 a) { ret; }"
    assert [(each.name, each.is_declaration) for each in module(text).functions] == [("g", True), ("f", False)]


def test_two_definitions_of_one_name_are_a_problem_of_both() -> None:
    found = module(".entry k() { ret; }\n.entry k() { exit; }\n.entry j() { ret; }")
    assert [each.problem and (each.problem.line, each.problem.message) for each in found.functions] == [
        *((4, "`k` is defined twice"), (5, "`k` is defined twice"), None)
    ]


def test_what_a_module_says() -> None:
    text = (
        '.file 1 "a//b.cu"\n.file 2 "/*.cuh", 1700000000, 4711\n.alias g, f;\n.pragma "x";\n@@DWARF .byte 0x01, 2\n'
        ".section .debug_info { .b32 .debug_str .b64 L+4 L: .b8 1,2 }\n.func f() { ret; } .visible .func g;"
    )
    found = module(text, ".version 12.34\n.target sm_123f, debug, texmode_independent\n.address_size 32\n")
    assert (found.version, found.target) == ((12, 34), "sm_123f")
    assert (found.address_size, found.name) == (32, "k.ptx")
    assert found.files == {1: "a//b.cu", 2: "/*.cuh"}
    assert found.aliases == {"g": "f"}
    assert not found.problems
    assert found.function("f") is found.functions[0]
    assert found.function("h") is None
    assert found.symbol("h") is None


def test_control_characters_in_names_of_files_are_not_kept() -> None:
    assert module('.file 1 "a\x1b[31m\u202e.cu"').files == {1: "a\ufffd[31m\ufffd.cu"}


def test_variables_of_a_function() -> None:
    function = sound("\n.shared .align 16 .b8 s[64];\n{ .local .b32 d; }")
    assert [(each.name, each.space, each.scope, each.line) for each in function.symbols] == [
        *(("s", Space.SHARED, 1, 6), ("d", Space.LOCAL, 2, 7))
    ]
    assert function.symbol("s") is function.symbols[0]
    assert function.symbol("d") is None

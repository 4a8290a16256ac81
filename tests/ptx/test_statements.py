"""Statements: lines, guards, labels, blocks, tables and `.loc`, over and between lines."""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import (
    Guard,
    Label,
    Location,
    PtxError,
    Register,
    SymbolRef,
    raised,
    read_module,
)
from tests.ptx.texts import HEADER, kernel, module, place, sound


def lines(body: str) -> list[tuple[int, str]]:
    return [(each.line, each.opcode) for each in sound(body).instructions]


LAID_OUT = [
    ("one per line", "bar.sync 0;\nret;", [(5, "bar.sync"), (6, "ret")]),
    ("two on one line", "bar.sync 0; ret;", [(5, "bar.sync"), (5, "ret")]),
    ("one over lines", "\nbar.sync\n0\n;\nret;", [(6, "bar.sync"), (9, "ret")]),
    ("behind a label", "L:\nM: bar.sync 0;\n\nret;", [(6, "bar.sync"), (8, "ret")]),
    ("behind a guard on another line", "@%p1\nbra L; L: ret;", [(5, "bra"), (6, "ret")]),
    ("behind a comment", "/* a\nb */ ret; // c\n// d\nexit;", [(6, "ret"), (8, "exit")]),
    ("comment inside", "bar.sync /* a\n b */ 0 // c\n;\nret;", [(5, "bar.sync"), (8, "ret")]),
    ("in blocks", "{ bar.sync 0;\n{ ret;\n} } exit;", [(5, "bar.sync"), (6, "ret"), (7, "exit")]),
    ("last of a block", "{ .reg .b32 t;\nmov.b32 t, 1; trap; }", [(6, "mov.b32"), (6, "trap")]),
    ("last of the body", "bar.sync 0;\nexit;", [(5, "bar.sync"), (6, "exit")]),
    ("blanks in an opcode", "ld .shared\n.b32 %r1, [%r2];\nret;", [(5, "ld.shared.b32"), (7, "ret")]),
    ("colons in an opcode", "fence.proxy.async::generic.acquire;", [(5, "fence.proxy.async::generic.acquire")]),
    ("pragma", '.pragma "nounroll", "x;}";\nret;', [(6, "ret")]),
    ("carriage returns", "bar.sync 0;\r\nret;\rexit;", [(5, "bar.sync"), (6, "ret"), (7, "exit")]),
    ("loc between", ".loc 1 2 3\nbar.sync 0; .loc 1 2 4 ret;", [(6, "bar.sync"), (6, "ret")]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [row[1:] for row in LAID_OUT], ids=[row[0] for row in LAID_OUT])
def test_every_statement_has_its_line(body: str, expected: list[tuple[int, str]]) -> None:
    assert lines(body) == expected


GUARDS = [
    ("@%p1 ret;", "%p1", False),
    ("@!%p1 ret;", "%p1", True),
    ("@ ! %p1 ret;", "%p1", True),
    ("@q bra.uni L; L:", "q", False),
    ("@!q\nld.shared.b32 %r1, [%r2+0x10];", "q", True),
    ("@!q cp.async.bulk.tensor.1d [%r1], [%rd1, {%r1}], [%r2];", "q", True),
]


@pytest.mark.parametrize(("body", "name", "negated"), GUARDS, ids=[row[0] for row in GUARDS])
def test_guards_and_their_negation_stay(body: str, name: str, negated: bool) -> None:
    assert sound(body).instructions[0].guard == Guard(Register(name, 1, "pred"), negated)


def test_no_guard() -> None:
    assert sound("ret;").instructions[0].guard is None


def test_a_guard_that_is_no_predicate() -> None:
    with pytest.raises(PtxError, match="line 5: found `%r1`, expected a predicate"):
        _ = sound("@%r1 ret;").instructions[0].guard


def test_labels_give_the_index_behind_them() -> None:
    function = sound('A: B: bar.sync 0;\n.loc 1 2 3\nC:\n.pragma "x";\nret;\n@%p1 bra A;\nD:')
    assert function.labels == {Label("A", 1): 0, Label("B", 1): 0, Label("C", 1): 1, Label("D", 1): 3}
    assert function.instructions[2].operands == (Label("A", 1),)


def test_tables_of_targets_and_prototypes() -> None:
    text = ".func f(.param .b32 a);\n"
    body = (
        "T: .branchtargets A,\n B;\nbrx.idx %r1, T; A: B:\nU: .calltargets f;\ncall %rd1, (%r1), U;\n"
        "V : .callprototype (.param .b32 _)\n_ (.param .b32 _);\ncall (%r1), %rd1, (%r1), V; ret;"
    )
    function = sound(body, text)
    assert function.targets == {Label("T", 1): (Label("A", 1), Label("B", 1)), Label("U", 1): (SymbolRef("f", 0),)}
    assert set(function.labels) == {Label("A", 1), Label("B", 1)}
    assert [each.line for each in function.instructions] == [8, 10, 13, 13]
    assert function.instructions[0].operands[1] == Label("T", 1)


PROTOTYPES = [
    "_",
    "_ (.param .b32 a, .param .align 8 .b8 _[12])",
    "(.param .b64 _)\nf",
    "(.param .b32 _) _ (.param .b32 _)",
    "_ () .noreturn",
    "_ (.reg .b32 a) .abi_preserve 4 .noreturn",
]


@pytest.mark.parametrize("text", PROTOTYPES)
def test_prototypes(text: str) -> None:
    assert sound(f"V: .callprototype {text}; ret;").instructions[0].opcode == "ret"


def test_loc_holds_from_its_place_to_the_next_one() -> None:
    body = "bar.sync 0; .loc 1 2 3\nbar.sync 1;\nbar.sync 2; .loc 2 7 1\n.loc 2 8 1\nL: bar.sync 3;"
    found = [place(each.location) for each in sound(body).instructions]
    assert found == [None, (1, 2, 3, None, None), (1, 2, 3, None, None), (2, 8, 1, None, None)]


def test_loc_ends_with_its_function() -> None:
    found = module(".entry a() { .loc 1 2 3\nret; } .entry b() { ret; }")
    assert [place(each.instructions[0].location) for each in found.functions] == [(1, 2, 3, None, None), None]


STRINGS = "\n.section .debug_str\n{\nouter: .b8 111,0\ninner: .b8 105\n.b8 110,0\n}\n"


def test_inlined_places_are_a_chain() -> None:
    text = (
        ".entry a() { .loc 1 9 1\nret; .loc 1 5 2, function_name outer, inlined_at 1 9 1\n"
        ".loc 2 3 3, function_name .debug_str+2,\n inlined_at 1 5 2\nret;\n"
        ".loc 2 4 4, function_name inner + 1, inlined_at 1 77 1 exit; }"
    )
    first, second, third = module(text + STRINGS).functions[0].instructions
    assert place(first.location) == (1, 9, 1, None, None)
    assert place(second.location) == (2, 3, 3, "in", (1, 5, 2, "o", (1, 9, 1, None, None)))
    assert place(third.location) == (2, 4, 4, "n", (1, 77, 1, None, None))


def test_the_latest_place_of_the_caller_counts() -> None:
    text = (
        ".entry a() { .loc 1 9 1 .loc 1 8 1 .loc 1 5 2, function_name outer, inlined_at 1 9 1\n"
        ".loc 1 5 2, function_name outer, inlined_at 1 8 1 .loc 2 3 3, function_name inner, inlined_at 1 5 2 ret; }"
    )
    (found,) = module(text + STRINGS).functions[0].instructions
    assert place(found.location) == (2, 3, 3, "in", (1, 5, 2, "o", (1, 8, 1, None, None)))


def test_without_strings_the_label_is_the_name() -> None:
    (found,) = sound(".loc 1 2 3, function_name $L__info_string0, inlined_at 1 1 1\nret;").instructions
    assert found.location == Location(1, 2, 3, "$L__info_string0", Location(1, 1, 1))


def test_a_chain_is_cut_in_place_of_growing_on() -> None:
    body = ".loc 1 0 1\n" + "".join(f".loc 1 {i + 1} 1, function_name f, inlined_at 1 {i} 1\n" for i in range(100))
    here = sound(body + "ret;").instructions[0].location
    depth = 0
    while here is not None:
        depth, here = depth + 1, here.inlined_at
    assert 1 < depth <= 33


UNREADABLE = [
    ("semicolon missing", "bar.sync 0\nret;", 5, "found `ret`, expected `,`"),
    ("semicolon missing at the end", "bar.sync 0;\nret", 6, "found `ret`, expected a statement"),
    ("semicolon missing behind a bare opcode", "\nmembar.cta\nret;", 6, "`ret` is not declared"),
    ("semicolon missing before a brace", "{ ret }", 5, "found `ret }`, expected a statement"),
    ("semicolon alone", "ret;;", 5, "found `;`, expected a statement"),
    ("register not declared", "mov.b32 %r1, 1;\nmov.b32 %x, 1;", 6, "the register `%x` is not declared"),
    ("register beyond its range", "mov.b32 %r40, 1;", 5, "the register `%r40` is not declared"),
    ("register with a leading zero", "mov.b32 %r01, 1;", 5, "the register `%r01` is not declared"),
    ("guard not declared", "ret;\n@p ret;", 6, "`p` is not declared"),
    ("target not declared", "bra L;", 5, "`L` is not declared"),
    ("register twice", ".reg .b32 a, a;", 5, "`a` is declared twice in one scope"),
    ("range twice", ".reg .b32 %r<3>;", 5, "`%r<...>` is declared twice in one scope"),
    ("label twice", "L:\nL:", 6, "the label `L` stands twice in one scope"),
    ("parameter again", ".reg .b64 pp;", 5, "`pp` is declared twice in one scope"),
    ("table with a register", "T: .branchtargets %r1;", 5, "found `%r1`, expected a label or function"),
    ("table with a number", "T: .branchtargets 4;", 5, "found `4`, expected names of targets"),
    ("table with an unknown label", "\nT: .branchtargets A;\nret;", 6, "`A` is not declared"),
    ("prototype", "V: .callprototype (.param .b32 _) 4;", 5, "found `(.param .b32 _) 4`, expected a prototype"),
    ("unknown directive", "\n.foo 3;", 6, "found `.foo 3;`, expected a directive of a function's body"),
    ("unknown type", ".reg .b33 a;", 5, "found `.b33` in a declaration"),
    ("register with a value", ".reg .b32 a = 3;", 5, "found `a` with brackets or a value, expected a register"),
    ("no opcode", "%r1, %r2;", 5, "found `%r1, %r2;`, expected a statement"),
    ("capital opcode", "MOV.b32 %r1, %r2;", 5, "found `MOV.b32 %r1, %r2;`, expected a statement"),
    ("guard on a label", "@%p1 L: ret;", 5, "found `@%p1 L: ret;`, expected a statement"),
    ("loc cut short", ".loc 1 2\nret;", 5, "found `.loc 1 2 ret;`, expected a directive"),
    ("string", '"a";', 5, 'found `"a";`, expected a statement'),
    ("control character", "mov.b32 \x1b[31m, 1;", 5, "\ufffd[31m"),
    ("preprocessor", "\n#define A 1\n", 6, "found `#define A 1`, expected a statement"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "line", "message"), [row[1:] for row in UNREADABLE], ids=[row[0] for row in UNREADABLE]
)
def test_an_unreadable_statement_is_the_functions_problem(body: str, line: int, message: str) -> None:
    problem = kernel(body).problem
    assert problem is not None
    assert (problem.code, problem.line) == ("SWZ532", line)
    assert message in problem.message
    error = raised(problem, "k.ptx")
    assert (error.code, error.line) == ("SWZ532", line)
    assert str(error).startswith(f"SWZ532: k.ptx, line {line}: ")


def test_a_problem_costs_its_function_only() -> None:
    text = ".entry a() { ret; }\n.entry b() { ret; ??? }\n.entry c() {\nexit; }"
    first, second, third = module(text).functions
    assert first.instructions[0].opcode == "ret"
    assert second.problem is not None
    assert (second.problem.line, second.instructions, second.labels) == (5, (), {})
    assert [(each.line, each.opcode) for each in third.instructions] == [(7, "exit")]


BRACES = [
    ("one open", ".entry a() { {\nret; }\n.entry b() { ret; }", ["a"]),
    ("one too many", ".entry a() { ret; } }\n.entry b() { ret; }", ["a"]),
    ("closed early", ".entry a() { } ret; }\n.entry b() { ret; }", ["a"]),
    (
        "closed early before a declaration",
        ".entry a() { bar.sync 0; } .shared .b32 s; ret; }\n.entry b() { ret; }",
        ["a"],
    ),
    ("text ends", ".entry b() { ret; }\n.entry a() { ret;", ["a"]),
    ("text ends in a block", ".entry b() { ret; }\n.entry a() { ret; {", ["a"]),
    ("function in a function", ".entry a() { .entry b() { ret; }", ["a"]),
    ("string with a brace", '.entry a() { .pragma "{"; ret; }\n.entry b() { ret; }', []),
    ("comment with a brace", ".entry a() { /* { */ ret; // {\n}\n.entry b() { ret; }", []),
]


@pytest.mark.parametrize(("text", "broken"), [row[1:] for row in BRACES], ids=[row[0] for row in BRACES])
def test_braces_that_do_not_balance_are_the_problem_of_the_function_before(text: str, broken: list[str]) -> None:
    found = module(text)
    assert [each.name for each in found.functions if each.problem] == broken
    whole = [each for each in found.functions if not each.problem]
    assert [each.instructions[-1].opcode for each in whole] == ["ret"] * len(whole)
    assert {each.name for each in found.functions} == {"a", "b"}


def test_two_texts_of_one_module() -> None:
    with pytest.raises(PtxError, match=r"SWZ532: k.ptx, line 5: found a second .version"):
        read_module(HEADER + ".entry k() { ret; }\n" + HEADER, "k.ptx")

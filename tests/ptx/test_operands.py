"""Operands: each form as a value, what is refused, and that the quick reader reads what the careful
one does.
"""

from __future__ import annotations

import re

import pytest

from swzverify.compiled.ptx import (
    Address,
    Bracketed,
    FloatImmediate,
    Group,
    Immediate,
    Indexed,
    Label,
    Minus,
    Negated,
    Operand,
    Pair,
    Part,
    Plus,
    PtxError,
    Register,
    Sink,
    SpecialRegister,
    SymbolRef,
    Vector,
)
from swzverify.compiled.ptx.operand_text import read_operands
from tests.ptx.texts import kernel, sound

SMEM = ".extern .shared .b8 smem[]; .global .b32 table[8];\n"
R1, R2 = Register("%r1", 1, "b32"), Register("%r2", 1, "b32")
RD1 = Register("%rd1", 1, "b64")
P1, Q = Register("%p1", 1, "pred"), Register("q", 1, "pred")

FORMS: list[tuple[str, str, tuple[Operand, ...]]] = [
    ("register", "mov.b32 %r1, %r2;", (R1, R2)),
    ("register without percent", "not.pred q, %p1;", (Q, P1)),
    ("none", "ret;", ()),
    ("special", "mov.u32 %r1, %tid.x;", (R1, SpecialRegister("%tid.x"))),
    ("special whole", "mov.u32 %r1, %laneid;", (R1, SpecialRegister("%laneid"))),
    ("special vector", "mov.v4.u32 {%r1, %r2, _, _}, %tid;",
     (Vector((R1, R2, Sink(), Sink())), SpecialRegister("%tid"))),
    ("zero", "mov.b32 %r1, 0;", (R1, Immediate(0))),
    ("decimal", "mov.b32 %r1, 42;", (R1, Immediate(42))),
    ("negative", "mov.b32 %r1, -42;", (R1, Immediate(-42))),
    ("hexadecimal", "mov.b32 %r1, 0xFFU;", (R1, Immediate(255))),
    ("hexadecimal capital", "mov.b32 %r1, 0Xff;", (R1, Immediate(255))),
    ("negative hexadecimal", "mov.b32 %r1, -0x10;", (R1, Immediate(-16))),
    ("all ones stay positive", "mov.b32 %r1, 0xFFFFFFFF;", (R1, Immediate(4294967295))),
    ("octal", "mov.b32 %r1, 017;", (R1, Immediate(15))),
    ("binary", "mov.b32 %r1, 0b101;", (R1, Immediate(5))),
    ("unsigned", "mov.b32 %r1, 7U;", (R1, Immediate(7))),
    ("largest", "mov.b64 %rd1, 18446744073709551615;", (RD1, Immediate(2**64 - 1))),
    ("least", "mov.b64 %rd1, -9223372036854775808;", (RD1, Immediate(-(2**63)))),
    ("lanes", "mov.b32 %r1, WARP_SZ;", (R1, Immediate(32))),
    ("sum", "mov.b32 %r1, 4*2+1;", (R1, Immediate(9))),
    ("sum in parentheses", "mov.b32 %r1, (4+2)*3;", (R1, Immediate(18))),
    ("difference from the left", "mov.b32 %r1, 9-4-3;", (R1, Immediate(2))),
    ("shift", "mov.b32 %r1, 1<<4|3;", (R1, Immediate(19))),
    ("sign before a product", "mov.b32 %r1, -5*2+1;", (R1, Immediate(-9))),
    ("complement", "mov.b32 %r1, ~5;", (R1, Immediate(-6))),
    ("not of a number", "mov.b32 %r1, !5;", (R1, Immediate(0))),
    ("single", "mov.f32 %f1, 0f3F800000;", (Register("%f1", 1, "f32"), FloatImmediate(0x3F800000, 32))),
    ("double", "mov.f64 %rd1, 0dBFF0000000000000;", (RD1, FloatImmediate(0xBFF0000000000000, 64))),
    ("decimal float", "mov.f32 %f1, -1.5e1;", (Register("%f1", 1, "f32"), FloatImmediate(0xC02E000000000000, 64))),
    ("decimal float without digits before", "mov.f32 %f1, .5;",
     (Register("%f1", 1, "f32"), FloatImmediate(0x3FE0 << 48, 64))),
    ("address", "ld.shared.b32 %r1, [%r2];", (R1, Address(R2, 0))),
    ("address plus", "ld.shared.b32 %r1, [%r2+16];", (R1, Address(R2, 16))),
    ("address plus minus", "ld.shared.b32 %r1, [%r2+-16];", (R1, Address(R2, -16))),
    ("address plus hexadecimal", "ld.shared.b32 %r1, [ %r2 + 0x10 ];", (R1, Address(R2, 16))),
    ("address plus product", "ld.shared.b32 %r1, [%r2+4*2];", (R1, Address(R2, 8))),
    ("address plus and minus", "ld.shared.b32 %r1, [smem+8-4];", (R1, Address(SymbolRef("smem", 0), 4))),
    ("address of a symbol", "ld.shared.b32 %r1, [smem+16];", (R1, Address(SymbolRef("smem", 0), 16))),
    ("address of a parameter", "ld.param.u64 %rd1, [pp];", (RD1, Address(SymbolRef("pp", 1), 0))),
    ("absolute address", "ld.local.b32 %r1, [16];", (R1, Address(None, 16))),
    ("symbol", "mov.u32 %r1, smem;", (R1, SymbolRef("smem", 0))),
    ("symbol plus", "mov.u32 %r1, smem+16;", (R1, SymbolRef("smem", 0, 16))),
    ("register plus", "add.u32 %r1, %r2+4, 1;", (R1, Plus(R2, 4), Immediate(1))),
    ("array element", "ld.global.b32 %r1, table[2];", (R1, Indexed(SymbolRef("table", 0), Immediate(2)))),
    ("array element of a register", "ld.global.b32 %r1, table[%r2+1];",
     (R1, Indexed(SymbolRef("table", 0), Plus(R2, 1)))),
    ("vector", "ld.shared.v2.b32 {%r1, %r2}, [%r1];", (Vector((R1, R2)), Address(R1, 0))),
    ("vector with a sink", "ld.shared.v2.b32 {_,%r2}, [%r1];", (Vector((Sink(), R2)), Address(R1, 0))),
    ("pair", "setp.eq.s32 %p1|q, %r1, %r2;", (Pair(P1, Q), R1, R2)),
    ("pair with blanks", "setp.eq.s32 %p1 | q, %r1, %r2;", (Pair(P1, Q), R1, R2)),
    ("pair with a sink", "elect.sync _|q, -1;", (Pair(Sink(), Q), Immediate(-1))),
    ("sink", "mbarrier.arrive.b64 _, [%r1];", (Sink(), Address(R1, 0))),
    ("negation", "setp.eq.and.s32 %p1, %r1, %r2, !q;", (P1, R1, R2, Negated(Q))),
    ("negation apart", "setp.eq.and.s32 %p1, %r1, %r2, ! q;", (P1, R1, R2, Negated(Q))),
    ("minus", "vmad.s32.s32.s32 %r1, -%r2, %r1, %r2;", (R1, Minus(R2), R1, R2)),
    ("byte and half", "vadd.u32.u32.u32 %r1, %r2.b0, %r2.h1;", (R1, Part(R2, "b0"), Part(R2, "h1"))),
    ("tensor", "cp.async.bulk.tensor.2d [%r1], [%rd1, {%r1, %r2}], [%r2+8];",
     (Address(R1, 0), Bracketed((RD1, Vector((R1, R2)))), Address(R2, 8))),
    ("tensor with an offset", "cp.async.bulk.tensor.1d [%r1], [%rd1+64, {%r1}], [%r2];",
     (Address(R1, 0), Bracketed((Plus(RD1, 64), Vector((R1,)))), Address(R2, 0))),
    ("nested vector", "tex.2d.v4 {{%r1}, {%r2}}, %r1;", (Vector((Vector((R1,)), Vector((R2,)))), R1)),
    ("label", "bra $L;\n$L:", (Label("$L", 1),)),
    ("function", "call k;", (SymbolRef("k", 0),)),
    ("call", "call.uni (%r1), k, (%r2, 3), smem;",
     (Group((R1,)), SymbolRef("k", 0), Group((R2, Immediate(3))), SymbolRef("smem", 0))),
    ("call without arguments", "call k, ();", (SymbolRef("k", 0), Group(()))),
    ("over lines", "mov.b32\n%r1\n,\n%r2\n;", (R1, R2)),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "operands"), [row[1:] for row in FORMS], ids=[row[0] for row in FORMS])
def test_each_form(statement: str, operands: tuple[Operand, ...]) -> None:
    assert sound(statement, SMEM).instructions[0].operands == operands


@pytest.mark.parametrize("statement", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
def test_the_quick_reader_reads_what_the_careful_one_does(statement: str) -> None:
    found = sound(statement, SMEM).instructions[0]
    careful = read_operands(found.text, found.resolve, is_call=found.opcode.startswith("call"))
    assert found.operands == careful


LONG = [
    ("more operands than the quick reader takes", "op " + "%r1, " * 99 + "4;", 100),
    ("as many as it takes", "op " + "%r1, " * 63 + "4;", 64),
    ("more than it takes in braces", "op %r1, {" + "%r1, " * 299 + "%r2};", 2),
    ("as many as it takes in braces", "op %r1, {" + "%r1, " * 255 + "%r2};", 2),
    ("an opcode of many words", "op" + ".w::w" * 31 + " %r1;", 1),
]


@pytest.mark.parametrize(("statement", "count"), [row[1:] for row in LONG], ids=[row[0] for row in LONG])
def test_long_instructions_are_read_whole(statement: str, count: int) -> None:
    found = sound(statement + " ret;").instructions
    assert [each.opcode for each in found] == [statement.partition(" ")[0], "ret"]
    assert len(found[0].operands) == count
    assert found[0].operands == read_operands(found[0].text, found[0].resolve)


REFUSED = [
    ("register as an offset", "ld.shared.b32 %r1, [smem+%r2];", "found `%r2`, expected an operand"),
    ("minus behind a register", "ld.shared.b32 %r1, [%r2-4];", "found `-`"),
    ("comma missing before a sign", "add.s32 %r1, %r2 -4;", "found `-`, expected `,`"),
    ("comma missing", "add.s32 %r1, %r2 %r3;", "found `%r3`, expected `,`"),
    ("comma too many", "mov.b32 %r1, %r2,;", "found the end of the statement, expected an operand"),
    ("comma first", "mov.b32 , %r2;", "found `,`, expected an operand"),
    ("bracket open", "ld.shared.b32 %r1, [%r2;", "found the end of the statement, expected `,`"),
    ("bracket empty", "ld.shared.b32 %r1, [];", "found `]`, expected an operand"),
    ("digit of no octal", "mov.b32 %r1, 08;", "found `08`, expected an integer"),
    ("letters in a number", "mov.b32 %r1, 12ab;", "found `12ab`, expected an integer"),
    ("too large", "mov.b32 %r1, 0x1FFFFFFFFFFFFFFFF;", "`0x1FFFFFFFFFFFFFFFF` has more than 64 bits"),
    ("sum too large", "mov.b32 %r1, 18446744073709551615+1;", "has more than 64 bits"),
    ("division by zero", "mov.b32 %r1, 4/0;", "a constant expression with `/` of 4 and 0 is not read"),
    ("remainder", "mov.b32 %r1, 7 % 2;", "found `% 2`, expected an operand"),
    ("question", "mov.b32 %r1, 1?2:3;", "found `?2:3`, expected an operand"),
    ("component of a number", "mov.u32 %r1, %tid.b0;", "`%tid` has no component `.b0`"),
    ("component of a scalar special register", "mov.u32 %r1, %laneid.x;", "`%laneid` has no component `.x`"),
    ("pair with a number", "setp.eq.s32 %p1|4, %r1, %r2;", "found `4`, expected a register"),
    ("group without a call", "ld.shared.b32 (%r1), [%r2];", "found `%r1`, expected an operand"),
    ("float cut short", "mov.f32 %f1, 0f3F80;", "found `0f3F80`, expected an integer"),
    ("control character behind", "mov.b32 %r1, %r2\x1d;", "expected a"),
    ("blank of another alphabet", "mov.b32 %r1, %r2\u2003;", "expected a"),
    ("letter of another alphabet", "mov.b32 %r1, é;", "found `é`, expected an operand"),
]


@pytest.mark.parametrize(("statement", "message"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_no_operand_is_a_problem_or_an_error_of_its_line(statement: str, message: str) -> None:
    function = kernel(f"\n{statement}", SMEM)
    if function.problem is None:
        with pytest.raises(PtxError, match=re.escape(message)) as caught:
            _ = function.instructions[0].operands
        assert (caught.value.code, caught.value.line) == ("SWZ532", 7)
    else:
        assert (function.problem.code, function.problem.line) == ("SWZ532", 7)
        assert message in function.problem.message
        assert not function.instructions


def test_operands_are_kept() -> None:
    instruction = sound("add.s32 %r1, %r2, -4;").instructions[0]
    assert instruction.operands is instruction.operands


@pytest.mark.parametrize(("bits", "width", "value"), [(0x3FC00000, 32, 1.5), (0xC000000000000000, 64, -2.0)])
def test_bits_as_a_number(bits: int, width: int, value: float) -> None:
    assert FloatImmediate(bits, width).value == value


CALLS = [
    ("(%r1), k, (%r2), smem", ((R1,), SymbolRef("k", 0), (R2,), SymbolRef("smem", 0))),
    ("k, (%r2)", ((), SymbolRef("k", 0), (R2,), None)),
    ("k", ((), SymbolRef("k", 0), (), None)),
    ("(%r1), %rd1, (%r2, %r1), smem", ((R1,), RD1, (R2, R1), SymbolRef("smem", 0))),
    ("%rd1, smem", ((), RD1, (), SymbolRef("smem", 0))),
]


@pytest.mark.parametrize(("text", "parts"), CALLS, ids=[text for text, _ in CALLS])
def test_parts_of_a_call(text: str, parts: tuple[object, ...]) -> None:
    found = sound(f"call.uni {text};", SMEM).instructions[0].call_parts()
    assert (found.results, found.callee, found.arguments, found.targets) == parts


@pytest.mark.parametrize("statement", ["ret;", "call (%r1);", "call (%r1), (%r2);", "call k, (%r1), %r1, %r2;"])
def test_what_is_no_call_has_no_parts(statement: str) -> None:
    with pytest.raises(PtxError, match=r"SWZ532: k.ptx, line 5"):
        sound(statement).instructions[0].call_parts()

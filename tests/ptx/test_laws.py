"""Laws of reading: what blanks, comments, lines and neighbours may not change. Texts are drawn."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.compiled.ptx import Address, Immediate, Register, read_module
from swzverify.errors import SwzError
from tests.ptx.texts import HEADER, OWN, REGISTERS, meaning, module, own, said, sound

TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/|[\w$%.:]+|\s+|.', re.DOTALL)
BLANKS = (" ", "\t", "\n", "\r\n", " \n ", "/* { */", "// } ;\n", '/* ;\n"*/', " /**/ ", "\n\n")
OPERAND = st.sampled_from(
    ("%r1", "-4", "0xFFU", "[%r2+-8]", "{%r1, _, %r3}", "%tid.x", "0f3F800000", "smem+4", "[smem]", "!q")
)
OPCODE = st.sampled_from(("mov.b32", "ld.shared.v4.f32", "setp.lt.or.s32", "cp.async.bulk.x::y", "ret"))
GUARD = st.sampled_from(("", "@%p1 ", "@!%p2 ", "@q ", "@!q "))


@st.composite
def statements(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return f".loc {draw(st.integers(1, 3))} {draw(st.integers(0, 99))} 1"
    if kind == 1:
        return f"{{ .reg .pred p; .reg .b32 t; not.pred p, q; @!p mov.b32 t, {draw(st.integers(0, 9))}; }}"
    if kind == 2:
        return "{ .param .b32 given; st.param.b32 [given+0], %r1; call.uni (given), k, (given, %r2); }"
    operands = ", ".join(draw(st.lists(OPERAND, max_size=4)))
    return f"{draw(GUARD)}{draw(OPCODE)} {operands};"


BODIES = st.lists(statements(), max_size=12)
SMEM = ".extern .shared .b8 smem[];\n"


def spread(text: str, chance: random.Random) -> str:
    """The text with other blanks and comments between its words."""
    pieces: list[str] = []
    for word in TOKEN.findall(text):
        if word.isspace():
            pieces.append("".join(chance.choices(BLANKS, k=chance.randrange(1, 4))))
        elif word.startswith(("//", "/*")):
            pieces.append("\n")
        else:
            pieces.append(word)
            if word in "{};,[]()|" and chance.random() < 0.3:
                pieces.append(chance.choice(BLANKS))
    return "".join(pieces)


@settings(deadline=None, max_examples=150)
@given(body=BODIES, seed=st.integers(0, 2**32))
def test_blanks_and_comments_do_not_change_a_kernel(body: list[str], seed: int) -> None:
    text = HEADER + SMEM + f".entry k() {{ {REGISTERS}\n" + "\n".join(body) + "\n}"
    other = spread(text, random.Random(seed))
    assert said(read_module(other, "k.ptx")) == said(read_module(text, "k.ptx"))


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("seed", range(5))
def test_blanks_and_comments_do_not_change_a_module(name: str, seed: int) -> None:
    text = own(name)
    assert said(read_module(spread(text, random.Random(seed)), name)) == said(read_module(text, name))


@settings(deadline=None, max_examples=100)
@given(bodies=st.lists(BODIES, max_size=4))
def test_functions_are_the_sum_of_their_texts(bodies: list[list[str]]) -> None:
    texts = [f".entry k{i}() {{ {REGISTERS}\n" + "\n".join(each) + "\n}\n" for i, each in enumerate(bodies)]
    shared = SMEM + ".func k;\n"
    alone = [meaning(module(shared + each).functions[-1]) for each in texts]
    together = module(shared + "".join(texts))
    assert [meaning(each) for each in together.functions if not each.is_declaration] == alone


@settings(deadline=None, max_examples=100)
@given(body=BODIES, blank=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_lines_follow_blank_lines(body: list[str], blank: list[int]) -> None:
    """Every statement on a line of its own: its instructions are on that line, wherever it goes."""
    added = [("\n" * count) + each for each, count in zip(body, blank, strict=False)]
    before, after = sound("\n".join(body), SMEM), sound("\n".join(added), SMEM)
    moved: dict[int, int] = {}
    line = shift = 6
    for count in blank[: len(body)]:
        shift += count
        moved[line] = shift
        line, shift = line + 1, shift + 1
    assert [each.line for each in after.instructions] == [moved[each.line] for each in before.instructions]


@settings(deadline=None, max_examples=100)
@given(body=BODIES)
def test_what_is_read_is_what_was_written(body: list[str]) -> None:
    """Opcodes, guards and the number of instructions, told by the text itself."""
    function = sound("\n".join(body), SMEM)
    written = re.findall(r"(?:@(!?)([\w%]+) )?\b([a-z][\w.:]*)(?: [^;{}]*(?:\{[^{}]*\}[^;{}]*)*)?;",
                         re.sub(r"\.(?:reg|param) [^;]*;|\.loc \d+ \d+ \d+", "", "\n".join(body)))  # fmt: skip
    found = [
        (each.guard.negated if each.guard else False, each.guard.register.name if each.guard else "", each.opcode)
        for each in function.instructions
    ]
    assert found == [(turned == "!", guard, opcode) for turned, guard, opcode in written]


@settings(deadline=None)
@given(value=st.integers(-(2**63), 2**64 - 1), base=st.sampled_from("xXob d"))
def test_integers_read_as_they_are_written(value: int, base: str) -> None:
    sign, size = ("-" if value < 0 else ""), abs(value)
    written = {"o": f"0{size:o}" if size else "0", "b": f"0b{size:b}", " ": f"{size}", "d": f"{size}U"}.get(
        base, f"0{base}{size:x}"
    )
    first, second = sound(f"mov.b64 %rd1, {sign}{written}; ld.shared.b32 %r1, [%r2+{sign}{written}];").instructions
    assert first.operands[1] == Immediate(value)
    assert second.operands[1] == Address(Register("%r2", 1, "b32"), value)


@settings(deadline=None, max_examples=300)
@given(text=st.text(alphabet="%r1, []{}()+-|!_.xX0fU\n~*<>tidsmemq", max_size=30))
def test_the_quick_reader_agrees_with_the_careful_one(text: str) -> None:
    """Whatever is taken as operands when the text is read can be read when they are asked for, but
    for its names.
    """
    found = module(f"{SMEM}.entry k() {{ {REGISTERS}\nop {text};\n}}")
    for instruction in found.functions[0].instructions:
        try:
            _ = instruction.operands
        except SwzError as error:
            assert "is not declared" in str(error) or "component" in str(error) or "`+`" in str(error), error  # noqa: PT017


@settings(deadline=None, max_examples=200)
@given(text=st.text(max_size=200))
def test_any_text_behind_a_header(text: str) -> None:
    from tests.ptx.test_hostile import whole

    whole(HEADER + text)
    whole(HEADER + ".entry k() {" + text + "}")

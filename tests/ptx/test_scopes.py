"""Names in blocks: inline assembly declares the same names again and again, and each use means its
own.
"""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import Label, PtxError, Register, SymbolRef
from swzverify.compiled.ptx.names import Block, ModuleNames, numbered
from tests.ptx.texts import sound


def first_operands(body: str, outside: str = "") -> list[object]:
    return [each.operands[0] for each in sound(body, outside).instructions]


def test_blocks_that_declare_one_name_have_registers_of_their_own() -> None:
    body = "{ .reg .pred p; not.pred p, q; }\n{ .reg .pred p; not.pred p, q; @!p bra L; }\nL: ret;"
    one, other, branch, _ = sound(body).instructions
    assert one.operands[0] == Register("p", 2, "pred")
    assert other.operands[0] == Register("p", 3, "pred")
    assert branch.guard is not None
    assert branch.guard.register == other.operands[0]


def test_blocks_of_one_name_with_and_without_percent() -> None:
    body = (
        "{ .reg .b64 %tmp; mov.b64 %tmp, 1; { .reg .b32 tmp; mov.b32 tmp, 2; } } { .reg .b32 %tmp; mov.b32 %tmp, 3; }"
    )
    expected = [Register("%tmp", 2, "b64"), Register("tmp", 3, "b32"), Register("%tmp", 4, "b32")]
    assert first_operands(body) == expected


def test_an_inner_name_hides_the_outer_one_from_its_declaration_to_its_brace() -> None:
    body = "{ mov.b32 %r1, 1; .reg .b64 %r1; mov.b64 %r1, 2; { mov.b64 %r1, 3; } mov.b64 %r1, 4; } mov.b32 %r1, 5;"
    outer, inner = Register("%r1", 1, "b32"), Register("%r1", 2, "b64")
    assert first_operands(body) == [outer, inner, inner, inner, outer]


def test_an_inner_range_hides_what_it_has() -> None:
    body = "{ .reg .b64 %r<2>; mov.b64 %r1, 1; mov.b32 %r2, 2; }"
    assert first_operands(body) == [Register("%r1", 2, "b64"), Register("%r2", 1, "b32")]


def test_a_block_sees_what_stands_around_it_at_its_place() -> None:
    body = "{ { mov.b32 x, 1; } .reg .b32 x; { mov.b32 x, 2; } } mov.b32 x, 3;"
    expected = [Register("x", 1, "b32"), Register("x", 2, "b32"), Register("x", 1, "b32")]
    assert first_operands(".reg .b32 x;" + body) == expected


def test_labels_hold_in_the_whole_of_their_block() -> None:
    body = "{ bra L; L: bra M; } { L: bra L; } bra M; M: L: ret;"
    assert first_operands(body.replace("ret", "bra L")) == [
        *(Label("L", 2), Label("M", 1), Label("L", 3), Label("M", 1), Label("L", 1))
    ]
    assert sound(body).labels == {Label("L", 2): 1, Label("L", 3): 2, Label("M", 1): 4, Label("L", 1): 4}


def test_variables_of_blocks_are_told_apart() -> None:
    body = "{ .param .b32 p; st.param.b32 [p], 1; } { .param .align 8 .b8 p[16]; st.param.b32 [p+8], 1; }"
    function = sound(body)
    assert [(each.name, each.scope, each.size_bytes) for each in function.symbols] == [("p", 2, 4), ("p", 3, 16)]
    addresses = [each.operands[0] for each in function.instructions]
    assert [getattr(each, "base", None) for each in addresses] == [SymbolRef("p", 2), SymbolRef("p", 3)]
    assert [getattr(each, "offset", None) for each in addresses] == [0, 8]
    second = function.symbol("p", 3)
    assert second is not None
    assert second.align_bytes == 8


def test_a_functions_variable_hides_the_modules() -> None:
    body = ".shared .b32 s; mov.u32 %r1, s; mov.u32 %r2, t;"
    function = sound(body, ".shared .b32 s, t;\n")
    assert [each.operands[1] for each in function.instructions] == [SymbolRef("s", 1), SymbolRef("t", 0)]


def test_a_declared_register_may_be_called_like_a_special_one() -> None:
    assert first_operands(".reg .b32 %tid; mov.b32 %tid, 1;") == [Register("%tid", 1, "b32")]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("{ .reg .b32 t; }\nmov.b32 %r1, t;", 6),
        ("mov.b32 %r1, t;\n.reg .b32 t;", 5),
        ("{ L: }\nbra.uni %r1, L;", 6),
        ("{ .reg .b32 %q; }\n\nmov.b32 %q, 1;", 7),
        ("{ .reg .b32 %q<3>; }\nmov.b32 %q2, 1;", 6),
    ],
    ids=["after its block", "before its declaration", "label of a block", "with percent", "of a range"],
)
def test_a_name_outside_of_its_scope_is_an_error_where_it_is_used(body: str, line: int) -> None:
    instruction = sound(body).instructions[0]
    with pytest.raises(PtxError, match="is not declared") as caught:
        _ = instruction.operands
    assert (caught.value.code, caught.value.line) == ("SWZ532", line)


def blocks() -> dict[int, Block]:
    """A function and a block in it, by their scopes."""
    outer = Block(1, None, 0, ModuleNames("k.ptx"))
    outer.declare_range("%r", 40, "b32", 0)
    outer.declare_range("%r1", 3, "b64", 0)
    outer.declare("p", Register("p", 1, "pred"), 0)
    inner = Block(2, outer, 0, outer.module)
    inner.declare("p", Register("p", 2, "b32"), 0)
    return {1: outer, 2: inner}


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        ("%r0", 1, "b32"),
        ("%r39", 1, "b32"),
        ("%r40", 1, None),
        ("%r01", 1, None),
        ("%r", 1, None),
        ("%r12", 1, "b32"),  # the number is the longest run of digits, so that the range %r1 has no member
        ("%r0", 2, None),
        ("p", 1, "pred"),
        ("p", 2, "b32"),
        ("%r99999999999", 1, None),
    ],
)
def test_registers_by_name_and_scope(name: str, scope: int, expected: str | None) -> None:
    found = blocks()[scope].here(name, numbered(name), 0)
    assert found == (None if expected is None else Register(name, scope, expected))


def test_ranges_stay_ranges() -> None:
    function = sound(".reg .b32 %big<99999999>; mov.b32 %big99999998, 1;")
    assert function.instructions[0].operands[0] == Register("%big99999998", 1, "b32")

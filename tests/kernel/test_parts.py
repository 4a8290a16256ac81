"""Graphs, sums and the flow of functions, against simple ways to find the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.compiled.kernel import linear, narrow
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.effects import registers_in, registers_of, written
from swzverify.compiled.kernel.flow import Flow, FlowError
from swzverify.compiled.kernel.graph import Tree, immediate_dominators, reached, reverse_postorder
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.narrow import is_same, low_bits, narrowed
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.ptx import Register, read_module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.races import races_of
from swzverify.ir import expr
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, Expr
from tests.kernel.texts import TOP
from tests.kernel.traps import BODIES, text_of

GRAPHS = st.integers(1, 8).flatmap(
    lambda count: st.lists(st.lists(st.integers(0, count - 1), max_size=3, unique=True), min_size=count, max_size=count)
)


@settings(max_examples=300, deadline=None)
@given(GRAPHS)
def test_dominators_are_what_cuts_a_node_off(graph: list[list[int]]) -> None:
    order = reverse_postorder(0, graph)
    tree = Tree(immediate_dominators(0, graph))
    assert set(order) == reached([0], graph, lambda _: False)
    for upper in order:
        without = reached([0], graph, lambda node, upper=upper: node == upper)
        for lower in order:
            assert tree.above(upper, lower) == (lower not in without)


@st.composite
def values(draw: st.DrawFn, depth: int = 4, width: int = 16) -> Expr:
    if depth == 0 or draw(st.booleans()):
        leaf = draw(st.sampled_from(["x", "y", "number"]))
        if leaf == "number":
            return expr.const(draw(st.integers(0, (1 << width) - 1)), width)
        return expr.var(f"{leaf}{width}", 1 << width)
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return expr.extract(draw(values(depth - 1, 2 * width)), 0, width) if width < 64 else draw(values(0, width))
    operator = (BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL, BinaryOperator.SHL, BinaryOperator.XOR)[
        kind - 1
    ]
    return expr.binary(operator, draw(values(depth - 1, width)), draw(values(depth - 1, width)))


@settings(max_examples=300, deadline=None)
@given(values(), st.lists(st.integers(0, (1 << 64) - 1), min_size=6, max_size=6))
def test_a_sum_is_the_same_value(value: Expr, numbers: list[int]) -> None:
    point = {node.name: numbers[at % 6] % node.limit for at, node in enumerate(expr.variables(value))}
    found = normal(value)
    assert found.width == value.width
    assert evaluate(found, point) == evaluate(value, point)
    assert normal(found) is found or sum_of(found) == sum_of(normal(found))


def _flips_are_wrong(names: Mapping[str, Any]) -> bool:
    """Whether a sum between two flips of low bits is not what Python computes."""
    x = expr.var("x", 256)
    for first, more, second in product((1, 4, 12), (1, 4, 16, 36, 224), (0, 1, 4, 12)):
        flipped = expr.binary(BinaryOperator.XOR, x, expr.const(first, 8))
        total = expr.binary(BinaryOperator.ADD, flipped, expr.const(more, 8))
        found = names["normal"](expr.binary(BinaryOperator.XOR, total, expr.const(second, 8)))
        for number in range(0, 256, 5):
            if evaluate(found, {"x": number}) != ((number ^ first) + more) % 256 ^ second:
                return True
    return False


def _choices_are_wrong(names: Mapping[str, Any]) -> bool:
    """Whether the sum of a choice between two sums is not what Python computes."""
    x, chosen = expr.var("x", 256), expr.var("chosen", 2)
    twice = expr.binary(BinaryOperator.ADD, x, x)
    sums: list[tuple[Expr, Callable[[int], int]]] = [
        (twice, lambda number: 2 * number),
        (expr.binary(BinaryOperator.MUL, x, expr.const(2, 8)), lambda number: 2 * number),
        (expr.binary(BinaryOperator.ADD, twice, expr.const(4, 8)), lambda number: 2 * number + 4),
        (x, lambda number: number),
    ]
    for (then, plain), (otherwise, other) in product(sums, repeat=2):
        found = names["normal"](expr.ite(expr.compare(expr.Comparison.EQ, chosen, expr.const(1, 1)), then, otherwise))
        for number, choice in product((0, 1, 7, 200), (0, 1)):
            if evaluate(found, {"x": number, "chosen": choice}) != (plain if choice else other)(number) % 256:
                return True
    return False


def test_what_is_above_flipped_bits_stands_outside() -> None:
    assert not _flips_are_wrong(vars(linear))


def test_a_choice_between_equal_sums_is_one_of_them() -> None:
    assert not _choices_are_wrong(vars(linear))
    x = expr.var("x", 256)
    twice, double = expr.binary(BinaryOperator.ADD, x, x), expr.binary(BinaryOperator.MUL, x, expr.const(2, 8))
    assert sum_of(expr.ite(expr.var("chosen", 2), twice, double)) == sum_of(twice)


@pytest.mark.parametrize(
    ("piece", "becomes"),
    [
        ("1 << bits.bit_length()", "1 << bits.bit_length() >> 1"),
        ("left ^ inside.right.value", "left | inside.right.value"),
        ("total.number // power * power", "total.number"),
        ("parts[0] == parts[1]", "parts[0].terms == parts[1].terms"),
    ],
)
def test_wrong_sums_are_found(piece: str, becomes: str) -> None:
    source = inspect.getsource(linear)
    assert source.count(piece) == 1
    names: dict[str, Any] = {"__name__": linear.__name__}
    exec(compile(source.replace(piece, becomes), "wrong", "exec", dont_inherit=True), names)  # noqa: S102 - our own text
    assert _flips_are_wrong(names) or _choices_are_wrong(names)


@st.composite
def cut_values(draw: st.DrawFn, depth: int = 4, width: int = 16) -> Expr:
    """Values that are masked, shifted to and fro, and widened, of 8, 16 or 32 bits."""
    if depth == 0:
        return draw(values(1, width))
    number = expr.const(draw(st.integers(0, width + 1)), width)
    kind = draw(st.integers(0, 8))
    if kind < 2:
        inner, narrow = draw(cut_values(depth - 1, width)), draw(st.integers(1, width))
        return expr.extend(expr.extract(inner, 0, narrow), width, signed=kind == 1)
    if kind == 2:
        return expr.extract(draw(cut_values(depth - 1, 2 * width)), draw(st.integers(0, width)), width)
    if kind == 3:
        mask = expr.const((1 << draw(st.integers(0, width))) - 1, width)
        inner = draw(cut_values(depth - 1, width))
        return expr.binary(BinaryOperator.AND, *draw(st.permutations((inner, mask))))
    if kind == 4:
        condition = expr.extract(draw(cut_values(depth - 1, width)), 0, 1)
        return expr.ite(condition, draw(cut_values(depth - 1, width)), draw(cut_values(depth - 1, width)))
    if kind == 5:
        operator = draw(
            st.sampled_from((BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.OR, BinaryOperator.UDIV))
        )
        return expr.binary(operator, draw(cut_values(depth - 1, width)), draw(cut_values(depth - 1, width)))
    back = draw(st.sampled_from((BinaryOperator.ASHR, BinaryOperator.LSHR)))
    if kind == 8:
        return expr.binary(back, draw(cut_values(depth - 1, width)), number)
    shifted = expr.binary(BinaryOperator.SHL, draw(cut_values(depth - 1, width)), number)
    return shifted if kind == 6 else expr.binary(back, shifted, expr.const(draw(st.integers(0, width + 1)), width))


@settings(max_examples=150, deadline=None)
@given(cut_values(), st.integers(1, 16), st.lists(st.integers(0, (1 << 64) - 1), min_size=6, max_size=6))
def test_low_bits_are_those_of_the_value(value: Expr, width: int, numbers: list[int]) -> None:
    point = {node.name: numbers[at % 6] % node.limit for at, node in enumerate(expr.variables(value))}
    found = low_bits(value, width)
    assert found.width == width
    assert evaluate(found, point) == evaluate(value, point) % (1 << width)
    assert evaluate(narrowed(value), point) == evaluate(value, point)
    assert is_same(value, value)


def test_a_shift_to_the_right_taken_one_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of a row number, `(x + 96) >> 5`: the sum needs no higher bits than these."""
    x = expr.var("x", 1 << 32)
    rows = expr.binary(BinaryOperator.LSHR, expr.binary(BinaryOperator.ADD, x, expr.const(96, 32)), expr.const(5, 32))
    assert evaluate(low_bits(rows, 3), {"x": 4 << 5}) == 7
    original = narrow.extract
    monkeypatch.setattr(narrow, "extract", lambda value, low, width: original(value, max(0, low - 1), width))
    assert evaluate(low_bits(rows, 3), {"x": 4 << 5}) != 7


def flow_of(body: str) -> Flow:
    module = read_module(f"{TOP}.entry k() {{ .reg .pred %p<9>; .reg .b32 %r<9>;\n{body}\n}}", "k.ptx")
    assert module.functions[0].problem is None
    return Flow(module.functions[0])


def test_blocks_and_ways() -> None:
    flow = flow_of("@%p1 bra A; mov.u32 %r1, 0; @!%p2 exit; A: mov.u32 %r1, 1; bra.uni B; mov.u32 %r1, 2; B: ret;")
    assert flow.following == [[2, 1], [5, 2], [4], [4], [5], []]
    assert not all(flow.is_reachable(block.index) for block in flow.blocks)


def test_loops_in_one_another() -> None:
    flow = flow_of("A: mov.u32 %r1, 0; B: mov.u32 %r2, 0; @%p1 bra B; @%p2 bra A; ret;")
    outer, inner = flow.loops
    assert inner.blocks < outer.blocks
    assert [loop.header for loop in flow.around(inner.header)] == [outer.header, inner.header]


def test_the_fall_off_the_end_is_a_return() -> None:
    flow = flow_of("@%p1 bra E; mov.u32 %r1, 0; E:")
    assert flow.following[-2] == [flow.exit]


@pytest.mark.parametrize("body", ["brx.idx %r1, %r2;", "bra %r1;", "@%p1 bra B; A: @%p2 bra E; B: @%p3 bra A; E: ret;"])
def test_flow_that_cannot_be_followed(body: str) -> None:
    with pytest.raises(FlowError):
        flow_of(body)


def test_a_function_may_have_ten_thousand_blocks() -> None:
    """HeCBench's tpacf has 8,072."""
    diamonds = "".join(f"@%p1 bra L{at}; mov.u32 %r1, {at}; L{at}: " for at in range(5000))
    assert len(flow_of(diamonds[: diamonds.index("@%p1 bra L4999;")] + "ret;").blocks) == 9999
    with pytest.raises(FlowError, match="more than 10000 blocks"):
        flow_of(f"{diamonds} ret;")


def test_lanes_meet_at_the_first_place_that_all_ways_lead_to() -> None:
    flow = flow_of("@%p1 bra A; mov.u32 %r1, 0; bra B; A: mov.u32 %r1, 1; B: ret;")
    meeting = flow.meeting[0]
    assert meeting is not None
    assert flow.blocks[meeting].start == 4
    assert flow.parted(0) == {1, 2}


@pytest.mark.parametrize("shape", [(32, 4, 1), (16, 4, 1), (5, 7, 2), (33, 1, 1)])
def test_coordinates_of_threads(shape: tuple[int, int, int]) -> None:
    threads = Threads(shape)
    numbers = threads.point["tid.x"] + shape[0] * (threads.point["tid.y"] + shape[1] * threads.point["tid.z"])
    assert numbers.tolist() == list(range(shape[0] * shape[1] * shape[2]))
    row = threads.point["tid.y"]
    parts = [row[start : start + 32] for start in range(0, len(row), 32)]
    expected = all(first == second for part in parts for first, second in pairwise(part.tolist()))
    assert threads.is_uniform(expr.var("tid.y", shape[1])) == expected
    assert np.all(threads.point["laneid"] < 32)


@pytest.mark.parametrize("name", BODIES)
def test_every_piece_of_a_parameter_that_is_read_is_written(name: str) -> None:
    """Else one name would stand for what different calls pass."""
    module = read_module(text_of(BODIES[name]), "k.ptx")
    kernel = module.function("k")
    assert kernel is not None
    read: set[Register] = set()
    written_to: set[Register] = set()
    for each in inlined(module, kernel).function.instructions:
        targets = {register for operand in written(each) if (register := registers_of(operand)) is not None}
        written_to |= targets
        read |= {register for operand in each.operands for register in registers_in(operand)} - targets
    assert {each for each in read - written_to if each.name.startswith("[")} == set()


_ASSERTION = """.version 8.3 .target sm_90 .address_size 64
{declared}
.entry k() {{ .reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32;
@%p1 bra FINE; {{ .param .b32 line; st.param.b32 [line], 7; call.uni __assertfail, (line); }} FINE: ret; }}"""


def test_a_failed_assertion_is_a_trap() -> None:
    """The driver's function does not return; a function of the module with its name is any function."""
    outside = read_module(_ASSERTION.format(declared=".extern .func __assertfail(.param .b32 line);"), "k.ptx")
    found = inlined(outside, outside.functions[-1])
    opcodes = [each.opcode for each in found.function.instructions]
    assert opcodes == ["mov.u32", "setp.lt.u32", "bra", "st.param.b32", "trap", "ret"]
    assert not found.left
    own = read_module(_ASSERTION.format(declared=".func __assertfail(.param .b32 line) { ret; }"), "k.ptx")
    assert "trap" not in [each.opcode for each in inlined(own, own.functions[-1]).function.instructions]


_PRINTING = """.version 8.3 .target sm_90 .address_size 64
{declared}
.shared .align 4 .b32 s[32];
.entry k() {{ .reg .b32 %r<9>; .reg .b64 %d<2>; mov.u32 %r1, %laneid; shl.b32 %r2, %r1, 2; mov.u32 %r3, s;
add.u32 %r3, %r3, %r2; mov.u64 %d1, 0; st.shared.u32 [%r3], %r1; {{
.param .b64 text; st.param.b64 [text], %d1; .param .b64 values; st.param.b64 [values], %d1; .param .b32 result;
call.uni (result), vprintf, (text, values); ld.param.b32 %r4, [result+0]; }}
{then} ret; }}"""
_DECLARED = ".extern .func (.param .b32 result) vprintf(.param .b64 text, .param .b64 values);"


@pytest.mark.parametrize(
    ("declared", "then", "is_left_out"),
    [
        (_DECLARED, "", True),
        (_DECLARED, "st.shared.u32 [%r3], %r4;", False),
        (_DECLARED, "mov.u32 %r4, 1;", False),
        (_DECLARED.replace(".extern ", "").rstrip(";") + " { ret; }", "", False),
    ],
)
def test_what_prints_changes_nothing(declared: str, then: str, is_left_out: bool) -> None:
    """The driver's function is left out if nobody reads its result; one of the module with its name is any function."""
    module = read_module(_PRINTING.format(declared=declared, then=then), "k.ptx")
    found = inlined(module, module.functions[-1])
    assert bool(found.prints) is is_left_out
    races = races_of(module, module.functions[-1], Given(), block=(32, 1, 1))
    assert any("`printf` (PTX line 7) reads nothing in shared memory" in e for e in races.assumptions) is is_left_out
    assert (races.verdict is RaceVerdict.FREE) is (is_left_out or "{ ret; }" in declared)

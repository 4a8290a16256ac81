"""Layouts that are known: measured ones, published ones, and those that theorems speak of."""

from __future__ import annotations

import pytest

from swzverify.apps.options.synth import FAMILIES
from swzverify.errors import SwzError
from swzverify.layout.tma import TmaMode
from swzverify.search.synth import problem as problems
from swzverify.search.synth.problem import Form, Problem, Variant
from swzverify.search.synth.solution import Solution, find
from swzverify.spec import parse_spec

_STEPS = "for: {k: {start: 0, stop: 32, step: 16}}"
LDMATRIX = f"{{tile: A, instruction: ldmatrix.x4, threads: 32, {_STEPS}, coord: [lane%16, k + lane/16*8]}}"
COLUMN = "{tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}"
ROW = "{tile: A, instruction: st.shared.b32, threads: 32, for: {i: 32}, coord: [i, lane]}"
VECTOR_ROW = "{tile: A, instruction: st.shared.v4.b32, threads: 32, for: {i: 8}, coord: [i*4 + lane/8, lane%8*4]}"


def solution(tile: str, accesses: dict[str, str], family: str = "swizzle", **more: object) -> Solution:
    listed = "\n".join(f"  {name}: {text}" for name, text in accesses.items())
    case = parse_spec(f"swzverify: 1\ntiles: {{A: {tile}}}\naccesses:\n{listed}\n").cases[0]
    form = Form(dense="shape" in tile, tma="tma:" in tile)
    variant = Variant(case.tiles["A"], dict(case.accesses), form, 232448, case.weights)
    return find(Problem(family, (variant,), **more))  # pyright: ignore[reportArgumentType]


def halfs(columns: int) -> str:
    return f'{{element: f16, layout: "(64,{columns}):({columns},1)"}}'


def test_the_command_lists_the_families() -> None:
    assert FAMILIES == problems.FAMILIES


@pytest.mark.parametrize(("columns", "text"), [(32, "Swizzle<2,3,3>"), (64, "Swizzle<3,3,3>"), (128, "Swizzle<3,3,4>")])
def test_ldmatrix_of_halfs(columns: int, text: str) -> None:
    found = solution(halfs(columns), {"read": LDMATRIX})
    assert str(found.answer.swizzle) == text
    assert found.answer.wavefronts == (4,)


def test_the_transpose() -> None:
    found = solution('{element: f32, layout: "(32,32):(32,1)"}', {"write": ROW, "read": COLUMN})
    assert str(found.answer.swizzle) == "Swizzle<5,0,5>"
    found = solution('{element: f32, layout: "(32,32):(32,1)"}', {"write": ROW, "read": COLUMN}, "pad")
    assert (found.answer.pad_elements, found.answer.wavefronts) == (1, (1, 1))


def test_pads_of_halfs() -> None:
    found = solution(halfs(64), {"read": LDMATRIX}, "pad")
    assert found.answer.pad_elements == 8
    # Wide accesses keep rows apart by whole vectors; a pad that is there counts as one.
    found = solution("{element: f16, layout: {shape: [64, 64], pad: 24}}", {"read": LDMATRIX}, "pad")
    assert found.answer.pad_elements == 8


@pytest.mark.parametrize(("columns", "mode"), [(16, TmaMode.B32), (32, TmaMode.B64), (64, TmaMode.B128)])
def test_tma_modes(columns: int, mode: TmaMode) -> None:
    access = LDMATRIX.replace("stop: 32", "stop: 16")
    assert solution(halfs(columns), {"read": access}, "tma").answer.mode is mode


def test_a_wide_write_keeps_a_narrow_read_from_freedom() -> None:
    found = solution('{element: f32, layout: "(32,32):(32,1)"}', {"write": VECTOR_ROW, "read": COLUMN})
    assert found.answer.wavefronts == (4, 4)
    assert found.reason is not None
    assert found.reason.core == ("write", "read")
    assert found.reason.arguments[0].startswith("rank: write needs vectors of 16 bytes whole, so bits 2 to 3")
    assert "at least 2^2 share a bank" in found.reason.arguments[0]


def test_lanes_that_add_to_one_word() -> None:
    add = "{tile: A, instruction: atom.shared.add.u32, threads: 32, coord: [lane/4, 0]}"
    for family in ("swizzle", "xor"):
        found = solution('{element: i32, layout: "(32,32):(32,1)"}', {"add": add}, family)
        assert found.answer.wavefronts == (4,)
        assert found.reason is not None
        assert found.reason.core == ("add",)
        assert found.reason.arguments[0].startswith("pigeonhole: 4 lanes of a group of add touch one word")


def test_weights_decide_where_not_all_can_be_free() -> None:
    tile = '{element: f32, layout: "(64,64):(64,1)"}'
    down = "{tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}"
    block = "{tile: A, instruction: ld.shared.b32, threads: 32, coord: [lane%8, lane/8]}"
    plain = solution(tile, {"down": down, "block": block})
    heavy = solution(tile, {"down": down, "block": block.replace("}", ", weight: 100}")})
    other = solution(tile, {"down": down.replace("}", ", weight: 100}"), "block": block})
    assert plain.reason is not None
    assert heavy.answer.conflicts[1] == 0 < heavy.answer.conflicts[0]
    assert other.answer.conflicts[0] == 0 < other.answer.conflicts[1]


def test_what_cannot_be_asked() -> None:
    with pytest.raises(SwzError, match=r"SWZ562.*TMA box"):
        solution("{element: f16, tma: {swizzle: none, box: [64, 64]}}", {"read": LDMATRIX})
    with pytest.raises(SwzError, match=r"SWZ563.*no TMA mode"):
        solution(halfs(65).replace("65,1", "72,1"), {"read": ROW.replace("b32", "b16")}, "tma")
    loop = "{tile: A, instruction: st.shared.b32, threads: 32, for: {k: any}, coord: [k%3, lane]}"
    with pytest.raises(SwzError, match=r"SWZ206.*no bound"):
        solution('{element: f32, layout: "(3,32):(32,1)"}', {"write": loop})
    with pytest.raises(SwzError, match="SWZ564"):
        solution('{element: f32, layout: "(32,35):(35,1)"}', {"read": COLUMN}, "xor")

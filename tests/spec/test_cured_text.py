"""A cure is written into the text of a spec, in each form that the text may have."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swzverify.errors import SwzError
from swzverify.layout import Layout, Swizzle
from swzverify.search.cures import Cure
from swzverify.search.cures.tiles import with_base, with_layout
from swzverify.spec import Spec
from swzverify.spec.cured_text import cured_text
from swzverify.spec.load import parse_spec
from swzverify.spec.sources.languages import Language
from swzverify.subjects import AlignedBase, Tile
from swzverify.subjects.phase import Sync, WaitGroup

HEAD = "swzverify: 1\n"


def tile_of(text: str, language: Language | None = None) -> tuple[Spec, Tile]:
    spec = parse_spec(text.replace("\r\n", "\n").removeprefix("\ufeff"), path="a.swz.yaml", language=language)
    return spec, spec.cases[0].tiles["T"]


def written(text: str, after: Tile, language: Language | None = None) -> str:
    spec, _ = tile_of(text, language)
    return cured_text(text, "a.swz.yaml", spec.cases[0], Cure("T", "", "", after=after), language)


def padded(tile: Tile, row: int) -> Tile:
    assert isinstance(tile.layout, Layout)
    return with_layout(tile, Layout(tile.layout.shape, (row, 1)))


@pytest.mark.parametrize(
    ("tile", "row", "old", "new"),
    [
        ("T: {element: f32, layout: '(32,32):(32,1)'}", 33, "'(32,32):(32,1)'", '"(32,32):(33,1)"'),
        ("T: {element: f32, layout: {shape: [32, 32]}}", 33, "[32, 32]", "[32, 32], pad: 1"),
        ("T: {element: f32, layout: {shape: [32, 32], pad: 4}}", 40, "pad: 4", "pad: 8"),
        (
            "T: {element: f32, layout: {shape: [32, 32]}, bytes: 4096}",
            33,
            "32]}, bytes: 4096",
            "32], pad: 1}, bytes: 4220",
        ),
    ],
)
def test_a_pad_in_each_form_of_a_layout(tile: str, row: int, old: str, new: str) -> None:
    text = f"{HEAD}tiles:\n  {tile}  # rows\n"
    _, before = tile_of(text)
    after = written(text, padded(before, row))
    assert after == text.replace(old, new)
    assert tile_of(after)[1].layout == padded(before, row).layout


def test_names_in_a_layout_stay() -> None:
    text = f'{HEAD}constants: {{R: 8, C: 32}}\ntiles:\n  T: {{element: f32, layout: "(R,(C,2)):(2*C,(1,C))"}}\n'
    _, before = tile_of(text)
    assert isinstance(before.layout, Layout)
    after = written(text, with_layout(before, Layout(before.layout.shape, (72, (1, 36)))))
    assert '"(R,(C,2)):(2*(C + 4),(1,C + 4))"' in after
    assert tile_of(after)[1].layout.stride == (72, (1, 36))


def test_a_pad_that_is_a_constant_changes_the_constant() -> None:
    tile = "{T: {element: f32, layout: {shape: [32, 32], pad: PAD}}}"
    text = f"{HEAD}constants:\n  PAD: 0  # none yet\ntiles: {tile}\n"
    _, before = tile_of(text)
    assert written(text, padded(before, 33)) == text.replace("PAD: 0 ", "PAD: 1 ")


def test_a_swizzle_and_a_base() -> None:
    text = f"{HEAD}tiles:\n  T:\n    element: f32\n    base:\n      align: 128  # of TMA\n    layout: (32,32):(32,1)\n"
    _, before = tile_of(text)
    swizzled = before.relaid(before.layout, Swizzle(5, 0, 5), "offset")
    assert written(text, swizzled) == text + "    swizzle: Swizzle<5,0,5>\n"
    by_address = before.relaid(before.layout, Swizzle(3, 4, 3), "address")
    assert written(text, by_address).endswith("    swizzle: {bits: 3, base: 4, shift: 3, on: address}\n")
    assert written(text, with_base(before, AlignedBase(512))) == text.replace("128", "512")


def test_a_swizzle_in_front_of_the_layout() -> None:
    text = f"{HEAD}tiles:\n  T: {{element: f16, layout: 'Sw<2,3,3> o 0 o (64,64):(64,1)'}}\n"
    _, before = tile_of(text)
    after = written(text, before.relaid(before.layout, Swizzle(3, 3, 3), "offset"))
    assert tile_of(after)[1].swizzle == Swizzle(3, 3, 3)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_the_byte_order_mark_stay(end: str, mark: str) -> None:
    text = mark + f"{HEAD}tiles:\n  T:\n    element: f32\n    layout: (32,32):(32,1)\n# end\n".replace("\n", end)
    _, before = tile_of(text)
    after = written(text, before.relaid(before.layout, Swizzle(5, 0, 5), "offset"))
    assert after == text.replace(f"(32,1){end}", f"(32,1){end}    swizzle: Swizzle<5,0,5>{end}")


C_LINES = """\
int a; // swz:x
// swz:begin
// swzverify: 1
// constants: {N: 32}
// swz:end
__shared__ float t[32][32];
  // swz:begin
  // tiles:
  //   T:
  //     element: f32
  //     layout: (N,N):(N,1)
  // swz:end
/* swz:begin
 * accesses:
 *   r: {tile: T, instruction: ld.shared.b32, threads: 32, coord: [lane, 0]}
 * swz:end */
"""
PYTHON = """\
x = 1
# swz:begin
# swzverify: 1
# tiles:
#   T:
#     element: f32
#     layout: (32,32):(32,1)
# swz:end
"""


def test_a_contract_in_c() -> None:
    _, before = tile_of(C_LINES, Language.C)
    after = written(C_LINES, before.relaid(before.layout, Swizzle(5, 0, 5), "offset"), Language.C)
    assert after == C_LINES.replace("(N,1)\n", "(N,1)\n  //     swizzle: Swizzle<5,0,5>\n")
    assert written(C_LINES, padded(before, 33), Language.C) == C_LINES.replace("(N,1)", "(N + 1,1)")


def test_a_contract_in_python() -> None:
    _, before = tile_of(PYTHON, Language.PYTHON)
    after = written(PYTHON, before.relaid(before.layout, Swizzle(5, 0, 5), "offset"), Language.PYTHON)
    assert after == PYTHON.replace("(32,1)\n", "(32,1)\n#     swizzle: Swizzle<5,0,5>\n")


PHASES = f"""\
{HEAD}accesses:
  put: {{instruction: st.shared.b32, threads: 64, address: tid*4}}
  get: {{instruction: ld.shared.b32, threads: 64, address: (63-tid)*4}}
phases:
  lines:
    for: {{i: any}}
    steps:
      - put   # mine
      - {{wait_group: 2}}
      - get   # of another
  line: {{steps: [put, get]}}
"""


@pytest.mark.parametrize(
    ("phase", "at", "old", "new"),
    [
        ("lines", 0, "      - put ", "      - barrier\n      - put "),
        ("lines", 3, "another\n", "another\n      - barrier\n"),
        ("line", 0, "[put, get]", "[barrier, put, get]"),
        ("line", 2, "[put, get]", "[put, get, barrier]"),
    ],
)
def test_one_more_step(phase: str, at: int, old: str, new: str) -> None:
    case = parse_spec(PHASES).cases[0]
    before = case.phases[phase]
    after = replace(before, steps=(*before.steps[:at], Sync.BARRIER, *before.steps[at:]))
    text = cured_text(PHASES, "a.swz.yaml", case, Cure(phase, "", "", after=after))
    assert text == PHASES.replace(old, new)
    assert [*map(str, parse_spec(text).cases[0].phases[phase].steps)] == [*map(str, after.steps)]


def test_a_wait_that_leaves_fewer_groups() -> None:
    case = parse_spec(PHASES).cases[0]
    before = case.phases["lines"]
    after = replace(before, steps=(before.steps[0], WaitGroup(1), before.steps[2]))
    text = cured_text(PHASES, "a.swz.yaml", case, Cure("lines", "", "", after=after))
    assert text == PHASES.replace("wait_group: 2", "wait_group: 1")


def test_what_no_text_can_say_is_refused() -> None:
    text = f"{HEAD}tiles: {{T: {{element: f32, layout: '(32,32):(32,1)'}}}}\n"
    spec, _ = tile_of(text)
    with pytest.raises(SwzError, match="cannot state this change"):
        cured_text(text, "a.swz.yaml", spec.cases[0], Cure("T", "a change without an object", ""))

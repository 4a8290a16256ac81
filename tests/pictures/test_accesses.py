"""The views of accesses: what they draw is what threads touch, and what `access_cost` counts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify import Layout, Swizzle, Tile, access_cost
from swzverify.errors import SwzError
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.views.groups import group_panels, groups
from swzverify.explain.pictures.views.ownership import ownership
from swzverify.explain.pictures.views.swizzled import swizzled_access
from swzverify.hardware import INSTRUCTIONS, find_target
from swzverify.ir.c_parse import parse
from swzverify.spec import parse_spec
from swzverify.subjects import Access, Loop

BANKED = [row for row in INSTRUCTIONS.values() if not row.by_octets]


def at_address(instruction: str, text: str, loops: tuple[Loop, ...] = ()) -> Access:
    return Access("a", INSTRUCTIONS[instruction], find_target("sm_90"), (32,), loops=loops, address=parse(text))


def read_a(swizzle: Swizzle | None) -> Access:
    tile = Tile("A", 16, Layout((64, 64), (64, 1)), swizzle)
    where = ["warp*16 + lane%16", "k + lane/16*8"]
    return tile.read("ldmatrix.x4", coord=where, threads=128, loops={"k": range(0, 64, 16)}, name="read_A")


def lanes_of(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(BANKED),
    st.sampled_from(["lane*{0}", "lane%{1}*{0}", "(lane^{1})*{0}", "lane/{1}*{0}", "(lane*{1}%32)*{0}"]),
    st.integers(1, 40),
    st.integers(1, 31),
)
def test_a_panel_is_as_high_as_its_group_is_slow(row, form: str, step: int, other: int) -> None:
    """For every instruction that counts banks, and all words of the drawn lanes."""
    width = row.width_bytes
    access = at_address(row.name, form.format(width * step, other))
    run = chosen(access)
    addresses = [lane.address_bytes for lane in run.lanes]
    cost = access_cost(row, addresses)
    panels = group_panels(run)
    assert [len(panel.row_heads) for panel in panels] == [group.wavefronts for group in cost.groups]
    assert sum(len(panel.row_heads) for panel in panels) == cost.wavefronts
    for panel, group in zip(panels, cost.groups, strict=True):
        drawn: dict[tuple[int, int], set[int]] = {}
        for cell in panel.cells:
            (word,) = re.findall(r"byte (\d+)", cell.tip)
            drawn.setdefault((cell.column, int(word)), set()).update(lanes_of(cell.lines[0]))
            assert cell.marked == (cell.row > 0)
        wanted: dict[tuple[int, int], set[int]] = {}
        for lane in group.lanes:
            first = addresses[lane] // 4 * 4
            for word in range(first, first + max(4, width), 4):
                wanted.setdefault((word // 4 % 32, word), set()).add(lane)
        assert drawn == wanted


def test_octets_have_a_row_for_each_class() -> None:
    access = at_address("cp.async.16", "lane*16 + 16")
    run = chosen(access)
    for panel, group in zip(group_panels(run), run.cost.groups, strict=True):
        rows = [{int(cell.lines[0]) for cell in panel.cells if cell.row == row} for row in range(len(panel.row_heads))]
        assert rows == [set(each) for each in group.apart]
        assert all(cell.marked == (cell.row > 0) for cell in panel.cells)
        assert len({cell.row for cell in panel.cells}) == len(group.apart)
        for cell in panel.cells:
            lane = int(cell.lines[0])
            assert cell.column == (lane * 16 + 16) // 16 % 8
    assert f"{run.cost.wavefronts} wavefronts" in groups(run).captions[1]


def test_the_worst_warp_instruction_is_drawn() -> None:
    tile = Tile("A", 32, Layout((32, 32), (32, 1)))
    access = tile.read("ld.shared.b32", coord=["lane % (k + 1)", "k"], threads=32, loops={"k": 8}, name="r")
    run = chosen(access)
    assert run.cost.wavefronts == access.cost().wavefronts == 8
    assert run.where == "warp = 0, k = 7, base = 0"
    assert chosen(access, {"k": 3}).cost.wavefronts == 4


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"k": 3}, "k is never 3"),
        ({"kk": 3}, "has no variable 'kk'"),
        ({"warp": 4}, "warp is never 4"),
        ({"base": 8}, "base is never 8"),
    ],
)
def test_a_place_that_is_none_is_refused(at: dict[str, int], message: str) -> None:
    with pytest.raises(SwzError, match=message) as caught:
        chosen(read_a(None), at)
    assert caught.value.code == "SWZ581"


def test_owners_are_the_threads_that_touch() -> None:
    """Against a plain loop over threads: who touches which element, and as which value."""
    tile = Tile("A", 16, Layout((16, 64), (64, 1)), Swizzle(3, 3, 3))
    copy = tile.write("st.shared.v4.b32", coord=["tid/8", "tid%8*8"], threads=128, name="write_A")
    picture = ownership(chosen(copy))
    (panel,) = picture.panels
    found = {(cell.row, int(panel.column_heads[cell.column])): cell.lines for cell in panel.cells}
    assert found == {(thread // 8, thread % 8 * 8): (f"T{thread}", "V0-7") for thread in range(128)}
    assert "1024 elements of 1024 touched, 0 by several threads." in picture.captions


def test_values_count_through_the_iterations() -> None:
    tile = Tile("A", 16, Layout((16, 64), (64, 1)), Swizzle(3, 3, 3))
    copy = tile.write("st.shared.v4.b32", coord=["i*4 + tid/8", "tid%8*8"], threads=32, loops={"i": 4}, name="w")
    picture = ownership(chosen(copy))
    (panel,) = picture.panels
    found = {(cell.row, int(panel.column_heads[cell.column])): cell.lines for cell in panel.cells}
    wanted = {
        (i * 4 + thread // 8, thread % 8 * 8): (f"T{thread}", f"V{8 * i}-{8 * i + 7}")
        for i in range(4)
        for thread in range(32)
    }
    assert found == wanted
    assert any("all 32 threads, 4 iterations at base = 0" in each for each in picture.captions)
    one = ownership(chosen(copy, {"i": 2}), None, ["i"])
    assert {cell.row for cell in one.panels[0].cells if cell.lines != ("-",)} == {8, 9, 10, 11}
    assert any("at i = 2, base = 0" in each for each in one.captions)


def test_elements_need_not_begin_at_a_multiple_of_their_size() -> None:
    text = """\
swzverify: 1
tiles:
  T: {element: f32, shape: [2, 8], address: i*32 + j*4, base: 2}
accesses:
  r: {tile: T, instruction: ld.shared.b16, threads: 16, coord: [lane/8, lane%8]}
"""
    access = parse_spec(text, path="a.yaml").cases[0].accesses["r"]
    (panel,) = ownership(chosen(access)).panels
    assert [cell.lines for cell in panel.cells] == [(f"T{lane}", "V0") for lane in range(16)]


def test_shared_and_free_elements_are_told() -> None:
    tile = Tile("A", 32, Layout((4, 8), (8, 1)))
    read = tile.read("ld.shared.b32", coord=["lane % 2", "lane / 8"], threads=32, name="r")
    picture = ownership(chosen(read))
    (panel,) = picture.panels
    wanted: dict[tuple[int, int], list[int]] = {}
    for lane in range(32):
        wanted.setdefault((lane % 2, lane // 8), []).append(lane)
    for cell in panel.cells:
        held = wanted.get((cell.row, cell.column), [])
        more = f"+{len(held) - 1}" if len(held) > 1 else ""
        assert cell.lines == ((f"T{held[0]}{more}", "V0") if held else ("-",))
        assert cell.marked == (len(held) > 1)
    assert "8 elements of 32 touched, 8 by several threads." in picture.captions


def test_ownership_follows_the_stage_of_the_access() -> None:
    tile = Tile("A", 32, Layout((2, 32), (32, 1)), stages=2)
    read = tile.read("ld.shared.b32", coord=["i", "lane"], threads=32, loops={"i": 2}, stage="i", name="r")
    picture = ownership(chosen(read, {"i": 1}))
    assert {cell.lines[0] for cell in picture.panels[0].cells if cell.row == 1} == {f"T{lane}" for lane in range(32)}
    assert "stage 1" in picture.captions[0]


def test_an_address_has_no_owners_and_no_swizzle() -> None:
    run = chosen(at_address("ld.shared.b32", "lane*8"))
    for view in (ownership, swizzled_access):
        with pytest.raises(SwzError, match="no tile"):
            view(run)


def test_before_and_after_have_the_costs_of_both() -> None:
    run = chosen(read_a(Swizzle(3, 3, 3)))
    picture = swizzled_access(run)
    before, after = picture.panels
    assert (len(before.row_heads), len(after.row_heads)) == (8, 1)
    assert all(cell.marked == (cell.row > 0) for cell in before.cells)
    assert any(cell.marked for cell in before.cells)
    assert not any(cell.marked for cell in after.cells)
    assert "at most 32 wavefronts" in picture.captions[1]
    assert "at most 4 wavefronts" in picture.captions[2]


def test_what_has_no_end_is_drawn_where_it_begins() -> None:
    access = at_address("ld.shared.b32", "lane*128 + i*4", loops=(Loop("i", 0, None),))
    run = chosen(access)
    assert run.costs is None
    assert "there is no total cost: a loop has no bound" in run.every
    assert run.cost.wavefronts == 32
    assert chosen(access, {"i": 5}).where == "warp = 0, i = 5"


def test_where_no_lane_is_active_nothing_is_drawn() -> None:
    tile = Tile("A", 32, Layout((32, 32), (32, 1)))
    read = tile.read("ld.shared.b32", coord=["lane", 0], threads=64, predicate="warp == 0", name="r")
    assert chosen(read).where.startswith("warp = 0")
    with pytest.raises(SwzError, match="no active lane at warp = 1"):
        chosen(read, {"warp": 1})

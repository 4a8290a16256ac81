"""Notebooks' pictures: true to the values, harmless whatever people wrote, and of bounded size."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import product
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify import Access, Layout, Swizzle, Tile, access_cost, prove
from swzverify.claims import Bijective, ConflictFree, Wavefronts
from swzverify.explain.notebook.drawing import picture_of, svg_of
from swzverify.explain.pictures.views.offsets import MOST, offsets, swizzled_offsets
from swzverify.hardware import GroupCost, find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import ComposedLayout, PointerLayout
from swzverify.prover import judge
from swzverify.search.costs import locality
from swzverify.subjects import IndexMap

EVIL = "</text><script>alert(1)</script><img src=x onerror=y>&\"'\x1b[31m\u202e"
COLUMN = {"coord": ["lane", 0], "threads": 32}
MOST_BYTES = 1 << 20


def column(name: str = "A", swizzle: Swizzle | None = None) -> Access:
    tile = Tile(name, 32, Layout("(32,32):(32,1)"), swizzle)
    return tile.read("ld.shared.b32", **COLUMN, name=f"read {name}")


def order(name: str) -> IndexMap:
    return IndexMap(name, (("bid", 16),), (parse("bid/4"), parse("bid%4")), (4, 4))


DRAWN: dict[str, Callable[[str], object]] = {
    "layout": lambda _: Layout("((2,4),(8,2)):((1,16),(2,64))"),
    "a layout of one mode": lambda _: Layout("40:3"),
    "a layout of three modes": lambda _: Layout("(4,3,8):(24,8,1)"),
    "composed": lambda _: ComposedLayout(Swizzle(3, 3, 3), 8, Layout("(8,64):(64,1)")),
    "pointer": lambda _: PointerLayout(Swizzle(3, 4, 3), 16, Layout("(8,64):(64,1)")),
    "swizzle": lambda _: Swizzle(3, 4, 3),
    "tile": lambda name: Tile(name, 16, Layout("(8,64):(64,1)")),
    "access": column,
    "order of blocks": lambda name: locality(order(name), 4),
    "judgement": lambda name: judge(ConflictFree(column(name))),
    "picture": lambda name: picture_of(column(name)),
}


@pytest.mark.parametrize("make", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("name", ["A", EVIL], ids=["plain", "hostile"])
def test_a_picture_is_xml_of_shapes_and_words_only(make: Callable[[str], object], name: str) -> None:
    svg = svg_of(make(name))
    assert svg is not None
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own text
    allowed = {"svg", "style", "rect", "text", "path", "g", "title"}
    assert {each.tag.rpartition("}")[2] for each in root.iter()} <= allowed
    assert not [key for each in root.iter() for key in each.attrib if key.startswith("on") or "href" in key]
    assert "\x1b" not in svg
    assert "\u202e" not in svg
    assert root.attrib["aria-label"]


def brute(layout: Layout | ComposedLayout) -> list[str]:
    """Offsets row by row: the last coordinate is the column, the first one the slowest of the rows."""
    return [str(layout(*at)) for at in product(*map(range, layout.extents))]


LAYOUTS = [
    "(4,8):(8,1)",
    "(4,8):(1,4)",
    "((2,2),(4,2)):((1,8),(2,16))",
    "(2,3,4):(12,4,1)",
    "17:3",
    "1:0",
    "33:2",
    "(8,8):(1,1)",
]


@pytest.mark.parametrize("text", LAYOUTS)
def test_cells_are_the_offsets(text: str) -> None:
    for found in (Layout(text), ComposedLayout(Swizzle(2, 0, 3), 5, Layout(text))):
        cells = offsets(found).panels[0].cells
        assert [cell.lines[0] for cell in cells] == brute(found)
        assert [cell.value for cell in cells] == [int(each) % 32 for each in brute(found)]
        assert [cell.marked for cell in cells] == [brute(found).count(each) > 1 for each in brute(found)]


@pytest.mark.parametrize("args", [(3, 0, 3), (2, 3, 4), (0, 4, 3), (1, 2, -3), (5, 0, 5), (3, 4, -3)])
def test_cells_are_what_a_swizzle_makes_of_offsets(args: tuple[int, int, int]) -> None:
    swizzle = Swizzle(*args)
    panel = swizzled_offsets(swizzle).panels[0]
    assert len(panel.cells) == min(32, 1 << swizzle.bits) * min(32, 1 << abs(swizzle.shift))
    for cell in panel.cells:
        x = int(panel.row_heads[cell.row]) + int(panel.column_heads[cell.column])
        assert cell.lines == (str(swizzle(x)),)
        assert {swizzle(x + more) - swizzle(x) for more in range(1 << swizzle.base)} == set(range(1 << swizzle.base))
    assert not swizzled_offsets(swizzle).has_marks


def test_offsets_that_meet_are_marked() -> None:
    broken = Swizzle.unchecked(2, 0, 0)
    assert swizzled_offsets(broken).has_marks
    assert all(cell.marked for cell in swizzled_offsets(broken).panels[0].cells)


HUGE: dict[str, Callable[[], object]] = {
    "a layout": lambda: Layout((1 << 30, 1 << 30)),
    "of one mode": lambda: Layout(1 << 40),
    "of many modes": lambda: Layout((2,) * 40),
    "composed": lambda: ComposedLayout(Swizzle(3, 3, 3), 0, Layout((256, 256), (256, 1))),
    "swizzle": lambda: Swizzle(20, 10, 30),
    "tile": lambda: Tile("A", 16, Layout((256, 256), (256, 1))),
    "tile of columns": lambda: Tile("A", 16, Layout((256, 256))),
    "tile of bytes": lambda: Tile("A", 8, Layout((256, 257), (257, 1))),
    "pointer": lambda: PointerLayout(Swizzle(3, 4, 3), 16, Layout((512, 512), (512, 1))),
    "access": lambda: Tile("A", 8, Layout((1024, 128), (128, 1))).read("ld.shared.b8", coord=["tid", 0], threads=1024),
    "judgement": lambda: judge(ConflictFree(column("A" * 5000))),
}


@pytest.mark.parametrize("make", HUGE.values(), ids=HUGE)
def test_a_picture_is_small_whatever_it_is_of(make: Callable[[], object]) -> None:
    svg = svg_of(make())
    assert svg is not None
    ElementTree.fromstring(svg)  # noqa: S314 - our own text
    assert len(svg) < MOST_BYTES


def test_what_is_cut_off_is_said() -> None:
    picture = offsets(Layout((100, 40), (40, 1)))
    assert len(picture.panels[0].cells) == MOST * MOST
    assert "The picture shows rows 0 to 31 of 100 and columns 0 to 31 of 40." in picture.captions
    assert not any("Drawn" in caption for caption in offsets(Layout((32, 32))).captions)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 70)), min_size=1, max_size=4))
def test_every_small_layout_is_drawn_as_it_is(modes: list[tuple[int, int]]) -> None:
    found = Layout(tuple(each for each, _ in modes), tuple(each for _, each in modes))
    panel = offsets(found).panels[0]
    drawn = {(panel.row_heads[cell.row], panel.column_heads[cell.column]): cell.lines[0] for cell in panel.cells}
    for at in product(*map(range, found.extents)):
        *row, column = at
        if column < MOST and len(at) > 1 and (",".join(map(str, row)), str(column)) in drawn:
            assert drawn[",".join(map(str, row)), str(column)] == str(found(*at))
    assert len(drawn) == len(panel.cells)


def test_what_cannot_be_drawn_has_no_picture() -> None:
    misaligned = Tile("A", 16, Layout("(32,33):(33,1)")).read("ld.shared.b32", **COLUMN)
    assert misaligned._repr_svg_() is None
    assert Tile("A", 8, Layout(1 << 23))._repr_svg_() is None
    assert svg_of(judge(Bijective(Tile("A", 8, Layout(8))))) is None
    assert svg_of("text") is None


class Words(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_a_judgement_has_the_claim_the_table_and_the_picture() -> None:
    found = judge(Wavefronts(column(EVIL), 4))
    assert str(found).startswith("wavefronts: read ")
    assert ", at_most = 4\nrefuted\n" in str(found)
    read = Words(found._repr_html_())
    assert "script" not in read.tags
    assert "img" not in read.tags
    assert read.tags.count("svg") == 1
    assert {"refuted", "lane", "bank", "ld.shared.b32: 32 wavefronts, 1 without conflicts: 31 bank conflicts"} <= {
        *read.words
    }
    mended = Words(judge(ConflictFree(column(swizzle=Swizzle(5, 0, 5))))._repr_html_())
    assert "svg" not in mended.tags
    assert "proved" in mended.words


def test_the_words_of_a_cost_are_those_of_the_banks() -> None:
    cost = access_cost("ld.shared.b32", [128 * lane if lane < 8 else 4 * lane for lane in range(32)])
    (group,) = cost.groups
    needed = [{128 * lane // 4 for lane in range(8)} if bank == 0 else set() for bank in range(32)]
    for lane in range(8, 32):
        needed[lane] |= {lane}
    assert group.words == tuple(map(len, needed))
    assert max(group.words) == group.wavefronts == cost.wavefronts
    assert "bank 0: 8; banks 8-31: 1" in Words(cost._repr_html_()).words
    copies = access_cost("cp.async.16", [16 * lane for lane in range(32)])
    assert all(isinstance(each, GroupCost) and not each.words for each in copies.groups)
    assert "lanes together" in str(copies)


def test_an_atomic_counts_each_lane_of_a_word() -> None:
    cost = access_cost("atom.shared.add.u32", [0] * 32)
    assert all(max(group.words) == group.wavefronts for group in cost.groups)


def test_nothing_below_imports_pictures_until_one_is_asked_for() -> None:
    code = (
        "import sys; from swzverify.layout import Layout; made = Layout('(4,8):(8,1)')\n"
        "print('swzverify.explain.pictures' in sys.modules, 'swzverify.explain.notebook' in sys.modules)\n"
        "print('<svg' in made._repr_svg_(), 'swzverify.explain.pictures' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False", "True", "True"]


def test_a_row_of_another_target_is_drawn_as_well() -> None:
    old = Access("a", find_instruction("ld.shared.b32"), find_target("sm_70"), (32,), address=parse("lane*8"))
    assert "assumed" in old._repr_svg_() or "documented" in old._repr_svg_()
    assert prove(ConflictFree(old)).outcome == "refuted"

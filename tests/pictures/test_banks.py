"""Each drawn bank is the one of the hardware's rule: `access_cost` says which words collide, and a
formula of the test's own says where elements lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify import Layout, Swizzle, Tile, access_cost
from swzverify.explain.pictures import Panel, Picture
from swzverify.explain.pictures.grid import View
from swzverify.explain.pictures.views.logical import logical
from swzverify.explain.pictures.views.physical import physical
from swzverify.explain.pictures.views.swizzled import swizzled_tile
from swzverify.spec import parse_spec
from swzverify.subjects import AlignedBase


@dataclass(frozen=True)
class Case:
    """A row-major or column-major tile, in numbers that the test reads itself."""

    rows: int
    columns: int
    strides: tuple[int, int]
    bits: int
    swizzle: tuple[int, int, int] | None = None
    on: str = "offset"
    base: int = 0

    @property
    def tile(self) -> Tile:
        swizzle = None if self.swizzle is None else Swizzle(*self.swizzle)
        layout = Layout((self.rows, self.columns), self.strides)
        return Tile("T", self.bits, layout, swizzle, self.on, AlignedBase(128))

    def offset(self, row: int, column: int) -> int:
        plain = row * self.strides[0] + column * self.strides[1]
        return self._xor(plain) if self.on == "offset" else plain

    def address_bits(self, row: int, column: int) -> int:
        raw = 8 * self.base + self.offset(row, column) * self.bits
        return raw if self.on == "offset" else 8 * self._xor(raw // 8)

    def _xor(self, value: int) -> int:
        if self.swizzle is None:
            return value
        bits, base, shift = self.swizzle
        return value ^ (((value >> (base + shift)) % (1 << bits)) << base)


CASES = {
    "xor table": Case(8, 8, (8, 1), 32, (3, 0, 3)),
    "chunks of halfs": Case(8, 64, (64, 1), 16, (3, 3, 3)),
    "5,0,6": Case(32, 64, (64, 1), 32, (5, 0, 6)),
    "5,0,8": Case(32, 64, (64, 1), 32, (5, 0, 8)),
    "5,2,6": Case(32, 64, (64, 1), 32, (5, 2, 6)),
    "5,2,8": Case(32, 64, (64, 1), 32, (5, 2, 8)),
    "4,0,4": Case(32, 16, (16, 1), 32, (4, 0, 4)),
    "4,0,5": Case(32, 16, (16, 1), 32, (4, 0, 5)),
    "padded": Case(16, 32, (33, 1), 32),
    "column-major bytes": Case(64, 8, (1, 64), 8, (2, 4, 3)),
    "doubles": Case(16, 16, (16, 1), 64, (4, 0, 4)),
    "four bits": Case(8, 64, (64, 1), 4),
    "on addresses, a line further": Case(8, 64, (64, 1), 16, (3, 4, 3), "address", 128),
}


def bank_that_collides(address: int) -> int:
    """The bank of a byte by the rule alone: that of the words which it cannot be read beside."""
    return _collides(address // 4 * 4)


@cache
def _collides(word: int) -> int:
    far = (word // 128 + 1) * 128
    hit = [
        bank for bank in range(32) if access_cost("ld.shared.b32", [word, far + 4 * bank, *[None] * 30]).wavefronts == 2
    ]
    assert len(hit) == 1
    return hit[0]


def drawn_banks(picture: Picture, panel: int = 0) -> dict[tuple[int, int], tuple[int, int, int]]:
    """Row and column of a cell to its offset, first and last bank, as its texts say them."""
    found: dict[tuple[int, int], tuple[int, int, int]] = {}
    for cell in picture.panels[panel].cells:
        offset, banks = cell.lines
        ends = re.fullmatch(r"b(\d+)(?:-(\d+))?", banks)
        assert ends is not None
        first = int(ends[1])
        assert cell.value == first
        found[cell.row, cell.column] = (int(offset), first, int(ends[2] or first))
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_drawn_bank_is_that_of_the_rule(name: str) -> None:
    case = CASES[name]
    picture = logical(case.tile, View(base=case.base), probed=False)
    panel = picture.panels[0]
    rows, columns = map(int, panel.row_heads), map(int, panel.column_heads)
    at_row, at_column = list(rows), list(columns)
    known: dict[int, int] = {}
    found = drawn_banks(picture)
    assert len(found) == len(at_row) * len(at_column)
    down = case.strides[0] == 1
    vector = (at_row[1] - at_row[0]) if down else (at_column[1] - at_column[0])
    for (row, column), (offset, first, last) in found.items():
        here = (at_row[row], at_column[column])
        assert offset == case.offset(*here)
        end = (here[0] + vector - 1, here[1]) if down else (here[0], here[1] + vector - 1)
        for bit, bank in ((case.address_bits(*here), first), (case.address_bits(*end) + case.bits - 1, last)):
            address = bit // 8
            if address not in known:
                known[address] = bank_that_collides(address)
            assert bank == known[address], (name, here)


@pytest.mark.parametrize("name", ["chunks of halfs", "xor table", "padded", "doubles", "column-major bytes"])
def test_what_lies_in_a_row_of_128_bytes_has_that_address(name: str) -> None:
    case = CASES[name]
    picture = physical(case.tile, View(base=case.base))
    panel = picture.panels[0]
    width = 128 // len(panel.column_heads)
    seen: set[str] = set()
    for cell in panel.cells:
        row, column = map(int, cell.lines[0].split(","))
        address = int(panel.row_heads[cell.row]) + cell.column * width
        assert case.address_bits(row, column) == 8 * address
        assert panel.column_heads[cell.column].split("-")[0] == str(bank_that_collides(address))
        seen.add(cell.lines[0])
    vectors = case.rows * case.columns * case.bits // 8 // width
    assert len(seen) == len(panel.cells) == vectors


def test_elements_in_one_place_are_marked() -> None:
    tile = Tile("T", 32, Layout((4, 32), (0, 1)))
    (panel,) = physical(tile, View(vector=1)).panels
    assert {(cell.lines, cell.marked) for cell in panel.cells if cell.column == 5} == {(("0,5 +3",), True)}


def test_before_and_after_have_the_same_cells_and_other_banks() -> None:
    case = CASES["xor table"]
    picture = swizzled_tile(case.tile)
    before, after = drawn_banks(picture, 0), drawn_banks(picture, 1)
    for row in range(8):
        for column in range(8):
            assert before[row, column][0] == 8 * row + column
            assert after[row, column][0] == 8 * row + (row ^ column)


@pytest.mark.parametrize(("name", "free"), [("5,0,6", True), ("5,0,8", False), ("5,2,6", False), ("5,2,8", False)])
def test_of_four_swizzles_only_one_frees_the_columns(name: str, free: bool) -> None:
    """The preview of bank ids of a 32 x 64 tile: a column is free where its 32 banks differ."""
    picture = logical(CASES[name].tile, View(vector=1))
    found = drawn_banks(picture)
    columns = [{found[row, column][1] for row in range(32)} for column in range(64)]
    assert all(len(each) == 32 for each in columns) == free
    assert any("down columns" in each and "no bank conflicts" in each for each in picture.captions) == free


@pytest.mark.parametrize(("name", "wavefronts"), [("4,0,4", 2), ("4,0,5", 1)])
def test_the_words_are_the_worst_column(name: str, wavefronts: int) -> None:
    picture = logical(CASES[name].tile)
    found = drawn_banks(picture)
    most = max(
        max(sum(found[row, column][1] == bank for row in range(32)) for bank in range(32)) for column in range(16)
    )
    assert most == wavefronts
    (words,) = [each for each in picture.captions if "down columns" in each]
    assert f"at most {wavefronts} wavefront" in words


def test_large_tiles_are_cut_and_say_so() -> None:
    tile = Tile("T", 16, Layout((256, 256), (256, 1)), Swizzle(3, 3, 5))
    picture = logical(tile)
    assert len(picture.panels[0].cells) == 64 * 32
    assert "The picture shows rows 0 to 63 of 256." in picture.captions
    assert "The banks repeat every 8 rows." in picture.captions
    later = logical(tile, View(rows=(64, 128)))
    assert [cell.value for cell in later.panels[0].cells] == [cell.value for cell in picture.panels[0].cells]


def test_one_mode_is_cut_into_lines() -> None:
    (panel,) = logical(Tile("T", 32, Layout(40, 2)), View(vector=1)).panels
    assert (panel.row_heads, len(panel.cells)) == (("0", "32"), 40)
    assert [cell.lines[0] for cell in panel.cells[-2:]] == ["76", "78"]


def test_three_modes_have_rows_of_two() -> None:
    (panel,) = logical(Tile("T", 32, Layout((2, 3, 4), (12, 4, 1)))).panels
    assert panel.row_heads == ("0,0", "0,1", "0,2", "1,0", "1,1", "1,2")
    assert [cell.lines[0] for cell in panel.cells] == [str(each) for each in range(24)]


@pytest.mark.parametrize(("key", "unit"), [("offset", 4), ("address", 1)])
def test_an_expression_is_drawn_as_it_says(key: str, unit: int) -> None:
    text = f"swzverify: 1\ntiles:\n  T: {{element: f32, shape: [8, 8], {key}: '(i*8 + (i ^ j))*{4 // unit}'}}\n"
    picture = logical(parse_spec(text, path="a.yaml").cases[0].tiles["T"])
    for (row, column), (offset, bank, _) in drawn_banks(picture).items():
        element = 8 * row + (row ^ column)
        assert (offset * unit, bank) == (4 * element, element % 32)
    assert any("down columns" in each and "1 wavefront" in each for each in picture.captions)


@st.composite
def tiles(draw: st.DrawFn) -> Tile:
    """Nested layouts in any order of strides, with and without a swizzle of offsets or addresses."""
    extents = draw(st.lists(st.sampled_from([1, 2, 3, 4, 8]), min_size=3, max_size=4))
    strides, next_stride = [0] * len(extents), 1
    for place in draw(st.permutations(range(len(extents)))):
        strides[place] = next_stride
        next_stride = next_stride * extents[place] + draw(st.sampled_from([0, 0, 1]))
    cut = draw(st.integers(1, len(extents) - 1))
    shape = (tuple(extents[:cut]), tuple(extents[cut:]))
    layout = Layout(shape, (tuple(strides[:cut]), tuple(strides[cut:])))
    bits = draw(st.sampled_from([4, 8, 16, 32, 64]))
    on = draw(st.sampled_from(["offset", "address"])) if bits >= 8 else "offset"
    least = 3 if on == "address" else 0
    swizzle = draw(st.sampled_from([None, Swizzle(1, least, 1), Swizzle(2, least + 1, 3), Swizzle(3, least, -4)]))
    return Tile("T", bits, layout, swizzle, on, AlignedBase(128))


@settings(max_examples=40, deadline=None)
@given(tiles(), st.integers(0, 3))
def test_banks_of_any_tile_are_those_of_the_rule(tile: Tile, line: int) -> None:
    """Each first and last byte by `access_cost`, at addresses that `Layout` and `Swizzle` alone give."""
    base = 128 * line
    whole = View(base=base, rows=(0, tile.extents[0]), columns=(0, tile.extents[1]))
    picture = logical(tile, whole, probed=False)
    (panel,) = picture.panels
    elements = {
        tile.layout(row, column): (row, column) for row in range(tile.extents[0]) for column in range(tile.extents[1])
    }
    assert sum(_vector_of(panel, tile) for _ in panel.cells) == len(elements) == tile.size
    for cell in panel.cells:
        row, column = (int(each) for each in re.findall(r"\((\d+),(\d+)\)", cell.tip)[0])
        offset = tile.layout(row, column)
        if tile.swizzle is not None and tile.swizzle_on == "offset":
            offset = tile.swizzle(offset)
        bit = 8 * base + offset * tile.element_bits
        if tile.swizzle is not None and tile.swizzle_on == "address":
            bit = 8 * tile.swizzle(bit // 8)
        offset_text, banks = cell.lines
        assert int(offset_text) == offset
        first, last = re.fullmatch(r"b(\d+)(?:-(\d+))?", banks).groups()
        assert int(first) == bank_that_collides(bit // 8)
        end = bit + _vector_of(panel, tile) * tile.element_bits - 1
        assert int(last or first) == bank_that_collides(end // 8)


def _vector_of(panel: Panel, tile: Tile) -> int:
    return tile.size // len(panel.cells)

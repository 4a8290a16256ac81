"""Each number of a parameter map is what `access_cost` makes of addresses that the test computes."""

from __future__ import annotations

import re

import pytest

from swzverify import Layout, Swizzle, Tile, access_cost
from swzverify.errors import SwzError
from swzverify.explain.pictures.views.parameter_map import sweep_picture
from swzverify.search.parameter_maps import Sweep, sweep_pads, sweep_swizzles
from swzverify.spec import parse_spec

SPEC = "swzverify: 1\ntiles:\n  T: {element: f32, shape: [8, 8], offset: i*8 + j}\n"
EXPRESSION = parse_spec(SPEC, path="a.yaml").cases[0].tiles["T"]
NAME = re.compile(r"Swizzle<(\d+),(\d+),(\d+)>")


def column(layout: Layout, bits: int = 32, swizzle: Swizzle | None = None):
    tile = Tile("T", bits, layout, swizzle)
    return tile, tile.read("ld.shared.b32", coord=["lane", "k"], threads=32, loops={"k": 2}, name="column")


def numbers(sweep: Sweep) -> dict[str, int]:
    return {price.name: price.wavefronts for table in sweep.tables for price in table.prices}


def test_swizzles_of_a_column() -> None:
    tile, access = column(Layout((32, 16), (16, 1)))
    found = numbers(sweep_swizzles(tile, [access]))
    assert len(found) > 60
    for name, wavefronts in found.items():
        numbered = NAME.fullmatch(name)
        bits, base, shift = map(int, numbered.groups()) if numbered else (0, 0, 0)
        worst = 0
        for k in range(2):
            offsets = [lane * 16 + k for lane in range(32)]
            moved = [x ^ (((x >> (base + shift)) % (1 << bits)) << base) for x in offsets]
            worst = max(worst, access_cost("ld.shared.b32", [4 * x for x in moved]).wavefronts)
        assert wavefronts == worst, name
    assert found["Swizzle<4,0,4>"] == 2
    assert [name for name, wavefronts in found.items() if wavefronts == 1] == ["Swizzle<4,0,5>"]


def test_all_legal_swizzles_of_the_tile_s_bits_are_there() -> None:
    tile, access = column(Layout((32, 16), (16, 1)))
    wanted = {
        f"Swizzle<{bits},{base},{shift}>"
        for bits in range(1, 9)
        for base in range(9)
        for shift in range(bits, 9)
        if base + bits + shift <= 9
    }
    assert set(numbers(sweep_swizzles(tile, [access]))) == wanted | {"no swizzle"}
    assert {name.split(",")[1] for name in numbers(sweep_swizzles(tile, [access], base=2)) if "," in name} == {"2"}


def test_pads_of_a_column() -> None:
    tile, access = column(Layout((32, 32), (32, 1)))
    found = numbers(sweep_pads(tile, [access]))
    assert len(found) == 32
    for name, wavefronts in found.items():
        pad = int(name.split(",")[0].removeprefix("pad ")) if name != "no pad" else 0
        worst = max(
            access_cost("ld.shared.b32", [4 * (lane * (32 + pad) + k) for lane in range(32)]).wavefronts
            for k in range(2)
        )
        assert wavefronts == worst, name


def test_vectors_stay_whole() -> None:
    tile = Tile("A", 16, Layout((64, 64), (64, 1)))
    where = ["warp*16 + lane%16", "k + lane/16*8"]
    read = tile.read("ldmatrix.x4", coord=where, threads=128, loops={"k": range(0, 64, 16)}, name="read_A")
    swizzles = sweep_swizzles(tile, [read])
    assert swizzles.tables[0].fixed == "M = 3"
    assert "Swizzle<3,3,3>" in swizzles.best(read)[1]
    pads = [price.name for price in sweep_pads(tile, [read]).tables[0].prices]
    assert [name.split(",")[0] for name in pads[1:]] == [f"pad {8 * each}" for each in range(1, 8)]


def test_a_swizzle_of_addresses_counts_bytes() -> None:
    tile = Tile("A", 16, Layout((64, 64), (64, 1)), Swizzle(3, 4, 3), "address")
    where = ["warp*16 + lane%16", "k + lane/16*8"]
    read = tile.read("ldmatrix.x4", coord=where, threads=128, loops={"k": range(0, 64, 16)}, name="read_A")
    sweep = sweep_swizzles(tile, [read])
    assert sweep.tables[0].fixed == "M = 4"
    assert numbers(sweep)["Swizzle<3,4,3>"] == 4


def test_the_picture_has_every_number_and_marks_the_fewest() -> None:
    tile, access = column(Layout((32, 16), (16, 1)))
    sweep = sweep_swizzles(tile, [access])
    picture = sweep_picture(sweep)
    for table, panel in zip(sweep.tables, picture.panels, strict=True):
        drawn = {(cell.row, cell.column): cell for cell in panel.cells}
        assert len(drawn) == len(table.prices)
        for price in table.prices:
            cell = drawn[price.row, price.column]
            assert cell.lines == (str(price.wavefronts),)
            assert cell.marked == (price.wavefronts == 1)
            numbered = NAME.fullmatch(price.name)
            if numbered:
                assert panel.row_heads[cell.row] == f"B={numbered[1]}"
                assert panel.column_heads[cell.column] == f"S={numbered[3]}"
    assert any("the fewest are 1 wavefront, by Swizzle<4,0,5>" in each for each in picture.captions)


@pytest.mark.parametrize(
    ("sweep", "message"),
    [
        (lambda tile, access: sweep_swizzles(tile, [access], base=8), "no swizzle with M = 8"),
        (lambda _, access: sweep_pads(Tile("T", 32, Layout(32, 1)), [access]), "no row"),
        (lambda _, access: sweep_pads(EXPRESSION, [access]), "is an expression"),
        (lambda _, access: sweep_swizzles(EXPRESSION, [access]), "is an expression"),
    ],
)
def test_what_cannot_be_swept_is_refused(sweep, message: str) -> None:
    with pytest.raises(SwzError, match=message) as caught:
        sweep(*column(Layout((32, 16), (16, 1))))
    assert caught.value.code == "SWZ583"


def test_too_much_is_refused() -> None:
    tile = Tile("T", 32, Layout((512, 64), (64, 1)))
    read = tile.read("ld.shared.b32", coord=["lane", "k % 64"], threads=1024, loops={"k": 1 << 13}, name="r")
    with pytest.raises(SwzError, match="lanes to price") as caught:
        sweep_swizzles(tile, [read])
    assert caught.value.code == "SWZ583"

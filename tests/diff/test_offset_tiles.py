"""Tiles by expression in comparisons of two states."""

from __future__ import annotations

import pytest

from swzverify.apps.diff.canonical import canonical
from swzverify.apps.diff.subjects import tile_changes
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout
from swzverify.subjects import OffsetMap, Tile


def tile(value: str, names: str = "ij", constants: dict[str, int] | None = None, **fields: object) -> Tile:
    in_bytes = bool(fields.pop("in_bytes", False))
    over = tuple((name, 8) for name in names)
    layout = OffsetMap(over, parse(value), in_bytes=in_bytes, constants=constants)
    return Tile("A", 16, layout, **fields)  # type: ignore[arg-type]  # a test's own fields


def test_names_of_modes_and_constants_change_nothing() -> None:
    first = tile("i*8 + (j ^ i)")
    for same in (tile("(i)*8+(j^i)"), tile("r*8 + (c ^ r)", "rc"), tile("i*N + (j ^ i)", constants={"N": 8})):
        assert canonical(same) == canonical(first)
        assert not tile_changes(first, same, "injective")


@pytest.mark.parametrize(
    ("after", "kind", "what", "way"),
    [
        (tile("i*8 + j"), "injective", "layout of A", "neither"),
        (tile("j*8 + (i ^ j)"), "injective", "layout of A", "neither"),
        (tile("i*8 + (j ^ i)", in_bytes=True), "injective", "layout of A", "neither"),
        (tile("i*8 + (j ^ i)", allocation_bytes=130), "in_bounds", "allocation of A", "weaker"),
        (tile("i*8 + (j ^ i)", allocation_bytes=130), "bijective", "allocation of A", "weaker"),
        (Tile("A", 16, Layout((8, 8), (8, 1))), "injective", "layout of A", "neither"),
    ],
)
def test_another_expression_is_another_tile(after: Tile, kind: str, what: str, way: str) -> None:
    found = tile_changes(tile("i*8 + (j ^ i)"), after, kind)
    assert {each.what: each.direction.value for each in found}[what] == way

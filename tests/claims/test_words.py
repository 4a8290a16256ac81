"""What reports print of each claim in edges.py, whole: subject, scope, evidence, facts, the names
of goals, tables. `golden/edges` has it, and golden.py says what an entry is; every cell of every
table is computed again here from the definition or by the oracle.
"""

from __future__ import annotations

import numpy as np
import pytest

from swzverify.claims import Claim, Counterexample, Covers, Disjoint, Equivalent, Permutation
from swzverify.claims.common_base import common_origins
from swzverify.subjects import Access, Tile
from tests.claims.edges import alone, claims
from tests.claims.golden import Entry, entries, entry_of, points
from tests.oracle.subjects import Tile as Judged
from tests.oracle.subjects import read_memories, read_tile

WORDS = entries("edges")


@pytest.mark.parametrize("entry", WORDS, ids=[entry["claim"] for entry in WORDS])
def test_words_and_tables(entry: Entry) -> None:
    assert entry_of(entry["claim"], claims()[entry["claim"]], points(entry)) == entry


def test_every_claim_has_an_entry() -> None:
    assert sorted(entry["claim"] for entry in WORDS) == sorted(claims())


def check_lanes(access: Access, point: dict[str, int], example: Counterexample) -> None:
    """All lanes from the definition over arrays: active, position, coordinate."""
    arrays = {name: np.full(32, value) for name, value in point.items() if name != "lane"} | {"lane": np.arange(32)}
    _, active, position, _ = (np.broadcast_to(each, 32) for each in access.definition(arrays))
    tile = access.tile
    coord = [np.broadcast_to(each, 32) for each in access.coordinates(access.environment(arrays))]
    for lane, row in enumerate(example.rows):
        cells = dict(zip(example.columns, row.cells, strict=True))
        address = int(position[lane]) * access.unit_bits // 8
        wanted: dict[str, object] = {"lane": lane, "address": address, "word": address // 4, "bank": address // 4 % 32}
        if access.instruction.is_global:
            wanted = {"lane": lane, "address": address, "sector": address // 32}
        if tile is not None:
            here = tuple(int(each[lane]) for each in coord)
            wanted |= {"coord": here, "offset": int(tile.offset(here))}
        if not active[lane]:
            wanted = dict.fromkeys(wanted) | {"lane": lane}
        assert cells == wanted


def judged(text: str, name: str) -> Judged:
    """A tile as the oracle reads it."""
    spec = alone(text)
    tiles = spec["tiles"]
    assert isinstance(tiles, dict)
    return read_tile(name, tiles[name], read_memories(spec, {}), {}, "sm_90")


def check_elements(tile: Judged, example: Counterexample, base: int, stage: int) -> None:
    """Every row's offset and address by the oracle; a position inside a byte is `byte.bit`."""
    extents = tile.layout.extents
    for row in example.rows:
        cells = dict(zip(example.columns, row.cells, strict=True))
        stage = int(cells.get("stage", stage))
        index, weight = 0, 1
        for number, extent in zip(cells["coord"], extents, strict=True):
            index, weight = index + number * weight, weight * extent
        bit = tile.bits(tile.start(base, stage))[index]
        assert cells["address"] == (f"{bit // 8}.{bit % 8}" if tile.element_bits % 8 else bit // 8)
        assert cells.get("offset", tile.swizzled_offsets[index]) == tile.swizzled_offsets[index]


def check_touches(claim: Covers, point: dict[str, int], example: Counterexample) -> None:
    """Each touch is that of an active thread, at its address; the base is the common one."""
    own = claim.access.base if claim.access.tile is None else claim.access.tile.base
    access = claim.access.moved(common_origins(own, claim.tile.base)[0])
    placement = {"stage": point.get("stage", 0), "base": point.get("base", 0)}
    for row in example.rows:
        cells = dict(zip(example.columns, row.cells, strict=True))
        here = placement | {"warp": cells["warp"], "lane": cells["lane"]}
        for loop in access.loops:
            here[loop.name], rest = divmod(int(cells[loop.name]) - loop.start, loop.step)
            assert rest == 0
        assumed, active, position, _ = access.definition({name: np.full(1, value) for name, value in here.items()})
        assert np.all(assumed)
        assert np.all(active)
        assert cells["address"] == int(position[0]) * access.unit_bits // 8
        assert row.mark == "x"


def check_two(first: Access, second: Access, point: dict[str, int], example: Counterexample) -> None:
    """Both accesses' addresses, lane by lane, at the common base; lanes that are off, or do not
    run, have none.

    Where either one's elements are no whole bytes, both have the bit.
    """
    bases = [each.base if each.tile is None else each.tile.base for each in (first, second)]
    in_bits = any(each.tile is not None and each.tile.element_bits % 8 for each in (first, second))
    addresses: list[list[int | str | None]] = []
    for each, place in zip((first, second), common_origins(*bases), strict=True):
        arrays = {name: np.full(32, value) for name, value in point.items()} | {"lane": np.arange(32)}
        assumed, active, position, _ = (np.broadcast_to(array, 32) for array in each.moved(place).definition(arrays))
        on = assumed & active
        bits = [int(position[lane]) * each.unit_bits for lane in range(32)]
        texts = [f"{bit // 8}.{bit % 8}" if in_bits else bit // 8 for bit in bits]
        addresses.append([text if on[lane] else None for lane, text in enumerate(texts)])
    assert example.columns == ("lane", first.name, second.name)
    for lane, (row, a, b) in enumerate(zip(example.rows, *addresses, strict=True)):
        assert row.cells == (lane, a, b)
        assert row.mark == ("x" if a != b else "")


TABLES = [(entry["claim"], number, at) for entry in WORDS for number, at in enumerate(points(entry)) if at]


@pytest.mark.parametrize(("text", "number", "at"), TABLES)
def test_cells_of_tables(text: str, number: int, at: list[dict[str, int]]) -> None:
    claim: Claim = claims()[text]
    goal = claim.plan().goals[number]
    for point in at:
        example = claim.replay(goal, point)
        assert example is not None
        access = getattr(claim, "access", getattr(claim, "about", None))
        if isinstance(access, Access) and not isinstance(claim, Covers):
            assert len(example.rows) == 32
            check_lanes(access, point, example)
            continue
        match claim:
            case Covers():
                check_touches(claim, point, example)
            case Disjoint(first=first):
                other = claim.second or first
                for row, tile in zip(example.rows, (first, other), strict=True):
                    base = example.binding[f"base of {tile.name}"]
                    check_elements(judged(text, tile.name), Counterexample({}, "", example.columns, (row,)), base, 0)
            case Equivalent(first=Tile() as first, second=Tile() as second):
                for row, tile in zip(example.rows, (first, second), strict=True):
                    cells = Counterexample({}, "", example.columns, (row,))
                    assert row.cells[0] == tile.name
                    base = example.binding.get("base", getattr(tile.base, "address_bytes", 0))
                    own = getattr(tile.base, "offset_bytes", 0) - getattr(first.base, "offset_bytes", 0)
                    check_elements(judged(text, tile.name), cells, base + own, example.binding.get("stage", 0))
            case Equivalent(first=Access() as first, second=Access() as second):
                check_two(first, second, point, example)
            case Equivalent() | Permutation():
                assert all(row.mark == "x" for row in example.rows)
            case _:
                tile = judged(text, claim.subject)
                base = example.binding.get("base", tile.base.offset)
                check_elements(tile, example, base, example.binding.get("stage", 0))

"""The eleven claims, each proved, refuted and vacuous, through the Python classes and through YAML.

Both ways must give one verdict and one counterexample; and each counterexample is computed again
here in plain Python, from docs/semantics.md: layouts, swizzles and the bank rule are written out
below, nothing of the package is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pytest

from swzverify.claims import (
    Aligned,
    Bijective,
    Claim,
    ConflictFree,
    Contiguous,
    Counterexample,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
    Verdict,
    Wavefronts,
)
from swzverify.claims.verdict import Outcome
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout, Swizzle
from swzverify.prover import Options, prove
from swzverify.spec.load import parse_spec
from swzverify.subjects import Access, AlignedBase, FixedBase, IndexMap, Loop, Memory, MemoryBase, Tile

PROVED, REFUTED, VACUOUS = Outcome.PROVED, Outcome.REFUTED, Outcome.VACUOUS

SUBJECTS = """\
swzverify: 1
target: sm_90
memories: {smem: {bytes: 8192, align: 128}}
tiles:
  good: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>"}
  plain: {element: f16, layout: "(8,64):(64,1)"}
  torn: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,2,3>"}
  overlap: {element: f16, layout: "(8,8):(4,1)"}
  padded: {element: f16, layout: "(8,64):(65,1)"}
  small: {element: f16, layout: "(4,2):(2,1)"}
  short: {element: f16, layout: "(8,64):(64,1)", bytes: 1000}
  tma: {element: f16, tma: {swizzle: 128B, box: [8, 64]}, base: {align: 128}}
  cute: {element: f16, layout: "(8,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {align: 128}}
  ring: {element: f16, layout: "(8,64):(64,1)", stages: 3}
  crowded: {element: f16, layout: "(8,64):(64,1)", stages: {count: 2, pitch: 512}}
  left: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 0}}
  right: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 1024}}
  between: {element: f16, layout: "(8,64):(64,1)", base: {in: smem, offset: 512}}
  floats: {element: f32, layout: "(32,32):(32,1)", base: 0}
accesses:
  linear: {instruction: ld.shared.v4.b32, threads: 64, address: tid*16, bytes: 1024}
  beyond: {instruction: ld.shared.v4.b32, threads: 64, address: tid*16, bytes: 1000}
  odd: {instruction: ld.shared.v4.b32, threads: 64, for: {i: 3}, address: tid*16 + i*4, bytes: 2048}
  nobody: {instruction: ld.shared.b32, threads: 64, if: tid > 99, address: tid*4, bytes: 1024}
  row: {tile: floats, instruction: ld.shared.b32, threads: 64, for: {i: 16}, coord: [i*2 + tid/32, lane]}
  column:
    {tile: floats, instruction: ld.shared.b32, threads: 32, for: {i: {start: 4, stop: 32, step: 4}}, coord: [lane, i]}
  skew: {tile: floats, instruction: ld.shared.b32, threads: 64, for: {i: 16}, coord: [i*2 + tid/32, "(lane + 1) % 32"]}
maps:
  grouped: {over: {bid: 128}, value: [bid%8 + bid/64*8, bid/8%8], onto: [16, 8]}
  twice: {over: {x: 16}, value: [x/2*2], onto: [16]}
  outside: {over: {x: 24}, value: [x ^ 8], onto: [24]}
  fewer: {over: {x: 8}, value: [x], onto: [16]}
  offsets: {over: {r: 8, c: 64}, value: ["base + 2*(r*64 + c)"]}
claims: []
"""

ROW, WIDE = Layout((8, 64), (64, 1)), Swizzle(3, 3, 3)
SMEM = Memory("smem", 8192, 128)


def halfs(name: str, layout: Layout = ROW, swizzle: Swizzle | None = None, **fields: object) -> Tile:
    return Tile(name, 16, layout, swizzle, **fields)  # type: ignore[arg-type]  # Tile's own fields


TILES = {
    tile.name: tile
    for tile in (
        halfs("good", swizzle=WIDE),
        halfs("plain"),
        halfs("torn", swizzle=Swizzle(3, 2, 3)),
        halfs("overlap", Layout((8, 8), (4, 1))),
        halfs("padded", Layout((8, 64), (65, 1))),
        halfs("small", Layout((4, 2), (2, 1))),
        halfs("short", allocation_bytes=1000),
        halfs("tma", swizzle=Swizzle(3, 4, 3), swizzle_on="address", base=AlignedBase(128)),
        halfs("cute", swizzle=WIDE, base=AlignedBase(128)),
        halfs("ring", stages=3),
        halfs("crowded", stages=2, pitch_bytes=512),
        halfs("left", base=MemoryBase(SMEM, 0)),
        halfs("right", base=MemoryBase(SMEM, 1024)),
        halfs("between", base=MemoryBase(SMEM, 512)),
        Tile("floats", 32, Layout((32, 32), (32, 1)), base=FixedBase(0)),
    )
}


def bare(name: str, address: str, loops: tuple[Loop, ...] = (), **fields: object) -> Access:
    instruction = str(fields.pop("instruction", "ld.shared.v4.b32"))
    return Access(
        name,
        find_instruction(instruction),
        find_target("sm_90"),
        (64,),
        loops,
        address=parse(address),
        **fields,  # type: ignore[arg-type]
    )


def on_floats(name: str, threads: int, loop: Loop, coord: tuple[str, str]) -> Access:
    return Access(
        name,
        find_instruction("ld.shared.b32"),
        find_target("sm_90"),
        (threads,),
        (loop,),
        tile=TILES["floats"],
        coord=tuple(parse(each) for each in coord),
    )


ACCESSES = {
    access.name: access
    for access in (
        bare("linear", "tid*16", bytes=1024),
        bare("beyond", "tid*16", bytes=1000),
        bare("odd", "tid*16 + i*4", (Loop("i", 0, 3),), bytes=2048),
        bare("nobody", "tid*4", instruction="ld.shared.b32", predicate=parse("tid > 99"), bytes=1024),
        on_floats("row", 64, Loop("i", 0, 16), ("i*2 + tid/32", "lane")),
        on_floats("column", 32, Loop("i", 4, 32, 4), ("lane", "i")),
        on_floats("skew", 64, Loop("i", 0, 16), ("i*2 + tid/32", "(lane + 1) % 32")),
    )
}
MAPS = {
    index.name: index
    for index in (
        IndexMap("grouped", (("bid", 128),), (parse("bid%8 + bid/64*8"), parse("bid/8%8")), (16, 8)),
        IndexMap("twice", (("x", 16),), (parse("x/2*2"),), (16,)),
        IndexMap("outside", (("x", 24),), (parse("x ^ 8"),), (24,)),
        IndexMap("fewer", (("x", 8),), (parse("x"),), (16,)),
        IndexMap("offsets", (("r", 8), ("c", 64)), (parse("base + 2*(r*64 + c)"),)),
    )
}
T, X, M = TILES, ACCESSES, MAPS


# --- plain definitions ----------------------------------------------------------------------------------------------


def swizzle(bits: int, base: int, shift: int, x: int) -> int:
    return x ^ ((x & ((1 << bits) - 1) << (base + shift)) >> shift)


def place(tile: str, coord: tuple[int, ...], base: int = 0, stage: int = 0) -> int:
    """The byte address of an element, from the text of SUBJECTS."""
    r, c = coord
    strides = {"overlap": (4, 1), "padded": (65, 1), "small": (2, 1), "floats": (32, 1)}.get(tile, (64, 1))
    offset = r * strides[0] + c * strides[1]
    if tile in {"good", "cute"}:
        offset = swizzle(3, 3, 3, offset)
    if tile == "torn":
        offset = swizzle(3, 2, 3, offset)
    start = base + stage * {"ring": 1024, "crowded": 512}.get(tile, 0)
    address = start + offset * (4 if tile == "floats" else 2)
    return swizzle(3, 4, 3, address) if tile == "tma" else address


def lane_address(access: str, warp: int, lane: int, i: int) -> int:
    tid = 32 * warp + lane
    match access:
        case "linear" | "beyond":
            return tid * 16
        case "odd":
            return tid * 16 + i * 4
        case "nobody":
            return tid * 4
        case "row":
            return place("floats", (i * 2 + tid // 32, lane))
        case "skew":
            return place("floats", (i * 2 + tid // 32, (lane + 1) % 32))
        case _:
            return place("floats", (lane, i))


def map_values(name: str, point: tuple[int, ...]) -> tuple[int, ...]:
    x = point[0]
    match name:
        case "grouped":
            return x % 8 + x // 64 * 8, x // 8 % 8
        case "twice":
            return (x // 2 * 2,)
        case "outside":
            return (x ^ 8,)
        case _:
            return (x,)


def marked(example: Counterexample) -> list[dict[str, object]]:
    return [dict(zip(example.columns, row.cells, strict=True)) for row in example.rows if row.marked]


def whole(example: Counterexample) -> list[dict[str, object]]:
    return [dict(zip(example.columns, row.cells, strict=True)) for row in example.rows]


# --- what each kind of counterexample must show -----------------------------------------------------------------------


def two_elements(tile: str) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        rows = marked(example)
        assert len(rows) == 2
        coords = [row["coord"] for row in rows]
        assert coords[0] != coords[1]
        base = example.binding.get("base", 0)
        places = [place(tile, coord, base) for coord in coords]  # type: ignore[arg-type]  # coordinates
        assert [row["address"] for row in rows] == places
        assert abs(places[0] - places[1]) < 2
        assert all(str(coord) in example.note for coord in coords)

    return check


def outside_element(tile: str, room: int) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        (row,) = marked(example)
        base = example.binding.get("base", 0)
        address = place(tile, row["coord"], base)  # type: ignore[arg-type]  # a coordinate
        assert row["address"] == address
        assert not base <= address <= base + room - 2
        assert "outside" in example.note

    return check


def torn_vector(tile: str, elements: int) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        rows = whole(example)
        assert [row["item"] for row in rows] == list(range(elements))
        offsets = [place(tile, row["coord"]) // 2 for row in rows]  # type: ignore[arg-type]  # coordinates
        assert [row["offset"] for row in rows] == offsets
        wrong = [offsets[0] % elements != 0 or offset != offsets[0] + t for t, offset in enumerate(offsets)]
        assert any(wrong)
        assert [row.marked for row in example.rows] == wrong
        columns = [row["coord"][1] for row in rows]  # type: ignore[index]  # coordinates
        assert columns == list(range(columns[0], columns[0] + elements))
        assert columns[0] % elements == 0

    return check


def lanes_of(access: str, example: Counterexample) -> list[int]:
    """All 32 addresses at the binding, which the table must repeat."""
    warp, i = example.binding["warp"], example.binding.get("i", 0)
    addresses = [lane_address(access, warp, lane, i) for lane in range(32)]
    rows = whole(example)
    assert [row["lane"] for row in rows] == list(range(32))
    assert [row["address"] for row in rows] == addresses
    assert [row["bank"] for row in rows] == [address // 4 % 32 for address in addresses]
    return addresses


def misaligned_lanes(access: str) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        addresses = lanes_of(access, example)
        bad = [lane for lane, address in enumerate(addresses) if address % 16]
        assert bad
        assert [row["lane"] for row in marked(example)] == bad
        assert "no multiple of 16" in example.note

    return check


def lanes_beyond(access: str, room: int) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        addresses = lanes_of(access, example)
        bad = [lane for lane, address in enumerate(addresses) if address + 16 > room]
        assert bad
        assert [row["lane"] for row in marked(example)] == bad
        assert "outside" in example.note

    return check


def lanes_in_one_bank(access: str, wavefronts: int, limit: str = "instead of 1") -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        addresses = lanes_of(access, example)
        by_bank = [{a // 4 for a in addresses if a // 4 % 32 == bank} for bank in range(32)]
        assert max(map(len, by_bank)) == wavefronts
        banks = {row["bank"] for row in marked(example)}
        assert len(banks) == 1
        assert len({row["word"] for row in marked(example)}) == wavefronts
        assert f"{wavefronts} wavefronts {limit}" in example.note
        assert example.binding["i"] in range(4, 32, 4)

    return check


def too_many_groups(access: str, wavefronts: int) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        addresses = lanes_of(access, example)
        total = 0
        for first in range(0, 32, 8):
            words = [a // 4 + q for a in addresses[first : first + 8] for q in range(4)]
            total += max(len({w for w in words if w % 32 == bank}) for bank in range(32))
        assert total == wavefronts
        assert f"{wavefronts} wavefronts" in example.note

    return check


def touched(times: int, wanted: int) -> Callable[[Counterexample], None]:
    """Every element of `floats` is touched once by `row`, those of `column`'s loop once, the others
    never.
    """

    def check(example: Counterexample) -> None:
        rows = marked(example)
        assert len(rows) == times
        assert f"touched {times} times, not {wanted}" in example.note
        for row in rows:
            address = lane_address("row", int(row["warp"]), int(row["lane"]), int(row["i"]))  # type: ignore[call-overload]
            assert row["address"] == address
            assert f"at {address} " in example.note

    return check


def untouched(example: Counterexample) -> None:
    assert not example.rows
    address = int(example.note.split(" at ")[1].split()[0])
    hit = {lane_address("column", 0, lane, i) for lane in range(32) for i in range(4, 32, 4)}
    assert address not in hit
    assert address in {place("floats", (r, c)) for r in range(32) for c in range(32)}


def two_maps(first: str, other: str) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        rows = marked(example)
        assert [row["map"] for row in rows] == [first, other]
        base = example.binding.get("base", 0)
        coord = rows[0]["coord"]
        assert rows[1]["coord"] == coord
        addresses = [place(name, coord, base) for name in (first, other)]  # type: ignore[arg-type]  # a coordinate
        assert [row["address"] for row in rows] == addresses
        assert addresses[0] != addresses[1]

    return check


def two_accesses(first: str, other: str) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        warp, i = example.binding["warp"], example.binding["i"]
        for row, line in zip(whole(example), example.rows, strict=True):
            a, b = (lane_address(name, warp, int(row["lane"]), i) for name in (first, other))  # type: ignore[call-overload]
            assert (row[first], row[other]) == (a, b)
            assert line.marked == (a != b)
        assert any(row.marked for row in example.rows)

    return check


def meeting(*tiles: str, independent: bool = False) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        rows = marked(example)
        assert [row["tile"] for row in rows] == list(tiles)
        bases = [example.binding[f"base of {name}"] for name in tiles]
        places = [
            place(str(row["tile"]), row["coord"], base, int(row["stage"]))  # type: ignore[arg-type, call-overload]
            for row, base in zip(rows, bases, strict=True)
        ]
        assert [row["address"] for row in rows] == places
        assert abs(places[0] - places[1]) < 2
        if tiles[0] == tiles[1]:
            assert rows[0]["stage"] != rows[1]["stage"]
        assert ("unrelated" in example.note) == independent

    return check


def same_value(name: str) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        rows = marked(example)
        assert len(rows) == 2
        assert rows[0]["x"] != rows[1]["x"]
        values = [map_values(name, (int(row["x"]),)) for row in rows]  # type: ignore[call-overload]
        assert values[0] == values[1]
        assert [row["value"] for row in rows] == values

    return check


def value_outside(name: str, extent: int) -> Callable[[Counterexample], None]:
    def check(example: Counterexample) -> None:
        (row,) = marked(example)
        value = map_values(name, (int(row["x"]),))  # type: ignore[call-overload]
        assert row["value"] == value
        assert not 0 <= value[0] < extent
        assert "outside" in example.note

    return check


def says(text: str) -> Callable[[Counterexample], None]:
    """A fact about counts or shapes: no case, a sentence."""

    def check(example: Counterexample) -> None:
        assert not example.rows
        assert text in example.note

    return check


class Case(NamedTuple):
    text: str
    claim: Claim
    outcome: Outcome
    check: Callable[[Counterexample], None] | None = None


CASES = [
    Case("injective: good", Injective(T["good"]), PROVED),
    Case("injective: tma", Injective(T["tma"]), PROVED),
    Case("injective: padded", Injective(T["padded"]), PROVED),
    Case("injective: overlap", Injective(T["overlap"]), REFUTED, two_elements("overlap")),
    Case("bijective: good", Bijective(T["good"]), PROVED),
    Case("bijective: overlap", Bijective(T["overlap"]), REFUTED, two_elements("overlap")),
    Case("bijective: short", Bijective(T["short"]), REFUTED, outside_element("short", 1000)),
    Case("bijective: padded", Bijective(T["padded"]), REFUTED, says("gaps are left")),
    Case("contiguous: {tile: good, elements: 8}", Contiguous(T["good"], 8), PROVED),
    Case("contiguous: {tile: torn, elements: 4}", Contiguous(T["torn"], 4), PROVED),
    Case("contiguous: {tile: torn, elements: 8}", Contiguous(T["torn"], 8), REFUTED, torn_vector("torn", 8)),
    Case("contiguous: {tile: padded, elements: 2}", Contiguous(T["padded"], 2), REFUTED, torn_vector("padded", 2)),
    Case("contiguous: {tile: small, elements: 4}", Contiguous(T["small"], 4), VACUOUS),
    Case("aligned: linear", Aligned(X["linear"]), PROVED),
    Case("aligned: odd", Aligned(X["odd"]), REFUTED, misaligned_lanes("odd")),
    Case("aligned: nobody", Aligned(X["nobody"]), VACUOUS),
    Case("in_bounds: linear", InBounds(X["linear"]), PROVED),
    Case("in_bounds: row", InBounds(X["row"]), PROVED),
    Case("in_bounds: beyond", InBounds(X["beyond"]), REFUTED, lanes_beyond("beyond", 1000)),
    Case("in_bounds: plain", InBounds(T["plain"]), PROVED),
    Case("in_bounds: short", InBounds(T["short"]), REFUTED, outside_element("short", 1000)),
    Case("in_bounds: nobody", InBounds(X["nobody"]), VACUOUS),
    Case("conflict_free: row", ConflictFree(X["row"]), PROVED),
    Case("conflict_free: linear", ConflictFree(X["linear"]), PROVED),
    Case("conflict_free: column", ConflictFree(X["column"]), REFUTED, lanes_in_one_bank("column", 32)),
    Case("conflict_free: odd", ConflictFree(X["odd"]), REFUTED, misaligned_lanes("odd")),
    Case("conflict_free: nobody", ConflictFree(X["nobody"]), VACUOUS),
    Case("wavefronts: {access: column, at_most: 32}", Wavefronts(X["column"], 32), PROVED),
    Case(
        "wavefronts: {access: column, at_most: 31}",
        Wavefronts(X["column"], 31),
        REFUTED,
        lanes_in_one_bank("column", 32, "where at most 31 are claimed"),
    ),
    Case("wavefronts: {access: linear, at_most: 4}", Wavefronts(X["linear"], 4), PROVED),
    Case("wavefronts: {access: linear, at_most: 3}", Wavefronts(X["linear"], 3), REFUTED, too_many_groups("linear", 4)),
    Case("wavefronts: {access: odd, at_most: 32}", Wavefronts(X["odd"], 32), REFUTED, misaligned_lanes("odd")),
    Case("wavefronts: {access: nobody, at_most: 1}", Wavefronts(X["nobody"], 1), VACUOUS),
    Case("covers: {access: row, tile: floats}", Covers(X["row"], T["floats"]), PROVED),
    Case("covers: {access: skew, tile: floats}", Covers(X["skew"], T["floats"]), PROVED),
    Case("covers: {access: row, tile: floats, times: 2}", Covers(X["row"], T["floats"], 2), REFUTED, touched(1, 2)),
    Case("covers: {access: column, tile: floats}", Covers(X["column"], T["floats"]), REFUTED, untouched),
    Case("equivalent: [plain, plain]", Equivalent(T["plain"], T["plain"]), PROVED),
    Case("equivalent: [plain, offsets]", Equivalent(T["plain"], M["offsets"]), PROVED),
    Case("equivalent: [row, row]", Equivalent(X["row"], X["row"]), PROVED),
    Case("equivalent: [grouped, grouped]", Equivalent(M["grouped"], M["grouped"]), PROVED),
    Case("equivalent: [plain, good]", Equivalent(T["plain"], T["good"]), REFUTED, two_maps("plain", "good")),
    Case("equivalent: [cute, tma]", Equivalent(T["cute"], T["tma"]), REFUTED, two_maps("cute", "tma")),
    Case("equivalent: [row, skew]", Equivalent(X["row"], X["skew"]), REFUTED, two_accesses("row", "skew")),
    Case("equivalent: [plain, small]", Equivalent(T["plain"], T["small"]), REFUTED, says("extents")),
    Case("equivalent: [nobody, nobody]", Equivalent(X["nobody"], X["nobody"]), VACUOUS),
    Case("disjoint: ring", Disjoint(T["ring"]), PROVED),
    Case("disjoint: [left, right]", Disjoint(T["left"], T["right"]), PROVED),
    Case("disjoint: crowded", Disjoint(T["crowded"]), REFUTED, meeting("crowded", "crowded")),
    Case("disjoint: [left, between]", Disjoint(T["left"], T["between"]), REFUTED, meeting("left", "between")),
    Case(
        "disjoint: [plain, good]", Disjoint(T["plain"], T["good"]), REFUTED, meeting("plain", "good", independent=True)
    ),
    Case("disjoint: plain", Disjoint(T["plain"]), VACUOUS),
    Case("permutation: grouped", Permutation(M["grouped"]), PROVED),
    Case("permutation: twice", Permutation(M["twice"]), REFUTED, same_value("twice")),
    Case("permutation: outside", Permutation(M["outside"]), REFUTED, value_outside("outside", 24)),
    Case("permutation: fewer", Permutation(M["fewer"]), REFUTED, says("8 points cannot fill a box of 16")),
]
IDS = [case.text for case in CASES]


@cache
def from_yaml(text: str) -> Verdict:
    (claim,) = parse_spec(SUBJECTS.replace("claims: []", f"claims: [{{{text}}}]"), path="claims.yaml").claims
    return prove(claim.claim)


def shown(example: Counterexample | None) -> object:
    return None if example is None else (dict(example.binding), example.note, example.columns, example.rows)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_both_ways_give_the_expected_verdict(case: Case) -> None:
    own, written = prove(case.claim), from_yaml(case.text)
    for verdict in (own, written):
        assert verdict.outcome is case.outcome, verdict.reason
        assert (verdict.counterexample is not None) == (case.outcome is REFUTED)
        assert verdict.scope
    assert shown(own.counterexample) == shown(written.counterexample)
    assert (own.engines, own.scope, own.reason) == (written.engines, written.scope, written.reason)
    assert case.claim.kind == case.text.split(":")[0]


@pytest.mark.parametrize("case", [c for c in CASES if c.check], ids=[c.text for c in CASES if c.check])
def test_counterexamples_are_true(case: Case) -> None:
    """In plain Python, from whichever engine."""
    assert case.check is not None
    for options in (Options(), Options(single_engine=True), Options(every_engine=True)):
        verdict = prove(case.claim, options=options)
        assert verdict.outcome is REFUTED, verdict.reason
        assert verdict.counterexample is not None
        case.check(verdict.counterexample)


def test_all_eleven_have_proved_and_refuted_cases() -> None:
    kinds = {case.claim.kind for case in CASES}
    assert len(kinds) == 11
    for outcome in (PROVED, REFUTED):
        assert {case.claim.kind for case in CASES if case.outcome is outcome} == kinds
    # tiles and maps have no empty cases but vectors and stages
    never = {"injective", "bijective", "permutation", "covers"}
    assert {case.claim.kind for case in CASES if case.outcome is VACUOUS} == kinds - never


def test_a_cover_by_nobody_is_vacuous() -> None:
    nobody = Access(
        "idle",
        find_instruction("ld.shared.b32"),
        find_target("sm_90"),
        (32,),
        tile=T["floats"],
        coord=(parse("lane"), parse("0")),
        predicate=parse("tid > 99"),
    )
    assert prove(Covers(nobody, T["floats"])).outcome is VACUOUS

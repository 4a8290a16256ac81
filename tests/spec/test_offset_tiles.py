"""Tiles by expression, `shape:` with `offset:` or `address:`: what they mean, and where a mistake in
one is shown.
"""

from __future__ import annotations

import pytest

from swzverify.ir.c_parse import parse
from swzverify.prover import prove
from swzverify.spec import SpecError
from swzverify.spec.load import Spec, parse_spec
from swzverify.subjects import OffsetMap

MARLIN = """\
swzverify: 1
constants: {CHUNKS: [8, 16]}
let: {swizzled: chunk ^ row%8}
tiles:
  A: {bits: 128, shape: {row: 64, chunk: CHUNKS}, offset: row*CHUNKS + swizzled, stages: 2}
accesses:
  write:
    tile: A
    instruction: cp.async.16
    threads: 128
    for: {row: CHUNKS/2}
    coord: [(row*128 + tid)/CHUNKS, tid%CHUNKS]
  read: {tile: A, instruction: ldmatrix.x4, threads: 128, for: {k: CHUNKS/2}, coord: [warp*16 + lane%16, 2*k + lane/16]}
claims:
  - bijective: A
  - contiguous: {tile: A, elements: 1}
  - covers: {access: write}
  - standard
"""


def built(text: str) -> Spec:
    return parse_spec(text, path="t.swz.yaml")


def tile_of(fields: str, top: str = "") -> Spec:
    return built(f"swzverify: 1\n{top}\ntiles:\n  T: {{{fields}}}\nclaims: [standard]\n")


def problem(text: str) -> tuple[str, str]:
    """The first mistake: its code, and what its caret stands under."""
    with pytest.raises(SpecError) as caught:
        built(text)
    first = caught.value.problems[0]
    line = text.splitlines()[first.line - 1]
    return first.code, line[first.column - 1 : first.column - 1 + first.caret_length]


def test_a_kernels_own_swizzle_is_proved() -> None:
    verdicts = {entry.id: str(prove(entry.claim).outcome) for entry in built(MARLIN).claims}
    assert set(verdicts.values()) == {"proved"}, verdicts
    assert len(verdicts) == 2 * 11


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ("element: f16, shape: [8, 8], offset: i*8 + j", 128),
        ("element: f16, shape: [8, 8], offset: i*9 + j", 2 * (7 * 9 + 8)),
        ("element: f16, shape: [8, 8], offset: (i*8 + j) ^ 5", 128),
        ("element: f16, shape: [5, 5], offset: i*5 + j ^ 8", 2 * 32),
        ("bits: 4, shape: [3, 3], offset: i*3 + j", 5),
        ("bits: 12, shape: [3], offset: 2*i", 8),
        ("element: f32, shape: [4, 4], address: i*20 + j*4", 3 * 20 + 16),
        ("element: f32, shape: [4], address: (3 - i)*6", 22),
        ("element: f16, shape: [1], offset: i", 2),
        ("element: f16, shape: [1], offset: 5", 12),
        ("element: f16, shape: [8, 8], offset: i*8 + j, bytes: 1000", 1000),
        ("element: f16, shape: [64, 64], offset: (i*j)%61", 122),
        ("element: i8, shape: [12], offset: i*i%11 * 3", 9 * 3 + 1),
    ],
)
def test_the_allocation_ends_with_the_last_element(fields: str, size: int) -> None:
    assert tile_of(fields).cases[0].tiles["T"].allocation_bytes == size


def test_a_tile_too_large_to_try_each_element_gives_its_bytes_or_a_plain_bound() -> None:
    assert OffsetMap((("i", 1 << 12), ("j", 1 << 12)), parse("i*4096 + j")).greatest == (1 << 24) - 1
    wide = "bits: 1, shape: [4096, 2048], offset: (i*2048 + j)%1000003"
    code, under = problem(f"swzverify: 1\ntiles:\n  T: {{{wide}}}\nclaims: [standard]\n")
    assert (code, under) == ("SWZ206", "(i*2048 + j)%1000003")
    assert tile_of(f"{wide}, bytes: 125001").cases[0].tiles["T"].allocation_bytes == 125001


@pytest.mark.parametrize(
    ("fields", "code", "under"),
    [
        ("element: f16, shape: [8, 8], offset: i*8 - j", "SWZ306", "i*8 - j"),
        ("element: f16, shape: [8, 8], offset: i*8 + j/(i - 3)", "SWZ305", "i - 3"),
        ("element: f16, shape: [8, 8], offset: i*8 + (j << i*8)", "SWZ304", "i*8"),
        ("element: f16, shape: [8, 8], offset: i*2147483647*4 + j", "SWZ303", "i*2147483647"),
        ("element: f16, shape: [8, 8], offset: i*8 + k", "SWZ301", "k"),
        ("element: f16, shape: [8, 8], offset: i*8 + tid", "SWZ301", "tid"),
        ("element: f16, shape: [8, 8], offset: base + i*8 + j", "SWZ301", "base"),
        ("element: f16, shape: [8, 8], offset: i*8 + ", "SWZ302", ""),
        ("element: f16, shape: [8, 8]", "SWZ104", "shape"),
        ("element: f16, offset: i*8 + j", "SWZ104", "offset"),
        ("element: f16, shape: [8, 8], offset: i*8 + j, address: i*16", "SWZ105", "address"),
        ('element: f16, shape: [8, 8], offset: i*8 + j, layout: "(8,8):(8,1)"', "SWZ105", "layout"),
        ('element: f16, shape: [8, 8], offset: i*8 + j, swizzle: "Swizzle<1,0,1>"', "SWZ105", "swizzle"),
        ("element: f16, shape: [8, 8], offset: i*8 + j, tma: {box: [8, 8]}", "SWZ105", "tma"),
        ("bits: 12, shape: [8], address: i*2", "SWZ212", "T"),
        ("element: f16, shape: {N: 8}, offset: N", "SWZ105", "N"),
        ("element: f16, shape: {half: 8}, offset: half", "SWZ105", "half"),
        ("element: f16, shape: {base: 8}, offset: 0", "SWZ105", "base"),
        ("element: f16, shape: {stage: 8}, offset: stage", "SWZ105", "stage"),
        ("element: f16, shape: [8, 0], offset: i", "SWZ105", "0"),
        ("element: f16, shape: [], offset: i", "SWZ105", "["),
        ("element: f16, shape: 8, offset: i", "SWZ105", "8"),
        ("element: f16, shape: [65536, 65536], offset: i*65536 + j, bytes: 8", "SWZ110", "T"),
    ],
)
def test_a_mistake_is_shown_where_it_stands(fields: str, code: str, under: str) -> None:
    text = (
        f"swzverify: 1\nconstants: {{N: 4}}\nlet: {{half: 1}}\ntiles:\n  T: {{{fields}}}\nclaims:\n  - in_bounds: T\n"
    )
    if code == "SWZ110":
        text = text.replace("bytes: 8", "bytes: 800000")
    found = problem(text)
    assert found[0] == code
    assert found[1] == under or not under


def test_a_mistake_at_a_coordinate_names_the_tile() -> None:
    text = """\
swzverify: 1
tiles: {T: {element: f32, shape: [8, 32], offset: (7 - i)*32 + j}}
accesses: {a: {tile: T, instruction: ld.shared.b32, threads: 288, coord: [warp, lane]}}
claims: [conflict_free: a]
"""
    with pytest.raises(SpecError) as caught:
        built(text)
    first = caught.value.problems[0]
    assert first.code == "SWZ306"
    assert "tile T" in str(first.message)
    assert "can be -32" in str(first.message)


def test_an_idle_lane_may_lie_anywhere_that_is_defined() -> None:
    text = """\
swzverify: 1
tiles: {T: {element: f32, shape: [8, 32], offset: (7 - i)*32 + j}}
accesses: {a: {tile: T, instruction: ld.shared.b32, threads: 288, if: warp < 8, coord: [warp, lane]}}
claims: [covers: {access: a}, conflict_free: a, in_bounds: a]
"""
    assert {str(prove(entry.claim).outcome) for entry in built(text).claims} == {"proved"}


@pytest.mark.parametrize(
    ("coord", "outcome"),
    [("i, lane%8", "refuted"), ("i%8, lane%8", "proved"), ("lane%8, 8", "refuted")],
)
def test_outside_the_shape_is_out_of_bounds(coord: str, outcome: str) -> None:
    text = f"""\
swzverify: 1
tiles: {{T: {{element: f32, shape: [8, 8], offset: i%8*8 + (j^i%8), bytes: 1024}}}}
accesses: {{a: {{tile: T, instruction: ld.shared.b32, threads: 32, for: {{i: 9}}, coord: [{coord}]}}}}
claims: [in_bounds: a]
"""
    assert str(prove(built(text).claims[0].claim).outcome) == outcome


def test_an_open_loop_ends_where_the_tiles_expression_overflows() -> None:
    """The access to the tile and its address written out have the same iterations."""
    text = """\
swzverify: 1
tiles: {T: {element: i8, shape: [8, 32], offset: i*1048576 + (j ^ i), bytes: 1024}}
accesses:
  a: {tile: T, instruction: ld.shared.b8, threads: 32, for: {s: any}, coord: [s, lane]}
  b:
    instruction: ld.shared.b8
    threads: 32
    for: {s: any}
    address: s*1048576 + (lane ^ s)
    base: {align: 1024}
  c: {tile: T, instruction: ld.shared.b8, threads: 32, for: {s: 4096}, coord: [s, lane]}
claims: [equivalent: [a, b], aligned: a]
"""
    spec = built(text)
    accesses = spec.cases[0].accesses
    assert accesses["a"].loop_limits == accesses["b"].loop_limits
    assert accesses["a"].loop_limits[0] <= 4096
    assert {str(prove(entry.claim).outcome) for entry in spec.claims} == {"proved"}


@pytest.mark.parametrize(
    ("key", "align", "outcome"), [("offset", 1, "proved"), ("address", 1, "refuted"), ("address", 2, "proved")]
)
def test_vectors_of_addresses_are_aligned_as_addresses(key: str, align: int, outcome: str) -> None:
    """A byte offset and a byte address are one number where the tile begins at 0, and only there."""
    text = f"""\
swzverify: 1
tiles: {{T: {{element: i8, shape: [4, 2], {key}: i*2 + j, base: {{align: {align}}}}}}}
claims: [contiguous: {{tile: T, elements: 2}}]
"""
    assert str(prove(built(text).claims[0].claim).outcome) == outcome

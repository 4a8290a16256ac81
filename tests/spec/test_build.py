"""Sound specs: what is built from them, case by case, with ids, places and expectations."""

from __future__ import annotations

import pytest

from swzverify.claims import (
    Aligned,
    Bijective,
    ConflictFree,
    Contiguous,
    Covers,
    Disjoint,
    Equivalent,
    InBounds,
    Injective,
    Permutation,
    Wavefronts,
)
from swzverify.claims.verdict import Outcome
from swzverify.layout import Layout, Swizzle
from swzverify.spec import Spec, SpecError, parse_spec
from swzverify.subjects import Access, AlignedBase, FixedBase, IndexMap, MemoryBase, Tile

from .samples import FULL

HEAD = "swzverify: 1\n"


def tile_of(text: str, name: str = "A", constants: str = "{}") -> Tile:
    spec = parse_spec(f"{HEAD}constants: {constants}\ntiles:\n  {name}: {text}\nclaims:\n  - injective: {name}\n")
    claim = spec.claims[0].claim
    assert isinstance(claim, Injective)
    return claim.tile


def access_of(text: str, before: str = "") -> Access:
    spec = parse_spec(f"{HEAD}{before}accesses:\n  r: {text}\nclaims:\n  - aligned: r\n")
    claim = spec.claims[0].claim
    assert isinstance(claim, Aligned)
    return claim.access


@pytest.fixture(scope="module")
def full() -> Spec:
    return parse_spec(FULL, path="specs/full.swz.yaml")


def test_ids_and_cases(full: Spec) -> None:
    assert full.title == "everything that a spec can say"
    assert full.source == "the project's own grammar"
    kinds = "injective contiguous conflict_free wavefronts covers in_bounds in_bounds disjoint disjoint permutation"
    assert [claim.kind for claim in full.claims[::2]] == kinds.split()
    assert [claim.kind for claim in full.claims[1::2]] == kinds.split()
    ids = [claim.id for claim in full.claims]
    assert ids[0] == "specs/full.swz.yaml::A[BK=32]::injective"
    assert ids[8] == "specs/full.swz.yaml::write_A,A[BK=32]::covers"
    assert ids[1] == "specs/full.swz.yaml::A[BK=64]::injective"
    assert len(set(ids)) == 20
    assert [claim.case for claim in full.claims] == [{"BK": 32}, {"BK": 64}] * 10


def test_places_and_expectations(full: Spec) -> None:
    lines = FULL.split("\n")
    for claim in full.claims:
        assert lines[claim.line - 1][claim.column - 1 :].startswith(claim.kind + ":")
    conflict = full.claims[4]
    assert conflict.expected is Outcome.REFUTED
    assert conflict.because == "a reason on two lines"
    assert conflict.source == "a quoted: text"
    assert {claim.expected for claim in full.claims if claim.kind != "conflict_free"} == {Outcome.PROVED}


def test_the_cases_have_the_claims_own_subjects(full: Spec) -> None:
    assert [case.constants["BK"] for case in full.cases] == [case.chosen["BK"] for case in full.cases] == [32, 64]
    for claim in full.claims:
        case = next(case for case in full.cases if case.chosen == claim.case)
        known = [*case.tiles.values(), *case.accesses.values(), *case.maps.values()]
        assert all(any(subject is each for each in known) for subject in claim.claim.subjects)


def test_what_no_claim_is_about_is_kept_too() -> None:
    spec = parse_spec("swzverify: 1\ntiles:\n  A: {element: f16, layout: '(8,64):(64,1)', base: 0}\n", path="a.yaml")
    assert [list(case.tiles) for case in spec.cases] == [["A"]]


def test_subjects_of_the_full_spec(full: Spec) -> None:
    small, large = full.claims[0].claim, full.claims[1].claim
    assert isinstance(small, Injective)
    assert isinstance(large, Injective)
    assert (small.tile.layout, large.tile.layout) == (Layout((64, 32), (32, 1)), Layout((64, 64), (64, 1)))
    assert small.tile.swizzle == Swizzle(3, 3, 3)
    assert small.tile.swizzle_on == "offset"
    assert (small.tile.stages, small.tile.base, small.tile.element_bits) == (2, AlignedBase(1024), 16)
    contiguous = full.claims[2].claim
    assert isinstance(contiguous, Contiguous)
    assert (contiguous.elements, contiguous.mode) == (8, None)
    covers = full.claims[8].claim
    assert isinstance(covers, Covers)
    assert (covers.access.name, covers.tile.name, covers.times) == ("write_A", "A", 1)
    assert isinstance(full.claims[10].claim, InBounds)
    pair = full.claims[14].claim
    assert isinstance(pair, Disjoint)
    assert pair.first.total_bytes == 64 * 72 * 2
    assert isinstance(pair.first.base, MemoryBase)
    assert (pair.first.base.memory.bytes, pair.first.base.offset_bytes) == (98304, 16384)
    assert pair.second is not None
    assert (pair.second.swizzle, pair.second.swizzle_on) == (Swizzle(3, 4, 3), "address")
    assert pair.second.layout == Layout((64, 64), (64, 1))
    stages = full.claims[16].claim
    assert isinstance(stages, Disjoint)
    assert stages.second is None
    permutation = full.claims[18].claim
    assert isinstance(permutation, Permutation)
    assert (permutation.map.over, permutation.map.onto) == ((("bid", 128),), (16, 8))


def test_access_of_the_full_spec(full: Spec) -> None:
    claim = full.claims[4].claim
    assert isinstance(claim, ConflictFree)
    access = claim.access
    assert access.instruction.name == "ldmatrix.x4"
    assert access.target.name == "sm_90"
    assert access.block == (32, 4)
    assert [(loop.name, loop.start, loop.stop, loop.step) for loop in access.loops] == [("k", 0, 32, 16)]
    bound = full.claims[6].claim
    assert isinstance(bound, Wavefronts)
    assert bound.at_most == 4
    assert len(bound.access.assume) == 1
    assert bound.access.predicate is not None


@pytest.mark.parametrize(
    ("text", "layout", "swizzle", "on"),
    [
        (
            "{bits: 16, layout: 'Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)'}",
            "(8,64):(64,1)",
            (3, 4, 3),
            "address",
        ),
        ("{bits: 16, layout: 'S<3,3,3> o 0 o (8,64):(64,1)'}", "(8,64):(64,1)", (3, 3, 3), "offset"),
        ("{bits: 16, layout: '8:1', swizzle: {bits: 3, base: 4, shift: 3, on: address}}", "8:1", (3, 4, 3), "address"),
        ("{bits: 16, layout: '8:1', swizzle: {bits: 2, base: 3, shift: -3}}", "8:1", (2, 3, -3), "offset"),
        ("{bits: 16, layout: 'smem_ptr[16b](unset) o (8,64):(64,1)'}", "(8,64):(64,1)", None, "offset"),
        ("{bits: 8, layout: {shape: [4, 16], order: col, pad: 2}}", "(4,16):(1,6)", None, "offset"),
        ("{element: f16, tma: {swizzle: none, box: [8, 24]}}", "(8,24):(24,1)", None, "offset"),
        ("{element: f16, tma: {swizzle: 64B, box: [8, 16]}}", "(8,16):(32,1)", (2, 4, 3), "address"),
    ],
)
def test_layouts(text: str, layout: str, swizzle: tuple[int, int, int] | None, on: str) -> None:
    tile = tile_of(text)
    assert str(tile.layout) == layout
    assert tile.swizzle == (None if swizzle is None else Swizzle(*swizzle))
    if swizzle is not None:
        assert tile.swizzle_on == on


@pytest.mark.parametrize(
    ("text", "allocation"),
    [
        ("{bits: 16, layout: '(8,64):(64,1)'}", 1024),
        ("{bits: 4, layout: '(3,3):(3,1)'}", 5),
        ("{bits: 16, layout: {shape: [8, 64], pad: 8}}", 8 * 72 * 2),
        ("{bits: 16, layout: {shape: [8, 64], order: col, pad: 8}}", 64 * 16 * 2),
        ("{bits: 16, tma: {swizzle: 128B, box: [8, 16]}}", 1024),
        ("{bits: 16, layout: '(8,64):(64,1)', bytes: 2*N}", 4096),
    ],
)
def test_allocations(text: str, allocation: int) -> None:
    assert tile_of(text, constants="{N: 2048}").allocation_bytes == allocation


def test_stages_and_bases() -> None:
    tile = tile_of("{bits: 8, layout: '100:1', stages: {count: N, pitch: 2*N*64}, base: N*16}", constants="{N: 3}")
    assert (tile.stages, tile.pitch_bytes, tile.base) == (3, 384, FixedBase(48))
    assert tile_of("{bits: 8, layout: '100:1', base: {align: 0x80}}").base == AlignedBase(128)
    assert tile_of("{bits: 8, layout: '100:1'}").base == AlignedBase(1024)


def test_address_access() -> None:
    access = access_of(
        "{address: tid*4, instruction: ld.shared.v4.f32, threads: 48, base: 16, bytes: 256, for: {i: any}}"
    )
    assert access.instruction.name == "ld.shared.v4.b32"
    assert access.block == (48,)
    assert access.base == FixedBase(16)
    assert access.bytes == 256
    assert (access.loops[0].start, access.loops[0].stop, access.loops[0].step) == (0, None, 1)
    assert access.tile is None


def test_target_comes_from_the_file_or_the_caller() -> None:
    text = (
        HEAD
        + "target: sm_80\naccesses: {r: {address: tid*16, instruction: ldmatrix.x4, threads: 32}}\nclaims: standard\n"
    )
    (mine,) = {claim.claim.access.target.name for claim in parse_spec(text).claims if isinstance(claim.claim, Aligned)}
    assert mine == "sm_80"
    claim = parse_spec(text, target="sm_75").claims[0].claim
    assert isinstance(claim, Aligned)
    assert claim.access.target.name == "sm_75"


SUBJECTS = """\
swzverify: 1
tiles: {A: {element: f16, layout: "(8,64):(64,1)"}, B: {element: f16, layout: "(8,64):(64,1)"}}
accesses:
  r: {tile: A, instruction: ldmatrix.x4, threads: 32, coord: [lane%8, lane/8*8]}
  s: {address: tid*4, instruction: ld.shared.b32, threads: 32}
  t: {address: tid*4, instruction: ld.shared.b32, threads: 32, bytes: 128}
maps: {m: {over: {i: 8}, value: [i^1], onto: [8]}, n: {over: {i: 8}, value: [i]}}
"""


def names_of(claims: str) -> list[str]:
    return [f"{claim.kind} {claim.subject}" for claim in parse_spec(SUBJECTS + claims, path="s").claims]


STANDARD = [
    *("injective A", "in_bounds A", "injective B", "in_bounds B"),
    *("aligned r", "in_bounds r", "conflict_free r", "aligned s", "conflict_free s"),
    *("aligned t", "in_bounds t", "conflict_free t"),
]


def test_standard() -> None:
    assert names_of("claims: standard\n") == STANDARD
    assert names_of("claims:\n  - standard\n  - bijective: A\n") == [*STANDARD, "bijective A"]


def test_standard_leaves_out_what_is_stated() -> None:
    text = SUBJECTS + "claims:\n  - standard\n  - conflict_free: r\n    expect: refuted\n"
    claims = parse_spec(text).claims
    mine = [claim for claim in claims if claim.id.endswith("r::conflict_free")]
    assert [claim.expected for claim in mine] == [Outcome.REFUTED]
    assert len(claims) == len(STANDARD)
    assert {(claim.line, claim.column) for claim in claims if claim is not mine[0]} == {(9, 5)}


@pytest.mark.parametrize(
    ("claim", "kind", "subject"),
    [
        ("injective: {tile: A}", Injective, "A"),
        ("bijective: A", Bijective, "A"),
        ("aligned: {access: r}", Aligned, "r"),
        ("conflict_free: {access: r}", ConflictFree, "r"),
        ("in_bounds: {access: t}", InBounds, "t"),
        ("in_bounds: A", InBounds, "A"),
        ("covers: {access: r, tile: B, times: 2}", Covers, "r,B"),
        ("equivalent: [A, B]", Equivalent, "A,B"),
        ("equivalent: {tiles: [A, B]}", Equivalent, "A,B"),
        ("equivalent: {accesses: [s, t]}", Equivalent, "s,t"),
        ("equivalent: {maps: [m, n]}", Equivalent, "m,n"),
        ("equivalent: [m, n]", Equivalent, "m,n"),
        ("disjoint: {tiles: [A, B]}", Disjoint, "A,B"),
        ("disjoint: [A, B]", Disjoint, "A,B"),
        ("disjoint: {tile: A}", Disjoint, "A"),
        ("permutation: {map: m}", Permutation, "m"),
    ],
)
def test_forms_of_claims(claim: str, kind: type, subject: str) -> None:
    (built,) = parse_spec(f"{SUBJECTS}claims:\n  - {claim}\n").claims
    assert isinstance(built.claim, kind)
    assert built.subject == subject


def test_same_claim_twice_has_two_ids() -> None:
    claims = parse_spec(SUBJECTS + "claims:\n" + "  - wavefronts: {access: r, at_most: 4}\n" * 3, path="s").claims
    assert [claim.id for claim in claims] == ["s::r::wavefronts", "s::r::wavefronts#2", "s::r::wavefronts#3"]


def test_cases_are_every_combination() -> None:
    text = (
        HEAD
        + "constants: {M: [1, 2], K: 8, N: [3, 4]}\ntiles: {A: {bits: 8, layout: '(M,N):(N,1)'}}\nclaims: standard\n"
    )
    ids = [claim.id for claim in parse_spec(text, path="c").claims if claim.kind == "injective"]
    assert ids == [f"c::A[M={m},N={n}]::injective" for m in (1, 2) for n in (3, 4)]
    one = HEAD + "constants: {M: [2]}\ntiles: {A: {bits: 8, layout: '(M):(1)'}}\nclaims: standard\n"
    assert parse_spec(one, path="c").claims[0].id == "c::A::injective"


def test_a_mistake_in_some_cases_names_them() -> None:
    text = HEAD + "constants: {N: [4, 0, 8, -1]}\ntiles: {A: {bits: 8, layout: '8:1', stages: N}}\n"
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    (problem,) = caught.value.problems
    assert problem.hint == "in the case N=0 and 1 more"
    every = HEAD + "constants: {N: [0, -1]}\ntiles: {A: {bits: 8, layout: '8:1', stages: N}}\n"
    with pytest.raises(SpecError) as caught:
        parse_spec(every)
    assert [problem.hint for problem in caught.value.problems] == [""]


def test_maps() -> None:
    (claim,) = parse_spec(SUBJECTS + "claims: [{permutation: m}]\n").claims
    assert isinstance(claim.claim, Permutation)
    assert isinstance(claim.claim.map, IndexMap)
    assert claim.claim.map.onto == (8,)

"""What a written test asks: a case that a spec no longer has is skipped, a claim that it no longer
has fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.claims import Contiguous, Covers, Equivalent, Injective, Permutation
from swzverify.errors import SwzError
from swzverify.spec import parse_spec
from swzverify.subjects import Access, Tile
from swzverify.testing.cases import allocation_of, bits_of, claim_of, lanes_of, touches_of, value_of, vector_of

SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A: {element: f16, layout: "(8,64):(64,1)", base: {align: 256}, stages: 2}
  nibbles: {element: u4, layout: "(4,6):(5,1)"}
  turned: {element: f16, layout: "(8,64):(64,1)", swizzle: {bits: 3, base: 4, shift: 3, on: address}}
accesses:
  read: {tile: A, instruction: ld.shared.v4.b32, threads: 64, for: {i: {start: 4, stop: 12, step: 4}},
         assume: ["i != 8 || warp_count == 2"], coord: [lane%8, i - 4 + lane/8*8]}
  some: {instruction: ld.shared.b32, threads: 40, if: lane != 3, address: tid*4, bytes: 200, base: 64}
  open: {instruction: ld.shared.b32, threads: 32, for: {i: any}, address: tid*4 + i*0x40000000}
maps:
  twice: {over: {x: 16}, value: ["x/2*2"], onto: [16]}
  based: {over: {x: 16}, value: ["base + x"]}
constants: {warp_count: 3}
claims:
  - injective: A
  - contiguous: {tile: A, elements: 8}
  - contiguous: {tile: turned, elements: 8}
  - covers: {access: read, tile: A}
  - equivalent: [open, open]
  - permutation: twice
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spec") / "a.swz.yaml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def tile(name: str) -> Tile:
    text = SPEC.partition("claims:\n")[0] + f"claims:\n  - injective: {name}\n"
    (found,) = parse_spec(text).claims
    assert isinstance(found.claim, Injective)
    return found.claim.tile


def access(name: str) -> Access:
    text = SPEC.partition("claims:\n")[0] + f"claims:\n  - equivalent: [{name}, {name}]\n"
    (found,) = parse_spec(text).claims
    assert isinstance(found.claim, Equivalent)
    assert isinstance(found.claim.first, Access)
    return found.claim.first


def test_claims_are_found_by_name_and_kind(spec: Path) -> None:
    assert claim_of(Injective, spec, "A::injective").tile.name == "A"
    with pytest.raises(SwzError, match=r"a\.swz\.yaml has no claim 'B::injective' any more") as error:
        claim_of(Injective, spec, "B::injective")
    assert error.value.code == "SWZ808"
    assert "did you mean 'A::injective'?" in error.value.hint
    with pytest.raises(SwzError, match="no claim"):
        claim_of(Covers, spec, "A::injective")


def test_elements_are_ranges_of_bits() -> None:
    assert bits_of(tile("A"), (1, 2), stage=1, base=256) == range(8 * (256 + 1024 + 132), 8 * (256 + 1024 + 134))
    assert bits_of(tile("nibbles"), (1, 0), stage=0, base=0) == range(20, 24)
    assert allocation_of(tile("A"), stage=1, base=256) == range(8 * 1280, 8 * 2304)


@pytest.mark.parametrize(
    ("coord", "stage", "base", "why"),
    [
        ((8, 0), 0, 0, "no element"),
        ((0,), 0, 0, "no element"),
        ((0, 0), 2, 0, "no stage 2"),
        ((0, 0), 0, 128, "never begins at byte 128"),
        ((0, 0), 0, 1 << 24, "never begins"),
    ],
)
def test_an_element_that_is_gone_skips(coord: tuple[int, ...], stage: int, base: int, why: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=why):
        bits_of(tile("A"), coord, stage=stage, base=base)


def test_lanes_are_those_of_the_access() -> None:
    lanes = lanes_of(access("read"), {"warp": 1, "i": 4, "stage": 1, "base": 256})
    assert [lanes[9].address, lanes[9].coord, lanes[9].first_bit] == [256 + 1024 + 128 + 16, (1, 8), 8 * 1424]
    assert lanes[9].room == range(8 * 1280, 8 * 2304)
    bare = lanes_of(access("some"), {"warp": 1})
    assert [lane.address for lane in bare[:5]] == [192, 196, 200, None, 208]
    assert {lane.address for lane in bare[8:]} == {None}
    assert bare[0].room == range(512, 512 + 1600)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ({"warp": 2, "i": 4}, "no warp 2"),
        ({"warp": 0, "i": 5}, "never takes 5"),
        ({"warp": 0, "i": 12}, "never takes 12"),
        ({"warp": 0, "i": 0}, "never takes 0"),
        ({"warp": 0, "i": 4, "stage": 2}, "no stage 2"),
        ({"warp": 0, "i": 4, "base": 64}, "never begins at byte 64"),
        ({"warp": 0, "i": 8}, "does not run"),
    ],
)
def test_a_warp_instruction_that_is_gone_skips(where: dict[str, int], why: str) -> None:
    with pytest.raises(pytest.skip.Exception, match=why):
        lanes_of(access("read"), where)


def test_an_iteration_of_one_access_only_is_a_difference() -> None:
    assert {lane.address for lane in lanes_of(access("open"), {"warp": 0, "i": 9}, compared=True)} == {None}
    with pytest.raises(pytest.skip.Exception, match="never takes 9"):
        lanes_of(access("open"), {"warp": 0, "i": 9})


def test_other_loops_are_no_case_but_an_error() -> None:
    with pytest.raises(SwzError, match="goes over i, this test over k") as error:
        lanes_of(access("read"), {"warp": 0, "k": 4})
    assert error.value.code == "SWZ808"
    with pytest.raises(SwzError, match="A was of the kind Access, and is a Tile now"):
        lanes_of(tile("A"), {"warp": 0})


def test_vectors_touches_and_values(spec: Path) -> None:
    flat = claim_of(Contiguous, spec, "A::contiguous")
    assert vector_of(flat, (1, 8), stage=0, base=0) == ([*range(72, 80)], 1)
    with pytest.raises(pytest.skip.Exception, match="no vector of 8 elements begins"):
        vector_of(flat, (1, 4), stage=0, base=0)
    turned = claim_of(Contiguous, spec, "turned::contiguous")
    places, step = vector_of(turned, (1, 8), stage=0, base=1024)
    assert (step, places[:2]) == (16, [8 * (1024 + 128), 8 * (1024 + 128) + 16])
    covers = claim_of(Covers, spec, "read,A::covers")
    assert touches_of(covers, (1, 8), stage=0, bases=(0, 0)) == [(0, 9, {"i": 4}), (1, 9, {"i": 4})]
    index = claim_of(Permutation, spec, "twice::permutation").map
    assert value_of(index, {"x": 5}) == (4,)
    with pytest.raises(pytest.skip.Exception, match="has no point"):
        value_of(index, {"x": 16})
    with pytest.raises(SwzError, match="SWZ808"):
        value_of(index, {"y": 1})

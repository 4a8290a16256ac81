"""Each way to say less, alone, is found; each way to say more, and each that says the same, is not
taken for one.
"""

from __future__ import annotations

import pytest

from .conftest import SPEC, between, outcome, swapped

READ = "threads: 128\n    for: {k: {start: 0, stop: 64, step: 16}}"
TILE_A = """\
  A:
    element: f16
    layout: (64,64):(64,1)
    swizzle: Swizzle<3,3,3>
    base: {align: 128}
    stages: 3
"""
TILE_B = TILE_A.replace("  A:", "  B:")


def tile_a(old: str, new: str) -> tuple[str, str]:
    """An edit of tile A alone."""
    assert old in TILE_A
    return TILE_A, TILE_A.replace(old, new)


WRITE_END = "coord: [i*16 + tid/8, tid%8*8]\n  scratch"
NO_COVER = ("  - covers: {access: write_A, tile: A}\n", "")
WEAKER = {
    "fewer threads": ("read_A::conflict_free", [(READ, READ.replace("128", "64"))]),
    "a shorter loop": ("read_A::conflict_free", [("stop: 64, step: 16", "stop: 48, step: 16")]),
    "a larger step": ("read_A::conflict_free", [("stop: 64, step: 16", "stop: 64, step: 32")]),
    "a later start": ("read_A::conflict_free", [("start: 0, stop: 64", "start: 16, stop: 64")]),
    "no loop": (
        "read_A::conflict_free",
        [("for: {k: {start: 0, stop: 64, step: 16}}\n    ", ""), ("k + lane/16", "lane/16")],
    ),
    "a bounded loop": ("endless::conflict_free", [("{i: any}", "{i: 1000}")]),
    "fewer stages": ("A::injective", [tile_a("stages: 3", "stages: 2"), ("equivalent: [A, B]", "injective: B")]),
    "one stage only": ("write_A::in_bounds", [(WRITE_END, WRITE_END.replace("\n", "\n    stage: 0\n"))]),
    "a larger alignment": ("A::bijective", [tile_a("align: 128", "align: 1024")]),
    "a fixed base": ("A::bijective", [tile_a("base: {align: 128}", "base: 0"), ("equivalent: [A, B]", "injective: B")]),
    "an address's larger alignment": ("scratch::in_bounds", [("{align: 128}\n    bytes", "{align: 256}\n    bytes")]),
    "a base moved by a word": ("M,N::disjoint", [("offset: 4096", "offset: 4100")]),
    "a stricter predicate": ("load_A::aligned", [("HALF: 64", "HALF: 32")]),
    "a new predicate": ("write_A::in_bounds", [(WRITE_END, WRITE_END.replace("\n", "\n    if: tid != 5\n"))]),
    "a tightened assumption": ("load_A::aligned", [("i < 3", "i < 2")]),
    "an added assumption": ("read_A::conflict_free", [("lane/16*8]\n", "lane/16*8]\n    assume: [k != 16]\n")]),
    "more wavefronts": ("write_A::wavefronts", [("at_most: 4", "at_most: 8")]),
    "shorter vectors": ("A::contiguous", [("elements: 8", "elements: 4")]),
    "vectors that shorter ones do not divide": ("A::contiguous", [("elements: 8", "elements: 12")]),
    "vectors along another mode": ("A::contiguous", [("elements: 8}", "elements: 8, mode: 0}")]),
    "other times": ("write_A,A::covers", [("tile: A}\n  - wave", "tile: A, times: 2}\n  - wave")]),
    "an expected refutation": ("A::bijective", [("bijective: A\n", "bijective: A\n    expect: refuted\n")]),
    "an expected unknown": ("A::bijective", [("bijective: A\n", "bijective: A\n    expect: unknown\n")]),
    "another chip's cost": ("write_A::wavefronts", [("target: sm_90", "target: sm_80")]),
    "a narrower instruction": ("write_A::in_bounds", [("st.shared.v4.b32", "st.shared.b32")]),
    "fewer lanes with addresses": ("read_A::conflict_free", [("ldmatrix.x4", "ldmatrix.x2")]),
    "a smaller tile": (
        "A::injective",
        [tile_a("(64,64):(64,1)", "(64,32):(64,1)"), ("equivalent: [A, B]", "injective: B")],
    ),
    "fewer modes": ("P::in_bounds", [("layout: {shape: [16, 64], pad: 8}", "layout: (1024):(1)")]),
    "a smaller element": ("P::in_bounds", [("  P:\n    element: f16", "  P:\n    element: i8")]),
    "more room": ("P::in_bounds", [("pad: 8}\n", "pad: 8}\n    bytes: 8192\n")]),
    "more bytes": ("scratch::in_bounds", [("bytes: 256", "bytes: 512")]),
    "a smaller box": (
        "grouped::permutation",
        [("over: {bid: 128}", "over: {bid: 64}"), ("onto: [16, 8]", "onto: [8, 8]")],
    ),
    "another tile": ("write_A::in_bounds", [("write_A:\n    tile: A", "write_A:\n    tile: P"), NO_COVER]),
    "an address in place of a tile": (
        "write_A::wavefronts",
        [
            ("write_A:\n    tile: A", "write_A:\n    bytes: 8192"),
            (WRITE_END, "address: i*2048 + tid*16\n  scratch"),
            NO_COVER,
        ],
    ),
}
LESS = {
    "places that are related": (
        "A,B::disjoint",
        swapped(("disjoint: [M, N]", "disjoint: [A, B]"), ("equivalent: [A, B]", "injective: B")),
        swapped(
            ("disjoint: [M, N]", "disjoint: [A, B]"),
            ("equivalent: [A, B]", "injective: B"),
            ("align: 1024}}", "align: 128}}"),
            (TILE_A, TILE_A.replace("{align: 128}", "{in: smem, offset: 0}")),
            (TILE_B, TILE_B.replace("{align: 128}", "{in: smem, offset: 32768}")),
            ("bytes: 65536", "bytes: 98304"),
        ),
    ),
    "a comparison with itself": (
        "A,B::equivalent", swapped((TILE_A, TILE_A.replace("(64,64):(64,1)", "(64,64):(1,64)"))), SPEC,
    ),
    "vectors that leave some over": (
        "P::contiguous",
        swapped(("in_bounds: P", "contiguous: {tile: P, elements: 8}"), ("[16, 64], pad: 8", "[16, 72], pad: 8")),
        swapped(("in_bounds: P", "contiguous: {tile: P, elements: 16}"), ("[16, 64], pad: 8", "[16, 72], pad: 8")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WEAKER)
def test_each_way_to_say_less_is_found(way):
    claim, edits = WEAKER[way]
    assert outcome(SPEC, swapped(*edits))[claim] == "weakened"


@pytest.mark.parametrize("way", LESS)
def test_each_way_to_say_less_of_two_things_is_found(way):
    claim, before, after = LESS[way]
    assert outcome(before, after)[claim] == "weakened"
    if "over" not in way:
        assert outcome(after, before)[claim] != "weakened"


CASES = """\
swzverify: 1
constants: {BK: [32, 64]}
tiles:
  C: {element: f16, layout: "(BK,64):(64,1)"}
  D: {element: f16, layout: "(8,64):(64,1)"}
claims: [{injective: C}, {injective: D}]
"""


class TestCases:
    def test_fewer_cases(self):
        for fewer in ("[64, 96]", "64", "[64]"):
            found = outcome(CASES, CASES.replace("[32, 64]", fewer))
            assert found["C[BK=32]::injective"] == "weakened"
            assert "D[BK=32]::injective" not in found  # it says in every case what it said before

    def test_a_case_that_is_gone_is_named(self):
        found = between(CASES, CASES.replace("[32, 64]", "64"))
        assert [each.note for each in found if each.status == "weakened"] == ["the case BK=32 is gone"]

    def test_more_cases(self):
        found = outcome(CASES, CASES.replace("[32, 64]", "[32, 64, 128]"))
        assert found == {"C[BK=128]::injective": "added", "D[BK=128]::injective": "added"}
        found = outcome(CASES.replace("[32, 64]", "64"), CASES)
        assert found == {"C[BK=32]::injective": "added", "D[BK=64]::injective": "added"}

    def test_a_case_does_not_stand_for_another_one_that_says_less(self):
        # the tile of the case 128 is larger, and still another one
        assert outcome(CASES, CASES.replace("[32, 64]", "[64, 128]"))["C[BK=32]::injective"] == "weakened"


DELETED = {
    "a claim": ("A::bijective", [("  - bijective: A\n", "")]),
    "an access": ("scratch::in_bounds", [("  - in_bounds: scratch\n", "")]),
}


@pytest.mark.parametrize("way", DELETED)
def test_what_is_gone_is_deleted(way):
    claim, edits = DELETED[way]
    assert outcome(SPEC, swapped(*edits)) == {claim: "deleted"}


def test_a_shorter_list_in_place_of_the_standard_one():
    before = SPEC[: SPEC.index("claims:")] + "claims: standard\n"
    after = SPEC[: SPEC.index("claims:")] + "claims: [{injective: A}, {conflict_free: read_A}]\n"
    found = outcome(before, after)
    assert set(found.values()) == {"deleted"}
    assert {"A::in_bounds", "read_A::aligned", "read_A::in_bounds", "write_A::conflict_free"} <= set(found)
    assert "A::injective" not in found
    assert "read_A::conflict_free" not in found


STRONGER = {
    "more threads": ("scratch::in_bounds", [("threads: 64\n    address: tid*4", "threads: 96\n    address: tid*4")]),
    "a longer loop": ("read_A::conflict_free", [("stop: 64, step: 16", "stop: 80, step: 16")]),
    "a smaller step": ("read_A::conflict_free", [("stop: 64, step: 16", "stop: 64, step: 8")]),
    "an unbounded loop": ("read_A::conflict_free", [("{k: {start: 0, stop: 64, step: 16}}", "{k: any}")]),
    "a smaller alignment": ("A::injective", [tile_a("align: 128", "align: 16"), ("    expect: refuted\n", "")]),
    "any base": ("scratch::in_bounds", [("    base: {align: 128}\n    bytes", "    base: {align: 4}\n    bytes")]),
    "a wider predicate": ("load_A::aligned", [("tid < HALF", "tid < HALF + 1")]),
    "no predicate": ("load_A::aligned", [("    if: tid < HALF\n", "")]),
    "a loosened assumption": ("load_A::aligned", [("i < 3", "i < 4")]),
    "no assumption": ("load_A::aligned", [("    assume: [i < 3]\n", "")]),
    "fewer wavefronts": ("write_A::wavefronts", [("at_most: 4", "at_most: 2")]),
    "longer vectors": ("A::contiguous", [("elements: 8", "elements: 32")]),
    "an expected proof": ("A::contiguous#2", [("    expect: refuted\n", "")]),
    "fewer bytes": ("scratch::in_bounds", [("bytes: 256", "bytes: 128")]),
    "a smaller refuted claim": ("A::contiguous#2", [("elements: 16", "elements: 32")]),
}


@pytest.mark.parametrize("way", STRONGER)
def test_each_way_to_say_more_is_told_and_fails_nothing(way):
    claim, edits = STRONGER[way]
    found = outcome(SPEC, swapped(*edits))
    if way == "a smaller refuted claim":
        assert found == {claim: "weakened"}  # that vectors of 16 are torn says that longer ones are, not the reverse
        assert outcome(swapped(*edits), SPEC) == {claim: "strengthened"}
        return
    assert found[claim] == "strengthened"
    assert not {"weakened", "deleted"} & set(found.values())


def test_more_stages_say_more_of_every_claim_on_them():
    found = outcome(SPEC, swapped(tile_a("stages: 3", "stages: 4"), ("equivalent: [A, B]", "equivalent: [B, B]")))
    assert found["A::injective"] == "strengthened"
    assert found["read_A::conflict_free"] == "changed"


SAME = {
    "blanks": [("{start: 0, stop: 64, step: 16}", "{ start:   0,stop: 64 ,  step: 16 }")],
    "parentheses": [("warp*16 + lane%16", "((warp * 16)) + (lane % (16))")],
    "comments": [("tiles:\n", "# the tiles\ntiles: # of the kernel\n")],
    "another spelling of a number": [("[i < 3]", "[i < 0x3]")],
    "a constant's name": [("tid < HALF", "tid < 64")],
    "another name of a constant": [("HALF", "WHOLE")],
    "lines": [("coord: [i*16 + tid/8, tid%8*8]", "coord:\n      - i*16 + tid/8\n      - tid%8*8")],
    "a loop as a range": [("for: {i: 4}", "for: {i: {start: 0, stop: 4}}")],
    "a loop's end within a step": [("stop: 64, step: 16", "stop: 50, step: 16")],
    "the order of claims": [("  - injective: A\n  - bijective: A\n", "  - bijective: A\n  - injective: A\n")],
    "the order of what has one kind": [
        ("  - contiguous: {tile: A, elements: 8}\n", ""),
        ("together\n", "together\n  - contiguous: {tile: A, elements: 8}\n"),
    ],
    "the reason": [("keeps 8 together", "keeps eight together")],
    "a larger memory": [("bytes: 65536", "bytes: 98304")],
    "the same swizzle": [("swizzle: Swizzle<3,3,3>", "swizzle: {bits: 3, base: 3, shift: 3}")],
    "the same instruction": [("ld.shared.v4.b32", "ld.shared.v4.f32")],
    "the same element": [("element: f32", "bits: 32")],
    "two assumptions in another order": [("[i < 3]", "[i < 3, i < 3]")],
    "names of a map's variables": [("bid", "block")],
}


@pytest.mark.parametrize("way", SAME)
def test_what_says_the_same_is_unchanged(way):
    assert outcome(SPEC, swapped(*SAME[way])) == {}
    assert outcome(swapped(*SAME[way]), SPEC) == {}


CHANGED = {
    "a coordinate": ("read_A::conflict_free", [("k + lane/16*8", "(k + lane/16*8) % 64")]),
    "a swizzle": ("A::injective", [("Swizzle<3,3,3>", "Swizzle<3,4,3>")]),
    "a layout": ("A::injective", [("(64,64):(64,1)", "(64,64):(72,1)"), ("bijective: A", "injective: B")]),
    "an instruction": ("write_A::wavefronts", [("st.shared.v4.b32", "ld.shared.v4.b32")]),
    "a predicate of the same lanes": ("load_A::aligned", [("tid < HALF", "tid <= HALF - 1")]),
    "an assumption of the same iterations": ("load_A::aligned", [("i < 3", "i != 3")]),
    "the block's shape": ("read_A::conflict_free", [(READ, READ.replace("threads: 128", "block: [32, 4]"))]),
    "the pitch": ("A::injective", [tile_a("stages: 3", "stages: {count: 3, pitch: 9216}")]),
    "the pad": ("P::in_bounds", [("pad: 8", "pad: 16")]),
    "a place in a memory": ("M,N::disjoint", [("offset: 4096", "offset: 8192")]),
    "the value of a map": ("grouped::permutation", [("bid/8%8]", "7 - bid/8%8]")]),
    "an unbounded loop's address": ("endless::conflict_free", [("tid*4 + i*128", "i*128 + tid*4")]),
    "the default mode, named": ("A::contiguous", [("elements: 8}", "elements: 8, mode: 1}")]),
    "another name of a loop": ("read_A::conflict_free", [("{k: {", "{kk: {"), ("k + lane", "kk + lane")]),
    "the same chip": ("write_A::wavefronts", [("target: sm_90", "target: sm_90a")]),
    "another chip's bounds": ("write_A::in_bounds", [("target: sm_90", "target: sm_80")]),
}


@pytest.mark.parametrize("way", CHANGED)
def test_another_kernel_is_told_and_fails_nothing(way):
    claim, edits = CHANGED[way]
    found = outcome(SPEC, swapped(*edits))
    assert found[claim] == "changed"
    if "chip" not in way and way != "a layout":
        assert not {"weakened", "deleted"} & set(found.values())


def test_a_change_names_what_it_was_and_a_point_that_is_left_out():
    (found,) = [each for each in between(SPEC, swapped(("i < 3", "i < 2"))) if each.status == "weakened"]
    (change,) = found.changes
    assert (change.aspect, change.what) == ("domain", "assume")
    assert (change.before, change.after) == ("assuming i < 3", "assuming i < 2")
    assert change.note == "tid = 0, i = 2 is left out"


def test_a_documented_failure_of_less_says_more():
    spec = SPEC.replace("  - conflict_free: read_A\n", "  - conflict_free: read_A\n    expect: refuted\n")
    fewer = spec.replace(READ, READ.replace("128", "64"))
    assert outcome(spec, fewer) == {"read_A::conflict_free": "strengthened"}
    assert outcome(fewer, spec) == {"read_A::conflict_free": "weakened"}


def test_too_many_points_count_as_fewer():
    many = SPEC.replace("for: {i: 4}\n    coord: [i*16 + tid/8, tid%8*8]\n    if: tid < HALF", "for: {i: 4, j: 100000}\n    coord: [i*16 + tid/8, tid%8*8]\n    if: tid + j*0 < HALF")  # fmt: skip  # noqa: E501
    assert many != SPEC
    assert outcome(many, many) == {}
    rewritten = many.replace("tid + j*0 < HALF", "tid + j*0 <= HALF - 1")
    (found,) = [each for each in between(many, rewritten) if each.status == "weakened"]
    assert found.claim.id == "a.swz.yaml::load_A::aligned"
    assert "cannot be told" in found.changes[0].note
    # conditions that read less of it are compared all the same
    narrow = many.replace("tid + j*0 < HALF", "tid < HALF")
    assert outcome(narrow, narrow.replace("tid < HALF", "tid <= HALF - 1")) == {"load_A::aligned": "changed"}


def test_an_unbounded_loop_in_a_condition_counts_as_less_unless_it_is_the_same():
    spec = SPEC.replace("address: tid*4 + i*128", "address: tid*4 + i*128\n    if: i % 2 == 0")
    assert outcome(spec, spec.replace("tid*4 + i*128", "i*128 + tid*4")) == {"endless::conflict_free": "changed"}
    assert outcome(spec, spec.replace("i % 2 == 0", "(i & 1) == 0")) == {"endless::conflict_free": "weakened"}


def test_an_unbounded_loop_that_ends_earlier_says_less():
    """A term that overflows early takes iterations away, wherever it stands."""
    for shorter in ("i*256", "i*128 + 0*(i*100000000)"):
        less = SPEC.replace("tid*4 + i*128", f"tid*4 + {shorter}")
        assert outcome(SPEC, less) == {"endless::conflict_free": "weakened"}
        assert outcome(less, SPEC) == {"endless::conflict_free": "changed"}
        (found,) = [each for each in between(SPEC, less) if each.status == "weakened"]
        (change,) = [each for each in found.changes if each.direction == "weaker"]
        assert change.what == "loop i"
        assert "overflows" in change.after


def test_stages_of_an_unbounded_loop():
    spec = SPEC.replace("k + lane/16*8]\n", "k + lane/16*8]\n    stage: j % 3\n").replace(
        "for: {k: {start: 0, stop: 64, step: 16}}", "for: {k: {start: 0, stop: 64, step: 16}, j: any}"
    )
    less = spec.replace("j % 3", "j % 2")
    assert outcome(spec, less) == {"read_A::conflict_free": "weakened"}

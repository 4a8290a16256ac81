"""The assertions on what is proved: verdicts, failures, and what must be given."""

from __future__ import annotations

import traceback
from inspect import signature

import pytest

from swzverify import Access, Layout, Swizzle, Tile
from swzverify.claims import Disjoint, Injective, Outcome
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import ComposedLayout, PointerLayout
from swzverify.subjects import AlignedBase, FixedBase, IndexMap
from swzverify.testing import (
    assert_bijective,
    assert_conflict_free,
    assert_contiguous,
    assert_equivalent,
    assert_proved,
    assert_wavefronts,
)

SWIZZLED = "Swizzle<3,3,3> o 0 o (64,64):(64,1)"
PLAIN = "(64,64):(64,1)"
READ = {
    "element_bits": 16,
    "base_align": 1024,
    "instruction": "ldmatrix.x4",
    "threads": 128,
    "loops": {"k": range(0, 64, 16)},
    "coord": ["warp*16 + lane%16", "k + lane/16*8"],
}


def story_of(assertion, *arguments, **given):
    with pytest.raises(AssertionError) as failure:
        assertion(*arguments, **given)
    return str(failure.value)


def mistake_of(assertion, *arguments, **given):
    with pytest.raises(SwzError) as failure:
        assertion(*arguments, **given)
    return failure.value


@pytest.mark.parametrize(
    "layout",
    [
        SWIZZLED,
        "Sw<3,4,3> o smem_ptr[16b](unset) o (64,64):(64,1)",
        Layout((64, 64), (64, 1)),
        ComposedLayout(Swizzle(3, 3, 3), 0, Layout((64, 64), (64, 1))),
        PointerLayout(Swizzle(3, 4, 3), 16, Layout((64, 64), (64, 1))),
    ],
    ids=str,
)
def test_layouts_of_every_kind_are_proved_by_two_engines(layout):
    verdict = assert_bijective(layout, element_bits=16, base_align=1024)
    assert verdict.outcome is Outcome.PROVED
    assert len(verdict.engines) >= 2
    assert "z3" in verdict.engines
    assert assert_contiguous(layout, elements=8, element_bits=16, base_align=1024).outcome is Outcome.PROVED


def test_what_does_not_depend_on_the_base_holds_at_any():
    assert "any base that is a multiple of 1" in assert_bijective(SWIZZLED, element_bits=16).scope


@pytest.mark.parametrize("swizzled", [True, False])
def test_a_read_is_free_of_conflicts_under_a_swizzle(swizzled):
    if swizzled:
        verdict = assert_conflict_free(SWIZZLED, **READ)
        assert verdict.measure is not None
        assert (verdict.measure.wavefronts, verdict.measure.bank_conflicts) == (4, 0)
        assert verdict.scope.startswith(
            "all 4 warps, k in 0..48 step 16, the same in all lanes, any base that is a multiple of 1024"
        )
        assert verdict.scope.endswith("ldmatrix.x4 on sm_90 (measured)")
        assert len(verdict.engines) >= 2
        return
    story = story_of(assert_conflict_free, PLAIN, **READ)
    assert story.startswith("refuted: conflict_free of access\n")
    assert "lanes 0-7 touch 8 different addresses in bank 0" in " ".join(story.split())
    assert "0x380" in story
    assert "test_assertions.py:" in story


def test_wavefronts():
    assert assert_wavefronts(PLAIN, at_most=32, **READ).measure.wavefronts == 32
    story = story_of(assert_wavefronts, PLAIN, at_most=31, **READ)
    assert "32 wavefronts where at most 31 are claimed" in " ".join(story.split())
    for at_most in (0, True, None, float("inf"), 32.0):
        assert mistake_of(assert_wavefronts, PLAIN, at_most=at_most, **READ).code == "SWZ105"


def test_the_target_is_sm_90_unless_given():
    assert "on sm_90 (measured)" in assert_conflict_free(SWIZZLED, **READ).scope
    assert "on sm_80 (assumed)" in assert_conflict_free(SWIZZLED, target="sm_80", **READ).scope
    assert mistake_of(assert_conflict_free, SWIZZLED, target="sm_70", **READ).code == "SWZ403"


def test_blocks_loops_constants_and_predicates():
    verdict = assert_conflict_free(
        "(BM,32):(32,1)",
        element_bits=32,
        base_align=128,
        instruction="ld.shared.b32",
        threads=(32, 4),
        loops={"i": 2},
        constants={"BM": 8},
        predicate="tid_x < 16",
        coord=["i*4 + tid_y", "tid_x"],
    )
    assert "i in 0..1" in verdict.scope
    assert "lanes with tid_x < 16" in verdict.scope


def test_an_access_says_everything_itself():
    tile = Tile("A", 16, Layout((64, 64), (64, 1)))
    coord = (parse("lane%16"), parse("lane/16*8"))
    access = Access("read", find_instruction("ldmatrix.x4"), find_target("sm_90"), (32,), tile=tile, coord=coord)
    assert "read" in story_of(assert_conflict_free, access)
    assert assert_wavefronts(access, at_most=32).measure.wavefronts == 32
    error = mistake_of(assert_conflict_free, access, threads=32, base_align=16)
    assert (error.code, error.message) == (
        "SWZ803",
        "base_align, threads do not go with an Access, which says it itself",
    )


def test_a_tile_says_where_it_lies():
    tile = Tile("A", 16, Layout((64, 64), (64, 1)), Swizzle(3, 3, 3), base=FixedBase(2048))
    given = {name: value for name, value in READ.items() if name not in {"element_bits", "base_align"}}
    assert "base 2048" in assert_conflict_free(tile, **given).scope
    for name, value in {"element_bits": 16, "base_align": 16, "swizzle_on": "offset", "size": 4}.items():
        error = mistake_of(assert_bijective, tile, **{name: value})
        assert (error.code, error.message) == ("SWZ803", f"{name} does not go with a Tile, which says it itself")


@pytest.mark.parametrize("missing", ["element_bits", "base_align", "instruction", "threads", "coord"])
def test_what_is_missing_is_told_and_not_guessed(missing):
    given = {name: value for name, value in READ.items() if name != missing}
    error = mistake_of(assert_conflict_free, SWIZZLED, **given)
    assert error.code == "SWZ802"
    assert missing in error.message
    assert f"{missing}=" in error.hint


def test_a_layout_needs_its_element_size():
    assert mistake_of(assert_bijective, PLAIN).code == "SWZ802"
    assert mistake_of(assert_contiguous, PLAIN, elements=8).code == "SWZ802"


def test_a_swizzle_of_addresses_needs_the_base():
    pointer = PointerLayout(Swizzle(3, 4, 3), 16, Layout((8, 64), (64, 1)))
    error = mistake_of(assert_bijective, pointer)
    assert (error.code, "base_align=1024" in error.hint) == ("SWZ802", True)
    assert assert_bijective(pointer, base_align=1024).outcome is Outcome.PROVED
    assert "refuted" in story_of(assert_bijective, pointer, base_align=16)


def test_a_pointer_knows_its_element_size():
    pointer = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"
    assert assert_bijective(pointer, base_align=1024).outcome is Outcome.PROVED
    assert mistake_of(assert_bijective, pointer, element_bits=8, base_align=1024).code == "SWZ803"


def test_gaps_and_collisions_are_failures():
    assert "gaps are left" in story_of(assert_bijective, "(8,64):(72,1)", element_bits=16)
    assert "refuted" in story_of(assert_bijective, "(8,64):(32,1)", element_bits=16)


def test_a_torn_vector_is_a_failure():
    story = story_of(assert_contiguous, "Swizzle<3,2,3> o 0 o (8,64):(64,1)", elements=8, element_bits=16)
    assert story.startswith("refuted: contiguous of layout")
    assert "item" in story


def test_a_vector_that_does_not_fit_is_vacuous_and_fails():
    story = story_of(assert_contiguous, "(8,4):(4,1)", elements=8, element_bits=16)
    assert story.startswith("vacuous: contiguous of layout")
    assert "no vector of 8 fits" in story


def test_an_access_that_never_happens_is_vacuous_and_fails():
    given = READ | {"loops": {"k": 0}, "coord": ["warp*16 + lane%16", "k + lane/16*8"]}
    assert story_of(assert_conflict_free, SWIZZLED, **given).startswith("vacuous: ")


def test_running_out_of_budget_is_unknown_and_fails():
    assert story_of(assert_bijective, PLAIN, element_bits=16, rlimit=1).startswith("unknown: bijective of layout")
    assert mistake_of(assert_bijective, PLAIN, element_bits=16, rlimit=0).code == "SWZ105"
    assert mistake_of(assert_bijective, PLAIN, element_bits=16, rlimit=True).code == "SWZ105"


def test_two_forms_of_one_swizzle_agree_where_the_base_is_aligned():
    pointer, offsets = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"
    assert assert_equivalent(pointer, offsets, element_bits=16, base_align=1024).outcome is Outcome.PROVED
    story = story_of(assert_equivalent, pointer, offsets, element_bits=16, base_align=128)
    assert "equal for every base that is a multiple of 1024" in story
    assert mistake_of(assert_equivalent, pointer, offsets, element_bits=16).code == "SWZ802"


def test_layouts_of_offsets_need_no_base():
    assert assert_equivalent("(8,(4,2)):(8,(1,4))", "(8,8):(8,1)", element_bits=16).outcome is Outcome.PROVED
    assert "refuted" in story_of(assert_equivalent, "(8,8):(1,8)", "(8,8):(8,1)", element_bits=16)
    assert "has the extents" in story_of(assert_equivalent, "(8,8)", "(4,8)", element_bits=16)


def test_beside_a_tile_a_layout_lies_where_the_tile_does():
    tile = Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 4, 3), "address", AlignedBase(1024), stages=2)
    assert "1024" in assert_equivalent(tile, "Sw<3,3,3> o 0 o (8,64):(64,1)").scope
    assert assert_equivalent("Sw<3,3,3> o 0 o (8,64):(64,1)", tile).outcome is Outcome.PROVED
    fixed = Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 4, 3), "address", FixedBase(128))
    story = story_of(assert_equivalent, fixed, "Sw<3,3,3> o 0 o (8,64):(64,1)")
    assert "at (0, 0) A gives" in story
    assert mistake_of(assert_equivalent, tile, PLAIN, element_bits=16).code == "SWZ803"


def test_accesses_and_maps_are_compared_as_they_are():
    def access(name, column):
        tile = Tile("A", 16, Layout((64, 64), (64, 1)))
        coord = (parse("lane"), parse(column))
        return Access(name, find_instruction("ld.shared.b16"), find_target("sm_90"), (32,), tile=tile, coord=coord)

    assert assert_equivalent(access("a", "lane*2"), access("b", "lane<<1")).outcome is Outcome.PROVED
    assert "lane 1: a gives" in story_of(assert_equivalent, access("a", "lane*2"), access("b", "lane"))
    one = IndexMap("one", (("i", 64),), (parse("i^(i/8)"),))
    assert assert_equivalent(one, IndexMap("two", (("i", 64),), (parse("(i/8)^i"),))).outcome is Outcome.PROVED
    error = mistake_of(assert_equivalent, access("a", "lane*2"), access("b", "lane<<1"), element_bits=16)
    assert error.code == "SWZ803"


def test_any_claim_can_be_asserted():
    padded = Tile("A", 16, Layout((8, 64), (72, 1)))
    assert assert_proved(Injective(padded)).outcome is Outcome.PROVED
    assert "refuted: disjoint" in story_of(
        assert_proved, Disjoint(Tile("A", 16, Layout((8, 64), (64, 1)), stages=2, pitch_bytes=8))
    )


def test_a_failure_points_at_the_line_of_the_test():
    with pytest.raises(AssertionError) as failure:
        assert_bijective("(8,64):(72,1)", element_bits=16)
    frames = traceback.extract_tb(failure.value.__traceback__)
    assert frames[0].filename == __file__
    assert f"test_assertions.py:{frames[0].lineno}\n" in str(failure.value)
    assert [entry.ishidden(failure) for entry in failure.traceback] == [False, True, True]


def test_a_mistake_comes_without_our_frames():
    with pytest.raises(SwzError) as failure:
        assert_bijective("(8,64:(64,1)", element_bits=16)
    files = [entry.path.name for entry in failure.traceback]
    assert files == ["test_assertions.py", "assertions.py", "assertions.py"]
    assert [entry.ishidden(failure) for entry in failure.traceback] == [False, True, True]
    assert failure.value.code == "SWZ200"
    assert failure.value.__cause__ is None


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({"coord": ["lane"]}, "SWZ105", "1 coordinates for tile tile, which has 2 modes"),
        ({"coord": ["lane", "j"]}, "SWZ301", "unknown name 'j'"),
        ({"coord": ["lane", "1 +"]}, "SWZ302", ""),
        ({"threads": 0}, "SWZ105", "threads"),
        ({"threads": 2000}, "SWZ105", "threads"),
        ({"threads": (1, 2, 3, 4)}, "SWZ105", "threads=(1, 2, 3, 4)"),
        ({"threads": True}, "SWZ105", "threads=True"),
        ({"threads": 48}, "SWZ406", "all 32 lanes"),
        ({"loops": {"k": range(64, 0, -16)}}, "SWZ105", "step -16"),
        ({"loops": {"k": 2.0}}, "SWZ105", "neither an int nor a range"),
        ({"loops": {"k": True}}, "SWZ105", "neither an int nor a range"),
        ({"loops": {"lane": 4, "k": 1}}, "SWZ105", "'lane' has a meaning of its own"),
        ({"loops": {"k k": 4, "k": 1}}, "SWZ105", "'k k' is not a name"),
        ({"constants": {"k": 4}}, "SWZ105", "'k' is a constant already"),
        ({"constants": {"warp": 4}}, "SWZ105", "'warp' has a meaning of its own"),
        ({"constants": {"n": 4.0}}, "SWZ202", "not an int"),
        ({"instruction": "ldmatrix.x5"}, "SWZ401", "ldmatrix moves 1, 2 or 4 matrices"),
        ({"base_align": 24}, "SWZ105", "power of two"),
        ({"element_bits": 0}, "SWZ105", "0 bits per element"),
        ({"swizzle_on": "address"}, "SWZ803", "contradicts"),
        ({"swizzle_on": ""}, "SWZ105", "swizzle_on=''"),
        ({"coord": "00"}, "SWZ105", "coord='00' (str) is no list or tuple"),
        ({"coord": {0: 1, 2: 3}}, "SWZ105", "coord={0: 1, 2: 3} (dict) is no list or tuple"),
        ({"coord": {"lane", "k"}}, "SWZ105", "(set) is no list or tuple"),
        ({"coord": [True, 0]}, "SWZ105", "True is neither a C expression nor an int"),
        ({"coord": [0.0, 0]}, "SWZ105", "0.0 is neither a C expression nor an int"),
        ({"loops": [("k", 4)]}, "SWZ105", "(list) is no mapping"),
        ({"constants": [("n", 4)]}, "SWZ105", "(list) is no mapping"),
        ({"predicate": True}, "SWZ105", "predicate=True (bool) is no text"),
        ({"instruction": 4}, "SWZ105", "instruction=4 (int) is no text"),
        ({"target": 90}, "SWZ105", "target=90 (int) is no text"),
        ({"target": ""}, "SWZ402", "unknown target ''"),
        ({"element_bits": True}, "SWZ105", "element_bits=True (bool) is no int"),
        ({"base_align": True}, "SWZ105", "base_align=True (bool) is no int"),
    ],
)
def test_mistakes_are_told(change, code, said):
    error = mistake_of(assert_conflict_free, SWIZZLED, **(READ | change))
    assert error.code == code
    assert said in error.message


def test_numbers_of_a_layouts_claims_are_ints():
    one = {"element_bits": 8}
    assert mistake_of(assert_bijective, "1:1", element_bits=True).code == "SWZ105"
    assert mistake_of(assert_bijective, "1:1", size=True, **one).code == "SWZ105"
    for elements in (True, None, 1.0):
        assert mistake_of(assert_contiguous, "8:1", elements=elements, **one).code == "SWZ105"
    assert mistake_of(assert_contiguous, "(8,8):(8,1)", elements=8, mode=True, **one).code == "SWZ105"
    assert mistake_of(assert_equivalent, "8:1", "8:1", threads=True, **one).code == "SWZ105"


def test_what_a_swizzle_acts_on_is_not_guessed_from_an_empty_text():
    error = mistake_of(assert_bijective, "S<3,4,3> o 0 o (8,64):(64,1)", swizzle_on="", element_bits=16)
    assert (error.code, "swizzle_on=''" in error.message) == ("SWZ105", True)


PLACED = {"element_bits", "base_align", "swizzle_on", "constants", "rlimit"}
OF_ACCESS = PLACED | {"instruction", "threads", "coord", "loops", "predicate", "target"}


@pytest.mark.parametrize(
    ("assertion", "keywords"),
    [
        (assert_bijective, PLACED | {"size"}),
        (assert_contiguous, PLACED | {"size", "elements", "mode"}),
        (assert_equivalent, PLACED | {"threads"}),
        (assert_conflict_free, OF_ACCESS),
        (assert_wavefronts, OF_ACCESS | {"at_most"}),
    ],
)
def test_a_signature_names_each_keyword_and_a_call_takes_no_other(assertion, keywords):
    stated = signature(assertion).parameters.values()
    assert {each.name for each in stated if each.kind is each.KEYWORD_ONLY} == keywords
    assert all(isinstance(each.annotation, str) for each in stated)
    assert not [each for each in stated if each.kind is each.VAR_KEYWORD]
    needed = {each: 1 for each in ("elements", "at_most") if each in keywords}
    for name in ("sise", *sorted((OF_ACCESS | {"size"}) - keywords)):
        with pytest.raises(TypeError, match=rf"^{assertion.__name__}\(\) got an unexpected keyword argument '{name}'$"):
            assertion(*[PLAIN] * (1 + (assertion is assert_equivalent)), **needed, **{name: None})


def test_every_keyword_reaches_an_access_which_says_it_itself():
    tile = Tile("T", 32, Layout((32,), (1,)))
    access = Access(
        "A", find_instruction("ld.shared.b32"), find_target("sm_90"), (32,), tile=tile, coord=[parse("lane")]
    )
    for name in OF_ACCESS - {"rlimit"}:
        given = {"swizzle_on": "offset", "coord": ["0"]} | {"loops": {}, "constants": {}}
        number = name in ("element_bits", "base_align", "threads")
        mistake = mistake_of(assert_conflict_free, access, **{name: given.get(name, 32 if number else "x")})
        assert (mistake.code, mistake.message.split()[0]) == ("SWZ803", name)
    assert "rlimit=0" in str(mistake_of(assert_conflict_free, access, rlimit=0))

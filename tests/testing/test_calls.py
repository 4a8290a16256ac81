"""Plain functions: every lane is asked, what it says is checked, and no more is claimed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from swzverify import access_cost
from swzverify.claims import Outcome
from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS
from swzverify.testing import (
    assert_bijective,
    assert_conflict_free,
    assert_contiguous,
    assert_equivalent,
    assert_wavefronts,
)

WORD = {"instruction": "ld.shared.b32", "threads": 32}


def story_of(assertion, *arguments, **given):
    with pytest.raises(AssertionError) as failure:
        assertion(*arguments, **given)
    return str(failure.value)


def mistake_of(assertion, *arguments, **given):
    with pytest.raises(SwzError) as failure:
        assertion(*arguments, **given)
    return failure.value


def test_what_was_checked_is_said():
    verdict = assert_conflict_free(lambda lane: 4 * lane, **WORD)
    assert verdict.reason == "checked exhaustively for 32 lanes, not proved for other bases"
    assert verdict.scope == f"{verdict.reason}; ld.shared.b32 on sm_90 (measured)"
    assert verdict.engines == ("exhaustion",)
    assert verdict.evidence == "measured"
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.minimum, verdict.measure.where) == (1, 1, {})


def test_every_thread_is_asked_once_in_order():
    asked = []

    def column(thread):
        asked.append(thread)
        return 4 * thread

    verdict = assert_conflict_free(column, instruction="ld.shared.b32", threads=(32, 3))
    assert asked == list(range(96))
    assert "96 threads in 3 warps" in verdict.reason


def test_a_conflict_is_tabled():
    story = story_of(assert_conflict_free, lambda lane: 128 * lane, **WORD)
    assert story.startswith("refuted: conflict_free of <lambda>\n")
    note = "ld.shared.b32 takes 32 wavefronts instead of 1; lanes 0-31 touch 32 different addresses in bank 0"
    assert note in " ".join(story.split())
    assert "x     1      128   0x80    32     0" in story
    assert "test_calls.py:" in story
    assert "checked exhaustively for 32 lanes" in story


def test_the_worst_warp_is_shown():
    def only_warp_2(thread):
        return 128 * (thread % 32) if thread // 32 == 2 else 4 * thread

    story = story_of(assert_conflict_free, only_warp_2, instruction="ld.shared.b32", threads=128)
    assert "warp = 2" in story
    with pytest.raises(AssertionError):
        assert_wavefronts(only_warp_2, at_most=31, instruction="ld.shared.b32", threads=128)
    verdict = assert_wavefronts(only_warp_2, at_most=32, instruction="ld.shared.b32", threads=128)
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.where) == (32, {"warp": 2})


def test_costs_are_those_of_access_cost():
    generator = random.Random(7)
    for name, row in INSTRUCTIONS.items():
        if row.warp_wide:
            continue
        addresses = [row.width_bytes * generator.randrange(512) for _ in range(32)]
        verdict = assert_wavefronts(addresses.__getitem__, at_most=10**6, instruction=name, threads=32)
        assert verdict.measure is not None
        assert verdict.measure.wavefronts == access_cost(name, addresses).wavefronts


def test_inactive_lanes_are_none():
    assert assert_conflict_free(lambda lane: 128 if lane < 1 else None, **WORD).outcome is Outcome.CHECKED
    assert story_of(assert_conflict_free, lambda _: None, **WORD).startswith("vacuous: ")
    assert (
        assert_conflict_free(lambda lane: 4 * lane, instruction="ld.shared.b32", threads=20).outcome is Outcome.CHECKED
    )


def test_numpys_integers_will_do():
    table = (np.arange(32) * 4).astype(np.int32)
    assert assert_conflict_free(lambda lane: table[lane], **WORD).outcome is Outcome.CHECKED


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (True, "an int"),
        (np.True_, "an int"),
        (2.0, "not with /"),
        (np.float32(4), "an int"),
        ("4", "an int"),
        ((0, 4), "an int"),
    ],
)
def test_values_that_are_no_addresses(value, hint):
    error = mistake_of(assert_conflict_free, lambda lane: value if lane == 5 else 4 * lane, **WORD)
    assert error.code == "SWZ806"
    assert error.message.startswith("lane 5 has the address ")
    assert hint in error.hint


def test_addresses_beyond_shared_memory_are_none_of_it():
    """The target's, as in a spec; that of all targets where none is meant."""

    def at(address):
        return lambda lane: 4 * lane if lane != 5 else address

    error = mistake_of(assert_conflict_free, at(1 << 70), **WORD)
    assert error.code == "SWZ806"
    assert error.message.endswith("but sm_90 has 232448 bytes of shared memory per block")
    assert error.message.startswith(f"lane 5 has the address {1 << 70},")
    assert mistake_of(assert_wavefronts, at(232448), at_most=32, **WORD).code == "SWZ806"
    assert assert_wavefronts(at(232444), at_most=32, **WORD).outcome is Outcome.CHECKED
    assert mistake_of(assert_wavefronts, at(101376), at_most=32, target="sm_89", **WORD).code == "SWZ806"
    assert assert_wavefronts(at(101372), at_most=32, target="sm_89", **WORD).outcome is Outcome.CHECKED
    for beyond in (1 << 70, 232448):
        assert mistake_of(assert_bijective, lambda i, at=beyond: at + i, size=8, element_bits=8).code == "SWZ806"
        given = {"size": 8, "element_bits": 8, "elements": 2}
        assert mistake_of(assert_contiguous, lambda i, at=beyond: at + i, **given).code == "SWZ806"
        assert mistake_of(assert_equivalent, at(beyond), at(beyond), threads=8).code == "SWZ806"
    assert assert_bijective(lambda i: 232440 + i, size=8, element_bits=8).outcome is Outcome.CHECKED


def test_lanes_that_an_instruction_does_not_ask_may_have_any_address():
    one = {"instruction": "ldmatrix.x1", "threads": 32}
    assert assert_conflict_free(lambda i: 16 * i if i < 8 else 1 << 70, **one).outcome is Outcome.CHECKED
    assert mistake_of(assert_conflict_free, lambda i: 16 * i if i < 7 else 1 << 70, **one).code == "SWZ806"


def test_numbers_that_are_no_ints_are_refused():
    def word(i):
        return 4 * i

    byte = {"size": 1, "element_bits": 8}
    for change in ({"size": True}, {"element_bits": True}, {"size": 1.0}):
        assert mistake_of(assert_bijective, lambda i: i, **(byte | change)).code == "SWZ105"
        assert mistake_of(assert_contiguous, lambda i: i, elements=1, **(byte | change)).code == "SWZ105"
    for elements in (True, None, 1.0):
        assert mistake_of(assert_contiguous, lambda i: i, elements=elements, **byte).code == "SWZ105"
    for threads in (True, 8.0, (8,), "8"):
        assert mistake_of(assert_equivalent, word, word, threads=threads).code == "SWZ105"
    for at_most in (True, None, float("inf"), 4.0):
        error = mistake_of(assert_wavefronts, word, at_most=at_most, **WORD)
        assert (error.code, f"at_most={at_most!r}" in error.message) == ("SWZ105", True)


def test_negative_and_misaligned_addresses_are_failures():
    assert "lane 0 has the negative address -4" in story_of(assert_conflict_free, lambda lane: 4 * lane - 4, **WORD)
    story = story_of(assert_wavefronts, lambda lane: 4 * lane + 2 * (lane == 9), at_most=99, **WORD)
    assert "lane 9 has address 38, not a multiple of 4: ld.shared.b32 faults" in story
    assert story.count("\n    x ") == 1


def test_matrix_instructions_need_every_lane():
    given = {"instruction": "ldmatrix.x4", "threads": 32}
    assert assert_conflict_free(lambda lane: 16 * lane, **given).outcome is Outcome.CHECKED
    assert "lane 3 has none" in story_of(assert_conflict_free, lambda lane: None if lane == 3 else 16 * lane, **given)
    with pytest.raises(SwzError, match="SWZ406"):
        assert_conflict_free(lambda lane: 16 * lane, instruction="ldmatrix.x4", threads=24)
    assert (
        assert_conflict_free(
            lambda lane: 16 * lane if lane < 8 else None, instruction="ldmatrix.x1", threads=32
        ).outcome
        is Outcome.CHECKED
    )


def test_copies_of_16_bytes_tell_what_goes_apart():
    """Of two lanes that share a destination one copies; the four of an octet that do go to four
    lines.
    """
    given = {"instruction": "cp.async.16", "threads": 32}
    story = story_of(assert_conflict_free, lambda lane: 128 * (lane // 2), **given)
    assert story.startswith("refuted: ")
    said = "cp.async.16 takes 16 wavefronts instead of 4; lanes 0 | 2 | 4 | 6 copy in wavefronts of their own"
    assert said in " ".join(story.split())
    verdict = assert_wavefronts(lambda lane: 128 * (lane // 2), at_most=16, **given)
    assert verdict.measure is not None
    assert (verdict.measure.wavefronts, verdict.measure.minimum, verdict.measure.exact) == (16, 4, True)
    with pytest.raises(AssertionError, match=r"^refuted: wavefronts"):
        assert_wavefronts(lambda lane: 128 * (lane // 2), at_most=15, **given)


def test_one_lane_an_octet_is_no_conflict():
    verdict = assert_wavefronts(lambda lane: 16 * (lane // 8), at_most=4, instruction="cp.async.16", threads=32)
    assert verdict.measure is not None
    assert verdict.measure.bank_conflicts == 0
    with pytest.raises(AssertionError) as caught:
        assert_wavefronts(lambda lane: 16 * lane, at_most=3, instruction="cp.async.16", threads=32)
    assert "in wavefronts of their own" not in str(caught.value)


@pytest.mark.parametrize("missing", ["instruction", "threads"])
def test_what_is_missing_is_told(missing):
    given = {name: value for name, value in WORD.items() if name != missing}
    error = mistake_of(assert_conflict_free, lambda lane: 4 * lane, **given)
    assert (error.code, missing in error.message) == ("SWZ802", True)


@pytest.mark.parametrize("useless", [{"element_bits": 16}, {"base_align": 16}, {"coord": ["lane"]}, {"predicate": "1"}])
def test_what_a_function_has_no_use_for_is_refused(useless):
    assert mistake_of(assert_conflict_free, lambda lane: 4 * lane, **WORD, **useless).code == "SWZ803"


@pytest.mark.parametrize("threads", [0, 1025, (32, 33)])
def test_blocks_have_1_to_1024_threads(threads):
    error = mistake_of(assert_conflict_free, lambda lane: 4 * lane, instruction="ld.shared.b32", threads=threads)
    assert error.code == "SWZ105"


def test_what_the_function_raises_is_the_users():
    def broken(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as failure:
        assert_conflict_free(broken, **WORD)
    shown = [entry.path.name for entry in failure.traceback if not entry.ishidden(failure)]
    assert shown == ["test_calls.py", "test_calls.py"]


def swizzled(index):
    row, column = divmod(index, 64)
    return 2 * (row * 64 + ((column // 8 ^ row % 8) * 8 + column % 8))


def test_elements_fill_their_bytes():
    verdict = assert_bijective(swizzled, size=512, element_bits=16)
    assert verdict.reason == "checked exhaustively for 512 elements, not proved for other bases"
    assert assert_bijective(lambda i: 4096 + 4 * i, size=8, element_bits=32).outcome is Outcome.CHECKED
    assert "leave a gap of 2 bytes" in story_of(assert_bijective, lambda i: 4 * i, size=8, element_bits=16)
    story = story_of(assert_bijective, lambda i: 2 * (i % 7), size=8, element_bits=16)
    assert "elements 0 and 7 at 0 and 0 share bytes" in story
    assert "share bytes" in story_of(assert_bijective, lambda i: i, size=8, element_bits=16)


def test_vectors_of_elements_stay_whole():
    assert assert_contiguous(swizzled, elements=8, size=512, element_bits=16).outcome is Outcome.CHECKED
    story = story_of(assert_contiguous, swizzled, elements=16, size=512, element_bits=16)
    assert "element 64 lies at 144, not at a multiple of 32" in story
    late = story_of(assert_contiguous, lambda i: 2 * i + 2, elements=4, size=8, element_bits=16)
    assert "element 0 lies at 2, not at a multiple of 8" in late
    few = story_of(assert_contiguous, swizzled, elements=8, size=4, element_bits=16)
    assert few.startswith("vacuous: ")


def test_element_functions_need_a_size_and_whole_bytes():
    assert mistake_of(assert_bijective, swizzled, element_bits=16).code == "SWZ802"
    assert mistake_of(assert_bijective, swizzled, size=8).code == "SWZ802"
    assert mistake_of(assert_bijective, swizzled, size=8, element_bits=4).code == "SWZ105"
    assert mistake_of(assert_bijective, swizzled, size=0, element_bits=8).code == "SWZ105"
    assert mistake_of(assert_bijective, swizzled, size=True, element_bits=8).code == "SWZ105"
    assert mistake_of(assert_bijective, swizzled, size=8, element_bits=8, base_align=16).code == "SWZ803"
    assert mistake_of(assert_contiguous, swizzled, size=8, element_bits=8, elements=4, mode=0).code == "SWZ803"
    assert mistake_of(assert_contiguous, swizzled, size=8, element_bits=8, elements=0).code == "SWZ105"
    assert mistake_of(assert_bijective, lambda i: -i, size=8, element_bits=8).code == "SWZ806"
    assert mistake_of(assert_bijective, lambda _: None, size=8, element_bits=8).code == "SWZ806"
    assert mistake_of(assert_bijective, "(8,64):(64,1)", size=512, element_bits=8).code == "SWZ803"


def test_two_functions_are_compared_lane_by_lane():
    verdict = assert_equivalent(lambda i: 2 * i, lambda i: i << 1, threads=64)
    assert verdict.reason == "checked exhaustively for 64 lanes, not proved for others"
    story = story_of(assert_equivalent, lambda i: i, lambda i: i if i != 5 else None, threads=8)
    assert "lane 5: the first gives 5, the second None" in story
    assert story_of(assert_equivalent, lambda _: None, lambda _: None, threads=8).startswith("vacuous: ")
    assert mistake_of(assert_equivalent, lambda i: i, lambda i: i).code == "SWZ802"
    assert mistake_of(assert_equivalent, lambda i: i, lambda i: i, threads=0).code == "SWZ105"
    assert mistake_of(assert_equivalent, lambda i: i, lambda i: i, threads=8, element_bits=16).code == "SWZ803"


def test_a_function_is_not_compared_with_a_layout():
    for pair in ((swizzled, "(8,64):(64,1)"), ("(8,64):(64,1)", swizzled)):
        error = mistake_of(assert_equivalent, *pair, element_bits=16)
        assert (error.code, "cannot be compared with a function" in error.message) == ("SWZ804", True)
    assert mistake_of(assert_equivalent, "8:1", "8:1", element_bits=16, threads=32).code == "SWZ803"


def test_loop_variables_are_arguments_of_their_names():
    seen = []

    def address(lane, k, s):
        seen.append((lane, k, s))
        return 4 * ((lane ^ s) + 32 * k)

    verdict = assert_conflict_free(address, loops={"k": range(0, 4, 2), "s": [1, 2, 4]}, **WORD)
    assert verdict.reason == "checked exhaustively for 32 lanes in 6 iterations, not proved for other bases"
    assert seen == [(lane, k, s) for k in (0, 2) for s in (1, 2, 4) for lane in range(32)]


def test_the_worst_iteration_is_found_and_named():
    def address(lane, k):
        return 4 * (lane + 32 * k * (lane % 2)) if k < 3 else 8 * lane

    with pytest.raises(AssertionError) as caught:
        assert_conflict_free(address, loops={"k": 4}, **WORD)
    assert "k = 3" in str(caught.value)
    assert assert_wavefronts(address, at_most=2, loops={"k": 4}, **WORD).measure.where == {"k": 3}


def test_several_warps_in_every_iteration():
    wide = {**WORD, "threads": 64}
    verdict = assert_wavefronts(lambda tid, k: 4 * tid * (1 + (tid >= 32) * k), at_most=4, loops={"k": [1, 3]}, **wide)
    assert verdict.measure.wavefronts == 4
    assert verdict.measure.where == {"warp": 1, "k": 3}
    assert "64 threads in 2 warps in 2 iterations" in verdict.reason


@pytest.mark.parametrize(
    ("function", "loops", "code", "said"),
    [
        (lambda lane: 4 * lane, {"k": 2}, "SWZ806", "does not take a lane and the loop variable k"),
        (lambda lane, k: 4 * lane + k, {}, "SWZ806", "does not take a lane and no loop variable"),
        (lambda lane, k: 4 * lane + k, {"j": 2}, "SWZ806", "does not take a lane and the loop variable j"),
        (lambda lane, k: 4 * lane + k, {"k": 0}, "SWZ105", "loop k has no iteration"),
        (lambda lane, k: 4 * lane + k, {"k": 1 << 16}, "SWZ105", "at most 1048576 calls"),
        (lambda lane, k: 4 * lane + k, {"k": 2.5}, "SWZ105", "neither an int nor a range"),
        (lambda lane, k: 4 * lane + k / 2, {"k": 2}, "SWZ806", "lane 0 at k = 0 has the address 0.0"),
    ],
)
def test_loops_that_a_function_cannot_have(function, loops, code, said):
    error = mistake_of(assert_conflict_free, function, loops=loops, **WORD)
    assert error.code == code
    assert said in error.message
    assert error.hint

"""Accesses, maps and claims made in Python: what the caller changes later, and what is no object of
the right kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
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
    Outcome,
    Permutation,
    Wavefronts,
)
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout
from swzverify.prover import prove
from swzverify.subjects import Access, IndexMap, Loop, Memory, MemoryBase, Tile
from swzverify.testing import assert_conflict_free

LOAD, CHIP = find_instruction("ld.shared.b32"), find_target("sm_90")
A = Tile("A", 32, Layout((8, 32), (32, 1)))


def access(**fields: Any) -> Access:
    given: dict[str, Any] = {"instruction": LOAD, "target": CHIP, "block": (32,), "address": parse("tid*PITCH")}
    given |= {"constants": {"PITCH": 4}}
    return Access("a", **(given | fields))


def test_constants_are_the_subject_s_own() -> None:
    """One dict, changed from call to call, as a loop over candidates does."""
    constants = {"PITCH": 4}
    first = access(constants=constants)
    index = IndexMap("m", (("x", 4),), (parse("x + PITCH"),), constants=constants)
    constants["PITCH"] = 128
    second = access(constants=constants)
    assert (first.constants["PITCH"], index.at({"x": 0})) == (4, (4,))
    assert prove(ConflictFree(first)).outcome is Outcome.PROVED
    assert prove(ConflictFree(second)).outcome is Outcome.REFUTED


def test_numpy_s_integers_are_integers() -> None:
    assert access(constants={"PITCH": np.int32(4)}).constants == {"PITCH": 4}


@pytest.mark.parametrize(
    ("fields", "code", "says"),
    [
        ({"loops": (Loop("tid", 0, 4),)}, "SWZ105", "'tid' has a meaning of its own"),
        ({"loops": (Loop("lane", 0, 4),)}, "SWZ105", "'lane' has a meaning of its own"),
        ({"loops": (Loop("stage", 0, 4),)}, "SWZ105", "'stage' has a meaning of its own"),
        ({"loops": (Loop("base", 0, 4),)}, "SWZ105", "'base' has a meaning of its own"),
        ({"loops": (Loop("k", 0, 4), Loop("k", 0, 8))}, "SWZ105", "'k' is another variable already"),
        ({"loops": (Loop("PITCH", 0, 4),)}, "SWZ105", "'PITCH' is a constant already"),
        ({"loops": (Loop("1k", 0, 4),)}, "SWZ105", "'1k' is not a name"),
        ({"constants": {"PITCH": 4.0}}, "SWZ202", "not an int"),
        ({"constants": {"PITCH": True}}, "SWZ202", "not an int"),
        ({"constants": {"PITCH": 4, "warp": 1}}, "SWZ105", "'warp' has a meaning of its own"),
        ({"instruction": "ld.shared.b32"}, "SWZ105", "'ld.shared.b32' (str) is no instruction"),
        ({"target": "sm_90"}, "SWZ105", "'sm_90' (str) is no target"),
        ({"address": "tid*4"}, "SWZ105", "'tid*4' (str) is no expression"),
        ({"predicate": "tid < 4"}, "SWZ105", "'tid < 4' (str) is no expression"),
        ({"address": None, "tile": "A", "coord": (parse("0"), parse("lane"))}, "SWZ105", "'A' (str) is no tile"),
        ({"loops": ("k",)}, "SWZ105", "'k' (str) is no loops"),
        ({"block": ("32",)}, "SWZ105", "'32' (str) is no block"),
        ({"block": ()}, "SWZ105", "a block of ()"),
    ],
)
def test_what_an_access_cannot_be_made_of(fields: dict[str, Any], code: str, says: str) -> None:
    with pytest.raises(SwzError) as caught:
        access(**fields)
    assert caught.value.code == code
    assert says in caught.value.message


CLAIMS = [
    Aligned,
    Bijective,
    ConflictFree,
    lambda it: Contiguous(it, 4),
    lambda it: Covers(it, A),
    lambda it: Covers(access(), it),
    Disjoint,
    lambda it: Disjoint(A, it),
    lambda it: Equivalent(it, A),
    lambda it: Equivalent(A, it),
    InBounds,
    Injective,
    Permutation,
    lambda it: Wavefronts(it, 4),
]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("what", ["A", 7, None])
def test_a_claim_is_of_objects(claim: Any, what: object) -> None:
    if what is None and claim is CLAIMS[7]:
        return  # a tile apart from itself: its stages
    with pytest.raises(SwzError, match="SWZ105") as caught:
        claim(what)
    assert repr(what) in caught.value.message


def test_only_claims_are_proved() -> None:
    with pytest.raises(SwzError, match="SWZ105"):
        prove("bijective: A")  # type: ignore[arg-type]


def test_memories_of_one_name_are_one_memory() -> None:
    places = [MemoryBase(Memory("smem", 4096, align), offset) for align, offset in ((1024, 0), (128, 1024))]
    first, other = (
        Tile(name, 32, Layout((8, 32), (32, 1)), base=base) for name, base in zip("AB", places, strict=True)
    )
    for claim in (lambda: Equivalent(first, other), lambda: prove(Disjoint(first, other))):
        with pytest.raises(SwzError, match="SWZ105") as caught:
            claim()
        assert "two memories are called smem" in caught.value.message


def test_a_function_of_a_part_of_a_warp_cannot_run_a_matrix_instruction() -> None:
    with pytest.raises(SwzError, match="SWZ406") as caught:
        assert_conflict_free(lambda lane: lane * 16, instruction="ldmatrix.x1", threads=8)
    assert "threads=32" in caught.value.hint


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 2**70, 1), (-(2**31) - 1, 0, 1), (2**32, None, 1), (0, 8, 2**32)]
)
def test_a_loop_over_what_no_integer_of_c_is(start: int, stop: int | None, step: int) -> None:
    with pytest.raises(SwzError, match="SWZ107"):
        Loop("k", start, stop, step)

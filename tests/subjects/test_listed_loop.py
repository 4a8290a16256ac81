"""Loops over listed values: which they are, what they say, and that every reading has the same
values.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.claims import Aligned, ConflictFree, Equivalent, Outcome
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir import integers as ints
from swzverify.ir.c_parse import parse
from swzverify.ir.evaluate import evaluate
from swzverify.prover import prove
from swzverify.subjects import Access, ListedLoop, Loop
from swzverify.subjects.listed_loop import AnyLoop, geometric, listed
from swzverify.testing import assert_conflict_free

LOAD, CHIP = find_instruction("ld.shared.b32"), find_target("sm_90")


def access(loop: AnyLoop, address: str = "(tid ^ s)*4", **fields: object) -> Access:
    return Access("a", LOAD, CHIP, (64,), loops=(loop,), address=parse(address), **fields)  # type: ignore[arg-type]


@given(st.lists(st.integers(-(2**31), 2**32 - 1), min_size=2, max_size=20, unique=True))
def test_every_reading_has_the_values(values: list[int]) -> None:
    loop = listed("s", values)
    assert loop.count is not None
    every = np.arange(loop.count, dtype=np.int64)
    wanted = sorted(values)
    assert [loop.value(i) for i in range(loop.count)] == wanted
    assert loop.values_at(every).tolist() == wanted
    assert [loop.iteration_of(value) for value in wanted] == every.tolist()
    lowered = loop.lowered(ints.named("s", loop.count))
    assert (lowered.low, lowered.high) == (wanted[0], wanted[-1])
    bits = 1 << lowered.bits.width
    found = [evaluate(lowered.bits, {"s": i}) for i in range(loop.count)]
    signed = [value - bits if lowered.low < 0 and 2 * value >= bits else value for value in found]
    assert signed == wanted
    steps = {b - a for a, b in pairwise(wanted)}
    assert isinstance(loop, Loop) == (len(steps) == 1 and max(*steps, wanted[-1] + 1) < 2**32)


@given(st.integers(1, 40), st.integers(-3, 5000), st.integers(2, 9))
def test_a_multiplying_loop_is_the_loop_of_c(start: int, stop: int, times: int) -> None:
    found, value = [], start
    while value < stop:
        found.append(value)
        value *= times
    loop = geometric("s", start, stop, times)
    assert [loop.value(i) for i in range(loop.count or 0)] == found


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: listed("s", []), "SWZ105"),
        (lambda: listed("s", [1, 2, 1]), "SWZ105"),
        (lambda: listed("s", [1, 2, 2**32]), "SWZ107"),
        (lambda: listed("s", [-(2**31) - 1, 2, 4]), "SWZ107"),
        (lambda: listed("s", [2**32 - 1]), "SWZ107"),
        (lambda: listed("s", [n * n for n in range(1025)]), "SWZ107"),
        (lambda: geometric("s", 0, 8, 2), "SWZ105"),
        (lambda: geometric("s", -1, 8, 2), "SWZ105"),
        (lambda: geometric("s", 1, 8, 1), "SWZ105"),
        (lambda: geometric("s", 1, 2**33, 2), "SWZ107"),
        (lambda: ListedLoop("s", (3, 1)), "SWZ105"),
        (lambda: ListedLoop("s", (3, 3)), "SWZ105"),
        (lambda: ListedLoop("s", (3,)), "SWZ105"),
        (lambda: ListedLoop("s", ()), "SWZ105"),
    ],
)
def test_what_is_no_loop_is_refused(make: object, code: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()  # type: ignore[operator]  # a function
    assert caught.value.code == code


def test_the_last_value_counts() -> None:
    """One value of many decides; a place, a binding and words name values, not iterations."""
    wide = access(listed("s", [1, 3, 9, 32]), "tid*s*4")
    verdict = prove(ConflictFree(wide))
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.binding["s"] == 32
    assert "s in 1, 3, 9, 32" in verdict.scope
    assert prove(ConflictFree(access(listed("s", [1, 3, 9, 33]), "tid*s*4"))).outcome is Outcome.PROVED
    assert prove(Aligned(access(listed("s", [4, 8, 20]), "s + tid*4"))).outcome is Outcome.PROVED
    assert prove(Aligned(access(listed("s", [4, 8, 22]), "s + tid*4"))).outcome is Outcome.REFUTED


@pytest.mark.parametrize(
    ("one", "other", "outcome"),
    [
        (listed("s", [1, 2, 4]), geometric("s", 1, 5, 2), Outcome.PROVED),
        (listed("s", [4, 1, 2]), listed("s", [1, 2, 4]), Outcome.PROVED),
        (listed("s", [2, 0, 4]), Loop("s", 0, 5, 2), Outcome.PROVED),
        (listed("s", [0]), Loop("s", 0, 1), Outcome.PROVED),
        (listed("s", [1, 2, 4]), listed("s", [1, 2, 8]), Outcome.REFUTED),
        (listed("s", [1, 2, 4]), listed("s", [1, 2]), Outcome.REFUTED),
        (listed("s", [1, 2, 4]), Loop("s", 1, 4), Outcome.REFUTED),
    ],
)
def test_loops_are_equal_by_their_values(one: AnyLoop, other: AnyLoop, outcome: Outcome) -> None:
    assert prove(Equivalent(access(one), access(other))).outcome is outcome


def test_a_long_list_is_told_in_short() -> None:
    loop = listed("s", [n * n for n in range(20)])
    assert loop.describe(20) == "s in 0, 1, 4, 9, 16, 25, ..., 361"


def test_assertions_take_lists() -> None:
    fixed: dict[str, Any] = {
        "instruction": "ld.shared.b32",
        "threads": 32,
        "coord": ["s", "lane*2"],
        "base_align": 1024,
    }
    assert_conflict_free("(64,64):(64,1)", element_bits=16, loops={"s": [1, 2, 8]}, **fixed)
    with pytest.raises(AssertionError):
        assert_conflict_free(
            "(64,64):(64,1)", element_bits=16, loops={"s": [1, 2, 8]}, **fixed | {"coord": ["lane", "s*2"]}
        )
    with pytest.raises(SwzError, match="SWZ105"):
        assert_conflict_free("(64,64):(64,1)", element_bits=16, loops={"s": [1, 2.0]}, **fixed)  # type: ignore[list-item]

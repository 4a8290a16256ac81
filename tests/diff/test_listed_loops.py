"""Loops over listed values in comparisons of two states: the same values are the same loop."""

from __future__ import annotations

import pytest

from swzverify.apps.diff.points import Cover, cover
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.subjects import Access, Loop
from swzverify.subjects.listed_loop import AnyLoop, geometric, listed

LOAD, CHIP = find_instruction("ld.shared.b32"), find_target("sm_90")


def access(loop: AnyLoop, predicate: str = "") -> Access:
    condition = parse(predicate) if predicate else None
    return Access("a", LOAD, CHIP, (32,), loops=(loop,), address=parse("(tid + s)*4"), predicate=condition)


@pytest.mark.parametrize(
    ("inner", "outer", "holds"),
    [
        (listed("s", [1, 2, 8]), listed("s", [8, 2, 1]), True),
        (listed("s", [1, 2, 8]), listed("s", [1, 2, 4, 8]), True),
        (listed("s", [1, 2, 4, 8]), listed("s", [1, 2, 8]), False),
        (listed("s", [1, 2, 8]), listed("s", [1, 2, 9]), False),
        (listed("s", [1, 2, 4]), geometric("s", 1, 5, 2), True),
        (geometric("s", 1, 9, 2), listed("s", [1, 2, 4]), False),
        (listed("s", [1, 2, 8]), Loop("s", 0, 9), True),
        (listed("s", [1, 2, 8]), Loop("s", 0, 8), False),
        (listed("s", [1, 2, 8]), Loop("s", 0, 9, 2), False),
        (Loop("s", 1, 3), listed("s", [1, 2, 8]), True),
        (Loop("s", 1, 4), listed("s", [1, 2, 8]), False),
        (Loop("s", 0, None), listed("s", [1, 2, 8]), False),
    ],
)
def test_what_is_left_out(inner: AnyLoop, outer: AnyLoop, holds: bool) -> None:
    assert cover(access(inner), access(outer)).holds is holds
    if inner.count is not None:
        assert cover(access(inner, "tid < s + 1"), access(outer, "tid <= s")).holds is holds


def test_a_point_that_is_left_out_has_its_value() -> None:
    found = cover(access(listed("s", [1, 2, 16]), "tid < 4"), access(listed("s", [1, 2, 9]), "tid < 5"))
    assert found == Cover(holds=False, note="values of s are left out")
    found = cover(access(listed("s", [1, 2, 16]), "tid < s"), access(listed("s", [1, 2, 9]), "tid < s"))
    assert found == Cover(holds=False, note="tid = 0, s = 16 is left out")

"""How often a warp executes an access at most: the trips of the loops around it."""

from __future__ import annotations

import pytest

from tests.scan.texts import last

LOOP = (
    "mov.u32 %r5, 0; L{0}: mad.lo.u32 %r20, %r1, 8, %r3; {1} add.u32 %r5, %r5, {2}; setp.lt.u32 %p1, %r5, {3};"
    " @%p1 bra L{0};"
)
LOAD = "ld.shared.u32 %r30, [%r20];"


def test_without_a_loop_it_is_once() -> None:
    assert last(f"mad.lo.u32 %r20, %r1, 8, %r3; {LOAD}").executions == 1


@pytest.mark.parametrize(("step", "end", "count"), [(1, 32, 32), (4, 32, 8), (5, 32, 7), (1, 1, 1), (1, 1000, 1000)])
def test_the_trips_of_a_loop(step: int, end: int, count: int) -> None:
    assert last(LOOP.format("A", LOAD, step, end)).executions == count


def test_nested_loops() -> None:
    inner = LOOP.format("B", LOAD, 1, 8).replace("%r5", "%r6").replace("%p1", "%p2")
    assert last(LOOP.format("A", inner, 1, 16)).executions == 128


def test_a_warp_executes_it_as_long_as_any_lane_does() -> None:
    """Lane 31 of the last warp makes most trips."""
    assert last(LOOP.format("A", LOAD, 1, "%r1"), (40, 1, 1)).executions == 39


def test_trips_that_a_parameter_decides_are_not_known() -> None:
    assert last(LOOP.format("A", LOAD, 1, "%r2")).executions is None
    inner = LOOP.format("B", LOAD, 1, "%r2").replace("%r5", "%r6").replace("%p1", "%p2")
    assert last(LOOP.format("A", inner, 1, 16)).executions is None


def test_behind_a_loop_it_is_once() -> None:
    assert last(LOOP.format("A", "", 1, "%r2") + LOAD).executions == 1

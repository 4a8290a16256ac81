"""Coverage by aligned blocks: the short cut says yes only where the general question would."""

from __future__ import annotations

import pytest

from swzverify.engines.obligations import Answer
from swzverify.engines.smt import SMT
from swzverify.ir.expr import var
from tests.engines import obligations as ob
from tests.engines.obligations import leaf

THREAD, CELL = var("t", 2), var("e", 3)


def _goal(address: ob.Map, reach: int, extent: int = 1, cells: int = 3) -> ob.Covers:
    cell = var("e", cells)
    return ob.covers((), (THREAD,), address, None, reach, (cell,), ob.times(leaf(cell), extent), extent, 1)


@pytest.mark.parametrize("flip", [False, True])
def test_a_range_that_starts_inside_a_block_meets_its_neighbour(flip: bool) -> None:
    # ranges 0..1 and 1..2 over elements 0, 1, 2: element 1 is touched twice, and 4 touches are
    # enough in number.
    address = ob.plus(ob.number(1), ob.times(leaf(THREAD), -1)) if flip else leaf(THREAD)
    assert SMT().decide(_goal(address, reach=2)).answer is Answer.FAILS


def test_an_element_that_straddles_two_blocks_is_touched_twice() -> None:
    # elements at 1..2 and 3..4, ranges 0..3 and 4..7: the second element meets both.
    cell = var("e", 2)
    position = ob.plus(ob.number(1), ob.times(leaf(cell), 2))
    goal = ob.covers((), (THREAD,), ob.times(leaf(THREAD), 4), None, 4, (cell,), position, 2, 1)
    assert SMT().decide(goal).answer is Answer.FAILS


def test_two_points_in_one_block_touch_twice() -> None:
    assert SMT().decide(_goal(ob.number(0), reach=2, cells=2)).answer is Answer.FAILS


@pytest.mark.parametrize(("reach", "extent", "cells"), [(2, 1, 4), (2, 2, 2), (1, 1, 2), (3, 3, 2), (3, 1, 6)])
def test_blocks_that_tile_the_elements_hold(reach: int, extent: int, cells: int) -> None:
    assert SMT().decide(_goal(ob.times(leaf(THREAD), reach), reach, extent, cells)).answer is Answer.HOLDS

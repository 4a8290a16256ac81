"""How many lanes can meet in one bank where it is not known which lanes make an access."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, either, less, widened
from swzverify.compiled.scan.asker import Possible
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.price import Array, Block, Mask
from swzverify.compiled.scan.samples import thread_values
from swzverify.compiled.scan.split import Parts
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES, Instruction
from swzverify.ir.expr import FALSE, Expr, conjunction, const, substitute, variables

_CELLS = 24
_UNDECIDED = 4
"""After so many cells without an answer no other one is asked."""


def reachable_ways(
    row: Instruction,
    block: Block,
    parts: Parts,
    addresses: Array,
    active: Mask,
    most: int,
    possible: Possible,
) -> int | None:
    """The most words of one bank in one group for some values in the guard; None if not decided."""
    cells = sorted(_cells(row, addresses, active), key=len, reverse=True)
    known = conjunction(known_of(variables(parts.other_guard), parts.leaves))
    whole = conjunction((parts.other_guard, known))

    @cache
    def guard(thread: int) -> Expr:
        return substitute(whole, thread_values(block, parts, thread, f"@{thread}")(whole))

    for ways in range(most, 1, -1):
        large = [cell for cell in cells if len(cell) >= ways]
        undecided = 0
        # One question for all cells would take memory by the number of them.
        for cell in large[:_CELLS]:
            answer = possible(_at_least(cell, ways, guard)).answer
            if answer is Answer.HOLDS:
                return ways
            undecided += answer is not Answer.EMPTY
            if undecided == _UNDECIDED:
                return None
        if undecided or len(large) > _CELLS:
            return None
    return 1


def _at_least(cell: list[list[int]], ways: int, guard: Callable[[int], Expr]) -> Expr:
    """Whether so many words of a cell are touched, each by one of its threads at least."""
    touched: list[Expr] = []
    for threads in cell:
        word: Expr = FALSE
        for thread in threads:
            word = either(word, guard(thread))
        touched.append(word)
    if len(touched) == ways:
        return conjunction(touched)
    total: Expr = const(0, 8)
    for word in touched:
        total = add(total, widened(word, 8))
    return less(const(ways - 1, 8), total, signed=False)


def _cells(row: Instruction, addresses: Array, active: Mask) -> list[list[list[int]]]:
    """Of each warp, group and bank the threads of each word; equal words apart where they count."""
    found: dict[tuple[int, int, int], dict[int, list[int]]] = {}
    for warp, lane in np.argwhere(active[:, : row.address_lanes]).tolist():
        place = int(addresses[warp, lane]) & 0xFFFFFFFF
        word = place // row.unit_bytes
        thread = warp * LANES + lane
        key = (warp, lane // row.group_lanes, word % row.slots)
        found.setdefault(key, {}).setdefault(thread if row.counts_equal_words else word, []).append(thread)
    return [list(words.values()) for words in found.values()]

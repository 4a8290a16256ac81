"""The verdict where lanes' distances are plain numbers.

How many lanes can meet in one bank where it is not known which lanes make an access.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, either, less, widened
from swzverify.compiled.scan.asker import Possible
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.price import Array, Block, Mask, Price, price
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.samples import thread_values
from swzverify.compiled.scan.split import Parts
from swzverify.compiled.scan.surely import NOT_SURE
from swzverify.compiled.scan.verdict import (
    EXHAUSTION,
    FAULTS,
    NOT_DECIDED,
    SAMPLES,
    Decision,
    DisagreementError,
    unknown,
)
from swzverify.engines.obligations import Answer
from swzverify.hardware import BANK_WORD_BYTES, LANES, Instruction
from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction, conjuncts, const, substitute, variables


def exact(question: Question) -> Decision:
    """The verdict where lanes' distances are plain numbers."""
    row, parts, block = question.row, question.parts, question.block
    active = block.exists if row.warp_wide else block.exists & (block.values(parts.own_guard, {}) != 0)
    # The addresses of the other lanes are not used: they may be anything.
    active = active & (np.arange(LANES) < row.address_lanes)
    if not active.any():
        return unknown("no thread of the block makes this access")
    addresses = block.values(parts.own, {}) + parts.shared.number
    aligned = _aligned(question, addresses, active)
    if aligned is None:
        return unknown(FAULTS)
    found = price(row, aligned, active)
    if found is None:
        return unknown("no lane with an address makes this access")
    if found.is_free or not (parts.other_guard is TRUE or row.warp_wide):
        guard = parts.own_guard if found.is_free else question.guard
        proof = question.cost(guard)
        if proof.answer is Answer.HOLDS:
            return question.free(proof, guard, found if found.is_free else None)
        if found.is_free:
            # With fewer lanes, by the other parts of the guard, it is free too.
            if proof.answer is Answer.FAILS:
                raise DisagreementError
            return unknown(NOT_DECIDED)
    sure = question.surely()
    if isinstance(sure, str):
        return unknown(sure)
    if sure.parts.other_guard is TRUE or row.warp_wide:
        return sure.conflict(found, aligned, active, found.ways)
    ways = reachable_ways(row, block, sure.parts, aligned, active, found.ways, question.possible)
    if ways is None:
        # Values for which all of these lanes come show what the SMT engine did not find.
        return _sampled(sure, found)
    if ways <= 1:
        return unknown(NOT_SURE)
    # Lanes that may come, and do not surely come, may give more.
    is_narrower = {*conjuncts(sure.parts.other_guard)} != {*conjuncts(parts.other_guard)}
    return sure.conflict(found, aligned, active, ways, at_least=ways < found.ways and is_narrower)


def _sampled(question: Question, found: Price) -> Decision:
    """A conflict of as many ways as all lanes together give, if some values let such lanes come."""
    sampled = question.sampled()
    if sampled is None or sampled.price.ways != found.ways:
        return unknown(NOT_DECIDED)
    shown = question.conflict(sampled.price, sampled.addresses, sampled.active, found.ways)
    if sampled.price.wavefronts != found.wavefronts:
        shown = replace(shown, wavefronts=None, minimum=None)
    return replace(shown, engines=(EXHAUSTION, SAMPLES))


def _aligned(question: Question, addresses: Array, active: Mask) -> Array | None:
    """Addresses as multiples of the width; None where no shared part can make all of them so."""
    width = question.row.width_bytes
    rest = addresses[active] % width
    if (rest != rest[0]).any():
        return None
    if width < BANK_WORD_BYTES:
        return addresses if rest[0] == 0 else None
    return addresses - rest[0]


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

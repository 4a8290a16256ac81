"""The verdict where lanes' distances are plain numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swzverify.compiled.scan.price import Array, Mask, Price, price
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.reach import reachable_ways
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
from swzverify.hardware import BANK_WORD_BYTES, LANES
from swzverify.ir.expr import TRUE, conjuncts


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

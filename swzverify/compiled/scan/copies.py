"""What the source of a copy changes of its cost, beside the octet rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from swzverify.compiled.scan.price import Block
from swzverify.compiled.scan.sources import ONE_LINE, sources_of
from swzverify.compiled.scan.split import Parts
from swzverify.compiled.scan.verdict import EXHAUSTION, Decision, Verdict, unknown
from swzverify.hardware import BANK_PERIOD_BYTES, Instruction
from swzverify.ir.expr import TRUE

SEVERAL_LINES: Final = "lanes of one group read several 128-byte lines: the cost of this for cp.async.ca is not known"
FILLED: Final = (
    "the size may be from 1 to 15: a copy that fills the rest with zeros (LDGSTS.ZFILL) takes twice the wavefronts"
)


def by_cache(decided: Decision, row: Instruction, parts: Parts, block: Block) -> Decision:
    """The verdict on `cp.async.ca`, from the destinations.

    Lanes conflict at the source too. The cost of several lines has a lower bound only.

    Source: measured on an H100, tests/data/README.md, h100_cp_async_sources.npz.
    """
    if decided.verdict is Verdict.UNKNOWN:
        return decided
    active = block.exists & (block.values(parts.own_guard, {}) != 0)
    sources = sources_of(block, parts, row.width_bytes, active)
    if sources is None:
        return replace(decided, assumes=(ONE_LINE,))
    slots = BANK_PERIOD_BYTES // row.width_bytes
    most, is_one_line = 1, True
    on = active.reshape(-1, row.group_lanes)
    for place in sources.places:
        at = (sources.offsets + place).reshape(on.shape)
        rows = sources.rows.reshape(on.shape)
        for lanes, here, numbers in zip(on, at, rows, strict=True):
            if not lanes.any():
                continue
            lines = {*zip(numbers[lanes].tolist(), (here[lanes] // BANK_PERIOD_BYTES).tolist(), strict=True)}
            is_one_line &= len(lines) == 1
            meet = numbers[lanes] * slots + here[lanes] // row.width_bytes % slots
            most = max(most, int(np.unique(meet, return_counts=True)[1].max()))
    if most == 1 and is_one_line:
        return replace(decided, assumes=(sources.assumes,) if sources.assumes else ())
    if decided.verdict is Verdict.CONFLICT:
        return replace(decided, at_least=True, wavefronts=None, minimum=None, is_of_source=True)
    if most > 1 and parts.other_guard is TRUE and parts.sure is not None and parts.is_together:
        reason = f"{most} lanes of one group read one place of 128-byte lines"
        return Decision(Verdict.CONFLICT, reason, most, at_least=True, engines=(EXHAUSTION,), is_of_source=True)
    return unknown(SEVERAL_LINES)


def filled(decided: Decision) -> Decision:
    """The verdict on a copy of 16 bytes that may write zeros for a part of them.

    Source: measured on an H100, docs/hardware.md: coalesced copies of 1 to 15 bytes take twice the
    wavefronts and twice the time.
    """
    if decided.verdict is Verdict.FREE and decided.wavefronts is not None and decided.minimum is not None:
        return replace(decided, reason=FILLED, wavefronts=2 * decided.wavefronts, minimum=2 * decided.minimum)
    return replace(decided, wavefronts=None, minimum=None, at_least=decided.verdict is Verdict.CONFLICT)

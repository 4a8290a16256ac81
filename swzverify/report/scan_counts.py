"""What counters say of one scanned access, as JSON and as lines of text."""

from __future__ import annotations

from typing import Any

from swzverify.compiled.scan.measured import Measured, Row
from swzverify.report.escape import visible
from swzverify.report.plain import members


def counts_record(found: Measured | None) -> dict[str, Any] | None:
    """The key `measured` of an access; None without counters."""
    if found is None:
        return None
    return {
        **members(found, "status", "reason"),
        "instructions": [
            {
                "sass": each.instruction.text,
                "offset_bytes": each.instruction.offset_bytes,
                **members(each.counts, "executed", "lanes", "wavefronts", "ideal"),
                "at_most": None if each.most is None else each.most * each.counts.executed,
            }
            for each in found.rows
        ],
    }


def counts_lines(found: Measured) -> list[str]:
    """The status, and a line for each machine instruction that was executed."""
    reason = f": {found.reason}" if found.reason else ""
    return [f"    counters: {found.status}{reason}", *(f"      {row_words(each)}" for each in found.rows)]


def row_words(row: Row) -> str:
    """What was counted of a machine instruction.

    >>> from swzverify.compiled.profiler import Counts
    >>> from swzverify.compiled.sass import SassInstruction, opcode_of
    >>> row = Row(SassInstruction("LDS", opcode_of("LDS"), 7, "LDS R1, [R2]", "k", 32), Counts(4, 8, 4), 1)
    >>> row_words(row)
    '0x0020 LDS R1, [R2]: 8 wavefronts of 4 executed, ideal 4, at most 4'
    """
    counts, instruction = row.counts, row.instruction
    words = f"{instruction.offset_bytes:#06x} {visible(instruction.text)}: "
    words += f"{counts.wavefronts} wavefronts of {counts.executed} executed"
    if counts.ideal is not None:
        words += f", ideal {counts.ideal}"
    return words if row.most is None else f"{words}, at most {row.most * counts.executed}"

"""What machine code makes of a scanned access, as JSON and as a line of text."""

from __future__ import annotations

from typing import Any, Final

from swzverify.compiled.scan import OnChip, Relation, ScannedAccess, Verdict
from swzverify.compiled.scan.verdict import Decision
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.plain import members

NO_KERNEL: Final = "the machine code has no kernel of this name"


def decision_words(decision: Decision) -> str:
    """The verdict with the ways of a conflict, and the wavefronts where they are known.

    >>> decision_words(Decision(Verdict.CONFLICT, ways=4, at_least=True))
    'conflict: at least 4-way'
    >>> decision_words(Decision(Verdict.FREE, wavefronts=1, minimum=1))
    'free, 1 wavefront (minimum 1)'
    """
    words = decision.verdict.value
    if decision.verdict in (Verdict.CONFLICT, Verdict.DEPENDS) and decision.ways is not None:
        words += f": {'at least ' if decision.at_least else ''}{decision.ways}-way"
    if decision.wavefronts is not None:
        words += f", {counted(decision.wavefronts, 'wavefront')} (minimum {decision.minimum})"
    return words


def verdict_word(verdict: Verdict) -> str | None:
    """A verdict on bank conflicts as programs read it; None for a bulk copy, which has none."""
    return None if verdict is Verdict.BULK else verdict.value


def decision_record(decision: Decision) -> dict[str, Any]:
    """The keys of a verdict that the PTX and the machine code both have."""
    return {"verdict": verdict_word(decision.verdict), **members(decision, "ways", "at_least", "wavefronts", "minimum")}


def chip_record(access: ScannedAccess, reason: str) -> dict[str, Any]:
    """The keys `sass` and `sass_reason`; `reason` says why a file has no machine code."""
    chip = access.chip
    if chip is None:
        return {"sass": None, "sass_reason": reason or NO_KERNEL}
    found = {
        "instructions": [
            {"opcode": each.name, "width_bits": each.opcode.width_bits, "count": count}
            for each, count in chip.instructions
        ],
        **members(chip, "relation", "lines"),
        **decision_record(access.decision if access.decision.verdict is Verdict.BULK else chip.decision),
    }
    return {"sass": found, "sass_reason": chip.decision.reason}


def differs(access: ScannedAccess) -> bool:
    """Whether the chip's verdict or its instructions are not those of the PTX."""
    chip = access.chip
    if chip is None:
        return False
    if chip.decision.verdict is Verdict.UNKNOWN and access.decision.verdict in (Verdict.UNKNOWN, Verdict.BULK):
        return False
    return chip.relation is not Relation.SAME or chip.decision.verdict is not access.decision.verdict


def chip_words(chip: OnChip) -> str:
    """What an access became, and what that costs."""
    words = visible(chip.words)
    if chip.relation is Relation.MERGED:
        words = f"merged into {words}"
        if chip.lines:
            words += f" (lines {', '.join(map(str, chip.lines))})"
    reason = f" ({visible(chip.decision.reason)})" if chip.decision.reason else ""
    return f"on the chip: {words}: {decision_words(chip.decision)}{reason}"

"""The balance of pipeline stages as lines of text: what barrier objects expect, and what operands can read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from swzverify.compiled.scan import ClaimVerdict, ScannedStage
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.source_line import source_line

_MOST_SHOWN: Final = 3


def stage_summary(stages: Sequence[ScannedStage]) -> list[str]:
    """How many stages have each verdict."""
    if not stages:
        return []
    verdicts = Counter(each.claim.verdict for each in stages)
    words = ", ".join(f"{verdicts[each]} {each}" for each in ClaimVerdict if verdicts[each])
    return [f"balance of {counted(len(stages), 'barrier expectation')}: {words}"]


def stage_lines(file: ScannedFile, stages: Sequence[ScannedStage]) -> list[str]:
    """A line for each source line and verdict."""
    alike: dict[tuple[object, ...], list[ScannedStage]] = {}
    for each in stages:
        source = source_line(each.location, file.sources)
        where = each.line if source is None else source.words
        alike.setdefault((where, each.expects, each.brings, each.reads, each.claim), []).append(each)
    found: list[str] = []
    for members in alike.values():
        first = members[0]
        lines = [str(each.line) for each in members]
        more = f" and {len(lines) - _MOST_SHOWN} more" if len(lines) > _MOST_SHOWN else ""
        words = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:_MOST_SHOWN])}{more}"
        source = source_line(first.location, file.sources)
        if source is not None:
            words = f"{visible(source.words)} (PTX {words})"
        found.append(f"  {words}: {visible(_told(first))}")
    return found


def _told(stage: ScannedStage) -> str:
    """What is known of the bytes of a stage, and the verdict."""
    expects = "unknown" if stage.expects is None else stage.expects
    parts = [f"the barrier object expects {expects} bytes"]
    if stage.brings is not None:
        parts.append(f"copies bring {stage.brings}")
    if stage.reads is not None:
        parts.append(f"operands can read {stage.reads}")
    reason = f": {stage.claim.reason}" if stage.claim.reason else ""
    return f"{', '.join(parts)}: balance {stage.claim.verdict}{reason}"

"""What the tensor core reads, as lines of text: a block for each source line.

The balance of pipeline stages follows: what barrier objects expect, and what operands can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from swzverify.compiled.scan import AnyOperand, ClaimVerdict, ScannedFragment, ScannedStage
from swzverify.core.words import counted
from swzverify.hardware.tensor_cores import Family
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.source_line import source_line

_MOST_SHOWN: Final = 3


def operand_summary(operands: Sequence[AnyOperand]) -> list[str]:
    """How many operands have all fields, and how many have each verdict of each claim; a line for each family."""
    fragments = [each for each in operands if isinstance(each, ScannedFragment)]
    described = [each for each in operands if not isinstance(each, ScannedFragment)]
    of_families = {family: [each for each in described if each.opcode.startswith(family.value)] for family in Family}
    return [
        *(line for family, own in of_families.items() for line in _summary(own, family.value, "with all fields known")),
        *_summary(fragments, "mma.sync", "with places known"),
    ]


def _summary(operands: Sequence[AnyOperand], name: str, known: str) -> Iterator[str]:
    if not operands:
        return
    whole = sum(not each.fields.unknown for each in operands)
    words = [f"{counted(len(operands), 'operand')} of {name}: {whole} {known}"]
    for kind in operands[0].kinds:
        verdicts = Counter(each.claim(kind.kind).verdict for each in operands)
        words.append(
            f"{kind.adjective}: {', '.join(f'{verdicts[each]} {each}' for each in ClaimVerdict if verdicts[each])}"
        )
    yield "; ".join(words)


def operand_lines(file: ScannedFile, operands: Sequence[AnyOperand]) -> list[str]:
    """A block for each source line and instruction, with a line for each layout of A and of B."""
    blocks: dict[tuple[object, ...], list[AnyOperand]] = {}
    for each in operands:
        source = source_line(each.location, file.sources)
        blocks.setdefault((each.line if source is None else source.chain, each.opcode), []).append(each)
    return [line for members in blocks.values() for line in _block(file, members)]


def _block(file: ScannedFile, members: Sequence[AnyOperand]) -> list[str]:
    first = members[0]
    lines = list(dict.fromkeys(each.line for each in members))
    words = f"line {lines[0]}" if len(lines) == 1 else f"lines {_some([str(each) for each in lines])}"
    source = source_line(first.location, file.sources)
    if source is not None:
        words = f"{visible(source.words)} (PTX {words})"
    found = [f"  {words}: {visible(first.opcode)}"]
    layouts: dict[str, list[AnyOperand]] = {}
    for each in members:
        layouts.setdefault(_layout(each), []).append(each)
    for layout, alike in layouts.items():
        starts = list(dict.fromkeys(each.address for each in alike if each.address))
        found.append(f"    {layout}" + (f"; start {visible(_some(starts))}" if starts else ""))
        found += _elements(alike)
    reasons: Counter[str] = Counter()
    for each in members:
        claims = dict(zip(each.kinds, each.claims, strict=True))
        told = {claim.reason for claim in claims.values()}
        # Of a fragment whose registers are not followed, the claim has the same reason.
        for name, why in each.fields.unknown.items():
            reasons[f"{name}: unknown: {why}"] += not (isinstance(each, ScannedFragment) and why in told)
        for kind, claim in claims.items():
            if claim.is_broken:
                reasons[f"not {kind.adjective}: operand {each.fields.role}: {claim.reason}"] += 1
            elif claim.verdict is ClaimVerdict.UNKNOWN:
                reasons[f"{kind.adjective}: unknown: {claim.reason}"] += 1
    assumed = dict.fromkeys(each for member in members for claim in member.claims for each in claim.assumptions)
    in_head = (first.assumed_block, *file.applied.get(first.kernel, ()))
    found += [f"    assumed: {visible(each)}" for each in assumed if each not in in_head]
    for reason, count in (+reasons).items():
        found.append(f"    {visible(reason)}" + (f" ({counted(count, 'operand')})" if count > 1 else ""))
    return found


def _elements(operands: Sequence[AnyOperand]) -> list[str]:
    """Where the elements of operands come from: those of the one that starts first along K, and all starts."""
    known = [each.elements for each in operands if each.elements is not None and each.elements.k is not None]
    if not known:
        return []
    lowest = min(known, key=lambda each: (each.k or 0, each.first))
    line, first = lowest.first[0]
    starts = ", ".join(map(str, sorted({each.k or 0 for each in known})))
    row, column = (f"({each})" if " " in each else each for each in (lowest.row, lowest.column))
    steps = "k" if lowest.order is None else f"{list(lowest.order)}[k]"
    words = f"element (r, k) from {first} + r*{row} + {steps}*{column}"
    return [f"      {visible(words)} (line {line}); k from {starts}"]


def _layout(operand: AnyOperand) -> str:
    """The fields of a descriptor, or the map of a fragment, but for the start address."""
    if isinstance(operand, ScannedFragment):
        places = operand.fields
        if places.row is None:
            return f"{places.role}: no places known"
        swizzle = "" if places.swizzle is None else f", {places.swizzle}"
        return f"{places.role}: {places.row} bytes a row, {places.column} along K{swizzle}"
    fields = operand.fields
    unread = " (not read)" if fields.reads_lbo is False else ""
    named = (
        ("swizzle", fields.swizzle, ""),
        ("LBO", fields.lbo, unread),
        ("SBO", fields.sbo, ""),
        ("base offset", fields.base_offset, ""),
    )
    major = "unknown major" if fields.major is None else f"{fields.major}-major"
    if operand.opcode.startswith(Family.TCGEN05.value):
        major = f"{fields.shape or 'unknown shape'}, {major}"
    return ", ".join([f"{fields.role}: {major}", *(f"{name} {_known(value)}{more}" for name, value, more in named)])


def _known(value: int | str | None) -> str:
    return "unknown" if value is None else str(value)


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_SHOWN
    return ", ".join(words[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")


_MOST_STAGES: Final = 3


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
        more = f" and {len(lines) - _MOST_STAGES} more" if len(lines) > _MOST_STAGES else ""
        words = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines[:_MOST_STAGES])}{more}"
        source = source_line(first.location, file.sources)
        if source is not None:
            words = f"{visible(source.words)} (PTX {words})"
        found.append(f"  {words}: {visible(_stage_text(first))}")
    return found


def _stage_text(stage: ScannedStage) -> str:
    """What is known of the bytes of a stage, and the verdict."""
    expects = "unknown" if stage.expects is None else stage.expects
    parts = [f"the barrier object expects {expects} bytes"]
    if stage.brings is not None:
        parts.append(f"copies bring {stage.brings}")
    if stage.reads is not None:
        parts.append(f"operands can read {stage.reads}")
    reason = f": {stage.claim.reason}" if stage.claim.reason else ""
    return f"{', '.join(parts)}: balance {stage.claim.verdict}{reason}"

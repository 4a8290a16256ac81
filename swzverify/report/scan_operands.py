"""What the tensor core reads by matrix descriptors, as lines of text: a block for each source line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from swzverify.compiled.kinds import OPERAND_CLAIMS
from swzverify.compiled.scan import ClaimVerdict, ScannedOperand
from swzverify.compiled.scan.filled import NO_GAPS
from swzverify.compiled.scan.products import NO_WRAP
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.scan import ScannedFile
from swzverify.report.source_line import source_line

_MOST_SHOWN: Final = 3


def operand_summary(operands: Sequence[ScannedOperand]) -> list[str]:
    """How many operands have all fields, and how many have each verdict of each claim."""
    if not operands:
        return []
    whole = sum(not each.fields.unknown for each in operands)
    words = [f"{counted(len(operands), 'operand')} of wgmma: {whole} with all fields known"]
    for place, kind in enumerate(OPERAND_CLAIMS):
        verdicts = Counter(each.claims[place].verdict for each in operands)
        words.append(
            f"{kind.adjective}: {', '.join(f'{verdicts[each]} {each}' for each in ClaimVerdict if verdicts[each])}"
        )
    return ["; ".join(words)]


def operand_lines(file: ScannedFile, operands: Sequence[ScannedOperand]) -> list[str]:
    """A block for each source line and instruction, with a line for each layout of A and of B."""
    blocks: dict[tuple[object, ...], list[ScannedOperand]] = {}
    for each in operands:
        source = source_line(each.location, file.sources)
        blocks.setdefault((each.line if source is None else source.chain, each.opcode), []).append(each)
    return [line for members in blocks.values() for line in _block(file, members)]


def _block(file: ScannedFile, members: Sequence[ScannedOperand]) -> list[str]:
    first = members[0]
    lines = list(dict.fromkeys(each.line for each in members))
    words = f"line {lines[0]}" if len(lines) == 1 else f"lines {_some([str(each) for each in lines])}"
    source = source_line(first.location, file.sources)
    if source is not None:
        words = f"{visible(source.words)} (PTX {words})"
    found = [f"  {words}: {visible(first.opcode)}"]
    layouts: dict[str, list[ScannedOperand]] = {}
    for each in members:
        layouts.setdefault(_layout(each), []).append(each)
    for layout, alike in layouts.items():
        starts = list(dict.fromkeys(each.address for each in alike if each.address))
        found.append(f"    {layout}" + (f"; start {visible(_some(starts))}" if starts else ""))
        found += _elements(alike)
    reasons = Counter(f"{name}: unknown: {why}" for each in members for name, why in each.fields.unknown.items())
    for each in members:
        for kind, claim in zip(OPERAND_CLAIMS, each.claims, strict=True):
            if claim.is_broken:
                reasons[f"not {kind.adjective}: operand {each.fields.role}: {claim.reason}"] += 1
            elif claim.verdict is ClaimVerdict.UNKNOWN:
                reasons[f"{kind.adjective}: unknown: {claim.reason}"] += 1
    assumed = {each for member in members for each in member.claim("delivers").assumptions}
    found += [f"    assumed: {each}" for each in (NO_WRAP, NO_GAPS) if each in assumed]
    for reason, count in reasons.items():
        found.append(f"    {visible(reason)}" + (f" ({counted(count, 'operand')})" if count > 1 else ""))
    return found


def _elements(operands: Sequence[ScannedOperand]) -> list[str]:
    """Where the elements of operands come from: those of the one that starts first along K, and all starts."""
    known = [each.elements for each in operands if each.elements is not None and each.elements.k is not None]
    if not known:
        return []
    lowest = min(known, key=lambda each: (each.k or 0, each.first))
    line, first = lowest.first[0]
    starts = ", ".join(map(str, sorted({each.k or 0 for each in known})))
    row, column = (f"({each})" if " " in each else each for each in (lowest.row, lowest.column))
    return [f"      {visible(f'element (r, k) from {first} + r*{row} + k*{column}')} (line {line}); k from {starts}"]


def _layout(operand: ScannedOperand) -> str:
    """The fields of a descriptor but for the start address."""
    fields = operand.fields
    unread = " (not read)" if fields.reads_lbo is False else ""
    named = (
        ("swizzle", fields.swizzle, ""),
        ("LBO", fields.lbo, unread),
        ("SBO", fields.sbo, ""),
        ("base offset", fields.base_offset, ""),
    )
    major = "unknown major" if fields.major is None else f"{fields.major}-major"
    return ", ".join([f"{fields.role}: {major}", *(f"{name} {_known(value)}{more}" for name, value, more in named)])


def _known(value: int | str | None) -> str:
    return "unknown" if value is None else str(value)


def _some(words: Sequence[str]) -> str:
    more = len(words) - _MOST_SHOWN
    return ", ".join(words[:_MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")

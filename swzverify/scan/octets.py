"""The verdict by the octet rule, at every place that the shared part of the address may give."""

from __future__ import annotations

from swzverify.hardware import BANK_PERIOD_BYTES
from swzverify.scan.price import Price, price
from swzverify.scan.question import Array, Question
from swzverify.scan.split import is_shared, power_of
from swzverify.scan.verdict import COUNTING, FAULTS, Decision, Verdict, unknown


def octets(question: Question) -> Decision:
    """The verdict by the octet rule: at every place that the shared part may give."""
    row, parts, block = question.row, question.parts, question.block
    if not parts.is_exact:
        return unknown("this instruction has a rule of its own, decided only where lanes' distances are numbers")
    if any(not is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
        return unknown("this instruction has a rule of its own, decided only where it is known which lanes make it")
    active = block.exists & (block.values(parts.own_guard, {}) != 0)
    if not active.any():
        return unknown("no thread of the block makes this access")
    step = BANK_PERIOD_BYTES
    for term, factor in parts.shared.terms.items():
        step = min(step, (factor & -factor) * power_of(term))
    own = block.values(parts.own, {}) + parts.shared.number
    prices: list[tuple[Price, Array]] = []
    for shift in range(0, BANK_PERIOD_BYTES, step):
        moved = own + shift
        if not (moved[active] % row.width_bytes).any():
            found = price(row, moved, active)
            if found is not None:
                prices.append((found, moved))
    if not prices:
        return unknown(FAULTS)
    if all(found.is_free for found, _ in prices):
        found = prices[0][0]
        return Decision(Verdict.FREE, "", 1, found.wavefronts, found.minimum, engines=(COUNTING,))
    if any(found.is_free for found, _ in prices):
        return unknown("its cost depends on where the shared array begins")
    found, moved = min(prices, key=lambda each: each[0].ways)
    return question.conflict(found, moved, active, found.ways, at_least=len({each.ways for each, _ in prices}) > 1)

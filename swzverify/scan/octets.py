"""The verdict by the octet rule, at every place that the shared part of the address may give.

The cost of an octet is not monotone in its lanes: one lane of a pair alone takes another wavefront
than the pair. Nor is the cost of a warp monotone in its octets where two of them write to one
place: only the lower one writes. So a guard is decided only if it lets the lanes of an octet
through together, and no two octets meet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from swzverify.hardware import BANK_PERIOD_BYTES, CHUNKS_PER_LINE, LANES
from swzverify.ir.expr import TRUE, Expr, Extend, conjunction, operands, substitute, variables
from swzverify.kernel import Kind, Leaf
from swzverify.kernel.powers import power_of_terms
from swzverify.obligations import Answer
from swzverify.scan.collide import known_of, octet_parts
from swzverify.scan.price import Array, Mask, Price, price
from swzverify.scan.question import Question
from swzverify.scan.samples import thread_values
from swzverify.scan.spell import spell_leaf
from swzverify.scan.split import is_shared
from swzverify.scan.verdict import COUNTING, FAULTS, Decision, Verdict, unknown

SPLIT: Final = (
    "this instruction has a rule of its own, decided only where the lanes of an octet make it together, or not at all,"
    " and write to places of their own"
)


def octets(question: Question) -> Decision:
    """The verdict by the octet rule. Where lanes leave a loop at different trips, some of an octet
    come without the others in the later ones, and may cost more than all of them.
    """
    found = _of_whole_octets(question)
    if all(loop.is_uniform for loop in question.loops) or found.verdict is Verdict.UNKNOWN:
        return found
    return replace(found, at_least=True) if found.verdict is Verdict.CONFLICT else unknown(SPLIT)


def _of_whole_octets(question: Question) -> Decision:
    """The verdict at every place that the shared part may give, if the lanes of an octet stay
    together.
    """
    row, parts, block = question.row, question.parts, question.block
    if not parts.is_exact:
        return unknown("this instruction has a rule of its own, decided only where lanes' distances are numbers")
    if parts.sure is None or not parts.is_together:
        # Fewer lanes than the guard lets through may cost more.
        return unknown(SPLIT)
    active = block.exists & (block.values(parts.own_guard, {}) != 0)
    if not active.any():
        return unknown("no thread of the block makes this access")
    if not _come_together(question, active):
        return unknown(SPLIT)
    step = power_of_terms(parts.shared.terms, BANK_PERIOD_BYTES)
    own = block.values(parts.own, {}) + parts.shared.number
    prices: list[_Placed] = []
    for shift in range(0, BANK_PERIOD_BYTES, step):
        moved = own + shift
        if not (moved[active] % row.width_bytes).any():
            found = price(row, moved, active)
            if found is not None:
                prices.append(_Placed(shift, found, moved))
    if not prices:
        return unknown(FAULTS)
    if all(each.price.is_free for each in prices):
        found = prices[0].price
        return Decision(Verdict.FREE, "", 1, found.wavefronts, found.minimum, engines=(COUNTING,))
    sure = question.surely()
    if isinstance(sure, str):
        return unknown(sure)
    if not all(_can_come(sure, each, active) for each in prices if not each.price.is_free):
        return unknown(SPLIT)
    if any(each.price.is_free for each in prices):
        return _by_array(question, active, prices)
    least = min(prices, key=lambda each: each.price.ways)
    at_least = len({each.price.ways for each in prices}) > 1
    return question.conflict(least.price, least.addresses, active, least.price.ways, at_least=at_least)


def _come_together(question: Question, active: Mask) -> bool:
    """Whether all lanes of an octet that exist make the access, or none: whatever the rest of the
    guard reads. An octet counts by itself where no other one of its warp writes to the same places,
    so that with fewer octets what is free stays free.
    """
    parts, block = question.parts, question.block
    if all(is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
        return True
    if any(leaf.kind is not Kind.LANE and not is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
        return False
    if _meet(block.values(parts.own, {}), active):
        return False
    return _are_alike(question, active) or question.possible(octet_parts(block.shape, parts)).answer is Answer.EMPTY


def _are_alike(question: Question, active: Mask) -> bool:
    """Whether all that the rest of the guard reads of lanes is the same for all lanes of an octet."""
    lanes = active.reshape(-1, CHUNKS_PER_LINE)
    first = np.argmax(lanes, axis=1)[:, None]
    for value in _of_lanes_alone(question, question.parts.other_guard):
        octets = question.block.values(value, {}).reshape(lanes.shape)
        if (lanes & (octets != np.take_along_axis(octets, first, axis=1))).any():
            return False
    return True


def _meet(addresses: Array, active: Mask) -> bool:
    """Whether lanes of two octets of a warp write to one place: only the lowest of them copies."""
    octets = np.arange(LANES) // CHUNKS_PER_LINE
    same = (addresses[:, :, None] == addresses[:, None, :]) & active[:, :, None] & active[:, None, :]
    return bool((same & (octets[:, None] != octets[None, :])).any())


def _of_lanes_alone(question: Question, root: Expr) -> list[Expr]:
    """The largest parts of an expression that read the thread's coordinates and nothing else."""
    found: dict[Expr, None] = {}
    pending, met = [root], set[Expr]()
    while pending:
        node = pending.pop()
        if node in met:
            continue
        met.add(node)
        kinds = {leaf.kind for leaf in question.parts.leaves_of(node)}
        if kinds == {Kind.LANE}:
            found[node] = None
        elif Kind.LANE in kinds:
            pending += operands(node)
    return list(found)


def _can_come(question: Question, placed: _Placed, active: Mask) -> bool:
    """Whether all lanes of the warp that costs most can make the access in one warp instruction."""
    parts, block = question.parts, question.block
    if parts.other_guard is TRUE:
        return True
    whole = conjunction((parts.other_guard, *known_of(variables(parts.other_guard), parts.leaves)))
    octets = active[placed.price.worst].reshape(-1, CHUNKS_PER_LINE)
    first = placed.price.worst * LANES + np.arange(0, LANES, CHUNKS_PER_LINE) + np.argmax(octets, axis=1)
    came: list[Expr] = []
    for thread in first[octets.any(axis=1)].tolist():
        new = thread_values(block, parts, thread, f"@{thread}")
        came.append(substitute(whole, new(whole)))
    return question.possible(conjunction(dict.fromkeys(came))).answer is Answer.HOLDS


@dataclass(frozen=True, slots=True)
class _Placed:
    """The price of the access where the shared part is `shift` modulo 128 bytes."""

    shift: int
    price: Price
    addresses: Array


def _by_array(question: Question, active: Mask, prices: list[_Placed]) -> Decision:
    """The verdict where the shared part decides: it is one where this is the place of an array."""
    array = _array_that_moves(question)
    if array is None:
        return unknown("its cost depends on what all lanes add to their addresses, modulo 128 bytes")
    name = spell_leaf(array)
    free = {each.shift for each in prices if each.price.is_free}
    multiple = next((each for each in (32, 64, 128) if all(shift in free for shift in range(0, 128, each))), None)
    where = f"a multiple of {multiple}" if multiple else f"{', '.join(map(str, sorted(free)))} modulo 128"
    worst = max(prices, key=lambda each: each.price.ways)
    shown = question.conflict(worst.price, worst.addresses, active, worst.price.ways)
    reason = f"free where {name} begins at {where}; PTX says a multiple of {array.multiple}"
    return replace(shown, verdict=Verdict.DEPENDS, reason=reason, parameters=(name,))


def _array_that_moves(question: Question) -> Leaf | None:
    """The array, if its begin is the only unknown of the shared part modulo 128 bytes."""
    shared, leaves = question.parts.shared, question.parts.leaves
    open_terms = [
        (term, factor) for term, factor in shared.terms.items() if power_of_terms({term: factor}) < BANK_PERIOD_BYTES
    ]
    if len(open_terms) != 1:
        return None
    (term, factor), read = open_terms[0], variables(open_terms[0][0])
    while isinstance(term, Extend):
        term = term.operand
    leaf = leaves[read[0].name] if len(read) == 1 and term is read[0] else None
    return leaf if leaf is not None and leaf.symbol is not None and factor == leaf.multiple else None

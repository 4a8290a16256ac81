"""The verdict by the octet rule, at every place that the shared part of the address may give.

The cost of an octet is not monotone in its lanes: one lane of a pair alone takes another wavefront
than the pair. Nor is the cost of a warp monotone in its octets where two of them write to one
place: only the lower one writes. So a guard that may part the lanes of an octet is decided only if
no two octets meet. Then each octet counts by itself: the access is free if every set of lanes that
may come is free, and it conflicts if all lanes that coordinates let through can come, and conflict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from swzverify.compiled.kernel import ArrayLeaf, LaneLeaf
from swzverify.compiled.kernel.powers import power_of_terms
from swzverify.compiled.scan.collide import known_of, octet_parts
from swzverify.compiled.scan.price import Array, Mask, Price, are_coalesced, price, price_of_copies
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.samples import thread_values
from swzverify.compiled.scan.sources import ONE_LINE, Sources, are_alike, octets_share, rows_of, sources_of
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.split import is_shared
from swzverify.compiled.scan.verdict import EXHAUSTION, FAULTS, Decision, DisagreementError, Verdict, unknown
from swzverify.engines.obligations import Answer
from swzverify.hardware import BANK_PERIOD_BYTES, CHUNKS_PER_LINE, LANES
from swzverify.ir.expr import TRUE, Expr, Extend, conjunction, substitute, variables

SPLIT: Final = (
    "this instruction has a rule of its own, decided only where the lanes of an octet make it together, or not at all,"
    " and write to places of their own"
)
FEWER: Final = (
    "it is free where the lanes of each octet make it together, and takes more where some of them make it alone"
)

ANY_PLACE: Final = (
    "its cost depends on where in a 128-byte line of global memory it reads, which loops and blocks change"
)
READ_TWICE: Final = "several lanes read the same 16 bytes: only bounds on the cost are known"


def octets(question: Question) -> Decision:
    """The verdict by the octet rule, at every possible place of the shared part.

    If lanes leave a loop in different trips, only some lanes of an octet execute the later trips.
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
    together = _leave_together(question) and _come_together(question, active)
    if not together and octets_share(block.values(parts.own, {}), active):
        return unknown(SPLIT)
    fewer = () if together else _fewer_lanes(question, active)
    sources = sources_of(block, parts, row.width_bytes, active)
    if sources is None:
        return _assuming(_at_places(question, active, None, fewer), ONE_LINE)
    if (anywhere := sources.at_any_place()) is not None:
        found = _at_places(question, active, anywhere, fewer)
        if found.verdict is Verdict.FREE:
            return found
    return _assuming(_at_places(question, active, sources, fewer), sources.assumes)


def _leave_together(question: Question) -> bool:
    """Whether the lanes of a warp leave each loop around at one trip."""
    return all(loop.is_uniform for loop in question.loops)


def _fewer_lanes(question: Question, active: Mask) -> tuple[Mask, ...]:
    """Each set of lanes that the guard may let through, if some lanes of each octet do not come.

    Lanes for which the guard reads the same values come together.
    """
    parts, block = question.parts, question.block
    own = any(not isinstance(leaf, LaneLeaf) and not is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard))
    own = own or not _leave_together(question)
    octets = np.arange(LANES).reshape(-1, CHUNKS_PER_LINE)
    place = np.broadcast_to(np.arange(LANES) % CHUNKS_PER_LINE, active.shape)
    if not own:
        rows = rows_of(block, parts, parts.other_guard)[:, octets]
        same = rows[..., :, None] == rows[..., None, :]
        place = same.argmax(axis=-1).reshape(active.shape)  # the first lane of the octet with the same
    return tuple(active & ((each >> place) & 1 == 1) for each in range(1, (1 << CHUNKS_PER_LINE) - 1))


def _assuming(found: Decision, text: str) -> Decision:
    """A verdict with what it takes for granted, or what a launch may make of it."""
    if not text:
        return found
    if found.if_made is not None:
        return replace(found, if_made=replace(found.if_made, assumes=(text,)))
    return found if found.verdict is Verdict.UNKNOWN else replace(found, assumes=(text,))


def _at_places(question: Question, active: Mask, sources: Sources | None, fewer: Sequence[Mask]) -> Decision:
    """The verdict at every possible place of the shared parts of the address and of the source.

    The `active` lanes make the access, or one of some sets of fewer lanes.
    """
    row, parts, block = question.row, question.parts, question.block
    step = power_of_terms(parts.shared.terms, BANK_PERIOD_BYTES)
    own = block.values(parts.own, {}) + parts.shared.number
    reads = (None,) if sources is None else tuple(map(sources.chunks, sources.places))
    prices: list[_Placed] = []
    for shift in range(0, BANK_PERIOD_BYTES, step):
        moved = own + shift
        if (moved[active] % row.width_bytes).any():
            continue
        found = [
            price(row, moved, active) if read is None else price_of_copies(row, moved, active, read) for read in reads
        ]
        known = [each for each in found if each is not None]
        if not known:
            continue
        if any(each.is_free for each in known) and not all(each.is_free and each.is_exact for each in known):
            return unknown(ANY_PLACE if all(each.is_exact for each in known) else READ_TWICE)
        prices.append(_Placed(shift, min(known, key=lambda each: each.ways), moved, len({*known}) == 1))
    if not prices:
        return unknown(FAULTS)
    if fewer and any(read is not None and octets_share(read // CHUNKS_PER_LINE, active) for read in reads):
        return unknown(SPLIT)
    if fewer and all(each.price.is_free for each in prices):
        return _of_fewer(question, fewer, [each.addresses for each in prices], reads)
    is_partial = not all(is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard))
    if is_partial and any(read is not None and octets_share(read // CHUNKS_PER_LINE, active) for read in reads):
        return unknown(SPLIT)
    decided = _priced(question, active, prices, are_parted=bool(fewer))
    if fewer:
        decided = _parted(question, decided, fewer, prices, reads)
    if all(read is None or are_coalesced(read, active) for read in reads):
        return _proved(question, decided, prices, is_partial=is_partial)
    if decided.verdict is not Verdict.UNKNOWN:
        # The tables and pictures of lanes are those of octets that read one line each.
        table = decided.table and replace(decided.table, lanes=(), addresses=())
        return replace(decided, is_of_source=True, table=table)
    return decided


def _parted(
    question: Question,
    decided: Decision,
    fewer: Sequence[Mask],
    prices: Sequence[_Placed],
    reads: Sequence[Array | None],
) -> Decision:
    """The verdict on all lanes, where some lanes of an octet may come alone: these have to be free, too."""
    if decided.verdict is Verdict.CONFLICT:
        return replace(decided, at_least=True)
    if decided.verdict is not Verdict.DEPENDS and decided.if_made is None:
        return decided
    free = [each.addresses for each in prices if each.price.is_free]
    if _of_fewer(question, fewer, free, reads).verdict is Verdict.FREE:
        return decided
    return unknown(SPLIT) if decided.verdict is Verdict.DEPENDS else replace(decided, if_made=None)


def _of_fewer(
    question: Question, fewer: Sequence[Mask], moved: Sequence[Array], reads: Sequence[Array | None]
) -> Decision:
    """Free, if no set of lanes takes more than one wavefront for each octet."""
    row = question.row
    for active in dict.fromkeys(each.tobytes() for each in fewer):
        lanes = np.frombuffer(active, dtype=np.bool_).reshape(-1, LANES)
        for addresses in moved:
            for read in reads:
                found = price(row, addresses, lanes) if read is None else price_of_copies(row, addresses, lanes, read)
                if found is not None and not (found.is_free and found.is_exact):
                    return unknown(FEWER)
    return Decision(Verdict.FREE, "", 1, engines=(EXHAUSTION,))


def _proved(question: Question, decided: Decision, prices: Sequence[_Placed], *, is_partial: bool) -> Decision:
    """Free by the engines that prove the costs of specs, too: what they find to fail is no verdict."""
    if decided.verdict is not Verdict.FREE:
        return decided
    first = question.parts.shared.number
    proof = question.cost_by_octets([first + each.shift for each in prices], is_partial=is_partial)
    if proof.answer is Answer.FAILS:
        raise DisagreementError
    return replace(decided, engines=proof.engines, goals=proof.goals) if proof.answer is Answer.HOLDS else decided


def _priced(question: Question, active: Mask, prices: Sequence[_Placed], *, are_parted: bool) -> Decision:
    """The verdict from the prices at all places; with `are_parted` lanes of an octet may come alone."""
    if all(each.price.is_free for each in prices):
        found = prices[0].price
        return Decision(Verdict.FREE, "", 1, found.wavefronts, found.minimum, engines=(EXHAUSTION,))
    by_array = _by_array(question, active, prices) if any(each.price.is_free for each in prices) else None
    if_made = by_array if by_array is not None and by_array.verdict is Verdict.DEPENDS else None
    sure = question.surely()
    if isinstance(sure, str):
        return replace(unknown(sure), if_made=if_made)
    if not all(_can_come(sure, each, active, are_parted=are_parted) for each in prices if not each.price.is_free):
        return replace(unknown(SPLIT), if_made=if_made)
    if by_array is not None:
        return by_array
    least = min(prices, key=lambda each: each.price.ways)
    is_known = all(each.is_known and each.price.is_exact for each in prices)
    at_least = len({each.price.ways for each in prices}) > 1 or not is_known
    found = question.conflict(least.price, least.addresses, active, least.price.ways, at_least=at_least)
    return found if is_known else replace(found, wavefronts=None, minimum=None)


def _come_together(question: Question, active: Mask) -> bool:
    """Whether all existing lanes of an octet make the access, or none, for all values in the guard.

    An octet counts alone if no other octet of its warp writes to the same places. Then an access that is
    free stays free with fewer octets.
    """
    parts, block = question.parts, question.block
    if all(is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
        return True
    if any(not isinstance(leaf, LaneLeaf) and not is_shared(leaf) for leaf in parts.leaves_of(parts.other_guard)):
        return False
    if octets_share(block.values(parts.own, {}), active):
        return False
    rows = rows_of(block, parts, parts.other_guard)
    return are_alike(rows, active) or question.possible(octet_parts(block.shape, parts)).answer is Answer.EMPTY


def _can_come(question: Question, placed: _Placed, active: Mask, *, are_parted: bool) -> bool:
    """Whether all lanes of the warp that costs most can make the access in one warp instruction."""
    parts, block = question.parts, question.block
    if parts.other_guard is TRUE:
        return True
    whole = conjunction((parts.other_guard, *known_of(variables(parts.other_guard), parts.leaves)))
    size = 1 if are_parted else CHUNKS_PER_LINE
    lanes = active[placed.price.worst].reshape(-1, size)
    first = placed.price.worst * LANES + np.arange(0, LANES, size, dtype=np.int64) + np.argmax(lanes, axis=1)
    came: list[Expr] = []
    for thread in first[lanes.any(axis=1)].tolist():
        new = thread_values(block, parts, thread, f"@{thread}")
        came.append(substitute(whole, new(whole)))
    return question.possible(conjunction(dict.fromkeys(came))).answer is Answer.HOLDS


@dataclass(frozen=True, slots=True)
class _Placed:
    """The least price of the access if the shared part is `shift` modulo 128 bytes.

    `is_known` says that the price is the same for every start of the source.
    """

    shift: int
    price: Price
    addresses: Array
    is_known: bool


def _by_array(question: Question, active: Mask, prices: Sequence[_Placed]) -> Decision:
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
    reason = f"free if {name} starts at {where}; it is aligned to {array.multiple}"
    return replace(shown, verdict=Verdict.DEPENDS, reason=reason, parameters=(name,))


def _array_that_moves(question: Question) -> ArrayLeaf | None:
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
    return leaf if isinstance(leaf, ArrayLeaf) and factor == leaf.multiple else None

"""The wavefront rule and the count of sectors as Z3 terms.

Aligned accesses touch whole units of max(4, width) bytes; a unit lies in one *slot*, the banks at
its place in the 128-byte line. Two lanes of a group conflict when they have one slot and different
units (for instructions that do not merge equal words: when they have one slot at all). The rule of
16-byte `cp.async.cg` is in `octets`.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from swzverify.engines.obligations import Cost
from swzverify.engines.smt.octets import number, octet_costs, total
from swzverify.engines.smt.terms import Bits, Translator, Truth
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, PAIR_DISTANCES, SECTOR_BYTES, Instruction
from swzverify.ir.expr import Expr, const, substitute


def _unit_and_slot(row: Instruction, address: Bits) -> tuple[Bits, Bits]:
    low = row.unit_bytes.bit_length() - 1
    top = BANK_PERIOD_BYTES.bit_length() - 1
    return z3.Extract(address.size() - 1, low, address), z3.Extract(top - 1, low, address)


def pair_conflict(row: Instruction, first: Bits, other: Bits) -> Truth:
    """Whether two active lanes of one group conflict; addresses have at least 8 bits."""
    unit_a, slot_a = _unit_and_slot(row, first)
    unit_b, slot_b = _unit_and_slot(row, other)
    if row.counts_equal_words:
        return slot_a == slot_b
    return z3.And(slot_a == slot_b, unit_a != unit_b)


def same_group(lane_a: Bits, lane_b: Bits, group_lanes: int) -> Truth:
    """lane_a < lane_b, both in one group of consecutive lanes; lanes are 5 bits."""
    ordered = z3.ULT(lane_a, lane_b)
    low = group_lanes.bit_length() - 1
    if group_lanes >= LANES:
        return ordered
    return z3.And(ordered, z3.Extract(4, low, lane_a) == z3.Extract(4, low, lane_b))


def lane_terms(goal: Cost, translator: Translator, width: int) -> tuple[list[Bits], list[Truth]]:
    """Each lane's address and whether it is active, over the free variables."""
    addresses = [translator.widen(translator.term(each), width) for each in of_lanes(goal, goal.address)]
    return addresses, [translator.truth(each) for each in of_lanes(goal, goal.active)]


def of_lanes(goal: Cost, root: Expr) -> list[Expr]:
    """An expression for each lane, over the free variables."""
    return [substitute(root, {goal.lane: const(lane, goal.lane.width)}) for lane in range(LANES)]


def joined(addresses: Sequence[Bits], active: Sequence[Truth]) -> Truth:
    """Step 3 of the rule: for one distance, all lanes agree in pairs."""
    options: list[Truth] = []
    for distance in PAIR_DISTANCES:
        pairs = [(lane, lane ^ distance) for lane in range(LANES) if lane < lane ^ distance]
        options.append(
            z3.And([z3.Or(z3.Not(active[a]), z3.Not(active[b]), addresses[a] == addresses[b]) for a, b in pairs])
        )
    return z3.Or(options)


def wavefronts(row: Instruction, addresses: Sequence[Bits], active: Sequence[Truth]) -> tuple[Bits, Bits]:
    """The (wavefronts, minimum) of one warp instruction as counts; in global memory (sectors, minimum).

    Addresses have at least 8 bits and are aligned.
    """
    if row.is_global:
        return _sectors(row, addresses, active)
    if row.by_octets:
        return octet_costs(addresses, active)
    apart = _grouped(row, addresses, active, row.group_lanes)
    if not row.joins:
        return apart
    together = _grouped(row, addresses, active, row.joined_group_lanes)
    join = joined(addresses, active)
    return z3.If(join, together[0], apart[0]), z3.If(join, together[1], apart[1])


def _sectors(row: Instruction, addresses: Sequence[Bits], active: Sequence[Truth]) -> tuple[Bits, Bits]:
    """A lane counts when no earlier active lane is in its sector; so many lanes fill so many sectors."""
    like = addresses[0]
    one, none = number(1, like), number(0, like)
    low = SECTOR_BYTES.bit_length() - 1
    places = [z3.Extract(address.size() - 1, low, address) for address in addresses]
    first: list[Bits] = []
    for lane, place in enumerate(places):
        earlier = [z3.And(active[other], places[other] == place) for other in range(lane)]
        first.append(z3.If(z3.And(active[lane], z3.Not(z3.Or(earlier))) if earlier else active[lane], one, none))
    bytes_touched = total([z3.If(on, number(row.width_bytes, like), none) for on in active], like)
    minimum = z3.LShR(bytes_touched + number(SECTOR_BYTES - 1, like), low)
    return total(first, like), minimum


def _grouped(
    row: Instruction, addresses: Sequence[Bits], active: Sequence[Truth], group_lanes: int
) -> tuple[Bits, Bits]:
    costs: list[Bits] = []
    used: list[Bits] = []
    like = addresses[0]
    for start in range(0, row.address_lanes, group_lanes):
        lanes = range(start, min(start + group_lanes, row.address_lanes))
        parts = {lane: _unit_and_slot(row, addresses[lane]) for lane in lanes}
        counted: dict[int, Truth] = {}
        for lane in lanes:
            earlier = [z3.And(active[e], parts[e][0] == parts[lane][0]) for e in lanes if e < lane]
            new = z3.BoolVal(True, like.ctx) if row.counts_equal_words else z3.Not(z3.Or(earlier)) if earlier else None
            counted[lane] = active[lane] if new is None else z3.And(active[lane], new)
        cost = number(0, like)
        for lane in lanes:
            # The lane's place among the counted lanes of its slot; the largest place is the group's
            # cost.
            ones = [
                z3.If(z3.And(counted[e], parts[e][1] == parts[lane][1]), number(1, like), number(0, like))
                for e in lanes
                if e <= lane
            ]
            place = z3.If(counted[lane], total(ones, like), number(0, like))
            cost = z3.If(z3.UGT(place, cost), place, cost)
        costs.append(cost)
        used.append(z3.If(z3.Or([active[lane] for lane in lanes]), number(1, like), number(0, like)))
    return total(costs, like), total(used, like)

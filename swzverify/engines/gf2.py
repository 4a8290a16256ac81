"""The GF(2) engine: affine maps over bits, decided by rank, kernel and comparison of forms.

It works at any size. A map that is affine in all its bits for every bit pattern of its variables is
affine on every subset of them; a proof needs no more. A failure found by linear algebra may lie
outside the variables' limits. It is returned as a candidate only if it lies inside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import (
    Always,
    Answer,
    Cost,
    Finding,
    Injective,
    Point,
    WarpCost,
    WorstCost,
    second,
)
from swzverify.engines.worst import judge_rows, judged
from swzverify.hardware import LANES, PAIR_DISTANCES, SECTOR_BYTES
from swzverify.ir.expr import TRUE, Expr, Var, variables
from swzverify.ir.gf2 import Bits, VariableBits, affine_bits, looks_affine

NAME = "gf2"
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


def _always(goal: Always) -> Finding:
    """The condition's one bit is a form: 1 everywhere, or false where the form is 0."""
    numbering = VariableBits.of(goal.domain.variables)
    ((form,),) = affine_bits([goal.holds], numbering)
    if form is None:
        return _OTHER
    if form == 1:
        return Finding(NAME, Answer.HOLDS)
    # The first bit that the form depends on makes it false, if that value is inside its variable's
    # limit.
    bit = None if form == 0 else (form >> 1) & -(form >> 1)
    candidate = _point(0 if bit is None or not form & 1 else bit, goal.domain.variables, numbering)
    if goal.domain.assumption is not TRUE or candidate is None:
        return _OTHER
    return Finding(NAME, Answer.FAILS, candidate)


def _point(value: int, nodes: Sequence[Var], numbering: VariableBits) -> Point | None:
    """The point whose variable bits are `value`, if it is inside the limits."""
    point: Point = {}
    for node in nodes:
        number = value >> numbering.first[node.name] & ((1 << node.width) - 1)
        if number >= node.limit:
            return None
        point[node.name] = number
    return point


def rank(rows: Sequence[int]) -> int:
    """The rank of a matrix over GF(2), each row an integer's bits.

    >>> rank([0b011, 0b101, 0b110])
    2
    """
    pivots: dict[int, int] = {}
    for row in rows:
        rest = row
        while rest:
            top = rest.bit_length()
            if top not in pivots:
                pivots[top] = rest
                break
            rest ^= pivots[top]
    return len(pivots)


def kernel_vector(columns: Sequence[int]) -> int | None:
    """A non-empty set of columns (as bits) whose XOR is 0; None when the columns are independent.

    >>> kernel_vector([0b01, 0b10, 0b11])
    7
    """
    pivots: dict[int, tuple[int, int]] = {}
    for index, column in enumerate(columns):
        rest, used = column, 1 << index
        while rest:
            top = rest.bit_length()
            if top not in pivots:
                pivots[top] = (rest, used)
                break
            rest ^= pivots[top][0]
            used ^= pivots[top][1]
        else:
            return used
    return None


def flips(bits: Bits, numbering: VariableBits, nodes: Sequence[Var]) -> list[int] | None:
    """For each bit of the given variables, the output bits that it flips; None if a bit is not affine.

    >>> from swzverify.ir.expr import var
    >>> lane = var("lane", 4)
    >>> flips((4, 2 | 4), VariableBits.of([lane]), [lane])
    [2, 3]
    """
    found = [0] * (numbering.count + 1)
    for row, form in enumerate(bits):
        if form is None:
            return None
        # Forms have few bits set: walking those is much cheaper than testing every bit of every
        # form.
        rest = form
        while rest:
            lowest = rest & -rest
            found[lowest.bit_length() - 1] |= 1 << row
            rest ^= lowest
    return [found[numbering.first[node.name] + i + 1] for node in nodes for i in range(node.width)]


def one_to_one(image: Expr, x: Var) -> bool | None:
    """Whether an expression of one variable is affine and one to one on all bit patterns."""
    numbering = VariableBits.of([x])
    rows = _rows(affine_bits([image], numbering)[0], numbering, (x,))
    return None if rows is None else rank(rows) == x.width


def _rows(bits: Bits, numbering: VariableBits, nodes: Sequence[Var]) -> list[int] | None:
    """Each output bit's form as far as it reads some variables; None where one is not affine."""
    mask = sum(((1 << node.width) - 1) << numbering.first[node.name] + 1 for node in nodes)
    rows: list[int] = []
    for form in bits:
        if form is None:
            return None
        rows.append(form & mask)
    return rows


def _injective(goal: Injective) -> Finding:
    if goal.outer is not None and not one_to_one(goal.outer.image, goal.outer.x):
        return _OTHER
    if not looks_affine(goal.inner):
        return _OTHER
    numbering, distinct = VariableBits.of(goal.domain.variables), goal.distinct
    (bits,) = affine_bits([goal.inner], numbering)
    rows = _rows(bits, numbering, distinct)
    if rows is None:
        return _OTHER
    free_low = goal.extent.bit_length() - 1
    if goal.extent != 1 << free_low or any(rows[:free_low]):
        # Ranges of points keep apart only where all points are multiples of a power-of-two length
        # from each other.
        return _OTHER
    if rank(rows) == sum(node.width for node in distinct):
        return Finding(NAME, Answer.HOLDS)
    columns = flips(bits, numbering, distinct)
    kernel = None if columns is None else kernel_vector(columns)
    if kernel is None:
        return _OTHER  # columns have the rank of the rows: this does not happen
    if goal.domain.assumption is not TRUE:
        return _OTHER
    point: Point = {node.name: 0 for node in goal.domain.variables}
    offset = 0
    for node in goal.distinct:
        number = kernel >> offset & ((1 << node.width) - 1)
        offset += node.width
        if number >= node.limit:
            return _OTHER
        point[second(node.name)] = number
    return Finding(NAME, Answer.FAILS, point)


def _cost(goal: Cost) -> Finding:
    """Decide costs by one warp.

    Free variables flip the same address bits in every lane. This permutes words and banks, so one warp
    stands for all.
    """
    if goal.domain.assumption is not TRUE or not looks_affine(goal.address):
        return _OTHER
    if any(node is not goal.lane for node in variables(goal.active)):
        return _OTHER
    numbering = VariableBits.of(goal.domain.variables)
    (address,) = affine_bits([goal.address], numbering)
    columns = flips(address, numbering, [goal.lane])
    if columns is None:
        return _OTHER
    if goal.active is TRUE and not goal.instruction.by_octets:
        return _judge_ranks(goal, columns)
    ((active,),) = affine_bits([goal.active], numbering)
    if active is None:
        return _OTHER
    origin = sum(1 << row for row, form in enumerate(address) if form is not None and form & 1)
    addresses = np.array([[_image(columns, lane, origin) for lane in range(LANES)]], dtype=np.int64)
    form = active >> numbering.first[goal.lane.name]
    on = np.array([[_parity(form, lane) for lane in range(LANES)]], dtype=np.bool_)
    return judge_rows(NAME, goal, addresses, on, np.ones(1, dtype=np.bool_), lambda _: _origin(goal))


def _origin(goal: Cost) -> Point:
    return {node.name: 0 for node in goal.free}


def _image(columns: Sequence[int], lane: int, origin: int) -> int:
    """A lane's address where every other variable is 0."""
    for bit, column in enumerate(columns):
        if lane >> bit & 1:
            origin ^= column
    return origin


def _parity(form: int, lane: int) -> bool:
    """A form's value in a lane: bit 0 is its constant, the lane's bits follow."""
    return bool((form & (lane << 1 | 1)).bit_count() & 1)


def _judge_ranks(goal: Cost, columns: Sequence[int]) -> Finding:
    """A whole warp's cost from ranks, with no address computed.

    In global memory the whole warp is one group, and its units, the sectors, have no slots.

    The lanes of a group touch 2^rank(unit bits) units. The units of one slot (the banks of a unit)
    are a coset of a kernel, so every slot that is touched holds 2^(rank(unit bits) - rank(slot
    bits)) of them: the group's wavefronts.
    """
    row = goal.instruction
    unit_low = row.unit_bytes.bit_length() - 1
    slot_mask = row.slots - 1
    units = [column >> unit_low for column in columns]
    # Lanes agree in pairs at distance 2^i exactly when lane bit i flips nothing.
    agree = row.joins and any(not columns[distance.bit_length() - 1] for distance in PAIR_DISTANCES)
    group_lanes = row.joined_group_lanes if agree else row.group_lanes
    own = units[: group_lanes.bit_length() - 1]
    slots = rank([unit & slot_mask for unit in own])
    each = 1 << ((len(own) if row.counts_equal_words else rank(own)) - slots)
    groups = row.address_lanes // group_lanes
    least = -(-LANES * row.width_bytes // SECTOR_BYTES) if row.is_global else groups
    return judged(NAME, goal, WorstCost.of_one(WarpCost(groups * each, least, _origin(goal))))


class GF2(Native):
    """Decides maps that are affine over GF(2): rank, constant forms for conditions, one warp for costs."""

    name = NAME
    rules = Rules(always=_always, injective=_injective, cost=_cost)

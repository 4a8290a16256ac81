"""The octet rule of 16-byte `cp.async.cg` as Z3 terms: classes of copying lanes, octet by octet.

A class takes one wavefront. The rule counts how far its units move the sectors that they read, even
and odd sectors apart; but two units of a class that read sectors of one parity and move them
differently would write to one address, and of lanes with one address only one copies. So the
classes are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from swzverify.engines.smt.terms import Bits, Truth
from swzverify.hardware import BANK_PERIOD_BYTES, CHUNK_BYTES, CHUNKS_PER_LINE, LANES, SECTOR_BYTES

COUNT_BITS = 11
"""Enough for 32 lanes in each of 4 groups, with room for sums."""
_KIND_BITS = 2
_BOTH = 2
"""The kind of two lanes that write the halves of one sector; the others are 0 in even lanes, 1 in
odd ones.
"""


def octet_costs(addresses: Sequence[Bits], active: Sequence[Truth]) -> tuple[Bits, Bits]:
    """The (wavefronts, minimum) of one warp as counts.

    Addresses have at least 8 bits and are aligned to 16 bytes.
    """
    like = addresses[0]
    copies = copying(addresses, active)
    classes = [class_of(lane, addresses, copies) for lane in range(LANES)]
    new: list[Bits] = []
    used: list[Bits] = []
    for start in range(0, LANES, CHUNKS_PER_LINE):
        octet = range(start, start + CHUNKS_PER_LINE)
        for lane in octet:
            earlier = [z3.And(copies[e], classes[e] == classes[lane]) for e in octet if e < lane]
            new.append(_one_if(z3.And(copies[lane], *(z3.Not(each) for each in earlier)), like))
        used.append(_one_if(z3.Or([copies[lane] for lane in octet]), like))
    return total(new, like), total(used, like)


def copying(addresses: Sequence[Bits], active: Sequence[Truth]) -> list[Truth]:
    """For each lane, whether it copies: it is active, and no lower active lane has its address."""
    found: list[Truth] = []
    for lane in range(LANES):
        lower = [z3.And(active[e], addresses[e] == addresses[lane]) for e in range(lane)]
        found.append(z3.And(active[lane], *(z3.Not(each) for each in lower)))
    return found


def class_of(lane: int, addresses: Sequence[Bits], copies: Sequence[Truth]) -> Bits:
    """The class of a lane that copies: its line, its kind, swapped halves, and odd moves of its sector.

    In a unit of two lanes, the halves are both kept or both swapped, so either lane gives the unit's
    class.
    """
    own = addresses[lane]
    alone = z3.BitVecVal(lane % 2, _KIND_BITS, own.ctx)
    kind = z3.If(together(lane, addresses, copies), z3.BitVecVal(_BOTH, _KIND_BITS, own.ctx), alone)
    swapped = lowest(own, CHUNK_BYTES) ^ z3.BitVecVal(lane % 2, 1, own.ctx)
    odd_move = lowest(own, SECTOR_BYTES) ^ z3.BitVecVal(lane // 2 % 2, 1, own.ctx)
    return z3.Concat(units(own, BANK_PERIOD_BYTES), kind, swapped, odd_move)


def together(lane: int, addresses: Sequence[Bits], copies: Sequence[Truth]) -> Truth:
    """Whether a copying lane and its mate are one unit: both copy, and they write to one sector."""
    own, mate = (units(addresses[each], SECTOR_BYTES) for each in (lane, lane ^ 1))
    return z3.And(copies[lane ^ 1], own == mate)


def units(address: Bits, size_bytes: int) -> Bits:
    """An address in whole units of a power of two."""
    return z3.Extract(address.size() - 1, size_bytes.bit_length() - 1, address)


def lowest(address: Bits, size_bytes: int) -> Bits:
    """The lowest bit of an address in such units."""
    bit = size_bytes.bit_length() - 1
    return z3.Extract(bit, bit, address)


def number(value: int, like: Bits) -> Bits:
    """A count as a term."""
    return z3.BitVecVal(value, COUNT_BITS, like.ctx)


def total(terms: Sequence[Bits], like: Bits) -> Bits:
    """A sum of counts."""
    result = number(0, like)
    for term in terms:
        result = result + term
    return result


def _one_if(condition: Truth, like: Bits) -> Bits:
    return z3.If(condition, number(1, like), number(0, like))

"""The rule of 16-byte `cp.async.cg` for any sources, as Z3 terms.

The terms are the class of each lane that copies, and how far it moves the sectors that it reads. A
class takes two wavefronts if two of its lanes read sectors of one parity and move them differently,
and one otherwise: there are two distances. Lanes that copy write to different chunks, so at most
one lane reads the other half of a lane's sector and writes to the same sector.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from swzverify.engines.smt.octets import copying, lowest, number, total, units
from swzverify.engines.smt.terms import Bits, Truth
from swzverify.hardware import BANK_PERIOD_BYTES, CHUNK_BYTES, CHUNKS_PER_LINE, LANES, SECTOR_BYTES

_KIND_BITS = 2
_BOTH = 2


def sourced_costs(addresses: Sequence[Bits], sources: Sequence[Bits], active: Sequence[Truth]) -> tuple[Bits, Bits]:
    """The wavefronts and the minimum of one warp as counts, lower bounds where lanes read one chunk.

    All addresses are of one width, at least 8 bits, and aligned to 16 bytes.
    """
    like = addresses[0]
    one, none = number(1, like), number(0, like)
    copies = copying(addresses, active)
    classes = [_class_of(lane, addresses, sources, copies) for lane in range(LANES)]
    parity = [lowest(source, SECTOR_BYTES) for source in sources]
    far = [lowest(to ^ source, 2 * SECTOR_BYTES) for to, source in zip(addresses, sources, strict=True)]
    costs: list[Bits] = []
    differing: list[Truth] = []
    for lane in range(LANES):
        earlier = [(e, z3.And(copies[e], classes[e] == classes[lane])) for e in range(lane)]
        new = z3.And(copies[lane], *(z3.Not(same) for _, same in earlier))
        apart = [z3.And(same, parity[e] == parity[lane], far[e] != far[lane]) for e, same in earlier]
        differing.append(z3.And(copies[lane], z3.Or([*apart, z3.BoolVal(False, like.ctx)])))
        second = z3.And(differing[lane], *(z3.Not(z3.And(same, differing[e])) for e, same in earlier))
        costs += [z3.If(new, one, none), z3.If(second, one, none)]
    octets = [z3.Or(copies[first : first + CHUNKS_PER_LINE]) for first in range(0, LANES, CHUNKS_PER_LINE)]
    used = total([z3.If(each, one, none) for each in octets], like)
    wavefronts = total(costs, like)
    return wavefronts, z3.If(z3.ULT(wavefronts, used), wavefronts, used)


def read_twice(addresses: Sequence[Bits], sources: Sequence[Bits], active: Sequence[Truth]) -> Truth:
    """Whether two lanes that copy read the same chunk: then only bounds of the cost are known."""
    copies = copying(addresses, active)
    chunks = [units(each, CHUNK_BYTES) for each in sources]
    return z3.Or(
        [z3.And(copies[a], copies[b], chunks[a] == chunks[b]) for a in range(LANES) for b in range(a + 1, LANES)]
    )


def _class_of(lane: int, addresses: Sequence[Bits], sources: Sequence[Bits], copies: Sequence[Truth]) -> Bits:
    """The class of a lane that copies.

    It has the lines, the kind of its unit, whether halves are swapped, and whether its sector moves oddly.
    """
    to, source = addresses[lane], sources[lane]
    mates = [
        z3.And(
            copies[other],
            units(addresses[other], SECTOR_BYTES) == units(to, SECTOR_BYTES),
            units(sources[other], SECTOR_BYTES) == units(source, SECTOR_BYTES),
            lowest(sources[other], CHUNK_BYTES) != lowest(source, CHUNK_BYTES),
        )
        for other in range(LANES)
        if other != lane
    ]
    alone = z3.ZeroExt(_KIND_BITS - 1, lowest(source, CHUNK_BYTES))
    kind = z3.If(z3.Or(mates), z3.BitVecVal(_BOTH, _KIND_BITS, to.ctx), alone)
    swapped, odd_move = lowest(to ^ source, CHUNK_BYTES), lowest(to ^ source, SECTOR_BYTES)
    return z3.Concat(units(source, BANK_PERIOD_BYTES), units(to, BANK_PERIOD_BYTES), kind, swapped, odd_move)

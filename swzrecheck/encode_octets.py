"""The rule of the 16-byte cp.async over symbolic addresses: docs/semantics.md, section 4.

Addresses are taken to be multiples of 16; that they are is a question of its own. A lane's chunk `a
/ 16` has the half H in its lowest bit, the sector P in the two above and the line D in the rest;
the lane's number has h and p in its low bits likewise. So the XOR of both, `moved`, holds `h ^ H`,
`p ^ P` and D. The two lanes of a unit of kind both have different addresses in one sector, hence
the same `moved`: either can speak for the unit.

Every class costs 1, so that classes need only be counted. For it to cost 2, two of its units would
need p of one parity and `(p ^ P) / 2` that differ. Two units of a class are never of one p, so
their p differ by 2 and their P are equal; so are D, h and H then. That is one address (for both:
two) of different lanes, and only one of those copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from swzrecheck.program import Builder
from swzrecheck.warp_rule import CHUNK_BYTES

OCTET_LANES = 8


@dataclass(frozen=True, slots=True)
class _Lane:
    """The program places of a lane's values.

    They say whether the lane copies, whether its unit is of kind both, and its chunk XORed with its
    number.
    """

    half: int
    copies: int
    both: int
    moved: int


def octet_conflict(out: Builder, lanes: Sequence[tuple[int, int]]) -> int:
    """Whether the copying lanes of some octet are of two classes, of 32 lanes (address, active)."""
    conflicts: list[int] = []
    for octet in _octets(out, lanes):
        for a, b in combinations(octet, 2):
            conflicts.append(out.all([a.copies, b.copies, out.negate(_one_class(out, a, b))]))
    return out.any(conflicts)


def octet_classes(out: Builder, lanes: Sequence[tuple[int, int]]) -> list[int]:
    """For 32 lanes (address, active): whether each copies and is its octet's first of its class."""
    found: list[int] = []
    for octet in _octets(out, lanes):
        for index, lane in enumerate(octet):
            lower = [out.all([other.copies, _one_class(out, other, lane)]) for other in octet[:index]]
            found.append(out.all([lane.copies, out.negate(out.any(lower))]))
    return found


def _octets(out: Builder, lanes: Sequence[tuple[int, int]]) -> Iterator[list[_Lane]]:
    chunks = [_chunk(out, address) for address, _ in lanes]
    copies = _copying(out, chunks, [active for _, active in lanes])
    for start in range(0, len(lanes), OCTET_LANES):
        yield [
            _Lane(lane % 2, copies[lane], _both(out, chunks, copies, lane), _moved(out, chunks[lane], lane))
            for lane in range(start, start + OCTET_LANES)
        ]


def _chunk(out: Builder, address: int) -> int:
    """The address in units of 16 bytes, of 4 bits at least: half, sector and line."""
    low = CHUNK_BYTES.bit_length() - 1
    wide = out.widen(address, max(out.width(address), low + 4))
    return out.extract(wide, low, out.width(wide) - low)


def _copying(out: Builder, chunks: Sequence[int], active: Sequence[int]) -> list[int]:
    """For each lane: it is active, and no lower lane of the warp has the same address."""
    found: list[int] = []
    for lane, chunk in enumerate(chunks):
        lower = [out.all([active[other], out.op("=", chunks[other], chunk)]) for other in range(lane)]
        found.append(out.all([active[lane], out.negate(out.any(lower))]))
    return found


def _both(out: Builder, chunks: Sequence[int], copies: Sequence[int], lane: int) -> int:
    """Whether a copying lane and its neighbour are one unit: both copy, into one sector."""
    even, odd = (_sector(out, chunks[one]) for one in (lane & ~1, lane | 1))
    return out.all([copies[lane ^ 1], out.op("=", even, odd)])


def _sector(out: Builder, chunk: int) -> int:
    """The chunk without its half: sector and line."""
    return out.extract(chunk, 1, out.width(chunk) - 1)


def _moved(out: Builder, chunk: int, lane: int) -> int:
    return out.op("bvxor", chunk, out.const(lane % OCTET_LANES, out.width(chunk)))


def _one_class(out: Builder, a: _Lane, b: _Lane) -> int:
    """Whether two copying lanes of an octet agree in kind, `h ^ H`, `(p ^ P) % 2` and line."""
    line = out.width(a.moved) - 3
    parts = [(0, 1), (1, 1), (3, line)]
    agree = [out.op("=", *(out.extract(one.moved, low, width) for one in (a, b))) for low, width in parts]
    return out.all([_one_kind(out, a, b), *agree])


def _one_kind(out: Builder, a: _Lane, b: _Lane) -> int:
    if a.half == b.half:
        return out.op("=", a.both, b.both)
    return out.all([a.both, b.both])

"""Warps of the 16-byte cp.async as tests have them: 32 destinations in units of 16 bytes, None for
a lane that is off.

`reading` is docs/semantics.md, section 4, read word by word; `encoded` evaluates the symbolic rule
at many warps.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from pathlib import Path
from typing import TypeAlias

import numpy as np

from swzrecheck import encode_octets, warp_rule
from swzrecheck.gates import Circuit
from swzrecheck.program import Builder
from swzrecheck.table import SlicedGates

Warp: TypeAlias = tuple[int | None, ...]
MEASURED = Path(__file__).parent.parent / "data" / "h100_cp_async16_rule.npz"
COALESCED = ("two_lanes", "few_lanes", "octet", "warps", "held_out_coalesced")


@dataclass(frozen=True)
class Unit:
    """What the text calls a unit, and whose it is."""

    octet: int
    line: int
    kind: str
    h: int
    H: int
    p: int
    P: int


def warp_of(lanes: dict[int, int]) -> Warp:
    """Some lanes' destinations, all other lanes off."""
    return tuple(lanes.get(lane) for lane in range(32))


def reading(warp: Warp) -> tuple[int, int]:
    """(wavefronts, minimum) by the text, in its order: who copies, units, classes, their cost."""
    address = {lane: 16 * chunk for lane, chunk in enumerate(warp) if chunk is not None}
    copies = [l for l in address if not any(k < l and address[k] == address[l] for k in address)]  # noqa: E741
    units: list[Unit] = []
    for lane in copies:
        a = address[lane]
        place = {"octet": lane // 8, "line": a // 128, "p": lane // 2 % 4, "P": a // 32 % 4}
        even, odd = lane - lane % 2, lane - lane % 2 + 1
        if even in copies and odd in copies and address[even] // 32 == address[odd] // 32:
            if lane == even:
                units.append(Unit(kind="both", h=0, H=address[even] // 16 % 2, **place))
        else:
            units.append(Unit(kind=str(lane % 2), h=lane % 2, H=a // 16 % 2, **place))
    wavefronts = 0
    classes = {(u.octet, u.line, u.kind, u.h ^ u.H, (u.p ^ u.P) % 2) for u in units}
    for name in classes:
        own = [u for u in units if (u.octet, u.line, u.kind, u.h ^ u.H, (u.p ^ u.P) % 2) == name]
        numbers = [len({(u.p ^ u.P) // 2 for u in own if u.p % 2 == parity}) for parity in (0, 1)]
        wavefronts += max(numbers)
    return wavefronts, sum(any(lane // 8 == octet for lane in copies) for octet in range(4))


def plain(warp: Warp) -> tuple[int, int]:
    """(wavefronts, minimum) by the recheck's plain rule."""
    addresses = [None if chunk is None else 16 * chunk for chunk in warp]
    return warp_rule.warp_cost(warp_rule.warp_rule("cp.async.16"), addresses)


def encoded(warps: Sequence[Warp], width: int = 16) -> list[tuple[int, bool]]:
    """(wavefronts, whether there is a conflict) by the symbolic rule; `width` is that of the
    addresses in bits.

    Lanes that are off have some address all the same: it must not matter.
    """
    out = Builder()
    lanes = [(out.var(f"a{lane}", 1 << width, width), out.var(f"on{lane}", 2, 1)) for lane in range(32)]
    count = out.total(encode_octets.octet_classes(out, lanes))
    conflict = encode_octets.octet_conflict(out, lanes)
    active = np.array([[chunk is not None for chunk in warp] for warp in warps])
    chunks = np.array([[0 if chunk is None else chunk for chunk in warp] for warp in warps], dtype=np.int64)
    chunks = np.where(active, chunks, np.random.default_rng(1).integers(0, min(16, 1 << (width - 4)), chunks.shape))
    assert int(chunks.max()) < 1 << (width - 4)
    given: dict[int, list[int]] = {}
    for lane, (address, on) in enumerate(lanes):
        given[address] = [sliced(16 * chunks[:, lane] >> bit & 1) for bit in range(width)]
        given[on] = [sliced(active[:, lane])]
    words = Circuit(SlicedGates((1 << len(warps)) - 1)).run(tuple(out.lines), given)
    counts = sum(rows(word, len(warps)).astype(np.int64) << bit for bit, word in enumerate(words[count]))
    return list(zip(np.asarray(counts).tolist(), rows(words[conflict][0], len(warps)).tolist(), strict=True))


def folded(warp: Warp, off: int = 0) -> tuple[int, bool]:
    """The same of one warp, by constants; `off` is the chunk of lanes that are off."""
    out = Builder()
    lanes = [(out.const(16 * (off if chunk is None else chunk), 20), out.const(chunk is not None, 1)) for chunk in warp]
    count = out.known(out.total(encode_octets.octet_classes(out, lanes)))
    conflict = out.known(encode_octets.octet_conflict(out, lanes))
    assert count is not None
    assert conflict is not None
    return count, bool(conflict)


def sliced(bits: np.ndarray) -> int:
    """One bit of every warp as an integer over the warps."""
    return int.from_bytes(np.packbits(bits.astype(bool), bitorder="little").tobytes(), "little")


def rows(word: int, count: int) -> np.ndarray:
    """The way back."""
    data = np.frombuffer(word.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").astype(bool)


def measured(name: str) -> tuple[list[Warp], list[int]]:
    """The warps of a measured set, and the wavefronts of each."""
    with np.load(MEASURED) as file:
        masks, destinations = file[f"{name}/masks"].tolist(), file[f"{name}/destinations"].tolist()
        wavefronts = file[f"{name}/wavefronts"].tolist()
    warps = [
        tuple(chunk if mask >> lane & 1 else None for lane, chunk in enumerate(chunks))
        for mask, chunks in zip(masks, destinations, strict=True)
    ]
    return warps, wavefronts


def two_of_an_octet() -> Iterator[Warp]:
    """All pairs of lanes of an octet with all chunks of two lines."""
    for a, b in combinations(range(8), 2):
        for x, y in product(range(16), repeat=2):
            yield warp_of({a: x, b: y})


def two_of_a_warp() -> Iterator[Warp]:
    """All pairs of lanes of a warp, with all chunks of a line for the second."""
    for a, b in combinations(range(32), 2):
        for y in range(8):
            yield warp_of({a: 5, b: y})


def three_of_an_octet() -> Iterator[Warp]:
    """All triples of lanes of an octet, the first at chunk 0, the others at all chunks of two
    lines.
    """
    for a, b, c in combinations(range(8), 3):
        for x, y in product(range(16), repeat=2):
            yield warp_of({a: 0, b: x, c: y})


def four_of_an_octet() -> Iterator[Warp]:
    """All fours of lanes of an octet, the first at chunk 0, the others at all chunks of the line."""
    for chosen in combinations(range(8), 4):
        for chunks in product(range(8), repeat=3):
            yield warp_of(dict(zip(chosen, (0, *chunks), strict=True)))


def lines_in_any_order() -> Iterator[Warp]:
    """An octet with the eight chunks of a line, lane 0 at the first."""
    for order in permutations(range(1, 8)):
        yield warp_of(dict(enumerate((0, *order))))


def random_warps(count: int, seed: int) -> Iterator[Warp]:
    """Few lanes and many, few chunks and many, repeats within octets and across, whole sectors,
    XOR-linear maps.
    """
    rng = random.Random(seed)
    for _ in range(count):
        spread = rng.choice([2, 4, 8, 8, 16, 32, 200, 2000])
        chunks = [rng.randrange(spread) for _ in range(32)]
        shape = rng.randrange(6)
        if shape == 0:
            base = [rng.randrange(spread) for _ in range(6)]
            chunks = [_linear(base, lane) for lane in range(32)]
        elif shape == 1:
            chunks = [chunks[lane // 2] * 2 ^ (lane % 2) ^ rng.choice([0, 0, 0, 1]) for lane in range(32)]
        elif shape == 2:
            chunks = [chunks[lane % 8] for lane in range(32)]
        elif shape == 3:
            shift = rng.randrange(8)
            chunks = [lane ^ shift ^ (rng.randrange(spread) if rng.random() < 0.15 else 0) for lane in range(32)]
        share = rng.choice([1.0, 1.0, 0.9, 0.6, 0.3, 0.1])
        yield tuple(chunk if rng.random() < share else None for chunk in chunks)


def _linear(base: Sequence[int], lane: int) -> int:
    found = base[5]
    for bit in range(5):
        found ^= base[bit] if lane >> bit & 1 else 0
    return found

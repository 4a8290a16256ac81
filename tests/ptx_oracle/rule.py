"""What a warp instruction costs in shared memory: the rule of docs/hardware.md, written anew.

Everything is counted for one warp: which lanes take part, and the byte address of each of them. Not
in the rule: compare-and-swap takes its wavefronts twice, and atomics of 64 bits or floats are loops
of loads and compare-and-swaps.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

BANKS = 32
GROUP_LANES = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}
"""Consecutive lanes that go together, by the bytes of a lane."""
EVERY_LANE = frozenset({"atom", "red", "cp.async.ca"})
"""Kinds of which every lane's word counts, equal to another one or not."""


class Cost(NamedTuple):
    """What one execution costs."""

    wavefronts: int
    minimum: int
    """Groups (after joining) with an active lane: wavefronts beyond it are bank conflicts."""
    ways: int
    """The most different words of one bank within one group, before joining."""


def group_ways(addresses: list[int], width: int, *, every: bool) -> int:
    """The most words (different ones, or every lane's) that one bank must serve."""
    words = [address // 4 + part for address in addresses for part in range(max(1, width // 4))]
    banks = Counter(word % BANKS for word in (words if every else set(words)))
    return max(banks.values())


def grouped(lanes: Mapping[int, int], size: int) -> list[list[int]]:
    """The addresses of each group of consecutive lanes that has an active one."""
    groups: dict[int, list[int]] = defaultdict(list)
    for lane, address in lanes.items():
        groups[lane // size].append(address)
    return [groups[at] for at in sorted(groups)]


def joins(lanes: Mapping[int, int]) -> bool:
    """Whether all lanes agree with their neighbours, or all with those next but one."""
    return any(all(lanes.get(lane ^ d, at) == at for lane, at in lanes.items()) for d in (1, 2))


def octet_cost(lanes: Mapping[int, int]) -> Cost:
    """cp.async.cg of 16 bytes from coalesced sources: how halves of 32-byte sectors move."""
    seen: set[int] = set()
    octets: dict[int, dict[int, int]] = defaultdict(dict)
    for lane in sorted(lanes):
        if lanes[lane] not in seen:
            seen.add(lanes[lane])
            octets[lane // 8][lane % 8] = lanes[lane]
    counts = [len(octet_classes(octet)) for octet in octets.values()]
    return Cost(sum(counts), len(counts), max(counts, default=0))


def octet_classes(octet: Mapping[int, int]) -> set[tuple[int, str, int, int]]:
    """The classes of one octet; each of them is one wavefront."""
    classes = set()
    for lane, address in octet.items():
        partner = octet.get(lane ^ 1)
        both = partner is not None and partner // 32 == address // 32
        kind = "both" if both else ("even", "odd")[lane % 2]
        flipped = lane % 2 ^ address // 16 % 2
        classes.add((address // 128, kind, flipped, (lane // 2 ^ address // 32) % 2))
    return classes


def cost(kind: str, width: int, lanes: Mapping[int, int]) -> Cost:
    """The cost of one execution; `lanes` gives the address of each active lane.

    `kind` is ld, st, atom, red, atom.inc, red.inc, ldmatrix, stmatrix, cp.async.ca or cp.async.cg.
    The matrix kinds expect only the lanes whose addresses count.
    """
    if not lanes:
        return Cost(0, 0, 0)
    if kind == "cp.async.cg" and width == 16:
        return octet_cost(lanes)
    every = kind in EVERY_LANE or kind == "cp.async.cg"
    size = GROUP_LANES[width]
    groups = grouped(lanes, size)
    ways = max(group_ways(group, width, every=every) for group in groups)
    if kind == "ld" and width >= 8 and joins(lanes):
        groups = grouped(lanes, 2 * size)
    counts = [group_ways(group, width, every=every) for group in groups]
    return Cost(sum(counts), len(groups), ways)

"""The hardware's cost rule, written a second time for rechecks: docs/semantics.md, section 4.

No table of `hardware/` is read; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

LANES = 32
WORD_BYTES = 4
LINE_BYTES = 128
SECTOR_BYTES = 32
CHUNK_BYTES = 16


@dataclass(frozen=True, slots=True)
class WarpRule:
    """The facts of an instruction that the cost rule needs.

    Attributes:
        width_bytes: The bytes from each lane's address.
        group_lanes: The number of lanes of a group.
        address_lanes: The number of leading lanes whose addresses count.
        joins: Whether groups join in pairs if the lanes agree in pairs.
        repeats: Whether equal words count each.
        octets: Whether it is the 16-byte cp.async, which has a rule of its own.
        whole_warps: Whether all 32 lanes must run it.
        sectors: Whether it goes to global memory, where the different sectors of the warp are counted.
    """

    width_bytes: int
    group_lanes: int
    address_lanes: int
    joins: bool
    repeats: bool
    octets: bool
    whole_warps: bool = False
    sectors: bool = False

    @property
    def unit_bytes(self) -> int:
        """The bytes that tell lanes apart: their width, a word at least; global ones: a sector."""
        return SECTOR_BYTES if self.sectors else max(self.width_bytes, WORD_BYTES)

    @property
    def slots(self) -> int:
        """The number of units side by side in all banks.

        Lanes are aligned, so two units meet in all banks or in none. Sectors lie in no banks.
        """
        return 1 if self.sectors else LINE_BYTES // self.unit_bytes

    @property
    def joined_lanes(self) -> int:
        """The lanes of two groups that have joined."""
        return 2 * self.group_lanes


_MATRIX = re.compile(r"(?:ld|st)matrix\.x([124])(?:\.trans)?")
_PLAIN = re.compile(r"(ld|st)\.shared\.(?:v([24])\.)?b(8|16|32|64)")
_GLOBAL = re.compile(r"(?:ld|st)\.global\.(?:v([24])\.)?b(8|16|32|64)")
_COPY = re.compile(r"cp\.async\.(ca\.)?(4|8|16)")
ALONE = " alone"
"""After an instruction's name: its groups do not join."""
_ATOMIC = re.compile(r"atom\.shared\.add\.u32( merged)?")
MERGED = " merged"
"""After the name of an atomic: lanes of one word count once, as ATOMS.POPC.INC does it."""


def warp_rule(name: str) -> WarpRule:
    """The rule of an instruction.

    Raises:
        ValueError: The name is not known.

    >>> warp_rule("ld.shared.v4.b32").group_lanes, warp_rule("ldmatrix.x2").address_lanes
    (8, 16)
    """
    if name.endswith(ALONE):
        return replace(warp_rule(name.removesuffix(ALONE)), joins=False)
    if found := _MATRIX.fullmatch(name):
        return WarpRule(16, 8, 8 * int(found[1]), joins=False, repeats=False, octets=False, whole_warps=True)
    if found := _PLAIN.fullmatch(name):
        width = int(found[2] or 1) * int(found[3]) // 8
        if width <= CHUNK_BYTES:
            return WarpRule(width, _group(width), LANES, found[1] == "ld" and width >= 8, repeats=False, octets=False)
    if found := _GLOBAL.fullmatch(name):
        width = int(found[1] or 1) * int(found[2]) // 8
        if width <= CHUNK_BYTES:
            return WarpRule(width, LANES, LANES, joins=False, repeats=False, octets=False, sectors=True)
    if found := _COPY.fullmatch(name):
        width, octets = int(found[2]), found[2] == "16" and not found[1]
        return WarpRule(width, _group(width), LANES, joins=False, repeats=not octets, octets=octets)
    if found := _ATOMIC.fullmatch(name):
        return WarpRule(4, LANES, LANES, joins=False, repeats=not found[1], octets=False)
    raise ValueError(f"no cost rule for the instruction {name!r}")


def _group(width_bytes: int) -> int:
    return {8: 16, 16: 8}.get(width_bytes, LANES)


def warp_cost(rule: WarpRule, addresses: Sequence[int | None]) -> tuple[int, int]:
    """The (wavefronts, minimum) of one warp from its 32 byte addresses, None for an inactive lane.

    In global memory it is (sectors, the sectors that the active lanes' bytes fill).

    Raises:
        ValueError: An address is not a multiple of the width.

    >>> warp_cost(warp_rule("ld.shared.b32"), [8 * lane for lane in range(32)])
    (2, 1)
    >>> warp_cost(warp_rule("cp.async.16"), [16 * (lane % 8) for lane in range(32)])
    (1, 1)
    >>> warp_cost(warp_rule("ld.global.b32"), [8 * lane for lane in range(32)])
    (8, 4)
    """
    lanes = [address if lane < rule.address_lanes else None for lane, address in enumerate(addresses)]
    for lane, address in enumerate(lanes):
        if address is not None and address % rule.width_bytes:
            raise ValueError(f"lane {lane}'s address {address} is no multiple of {rule.width_bytes}")
    if rule.sectors:
        busy = [address for address in lanes if address is not None]
        return len({address // SECTOR_BYTES for address in busy}), filled(rule, len(busy))
    if rule.octets:
        lanes = _copying(lanes)
    size = rule.group_lanes
    if rule.joins and any(_agree(lanes, distance) for distance in (1, 2)):
        size = rule.joined_lanes
    wavefronts = minimum = 0
    for start, end in pairwise(range(0, LANES + 1, size)):
        group = {lane: address for lane in range(start, end) if (address := lanes[lane]) is not None}
        if group:
            minimum += 1
            wavefronts += _octet(group) if rule.octets else _banks(rule, list(group.values()))
    return wavefronts, minimum


def filled(rule: WarpRule, lanes: int) -> int:
    """The sectors that the bytes of so many lanes fill.

    >>> filled(warp_rule("st.global.b32"), 9)
    2
    """
    return (lanes * rule.width_bytes + SECTOR_BYTES - 1) // SECTOR_BYTES


def _agree(lanes: Sequence[int | None], distance: int) -> bool:
    pairs = [(lanes[lane], lanes[lane ^ distance]) for lane in range(LANES)]
    return all(a is None or b is None or a == b for a, b in pairs)


def _banks(rule: WarpRule, addresses: list[int]) -> int:
    words = [
        address // WORD_BYTES + word for address in addresses for word in range(max(1, rule.width_bytes // WORD_BYTES))
    ]
    counted = words if rule.repeats else set(words)
    banks = [word % (LINE_BYTES // WORD_BYTES) for word in counted]
    return max(banks.count(bank) for bank in set(banks))


def _copying(lanes: Sequence[int | None]) -> list[int | None]:
    """Of the lanes with one address, anywhere in the warp, only the lowest is left."""
    return [None if address in lanes[:lane] else address for lane, address in enumerate(lanes)]


def _octet(group: dict[int, int]) -> int:
    """The cost of an octet's copying lanes, one at least; each class costs 1 or 2."""
    classes: dict[tuple[int, int, int, int], tuple[set[int], set[int]]] = {}
    for lane, address in group.items():
        other = group.get(lane ^ 1)
        both = other is not None and other // SECTOR_BYTES == address // SECTOR_BYTES
        half, sector = lane % 2, lane // 2 % 4
        if both and half:
            continue  # the even lane stands for both
        moved = sector ^ address // SECTOR_BYTES % 4
        kind = 2 if both else half
        key = (address // LINE_BYTES, kind, half ^ address // CHUNK_BYTES % 2, moved % 2)
        classes.setdefault(key, (set(), set()))[sector % 2].add(moved // 2)
    return sum(max(len(even), len(odd)) for even, odd in classes.values())

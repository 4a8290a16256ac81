"""What one warp instruction costs, from lane addresses (docs/semantics.md, section 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .oracle_errors import OracleError

_KIB = {
    227: ("90", "90a", *(f"{n}{letter}" for n in (100, 101, 103, 110) for letter in ("", "a", "f"))),
    163: ("80", "87"),
    99: ("86", "88", "89", *(f"{n}{letter}" for n in (120, 121) for letter in ("", "a", "f"))),
    96: ("70", "72"),
    64: ("75",),
}
SHARED_MEMORY_BYTES = {f"sm_{number}": 1024 * size for size, numbers in _KIB.items() for number in numbers}
"""Of each target the most that a block may have."""
FIRST_TARGETS = {"ldmatrix": 75, "cp.async": 80, "stmatrix": 90, "tma": 90}
"""The targets with which instructions begin to exist."""


def has(target: str, what: str) -> bool:
    """Whether the target has an instruction, or TMA.

    >>> has("sm_89", "stmatrix.x4"), has("sm_90a", "tma"), has("sm_100", "ldmatrix.x4"), has("sm_75", "cp.async.4")
    (False, True, True, False)
    """
    number = int(target.removeprefix("sm_").rstrip("af"))
    return all(number >= first for prefix, first in FIRST_TARGETS.items() if what.startswith(prefix))


def check_target(name: str, target: str) -> None:
    """Refuse an instruction that the target lacks."""
    if not has(target, name):
        raise OracleError(f"{target} has no {name}", "SWZ403")


@dataclass(frozen=True, slots=True)
class Instruction:
    """Kind (load, store, matrix, atomic, copy, copy past L1), bytes per lane, number of lanes with
    an address, and whether they are addresses of global memory.
    """

    kind: str
    width_bytes: int
    lanes: int = 32
    of_global_memory: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """The wavefronts of one warp instruction, and the least that its groups need."""

    wavefronts: int
    minimum: int

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond those that the same lanes would need if no two met in a bank."""
        return self.wavefronts - self.minimum


_CACHES = r"(?:\.(?:ca|cg|cs|nc|wb|wt))*(?:\.L[12]::\w+)*"


@lru_cache(maxsize=256)
def read_instruction(name: str) -> Instruction:
    """The instruction of a PTX name.

    >>> read_instruction("ld.shared.v4.f32")
    Instruction(kind='load', width_bytes=16, lanes=32, of_global_memory=False)
    """
    if match := re.fullmatch(r"(ld|st)\.shared\.(?:v([24])\.)?[busf](8|16|32|64)", name):
        width = int(match[2] or 1) * int(match[3]) // 8
        if width > 16:
            raise OracleError(f"{name} is wider than 16 bytes")
        return Instruction("load" if match[1] == "ld" else "store", width)
    if match := re.fullmatch(rf"(ld|st)\.global{_CACHES}(?:\.v([24]))?\.[busf](8|16|32|64)", name):
        width = int(match[2] or 1) * int(match[3]) // 8
        if width > 16:
            raise OracleError(f"{name} is wider than 16 bytes", "SWZ401")
        return Instruction("load" if match[1] == "ld" else "store", width, of_global_memory=True)
    if match := re.fullmatch(
        r"(?:ld|st)matrix(?:\.sync)?(?:\.aligned)?(?:\.m8n8)?\.x([124])(?:\.trans)?(?:\.shared)?(?:\.b16)?",
        name,
    ):
        return Instruction("matrix", 16, 8 * int(match[1]))
    if name == "cp.async.16":
        return Instruction("copy past L1", 16)
    if match := re.fullmatch(r"cp\.async\.(4|8|ca\.16)", name):
        return Instruction("copy", int(match[1].removeprefix("ca.")))
    if name == "atom.shared.add.u32":
        return Instruction("atomic", 4)
    raise OracleError(f"{name!r} is no instruction")


def warp_cost(instruction: Instruction, addresses: Sequence[int | None]) -> Cost:
    """The cost of one warp instruction; None stands for a lane without an address.

    Adding a multiple of 128 bytes to all addresses moves every word by a multiple of 32 and every
    line by a whole number, so it changes neither banks, nor chunks within a line, nor which words,
    lines or addresses are equal: equal patterns share a result.
    """
    lowest = min((a for a in addresses if a is not None), default=0) // 128 * 128
    return _cost(instruction, tuple([None if a is None else a - lowest for a in addresses]))


@lru_cache(maxsize=1 << 16)
def _cost(instruction: Instruction, addresses: tuple[int | None, ...]) -> Cost:
    if instruction.kind == "copy past L1":
        return _copy16_cost(addresses)
    words = max(1, instruction.width_bytes // 4)
    lanes_per_group = 32 // words
    if instruction.kind == "load" and words > 1 and any(_pairs_agree(addresses, d) for d in (1, 2)):
        lanes_per_group *= 2
    every_lane_counts = instruction.kind in ("atomic", "copy")
    wavefronts = minimum = 0
    for first in range(0, 32, lanes_per_group):
        active = [a for a in addresses[first : first + lanes_per_group] if a is not None]
        if not active:
            continue
        touched = [a // 4 + q for a in active for q in range(words)]
        per_bank = [0] * 32
        for word in touched if every_lane_counts else set(touched):
            per_bank[word % 32] += 1
        wavefronts += max(per_bank)
        minimum += 1
    return Cost(wavefronts, minimum)


def _pairs_agree(addresses: tuple[int | None, ...], d: int) -> bool:
    for lane in range(32):
        mine, other = addresses[lane], addresses[lane ^ d]
        if mine is not None and other is not None and mine != other:
            return False
    return True


def _copy16_cost(addresses: tuple[int | None, ...]) -> Cost:
    """The rule of its own: every octet's classes of units, in plain steps."""
    copies: list[int | None] = []
    for address in addresses:
        repeated = address is not None and address in copies
        copies.append(None if repeated else address)
    wavefronts = octets = 0
    for first in range(0, 32, 8):
        octet = copies[first : first + 8]
        wavefronts += _octet_wavefronts(octet)
        octets += any(address is not None for address in octet)
    return Cost(wavefronts, octets)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The cost of copies with sources: exact, or at least so much."""

    cost: Cost
    exact: bool


def sourced_cost(addresses: Sequence[int | None], sources: Sequence[int]) -> Bounds:
    """The rule for `cp.async.16` with `source:`, word by word; None for a lane that is not active."""
    copying: list[tuple[int, int, int]] = []  # lane, where it writes, where it reads
    written: set[int] = set()
    for lane, address in enumerate(addresses):
        if address is not None and address not in written:
            written.add(address)
            copying.append((lane, address, sources[lane]))
    left = list(copying)
    units: list[tuple[str, int, int]] = []  # kind, where its even half or its only half writes, and reads
    while left:
        _, address, source = left.pop(0)
        mates = [each for each in left if each[2] == source ^ 16 and each[1] // 32 == address // 32]
        if mates:
            left.remove(mates[0])
            is_even = source // 16 % 2 == 0
            units.append(("both", address if is_even else mates[0][1], source if is_even else mates[0][2]))
        else:
            units.append(("even" if source // 16 % 2 == 0 else "odd", address, source))
    moves: dict[tuple[object, ...], tuple[set[int], set[int]]] = {}
    for kind, address, source in units:
        sector, place = source // 32 % 4, address // 32 % 4
        key = (source // 128, address // 128, kind, (source // 16 ^ address // 16) % 2, (sector ^ place) % 2)
        moves.setdefault(key, (set(), set()))[sector % 2].add((sector ^ place) // 2)
    wavefronts = sum(max(len(even), len(odd)) for even, odd in moves.values())
    octets = len({lane // 8 for lane, _, _ in copying})
    read = [source // 16 for _, _, source in copying]
    return Bounds(Cost(wavefronts, min(octets, wavefronts)), len(set(read)) == len(read))


def _octet_wavefronts(octet: list[int | None]) -> int:
    """The classes' costs of eight lanes that copy (None: that does not), lane 0 being a multiple
    of 8.
    """
    # Of each class: the pairs of sectors (p ^ P) / 2 that its units with even p have, and those
    # with odd p.
    classes: dict[tuple[int, int | str, int, int], tuple[set[int], set[int]]] = {}
    for s in range(4):
        even, odd = octet[2 * s], octet[2 * s + 1]
        units: list[tuple[int | str, int, int]] = []  # kind, h, address
        if even is not None and odd is not None and even // 32 == odd // 32:
            units.append(("both", 0, even))
        else:
            if even is not None:
                units.append((0, 0, even))
            if odd is not None:
                units.append((1, 1, odd))
        for kind, h, a in units:
            p, half, sector, line = s, a // 16 % 2, a // 32 % 4, a // 128
            key = (line, kind, h ^ half, (p ^ sector) % 2)
            by_parity = classes.setdefault(key, (set(), set()))
            by_parity[p % 2].add((p ^ sector) // 2)
    return sum(max(len(even_p), len(odd_p)) for even_p, odd_p in classes.values())

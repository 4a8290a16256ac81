"""What one warp instruction costs, from lane addresses (docs/semantics.md, section 4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from .oracle_errors import OracleError

SHARED_MEMORY_BYTES = {"sm_90": 227 * 1024}


@dataclass(frozen=True, slots=True)
class Instruction:
    """Kind (load, store, matrix, atomic, copy, copy past L1), bytes a lane, and the number of lanes with an address."""

    kind: str
    width_bytes: int
    lanes: int = 32


@dataclass(frozen=True, slots=True)
class Cost:
    """Bounds of the wavefronts of one warp instruction, and the least that its groups need."""

    lower: int
    upper: int
    minimum: int


@lru_cache(maxsize=256)
def read_instruction(name: str) -> Instruction:
    """The instruction of a PTX name.

    >>> read_instruction("ld.shared.v4.f32")
    Instruction(kind='load', width_bytes=16, lanes=32)
    """
    if match := re.fullmatch(r"(ld|st)\.shared\.(?:v([24])\.)?[busf](8|16|32|64)", name):
        width = int(match[2] or 1) * int(match[3]) // 8
        if width > 16:
            raise OracleError(f"{name} is wider than 16 bytes")
        return Instruction("load" if match[1] == "ld" else "store", width)
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

    Adding a multiple of 128 bytes to all addresses moves every word by a multiple of 32 and every line by a
    whole number, so it changes neither banks nor which words, keys or addresses are equal: equal patterns
    share a result.
    """
    lowest = min((a for a in addresses if a is not None), default=0) // 128 * 128
    return _cost(instruction, tuple([None if a is None else a - lowest for a in addresses]))


@lru_cache(maxsize=1 << 16)
def _cost(instruction: Instruction, addresses: tuple[int | None, ...]) -> Cost:
    if instruction.kind == "copy past L1":
        return _copy16_cost(addresses)
    words = max(1, instruction.width_bytes // 4)
    lanes_a_group = 32 // words
    if instruction.kind == "load" and words > 1 and any(_pairs_agree(addresses, d) for d in (1, 2)):
        lanes_a_group *= 2
    every_lane_counts = instruction.kind in ("atomic", "copy")
    wavefronts = minimum = 0
    for first in range(0, 32, lanes_a_group):
        active = [a for a in addresses[first : first + lanes_a_group] if a is not None]
        if not active:
            continue
        touched = [a // 4 + q for a in active for q in range(words)]
        per_bank = [0] * 32
        for word in touched if every_lane_counts else set(touched):
            per_bank[word % 32] += 1
        wavefronts += max(per_bank)
        minimum += 1
    return Cost(wavefronts, wavefronts, minimum)


def _pairs_agree(addresses: tuple[int | None, ...], d: int) -> bool:
    for lane in range(32):
        mine, other = addresses[lane], addresses[lane ^ d]
        if mine is not None and other is not None and mine != other:
            return False
    return True


def _copy16_cost(addresses: tuple[int | None, ...]) -> Cost:
    upper = octets = 0
    for first in range(0, 32, 8):
        keys = [
            None if a is None else (a // 128, a // 16 % 8 ^ lane % 8)
            for lane, a in enumerate(addresses[first : first + 8])
        ]
        units: set[tuple[tuple[int, int], int]] = set()
        for lane in range(0, 8, 2):
            left, right = keys[lane], keys[lane + 1]
            if left is not None and left == right:
                units.add((left, 2))
                continue
            if left is not None:
                units.add((left, 0))
            if right is not None:
                units.add((right, 1))
        upper += len(units)
        octets += bool(units)
    present = [a for a in addresses if a is not None]
    distinct = len(set(present))
    lower = octets if distinct == len(present) else -(-distinct // 8)
    return Cost(lower, upper, octets)

"""The number of sectors of global memory that a warp instruction touches, in two forms.

`sector_cost` follows the definition byte by byte, in plain integers; it is the one to check.
`sectors_many` is for exhaustive search over many warps: aligned lanes touch one sector each, which
it counts by sorting. The two share no code, so each tests the other.

Source: CUDA C++ Best Practices Guide 13, "Coalesced Access to Global Memory": a warp's accesses
become as many transactions of 32 bytes as are needed to serve all its threads (from compute
capability 6.0 on). docs/semantics.md, section 4, has the definition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swzverify.errors import SwzError
from swzverify.hardware.global_memory import find_any_instruction
from swzverify.hardware.instructions import LANES, SECTOR_BYTES, Instruction
from swzverify.hardware.octets import BoolArray, IntArray, check_warps, first_of_run
from swzverify.ir.whole import whole


@dataclass(frozen=True, slots=True)
class SectorCost:
    """The sectors that one warp instruction touches, with the lanes that touch each.

    The number of a sector is its first byte's address divided by 32. `minimum` is what as many active
    lanes need if all their bytes are different.
    """

    lanes_of: dict[int, tuple[int, ...]]
    minimum: int

    @property
    def sectors(self) -> int:
        """The number of different sectors."""
        return len(self.lanes_of)


def sector_cost(instruction: str | Instruction, byte_addresses: Sequence[int | None]) -> SectorCost:
    """The sectors of one warp instruction from its 32 byte addresses, None for an inactive lane.

    Raises:
        SwzError: SWZ401 for a wrong instruction, SWZ404 for wrong addresses, SWZ409 for an instruction
            of shared memory.

    >>> sector_cost("ld.global.f32", [4 * lane for lane in range(32)]).sectors
    4
    >>> cost = sector_cost("ld.global.f32", [4 * lane + 4 for lane in range(32)])
    >>> cost.sectors, cost.minimum
    (5, 4)
    """
    row = _of_global_memory(instruction)
    if len(byte_addresses) != LANES:
        raise SwzError("SWZ404", f"{row.name}: {len(byte_addresses)} addresses given, a warp has {LANES} lanes")
    lanes_of: dict[int, list[int]] = {}
    active = 0
    for lane, address in enumerate(byte_addresses):
        if address is None:
            continue
        first = whole(address)
        if first is None or first < 0 or first % row.width_bytes:
            raise _misaligned(row, lane, address)
        active += 1
        for sector in sorted({(first + byte) // SECTOR_BYTES for byte in range(row.width_bytes)}):
            lanes_of.setdefault(sector, []).append(lane)
    minimum = -(-active * row.width_bytes // SECTOR_BYTES)
    return SectorCost({sector: tuple(lanes) for sector, lanes in sorted(lanes_of.items())}, minimum)


def sectors_many(instruction: str | Instruction, addresses: IntArray, active: BoolArray) -> tuple[IntArray, IntArray]:
    """The (sectors, minimum) of n warp instructions, each int64 of shape (n,).

    `addresses` are byte addresses of shape (n, 32), and `active` says in the same shape which lanes are
    active. The address of an inactive lane is ignored.

    Raises:
        SwzError: SWZ401, SWZ404 and SWZ409, as `sector_cost`.

    >>> strided = np.arange(32)[None, :] * np.array([4, 8, 128])[:, None]
    >>> sectors_many("ld.global.b32", strided, np.ones((3, 32), dtype=bool))[0].tolist()
    [4, 8, 32]
    """
    row = _of_global_memory(instruction)
    check_warps(row, addresses, active)
    held = np.where(active, addresses.astype(np.int64, copy=False), 0)
    wrong = np.argwhere((held < 0) | (held % row.width_bytes != 0))
    if wrong.size:
        at, lane = (int(i) for i in wrong[0])
        raise _misaligned(row, lane, int(held[at, lane]))
    first = first_of_run(np.sort(np.where(active, held // SECTOR_BYTES, -1), axis=1))
    count = active.sum(axis=1, dtype=np.int64)
    return first.sum(axis=1, dtype=np.int64), (count * row.width_bytes + SECTOR_BYTES - 1) // SECTOR_BYTES


def _of_global_memory(instruction: str | Instruction) -> Instruction:
    row = find_any_instruction(instruction) if isinstance(instruction, str) else instruction
    if not row.is_global:
        raise SwzError(
            "SWZ409",
            f"{row.name} goes to {row.space}, and sectors are counted of global memory",
            hint="access_cost counts what an access to shared memory takes",
        )
    return row


def _misaligned(row: Instruction, lane: int, address: object) -> SwzError:
    return SwzError(
        "SWZ404",
        f"{row.name}: lane {lane} has address {address!r}, not a non-negative multiple of {row.width_bytes} bytes",
        hint="a misaligned access faults on the GPU",
    )

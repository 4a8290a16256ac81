"""The cost of warp instructions on the device: address patterns, their kernels and model costs.

A pattern is the 32 addresses and the active lanes of one warp instruction. Moving all addresses by
a multiple of 128 bytes changes no bank, so patterns are counted from the last such multiple below
the lowest address.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.gpu.asm import statement
from swzverify.gpu.cuda import cuda_text
from swzverify.gpu.source import PRELUDE
from swzverify.hardware import BANK_PERIOD_BYTES, INSTRUCTIONS, LANES, Instruction, cost_many, find_instruction
from swzverify.hardware.instructions import Kind

UNROLL = 8
"""Warp instructions of a burst, which is what a counted launch runs."""
TIMED_WARPS = 8
SHORT_BURSTS, LONG_BURSTS = 16, 80
SOURCE_BYTES = 1 << 17
"""The bytes that copies read in turn: more than a first-level cache beside shared memory holds."""

Addresses = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns of one instruction: byte addresses (n, 32), from 0, and active lanes (n, 32)."""

    instruction: Instruction
    addresses: Addresses
    active: Mask

    def __len__(self) -> int:
        """The number of patterns."""
        return len(self.addresses)

    @property
    def window_bytes(self) -> int:
        """The shared memory that they need."""
        return int(self.addresses.max(initial=0)) + self.instruction.width_bytes

    def predicted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(wavefronts, bank conflicts) of each by the rule."""
        costs = cost_many(self.instruction, self.addresses, self.active)
        return costs.wavefronts, costs.bank_conflicts

    def chosen(self, rows: Sequence[int] | NDArray[np.intp]) -> Patterns:
        """Some of the patterns, by their numbers."""
        return Patterns(self.instruction, self.addresses[rows], self.active[rows])


def patterns(instruction: Instruction, addresses: Addresses, active: Mask) -> Patterns:
    """The distinct patterns among some, from 0, warps without an active lane left out.

    >>> row = np.arange(32)[None, :] * 4
    >>> both = patterns(find_instruction("ld.shared.b32"), np.concatenate([row, row + 256]), np.ones((2, 32), bool))
    >>> len(both), int(both.addresses.max())
    (1, 124)
    """
    active = active.copy()
    active[:, instruction.address_lanes :] = False
    some = active.any(axis=1)
    addresses, active = addresses[some], active[some]
    lowest = np.where(active, addresses, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    origin = lowest // BANK_PERIOD_BYTES * BANK_PERIOD_BYTES
    moved = np.where(active, addresses - origin[:, None], 0)
    both = np.unique(np.concatenate([moved, active.astype(np.int64)], axis=1), axis=0)
    return Patterns(instruction, both[:, :LANES], both[:, LANES:].astype(bool))


def joined(parts: Iterable[Patterns]) -> dict[str, Patterns]:
    """The distinct patterns of each instruction's name."""
    by_name: dict[str, list[Patterns]] = {}
    for part in parts:
        by_name.setdefault(part.instruction.name, []).append(part)
    return {
        name: patterns(
            find_instruction(name),
            np.concatenate([each.addresses for each in these]),
            np.concatenate([each.active for each in these]),
        )
        for name, these in by_name.items()
    }


def masks(active: Mask) -> NDArray[np.uint32]:
    """Pack the active lanes of each pattern into the bits of a word."""
    weights = np.uint32(1) << np.arange(LANES, dtype=np.uint32)
    return (active.astype(np.uint32) * weights).sum(axis=1, dtype=np.uint32)


def pattern_text(each: Patterns, index: int) -> str:
    """A pattern in words, for a report of a disagreement."""
    addresses = [int(a) if on else None for a, on in zip(each.addresses[index], each.active[index], strict=True)]
    return f"addresses {str(addresses).replace('None', '-')}"


def kernel_name(kind: str, instruction: Instruction) -> str:
    """`counted_` or `timed_`, and the instruction's name as an identifier."""
    return f"{kind}_{instruction.name.replace('.', '_')}"


def cost_source(names: Sequence[str]) -> str:
    """The kernels of some instructions, with what they need."""
    return f"{PRELUDE}\n{cost_kernels(names)}"


def cost_kernels(names: Sequence[str]) -> str:
    """The kernels of some instructions, counted and timed."""
    return "\n".join([_OFFSETS, *(_kernels(INSTRUCTIONS[name]) for name in names)])


_OFFSETS = "struct Offsets { uint32_t at[32]; };\n"


def _kernels(row: Instruction) -> str:
    """The template of `cost.cuh` for an instruction."""
    copies = row.kind is Kind.CP_ASYNC
    values = {
        "INSTRUCTION": row.name,
        "NAME": row.name.replace(".", "_"),
        "CONDITION": "true" if row.warp_wide else "active",
        "UNROLL": str(UNROLL),
        "STATEMENT": statement(row),
        "BEFORE": "const uint8_t* const first = from;\n    uint32_t turn = 0;" if copies else "",
        "ADVANCE": f"turn = (turn + {LANES * row.width_bytes}u) % {SOURCE_BYTES}u; from = first + turn;"
        if copies
        else "",
        "AFTER": 'asm volatile("cp.async.wait_all;" ::: "memory");' if copies else "",
        "WIDTH": str(row.width_bytes),
        "SHORT": str(SHORT_BURSTS),
        "LONG": str(LONG_BURSTS),
        "TIMED": str((LONG_BURSTS - SHORT_BURSTS) * UNROLL * TIMED_WARPS),
    }
    text = cuda_text("cost.cuh")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text

"""The cost of a warp instruction: wavefronts of shared memory, sectors of global memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.engines.obligations import Numbers, Truths
from swzverify.hardware import (
    CHUNK_BYTES,
    CostArrays,
    Instruction,
    access_cost,
    copies_many,
    cost_many,
    sector_cost,
    sectors_many,
)


@dataclass(frozen=True, slots=True)
class Price:
    """The cost of one warp instruction; sectors stand for wavefronts in global memory."""

    wavefronts: int
    minimum: int
    is_exact: bool = True
    """Whether it is no lower bound."""

    @property
    def bank_conflicts(self) -> int:
        """What it takes beyond the minimum; below 0 where lanes share so much that they need less."""
        return self.wavefronts - self.minimum


MISALIGNED = "an active lane's address is not a multiple of the width, which the cost rule presumes"
"""Why an engine has no answer on a cost: alignment is an obligation of its own."""


def are_aligned(row: Instruction, addresses: Numbers, active: Truths) -> bool:
    """Whether the cost rule speaks of these rows of 32 lanes."""
    used = slice(row.address_lanes)
    return not (addresses[:, used][active[:, used]] % row.width_bytes).any()


def price(row: Instruction, addresses: Sequence[int | None], sources: Sequence[int | None] | None = None) -> Price:
    """By the scalar rule, lane by lane; `sources` are what lanes of a copy read.

    >>> from swzverify.hardware import find_any_instruction
    >>> price(find_any_instruction("ld.global.f32"), [4 * lane for lane in range(32)])
    Price(wavefronts=4, minimum=4, is_exact=True)
    """
    if row.is_global:
        sectors = sector_cost(row, addresses)
        return Price(sectors.sectors, sectors.minimum)
    cost = access_cost(row, addresses, sources=sources)
    return Price(cost.wavefronts, cost.minimum, cost.is_exact)


def price_many(row: Instruction, addresses: Numbers, active: Truths) -> CostArrays:
    """Of many warp instructions, by the rule that sorts: it shares no code with `price`."""
    if row.is_global:
        return CostArrays(*sectors_many(row, addresses, active))
    return cost_many(row, addresses, active)


def price_copies(addresses: Numbers, sources: Numbers, active: Truths) -> tuple[CostArrays, bool]:
    """The costs of many copies of 16 bytes whose sources are known, and whether they are exact."""
    found = copies_many(addresses // CHUNK_BYTES, sources // CHUNK_BYTES, active)
    return CostArrays(found.wavefronts, found.minimum), bool(found.is_exact.all())

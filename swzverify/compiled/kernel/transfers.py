"""Bytes that barrier objects count: the instructions that announce them, and the bulk copies that bring them.

Source: PTX ISA 8.7, 9.7.13.15: mbarrier, expect-tx operation, complete-tx operation; 9.7.9.25 and 9.7.9.27:
cp.async.bulk and cp.async.bulk.tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.access import KernelAccess
from swzverify.compiled.ptx import Address, Instruction, Operand

_COMPLETES: Final = "mbarrier::complete_tx::bytes"


@dataclass(frozen=True, slots=True)
class TransferOperands:
    """The operands of an instruction that announces bytes to a barrier object, or brings them.

    Attributes:
        barrier: The barrier object.
        size: The bytes; None if a tensor map says how many.
        destination: Where a copy writes; None for an announcement.
    """

    barrier: Operand
    size: Operand | None
    destination: Operand | None = None

    @property
    def wanted(self) -> tuple[Operand, ...]:
        """The operands whose values are needed: the barrier object, the size and the destination."""
        return tuple(each for each in (self.barrier, self.size, self.destination) if each is not None)


@dataclass(frozen=True, slots=True, eq=False)
class KernelTransfer:
    """An instruction that announces bytes to a barrier object, or brings them; addresses are values.

    Attributes:
        block: The basic block of the instruction.
        barrier: The instruction; its `address` is that of the barrier object, of 64 bits.
        size: The same with the bytes as `address`; None if a tensor map says how many.
        destination: The same with the destination as `address`; None for an announcement.
        is_known: Whether the instruction does nothing else with barrier objects. If it is not, nothing is
            known of it but that it brings bytes.
    """

    block: int
    barrier: KernelAccess
    size: KernelAccess | None = None
    destination: KernelAccess | None = None
    is_known: bool = True

    @property
    def is_copy(self) -> bool:
        """Whether it brings bytes."""
        return self.destination is not None or not self.is_known


def brings_bytes(instruction: Instruction) -> bool:
    """Whether an instruction completes transactions of a barrier object."""
    words = instruction.opcode.split(".")
    return _COMPLETES in instruction.opcode or (words[0] == "mbarrier" and "complete_tx" in words)


def transfer_operands(instruction: Instruction) -> TransferOperands | None:
    """The operands of an announcement, or of a bulk copy into the block's own shared memory.

    None for other instructions, and for copies into several blocks or out of shared memory.
    """
    words, operands = instruction.opcode.split("."), instruction.operands
    places = [each for each in operands if isinstance(each, Address)]
    if words[0] == "mbarrier" and "expect_tx" in words and places:
        return TransferOperands(places[0], operands[-1])
    is_plain = words[:3] == ["cp", "async", "bulk"] and _COMPLETES in instruction.opcode
    if not is_plain or len(places) < 2 or "multicast::cluster" in words or "cta_group::2" in words:
        return None
    if operands[0] is not places[0] or not {"shared::cluster", "shared::cta"} & {*words[3:6]} or "global" not in words:
        return None
    return TransferOperands(places[-1], None if "tensor" in words else operands[2], places[0])

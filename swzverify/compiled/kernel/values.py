"""What an operand of an instruction holds; a value of its own if that cannot be read."""

from __future__ import annotations

from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Address, Instruction, Operand


def address_of(slices: Slices, operand: Address, instruction: Instruction) -> Steps:
    """The address that an operand names, of 64 bits."""
    value = yield from slices.place(operand, 64, instruction)
    return slices.opaque(instruction, 99, 64, "the address cannot be read") if value is None else value


def long_of(slices: Slices, operand: Operand, instruction: Instruction) -> Steps:
    """The 64 bits of an operand."""
    value = yield from slices.read(operand, 64, instruction)
    return slices.opaque(instruction, 97, 64, "the operand cannot be read") if value is None else value


def word_of(slices: Slices, operand: Operand, instruction: Instruction) -> Steps:
    """The 32 bits of an operand."""
    value = yield from slices.read(operand, 32, instruction)
    return slices.opaque(instruction, 98, 32, "the operand cannot be read") if value is None else value

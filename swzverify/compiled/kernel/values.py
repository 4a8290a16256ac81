"""What an operand of an instruction holds; a value of its own if that cannot be read."""

from __future__ import annotations

from swzverify.compiled.kernel.arithmetic import add, mul, widened
from swzverify.compiled.kernel.effects import width_of
from swzverify.compiled.kernel.fragments import Distance, Piece
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Address, Instruction, Operand, Register
from swzverify.ir.expr import Expr, const, extract

WORD_BITS = 32
_SHORT_BITS = (16, WORD_BITS)
"""The registers of numbers that are shorter than an address."""


def address_of(slices: Slices, operand: Address, instruction: Instruction) -> Steps:
    """The address that an operand names, of 64 bits."""
    value = yield from slices.place(operand, 64, instruction)
    return slices.opaque(instruction, 99, 64, "the address cannot be read") if value is None else value


def long_of(slices: Slices, operand: Operand, instruction: Instruction) -> Steps:
    """The 64 bits of an operand; those of the address if it is one, and of a shorter register with zeros."""
    if isinstance(operand, Address):
        return (yield from address_of(slices, operand, instruction))
    own = width_of(operand) if isinstance(operand, Register) else 64
    value = yield from slices.read(operand, own if own in _SHORT_BITS else 64, instruction)
    value = None if value is None else widened(value, 64)
    return slices.opaque(instruction, 97, 64, "the operand cannot be read") if value is None else value


def word_of(slices: Slices, operand: Operand, instruction: Instruction, bits: int = WORD_BITS) -> Steps:
    """The low bits of an operand, 32 of them if nothing else is said."""
    value = yield from slices.read(operand, bits, instruction)
    return slices.opaque(instruction, 98, bits, "the operand cannot be read") if value is None else value


def bit_of(slices: Slices, operand: Operand, instruction: Instruction) -> Steps:
    """A predicate."""
    value = yield from slices.read(operand, 1, instruction)
    return slices.opaque(instruction, 96, 1, "the operand cannot be read") if value is None else value


def piece_address(slices: Slices, place: Expr, piece: Piece, instruction: Instruction) -> Expr:
    """The address of each lane for a machine instruction of wmma, from the address of the PTX."""
    fragment = piece.fragment
    given = instruction.operands[2:]
    stride: Expr = const(fragment.dense_stride, 32)
    if given:
        stride = slices.run(word_of(slices, given[0], instruction))
    pitch = mul(stride, const(fragment.element_bytes, 32))

    def length(distance: Distance) -> Expr:
        return add(const(distance.bytes, 32), mul(pitch, const(distance.strides, 32)))

    address = add(widened(place, 32), length(piece.start))
    lane = slices.leaves.lane("laneid", 32)
    for low, bits, distance in fragment.fields():
        address = add(address, mul(widened(extract(lane, low, bits), 32), length(distance)))
    return address

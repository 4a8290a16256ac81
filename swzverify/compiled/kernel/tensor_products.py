"""The operands of `tcgen05.mma`, as they stand in the text.

Source: PTX ISA 8.7, 9.7.16.10.9: tcgen05.mma.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from swzverify.compiled.ptx import Address, Instruction, Operand, Vector
from swzverify.hardware.instruction_descriptors import kind_of
from swzverify.hardware.tensor_cores import OperandRole

_LEAST: Final = 5
"""Operands without a mask of lanes and a scale: D, A, B, the instruction descriptor and enable-input-d."""


@dataclass(frozen=True, slots=True)
class ProductOperands:
    """The operands of a `tcgen05.mma`.

    Attributes:
        sums: Where D lies in tensor memory.
        descriptors: The matrix descriptors of A and B, as far as these are in shared memory.
        shape: The instruction descriptor.
        left_out: The words that say of which lanes of D nothing is written.
        enable: The predicate that says whether D is added to.
        is_scaled: Whether D is scaled before.
    """

    sums: Address
    descriptors: tuple[tuple[OperandRole, Operand], ...]
    shape: Operand
    left_out: tuple[Operand, ...]
    enable: Operand
    is_scaled: bool


def product_operands(instruction: Instruction) -> ProductOperands | None:
    """The operands of a `tcgen05.mma` whose rule is known; None of other instructions."""
    if kind_of(instruction.opcode) is None or len(instruction.operands) < _LEAST:
        return None
    sums, a, b, shape, *rest = instruction.operands
    left_out = rest.pop(0) if isinstance(rest[0], Vector) else None
    if not isinstance(sums, Address) or not 1 <= len(rest) <= 2:
        return None
    return ProductOperands(
        sums,
        (*(() if isinstance(a, Address) else ((OperandRole.A, a),)), (OperandRole.B, b)),
        shape,
        left_out.items if isinstance(left_out, Vector) else (),
        rest[0],
        is_scaled=len(rest) > 1,
    )

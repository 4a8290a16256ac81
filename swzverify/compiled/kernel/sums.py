"""To which registers instructions of the tensor core add their products.

Source: PTX ISA 8.7, 9.7.15.5.2: wgmma.mma_async, scale-d, imm-scale-a and imm-scale-b.
"""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.compiled.kernel.effects import registers_in, written
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import bit_of
from swzverify.compiled.ptx import Immediate, Instruction, Operand
from swzverify.ir.expr import Const

_SCALE_D = 3
_SIGNS = slice(4, 6)


@dataclass(frozen=True, slots=True)
class Sums:
    """The registers to which a product is added, for comparisons inside one basic block.

    Attributes:
        registers: The operand D.
        signs: What A and B are multiplied by: 1 or -1.
        resets: How many instructions of the block, up to this one, surely start these sums anew.
        writes: How many instructions up to this one may write other values into these registers.
    """

    registers: Operand
    signs: tuple[int, ...]
    resets: int
    writes: int


def sums_of(slices: Slices, forms: Forms, instruction: Instruction) -> Sums:
    """The sums of an instruction of the tensor core."""
    block = slices.flow.blocks[slices.flow.block_of[instruction.index]]
    own = instruction.operands[0]
    registers, resets, writes = set(registers_in(own)), 0, 0
    for each in slices.function.instructions[block.start : instruction.index + 1]:
        if each.opcode.startswith("wgmma.mma_async"):
            if registers.isdisjoint(registers_in(each.operands[0])):
                continue
            adds = _adds(slices, forms, each)
            resets += adds is False and each.operands[0] == own
            writes += adds is not True or each.operands[0] != own
        elif any(not registers.isdisjoint(registers_in(target)) for target in written(each)):
            writes += 1
    signs = tuple(each.value for each in instruction.operands[_SIGNS] if isinstance(each, Immediate))
    return Sums(own, signs, resets, writes)


def _adds(slices: Slices, forms: Forms, instruction: Instruction) -> bool | None:
    """Whether an instruction adds to its sums, or replaces them; None if that is not known."""
    if len(instruction.operands) <= _SCALE_D:
        return None
    value = forms.resolve(slices.run(bit_of(slices, instruction.operands[_SCALE_D], instruction)))
    return bool(value.value) if isinstance(value, Const) else None

"""To which registers instructions of the tensor core add their products.

Source: PTX ISA 8.7, 9.7.15.5.2: wgmma.mma_async, scale-d, imm-scale-a and imm-scale-b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from swzverify.compiled.kernel.effects import registers_in, written
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import bit_of
from swzverify.compiled.ptx import Immediate, Instruction, Operand, Register
from swzverify.ir.expr import Const

_SCALE_D = 3
_SIGNS = slice(4, 6)


Writers: TypeAlias = Mapping[Register, Sequence[Instruction]]
"""The instructions that write each register, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Sums:
    """The registers to which a product is added.

    Attributes:
        registers: The operand D; of `mma.sync`, the place of the first product that is added to the sums in its block;
            of `tcgen05.mma`, a name for what may be the same tensor memory.
        signs: What A and B are multiplied by: 1 or -1.
        resets: How many instructions of the basic block, up to this one, surely start these sums anew.
        writes: How many instructions of the basic block, up to this one, may write other values into these registers.
            Of `tcgen05.mma`, barriers count, too, at which other threads may have written them.
        carried: The headers of loops around the instruction in which nothing but such instructions writes these
            registers, all of which surely add to them.
        kept: The headers of such loops in which each of these instructions may add: no other one writes the
            registers, and none surely starts them anew.
        earlier: Of `mma.sync`, the `registers` of other products, in any trip, whose results may be in these sums; None
            if they are not known.
    """

    registers: Operand | int | str
    signs: tuple[int, ...]
    resets: int
    writes: int
    carried: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    earlier: frozenset[int] | None = None


def writers_of(slices: Slices) -> Writers:
    """Which instructions write each register."""
    found: dict[Register, list[Instruction]] = {}
    for each in slices.function.instructions:
        for register in {register for target in written(each) for register in registers_in(target)}:
            found.setdefault(register, []).append(each)
    return found


def sums_of(slices: Slices, forms: Forms, writers: Writers, instruction: Instruction) -> Sums:
    """The sums of an instruction of the tensor core."""
    flow, own = slices.flow, instruction.operands[0]
    block = flow.block_of[instruction.index]
    # One instruction writes many of these registers, and is looked at once.
    writing = {each.index: each for register in registers_in(own) for each in writers.get(register, ())}
    adds = {index: _adds(slices, forms, each, own) for index, each in writing.items()}
    before = [adds[index] for index in adds if flow.block_of[index] == block and index <= instruction.index]
    signs = tuple(each.value for each in instruction.operands[_SIGNS] if isinstance(each, Immediate))
    inside = {
        loop.header: [index for index in adds if flow.block_of[index] in loop.blocks] for loop in flow.around(block)
    }
    carried = frozenset(header for header, every in inside.items() if all(adds[each] for each in every))
    kept = frozenset(
        header
        for header, every in inside.items()
        if all(adds[each] is not False and _is_product(writing[each], own) for each in every)
    )
    resets, writes = before.count(False), len(before) - before.count(True)
    return Sums(own, signs, resets, writes, carried, kept)


def _adds(slices: Slices, forms: Forms, instruction: Instruction, sums: Operand) -> bool | None:
    """Whether an instruction adds to some sums, or starts them anew; None if it does neither, or perhaps."""
    if not _is_product(instruction, sums):
        return None
    value = forms.resolve(slices.run(bit_of(slices, instruction.operands[_SCALE_D], instruction)))
    return bool(value.value) if isinstance(value, Const) else None


def _is_product(instruction: Instruction, sums: Operand) -> bool:
    """Whether an instruction multiplies for some sums."""
    is_wgmma = instruction.opcode.startswith("wgmma.mma_async") and len(instruction.operands) > _SCALE_D
    return is_wgmma and instruction.operands[0] == sums

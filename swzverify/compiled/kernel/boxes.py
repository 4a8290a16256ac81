"""How many bytes a bulk copy moves: its size operand says it, or the box of its tensor map, if that is given.

Source: PTX ISA 8.7, 9.7.9.27: cp.async.bulk.tensor; 5.5: tensors, tile mode.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.bulk import Bulk
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import long_of, word_of
from swzverify.compiled.ptx import Bracketed, Instruction
from swzverify.ir.expr import Expr, const

_OTHER_MODES: Final = ("im2col", "tile::")
"""How the names of modes begin in which a copy moves something else than one box."""


def bytes_of(slices: Slices, bulk: Bulk, instruction: Instruction) -> Expr | None:
    """The bytes of a bulk copy as 32 bits; None if a tensor map says how many that nobody gave."""
    if bulk.size_operand is None:
        size = box_bytes(slices, instruction)
        return None if size is None else const(size, 32)
    operands = instruction.operands[bulk.size_operand : bulk.size_operand + 1]
    return next((slices.run(word_of(slices, each, instruction)) for each in operands), None)


def box_bytes(slices: Slices, instruction: Instruction) -> int | None:
    """The bytes of the box that a tensor copy moves, if its tensor map is a parameter whose box is given."""
    boxes = slices.arguments.boxes
    tensor = next((each for each in instruction.operands if isinstance(each, Bracketed)), None)
    if not boxes or tensor is None or not moves_one_box(instruction):
        return None
    place = slices.run(long_of(slices, tensor.items[0], instruction))
    generic = sub(place, slices.symbols.window("param", 64))
    found = slices.symbols.parameter(place) or slices.symbols.parameter(generic)
    return None if found is None else boxes.get(found)


def moves_one_box(instruction: Instruction) -> bool:
    """Whether a tensor copy moves one box of its tensor map, and nothing else."""
    return not any(word.startswith(_OTHER_MODES) for word in instruction.opcode.split("."))

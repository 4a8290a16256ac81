"""What a bulk copy moves: its size operand says how many bytes, or the box of its tensor map, if that is given.

Source: PTX ISA 8.7, 9.7.9.27: cp.async.bulk.tensor; 5.5: tensors, tile mode.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arguments import Box
from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.bulk import Bulk
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import parameter_variable
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import long_of, word_of
from swzverify.compiled.ptx import Bracketed, Instruction
from swzverify.ir.expr import Expr, const

_POINTER_BYTES: Final = 8
_OTHER_MODES: Final = ("im2col", "tile::")
"""How the names of modes begin in which a copy moves something else than one box."""


def bytes_of(slices: Slices, bulk: Bulk, instruction: Instruction) -> Expr | None:
    """The bytes of a bulk copy as 32 bits; None if a tensor map says how many that nobody gave."""
    if bulk.size_bytes:
        return const(bulk.size_bytes, 32)
    if bulk.size_operand is None:
        box = box_of(slices, instruction)
        return None if box is None else const(box.size_bytes, 32)
    operands = instruction.operands[bulk.size_operand : bulk.size_operand + 1]
    return next((slices.run(word_of(slices, each, instruction)) for each in operands), None)


def box_of(slices: Slices, instruction: Instruction) -> Box | None:
    """The box that a tensor copy moves, if its tensor map is a parameter whose box is given."""
    found = map_of(slices, instruction) if slices.arguments.boxes and moves_one_box(instruction) else None
    return None if found is None else slices.arguments.boxes.get(found)


def map_of(slices: Slices, instruction: Instruction) -> tuple[str, int] | None:
    """The parameter that has the tensor map of a copy, or a pointer to it, and the byte in it at which that begins."""
    tensor = next((each for each in instruction.operands if isinstance(each, Bracketed)), None)
    if tensor is None:
        return None
    place = slices.run(long_of(slices, tensor.items[0], instruction))
    generic = sub(place, slices.symbols.window("param", 64))
    found = slices.symbols.parameter(place) or slices.symbols.parameter(generic)
    if found is None and not any(base_name(each) == "tensormap" for each in slices.function.instructions):
        # A map in global memory is what the host gives as long as no instruction of the kernel changes maps.
        pointers = (each for each in slices.arguments.boxes if place is parameter_variable(*each, _POINTER_BYTES))
        found = next(pointers, None)
    return found


def moves_one_box(instruction: Instruction) -> bool:
    """Whether a tensor copy moves one box of its tensor map, and nothing else."""
    return not any(word.startswith(_OTHER_MODES) for word in instruction.opcode.split("."))

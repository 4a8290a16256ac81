"""Atomics that the chip runs in parts, what ptxas may make of an atomic, and whether a result is read.

Source: measured on an H200, tests/data/h200_atomics.npz: atomics in parts take their fewest
wavefronts exactly where no two lanes of a group have words of one bank, equal words counted; SASS
has a compare-and-swap, or a loop of loads and compare-and-swaps. What ptxas makes of the others was
read from its machine code: ptxas 13.0 for sm_75 to sm_121, tests/kernel/test_atomics.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel.effects import registers_in, registers_of, written
from swzverify.compiled.ptx import Function, Immediate, Instruction, Register
from swzverify.hardware import BANK_PERIOD_BYTES, find_instruction
from swzverify.hardware import Instruction as Row
from swzverify.ir.expr import Expr, const

IN_PARTS: Final = "the chip runs it as several instructions: the wavefronts are not given"
_ORDER: Final = r"(?:\.(?:relaxed|acquire|release|acq_rel|cta|cluster|gpu|sys))*"
_PARTS: Final = re.compile(
    rf"(?:atom|red){_ORDER}\.shared(?:::cta)?"
    r"\.(?:(?P<four>cas\.b32|add\.f32|add\.noftz\.f16x2)|cas\.b64|exch\.b64|add\.u64|and\.b64|add\.f64)"
)
_INCREMENTS: Final = {"add": 1, "inc": 0xFFFFFFFF}
"""Operations that add 1 with such an operand."""
_REDUCED: Final = frozenset({"add", "min", "max", "and", "or", "xor"})
"""Operations of 32-bit integers that ptxas reduces over the lanes of a warp that have one address."""


@dataclass(frozen=True, slots=True)
class Merging:
    """What ptxas may make of an atomic.

    - `of_words`: lanes of one word count once (ATOMS.POPC.INC): True if ptxas does so from -O1 on for
      sm_80 and later targets, None if it may, False if it does not. No earlier target has it.
    - `of_warps`: if all lanes of the warp have one address, one of them may do the atomic for all.
    """

    of_words: bool | None = False
    of_warps: bool = False


NOT_MERGED: Final = Merging()


def merging(instruction: Instruction, value: Expr, *, is_used: bool) -> Merging:
    """What ptxas may make of an atomic with this last operand.

    `is_used` says whether some instruction reads its result.
    """
    words = instruction.opcode.split(".")
    operation = next((each for each in words if each in _REDUCED | _INCREMENTS.keys()), "")
    if words[-1] == "u64" and operation == "add":
        # ptxas 13.0 does so for a number, which it multiplies, and not for a register.
        return Merging(of_warps=True)
    if words[-1] not in {"u32", "s32", "b32"} or not operation:
        return NOT_MERGED
    if is_used or words[-1] != "u32" or value is not const(_INCREMENTS.get(operation, 0), 32):
        return Merging(of_warps=operation == "add" or (operation in _REDUCED and not is_used))
    # ptxas 13.0 adds one by one at a generic address, and before sm_90 with an acquire. A register
    # may be known here to hold 1, and not to ptxas.
    is_sure = (
        bool({"shared", "shared::cta"} & {*words})
        and not {"acquire", "acq_rel"} & {*words}
        and isinstance(instruction.operands[-1], Immediate)
    )
    return Merging(of_words=True if is_sure else None, of_warps=True)


def row_of_parts(opcode: str) -> Row | None:
    """A row with the groups and banks of an atomic that runs in parts; None for other instructions.

    >>> row_of_parts("atom.shared.add.f64").group_lanes, row_of_parts("atom.shared.add.u32")
    (16, None)
    """
    found = _PARTS.fullmatch(opcode)
    if found is None:
        return None
    width_bytes = 4 if found["four"] else 8
    row = find_instruction("atom.shared.add.u32")
    return replace(row, width_bytes=width_bytes, group_lanes=min(32, BANK_PERIOD_BYTES // width_bytes))


def is_read(instruction: Instruction, function: Function) -> bool:
    """Whether some instruction of a function reads what an atomic writes, or may read it."""
    results = {registers_of(each) for each in written(instruction)} - {None}
    return any(_reads(each, result) for result in results if result for each in function.instructions)


def _reads(instruction: Instruction, register: Register) -> bool:
    guard = instruction.guard
    if guard is not None and guard.register == register:
        return True
    named = sum(each == register for operand in instruction.operands for each in registers_in(operand))
    return named > sum(operand == register for operand in written(instruction))

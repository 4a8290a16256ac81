"""Atomics that the chip runs in parts or for all lanes of a word at once, and whether a result is
read.

Source: measured on an H200, tests/data/h200_atomics.npz: these take their fewest wavefronts exactly
where no two lanes of a group have words of one bank, equal words counted; SASS has a
compare-and-swap, or a loop of loads and compare-and-swaps.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from swzverify.hardware import BANK_PERIOD_BYTES, find_instruction
from swzverify.hardware import Instruction as Row
from swzverify.kernel.effects import registers_in, registers_of, written
from swzverify.ptx import Function, Instruction, Register

IN_PARTS: Final = "the chip runs it as several instructions: the wavefronts are not given"
_ORDER: Final = r"(?:\.(?:relaxed|acquire|release|acq_rel|cta|cluster|gpu|sys))*"
_PARTS: Final = re.compile(
    rf"(?:atom|red){_ORDER}\.shared(?:::cta)?"
    r"\.(?:(?P<four>cas\.b32|add\.f32|add\.noftz\.f16x2)|cas\.b64|exch\.b64|add\.u64|and\.b64|add\.f64)"
)
_ADDS: Final = re.compile(rf"(?:atom|red)\..*\badd{_ORDER}\.[us]32")


def adds_one(opcode: str, text: str) -> bool:
    """Whether an atomic adds 1, which the chip does in one go for lanes of one word, if nobody
    reads the result.

    >>> adds_one("red.shared.add.u32", "[%r1], 1"), adds_one("red.shared.add.u32", "[%r1], 2")
    (True, False)
    """
    return _ADDS.fullmatch(opcode) is not None and re.search(r",\s*-?1\s*$", text) is not None


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

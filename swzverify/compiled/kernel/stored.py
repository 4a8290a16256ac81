"""What stores write: an expression, as far as one thread alone decides it.

Source: PTX ISA, "Data Movement and Conversion Instructions"; docs/semantics.md, section 10.
"""

from __future__ import annotations

import re
from typing import Final

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Immediate, Instruction, Operand, Vector, size_of_type
from swzverify.hardware import Kind
from swzverify.ir.expr import FALSE, Const, Expr, const

_MATRIX_STORES: Final = "|".join(kind.value for kind in Kind if kind.moves_matrices and kind.stores)
_ROWS: Final = re.compile(rf"(?:{_MATRIX_STORES})\.sync\.aligned\.m8n8\.x[124](?:\.trans)?\.(?:shared(?:::cta)?\.)?b16")
_HALF: Final = 16
_ROW_HALVES: Final = 8
"""Elements of 16 bits in a row of a matrix."""


def stored_value(slices: Slices, instruction: Instruction) -> Expr | None:
    """What an instruction writes from its address on, the first byte lowest.

    None if it is no store, or if more than the registers of its thread decides it.
    """
    if not slices.flow.is_reachable(slices.flow.block_of[instruction.index]):
        return None
    if _ROWS.fullmatch(instruction.opcode):
        return _row(slices, instruction)
    size = size_of_type(instruction.opcode.rpartition(".")[2])
    if base_name(instruction) != "st" or size is None:
        return None
    source = instruction.operands[-1]
    if isinstance(source, Vector):
        return _word(source, 8 * size)
    if ".v" in instruction.opcode:
        return None
    value = _read(slices, source, 8 * size, instruction)
    return None if value is None or value.width == 1 else value


def _row(slices: Slices, instruction: Instruction) -> Expr | None:
    """What a store of matrices writes to each row: known if all registers have one number, whose halves are equal.

    A row has elements of several lanes. If all of these are one number, it does not matter which ones they are.
    """
    source = instruction.operands[-1]
    items = source.items if isinstance(source, Vector) else (source,)
    words = {_read(slices, each, 2 * _HALF, instruction) for each in items}
    word = words.pop()
    if words or not isinstance(word, Const):
        return None
    return _row_of(word.value)


def _row_of(word: int) -> Expr | None:
    """A row whose elements are the halves of a word, in an order that depends on the lanes; None if they differ."""
    high, low = word >> _HALF, word & ((1 << _HALF) - 1)
    return const(sum(low << (_HALF * at) for at in range(_ROW_HALVES)), _HALF * _ROW_HALVES) if high == low else None


def _read(slices: Slices, operand: Operand, width: int, instruction: Instruction) -> Expr | None:
    def steps() -> Steps:
        value = yield from slices.read(operand, width, instruction)
        return FALSE if value is None else value

    value = slices.run(steps())
    return None if value is FALSE else value


def _word(items: Vector, width: int) -> Expr | None:
    """What a store of several words writes, the first one lowest; None if they are not all numbers."""
    whole = 0
    for at, each in enumerate(items.items):
        if not isinstance(each, Immediate):
            return None
        whole |= (each.value & ((1 << width) - 1)) << (width * at)
    return const(whole, width * len(items.items))

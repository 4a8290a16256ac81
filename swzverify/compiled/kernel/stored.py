"""What stores write: words, as far as one thread alone decides them, and what decides them.

Source: PTX ISA, "Data Movement and Conversion Instructions"; docs/semantics.md, section 10.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Instruction, Operand, Vector, size_of_type
from swzverify.hardware import Kind
from swzverify.ir.expr import FALSE, Const, Expr, const

_MATRIX_STORES: Final = "|".join(kind.value for kind in Kind if kind.moves_matrices and kind.stores)
_ROWS: Final = re.compile(rf"(?:{_MATRIX_STORES})\.sync\.aligned\.m8n8\.x[124](?:\.trans)?\.(?:shared(?:::cta)?\.)?b16")
_HALF: Final = 16
_ROW_HALVES: Final = 8
"""Elements of 16 bits in a row of a matrix."""
_MOST_BYTES: Final = 8
"""Bytes of a word."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What an instruction writes from its address on.

    Attributes:
        words: The words, all of one width, the first byte lowest; empty if they are not known.
        feeds: What the words are made of, perhaps as other lanes of the warp have it.
    """

    words: tuple[Expr, ...]
    feeds: tuple[Expr, ...]

    def mapped(self, read: Callable[[Expr], Expr]) -> Stored:
        """The same with each value as `read` gives it."""
        return Stored(tuple(map(read, self.words)), tuple(map(read, self.feeds)))


def stored_by(slices: Slices, instruction: Instruction) -> Stored | None:
    """What an instruction writes; None if it is no store, or if an operand cannot be read."""
    if not slices.flow.is_reachable(slices.flow.block_of[instruction.index]):
        return None
    is_row = _ROWS.fullmatch(instruction.opcode) is not None
    size = size_of_type(instruction.opcode.rpartition(".")[2]) or 0
    if not is_row and (base_name(instruction) != "st" or not 0 < size <= _MOST_BYTES):
        return None
    source = instruction.operands[-1]
    if not is_row and ".v" in instruction.opcode and not isinstance(source, Vector):
        return None
    width = 2 * _HALF if is_row else 8 * size
    read: list[Expr] = []
    for each in source.items if isinstance(source, Vector) else (source,):
        value = _read(slices, each, width, instruction)
        if value is None or value.width == 1:
            return None
        read.append(value)
    words = tuple(read)
    return Stored(_row(words) if is_row else words, words)


def _row(registers: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """What a store of matrices writes to each row: known if all registers have one number, whose halves are equal.

    A row has elements of several lanes. If all of these are one number, it does not matter which ones they are.
    """
    word = registers[0]
    if len({*registers}) > 1 or not isinstance(word, Const):
        return ()
    return _row_of(word.value)


def _row_of(word: int) -> tuple[Expr, ...]:
    """A row whose elements are the halves of a word, in an order that depends on the lanes; empty if they differ."""
    high, low = word >> _HALF, word & ((1 << _HALF) - 1)
    return (const(low, _HALF),) * _ROW_HALVES if high == low else ()


def _read(slices: Slices, operand: Operand, width: int, instruction: Instruction) -> Expr | None:
    def steps() -> Steps:
        value = yield from slices.read(operand, width, instruction)
        return FALSE if value is None else value

    value = slices.run(steps())
    return None if value is FALSE else value

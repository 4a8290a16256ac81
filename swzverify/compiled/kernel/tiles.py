"""What `wgmma` reads through one matrix descriptor, as a range of shared memory that holds all of it.

The range may have other bytes, too: the rows of a swizzled tile are longer than what one instruction reads of them.

Source: docs/semantics.md, section 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, bit_and, either, less
from swzverify.compiled.kernel.descriptors import differ, is_other, is_window, number_of, place_of, start_field
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.operands import major_of
from swzverify.compiled.ptx import Instruction
from swzverify.hardware.tensor_cores import WGMMA_FIELDS, OperandRole, find_tensor_instruction
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import Expr, Var, conjunction, const, substitute, variables
from swzverify.layout.tma import parse_tma_mode
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, Descriptor


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of shared memory from an address of 32 bits on; `is_rounded` if it is not known where their lines begin."""

    address: Expr
    width_bytes: int
    is_rounded: bool = False


def range_of(
    instruction: Instruction, role: OperandRole, descriptor: Expr, leaves: Leaves, never: Callable[[Expr], bool]
) -> Range | None:
    """The bytes that a descriptor of 64 bits names, in whole lines; None if its fields are not known.

    It is assumed that the start address is below what a descriptor can name, and that generic addresses of shared
    memory begin at a multiple of that. `never` says whether a condition is shown not to hold.
    """
    fields = WGMMA_FIELDS
    row = find_tensor_instruction(instruction.opcode)
    major = major_of(instruction, row, role)
    window: dict[Var, Expr] = {each: const(0, each.width) for each in variables(descriptor) if is_window(each)}
    descriptor = bounded(substitute(descriptor, window))
    field = start_field(descriptor)
    place = place_of(field, [leaves[each] for each in variables(field)])
    numbers = {
        each: number_of(descriptor, each) for each in (fields.lbo, fields.sbo, fields.base_offset, fields.swizzle)
    }
    if place is None or major is None:
        return None
    start = normal(place.address)
    wrong = either(differ(descriptor, numbers), is_other(field, place))
    if not never(conjunction((less(start, const(ADDRESS_LIMIT, 32), signed=False), wrong))):
        return None
    lbo, sbo, base_offset, mode = numbers.values()
    known = Descriptor(lbo * CHUNK_BYTES, sbo * CHUNK_BYTES, parse_tma_mode(fields.modes[mode]), base_offset)
    rows, columns = np.arange(row.rows(role))[:, None], np.arange(row.k)[None, :]
    last = int(known.linear(rows, columns, row.element_bytes, major).max()) + row.element_bytes
    return _in_lines(start, last, known.row_bytes)


def _in_lines(start: Expr, width: int, line: int) -> Range:
    """The range of whole lines, within which the swizzle moves bytes."""
    if line <= CHUNK_BYTES:
        return Range(start, width)
    total = sum_of(start)
    if all(count % line == 0 for count in total.terms.values()):
        within = total.number % line
        return Range(normal(add(start, const(-within, 32))), -(-(within + width) // line) * line)
    return Range(bit_and(start, const(-line, 32)), -(-width // line) * line + line, is_rounded=True)

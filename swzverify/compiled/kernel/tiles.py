"""What `wgmma` reads through one matrix descriptor, as a range of shared memory that holds all of it.

The range may have other bytes, too: the rows of a swizzled tile are longer than what one instruction reads of them.

Source: docs/semantics.md, section 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, bit_and, less, shift_left, widened
from swzverify.compiled.kernel.leaves import Leaves, begin_of
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.listing import has_known_operands
from swzverify.compiled.kernel.operands import major_of
from swzverify.compiled.kernel.symbols import SHARED_WINDOW
from swzverify.compiled.ptx import Instruction, Operand, Vector
from swzverify.hardware.tensor_cores import WGMMA_FIELDS, OperandRole, find_tensor_instruction
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    Comparison,
    Expr,
    Var,
    compare,
    conjunction,
    const,
    extract,
    negation,
    substitute,
    variables,
)
from swzverify.layout.tma import parse_tma_mode
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, Descriptor

_ROUNDED: Final = (1, 128, 256, 512, 1024)
"""Multiples to which kernels round the start of dynamic shared memory up."""


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of shared memory from an address on, of 32 bits."""

    address: Expr
    width_bytes: int


def descriptors_of(instruction: Instruction) -> Iterator[tuple[OperandRole, Operand]]:
    """The operands that an instruction reads from shared memory, with their roles; none of other instructions."""
    if not instruction.opcode.startswith("wgmma.mma_async") or not has_known_operands(instruction.opcode):
        return
    for role, operand in zip(OperandRole, instruction.operands[1:3], strict=True):
        if role is OperandRole.B or not isinstance(operand, Vector):
            yield role, operand


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
    window: dict[Var, Expr] = {
        each: const(0, each.width) for each in variables(descriptor) if each.name == SHARED_WINDOW
    }
    descriptor = bounded(substitute(descriptor, window))
    field = shift_left(widened(extract(descriptor, *fields.start), 32), const(CHUNK_BYTES.bit_length() - 1, 32))
    point = {each.name: 0 for each in variables(descriptor)}
    places = (fields.lbo, fields.sbo, fields.base_offset, fields.swizzle)
    numbers = [evaluate(extract(descriptor, *place), point) for place in places]
    are_numbers = [_equal(extract(descriptor, *at), const(of, at[1])) for at, of in zip(places, numbers, strict=True)]
    start = next(
        (
            each
            for each in _starts(field, leaves)
            if never(conjunction((_is_below(each), negation(conjunction((*are_numbers, _equal(each, field)))))))
        ),
        None,
    )
    if start is None or major is None:
        return None
    lbo, sbo, base_offset, mode = numbers
    known = Descriptor(lbo * CHUNK_BYTES, sbo * CHUNK_BYTES, parse_tma_mode(fields.modes[mode]), base_offset)
    rows, columns = np.arange(row.rows(role))[:, None], np.arange(row.k)[None, :]
    last = int(known.linear(rows, columns, row.element_bytes, major).max()) + row.element_bytes
    return _in_lines(start, last, known.row_bytes)


def _starts(field: Expr, leaves: Leaves) -> Iterator[Expr]:
    """What the start address may be, as an array plus an offset."""
    bases = [leaf for each in variables(field) if (leaf := leaves[each]).symbol is not None]
    if not bases:
        yield field
    if len(bases) != 1:
        return
    base = bases[0]
    offset = normal(bounded(substitute(field, {base.variable: const(0, base.variable.width)})))
    for rounded in _ROUNDED:
        if rounded == 1 or rounded > base.multiple:
            yield normal(add(begin_of(base, 32, rounded), offset))


def _in_lines(start: Expr, width: int, line: int) -> Range:
    """The range of whole lines, within which the swizzle moves bytes."""
    if line <= CHUNK_BYTES:
        return Range(start, width)
    total = sum_of(start)
    if all(count % line == 0 for count in total.terms.values()):
        within = total.number % line
        return Range(normal(add(start, const(-within, 32))), -(-(within + width) // line) * line)
    return Range(bit_and(start, const(-line, 32)), -(-width // line) * line + line)


def _is_below(address: Expr) -> Expr:
    return less(address, const(ADDRESS_LIMIT, 32), signed=False)


def _equal(left: Expr, right: Expr) -> Expr:
    return compare(Comparison.EQ, left, right)

"""Claims on operands of the tensor core: their bytes lie in their array, and reserved bits are 0.

Source: docs/semantics.md, section 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import ArrayLeaf
from swzverify.compiled.kernel.arithmetic import add, bit_and, bit_or
from swzverify.compiled.scan.bounds import in_bounds
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, Property, Values, WitnessLane, not_known, size_unknown
from swzverify.compiled.scan.claimed import claimed
from swzverify.compiled.scan.operand_fields import Start
from swzverify.compiled.scan.operand_subject import WINDOW_BYTES, OperandSubject
from swzverify.compiled.scan.subject import Subject
from swzverify.hardware.tensor_cores import FIELDS, Major
from swzverify.ir.expr import Comparison, Const, Expr, compare, const, negation
from swzverify.subjects.descriptor import REPEATS_BYTES, Descriptor

ENCODED = Claim(
    ClaimVerdict.PROVED,
    "the field of the start address holds multiples of 16 only",
    engines=("format of the descriptor",),
)
"""The verdict on the alignment of every start address."""
IN_WINDOW = f"shared arrays lie below byte {WINDOW_BYTES} of the shared window"
"""What the verdict on reserved bits assumes of the arrays that a descriptor names."""
_MOST_BEGIN = 1024
_WORD = 1 << 64


def reserved_bits(subject: OperandSubject, value: Expr) -> Claim:
    """The verdict on the bits of a descriptor that are outside of its fields: they are 0, or as the format fixes them.

    Bits 14 and 15 stand between the start address and the LBO. While these are 0, no sum of the start
    address carries into the LBO.
    """
    fields = FIELDS[subject.operand.family]
    reserved, fixed = sum(((1 << width) - 1) << low for low, width in fields.reserved), fields.fixed
    bad = negation(compare(Comparison.EQ, bit_and(value, const(reserved, 64)), const(fixed, 64)))

    def place(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        rest = values(value) & np.uint64(reserved)
        return rest, rest != fixed

    def words(lane: WitnessLane) -> str:
        should = f", and should have {fixed:#x}" if fixed else ""
        return f"the descriptor has the bits {lane.at % _WORD:#x} outside of its fields{should}"

    bases = tuple(leaf for leaf in subject.leaves_of(bad) if isinstance(leaf, ArrayLeaf))
    claim = Property(value, bad, place, bases, _MOST_BEGIN, words)
    found = claimed(subject.anywhere, claim)
    if found.verdict is not ClaimVerdict.PROVED:
        if name := subject.sizeless(bad):
            return not_known(size_unknown(name))
        found = claimed(subject.here, claim)
    # Only the places of arrays are taken from the window; a descriptor without an array assumes nothing.
    of_arrays = found.verdict is not ClaimVerdict.UNKNOWN and bases
    return replace(found, assumptions=(IN_WINDOW,)) if of_arrays else found


def bytes_in_bounds(subject: OperandSubject, start: Start, descriptor: Descriptor, major: Major) -> Claim:
    """The verdict on the bytes that an operand reads, from its start address and its fields.

    If the swizzle is known at each address, the first and the last byte are. Else only their chunks are: the
    swizzle moves bytes inside of chunks of its width. No byte lies outside of the array if these chunks lie
    inside, and a byte lies outside if one of them is wholly outside.
    """
    row = subject.operand.row
    rows, columns = np.arange(row.rows(subject.operand.role))[:, None], np.arange(row.k)[None, :]
    linear = descriptor.linear(rows, columns, row.element_bytes, major)
    chunk = descriptor.swizzle.span_bytes or 1
    if isinstance(start.offset, Const) and (start.base is None or start.multiple % REPEATS_BYTES == 0):
        read = descriptor.swizzled(start.offset.value + linear)
        first, last, chunk = int(read.min()), int(read.max()) + row.element_bytes - 1, 1
        begin, end = (replace(start, offset=const(each, 32)) for each in (first, last))
    else:
        last = int(linear.max()) + row.element_bytes - 1
        begin, end = start, replace(start, offset=add(start.offset, const(last, 32)))
    claims = [_byte(subject, each) for each in (_first_of(begin, chunk), _last_of(end, chunk))]
    if all(each.verdict is ClaimVerdict.PROVED for each in claims):
        return Claim(
            ClaimVerdict.PROVED, engines=tuple(dict.fromkeys(name for each in claims for name in each.engines))
        )
    if any(each.is_broken for each in claims):
        for each in (_last_of(begin, chunk), _first_of(end, chunk)):
            found = _byte(subject, each)
            if found.is_broken:
                return _in_words_of_operand(found)
        return not_known(f"{chunk} bytes at its end lie partly outside of the array: which it reads is not decided")
    return max((each for each in claims if each.verdict is ClaimVerdict.UNKNOWN), key=lambda each: each.needs or 0)


def _byte(subject: OperandSubject, address: Expr) -> Claim:
    """The verdict on the bounds of one byte."""

    def at(where: Subject) -> Claim:
        return in_bounds(replace(where, access=replace(where.access, address=address, whole=address)))

    found = at(subject.anywhere)
    # Without a size nothing is refuted, and the path does not change what is needed.
    is_open = found.verdict is ClaimVerdict.UNKNOWN and subject.sizeless(address)
    return found if found.verdict is ClaimVerdict.PROVED or is_open else at(subject.here)


def _in_words_of_operand(claim: Claim) -> Claim:
    """A broken claim, in the words of an operand."""
    witness = claim.witness
    if witness is None:
        return claim
    where = ", ".join(f"{name} = {witness.values[name]}" for name in claim.parameters)
    words = f"it reads at byte {witness.lanes[0].at}, counted from the start of the array"
    return replace(claim, reason=f"for {where}: {words}" if where else words)


def _first_of(start: Start, chunk: int) -> Expr:
    """The address of the first byte of the chunk in which a byte lies."""
    return _in_chunk(start, chunk, lambda value: bit_and(value, const(-chunk, 32)))


def _last_of(start: Start, chunk: int) -> Expr:
    """The address of the last byte of the chunk in which a byte lies."""
    return _in_chunk(start, chunk, lambda value: bit_or(value, const(chunk - 1, 32)))


def _in_chunk(start: Start, chunk: int, rounded: Callable[[Expr], Expr]) -> Expr:
    """A rounded address; only its offset is rounded if the array begins with a chunk."""
    if start.base is not None and start.multiple % chunk == 0:
        return replace(start, offset=rounded(start.offset)).address
    return rounded(start.address)

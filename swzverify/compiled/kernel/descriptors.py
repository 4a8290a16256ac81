"""The fields of a matrix descriptor: numbers, and the start address as an array plus an offset.

What is found here is what the fields would be: callers prove it, each with what they know of the values.

Source: docs/semantics.md, section 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import add, bit_and, shift_left, widened
from swzverify.compiled.kernel.leaves import ArrayLeaf, Leaf, begin_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.listing import has_known_operands
from swzverify.compiled.kernel.symbols import SHARED_WINDOW
from swzverify.compiled.ptx import Instruction, Operand, Vector
from swzverify.hardware.tensor_cores import WGMMA_FIELDS, OperandRole
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
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES

Field: TypeAlias = tuple[int, int]
"""The lowest bit of a field, and how many bits it has."""
_ROUNDED: Final = (32, 64, 128, 256, 512, 1024)
"""Multiples to which kernels round the address of an array up."""
_PLACES: Final = (1, 3, 5, 64, 65)


@dataclass(frozen=True, slots=True)
class Place:
    """An address in the shared window, of 32 bits: `offset` bytes from where the array `base` begins, if there is one.

    They count from the next multiple of `rounded`, a power of two.
    """

    base: ArrayLeaf | None
    offset: Expr
    rounded: int = 1

    @property
    def multiple(self) -> int:
        """What the offset counts from is a multiple of this."""
        return max(self.rounded, self.base.multiple if self.base is not None else ADDRESS_LIMIT)

    @property
    def address(self) -> Expr:
        """The address in the shared window."""
        if self.base is None:
            return self.offset
        return add(begin_of(self.base, 32, self.rounded), self.offset)


def descriptors_of(instruction: Instruction) -> Iterator[tuple[OperandRole, Operand]]:
    """The operands that an instruction reads from shared memory, with their roles; none of other instructions."""
    if not instruction.opcode.startswith("wgmma.mma_async") or not has_known_operands(instruction.opcode):
        return
    for role, operand in zip(OperandRole, instruction.operands[1:3], strict=True):
        if role is OperandRole.B or not isinstance(operand, Vector):
            yield role, operand


def start_field(descriptor: Expr) -> Expr:
    """The start address that a descriptor of 64 bits names, of 32 bits."""
    units = widened(extract(descriptor, *WGMMA_FIELDS.start), 32)
    return shift_left(units, const(CHUNK_BYTES.bit_length() - 1, 32))


def number_of(descriptor: Expr, field: Field, point: Mapping[str, int] | None = None) -> int:
    """The number of a field at a point; where all values are 0 if none is given."""
    part = extract(descriptor, *field)
    return evaluate(part, {each.name: 0 for each in variables(part)} if point is None else point)


def differ(descriptor: Expr, numbers: Mapping[Field, int]) -> Expr:
    """Whether some field has another number."""
    return negation(conjunction([_equal(extract(descriptor, *at), const(of, at[1])) for at, of in numbers.items()]))


def is_window(variable: Var) -> bool:
    """Whether a variable is where shared memory begins in generic addresses."""
    return variable.name == SHARED_WINDOW


def place_of(start: Expr, read: Sequence[Leaf]) -> Place | None:
    """A start address as an array plus an offset, from the leaves that it reads; None if it reads several arrays."""
    bases = [leaf for leaf in read if isinstance(leaf, ArrayLeaf)]
    if not bases:
        return Place(None, bounded(normal(start)))
    if len(bases) > 1:
        return None
    at_zero: dict[Var, Expr] = {
        each.variable: const(0, each.variable.width) for each in read if each is bases[0] or is_window(each.variable)
    }
    # A kernel may round the address of its array up, to what it needs. At 0 that changes nothing.
    offset = bounded(normal(substitute(start, at_zero)))
    return Place(bases[0], offset, _rounded(bases[0], start, offset))


def is_other(start: Expr, place: Place) -> Expr:
    """Whether a start address is another place, as far as the field of a descriptor holds it."""
    return negation(_equal(_held(start), _held(place.address)))


def _held(address: Expr) -> Expr:
    return bit_and(address, const(ADDRESS_LIMIT - 1, 32))


def _rounded(base: ArrayLeaf, start: Expr, offset: Expr) -> int:
    """To which multiple a start address seems to be rounded up, by some starts of its array; 1 if to none."""
    places = [at for at in _PLACES if at < base.variable.limit]
    points = [{each.name: 0 for each in variables(start)} | {base.name: at} for at in places]
    for rounded in (1, *(each for each in _ROUNDED if each > base.multiple)):
        other = is_other(start, Place(base, offset, rounded))
        if not any(evaluate(other, at) for at in points):
            return rounded
    return 1


def _equal(left: Expr, right: Expr) -> Expr:
    return compare(Comparison.EQ, left, right)

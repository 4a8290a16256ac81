"""An operand of the tensor core over expressions: what the engines read.

It shares nothing with the plain definition in `operand` and `descriptor` but the fields. Source:
docs/semantics.md, section 9.
"""

from __future__ import annotations

from functools import cached_property

from swzverify.hardware.tensor_cores import Major
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula
from swzverify.ir.expr import var
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.layout.tma import TmaMode
from swzverify.subjects.operand import MN, K, Operand
from swzverify.subjects.tile import lower_swizzle


class LoweredOperand:
    """The start, the address of an element and the tile's coordinate, as expressions.

    They are over the loops, the row and the column.
    """

    def __init__(self, operand: Operand) -> None:
        self.operand = operand
        self._row = ints.variable(var(MN, operand.rows))
        self._k = ints.variable(var(K, operand.columns))
        env = {name: ints.integer(value) for name, value in operand.constants.items()}
        for loop in operand.loops:
            env[loop.name] = loop.lowered(ints.variable(var(loop.name, max(1, loop.count or 0))))
        self._reading = Reading(env, operand.joint_values)

    def _value(self, formula: CFormula) -> Integer:
        """A formula, within the bounds that all its iterations have."""
        value, reach = formula.lowered(self._reading), self.operand.reach(formula)
        if value.low < reach.low:
            value = ints.maximum(value, ints.integer(reach.low))
        return value if value.high <= reach.high else ints.minimum(value, ints.integer(reach.high))

    @cached_property
    def start(self) -> Integer:
        """The start address in bytes, from the base."""
        return self._value(self.operand.start)

    @cached_property
    def stage(self) -> Integer:
        """The tile's stage."""
        stage = self.operand.stage
        return ints.integer(0) if stage is None else self._value(stage)

    @cached_property
    def coordinate(self) -> tuple[Integer, ...]:
        """The tile's coordinate of the element."""
        element = {"MN": self._row, "K": self._k}
        pairs = zip(self.operand.at, self.operand.modes, strict=True)
        return tuple(ints.add(self._value(value), element[mode]) for value, mode in pairs)

    @cached_property
    def linear(self) -> Integer:
        """The bytes from the start address to the element, before the swizzle."""
        fields, size = self.operand.descriptor, self.operand.element_bytes
        plain = fields.swizzle is TmaMode.NONE
        width = 16 if plain else int(fields.swizzle.value[:-1])
        along, across = (self._k, self._row) if self.operand.major is Major.K else (self._row, self._k)
        # Elements lie side by side in `along`, `width` bytes of them; eight of `across` make an atom.
        bytes_along = times(along, size)
        atoms_along, atoms_across = fields.lbo_bytes, fields.sbo_bytes
        if self.operand.major is Major.MN and plain:
            atoms_along, atoms_across = atoms_across, atoms_along
        parts = [times(low_part(across, 8), width), times(high_part(across, 8), atoms_across)]
        if self.operand.major is Major.K and not plain:
            parts.append(bytes_along)
        else:
            parts += [low_part(bytes_along, width), times(high_part(bytes_along, width), atoms_along)]
        return ints.total(parts)

    def swizzled(self, address: Integer) -> Integer:
        """The byte that is read where an unswizzled operand would read `address`."""
        fields = self.operand.descriptor
        swizzle = fields.swizzle.swizzle
        if swizzle is None:
            return address
        if fields.base_offset == 0:
            return lower_swizzle(swizzle, address)
        lines = 1 << swizzle.bits
        line = ints.add(high_part(address, 128), ints.integer(-fields.base_offset % lines))
        return ints.bit_xor(address, times(low_part(line, lines), 16))


def times(value: Integer, factor: int) -> Integer:
    """The value times a number."""
    return ints.multiply(value, ints.integer(factor))


def low_part(value: Integer, period: int) -> Integer:
    """The value modulo a number."""
    return ints.remainder(value, ints.integer(period))


def high_part(value: Integer, period: int) -> Integer:
    """The quotient of the value by a number."""
    return ints.divide(value, ints.integer(period))

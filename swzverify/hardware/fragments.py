"""The fragments of `mma.sync`: which element of A or B each lane holds in which register.

Source: PTX ISA 8.7, 9.7.14.5, "Matrix Fragments for mma" of each shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError, nearest
from swzverify.hardware.instructions import LANES, Instruction
from swzverify.hardware.kinds import Kind
from swzverify.hardware.tensor_cores import ELEMENT_BYTES, MatrixProduct, OperandRole

Array: TypeAlias = NDArray[np.int64]
REGISTER_BYTES = 4
"""Bytes of a register of a fragment."""
CELL_BYTES = 2
"""Bytes of a cell of the matrices that ldmatrix reads."""
GROUP_LANES = 4
"""Lanes that share a row of A, or a column of B."""
GROUP_ROWS = LANES // GROUP_LANES
"""Rows of A, or columns of B, that one register of all lanes covers."""
MMA_SHAPES: dict[tuple[int, int, int], tuple[str, ...]] = {
    (16, 8, 8): ("f16", "bf16", "tf32"),
    (16, 8, 16): ("f16", "bf16", "s8", "u8", "e4m3", "e5m2"),
    (16, 8, 4): ("tf32",),
    (16, 8, 32): ("s8", "u8", "e4m3", "e5m2"),
    (8, 8, 16): ("s8", "u8"),
}
"""The types of each shape whose fragments are modelled."""
_NAME = re.compile(
    r"(?:mma\.(?:sync\.)?(?:aligned\.)?)?m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?:\.row\.col)?(?P<types>(?:\.\w+)+)"
)


@dataclass(frozen=True, slots=True)
class Mma(MatrixProduct):
    """An `mma.sync`, which reads its operands from registers.

    >>> row = find_mma("m16n8k16.f16")
    >>> row.registers("A"), row.registers("B"), row.parts
    (4, 2, 2)
    """

    @property
    def parts(self) -> int:
        """Elements of one register."""
        return REGISTER_BYTES // self.element_bytes

    def registers(self, role: str) -> int:
        """The registers of an operand that each lane holds."""
        return self.rows(role) * self.k // (LANES * self.parts)

    def halves(self, role: str) -> int:
        """How many registers in a row hold the same elements of K: those of rows 8 apart."""
        return self.rows(role) // GROUP_ROWS

    def row(self, role: str, lane: Array, register: Array) -> Array:
        """The row of A, or the column of B."""
        return lane // GROUP_LANES + register % self.halves(role) * GROUP_ROWS

    def column(self, role: str, lane: Array, register: Array, part: Array) -> Array:
        """The element's place along K."""
        step = register // self.halves(role)
        return (step * GROUP_LANES + lane % GROUP_LANES) * self.parts + part


def find_mma(name: str) -> Mma:
    """The instruction of a name, `mMnNkK.TYPE`, or of PTX's spelling.

    Raises:
        SwzError: SWZ401 for a name that says no shape and type, SWZ411 for a shape whose fragments are not
            modelled.

    >>> find_mma("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32").name
    'm16n8k16.bf16'
    """
    key = name.strip()
    found = _NAME.fullmatch(key)
    known = [f"m{m}n{n}k{k}.{each}" for (m, n, k), types in MMA_SHAPES.items() for each in types]
    if found is None:
        hint = nearest(key, known) or "such as m16n8k16.f16"
        raise SwzError("SWZ401", f"'{name}' is no shape and type of mma.sync", hint=hint)
    types = found["types"].split(".")[1:]
    if len(types) not in (1, 4):
        raise SwzError("SWZ401", f"'{name}' has {len(types)} types", hint="one, such as m16n8k16.f16, or D, A, B and C")
    elements = set(types if len(types) == 1 else types[1:3])
    m, n, k = (int(found[each]) for each in "mnk")
    element = types[0] if len(types) == 1 else types[1]
    if len({ELEMENT_BYTES.get(each) for each in elements}) > 1:
        raise SwzError("SWZ411", f"{name}: A and B with elements of two sizes are not modelled")
    if element not in MMA_SHAPES.get((m, n, k), ()):
        raise SwzError(
            "SWZ411",
            f"{name}: the fragments of this shape and type are not modelled",
            hint=f"modelled are {', '.join(known)}",
        )
    return Mma(f"m{m}n{n}k{k}.{element}", m, n, k, element)


def fragment_elements(mma: str, role: str) -> Array:
    """The element of A or B that each lane holds in each part of each register.

    Args:
        mma: A shape and type, such as `"m16n8k16.f16"`.
        role: `"A"` or `"B"`.

    Returns:
        An integer array of shape (32 lanes, registers, parts, 2): the row of A (or the column of B), and
        the place along K.

    Raises:
        SwzError: SWZ401 for an unknown instruction, SWZ411 for one that is not modelled, SWZ105 for
            another role.

    >>> fragment_elements("m16n8k16.f16", "A")[5, 1].tolist()
    [[9, 2], [9, 3]]

    Source: PTX ISA 8.7, 9.7.14.5.
    """
    row = find_mma(mma)
    if role not in list(OperandRole):
        raise SwzError("SWZ105", f"{role!r} is no operand that is loaded", hint="A or B")
    lane, register, part = np.ogrid[:LANES, : row.registers(role), : row.parts]
    both = (row.row(role, lane, register), row.column(role, lane, register, part))
    return np.stack(np.broadcast_arrays(both[0] + 0 * part, both[1]), axis=-1)


def loaded_registers(instruction: Instruction) -> int:
    """The registers that each lane gets from a load.

    Raises:
        SwzError: SWZ411 for an instruction whose registers are not modelled.

    >>> from swzverify.hardware.instructions import find_instruction
    >>> loaded_registers(find_instruction("ldmatrix.x2")), loaded_registers(find_instruction("ld.shared.v4.b32"))
    (2, 4)
    """
    if instruction.kind is Kind.LDMATRIX:
        return instruction.address_lanes // GROUP_ROWS
    if instruction.kind is Kind.LOAD and instruction.width_bytes % REGISTER_BYTES == 0:
        return instruction.width_bytes // REGISTER_BYTES
    raise SwzError(
        "SWZ411",
        f"{instruction.name}: which register of a fragment it fills is not modelled",
        hint="ldmatrix, or ld.shared of whole registers of 32 bits",
    )


@dataclass(frozen=True, slots=True)
class Landing:
    """Where bytes of the lanes' ranges land: the lane that gets them, the register of the load, the part."""

    lane: Array
    register: Array
    part: Array


def landing(instruction: Instruction, lane: Array, at_byte: Array, element_bytes: int) -> Landing:
    """Where the element that begins at a byte of a lane's range lands.

    `ldmatrix` hands out the rows of 8 x 8 cells of 16 bits, and with `.trans` their columns. A lane of a
    plain load keeps what it reads.

    Source: PTX ISA 8.7, 9.7.14.5.15, ldmatrix.
    """
    if instruction.kind is not Kind.LDMATRIX:
        return Landing(lane, at_byte // REGISTER_BYTES, at_byte % REGISTER_BYTES // element_bytes)
    # Lanes whose addresses do not count load nothing: they stand in for lanes of the last matrix.
    matrix, row = np.minimum(lane // GROUP_ROWS, loaded_registers(instruction) - 1), lane % GROUP_ROWS
    if instruction.name.endswith(".trans"):
        cell, inside = at_byte // CELL_BYTES, at_byte % CELL_BYTES
        part = (row % 2 * CELL_BYTES + inside) // element_bytes
        return Landing(cell * GROUP_LANES + row // 2, matrix, part)
    part = at_byte % REGISTER_BYTES // element_bytes
    return Landing(row * GROUP_LANES + at_byte // REGISTER_BYTES, matrix, part)

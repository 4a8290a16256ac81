"""What a matrix descriptor names: the byte address of each element that the tensor core reads.

This is the plain definition, in integers and arrays; `lowered_operand` has the expressions.

Source: docs/semantics.md, section 9; tests/data/README.md, h100_wgmma_operands.npz.xz.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware.tensor_cores import Major, OperandRole, TensorInstruction, find_tensor_instruction
from swzverify.ir.whole import keep_whole, required
from swzverify.layout.tma import TmaMode, parse_tma_mode

Array: TypeAlias = NDArray[np.int64]
CHUNK_BYTES = 16
"""Fields count in units of 16 bytes."""
ADDRESS_LIMIT = 1 << 18
"""Fields hold addresses and offsets below this: 14 bits of units."""
CORE_ROWS = 8
"""Rows of a core matrix, along the dimension that is not the major one."""
LINE_BYTES = 128
"""The swizzle reads the number of the 128-byte line of an address."""
REPEATS_BYTES = 1024
"""The swizzle moves with its argument at multiples of this."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """The fields of a matrix descriptor but for the start address, in bytes.

    `lbo_bytes` is the leading byte offset, `sbo_bytes` the stride byte offset.

    Errors: SWZ410 a number that its field cannot hold.
    """

    lbo_bytes: int
    sbo_bytes: int
    swizzle: TmaMode
    base_offset: int = 0

    def __post_init__(self) -> None:
        """Refuse what no descriptor can hold."""
        keep_whole(self, "a descriptor", "lbo_bytes", "sbo_bytes", "base_offset")
        for what, value in (("lbo", self.lbo_bytes), ("sbo", self.sbo_bytes)):
            check_field(what, value)
        if not 0 <= self.base_offset < CORE_ROWS:
            raise SwzError(
                "SWZ410",
                f"the base offset {self.base_offset} does not fit its field of 3 bits",
                hint="0 to 7; almost every kernel writes 0",
            )

    @property
    def row_bytes(self) -> int:
        """The bytes of a row of a swizzle's atom; without a swizzle, of a core matrix."""
        return self.swizzle.span_bytes or CHUNK_BYTES

    @property
    def line_mask(self) -> int:
        """Which bits of a line's number the swizzle uses."""
        return self.row_bytes // CHUNK_BYTES - 1

    def reads_lbo(self, major: Major) -> bool:
        """Whether the mode reads the leading byte offset of an operand with 32 bytes of K."""
        return major is Major.MN or self.swizzle is TmaMode.NONE

    def linear(self, row: Array, k: Array, element_bytes: int, major: Major) -> Array:
        """The bytes from the start address to an element, before the swizzle."""
        width, plain = self.row_bytes, self.swizzle is TmaMode.NONE
        if major is Major.K:
            at = k * element_bytes
            along = at // CHUNK_BYTES * self.lbo_bytes + at % CHUNK_BYTES if plain else at
            return row % CORE_ROWS * width + row // CORE_ROWS * self.sbo_bytes + along
        far, near = (self.sbo_bytes, self.lbo_bytes) if plain else (self.lbo_bytes, self.sbo_bytes)
        at = row * element_bytes
        return at % width + at // width * far + k % CORE_ROWS * width + k // CORE_ROWS * near

    def swizzled(self, address: Array) -> Array:
        """The byte that is read where an unswizzled operand would read `address`."""
        return address ^ (((address // LINE_BYTES - self.base_offset) & self.line_mask) * CHUNK_BYTES)


def check_field(what: str, value: int) -> None:
    """Accept a number of bytes that a field of 14 bits, in units of 16 bytes, can hold.

    Error: SWZ410.

    >>> check_field("sbo", 1024)
    """
    if value % CHUNK_BYTES or not 0 <= value < ADDRESS_LIMIT:
        raise SwzError(
            "SWZ410",
            f"{what} is {value}: a matrix descriptor holds multiples of 16 from 0 to {ADDRESS_LIMIT - CHUNK_BYTES}",
            hint="give bytes, before the shift by 4 that a kernel makes",
        )


def check_known(instruction: TensorInstruction, descriptor: Descriptor, major: Major) -> None:
    """Accept an operand whose rule is known. Error: SWZ411."""
    instruction.require_major(major)
    if descriptor.base_offset and not instruction.family.base_offset_is_known:
        raise SwzError(
            "SWZ411",
            f"{instruction.name}: how a base offset of {descriptor.base_offset} acts is measured for wgmma only",
            hint="start the operand at the first row of a swizzle's pattern, with base offset 0",
        )


def operand_addresses(
    instruction: str | TensorInstruction,
    role: str,
    *,
    start: int,
    lbo: int,
    sbo: int,
    swizzle: str,
    base_offset: int = 0,
    major: str = "K",
) -> Array:
    """The byte address of each element that the tensor core reads for an operand.

    Args:
        instruction: Such as `"wgmma.m64n128k16.f16"` or `"tcgen05.mma.m128n256k16.bf16"`.
        role: `"A"` or `"B"`.
        start: The start address in shared memory, in bytes.
        lbo: The leading byte offset, in bytes.
        sbo: The stride byte offset, in bytes.
        swizzle: `"none"`, `"32B"`, `"64B"` or `"128B"`.
        base_offset: The base offset, 0 to 7.
        major: `"K"` or `"MN"`: along which dimension elements lie side by side.

    Returns:
        An integer array of shape (rows of M or N, K): the address of each element's first byte.

    Raises:
        SwzError: SWZ401 an unknown instruction, SWZ410 a number that a field cannot hold, SWZ411 an
            operand whose rule is not known, SWZ223 an unknown swizzle mode, SWZ105 another role or
            major.

    >>> operand_addresses("wgmma.m64n8k16.f16", "B", start=1024, lbo=0, sbo=1024, swizzle="128B")[1, ::8].tolist()
    [1168, 1152]

    Source: docs/semantics.md, section 9.
    """
    row = find_tensor_instruction(instruction) if isinstance(instruction, str) else instruction
    which, along = parse_role(role), parse_major(major)
    fields = Descriptor(lbo, sbo, parse_tma_mode(swizzle), base_offset)
    check_known(row, fields, along)
    start = required(start, "start")
    check_field("start", start)
    rows, columns = np.arange(row.rows(which))[:, None], np.arange(row.k)[None, :]
    addresses = start + fields.linear(rows, columns, row.element_bytes, along)
    if int(addresses.max()) + row.element_bytes > ADDRESS_LIMIT:
        raise SwzError(
            "SWZ410",
            f"the operand reaches byte {int(addresses.max())}, and descriptors name addresses below {ADDRESS_LIMIT}",
            hint="what is read beyond is not known",
        )
    return fields.swizzled(addresses)


def parse_role(role: str) -> OperandRole:
    """`A` or `B`. Error: SWZ105."""
    if role not in list(OperandRole):
        raise SwzError("SWZ105", f"{role!r} is no operand in shared memory", hint="A or B")
    return OperandRole(role)


def parse_major(major: str) -> Major:
    """`K` or `MN`. Error: SWZ105."""
    if major in ("M", "N"):
        raise SwzError("SWZ105", f"{major!r} is no major-ness here", hint="MN, for A and for B")
    if major not in list(Major):
        raise SwzError("SWZ105", f"{major!r} is no major-ness", hint="K or MN")
    return Major(major)

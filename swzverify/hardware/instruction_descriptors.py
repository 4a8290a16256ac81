"""The instruction descriptor of `tcgen05.mma`: 32 bits with the shape, the types and the major-ness of a product.

Source: PTX ISA 8.7, 9.7.16.4.2, instruction descriptor; CUTLASS, mma_sm100_desc.hpp, InstrDescriptor;
docs/semantics.md, section 9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from swzverify.errors import SwzError
from swzverify.hardware.tensor_cores import (
    ELEMENT_BYTES,
    K_BYTES,
    Family,
    Major,
    OperandRole,
    TensorInstruction,
    find_tensor_instruction,
)

_TYPES: Final[Mapping[str, Mapping[int, str]]] = MappingProxyType(
    {
        "f16": {0: "f16", 1: "bf16"},
        "tf32": {2: "tf32"},
        "f8f6f4": {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"},
        "i8": {0: "u8", 1: "s8"},
    }
)
"""For each kind the types of A and B, by their codes."""
_OPCODE: Final = re.compile(
    rf"tcgen05\.mma\.cta_group::1\.kind::({'|'.join(_TYPES)})(?:\.collector::a::(?:fill|discard))?"
)
_ZERO: Final = ((2, 1), (6, 1), (23, 1), (29, 3))
"""The sparsity, reserved bits, and the shift of `.ws`: the first bit of each, and the number of bits."""
_TYPE_OF_D: Final = (4, 2)
_N: Final = (17, 6)
_M: Final = (24, 5)
_FIRST_BITS: Final = MappingProxyType({OperandRole.A: (7, 13, 15), OperandRole.B: (10, 14, 16)})
"""Of A and of B: where the type begins, and the bits that negate it and make it MN-major."""


@dataclass(frozen=True, slots=True)
class ProductShape:
    """What an instruction descriptor says of a product.

    Attributes:
        m: The rows of A.
        n: The rows of B.
        types: The type of A, and of B.
        majors: The major-ness of A, and of B.
        signs: What A and B are multiplied by: 1 or -1.
    """

    m: int
    n: int
    types: Mapping[OperandRole, str]
    majors: Mapping[OperandRole, Major]
    signs: tuple[int, ...]

    def instruction(self, role: OperandRole) -> TensorInstruction:
        """The instruction as an operand sees it, with the operand's own type.

        Raises:
            SwzError: SWZ401 a shape that does not exist, SWZ411 a type or a major-ness without a rule.
        """
        element = self.types[role]
        columns = K_BYTES // ELEMENT_BYTES.get(element, 1)
        row = find_tensor_instruction(f"{Family.TCGEN05.value}.m{self.m}n{self.n}k{columns}.{element}")
        row.require_major(self.majors[role])
        return row


def kind_of(opcode: str) -> str | None:
    """The kind of a `tcgen05.mma` whose operands in shared memory have a rule; None for other instructions.

    >>> kind_of("tcgen05.mma.cta_group::1.kind::f16")
    'f16'
    >>> kind_of("tcgen05.mma.cta_group::2.kind::f16")
    """
    found = _OPCODE.fullmatch(opcode)
    return None if found is None else found[1]


def read_instruction_descriptor(kind: str, number: int) -> ProductShape:
    """What a number says as an instruction descriptor of a kind.

    Raises:
        SwzError: SWZ411 a number without a rule.

    >>> found = read_instruction_descriptor("f16", 0x8200490)
    >>> found.instruction(OperandRole.A).name, found.majors[OperandRole.B].value
    ('tcgen05.mma.m128n128k16.bf16', 'K')
    """

    def part(low: int, width: int) -> int:
        return number >> low & ((1 << width) - 1)

    def refuse(why: str) -> SwzError:
        return SwzError("SWZ411", f"the instruction descriptor {number:#x} has no rule: {why}")

    for low, width in _ZERO:
        if part(low, width):
            raise refuse(f"bit {low + (part(low, width) & -part(low, width)).bit_length() - 1} is not 0")
    if part(*_TYPE_OF_D) > 2:
        raise refuse(f"D has the type {part(*_TYPE_OF_D)}")
    types: dict[OperandRole, str] = {}
    for role, (low, _, _) in _FIRST_BITS.items():
        if part(low, 3) not in _TYPES[kind]:
            raise refuse(f"{role} has the type {part(low, 3)}, which kind {kind} does not have")
        types[role] = _TYPES[kind][part(low, 3)]
    negated = [part(low, 1) for _, low, _ in _FIRST_BITS.values()]
    majors = {role: Major.MN if part(low, 1) else Major.K for role, (_, _, low) in _FIRST_BITS.items()}
    signs = tuple(-1 if each else 1 for each in negated)
    return ProductShape(part(*_M) * 16, part(*_N) * 8, types, majors, signs)

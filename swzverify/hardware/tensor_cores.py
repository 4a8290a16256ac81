"""The instructions with which the tensor core reads shared memory through a matrix descriptor.

The shape and the type in an instruction's name say how many rows each operand has, how many bytes
an element, and which majors the instruction takes. Where the elements lie is
`subjects.descriptor`.

Source: PTX ISA 8.7, 9.7.15.5 (wgmma) and 9.7.16.3 (tcgen05); tests/data/README.md,
h100_wgmma_operands.npz.xz.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from swzverify.errors import SwzError, nearest
from swzverify.hardware.targets import Evidence, Target

K_BYTES = 32
"""Bytes of K of each row that one dense instruction reads. Source: PTX ISA 8.7, 9.7.15.5."""
ELEMENT_BYTES: Mapping[str, int] = MappingProxyType(
    {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1, "u8": 1}
)
_INTEGERS = ("s8", "u8")
_WIDE = ("f16", "bf16")


@dataclass(frozen=True, slots=True)
class DescriptorFields:
    """Where the fields of a matrix descriptor stand, as the first bit and the number of bits.

    Attributes:
        start: The start address, in units of 16 bytes.
        lbo: The leading byte offset, in units of 16 bytes.
        sbo: The stride byte offset, in units of 16 bytes.
        base_offset: The base offset.
        swizzle: The swizzle mode, by its place in `modes`.
        reserved: The bits that are 0, but for those of `fixed`.
        modes: The swizzle modes by their codes; empty for a code without a rule.
        fixed: The reserved bits that are 1, as a number.
        absolute: The bit that makes the leading byte offset an address; None if there is none.
    """

    start: tuple[int, int]
    lbo: tuple[int, int]
    sbo: tuple[int, int]
    base_offset: tuple[int, int]
    swizzle: tuple[int, int]
    reserved: tuple[tuple[int, int], ...]
    modes: tuple[str, ...]
    fixed: int = 0
    absolute: tuple[int, int] | None = None


WGMMA_FIELDS = DescriptorFields(
    start=(0, 14),
    lbo=(16, 14),
    sbo=(32, 14),
    base_offset=(49, 3),
    swizzle=(62, 2),
    reserved=((14, 2), (30, 2), (46, 3), (52, 10)),
    modes=("none", "128B", "64B", "32B"),
)
"""Source: PTX ISA 8.7, 9.7.15.5.1.2, matrix descriptor format; tests/data/README.md, h100_wgmma_operands.npz.xz."""
TCGEN05_FIELDS = replace(
    WGMMA_FIELDS,
    swizzle=(61, 3),
    reserved=((14, 2), (30, 2), (46, 3), (53, 8)),
    modes=("none", "", "128B", "", "64B", "", "32B", ""),
    fixed=1 << 46,
    absolute=(52, 1),
)
"""Source: PTX ISA 8.7, 9.7.16.4.1, shared memory descriptor; CUTLASS, mma_sm100_desc.hpp, SmemDescriptor."""


class OperandRole(StrEnum):
    """Which operand of `D = A * B + D` is meant."""

    A = "A"
    B = "B"


class Major(StrEnum):
    """The dimension along which elements lie side by side."""

    K = "K"
    MN = "MN"


class Family(StrEnum):
    """The two families of instructions that read descriptors.

    - `capabilities`: the targets that have it.
    - `evidence`, `basis`: how its rule is known.
    - `majors`: the types that it takes with the rows side by side, too.

    >>> Family.WGMMA.evidence.value, Family.TCGEN05.evidence.value
    ('measured', 'documented')
    """

    capabilities: tuple[int, ...]
    evidence: Evidence
    basis: str
    mn_major_types: tuple[str, ...]
    base_offset_is_known: bool

    def __new__(
        cls,
        value: str,
        capabilities: tuple[int, ...],
        evidence: Evidence,
        basis: str,
        mn_major_types: tuple[str, ...],
        base_offset_is_known: bool,
    ) -> Family:
        """A member; its value is the opcode in PTX."""
        family = str.__new__(cls, value)
        family._value_ = value
        family.capabilities = capabilities
        family.evidence = evidence
        family.basis = basis
        family.mn_major_types = mn_major_types
        family.base_offset_is_known = base_offset_is_known
        return family

    WGMMA = (
        "wgmma",
        (90,),
        Evidence.MEASURED,
        "3,000 random descriptors of m64n64 with f16, tf32 and u8 on an H100, every element where the rule says",
        _WIDE,
        True,
    )
    TCGEN05 = (
        "tcgen05.mma",
        (100, 101, 103, 110),
        Evidence.DOCUMENTED,
        "PTX ISA 8.7, 9.7.16.3 and 9.7.16.4, and CUTLASS, mma_sm100_desc.hpp",
        (*_WIDE, "e4m3", "e5m2", "s8", "u8"),
        False,
    )


FIELDS: Mapping[Family, DescriptorFields] = MappingProxyType(
    {Family.WGMMA: WGMMA_FIELDS, Family.TCGEN05: TCGEN05_FIELDS}
)
"""The fields of each family's descriptors; start address, offsets and base offset stand at the same bits in both."""


@dataclass(frozen=True, slots=True)
class MatrixProduct:
    """A product of an `m` x `k` operand A and a `k` x `n` operand B, by the name of its instruction."""

    name: str
    m: int
    n: int
    k: int
    element: str

    @property
    def element_bytes(self) -> int:
        """The bytes of an element of A or B."""
        return ELEMENT_BYTES[self.element]

    def rows(self, role: str) -> int:
        """The rows of an operand: rows of M for A, columns of N for B."""
        return self.m if OperandRole(role) is OperandRole.A else self.n


@dataclass(frozen=True, slots=True)
class TensorInstruction(MatrixProduct):
    """An instruction that reads operands through matrix descriptors.

    >>> row = find_tensor_instruction("wgmma.m64n128k16.f16")
    >>> row.rows("A"), row.rows("B"), row.k, row.element_bytes
    (64, 128, 16, 2)
    """

    family: Family

    @property
    def evidence(self) -> Evidence:
        """How its rule is known."""
        return self.family.evidence

    def require_major(self, major: Major) -> None:
        """Pass when the rule for this major is known for the element type; else raise SWZ411."""
        known = self.family.mn_major_types
        if major is Major.K or self.element in known:
            return
        if self.family is Family.TCGEN05:
            why = "it needs the 128B mode with atoms of 32 bytes, which is not modelled"
        else:
            why = "the instruction takes it K-major only"
        raise SwzError(
            "SWZ411",
            f"{self.name}: no rule for an MN-major operand of {self.element}: {why}",
            hint=f"MN-major is modelled for {', '.join(known)}",
        )


_NAME = re.compile(
    r"(?P<family>wgmma|tcgen05\.mma)(?P<words>(?:\.(?:mma_async|sync|aligned|sp))*)"
    r"\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?P<types>(?:\.\w+)+)"
)
_EXAMPLES = ("wgmma.m64n128k16.f16", "tcgen05.mma.m128n256k16.bf16")


def find_tensor_instruction(name: str) -> TensorInstruction:
    """The instruction of a name, `FAMILY.mMnNkK.TYPE`, or of PTX's spelling of a wgmma.

    Errors: SWZ401 a name that says no shape and type, or a shape that does not exist; SWZ411 an
    instruction whose rule is not known: sparse operands, single bits, pairs of blocks.

    >>> find_tensor_instruction("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2").name
    'wgmma.m64n8k32.e4m3'
    >>> find_tensor_instruction("wgmma.m64n128k8.f16")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ401: wgmma.m64n128k8.f16 does not exist: an instruction on f16 reads k16
      write wgmma.m64n128k16.f16
    """
    key = name.strip()
    found = _NAME.fullmatch(key)
    if found is None:
        hint = nearest(key, _EXAMPLES) or f"such as {' or '.join(_EXAMPLES)}"
        raise SwzError("SWZ401", f"'{name}' is no instruction that reads a matrix descriptor", hint=hint)
    if ".sp" in found["words"]:
        raise SwzError("SWZ411", f"{name}: how sparse operands lie is not measured", hint="state a dense instruction")
    types = found["types"].split(".")[1:]
    element = types[-2] if len(types) == 3 else types[-1]
    m, n, k = (int(found[each]) for each in "mnk")
    if element not in ELEMENT_BYTES:
        raise SwzError(
            "SWZ411",
            f"{name}: operands of {element} are not modelled",
            hint=f"modelled are {', '.join(ELEMENT_BYTES)}",
        )
    family = Family(found["family"])
    row = TensorInstruction(f"{family.value}.m{m}n{n}k{k}.{element}", m, n, k, element, family)
    _check_shape(row, types)
    return row


def _check_shape(row: TensorInstruction, types: list[str]) -> None:
    """Refuse shapes that no instruction has."""
    wanted = K_BYTES // row.element_bytes
    if row.k != wanted:
        right = row.name.replace(f"k{row.k}.", f"k{wanted}.")
        raise SwzError(
            "SWZ401",
            f"{row.name} does not exist: an instruction on {row.element} reads k{wanted}",
            hint=f"write {right}",
        )
    if len(types) == 3 and ELEMENT_BYTES.get(types[1]) != ELEMENT_BYTES.get(types[2]):
        raise SwzError("SWZ401", f"{row.name}: A of {types[1]} and B of {types[2]} have elements of two sizes")
    rows, step = ((64,), 8) if row.family is Family.WGMMA else ((64, 128), 8 if row.m == 64 else 16)
    if row.family is Family.TCGEN05 and row.m == 256:
        raise SwzError(
            "SWZ411",
            f"{row.name}: a pair of blocks (cta_group::2) is not modelled",
            hint="each block reads 128 rows of A: state m128",
        )
    if row.m not in rows:
        raise SwzError("SWZ401", f"{row.name} does not exist: M is {' or '.join(map(str, rows))}")
    if row.element in _INTEGERS and row.n > 32:
        step = 16
    fits = row.n % step == 0 or (row.element in _INTEGERS and row.n == 24 and row.m == 64)
    if not (0 < row.n <= 256 and fits):
        what = f"M = {row.m} and {row.element}"
        raise SwzError("SWZ401", f"{row.name} does not exist: for {what}, N is a multiple of {step} up to 256")


def require_tensor(target: Target, row: TensorInstruction) -> None:
    """Pass when the target has the instruction; else raise SWZ403.

    >>> from swzverify.hardware.targets import find_target
    >>> require_tensor(find_target("sm_90a"), find_tensor_instruction("wgmma.m64n8k16.f16"))
    """
    have = row.family.capabilities
    if target.capability not in have:
        names = ", ".join(f"sm_{each}a" for each in have)
        raise SwzError(
            "SWZ403", f"target {target.name} has no {row.family.value}", hint=f"set the target to one of {names}"
        )

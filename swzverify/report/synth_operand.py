"""The descriptors of an operand as text: the fields for a spec, for CuTe C++, CUDA and PTX."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from swzverify.hardware.tensor_cores import Family
from swzverify.layout.tma import TmaMode
from swzverify.report.escape import visible
from swzverify.search.synth.descriptors import FoundDescriptors, NamedOperand, Refused
from swzverify.subjects import Descriptor, Operand
from swzverify.subjects.descriptor import CHUNK_BYTES

_MODES: Final = {
    Family.WGMMA: {TmaMode.NONE: 0, TmaMode.B128: 1, TmaMode.B64: 2, TmaMode.B32: 3},
    Family.TCGEN05: {TmaMode.NONE: 0, TmaMode.B128: 2, TmaMode.B64: 4, TmaMode.B32: 6},
}
"""The code of each mode.

Source: PTX ISA 8.7, 9.7.15.5.1.2 and 9.7.16.4.1, matrix descriptor formats.
"""
_MODE_BIT: Final = {Family.WGMMA: 62, Family.TCGEN05: 61}
_CONSTANT: Final = {Family.WGMMA: 0, Family.TCGEN05: 1 << 46}
_CUTE: Final = {
    Family.WGMMA: (
        "SM90::GMMA::LayoutType",
        {TmaMode.NONE: "INTERLEAVE", TmaMode.B128: "B128", TmaMode.B64: "B64", TmaMode.B32: "B32"},
    ),
    Family.TCGEN05: (
        "UMMA::LayoutType",
        {
            TmaMode.NONE: "SWIZZLE_NONE",
            TmaMode.B128: "SWIZZLE_128B",
            TmaMode.B64: "SWIZZLE_64B",
            TmaMode.B32: "SWIZZLE_32B",
        },
    ),
}
"""Source: CUTLASS, mma_sm90_desc.hpp and mma_sm100_desc.hpp."""


@dataclass(frozen=True, slots=True)
class OperandResult:
    """The descriptors of an operand of a spec, in one case of the constants."""

    path: str
    case: str
    operand: Operand
    found: FoundDescriptors


def render_operand(result: OperandResult) -> str:
    """The result as lines of text."""
    return "\n".join(visible(line) for line in _lines(result)) + "\n"


def descriptor_bits(family: Family, fields: Descriptor) -> int:
    """A descriptor of 64 bits with a start address of 0.

    >>> hex(descriptor_bits(Family.WGMMA, Descriptor(16, 1024, TmaMode.B128)))
    '0x4000004000010000'
    """
    units = fields.lbo_bytes // CHUNK_BYTES << 16 | fields.sbo_bytes // CHUNK_BYTES << 32
    mode = _MODES[family][fields.swizzle] << _MODE_BIT[family]
    return units | fields.base_offset << 49 | mode | _CONSTANT[family]


def _lines(result: OperandResult) -> Iterator[str]:
    operand, found = result.operand, result.found
    case = f" [{result.case}]" if result.case else ""
    yield f"{result.path}: operand {operand.name}{case}, family descriptor"
    yield f"  {operand.role} of {operand.instruction.name}, {operand.major}-major, from tile {operand.tile.name}"
    for each in found.answers:
        yield from _answer(each)
    if not found.answers:
        words = "no descriptor names it" if found.is_decided else "open: no descriptor was found"
        yield f"  answer   {words}"
    yield from (
        f"  {'no' if each.is_sure else 'open':7}  {_refused(each)}" for each in found.refused if _has_line(each)
    )
    if any(each.base_offset for each in found.refused) and not found.answers:
        yield "  no       base offsets 1 to 7: no mode either" if found.is_decided else "  open     base offsets 1 to 7"


def _has_line(each: Refused) -> bool:
    """Whether a mode has a line of its own: with base offset 0, or if it is open."""
    return not each.base_offset or not each.is_sure


def _refused(each: Refused) -> str:
    offset = f", base offset {each.base_offset}" if each.base_offset else ""
    return f"swizzle {each.mode}{offset}: {each.reason}"


def _answer(named: NamedOperand) -> Iterator[str]:
    operand, fields = named.operand, named.operand.descriptor
    family, start = operand.instruction.family, str(operand.start)
    bits = descriptor_bits(family, fields)
    reads_lbo = fields.reads_lbo(operand.major)
    offset = f", base_offset: {fields.base_offset}" if fields.base_offset else ""
    lbo = f"lbo: {fields.lbo_bytes}, " if reads_lbo else ""
    yield f"  answer   {{start: {start}, {lbo}sbo: {fields.sbo_bytes}, swizzle: {fields.swizzle}{offset}}}"
    yield f"  proved   delivers, by {' + '.join(named.verdict.engines)}"
    kind, modes = _CUTE[family]
    yield f"  cute     desc.bitfield.layout_type_ = uint8_t({kind}::{modes[fields.swizzle]});"
    yield f"           desc.bitfield.leading_byte_offset_ = {fields.lbo_bytes // CHUNK_BYTES};  // {_unread(reads_lbo)}"
    yield f"           desc.bitfield.stride_byte_offset_ = {fields.sbo_bytes // CHUNK_BYTES};"
    yield f"           desc.bitfield.base_offset_ = {fields.base_offset};"
    if family is Family.TCGEN05:
        yield "           desc.bitfield.version_ = 1;"
    yield f"           desc.bitfield.start_address_ = ((base + {start}) & 0x3ffff) >> 4;"
    yield f"  cuda     uint64_t desc = {bits:#x}ull | ((uint64_t)((base + {start}) & 0x3ffff) >> 4);"
    yield "  ptx      and.b32 address, address, 0x3ffff;  // address is base plus the start"
    yield "           shr.u32 address, address, 4;"
    yield "           cvt.u64.u32 desc, address;"
    yield f"           or.b64 desc, desc, {bits:#x};"


def _unread(reads_lbo: bool) -> str:
    return "in units of 16 bytes" if reads_lbo else "not read"

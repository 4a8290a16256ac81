"""PTX spellings of the table's instructions: `ld.volatile.shared.v4.f32` is `ld.shared.v4.b32`.

Types of one width are one row: the data type changes neither the addresses nor, with ptxas 12.9.86
for sm_90, the machine instruction.

Source: PTX ISA 8.7, on each of the opcodes.
"""

from __future__ import annotations

import re
from typing import NoReturn

from swzverify.errors import SwzError
from swzverify.hardware.kinds import MATRIX_OPCODES

MAX_LANE_BYTES = 16
"""The widest access a lane can make to shared memory. Source: PTX ISA 8.7, vectors (128 bits)."""

ORDER = r"(?:\.(?:weak|volatile|relaxed|acquire|release|acq_rel|mmio|cta|cluster|gpu|sys))*"
_SPACE = r"\.shared(?P<space>::cta|::cluster)?"
_LOAD_STORE = re.compile(rf"(?P<op>ld|st){ORDER}{_SPACE}(?:\.v(?P<vector>[248]))?\.(?P<type>\w+)")
_MATRIX = re.compile(
    rf"(?P<op>{'|'.join(MATRIX_OPCODES)})\.sync\.aligned\.(?P<shape>m\d+n\d+)\.x(?P<count>[124])(?P<trans>\.trans)?"
    rf"(?:{_SPACE})?\.(?P<type>[\w.]+)"
)
_CP_ASYNC = re.compile(rf"cp\.async\.(?P<cache>ca|cg)(?:{_SPACE}\.global(?:\.L2::\w+)*)?(?:\.(?P<size>\d+))?")
_ATOMIC = re.compile(
    rf"(?:atom|red){ORDER}{_SPACE}\.(?:(?:add|min|max)\.[us]32|(?:and|or|xor|exch)\.b32|(?:inc|dec)\.u32)"
)
"""`red` costs what `atom` does, and all operations cost the same. Source: measured on an H200,
tests/data/h200_atomics.npz.
"""
_TYPE = re.compile(
    r"(?:b(?P<raw>8|16|32|64|128)|[us](?P<int>8|16|32|64)|f(?P<float>16|32|64)|bf(?P<brain>16))(?P<two>x2)?"
)


def canonical_name(spelling: str) -> str | None:
    """The table's name for a PTX spelling, with or without operands; None if no shared-memory access.

    Raises:
        SwzError: SWZ401, with the reason, if the instruction is understood but not in the table.

    >>> canonical_name("ld.volatile.shared::cta.v4.f32 {%f0,%f1,%f2,%f3}, [%r1];")
    'ld.shared.v4.b32'
    >>> canonical_name("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16")
    'ldmatrix.x2.trans'
    >>> canonical_name("cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;")
    'cp.async.16'
    """
    opcode, _, operands = spelling.strip().rstrip(";").partition(" ")
    if match := _LOAD_STORE.fullmatch(opcode):
        _refuse_cluster(opcode, match)
        return _load_store(opcode, match)
    if match := _MATRIX.fullmatch(opcode):
        _refuse_cluster(opcode, match)
        if match["shape"] != "m8n8" or match["type"] != "b16":
            shape = f"shape .{match['shape']} of .{match['type']}"
            _refuse(opcode, f"{shape} has not been measured; .m8n8 of .b16 is known")
        return f"{match['op']}.x{match['count']}{match['trans'] or ''}"
    if match := _CP_ASYNC.fullmatch(opcode):
        _refuse_cluster(opcode, match)
        return _cp_async(opcode, match, operands)
    if match := _ATOMIC.fullmatch(opcode):
        _refuse_cluster(opcode, match)
        return "atom.shared.add.u32"
    return None


def _load_store(opcode: str, match: re.Match[str]) -> str | None:
    element_bits = type_bits(match["type"])
    if element_bits is None:
        return None
    vector = int(match["vector"] or 1)
    width_bytes = element_bits * vector // 8
    if width_bytes > MAX_LANE_BYTES:
        _refuse(
            opcode,
            f"it moves {width_bytes * 8} bits per lane, and an access to shared memory has at most "
            f"{MAX_LANE_BYTES * 8}; 256-bit vectors exist for global memory only",
        )
    if vector == 8:
        _refuse(opcode, "PTX has .v8 for 32-bit elements in global memory only")
    return f"{match['op']}.shared.{row_suffix(width_bytes, element_bits)}"


def row_suffix(width_bytes: int, element_bits: int) -> str:
    """The end of the table's name for so many bytes per lane, in elements of so many bits.

    >>> row_suffix(16, 32), row_suffix(8, 64)
    ('v4.b32', 'b64')
    """
    if width_bytes <= 4:
        return f"b{width_bytes * 8}"
    if width_bytes == 8:
        return "b64" if element_bits == 64 else "v2.b32"
    return "v2.b64" if element_bits >= 64 else "v4.b32"


def type_bits(name: str) -> int | None:
    """The bits of a PTX type; None for another word.

    >>> type_bits("f32"), type_bits("bf16x2"), type_bits("f32x2")
    (32, 32, None)
    """
    match = _TYPE.fullmatch(name)
    if match is None or (match["two"] and not (match["float"] == "16" or match["brain"])):
        return None
    bits = int(next(part for part in match.group("raw", "int", "float", "brain") if part))
    return bits * 2 if match["two"] else bits


def _cp_async(opcode: str, match: re.Match[str], operands: str) -> str:
    cache = match["cache"]
    parts = [part.strip() for part in operands.split(",")]
    size = match["size"] or (parts[2] if len(parts) > 2 else parts[0] if len(parts) == 1 else "")
    if not size and cache == "cg":
        size = "16"  # the only size that .cg has, so leaving it out is no ambiguity
    if not size:
        _refuse(opcode, "it does not say how many bytes it copies", "add the size: 4, 8 or 16")
    if size not in {"4", "8", "16"}:
        _refuse(opcode, f"it copies {size} bytes per lane, and cp.async copies 4, 8 or 16")
    if cache == "cg" and size != "16":
        _refuse(opcode, f"it copies {size} bytes per lane, and cp.async.cg copies 16", f"write cp.async.{size} for .ca")
    return "cp.async.ca.16" if (cache, size) == ("ca", "16") else f"cp.async.{size}"


def _refuse_cluster(opcode: str, match: re.Match[str]) -> None:
    if match["space"] == "::cluster":
        reason = "distributed shared memory (.shared::cluster) is not modelled"
        _refuse(opcode, reason, "write .shared for the own block")


def _refuse(opcode: str, reason: str, hint: str = "") -> NoReturn:
    raise SwzError("SWZ401", f"instruction '{opcode}' is not in the table: {reason}", hint=hint)

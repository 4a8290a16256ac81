"""The instructions of global memory as data: plain loads and stores, and how PTX spells them.

The rows have the same type as those of shared memory, and differ in `space`: `wavefronts` prices
the rows of shared memory, `sectors` those of global memory. `find_instruction` knows shared memory
only, so that nothing prices an access to global memory by banks.

Source: PTX ISA 8.7, `ld`, `ld.global.nc` and `st`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from swzverify.errors import SwzError, nearest
from swzverify.hardware.instructions import LANES, Instruction, Kind, Space, find_instruction
from swzverify.hardware.spelling import MAX_LANE_BYTES, ORDER, row_suffix, type_bits

_SOURCE = "PTX ISA 8.7, ld and st: widths of 1 to 16 bytes per lane, of one or of several elements"
_SUFFIXES: Mapping[str, int] = {
    "b8": 1, "b16": 2, "b32": 4, "b64": 8, "v2.b32": 8, "v4.b32": 16, "v2.b64": 16
}  # fmt: skip


def _row(opcode: str, suffix: str, width_bytes: int) -> Instruction:
    return Instruction(
        name=f"{opcode}.global.{suffix}",
        width_bytes=width_bytes,
        kind=Kind.LOAD if opcode == "ld" else Kind.STORE,
        group_lanes=LANES,
        address_lanes=LANES,
        joins=False,
        counts_equal_words=False,
        warp_wide=False,
        by_octets=False,
        source=_SOURCE,
        space=Space.GLOBAL,
    )


GLOBAL_INSTRUCTIONS: Mapping[str, Instruction] = MappingProxyType(
    {row.name: row for opcode in ("ld", "st") for row in (_row(opcode, *entry) for entry in _SUFFIXES.items())}
)
"""Every instruction of global memory by its name, in the order of the documentation."""

_CACHES = {"ld": r"(?:\.(?:ca|cg|cs|lu|cv))?(?:\.nc)?", "st": r"(?:\.(?:wb|cg|cs|wt))?"}
_HINTS = r"(?:\.L1::(?:evict_\w+|no_allocate))?(?:\.L2::evict_\w+)?(?:\.L2::cache_hint)?(?:\.L2::(?:64|128|256)B)?"
_SPELLINGS = {
    opcode: re.compile(rf"{opcode}{ORDER}\.global{caches}{_HINTS}(?:\.v(?P<vector>[248]))?\.(?P<type>\w+)")
    for opcode, caches in _CACHES.items()
}
_IS_GLOBAL = re.compile(r"(?:ld|st)(?:\.\w+)*?\.global(?:[.:]|$)")


def global_name(spelling: str) -> str | None:
    """The table's name for a PTX load from or store to global memory; None for any other spelling.

    The spelling may have operands. Caches and eviction priorities change neither the addresses nor
    their sectors.

    Raises:
        SwzError: SWZ401 if a lane moves more bytes than the table knows.

    >>> global_name("ld.global.nc.L1::no_allocate.v4.f32 {%f0,%f1,%f2,%f3}, [%rd1];")
    'ld.global.v4.b32'
    >>> global_name("st.global.cs.f32"), global_name("ld.shared.f32")
    ('st.global.b32', None)
    """
    opcode = spelling.strip().rstrip(";").partition(" ")[0]
    match = next((found for each in _SPELLINGS.values() if (found := each.fullmatch(opcode))), None)
    bits = None if match is None else type_bits(match["type"])
    if match is None or bits is None:
        return None
    width_bytes = bits * int(match["vector"] or 1) // 8
    if width_bytes > MAX_LANE_BYTES:
        raise SwzError(
            "SWZ401",
            f"instruction '{opcode}' is not in the table: it moves {width_bytes * 8} bits per lane, and the table has "
            f"at most {MAX_LANE_BYTES * 8}",
            hint="state two instructions of 128 bits; 256 bits per lane exist from sm_100 on (PTX ISA 8.8)",
        )
    if match["vector"] == "8":
        return None
    return f"{opcode[:2]}.global.{row_suffix(width_bytes, bits)}"


def find_any_instruction(name: str) -> Instruction:
    """The row of a name or of a PTX spelling of it, of shared or of global memory.

    Raises:
        SwzError: SWZ401 as `find_instruction` does.

    >>> find_any_instruction("st.global.v4.f32").name, find_any_instruction("ld.shared.f32").name
    ('st.global.v4.b32', 'ld.shared.b32')
    """
    key = name.strip()
    known = GLOBAL_INSTRUCTIONS.get(key) or GLOBAL_INSTRUCTIONS.get(global_name(key) or "")
    if known is not None:
        return known
    if _IS_GLOBAL.match(key.lower()):
        lower = key.lower()
        hint = f"did you mean '{lower}'?" if lower != key and global_name(lower) else nearest(key, GLOBAL_INSTRUCTIONS)
        known_names = f"known are {', '.join(GLOBAL_INSTRUCTIONS)}, and PTX's other spellings of these"
        raise SwzError("SWZ401", f"unknown instruction '{name}' of global memory", hint=hint or known_names)
    return find_instruction(name)

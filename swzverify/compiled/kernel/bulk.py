"""Bulk copies and tensor maps: which operands are places in shared memory, how these are aligned, and how large.

Source: PTX ISA, Data Movement and Conversion Instructions: cp.async.bulk, cp.reduce.async.bulk,
cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, st.bulk, tensormap.replace; tensormap.cp_fenceproxy; Tensors, for the
alignment of 128 bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.ptx import Address, Instruction, Operand

TENSOR_TO_PHASE: Final = re.compile(
    r"cp\.async\.bulk\.tensor\.[1-5]d\.shared::(?:cta|cluster)\.global(?:\.tile)?"
    r"\.mbarrier::complete_tx::bytes(?:\.L2::cache_hint)?"
)
"""Copies of a box of a tensor map into one block that complete transactions of a barrier object."""
COPY_TO_PHASE: Final = re.compile(
    r"cp\.async\.bulk\.shared::(?:cta|cluster)\.global\.mbarrier::complete_tx::bytes(?:\.L2::cache_hint)?"
)
"""Bulk copies into this block that complete a phase of a barrier object."""
FROM_SHARED: Final = re.compile(
    r"cp\.(?:reduce\.)?async\.bulk\.(?:tensor\.[1-5]d\.)?global\.shared::cta\b.*\.bulk_group(?:\..*)?"
)
"""Bulk copies out of this block, which complete with a group of their thread."""
BOX: Final = re.compile(f"(?:{TENSOR_TO_PHASE.pattern})|(?=.*tensor)(?:{FROM_SHARED.pattern})")
"""Copies of a box of a tensor map, which says how many bytes it has."""
MULTICAST: Final = re.compile(
    r"cp\.async\.bulk(?P<box>\.tensor\.[1-5]d)?\.shared::cluster\.global(?:\.tile)?"
    r"\.mbarrier::complete_tx::bytes\.multicast::cluster(?:\.L2::cache_hint)?"
)
"""Copies into blocks of a cluster that complete transactions of a barrier object in each."""
_COPIES: Final = (["cp", "async", "bulk"], ["cp", "reduce", "async", "bulk"])
_ALIGN_BYTES: Final = 16
_TENSOR_ALIGN_BYTES: Final = 128
_FILL_ALIGN_BYTES: Final = 8
_MAP_BYTES: Final = 128
"""The bytes of a tensor map, which begins at a multiple of them."""


@dataclass(frozen=True, slots=True)
class Bulk:
    """One end of a bulk copy in shared memory, or a tensor map there.

    Attributes:
        operand: The number of the operand that is its address.
        align_bytes: What the address has to be a multiple of.
        size_operand: The number of the operand with the bytes; None if there is none.
        size_bytes: The bytes, if all such instructions have as many; 0 if an operand or a tensor map says it.
    """

    operand: int
    align_bytes: int
    size_operand: int | None
    size_bytes: int = 0


def mask_of(instruction: Instruction) -> Operand | None:
    """The mask of a copy to several blocks, which stands behind the barrier object; None for other instructions."""
    if not MULTICAST.fullmatch(instruction.opcode):
        return None
    places = [at for at, each in enumerate(instruction.operands) if isinstance(each, Address)]
    behind = instruction.operands[places[-1] + 1 :] if places else ()
    return behind[0] if behind else None


def ends_of(opcode: str) -> list[Bulk]:
    """The ends of a bulk copy that lie in shared memory; none for other instructions.

    >>> ends_of("cp.async.bulk.global.shared::cta.bulk_group")
    [Bulk(operand=1, align_bytes=16, size_operand=2, size_bytes=0)]
    >>> ends_of("tensormap.replace.tile.global_address.shared::cta.b1024.b64")
    [Bulk(operand=0, align_bytes=128, size_operand=None, size_bytes=128)]
    """
    words = opcode.split(".")
    if words[0] == "tensormap":
        return [Bulk(int(words[1] == "cp_fenceproxy"), _MAP_BYTES, None, _MAP_BYTES)]
    if words[:2] == ["st", "bulk"]:
        return [Bulk(0, _FILL_ALIGN_BYTES, 1)]
    if not any(words[: len(each)] == each for each in _COPIES):
        return []
    spaces = [word.partition("::")[0] for word in words if word.partition("::")[0] in ("shared", "global")]
    align, size = (_TENSOR_ALIGN_BYTES, None) if "tensor" in words else (_ALIGN_BYTES, 2)
    return [Bulk(place, align, size) for place, space in enumerate(spaces[:2]) if space == "shared"]

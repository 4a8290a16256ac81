"""Which instructions touch shared memory, or may do so: nothing of that kind is passed over.

Source: PTX ISA, Instruction Set; State Spaces: Shared State Space; Generic Addressing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from swzverify.compiled.kernel.bulk import Bulk, ends_of
from swzverify.compiled.kernel.evaluate import SPACES, space_of
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.fragments import Piece, pieces_of
from swzverify.compiled.kernel.tensor_products import product_operands
from swzverify.compiled.ptx import Address, Instruction
from swzverify.errors import SwzError
from swzverify.hardware.kinds import MATRIX_OPCODES
from swzverify.hardware.tensor_cores import find_tensor_instruction


class Touch(StrEnum):
    """How an instruction reaches shared memory.

    - `SHARED`: by the shared addresses of its lanes.
    - `GENERIC`: by generic addresses of its lanes, if they are shared ones.
    - `OTHER`: in a way that is not looked at.
    - `BARRIER`: as a barrier object, which moves no data.
    - `OPERAND`: as operands of the tensor core, by matrix descriptors.
    """

    SHARED = "shared"
    GENERIC = "generic"
    OTHER = "other"
    BARRIER = "barrier"
    OPERAND = "operand"


@dataclass(frozen=True, slots=True)
class Use:
    """How an instruction touches shared memory.

    Attributes:
        touch: How it reaches shared memory.
        reason: Why it is not looked at; of shared addresses, why their cost is not known.
        piece: The machine instruction that is meant, if ptxas makes other ones of it.
        bulk: The end of a bulk copy that is meant.
    """

    touch: Touch
    reason: str = ""
    piece: Piece | None = None
    bulk: Bulk | None = None


_PLAIN: Final = frozenset({"ld", "ldu", "st", "atom", "red"})
_COPY: Final = re.compile(r"cp\.async\.c[ag]\.shared(?:::cta)?\.global\b.*")
_SILENT: Final = re.compile(
    r"cp\.async\.(?:commit_group|wait_group|wait_all|bulk\.commit_group|bulk\.wait_group.*)"
    r"|cp\.async\.bulk\.prefetch\..*|mbarrier\.pending_count\..*"
    r"|wgmma\.(?:fence|commit_group|wait_group)\b.*|wmma\.mma\..*"
    r"|tcgen05\.(?:ld|st|wait|fence|dealloc|relinquish_alloc_permit|shift)\b.*"
    r"|(?:cvta|mapa|getctarank|isspacep|fence|membar|prefetch|prefetchu|discard|applypriority|createpolicy)\b.*"
    r"|(?:tex|tld4|suld|sust|sured|txq|suq|istypep|pmevent)\b.*"
)
"""Instructions that name addresses or shared memory and access none of it."""
_SYNCHRONIZES: Final = re.compile(
    r"(?:bar|barrier|mbarrier|fence|membar)\..*|cp\.async\.mbarrier\..*|cp\.async\.(?:bulk\.)?wait_.*"
    r"|(?:wgmma|tcgen05)\.(?:fence|wait).*|griddepcontrol\.wait"
)
"""Barriers, operations on barrier objects, fences and waits.

Source: PTX ISA, Parallel Synchronization and Communication Instructions; Asynchronous Copy; Asynchronous
Warpgroup Level Matrix Instructions; TensorCore 5th Generation Family Instructions.
"""
OF_BULK: Final = "no verdict on bank conflicts: the copy engine moves the bytes of a bulk copy, not the lanes of a warp"
"""What an end of a bulk copy has in place of a row of the table of costs."""
OF_MAP: Final = "no verdict on bank conflicts: one thread changes a tensor map, or a warp copies it"
"""The same for a tensor map in shared memory."""
_REASONS: Final = {
    "cp": "this copy is not looked at",
    "mbarrier": "barriers in shared memory are not judged",
    "wgmma": "operands in shared memory that descriptors name are not judged",
    "wmma": "fragments of wmma are not judged before sm_75, at generic addresses, and of parts of bytes",
    "tcgen05": "this instruction of tcgen05 is not judged",
    "multimem": "multimem accesses are not judged",
    "call": "what the called function does is not looked at",
}


def use_of(instruction: Instruction) -> Use | None:
    """How an instruction touches shared memory; None if it surely does not."""
    name, opcode = base_name(instruction), instruction.opcode
    if _SILENT.fullmatch(opcode):
        return None
    if name == "call":
        return Use(Touch.OTHER, f"{_REASONS['call']}: {' '.join(instruction.text.split())}")
    if name in _PLAIN and not {"async", "bulk"}.isdisjoint(opcode.split(".")):
        return Use(Touch.SHARED, "bank conflicts of asynchronous and bulk stores and reductions are not judged")
    if name in _PLAIN or name in MATRIX_OPCODES:
        return _of_space(opcode)
    if name == "wmma" and space_of(opcode) not in ("", "shared"):
        return None
    if _COPY.fullmatch(opcode):
        return Use(Touch.SHARED)
    is_wgmma = name == "wgmma" and len(instruction.operands) > 2 and has_known_operands(opcode)
    if is_wgmma or (name == "tcgen05" and product_operands(instruction) is not None):
        return Use(Touch.OPERAND, _REASONS[name])
    if name in _REASONS:
        is_barrier = name == "mbarrier" or opcode.startswith("cp.async.mbarrier.")
        return Use(Touch.BARRIER, _REASONS["mbarrier"]) if is_barrier else Use(Touch.OTHER, _REASONS[name])
    words = {word.partition("::")[0] for word in opcode.split(".")[1:]}
    has_address = any(isinstance(operand, Address) for operand in instruction.operands)
    if name == "tensormap" and ("shared" in words or not words & set(SPACES)):
        return Use(Touch.SHARED if "shared" in words else Touch.GENERIC, OF_MAP)
    if "shared" in words or (has_address and not words & set(SPACES)):
        return Use(Touch.OTHER, f"`{opcode}` is not known")
    return None


def uses_of(instruction: Instruction, capability: int | None) -> list[Use]:
    """How the machine instructions touch shared memory that ptxas makes of an instruction for a target.

    Without the target's capability, or if they are not known, there is the instruction itself.
    """
    use = use_of(instruction)
    if use is None:
        return []
    pieces = pieces_of(instruction.opcode, capability) if capability is not None else ()
    found = [Use(Touch.SHARED, piece=each) for each in pieces]
    if base_name(instruction) in ("st", "tensormap"):
        # `st.bulk` fills memory: no copy engine moves its bytes, and its address may be a generic one
        touch = use.touch if use.reason == OF_MAP else Touch.SHARED if space_of(instruction.opcode) else Touch.GENERIC
        return [Use(touch, use.reason, bulk=each) for each in ends_of(instruction.opcode)] or [use]
    found += [Use(Touch.SHARED, OF_BULK, bulk=each) for each in ends_of(instruction.opcode)]
    return found or [use]


def has_known_operands(opcode: str) -> bool:
    """Whether the rule is known by which a `wgmma` reads its operands through matrix descriptors.

    >>> has_known_operands("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16")
    True
    >>> has_known_operands("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16")
    False
    """
    try:
        find_tensor_instruction(opcode)
    except SwzError:
        return False
    return True


def count_synchronizations(instructions: Iterable[Instruction]) -> int:
    """How many instructions are barriers, operations on barrier objects, fences or waits."""
    return sum(_SYNCHRONIZES.fullmatch(each.opcode) is not None for each in instructions)


def _of_space(opcode: str) -> Use | None:
    if "shared::cluster" in opcode.split("."):
        return Use(Touch.SHARED, "bank conflicts in shared memory of other blocks of the cluster are not judged")
    space = space_of(opcode)
    if not space:
        return Use(Touch.GENERIC)
    return Use(Touch.SHARED) if space == "shared" else None

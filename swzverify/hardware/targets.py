"""The GPU targets as data: shared memory per block, instructions, and how well each cost is known.

Source of the sizes: "Maximum amount of shared memory per thread block" in the CUDA Programming
Guide 13, 5.1.3, table 31 (7.5 to 12.x; its KB are 1024 bytes) and in the CUDA C++ Programming Guide
11, K.1, table 15 (7.0, 7.2); max_shared_memory_per_block_optin in CCCL,
libcudacxx/include/cuda/__device/arch_traits.h (agrees, and has 8.8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from swzverify.errors import SwzError
from swzverify.hardware.global_memory import GLOBAL_INSTRUCTIONS
from swzverify.hardware.instructions import INSTRUCTIONS, Instruction, find_instruction

MOST_BLOCK_THREADS = 1024
"""Threads of a block, on every target. Source: CUDA Programming Guide 13, 5.1.3, table 30."""
MOST_BLOCK_EXTENTS: Mapping[str, int] = MappingProxyType({"x": MOST_BLOCK_THREADS, "y": MOST_BLOCK_THREADS, "z": 64})
"""Threads of a block along each axis. Source: the same table."""
MOST_GRID_EXTENTS: Mapping[str, int] = MappingProxyType({"x": (1 << 31) - 1, "y": 65535, "z": 65535})
"""Blocks of a grid along each axis. Source: the same table."""


class Evidence(StrEnum):
    """How a fact is known, best first."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU target.

    `capability` is the number in its name, `shared_bytes_per_block` the most shared memory that a
    block may opt in to; `evidence` and `source` say how that size is known.

    >>> find_target("sm_90a").shared_bytes_per_block
    232448
    """

    name: str
    capability: int
    shared_bytes_per_block: int
    evidence: Evidence
    source: str

    @property
    def reserved_bytes_per_block(self) -> int:
        """The shared memory of the multiprocessor that every block takes in addition to its own.

        Source: CUDA Programming Guide 13, 5.1.3: 1 KB for each block from 8.0 on.
        """
        return 1024 if self.capability >= 80 else 0

    @property
    def shared_bytes_per_sm(self) -> int:
        """The shared memory of a multiprocessor, in bytes.

        Source: as the size per block; "Maximum amount of shared memory per SM" is a block's most and what is
        reserved for it.

        >>> find_target("sm_90").shared_bytes_per_sm, find_target("sm_75").shared_bytes_per_sm
        (233472, 65536)
        """
        return self.shared_bytes_per_block + self.reserved_bytes_per_block

    def room_of_blocks(self, blocks: int) -> int:
        """The shared memory in bytes that each of `blocks` blocks on one multiprocessor may use.

        It is 0 or less if so many blocks do not fit. Memory is allocated in units of at most 256 bytes.

        >>> find_target("sm_90").room_of_blocks(2), find_target("sm_90").room_of_blocks(1)
        (115712, 232448)
        """
        return self.shared_bytes_per_sm // blocks // 256 * 256 - self.reserved_bytes_per_block

    def __post_init__(self) -> None:
        """Refuse a size that no chip has."""
        if self.shared_bytes_per_block <= 0 or self.shared_bytes_per_block % 1024:
            raise ValueError(f"{self.name}: {self.shared_bytes_per_block} bytes is not a whole number of KiB")


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """How the cost of `instructions` on `targets` is known; `basis` is one line for reports."""

    targets: frozenset[str]
    instructions: frozenset[str]
    evidence: Evidence
    basis: str


_GUIDE = "CUDA Programming Guide 13, 5.1.3, table 31"
_GUIDE_OLD = "CUDA C++ Programming Guide 11, K.1, table 15"
_CCCL = "CCCL, cuda/__device/arch_traits.h"

# capability, KiB per block, suffixes of the same chip's feature-specific targets, source
_SIZES: tuple[tuple[int, int, str, str], ...] = (
    (70, 96, "", _GUIDE_OLD),
    (72, 96, "", _GUIDE_OLD),
    (75, 64, "", _GUIDE),
    (80, 163, "", _GUIDE),
    (86, 99, "", _GUIDE),
    (87, 163, "", _GUIDE),
    (88, 99, "", _CCCL),
    (89, 99, "", _GUIDE),
    (90, 227, "a", _GUIDE),
    (100, 227, "af", _GUIDE),
    (101, 227, "af", f"{_GUIDE}; CUDA 13 renamed the target to sm_110"),
    (103, 227, "af", _GUIDE),
    (110, 227, "af", _GUIDE),
    (120, 99, "af", _GUIDE),
    (121, 99, "af", _GUIDE),
)

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        name: Target(name, capability, kib * 1024, Evidence.DOCUMENTED, source)
        for capability, kib, suffixes, source in _SIZES
        for name in (f"sm_{capability}{suffix}" for suffix in ("", *suffixes))
    }
)
"""Every target by its name, oldest first."""

MOST_SHARED_BYTES = max(target.shared_bytes_per_block for target in TARGETS.values())
"""No block of any target has more shared memory."""

_ALL = frozenset(TARGETS)
_H100 = frozenset({"sm_90", "sm_90a"})
_EVERY = frozenset(INSTRUCTIONS)
_UP_TO_A_WORD = frozenset(f"{op}.shared.b{bits}" for op in ("ld", "st") for bits in (8, 16, 32))
_BY_OCTETS = frozenset(row.name for row in INSTRUCTIONS.values() if row.by_octets)

EVIDENCE: tuple[EvidenceRow, ...] = (
    EvidenceRow(
        _H100,
        _EVERY - _BY_OCTETS,
        Evidence.MEASURED,
        "650 random patterns on an H100, wavefronts and bank conflicts of all of them reproduced",
    ),
    EvidenceRow(
        _H100,
        _BY_OCTETS,
        Evidence.MEASURED,
        "53,687 patterns on an H100, coalesced sources, wavefronts of all of them reproduced; it counts no conflicts",
    ),
    EvidenceRow(
        _ALL,
        _UP_TO_A_WORD,
        Evidence.DOCUMENTED,
        "CUDA Programming Guide, shared memory: 32 banks of 32-bit words, lanes in one word do not conflict",
    ),
    EvidenceRow(
        _H100,
        frozenset(GLOBAL_INSTRUCTIONS),
        Evidence.MEASURED,
        "60 random patterns on an H200, sectors of all of them reproduced",
    ),
    EvidenceRow(
        _ALL,
        frozenset(GLOBAL_INSTRUCTIONS),
        Evidence.DOCUMENTED,
        "CUDA C++ Best Practices Guide, coalesced access: as many transactions of 32 bytes as serve all lanes",
    ),
    EvidenceRow(_ALL, _EVERY, Evidence.ASSUMED, "the H100's rule; neither measured nor documented on this target"),
)
"""How the cost of each instruction on each target is known; the first row that holds both applies.
"""


def capability_of(name: str) -> int | None:
    """The capability of a target; None for a name that the table does not have.

    >>> capability_of("sm_90a"), capability_of("sm_1")
    (90, None)
    """
    return TARGETS[name].capability if name in TARGETS else None


def find_target(name: str) -> Target:
    """The row of a target's name.

    Raises:
        SwzError: SWZ402 with the nearest name.

    >>> find_target("sm_75").capability
    75
    """
    row = TARGETS.get(name.strip())
    if row is not None:
        return row
    meant = _meant(name)
    hint = f"did you mean {meant}?" if meant else f"known are {', '.join(TARGETS)}"
    raise SwzError("SWZ402", f"unknown target '{name}'", hint=hint)


def _meant(name: str) -> str:
    """The targets that another spelling or a chip's name stands for; numbers are never changed."""
    small = re.sub(r"^(?:nvidia|geforce|tesla|jetson)?[\s_-]*|[\s_-]+", "", name.lower())
    if small in _CHIPS:
        return _CHIPS[small]
    found = re.fullmatch(r"(?:sm|compute|cc)?\.?(\d+)\.?(\d?)([af]?)", small)
    spelt = f"sm_{found[1]}{found[2]}{found[3]}" if found else ""
    return f"'{spelt}'" if spelt in TARGETS else ""


_NAMED = {
    "'sm_70'": "volta v100 gv100",
    "'sm_75'": "turing t4 rtx2080 2080 2080ti",
    "'sm_80'": "a100 ga100 a30",
    "'sm_86'": "a10 a40 a6000 rtx3090 3090 3080 rtx3080",
    "'sm_87'": "orin",
    "'sm_89'": "ada lovelace l4 l40 l40s rtx4090 4090 4080",
    "'sm_90'": "hopper h100 h200 h20 h800 gh200",
    "'sm_100'": "b100 b200 gb200",
    "'sm_103'": "b300 gb300",
    "'sm_120'": "rtx5090 5090 5080",
    "'sm_121'": "gb10",
    "'sm_80' (A100) or 'sm_86' (A10, A40, RTX 30)": "ampere",
    "'sm_100' (B200), 'sm_103' (B300) or 'sm_120' (RTX 50)": "blackwell",
}
_CHIPS = {chip: target for target, chips in _NAMED.items() for chip in chips.split()}
"""Names of chips and their architectures. Source: NVIDIA, "CUDA GPU Compute Capability"."""


def require(target: str | Target, instruction: str | Instruction) -> None:
    """Check that the target has the instruction.

    Raises:
        SwzError: SWZ403 if it has not; the message names the first target that has it.

    >>> require("sm_80", "ldmatrix.x4")
    """
    chip, row = _resolved(target, instruction)
    first = TARGETS[row.kind.first_target]
    if chip.capability < first.capability:
        raise SwzError(
            "SWZ403",
            f"target {chip.name} has no {row.name}; the first target that has it is {first.name}",
            hint=f"set the target to {first.name} or later, or use another instruction",
        )


def require_rows(target: Target, instruction: Instruction) -> None:
    """Check that both are rows of the tables.

    What is known by the name of a row is not known of a changed copy.

    Raises:
        SwzError: SWZ402 for another target, SWZ401 for another instruction.

    >>> require_rows(find_target("sm_90"), find_instruction("ld.shared.b32"))
    """
    if TARGETS.get(target.name) != target:
        hint = "take it from find_target"
        raise SwzError("SWZ402", f"{target!r} is not the target {target.name} of the table", hint=hint)
    rows = GLOBAL_INSTRUCTIONS if instruction.is_global else INSTRUCTIONS
    if rows.get(instruction.name) != instruction:
        hint = "take it from find_instruction"
        message = f"{instruction!r} is not the instruction {instruction.name} of the table"
        raise SwzError("SWZ401", message, hint=hint)


def evidence(target: str | Target, instruction: str | Instruction) -> Evidence:
    """How the cost on the target is known; raises SWZ403 where the target lacks the instruction.

    >>> evidence("sm_90", "ldmatrix.x4").value, evidence("sm_80", "ldmatrix.x4").value
    ('measured', 'assumed')
    """
    return evidence_row(target, instruction).evidence


def basis(target: str | Target, instruction: str | Instruction) -> str:
    """What the evidence rests on, in one line.

    Raises:
        SwzError: SWZ403 if the target lacks the instruction.

    >>> basis("sm_80", "ldmatrix.x4")
    "the H100's rule; neither measured nor documented on this target"
    """
    return evidence_row(target, instruction).basis


def evidence_row(target: str | Target, instruction: str | Instruction) -> EvidenceRow:
    """The row of `EVIDENCE` that applies; raises SWZ403 where the target lacks the instruction."""
    chip, row = _resolved(target, instruction)
    require(chip, row)
    return next(entry for entry in EVIDENCE if chip.name in entry.targets and row.name in entry.instructions)


def _resolved(target: str | Target, instruction: str | Instruction) -> tuple[Target, Instruction]:
    chip = find_target(target) if isinstance(target, str) else target
    return chip, find_instruction(instruction) if isinstance(instruction, str) else instruction

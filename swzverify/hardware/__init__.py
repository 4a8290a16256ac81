"""What the GPUs do with shared and global memory, as data, and the rules that read it.

`instructions`, `global_memory` and `targets` are the tables, `spelling` reads PTX names, `wavefronts` is
the rule of shared memory, `octets` the part of it for `cp.async.cg` of 16 bytes, `sectors` the count of
global memory.
"""

from typing import TYPE_CHECKING

from swzverify.core.lazy import importer, lister
from swzverify.hardware.global_memory import GLOBAL_INSTRUCTIONS, find_any_instruction
from swzverify.hardware.instructions import (
    BANK_PERIOD_BYTES,
    BANK_WORD_BYTES,
    BANKS,
    INSTRUCTIONS,
    LANES,
    SECTOR_BYTES,
    Instruction,
    Kind,
    Space,
    find_instruction,
    turn_bytes,
)
from swzverify.hardware.targets import (
    EVIDENCE,
    MOST_BLOCK_EXTENTS,
    MOST_BLOCK_THREADS,
    MOST_GRID_EXTENTS,
    MOST_SHARED_BYTES,
    TARGETS,
    Evidence,
    Target,
    basis,
    capability_of,
    evidence,
    find_target,
    require,
    require_rows,
)

if TYPE_CHECKING:
    from swzverify.hardware.octets import CHUNK_BYTES, CHUNKS_PER_LINE, copies_many, copy_cost
    from swzverify.hardware.sectors import SectorCost, sector_cost, sectors_many
    from swzverify.hardware.wavefronts import PAIR_DISTANCES, AccessCost, CostArrays, GroupCost, access_cost, cost_many

__all__ = [
    "BANKS",
    "BANK_PERIOD_BYTES",
    "BANK_WORD_BYTES",
    "CHUNKS_PER_LINE",
    "CHUNK_BYTES",
    "EVIDENCE",
    "GLOBAL_INSTRUCTIONS",
    "INSTRUCTIONS",
    "LANES",
    "MOST_BLOCK_EXTENTS",
    "MOST_BLOCK_THREADS",
    "MOST_GRID_EXTENTS",
    "MOST_SHARED_BYTES",
    "PAIR_DISTANCES",
    "SECTOR_BYTES",
    "TARGETS",
    "AccessCost",
    "CostArrays",
    "Evidence",
    "GroupCost",
    "Instruction",
    "Kind",
    "SectorCost",
    "Space",
    "Target",
    "access_cost",
    "basis",
    "capability_of",
    "copies_many",
    "copy_cost",
    "cost_many",
    "evidence",
    "find_any_instruction",
    "find_instruction",
    "find_target",
    "require",
    "require_rows",
    "sector_cost",
    "sectors_many",
    "turn_bytes",
]

# The rules need numpy; code that only reads the tables does not wait for its import.
__getattr__ = importer(
    "swzverify.hardware",
    {
        **dict.fromkeys(("CHUNKS_PER_LINE", "CHUNK_BYTES", "copies_many", "copy_cost"), ".octets"),
        **dict.fromkeys(("SectorCost", "sector_cost", "sectors_many"), ".sectors"),
        **dict.fromkeys(
            ("PAIR_DISTANCES", "AccessCost", "CostArrays", "GroupCost", "access_cost", "cost_many"), ".wavefronts"
        ),
    },
)
__dir__ = lister("swzverify.hardware", __all__)

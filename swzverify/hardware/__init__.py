"""What the GPUs do with shared memory, as data, and the cost rule that reads it.

Imports `errors` and `shown` only. `instructions` and `targets` are the tables, `spelling` reads PTX names,
`wavefronts` is the rule, `octets` the part of it for `cp.async.cg` of 16 bytes.
"""

from typing import TYPE_CHECKING

from swzverify.hardware.instructions import (
    BANK_PERIOD_BYTES,
    BANK_WORD_BYTES,
    BANKS,
    INSTRUCTIONS,
    LANES,
    Instruction,
    Kind,
    find_instruction,
)
from swzverify.hardware.targets import (
    EVIDENCE,
    TARGETS,
    Evidence,
    EvidenceRow,
    Target,
    basis,
    evidence,
    evidence_row,
    find_target,
    require,
)
from swzverify.lazy import importer, lister

if TYPE_CHECKING:
    from swzverify.hardware.octets import CHUNK_BYTES, CHUNKS_PER_LINE, SECTOR_BYTES
    from swzverify.hardware.wavefronts import (
        PAIR_DISTANCES,
        AccessCost,
        CostArrays,
        GroupCost,
        access_cost,
        cost_many,
    )

__all__ = [
    "BANKS",
    "BANK_PERIOD_BYTES",
    "BANK_WORD_BYTES",
    "CHUNKS_PER_LINE",
    "CHUNK_BYTES",
    "EVIDENCE",
    "INSTRUCTIONS",
    "LANES",
    "PAIR_DISTANCES",
    "SECTOR_BYTES",
    "TARGETS",
    "AccessCost",
    "CostArrays",
    "Evidence",
    "EvidenceRow",
    "GroupCost",
    "Instruction",
    "Kind",
    "Target",
    "access_cost",
    "basis",
    "cost_many",
    "evidence",
    "evidence_row",
    "find_instruction",
    "find_target",
    "require",
]

# The rule needs numpy; who only reads the tables does not wait for it.
__getattr__ = importer(
    "swzverify.hardware",
    {
        **dict.fromkeys(("CHUNKS_PER_LINE", "CHUNK_BYTES", "SECTOR_BYTES"), ".octets"),
        **dict.fromkeys(
            ("PAIR_DISTANCES", "AccessCost", "CostArrays", "GroupCost", "access_cost", "cost_many"), ".wavefronts"
        ),
    },
)
__dir__ = lister("swzverify.hardware", __all__)

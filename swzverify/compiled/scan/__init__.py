"""Scanning compiled kernels: a verdict, or a reason, for every access to shared memory.

`scan_function` in `decide` judges the accesses of a function, `races` its races, `scan_operands_and_stages` in
`operands` and `scan_fragments` in `fragments` what the tensor core reads. `scanned` has what `decide` returns.
`stated` and `stated_operand` say exactly what an access or an operand does, for a spec that names it.
docs/architecture.md, "From PTX to a verdict", follows one access through the files, and lists all of them by topic.
"""

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, Witness, WitnessLane
from swzverify.compiled.scan.decide import (
    scan_function,
    scanned_functions,
    synchronizations,
)
from swzverify.compiled.scan.fragments import AnyOperand, ScannedFragment, scan_fragments
from swzverify.compiled.scan.given import (
    MOST_ALIGN,
    NOTHING_GIVEN,
    Given,
    facts_of,
    unknown_names,
    with_whole_names,
)
from swzverify.compiled.scan.joined import Relation
from swzverify.compiled.scan.launch import (
    Blocks,
    JudgedBlock,
    LaunchedBlock,
    block_of_launch,
    block_shape,
    cluster_shape,
    grid_shape,
    judged_block,
    wanted_kernels,
)
from swzverify.compiled.scan.on_chip import OnChip
from swzverify.compiled.scan.operands import ScannedOperand, scan_operands_and_stages
from swzverify.compiled.scan.scanned import ScannedAccess
from swzverify.compiled.scan.stages import ScannedStage
from swzverify.compiled.scan.verdict import LaneRow, Verdict

__all__ = [
    "MOST_ALIGN",
    "NOTHING_GIVEN",
    "AnyOperand",
    "BlockShape",
    "Blocks",
    "Claim",
    "ClaimVerdict",
    "Given",
    "JudgedBlock",
    "LaneRow",
    "LaunchedBlock",
    "OnChip",
    "Relation",
    "ScannedAccess",
    "ScannedFragment",
    "ScannedOperand",
    "ScannedStage",
    "Verdict",
    "Witness",
    "WitnessLane",
    "block_of_launch",
    "block_shape",
    "cluster_shape",
    "facts_of",
    "grid_shape",
    "judged_block",
    "scan_fragments",
    "scan_function",
    "scan_operands_and_stages",
    "scanned_functions",
    "synchronizations",
    "unknown_names",
    "wanted_kernels",
    "with_whole_names",
]

"""Scanning compiled kernels: a verdict, or a reason, for every access to shared memory.

`scan_function` in `decide` is the entry point, and `scanned` has what it returns. `given` is what the user says
of parameters, `launch` of blocks and grids. `split` sorts an address's terms, `decide` chooses the file
that judges an access: `exact` where lanes' distances are numbers, `octets` for the octet rule, `mixed` for the
rest. `cost_goal` writes an access as the
cost that the prover's engines decide, `price` says what warps cost, in plain numbers. `claims` are
`aligned` and `bounds`: `claimed` asks whether some lane breaks one, `evaluated` tries in plain
numbers. `asker` has the answers of the engines. `spell` writes addresses for people, `written`
for a spec; `stated` says exactly what an access does, for a spec that names it, and
`stated_operand` what an operand of `wgmma` reads. `joined`
finds the machine instructions of an access, and `on_chip` what they cost. `operands` judges what
`wgmma` reads: `operand_fields` has the fields of a descriptor, `operand_claims` its claims,
`delivers` where its elements come from; `tensor_maps` reads the boxes that the user gives;
`stages` compares them with what barrier objects expect. Imports `kernel`,
`prover`, `ptx`, `sass`, `hardware`, `ir` and `errors`.
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

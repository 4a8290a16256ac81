"""What ptxas may make of atomics of several lanes to one word.

Source: the machine code of ptxas 13.0 for sm_75 to sm_121, tests/kernel/test_atomics.py.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel import LaneLeaf, OpaqueLeaf
from swzverify.compiled.kernel.leaves import Made
from swzverify.compiled.scan.price import Block
from swzverify.compiled.scan.sources import are_alike, rows_of
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.hardware import LANES

INCREMENTS_FROM: Final = 80
"""The first target whose atomics that add 1 count lanes of one word once (ATOMS.POPC.INC)."""
INCREMENTED: Final = "ptxas optimizes (-O1 to -O3): it turns an atomic that adds 1 into ATOMS.POPC.INC"
MAY_INCREMENT: Final = "ptxas may turn it into ATOMS.POPC.INC, which counts lanes of one word once"
ONE_LANE: Final = "all lanes of a warp have one address: ptxas may let one lane make the atomic for all"


def is_warps_own(block: Block, parts: Parts) -> bool:
    """Whether all lanes of each warp have one address, or may have one that ptxas knows of."""
    own = [leaf for leaf in parts.leaves_of(parts.own, parts.mixed) if not is_shared(leaf)]
    exchanged = [leaf for leaf in own if isinstance(leaf, OpaqueLeaf) and leaf.made is Made.EXCHANGED]
    if not all(isinstance(leaf, LaneLeaf) or leaf in exchanged for leaf in own):
        return False
    return are_alike(rows_of(block, parts, parts.own, parts.mixed), block.exists, LANES)

"""Special registers as expressions.

Source: PTX ISA, Special Registers.
"""

from __future__ import annotations

import re
from typing import Final

from swzverify.ir.expr import Expr, const
from swzverify.kernel.arithmetic import bit_not, shift_left, sub, widened
from swzverify.kernel.leaves import Leaves

BlockShape = tuple[int, int, int]
_MOST: Final = {"x": 1024, "y": 1024, "z": 64}
"""Source: CUDA Programming Guide 13, 5.1.3, table 30."""
_SHARED: Final = re.compile(
    r"%(?:(?:ctaid|nctaid|clusterid|nclusterid|cluster_ctaid|cluster_nctaid)\.[xyz]|cluster_ctarank|cluster_nctarank"
    r"|is_explicit_cluster|nwarpid|nsmid|gridid|total_smem_size|aggr_smem_size|dynamic_smem_size|envreg\d+)"
)
_COORDINATE: Final = re.compile(r"%(n?tid)\.([xyz])")


def special(name: str, width: int, block: BlockShape | None, leaves: Leaves) -> Expr | None:
    """The value of a special register, as so many bits; None where it may change from read to read.

    >>> special("%ntid.x", 32, (64, 1, 1), Leaves()).value
    64
    """
    if found := _COORDINATE.fullmatch(name):
        return widened(_coordinate(found[1], found[2], block, leaves), width)
    if _SHARED.fullmatch(name):
        inner = 64 if name == "%gridid" else 32
        return widened(leaves.uniform(name[1:], inner, name), width)
    if name == "%laneid":
        return widened(leaves.lane("laneid", 32), width)
    if name.startswith("%lanemask_"):
        return widened(_mask(name[len("%lanemask_") :], leaves), width)
    return None


def _coordinate(name: str, axis: str, block: BlockShape | None, leaves: Leaves) -> Expr:
    extent = block["xyz".index(axis)] if block else None
    if name == "tid":
        return leaves.lane(f"tid.{axis}", extent or _MOST[axis])
    if extent is not None:
        return const(extent, 32)
    return leaves.uniform(f"ntid.{axis}", 32, f"%ntid.{axis}", limit=_MOST[axis] + 1)


def _mask(which: str, leaves: Leaves) -> Expr:
    own = shift_left(const(1, 32), leaves.lane("laneid", 32))
    below, up_to = sub(own, const(1, 32)), sub(shift_left(own, const(1, 32)), const(1, 32))
    return {
        "eq": own,
        "lt": below,
        "le": up_to,
        "ge": bit_not(below),
        "gt": bit_not(up_to),
    }[which]

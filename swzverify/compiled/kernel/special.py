"""Special registers as expressions.

Registers of the grid and of the cluster are unknowns of the launch. They are below the limits of
the hardware, and `launch_facts` relates them to one another. A grid that is given makes `%nctaid`
numbers, and bounds the other registers of the grid.

Source: PTX ISA, Special Registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from typing import Final

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import add, bit_not, is_zero, less, mul, shift_left, sub, widened
from swzverify.compiled.kernel.divided import quotient, rest
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.hardware import MOST_BLOCK_EXTENTS, MOST_GRID_EXTENTS, TARGETS
from swzverify.ir.expr import Expr, Extend, Var, const, negation

BlockShape = tuple[int, int, int]
MOST_WARPS: Final = 64
"""Warps of a multiprocessor, which `%warpid` tells apart.

Source: CUDA Programming Guide 13, 5.1.3, table 31.
"""
_CLUSTER_MOST: Final = 16
"""Blocks of a cluster, where a kernel allows a size that is not portable.

Source: CUDA Programming Guide 13, Thread Block Clusters; NVIDIA Hopper Tuning Guide, 1.4.1.3.
"""
_MOST_SHARED: Final = max(target.shared_bytes_per_sm for target in TARGETS.values())
"""Bytes of shared memory of a multiprocessor. Source: CUDA Programming Guide 13, 5.1.3, table 31."""
_PLACES: Final = {f"{name}.{axis}": axis for name in ("ctaid", "clusterid", "cluster_ctaid") for axis in "xyz"}
"""The registers of a block's place, but its rank, with their axes."""
_EXTENTS: Final = {
    **{name: re.sub(r"(ctaid|clusterid)\.", r"n\1.", name) for name in _PLACES},
    "cluster_ctarank": "cluster_nctarank",
}
"""The registers of a block's place, with those of the extents that they are below."""
_NOT_ABOVE: Final = [
    (f"{each}.{axis}", f"{whole}.{axis}")
    for each, whole in (
        ("clusterid", "ctaid"),
        ("cluster_ctaid", "ctaid"),
        ("nclusterid", "nctaid"),
        ("cluster_nctaid", "nctaid"),
    )
    for axis in "xyz"
]
"""Registers of which the first is at most the second one: a cluster has one block or more."""
_LIMITS: Final = {
    **{
        name: _CLUSTER_MOST if name.startswith("cluster_") else MOST_GRID_EXTENTS[axis]
        for name, axis in _PLACES.items()
    },
    "cluster_ctarank": _CLUSTER_MOST,
}
"""What the registers of a block's place are below."""
_LIMITS.update({extent: _LIMITS[place] + 1 for place, extent in _EXTENTS.items()})
_LIMITS.update(dict.fromkeys(("total_smem_size", "aggr_smem_size", "dynamic_smem_size"), _MOST_SHARED + 1))
_LIMITS["nwarpid"] = MOST_WARPS + 1
_OF_LAUNCH: Final = re.compile(
    r"is_explicit_cluster|nsmid|gridid|current_graph_exec|envreg\d+|reserved_smem_offset_(?:begin|end|cap|[01])"
)
_WIDE: Final = frozenset({"%gridid", "%current_graph_exec"})
"""The registers of the launch that have 64 bits."""
_COORDINATE: Final = re.compile(r"%(n?tid)\.([xyz])")


def special(
    name: str, width: int, block: BlockShape | None, leaves: Leaves, arguments: Arguments = NO_ARGUMENTS
) -> Expr | None:
    """The value of a special register, as so many bits; None where it may change from read to read.

    >>> special("%ntid.x", 32, (64, 1, 1), Leaves()).value
    64
    """
    grid = arguments.grid
    if arguments.is_alone and name.startswith("%cluster_"):
        return const(int(name.startswith("%cluster_n")), width)
    if arguments.cluster is not None and (found := _in_cluster(name, block, leaves, arguments)) is not None:
        return widened(found, width)
    if found := _COORDINATE.fullmatch(name):
        return widened(_coordinate(found[1], found[2], block, leaves), width)
    if (limit := _limit(name[1:], grid)) is not None or _OF_LAUNCH.fullmatch(name[1:]):
        if grid is not None and name[1:-1] == "nctaid.":
            return const(grid["xyz".index(name[-1])], width)
        if limit == 1:
            return const(0, width)
        inner = 64 if name in _WIDE else 32
        return widened(leaves.uniform(name[1:], inner, name, limit=limit), width)
    if name == "%laneid":
        return widened(leaves.lane("laneid", 32), width)
    if name.startswith("%lanemask_"):
        return widened(_mask(name[len("%lanemask_") :], leaves), width)
    return None


def rank_of(block: BlockShape, leaves: Leaves, cluster: BlockShape) -> Expr:
    """The rank of a thread's block, where the blocks of a cluster lie one behind the other along z."""
    return quotient(leaves.lane("tid.z", block[2]), block[2] // prod(cluster))


def _in_cluster(name: str, block: BlockShape | None, leaves: Leaves, arguments: Arguments) -> Expr | None:
    """The value of a register where the threads of a cluster are those of one block; None for other registers.

    The block has all blocks of the cluster, by their ranks, along z.
    """
    cluster, grid = arguments.cluster, arguments.grid
    if cluster is None or block is None:
        return None
    deep = block[2] // prod(cluster)
    axis = "xyz".find(name[-1])
    if name in ("%tid.z", "%ntid.z"):
        return const(deep, 32) if name == "%ntid.z" else rest(leaves.lane("tid.z", block[2]), deep)
    if name in ("%cluster_ctarank", "%cluster_nctarank"):
        return const(prod(cluster), 32) if "_n" in name else rank_of(block, leaves, cluster)
    if name[:-1] == "%cluster_nctaid.":
        return const(cluster[axis], 32)
    if name[:-1] in ("%cluster_ctaid.", "%ctaid.", "%clusterid."):
        place = rest(quotient(rank_of(block, leaves, cluster), prod(cluster[:axis])), cluster[axis])
        if name[:-1] == "%cluster_ctaid.":
            return place
        whole = f"clusterid.{name[-1]}"
        limit = -(-(_limit(whole, grid) or 1) // cluster[axis])
        first = leaves.uniform(f"{whole} of {cluster[axis]}", 32, f"%{whole}", limit=limit)
        return first if name.startswith("%clusterid") else add(mul(first, const(cluster[axis], 32)), place)
    return None


def _limit(name: str, grid: BlockShape | None) -> int | None:
    """What a register of the launch is below; None for one that has no limit, or is none of the launch."""
    limit = _LIMITS.get(name)
    if grid is None or limit is None or not is_of_grid(name):
        return limit
    blocks = grid["xyz".index(name[-1])] if name[-2] == "." else prod(grid)
    # A place is below the blocks of the grid, and an extent is at most as many.
    return min(limit, blocks if is_place(name) else blocks + 1)


def is_place(name: str) -> bool:
    """Whether a leaf is a register of the block's place, which is 0 in the first block.

    >>> is_place("ctaid.y"), is_place("nctaid.y")
    (True, False)
    """
    return name in _EXTENTS


def is_place_of_cluster(name: str) -> bool:
    """Whether a leaf is the place of a cluster whose blocks are looked at together.

    >>> is_place_of_cluster("clusterid.x of 2"), is_place_of_cluster("clusterid.x")
    (True, False)
    """
    return re.fullmatch(r"clusterid\.[xyz] of \d+", name) is not None


def is_of_grid(name: str) -> bool:
    """Whether a leaf is a register of the block's place, or of how many blocks there are."""
    return name in _EXTENTS or name in _EXTENTS.values()


def are_chosen_apart(names: Iterable[str]) -> bool:
    """Whether a launch, and a block of it, can be chosen for any values of some leaves that `launch_facts` allow.

    The place of a block in its cluster, that of the cluster, and the size of both say what its place in the grid is.

    >>> are_chosen_apart(["clusterid.x", "nclusterid.x", "ctaid.y"]), are_chosen_apart(["clusterid.x", "ctaid.x"])
    (True, False)
    """
    read = [each for each in dict.fromkeys(names) if is_of_grid(each)]
    of_cluster = [each for each in read if "cluster" in each]
    pairs = ((one, other) for one in of_cluster for other in read if one != other)
    return not any(
        _EXTENTS.get(one) != other and _EXTENTS.get(other) != one and (one[-1] == other[-1] or "rank" in one + other)
        for one, other in pairs
    )


def is_extent(value: Expr) -> bool:
    """Whether a value is a number of blocks or clusters, which is at least 1.

    >>> from swzverify.ir.expr import var
    >>> is_extent(widened(var("nctaid.x", 6), 32)), is_extent(var("ctaid.x", 5))
    (True, False)
    """
    while isinstance(value, Extend):
        value = value.operand
    return isinstance(value, Var) and value.name in _EXTENTS.values()


def launch_facts(read: Iterable[Var]) -> list[Expr]:
    """What every launch has of some registers: extents are at least 1, places are below them.

    >>> from swzverify.ir.expr import var
    >>> [each.width for each in launch_facts([var("ctaid.x", 5), var("nctaid.x", 6)])]
    [1, 1]
    """
    by_name = {each.name: each for each in read if each.name in _LIMITS}
    found: list[Expr] = []
    for place, extent in _EXTENTS.items():
        if (count := by_name.get(extent)) is not None:
            found.append(negation(is_zero(count)))
            if (at := by_name.get(place)) is not None:
                found.append(_less(at, count))
    for low, high in _NOT_ABOVE:
        if low in by_name and high in by_name:
            found.append(negation(_less(by_name[high], by_name[low])))
    return found


def _less(one: Expr, other: Expr) -> Expr:
    width = max(one.width, other.width)
    return less(widened(one, width), widened(other, width), signed=False)


def _coordinate(name: str, axis: str, block: BlockShape | None, leaves: Leaves) -> Expr:
    extent = block["xyz".index(axis)] if block else None
    if name == "tid":
        return leaves.lane(f"tid.{axis}", extent or MOST_BLOCK_EXTENTS[axis])
    if extent is not None:
        return const(extent, 32)
    return leaves.uniform(f"ntid.{axis}", 32, f"%ntid.{axis}", limit=MOST_BLOCK_EXTENTS[axis] + 1)


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

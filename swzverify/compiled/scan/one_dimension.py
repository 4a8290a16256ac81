"""Blocks of one dimension: one judgement of an access for every block of N,1,1 threads.

A block of N threads executes an access as the first N threads of a block of 1,024 do. So what is
free for every set of the first lanes of 1,024 threads is free for every N. A conflict is met for
every N from 32 on if the first warp meets it, which then has all of its lanes, and if nothing that
counts reads N.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from swzverify.compiled.kernel import KernelAccess, inlined
from swzverify.compiled.kernel.arithmetic import less
from swzverify.compiled.kernel.driver_calls import ASSERTION_FAILS, PRINTS
from swzverify.compiled.kernel.lanes import is_small
from swzverify.compiled.kernel.leaves import Leaves, LoopLeaf, OpaqueLeaf
from swzverify.compiled.kernel.special import BlockShape, special
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan.split import Parts, split
from swzverify.compiled.scan.verdict import NO_BLOCK, Decision, Verdict, unknown
from swzverify.hardware import LANES, MOST_BLOCK_THREADS, Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, Var, conjunction, conjuncts, const, substitute, variables

ONE_DIMENSION: Final = "blocks of one dimension, N,1,1"
A_WARP: Final = "N is 32 or more"
MOST_THREADS: Final[BlockShape] = (MOST_BLOCK_THREADS, 1, 1)
_FIRST_WARP: Final[BlockShape] = (LANES, 1, 1)
_THREADS: Final = "ntid.x"
_OTHER_AXES: Final = re.compile(r"%n?tid(?![\w$]|\.x(?![\w$]))")
"""A coordinate or an extent other than those along x; `%tid` without an axis is a vector of all of them."""
Decide = Callable[[KernelAccess, Instruction, Parts, BlockShape], Decision]


def has_one_dimension(module: Module, function: Function) -> bool:
    """Whether a kernel reads neither `tid` nor `ntid` along y or z, in itself and in what it calls.

    A kernel that calls code which is not at hand may read them there.
    """
    if not function.is_entry or function.problem:
        return False
    whole = inlined(module, function)
    if whole.left - {ASSERTION_FAILS, PRINTS}:
        return False
    return not any(_OTHER_AXES.search(f"{each.guard} {each.text}") for each in whole.function.instructions)


def reads_shape(access: KernelAccess) -> bool:
    """Whether an access reads a coordinate of the thread, or an extent of the block."""
    return any(leaf.name.startswith(("tid.", "ntid.")) for leaf in (*access.leaves, *access.around))


def of_first_threads(access: KernelAccess) -> KernelAccess:
    """An access of 1,024 threads as the first N of them make it."""
    leaves = Leaves()
    own, count = (special(name, 32, None, leaves) for name in ("%tid.x", f"%{_THREADS}"))
    if own is None or count is None:
        raise AssertionError
    exists = less(own, count, signed=False)
    who = access.who
    known = {leaf.name for leaf in (*access.leaves, *access.around)}
    new = [leaves[each] for each in variables(exists) if each.name not in known]
    return replace(
        access,
        who=replace(
            who,
            guard=conjunction((who.guard, exists)),
            sure=None if who.sure is None else conjunction((who.sure, exists)),
        ),
        leaves=(*access.leaves, *new),
    )


def decide_for_every_length(access: KernelAccess, row: Instruction, decide: Decide) -> Decision:
    """The verdict that an access has in every block of one dimension.

    `decide` has the verdict for one shape of the block.
    """
    reads_count = any(leaf.name == _THREADS for leaf in (*access.leaves, *access.around))
    # By the octet rule fewer lanes may cost more.
    counted = of_first_threads(access) if reads_count or row.by_octets else access
    whole = decide(counted, row, _parts(counted), MOST_THREADS)
    if whole.verdict is Verdict.FREE:
        return replace(whole, assumes=(*whole.assumes, ONE_DIMENSION))
    first = _without_count(access, only_equal=row.by_octets)
    if first is None:
        return unknown(NO_BLOCK)
    found = decide(first, row, _parts(first), _FIRST_WARP)
    is_alike = found.verdict is whole.verdict and found.ways == whole.ways
    if found.verdict is Verdict.DEPENDS and whole.verdict is Verdict.DEPENDS:
        # All threads together prove what it is free for.
        found = replace(found, reason=whole.reason, parameters=whole.parameters)
    elif found.verdict is not Verdict.CONFLICT or (found.is_for_some and not is_alike):
        return unknown(NO_BLOCK)
    if not is_alike or whole.at_least or (found.wavefronts, found.minimum) != (whole.wavefronts, whole.minimum):
        found = replace(found, at_least=True, wavefronts=None, minimum=None)
    return replace(found, assumes=tuple(dict.fromkeys((*found.assumes, *whole.assumes, ONE_DIMENSION, A_WARP))))


def _parts(access: KernelAccess) -> Parts:
    if access.address is None:
        raise AssertionError
    return split(access, access.address)


def _without_count(access: KernelAccess, *, only_equal: bool) -> KernelAccess | None:
    """The access, or its first trip of all loops around, if nothing that decides it reads N; else None."""
    plain = _with_least_lanes(access, only_equal=only_equal)
    if not _reads_count(plain, *(loop.again.condition for loop in plain.who.loops)):
        return plain
    headers = {loop.header for loop in access.who.loops}
    new: dict[Var, Expr] = {}
    for leaf in dict.fromkeys((*access.leaves, *access.around)):
        if isinstance(leaf, LoopLeaf) and leaf.block in headers:
            if leaf.first is None:
                return None
            new[leaf.variable] = const(leaf.first, leaf.variable.width)
    first = _with_least_lanes(access.with_values(new), only_equal=only_equal)
    return None if _reads_count(first) else first


def _with_least_lanes(access: KernelAccess, *, only_equal: bool) -> KernelAccess:
    """The access as the lanes of the first warp make it that do so for every N from 32 on.

    Conditions that read coordinates and N alone get N = 32, if the lanes that fulfil them then do so for every N.
    With `only_equal`, no other lane may do so for some N.
    """

    def least(guard: Expr) -> Expr:
        return conjunction([_with_a_warp(each, only_equal=only_equal) for each in conjuncts(guard)])

    who = access.who
    return replace(access, who=replace(who, guard=least(who.guard), sure=None if who.sure is None else least(who.sure)))


def _with_a_warp(condition: Expr, *, only_equal: bool) -> Expr:
    read = {each.name: each for each in variables(condition)}
    if _THREADS not in read or not read.keys() <= {_THREADS, "tid.x", "laneid"} or not is_small(condition):
        return condition
    lane = np.arange(LANES, dtype=np.int64)[None, :]
    counts = np.arange(LANES, MOST_BLOCK_THREADS + 1, dtype=np.int64)[:, None]
    (found,) = evaluate_many((condition,), {"tid.x": lane, "laneid": lane, _THREADS: counts})
    holds = np.broadcast_to(found != 0, (len(counts), LANES))
    is_least = holds[0] == holds if only_equal else holds[0] <= holds
    count = read[_THREADS]
    return substitute(condition, {count: const(LANES, count.width)}) if is_least.all() else condition


def _reads_count(access: KernelAccess, *more: Expr) -> bool:
    """Whether what decides who meets reads N, or a load that decides it does so at an address with N."""
    parts = _parts(access)
    read = [parts.varying, parts.own_guard, parts.other_guard, *more]
    read += [] if parts.sure is None else [parts.sure]
    read += [] if parts.source is None else [parts.source.own, parts.source.mixed]
    loads = [leaf for leaf in parts.leaves_of(*read) if isinstance(leaf, OpaqueLeaf)]
    return any(each.name == _THREADS for each in variables(*read, *(place for leaf in loads for place in leaf.feeds)))

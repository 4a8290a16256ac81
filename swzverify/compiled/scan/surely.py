"""The condition under which lanes surely make an access, in some launch.

A conflict has to happen: it needs the under-approximation of who makes the access. The condition is
the path condition `sure`, with a trip of each loop around that is made. It may read only values
that a launch can be chosen to have: parameters, the grid, and words of global memory that the lanes
load from places of their own. It may not read what nobody computes here, such as the result of an
atomic, a rounded number, or how often a loop before has run.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import (
    ArrayLeaf,
    CarriedLeaf,
    Leaf,
    LoopAround,
    LoopLeaf,
    OpaqueLeaf,
)
from swzverify.compiled.kernel.arithmetic import both, either, is_zero
from swzverify.compiled.kernel.leaves import is_given
from swzverify.compiled.kernel.special import are_chosen_apart
from swzverify.compiled.ptx import size_of_type
from swzverify.compiled.scan.price import Block
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.compiled.scan.subject import again_at
from swzverify.hardware import LANES
from swzverify.ir.expr import FALSE, TRUE, Comparison, Expr, compare, conjunction, conjuncts, const, variables

MOST_TRIPS: Final = 16
"""Trips of a loop around an access of which it is asked whether they are made."""
NOT_SURE: Final = "lanes can conflict, but whether they execute this access together is not known"
NOT_TOGETHER: Final = "lanes can conflict, but they may execute this access one after the other, on different paths"
_WORD: Final = re.compile(r": \d+\.(\d+)\.\d+$")
"""Which of the words of a load a leaf is, at the end of its name."""
_SEED: Final = 20_250_102
_TRIES: Final = 8


def surely(parts: Parts, loops: Sequence[LoopAround], block: Block, *, warp_wide: bool) -> Parts | str:
    """The parts of an access with the guard under which lanes certainly make it.

    A reason if it is not known which lanes do. All lanes of a warp make a `warp_wide` access.
    """
    if not parts.is_together and not warp_wide:
        return NOT_TOGETHER
    if parts.sure is None and not warp_wide:
        return NOT_SURE
    sure = TRUE if parts.sure is None or warp_wide else parts.sure
    read = dict.fromkeys(parts.leaves_of(sure, parts.mixed))
    counted: dict[int, LoopAround] = {}
    pending = [*read]
    while pending:
        leaf = pending.pop()
        loop = next((each for each in loops if _is_of(leaf, each)), None)
        if loop is not None and loop.header not in counted:
            counted[loop.header] = loop
            new = [each for each in parts.leaves_of(loop.again.condition) if each not in read]
            read |= dict.fromkeys(new)
            pending += new
    conditions = [sure]
    for loop in counted.values():
        # Lanes that leave a loop apart are in one trip only in the first one.
        later = loop.is_uniform and loop.again.is_exact
        later = later and all(_is_chosen(each, parts, loops, block) for each in parts.leaves_of(loop.again.condition))
        conditions.append(_made(loop, [each for each in read if _is_of(each, loop)], loops, MOST_TRIPS if later else 1))
    whole = conjunction(part for each in conditions for part in dict.fromkeys(conjuncts(each)))
    asked = parts.leaves_of(whole)
    places = [leaf.feeds for leaf in asked if isinstance(leaf, OpaqueLeaf)]
    for leaf in asked:
        # Two loads of one place are not two values.
        is_one = not isinstance(leaf, OpaqueLeaf) or places.count(leaf.feeds) == 1
        if not is_one or not _is_chosen(leaf, parts, loops, block):
            return f"{NOT_SURE}: {spell_leaf(leaf)} ({leaf.reason})"
    if not are_chosen_apart(leaf.name for leaf in (*asked, *read)):
        return f"{NOT_SURE}: it reads places in the grid and in the cluster"
    loads = [leaf for leaf in dict.fromkeys((*asked, *read)) if is_given(leaf)]
    if not _are_apart(block, loads):
        names = ", ".join(dict.fromkeys(map(spell_leaf, loads)))
        return f"{NOT_SURE}: {names} may have a byte in common"
    own = set(conjuncts(parts.own_guard))
    return replace(parts, other_guard=conjunction([each for each in conjuncts(whole) if each not in own]))


def _is_of(leaf: Leaf, loop: LoopAround) -> bool:
    """Whether a leaf counts the trips of a loop, or is what a register of the loop carries."""
    return isinstance(leaf, LoopLeaf) and leaf.block == loop.header


def _made(loop: LoopAround, read: Sequence[Leaf], loops: Sequence[LoopAround], most: int) -> Expr:
    """Whether the leaves of a loop have the values of one of its first trips, and that one is made."""
    trips = loop.trips
    if trips is None:
        raise AssertionError(loop)
    registers = [leaf for leaf in read if isinstance(leaf, CarriedLeaf)]
    others = [each.trips for each in loops if each.trips is not None and each.trips is not trips]
    found, reached = FALSE, TRUE
    for trip in range(most):
        conditions = [reached, compare(Comparison.EQ, trips, const(trip, trips.width))]
        for leaf in registers:
            # `first` is the value in the first trips of all loops around.
            known = leaf.values or (() if leaf.first is None else (leaf.first,))
            if trip >= len(known):
                conditions.append(FALSE)
                break
            conditions.append(compare(Comparison.EQ, leaf.variable, const(known[trip], leaf.variable.width)))
            if leaf.values is None:
                conditions += map(is_zero, others)
        found = either(found, conjunction(conditions))
        reached = both(reached, again_at(loop, const(trip, trips.width)))
        if reached is FALSE:
            break
    return found


def _is_chosen(leaf: Leaf, parts: Parts, loops: Sequence[LoopAround], block: Block) -> bool:
    """Whether some launch gives a leaf any value that the conditions allow."""
    if isinstance(leaf, LoopLeaf):
        return any(_is_of(leaf, loop) for loop in loops)
    if isinstance(leaf, OpaqueLeaf):
        if leaf.open is not None and parts.has_results:
            return True  # no thread has this value: it stands for the result of a division by 0
        return is_given(leaf) and (is_shared(leaf) or from_places_of_their_own(block, leaf))
    return not isinstance(leaf, ArrayLeaf)


def _are_apart(block: Block, loads: Sequence[OpaqueLeaf]) -> bool:
    """Whether in some launch no two loads by lanes of one warp have a byte in common."""
    if len(loads) < 2:
        return True
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    return any(_are_apart_once(block, loads, draw) for _ in range(_TRIES))


def _are_apart_once(block: Block, loads: Sequence[OpaqueLeaf], draw: random.Random) -> bool:
    """Whether that is so for some numbers that are drawn for what is no coordinate."""
    places = [place for leaf in loads for place in leaf.feeds]
    read = [each for each in variables(*places) if each.name not in block.point]
    env = {each.name: np.array(draw.randrange(min(each.limit, 1 << 20)))[None, None, None] for each in read}
    shape = (block.warps, LANES)
    found: list[NDArray[np.uint64]] = []
    for leaf in loads:
        size = size_of_type(leaf.name.partition(" ")[0].rpartition(".")[2])
        word = _WORD.search(leaf.name)
        if size is None or word is None:
            return False
        first = size * int(word[1])
        rows = np.broadcast_to(block.values(leaf.feeds[0], env), (1, *shape)).reshape(shape).astype(np.uint64)
        found.append(rows[..., None] + np.arange(first, first + size, dtype=np.uint64))
    for warp, exists in enumerate(block.exists):
        own = [np.unique(each[warp][exists]) for each in found]
        if len(np.unique(np.concatenate(own))) < sum(map(len, own)):
            return False
    return True


def from_places_of_their_own(block: Block, leaf: OpaqueLeaf) -> bool:
    """Whether the lanes of some warp may load a leaf from as many places as there are lanes."""
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    for place in leaf.feeds:
        for _ in range(_TRIES):
            read = [each for each in variables(place) if each.name not in block.point]
            env = {each.name: np.array(draw.randrange(min(each.limit, 1 << 20)))[None, None, None] for each in read}
            rows = np.broadcast_to(block.values(place, env), (1, block.warps, LANES)).reshape(-1, LANES)
            warps = [row[exists] for row, exists in zip(rows, block.exists, strict=True)]
            if any(len(np.unique(row)) == len(row) for row in warps):
                return True
    return False

"""Whether some lane makes an access, by a few samples: an answer for most accesses, without a solver."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

import numpy as np

from swzverify.compiled.kernel import LaneLeaf, Leaf, LoopLeaf, UniformLeaf
from swzverify.compiled.kernel.special import is_place
from swzverify.compiled.scan.collide import assumed_of, found_of
from swzverify.compiled.scan.drawn import fulfilled, words
from swzverify.compiled.scan.price import Block
from swzverify.compiled.scan.samples import value_of
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH
from swzverify.ir.expr import Expr, conjunction, postorder, variables

_SEED: Final = 20_250_104
_SAMPLES: Final = 40
_LARGE: Final = (1 << 6, 1 << 10, 3 << 10, 1 << 20, 1 << 30)


def is_met(guard: Expr, leaves: Mapping[str, Leaf], block: Block, address_lanes: int = LANES) -> bool:
    """Whether a lane fulfils a guard at one of some samples; all lanes have the same values of leaves.

    In half of the samples parameters are large, and loops and the grid are at their first trips and
    blocks: most guards let such threads through. False says nothing.
    """
    assumed = _assumed(guard, leaves)
    known = conjunction(found_of(variables(guard), leaves))
    if any(node.width > MAX_ARRAY_WIDTH for node in postorder(guard, known)):
        return False
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    read = [leaves[each.name] for each in variables(guard, known, *assumed)]
    env = {
        leaf.name: words([_first(leaf, draw) if at % 2 else value_of(leaf, draw, at) for at in range(_SAMPLES)])
        for leaf in read
        if not isinstance(leaf, LaneLeaf)
    }
    env = {name: values[:, None, None] for name, values in env.items()}
    comes, holds = block.all_values((guard, known), env)
    made = block.exists & (np.arange(LANES) < address_lanes) & (comes != 0) & (holds != 0) & fulfilled(assumed, env)
    return bool(made.any())


def _assumed(guard: Expr, leaves: Mapping[str, Leaf]) -> list[Expr]:
    """What is assumed of the values that a guard reads, and of all values that these conditions read."""
    found: list[Expr] = []
    read = variables(guard)
    while (more := assumed_of(read, leaves)) != found:
        found, read = more, variables(guard, *more)
    return found


def _first(leaf: Leaf, draw: random.Random) -> int:
    """A value with which many threads come: a large one of a parameter, the first one of the rest."""
    if isinstance(leaf, UniformLeaf) and leaf.candidates:
        return draw.choice(leaf.candidates)
    if isinstance(leaf, UniformLeaf) and not is_place(leaf.name):
        return min(draw.choice(_LARGE), leaf.variable.limit - 1)
    return leaf.values[0] if leaf.values else (isinstance(leaf, LoopLeaf) and leaf.first) or 0

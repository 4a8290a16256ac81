"""Claims in plain numbers: every thread's address is computed, at some hundred values of the rest.

Where all values are few, all of them are tried. This shares nothing with the SMT engine but the
expressions themselves.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import ArrayLeaf, LaneLeaf, Leaf, LoopLeaf, TripsLeaf
from swzverify.compiled.scan.claim import Property
from swzverify.compiled.scan.collide import assumed_of
from swzverify.compiled.scan.drawn import drawn, fulfilled, words
from swzverify.compiled.scan.price import Array
from swzverify.compiled.scan.samples import value_of
from swzverify.compiled.scan.split import is_shared
from swzverify.compiled.scan.subject import Subject
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate
from swzverify.ir.expr import Expr, postorder, variables

_SEED: Final = 20_250_103
_SAMPLES: Final = 96
_MOST: Final = 256
"""Combinations of loops' values up to which all are tried."""
_NUMBERS: Final = (0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 64, 100, 128, 255, 256, 1000, 1024, 4096)


@dataclass(frozen=True, slots=True)
class Seen:
    """The result of plain numbers.

    It says whether all values were tried, whether one is bad, whether some lane made the access, and the
    largest place.
    """

    is_whole: bool
    is_bad: bool
    is_made: bool
    largest: int


def seen(subject: Subject, claim: Property, multiple: int = 1) -> Seen:
    """Evaluate a claim for all threads, with arrays that begin at multiples of a number."""
    bad = claim.bad
    conditions = subject.makes(bad, with_loops=True)
    assumed = assumed_of(variables(bad, *conditions), subject.leaves)
    checked = [each for each in conditions if each not in assumed]
    if any(node.width > MAX_ARRAY_WIDTH for node in postorder(claim.address, *checked)):
        return Seen(is_whole=False, is_bad=False, is_made=False, largest=0)
    names = {each.name: None for each in variables(claim.address, bad, *conditions, *assumed)}
    leaves = [subject.leaves[name] for name in names if not isinstance(subject.leaves[name], LaneLeaf)]
    whole = _all_of(leaves, {each.name for each in variables(bad)}, multiple)
    env = whole if whole is not None else _some_of(leaves, subject.block.warps, multiple)
    count = max((len(values) for values in env.values()), default=1)
    active = np.broadcast_to(subject.block.exists, (count, *subject.block.exists.shape))
    active = active & (np.arange(LANES) < subject.address_lanes)
    # Conditions and address have most of their parts in common, and each part is evaluated once.
    known = dict(zip((claim.address, *checked), subject.block.all_values((claim.address, *checked), env), strict=True))
    for each in checked:
        active = active & (known[each] != 0)
    active = active & fulfilled(assumed, env)

    def values(value: Expr) -> NDArray[np.uint64]:
        if value not in known:
            known[value] = subject.block.values(value, env)
        found = known[value]
        return np.broadcast_to(found, (count, *found.shape[-2:])).view(np.uint64)

    place, is_bad = claim.place(values)
    made = bool(active.any())
    largest = int(place[active].max()) if made else 0
    return Seen(whole is not None, bool((is_bad & active).any()), made, largest)


def at_point(claim: Property, point: Mapping[str, int]) -> tuple[int, bool]:
    """What a claim says of one point, in Python's integers: the place, and whether it is bad."""

    def values(value: Expr) -> NDArray[np.uint64]:
        return np.array([[[evaluate(value, point)]]], dtype=np.uint64)

    place, is_bad = claim.place(values)
    return int(place[0, 0, 0]), bool(is_bad[0, 0, 0])


def _all_of(leaves: Sequence[Leaf], read: set[str], multiple: int) -> dict[str, Array] | None:
    """All values of leaves that have few; None if some leaf has many.

    An array whose address `bad` does not read has two start addresses.
    """
    ranges: list[Sequence[int]] = []
    total = 1
    for leaf in leaves:
        of_leaf: Sequence[int] | None = leaf.values
        if of_leaf is None and isinstance(leaf, TripsLeaf) and leaf.most is not None:
            of_leaf = range(leaf.most + 1)
        if isinstance(leaf, ArrayLeaf) and leaf.name not in read:
            factor = max(1, multiple // leaf.multiple)
            of_leaf = [at % leaf.variable.limit for at in (factor, 3 * factor)]
        if of_leaf is None or total * len(of_leaf) > _MOST:
            return None
        total *= len(of_leaf)
        ranges.append(of_leaf)
    rows = list(product(*ranges))
    return {leaf.name: _array([row[at] for row in rows]) for at, leaf in enumerate(leaves)}


_READ: Final = frozenset({"variable", "uniform", "values", "block", "multiple", "symbol", "candidates", "most"})


class _Drawn(NamedTuple):
    """What the values of a leaf depend on."""

    kind: type[Leaf]
    fields: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, leaf: Leaf) -> Self:
        """Those of a leaf."""
        read = [each.name for each in fields(leaf) if each.name in _READ]
        return cls(type(leaf), tuple((each, getattr(leaf, each)) for each in read))

    def leaf(self) -> Leaf:
        """A leaf with these values."""
        return self.kind(reason="", line=0, **dict(self.fields))


def _some_of(leaves: Sequence[Leaf], warps: int, multiple: int) -> dict[str, Array]:
    return _draw(tuple(map(_Drawn.of, leaves)), warps, multiple)


@lru_cache(maxsize=16)
def _draw(asked: tuple[_Drawn, ...], warps: int, multiple: int) -> dict[str, Array]:
    """Values of some leaves: unrolled code has many accesses that read the same ones."""
    draw = random.Random(_SEED)  # noqa: S311 - no secret
    source = np.random.Generator(np.random.PCG64(_SEED))
    env: dict[str, Array] = {}
    for each in asked:
        leaf = each.leaf()
        if is_shared(leaf) or isinstance(leaf, LoopLeaf):
            env[leaf.name] = _array([value_of(leaf, draw, at, _NUMBERS, multiple) for at in range(_SAMPLES)])
        else:
            env[leaf.name] = drawn(leaf, _NUMBERS, (_SAMPLES, warps, LANES), source)
    return env


def _array(values: Sequence[int]) -> Array:
    return words(values)[:, None, None]

"""Launches in which threads may part before a barrier: guesses for the runs that have to show it.

Two threads may come to two places of a barrier if the conditions of both paths can hold. These conditions
allow more than threads do, so a divergent barrier is never reported for them alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import less
from swzverify.compiled.kernel.leaves import is_launch_value
from swzverify.compiled.order.instance import Instances, Uses
from swzverify.compiled.scan.asker import Asker, OutOfClockError
from swzverify.engines.obligations import Answer
from swzverify.ir.expr import Expr, conjunction, const, negation

MOST_PATHS: Final = 6
"""Pairs of paths to barriers for which launches are asked."""
_LIMITS: Final = (0, 20)
"""Budgets of these queries, as of `Asker`."""
_SMALL: Final = 1 << 8
"""A limit of numbers, so that loops end soon."""
Values: TypeAlias = tuple[tuple[str, int], ...]
"""Values of a launch by their names."""


def launches_that_part(couples: Iterable[Instances], barriers: Collection[int]) -> list[Values]:
    """Launches in which a thread may come to one of some barriers, and another one to another barrier or to none.

    Args:
        couples: Two threads of distinct warps, or of one.
        barriers: The barriers, by the indices of their instructions.
    """
    asker, found = Asker(*_LIMITS), dict[Values, None]()
    for instances in couples:
        reaching, block_of = instances.kernel.reaching, instances.kernel.flow.block_of
        by_path = {reaching[each]: block_of[each] for each in sorted(barriers)}
        paths = [
            *combinations(by_path.items(), 2),
            *(((path, block), (negation(path), block)) for path, block in by_path.items()),
        ]
        for both in paths[:MOST_PATHS]:
            found |= dict.fromkeys(_values(asker, instances, both))
    return [*found]


def _values(asker: Asker, instances: Instances, paths: Sequence[tuple[Expr, int]]) -> list[Values]:
    """The values of a launch in which each thread satisfies a condition at a block; small ones, if possible."""
    instances.uses = uses = Uses()
    parts = [instances.value(path, who, instances.place(block, ())) for who, (path, block) in enumerate(paths)]
    condition = conjunction((*parts, *uses.facts))
    launch = [leaf for leaf in uses.read.values() if is_launch_value(leaf)]
    small = [less(each.variable, const(_SMALL, each.variable.width), signed=False) for each in launch]
    for more in (small, ()):
        try:
            answer = asker.possible(conjunction((condition, *more)))
        except OutOfClockError:
            break
        if answer.answer is Answer.HOLDS:
            point = answer.point or {}
            return [tuple((leaf.name, point[leaf.name]) for leaf in launch if leaf.name in point)]
    return []

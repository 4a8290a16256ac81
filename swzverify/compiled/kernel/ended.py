"""What the end of a loop says of the accesses behind it: nothing, as long as nothing else reads what the loop counted.

A thread behind a loop has left it. In each launch in which it comes there, the loop has ended behind some trip, so that
the condition is true for this one. A guard over-approximates who executes an access, and may be true in more launches.
But a loop that no trip ends, such as one of 2, 4, 6, ... up to an odd number, says that nothing behind it is executed.

Source: docs/scan_rules.md, Which lanes execute an access.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.leaves import Leaf, LoopLeaf, is_launch_value
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Expr, Var, conjunction, conjuncts, postorder, variables

_LAUNCHES: Final = np.array([*range(10), 16, 33, 100, 1000])
"""Values of a launch with which it is looked whether a loop ends: one for all, and different ones that are no zeros."""
_TRIPS: Final = np.array(
    [*range(18), 31, 32, 33, 63, 64, 99, 100, 249, 250, 499, 500, 1000, *(1 << at for at in range(9, 31))]
)
"""Trips behind which it may end."""
_MOST: Final = 1 << 32
"""Values are less than this."""


def without_ended(
    guard: Expr,
    place: Iterable[Expr | None],
    sure: Expr | None,
    asked: Iterable[Expr | None],
    leaf_of: Callable[[Var], Leaf],
    around: Collection[int],
) -> Expr:
    """A guard without the conditions by which loops ended.

    A condition stays if it reads anything but launch values and registers of loops that have ended, or a launch value
    of the addresses, or such a register that something else reads which is asked or stays. It stays as well if it may
    say more than that loops ended: if `sure` has another condition on one of its values, or no trip is known behind
    which the loops end. If `sure` is not known, all stay: one of them may be the instruction's own predicate, and two
    instructions with equal guards count as executed together.

    Args:
        guard: One bit.
        place: The addresses of the access.
        sure: The condition under which lanes certainly make it; None if that is not known.
        asked: What else is asked of it beside its guard.
        leaf_of: The leaf of a variable.
        around: The headers of the loops around the access.
    """
    if sure is None:
        return guard
    parts = [(part, {*variables(part)}) for part in conjuncts(guard)]
    others = {*conjuncts(sure)}.difference(part for part, _ in parts)
    placed = _variables(place) | _variables(others)
    ended = {
        each for each in variables(guard) if isinstance(leaf := leaf_of(each), LoopLeaf) and leaf.block not in around
    }
    free = [
        (part, read & ended)
        for part, read in parts
        if read & ended
        and all(is_launch_value(leaf_of(each)) and each not in placed for each in read - ended)
        and _ends(part, frozenset(read & ended))
    ]
    kept = {
        *placed,
        *_variables((sure, *asked)),
        *(each for part, read in parts if (part, read & ended) not in free for each in read),
    }
    while joined := [own for _, own in free if own & kept]:
        free = [each for each in free if not each[1] & kept]
        kept |= set[Var]().union(*joined)
    gone = [part for part, _ in free]
    return conjunction(part for part, _ in parts if part not in gone) if gone else guard


@lru_cache(maxsize=4096)
def _ends(condition: Expr, own: frozenset[Var]) -> bool:
    """Whether a condition is true in each of some launches, for one of some values of a loop's own registers."""
    if any(node.width > MAX_ARRAY_WIDTH for node in postorder(condition)):
        return False
    point: dict[str, NDArray[np.int64]] = {}
    for at, each in enumerate(variables(condition)):
        launches = np.concatenate((_LAUNCHES, np.roll(_LAUNCHES[1:], 5 * at)))[:, None]
        point[each.name] = (_TRIPS if each in own else launches) % min(each.limit, _MOST)
    (found,) = evaluate_many((condition,), point)
    return bool(found.any(axis=-1).all())


def _variables(values: Iterable[Expr | None]) -> set[Var]:
    return {*variables(*(each for each in values if each is not None))}

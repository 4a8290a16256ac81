"""What the end of a loop says of the accesses behind it: nothing, as long as nothing else reads what the loop counted.

A thread behind a loop has left it. In each launch in which it comes there, the loop has ended behind some trip, so that
the condition is true for this one. A guard over-approximates who executes an access, and may be true in more launches.

Source: docs/scan_rules.md, Which lanes execute an access.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from swzverify.compiled.kernel.leaves import Leaf, LoopLeaf, is_launch_value
from swzverify.ir.expr import Expr, Var, conjunction, conjuncts, variables


def without_ended(
    guard: Expr,
    place: Iterable[Expr | None],
    asked: Iterable[Expr | None],
    leaf_of: Callable[[Var], Leaf],
    around: Collection[int],
) -> Expr:
    """A guard without the conditions by which loops ended.

    A condition stays if it reads anything but launch values and registers of loops that have ended, or a launch value
    of the addresses, or such a register that something else reads which is asked or stays.

    Args:
        guard: One bit.
        place: The addresses of the access.
        asked: What else is asked of it beside its guard.
        leaf_of: The leaf of a variable.
        around: The headers of the loops around the access.
    """
    placed = _variables(place)
    ended = {
        each for each in variables(guard) if isinstance(leaf := leaf_of(each), LoopLeaf) and leaf.block not in around
    }
    parts = [(part, {*variables(part)}) for part in conjuncts(guard)]
    free = [
        (part, read & ended)
        for part, read in parts
        if read & ended and all(is_launch_value(leaf_of(each)) and each not in placed for each in read - ended)
    ]
    kept = {
        *placed,
        *_variables(asked),
        *(each for part, read in parts if (part, read & ended) not in free for each in read),
    }
    while joined := [own for _, own in free if own & kept]:
        free = [each for each in free if not each[1] & kept]
        kept |= set[Var]().union(*joined)
    gone = [part for part, _ in free]
    return conjunction(part for part, _ in parts if part not in gone) if gone else guard


def _variables(values: Iterable[Expr | None]) -> set[Var]:
    return {*variables(*(each for each in values if each is not None))}

"""What decides whether two stores without an order write one value, and so do no harm, in some launches.

Source: docs/semantics.md, section 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel import ArrayLeaf, CarriedLeaf, LaneLeaf, OpaqueLeaf
from swzverify.compiled.kernel.leaves import Leaf, Made, TripsLeaf, UniformLeaf, is_input
from swzverify.compiled.kernel.symbols import DYNAMIC
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.instance import BASE
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.question import Question
from swzverify.compiled.scan.race_witness import in_first_block, is_of_launch
from swzverify.ir.expr import Expr, Var, conjunction, const, substitute, variables

_OPEN: Final = "what the accesses write, of which little is known"
_NOT_FOLLOWED: Final = "a value that is not known: {}"


def deciding(
    asked: Asked, question: Question, exact: Expr, point: Mapping[str, int], never: Callable[[Expr], bool]
) -> tuple[Question, str, Sequence[Expr]]:
    """What decides whether the threads of a point do harm, in a launch in which they make both accesses.

    Args:
        asked: The accesses.
        question: Whether they meet.
        exact: When both threads surely make them.
        point: Where they do.
        never: Whether a condition is shown not to hold.

    Returns:
        The question with all that decides it among what it reads, what decides it in words, and the condition that
        the block is the first one of the grid, if nothing but the block's place decides it. The words are empty if
        nothing decides it.
    """
    given = [leaf for leaf in question.read if not isinstance(leaf, ArrayLeaf) and is_of_launch(asked, leaf)]
    of_values, is_open = _of_values(asked, question, exact, point, never) if asked.are_writes else ([], False)
    leaves = list(dict.fromkeys((*given, *of_values)))
    read = tuple(dict.fromkeys((*question.read, *leaves)))
    what = _in_words(leaves[0]) if leaves else _OPEN if is_open else ""
    return replace(question, read=read), what, [] if is_open else in_first_block(leaves)


def surely_differ(
    asked: Asked, question: Question, exact: Expr, point: Mapping[str, int], never: Callable[[Expr], bool]
) -> bool:
    """Whether the threads of a point do harm in each launch, if they make both accesses in the first block of each one.

    `exact` says that the block is the first one.
    """
    if not asked.are_writes:
        return True
    leaves, is_open = _of_values(asked, question, exact, point, never)
    is_of_place = not leaves or (bool(in_first_block(leaves)) and _is_known_in_run(asked, question))
    return is_of_place and not is_open


def _in_words(leaf: Leaf) -> str:
    is_named = isinstance(leaf, UniformLeaf) or is_input(leaf)
    return leaf.reason if is_named else _NOT_FOLLOWED.format(leaf.reason)


def _of_values(
    asked: Asked, question: Question, exact: Expr, point: Mapping[str, int], never: Callable[[Expr], bool]
) -> tuple[list[Leaf], bool]:
    """The leaves that decide whether both threads write one value, and whether more than leaves may decide it."""
    kernel = asked.kernel
    if question.same is None:
        stored = [each.stored for each in asked.accesses]
        feeds = [feed for each in stored if each is not None for feed in each.feeds]
        found = [leaf for leaf in kernel.leaves.of(*feeds) if _may_vary(kernel, leaf)]
        return found, None in stored or not (found or _is_known_in_run(asked, question))
    leaves = (question.made.get(each) or _leaf_of(kernel, each) for each in variables(question.same))
    found = [leaf for leaf in dict.fromkeys(leaves) if leaf is not None and _may_vary(kernel, leaf)]
    both = conjunction((exact, question.same))
    fixed: dict[Var, Expr] = {
        each: const(point.get(each.name, 0), each.width) for each in _of_place(question, variables(both))
    }
    if not found and _is_known_in_run(asked, question):
        return [], False
    return ([], False) if never(substitute(both, fixed)) else (found, not found)


def _is_known_in_run(asked: Asked, question: Question) -> bool:
    """Whether a run that shows two values of two threads at two lines shows them for all launches, if no value varies.

    In a loop these may be the values of other trips, and at the line of a function those of another call: they prove
    something of each launch only if nothing in the kernel may vary.
    """
    kernel, lines = asked.kernel, Counter(each.instruction.line for each in asked.kernel.accesses)
    is_one = all(lines[each.instruction.line] == len(kernel.parts[each.index]) for each in asked.accesses)
    if is_one and not any(question.places):
        return True
    return not any(
        _may_vary(kernel, leaf) for leaf in kernel.leaves.by_name.values() if not isinstance(leaf, ArrayLeaf)
    )


def _of_place(question: Question, read: Iterable[Var]) -> list[Var]:
    """The variables that say which threads make the accesses, in which trips."""
    threads = {each for thread in question.instances.threads for each in (*thread.own, *thread.shared)}
    return [each for each in read if each in threads or each.name.startswith(BASE)]


def _leaf_of(kernel: Kernel, variable: Var) -> Leaf | None:
    """The leaf that a variable stands for; of the start of dynamic shared memory, one of its arrays."""
    leaves = kernel.leaves.by_name
    if variable.name != DYNAMIC:
        return leaves.get(variable.name)
    arrays = (each for each in leaves.values() if isinstance(each, ArrayLeaf))
    return next((each for each in arrays if each.symbol.size_bytes is None), None)


def _may_vary(kernel: Kernel, leaf: Leaf) -> bool:
    """Whether a thread may have another value in another launch, as far as is known.

    Where an array starts is the same in all launches, but it is not known.
    """
    pending, seen = [leaf], {leaf}
    while pending:
        each = pending.pop()
        feeds = _feeds(kernel, each)
        if feeds is None:
            return True
        more = [feed for feed in kernel.leaves.of(*feeds) if feed not in seen]
        seen.update(more)
        pending += more
    return False


def _feeds(kernel: Kernel, leaf: Leaf) -> tuple[Expr, ...] | None:
    """All that a leaf depends on; None if it is a value of the launch, or if more may decide it than is known."""
    match leaf:
        case LaneLeaf():
            return ()
        case OpaqueLeaf(made=Made.DETERMINED):
            return leaf.feeds
        case OpaqueLeaf(made=Made.EXCHANGED) if leaf.moved is not None:
            return (leaf.moved.value,)
        case TripsLeaf() | CarriedLeaf() if kernel.repeat[leaf.block].is_exact:
            again = kernel.repeat[leaf.block].condition
            carry = kernel.carried.get(leaf.variable)
            if carry is not None:
                return again, carry.before, carry.after
            return (again,) if isinstance(leaf, TripsLeaf) else None
        case _:
            return None

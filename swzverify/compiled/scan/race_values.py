"""What decides whether two stores without an order write one value, and so do no harm, in some launches.

Source: docs/semantics.md, section 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from swzverify.compiled.kernel import ArrayLeaf, LaneLeaf, OpaqueLeaf
from swzverify.compiled.kernel.leaves import Leaf, Made
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.instance import BASE
from swzverify.compiled.order.pairs import Asked, Question
from swzverify.ir.expr import Expr, Var, conjunction, const, substitute, variables


@dataclass(frozen=True, slots=True)
class Deciding:
    """What decides whether two accesses write one value.

    Attributes:
        leaves: The leaves that decide it, as far as they are known; empty if nothing does.
        is_open: Whether more than these may decide it.
    """

    leaves: tuple[Leaf, ...] = ()
    is_open: bool = False


def deciding(
    asked: Asked, question: Question, exact: Expr, point: Mapping[str, int], never: Callable[[Expr], bool]
) -> Deciding:
    """What decides whether the threads of a point write one value, and do no harm.

    `exact` says when both surely make the accesses, and `never` whether a condition is shown not to hold.
    """
    kernel = asked.kernel
    if not asked.are_writes:
        return Deciding()
    if question.same is None:
        stored = [each.stored for each in asked.accesses]
        feeds = [feed for each in stored if each is not None for feed in each.feeds]
        found = [leaf for leaf in kernel.leaves.of(*feeds) if _may_vary(kernel, leaf)]
        return Deciding(tuple(found), is_open=None in stored)
    read = variables(question.same)
    leaves = (question.made.get(each) or kernel.leaves.by_name.get(each.name) for each in read)
    found = [leaf for leaf in dict.fromkeys(leaves) if leaf is not None and _may_vary(kernel, leaf)]
    if not found:
        return Deciding()
    both = conjunction((exact, question.same))
    fixed = {each: const(point.get(each.name, 0), each.width) for each in _of_place(question, variables(both))}
    return Deciding() if never(substitute(both, fixed)) else Deciding(tuple(found))


def _of_place(question: Question, read: Iterable[Var]) -> list[Var]:
    """The variables that say which threads make the accesses, in which trips, and where arrays lie."""
    threads = {each for thread in question.instances.threads for each in (*thread.own, *thread.shared)}
    leaves = question.instances.kernel.leaves.by_name
    return [
        each
        for each in read
        if each in threads or each.name.startswith(BASE) or isinstance(leaves.get(each.name), ArrayLeaf)
    ]


def _may_vary(kernel: Kernel, leaf: Leaf) -> bool:
    """Whether a thread may have another value in another launch, as far as is known."""
    pending, seen = [leaf], {leaf}
    while pending:
        each = pending.pop()
        if isinstance(each, LaneLeaf | ArrayLeaf):
            continue
        if not isinstance(each, OpaqueLeaf) or each.made is not Made.DETERMINED:
            return True
        more = [feed for feed in kernel.leaves.of(*each.feeds) if feed not in seen]
        seen.update(more)
        pending += more
    return False

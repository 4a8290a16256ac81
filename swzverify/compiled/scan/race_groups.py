"""Asks about many pairs of accesses at once: unrolled code has hundreds of questions that are nearly the same.

A group is free if no member can hold, which is one question to Z3. If it can, the members that hold at the point
that Z3 names leave the group, and the rest is asked again. A group that is not decided is halved. After some
questions without a proof the others are left: in a kernel that races, nothing is gained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from swzverify.compiled.order.families import Family
from swzverify.engines.obligations import Answer, Finding
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, conjunction, conjuncts, negation, postorder, variables

MOST_PARTS: Final = 800
"""Parts of a question about a group."""
_MOST_DISTANCES: Final = 32
"""Distances of accesses in one question to Z3."""
_MOST_OPEN: Final = 6
"""Questions about groups of one kernel that prove nothing."""


def ruled_out(conditions: Iterable[Expr], possible: Callable[[Expr], Finding]) -> frozenset[Expr]:
    """Those of some conditions that cannot hold, as far as questions about groups of them show it.

    >>> from swzverify.ir.expr import Comparison, compare, const, var
    >>> x = var("x", 8)
    >>> zero, one, two = (compare(Comparison.EQ, x, const(number, 3)) for number in (0, 1, 2))
    >>> never = [conjunction((zero, one)), conjunction((zero, two))]
    >>> def ask(condition):
    ...     found = [at for at in range(8) if evaluate(condition, {"x": at})]
    ...     return Finding("by hand", Answer.HOLDS if found else Answer.EMPTY, {"x": found[0]} if found else None)
    >>> ruled_out([*never, one], ask) == set(never)
    True
    """
    found: set[Expr] = set()
    left = _MOST_OPEN
    for group in _groups(dict.fromkeys(conditions)):
        pending = [group]
        while pending and left > 0:
            members = pending.pop()
            if len(members) < 2:
                continue
            answer = possible(any_of(members))
            if answer.answer is Answer.EMPTY:
                found.update(members)
                continue
            left -= 1
            rest = [each for each in members if not _holds(each, answer)]
            if answer.answer is Answer.HOLDS and len(rest) < len(members):
                pending.append(rest)
            else:
                half = len(members) // 2
                pending += [members[half:], members[:half]]
        if left <= 0:
            break
    return frozenset(found)


def never_met(asked: Iterable[tuple[Family, int]], possible: Callable[[Expr], Finding]) -> set[tuple[Family, int]]:
    """The distances in families of accesses with which no two of them meet, by lists of both threads and by Z3."""
    distances: dict[Family, dict[int, None]] = {}
    for family, distance in asked:
        distances.setdefault(family, {})[distance] = None
    found: set[tuple[Family, int]] = set()
    for family, numbers in distances.items():
        apart = sorted(family.apart(numbers))
        pending = [apart[at : at + _MOST_DISTANCES] for at in range(0, len(apart), _MOST_DISTANCES)]
        while pending:
            group = pending.pop()
            if possible(family.meets(group)).answer is Answer.EMPTY:
                found.update((family, each) for each in group)
            elif len(group) > 1:
                half = len(group) // 2
                pending += [group[half:], group[:half]]
    return found


def any_of(conditions: Sequence[Expr]) -> Expr:
    """That one of some conditions holds; what is in all of them is said once.

    >>> from swzverify.ir.expr import TRUE
    >>> any_of([TRUE]) is TRUE
    True
    """
    parts = [dict.fromkeys(conjuncts(each)) for each in conditions]
    common = [each for each in parts[0] if all(each in other for other in parts)]
    own = [conjunction(each for each in part if each not in common) for part in parts]
    return conjunction((*common, negation(conjunction(map(negation, dict.fromkeys(own))))))


def _groups(conditions: Iterable[Expr]) -> Iterator[list[Expr]]:
    """Conditions on the same variables, as many as one question may have."""
    by_variables: dict[frozenset[Expr], list[Expr]] = {}
    for each in conditions:
        by_variables.setdefault(frozenset(variables(each)), []).append(each)
    for same in by_variables.values():
        nodes: set[Expr] = set()
        group: list[Expr] = []
        for each in same:
            nodes.update(postorder(each))
            if group and len(nodes) > MOST_PARTS:
                yield group
                group, nodes = [], set(postorder(each))
            group.append(each)
        yield group


def _holds(condition: Expr, answer: Finding) -> bool:
    """Whether a condition holds at the point of an answer."""
    point = dict.fromkeys((each.name for each in variables(condition)), 0) | dict(answer.point or {})
    return bool(evaluate(condition, point))

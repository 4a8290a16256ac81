"""A smaller condition that holds wherever a given one does, with variables for terms that its parts share.

An address in bounds is often a function of an index that the guard bounds. How the index is computed takes Z3
most of its time, and does not matter.

Docs: docs/semantics.md, section 10, "Shared terms" and "Independent parts".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count, islice
from typing import Final

from swzverify.ir.expr import TRUE, Expr, Var, conjunction, conjuncts, operands, postorder, rebuilt, var, variables

_MOST_TRIED: Final = 3
"""Sets of terms that are tried, from the largest terms on."""
_MANY: Final = 3
"""Variables of a term that is worth a variable of its own."""
_SHARE: Final = 0.75
"""How small the smaller condition has to be."""


def with_any_terms(condition: Expr) -> Expr | None:
    """A smaller condition that holds for some values of new variables wherever the given one holds.

    None if none is found. Terms that the last part shares with others become variables.

    >>> from swzverify.ir.expr import BinaryOperator, Comparison, binary, compare, const
    >>> x, y, z = (var(name, 1 << 32) for name in "xyz")
    >>> product = binary(BinaryOperator.MUL, binary(BinaryOperator.MUL, x, y), z)
    >>> small, large = (compare(Comparison.ULT, product, const(most, 32)) for most in (8, 9))
    >>> [each.name for each in variables(with_any_terms(conjunction((small, large))))]
    ['term 0']
    """
    if condition is TRUE:
        return None
    found = [_of_new_variables(condition, terms) for terms in islice(_shared_terms(condition), _MOST_TRIED)]
    least = min(found, key=_size, default=condition)
    return least if _size(least) < _SHARE * _size(condition) else None


def _shared_terms(condition: Expr) -> Iterator[Collection[Expr]]:
    """Sets of terms that the last part of a condition shares with other parts, the largest terms first.

    No term of a set is a part of another one in it.
    """
    parts = conjuncts(condition)
    others, last = parts[:-1], parts[-1]
    left = {
        node
        for part in others
        for node in postorder(part)
        if node.width > 1 and operands(node) and len(variables(node)) >= _MANY
    }
    while found := _first_of(last, left):
        outer = {term for term in found if any(node in found for node in postorder(term)[:-1])}
        if not outer:
            yield found
        left -= outer or found


def _first_of(root: Expr, wanted: Collection[Expr]) -> set[Expr]:
    """The wanted parts of an expression that are read without another one between."""
    found, seen, pending = set[Expr](), set[Expr](), [root]
    while pending:
        node = pending.pop()
        if node in wanted:
            found.add(node)
        elif node not in seen:
            seen.add(node)
            pending += operands(node)
    return found


def _of_new_variables(condition: Expr, terms: Collection[Expr]) -> Expr:
    """The parts of a condition that read new variables in the place of terms, and what these parts depend on."""
    names = _unused_names(condition)
    made: dict[Expr, Var] = {term: var(next(names), 1 << term.width) for term in terms}
    new: dict[Expr, Expr] = {}
    for node in postorder(condition):
        new[node] = made.get(node) or rebuilt(node, new)
    parts = independent_parts(new[condition])
    return conjunction(part for part in parts if not {*made.values()}.isdisjoint(variables(part)))


def _unused_names(condition: Expr) -> Iterator[str]:
    used = {each.name for each in variables(condition)}
    return (name for at in count() if (name := f"term {at}") not in used)


def _size(condition: Expr) -> int:
    return len(postorder(condition))


def independent_parts(condition: Expr) -> list[Expr]:
    """Parts of a condition that share no variable, the smallest one first. It can hold if each of them can.

    >>> from swzverify.ir.expr import Comparison, compare, const, negation
    >>> x, y = (compare(Comparison.EQ, var(name, 8), const(3, 3)) for name in "xy")
    >>> independent_parts(conjunction((x, negation(x), y))) == [y, conjunction((x, negation(x)))]
    True
    """
    groups: list[tuple[set[Var], list[Expr]]] = []
    for part in conjuncts(condition):
        read, parts, apart = set(variables(part)), [part], list[tuple[set[Var], list[Expr]]]()
        for group in groups:
            if read.isdisjoint(group[0]):
                apart.append(group)
            else:
                read, parts = read | group[0], [*group[1], *parts]
        groups = [*apart, (read, parts)]
    if len(groups) == 1:
        return [condition]
    return sorted((conjunction(parts) for _, parts in groups), key=lambda each: len(postorder(each)))

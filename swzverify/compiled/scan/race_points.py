"""Points at which a condition may hold, tried before Z3 is asked: one that is found needs no Z3.

The points are always the same ones. First, in each of them all values are below one bound, small or large, so that
two values are often equal. Then parts of the condition on few values, such as those on two threads, are solved: each
point has one of their solutions, and the other values have bounds of their own. Then these are what they were at
the last points that were found for the kernel, or new ones. At last, a value that may be any number, such as that of a
register that a loop changes, is the one at which two addresses are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import sub, widened
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    Binary,
    BinaryOperator,
    Compare,
    Const,
    Expr,
    Extract,
    Var,
    binary,
    conjunction,
    conjuncts,
    const,
    postorder,
    variables,
)

NAME: Final = "points"
_SEED: Final = 20_250_101
_POINTS: Final = 4096
_BOUNDS: Final = (2, 8, 33, 256, 1 << 12, 1 << 62)
"""The points have these bounds in turn."""
_LARGEST: Final = (1 << 63) - 1
_SMALL: Final = (1, 2, 4, 8, 33, 100, 256, 1 << 12)
"""The bounds of single values."""
_MOST_VALUES: Final = 1024
"""Values of a variable for which parts of a condition are solved."""
_MOST_SOLVED: Final = 1 << 17
"""Points at which these parts are looked at."""
_SHARE_KNOWN: Final = 0.75
"""How often a variable has the value that it had at the last point that was found."""
_WIDTHS_OF_ADDRESSES: Final = (32, 64)
_MOST_EQUATIONS: Final = 2
"""Comparisons of a condition whose sides are made equal."""
_Values: TypeAlias = NDArray[np.int64]


class Points:
    """Looks for points of the conditions of one kernel: what one condition had is tried for others, too."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def some(self, condition: Expr) -> dict[str, int] | None:
        """A point at which a condition holds, of those that are tried; None if none is found.

        >>> from swzverify.ir.expr import Comparison, compare, const, var
        >>> Points().some(compare(Comparison.EQ, var("x", 16), const(9, 4)))
        {'x': 9}
        >>> Points().some(compare(Comparison.ULT, var("x", 16), const(0, 4))) is None
        True
        """
        found = self.near(condition)
        self.learn(found)
        return found

    def near(self, condition: Expr) -> dict[str, int] | None:
        """As `some`; the point is not tried for other conditions."""
        if condition is FALSE or any(node.width > MAX_ARRAY_WIDTH for node in postorder(condition)):
            return None
        return next((point for each in self._tried(condition) if (point := _held(condition, each)) is not None), None)

    def held(self, conditions: Sequence[Expr]) -> set[Expr]:
        """Those of some conditions that hold at a point of those that are tried first."""
        narrow = [each for each in conditions if all(node.width <= MAX_ARRAY_WIDTH for node in postorder(each))]
        read = {node.name: _values(at, min(node.limit, _LARGEST)) for at, node in enumerate(variables(*narrow))}
        return {each for each, holds in zip(narrow, evaluate_many(tuple(narrow), read), strict=True) if holds.any()}

    def learn(self, point: Mapping[str, int] | None) -> None:
        """Try the values of a point that was found elsewhere."""
        self._known |= point or {}

    def _tried(self, condition: Expr) -> Iterator[Mapping[Var, _Values]]:
        """Values of the variables of a condition at each point."""
        read = variables(condition)
        yield {node: _values(at, min(node.limit, _LARGEST)) for at, node in enumerate(read)}
        solved = _solutions(conjunction(_parts_on_few(condition)))
        if solved is None:
            return
        values = {node: _small_values(at, min(node.limit, _LARGEST)) for at, node in enumerate(read)}
        yield values | dict(solved)
        known = {node: self._known[node.name] for node in read if self._known.get(node.name, node.limit) < node.limit}
        if known:
            again = {
                node: np.where(_is_known(at), _bits_of(known[node]), values[node]) for at, node in enumerate(known)
            }
            values |= again
            yield values | dict(solved)
        yield from _with_equal_addresses(condition, values | dict(solved))


def _with_equal_addresses(condition: Expr, values: Mapping[Var, _Values]) -> Iterator[Mapping[Var, _Values]]:
    """The points with another value of one variable each: that at which both sides of a comparison are equal."""
    compared = [each for each in postorder(condition) if isinstance(each, Compare)]
    found = (_solved(each) for each in compared if each.left.width in _WIDTHS_OF_ADDRESSES)
    for free, value in islice((each for each in found if each is not None), _MOST_EQUATIONS):
        (numbers,) = evaluate_many((value,), {node.name: each for node, each in values.items()})
        yield {**values, free: np.broadcast_to(numbers, (_POINTS,))}


def _solved(comparison: Compare) -> tuple[Var, Expr] | None:
    """A variable that may be any number, and what it is where the two sides of a comparison are equal, if they can be.

    Shifts to the left are undone without a look at the bits that they lose.
    """
    between = sum_of(sub(comparison.left, comparison.right))
    for term, count in between.terms.items():
        others = {each: factor for each, factor in between.terms.items() if each is not term}
        zeros = (count & -count).bit_length() - 1
        inverse = pow(-(count >> zeros), -1, 1 << between.width)
        rest = Sum({}, 0, between.width).plus(Sum(others, between.number, between.width), inverse).expression()
        found = _inverted(term, _shifted_right(rest, zeros))
        if found is not None and found[0] not in variables(*others):
            return found
    return None


def _inverted(term: Expr, value: Expr) -> tuple[Var, Expr] | None:
    """The variable that may be any number in a term, and what it is where the term has a value."""
    while not isinstance(term, Var):
        match term:
            case Extract(operand, 0):
                term, value = operand, widened(value, operand.width)
            case Binary(BinaryOperator.XOR, operand, Const()) | Binary(BinaryOperator.XOR, Const(), operand):
                number = term.right if operand is term.left else term.left
                term, value = operand, binary(BinaryOperator.XOR, value, number)
            case Binary(BinaryOperator.SHL, operand, Const(count)):
                term, value = operand, _shifted_right(value, count)
            case _:
                return None
    return (term, value) if term.limit == 1 << term.width else None


def _shifted_right(value: Expr, count: int) -> Expr:
    return binary(BinaryOperator.ASHR, value, const(min(count, value.width), value.width)) if count else value


def _held(condition: Expr, points: Mapping[Var, _Values]) -> dict[str, int] | None:
    """The first of some points at which a condition holds.

    Small parts of it are evaluated first, and larger ones only at the points at which these hold.
    """
    left = np.arange(_POINTS)
    for part in _by_size(condition):
        read = {node.name: points[node][left] for node in variables(part)}
        (holds,) = evaluate_many((part,), read)
        left = left[np.broadcast_to(holds, left.shape) != 0]
        if not left.size:
            return None
    return {node.name: int(values[left[0]].astype(np.uint64)) for node, values in points.items()}


def _by_size(condition: Expr) -> list[Expr]:
    """Parts of a condition, each about four times as large as the one before."""
    stages: dict[int, list[Expr]] = {}
    for part in conjuncts(condition):
        stages.setdefault(len(postorder(part)).bit_length() // 2, []).append(part)
    return [conjunction(stages[size]) for size in sorted(stages)]


def _bits_of(number: int) -> np.int64:
    """A number of up to 64 bits, as the one with a sign that has the same bits."""
    return np.uint64(number).astype(np.int64)


def _parts_on_few(condition: Expr) -> Iterable[Expr]:
    """Parts of a condition that can be solved together."""
    points, known = 1, set[Var]()
    for part in conjuncts(condition):
        new = [each for each in variables(part) if each not in known]
        size = points
        for each in new:
            size *= each.limit
        if size <= _MOST_SOLVED and all(each.limit <= _MOST_VALUES for each in new):
            points, known = size, known.union(new)
            yield part


@lru_cache(maxsize=64)
def _solutions(condition: Expr) -> tuple[tuple[Var, _Values], ...] | None:
    """Values at which a condition holds, for each point; None if it never does."""
    read = variables(condition)
    axes = np.ix_(*(np.arange(each.limit) for each in read))
    (holds,) = evaluate_many((condition,), {each.name: axis for each, axis in zip(read, axes, strict=True)})
    found = np.flatnonzero(np.broadcast_to(holds, tuple(each.limit for each in read)))
    if not found.size:
        return None
    chosen = found[np.random.default_rng(_SEED).integers(0, found.size, _POINTS)]
    places = np.unravel_index(chosen, tuple(each.limit for each in read)) if read else ()
    return tuple((each, place.astype(np.int64)) for each, place in zip(read, places, strict=True))


@lru_cache(maxsize=256)
def _values(at: int, limit: int) -> _Values:
    """The values of one variable at all points; those of another one are independent."""
    draw = np.random.default_rng((_SEED, at))
    most = np.minimum(np.resize(np.asarray(_BOUNDS), _POINTS), limit)
    return draw.integers(0, most)


@lru_cache(maxsize=256)
def _small_values(at: int, limit: int) -> _Values:
    """The same, with bounds that are independent, too."""
    draw = np.random.default_rng((_SEED, at, 1))
    return draw.integers(0, np.minimum(draw.choice(_SMALL, _POINTS), limit))


@lru_cache(maxsize=64)
def _is_known(at: int) -> NDArray[np.bool_]:
    """Whether a variable has the value that it had at a point before."""
    return np.random.default_rng((_SEED, at, 2)).random(_POINTS) < _SHARE_KNOWN

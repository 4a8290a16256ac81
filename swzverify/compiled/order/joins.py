"""An engine for pairs of accesses: it lists the addresses of each thread, and looks for a common byte.

An address is a sum. Terms that both threads have are left out, and of the others those that depend on few values are
listed: coordinates, registers and loop counters with few values, a few bits of a number that is not known. A term
that cannot be listed counts as any multiple of its factor: then the addresses are compared modulo a power of two that
divides it. Conditions on one thread, and on what both share, are kept where they can be listed. All this leaves more
values than occur, so the engine may say that two accesses never meet, and nothing else: docs/semantics.md, section 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import add, choose, either, widened
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.compiled.order.known import Part, part_of
from swzverify.compiled.order.residues import plus_number
from swzverify.engines.enumeration import Ranges, first_meeting
from swzverify.engines.obligations import Truths
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extend,
    Var,
    binary,
    conjunction,
    conjuncts,
    const,
    postorder,
    var,
    variables,
)
from swzverify.ir.intervals import intervals

NAME: Final = "enumeration"
_FEW: Final = 64
"""Values of a part of an address that are listed where the part reads a number that is not known."""
_MOST_VALUES: Final = 1024
"""Values of a variable that are listed."""
_MOST_POINTS: Final = 1 << 17
"""Points of one thread that are listed, with what both threads share."""
_KEPT_POINTS: Final = 1 << 13
"""Points of a thread that are kept for other questions."""

Values: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Ends:
    """What two accesses touch.

    Attributes:
        addresses: The addresses of both, of 32 bits.
        lengths: The bytes from there; 1 and 1 if the accesses meet only where the addresses are equal.
        tags: Variables that differ, one of each thread; None if it may be one thread.
    """

    addresses: tuple[Expr, Expr]
    lengths: tuple[int, int]
    tags: tuple[Var, Var] | None


class Joins:
    """Answers questions of one kernel; what many of them have in common is listed once."""

    def __init__(self) -> None:
        self._listed: dict[tuple[object, ...], Listed] = {}
        self._answers: dict[tuple[object, ...], bool] = {}

    def never_meet(self, ends: Ends, conditions: Iterable[Expr], few: Mapping[Var, tuple[int, ...]]) -> bool:
        """Whether two accesses have no common byte under some conditions, as far as lists of values show it.

        `few` has all values of some variables, perhaps with others that do not occur. Addresses go round, so only the
        difference of their numbers counts: accesses of unrolled code that are equally far apart are one question.

        >>> from swzverify.ir.expr import extend
        >>> one, other = var("one", 64), var("other", 64)
        >>> starts = extend(one, 32, signed=False), extend(other, 32, signed=False)
        >>> Joins().never_meet(Ends(starts, (1, 1), (one, other)), (), {})
        True
        >>> Joins().never_meet(Ends(starts, (2, 2), (one, other)), (), {})
        False
        """
        conditions = tuple(conditions)
        one, two = map(sum_of, ends.addresses)
        terms, number = (*one.terms.items(), None, *two.terms.items()), (one.number - two.number) % ADDRESSES
        key = terms, number, ends.lengths, ends.tags, conditions, tuple(few.items())
        if key not in self._answers:
            self._answers[key] = self._never_meet(ends, conditions, few)
        return self._answers[key]

    def _never_meet(self, ends: Ends, conditions: Iterable[Expr], few: Mapping[Var, tuple[int, ...]]) -> bool:
        parts = [part for each in conditions for part in conjuncts(each)]
        bounds = tuple(dict.fromkeys(bound for each in parts if (bound := find_bound(each)) is not None))
        key = (bounds, *few.items())
        if key not in self._listed:
            self._listed[key] = Listed(bounds, few)
        listed = self._listed[key]
        modulus, sides = listed.sides(ends)
        shared = tuple(each for each in sides[0].own if each in sides[1].own and each not in (ends.tags or ()))
        for side in sides:
            side.own = {each: None for each in side.own if each not in shared}
        if max(ends.lengths) >= modulus or any(listed.size((*shared, *side.own)) > _MOST_POINTS for side in sides):
            return False
        listed.keep_conditions(sides, shared, parts)
        found: list[Ranges] = []
        for who, side in enumerate(sides):
            points = listed.points((*shared, *side.own), side)
            if points is None:
                return False
            tag = None if ends.tags is None else ends.tags[who]
            place = np.arange(len(points.holds)) // listed.size(side.own)
            found.append(points.ranges(place, (side.number, modulus, ends.lengths[1 - who]), tag))
        return first_meeting(found[0], found[1], ends.lengths) is None


@dataclass(slots=True)
class Listing:
    """What is listed of one thread.

    Attributes:
        position: The terms of its address that are listed.
        number: What is added to them.
        lost: Where they are not known.
        own: The variables that the other thread's address does not read.
        conditions: What holds of the thread.
    """

    position: Expr
    number: int
    lost: Expr
    own: dict[Var, None]
    conditions: list[Expr] = field(default_factory=list[Expr])


class Listed:
    """Variables whose values are listed, with a variable for each part of an address that has few values."""

    def __init__(self, bounds: Iterable[tuple[Var, int]], few: Mapping[Var, Sequence[int]]) -> None:
        self.values: dict[Var, Values] = {each: _numbers(some) for each, some in few.items()}
        self._points: dict[tuple[object, ...], Points] = {}
        self._cuts: dict[Expr, Expr] = {}
        self._parts: tuple[dict[Expr, Part], dict[Expr, Part]] = ({}, {})
        for each, limit in bounds:
            if limit <= _MOST_VALUES and each not in few:
                self.values[each] = np.arange(min(limit, each.limit))

    def of(self, root: Expr, *, is_address: bool) -> Part:
        """An expression over variables whose values are listed; parts of addresses may get variables of their own."""
        parts = self._parts[is_address]
        if root not in parts:
            spans = intervals(root)
            for node in postorder(root):
                if node in parts:
                    continue
                found = Part(self._cuts[node], FALSE) if node in self._cuts else self.of_node(node, parts)
                low, high = spans[node]
                if found.lost is not FALSE and is_address and high - low < _FEW:
                    # Whatever its unknown parts are: it is one of these values, and one value wherever it stands.
                    cut = var(f"part {len(self._cuts)}", high - low + 1)
                    self.values[cut] = np.arange(cut.limit)
                    self._cuts[node] = add(widened(cut, node.width), const(low, node.width))
                    self._parts[False].clear()
                    found = Part(choose(found.lost, self._cuts[node], found.value), FALSE)
                parts[node] = Part(const(0, node.width), TRUE) if found.lost is TRUE else found
        return parts[root]

    def of_node(self, node: Expr, parts: Mapping[Expr, Part]) -> Part:
        """One node, from the parts of its operands."""
        if isinstance(node, Var):
            if node not in self.values and node.limit <= _MOST_VALUES:
                self.values[node] = np.arange(node.limit)
            return Part(node, FALSE if node in self.values else TRUE)
        if node.width > MAX_ARRAY_WIDTH:
            return Part(const(0, node.width), TRUE)
        if (rest := self._remainder(node)) is not None:
            return Part(rest, FALSE)
        return part_of(node, parts)

    def _remainder(self, node: Expr) -> Expr | None:
        """A number that is not known, plus a small one, modulo a small one: from the remainder of the former."""
        match node:
            case Binary(BinaryOperator.UREM, dividend, Const(divisor)) if 1 < divisor <= _FEW:
                pass
            case Binary(BinaryOperator.AND, dividend, Const(mask)) if 0 < mask < _FEW and mask & (mask + 1) == 0:
                divisor = mask + 1
            case _:
                return None
        found = plus_number(dividend)
        if found is None or found[0] in self.values:
            return None
        rest = var(f"{found[0].name} modulo {divisor}", divisor)
        self.values[rest] = np.arange(divisor)
        wide = add(widened(rest, node.width), const(found[1] % divisor, node.width))
        return binary(BinaryOperator.UREM, wide, const(divisor, node.width))

    def size(self, read: Iterable[Var]) -> int:
        """How many points some variables have together."""
        return prod(len(self.values[each]) for each in read)

    def sides(self, ends: Ends) -> tuple[int, tuple[Listing, Listing]]:
        """Both addresses without what they have in common, and the modulus up to which they are listed."""
        sums = [sum_of(address) for address in ends.addresses]
        common = {term for term, count in sums[0].terms.items() if sums[1].terms.get(term) == count}
        found: list[Listing] = []
        modulus = ADDRESSES
        for who, each in enumerate(sums):
            own = [] if ends.tags is None else [ends.tags[who]]
            for tag in own:
                self.of(tag, is_address=True)
            terms: dict[Expr, int] = {}
            lost: Expr = FALSE
            # Terms of small factors first: without them the least is known.
            for term, count in sorted(each.terms.items(), key=lambda item: item[1] & -item[1]):
                part = Part(const(0, 32), FALSE) if term in common else self.of(term, is_address=True)
                read = variables(*own, *terms, part.value, lost, part.lost)
                if part.lost is TRUE or self.size(read) > _MOST_POINTS:
                    modulus = min(modulus, count & -count)
                else:
                    terms[part.value] = (terms.get(part.value, 0) + count) % ADDRESSES
                    lost = either(lost, part.lost)
            position = Sum(terms, 0, each.width).expression()
            found.append(Listing(position, each.number, lost, dict.fromkeys(variables(*own, position, lost))))
        return modulus, (found[0], found[1])

    def points(self, read: Sequence[Var], side: Listing) -> Points | None:
        """The points of one thread; None if the address is not known at one of them.

        They are kept for other questions, but only for those of which the same bounds are known.
        """
        key = side.position, side.lost, tuple(side.conditions), tuple(read)
        found = self._points.get(key) or _points(self, read, side)
        if len(found.holds) <= _KEPT_POINTS:
            self._points[key] = found
        return None if found.is_lost else found

    def keep_conditions(self, sides: Sequence[Listing], shared: Iterable[Var], conditions: Iterable[Expr]) -> None:
        """Keep the conditions on one thread and on what both share; others are left out."""
        for each in conditions:
            part = self.of(each, is_address=False)
            may_hold = either(part.value, part.lost)
            read = set(variables(may_hold)).difference(shared)
            for mine, other in (sides, sides[::-1]):
                more = read.difference(mine.own)
                is_of_both = bool(more & other.own.keys())
                is_of_none = bool(more) and not read & mine.own.keys()
                if is_of_both or is_of_none or self.size((*shared, *mine.own, *more)) > _MOST_POINTS:
                    continue
                mine.own.update(dict.fromkeys(sorted(more, key=lambda each: each.name)))
                mine.conditions.append(may_hold)


@dataclass(frozen=True, slots=True)
class Points:
    """What one thread has at each point: its address but for a number, and whether it is there.

    Attributes:
        position: The addresses.
        holds: Where the thread makes the access.
        is_lost: Whether it does so where the address is not known.
        values: The values of the variables.
    """

    position: Values
    holds: Truths
    is_lost: bool
    values: dict[Var, Values]

    def ranges(self, place: Values, address: tuple[int, int, int], tag: Var | None) -> Ranges:
        """The ranges at a number and modulo another one; those of different places are far apart.

        Addresses go round: a range at the start may reach into one at the end, if that one is so long.
        """
        number, modulus, length = address
        position = (self.position + number) % modulus
        starts = position + place * (4 * modulus)
        early = position < length
        tags = [] if tag is None else [self.values[tag]]
        return (
            np.concatenate((starts, starts[early] + modulus)),
            np.concatenate((self.holds, self.holds[early])),
            [np.concatenate((each, each[early])) for each in tags],
        )


def _points(listed: Listed, nodes: Sequence[Var], side: Listing) -> Points:
    """Each joint value of some variables, the last one fastest."""
    shape = tuple(len(listed.values[each]) for each in nodes)
    axes = np.ix_(*(listed.values[each] for each in nodes))
    arrays = {each.name: axis for each, axis in zip(nodes, axes, strict=True)}
    roots = (side.position, conjunction(side.conditions), side.lost)
    position, holds, lost = (np.broadcast_to(each, shape).ravel() for each in evaluate_many(roots, arrays))
    values = {each: np.broadcast_to(axis, shape).ravel() for each, axis in zip(nodes, axes, strict=True)}
    return Points(position, holds != 0, bool((holds & lost).any()), values)


def _numbers(values: Iterable[int]) -> Values:
    """Numbers of up to 64 bits in order, as those of 64 bits with a sign that have the same bits."""
    return np.asarray(sorted(values), dtype=np.uint64).astype(np.int64)


def find_bound(condition: Expr) -> tuple[Var, int] | None:
    """A variable of which a condition says that it is below a number, and the number."""
    match condition:
        case Compare(Comparison.ULT, value, Const(limit)):
            pass
        case Compare(Comparison.ULE, value, Const(most)):
            limit = most + 1
        case Binary(BinaryOperator.XOR, Compare(Comparison.ULE, Const(limit), value), Const(1)):
            pass
        case Binary(BinaryOperator.XOR, Compare(Comparison.ULT, Const(most), value), Const(1)):
            limit = most + 1
        case _:
            return None
    while isinstance(value, Extend) and not value.signed:
        value = value.operand
    return (value, limit) if isinstance(value, Var) else None

"""The distance engine: costs without a bank conflict, because all lanes of a group lie in one turn of the banks.

An address may read values that all lanes share and that may be anything, if it counts single bits of them, as
`popc(word & mask)` with a mask of the lane's own does. Two lanes then differ by some of these bits. If no two lanes of
a group can be farther apart than one turn of the banks, different words of the group are in different banks.

Each bit of each lane is 0, 1, a bit of a shared value or its inverse, or not known. An address is a number for each
lane plus multiples of shared values. The distance of two lanes has bounds, without what both lanes count alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.engines.enumeration import grid
from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import Answer, Cost, Finding, Truths
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Count,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    conjuncts,
    operands,
    postorder,
    to_signed,
    variables,
)
from swzverify.ir.intervals import intervals

NAME = "distances"
FEW: Final = 64
"""Values of a shared variable up to which each of them is looked at by itself."""
MOST_LANES: Final = 1 << 12
"""Lanes of all values that are looked at."""
MOST_PARTS: Final = 20_000
"""Parts of an address up to which it is read."""
MOST_BITS: Final = 1 << 24
"""Bits of all lanes that are kept, of 8 bytes each."""
MOST_SHARED: Final = 512
"""Shared values that lanes may count differently."""
_FAR: Final = 1 << 30
"""Numbers up to which bounds are kept: their products fit 64 bits."""

Bits: TypeAlias = NDArray[np.int64]
"""One bit of each lane: 0, 1, `_ANY`, or the number of a shared bit, negative for its inverse."""
_ANY, _FIRST = -1, 2
Lanes: TypeAlias = NDArray[np.int64]


class _Kind(Enum):
    """What a variable is: looked at value by value, one value of all lanes, or one of each lane."""

    POINT, SHARED, OWN = range(3)


@dataclass(frozen=True, slots=True)
class _Form:
    """A value of each lane: between `low` and `high`, plus multiples of shared values, modulo 2^width.

    `counts` has how often each lane counts a shared value, by its number.
    """

    low: Lanes
    high: Lanes
    counts: Mapping[int, Lanes] = field(default_factory=dict[int, Lanes])

    def plus(self, other: _Form, by: Lanes) -> _Form:
        """The sum with a multiple of another form."""
        ends = other.low * by, other.high * by
        counts = {**self.counts}
        for at, count in other.counts.items():
            counts[at] = _near_enough(counts.get(at, 0) + count * by)
        low, high = self.low + np.minimum(*ends), self.high + np.maximum(*ends)
        return _Form(_near_enough(low), _near_enough(high), counts)


class _Reader:
    """Reads the bits and values of expressions in all lanes.

    `points` has the values that are looked at one by one, `own` the variables of which each lane has its own value.
    """

    def __init__(self, roots: tuple[Expr, ...], points: Mapping[str, Lanes], own: frozenset[str]) -> None:
        self._points = points
        self.size = len(next(iter(points.values())))
        self._zero: Lanes = np.zeros(self.size, dtype=np.int64)
        self._intervals = intervals(*roots)
        self._reads: dict[Expr, frozenset[_Kind]] = {}
        for node in postorder(*roots):
            reads = frozenset[_Kind]().union(*(self._reads[each] for each in operands(node)))
            if isinstance(node, Var):
                reads = frozenset(
                    {_Kind.POINT if node.name in points else _Kind.OWN if node.name in own else _Kind.SHARED}
                )
            self._reads[node] = reads
        self._numbers: dict[Expr, NDArray[np.uint64]] = {}
        self._shared: dict[tuple[Expr, int | None], int] = {}
        self._bits: dict[tuple[Expr, int], Bits] = {}
        self._forms: dict[Expr, _Form] = {}
        self.limits: dict[int, tuple[int, int]] = {}
        """The bounds of each shared value, by its number."""

    def _is_shared(self, node: Expr) -> bool:
        return self._reads[node] == frozenset({_Kind.SHARED})

    def _number(self, node: Expr) -> NDArray[np.uint64] | None:
        """The value of each lane, if lanes and numbers alone decide it."""
        if not self._reads[node] <= {_Kind.POINT}:
            return None
        if node not in self._numbers:
            (found,) = evaluate_many((node,), self._points)
            self._numbers[node] = np.broadcast_to(found.view(np.uint64), (self.size,))
        return self._numbers[node]

    def _of_shared(self, node: Expr, bit: int | None, limits: tuple[int, int]) -> int:
        """The number of a shared value, or of one bit of it."""
        at = self._shared.setdefault((node, bit), _FIRST + len(self._shared))
        self.limits[at] = limits
        return at

    def bit(self, node: Expr, at: int) -> Bits:
        """One bit of a value in each lane."""
        key = node, at
        if key not in self._bits:
            if len(self._bits) * self.size >= MOST_BITS:
                raise _TooFarError
            self._bits[key] = self._bit(node, at)
        return self._bits[key]

    def _bit(self, node: Expr, at: int) -> Bits:
        number = self._number(node)
        if number is not None:
            return ((number >> np.uint64(at)) & np.uint64(1)).astype(np.int64)
        match node:
            case Extract(operand, low, _):
                return self.bit(operand, low + at)
            case Extend(operand, _, signed):
                inside = operand.width - 1 if signed else at
                return self.bit(operand, min(at, inside)) if at < operand.width or signed else self._zero
            case Binary(BinaryOperator.AND | BinaryOperator.OR | BinaryOperator.XOR as operator, left, right, _):
                return _LOGIC[operator](self.bit(left, at), self.bit(right, at))
            case Binary(BinaryOperator.SHL | BinaryOperator.LSHR as operator, value, amount, _):
                return self._shifted(value, amount, at, to_left=operator is BinaryOperator.SHL)
            case Ite(condition, then, otherwise, _):
                return _chosen(self.bit(condition, 0), self.bit(then, at), self.bit(otherwise, at))
            case Compare(Comparison.EQ, left, right, _):
                alike = (_inverse(_xor(self.bit(left, k), self.bit(right, k))) for k in range(left.width))
                return reduce(_and, alike)
            case _:
                if self._is_shared(node):
                    return self._zero + self._of_shared(node, at, (0, 1))
                return self._zero + _ANY

    def _shifted(self, value: Expr, amount: Expr, at: int, *, to_left: bool) -> Bits:
        by = self._number(amount)
        if by is None:
            return self._zero + _ANY
        found = self._zero
        for each in np.unique(by).tolist():
            if 0 <= (source := at - each if to_left else at + each) < value.width:
                found = np.where(by == each, self.bit(value, source), found)
        return found

    def form(self, root: Expr) -> _Form:
        """The value of an expression in each lane. Sums are read term by term."""
        total = _Form(self._zero, self._zero)
        left: list[tuple[Expr, Lanes]] = [(root, self._zero + 1)]
        while left:
            node, by = left.pop()
            match node:
                case Binary(BinaryOperator.ADD, one, other, _):
                    left += [(one, by), (other, by)]
                case Binary(BinaryOperator.SUB, one, other, _):
                    left += [(one, by), (other, -by)]
                case Binary(BinaryOperator.SHL, one, Const(amount), _) if amount < _FAR.bit_length():
                    left.append((one, _near_enough(by << amount)))
                case Binary(BinaryOperator.MUL, one, Const(factor), width) if abs(to_signed(factor, width)) < _FAR:
                    left.append((one, _near_enough(by * to_signed(factor, width))))
                case Extend(inner, _, _) if inner.width + _low_zeros(by) >= root.width:
                    left.append((inner, by))  # the multiple of a bit beyond the inner width is one of 2^width
                case _:
                    if node not in self._forms:
                        self._forms[node] = self._read(node)
                    total = total.plus(self._forms[node], by)
        return total

    def _read(self, node: Expr) -> _Form:
        number = self._number(node)
        if number is not None:
            value = number.view(np.int64) << (MAX_ARRAY_WIDTH - node.width) >> (MAX_ARRAY_WIDTH - node.width)
            return _Form(_near_enough(value), value)
        if node.width == 1:
            return _of_bit(self.bit(node, 0))
        if isinstance(node, Extend):
            inner = self.form(node.operand)
            if self._fits(inner, node.operand.width, signed=node.signed):
                return inner
        elif isinstance(node, Extract) and node.low == 0 and _is_sum(node.operand):
            return self.form(node.operand)
        elif isinstance(node, Ite):
            return self._of_choice(node)
        elif isinstance(node, Count):
            return self._of_bits([self.bit(node.operand, at) for at in range(node.operand.width)], counts=True)
        elif not self._is_shared(node) and not _is_sum(node):
            bits = [self.bit(node, at) for at in range(node.width)]
            if not any((each == _ANY).any() for each in bits):
                return self._of_bits(bits)
        if self._is_shared(node):
            at = self._of_shared(node, None, self._intervals[node])
            return _Form(self._zero, self._zero, {at: self._zero + 1})
        return self._between(node)

    def _of_bits(self, bits: list[Bits], *, counts: bool = False) -> _Form:
        total = _Form(self._zero, self._zero)
        for at, bit in enumerate(bits):
            if bit.any():
                total = total.plus(_of_bit(bit), self._zero + (1 if counts else min(1 << at, _FAR)))
        return total

    def _between(self, node: Expr) -> _Form:
        """A value of which bounds are known and no more."""
        low, high = self._intervals[node]
        if high >= _FAR:
            raise _TooFarError
        return _Form(self._zero + low, self._zero + high)

    def _of_choice(self, node: Ite) -> _Form:
        """Where the condition is not known, both values differ by a number, which a bit counts."""
        condition, then, otherwise = self.bit(node.condition, 0), self.form(node.then), self.form(node.otherwise)
        apart = then.plus(otherwise, self._zero - 1)
        is_open = (condition != 0) & (condition != 1)
        others = [np.asarray(each != 0) for each in apart.counts.values()]
        unclear = is_open & reduce(np.logical_or, others, apart.low != apart.high)
        if unclear.any():
            return self._between(node)
        chosen = _of_bit(condition)
        sure = np.where(is_open, 0, condition)
        # `apart` is a number in all lanes whose condition is open, and counts once or not at all in the others.
        base = otherwise.plus(_masked(apart, sure), self._zero + 1)
        return base.plus(_masked(chosen, is_open.astype(np.int64)), np.where(is_open, apart.low, 0))

    def _fits(self, form: _Form, width: int, *, signed: bool) -> bool:
        """Whether the value is the one that the bits of the width have."""
        low, high = form.low, form.high
        for at, count in form.counts.items():
            ends = [count * limit for limit in self.limits[at]]
            if int(np.abs(count).max()) * self.limits[at][1] >= _FAR:
                return False
            low, high = low + np.minimum(*ends), high + np.maximum(*ends)
        least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
        return bool((low >= least).all() and (high <= most).all())


class _TooFarError(Exception):
    """Bounds would leave 64 bits, or there are many bits."""


def _low_zeros(numbers: Lanes) -> int:
    """The power of two that divides all numbers."""
    together = int(np.bitwise_or.reduce(numbers))
    return (together & -together).bit_length() - 1 if together else MAX_ARRAY_WIDTH


def _near_enough(numbers: Lanes) -> Lanes:
    if (numbers >= _FAR).any() or (numbers <= -_FAR).any():
        raise _TooFarError
    return numbers


def _is_sum(node: Expr) -> bool:
    return isinstance(node, Binary) and node.operator in _SUMS


def _masked(form: _Form, by: Lanes) -> _Form:
    """The form in the lanes that have 1, and 0 in the others."""
    return _Form(form.low * by, form.high * by, {at: count * by for at, count in form.counts.items()})


def _of_bit(bit: Bits) -> _Form:
    """A bit as a number."""
    low = (bit == 1) | (bit <= -_FIRST)
    read = np.unique(np.abs(bit[np.abs(bit) >= _FIRST])).tolist()
    counts = {at: (bit == at).astype(np.int64) - (bit == -at) for at in read}
    return _Form(low.astype(np.int64), (low | (bit == _ANY)).astype(np.int64), counts)


def _inverse(bit: Bits) -> Bits:
    return np.where((bit == 0) | (bit == 1), 1 - bit, np.where(bit == _ANY, _ANY, -bit))


def _and(one: Bits, other: Bits) -> Bits:
    same = np.where(one == other, one, _ANY)
    found = np.where(one == 1, other, np.where(other == 1, one, same))
    is_zero = (one == 0) | (other == 0) | ((one == -other) & (np.abs(one) >= _FIRST))
    return np.where(is_zero, 0, found)


def _or(one: Bits, other: Bits) -> Bits:
    return _inverse(_and(_inverse(one), _inverse(other)))


def _xor(one: Bits, other: Bits) -> Bits:
    is_known = np.abs(one) >= _FIRST
    both = np.where(is_known & (one == other), 0, np.where(is_known & (one == -other), 1, _ANY))
    found = np.where(other == 0, one, np.where(other == 1, _inverse(one), both))
    return np.where(one == 0, other, np.where(one == 1, _inverse(other), found))


def _chosen(condition: Bits, then: Bits, otherwise: Bits) -> Bits:
    return _or(_and(condition, then), _and(_inverse(condition), otherwise))


_SUMS: Final = frozenset({BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.MUL})
_LOGIC: Final = {BinaryOperator.AND: _and, BinaryOperator.OR: _or, BinaryOperator.XOR: _xor}


def _points(cost: Cost) -> dict[str, Lanes]:
    """All lanes, and all values of other variables that have few: these are looked at one by one."""
    counts: dict[str, int] = {}
    size = LANES
    for each in sorted(cost.free, key=lambda each: each.limit):
        if each.limit <= FEW and size * each.limit <= MOST_LANES:
            counts[each.name] = each.limit
            size *= each.limit
    return grid({**counts, cost.lane.name: LANES})


def _decide(cost: Cost, own: tuple[Var, ...] = ()) -> Finding:
    other = Finding(NAME, Answer.NOT_APPLICABLE)
    row = cost.instruction
    if cost.at_most is not None or row.is_global or row.by_octets or row.counts_equal_words:
        return other
    roots = (cost.address, cost.active)
    parts = postorder(*roots)
    if len(parts) > MOST_PARTS or any(node.width > MAX_ARRAY_WIDTH for node in parts):
        return other
    if 1 << cost.address.width < BANK_PERIOD_BYTES or any(
        each.limit > BANK_PERIOD_BYTES for each in variables(cost.address) if each in own
    ):
        return other
    reader = _Reader(roots, _points(cost), frozenset(each.name for each in own))
    try:
        form, may_come = reader.form(cost.address), _may_come(reader, cost.active)
    except (_TooFarError, RecursionError):  # bits are read by functions that call themselves
        return other
    size, most = row.joined_group_lanes, BANK_PERIOD_BYTES - max(row.width_bytes, BANK_WORD_BYTES)
    comes = may_come & (np.arange(reader.size) % LANES < row.address_lanes)
    is_near = max(_distances(form, reader.limits, comes, size), default=0) <= most
    return Finding(NAME, Answer.HOLDS) if is_near else other


def _may_come(reader: _Reader, active: Expr) -> Truths:
    """The lanes that no condition keeps away; conditions that are not known keep none."""
    found = [reader.bit(each, 0) != 0 for each in conjuncts(active) if len(postorder(each)) <= FEW]
    return reduce(np.logical_and, found, np.ones(reader.size, dtype=np.bool_))


def _distances(form: _Form, limits: Mapping[int, tuple[int, int]], comes: Truths, size: int) -> Iterator[int]:
    """How far two lanes of each group can be apart."""
    apart = {
        at: count
        for at, count in form.counts.items()
        if (count.reshape(-1, size) != count.reshape(-1, size)[:, :1]).any()
    }
    if len(apart) > MOST_SHARED or any(max(limits[at]) >= _FAR for at in apart):
        yield BANK_PERIOD_BYTES
        return
    for start in range(0, len(comes), size):
        group = np.arange(start, start + size)[comes[start : start + size]]
        if len(group) > 1:
            most = form.high[group][:, None] - form.low[group][None, :]
            np.fill_diagonal(most, 0)
            for at, count in apart.items():
                more = count[group][:, None] - count[group][None, :]
                most = most + np.maximum(more * limits[at][0], more * limits[at][1])
            yield int(most.max())


class Distances(Native):
    """Decides costs of addresses that are close together whatever the shared values are; only that they hold."""

    name = NAME
    rules = Rules(cost=_decide, gather_cost=lambda goal: _decide(goal.cost, goal.own))

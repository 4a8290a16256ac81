"""Reading: the value of an expression at one point (Python integers) and at many (numpy)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

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
    apply_binary,
    apply_comparison,
    operands,
    postorder,
    to_signed,
)

Unsigned: TypeAlias = NDArray[np.uint64]

MAX_ARRAY_WIDTH = 64
_FEW_NODES = 64
"""So many small arrays may be kept at a time."""
_FEW_POINTS = 1 << 14
"""Points of a small array."""
_KEPT_NODES = 256
"""So many nodes may expressions have whose preparation is kept."""


def evaluate(root: Expr, point: Mapping[str, int]) -> int:
    """The unsigned value of `root` where each variable has the value that `point` gives it.

    >>> from swzverify.ir.expr import binary, const, var
    >>> evaluate(binary(BinaryOperator.XOR, var("x", 8), const(5, 3)), {"x": 6})
    3
    """
    value: dict[Expr, int] = {}
    for node in postorder(root):
        match node:
            case Const(constant):
                value[node] = constant
            case Var(name, limit):
                if not 0 <= point[name] < limit:
                    raise ValueError(f"{name} = {point[name]} is outside 0..{limit - 1}")
                value[node] = point[name]
            case Binary(operator, left, right, width):
                value[node] = apply_binary(operator, value[left], value[right], width)
            case Compare(comparison, left, right):
                value[node] = int(apply_comparison(comparison, value[left], value[right], left.width))
            case Extract(operand, low, width):
                value[node] = value[operand] >> low & ((1 << width) - 1)
            case Extend(operand, width, signed):
                inner = to_signed(value[operand], operand.width) if signed else value[operand]
                value[node] = inner & ((1 << width) - 1)
            case Ite(condition, then, otherwise):
                value[node] = value[then] if value[condition] else value[otherwise]
            case Count(operand):
                value[node] = value[operand].bit_count()
            case _:
                assert_never(node)
    return value[root]


def evaluate_many(roots: tuple[Expr, ...], point: Mapping[str, NDArray[np.int64]]) -> tuple[NDArray[np.int64], ...]:
    """The unsigned values of several expressions over arrays that broadcast against each other.

    Widths up to 63 bits fit the int64 result; 64-bit intermediates wrap as they should. Arrays are
    let go after their last use: of thousands of parts few are needed at a time.
    """
    program = _program(roots) if len(postorder(*roots)) <= _KEPT_NODES else Program(roots)
    given = [np.asarray(point[name]) for name in program.names]
    with np.errstate(over="ignore"):  # of single numbers numpy says that they wrap
        found = program.run(
            [each.view(np.uint64) if each.dtype == np.int64 else each.astype(np.uint64) for each in given]
        )
    return tuple(each.astype(np.int64) for each in found)


class Program:
    """Expressions, prepared once to be evaluated over many arrays.

    `names` are those of its variables, in the order in which `run` takes their values. Others may be among them.

    Raises:
        ValueError: An expression has more than 64 bits.
    """

    def __init__(self, roots: tuple[Expr, ...], names: tuple[str, ...] = ()) -> None:
        nodes = postorder(*roots)
        slots = {node: slot for slot, node in enumerate(nodes)}
        self._start: list[Unsigned | None] = [None] * len(nodes)
        self._steps: list[tuple[int, Callable[[list[Any]], Unsigned]]] = []
        self._given: dict[str, list[int]] = {name: [] for name in names}
        for slot, node in enumerate(nodes):
            if node.width > MAX_ARRAY_WIDTH:
                raise ValueError(f"numpy evaluates at most {MAX_ARRAY_WIDTH} bits, not {node.width}")
            if isinstance(node, Const):
                self._start[slot] = np.asarray(node.value, dtype=np.uint64)
            elif isinstance(node, Var):
                self._given.setdefault(node.name, []).append(slot)
            else:
                self._steps.append((slot, _step(node, slots)))
        self.names, self._roots = tuple(self._given), tuple(slots[root] for root in roots)
        last = {operand: slots[node] for node in nodes for operand in operands(node) if operand not in roots}
        self._done: dict[int, list[int]] = {}
        for operand, slot in last.items():
            self._done.setdefault(slot, []).append(slots[operand])

    def run(self, given: Sequence[Unsigned]) -> list[Unsigned]:
        """The value of each expression; of a variable the array that was given.

        Of single numbers numpy says that they wrap, unless it is told to ignore it.
        """
        values: list[Any] = self._start.copy()
        for mine, value in zip(self._given.values(), given, strict=True):
            for slot in mine:
                values[slot] = value
        lets_go = len(values) > _FEW_NODES
        for slot, step in self._steps:
            value = values[slot] = step(values)
            if lets_go or value.size > _FEW_POINTS:
                lets_go = True
                for done in self._done.get(slot, ()):
                    values[done] = None
        return [values[root] for root in self._roots]


@lru_cache(maxsize=1024)
def _program(roots: tuple[Expr, ...]) -> Program:
    return Program(roots)


def _step(
    node: Binary | Compare | Extract | Extend | Ite | Count, slots: Mapping[Expr, int]
) -> Callable[[list[Any]], Unsigned]:
    """What computes a node from the values in the slots of its operands."""
    at, then, otherwise = (*(slots[each] for each in operands(node)), 0, 0)[:3]
    match node:
        case Binary(operator, _, _, width):
            apply = _BINARY[operator]
            return lambda values: apply(values[at], values[then], width)
        case Compare(comparison, left, _):
            compare, width = _COMPARE[comparison], left.width
            return lambda values: compare(values[at], values[then], width).astype(np.uint64)
        case Extract(_, low, width):
            return lambda values: _reduce(values[at] >> np.uint64(low), width)
        case Extend(operand, width, signed):
            if not signed:
                return itemgetter(at)
            inner = operand.width
            return lambda values: _reduce(_signed(values[at], inner).view(np.uint64), width)
        case Ite():
            return lambda values: _chosen(values[at], values[then], values[otherwise])
        case Count():
            return lambda values: _count(values[at])
        case _:
            assert_never(node)


def _chosen(condition: Unsigned, then: Unsigned, otherwise: Unsigned) -> Unsigned:
    return np.where(condition != 0, then, otherwise)


def _reduce(value: Unsigned, width: int) -> Unsigned:
    """The low bits of an array that nobody else has: it is written to, which takes half the time."""
    if width == MAX_ARRAY_WIDTH:
        return value
    mask = np.uint64((1 << width) - 1)
    return np.bitwise_and(value, mask, out=value) if value.ndim else value & mask


def _count(value: Unsigned) -> Unsigned:
    """The ones of each number: of pairs of bits, of groups of four, of bytes, and their sum in the highest byte.

    Source: Warren, Hacker's Delight, chapter 5. Only numpy 2 has a function for it.
    """
    pairs = value - (value >> np.uint64(1) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + (pairs >> np.uint64(2) & np.uint64(0x3333333333333333))
    octets = fours + (fours >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return octets * np.uint64(0x0101010101010101) >> np.uint64(56)


def _signed(value: Unsigned, width: int) -> NDArray[np.int64]:
    """Two's complement: flip the sign bit and subtract it again, modulo 2^64."""
    sign = np.uint64(1 << (width - 1))
    return ((value ^ sign) - sign).view(np.int64)


def _divide_many(operator: BinaryOperator, left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    """The quotient, all ones where the divisor is 0; or the remainder, which is the dividend there."""
    zero = right == 0
    divisor = np.where(zero, np.uint64(1), right) if zero.any() else right
    if operator is BinaryOperator.UREM:
        result, by_zero = left % divisor, left
    else:
        result, by_zero = left // divisor, np.uint64((1 << width) - 1)
    return result if divisor is right else np.where(zero, by_zero, result)


def _signed_divide_many(operator: BinaryOperator, left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    """Divide magnitudes; the quotient gets the product's sign, the remainder the dividend's."""
    a, b = _signed(left, width), _signed(right, width)
    magnitude_a, magnitude_b = np.abs(a).astype(np.uint64), np.abs(b).astype(np.uint64)
    zero = magnitude_b == 0
    safe = np.where(zero, np.uint64(1), magnitude_b)
    if operator is BinaryOperator.SREM:
        rest = magnitude_a % safe
        return _reduce(np.where(zero, left, np.where(a < 0, np.uint64(0) - rest, rest)), width)
    quotient = magnitude_a // safe
    signed_quotient = np.where((a < 0) != (b < 0), np.uint64(0) - quotient, quotient)
    by_zero = np.where(a >= 0, np.uint64((1 << width) - 1), np.uint64(1))
    return _reduce(np.where(zero, by_zero, signed_quotient), width)


def _ashr(left: Unsigned, right: Unsigned, width: int) -> Unsigned:
    amount = np.minimum(right, np.uint64(width - 1)).astype(np.int64)
    return _reduce((_signed(left, width) >> amount).astype(np.uint64), width)


_BINARY: Final[Mapping[BinaryOperator, Callable[[Unsigned, Unsigned, int], Unsigned]]] = {
    BinaryOperator.ADD: lambda left, right, width: _reduce(left + right, width),
    BinaryOperator.SUB: lambda left, right, width: _reduce(left - right, width),
    BinaryOperator.MUL: lambda left, right, width: _reduce(left * right, width),
    BinaryOperator.UDIV: partial(_divide_many, BinaryOperator.UDIV),
    BinaryOperator.UREM: partial(_divide_many, BinaryOperator.UREM),
    BinaryOperator.SDIV: partial(_signed_divide_many, BinaryOperator.SDIV),
    BinaryOperator.SREM: partial(_signed_divide_many, BinaryOperator.SREM),
    BinaryOperator.SHL: lambda left, right, width: _reduce(left << right, width),  # by 64 or more numpy gives 0
    BinaryOperator.LSHR: lambda left, right, _: left >> right,
    BinaryOperator.ASHR: _ashr,
    BinaryOperator.AND: lambda left, right, _: left & right,
    BinaryOperator.OR: lambda left, right, _: left | right,
    BinaryOperator.XOR: lambda left, right, _: left ^ right,
}
_COMPARE: Final[Mapping[Comparison, Callable[[Unsigned, Unsigned, int], NDArray[np.bool_]]]] = {
    Comparison.EQ: lambda left, right, _: left == right,
    Comparison.ULT: lambda left, right, _: left < right,
    Comparison.ULE: lambda left, right, _: left <= right,
    Comparison.SLT: lambda left, right, width: _signed(left, width) < _signed(right, width),
    Comparison.SLE: lambda left, right, width: _signed(left, width) <= _signed(right, width),
}
"""In tables, as `match` compares with one operator after another: half of the time of small arrays went there."""

"""Bit-vector expressions of explicit width over named, bounded variables: the form of every map.

The operators are those of SMT-LIB's theory of fixed-size bit-vectors and mean exactly what they
mean there, division by zero and shifts by the width or more included. One more counts bits. Every
reading therefore has one answer at every point. Nodes are hash-consed: two equal expressions are one
object, compared by identity.

Source: SMT-LIB 2.6, theory FixedSizeBitVectors and logic QF_BV.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar, assert_never
from weakref import ref

from swzverify.ir.operators import BinaryOperator, Comparison, apply_binary, apply_comparison, to_signed


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Const:
    """A constant, 0 <= value < 2^width."""

    value: int
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Var:
    """A variable: 0 <= value < limit <= 2^width."""

    name: str
    limit: int
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Binary:
    """`left operator right`, all of one width."""

    operator: BinaryOperator
    left: Expr
    right: Expr
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Compare:
    """`left comparison right`, one bit wide."""

    comparison: Comparison
    left: Expr
    right: Expr
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Extract:
    """The `width` bits of `operand` from bit `low` up."""

    operand: Expr
    low: int
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Extend:
    """`operand` widened with zeros, or with copies of its sign bit."""

    operand: Expr
    width: int
    signed: bool


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Ite:
    """`then` where the one-bit `condition` is 1, else `otherwise`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    width: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Count:
    """How many bits of `operand` are 1, as wide as the width of the operand needs."""

    operand: Expr
    width: int


Expr: TypeAlias = Const | Var | Binary | Compare | Extract | Extend | Ite | Count
_Node = TypeVar("_Node", Const, Var, Binary, Compare, Extract, Extend, Ite, Count)

_interned: dict[tuple[object, ...], ref[Expr]] = {}
"""Every node that is alive. Half the time of lowering is spent here: a WeakValueDictionary takes
twice as long.
"""


_recent: deque[Expr] = deque(maxlen=1 << 13)
"""The newest nodes, which stay alive: who builds the same again, as cases of a spec do, finds them."""


def _intern(kind: type[_Node], *fields: object) -> _Node:
    key = (kind, *fields)
    known = _interned.get(key)
    found = None if known is None else known()
    if found is None:
        found = kind(*fields)  # type: ignore[arg-type]  # the callers below pass each kind its own fields

        def forget(dead: ref[Expr]) -> None:
            if _interned.get(key) is dead:
                del _interned[key]

        _interned[key] = ref(found, forget)
        _recent.append(found)
    return found  # type: ignore[return-value]  # the key starts with the kind


@lru_cache(maxsize=4096)
def const(value: int, width: int) -> Const:
    """The constant `value` modulo 2^width."""
    if width < 1:
        raise ValueError(f"a bit-vector has at least one bit, not {width}")
    return _intern(Const, value & ((1 << width) - 1), width)


TRUE = const(1, 1)
FALSE = const(0, 1)


def var(name: str, limit: int) -> Var:
    """The variable `name` with values 0 .. limit - 1, as wide as the largest value needs."""
    if limit < 1:
        raise ValueError(f"variable {name} has no value: limit {limit}")
    return _intern(Var, name, limit, max(1, (limit - 1).bit_length()))


def binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr:
    """`left operator right`, folded where both are constants or one is neutral."""
    if left.width != right.width:
        raise ValueError(f"{operator} of widths {left.width} and {right.width}")
    if isinstance(left, Const) and isinstance(right, Const):
        return const(apply_binary(operator, left.value, right.value, left.width), left.width)
    if isinstance(right, Const) and right.value == 0 and operator in _NEUTRAL_ZERO_RIGHT:
        return left
    if isinstance(left, Const) and left.value == 0 and operator in _NEUTRAL_ZERO_LEFT:
        return right
    return _intern(Binary, operator, left, right, left.width)


_NEUTRAL_ZERO_LEFT = frozenset({BinaryOperator.ADD, BinaryOperator.OR, BinaryOperator.XOR})
_NEUTRAL_ZERO_RIGHT = _NEUTRAL_ZERO_LEFT | {
    BinaryOperator.SUB,
    BinaryOperator.SHL,
    BinaryOperator.LSHR,
    BinaryOperator.ASHR,
}


def compare(comparison: Comparison, left: Expr, right: Expr) -> Expr:
    """`left comparison right` as one bit, folded where both are constants or the same expression."""
    if left.width != right.width:
        raise ValueError(f"{comparison} of widths {left.width} and {right.width}")
    if isinstance(left, Const) and isinstance(right, Const):
        return const(int(apply_comparison(comparison, left.value, right.value, left.width)), 1)
    if left is right:
        return const(int(comparison in (Comparison.EQ, Comparison.ULE, Comparison.SLE)), 1)
    return _intern(Compare, comparison, left, right, 1)


def extract(operand: Expr, low: int, width: int) -> Expr:
    """Bits low .. low + width - 1 of `operand`."""
    if low < 0 or width < 1 or low + width > operand.width:
        raise ValueError(f"bits {low}..{low + width - 1} of a {operand.width}-bit expression")
    if width == operand.width:
        return operand
    if isinstance(operand, Const):
        return const(operand.value >> low, width)
    if isinstance(operand, Extract):
        return extract(operand.operand, operand.low + low, width)
    if isinstance(operand, Extend) and low + width <= operand.operand.width:
        return extract(operand.operand, low, width)
    return _intern(Extract, operand, low, width)


def extend(operand: Expr, width: int, *, signed: bool) -> Expr:
    """`operand` widened to `width` bits."""
    if width < operand.width:
        raise ValueError(f"cannot extend {operand.width} bits to {width}")
    if width == operand.width:
        return operand
    if isinstance(operand, Const):
        value = to_signed(operand.value, operand.width) if signed else operand.value
        return const(value, width)
    if isinstance(operand, Extend) and operand.signed == signed:
        return extend(operand.operand, width, signed=signed)
    return _intern(Extend, operand, width, signed)


def ite(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """`then` where `condition` (one bit) holds, else `otherwise`."""
    if condition.width != 1 or then.width != otherwise.width:
        raise ValueError(f"if-then-else of widths {condition.width}, {then.width}, {otherwise.width}")
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    if then is otherwise:
        return then
    return _intern(Ite, condition, then, otherwise, then.width)


def count(operand: Expr) -> Expr:
    """The number of bits of `operand` that are 1. `summed` in `ir.counts` says the same with other operators.

    >>> count(const(0b1101, 8)) is const(3, 4)
    True
    """
    width = operand.width.bit_length()
    match operand:
        case Const(value):
            return const(value.bit_count(), width)
        case Extend(inner, _, False):
            return extend(count(inner), width, signed=False)
        case _:
            return operand if operand.width == 1 else _intern(Count, operand, width)


def conjunction(conditions: Iterable[Expr]) -> Expr:
    """All of some one-bit expressions; TRUE for none."""
    result: Expr = TRUE
    for condition in conditions:
        if condition is FALSE or result is FALSE:
            return FALSE
        if result is TRUE:
            result = condition
        elif condition is not TRUE:
            result = binary(BinaryOperator.AND, result, condition)
    return result


def negation(condition: Expr) -> Expr:
    """The opposite of a one-bit expression."""
    return binary(BinaryOperator.XOR, condition, TRUE)


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The conditions that `conjunction` joined, in order."""
    parts: list[Expr] = []
    pending = [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, Binary) and node.operator is BinaryOperator.AND and node.width == 1:
            pending += [node.right, node.left]
        elif node is not TRUE:
            parts.append(node)
    return tuple(parts)


_OPERANDS: dict[type[Expr], Callable[[Any], tuple[Expr, ...]]] = {
    Const: lambda _: (),
    Var: lambda _: (),
    Binary: attrgetter("left", "right"),
    Compare: attrgetter("left", "right"),
    Extract: lambda node: (node.operand,),
    Extend: lambda node: (node.operand,),
    Ite: attrgetter("condition", "then", "otherwise"),
    Count: lambda node: (node.operand,),
}
"""By kind, and not by `match`: every walk over an expression asks this of every node."""


def operands(node: Expr) -> tuple[Expr, ...]:
    """The direct sub-expressions of a node."""
    return _OPERANDS[type(node)](node)


@lru_cache(maxsize=4096)
def postorder(*roots: Expr) -> tuple[Expr, ...]:
    """Every sub-expression once, operands before their users.

    It does not recurse, so the depth has no limit.

    >>> x = var("x", 8)
    >>> [type(node).__name__ for node in postorder(binary(BinaryOperator.ADD, x, const(1, 3)))]
    ['Var', 'Const', 'Binary']
    """
    order: dict[Expr, None] = {}
    waiting: list[Expr] = []
    pending: list[Expr | None] = [*reversed(roots)]
    while pending:
        node = pending.pop()
        if node is None:
            # What was put above this mark is in the order: all operands of the node that waits.
            order[waiting.pop()] = None
        elif node not in order:
            if below := _OPERANDS[type(node)](node):
                waiting.append(node)
                pending.append(None)
                pending += below[::-1]
            else:
                order[node] = None
    return tuple(order)


def variables(*roots: Expr) -> tuple[Var, ...]:
    """The variables of some expressions, in the order in which they are met."""
    if len(roots) == 1:
        return _variables_of(roots[0])
    return tuple(dict.fromkeys(node for root in roots for node in _variables_of(root)))


@lru_cache(maxsize=4096)
def _variables_of(root: Expr) -> tuple[Var, ...]:
    return tuple(node for node in postorder(root) if isinstance(node, Var))


def substitute(root: Expr, values: dict[Var, Expr]) -> Expr:
    """`root` with variables replaced by expressions of the same width, folded again."""
    new: dict[Expr, Expr] = {}
    for node in postorder(root):
        match node:
            case Var():
                replacement = values.get(node, node)
                if replacement.width != node.width:
                    raise ValueError(f"{node.name} has {node.width} bits, its replacement {replacement.width}")
                new[node] = replacement
            case _:
                new[node] = rebuilt(node, new)
    return new[root]


def rebuilt(node: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """The node over what stands in `new` for each of its operands, folded again."""
    match node:
        case Const() | Var():
            return node
        case Binary(operator, left, right):
            return binary(operator, new[left], new[right])
        case Compare(comparison, left, right):
            return compare(comparison, new[left], new[right])
        case Extract(operand, low, width):
            return extract(new[operand], low, width)
        case Extend(operand, width, signed):
            return extend(new[operand], width, signed=signed)
        case Ite(condition, then, otherwise):
            return ite(new[condition], new[then], new[otherwise])
        case Count(operand):
            return count(new[operand])
    assert_never(node)

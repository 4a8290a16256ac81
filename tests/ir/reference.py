"""Random expressions as plain tuples with SMT-LIB's meaning, and random integer formulas with
Python's.

The meanings here share nothing with the package: signed operators are SMT-LIB's own definitions by
cases on the sign bits, over unsigned Python integers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.ir import expr as ex
from swzverify.ir import integers as ints
from swzverify.ir.expr import BinaryOperator, Comparison, Expr

Tree: TypeAlias = tuple[Any, ...]
"""("const", value, width), ("var", name, limit), (operator, a, b), ("extract", a, low, width),
("extend", a, width, signed) or ("ite", condition, a, b); nothing in it is folded."""

BINARY = [operator.value for operator in BinaryOperator]
COMPARISONS = [comparison.value for comparison in Comparison]


def width_of(tree: Tree) -> int:
    match tree:
        case ("const", _, width) | ("extract", _, _, width) | ("extend", _, width, _):
            return width
        case ("var", _, limit):
            return max(1, (limit - 1).bit_length())
        case ("ite", _, then, _):
            return width_of(then)
        case (operator, left, _):
            return 1 if operator in COMPARISONS else width_of(left)
    raise AssertionError(tree)


def build(tree: Tree) -> Expr:
    """The package's expression, folded as it folds."""
    match tree:
        case ("const", value, width):
            return ex.const(value, width)
        case ("var", name, limit):
            return ex.var(name, limit)
        case ("extract", inner, low, width):
            return ex.extract(build(inner), low, width)
        case ("extend", inner, width, signed):
            return ex.extend(build(inner), width, signed=signed)
        case ("ite", condition, then, otherwise):
            return ex.ite(build(condition), build(then), build(otherwise))
        case (operator, left, right):
            if operator in COMPARISONS:
                return ex.compare(Comparison(operator), build(left), build(right))
            return ex.binary(BinaryOperator(operator), build(left), build(right))
    raise AssertionError(tree)


def meaning(tree: Tree, point: Mapping[str, int]) -> int:
    """The unsigned value that SMT-LIB gives the tree."""
    match tree:
        case ("const", value, _):
            return value
        case ("var", name, _):
            return point[name]
        case ("extract", inner, low, width):
            return meaning(inner, point) // 2**low % 2**width
        case ("extend", inner, width, signed):
            value, narrow = meaning(inner, point), width_of(inner)
            return value + (2**width - 2**narrow) * (signed and value >= 2 ** (narrow - 1))
        case ("ite", condition, then, otherwise):
            return meaning(then if meaning(condition, point) == 1 else otherwise, point)
        case (operator, left, right):
            return operator_meaning(operator, meaning(left, point), meaning(right, point), width_of(left))
    raise AssertionError(tree)


def operator_meaning(operator: str, s: int, t: int, width: int) -> int:
    """SMT-LIB's definition of one operator on two unsigned values."""
    size = 2**width

    def negated(value: int) -> int:
        return (size - value) % size

    def quotient(a: int, b: int) -> int:
        return size - 1 if b == 0 else a // b

    def rest(a: int, b: int) -> int:
        return a if b == 0 else a % b

    def shifted(a: int, b: int) -> int:
        return a // 2 ** min(b, width)

    s_negative, t_negative = s >= size // 2, t >= size // 2
    s_size, t_size = (negated(s) if s_negative else s), (negated(t) if t_negative else t)
    bits = [(s // 2**i % 2, t // 2**i % 2) for i in range(width)]
    match operator:
        case "bvadd":
            return (s + t) % size
        case "bvsub":
            return (s + negated(t)) % size
        case "bvmul":
            return s * t % size
        case "bvudiv":
            return quotient(s, t)
        case "bvurem":
            return rest(s, t)
        case "bvsdiv":
            return quotient(s_size, t_size) if s_negative == t_negative else negated(quotient(s_size, t_size))
        case "bvsrem":
            return negated(rest(s_size, t_size)) if s_negative else rest(s_size, t_size)
        case "bvshl":
            return s * 2 ** min(t, width) % size
        case "bvlshr":
            return shifted(s, t)
        case "bvashr":
            return size - 1 - shifted(size - 1 - s, t) if s_negative else shifted(s, t)
        case "bvand":
            return sum(2**i for i, (a, b) in enumerate(bits) if a + b == 2)
        case "bvor":
            return sum(2**i for i, (a, b) in enumerate(bits) if a + b >= 1)
        case "bvxor":
            return sum(2**i for i, (a, b) in enumerate(bits) if a + b == 1)
        case "=":
            return int(s == t)
        case "bvult":
            return int(s < t)
        case "bvule":
            return int(s <= t)
        case "bvslt" | "bvsle":
            if s_negative != t_negative:
                return int(s_negative)
            return int(s < t or (operator == "bvsle" and s == t))
    raise AssertionError(operator)


def random_tree(
    source: random.Random, limits: Mapping[str, int], size: int, width: int, most_bits: int = 9, linear: bool = False
) -> Tree:
    """A tree of `width` bits with about `size` operators; `linear` favours constant right operands."""

    def again(count: int, bits: int) -> Tree:
        return random_tree(source, limits, count, bits, most_bits, linear)

    if size <= 0:
        if source.random() < 0.25:
            return ("const", source.choice([0, 1, 2**width - 1, source.randrange(2**width)]), width)
        name = source.choice(list(limits))
        leaf: Tree = ("var", name, limits[name])
        own = width_of(leaf)
        if own < width:
            return ("extend", leaf, width, source.random() < 0.2)
        return leaf if own == width else ("extract", leaf, source.randint(0, own - width), width)
    kind = source.random()
    first = source.randint(0, size - 1)
    if width == 1 and kind < 0.45:
        bits = source.randint(1, most_bits)
        return (source.choice(COMPARISONS), again(first, bits), again(size - 1 - first, bits))
    if kind < 0.62:
        operator = source.choice(BINARY)
        if source.random() < (0.75 if linear else 0.4):
            small = source.choice([1, 2, 3, 4, 5, 7, 8, 2**width - 1, 2**width - 2, source.randrange(2**width)])
            constant: Tree = ("const", small % 2**width, width)
            left, right = again(size - 1, width), constant
            return (operator, right, left) if source.random() < 0.15 else (operator, left, right)
        return (operator, again(first, width), again(size - 1 - first, width))
    if kind < 0.74 and width < most_bits:
        wider = source.randint(width + 1, most_bits)
        return ("extract", again(size - 1, wider), source.randint(0, wider - width), width)
    if kind < 0.88 and width > 1:
        return ("extend", again(size - 1, source.randint(1, width - 1)), width, source.random() < 0.4)
    return ("ite", again(first // 2, 1), again(size - 1 - first, width), again(first - first // 2, width))


def grid(limits: Mapping[str, int]) -> dict[str, NDArray[np.int64]]:
    """Every point: one axis a variable, in order."""
    axes = np.meshgrid(*(np.arange(limit, dtype=np.int64) for limit in limits.values()), indexing="ij")
    return dict(zip(limits, axes, strict=True))


def points(limits: Mapping[str, int]) -> list[dict[str, int]]:
    """Every point, the last variable fastest."""
    return [dict(zip(limits, values, strict=True)) for values in product(*(range(n) for n in limits.values()))]


Reading: TypeAlias = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True, slots=True)
class Formula:
    """A package integer and what Python says it is."""

    integer: ints.Integer
    value: Reading


def trunc_divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


TWO = {
    "add": (ints.add, lambda a, b: a + b),
    "subtract": (ints.subtract, lambda a, b: a - b),
    "multiply": (ints.multiply, lambda a, b: a * b),
    "divide": (ints.divide, trunc_divide),
    "remainder": (ints.remainder, lambda a, b: a - b * trunc_divide(a, b)),
    "shift_left": (ints.shift_left, lambda a, b: a * 2**b),
    "shift_right": (ints.shift_right, lambda a, b: a // 2**b),
    "bit_and": (ints.bit_and, lambda a, b: a & b),
    "bit_or": (ints.bit_or, lambda a, b: a | b),
    "bit_xor": (ints.bit_xor, lambda a, b: a ^ b),
    "equal": (ints.equal, lambda a, b: int(a == b)),
    "less": (ints.less, lambda a, b: int(a < b)),
    "less_equal": (ints.less_equal, lambda a, b: int(a <= b)),
    "logical_and": (ints.logical_and, lambda a, b: int(a != 0 and b != 0)),
    "logical_or": (ints.logical_or, lambda a, b: int(a != 0 or b != 0)),
    "minimum": (ints.minimum, min),
    "maximum": (ints.maximum, max),
}
ONE = {
    "negate": (ints.negate, lambda a: -a),
    "invert": (ints.invert, lambda a: -a - 1),
    "logical_not": (ints.logical_not, lambda a: int(a == 0)),
}


def allowed(name: str, right: ints.Integer) -> bool:
    """Whether a function of two takes this right operand."""
    if name in ("divide", "remainder"):
        return not right.low <= 0 <= right.high
    return not name.startswith("shift") or (right.low >= 0 and right.high <= ints.MAX_SHIFT_BITS)


def random_formula(source: random.Random, limits: Mapping[str, int], size: int, most_bits: int = 20) -> Formula:
    """An integer formula over named variables with about `size` functions, no part wider than
    `most_bits`.
    """
    if size <= 0:
        if source.random() < 0.4:
            number = source.choice([0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 33, -1, -2, -3, -8])
            return Formula(ints.integer(number), lambda _: number)
        name = source.choice(list(limits))
        return Formula(ints.named(name, limits[name]), lambda point: point[name])
    first = source.randint(0, size - 1)
    left = random_formula(source, limits, first, most_bits)
    kind = source.random()
    if kind < 0.1:
        made, plain = ONE[source.choice(list(ONE))]
        return Formula(made(left.integer), lambda point: plain(left.value(point)))
    if kind < 0.16:
        then, other = (random_formula(source, limits, (size - 1 - first) // 2, most_bits) for _ in range(2))
        chosen = ints.choose(ints.truth(left.integer), then.integer, other.integer)
        return Formula(chosen, lambda point: (then if left.value(point) else other).value(point))
    right = random_formula(source, limits, size - 1 - first, most_bits)
    if source.random() < 0.5:
        left, right = right, left
    name = source.choice([name for name in TWO if allowed(name, right.integer)])
    combine, python = TWO[name]
    result = combine(left.integer, right.integer)
    if result.bits.width > most_bits:
        return left
    return Formula(result, lambda point: python(left.value(point), right.value(point)))

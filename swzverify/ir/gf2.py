"""Reading: each bit of an expression as an affine form over GF(2) in its variables' bits.

A form is a Python integer: bit 0 is the constant, and bit i + 1 is the i-th variable bit. So 0 and 1
are the constants, and XOR of forms is `^`. A bit that is not affine, or not recognised as affine, is
None. Known bits are the constant forms; they turn `+` of disjoint bits and `*`, `/`, `%` by powers
of two into wiring. The forms hold for every bit pattern of the variables, and so for every value
inside their limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, assert_never

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
    postorder,
)

Form: TypeAlias = int
Bits: TypeAlias = tuple[Form | None, ...]


@dataclass(frozen=True, slots=True)
class VariableBits:
    """The index of each variable's bits in the forms: `first[name]` is the index of its bit 0."""

    first: Mapping[str, int]
    width: Mapping[str, int]
    count: int

    @staticmethod
    def of(variables: Sequence[Var]) -> VariableBits:
        """Number the bits of some variables in order."""
        first: dict[str, int] = {}
        width: dict[str, int] = {}
        count = 0
        for node in variables:
            first[node.name], width[node.name] = count, node.width
            count += node.width
        return VariableBits(first, width, count)

    def forms(self, name: str) -> tuple[Form, ...]:
        """The forms of one variable's own bits, lowest first."""
        first = self.first[name] + 1
        return tuple([1 << i for i in range(first, first + self.width[name])])


def affine_bits(roots: Sequence[Expr], numbering: VariableBits) -> tuple[Bits, ...]:
    """The forms of every bit of some expressions, lowest bit first.

    >>> from swzverify.ir.expr import binary, const, var
    >>> x = var("x", 4)
    >>> affine_bits([binary(BinaryOperator.ADD, binary(BinaryOperator.SHL, x, const(1, 2)), const(1, 2))],
    ...             VariableBits.of([x]))
    ((1, 2),)
    """
    bits: dict[Expr, Bits] = {}
    for node in postorder(*roots):
        bits[node] = numbering.forms(node.name) if isinstance(node, Var) else _READINGS[type(node)](node, bits)
    return tuple([bits[root] for root in roots])


_PRODUCTS: Final = frozenset({BinaryOperator.MUL, BinaryOperator.UDIV, BinaryOperator.UREM})


def looks_affine(root: Expr) -> bool:
    """Whether nothing rules out that all bits of an expression are affine: a quick look, not a proof.

    A product has carries if the set bits of the number are closer together than the factor is wide. A
    quotient or remainder has them if the divisor is no power of two.
    """
    for node in postorder(root):
        if not isinstance(node, Binary) or node.operator not in _PRODUCTS:
            continue
        left, right = node.left, node.right
        if node.operator is BinaryOperator.MUL:
            number, other = (right, left) if isinstance(right, Const) else (left, right)
            if not isinstance(number, Const) or _overlaps(number.value, other):
                return False
        elif not isinstance(right, Const) or right.value & (right.value - 1):
            return False
    return True


def _overlaps(number: int, other: Expr) -> bool:
    """Whether copies of `other`, moved to each set bit of the number, share bits."""
    width = other.operand.width if isinstance(other, Extend) else other.width
    while number:
        lowest = (number & -number).bit_length()
        number >>= lowest
        if number and (number & -number).bit_length() < width:
            return True
    return False


def _of_binary(node: Binary, bits: Mapping[Expr, Bits]) -> Bits:
    return _OPERATORS[node.operator](node, bits[node.left], bits[node.right])


def _of_shift(node: Binary, left: Bits, right: Bits) -> Bits:
    amount = node.right.value if isinstance(node.right, Const) else _constant(right)
    return _shift(node.operator, left, amount)


def _of_signed_quotient(node: Binary, left: Bits, right: Bits) -> Bits:
    if left[-1] == 0 and right[-1] == 0:
        unsigned = BinaryOperator.UDIV if node.operator is BinaryOperator.SDIV else BinaryOperator.UREM
        return _divide(unsigned, left, right)
    return (None,) * len(left)


def _of_extend(node: Extend, bits: Mapping[Expr, Bits]) -> Bits:
    inner = bits[node.operand]
    return inner + (inner[-1] if node.signed else 0,) * (node.width - len(inner))


def _of_ite(node: Ite, bits: Mapping[Expr, Bits]) -> Bits:
    (chooser,), then, otherwise = bits[node.condition], bits[node.then], bits[node.otherwise]
    return tuple([_choose(chooser, a, b) for a, b in zip(then, otherwise, strict=True)])


def _of_count(node: Count, bits: Mapping[Expr, Bits]) -> Bits:
    total: Bits = (0,) * node.width
    for bit in bits[node.operand]:
        total = _add(total, (bit, *(0,) * (node.width - 1)), 0)
    return total


_OPERATORS: Final[Mapping[BinaryOperator, Callable[[Binary, Bits, Bits], Bits]]] = {
    BinaryOperator.XOR: lambda _, left, right: tuple(
        [None if a is None or b is None else a ^ b for a, b in zip(left, right, strict=True)]
    ),
    BinaryOperator.ADD: lambda _, left, right: _add(left, right, 0),
    BinaryOperator.AND: lambda _, left, right: tuple([_and(a, b) for a, b in zip(left, right, strict=True)]),
    BinaryOperator.SHL: _of_shift,
    BinaryOperator.LSHR: _of_shift,
    BinaryOperator.ASHR: _of_shift,
    BinaryOperator.OR: lambda _, left, right: _not(
        tuple([_and(a, b) for a, b in zip(_not(left), _not(right), strict=True)])
    ),
    BinaryOperator.SUB: lambda _, left, right: _add(left, _not(right), 1),
    BinaryOperator.MUL: lambda _, left, right: _multiply(left, right),
    BinaryOperator.UDIV: lambda node, left, right: _divide(node.operator, left, right),
    BinaryOperator.UREM: lambda node, left, right: _divide(node.operator, left, right),
    BinaryOperator.SDIV: _of_signed_quotient,
    BinaryOperator.SREM: _of_signed_quotient,
}
_READINGS: dict[type[Expr], Callable[[Any, Mapping[Expr, Bits]], Bits]] = {
    Const: lambda node, _: tuple([node.value >> i & 1 for i in range(node.width)]),
    Binary: _of_binary,
    Compare: lambda node, bits: (_compare(node.comparison, bits[node.left], bits[node.right]),),
    Extract: lambda node, bits: bits[node.operand][node.low : node.low + node.width],
    Extend: _of_extend,
    Ite: _of_ite,
    Count: _of_count,
}
"""By kind, and not by `match`, which tries them one after the other. A variable has forms of its own."""


def _xor(a: Form | None, b: Form | None) -> Form | None:
    return None if a is None or b is None else a ^ b


def _not(bits: Bits) -> Bits:
    return tuple(None if a is None else a ^ 1 for a in bits)


def _and(a: Form | None, b: Form | None) -> Form | None:
    if a == 0 or b == 0:
        return 0
    if a == 1:
        return b
    if b in (1, a):
        return a
    if a is not None and b is not None and a ^ b == 1:
        return 0
    return None


def _choose(condition: Form | None, a: Form | None, b: Form | None) -> Form | None:
    """The form of `condition ? a : b`, which is b ^ condition & (a ^ b)."""
    if condition == 1:
        return a
    if condition == 0:
        return b
    if a is None or b is None:
        return None
    return _xor(b, _and(condition, a ^ b))


def _majority(a: Form | None, b: Form | None, c: Form | None) -> Form | None:
    """The carry of a + b + c, which is (a ^ c) & (b ^ c) ^ c.

    It is affine if two of the three are equal or opposite.
    """
    for x, y, z in ((a, b, c), (a, c, b), (b, c, a)):
        if x is not None and y is not None:
            if x == y:
                return x
            if x ^ y == 1:
                return z
    return None


def _add(left: Bits, right: Bits, carry: Form | None) -> Bits:
    result: list[Form | None] = []
    for a, b in zip(left, right, strict=True):
        if carry == 0 and (a == 0 or b == 0):
            # Disjoint bits, the common case: no carry arises.
            result.append(b if a == 0 else a)
            continue
        result.append(_xor(_xor(a, b), carry))
        carry = _majority(a, b, carry)
    return tuple(result)


def _constant(bits: Bits) -> int | None:
    value = 0
    for i, form in enumerate(bits):
        if form not in (0, 1):
            return None
        value |= form << i
    return value


def _multiply(left: Bits, right: Bits) -> Bits:
    for factor, other in ((_constant(left), right), (_constant(right), left)):
        if factor is not None:
            total: Bits = (0,) * len(other)
            for i in range(len(other)):
                if factor >> i & 1:
                    total = _add(total, (0,) * i + other[: len(other) - i], 0)
            return total
    return (None,) * len(left)


def _divide(operator: BinaryOperator, left: Bits, right: Bits) -> Bits:
    divisor = _constant(right)
    if divisor is None or divisor == 0 or divisor & (divisor - 1):
        return (None,) * len(left)
    shift = divisor.bit_length() - 1
    if operator is BinaryOperator.UDIV:
        return left[shift:] + (0,) * shift
    return left[:shift] + (0,) * (len(left) - shift)


def _shift(operator: BinaryOperator, left: Bits, amount: int | None) -> Bits:
    width = len(left)
    if amount is None:
        return (None,) * width
    amount = min(amount, width)
    match operator:
        case BinaryOperator.SHL:
            return (0,) * amount + left[: width - amount]
        case BinaryOperator.LSHR:
            return left[amount:] + (0,) * amount
        case _:
            return left[amount:] + (left[-1],) * amount


def _compare(comparison: Comparison, left: Bits, right: Bits) -> Form | None:
    match comparison:
        case Comparison.EQ:
            return _equal(left, right)
        case Comparison.ULT:
            return _less(left, right)
        case Comparison.ULE:
            greater = _less(right, left)
            return None if greater is None else greater ^ 1
        case Comparison.SLT | Comparison.SLE:
            # Flipping both sign bits turns signed order into unsigned order.
            a, b = left[:-1] + _not(left[-1:]), right[:-1] + _not(right[-1:])
            return _compare(Comparison.ULT if comparison is Comparison.SLT else Comparison.ULE, a, b)
        case _:
            assert_never(comparison)


def _equal(left: Bits, right: Bits) -> Form | None:
    open_forms: list[Form | None] = []
    for a, b in zip(left, right, strict=True):
        difference = _xor(a, b)
        if difference == 1:
            return 0
        if difference != 0:
            open_forms.append(difference)
    if not open_forms:
        return 1
    if len(open_forms) == 1 and open_forms[0] is not None:
        return open_forms[0] ^ 1
    return None


def _less(left: Bits, right: Bits) -> Form | None:
    smallest_left = sum(1 << i for i, a in enumerate(left) if a == 1)
    largest_left = sum(1 << i for i, a in enumerate(left) if a != 0)
    smallest_right = sum(1 << i for i, b in enumerate(right) if b == 1)
    largest_right = sum(1 << i for i, b in enumerate(right) if b != 0)
    if largest_left < smallest_right:
        return 1
    if smallest_left >= largest_right:
        return 0
    return None

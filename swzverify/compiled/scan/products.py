"""Addresses in global memory as sums of products: of values that all threads share, with a number for each thread.

`matrix + 2*pitch*(64*ctaid.x + tid.x/8) + 16*(tid.x%8)` has the products `matrix`, `pitch*ctaid.x`, `pitch`
and 1, and four numbers for each thread.

Values of 32 bits count as whole numbers: what is widened to 64 bits is taken to hold its sum or product in
full. Verdicts that rest on this say so (`NO_WRAP`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Var,
    postorder,
    rebuilt,
    to_signed,
    variables,
)

NO_WRAP: Final = "offsets of 32 bits in global memory do not overflow"
"""What a sum of products assumes of values that are widened to 64 bits."""

INSIDE: Final = "no row or column is behind the extent by which its number is taken modulo that extent"
"""What reading `x mod n` as `x` assumes, where coordinates and the launch decide `x`, and the launch alone `n`."""

Product: TypeAlias = tuple[Expr, ...]
"""Factors that all threads share, in one order; none for 1."""
Numbers: TypeAlias = NDArray[np.uint64]
"""A number for each thread, modulo 2^64."""
Products: TypeAlias = dict[Product, Numbers]

_ONE: Final[Product] = ()
_WORD_BITS: Final = 32
_REMAINDERS: Final = (BinaryOperator.UREM, BinaryOperator.SREM)
_MOST_PRODUCTS: Final = 64
_MOST_FACTORS: Final = 6


class NotASumError(Exception):
    """A value is no sum of products; the text says which part of it."""


class Reading:
    """Reads values for all threads of a block.

    Args:
        point: The coordinates of each thread, by the names of their variables.
        is_shared: Whether all threads of the block have one value of a variable.
        order: The order of factors so far; readings whose products are compared have one.
        is_of_launch: Whether a variable is a value of the launch.

    Attributes:
        assumes: What the sums so far assume.
    """

    def __init__(
        self,
        point: Mapping[str, NDArray[np.int64]],
        is_shared: Callable[[Var], bool],
        order: dict[Expr, int],
        is_of_launch: Callable[[Var], bool],
    ) -> None:
        self._point, self._is_shared, self._order, self._is_of_launch = point, is_shared, order, is_of_launch
        self.assumes: tuple[str, ...] = ()
        self._count = len(next(iter(point.values())))
        self._known: dict[Expr, Products] = {}

    def products(self, value: Expr) -> Products:
        """A value as a sum of products.

        Raises:
            NotASumError: Some part of the value is no sum of products.
        """
        for node in postorder(value):
            # What coordinates alone decide is computed at once, where it is a part of something else.
            if node not in self._known and (node is value or not self._is_exact(node)):
                self._known[node] = self._kept(self._of(node))
        return self._known[value]

    def inside(self, value: Expr) -> Expr:
        """A value where no number that a thread has of its own is behind an extent by which it is taken modulo that."""
        new: dict[Expr, Expr] = {}
        for node in postorder(value):
            new[node] = rebuilt(node, new)
            if isinstance(node, Binary) and node.operator in _REMAINDERS and self._is_wrapped(node):
                new[node], self.assumes = new[node.left], (INSIDE,)
        return new[value]

    def _is_wrapped(self, node: Binary) -> bool:
        """Whether a thread has a remainder of its own, of coordinates and values of the launch, by values of that."""
        extent, read = variables(node.right), variables(node.left)
        by_launch = bool(extent) and all(map(self._is_of_launch, extent))
        is_own = any(each.name in self._point for each in read)
        return by_launch and is_own and all(each.name in self._point or self._is_of_launch(each) for each in read)

    def _part(self, node: Expr) -> Products:
        if node not in self._known:
            self._known[node] = self._kept(self._of(node))
        return self._known[node]

    def _kept(self, found: Products) -> Products:
        found = {each: numbers for each, numbers in found.items() if numbers.any()}
        if len(found) > _MOST_PRODUCTS or any(len(each) > _MOST_FACTORS for each in found):
            raise NotASumError("its address has many products")
        return found

    def _is_exact(self, node: Expr) -> bool:
        return all(each.name in self._point for each in variables(node))

    def _of(self, node: Expr) -> Products:
        if self._is_exact(node):
            return {_ONE: self._exact(node)}
        if node.width >= _WORD_BITS:
            found = self._of_word(node)
            if found is not None:
                return found
        if all(map(self._is_shared, variables(node))):
            return {(node,): self._filled(1)}
        raise NotASumError(f"its address has a part that is no sum of products: {_opcode(node)}")

    def _of_word(self, node: Expr) -> Products | None:
        match node:
            case Binary(operator, left, right):
                return self._of_binary(operator, self._part(left), self._part(right))
            case Extend(operand) if operand.width >= _WORD_BITS:
                return self._part(operand)
            case Extend(Var() as operand, signed=False) if self._is_shared(operand):
                return {(operand,): self._filled(1)}
            case Extract(operand, 0, _):
                return self._part(operand)  # sums and products keep the low bits of what they are made of
            case _:
                return None

    def _exact(self, node: Expr) -> Numbers:
        """The numbers of a value that coordinates alone decide, with their signs."""
        if any(each.width > MAX_ARRAY_WIDTH for each in postorder(node)):
            raise NotASumError("its address has a part of more than 64 bits")
        if isinstance(node, Const):
            return self._filled(to_signed(node.value, node.width))
        (found,) = evaluate_many((node,), self._point)
        numbers = np.broadcast_to(found, (self._count,)).astype(np.uint64)
        shift = np.uint64(64 - node.width)
        return ((numbers << shift).astype(np.int64) >> shift.astype(np.int64)).astype(np.uint64)

    def _filled(self, number: int) -> Numbers:
        return np.full(self._count, number % (1 << 64), dtype=np.uint64)

    def _of_binary(self, operator: BinaryOperator, left: Products, right: Products) -> Products | None:
        match operator:
            case BinaryOperator.ADD:
                return _plus(left, right)
            case BinaryOperator.SUB:
                return _plus(left, {each: np.uint64(0) - numbers for each, numbers in right.items()})
            case BinaryOperator.MUL:
                return self._times(left, right)
            case BinaryOperator.SHL if set(right) <= {_ONE}:
                count = right.get(_ONE, self._filled(0))
                if bool((count < np.uint64(64)).all()):
                    return {each: numbers << count for each, numbers in left.items()}
            case BinaryOperator.OR | BinaryOperator.XOR | BinaryOperator.AND:
                return self._of_bits(operator, left, right)
            case _:
                pass
        return None

    def _times(self, left: Products, right: Products) -> Products:
        found: Products = {}
        for one, numbers in left.items():
            for other, more in right.items():
                found = _plus(found, {self.in_order((*one, *other)): numbers * more})
        return found

    def in_order(self, factors: Product) -> Product:
        """The product of some factors."""
        return tuple(sorted(factors, key=self._place))

    def _place(self, factor: Expr) -> int:
        return self._order.setdefault(factor, len(self._order))

    def _of_bits(self, operator: BinaryOperator, left: Products, right: Products) -> Products | None:
        """A bitwise operation with a number below what all products are multiples of; None of other ones."""
        for whole, number in ((left, right), (right, left)):
            if not set(number) <= {_ONE}:
                continue
            mask = number.get(_ONE, self._filled(0))
            low = self._lowest(whole) - np.uint64(1)
            own = whole.get(_ONE, self._filled(0))
            if bool((mask & ~low).any()):
                is_high = operator is BinaryOperator.AND and bool((mask | low == ~np.uint64(0)).all())
                if not is_high:
                    continue
            if operator is BinaryOperator.AND:
                if not bool((mask & ~low).any()):
                    return {_ONE: own & mask}
                return {**whole, _ONE: own - (own & low & ~mask)}
            changed = own | mask if operator is BinaryOperator.OR else own ^ mask
            return {**whole, _ONE: own + ((changed & low) - (own & low))}
        return None

    def _lowest(self, whole: Products) -> np.uint64:
        """The greatest power of two that divides the numbers of all products but 1."""
        bits = 1 << 63
        for product, numbers in whole.items():
            if product != _ONE:
                bits |= int(np.bitwise_or.reduce(numbers))
        return np.uint64(bits & -bits)


def _plus(left: Products, right: Products) -> Products:
    found = dict(left)
    for product, numbers in right.items():
        found[product] = found[product] + numbers if product in found else numbers
    return found


def _opcode(node: Expr) -> str:
    """What a part of an address does."""
    return node.operator.value.removeprefix("bv") if isinstance(node, Binary) else type(node).__name__.lower()

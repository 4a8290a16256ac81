"""Sorts the terms of an address, and the parts of a guard, by what they depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel import KernelAccess, LaneLeaf, Leaf
from swzverify.compiled.kernel.linear import Sum, Terms, sum_of
from swzverify.compiled.kernel.powers import power_of
from swzverify.ir.expr import (
    TRUE,
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    binary,
    conjunction,
    conjuncts,
    const,
    extend,
    postorder,
    rebuilt,
    to_signed,
    variables,
)
from swzverify.ir.intervals import Interval, interval_of

_MOST_POWER: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Parts:
    """An access whose address is `shared + own + mixed`, modulo 2^32.

    Attributes:
        shared: The part that all lanes of a warp share.
        own: The part that depends on the thread's coordinates alone.
        mixed: The part that depends on both, or on values of each lane.
        own_guard: The part of the guard that depends on the thread's coordinates alone.
        other_guard: The rest of the guard.
        leaves: The leaves by name.
        sure: The condition under which a lane certainly makes the access, if loops end; None if not
            known.
        is_together: Whether lanes that make the access in one trip make it together.
        has_results: Whether only launches count in which every division has a result.
        source: The global address that a copy reads, without a guard.
    """

    shared: Sum
    own: Expr
    mixed: Expr
    own_guard: Expr
    other_guard: Expr
    leaves: dict[str, Leaf]
    sure: Expr | None = None
    is_together: bool = True
    has_results: bool = False
    source: Parts | None = None

    @property
    def is_exact(self) -> bool:
        """Whether all lanes' distances are plain numbers."""
        return self.mixed is const(0, self.mixed.width)

    @property
    def varying(self) -> Expr:
        """The address without what all lanes share."""
        return Sum({self.own: 1, self.mixed: 1}, 0, 32).expression()

    @property
    def key(self) -> tuple[object, ...]:
        """All parts but the number that lanes share: equal for accesses that are alike."""
        source = () if self.source is None else (self.source.shared.number, *self.source.key)
        parts = (self.own, self.mixed, self.own_guard, self.other_guard, self.sure, self.is_together, self.has_results)
        return (*parts, *self.shared.terms.items(), *self.leaves.values(), *source)

    def leaves_of(self, *values: Expr) -> list[Leaf]:
        """The leaves of some expressions."""
        return [self.leaves[each.name] for each in variables(*values)]


def split(access: KernelAccess, address: Expr) -> Parts:
    """The parts of an access's address and guard."""
    leaves = {leaf.name: leaf for leaf in (*access.leaves, *access.around)}
    source: Parts | None = None
    if access.source is not None:
        whole = with_sums(access.source.address)
        source = parts_of(whole, TRUE, leaves)
        if not source.is_exact:
            source = parts_of(with_sums(access.source.address, wraps=False), TRUE, leaves)
    return replace(
        parts_of(address, access.who.guard, leaves),
        sure=access.who.sure,
        source=source,
        is_together=access.who.is_together,
        has_results=bool(access.assumes),
    )


def with_sums(root: Expr, *, wraps: bool = True) -> Expr:
    """The same value, with a sum in place of each `or` and `xor` of values without a common bit.

    Compilers write a column beside a multiple of rows in this way. A product of a sum becomes a sum of
    products: each row times the pitch. Without `wraps`, the terms of an index are widened one by one,
    which gives the same value if the index does not wrap.
    """
    found: dict[Expr, Expr] = {}
    spans: dict[Expr, Interval] = {}
    for node in postorder(root):
        new = rebuilt(node, found)
        if isinstance(new, Binary) and new.operator in (BinaryOperator.OR, BinaryOperator.XOR):
            pairs = ((new.left, new.right), (new.right, new.left))
            if any(power_of(high, _MOST_POWER) > _span(low, spans)[1] for high, low in pairs):
                new = binary(BinaryOperator.ADD, new.left, new.right)
        if isinstance(new, Binary) and new.operator is BinaryOperator.MUL:
            new = _products(new)
        if isinstance(new, Extend) and not wraps:
            narrow = sum_of(new.operand)
            terms = {extend(term, new.width, signed=new.signed): _near(n, narrow) for term, n in narrow.terms.items()}
            new = Sum(terms, _near(narrow.number, narrow), new.width).expression()
        found[node] = new
    return found[root]


def _products(product: Binary) -> Expr:
    """A product as a sum of products, if one factor is a sum and the other one no number."""
    for whole, factor in ((product.left, product.right), (product.right, product.left)):
        parts = sum_of(whole)
        if not isinstance(factor, Const) and len(parts.terms) + (parts.number != 0) > 1:
            terms: Terms = {binary(BinaryOperator.MUL, term, factor): count for term, count in parts.terms.items()}
            base: Terms = {factor: parts.number} if parts.number else {}
            return Sum(base, 0, product.width).plus(Sum(terms, 0, product.width)).expression()
    return product


def _near(number: int, narrow: Sum) -> int:
    """A number of fewer bits as the one that is nearest to 0."""
    return to_signed(number, narrow.width)


def _span(root: Expr, spans: dict[Expr, Interval]) -> Interval:
    for node in postorder(root):
        if node not in spans:
            spans[node] = interval_of(node, spans)
    return spans[root]


def parts_of(address: Expr, guard: Expr, leaves: dict[str, Leaf]) -> Parts:
    """The parts of an address and a guard."""

    def all_of(value: Expr, shared: bool) -> bool:
        found = (leaves[each.name] for each in variables(value))
        return all(is_shared(leaf) if shared else isinstance(leaf, LaneLeaf) for leaf in found)

    whole = sum_of(address)
    groups: tuple[dict[Expr, int], ...] = ({}, {}, {})
    for term, factor in whole.terms.items():
        groups[0 if all_of(term, shared=True) else 1 if all_of(term, shared=False) else 2][term] = factor
    guards = conjuncts(guard)
    own = [each for each in guards if all_of(each, shared=False)]
    other = [each for each in guards if not all_of(each, shared=False)]
    return Parts(
        Sum(groups[0], whole.number, whole.width),
        Sum(groups[1], 0, whole.width).expression(),
        Sum(groups[2], 0, whole.width).expression(),
        conjunction(own),
        conjunction(other),
        leaves,
    )


def is_shared(leaf: Leaf) -> bool:
    """Whether all lanes that make an access together have one value of a leaf."""
    return leaf.uniform and not isinstance(leaf, LaneLeaf)

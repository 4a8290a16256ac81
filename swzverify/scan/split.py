"""Sorts the terms of an address, and the parts of a guard, by what they depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from swzverify.ir.expr import Expr, conjunction, conjuncts, const, variables
from swzverify.kernel import KernelAccess, Kind, Leaf
from swzverify.kernel.linear import Sum, sum_of


@dataclass(frozen=True, slots=True)
class Parts:
    """An access whose address is `shared + own + mixed`, modulo 2^32.

    `shared` has what all lanes of a warp share, `own` depends on the thread's coordinates alone,
    `mixed` on both, or on values of each lane. Likewise the guard: `own_guard` and `other_guard`.
    Where `sure` is 1 a lane makes the access, if loops come to an end; None where that is not
    known. `is_together` tells that lanes that make it in one trip make it together,
    `has_results` that only launches count in which every division has a result.
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

    @property
    def is_exact(self) -> bool:
        """Whether all lanes' distances are plain numbers."""
        return self.mixed is const(0, 32)

    @property
    def varying(self) -> Expr:
        """The address without what all lanes share."""
        return Sum({self.own: 1, self.mixed: 1}, 0, 32).expression()

    def leaves_of(self, *values: Expr) -> list[Leaf]:
        """The leaves of some expressions."""
        return [self.leaves[each.name] for each in variables(*values)]


def split(access: KernelAccess, address: Expr) -> Parts:
    """The parts of an access's address and guard."""
    found = parts_of(address, access.guard, {leaf.name: leaf for leaf in (*access.leaves, *access.around)})
    return replace(found, sure=access.sure, is_together=access.is_together, has_results=bool(access.assumes))


def parts_of(address: Expr, guard: Expr, leaves: dict[str, Leaf]) -> Parts:
    """The parts of an address and a guard."""

    def all_of(value: Expr, shared: bool) -> bool:
        found = (leaves[each.name] for each in variables(value))
        return all(is_shared(leaf) if shared else leaf.kind is Kind.LANE for leaf in found)

    whole = sum_of(address)
    groups: tuple[dict[Expr, int], ...] = ({}, {}, {})
    for term, factor in whole.terms.items():
        groups[0 if all_of(term, shared=True) else 1 if all_of(term, shared=False) else 2][term] = factor
    guards = conjuncts(guard)
    own = [each for each in guards if all_of(each, shared=False)]
    other = [each for each in guards if not all_of(each, shared=False)]
    return Parts(
        Sum(groups[0], whole.number, 32),
        Sum(groups[1], 0, 32).expression(),
        Sum(groups[2], 0, 32).expression(),
        conjunction(own),
        conjunction(other),
        leaves,
    )


def is_shared(leaf: Leaf) -> bool:
    """Whether all lanes that make an access together have one value of a leaf."""
    return leaf.uniform and leaf.kind is not Kind.LANE

"""Products of one element of A and one element of B that one sum has twice.

Source: docs/semantics.md, section 9, "Elements in a run".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from swzverify.compiled.trial.memory import Array
from swzverify.compiled.trial.tagged import NO_PRODUCT, NO_TAG, Product


@dataclass(frozen=True, slots=True)
class Repeat:
    """A product of two elements that comes twice to element (0, 0) of an accumulator.

    Attributes:
        products: The two instructions' executions.
        columns: The column of K in each.
        a: Where the element of A lies in global memory.
        b: Where the element of B lies.
    """

    products: tuple[Product, Product]
    columns: tuple[int, int]
    a: int
    b: int

    @property
    def lines(self) -> tuple[int, int]:
        """The lines of the two instructions."""
        one, other = self.products
        return one.line, other.line


def find_repeats(products: Sequence[Product]) -> Iterator[Repeat]:
    """For each pair of instructions, the first such product in the sums of a run."""
    followers = Counter(each.before for each in products)
    roots: list[int] = []
    for number, each in enumerate(products):
        roots.append(number if each.before == NO_PRODUCT else roots[each.before])
    # Two products that go on from one result make two sums.
    parted = {roots[at] for at, count in followers.items() if at != NO_PRODUCT and count > 1}
    met: dict[tuple[int, int, int], tuple[Product, int]] = {}
    shown = set[tuple[int, int]]()
    for root, each in zip(roots, products, strict=True):
        is_followed = each.a.shape[1] == each.b.shape[1]
        if root in parted or not (is_followed and _is_plain(each.a) and _is_plain(each.b)):
            continue
        for k, (a, b) in enumerate(zip(each.a[0].tolist(), each.b[0].tolist(), strict=True)):
            if NO_TAG in (a, b):
                continue
            before, column = met.setdefault((root, a, b), (each, k))
            lines = before.line, each.line
            if before is not each and lines not in shown:
                shown.add(lines)
                yield Repeat((before, each), (column, k), a, b)


def _is_plain(places: Array) -> bool:
    """Whether no two elements of an operand come from one place, so that rows and columns do not overlap."""
    tagged = places[places != NO_TAG]
    return len(np.unique(tagged)) == len(tagged)

"""Two operands with one order of K: `delivers: [A, B]`.

A product is a sum along K, so its elements may come in any order that A and B share. The order is
looked up in the first one's elements; whether it holds everywhere, and for the second one too, is for
the engines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from swzverify.claims.fragment_points import FragmentPoints
from swzverify.claims.k_order import Elements, KOrder
from swzverify.claims.operand_points import OperandPoints
from swzverify.engines.obligations import Arrays, Numbers, Truths
from swzverify.errors import SwzError

Points: TypeAlias = OperandPoints | FragmentPoints


@dataclass(frozen=True)
class SharedK:
    """An operand A and an operand B, in the order in which they are stated.

    Raises:
        SwzError: SWZ105 for two of one role, for rows that are read at different coordinates along K, and
            for a tile of the first one that has two elements of a row at one place; SWZ107 for too many
            elements.
    """

    first: Points
    second: Points

    def __post_init__(self) -> None:
        """Refuse what has no order of K."""
        roles = [_role(each) for each in (self.first, self.second)]
        names = " and ".join(_name(each) for each in (self.first, self.second))
        if roles[0] == roles[1]:
            raise SwzError("SWZ105", f"{names} are both operand {roles[0]}", hint="name an operand A and an operand B")
        read = [each for each in self._rows if len(each)]
        if len({row.tobytes() for each in read for row in np.unique(each, axis=0)}) > 1:
            raise SwzError(
                "SWZ105",
                f"{names}: some rows are read at other coordinates along K than others",
                hint="in a sum over a part of K no element may be exchanged with the rest: claim `delivers` of each",
            )

    @property
    def is_empty(self) -> bool:
        """Whether one of the two has no iteration."""
        return any(not len(each) for each in self._rows)

    @cached_property
    def _rows(self) -> tuple[Truths, Truths]:
        """What both read along K."""
        return self._along_k(self.first), self._along_k(self.second)

    def _along_k(self, points: Points) -> Truths:
        """For each row in each stage that is read: at which coordinates along K."""
        _, found = _flat(points)
        extent = max(self.first.k_extent, self.second.k_extent)
        if not found.exists.any():
            return np.zeros((0, extent), dtype=bool)
        numbers = found.start * (int(found.row.max()) + 1) + found.row  # of a row in a stage
        _, which = np.unique(numbers[found.exists], return_inverse=True)
        read = np.zeros((int(which.max()) + 1, extent), dtype=bool)
        read[which.ravel(), found.k[found.exists]] = True
        return read

    @cached_property
    def _order(self) -> Numbers:
        """For each coordinate along K that is read: that of what stands there, in the first one's elements.

        It is its own where the element is the one that it should be, or where no element of the row stands.
        """
        points = self.first
        arrays, found = _flat(points)
        table = np.arange(max(self.first.k_extent, self.second.k_extent), dtype=np.int64)
        exists = np.flatnonzero(found.exists)
        _, at = np.unique(found.k[exists], return_index=True)
        some = exists[at]
        arrays = {name: array[some] for name, array in arrays.items()}
        places = np.stack([_with(points, k).elements(arrays).wanted for k in range(points.k_extent)])
        if any(len(np.unique(column)) < len(column) for column in places.T):
            raise SwzError(
                "SWZ105",
                f"{_name(points)}: its tile has two elements of a row at one address, so that none tells an order of K",
                hint="claim `delivers` of each operand",
            )
        same = places == found.read[some]
        table[found.k[some]] = np.where(same.any(axis=0), same.argmax(axis=0), found.k[some])
        return table

    @cached_property
    def is_one_to_one(self) -> bool:
        """Whether the order takes the coordinates that are read to themselves, each to another one."""
        read = np.flatnonzero(self._rows[0].any(axis=0))
        return np.array_equal(np.sort(self._order[read]), read)

    @cached_property
    def sides(self) -> tuple[Points, Points]:
        """The two in the order of K that they should share; as they are where it is the stated one."""
        table = self._order
        if np.array_equal(table, np.arange(len(table))):
            return self.first, self.second
        return _ordered(self.first, table), _ordered(self.second, table)

    def described(self) -> str:
        """The order, where it is not the stated one."""
        order = self.sides[0].order
        return "" if order is None else order.described()


def _flat(points: Points) -> tuple[Arrays, Elements]:
    """Every element in one row, with the point at which it is."""
    arrays = points.every
    found = points.elements(arrays)
    shape = np.broadcast_shapes(*(each.shape for each in (*found, *arrays.values())))

    def flat(each: Numbers) -> Numbers:
        return np.broadcast_to(each, shape).ravel()

    exists = np.broadcast_to(found.exists, shape).ravel()
    row = Elements(exists, *(flat(each) for each in found[1:]))
    return {name: flat(each) for name, each in arrays.items()}, row


def _with(points: Points, k: int) -> Points:
    """The same, where every element should have one and the same coordinate along K."""
    return replace(points, order=KOrder(np.full(points.k_extent, k, dtype=np.int64)))


def _ordered(points: Points, table: Numbers) -> Points:
    """The same in an order of K; beyond what both tiles have, each coordinate stays."""
    extent = points.k_extent
    own = np.where(table[:extent] < extent, table[:extent], np.arange(extent))
    return replace(points, order=KOrder(own))


def _role(points: Points) -> str:
    return (points.operand if isinstance(points, OperandPoints) else points.fragment).role.value


def _name(points: Points) -> str:
    return (points.operand if isinstance(points, OperandPoints) else points.access).name

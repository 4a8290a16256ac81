"""The question whether two accesses meet, and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.order.instance import Instances, Place, Uses
from swzverify.compiled.order.joins import Ends
from swzverify.ir.expr import Expr, Var


@dataclass(frozen=True, slots=True)
class Question:
    """Whether two accesses meet in one of the ways of a meeting, or in any.

    Attributes:
        condition: Holds for values of some launch if they do; it is over-approximated.
        exact: As `condition`, but only for threads that surely make both accesses; None if that is not known.
        in_memory: That offsets, as integers, stay within a block's memory.
        same: That both write one value; None if it is not known what they write.
        read: The leaves that `condition` reads.
        instances: The values of both threads.
        places: The places of both accesses.
        addresses: Both addresses.
        few: The values of variables of `condition` that have few of them.
        made: The leaves that variables of `condition` stand for, but for those of the launch.
        ends: What both touch; None if that is said in other words.
    """

    condition: Expr
    exact: Expr | None
    in_memory: Expr
    same: Expr | None
    read: tuple[Leaf, ...]
    instances: Instances
    places: tuple[Place, Place]
    addresses: tuple[Expr, Expr]
    few: Mapping[Var, tuple[int, ...]]
    made: Mapping[Var, Leaf]
    ends: Ends | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """What all questions about two accesses have in common, whichever way leads to them.

    Attributes:
        places: The places of both accesses.
        addresses: Both addresses.
        conditions: When they meet, but for facts on values.
        sure: When both threads surely make the accesses; None if that is not known.
        same: That both write one value; None if it is not known what they write.
        uses: What the conditions were made of.
        of_values: What `same` was made of.
    """

    places: tuple[Place, Place]
    addresses: tuple[Expr, Expr]
    conditions: list[Expr]
    sure: list[Expr] | None
    same: Expr | None
    uses: Uses
    of_values: Uses

"""What a subject computes: a value of every thread in every iteration, over names.

A C expression is one kind of formula, a slice of compiled code another one. Subjects know this
protocol alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from swzverify.ir.integers import Integer

Int64s: TypeAlias = NDArray[np.int64]
Enumeration: TypeAlias = Callable[[frozenset[str]], Mapping[str, Int64s] | None]
"""Every joint value of some names as arrays of one shape, or None when there are too many."""


def no_enumeration(_: frozenset[str]) -> None:
    """For readers whose names cannot be enumerated."""
    return


@dataclass(frozen=True, slots=True)
class Reading:
    """How formulas are lowered: what each name stands for, and how names are enumerated where
    intervals are too coarse.

    With a list for `leaving`, values may leave C's range: they are noted there, and the caller
    excludes the points where they do. `spent` counts the work of all formulas that are lowered with
    one reading.
    """

    env: Mapping[str, Integer]
    enumerate_names: Enumeration = no_enumeration
    leaving: list[Integer] | None = None
    spent: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)


@runtime_checkable
class Formula(Protocol):
    """A value over names, evaluated in integers in three ways, lowered, and spelled for
    comparisons.
    """

    @property
    def text(self) -> str:
        """The formula in the usual notation."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """Every name that it reads."""
        ...

    def at(self, env: Mapping[str, int]) -> int:
        """The value at one point, in plain Python integers. Errors: SWZ303 to SWZ305 where it is
        undefined.
        """
        ...

    def at_many(self, env: Mapping[str, int | Int64s]) -> Int64s:
        """The values at many points; errors as for `at`, of the first point that has one."""
        ...

    def within(self, env: Mapping[str, int | Int64s]) -> tuple[Int64s, NDArray[np.bool_]]:
        """The values at many points, and where no part of the formula leaves C's range; elsewhere
        they mean nothing.
        """
        ...

    def lowered(self, reading: Reading) -> Integer:
        """The exact value over expressions. Errors: SWZ301 to SWZ305, with the span of the part."""
        ...

    def spelled(self, values: Mapping[str, int], renamed: Mapping[str, str]) -> str:
        """A text in which two formulas that say the same are equal: with constants put in, and
        names exchanged.
        """
        ...

    def span_of(self, name: str) -> tuple[int, int]:
        """Where a name stands in the text first."""
        ...

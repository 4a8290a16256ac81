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
    """How formulas are lowered: the value of each name, and how to enumerate the names.

    Names are enumerated where intervals are too coarse. If `leaving` is a list, values may leave C's
    range: they are noted there, and the caller excludes the points where they do. `spent` counts the
    work of all formulas that are lowered with one reading.
    """

    env: Mapping[str, Integer]
    enumerate_names: Enumeration = no_enumeration
    leaving: list[Integer] | None = None
    spent: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)


@runtime_checkable
class Formula(Protocol):
    """A value over names that can be evaluated in integers, lowered, and written as text."""

    @property
    def text(self) -> str:
        """The formula in the usual notation."""
        ...

    @property
    def names(self) -> frozenset[str]:
        """Every name that it reads."""
        ...

    def at(self, env: Mapping[str, int]) -> int:
        """The value at one point, in plain Python integers.

        Raises:
            SwzError: SWZ303 to SWZ305 if it is undefined.
        """
        ...

    def at_many(self, env: Mapping[str, int | Int64s]) -> Int64s:
        """The values at many points; errors as for `at`, of the first point that has one."""
        ...

    def within(self, env: Mapping[str, int | Int64s]) -> tuple[Int64s, NDArray[np.bool_]]:
        """The values at many points, and a mask of those where all parts stay in C's range.

        Values at the other points mean nothing.
        """
        ...

    def lowered(self, reading: Reading) -> Integer:
        """The exact value over expressions.

        Raises:
            SwzError: SWZ301 to SWZ305, with the span of the part.
        """
        ...

    def spelled(self, values: Mapping[str, int], renamed: Mapping[str, str]) -> str:
        """A normal form: formulas with one meaning get one text, with constants and names replaced."""
        ...

    def span_of(self, name: str) -> tuple[int, int]:
        """Where a name stands in the text first."""
        ...


def is_formula(value: object) -> bool:
    """Whether a value is a formula. A look at a protocol takes its time: each type is looked at once.

    >>> is_formula("x + 1")
    False
    """
    kind = type(value)
    if kind not in _KINDS:
        _KINDS[kind] = isinstance(value, Formula)
    return _KINDS[kind]


_KINDS: dict[type, bool] = {}

"""How the formulas of subjects are lowered: the values of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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

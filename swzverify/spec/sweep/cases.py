"""The cases of a sweep by number: which values the axes have in each, and which conditions hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.spec.sweep_axes import Axis, Sweep

Array = NDArray[np.int64]


@dataclass(frozen=True)
class Cases:
    """Every combination of the axes' values, numbered from 0: the last axis varies fastest.

    Axes in `inner` come last, in their own order. `constants` are the spec's constants that no axis
    varies; conditions may read them.
    """

    sweep: Sweep
    constants: Mapping[str, int]
    inner: Collection[str] = ()

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The axes in the order of the numbering."""
        return tuple(sorted(self.sweep.axes, key=lambda axis: axis.name in self.inner))

    def __len__(self) -> int:
        """The number of combinations, whether the conditions hold or not."""
        return prod(len(axis.values) for axis in self.axes)

    @property
    def group(self) -> int:
        """The number of successive cases that differ in the inner axes alone."""
        return prod(len(axis.values) for axis in self.axes if axis.name in self.inner)

    def between(self, first: int, end: int) -> tuple[Array, dict[str, Array]]:
        """The numbers in first .. end - 1 at which every condition holds, and their place on each axis.

        Raises:
            SwzError: SWZ301 and above if a condition is undefined, such as a division by 0.

        >>> from swzverify.ir.c_parse import parse
        >>> axes = (Axis("a", (1, 2), (1, 2), (), True), Axis("b", (5, 6, 7), (5, 6, 7), (), True))
        >>> numbers, at = Cases(Sweep(axes, (parse("a*b % 2 == 0"),)), {}).between(0, 6)
        >>> numbers.tolist(), at["b"].tolist()
        ([1, 3, 4, 5], [1, 0, 1, 2])
        """
        numbers = np.arange(first, min(end, len(self)), dtype=np.int64)
        rest, places = numbers, dict[str, Array]()
        for axis in reversed(self.axes):
            rest, places[axis.name] = np.divmod(rest, len(axis.values))
        kept = np.ones(len(numbers), dtype=np.bool_)
        env: dict[str, int | Array] = {name: number for name, number in self.constants.items() if name not in places}
        for axis in self.axes:
            if axis.numbers is not None:
                env[axis.name] = np.array(axis.numbers, dtype=np.int64)[places[axis.name]]
        for condition in self.sweep.where:
            kept &= np.broadcast_to(condition.at_many(env) != 0, kept.shape)
        return numbers[kept], {name: at[kept] for name, at in places.items()}

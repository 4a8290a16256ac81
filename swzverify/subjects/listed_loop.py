"""Loops whose values are listed: the tree reductions and butterflies that double or halve a step."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.c_ast import VALUE_MAX
from swzverify.ir.integers import Integer
from swzverify.ir.whole import required
from swzverify.subjects.loop import Loop, own_tuple, require_c_integer

MAX_LISTED = 1024
"""Values of one loop; more would make expressions that no engine gets through."""
Array: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ListedLoop:
    """A loop variable that takes some values at unequal distances, in ascending order.

    `listed` and `geometric` make loops.

    Raises:
        SwzError: SWZ105 if values are not in order or fewer than two, SWZ107 if a value is no integer of
            C or there are too many, SWZ202 if a value is no int.

    >>> ListedLoop("s", (1, 2, 4)).count
    3
    """

    name: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what is no list of different values in order."""
        what = f"loop {self.name}: a value"
        values = tuple(required(value, what) for value in own_tuple(f"loop {self.name}", "values", self.values))
        object.__setattr__(self, "values", values)
        if len(self.values) < 2 or any(a >= b for a, b in pairwise(self.values)):
            raise SwzError("SWZ105", f"loop {self.name}: {list(self.values)} are not two or more values in order")
        if len(self.values) > MAX_LISTED:
            raise SwzError("SWZ107", f"loop {self.name} has {len(self.values)} values: at most {MAX_LISTED}")
        for value in (self.values[0], self.values[-1]):
            require_c_integer(f"loop {self.name}", "value", value)

    @property
    def count(self) -> int:
        """The number of iterations."""
        return len(self.values)

    @property
    def is_unbounded(self) -> bool:
        """Never: every value is listed."""
        return False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for two loops that take the same values."""
        return ("listed", *self.values)

    def value(self, iteration: int) -> int:
        """The value in an iteration, from 0.

        >>> ListedLoop("s", (1, 2, 4)).value(2)
        4
        """
        return self.values[iteration]

    def values_at(self, iterations: Array) -> Array:
        """The values in many iterations; beyond the last one they stay as they are."""
        return np.asarray(self.values, dtype=np.int64)[np.minimum(iterations, self.count - 1)]

    def iteration_of(self, value: int) -> int | None:
        """In which iteration it takes a value, if it does."""
        at = bisect_left(self.values, value)
        return at if at < self.count and self.values[at] == value else None

    def lowered(self, index: Integer) -> Integer:
        """The value over an expression of the iteration."""
        return self._between(index, 0, self.count)

    def _between(self, index: Integer, first: int, end: int) -> Integer:
        """The value where the iteration is one from `first` below `end`."""
        if end - first == 1:
            return ints.integer(self.values[first])
        middle = (first + end) // 2
        chooser = ints.truth(ints.less(index, ints.integer(middle)))
        return ints.choose(chooser, self._between(index, first, middle), self._between(index, middle, end))

    def describe(self, limit: int, ended_by: int | None = None) -> str:
        """The loop's values in words.

        >>> ListedLoop("s", (1, 2, 4)).describe(3)
        's in 1, 2, 4'
        """
        del limit, ended_by  # every value is an iteration
        shown = [str(value) for value in self.values]
        if len(shown) > 8:
            shown = [*shown[:6], "...", shown[-1]]
        return f"{self.name} in {', '.join(shown)}"


AnyLoop: TypeAlias = Loop | ListedLoop


def listed(name: str, values: Iterable[int]) -> AnyLoop:
    """The loop over these values, in any order; values at equal distances are a `Loop`.

    Raises:
        SwzError: SWZ105 if there is no value, or a value twice; SWZ107 as the loops; SWZ202 for a value
            that is no int.

    >>> listed("s", [8, 1, 2])
    ListedLoop(name='s', values=(1, 2, 8))
    >>> listed("s", [6, 2, 4])
    Loop(name='s', start=2, stop=7, step=2)
    """
    found = sorted(required(value, f"loop {name}: a value") for value in own_tuple(f"loop {name}", "values", values))
    if not found:
        raise SwzError("SWZ105", f"loop {name} has no value", hint="list at least one, or leave the loop out")
    twice = next((a for a, b in pairwise(found) if a == b), None)
    if twice is not None:
        hint = "each value is an iteration of its own, and comes once"
        raise SwzError("SWZ105", f"loop {name} has the value {twice} twice", hint=hint)
    steps = {b - a for a, b in pairwise(found)} or {1}
    if len(steps) == 1 and max(*steps, found[-1] + 1) <= VALUE_MAX:
        return Loop(name, found[0], found[-1] + 1, steps.pop())
    if len(found) == 1:  # the last integer of C, below which nothing stops
        raise SwzError("SWZ107", f"loop {name} has the value {found[0]} alone", hint="write the value in its place")
    return ListedLoop(name, tuple(found))


def geometric(name: str, start: int, stop: int, times: int) -> AnyLoop:
    """C's loop `for (name = start; name < stop; name *= times)`.

    Raises:
        SwzError: SWZ105 for a start below 1, which would never grow, or a factor below 2; SWZ107 as
            `Loop`; SWZ202 for a value that is no int.

    >>> geometric("s", 1, 64, 4)
    ListedLoop(name='s', values=(1, 4, 16))
    """
    start, stop, times = (required(value, f"loop {name}: a number") for value in (start, stop, times))
    if start < 1 or times < 2:
        what = f"the start {start}: at least 1" if start < 1 else f"the factor {times}: at least 2"
        raise SwzError("SWZ105", f"loop {name} has {what}", hint="for (i = start; i < stop; i *= times) must end")
    if start >= stop:
        return Loop(name, start, stop)
    Loop(name, start, stop)  # refuses what no integer of C is
    values = [start]
    while values[-1] * times < stop:
        values.append(values[-1] * times)
    return listed(name, values)


def describe_loops(
    loops: Sequence[AnyLoop], limits: Sequence[int], ended_by: Mapping[str, int], *, all_exist: bool
) -> tuple[str, ...]:
    """Loops in words, each with its values; what lanes share of them is said once.

    >>> describe_loops([Loop("i", 0, 4)], [4], {}, all_exist=True)
    ('i in 0..3', 'the same in all lanes')
    """
    parts = [loop.describe(limit, ended_by.get(loop.name)) for loop, limit in zip(loops, limits, strict=True)]
    if not all_exist:
        parts.append("in iterations in which no thread overflows")
    several = sum(limit > 1 for limit in limits)
    if several:
        parts.append("the same in all lanes" if several == 1 else "each the same in all lanes")
    return tuple(parts)

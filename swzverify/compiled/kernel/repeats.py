"""On what condition a loop makes another trip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.arithmetic import either
from swzverify.compiled.kernel.flow import Loop
from swzverify.compiled.kernel.induction import trips_of, varies
from swzverify.compiled.kernel.paths import PathCondition, Paths
from swzverify.compiled.kernel.slices import Slices
from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction, conjuncts, variables


@dataclass(frozen=True, slots=True)
class Again:
    """The condition under which a trip of a loop is followed by another one, as a function of its number.

    A thread that makes another trip satisfies it. If it `is_exact`, each thread that satisfies it makes
    another trip.
    """

    condition: Expr = TRUE
    is_exact: bool = False


NO_AGAIN: Final = Again()


class Repeats:
    """The conditions of the loops of one function.

    `ask` requests values of registers before loops are solved.
    """

    def __init__(self, slices: Slices, paths: Paths) -> None:
        self._slices, self._paths = slices, paths
        self._found: dict[int, tuple[PathCondition, ...]] = {}

    def ask(self, block: int) -> None:
        """Find the conditions of the loops around a block."""
        for loop in self._slices.flow.around(block):
            if loop.header not in self._found:
                self._found[loop.header] = tuple(self._back(loop, latch) for latch in loop.latches)

    def is_asked(self, header: int) -> bool:
        """Whether the condition of a loop was asked for."""
        return header in self._found

    def again(self, loop: Loop, resolve: Callable[[Expr], Expr]) -> Again:
        """The condition under which a loop makes another trip.

        `resolve` substitutes the steps of loops. Values that change from trip to trip in an unknown way are
        left out.
        """
        is_exact = True
        whole: Expr = FALSE
        trips = trips_of(self._slices, loop)

        def kept(conditions: tuple[Expr, ...]) -> list[Expr]:
            parts = [part for each in conditions for part in conjuncts(resolve(each))]
            return [each for each in parts if not self._varies(each, loop, trips)]

        for path in self._found[loop.header]:
            may = kept(path.may)
            whole = either(whole, conjunction(may))
            whole_must = [part for each in path.must or () for part in conjuncts(resolve(each))]
            is_exact = is_exact and path.must is not None and set(may) == set(whole_must)
        return Again(whole, is_exact)

    def _varies(self, value: Expr, loop: Loop, trips: Expr) -> bool:
        return any(each is not trips and varies(self._slices, each, loop) for each in variables(value))

    def _back(self, loop: Loop, latch: int) -> PathCondition:
        """The condition under which a thread gets from the header to a latch and back."""
        path = self._paths.to(latch, loop.header)
        back = self._slices.edge(latch, loop.header)
        if back is TRUE:
            return path
        return PathCondition((*path.may, back), None if path.must is None else (*path.must, back))

"""Divisions whose result PTX leaves open: by 0, and of the least number by -1.

In C and C++ a program that does this is wrong, whatever its kernel computes then: an access can be
read under the condition that it does not happen. That says something only of threads that made the
division. So the reading takes the result as defined where all of this holds:

- Each way to the access leads through the division, which has no predicate: whoever makes the
  access has made the division, with the values that the expressions stand for.
- The divisor is one number for all threads of the block, such as a parameter. Code may well divide
  by a thread's number where the result is not used.

The guard of the reading has the condition: a thread for which it does not hold takes no part.

Source: C17 (ISO/IEC 9899:2018) 6.5.5; PTX ISA, Integer Arithmetic Instructions: div, rem.
"""

from __future__ import annotations

from typing import Final

from swzverify.ir.bounded import bounded
from swzverify.ir.expr import FALSE, Expr, Var, negation, substitute, variables
from swzverify.kernel.arithmetic import either
from swzverify.kernel.induction import Forms
from swzverify.kernel.leaves import Kind, Open
from swzverify.kernel.slices import Slices

_MOST_NESTED: Final = 16
"""Divisions of results of divisions that are looked into."""


class Divisions:
    """What is read of divisions in the values of one access, the instruction `index`."""

    def __init__(self, slices: Slices, forms: Forms, index: int) -> None:
        self._slices, self._forms, self._index = slices, forms, index
        self._met: dict[Var, Open] = {}

    def defined(self, value: Expr) -> Expr:
        """A value with the results of divisions as they are if they are defined."""
        for _ in range(_MOST_NESTED):
            new: dict[Var, Expr] = {}
            for each in variables(value):
                leaf = self._slices.leaves[each]
                if leaf.open is not None and self._is_made(leaf.open):
                    self._met[each] = leaf.open
                    new[each] = self._forms.resolve(leaf.open.result)
            if not new:
                break
            value = substitute(value, new)
        return value

    def are_in(self, value: Expr) -> bool:
        """Whether a value has the result of such a division."""
        found = (self._slices.leaves[each].open for each in variables(value))
        return any(each is not None and self._is_made(each) for each in found)

    def conditions(self) -> list[Expr]:
        """That the divisions which were met are defined."""
        found: dict[Var, Expr] = {}
        for _ in range(_MOST_NESTED):
            waiting = [each for each in self._met if each not in found]
            for each in waiting:
                of = self._met[each]
                condition = either(of.by_zero, of.overflow)
                found[each] = negation(self.defined(self._forms.resolve(condition)))
        return list(found.values())

    def texts(self) -> tuple[str, ...]:
        """The conditions in words, which name no line: a file of known findings outlives those."""
        met = self._met.values()
        found = ["no division by 0"] if any(self._may(each.by_zero) for each in met) else []
        widths = {each.result.width for each in met if self._may(each.overflow)}
        return (*found, *(f"no division of {-1 << (width - 1)} by -1" for width in sorted(widths)))

    def _may(self, condition: Expr) -> bool:
        """Whether a condition is not seen to be impossible."""
        return bounded(self._forms.resolve(condition)) is not FALSE

    def _is_made(self, division: Open) -> bool:
        """Whether each thread that makes the access has made a division by what all threads
        share.
        """
        flow = self._slices.flow
        if self._slices.function.instructions[division.index].guard is not None:
            return False
        at, here = flow.block_of[division.index], flow.block_of[self._index]
        is_before = division.index < self._index if at == here else flow.dominators.above(at, here)
        divisor = variables(self._forms.resolve(division.divisor))
        return is_before and all(self._slices.leaves[each].kind is Kind.UNIFORM for each in divisor)

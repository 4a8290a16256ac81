"""Divisions whose result PTX leaves open: by 0, and of the least number by -1.

In C and C++ a program that does this is wrong, whatever its kernel computes then: an access can be
read under the condition that it does not happen. That says something only of threads that made the
division. So the reading takes the result as defined where all of this holds:

- Each way to the access leads through the division, which has no predicate: whoever makes the
  access has made the division, with the values that the expressions stand for.
- The divisor is one number for all threads of the block, such as a parameter, or is made of results of such
  divisions that all threads share. Code may well divide by a thread's number where the result is not used.

The guard of the reading has the condition: a thread for which it does not hold takes no part.

A second reading goes on from there. In a launch in which every such division has a result, no
thread has the value of a division without a result. So nothing differs among lanes because of it:
not the way that they go, nor how often they go round a loop. That needs no division on each way to
the access, and gives no guard, so a conflict in it has to be one of the launches' own condition.

Source: C17 (ISO/IEC 9899:2018) 6.5.5; PTX ISA, Integer Arithmetic Instructions: div, rem.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arithmetic import either
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.leaves import OpaqueLeaf, Open, UniformLeaf
from swzverify.compiled.kernel.slices import Slices
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import FALSE, Expr, Var, conjunction, negation, substitute, variables

_MOST_NESTED: Final = 16
"""Nested divisions that are looked into."""


def with_results(slices: Slices, forms: Forms) -> dict[Var, Open]:
    """The divisions of a function that have a result in every launch without an error of the program.

    These are the divisions without a predicate by a number that all threads share.
    """
    opaque = [leaf for leaf in slices.leaves.by_name.values() if isinstance(leaf, OpaqueLeaf)]
    made = {leaf.variable: leaf.open for leaf in opaque if leaf.open is not None}
    found: dict[Var, Open] = {}
    shared: set[Var] = set()

    def is_one(value: Expr) -> bool:
        read = variables(forms.resolve(value))
        return all(each in shared or isinstance(slices.leaves[each], UniformLeaf) for each in read)

    for _ in range(_MOST_NESTED):
        # A divisor may be made of results that threads share.
        new = {
            each: division
            for each, division in made.items()
            if each not in found
            and slices.function.instructions[division.index].guard is None
            and is_one(division.divisor)
        }
        found |= new
        more = {each for each in found if each not in shared and is_one(found[each].result)}
        shared |= more
        if not new and not more:
            break
    return {each: found[each] for each in made if each in found}


class Divisions:
    """The divisions that the values of one access, the instruction `index`, read.

    `known` are those of the function that have a result.
    """

    def __init__(self, slices: Slices, forms: Forms, index: int, known: dict[Var, Open]) -> None:
        self._slices, self._forms, self._index, self._known = slices, forms, index, known
        self._met: dict[Var, Open] = {}

    def defined(self, value: Expr) -> Expr:
        """A value with the results of divisions as they are if they are defined."""
        for _ in range(_MOST_NESTED):
            new: dict[Var, Expr] = {}
            for each in variables(value):
                if (division := self._made(each)) is not None:
                    self._met[each] = division
                    new[each] = self._forms.resolve(division.result)
            if not new:
                break
            value = substitute(value, new)
        return value

    def are_in(self, value: Expr) -> bool:
        """Whether a value has the result of such a division."""
        return any(self._made(each) is not None for each in variables(value))

    def conditions(self) -> list[Expr]:
        """The conditions under which the divisions that were met are defined."""
        found: dict[Var, Expr] = {}
        for _ in range(_MOST_NESTED):
            waiting = [each for each in self._met if each not in found]
            for each in waiting:
                of = self._met[each]
                condition = either(of.by_zero, of.overflow)
                found[each] = negation(self.defined(self._forms.resolve(condition)))
        return list(found.values())

    def launches(self) -> Expr:
        """The condition that all divisions of the function have a result.

        It is 0 if it reads a value that threads do not share.
        """
        every: dict[Expr, None] = {}
        for each in self._known.values():
            condition = bounded(self.defined(self._forms.resolve(either(each.by_zero, each.overflow))))
            if any(not isinstance(self._slices.leaves[one], UniformLeaf) for one in variables(condition)):
                return FALSE
            every[negation(condition)] = None
        return conjunction(every)

    def texts(self, *, all_known: bool = False) -> tuple[str, ...]:
        """The conditions in words, without lines, because a file of known findings outlives lines.

        With `all_known`, they are those of all divisions of the function.
        """
        met = (self._known if all_known else self._met).values()
        found = ["no division by 0"] if any(self._may(each.by_zero) for each in met) else []
        widths = {each.result.width for each in met if self._may(each.overflow)}
        return (*found, *(f"no division of {-1 << (width - 1)} by -1" for width in sorted(widths)))

    def _may(self, condition: Expr) -> bool:
        """Whether a condition is not known to be impossible."""
        return bounded(self._forms.resolve(condition)) is not FALSE

    def _made(self, variable: Var) -> Open | None:
        """The division whose result a variable is, if each thread that makes the access has made it."""
        if (division := self._known.get(variable)) is None:
            return None
        flow = self._slices.flow
        at, here = flow.block_of[division.index], flow.block_of[self._index]
        is_before = division.index < self._index if at == here else flow.dominators.above(at, here)
        return division if is_before else None

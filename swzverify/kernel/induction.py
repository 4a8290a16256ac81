"""Registers that loops step by a fixed amount: `before + trips * step` at the begin of each trip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Const, Expr, Var, extract, substitute, var, variables
from swzverify.kernel.arithmetic import add, mul
from swzverify.kernel.flow import Loop
from swzverify.kernel.leaves import Kind, Leaf
from swzverify.kernel.linear import sum_of
from swzverify.kernel.slices import Carried, Slices

MOST_VALUES: Final = 64


@dataclass(frozen=True, slots=True)
class Forms:
    """What carried registers are in terms of the trips of their loops, for those that step."""

    values: dict[Var, Expr]

    def resolve(self, value: Expr) -> Expr:
        """A value with its stepping registers put in."""
        wanted = {each: self.values[each] for each in variables(value) if each in self.values}
        return substitute(value, wanted) if wanted else value


def find_forms(slices: Slices) -> Forms:
    """The forms of all carried registers that were met so far.

    Inner loops come first, as what they leave behind is a part of the step of the outer one. A form
    holds registers of loops that begin earlier, which are then put in from the first loop on.
    """
    place = slices.flow.place
    ordered = sorted(slices.carried.values(), key=lambda each: place[each.loop.header])
    forms: dict[Var, Expr] = {}
    for carried in reversed(ordered):
        form = _form(slices, carried, forms)
        if form is not None:
            forms[carried.variable] = form
    finals = Forms({})
    for carried in ordered:
        if carried.variable in forms:
            finals.values[carried.variable] = finals.resolve(forms[carried.variable])
    return finals


def few_values(carried: Carried) -> tuple[int, ...] | None:
    """All values of a register that each trip makes of the last one alone, from a number on; None
    if they are many.

    >>> from swzverify.ir.expr import const
    >>> x = var("x", 256)
    >>> few_values(Carried(x, Loop(0, (0,), frozenset({0})), const(96, 8), mul(x, const(2, 8))))
    (96, 192, 128, 0)
    """
    if not isinstance(carried.before, Const) or variables(carried.after) != (carried.variable,):
        return None
    found: dict[int, None] = {}
    value = carried.before.value
    while value not in found:
        if len(found) == MOST_VALUES:
            return None
        found[value] = None
        value = evaluate(carried.after, {carried.variable.name: value})
    return tuple(found)


def _form(slices: Slices, carried: Carried, forms: dict[Var, Expr]) -> Expr | None:
    after = _expanded(carried.after, forms)
    found = sum_of(after)
    if found.terms.get(carried.variable) != 1:
        return None
    step = found.plus(sum_of(carried.variable), -1).expression()
    if any(varies(slices, each, carried.loop) for each in variables(step)):
        return None
    return add(carried.before, mul(trips(slices, carried.loop, step.width), step))


def _expanded(value: Expr, forms: dict[Var, Expr]) -> Expr:
    while wanted := {each: forms[each] for each in variables(value) if each in forms}:
        value = substitute(value, wanted)
    return value


def varies(slices: Slices, variable: Var, loop: Loop) -> bool:
    """Whether a leaf may be another one in the next trip of a loop."""
    leaf = slices.leaves[variable]
    return leaf.kind in (Kind.TRIPS, Kind.CARRIED, Kind.OPAQUE) and leaf.block in loop.blocks


def trips(slices: Slices, loop: Loop, width: int) -> Expr:
    """How often a loop has gone back to its header, modulo 2^width."""
    return extract(trips_of(slices, loop), 0, width)


def trips_of(slices: Slices, loop: Loop) -> Var:
    """How often a loop has gone back to its header: the leaf, of 64 bits."""
    line = slices.line_of(loop.header)
    made = var(f"trips of the loop at {line}.{loop.header}", 1 << 64)
    reason = "how often the loop has gone back to its begin"
    return slices.leaves.add(Leaf(made, Kind.TRIPS, reason, line, loop.header))

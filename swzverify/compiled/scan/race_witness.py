"""Two threads that touch one byte, from values for which their accesses meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from swzverify.compiled.kernel import ArrayLeaf, CarriedLeaf, OpaqueLeaf, UniformLeaf
from swzverify.compiled.kernel.arithmetic import less
from swzverify.compiled.kernel.leaves import Leaf, begin_of, is_input, is_launch_value
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.instance import BASE
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.question import Question
from swzverify.compiled.order.verdict import Witness
from swzverify.compiled.scan.race_found import INEXACT, OF_COPY
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Comparison, Expr, compare, conjunction, const, variables

_PARAMETER: Final = re.compile(r"(?:.*_(param_\d+)|([\w$]+))\+\d+:\d+", re.ASCII)
_MOST_BITS: Final = 32
"""Longer parameters are addresses, most of them."""
_SMALL: Final = (16, 512)
"""Values of a launch below these are looked for before any others."""


def witness_of(kernel: Kernel, question: Question, point: Mapping[str, int]) -> Witness:
    """The threads, their trips, the byte and the parameters of a point at which a question holds."""
    instances = question.instances

    def number(value: Expr) -> int:
        return evaluate(value, dict.fromkeys((each.name for each in variables(value)), 0) | dict(point))

    def trips(who: int) -> tuple[tuple[int, int], ...]:
        place = question.places[who]
        counted = [(header, instances.value(kernel.trips(header), who, place)) for header, _ in place]
        return tuple((kernel.slices.line_of(header), number(trip)) for header, trip in counted)

    arrays = [leaf for leaf in question.read if isinstance(leaf, ArrayLeaf)]
    byte, array = max(map(number, question.addresses)), ""
    if len(arrays) == 1:
        array = arrays[0].symbol.name
        byte -= number(instances.value(begin_of(arrays[0], 32), 0, question.places[0]))
    launch = [leaf for leaf in question.read if is_launch_value(leaf)]
    parameters = tuple((leaf.name, number(leaf.variable)) for leaf in launch)
    first, second = (number(each.number) for each in instances.threads)
    return Witness((first, second), (trips(0), trips(1)), byte, array, parameters)


def small_values(condition: Expr, question: Question) -> Iterator[Expr]:
    """That the values of the launch and the trips in a condition are small; the smallest values first."""
    of_launch = {leaf.variable for leaf in question.read if is_launch_value(leaf)}
    wanted = [each for each in variables(condition) if each in of_launch or each.name.startswith(BASE)]
    for most in _SMALL:
        yield conjunction(less(each, const(most, each.width), signed=False) for each in wanted if each.limit > most)


def in_first_block(leaves: Sequence[Leaf]) -> list[Expr]:
    """That the block is the first one, which every launch has; empty if other values matter, too."""
    places = {leaf.variable for leaf in leaves if leaf.name.startswith("ctaid.")}
    if len(places) < len(leaves):
        return []
    return [compare(Comparison.EQ, each, const(0, each.width)) for each in places]


def is_of_launch(asked: Asked, leaf: Leaf) -> bool:
    """Whether a leaf is one value of the launch, or of its input, for all threads."""
    return isinstance(leaf, UniformLeaf) or (is_input(leaf) and asked.sharing.leaf(leaf.variable))


def is_loose(leaf: Leaf) -> bool:
    """Whether nothing is known of a leaf, which a program may not make at all."""
    return isinstance(leaf, OpaqueLeaf | CarriedLeaf) and not is_input(leaf)


def why_no_race(asked: Asked, question: Question) -> str:
    """Why accesses that meet need not race; empty if nothing prevents it."""
    if any(each.is_bulk for each in asked.accesses):
        return OF_COPY
    if any(each.is_strong for each in asked.accesses):
        return "the memory model orders one of the accesses by itself"
    loose = next((leaf for leaf in question.read if is_loose(leaf)), None)
    if loose is not None:
        told = f"whether they race depends on a value that is not known: {loose.reason}"
        named = parameter_behind(asked.kernel, loose)
        return f"{told}; --param {named}=VALUE may decide it for one value" if named else told
    if not asked.is_in_step():
        return "how many trips the threads are apart is not known"
    return INEXACT if question.exact is None else ""


def parameter_behind(kernel: Kernel, leaf: Leaf) -> str:
    """An integer parameter from which a register of a loop is made, as `--param` names it; empty if there is none."""
    pending, seen = [leaf.variable], {leaf.variable}
    while pending:
        carried = kernel.slices.carried.get(pending.pop())
        if carried is None:
            continue
        read = variables(carried.before, carried.after)
        for each in read:
            if (found := _PARAMETER.fullmatch(each.name)) and each.width <= _MOST_BITS:
                return found[1] or found[2]
        more = [each for each in read if each not in seen]
        seen.update(more)
        pending += more
    return ""

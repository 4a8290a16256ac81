"""When a thread comes to an instruction without a second trip of any loop: a guess at launches that come there.

The condition is about the paths without an edge back. A register of a loop has the value with which the loop begins, a
division has a result, and a load gives any value. Few launches fulfil it of an instruction behind many trips, and some
that do so never come there: the launch has to be run. No verdict rests on it.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arguments import NO_ARGUMENTS, Arguments
from swzverify.compiled.kernel.arithmetic import both, either
from swzverify.compiled.kernel.evaluate import evaluate
from swzverify.compiled.kernel.flow import Way
from swzverify.compiled.kernel.graph import closure, reached
from swzverify.compiled.kernel.leaves import OpaqueLeaf
from swzverify.compiled.kernel.paths import leads_on
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.special import BlockShape, launch_facts
from swzverify.compiled.ptx import Function, Module
from swzverify.ir.expr import FALSE, TRUE, Expr, Var, conjunction, negation, substitute, variables

_MOST_NESTED: Final = 16
"""Values of loops and divisions that are looked into, one in the other."""


class Starts:
    """The conditions of one function, whose calls are in place."""

    def __init__(
        self, module: Module, function: Function, block: BlockShape, arguments: Arguments = NO_ARGUMENTS
    ) -> None:
        self._slices = Slices(module, function, block, evaluate, arguments)
        self._flow = self._slices.flow
        self._found: dict[int, Expr] = {}

    def to(self, index: int) -> Expr:
        """The condition for the instruction of this index, over launch values, coordinates and loaded values."""
        slices = self._slices
        own = self._at_start(slices.run(slices.guard(slices.function.instructions[index])))
        condition = both(self._reached(self._flow.block_of[index]), own)
        return conjunction((condition, *launch_facts(variables(condition))))

    def _at_start(self, condition: Expr) -> Expr:
        """A condition before any loop makes a second trip, where the divisions that it reads have results."""
        slices, divided = self._slices, dict[Expr, None]()
        for _ in range(_MOST_NESTED):
            new: dict[Var, Expr] = {}
            for each in variables(condition, *divided):
                leaf, carried = slices.leaves[each], slices.carried.get(each)
                if carried is not None:
                    new[each] = carried.before
                elif isinstance(leaf, OpaqueLeaf) and leaf.open is not None:
                    new[each] = leaf.open.result
                    divided[leaf.open.by_zero] = None
            if not new:
                break
            condition = substitute(condition, new)
            divided = {substitute(each, new): None for each in divided}
        return conjunction((condition, *map(negation, divided)))

    def _reached(self, block: int) -> Expr:
        """Whether a thread comes to a block."""
        inside = closure([block], self._before)
        for node in sorted(inside, key=self._flow.place.__getitem__):
            if node not in self._found:
                self._found[node] = self._by_those_before(node)
        return self._found[block]

    def _before(self, block: int) -> list[int]:
        """The blocks by which it is decided whether a thread comes to a block.

        It is the immediate dominator alone if all its paths lead to the block, and no loop ends between.
        """
        flow, upper = self._flow, self._flow.dominators.parents[block]
        entries = flow.entries(block)
        if upper is None or entries == [upper] or not leads_on(flow, upper, block):
            return entries
        inside = {upper, *reached(entries, flow.before, lambda node: node == upper)}
        has_ended = any(each in flow.loop_at and block not in flow.loop_at[each].blocks for each in inside)
        return entries if has_ended else [upper]

    def _by_those_before(self, block: int) -> Expr:
        flow, before = self._flow, self._before(block)
        result = FALSE if before else TRUE
        for entry in before:
            if before != flow.entries(block):
                return self._found[entry]
            for way in flow.blocks[entry].ways:
                if way.target == block:
                    result = either(result, both(self._found[entry], self._taken(entry, way)))
        return result

    def _taken(self, block: int, way: Way) -> Expr:
        """Whether a thread takes a way, unless its first trip cannot end a loop: then a later one does."""
        holds = self._at_start(self._slices.run(self._slices.way(block, way)))
        leaves = any(way.target not in loop.blocks for loop in self._flow.around(block))
        return TRUE if holds is FALSE and leaves else holds

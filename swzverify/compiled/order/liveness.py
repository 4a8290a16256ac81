"""Which of the tracked leaves are asked for behind the begin of a block, before they get another value.

What is not asked for any more need not be known: a thread is at fewer places then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from swzverify.compiled.kernel.leaves import LoopLeaf
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import Event
from swzverify.compiled.order.tracked import Tracked
from swzverify.ir.expr import Expr, Var, variables


class Liveness:
    """The variables that are asked for from the begin of a block on, for each block.

    `loads` has the leaves of words that are followed, by the instructions that load them.
    """

    def __init__(
        self,
        kernel: Kernel,
        events: Mapping[int, Event],
        tracked: Tracked,
        guards: Mapping[int, Expr],
        loads: Mapping[int, Var],
    ) -> None:
        self._kernel, self._tracked = kernel, tracked
        flow = kernel.flow
        self._here = [self._read_in(block.index, events, guards) for block in flow.blocks]
        self._answers = [
            {each.answer for index in range(block.start, block.stop) if (each := events.get(index)) and each.answer}
            | {loads[index] for index in range(block.start, block.stop) if index in loads}
            for block in flow.blocks
        ]
        self._at: dict[int, list[Var]] = {}
        for leaf in tracked.leaves:
            known = kernel.leaves[leaf]
            if isinstance(known, LoopLeaf):
                self._at.setdefault(known.block, []).append(leaf)
        self._live: list[set[Var]] = [set() for _ in (*flow.blocks, None)]
        is_new = True
        while is_new:
            is_new = False
            for block in reversed(flow.order):
                if block != flow.exit and not self._live[block].issuperset(found := self._found(block)):
                    self._live[block] |= found
                    is_new = True

    def at(self, block: int) -> set[Var]:
        """What is asked for from the begin of a block on."""
        return self._live[block]

    def _found(self, block: int) -> set[Var]:
        found: set[Var] = set()
        for target in self._kernel.flow.following[block]:
            found |= self._behind(block, target)
        return (found - self._answers[block]) | self._here[block]

    def _behind(self, block: int, target: int) -> set[Var]:
        """What is asked for from the end of a block on, on one edge."""
        flow, live = self._kernel.flow, self._live[target]
        found = self._read((self._kernel.edge(block, target),))
        loop = flow.loop_at.get(target)
        if loop is None:
            return found | live
        is_back = block in loop.blocks
        made = {leaf for each in loop.blocks for leaf in self._at.get(each, ())}
        for leaf in self._at.get(target, ()):
            if leaf in live and leaf not in self._tracked.periods:
                carry = self._kernel.carried[leaf]
                found |= self._read((carry.after if is_back else carry.before,))
            elif leaf in live and is_back:
                found.add(leaf)
        return found | (live - made)

    def _read_in(self, block: int, events: Mapping[int, Event], guards: Mapping[int, Expr]) -> set[Var]:
        found: list[Expr] = []
        blocks = self._kernel.flow.blocks[block]
        for index in range(blocks.start, blocks.stop):
            found += [each.address for each in self._kernel.parts.get(index, ())]
            if index in guards:
                found.append(guards[index])
            if (event := events.get(index)) is not None:
                found += [*event.values, event.guard]
        return self._read(found)

    def _read(self, values: Iterable[Expr]) -> set[Var]:
        return {leaf for value in values for each in (value, self._tracked.put(value)) for leaf in variables(each)}

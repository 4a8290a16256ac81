"""Which ways surely lead to a block, and on what condition a loop makes another trip.

A condition on the way to a block is exact where every thread that fulfils it gets there: at each
step up the dominator tree the way is the one side of a choice, or all ways lead to the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction, conjuncts, variables
from swzverify.kernel.arithmetic import either
from swzverify.kernel.flow import Flow, Loop
from swzverify.kernel.induction import trips_of, varies
from swzverify.kernel.slices import Slices


@dataclass(frozen=True, slots=True)
class Again:
    """The condition under which a trip of a loop is followed by another one, in terms of its
    number. A thread that makes another trip fulfils it; if it `is_exact`, and only then, each
    thread that fulfils it makes another one.
    """

    condition: Expr = TRUE
    is_exact: bool = False


NO_AGAIN: Final = Again()


class Ways:
    """The ways of one function. Values of registers are asked for by `ask`, before loops are
    solved.

    >>> from swzverify.kernel.evaluate import evaluate
    >>> from swzverify.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k() { .reg .pred %p;"
    >>> module = read_module(text + " @%p bra L; bar.sync 0; L: ret; }", "k.ptx")
    >>> ways = Ways(Slices(module, module.functions[0], None, evaluate))
    >>> ways.is_sure(1), ways.is_sure(2)
    (True, True)
    """

    def __init__(self, slices: Slices) -> None:
        self._slices, self._flow = slices, slices.flow
        self._repeats: dict[int, tuple[tuple[Expr, ...], bool]] = {}
        self._sure: dict[int, bool] = {}

    def ask(self, block: int) -> None:
        """Find the conditions of the loops around a block."""
        for loop in self._flow.around(block):
            if loop.header not in self._repeats:
                found = [self._back(loop, latch) for latch in loop.latches]
                self._repeats[loop.header] = (tuple(each for each, _ in found), all(sure for _, sure in found))

    def again(self, loop: Loop, resolve: Callable[[Expr], Expr]) -> Again:
        """On what condition a loop makes another trip. `resolve` puts in what loops step by; what
        changes from trip to trip in a way that is not known is left out.
        """
        conditions, is_exact = self._repeats[loop.header]
        whole: Expr = FALSE
        trips = trips_of(self._slices, loop)
        for each in conditions:
            kept: list[Expr] = []
            for part in conjuncts(resolve(each)):
                if any(variable is not trips and varies(self._slices, variable, loop) for variable in variables(part)):
                    is_exact = False
                else:
                    kept.append(part)
            whole = either(whole, conjunction(kept))
        return Again(whole, is_exact)

    def is_sure(self, block: int) -> bool:
        """Whether each thread that fulfils the conditions of a block's controlling edges gets to
        the block, in a trip that it makes of the loops around the block.
        """
        if block not in self._sure:
            self._sure[block] = self._leads(0, block)
        return self._sure[block]

    def ends_a_loop(self, source: int, target: int) -> bool:
        """Whether an edge leads out of a loop whose ways all lead there: whoever is in the loop
        takes it in the end.
        """
        flow = self._flow
        left = any(source in loop.blocks and target not in loop.blocks for loop in flow.loops)
        return left and _is_behind(flow, source, target)

    def _back(self, loop: Loop, latch: int) -> tuple[Expr, bool]:
        """The condition of the edges inside a loop through which every way to a latch and back to
        the header leads, and whether nothing else decides.
        """
        edges = [each for each in self._flow.controlling(latch) if each[0] in loop.blocks and each[1] != loop.header]
        conditions = [self._slices.edge(source, target) for source, target in (*edges, (latch, loop.header))]
        return conjunction(conditions), self._leads(loop.header, latch)

    def _leads(self, top: int, block: int) -> bool:
        """Whether nothing but the controlling edges decides on the way down from a block."""
        node = block
        while node != top:
            upper = self._flow.dominators.parents[node]
            if upper is None:
                return False
            if self._flow.entries(node) != [upper] and not _is_behind(self._flow, upper, node):
                return False
            node = upper
        return True


def _is_behind(flow: Flow, upper: int, block: int) -> bool:
    """Whether all ways from one block lead to another one."""
    node = flow.meeting[upper]
    while node is not None and node != block:
        node = flow.meeting[node]
    return node == block

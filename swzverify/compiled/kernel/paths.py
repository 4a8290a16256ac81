"""Path conditions: which threads get from one block of a function to another.

The condition is built along the dominator tree. At each step it is the condition of one edge, of
all paths through the blocks between two dominators, or nothing where every path leads on. The
values in it are those of the last time that the thread came to what they depend on, as everywhere
in a slice. So a path through a loop is the path through its last trip, which takes no edge back.

With the values that a thread really has, `may` and `must` are both exact: the thread gets to the
block if and only if they hold. They differ in what they say of other values. `may` also says how a
thread leaves the loops on the path, such as `trips >= n`; `must` does not, because the thread leaves
these loops in any case. So `must` needs no value of a number of trips that nobody knows.

Source: Ferrante, Ottenstein, Warren, "The Program Dependence Graph and Its Use in Optimization"
(1987), for the edges that control a block.
"""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.compiled.kernel.arithmetic import both, either
from swzverify.compiled.kernel.flow import Flow, Loop, Way
from swzverify.compiled.kernel.slices import MOST_JOINED, Slices
from swzverify.ir.expr import FALSE, TRUE, Const, Expr, negation


@dataclass(frozen=True, slots=True)
class PathCondition:
    """Conditions on the way to a block, the closest first.

    Attributes:
        may: Each thread that gets to the block fulfils all of them.
        must: Each thread that fulfils all of them gets to the block, if its loops come to an end;
            None where that is not known.
    """

    may: tuple[Expr, ...] = ()
    must: tuple[Expr, ...] | None = ()


class Paths:
    """The path conditions of one function. They are asked for before loops are solved.

    Example: the store is made by threads for which `%p` or `%q` holds.

    >>> from swzverify.compiled.kernel.evaluate import evaluate
    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .entry k() { .reg .pred %p, %q;"
    >>> text += " @%p bra L; @!%q bra M; L: bar.sync 0; M: ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> paths = Paths(Slices(module, module.functions[0], None, evaluate))
    >>> store = paths.to(2)
    >>> len(store.may), store.may == store.must, paths.to(3).may
    (1, True, ())
    """

    def __init__(self, slices: Slices) -> None:
        self._slices, self._flow = slices, slices.flow
        self._steps: dict[int, PathCondition] = {}
        self._leaving: dict[int, frozenset[int]] = {}

    def to(self, block: int, start: int = 0) -> PathCondition:
        """The condition under which a thread at the start of block `start` reaches a block.

        `start` must dominate the block. Both are in the same trip of the loops around both.
        """
        may: dict[Expr, None] = {}
        must: dict[Expr, None] | None = {}
        node = block
        while node != start:
            step = self._step(node)
            may |= dict.fromkeys(step.may)
            must = None if must is None or step.must is None else must | dict.fromkeys(step.must)
            upper = self._flow.dominators.parents[node]
            if upper is None:
                raise AssertionError(block, start)
            node = upper
        return PathCondition(tuple(may), None if must is None else tuple(must))

    def _step(self, block: int) -> PathCondition:
        """The condition on the way from the immediate dominator of a block."""
        if block not in self._steps:
            self._steps[block] = self._find(block)
        return self._steps[block]

    def _find(self, block: int) -> PathCondition:
        flow, upper = self._flow, self._flow.dominators.parents[block]
        if upper is None:
            raise AssertionError(block)
        entries = flow.entries(block)
        is_behind = leads_on(flow, upper, block)
        if is_behind and entries != [upper]:
            return PathCondition()
        inside = self._slices.leading(upper, tuple(entries))
        if len(inside) > MOST_JOINED:
            return PathCondition((), None)
        may, must = self._between(upper, block, inside)
        return PathCondition(_parts(may), () if is_behind else _parts(must))

    def _between(self, upper: int, block: int, inside: set[int]) -> tuple[Expr, Expr]:
        """May and must for a thread at the end of `upper`, by the blocks `inside`."""
        flow = self._flow
        found: dict[int, tuple[Expr, Expr]] = {}
        for node in sorted(inside, key=flow.place.__getitem__, reverse=True):
            options: list[tuple[Way, Expr, Expr]] = []
            ending: list[tuple[Way, Expr, Expr]] = []
            outer = self._outermost(node, block)
            for way in flow.blocks[node].ways:
                leads, sure = FALSE, FALSE
                if not flow.is_back(node, way.target):
                    leads, sure = (TRUE, TRUE) if way.target == block else found.get(way.target, (FALSE, FALSE))
                options.append((way, leads, sure))
                if outer is None or self._leaves(way.target, node, outer):
                    ending.append((way, leads, sure))
            may = self._choice(node, [(way, leads) for way, leads, _ in options])
            same = len(ending) == len(options) and all(leads is sure for _, leads, sure in options)
            must = may if same else self._choice(node, [(way, sure) for way, _, sure in ending])
            found[node] = may, must
        return found[upper]

    def _choice(self, node: int, options: list[tuple[Way, Expr]]) -> Expr:
        """The value by the way that a thread takes at the end of a block; it takes one of these."""
        result = options[-1][1] if options else FALSE
        for way, value in reversed(options[:-1]):
            if value is not result:
                result = _chosen(self._slices.run(self._slices.way(node, way)), value, result)
        return result

    def _outermost(self, node: int, block: int) -> Loop | None:
        """The outermost loop around a block that does not hold another block."""
        return next((loop for loop in self._flow.around(node) if block not in loop.blocks), None)

    def _leaves(self, target: int, node: int, loop: Loop) -> bool:
        """Whether the way from a block of a loop to `target` may be one of the loop's last trip."""
        if self._flow.is_back(node, target):
            return False
        return target not in loop.blocks or target in self._leaving_of(loop)

    def _leaving_of(self, loop: Loop) -> frozenset[int]:
        """The blocks of a loop from which a path without an edge back leads out of it."""
        if loop.header not in self._leaving:
            flow = self._flow
            found: set[int] = set()
            for node in sorted(loop.blocks, key=flow.place.__getitem__, reverse=True):
                targets = [each for each in flow.following[node] if not flow.is_back(node, each)]
                if any(each not in loop.blocks or each in found for each in targets):
                    found.add(node)
            self._leaving[loop.header] = frozenset(found)
        return self._leaving[loop.header]


def leads_on(flow: Flow, upper: int, block: int) -> bool:
    """Whether all paths from one block lead to another one."""
    node = flow.meeting[upper]
    while node is not None and node != block:
        node = flow.meeting[node]
    return node == block


def _chosen(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """One of two conditions; numbers among them fold."""
    if isinstance(then, Const):
        return either(condition, otherwise) if then is TRUE else both(negation(condition), otherwise)
    if isinstance(otherwise, Const):
        return either(negation(condition), then) if otherwise is TRUE else both(condition, then)
    return either(both(condition, then), both(negation(condition), otherwise))


def _parts(condition: Expr) -> tuple[Expr, ...]:
    return () if condition is TRUE else (condition,)

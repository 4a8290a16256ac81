"""What one thread does to barriers, as a graph: from each event to the next ones, with the accesses in between.

Registers are run on numbers as far as the events depend on them: the stage of a ring and its phase go round,
so the graph is finite. Conditions on anything else, such as parameters and data, are taken both ways: the
graph has every path of the thread, and perhaps more. A trip is kept as a number of a period.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.kernel.leaves import Kind
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import Act, Event
from swzverify.compiled.order.tracked import Period, Tracked
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import FALSE, Const, Expr, Var, const, substitute, variables

MOST_NODES: Final = 600
"""Nodes of the graph of one thread."""
_MOST_STATES: Final = 20_000
Values: TypeAlias = tuple[tuple[Var, Expr], ...]
"""What the tracked leaves are, by their names."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An event with its values: the object as its address, or the number of a named barrier."""

    act: Act
    index: int
    key: Expr | int
    count: int
    parity: int
    bytes: int
    values: Values


@dataclass(frozen=True, slots=True)
class Touch:
    """An access, with the values of the leaves that are tracked; `is_data` if it is no operation on a barrier."""

    index: int
    values: Values
    is_data: bool


@dataclass(slots=True)
class Node:
    """Where a thread is behind an event: what it may access before the next one, and what that may be."""

    touches: dict[Touch, None] = field(default_factory=dict[Touch, None])
    deeds: dict[tuple[Deed, int], None] = field(default_factory=dict[tuple[Deed, int], None])
    is_end: bool = False


class LostError(Exception):
    """An event depends on what is not tracked, or there are too many values."""


class Walk:
    """The graph of the threads that agree on `coordinates`."""

    def __init__(
        self, kernel: Kernel, events: Mapping[int, Event], tracked: Tracked, coordinates: Mapping[Var, Expr]
    ) -> None:
        self._kernel, self._flow, self._events, self._tracked = kernel, kernel.flow, events, tracked
        self._coordinates = dict(coordinates)
        self._accesses = {each.index for each in kernel.accesses if not each.reason}
        self._memo: dict[tuple[Expr, Values], Expr] = {}
        self.nodes: list[Node] = []
        self._at: dict[tuple[int, int, Values], int] = {}
        self._node(0, 0, self._entered(0, -1, ()))
        for number, (block, start, values) in enumerate(self._starts()):
            self._fill(self.nodes[number], block, start, values)

    def _starts(self) -> Iterator[tuple[int, int, Values]]:
        done = 0
        while done < len(self._at):
            yield list(self._at)[done]
            done += 1

    def _node(self, block: int, start: int, values: Values) -> int:
        key = block, start, values
        if key not in self._at:
            if len(self._at) >= MOST_NODES:
                raise LostError
            self._at[key] = len(self.nodes)
            self.nodes.append(Node())
        return self._at[key]

    def _fill(self, node: Node, block: int, start: int, values: Values) -> None:
        """Follow all paths from a place to the next events."""
        pending, seen = [(block, start, values)], set[tuple[int, int, Values]]()
        while pending:
            state = block, start, values = pending.pop()
            if state in seen:
                continue
            seen.add(state)
            if len(seen) > _MOST_STATES:
                raise LostError
            if block == self._flow.exit:
                node.is_end = True
                continue
            for index in range(start, self._flow.blocks[block].stop):
                if index in self._accesses:
                    node.touches[Touch(index, values, index not in self._events)] = None
                event = self._events.get(index)
                if event is None:
                    continue
                done = self._tracked.truth(event.guard, lambda atom, values=values: self._value(atom, values))
                if done is not False:
                    self._happens(node, event, block, values)
                if done is True and event.act is not Act.WAIT:
                    break
                if event.act is Act.WAIT and event.answer is not None:
                    # It answers no, or is not executed: then nothing is known of the register.
                    values = _with(values, {event.answer: FALSE if done is True else None})
            else:
                for target in self._flow.following[block]:
                    if self._goes(block, target, values):
                        after = self._entered(target, block, values)
                        first = 0 if target == self._flow.exit else self._flow.blocks[target].start
                        pending.append((target, first, after))

    def _happens(self, node: Node, event: Event, block: int, values: Values) -> None:
        key: Expr | int = event.name
        if event.place is not None:
            key = self._value(event.place, values)
            if any(self._kernel.leaves[each].symbol is None for each in variables(key)):
                raise LostError
        numbers = [self._value(each, values) for each in (event.count, event.parity, event.bytes)]
        count, parity, size = (each.value if isinstance(each, Const) else -1 for each in numbers)
        if min(count, parity, size) < 0:
            raise LostError
        after = values
        if event.act is Act.WAIT and event.answer is not None:
            after = _with(values, {event.answer: const(1, 1)})
        deed = Deed(event.act, event.index, key, count, parity & 1, size, values if event.act is Act.COPY else ())
        node.deeds[deed, self._node(block, event.index + 1, after)] = None

    # ---- values

    def _value(self, value: Expr, values: Values) -> Expr:
        known = value, values
        if known not in self._memo:
            given = {**self._coordinates, **dict(values)}
            put = {each: given[each] for each in variables(value) if each in given}
            self._memo[known] = normal(bounded(substitute(value, put)))
        return self._memo[known]

    def _goes(self, source: int, target: int, values: Values) -> bool:
        """Whether a thread may take an edge."""
        edge = self._kernel.edge(source, target)
        return self._tracked.truth(edge, lambda atom: self._value(atom, values)) is not False

    def _entered(self, target: int, source: int, values: Values) -> Values:
        """The values behind an edge: a trip begins, or the next one."""
        loop = self._flow.loop_at.get(target)
        if loop is None:
            return values
        is_back = source in loop.blocks
        new: dict[Var, Expr | None] = {}
        for variable in self._tracked.leaves:
            leaf = self._kernel.leaves[variable]
            if leaf.block is None or leaf.kind not in (Kind.TRIPS, Kind.CARRIED):
                continue
            if leaf.block == target:
                new[variable] = self._next(variable, values, is_back=is_back)
            elif leaf.block in loop.blocks:
                new[variable] = None  # an inner loop begins anew, or may be passed by
        return _with(values, new)

    def _next(self, variable: Var, values: Values, *, is_back: bool) -> Expr:
        period = self._tracked.periods.get(variable)
        if period is not None:
            return self._next_trip(variable, period, values, is_back=is_back)
        carry = self._kernel.carried[variable]
        found = self._value(carry.after if is_back else carry.before, values)
        if any(self._kernel.leaves[each].kind is not Kind.UNIFORM for each in variables(found)):
            raise LostError
        return found

    def _next_trip(self, variable: Var, period: Period, values: Values, *, is_back: bool) -> Expr:
        if not is_back:
            return const(0, variable.width)
        after = add(dict(values)[variable], const(1, variable.width))
        return const(period.start, variable.width) if after == const(period.end, variable.width) else after


def _with(values: Values, new: Mapping[Var, Expr | None]) -> Values:
    """The values with other ones; None for what is not known any more."""
    whole = {**dict(values), **new}
    kept = ((each, value) for each, value in whole.items() if value is not None)
    return tuple(sorted(kept, key=lambda item: item[0].name))

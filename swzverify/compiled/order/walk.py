"""What one thread does to barriers, as a graph: from each event to the next ones, with the accesses in between.

Registers are run on numbers as far as the events depend on them: the stage of a ring and its phase go round,
so the graph is finite. Conditions on anything else, such as parameters and data, are taken both ways: the
graph has every path of the thread, and perhaps more. A trip is kept as a number of a period. What runs on
behind its instruction is part of the place where a thread is, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.leaves import ArrayLeaf, LoopLeaf, UniformLeaf, are_all
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.choices import OpenError
from swzverify.compiled.order.events import CLUSTER, MASKS, Act, Event, LostError
from swzverify.compiled.order.flights import Flight, Flights, Running, Values, are_unordered, met, with_values
from swzverify.compiled.order.handed import Handed
from swzverify.compiled.order.liveness import Liveness
from swzverify.compiled.order.nodes import Deed, Node, Touch, merged
from swzverify.compiled.order.tracked import Period, Tracked
from swzverify.compiled.ptx import Register
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import FALSE, TRUE, Const, Expr, Var, const, substitute, variables

MOST_NODES: Final = 2_000
"""Nodes of the graph of one thread."""
_MOST_PLACES: Final = 4_000
"""Nodes before those that are alike are made one."""
_MOST_STATES: Final = 20_000
TOO_LONG: Final = "a thread has too many paths between two barriers"


_Last: TypeAlias = frozenset[tuple[Register | Expr | int, Register | Expr | int]]


class _Place(NamedTuple):
    """Where a thread is, with all that decides what it does next.

    `last` has for each register of a state the object that gave it, and for each object the register that the last
    arrival wrote; twice the barrier of the cluster where the thread has arrived there, and not waited. `copied` is the
    number of blocks to which the copy at `start` has gone. `is_fenced` says that a fence of the proxies was executed
    since the last event.
    """

    block: int
    start: int
    values: Values
    last: _Last = frozenset()
    flights: frozenset[Flight] = frozenset()
    copied: int = 0
    is_fenced: bool = False


class Walk:
    """The graph of the threads that agree on `coordinates`; `thread` is one of them.

    `handed` has the words of shared memory that are followed.
    `own` has what runs on of a thread while the thread itself makes another access: both, and their values.
    """

    def __init__(
        self,
        kernel: Kernel,
        events: Mapping[int, Event],
        tracked: Tracked,
        flights: Flights,
        coordinates: Mapping[Var, Expr],
        handed: Handed | None = None,
        thread: int = 0,
    ) -> None:
        self._kernel, self._flow, self._events, self._tracked = kernel, kernel.flow, events, tracked
        self._choices = tracked.choices
        self._flights, self._coordinates = flights, dict(coordinates)
        self._accesses = {each.index for each in kernel.accesses if not each.reason or each.index in events}
        handed_on = () if handed is None else (*handed.stores, *handed.loads)
        at_work = {*events, *self._accesses, *flights.changes, *handed_on}
        self._at_work = [[e for e in range(each.start, each.stop) if e in at_work] for each in self._flow.blocks]
        """For each block, the instructions that do something here."""
        self._states = {each.state for each in events.values() if each.act is Act.WAIT}
        self._memo: dict[tuple[Expr, Values], Expr] = {}
        self._needs: dict[int, int] = {}
        self._reads: dict[int, set[Var]] = {}
        self._dropped: dict[int, set[Var]] = {}
        self._handed, self._thread = handed, thread
        loads = {} if handed is None else {index: each.leaf for index, each in handed.loads.items()}
        self._live = Liveness(kernel, events, tracked, flights.guards, loads)
        self.nodes: list[Node] = []
        self.own: set[tuple[Flight, Flight]] = set()
        self._at: dict[_Place, int] = {}
        first = {} if handed is None or not handed.readers[thread] else handed.start
        self._node(_Place(0, 0, self._entered(0, -1, with_values((), first))))
        for number, place in enumerate(self._starts()):
            self._fill(self.nodes[number], place)
        if handed is not None and handed.is_learning:
            handed.learn(self.nodes, [each.values for each in self._at])
        self.nodes = merged(self.nodes)
        if len(self.nodes) > MOST_NODES:
            raise LostError(TOO_LONG)

    def _starts(self) -> Iterator[_Place]:
        done = 0
        while done < len(self._at):
            yield list(self._at)[done]
            done += 1

    def _node(self, place: _Place) -> int:
        if place not in self._at:
            if len(self._at) >= _MOST_PLACES:
                raise LostError(TOO_LONG)
            self._at[place] = len(self.nodes)
            self.nodes.append(Node(place.flights, dict.fromkeys(place.flights)))
        return self._at[place]

    def _fill(self, node: Node, place: _Place) -> None:
        """Follow all paths from a place to the next events."""
        pending, seen = [place], set[_Place]()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > _MOST_STATES:
                raise LostError(TOO_LONG)
            block = place.block
            if block == self._flow.exit:
                node.is_end = True
                node.leaving |= dict.fromkeys(place.flights)
                continue
            if cases := self._cases(place):
                pending += cases
                continue
            for index in (each for each in self._at_work[block] if each >= place.start):
                event = self._events.get(index)
                if index in self._accesses:
                    for values in self._at_targets(event, place):
                        node.touches[Touch(index, self._read_by(index, values), event is None)] = None
                place = self._read_or_stored(index, self._flown(node, index, place))
                if event is None:
                    continue
                done = self._holds(event.guard, place.values)
                try:
                    if done is not False:
                        self._happens(node, event, place)
                except OpenError as error:
                    pending += [place._replace(start=index, values=each) for each in self._halves(place, error)]
                    break
                if done is True and not event.is_question:
                    break
                if event.act is Act.WAIT and event.answer is not None:
                    # It answers no, or is not executed: then nothing is known of the register.
                    values = with_values(place.values, {event.answer: FALSE if done is True else None})
                    place = place._replace(values=values)
            else:
                for target in self._flow.following[block]:
                    pending += self._behind(place, target)

    def _behind(self, place: _Place, target: int) -> list[_Place]:
        """The places behind an edge; none if a thread does not take it."""
        edge = self._tracked.put(self._kernel.edge(place.block, target))
        if self._holds(edge, place.values) is False:
            return []
        chosen = self._choices.decided(edge)
        values = with_values(place.values, chosen)
        if chosen and not self._choices.can_hold(values):
            return []
        count = self._tracked.count
        if count is not None:
            values = with_values(values, count.left(place.block, target, dict(values), self._tracked.exact))
        try:
            after = self._entered(target, place.block, values)
        except OpenError as error:
            halves = self._halves(place, error)
            return [each for values in halves for each in self._behind(place._replace(values=values), target)]
        after = tuple(each for each in after if each[0] not in self._choices.ended(target))
        if self._flow.is_back(place.block, target):
            # Less is kept than is known, so that there are fewer places.
            after = tuple(each for each in after if each[0] not in self._forgotten(target))
        live = self._live.at(target)
        after = tuple(each for each in after if each[0] in live or (self._handed and self._handed.is_kept(each[0])))
        first = 0 if target == self._flow.exit else self._flow.blocks[target].start
        return [place._replace(block=target, start=first, values=after)]

    def _holds(self, condition: Expr, values: Values) -> bool | None:
        count, known = self._tracked.count, dict(values)

        def value(atom: Expr) -> Expr:
            found = None if count is None else count.truth(atom, known, self._tracked.exact)
            return self._value(atom, values) if found is None else found

        return self._tracked.truth(self._tracked.put(condition), value)

    def _cases(self, place: _Place) -> list[_Place]:
        """The same place for each number that a count of the launch may be, if its block asks for it."""
        count = self._tracked.count
        need = 0 if count is None else self._need(place.block)
        if count is None or not need:
            return []
        known = dict(place.values).get(count.variable)
        cases = count.cases(known, need)
        return [place._replace(values=with_values(place.values, {count.variable: each})) for each in cases]

    def _need(self, block: int) -> int:
        """From which number on a block need not tell counts of the launch apart."""
        if block not in self._needs:
            self._needs[block] = self._tracked.need(block, self._events, self._flights.guards)
        return self._needs[block]

    def _forgotten(self, header: int) -> set[Var]:
        """What is not kept from one trip of a loop to the next one."""
        if header not in self._dropped:
            self._dropped[header] = self._tracked.forgotten(header, self._events)
        return self._dropped[header]

    def _flown(self, node: Node, index: int, place: _Place) -> _Place:
        """The place behind what an instruction does to what runs on."""
        done = self._holds(self._flights.guards.get(index, TRUE), place.values)
        how = self._flights.begins.get(index)
        if done is not False and how is not None:
            is_fenced = place.is_fenced and how in (Running.STORE, Running.PRODUCT)
            new = Flight(index, self._read_by(index, place.values), how, is_fenced=is_fenced)
            # Operations of the async proxy have no order with what is not fenced, and the other way around.
            self.own |= {(each, new) for each in place.flights if are_unordered(each.how, how)}
            node.running[new] = None
            return place._replace(flights=place.flights | {new})
        if done is True:
            left = self._flights.behind(index, place.flights)
            node.running |= dict.fromkeys(left)
            return place._replace(flights=left, is_fenced=place.is_fenced or index in self._flights.fences)
        return place

    def _read_or_stored(self, index: int, place: _Place) -> _Place:
        """The place behind a load or a store of a word that is followed."""
        handed = self._handed
        if handed is not None and index in handed.stores:
            new = handed.stored(index, lambda condition: self._holds(condition, place.values))
        elif handed is not None and index in handed.loads:
            new = handed.loaded(index, self._thread, place.values)
        else:
            return place
        return place._replace(values=with_values(place.values, new))

    def _read_by(self, index: int, values: Values) -> Values:
        """The values of what the addresses of an access read."""
        if index not in self._reads:
            addresses = [each.address for each in self._kernel.parts[index]]
            self._reads[index] = {*variables(*addresses, *map(self._choices.put, addresses))}
        return tuple(each for each in values if each[0] in self._reads[index])

    def _happens(self, node: Node, event: Event, place: _Place) -> None:
        values = place.values
        key = event.name if isinstance(event.name, int) else self._number(event, event.name, values)
        rank, left = self._target(event, place)
        if event.place is not None:
            key = normal(add(self._value(event.place, values), const(rank << RANK_BITS, 32)))
            self._choices.check_decided(key)
            if not are_all(self._kernel.leaves.of(key), ArrayLeaf):
                raise LostError(f"which barrier object line {self._line(event)} means is not known")
        numbers = [self._value(each, values) for each in (event.count, event.parity, event.bytes)]
        self._choices.check_decided(*numbers)
        count, parity, size = (each.value if isinstance(each, Const) else -1 for each in numbers)
        if min(count, parity, size) < 0:
            raise LostError(f"a count, a parity or the bytes of line {self._line(event)} are not known")
        after, last = values, place.last
        if event.act is Act.WAIT and event.answer is not None:
            after = with_values(values, {event.answer: const(1, 1)})
        if self._handed is not None:
            after = with_values(after, self._handed.passed(event, values))
        is_own = event.act is Act.WAIT and (event.state is not None or key == CLUSTER)
        if event.state is not None and is_own and not {(event.state, key), (key, event.state)} <= last:
            raise LostError(f"line {self._line(event)} waits with a state that is not that of its last arrival")
        if key == CLUSTER:
            if is_own and (key, key) not in last:
                raise LostError(f"line {self._line(event)} waits at the barrier of the cluster without an arrival")
            last = last - {(key, key)} if is_own else last | {(key, key)}
        elif event.act is Act.ARRIVE and self._states and not isinstance(key, int):
            last = _with_state(last, key, event.state)
        put = values if event.mask is None else with_values(values, self._kernel.ranks.put(event.index, rank))
        given = self._read_by(event.index, put) if event.act is Act.COPY else ()
        deed = Deed(event.act, event.index, key, count, parity & 1, size, given, is_own)
        is_named = isinstance(key, int) and key < MASKS
        if is_named and not count and event.count != const(0, 32):
            raise LostError(f"the threads of the barrier at line {self._line(event)} are none")
        flights = met(place.flights) if event.act is Act.SYNC and is_named else place.flights
        behind = place._replace(
            start=event.index + 1, values=after, last=last, flights=flights, copied=0, is_fenced=False
        )
        if left:
            behind = place._replace(start=event.index, copied=place.copied + 1, is_fenced=False)
        node.deeds[deed, self._node(behind)] = None

    def _ranks(self, event: Event, values: Values) -> list[int]:
        """The ranks of the blocks to which a copy goes."""
        mask = self._value(event.mask, values) if event.mask is not None else const(1, 16)
        if not isinstance(mask, Const) or not mask.value or mask.value >> self._kernel.ranks.count:
            raise LostError(f"to which blocks line {self._line(event)} copies is not known")
        return [rank for rank in range(self._kernel.ranks.count) if mask.value >> rank & 1]

    def _target(self, event: Event, place: _Place) -> tuple[int, int]:
        """The rank of the block to which a copy goes next, and to how many it goes then."""
        if event.mask is None:
            return 0, 0
        ranks = self._ranks(event, place.values)
        return ranks[place.copied], len(ranks) - place.copied - 1

    def _at_targets(self, event: Event | None, place: _Place) -> Iterator[Values]:
        """The values with the rank of each block that a copy has to go to; once for what goes to one block."""
        values, first = place.values, place.copied
        if event is None or event.mask is None or self._holds(event.guard, values) is False:
            yield values
            return
        yield from (
            with_values(values, self._kernel.ranks.put(event.index, each))
            for each in self._ranks(event, values)[first:]
        )

    def _number(self, event: Event, name: Expr, values: Values) -> int:
        """The number of a barrier that is named by a register."""
        number = self._value(name, values)
        self._choices.check_decided(number)
        if not isinstance(number, Const) or number.value == MASKS or (number.value < MASKS) is event.is_of_warp:
            raise LostError(f"which barrier line {self._line(event)} names is not known")
        return number.value

    def _halves(self, place: _Place, error: OpenError) -> list[Values]:
        """The values where a condition does not hold, and where it holds."""
        halves = (with_values(place.values, {error.choice: each}) for each in (FALSE, TRUE))
        return [each for each in halves if self._choices.can_hold(each)]

    def _line(self, event: Event) -> int:
        return self._kernel.function.instructions[event.index].line

    # ---- values

    def place_of(self, address: Expr, values: Values, coordinates: Mapping[Var, Expr] | None = None) -> Expr:
        """An address of this thread, or of another one, as far as it is known by what the leaves are."""
        coordinates = self._coordinates if coordinates is None else coordinates
        return normal(bounded(self._tracked.put_in(address, {**dict(values), **coordinates}, coordinates)))

    def destination(self, copy: Deed) -> Expr:
        """Where a copy begins to write."""
        return self.place_of(self._kernel.parts[copy.index][0].address, copy.values)

    def _value(self, value: Expr, values: Values) -> Expr:
        value = self._tracked.put(value)
        known = value, values
        if known not in self._memo:
            count = self._tracked.count
            given = {**self._coordinates, **dict(values)}
            if count is not None and not count.is_number(given.get(count.variable)):
                given.pop(count.variable, None)
            put = {each: given[each] for each in variables(value) if each in given}
            self._memo[known] = normal(bounded(substitute(value, put)))
        return self._memo[known]

    def _entered(self, target: int, source: int, values: Values) -> Values:
        """The values behind an edge: a trip begins, or the next one."""
        loop = self._flow.loop_at.get(target)
        if loop is None:
            return values
        is_back = source in loop.blocks
        new: dict[Var, Expr | None] = {}
        for variable in self._tracked.leaves:
            leaf = self._kernel.leaves[variable]
            if not isinstance(leaf, LoopLeaf):
                continue
            if leaf.block == target and variable in self._live.at(target):
                new[variable] = self._next(variable, values, is_back=is_back)
            elif leaf.block in loop.blocks:
                new[variable] = None  # an inner loop begins anew, or may be passed by
        return with_values(values, new)

    def _next(self, variable: Var, values: Values, *, is_back: bool) -> Expr:
        period = self._tracked.periods.get(variable)
        if period is not None:
            return self._next_trip(variable, period, values, is_back=is_back)
        carry = self._kernel.carried[variable]
        found = self._value(carry.after if is_back else carry.before, values)
        self._choices.check_decided(found)
        if any(not isinstance(self._kernel.leaves[each], UniformLeaf) for each in variables(found)):
            raise LostError(f"what a loop makes of {self._kernel.leaves[variable].reason} is not known")
        return self._tracked.kept(variable, found)

    def _next_trip(self, variable: Var, period: Period, values: Values, *, is_back: bool) -> Expr:
        if not is_back:
            return const(0, variable.width)
        after = add(dict(values)[variable], const(1, variable.width))
        return const(period.start, variable.width) if after == const(period.end, variable.width) else after


def _with_state(last: _Last, key: Expr, state: Register | None) -> _Last:
    """The states behind an arrival at an object, which writes its state to a register, or to none."""
    kept = frozenset(each for each in last if each[0] != key and each[0] != state)
    return kept if state is None else kept | {(key, state), (state, key)}

"""All runs of a few threads, with everything that the other threads may do to the barriers.

Two accesses without an order can be brought next to each other: what comes before either of them is itself
the begin of a run, and behind it both are the next ones. So it is enough to look at runs for moments at which
both threads are at their accesses. The other threads of the block are as fast or as slow as they like: a
phase completes at some time after the threads that are looked at have arrived in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple, TypeVar

from swzverify.compiled.order.events import MASKS, Act
from swzverify.compiled.order.nodes import Deed, Node, Touch
from swzverify.compiled.order.objects import Barrier, Key, scope_of
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.together import AllMoments, Being, Member
from swzverify.hardware import LANES

MOST_STATES: Final = 20_000
_MOST_FLIGHTS: Final = 40
_RETURNED: Final = (-1, -1)
_MOST_BYTES: Final = 1 << 24
_Value = TypeVar("_Value")


class _Object(NamedTuple):
    """A barrier at one moment: its phase modulo 2, who has arrived in it, and the bytes it still expects.

    `is_made` is false before a thread that is looked at has initialised it, and behind its `inval`. With `is_lost`, a
    thread has arrived in a later phase than others, which have not come so far: no wait for it passes any more.
    """

    phase: int
    arrived: tuple[bool, ...]
    bytes: int = 0
    is_made: bool = True
    is_lost: bool = False


class _Flight(NamedTuple):
    """A copy that runs: whose it is, what it writes, and the place of the barrier that it completes, -1 for none."""

    member: int
    touch: int
    at: int
    bytes: int


class _State(NamedTuple):
    """A moment of a run.

    `waits` has the place and the phase of the barrier at which a thread is held, or `_RETURNED`. A thread is `frozen`
    if it does nothing more that comes before what is looked at.
    """

    nodes: tuple[int, ...]
    waits: tuple[tuple[int, int] | None, ...]
    objects: tuple[_Object, ...]
    flights: tuple[_Flight, ...]
    frozen: frozenset[int] = frozenset()


class _Runs:
    def __init__(
        self,
        members: Sequence[Member],
        roles: Sequence[Role],
        barriers: Mapping[Key, Barrier],
        graphs: Sequence[Sequence[Node]],
        *,
        is_of_time: bool,
        is_of_first: bool,
    ) -> None:
        self._members, self._roles, self._barriers = members, roles, barriers
        self._graphs = graphs
        self._freezes = not is_of_time and any(each.portions for each in barriers.values())
        self._is_of_first = is_of_first
        self._keys: dict[tuple[Key, int], int] = {}
        """The place of each barrier that matters; those of masks are one for each warp."""
        used: dict[tuple[Key, int], set[tuple[int, Act]]] = {}
        for at in range(len(members)):
            for node in self._graphs[at]:
                for deed, _ in node.deeds:
                    used.setdefault(self._named(deed.key, at), set()).add((at, deed.act))
        for (key, warp), uses in used.items():
            takes_part = any(self._takes_part(key, warp, each) for each in members)
            known_by = barriers[key].copier, barriers[key].maker, barriers[key].ender, *barriers[key].portions
            is_known = takes_part or any(each.role in known_by for each in members)
            if is_known and self._is_asked(uses):
                self._keys[key, warp] = len(self._keys)
        self._shares = [tuple(self._takes_part(key, warp, each) for each in members) for key, warp in self._keys]
        self._of = [barriers[key] for key, _ in self._keys]
        self._has_parity = [_has_parity(used[each]) for each in self._keys]
        self._touches: dict[Touch, int] = {}
        self._couples = [*combinations(range(len(members)), 2)]
        self._is_odd = False
        """Whether a phase may be complete before copies that count in it are."""
        self.found = AllMoments({each: set() for each in self._couples})

    def asked(self) -> list[set[Key]]:
        """For each thread, the barriers at which what it does may have an effect."""
        keys = [{deed.key for node in graph for deed, _ in node.deeds} for graph in self._graphs]
        return [{key for key in of if self._named(key, at) in self._keys} for at, of in enumerate(keys)]

    def _is_asked(self, uses: Collection[tuple[int, Act]]) -> bool:
        """Whether a barrier may say what cannot be at one time, or whether the first thread arrives twice there."""
        has_waits = any(act in (Act.WAIT, Act.SYNC) for _, act in uses)
        # That nobody arrives twice is known where steps may be missing: only waits matter then.
        if self._freezes or self._is_of_first:
            return has_waits or (not self._freezes and any(who == 0 for who, _ in uses))
        # A barrier at which one thread alone does something holds nobody back: the others may have come at any time.
        return any(act is Act.COPY for _, act in uses) or len({who for who, _ in uses}) > 1

    def all(self, most: int, *, is_before_made: bool) -> tuple[AllMoments | None, int]:
        """Follow all runs, and count their states; None if there are more than `most`, or than are followed.

        With `is_before_made`, they end where every object is initialised.
        """
        nobody = tuple(False for _ in self._members)
        first = _State(
            tuple(0 for _ in self._members),
            tuple(None for _ in self._members),
            tuple(_Object(each.phase, nobody, is_made=not self._is_here(each.maker)) for each in self._of),
            (),
        )
        pending, seen = [first], {first}
        while pending:
            state = pending.pop()
            self._keep(state)
            if is_before_made and all(each.is_made for each in state.objects):
                continue
            for after in self._after(state):
                if after not in seen:
                    if len(seen) >= min(most, MOST_STATES) or self._is_odd or _is_odd(after):
                        return None, len(seen)
                    seen.add(after)
                    pending.append(after)
        return None if self._is_odd else self.found, len(seen)

    def _named(self, key: Key, at: int) -> tuple[Key, int]:
        return key, scope_of(key, self._members[at].thread, self._roles[self._members[at].role].rank)

    def _takes_part(self, key: Key, scope: int, member: Member) -> bool:
        barrier = self._barriers[key]
        if scope != scope_of(key, member.thread, self._roles[member.role].rank):
            return False
        if isinstance(key, int) and key >= MASKS:
            return bool(key - MASKS >> member.thread % LANES & 1)
        return member.role in barrier.shares or barrier.counts_returned

    def _keep(self, state: _State) -> None:
        nodes, found = state.nodes, self.found
        are = [self._is(state, who) for who in range(len(nodes))]
        for one, two in self._couples:
            found.nodes[one, two].add((nodes[one], nodes[two], are[one], are[two]))
        touches = list(self._touches) if state.flights else []
        for each in state.flights:
            found.copies |= {(each.member, touches[each.touch], who, nodes[who], are[who]) for who in range(len(nodes))}

    @staticmethod
    def _is(state: _State, who: int) -> Being:
        held = state.waits[who]
        if held is not None:
            return Being.GONE if held == _RETURNED else Being.HELD
        return Being.STOPPED if who in state.frozen else Being.FREE

    def _after(self, state: _State) -> Iterator[_State]:
        for who, at in enumerate(state.nodes):
            held = state.waits[who]
            if held == _RETURNED or who in state.frozen:
                continue
            if held is not None:
                if state.objects[held[0]].phase != held[1] and not state.objects[held[0]].is_lost:
                    yield state._replace(waits=_put(state.waits, who, None))
                continue
            node = self._graphs[who][at]
            if node.is_end:
                yield state._replace(waits=_put(state.waits, who, _RETURNED))
            for deed, target in node.deeds:
                after = self._done(state, who, deed)
                if after is not None:
                    yield after._replace(nodes=_put(after.nodes, who, target))
        asked = self._asked(state)
        for place, each in enumerate(state.objects):
            if self._completes(state, place, each) and place in asked:
                # Its copies land in any order before it. That some have landed early leaves less that runs.
                flying = tuple(flight for flight in state.flights if flight.at != place)
                nobody = tuple(False for _ in each.arrived)
                phase = 1 - each.phase if self._has_parity[place] else each.phase
                done = each._replace(phase=phase, arrived=nobody, bytes=0)
                frozen = state.frozen.union(self._lacking(state, place))
                waits = state.waits if self._has_parity[place] else self._released(state, place)
                yield state._replace(
                    objects=_put(state.objects, place, done), waits=waits, flights=flying, frozen=frozen
                )

    @staticmethod
    def _released(state: _State, place: int) -> tuple[tuple[int, int] | None, ...]:
        """What holds each thread once a phase is complete of which nobody asks the parity."""
        return tuple(
            None if held is not None and held[0] == place and who not in state.frozen else held
            for who, held in enumerate(state.waits)
        )

    def _asked(self, state: _State) -> set[int]:
        """The barriers on which a thread that is looked at does something next, or at which it is held.

        Nothing else sees whether a phase is complete. To complete it later leaves more that runs.
        """
        found: set[int] = set()
        for who, held in enumerate(state.waits):
            if held is None:
                node = self._graphs[who][state.nodes[who]]
                found |= {self._keys.get(self._named(deed.key, who), -1) for deed, _ in node.deeds}
            else:
                found.add(held[0])
        return found

    def _completes(self, state: _State, place: int, each: _Object) -> bool:
        """Whether a phase may be complete: all that are looked at have arrived, and its copies bring its bytes."""
        barrier = self._of[place]
        for who, takes_part in enumerate(self._shares[place]):
            has_returned = barrier.counts_returned and state.waits[who] == _RETURNED
            if takes_part and not each.arrived[who] and not has_returned:
                return False
        if each.is_lost:
            return False
        if barrier.portions:
            # What a thread did before it began a copy does not come before the end of the phase: it may be later.
            return each.is_made and (self._freezes or not self._lacking(state, place))
        copied = sum(flight.bytes for flight in state.flights if flight.at == place)
        self._is_odd |= copied > each.bytes
        return each.is_made and copied == each.bytes

    def _lacking(self, state: _State, place: int) -> list[int]:
        """The threads that have not copied all that they copy in a phase, where several threads copy."""
        portions = self._of[place].portions
        return [
            who
            for who, member in enumerate(self._members)
            if portions and self._copied(state, place, who) != portions.get(member.role, 0)
        ]

    def _passed(self, state: _State, who: int, place: int) -> _State | None:
        """The state if a thread arrives, or copies, in the next phase of an object; None if it does not happen.

        Then the phase before is complete. What completed it need not come before anything that is looked at. If this
        run lacks no arrival and no copy of that phase, another run has the step.
        """
        each = state.objects[place]
        are_here = zip(self._shares[place], each.arrived, strict=True)
        missing = {at for at, (takes_part, has_arrived) in enumerate(are_here) if takes_part and not has_arrived}
        missing |= {*self._lacking(state, place)}
        runs_on = any(flight.at == place for flight in state.flights)
        if not self._freezes or not (missing or runs_on):
            return None
        lost = state._replace(objects=_put(state.objects, place, each._replace(is_lost=True)))
        return lost._replace(frozen=lost.frozen | (missing - {who}))

    @staticmethod
    def _copied(state: _State, place: int, who: int) -> int:
        """The bytes that a thread has copied in the present phase of an object."""
        return sum(flight.bytes for flight in state.flights if (flight.at, flight.member) == (place, who))

    def _is_here(self, role: int | None) -> bool:
        """Whether a thread of a role is looked at."""
        return any(member.role == role for member in self._members)

    def _done(self, state: _State, who: int, deed: Deed) -> _State | None:
        """The state behind an event; None if it does not happen now."""
        place = self._keys.get(self._named(deed.key, who), -1)
        if deed.act is Act.INIT and place >= 0:
            made = state.objects[place]._replace(is_made=True)
            return state._replace(objects=_put(state.objects, place, made))
        if place >= 0 and not state.objects[place].is_made:
            self.found.unmade.add((who, deed.key))
            self._is_odd |= self._freezes
            return None
        if place >= 0 and state.objects[place].is_lost:
            return self._done_with_lost(state, who, deed, place)
        if deed.act is Act.COPY:
            is_late = place >= 0 and state.objects[place].arrived[who] and deed in self._of[place].late
            portion = self._of[place].portions.get(self._members[who].role) if place >= 0 else None
            if is_late or (portion is not None and self._copied(state, place, who) + deed.bytes > portion):
                self.found.early.add((who, deed.key))
                lost = self._passed(state, who, place)
                return None if lost is None else self._done_with_lost(lost, who, deed, place)
            return self._flying(state, who, deed, place)
        if place < 0:
            return state
        each = state.objects[place]
        match deed.act:
            case Act.END:
                flying = {flight.member for flight in state.flights if flight.at == place}
                self.found.unmade |= {(owner, deed.key) for owner in flying}
                # What shows that they have landed may be a step that is missing here.
                self._is_odd |= bool(flying) and self._freezes
                ended = each._replace(is_made=False)
                return None if flying else state._replace(objects=_put(state.objects, place, ended))
            case Act.WAIT:
                is_over = not each.arrived[who] if deed.is_own else each.phase != deed.parity
                return state if is_over else None
            case Act.EXPECT:
                more = each._replace(bytes=each.bytes + deed.bytes)
                return state._replace(objects=_put(state.objects, place, more))
            case _:
                if each.arrived[who]:
                    self.found.early.add((who, deed.key))
                    return self._passed(state, who, place)
                size = deed.bytes if deed.act is Act.ARRIVE and not self._of[place].portions else 0
                more = each._replace(arrived=_put(each.arrived, who, True), bytes=each.bytes + size)
                waits = _put(state.waits, who, (place, each.phase)) if deed.act is Act.SYNC else state.waits
                return state._replace(objects=_put(state.objects, place, more), waits=waits)

    def _flying(self, state: _State, who: int, deed: Deed, place: int) -> _State:
        """The state with a copy that runs."""
        touch = Touch(deed.index, deed.values, is_data=False)
        flight = _Flight(who, self._touches.setdefault(touch, len(self._touches)), place, deed.bytes)
        if place < 0 and flight in state.flights:
            return state
        return state._replace(flights=tuple(sorted((*state.flights, flight))))

    def _done_with_lost(self, state: _State, who: int, deed: Deed, place: int) -> _State | None:
        """The state behind an event on an object of which no phase ends any more."""
        match deed.act:
            case Act.COPY:
                return self._flying(state, who, deed, -1)
            case Act.WAIT:
                return None
            case Act.SYNC:
                return state._replace(waits=_put(state.waits, who, (place, state.objects[place].phase)))
            case Act.END:
                self._is_odd = True
                return None
            case _:
                return state


def moments_of(
    members: Sequence[Member],
    roles: Sequence[Role],
    barriers: Mapping[Key, Barrier],
    most: int,
    *,
    is_before_made: bool = False,
    is_of_time: bool = False,
    is_of_first: bool = False,
    graphs: Sequence[Sequence[Node]] | None = None,
) -> tuple[AllMoments | None, int]:
    """What can be at one time in a run of some threads, and the states of all runs; None if these are too many.

    With `is_before_made`, runs end where every object is initialised. With `is_of_time`, the runs are what some threads
    do in launches. Otherwise they have what comes before two accesses, and may lack other steps of a launch. With
    `is_of_first`, it is asked whether the first thread does something too early. `graphs` are those of the threads, if
    they are not what their roles have.
    """
    graphs = graphs or [roles[each.role].walk.nodes for each in members]
    is_of_time, is_of_first = is_of_time or is_before_made, is_of_first or is_before_made
    runs = _Runs(members, roles, barriers, graphs, is_of_time=is_of_time, is_of_first=is_of_first)
    return runs.all(most, is_before_made=is_before_made)


def _has_parity(uses: Collection[tuple[int, Act]]) -> bool:
    """Whether a thread may ask for the parity of a phase of a barrier. Otherwise all its phases are alike."""
    return any(act is Act.WAIT for _, act in uses)


def _is_odd(state: _State) -> bool:
    """Whether there may be ever more copies or bytes, or a part of what is copied may complete a phase.

    A copy may count its bytes in pieces: if less is expected than is copied, no piece is known to be the last.
    """
    copied: dict[int, int] = {}
    for each in state.flights:
        copied[each.at] = copied.get(each.at, 0) + each.bytes
    return len(state.flights) > _MOST_FLIGHTS or any(
        abs(each.bytes) > _MOST_BYTES or 0 < each.bytes < copied.get(at, 0) for at, each in enumerate(state.objects)
    )


def _put(values: tuple[_Value, ...], at: int, value: _Value) -> tuple[_Value, ...]:
    return (*values[:at], value, *values[at + 1 :])


def asked_keys(
    members: Sequence[Member],
    roles: Sequence[Role],
    barriers: Mapping[Key, Barrier],
    graphs: Sequence[Sequence[Node]],
    *,
    is_of_time: bool,
    is_of_first: bool,
) -> list[set[Key]]:
    """For each of some threads, the barriers at which it does something that their runs cannot leave out."""
    return _Runs(members, roles, barriers, graphs, is_of_time=is_of_time, is_of_first=is_of_first).asked()

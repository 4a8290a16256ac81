"""What the barriers of parts of a block leave without an order: named ones, those of masks, barrier objects.

The threads of a block fall into roles (`roles`), whose barriers have to add up (`objects`). All runs of two
threads, and of others that help to see their order (`interleaved`), say at which accesses both can be at one
time. Each set of threads gives too many such moments, never too few: what all sets have in common counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from swzverify.compiled.kernel.clusters import IS_IN_ORDER, IS_LINEAR, stray_address
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.boxes import Boxes, boxes_of, with_boxes
from swzverify.compiled.order.complete_phases import with_complete_phases
from swzverify.compiled.order.events import CLUSTER, MASKS, Act, Event, LostError, events_of
from swzverify.compiled.order.flights import Values
from swzverify.compiled.order.handed import Handed, handed_by
from swzverify.compiled.order.interleaved import ACTIVE, MOST_STATES, Being, Member, Moments, moments_of
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.objects import Barrier, Key, arrivals_of, barriers_of, name_of, scope_of
from swzverify.compiled.order.projections import Projections
from swzverify.compiled.order.roles import Role, roles_of
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.tracked import Tracked
from swzverify.hardware import LANES
from swzverify.ir.expr import Const, Expr, Var, const, substitute

_ARRIVALS: Final = (Act.ARRIVE, Act.LEAVE)
_MOST_HELPERS: Final = 6
LEVELS: Final = 3
"""Threads that may help two others: none, one, two."""
_MOST_WORK: Final = 300_000
"""States of all runs of a kernel."""
MOST_MOMENTS: Final = 600
_Both = TypeVar("_Both")


def pipelines_of(kernel: Kernel, never: Callable[[Expr], bool]) -> Pipelines:
    """The order by such barriers. `never` says whether a condition is shown not to hold.

    Raises:
        LostError: Something about them is not known, or is not right.
    """
    events = events_of(kernel)
    is_cluster = kernel.ranks.count > 1
    handed = None if is_cluster else handed_by(kernel, events)
    tracked = Tracked(kernel, events, never, () if handed is None else handed.leaves)
    if tracked.open_leaf is not None:
        raise LostError(f"a barrier depends on {kernel.leaves[tracked.open_leaf].reason}")
    roles = roles_of(kernel, events, tracked, handed)
    if outside := [index for index, each in kernel.ranks.outside.items() if not never(each)]:
        line = kernel.function.instructions[outside[0]].line
        raise LostError(f"line {line} may name a block that the cluster has not")
    if stray := stray_address(kernel.function) if is_cluster else None:
        raise LostError(f"line {stray.line} makes another value of an address in another block")
    if not is_cluster:
        with_complete_phases(roles, events)
    with_boxes(roles, boxes := boxes_of(kernel, roles, events, never))
    found = Pipelines(kernel, roles, barriers_of(kernel, roles), events, tracked)
    if early := found.early():
        raise LostError(early)
    kernel.give_boxes(boxes.copied)
    found.boxes, found.handed = boxes, handed
    return found


class Pipelines:
    """The order by barriers of parts of a block. `events` are the instructions that are known."""

    def __init__(
        self,
        kernel: Kernel,
        roles: list[Role],
        barriers: Mapping[Key, Barrier],
        events: Mapping[int, Event],
        tracked: Tracked,
    ) -> None:
        self._kernel, self.roles, self._barriers, self._tracked = kernel, roles, barriers, tracked
        self.events = events
        self.boxes = Boxes({}, {})
        self.handed: Handed | None = None
        self._left = _MOST_WORK
        self._is_by_warp = any(isinstance(key, int) and key >= MASKS for key in barriers)
        """Whether it matters which threads are in one warp."""
        self._moments: dict[tuple[bool, tuple[Member | int, ...]], Moments | None] = {}
        self._known_helpers: dict[tuple[Member, ...], list[Member]] = {}
        self._projections = Projections(roles, barriers, is_whole=kernel.ranks.count == 1)
        self._at = [self._places(role) for role in roles]

    @property
    def named(self) -> list[int]:
        """The barriers with a number at which threads meet wherever they stand; `__syncthreads()` is none of them."""
        return [
            each.index
            for each in self.events.values()
            if _is_named(each) and (each.count != const(0, 32) or self._is_met_by_all(each.name))
        ]

    @property
    def partial(self) -> list[int]:
        """The barriers with a number or of the cluster, and the operations on objects."""
        return [*self.named, *(each.index for each in self.events.values() if each.place is not None)]

    @property
    def assumptions(self) -> list[str]:
        """What the order assumes of the launch, a sentence each."""

        def line(index: int) -> int:
            return self._kernel.function.instructions[index].line

        sizes = sorted((line(index), size) for index, size in self.boxes.copied.items())
        found = [f"the box of the tensor map at line {at} has {size} bytes" for at, size in sizes]
        sizes = sorted((line(index), size) for index, size in self.boxes.expected.items())
        found += [f"the launch says that line {at} announces {size} bytes" for at, size in sizes]
        if self._kernel.ranks.count > 1:
            found += [IS_LINEAR, IS_IN_ORDER]
        count = self._tracked.count
        return found if count is None else [*found, count.assumption]

    @property
    def objects(self) -> list[Expr]:
        """The addresses of all barrier objects."""
        return [each for each in self._barriers if not isinstance(each, int)]

    def meet(self, role: int, threads: Sequence[int]) -> bool:
        """Whether all of some threads take part in each barrier with a number at which a thread of a role waits."""
        deeds = (deed for node in self.roles[role].walk.nodes for deed, _ in node.deeds)
        waited = {deed.key for deed in deeds if isinstance(deed.key, int) and deed.key < MASKS}
        of_threads = [at for at, each in enumerate(self.roles) if not set(each.threads).isdisjoint(threads)]
        return all(at in self._barriers[key].shares for key in waited for at in of_threads)

    def _is_met_by_all(self, name: Expr | int) -> bool:
        """Whether all threads of the block come equally often to a barrier without a count."""
        found = {arrivals_of(each.walk, name) for each in self.roles} if isinstance(name, int) and name else {None}
        return len(found) == 1 and None not in found

    def early(self) -> str:
        """At which barrier a thread may arrive before its phase is complete, or before it is made, in words.

        Empty if at none.
        """
        for place, role in enumerate(self.roles):
            deeds = [deed for node in role.walk.nodes for deed, _ in node.deeds]
            member = Member(role.threads[0], place)
            used = {deed.key for deed in deeds if deed.act is not Act.INIT}
            unmade = self._unmade(member, used) or self._ended(member, used)
            if unmade is not None:
                return unmade
            copied = {deed.key for deed in deeds if deed.act is Act.COPY}
            keys = {deed.key for deed in deeds if deed.act in _ARRIVALS}
            keys |= {key for key in copied if self._barriers[key].portions}
            is_cut = False
            for group in self._groups([member], LEVELS - 1) if keys else ():
                moments = self._of(group, is_of_time=True)
                is_cut |= moments is None
                if moments is not None:
                    keys &= {key for who, key in moments.early if who == 0}
                if not keys:
                    break
            if keys and is_cut:
                return _cut(member)
            if keys:
                return f"thread {member.thread} may arrive or copy twice in one phase of {name_of(min(keys, key=str))}"
        return ""

    def _unmade(self, member: Member, keys: set[Key]) -> str | None:
        """Which barrier a thread may use before its maker has initialised it, in words; None if there is none."""
        makers = {self._barriers[key].maker for key in keys} - {None}
        for role in sorted(each for each in makers if each is not None):
            both = tuple(dict.fromkeys((member, Member(self.roles[role].threads[0], role))))
            moments, _ = moments_of(both, self.roles, self._barriers, MOST_STATES, is_before_made=True)
            of_maker = {key for key in keys if self._barriers[key].maker == role}
            if moments is None:
                return _cut(member)
            of_maker &= {key for who, key in moments.unmade if who == 0}
            if of_maker:
                return f"thread {member.thread} may use {name_of(min(of_maker, key=str))} before it is initialised"
        return None

    def _ended(self, member: Member, keys: set[Key]) -> str | None:
        """Which barrier a thread may use behind its `inval`, in words; None if there is none."""
        enders = {self._barriers[key].ender for key in keys} - {None}
        for role in sorted(each for each in enders if each is not None):
            both = list(dict.fromkeys((member, Member(self.roles[role].threads[0], role))))
            of_ender, is_cut = {key for key in keys if self._barriers[key].ender == role}, False
            for group in self._groups(both, LEVELS - 1):
                moments = self._of(group, is_of_time=True)
                is_cut |= moments is None
                if moments is not None:
                    of_ender &= {key for who, key in moments.unmade if who == 0}
                if not of_ender:
                    break
            if of_ender and is_cut:
                return _cut(member)
            if of_ender:
                name = name_of(min(of_ender, key=str))
                return f"thread {member.thread} may still use {name} at its `mbarrier.inval`"
        return None

    def moments(self, accesses: tuple[SharedAccess, SharedAccess], couple: Couple, level: int) -> list[Moment] | None:
        """When two threads are at two accesses at one time, as `level` threads beside them show it.

        None if nothing is known of it.
        """
        if any(each.is_copy and not each.is_bulk for each in accesses):
            return None
        found: dict[Moment, None] = {}
        first, second = (each.index for each in accesses)
        is_any_lane = any(each.is_collective for each in accesses)
        for one, at_first in enumerate(self._at):
            for two, at_second in enumerate(self._at):
                if first not in at_first or second not in at_second or (couple is Couple.SELF and one != two):
                    continue
                for pair, is_one_warp in self.pairs(one, two, couple):
                    if self._are_in_two_blocks((first, one, ()), (second, two, ())):
                        continue
                    common = self.common(pair, level, self._values, (first, second))
                    if common is None:
                        return None
                    threads = None if is_any_lane else (self.roles[one].threads, self.roles[two].threads)
                    for values in common:
                        addresses = self.address(accesses[0], values[0]), self.address(accesses[1], values[1])
                        found[Moment(addresses, threads, None if is_any_lane else is_one_warp)] = None
                    if len(found) > MOST_MOMENTS:
                        return None
        return list(found)

    # ---- threads

    def pairs(self, one: int, two: int, couple: Couple) -> Iterator[tuple[list[Member], bool]]:
        """Two threads of two roles, in one warp and in two, as far as there are such; one thread for itself."""
        threads = self.roles[one].threads
        if couple is Couple.SELF:
            yield [Member(threads[0], one)], True
            return
        is_seen = (self.roles[one].rank != self.roles[two].rank) is (couple is Couple.RANKS)
        first_of_warps = {each // LANES: each for each in reversed(threads)}
        for is_one_warp in (True, False) if is_seen else ():
            if (couple is Couple.WARPS and is_one_warp) or (couple is Couple.LANES and not is_one_warp):
                continue
            for thread in reversed(first_of_warps.values()):
                first = Member(thread, one)
                other = self._other(two, [first], thread, is_one_warp=is_one_warp)
                if other is not None:
                    yield [first, other], is_one_warp
                    break

    def _other(self, role: int, known: list[Member], beside: int, *, is_one_warp: bool | None) -> Member | None:
        """A thread of a role in the warp of another thread, in another warp, or in any if that is None."""
        taken = {each.thread for each in known}
        others = (each for each in self.roles[role].threads if each not in taken)
        fits = (each for each in others if is_one_warp in (None, each // LANES == beside // LANES))
        return next((Member(each, role) for each in fits), None)

    def _groups(self, members: list[Member], most: int) -> Iterator[tuple[Member, ...]]:
        """Some threads, and these with others that they wait for: one, and one more for both, up to `most`."""
        yield tuple(members)
        for helper in self._helpers(members) if most else ():
            yield (*members, helper)
        helpers = self._helpers(members) if most > 1 else []
        both = {frozenset((one, two)): (one, two) for one in helpers for two in self._helpers([*members, one])}
        yield from ((*members, *each) for each in both.values())

    def _helpers(self, members: list[Member]) -> list[Member]:
        """Threads that arrive where some of the members wait, a few of them."""
        key = tuple(members)
        if key not in self._known_helpers:
            self._known_helpers[key] = self._find_helpers(members)
        return self._known_helpers[key]

    def _find_helpers(self, members: list[Member]) -> list[Member]:
        waited = {key for each in members for key in self._keys(each, (Act.WAIT, Act.SYNC))}
        found: dict[Member, None] = {}
        for member in members:
            for is_one_warp in (True, False) if self._is_by_warp else (None,):
                for role in range(len(self.roles)):
                    other = self._other(role, members, member.thread, is_one_warp=is_one_warp)
                    if other is not None and waited & self._keys(other, (Act.ARRIVE, Act.LEAVE, Act.SYNC, Act.COPY)):
                        found[other] = None
        return list(found)[:_MOST_HELPERS]

    def _keys(self, member: Member, acts: tuple[Act, ...]) -> set[tuple[Key, int]]:
        """The barriers at which a thread does something; those of masks with its warp, those of the block left out."""
        deeds = (deed for node in self.roles[member.role].walk.nodes for deed, _ in node.deeds if deed.act in acts)
        keys = {deed.key for deed in deeds}
        return {
            (key, scope_of(key, member.thread, self.roles[member.role].rank))
            for key in keys
            if not isinstance(key, int) or key >= MASKS or not self._barriers[key].counts_returned
        }

    # ---- moments

    def _of(self, members: tuple[Member, ...], *, is_of_time: bool = False) -> Moments | None:
        is_of_time = is_of_time or not any(each.portions for each in self._barriers.values())
        key = is_of_time, members if self._is_by_warp else tuple(each.role for each in members)
        if key not in self._moments:
            found, states = self._projections.moments(members, self._left, is_of_time=is_of_time)
            self._moments[key] = found
            self._left = max(0, self._left - states)
        return self._moments[key]

    def common(
        self,
        members: list[Member],
        level: int,
        found_at: Callable[[tuple[Member, ...], Moments, tuple[int, int], bool], Iterator[_Both]],
        accesses: tuple[int, int],
        *,
        is_of_time: bool = False,
    ) -> set[_Both] | None:
        """What is found at the moments of every group of threads around some; None if no group says it.

        With `is_of_time`, it is asked what can be at one time, and not what has no order.
        """
        found: set[_Both] | None = None
        for group in self._groups(members, level):
            moments = self._of(group, is_of_time=is_of_time)
            if moments is None:
                continue
            values = set(found_at(group, moments, accesses, len(members) == 1))
            found = values if found is None else found & values
            if not found:
                break
        return found

    def _values(
        self,
        members: tuple[Member, ...],
        moments: Moments,
        accesses: tuple[int, int],
        is_self: bool,
    ) -> Iterator[tuple[Values, Values]]:
        """The values of both threads when they are at two accesses, as far as these may reach one block."""
        one, two = members[0].role, members[0 if is_self else 1].role
        for mine, its in self._all_values(members, moments, accesses, is_self):
            if not self._are_in_two_blocks((accesses[0], one, mine), (accesses[1], two, its)):
                yield mine, its

    def _are_in_two_blocks(self, first: tuple[int, int, Values], second: tuple[int, int, Values]) -> bool:
        """Whether two accesses, by instructions, roles and values, surely reach the memory of two blocks."""
        ranks = [self._rank_of(*each) for each in (first, second)]
        return None not in ranks and ranks[0] != ranks[1]

    def _rank_of(self, index: int, role: int, values: Values) -> int | None:
        """The rank of the block whose memory an access reaches; None if it may be several."""
        target = self._kernel.ranks.targets.get(index)
        if target is not None:
            found = dict(values).get(target)
            return found.value if isinstance(found, Const) else None
        may_leave = self._kernel.ranks.may_leave(self._kernel.function.instructions[index])
        return None if may_leave else self.roles[role].rank

    def _all_values(
        self, members: tuple[Member, ...], moments: Moments, accesses: tuple[int, int], is_self: bool
    ) -> Iterator[tuple[Values, Values]]:
        first, second = accesses
        at = [self._at[each.role] for each in members]
        copies = [self.events[each].act is Act.COPY if each in self.events else False for each in accesses]
        # A copy runs from when it has begun: at its place it is about to begin.
        for one, two, mine_is, its_is in moments.nodes if not is_self and not any(copies) else ():
            if {mine_is, its_is} <= ACTIVE:
                for mine in at[0].get(first, {}).get(one, ()):
                    yield from ((mine, its) for its in at[1].get(second, {}).get(two, ()))
        for owner, copy, who, node, being in moments.copies:
            is_first, is_second = (being is Being.FREE or (being in ACTIVE and not each) for each in copies)
            if is_self and (owner, who) == (0, 0) and copy.index == first and is_second:
                yield from ((copy.values, its) for its in at[0].get(second, {}).get(node, ()))
            if not is_self and (owner, who) == (0, 1) and copy.index == first and is_second:
                yield from ((copy.values, its) for its in at[1].get(second, {}).get(node, ()))
            if not is_self and (owner, who) == (1, 0) and copy.index == second and is_first:
                yield from ((mine, copy.values) for mine in at[0].get(first, {}).get(node, ()))

    @staticmethod
    def _places(role: Role) -> dict[int, dict[int, list[Values]]]:
        """For each access, the nodes of its role at which it may be made, with the values then."""
        found: dict[int, dict[int, list[Values]]] = {}
        for at, node in enumerate(role.walk.nodes):
            for touch in node.touches:
                found.setdefault(touch.index, {}).setdefault(at, []).append(touch.values)
        return found

    def address(self, access: SharedAccess, values: Values) -> Expr:
        """The address of an access with the numbers of what is tracked."""
        known: dict[Var, Expr] = dict(values)
        pins = {each: known[each] for each in self._tracked.pinned(access.address) if each in known}
        return substitute(access.address, pins)


def _is_named(event: Event) -> bool:
    return not isinstance(event.name, int) or 0 <= event.name < MASKS or event.name == CLUSTER


def _cut(member: Member) -> str:
    return f"the runs of thread {member.thread} and of those that it waits for have too many states"

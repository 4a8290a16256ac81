"""What the barriers of parts of a block leave without an order: named ones, those of masks, barrier objects.

The threads of a block fall into roles (`roles`), whose barriers have to add up (`objects`). All runs of two
threads, and of others that help to see their order (`interleaved`), say at which accesses both can be at one
time. Each set of threads gives too many such moments, never too few: what all sets have in common counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Final

from swzverify.compiled.kernel.clusters import IS_IN_ORDER, IS_LINEAR, stray_address
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.at_nodes import made_at
from swzverify.compiled.order.boxes import Boxes, boxes_of, with_boxes
from swzverify.compiled.order.complete_phases import with_complete_phases
from swzverify.compiled.order.events import MASKS, Act, Event, LostError, events_of
from swzverify.compiled.order.flights import Values
from swzverify.compiled.order.groups import Groups
from swzverify.compiled.order.handed import Handed, handed_by
from swzverify.compiled.order.interleaved import MOST_STATES, moments_of
from swzverify.compiled.order.masks import mutual_masks
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.objects import Barrier, Key, arrivals_of, barriers_of, name_of
from swzverify.compiled.order.roles import Role, roles_of
from swzverify.compiled.order.store_boxes import AT_MOST, most_of_stores
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.together import ACTIVE, Being, Member, Moments
from swzverify.compiled.order.tracked import Tracked
from swzverify.ir.expr import Const, Expr, const

_ARRIVALS: Final = (Act.ARRIVE, Act.LEAVE)
MOST_MOMENTS: Final = 600


def pipelines_of(kernel: Kernel, never: Callable[[Expr], bool]) -> Pipelines:
    """The order by such barriers. `never` says whether a condition is shown not to hold.

    Raises:
        LostError: Something about them is not known, or is not right.
    """
    events = events_of(kernel)
    is_cluster = kernel.ranks.count > 1
    handed = None if is_cluster else handed_by(kernel, events)
    loaded, guards = ((), ()) if handed is None else (handed.leaves, handed.guards)
    tracked = Tracked(kernel, events, never, loaded, guards)
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
    at_most = most_of_stores(kernel, roles, boxes.copied)
    kernel.give_boxes(boxes.copied | at_most)
    found.boxes, found.handed = boxes._replace(at_most=at_most), handed
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
        self.boxes = Boxes({}, {}, {})
        self.handed: Handed | None = None
        self.groups = Groups(roles, barriers, has_ranks=kernel.ranks.count > 1)
        self._at = [self._places(role) for role in roles]
        self._made = [made_at(role.walk) for role in roles]
        self._waited: dict[int, set[Key]] = {}
        """The barriers with a number at which the threads of a role wait."""

    @property
    def named(self) -> list[int]:
        """The barriers with a number at which threads meet wherever they stand; `__syncthreads()` is none of them."""
        return [
            each.index
            for each in self.events.values()
            if each.name != -1 and not each.is_of_warp
            if each.count != const(0, 32) or self._is_met_by_all(each.name)
        ]

    @property
    def of_lanes(self) -> list[int]:
        """The barriers of `named`, and those of parts of warps where lanes that name each other do so with one mask."""
        return [*self.named, *mutual_masks(self.roles, self.events)]

    @property
    def partial(self) -> list[int]:
        """The barriers with a number, of the cluster or of parts of warps, and the operations on objects."""
        return [*self.of_lanes, *(each.index for each in self.events.values() if each.place is not None)]

    @property
    def assumptions(self) -> list[str]:
        """What the order assumes of the launch, a sentence each."""

        def line(index: int) -> int:
            return self._kernel.function.instructions[index].line

        sizes = sorted((line(index), size) for index, size in self.boxes.copied.items())
        found = [f"the box of the tensor map at line {at} has {size} bytes" for at, size in sizes]
        sizes = sorted((line(index), size) for index, size in self.boxes.at_most.items())
        found += [AT_MOST.format(at, size) for at, size in sizes]
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
        if role not in self._waited:
            deeds = (deed for node in self.roles[role].walk.nodes for deed, _ in node.deeds)
            self._waited[role] = {deed.key for deed in deeds if isinstance(deed.key, int) and deed.key < MASKS}
        of_threads = [at for at, each in enumerate(self.roles) if not set(each.threads).isdisjoint(threads)]
        return all(at in self._barriers[key].shares for key in self._waited[role] for at in of_threads)

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
            for group in self.groups.around([member]) if keys else ():
                moments = self.groups.of_first(group)
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
            for group in self.groups.around(both):
                moments = self.groups.of_first(group)
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
        is_of_copy = any(each.is_copy and not each.is_bulk for each in accesses)
        if is_of_copy and (couple is Couple.SELF or any(each.is_bulk for each in accesses)):
            return None
        find = self._values_of_copies if is_of_copy else self._values
        found: dict[Moment, None] = {}
        first, second = (each.index for each in accesses)
        is_any_lane = any(each.is_collective for each in accesses)
        made = self._made if is_of_copy else self._at
        for one, of_first in enumerate(made):
            for two, of_second in enumerate(made):
                if first not in of_first or second not in of_second or (couple is Couple.SELF and one != two):
                    continue
                for pair, is_one_warp in self.groups.pairs(one, two, couple):
                    if self._are_in_two_blocks((first, one, ()), (second, two, ())):
                        continue
                    common = self.groups.common(pair, level, find, (first, second))
                    if common is None:
                        return None
                    threads = None if is_any_lane else (self.roles[one].threads, self.roles[two].threads)
                    for values in common:
                        addresses = self.address(accesses[0], values[0]), self.address(accesses[1], values[1])
                        found[Moment(addresses, threads, None if is_any_lane else is_one_warp)] = None
                    if len(found) > MOST_MOMENTS:
                        return None
        return list(found)

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

    def _values_of_copies(
        self, members: tuple[Member, ...], moments: Moments, accesses: tuple[int, int], is_self: bool
    ) -> Iterator[tuple[Values, Values]]:
        """The same where one access or both are `cp.async`, which run until their threads wait for them."""
        assert not is_self  # noqa: S101 - what a thread does to its own copies is no question of moments
        one, two = (self._made[each.role] for each in members[:2])
        for place, made in one.get(accesses[0], {}).items():
            its = two.get(accesses[1], {})
            for both in chain.from_iterable(
                product(made, its[each]) for each in its.keys() & moments.nodes.get(place, set())
            ):
                if not self._are_in_two_blocks(
                    (accesses[0], members[0].role, both[0]), (accesses[1], members[1].role, both[1])
                ):
                    yield both

    def _are_in_two_blocks(self, first: tuple[int, int, Values], second: tuple[int, int, Values]) -> bool:
        """Whether two accesses, by instructions, roles and values, surely reach the memory of two blocks."""
        if self._kernel.ranks.count == 1:
            return False
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
        for one, of_first in at[0].get(first, {}).items() if not is_self and not any(copies) else ():
            there = {
                two for being in ACTIVE for two, its_is in moments.nodes.get((one, being), set()) if its_is in ACTIVE
            }
            for two in there:
                yield from product(of_first, at[1].get(second, {}).get(two, ()))
        other = 0 if is_self else 1
        for (node, being), running in moments.running(first, 0, other).items():
            if being is Being.FREE or (being in ACTIVE and not copies[1]):
                yield from product(running, at[other].get(second, {}).get(node, ()))
        for (node, being), running in moments.running(second, 1, 0).items() if not is_self else ():
            if being is Being.FREE or (being in ACTIVE and not copies[0]):
                yield from product(at[0].get(first, {}).get(node, ()), running)

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
        return self._tracked.put_in(access.address, dict(values))


def _cut(member: Member) -> str:
    return f"the runs of thread {member.thread} and of those that it waits for have too many states"

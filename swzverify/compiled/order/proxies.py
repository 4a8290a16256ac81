"""When operations of the async proxy run, and what of the block's memory other threads write meanwhile.

`wgmma` reads for all threads of its warp group: it begins when one of them has issued it, and is complete behind the
wait of any of them. Threads that wait alike have all that comes before the issue of one of them before their own. So
any of these may stand for the operation, and the one that helps most counts.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, product

from swzverify.compiled.kernel.arithmetic import add, sub
from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.lanes import GROUP_THREADS
from swzverify.compiled.kernel.leaves import largest_parts
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import SHARED_WINDOW
from swzverify.compiled.kernel.tiles import Range, range_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.acquires import are_alike
from swzverify.compiled.order.at_nodes import made_at, running_at
from swzverify.compiled.order.flights import Flight, Running, Values
from swzverify.compiled.order.instance import Couple
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.pipelines import MOST_MOMENTS, Pipelines
from swzverify.compiled.order.step import BlockThreads
from swzverify.compiled.order.together import Member, Moments
from swzverify.hardware import LANES
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Expr, Var, const, postorder, substitute, variables

_Seen = tuple[Values, Values]


class Proxies:
    """The moments at which operations of the async proxy run. `never` says whether a condition is shown not to hold.

    Attributes:
        is_in_window: Whether an address is taken from a descriptor that can name no higher one.
        is_window_aligned: Whether the low bits of a generic address are taken as those of the shared one.
        has_products: Whether it is decided when `wgmma` has read, which one wait says for a whole warp group.
    """

    def __init__(self, kernel: Kernel, pipelines: Pipelines, never: Callable[[Expr], bool]) -> None:
        self._kernel, self._pipelines, self._never = kernel, pipelines, never
        self._threads = BlockThreads(kernel.block)
        self.is_in_window = self.is_window_aligned = self.has_products = False
        self._ranges: dict[tuple[int, OperandRole, Expr], Range | None] = {}
        self._one: dict[tuple[Expr, int], bool] = {}
        self._places: dict[tuple[Expr, Values], Expr] = {}
        self._read: dict[tuple[int, OperandRole, Expr, Values, int], Range | None] = {}
        self._places_of_one: dict[tuple[Expr, int], Expr] = {}
        self._known_alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
        walks = [role.walk for role in pipelines.roles]
        self._at = [running_at(each) for each in walks]
        running = [each for walk in walks for node in walk.nodes for each in node.running]
        self._in_doubt = {each.index for each in running if each.how is Running.PRODUCT and not each.is_fenced}
        """Products that some thread of their warp group may issue without a fence behind its last event."""
        self._unfenced = [running_at(each, self._is_unfenced) for each in walks]
        self._made = [made_at(each) for each in walks]

    def moments(self, one: SharedAccess, two: SharedAccess, level: int) -> list[Moment] | None:
        """When an operation runs while a thread makes the other access, or what it wrote is not fenced.

        None if nothing is known of it. `level` is the number of threads that help. Where `is_one_warp` of a moment
        is None, one thread may make both.
        """
        found: dict[Moment, None] = {}
        for place in range(len(self._pipelines.roles)):
            if not self._makes(place, two):
                continue
            new = (
                self._of_products(one, two, place, level)
                if one.operand is not None
                else self._of_thread(one, two, place, level)
            )
            if new is None:
                return None
            found |= new
            if len(found) > MOST_MOMENTS:
                return None
        return list(found)

    # ---- who

    def _of_products(self, one: SharedAccess, two: SharedAccess, other: int, level: int) -> dict[Moment, None] | None:
        """The moments at which a product runs, for each warp group and the threads of another role."""
        roles, found = self._pipelines.roles, dict[Moment, None]()
        makers = [place for place in range(len(roles)) if self._makes(place, one)]
        groups = {thread // GROUP_THREADS for place in makers for thread in roles[place].threads}
        for group in sorted(groups):
            of_group = tuple(range(GROUP_THREADS * group, GROUP_THREADS * (group + 1)))
            inside = tuple(each for each in roles[other].threads if each // GROUP_THREADS == group)
            outside = tuple(each for each in roles[other].threads if each // GROUP_THREADS != group)
            alike = self._alike(makers, of_group)
            if inside:
                is_met = two.is_bulk or self._pipelines.meet(other, of_group)
                if other not in alike or not is_met:
                    return None
                member = Member(inside[0], other)
                seen = self._seen([member], one, two, level)
                new_moments = None if seen is None else self._moments_of(seen, one, two, member, (of_group, inside))
                if new_moments is None:
                    return None
                found |= new_moments
            if outside:
                together: dict[Moment, None] | None = None
                for place in alike:
                    member = Member(next(e for e in roles[place].threads if e in of_group), place)
                    seen = self._seen([member, Member(outside[0], other)], one, two, level)
                    new = None if seen is None else self._moments_of(seen, one, two, member, (of_group, outside))
                    if new is not None:
                        together = new if together is None else _common(together, new)
                if together is None:
                    return None
                found |= together
        self.has_products |= bool(makers)
        return found

    def _alike(self, makers: list[int], group: tuple[int, ...]) -> list[int]:
        """The roles of a warp group that wait alike, if threads of these are in each of its warps."""
        key = tuple(makers), group
        if key not in self._known_alike:
            self._known_alike[key] = self._find_alike(makers, group)
        return self._known_alike[key]

    def _find_alike(self, makers: list[int], group: tuple[int, ...]) -> list[int]:
        roles, found = self._pipelines.roles, list[int]()
        pending = [place for place in makers if not set(group).isdisjoint(roles[place].threads)]
        while pending:
            same = [place for place in pending if are_alike(roles[pending[0]].walk, roles[place].walk)]
            warps = {each // LANES for place in same for each in roles[place].threads if each in group}
            if len(warps) == len(group) // LANES:
                found += same
            pending = [place for place in pending if place not in same]
        return found

    def _of_thread(self, one: SharedAccess, two: SharedAccess, other: int, level: int) -> dict[Moment, None] | None:
        """The moments at which a copy runs, for each thread that starts it and the threads of another role."""
        roles, found = self._pipelines.roles, dict[Moment, None]()
        for place, role in enumerate(roles):
            if not self._makes(place, one):
                continue
            couples: list[tuple[list[Member], bool | None]] = list(
                self._pipelines.groups.pairs(place, other, Couple.ANY)
            )
            couples += self._pipelines.groups.pairs(place, other, Couple.RANKS)
            if place == other:
                couples.append(([Member(role.threads[0], place)], None))
            for members, is_one_warp in couples:
                seen = self._seen(members, one, two, level)
                if seen is None:
                    return None
                threads = (role.threads, roles[other].threads)
                new_moments = self._moments_of(seen, one, two, members[0], threads, is_one_warp)
                if new_moments is None:
                    return None
                found |= new_moments
        return found

    def _moments_of(
        self,
        seen: set[_Seen],
        one: SharedAccess,
        two: SharedAccess,
        member: Member,
        threads: tuple[tuple[int, ...], tuple[int, ...]],
        is_one_warp: bool | None = None,
    ) -> dict[Moment, None] | None:
        """Moments by the values of both accesses; None if the bytes of an operand are not known."""
        found: dict[Moment, None] = {}
        if two.is_collective:
            # Any lane of a warp may make the access of another one.
            warps = {each // LANES for each in threads[1]}
            threads = (
                threads[0],
                tuple(each for each in range(len(self._threads.first_of_warp)) if each // LANES in warps),
            )
            is_one_warp = None
        for first, second in seen:
            mine, its = self._range(one, first, member), self._range(two, second, member)
            if mine is None or its is None:
                return None
            addresses, widths = (mine.address, its.address), (mine.width_bytes, its.width_bytes)
            of_ones = self._of_one(mine, threads[0]).address, self._of_one(its, threads[1]).address
            # Other stages of a ring, or other blocks.
            if Moment(of_ones, threads, is_one_warp, widths).surely_meets(self._kernel.leaves) is False:
                continue
            found[Moment(addresses, threads, is_one_warp, widths)] = None
        return found

    # ---- when

    def _seen(self, members: list[Member], one: SharedAccess, two: SharedAccess, level: int) -> set[_Seen] | None:
        """The values of both at the moments that every group of threads around some has."""
        is_load = two.is_bulk or one.is_write
        if len(members) == 1 and not is_load:
            own = self._pipelines.roles[members[0].role].walk.own
            pairs = {(a, b) for a, b in own if {a.index, b.index} == {one.index, two.index}}
            pairs = {(a, b) for a, b in pairs if not (a.how is Running.UNMET and a.is_met) or self._is_unfenced(b)}
            return {(a.values, b.values) if a.index == one.index else (b.values, a.values) for a, b in pairs}
        find = self._with_load if is_load else self._with_write
        return self._pipelines.groups.common(members, level, find, (one.index, two.index))

    def _with_write(
        self,
        members: tuple[Member, ...],
        moments: Moments,
        accesses: tuple[int, int],
        is_self: bool,
    ) -> Iterator[_Seen]:
        """An operation that reads, and a write that another thread makes, or has made without a fence.

        Where the thread of the operation has executed the fence behind its last event, a write counts only while it is
        made.
        """
        assert not is_self  # noqa: S101 - a thread's own writes are those of its walk
        reader, writer = members[0].role, members[1].role
        made, there = (of[writer].get(accesses[1], {}) for of in (self._made, self._at))
        unfenced = self._unfenced[reader].get(accesses[0], {})
        for place, mine in self._at[reader].get(accesses[0], {}).items():
            others = moments.nodes.get(place, set())
            yield from chain.from_iterable(product(mine, made[each]) for each in made.keys() & others)
            if place in unfenced:
                its = (there[each] for each in there.keys() & others)
                yield from chain.from_iterable(product(unfenced[place], each) for each in its)

    def _with_load(
        self,
        members: tuple[Member, ...],
        moments: Moments,
        accesses: tuple[int, int],
        is_self: bool,
    ) -> Iterator[_Seen]:
        """A bulk copy that writes, and an operation that reads or a write that is not fenced, in either order."""
        first, second = accesses
        other = 0 if is_self else 1
        mine, its = self._at[members[0].role].get(first, {}), self._at[members[other].role].get(second, {})
        of_first, of_second = moments.running(first, 0, other), moments.running(second, other, 0)
        yield from chain.from_iterable(product(of_first[each], its[each]) for each in of_first.keys() & its.keys())
        yield from chain.from_iterable(product(mine[each], of_second[each]) for each in of_second.keys() & mine.keys())

    def _is_unfenced(self, flight: Flight) -> bool:
        """Whether a write that comes before the last event of who issues an operation may be without a fence."""
        return not flight.is_fenced or flight.index in self._in_doubt

    def _makes(self, place: int, access: SharedAccess) -> bool:
        is_load = access.is_bulk and access.is_write
        nodes = self._pipelines.roles[place].walk.nodes
        if is_load:
            return any(deed.index == access.index for node in nodes for deed, _ in node.deeds)
        return access.index in self._at[place]

    # ---- where

    def places(self, access: SharedAccess) -> list[Range] | None:
        """All bytes that an operation touches at some time; None if they are not known."""
        found: dict[Range, None] = {}
        for place, role in enumerate(self._pipelines.roles):
            values = {each for there in self._at[place].get(access.index, {}).values() for each in there}
            for node in role.walk.nodes:
                values |= {deed.values for deed, _ in node.deeds if deed.index == access.index}
            groups = {each // GROUP_THREADS: each for each in role.threads}
            for each in values:
                for thread in groups.values():
                    new = self._range(access, each, Member(thread, place))
                    if new is None:
                        return None
                    found[self._of_one(new, role.threads)] = None
        return list(found)

    def _of_one(self, found: Range, threads: tuple[int, ...]) -> Range:
        """The bytes that an access touches, with the coordinates of its thread if only one makes it."""
        first, *others = threads
        if others:
            return found
        if (found.address, first) not in self._places_of_one:
            point = {name: int(values[first]) for name, values in self._threads.point.items()}
            there: dict[Var, Expr] = {
                each: const(point[each.name], each.width) for each in variables(found.address) if each.name in point
            }
            self._places_of_one[found.address, first] = normal(bounded(substitute(found.address, there)))
        return replace(found, address=self._places_of_one[found.address, first])

    def _range(self, access: SharedAccess, values: Values, member: Member) -> Range | None:
        """The bytes that an access touches; those of an operand as all threads of a warp group read them."""
        if access.operand is None:
            place = access.address, values
            if place not in self._places:
                self._places[place] = normal(bounded(self._pipelines.address(access, values)))
            return Range(self._places[place], access.width_bytes)
        of_group = access.index, access.operand, access.address, values, member.thread
        if of_group not in self._read:
            self._read[of_group] = self._find_read(access, access.operand, values, member)
        return self._read[of_group]

    def _find_read(self, access: SharedAccess, operand: OperandRole, values: Values, member: Member) -> Range | None:
        address = self._pipelines.address(access, values)
        if not self._is_one(address, member.thread // GROUP_THREADS):
            return None
        there: dict[Var, Expr] = {
            each: const(int(self._threads.point[each.name][member.thread]), each.width)
            for each in variables(address)
            if each.name in self._threads.point
        }
        descriptor = substitute(address, there)
        self.is_in_window = True
        self.is_window_aligned |= any(each.name == SHARED_WINDOW for each in variables(descriptor))
        key = access.index, operand, descriptor
        if key not in self._ranges:
            leaves = self._kernel.leaves
            self._ranges[key] = range_of(access.instruction, operand, descriptor, leaves, self._never)
        found, rank = self._ranges[key], member.thread // self._kernel.ranks.threads
        return found and replace(found, address=normal(add(found.address, const(rank << RANK_BITS, 32))))

    def _is_one(self, descriptor: Expr, group: int) -> bool:
        """Whether the coordinates of threads do not tell the descriptors of a warp group apart."""
        key = descriptor, group
        if key not in self._one:
            threads = slice(GROUP_THREADS * group, GROUP_THREADS * (group + 1))
            point = {name: values[threads] for name, values in self._threads.point.items()}
            parts = largest_parts(descriptor, lambda leaf: leaf.name in point)
            is_narrow = all(node.width <= MAX_ARRAY_WIDTH for each in parts for node in postorder(each))
            self._one[key] = is_narrow and all(
                bool((values == values.flat[0]).all()) for values in evaluate_many(parts, point)
            )
        return self._one[key]


def _common(some: dict[Moment, None], others: dict[Moment, None]) -> dict[Moment, None]:
    """The moments that may be among others, too: the same address may be written in two ways."""
    return {each: None for each in some if each in others or any(_may_be_one(each, other) for other in others)}


def _may_be_one(one: Moment, two: Moment) -> bool:
    distances = (sum_of(sub(a, b)) for a, b in zip(one.addresses, two.addresses, strict=True))
    return all(each.terms or not each.number for each in distances)

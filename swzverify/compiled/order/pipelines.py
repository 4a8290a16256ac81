"""What the barriers of parts of a block leave without an order: named ones, those of masks, barrier objects.

The threads of a block fall into roles (`roles`), whose barriers have to add up (`objects`). All runs of two
threads, and of others that help to see their order (`interleaved`), say at which accesses both can be at one
time. Each set of threads gives too many such moments, never too few: what all sets have in common counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from swzverify.compiled.kernel.whole import Kernel, SharedAccess
from swzverify.compiled.order.events import Act, Event, events_of
from swzverify.compiled.order.interleaved import Member, Moments, moments_of
from swzverify.compiled.order.objects import Barrier, Key, barriers_of
from swzverify.compiled.order.pairs import Moment
from swzverify.compiled.order.roles import MASKS, Role, roles_of
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.tracked import Tracked
from swzverify.compiled.order.walk import LostError, Values
from swzverify.hardware import LANES
from swzverify.ir.expr import Expr, Var, const, substitute

_ARRIVALS: Final = (Act.ARRIVE, Act.LEAVE)
_MOST_HELPERS: Final = 6
LEVELS: Final = 3
"""Threads that may help two others: none, one, two."""
_MOST_MOMENTS: Final = 600


def pipelines_of(kernel: Kernel, never: Callable[[Expr], bool]) -> Pipelines | None:
    """The order by such barriers; None if something about them is not known, or is not right.

    `never` says whether a condition is shown not to hold.
    """
    events = events_of(kernel)
    if not events:
        return None
    tracked = Tracked(kernel, events, never)
    if not tracked.is_complete:
        return None
    try:
        roles = roles_of(kernel, events, tracked)
        found = Pipelines(roles, barriers_of(kernel, roles), events, tracked)
    except LostError:
        return None
    return found if found.is_exact() else None


class Pipelines:
    """The order by barriers of parts of a block. `events` are the instructions that are known."""

    def __init__(
        self, roles: list[Role], barriers: Mapping[Key, Barrier], events: Mapping[int, Event], tracked: Tracked
    ) -> None:
        self._roles, self._barriers, self._tracked = roles, barriers, tracked
        self.events = events
        self._moments: dict[tuple[Member, ...], Moments | None] = {}
        self._at = [self._places(role) for role in roles]

    @property
    def named(self) -> list[int]:
        """The barriers with a number and a count of threads."""
        return [each.index for each in self.events.values() if 0 <= each.name < MASKS and each.count != const(0, 32)]

    @property
    def partial(self) -> list[int]:
        """The named barriers and the operations on objects."""
        return [*self.named, *(each.index for each in self.events.values() if each.place is not None)]

    def is_exact(self) -> bool:
        """Whether no thread arrives again at a barrier before its phase is complete, or before it is made."""
        for place, role in enumerate(self._roles):
            deeds = [deed for node in role.walk.nodes for deed, _ in node.deeds]
            member = Member(role.threads[0], place)
            if not self._are_made(member, {deed.key for deed in deeds if deed.act is not Act.INIT}):
                return False
            keys = {deed.key for deed in deeds if deed.act in _ARRIVALS}
            for group in self._groups([member], LEVELS - 1) if keys else ():
                moments = self._of(group)
                if moments is not None:
                    keys &= {key for who, key in moments.early if who == 0}
                if not keys:
                    break
            if keys:
                return False
        return True

    def _are_made(self, member: Member, keys: set[Key]) -> bool:
        """Whether a thread uses no object before its maker has initialised it."""
        makers = {self._barriers[key].maker for key in keys} - {None}
        for role in sorted(each for each in makers if each is not None):
            both = dict.fromkeys((member, Member(self._roles[role].threads[0], role)))
            of_maker = {key for key in keys if self._barriers[key].maker == role}
            for group in self._groups(list(both), 1):
                moments = self._of(group)
                if moments is not None:
                    of_maker &= {key for who, key in moments.unmade if who == 0}
                if not of_maker:
                    break
            if of_maker:
                return False
        return True

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
                for pair, is_one_warp in self._pairs(one, two, couple):
                    common = self._common(pair, first, second, level)
                    if common is None:
                        return None
                    threads = None if is_any_lane else (self._roles[one].threads, self._roles[two].threads)
                    for values in common:
                        addresses = self._address(accesses[0], values[0]), self._address(accesses[1], values[1])
                        found[Moment(addresses, threads, None if is_any_lane else is_one_warp)] = None
                    if len(found) > _MOST_MOMENTS:
                        return None
        return list(found)

    # ---- threads

    def _pairs(self, one: int, two: int, couple: Couple) -> Iterator[tuple[list[Member], bool]]:
        """Two threads of two roles, in one warp and in two, as far as there are such; one thread for itself."""
        first = Member(self._roles[one].threads[0], one)
        if couple is Couple.SELF:
            yield [first], True
            return
        for is_one_warp in (True, False):
            if (couple is Couple.WARPS and is_one_warp) or (couple is Couple.LANES and not is_one_warp):
                continue
            other = self._other(two, [first], first.thread, is_one_warp=is_one_warp)
            if other is not None:
                yield [first, other], is_one_warp

    def _other(self, role: int, known: list[Member], beside: int, *, is_one_warp: bool) -> Member | None:
        """A thread of a role in the warp of another thread, or in another warp."""
        taken = {each.thread for each in known}
        for thread in self._roles[role].threads:
            if thread not in taken and (thread // LANES == beside // LANES) is is_one_warp:
                return Member(thread, role)
        return None

    def _groups(self, members: list[Member], most: int) -> Iterator[tuple[Member, ...]]:
        """Some threads, and these with others that they wait for: one, and one more for both, up to `most`."""
        yield tuple(members)
        for helper in self._helpers(members) if most else ():
            yield (*members, helper)
        for helper in self._helpers(members) if most > 1 else ():
            yield from ((*members, helper, other) for other in self._helpers([*members, helper]))

    def _helpers(self, members: list[Member]) -> list[Member]:
        """Threads that arrive where some of the members wait, a few of them."""
        waited = {key for each in members for key in self._keys(each, (Act.WAIT, Act.SYNC))}
        found: dict[Member, None] = {}
        for member in members:
            for is_one_warp in (True, False):
                for role in range(len(self._roles)):
                    other = self._other(role, members, member.thread, is_one_warp=is_one_warp)
                    if other is not None and waited & self._keys(other, (Act.ARRIVE, Act.LEAVE, Act.SYNC, Act.COPY)):
                        found[other] = None
        return list(found)[:_MOST_HELPERS]

    def _keys(self, member: Member, acts: tuple[Act, ...]) -> set[tuple[Key, int]]:
        """The barriers at which a thread does something; those of masks with its warp, those of the block left out."""
        deeds = (deed for node in self._roles[member.role].walk.nodes for deed, _ in node.deeds if deed.act in acts)
        keys = {deed.key for deed in deeds}
        return {
            (key, member.thread // LANES if isinstance(key, int) and key >= MASKS else -1)
            for key in keys
            if not isinstance(key, int) or key >= MASKS or not self._barriers[key].counts_returned
        }

    # ---- moments

    def _of(self, members: tuple[Member, ...]) -> Moments | None:
        if members not in self._moments:
            self._moments[members] = moments_of(members, self._roles, self._barriers)
        return self._moments[members]

    def _common(self, members: list[Member], first: int, second: int, level: int) -> set[tuple[Values, Values]] | None:
        """The values of both at such moments, which every group of threads has; None if no group says it."""
        found: set[tuple[Values, Values]] | None = None
        for group in self._groups(members, level):
            moments = self._of(group)
            if moments is None:
                continue
            values = set(self._values(group, moments, first, second, is_self=len(members) == 1))
            found = values if found is None else found & values
            if not found:
                break
        return found

    def _values(
        self, members: tuple[Member, ...], moments: Moments, first: int, second: int, *, is_self: bool
    ) -> Iterator[tuple[Values, Values]]:
        at = [self._at[each.role] for each in members]
        for one, two in moments.nodes if not is_self else ():
            for mine in at[0].get(first, {}).get(one, ()):
                yield from ((mine, its) for its in at[1].get(second, {}).get(two, ()))
        for owner, copy, who, node in moments.copies:
            if is_self and (owner, who) == (0, 0) and copy.index == first:
                yield from ((copy.values, its) for its in at[0].get(second, {}).get(node, ()))
            if not is_self and (owner, who) == (0, 1) and copy.index == first:
                yield from ((copy.values, its) for its in at[1].get(second, {}).get(node, ()))
            if not is_self and (owner, who) == (1, 0) and copy.index == second:
                yield from ((mine, copy.values) for mine in at[0].get(first, {}).get(node, ()))

    @staticmethod
    def _places(role: Role) -> dict[int, dict[int, list[Values]]]:
        """For each access, the nodes of its role at which it may be made, with the values then."""
        found: dict[int, dict[int, list[Values]]] = {}
        for at, node in enumerate(role.walk.nodes):
            for touch in node.touches:
                found.setdefault(touch.index, {}).setdefault(at, []).append(touch.values)
        return found

    def _address(self, access: SharedAccess, values: Values) -> Expr:
        known: dict[Var, Expr] = dict(values)
        pins = {each: known[each] for each in self._tracked.pinned(access.address) if each in known}
        return substitute(access.address, pins)

"""Threads that are looked at together: two of them, and others that help to see their order.

Each set of threads that holds two gives a set of moments that is too large, so what all sets have in common counts.
Threads that wait for each other have the fewest runs: such sets are looked at first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeVar

from swzverify.compiled.order.events import MASKS, Act
from swzverify.compiled.order.interleaved import MOST_STATES
from swzverify.compiled.order.objects import Barrier, Key, scope_of
from swzverify.compiled.order.projections import Projections
from swzverify.compiled.order.roles import Role
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.together import AllMoments, Member, Moments
from swzverify.hardware import LANES

_WAITS: Final = (Act.WAIT, Act.SYNC)
_ARRIVALS: Final = (Act.ARRIVE, Act.LEAVE, Act.SYNC, Act.COPY)
_MOST_HELPERS: Final = 6
LEVELS: Final = 3
"""How hard it is tried: two threads; the others that help most; one or two others, whatever that takes."""
_FEW_HELPERS: Final = 3
_FEW_STATES: Final = 4_000
"""States of a set of threads but on the last level."""
_PROJECTED_STATES: Final = 8_000
"""The same of projections, where all barriers have too many."""
_FEW_MEMBERS: Final = 3
_STATES_OF_FEW: Final = MOST_STATES
"""The same of projections of at most `_FEW_MEMBERS` threads: more states cost less than other sets of threads."""
_TRIED_STATES: Final = 1_000
"""The same of sets of threads once one of them has had too many."""
_MOST_WORK: Final = 400_000
"""States of all runs of a kernel."""
_MOST_OF_LAST: Final = 100_000
"""Once so many are spent, the last level is not tried any more."""
_Both = TypeVar("_Both")
_Found = Callable[[tuple[Member, ...], Moments, tuple[int, int], bool], Iterator[_Both]]


class Groups:
    """The sets of threads of a kernel, and what can be at one time in their runs.

    The runs of several blocks are looked at in projections, as `has_ranks` says. Those of one block are if they have
    too many states.
    """

    def __init__(self, roles: Sequence[Role], barriers: Mapping[Key, Barrier], *, has_ranks: bool) -> None:
        self._roles, self._barriers = roles, barriers
        has_stages = sum(not isinstance(key, int) for key in barriers) > 1
        self._projections = [
            Projections(roles, barriers, is_whole=is_whole)
            for is_whole in ([False] if has_ranks else [True, False] if has_stages else [True])
        ]
        self._left, self._is_large = _MOST_WORK, False
        self._is_by_warp = any(isinstance(key, int) and key >= MASKS for key in barriers)
        """Whether it matters which threads are in one warp."""
        self._has_portions = any(each.portions for each in barriers.values())
        self._moments: dict[tuple[bool, bool, tuple[Member | int, ...]], tuple[AllMoments | None, int]] = {}
        self._known_helpers: dict[tuple[Member, ...], list[Member]] = {}

    # ---- threads

    def pairs(self, one: int, two: int, couple: Couple) -> Iterator[tuple[list[Member], bool]]:
        """Two threads of two roles, in one warp and in two, as far as there are such; one thread for itself."""
        threads = self._roles[one].threads
        if couple is Couple.SELF:
            yield [Member(threads[0], one)], True
            return
        is_seen = (self._roles[one].rank != self._roles[two].rank) is (couple is Couple.RANKS)
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
        others = (each for each in self._roles[role].threads if each not in taken)
        fits = (each for each in others if is_one_warp in (None, each // LANES == beside // LANES))
        return next((Member(each, role) for each in fits), None)

    # ---- sets

    def around(self, members: list[Member]) -> Iterator[tuple[Member, ...]]:
        """Some threads, and these with one or two others that they wait for."""
        yield tuple(members)
        helpers = self._helpers(members)
        yield from ((*members, each) for each in helpers)
        both = {frozenset((one, two)): (one, two) for one in helpers for two in self._helpers([*members, one])}
        yield from ((*members, *each) for each in both.values())

    def _best(self, members: list[Member]) -> Iterator[tuple[Member, ...]]:
        """Some threads with the one or two others that help most."""
        helpers = self._helpers(members)[:_FEW_HELPERS]
        yield from ((*members, each) for each in helpers[:1])
        yield from ((*members, *each) for each in combinations(helpers, 2))
        yield from ((*members, each) for each in helpers[1:])

    def _helpers(self, members: list[Member]) -> list[Member]:
        """Threads that arrive where some of the members wait, a few of them; first those that help most."""
        key = tuple(members)
        if key not in self._known_helpers:
            found = sorted(self._find_helpers(members), key=lambda each: self._help(each, members), reverse=True)
            self._known_helpers[key] = found[:_MOST_HELPERS]
        return self._known_helpers[key]

    def _find_helpers(self, members: list[Member]) -> list[Member]:
        waited = {key for each in members for key in self._keys(each, _WAITS)}
        found: dict[Member, None] = {}
        for member in members:
            for is_one_warp in (True, False) if self._is_by_warp else (None,):
                for role in range(len(self._roles)):
                    other = self._other(role, members, member.thread, is_one_warp=is_one_warp)
                    if other is not None and waited & self._keys(other, _ARRIVALS):
                        found[other] = None
        return list(found)

    def _help(self, helper: Member, members: list[Member]) -> tuple[int, int]:
        """For how many of the members a thread ties what they do to what the others do, and by how many barriers."""
        arrives, waits = self._keys(helper, _ARRIVALS), self._keys(helper, _WAITS)
        leads = [len(self._keys(each, _WAITS) & arrives) for each in members]
        follows = [len(self._keys(each, _ARRIVALS) & waits) for each in members]
        return 2 * sum(map(bool, leads)) + sum(map(bool, follows)), sum(leads) + sum(follows)

    def _keys(self, member: Member, acts: tuple[Act, ...]) -> set[tuple[Key, int]]:
        """The barriers at which a thread does something; those of masks with its warp, those of the block left out."""
        deeds = (deed for node in self._roles[member.role].walk.nodes for deed, _ in node.deeds if deed.act in acts)
        keys = {deed.key for deed in deeds}
        return {
            (key, scope_of(key, member.thread, self._roles[member.role].rank))
            for key in keys
            if not isinstance(key, int) or key >= MASKS or not self._barriers[key].counts_returned
        }

    # ---- moments

    def of_first(self, members: tuple[Member, ...]) -> AllMoments | None:
        """What can be at one time, where it is asked what the first thread does too early; None if it is too much."""
        key = True, True, members if self._is_by_warp else tuple(each.role for each in members)
        return self._run(key, members, MOST_STATES)

    def _of(self, members: tuple[Member, ...], most: int, *, is_of_time: bool) -> AllMoments | None:
        key = (
            is_of_time or not self._has_portions,
            False,
            members if self._is_by_warp else tuple(e.role for e in members),
        )
        return self._run(key, members, most)

    def _run(
        self, key: tuple[bool, bool, tuple[Member | int, ...]], members: tuple[Member, ...], most: int
    ) -> AllMoments | None:
        found, tried = self._moments.get(key, (None, 0))
        for each in self._projections if tried < most else ():
            if found is not None:
                break
            # Where one set of threads has too many states with all barriers, most others have.
            limit = min(most, _TRIED_STATES) if each.is_whole and self._is_large else most
            if len(self._projections) > 1 and not each.is_whole:
                limit = max(most, _STATES_OF_FEW if len(members) <= _FEW_MEMBERS else _PROJECTED_STATES)
            limit = min(limit, self._left)
            found, states = each.moments(members, limit, is_of_time=key[0], is_of_first=key[1])
            self._left = max(0, self._left - states)
            self._is_large |= each.is_whole and len(self._projections) > 1 and states >= MOST_STATES
            # What is given up before its limit is given up with any.
            self._moments[key] = found, most if found is None and states >= limit else MOST_STATES
        return found

    def common(
        self,
        members: list[Member],
        level: int,
        found_at: _Found[_Both],
        accesses: tuple[int, int],
        *,
        is_of_time: bool = False,
    ) -> set[_Both] | None:
        """What is found at the moments of every set of threads around some; None if no set says it.

        With `is_of_time`, it is asked what can be at one time, and not what has no order.
        """
        found: set[_Both] | None = None
        large: list[set[Member]] = []
        for group, most in self._tried(members, level):
            if self._is_large and any(each <= set(group) for each in large):
                continue
            order = sorted(range(len(group)), key=lambda at: (group[at].role, group[at].thread))
            whole = self._of(tuple(group[at] for at in order), most, is_of_time=is_of_time)
            if whole is None:
                large += [set(group)] if len(group) > len(members) else []
                continue
            moments = whole.of(order.index(0), order.index(len(members) - 1))
            values = set(found_at(group, moments, accesses, len(members) == 1))
            found = values if found is None else found & values
            if not found:
                break
        return found

    def _tried(self, members: list[Member], level: int) -> Iterator[tuple[tuple[Member, ...], int]]:
        """The sets of threads of a level, and how many states each may have."""
        yield tuple(members), _FEW_STATES
        yield from ((each, _FEW_STATES) for each in (self._best(members) if level else ()))
        for each in self.around(members) if level == LEVELS - 1 else ():
            if self._left <= _MOST_WORK - _MOST_OF_LAST:
                return
            yield each, MOST_STATES

"""What has to be impossible: two threads touch a common byte by two accesses that can meet.

Arrays do not overlap, and an access stays in the array that its address names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from swzverify.compiled.kernel.arithmetic import either, less, sub, widened
from swzverify.compiled.kernel.leaves import ArrayLeaf, begin_of
from swzverify.compiled.kernel.linear import MOST_TERMS, Sum, normal, sum_of
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.compiled.order.alike import write_one_value
from swzverify.compiled.order.families import Family, signed
from swzverify.compiled.order.in_memory import is_in_memory
from swzverify.compiled.order.instance import BASE, Instances, Place, Uses, without_overlap
from swzverify.compiled.order.intervals import ENTRY, Choice, Meeting, Trip, Trips, Way
from swzverify.compiled.order.joins import Ends
from swzverify.compiled.order.memory_bounds import Bounds
from swzverify.compiled.order.moments import Moment
from swzverify.compiled.order.question import Question, Whole
from swzverify.compiled.order.residues import sums_by_residues
from swzverify.compiled.order.threads import Couple, Thread, any_of, is_among
from swzverify.hardware import LANES
from swzverify.ir.expr import (
    Comparison,
    Expr,
    compare,
    conjunction,
    conjuncts,
    const,
    extract,
    negation,
    variables,
)

Starts: TypeAlias = tuple[Expr, ...]
"""Where some arrays start."""


class Asked:
    """Two accesses of one meeting, as two threads make them; with `moments`, only at one of these."""

    def __init__(
        self,
        instances: Instances,
        meeting: Meeting,
        accesses: tuple[SharedAccess, SharedAccess],
        moments: Sequence[Moment] | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.instances, self.meeting, self.accesses, self._moments = instances, meeting, accesses, moments
        self._bounds = bounds
        self.kernel, self.sharing, self.couple = instances.kernel, instances.sharing, instances.couple
        self._whole: Whole | None = None

    @property
    def are_writes(self) -> bool:
        """Whether both accesses write a value and do nothing else."""
        return all(each.is_plain_write for each in self.accesses)

    @property
    def key(self) -> tuple[int, int]:
        """The two instructions."""
        return self.meeting.first, self.meeting.second

    def at(self, moments: Sequence[Moment]) -> Asked:
        """The same at some moments alone."""
        return Asked(self.instances, self.meeting, self.accesses, moments)

    def within(self, bounds: Bounds) -> Asked:
        """The same where each access stays within its array."""
        return Asked(self.instances, self.meeting, self.accesses, self._moments, bounds)

    def counted_from(self, first: int) -> Asked:
        """The same where the earliest relative trip is a given one."""
        return Asked(self.instances, self.meeting.counted_from(first), self.accesses)

    def is_in_step(self) -> bool:
        """Whether the trips of all loops with a barrier around the accesses are known."""
        known = [{header for header, trip in trips if trip.number is not None} for trips in self.meeting.trips]
        return all(
            loop.header in known[who] or not self.sharing.has_barrier(loop.header)
            for who, access in enumerate(self.accesses)
            for loop in self.kernel.around(access.index)
        )

    def families(self) -> tuple[tuple[Family, int], ...]:
        """What coordinates decide of the distance, and the number in it; conditions on more are left out.

        If both addresses divide a trip by a small number, there is one for each residue of the trip.
        There is none if more than coordinates decides it, or if the distance may go round.
        """
        if any(each.is_bulk for each in self.accesses):
            return ()
        one, two = self._sums
        found = self.instances.kept(("family", *self._alike), self._family)
        if found is None:
            return ()
        family, rest = found
        numbers = [(two.number - one.number) % ADDRESSES]
        if rest[0].terms != rest[1].terms:
            rests = [Sum(part.terms, each.number, each.width) for part, each in zip(rest, (one, two), strict=True)]
            trips = variables(*rest[0].terms, *rest[1].terms)
            cases = sums_by_residues(rests, [each for each in trips if each.name.startswith(BASE)])
            if any(one.terms != two.terms for one, two in cases):
                return ()
            numbers = [(two.number - one.number) % ADDRESSES for one, two in cases]
        distances = dict.fromkeys(map(signed, numbers))
        if not all(map(family.is_near, distances)):
            return ()
        return tuple((family, each) for each in distances)

    def _family(self) -> tuple[Family, Sequence[Sum]] | None:
        """What coordinates are in both sums, as a family, and the rest of both; None if there is none."""
        instances, threads = self.instances, self.instances.threads
        places, sums = self._places(instances), self._sums
        coordinates = {each for thread in threads for each in (*thread.own, *thread.shared)}
        own = [{t: c for t, c in each.terms.items() if coordinates & set(variables(t))} for each in sums]
        if any(not coordinates.issuperset(variables(*terms)) for terms in own):
            return None
        rest = [
            Sum({t: c for t, c in each.terms.items() if t not in terms}, 0, each.width)
            for each, terms in zip(sums, own, strict=True)
        ]
        trips = [each for each in variables(*rest[0].terms, *rest[1].terms) if each.name.startswith(BASE)]
        if rest[0].terms != rest[1].terms and not trips:
            return None
        guards: list[Expr] = []
        for who, (access, place) in self._both(places):
            parts = [
                *conjuncts(instances.bounded.of(instances.value(access.who.guard, who, place))),
                *self._exists(access, threads[who]),
            ]
            mine = {*threads[who].own, *threads[who].shared}
            guards.append(conjunction(each for each in parts if mine.issuperset(variables(each))))
        one, two = self.accesses
        found = instances.families.of(
            [Sum(terms, 0, 32) for terms in own],
            (guards[0], guards[1]),
            (one.width_bytes, two.width_bytes),
            are_two=self._are_two(),
        )
        return None if found is None else (found, rest)

    def question(self, way: Way | None = None) -> Question:
        """Whether they meet; with a way, only by it."""
        one, two = self._sums
        if self._moments is not None or self._bounds is not None or len(one.terms) + len(two.terms) > MOST_TERMS:
            return self._question(way)[0]
        # Pairs of unrolled code that are equally far apart differ only in where both accesses are.
        words = tuple(None if each.stored is None else tuple(each.stored.words) for each in self.accesses)
        key = (
            way,
            self.are_writes,
            None if None in words else words,
            (two.number - one.number) % ADDRESSES,
            *self._alike,
        )
        question, starts = self.instances.kept(key, lambda: self._question(way))
        both = self._touched
        if question.addresses == both:
            return question
        return replace(question, in_memory=self._inside(starts, both), addresses=both, ends=self._ends(both))

    def _question(self, way: Way | None) -> tuple[Question, Starts]:
        """The question, and where the arrays start that it reads."""
        instances = self.instances
        whole = self._whole = self._whole or self._of_any_way()
        instances.uses = uses = Uses()
        uses.add(whole.uses)
        conditions = [*whole.conditions, *([] if way is None else self._way(instances, way))]
        read = tuple(uses.read.values())
        uses.add(whole.of_values)
        arrays = [leaf for leaf in read if isinstance(leaf, ArrayLeaf)]
        conditions += [*without_overlap(arrays), *uses.facts]
        begins = (instances.value(begin_of(leaf, 32), 0, whole.places[0]) for leaf in arrays)
        starts = tuple(dict.fromkeys(map(instances.bounded.of, begins)))

        def together(found: Iterable[Expr]) -> Expr:
            return instances.bounded.of(conjunction(dict.fromkeys(found)))

        found = together(conditions)
        exact = None if whole.sure is None else together([found, *whole.sure])
        inside, both = self._inside(starts, whole.addresses), whole.addresses
        ends = self._ends(both) if self._moments is None else None
        places, same = whole.places, whole.same
        values = instances.values
        return Question(found, exact, inside, same, read, values, places, both, uses.few, uses.made, ends), starts

    def _inside(self, starts: Starts, addresses: tuple[Expr, Expr]) -> Expr:
        """That both offsets are within the memory of a block."""
        ranks, kept = self.kernel.ranks.count, self.instances.kept
        parts = [
            kept(("inside", address, who, starts), lambda a=address, w=who: is_in_memory(a, starts, w, ranks))
            for who, address in enumerate(addresses)
        ]
        return self.instances.bounded.of(conjunction(dict.fromkeys(parts)))

    def _of_any_way(self) -> Whole:
        """What the questions about all ways have in common."""
        instances = self.instances
        instances.uses = uses = Uses()
        places, threads = self._places(instances), instances.threads
        addresses = self._addresses(places)
        conditions: list[Expr] = [_differ(threads)] if self._are_two() else []
        if self._moments is None:
            conditions.append(_meet(addresses, self.accesses, None))
        else:
            conditions.append(any_of(self._at(each, instances, places) for each in self._moments))
        if self.couple is Couple.SELF:
            conditions += self._later(instances, places)
        sure: list[Expr] | None = []
        for who, (access, place) in self._both(places):
            conditions += [*self._exists(access, threads[who]), *instances.reached(who, place)]
            conditions.append(instances.value(access.who.guard, who, place))
            conditions += [] if self._bounds is None else self._bounds.of(instances, who, place)
            if access.who.sure is None:
                sure = None
            elif sure is not None:
                sure.append(instances.value(access.who.sure, who, place))
        instances.uses = of_values = Uses()
        same = self._write_one_value(places, addresses) if self.are_writes else None
        return Whole(places, (addresses[0], addresses[1]), conditions, sure, same, uses, of_values)

    # ---- parts

    @cached_property
    def _touched(self) -> tuple[Expr, Expr]:
        """Both addresses."""
        one, two = self._addresses(self._places(self.instances))
        return one, two

    @cached_property
    def _sums(self) -> tuple[Sum, Sum]:
        """Both addresses as sums."""
        one, two = map(sum_of, self._touched)
        return one, two

    @cached_property
    def _alike(self) -> tuple[object, ...]:
        """All that a question is made of, but for a way, the values, and the numbers in both addresses."""
        meeting, places = self.meeting, self._places(self.instances)
        accesses = [
            (each.width_bytes, each.lanes, each.is_bulk, each.is_collective, each.who.guard, each.who.sure)
            for each in self.accesses
        ]
        terms = [tuple(each.terms.items()) for each in self._sums]
        is_one = meeting.first == meeting.second
        return places, meeting.trips, meeting.base, meeting.earliest, is_one, *accesses, *terms

    def _write_one_value(self, places: tuple[Place, Place], addresses: Sequence[Expr]) -> Expr | None:
        """That both write one value to each byte that both touch; None if it is not known what they write."""
        one, two = (() if each.stored is None else each.stored.words for each in self.accesses)
        distance: Expr | None = None
        if self.accesses[0].width_bytes == self.accesses[1].width_bytes:
            distance = const(0, 32)
        elif self._moments is None:
            distance = _between(*addresses)
        is_one = self.couple is Couple.ANY and self.meeting.first == self.meeting.second and places[0] == places[1]
        return write_one_value(
            self.instances, (one, two), places, distance, self._are_of_one_warp() if is_one else None
        )

    def _at(self, moment: Moment, instances: Instances, places: tuple[Place, Place]) -> Expr:
        """That the accesses meet at a moment, and the threads are some of those that can be there then."""
        values = (instances.value(each, who, places[who]) for who, each in enumerate(moment.addresses))
        found = list(map(instances.bounded.of, values))
        parts, threads = [_meet(found, self.accesses, moment.widths)], instances.threads
        if moment.threads is not None:
            parts += [is_among(thread.number, each) for thread, each in zip(threads, moment.threads, strict=True)]
        if moment.is_one_warp is not None and self.couple is Couple.ANY:
            is_one = self._are_of_one_warp()
            parts.append(is_one if moment.is_one_warp else negation(is_one))
        return conjunction(parts)

    def _places(self, instances: Instances) -> tuple[Place, Place]:
        flow = self.kernel.flow
        one, two = (flow.block_of[each.index] for each in self.accesses)
        return instances.place(one, self.meeting.trips[0]), instances.place(two, self.meeting.trips[1])

    def _addresses(self, places: tuple[Place, Place]) -> list[Expr]:
        instances = self.instances
        return [instances.bounded.of(instances.value(a.address, who, place)) for who, (a, place) in self._both(places)]

    def _both(self, places: tuple[Place, Place]) -> Iterable[tuple[int, tuple[SharedAccess, Place]]]:
        return enumerate(zip(self.accesses, places, strict=True))

    def _ends(self, addresses: tuple[Expr, Expr]) -> Ends:
        one, two = self.accesses
        is_equal = one.width_bytes == two.width_bytes and not (one.is_bulk or two.is_bulk)
        lengths = (1, 1) if is_equal else (one.width_bytes, two.width_bytes)
        tags = (self.instances.threads[0].tag, self.instances.threads[1].tag) if self._are_two() else None
        return Ends(addresses, lengths, tags)

    def _are_two(self) -> bool:
        """Whether two distinct threads make the accesses."""
        return self.couple is not Couple.SELF and not self._is_any_lane()

    def _are_of_one_warp(self) -> Expr:
        low = LANES.bit_length() - 1
        threads = self.instances.threads
        return compare(Comparison.EQ, *(extract(each.number, low, each.number.width - low) for each in threads))

    def _is_any_lane(self) -> bool:
        """Whether a lane may be the one that the other access comes from: lanes of one warp share addresses."""
        is_same = self.meeting.first == self.meeting.second and self.meeting.trips[0] == self.meeting.trips[1]
        of_warp = self.couple in (Couple.ANY, Couple.LANES)
        return of_warp and not is_same and any(each.is_collective for each in self.accesses)

    def _exists(self, access: SharedAccess, thread: Thread) -> list[Expr]:
        """That a thread is one of the block, and that its lane gives an address."""
        total = self.kernel.block[0] * self.kernel.block[1] * self.kernel.block[2]
        found: list[Expr] = []
        if total % LANES and self.couple in (Couple.WARPS, Couple.LANES):
            found.append(less(thread.number, const(total, thread.number.width), signed=False))
        if access.lanes < LANES:
            lane = widened(extract(thread.number, 0, LANES.bit_length() - 1), 32)
            found.append(less(lane, const(access.lanes, 32), signed=False))
        return found

    def _way(self, instances: Instances, way: Way) -> list[Expr]:
        """The conditions of the choices that both threads took, and of the barrier that they come from."""
        found = [
            self._taken(instances, choice, who)
            for who, choices in enumerate((way.first, way.second))
            for choice in choices
        ]
        if way.begin != ENTRY:
            flow, here = self.kernel.flow, Trip(is_absolute=False, number=0)
            around = self.kernel.around(way.begin)
            trips = [(loop.header, here) for loop in around if loop.header in self.sharing.steps]
            place = instances.place(flow.block_of[way.begin], self._since(tuple(trips)))
            found.append(instances.value(self.kernel.reaching[way.begin], 0, place))
        return found

    def _later(self, instances: Instances, places: tuple[Place, Place]) -> list[Expr]:
        """That a thread makes the second access after the first one, in the loops whose trips are not known."""
        free = [header for header, trip in places[0] if trip is None and (header, None) in places[1]]
        trips = [[instances.value(self.kernel.trips(h), who, places[who]) for h in free] for who in (0, 1)]
        if not free:
            return []
        found = [negation(less(trips[1][0], trips[0][0], signed=False))]
        if self.meeting.first == self.meeting.second and self.meeting.trips[0] == self.meeting.trips[1]:
            equal = [compare(Comparison.EQ, one, two) for one, two in zip(*trips, strict=True)]
            found.append(negation(conjunction(equal)))
        return found

    def _since(self, trips: Trips) -> Trips:
        return tuple((header, self.meeting.since_barrier(header, trip)) for header, trip in trips)

    def _taken(self, instances: Instances, choice: Choice, who: int) -> Expr:
        """That a thread took an edge, in the trip in which it did."""
        place = instances.place(choice.block, self._since(choice.trips))
        return instances.value(self.kernel.edge(choice.block, choice.target), who, place)


def _differ(threads: tuple[Thread, Thread]) -> Expr:
    return negation(compare(Comparison.EQ, threads[0].tag, threads[1].tag))


def _meet(addresses: Sequence[Expr], accesses: Sequence[SharedAccess], of_moment: tuple[int, int] | None) -> Expr:
    """The ranges have a common byte. Each start is a multiple of the width, as PTX demands; not of bulk copies."""
    forth = _between(addresses[0], addresses[1])
    widths = [each.width_bytes for each in accesses] if of_moment is None else of_moment
    if widths[0] == widths[1] and not any(each.is_bulk for each in accesses):
        return compare(Comparison.EQ, forth, const(0, 32))
    back = _between(addresses[1], addresses[0])
    return either(less(forth, const(widths[0], 32), signed=False), less(back, const(widths[1], 32), signed=False))


def _between(one: Expr, two: Expr) -> Expr:
    """How far it is from one address to another one. The sum of an address is known from other pairs."""
    sums = sum_of(two), sum_of(one)
    if sum(len(each.terms) for each in sums) > MOST_TERMS:
        return normal(sub(two, one))
    return sums[0].plus(sums[1], -1).expression()

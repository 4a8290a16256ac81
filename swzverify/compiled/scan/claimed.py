"""From an access and what must not happen there to a verdict.

`proved` is the answer of the prover's engines to an obligation: no lane that makes the access is
bad, whatever its values. Plain numbers at many values must not contradict it. A witness counts only
if it surely occurs: its lane makes the access whatever is not known, in a trip that is surely made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swzverify.compiled.kernel import ArrayLeaf, LaneLeaf, Leaf
from swzverify.compiled.kernel.arithmetic import is_zero
from swzverify.compiled.kernel.special import is_place
from swzverify.compiled.scan.claim import NEVER_MADE, Claim, ClaimVerdict, Property, Witness, WitnessLane, not_known
from swzverify.compiled.scan.collide import assumed_of
from swzverify.compiled.scan.evaluated import at_point, seen
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.split import is_shared
from swzverify.compiled.scan.subject import Subject, again_at, is_parameter, multiple_of
from swzverify.compiled.scan.verdict import EXHAUSTION, NOT_DECIDED, SMT, DisagreementError
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES
from swzverify.ir.expr import TRUE, Expr, Var, conjunction, const, negation, substitute, to_signed, variables

MOST_TRIPS: Final = 64
"""Trips of a loop before a witness that are followed."""
_NAMED: Final = 3


def claimed(subject: Subject, claim: Property) -> Claim:
    """The verdict on one claim. A `DisagreementError` where two ways contradict each other."""
    made = subject.made
    if made is not Answer.HOLDS:
        return not_known(NEVER_MADE if made is Answer.EMPTY else NOT_DECIDED)
    found = proved(subject, claim)
    if isinstance(found, Claim):
        return found
    if found is not Answer.FAILS:
        return not_known(NOT_DECIDED)
    return _needs(subject, claim) or _Breaking(subject, claim).found()


def proved(subject: Subject, claim: Property) -> Claim | Answer:
    """The verdict if no lane that makes the access is bad; else what the engines say. Errors as in `claimed`."""
    answer = Answer.HOLDS
    for with_loops in (False, True):
        found = subject.never(*subject.makes(claim.bad, with_loops=with_loops), claim.bad)
        if found.answer is Answer.HOLDS:
            told = seen(subject, claim)
            if told.is_bad:
                raise DisagreementError
            second = (EXHAUSTION,) if len(found.engines) == 1 and told.is_whole and told.is_made else ()
            return Claim(ClaimVerdict.PROVED, engines=(*found.engines, *second))
        answer = found.answer
    return answer


def _needs(subject: Subject, claim: Property) -> Claim | None:
    """What PTX would have to say of where arrays begin; None if that does not help."""
    if not claim.bases:
        return None
    low, high = min(leaf.multiple for leaf in claim.bases), claim.most_multiple
    if low >= high or not _holds_from(subject, claim, high):
        return None
    multiple = high
    while multiple // 2 > low and _holds_from(subject, claim, multiple // 2):
        multiple //= 2
    if seen(subject, claim, multiple).is_bad:
        raise DisagreementError
    names = " and ".join(spell_leaf(leaf) for leaf in claim.bases)
    said = min(leaf.multiple for leaf in claim.bases if leaf.multiple < multiple)
    reason = f"the start of {names} has to be a multiple of {multiple} bytes; it is aligned to {said}"
    return not_known(reason, multiple)


def _holds_from(subject: Subject, claim: Property, multiple: int) -> bool:
    begins = [multiple_of(leaf, multiple) for leaf in claim.bases]
    makes = subject.makes(claim.bad, with_loops=True)
    return subject.never(*makes, *begins, claim.bad).answer is Answer.HOLDS


class _Breaking:
    """Looks for a lane that surely breaks a claim, or for two lanes such that one of them does."""

    def __init__(self, subject: Subject, claim: Property) -> None:
        self.subject, self.claim = subject, claim
        self.makes = subject.makes(claim.bad, with_loops=True)
        sure = subject.access.who.sure
        self.sure: Expr = TRUE if sure is None else sure
        self.read = variables(*self.makes, self.sure, claim.bad)

    def found(self) -> Claim:
        """The verdict where some lane can break the claim."""
        if self.subject.access.who.sure is None:
            return not_known("some lane may break it; whether one gets here is not known")
        point = self._point()
        if point is None:
            return not_known(NOT_DECIDED)
        lane, other = self._fixed(point), None
        trips = self._trips(lane)
        if isinstance(trips, str):
            return not_known(trips)
        if not self._surely((lane,), trips):
            other = self._other(lane)
            if other is None or not self._surely((lane, other), trips):
                return not_known(self._why(lane))
        lanes = (lane,) if other is None else (lane, other)
        if not self._replayed(lanes):
            raise DisagreementError
        return self._with_witness(lanes, trips)

    # ---- points

    def _point(self) -> Mapping[str, int] | None:
        """A point that breaks the claim, in the first trips of loops and the first block if there."""
        subject, first = self.subject, list[Expr]()
        for each in self.read:
            if subject.loop_of(each.name) is not None or is_place(each.name):
                first.append(is_zero(each))
        for more in (first, []):
            found = subject.never(*self.makes, *more, self.sure, self.claim.bad)
            if found.answer is Answer.FAILS:
                return found.point
        return None

    def _is_fixed(self, leaf: Leaf) -> bool:
        return isinstance(leaf, LaneLeaf) or is_parameter(leaf) or self.subject.loop_of(leaf.name) is not None

    def _fixed(self, point: Mapping[str, int]) -> dict[str, int]:
        """Those values of a point that a launch can be chosen to have."""
        found: dict[str, int] = {}
        block = self.subject.block
        for each in self.read:
            leaf = self.subject.leaves[each.name]
            if self._is_fixed(leaf):
                found[each.name] = point.get(each.name, 0)
        number, factor = 0, 1
        for axis, extent in zip("xyz", block.shape, strict=True):
            place = point.get(f"tid.{axis}", 0)
            found[f"tid.{axis}"] = place
            number += factor * place
            factor *= extent
        found["laneid"] = number % LANES
        found["thread"] = number
        return found

    def _trips(self, values: Mapping[str, int]) -> list[Expr] | str:
        """What trips before must have fulfilled; a reason where that is not known."""
        conditions: list[Expr] = []
        for loop in self.subject.access.who.loops:
            count = 0 if loop.trips is None else values.get(loop.trips.name, 0)
            if loop.trips is None or not count:
                continue
            if not loop.again.is_exact or count > MOST_TRIPS:
                return f"a later trip of the loop at line {loop.line} breaks it; whether that trip is made is not known"
            conditions += [again_at(loop, const(trip, loop.trips.width)) for trip in range(count)]
        return conditions

    # ---- questions

    def _put(self, value: Expr, values: Mapping[str, int]) -> Expr:
        new: dict[Var, Expr] = {
            each: const(values[each.name], each.width) for each in variables(value) if each.name in values
        }
        return substitute(value, new)

    def _surely(self, lanes: Sequence[Mapping[str, int]], trips: Sequence[Expr]) -> bool:
        """Whether one of some lanes breaks the claim whatever is not known, and all get there."""
        there = [self._put(each, lane) for lane in lanes for each in (self.sure, *trips)]
        broken: Expr = const(0, 1)
        for lane in lanes:
            broken = negation(conjunction((negation(broken), negation(self._put(self.claim.bad, lane)))))
        whole = conjunction((*there, broken))
        # Data have one name in both lanes: two lanes are only looked for where none are read.
        known = self.subject.known_of_others(variables(whole))
        return self.subject.asker.never(conjunction((*known, negation(whole)))).answer is Answer.HOLDS

    def _other(self, first: dict[str, int]) -> dict[str, int] | None:
        """A lane that breaks the claim for those start addresses of arrays for which the first does not."""
        subject, claim = self.subject, self.claim
        unknown = [subject.leaves[each.name] for each in self.read]
        if not claim.bases or any(not is_shared(leaf) and not isinstance(leaf, LaneLeaf) for leaf in unknown):
            return None
        own = {name: value for name, value in first.items() if not self._is_free(name, value)}
        conditions = [self._put(each, own) for each in (self.sure, *self.makes, negation(claim.bad))]
        at_once = {name: value for name, value in first.items() if subject.loop_of(name) is not None}
        mine = [self._put(each, at_once) for each in (self.sure, *self.makes, claim.bad)]
        # The first lane is all numbers, so that the lane of this question is the other one.
        found = subject.never(*conditions, *mine)
        if found.answer is not Answer.FAILS:
            return None
        point = found.point
        second = self._fixed(point) | at_once
        # Both lanes are of one launch.
        for name in second:
            leaf = subject.leaves.get(name)
            if leaf is not None and is_parameter(leaf):
                first[name] = second[name] = point.get(name, first.get(name, 0))
        return second

    def _replayed(self, lanes: Sequence[Mapping[str, int]]) -> bool:
        """Whether plain numbers say the same: some lane is bad, wherever the arrays begin."""
        for begin in (0, 1, 2, 3, 5):
            rest = {each.name: 0 for each in (*self.read, *variables(self.claim.address))}
            rest |= {
                leaf.name: begin % leaf.variable.limit
                for leaf in self.subject.leaves.values()
                if isinstance(leaf, ArrayLeaf)
            }
            if not any(at_point(self.claim, rest | dict(lane))[1] for lane in lanes):
                return False
        return True

    # ---- words

    def _why(self, values: Mapping[str, int]) -> str:
        names: dict[str, None] = {}
        for each in variables(*(self._put(value, values) for value in (self.claim.bad, self.sure))):
            leaf = self.subject.leaves[each.name]
            if isinstance(leaf, ArrayLeaf):
                names[f"where {spell_leaf(leaf)} begins"] = None
            else:
                names[f"{spell_leaf(leaf)} ({leaf.reason})"] = None
        shown = list(names)[:_NAMED] + (["..."] if len(names) > _NAMED else [])
        return f"it depends on values that are not known: {', '.join(shown)}"

    def _with_witness(self, lanes: Sequence[Mapping[str, int]], trips: Sequence[Expr]) -> Claim:
        subject, claim = self.subject, self.claim
        rest = {each.name: 0 for each in variables(claim.address)}
        shown: list[WitnessLane] = []
        for lane in lanes:
            place = to_signed(at_point(claim, rest | dict(lane))[0] % (1 << claim.address.width), claim.address.width)
            thread = (lane["tid.x"], lane["tid.y"], lane["tid.z"])
            shown.append(WitnessLane(lane["laneid"], lane["thread"] // LANES, thread, place))
        given = [each for each in self.read if is_parameter(subject.leaves[each.name])]
        values = {spell_leaf(subject.leaves[each.name]): lanes[0][each.name] for each in given}
        for loop in subject.access.who.loops:
            if loop.trips is not None and loop.trips.name in lanes[0]:
                values[f"trips@{loop.line}"] = lanes[0][loop.trips.name]
        witness = Witness(tuple(shown), values)
        words = " and ".join(map(claim.words, shown))
        if len(shown) > 1:
            words += ": wherever the array starts, one of the two is wrong"
        if self._always(lanes, trips):
            return Claim(ClaimVerdict.REFUTED, words, (SMT, EXHAUSTION), witness)
        blamed = [each for each in given if each in variables(claim.bad)] or given
        names = tuple(dict.fromkeys(spell_leaf(subject.leaves[each.name]) for each in blamed))
        where = ", ".join(f"{name} = {values[name]}" for name in names)
        return Claim(ClaimVerdict.DEPENDS, f"for {where}: {words}", (SMT, EXHAUSTION), witness, names)

    def _always(self, lanes: Sequence[Mapping[str, int]], trips: Sequence[Expr]) -> bool:
        """Whether the claim is broken in each launch in which some lane makes the access."""
        kept = [{name: value for name, value in lane.items() if not self._is_free(name, value)} for lane in lanes]
        there = [self._put(each, lane) for lane in kept for each in (self.sure, *trips)]
        fine = [self._put(each, lane) for lane in kept for each in (*self.makes, negation(self.claim.bad))]
        other = self.subject.of_lane(self.subject.lane("'"), *self.makes)
        for conditions in (fine, (*other, negation(conjunction(there)))):
            way = conjunction(dict.fromkeys(conditions))
            read = tuple(each for each in variables(way) if each.name in self.subject.leaves)
            known = [*assumed_of(read, self.subject.leaves), *self.subject.known_of_others(read)]
            if self.subject.asker.never(conjunction(dict.fromkeys((way, *known)))).answer is not Answer.HOLDS:
                return False
        return True

    def _is_free(self, name: str, value: int) -> bool:
        """Whether a number may be another one in another launch; every launch has a first block."""
        leaf = self.subject.leaves.get(name)
        return leaf is not None and is_parameter(leaf) and not (is_place(name) and not value)

"""The verdict where lanes' distances depend on parameters, loops or data.

Conflicts of addresses that contain data of each lane, if data can cause only a few ways.

The lanes' data are inputs: words of global memory, which each lane loads from an address of its
own. They may have any value, so the worst case occurs. If any number of lanes can meet, as in a
histogram, this file gives no verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Final

from swzverify.compiled.kernel import CarriedLeaf, LaneLeaf, Leaf, LoopLeaf, OpaqueLeaf, TripsLeaf
from swzverify.compiled.kernel.leaves import is_given
from swzverify.compiled.kernel.linear import Sum, normal
from swzverify.compiled.kernel.special import is_place
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.exact import exact
from swzverify.compiled.scan.question import Question, in_each_place
from swzverify.compiled.scan.samples import Sampled, Sampler, Stuck
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.split import is_shared, parts_of
from swzverify.compiled.scan.surely import from_places_of_their_own
from swzverify.compiled.scan.verdict import (
    EXHAUSTION,
    NOT_DECIDED,
    SAMPLES,
    SMT,
    Decision,
    DisagreementError,
    Verdict,
    unknown,
)
from swzverify.engines.gather import NAME as MATCHING
from swzverify.engines.obligations import Answer, WorstCost
from swzverify.ir.expr import Expr, Var, const, substitute

_PARAMETERS_TRIED: Final = 6
_PAIRS_TRIED: Final = 3
NOT_FOUND: Final = "two lanes can conflict, but no warp instruction was found in which they certainly do"


def mixed(question: Question) -> Decision:
    """The verdict where lanes' distances depend on parameters, loops or data."""
    parts, whole = question.parts, question.guard
    samples = _Samples(Sampler(question.row, parts, question.block, whole, question.around))
    asked = question.cost(whole, samples.show_conflict)
    if asked.answer is Answer.HOLDS:
        return question.free(asked, whole)
    if asked.answer is Answer.EMPTY:
        return unknown(NEVER_MADE)
    data = [leaf for leaf in parts.leaves_of(parts.mixed) if isinstance(leaf, OpaqueLeaf) and not is_shared(leaf)]
    if data:
        sure = question.surely() if asked.answer is Answer.FAILS else NOT_DECIDED
        if not isinstance(sure, str) and (found := _always(sure) or limited_by_data(question, sure, asked.worst)):
            return found
        reasons = dict.fromkeys(f"{spell_leaf(leaf)} ({leaf.reason})" for leaf in data)
        return unknown(f"the address depends on values of each lane: {', '.join(reasons)}")
    if asked.answer is not Answer.FAILS:
        return unknown(NOT_DECIDED)
    found = _contended(question, samples, asked.point)
    if found.verdict is Verdict.UNKNOWN and not asked.point:
        # Values that Z3 finds may be free ones, or conflict where samples do not.
        asked = question.cost(whole)
        if asked.answer is Answer.HOLDS:
            raise DisagreementError  # a sample conflicts
        found = _contended(question, samples, asked.point) if asked.point else found
    return found


class _Samples:
    """The samples of one access, drawn when they are first needed."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    @cached_property
    def plain(self) -> Sampled | None:
        """Those without the point of an engine."""
        return self.sampler.shared_values({})

    def show_conflict(self) -> bool:
        """Whether some sample conflicts, with values of their own of lanes that have such."""
        shared = all(map(is_shared, self.sampler.free))
        found = self.plain if shared else self.sampler.own_values()
        return found is not None and not found.price.is_free

    def at(self, point: Mapping[str, int]) -> Sampled | None:
        """Those with a point, if there is one."""
        return self.sampler.shared_values(point) if point else self.plain


def _always(question: Question) -> Decision | None:
    """A conflict whatever the lanes hold: two lanes that meet with all values."""
    sampler = Sampler(question.row, question.parts, question.block, question.guard)
    found = sampler.own_values()
    if found is None or found.least <= 1:
        return None
    for first, second in found.always:
        if question.possible(sampler.pair_apart(first, second)).answer is Answer.EMPTY:
            return Decision(Verdict.CONFLICT, "", found.least, at_least=True, engines=(SMT, SAMPLES))
    return None


def _first_trip(question: Question) -> Decision | None:
    """A conflict of the first trip of all loops around the access, which certainly runs.

    None if there is none, or if the values that loops carry then are not known.
    """
    parts = question.parts
    new: dict[Var, Expr] = {}
    for leaf in parts.leaves_of(parts.shared.expression(), parts.varying, question.guard):
        if isinstance(leaf, LoopLeaf):
            if leaf.first is None:
                return None
            new[leaf.variable] = const(leaf.first, leaf.variable.width)
    return _conflict_with(question, new)


def _first_block(question: Question) -> Decision | None:
    """A conflict of the first block, which every launch has.

    None if there is none, or if the access does not read the block's place. Conflicts of other blocks
    depend on the launch, which need not have these blocks.
    """
    parts = question.parts
    read = [leaf.variable for leaf in parts.leaves_of(parts.varying, question.guard) if is_place(leaf.name)]
    if not read:
        return None
    return _conflict_with(question, {each: const(0, each.width) for each in read})


def _conflict_with(question: Question, values: dict[Var, Expr]) -> Decision | None:
    """The conflict that the access has with some values substituted.

    It exists wherever in a bank's word the shared part starts. None if there is no conflict, or if no
    lane makes the access then.
    """
    parts = question.parts
    address = Sum({parts.varying: 1}, 0, 32).plus(parts.shared).expression()
    put = parts_of(normal(substitute(address, values)), substitute(question.guard, values), parts.leaves)
    sure = None if parts.sure is None else substitute(parts.sure, values)
    put = replace(put, sure=sure, is_together=parts.is_together, has_results=parts.has_results)
    again = replace(question, parts=put)
    if again.never_made() is not None:
        return None
    found = in_each_place(again, lambda each: (exact if each.parts.is_exact else mixed)(each))
    return replace(found, at_least=True) if found.verdict is Verdict.CONFLICT else None


def _contended(question: Question, samples: _Samples, point: Mapping[str, int]) -> Decision:
    """The verdict where two lanes can meet, as they do at a point."""
    sampler, found = samples.sampler, samples.at(point)
    blamed = sampler.blamed
    if found is None or found.price.is_free:
        return unknown(NOT_FOUND)
    read = question.parts.leaves_of(question.parts.mixed)
    if any(_ran_before(question, leaf) for leaf in read):
        sure = _whatever_ran_before(question, sampler, found)
        return sure or unknown("it conflicts for some number of trips of a loop before; whether it occurs is not known")
    if any(isinstance(leaf, CarriedLeaf) and not leaf.values for leaf in read):
        first = _first_trip(question)
        return first or unknown("it conflicts for some values that a loop carries; whether they occur is not known")
    sure = question.surely()
    if isinstance(sure, str):
        return unknown(sure)
    witness = Sampler(sure.row, sure.parts, sure.block, sure.guard).shared_values(point)
    if witness is None or witness.price.is_free:
        return unknown(NOT_FOUND)
    names = tuple(dict.fromkeys(map(spell_leaf, _computed(sampler) or blamed)))
    worst = sure.conflict(witness.price, witness.addresses, witness.active, witness.price.ways, at_least=True)
    if not blamed:
        return worst
    if (first := _first_block(question)) is not None:
        return first
    if free_for := _free_for(question, sampler, found):
        return replace(worst, verdict=Verdict.DEPENDS, reason=free_for, parameters=names)
    if found.free_values:
        return unknown(f"it depends on {', '.join(names)}; no values were shown to be free")
    for first, second in found.always:
        if question.possible(sampler.pair_apart(first, second)).answer is Answer.EMPTY:
            return replace(worst, parameters=names)
    return unknown(f"it conflicts for some values of {', '.join(names)}; whether for all is not known")


def _free_for(question: Question, sampler: Sampler, found: Sampled) -> str:
    """Values of the blamed leaves, in words, for which engines prove that no two lanes meet.

    Empty if no such values are found, or if nobody chooses one of them: it need not be one for which lanes meet.
    """
    if _computed(sampler):
        return ""
    for values in found.free_values[:_PARAMETERS_TRIED]:
        fixed = replace(question, parts=sampler.fixed(values))
        if fixed.cost(fixed.guard).answer is Answer.HOLDS:
            shown = ", ".join(f"{spell_leaf(leaf)} = {values[leaf.name]}" for leaf in sampler.blamed)
            return f"free for {shown}; not for all values"
    return ""


def _computed(sampler: Sampler) -> list[Leaf]:
    """The blamed leaves that no launch can give any value."""
    return [leaf for leaf in sampler.blamed if isinstance(leaf, OpaqueLeaf) and not is_given(leaf)]


def _ran_before(question: Question, leaf: Leaf) -> bool:
    """Whether a leaf counts the trips of a loop that the access does not stand in, or has one of their values."""
    if isinstance(leaf, CarriedLeaf) and leaf.values:
        return _is_of_past_loop(question, leaf)
    return isinstance(leaf, TripsLeaf) and leaf.line not in question.around


def _is_of_past_loop(question: Question, leaf: Leaf) -> bool:
    """Whether a leaf belongs to a loop that the access does not stand in."""
    return isinstance(leaf, LoopLeaf) and all(leaf.block != loop.header for loop in question.loops)


def _whatever_ran_before(question: Question, sampler: Sampler, found: Sampled) -> Decision | None:
    """The verdict if two lanes conflict for every trip count of the earlier loops.

    None if that is not shown. Which lanes make the access does not depend on these loops, or on values
    that loops carry.
    """
    parts = question.parts
    if parts.sure is None or isinstance(question.surely(), str):
        return None
    if any(_ran_before(question, leaf) for leaf in parts.leaves_of(parts.sure)):
        return None
    if any(isinstance(leaf, CarriedLeaf) for leaf in parts.leaves_of(parts.sure)):
        return None
    if any(isinstance(leaf, CarriedLeaf) and not _ran_before(question, leaf) for leaf in parts.leaves_of(parts.mixed)):
        return None
    sure = next((each for each in found.stuck[:_PARAMETERS_TRIED] if _always_meet(question, sampler, each)), None)
    if sure is None:
        return None
    conflict = Decision(Verdict.CONFLICT, "", sure.least, at_least=True, engines=(SMT, SAMPLES))
    if not sampler.blamed:
        return conflict
    names = tuple(dict.fromkeys(map(spell_leaf, sampler.blamed)))
    free_for = _free_for(question, sampler, found)
    return replace(conflict, verdict=Verdict.DEPENDS, reason=free_for, parameters=names) if free_for else None


def _always_meet(question: Question, sampler: Sampler, stuck: Stuck) -> bool:
    """Whether the SMT engine says that two threads collide wherever both make the access."""
    return any(
        question.possible(sampler.pair_apart(*pair, stuck.values)).answer is Answer.EMPTY
        for pair in stuck.pairs[:_PAIRS_TRIED]
    )


MOST_WAYS: Final = 8
"""The most ways that are shown to be the worst that data can cause."""


def limited_by_data(question: Question, sure: Question, worst: WorstCost | None) -> Decision | None:
    """A conflict of as many ways as the worst data give, which an engine has found.

    None without it, or if data need not be the lane's own inputs. `sure` has the guard under which lanes
    certainly make the access. So many ways occur, and no lane that may make it adds to them.

    Raises:
        DisagreementError: Some data give more ways.
    """
    read = question.parts.leaves_of(question.parts.varying, question.guard)
    if any(_is_of_past_loop(question, leaf) or (isinstance(leaf, OpaqueLeaf) and not is_given(leaf)) for leaf in read):
        return None  # the values in the worst case need not occur
    data = [leaf for leaf in read if not isinstance(leaf, LaneLeaf) and not is_shared(leaf)]
    loaded = [leaf for leaf in data if is_given(leaf)]
    if len(loaded) < len(data) or not all(from_places_of_their_own(question.block, leaf) for leaf in loaded):
        return None
    if worst is None or question.row.group_lanes < question.row.address_lanes:
        return None  # of several groups the engine has the sum
    ways = worst.most_conflicts.wavefronts
    sampler = Sampler(sure.row, sure.parts, sure.block, sure.guard)
    found = [sampler.own_values(), sampler.own_values(worst.most_conflicts.point)]
    shown = max((each for each in found if each is not None), key=lambda each: each.price.ways, default=None)
    if shown is None or ways > MOST_WAYS or shown.price.ways < ways:
        return None
    if shown.price.ways > ways:
        raise DisagreementError
    names = ", ".join(dict.fromkeys(map(spell_leaf, data)))
    reason = f"for some data of the lanes ({names}); no data give more"
    conflict = sure.conflict(shown.price, shown.addresses, shown.active, ways)
    return replace(conflict, reason=reason, is_for_some=True, engines=(MATCHING, EXHAUSTION))

"""The best reuse marks of a listing, by dynamic programming.

What an instruction surely finds in the cache was marked by the arithmetic instruction before. So the
state after an instruction is the set of its marked sources, of at most eight, and the cost of the
next one depends on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from swzverify.search.synth.code.found import Found, from_banks, is_markable, price_of
from swzverify.subjects.listing import ListedInstruction, Listing, Work

Marks = frozenset[int]
"""The places of the sources that an instruction marks."""
_Cost = tuple[int, int, int]
"""Conflicts, registers that are read from the banks, marks; compared in this order."""
_Held = tuple[tuple[int, int], ...]
"""Slot and register of what is surely held."""


@dataclass(frozen=True, slots=True)
class _Way:
    """The cheapest way to a state: its last choice, and the way before that."""

    place: int
    marks: Marks
    before: _Way | None


def best_marks(listing: Listing) -> Found:
    """The listing with the reuse marks that leave the fewest conflicts.

    Among those it has the fewest reads from the banks, and then the fewest marks.

    Raises:
        ValueError: An instruction is not understood.
    """
    given = price_of(listing)
    chosen = _chosen(listing)
    marked = replace(listing, instructions=_with(listing.instructions, chosen))
    price = price_of(marked)
    space = "every choice of reuse marks, on instructions that always run and whose slots are known"
    how = "dynamic programming over the instructions, with the marks of the one before as the state"
    return Found(marked, tuple(range(len(listing.instructions))), price, given, price.conflicts, space, how)


def _with(instructions: tuple[ListedInstruction, ...], chosen: dict[int, Marks]) -> tuple[ListedInstruction, ...]:
    return tuple(
        replace(each, reads=tuple(replace(read, reuse=place in chosen[index]) for place, read in enumerate(each.reads)))
        if index in chosen
        else each
        for index, each in enumerate(instructions)
    )


def _chosen(listing: Listing) -> dict[int, Marks]:
    """The marks of each instruction that may have some."""
    held: dict[_Held, tuple[_Cost, _Way | None]] = {(): ((0, 0, 0), None)}
    for index, each in enumerate(listing.instructions):
        following: dict[_Held, tuple[_Cost, _Way | None]] = {}
        for before, (cost, way) in held.items():
            sure = () if each.joined else before
            spent = _added(cost, _cost_of(each, dict(sure), listing))
            for marks in _choices(each):
                after = _after(each, marks, sure, listing)
                total = _added(spent, (0, 0, len(marks)))
                known = following.get(after)
                if known is None or total < known[0]:
                    following[after] = (total, _Way(index, marks, way) if is_markable(each) else way)
        held = following
    way = min(held.values(), key=lambda found: found[0])[1]
    chosen: dict[int, Marks] = {}
    while way is not None:
        chosen[way.place] = way.marks
        way = way.before
    return chosen


def _added(one: _Cost, other: _Cost) -> _Cost:
    return (one[0] + other[0], one[1] + other[1], one[2] + other[2])


def _cost_of(each: ListedInstruction, held: dict[int, int], listing: Listing) -> _Cost:
    if each.work is not Work.ARITHMETIC:
        return (0, 0, 0)
    read = from_banks(each, held)
    return (listing.banks.extra_cycles(read), len(read), 0)


def _choices(each: ListedInstruction) -> list[Marks]:
    if not is_markable(each):
        return [frozenset(place for place, read in enumerate(each.reads) if read.reuse)]
    places = range(len(each.reads))
    return [frozenset(some) for count in range(len(each.reads) + 1) for some in combinations(places, count)]


def _after(each: ListedInstruction, marks: Marks, before: _Held, listing: Listing) -> _Held:
    """What is surely held after an instruction with these marks."""
    if each.work is Work.OTHER and listing.banks.others_keep_reuse:
        kept = before
    elif each.work is Work.ARITHMETIC and not each.predicated:
        reads = [each.reads[place] for place in sorted(marks)]
        kept = tuple((read.slot, read.register) for read in reads if read.slot is not None)
    else:
        kept = ()
    if each.yields:
        kept = ()
    return tuple(sorted((slot, register) for slot, register in kept if register not in each.writes))

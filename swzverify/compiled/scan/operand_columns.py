"""Whether copies bring the same columns of K twice to what one sum adds, in one trip or in later ones.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Final, TypeAlias

from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.scan.filled import Fill
from swzverify.compiled.scan.operand_maps import Once
from swzverify.compiled.scan.operand_trips import (
    Pair,
    are_together,
    compare_places,
    matrix_of,
    step_behind,
    step_in_trip,
)
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import Var

_OVERLAPPING: Final = "a later trip of a loop brings some of the same columns of K to instructions with the same sums"
_COMES_TO: Final = "a loop comes to columns of K that other copies bring to instructions with the same sums"
_REPEATED: Final = "other copies may bring the same columns of K to an instruction before it with the same sums"
_MOST_TRIPS: Final = 64
"""Trips of a loop up to which each of them is looked at alone."""
_Product: TypeAlias = tuple[int, Sums | None, frozenset[int], Sequence[Pair]]
_Term: TypeAlias = tuple[int, int | None, int | None]
"""A number, and the least and the most of what it is multiplied by; None if that is not known."""


def compare_products(products: Sequence[_Product], names: Mapping[str, str], once: Once) -> list[str]:
    """For each instruction, why it is not of other columns of K than other ones, alike in A and B; empty if it is.

    This is asked of what different copies bring, such as those of the next stage behind a barrier, and of what the same
    copies bring in later trips. Each instruction has its basic block, its sums, the loops around it, and what brings A
    and B together.
    """
    found: list[str] = []
    first: dict[object, Pair] = {}
    for *_, pairs in products:
        reasons: dict[object, str] = {}
        for pair in pairs:
            if are_together(*(fill for fill, _ in pair.values())):
                matrices = _matrices(pair, once)
                base = first.setdefault(matrices, pair)
                if matrices not in reasons:
                    reasons[matrices] = compare_places(base, pair, names, once)
        found.append(next(filter(None, reasons.values()), ""))
    placed: list[dict[object, dict[_Place, None]]] = []
    for of_product in products:
        own: dict[object, dict[_Place, None]] = {}
        for pair in of_product[-1]:
            matrices = _matrices(pair, once)
            place = _place(first[matrices], pair, of_product, once) if matrices in first else None
            if place is not None:
                own.setdefault((matrices, place.kind), {})[place] = None
        placed.append(own)
    for at, product in enumerate(products):
        reason = found[at] or next(_repeated(products[: at + 1], placed), "")
        if not reason and any(
            _meet_later(own, other, _anew(product, its))
            for its, of in zip(products, placed, strict=True)
            if _may_be_one_sum(product, its)
            for own, other in _of_one_kind(placed[at], of)
        ):
            reason = _OVERLAPPING
        found[at] = reason
    return found


def _repeated(products: Sequence[_Product], placed: Sequence[Mapping[object, Mapping[_Place, None]]]) -> Iterator[str]:
    """How other copies bring columns of the last instruction to it, or to one before it with the same sums."""
    last = products[-1]
    for product, of in zip(products, placed, strict=False):
        if not _may_be_one_sum(product, last):
            continue
        for own, other in _of_one_kind(placed[len(products) - 1], of):
            if _are_others(own, other, is_one=product is last):
                if not own.columns.isdisjoint(other.columns):
                    yield _REPEATED
                elif _meet(own, other, _anew(last, product)):
                    yield _COMES_TO


def _of_one_kind(
    one: Mapping[object, Mapping[_Place, None]], other: Mapping[object, Mapping[_Place, None]]
) -> Iterator[tuple[_Place, _Place]]:
    return ((own, its) for kind, places in one.items() for own in places for its in other.get(kind, ()))


def _may_be_one_sum(one: _Product, other: _Product) -> bool:
    """Whether two instructions may add to the same sums."""
    (block, mine, *_), (its_block, its, *_) = one, other
    if mine is None or its is None:
        return block != its_block or mine is its
    if isinstance(mine.registers, int) and isinstance(its.registers, int):
        if mine.registers == its.registers:
            return True
        if mine.earlier is None or its.earlier is None:
            return block != its_block
        return its.registers in mine.earlier or mine.registers in its.earlier
    if mine.registers != its.registers:
        return False
    return mine.resets == its.resets if block == its_block else not mine.resets or not its.resets


def _anew(one: _Product, other: _Product) -> frozenset[int]:
    """The loops around two instructions whose trips surely start their sums anew."""
    (_, mine, around, _), (_, its, its_around, _) = one, other
    kept = frozenset[int]().union(*(each.kept for each in (mine, its) if each is not None))
    return (around & its_around) - kept


@dataclass(frozen=True, slots=True)
class _Place:
    """Where along K what some fills bring to A and B begins, in the first trip of the loops around them.

    Attributes:
        fills: The fill of A, and that of B.
        columns: The columns of K, counted from those of the first instruction.
        loops: The loops.
        kind: All that is not columns.
        steps: For each loop in which both move along K alone, by how much, the header, the last trip if that is known,
            and whether trips that bring the same columns count.
    """

    fills: tuple[Fill, ...]
    columns: frozenset[int]
    loops: frozenset[Var]
    kind: tuple[object, ...]
    steps: tuple[tuple[Var, tuple[int, int, int | None, bool]], ...]


def _matrices(pair: Pair, once: Once) -> tuple[object, ...]:
    return tuple(once(matrix_of, *each) for each in pair.values())


def _place(base: Pair, pair: Pair, product: _Product, once: Once) -> _Place | None:
    """Where along K a pair begins, counted from another one; None if that is not known, or loops differ."""
    fills = tuple(fill for fill, _ in pair.values())
    steps = [once(step_behind, *base[role], *each)[1] for role, each in pair.items()]
    known = [parts for parts in steps if parts is not None]
    if len(known) < len(steps) or any(each.trips.keys() != fills[0].trips.keys() for each in fills):
        return None
    (of_k, _), order = known[-1], pair[OperandRole.B][1].order
    rest = tuple(frozenset(each.items()) for _, each in known)
    others = frozenset(each for each in of_k.items() if each[0])
    columns = frozenset(each + of_k.get((), 0) for each in order)
    in_trips = tuple(_steps(pair, product[2], once))
    return _Place(fills, columns, frozenset(fills[0].trips), (others, *rest), in_trips)


def _steps(pair: Pair, around: frozenset[int], once: Once) -> Iterator[tuple[Var, tuple[int, int, int | None, bool]]]:
    """How far a pair moves in a trip of each loop in which it moves along K alone, as `_Place.steps` has it.

    Where it does not move, trips count in loops around the instruction, and in the innermost loop of other threads.
    """
    (one, _), (other, _) = pair.values()
    for trips, loop in one.trips.items():
        parts = [once(step_in_trip, each[1], trips, loop, other.trips[trips])[1] for each in pair.values()]
        known = [each for each in parts if each is not None and not each[1] and set(each[0]) <= {()}]
        if len(known) == len(parts):
            counts = loop.header in around or trips is [*one.trips][-1]
            yield trips, (known[-1][0].get((), 0), loop.header, loop.last, counts)


def _are_others(one: _Place, other: _Place, *, is_one: bool) -> bool:
    """Whether different copies bring columns of K.

    If it `is_one` instruction, copies in the same loops and in one state may be those of two branches of which a
    thread takes one, and those of two loops one after another may be for other sums.
    """
    if is_one and not one.loops <= other.loops and not other.loops <= one.loops:
        return False
    may_branch = is_one and one.loops == other.loops
    fills = [(mine, its) for mine, its in zip(one.fills, other.fills, strict=True) if mine is not its]
    return bool(fills) and all(
        mine.section != its.section and not (may_branch and mine.states & its.states) for mine, its in fills
    )


def _meet(one: _Place, other: _Place, anew: frozenset[int]) -> bool:
    """Whether two places have columns in common in some trips of the loops around them; loops of `anew` end sums."""
    terms = tuple(_terms(one, other, anew).values())
    return any(_is_sum(own - each, terms) for own in one.columns for each in other.columns)


def _meet_later(one: _Place, other: _Place, anew: frozenset[int]) -> bool:
    """Whether one place has columns of another one in a later trip of some loop that does not start sums anew."""
    if one.loops != other.loops:
        return False
    terms = _terms(one, other, anew)
    for trips, (step, header, last, counts) in one.steps:
        if trips not in terms or header in anew or (not step and not counts) or last == 0:
            continue
        later = tuple({**terms, trips: (-step, 1, last)}.values())
        if any(_is_sum(own - each, later) for own in one.columns for each in other.columns):
            return True
    return False


def _terms(one: _Place, other: _Place, anew: frozenset[int]) -> dict[object, _Term]:
    """What may part columns of two places that one sum gets, for each loop: how far a place moves, and how often."""
    mine, its = dict(one.steps), dict(other.steps)
    found: dict[object, _Term] = {}
    for trips in one.loops | other.loops:
        own, more = mine.get(trips), its.get(trips)
        is_common = trips in one.loops and trips in other.loops
        if is_common and own is not None and more is not None:
            (step, header, last, _), by = own, more[0]
            if header in anew:
                found[trips] = by - step, 0, last
            elif step == by:
                found[trips] = -step, None if last is None else -last, last
            else:
                found[trips], found[trips, by] = (-step, 0, last), (by, 0, last)
        elif own is not None and not is_common:
            found[trips] = -own[0], 0, own[2]
        elif more is not None and not is_common:
            found[trips] = more[0], 0, more[2]
    return found


@lru_cache(maxsize=1 << 16)
def _is_sum(number: int, terms: tuple[_Term, ...]) -> bool:
    """Whether a number may be the sum of some terms.

    >>> _is_sum(32, ((16, 0, None),)), _is_sum(32, ((16, 0, 1),)), _is_sum(-16, ((16, 0, None),))
    (True, False, False)
    """
    terms = tuple(each for each in terms if each[0])
    for at, (step, least, most) in enumerate(terms):
        if least is not None and most is not None and most - least <= _MOST_TRIPS:
            rest = (*terms[:at], *terms[at + 1 :])
            return any(_is_sum(number - step * times, rest) for times in range(least, most + 1))
    number -= sum(step * (least or 0) for step, least, _ in terms)
    signs = {step > 0 for step, _, _ in terms} | {step < 0 for step, least, _ in terms if least is None}
    by = gcd(*(step for step, _, _ in terms))
    return number == 0 or (by > 0 and number % by == 0 and (len(signs) == 2 or (number > 0) in signs))

"""Whether A and B of one instruction go on along K alike, from trip to trip of loops and from stage to stage.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from swzverify.compiled.kernel.sums import Sums
from swzverify.compiled.scan.filled import Fill, InLoop
from swzverify.compiled.scan.operand_maps import (
    Address,
    ElementMap,
    Once,
    difference,
    goes_along_rows,
    parts_of,
    pointers_of,
    spelled,
)
from swzverify.compiled.scan.products import Product
from swzverify.hardware.tensor_cores import OperandRole
from swzverify.ir.expr import Expr, Var, variables

Brought: TypeAlias = tuple[Fill, ElementMap]
"""What brings an operand, and where its elements come from."""
_Step: TypeAlias = tuple[Address, tuple[Address, Address] | None]
"""How far an operand goes on, and that as steps along K and along its rows, if it is known."""
Pair: TypeAlias = Mapping[OperandRole, Brought]
"""What brings A and B of one instruction in one state."""


_EXCHANGED: Final = "A and B come from one matrix in some products, and from two in others of one loop"


@dataclass(frozen=True, slots=True)
class Trips:
    """How A and B of one instruction go on: `broken` if they surely do not agree, `is_open` if that is not known."""

    broken: str = ""
    is_open: str = ""


def compare_with_fixed(
    brought: Mapping[OperandRole, Sequence[Brought]], block: int, around: frozenset[int], sums: Sums | None
) -> str:
    """Why one operand of an instruction does not go on along K with the other one, in a loop around; empty if it does.

    Copies that stand outside of a loop bring the same elements in all trips of it. `around` has all loops around.
    """
    for role, own in brought.items() if sums is not None else ():
        others = [fill for each, of_role in brought.items() if each is not role for fill, _ in of_role]
        for fill, steps in own if others else ():
            for trips, loop in fill.trips.items():
                if not all(each.is_outside(loop.header, block, around) for each in others):
                    continue
                parts = parts_of(_per_trip(steps.first, trips, loop.varying), steps)
                if sums is not None and loop.header in sums.carried and parts is not None and parts[0]:
                    words = "goes on along K from trip to trip, and the other operand is filled outside of the loop"
                    return f"{role.value} {words}"
    return ""


def find_moves(
    groups: Sequence[Mapping[OperandRole, Sequence[Brought]]], block: int, around: frozenset[int], sums: Sums | None
) -> Trips:
    """Whether an instruction multiplies the same elements in all trips of a loop whose trips all add to its sums.

    It surely does if nothing that may bring A or B to a warp brings other elements. It may do so if only copies before
    the loop bring other ones, or if a path leads back to these copies.
    """
    words = "A and B are of the same elements in each trip of a loop, and all products are added to the same sums"
    for header in sorted(sums.carried) if sums is not None else ():
        every = [each for group in groups for own in group.values() for each in own]
        if any(_may_move(*each, header, block, around) for each in every):
            is_still = all(_is_still(*each, header) for each in every)
            if is_still and all(_are_one(own) for group in groups for own in group.values()):
                return Trips(is_open=f"{words}, as far as the loop goes that copies stand in")
            continue
        if all(_are_one(own) for group in groups for own in group.values()):
            is_sure = all(header in fill.around or fill.is_before(block) for fill, _ in every)
            return Trips(broken=words) if is_sure else Trips(is_open=words)
        later = [[[each for each in own if header in each[0].around] for own in group.values()] for group in groups]
        pairs = zip(later, (group.values() for group in groups), strict=True)
        if all(any(own) for own in later) and all(
            _are_one(own or whole) for of_group, group in pairs for own, whole in zip(of_group, group, strict=True)
        ):
            return Trips(is_open=f"{words}, but perhaps the first ones")
    return Trips()


def _are_one(brought: Sequence[Brought]) -> bool:
    """Whether all that may bring an operand brings the same elements."""
    return all(steps == brought[0][1] for _, steps in brought)


def _may_move(fill: Fill, steps: ElementMap, header: int, block: int, around: frozenset[int]) -> bool:
    """Whether copies may bring other elements in another trip of a loop around the instruction that reads them."""
    for trips, loop in fill.trips.items():
        if loop.header == header:
            factors = {factor for product in steps.first for factor in product}
            return not loop.varying.isdisjoint(factors) or any(trips in variables(each) for each in factors)
    return not fill.is_outside(header, block, around)


def _is_still(fill: Fill, steps: ElementMap, header: int) -> bool:
    """Whether copies of other threads, in a loop of their own, bring the same in each trip of it."""
    if header in fill.around or not fill.trips:
        return False
    trips, loop = list(fill.trips.items())[-1]
    factors = {factor for product in steps.first for factor in product}
    return loop.varying.isdisjoint(factors) and not any(trips in variables(each) for each in factors)


def compare_trips(pairs: Sequence[Pair], sums: Sums | None, names: Mapping[str, str], once: Once) -> Trips:
    """Compare A with B of one instruction, for all that may bring them together."""
    by_loop: dict[Var, list[tuple[Pair, Trips]]] = {}
    for pair in pairs:
        for trips, found in _in_loops(pair, sums, names, once):
            by_loop.setdefault(trips, []).append((pair, found))
    for of_loop in by_loop.values():
        is_fixed = not any(_between_places((pair for pair, _ in of_loop), names, once))
        if is_fixed and all(each.broken for _, each in of_loop):
            return of_loop[0][1]
    reasons = [each.is_open or each.broken for of_loop in by_loop.values() for _, each in of_loop]
    return Trips(is_open=next(filter(None, (*reasons, *_between_stages(pairs, names, once))), ""))


def _in_loops(pair: Pair, sums: Sums | None, names: Mapping[str, str], once: Once) -> Iterator[tuple[Var, Trips]]:
    """For each loop in which both are brought, whether they go on alike from one trip to the next one."""
    a, b = (pair[role] for role in OperandRole)
    for trips, loop in a[0].trips.items():
        if trips not in b[0].trips or loop.last == 0:
            continue
        loops = loop, b[0].trips[trips]
        steps = {role: once(step_in_trip, each[1], trips, *loops) for role, each in pair.items()}
        words = _unlike(steps, names)
        if words is None:
            yield trips, Trips(is_open="how far along K it goes in a trip is not decided")
            continue
        text, is_of_rows = words
        varying = loops[0].varying | loops[1].varying
        is_linear = varying.isdisjoint(factor for each, _ in steps.values() for product in each for factor in product)
        is_sure = sums is not None and loop.header in sums.carried and not is_of_rows and is_linear
        text = text and f"A and B of one instruction go on along K by different steps from trip to trip: {text}"
        yield trips, Trips(broken=text) if is_sure or not text else Trips(is_open=text)


def compare_rows(
    groups: Sequence[Mapping[OperandRole, Sequence[Brought]]],
    once: Once,
    *,
    are_all: bool,
) -> str:
    """Why an instruction may add products of several rows to one sum; empty if nothing says that it does.

    Fills that bring an operand to one warp, or warp group, bring the same rows in the first trip of the loops around
    them. If not `are_all` of one sum, those with a loop in common do so, in one trip of it.
    """
    for role, own in ((role, own) for group in groups for role, own in group.items()):
        bases: dict[object, list[Brought]] = {}
        for each in own:
            of_matrix = bases.setdefault(once(_pointers, *each), [])
            base = next((one for one in of_matrix if are_all or not one[0].around.isdisjoint(each[0].around)), None)
            if base is None:
                of_matrix.append(each)
                continue
            parts = once(step_behind if are_all else _step_beside, *base, *each)[1]
            if parts is None or goes_along_rows(parts[1], each[1]):
                what = "may be" if parts is None else "is"
                lines = each[0].lines[0], base[0].lines[0]
                return f"{role.value} {what} of other rows in line {lines[0]} than in line {lines[1]}"
    return ""


def are_of_one_matrix(brought: Iterable[Brought]) -> bool:
    """Whether all that is counted from the same pointers has the same strides."""
    strides: dict[object, tuple[Address, Address]] = {}
    return all(
        strides.setdefault(_pointers(fill, each), (each.row, each.column)) == (each.row, each.column)
        for fill, each in brought
    )


def are_apart(pair: Pair) -> bool:
    """Whether A and B are brought in loops, but in none together: from trip to trip they are not compared."""
    a, b = (fill.trips.keys() for fill, _ in pair.values())
    return bool(a and b) and a.isdisjoint(b)


def find_exchanged(
    products: Sequence[tuple[int, Sums | None, frozenset[int], Sequence[Pair]]], once: Once
) -> list[str]:
    """For each instruction, why A or B may come from the other one's matrix; empty if that is not so.

    In its loops, A and B of all products come from the same pointers, or those of none do.
    """
    found: dict[frozenset[int], set[bool]] = {}
    for *_, around, pairs in products:
        pointers = [[once(_pointers, *each) for each in pair.values()] for pair in pairs]
        found.setdefault(around, set()).update(of_a == of_b for of_a, of_b in pointers)
    return [_EXCHANGED if len(found[around]) > 1 else "" for *_, around, _ in products]


def _between_stages(pairs: Iterable[Pair], names: Mapping[str, str], once: Once) -> Iterator[str]:
    """Why what the same copies bring to A and B does not go on alike; empty if it does."""
    of_fills: dict[object, list[Pair]] = {}
    for pair in pairs:
        a, b = (pair[role][0] for role in OperandRole)
        of_fills.setdefault(None if are_together(a, b) else (a, b), []).append(pair)
    for each in of_fills.values():
        yield from _between_places(each, names, once)


def are_together(one: Fill, other: Fill) -> bool:
    """Whether fills stand in the same loops and may be of one state."""
    return one.trips.keys() == other.trips.keys() and not one.states.isdisjoint(other.states)


def _between_places(pairs: Iterable[Pair], names: Mapping[str, str], once: Once) -> Iterator[str]:
    """Why what is brought to A and B does not go on alike from place to place, in the first trip; empty if it does."""
    first: dict[object, Pair] = {}
    for pair in pairs:
        base = first.setdefault(tuple(once(_pointers, *each) for each in pair.values()), pair)
        yield compare_places(base, pair, names, once)


def compare_places(base: Pair, pair: Pair, names: Mapping[str, str], once: Once) -> str:
    """Why A and B of one pair are not equally far along K from those of another one; empty if they are."""
    words = _unlike({role: once(step_behind, *base[role], *each) for role, each in pair.items()}, names)
    if words is None:
        return "how far along K it goes from stage to stage is not decided"
    text = "A and B of one instruction go on along K by different steps from stage to stage"
    return f"{text}: {words[0]}" if words[0] else ""


def step_in_trip(steps: ElementMap, trips: Var, one: InLoop, other: InLoop) -> _Step:
    """How far an operand goes on from one trip of a loop to the next one."""
    step = _per_trip(steps.first, trips, one.varying | other.varying)
    return step, parts_of(step, steps)


def _pointers(fill: Fill, steps: ElementMap) -> frozenset[Product]:
    return pointers_of(_without_trips(fill, steps.first), steps)


def matrix_of(fill: Fill, steps: ElementMap) -> tuple[object, ...]:
    """What operands of one matrix have in common: its pointers, its strides, and the order along K."""
    return _pointers(fill, steps), frozenset(steps.row.items()), frozenset(steps.column.items()), steps.order


def step_behind(base: Fill, first: ElementMap, fill: Fill, steps: ElementMap) -> _Step:
    """How far what a fill brings is behind what another one brings, in the first trips."""
    step = difference(_without_trips(fill, steps.first), _without_trips(base, first.first))
    return step, parts_of(step, steps)


def _step_beside(base: Fill, first: ElementMap, fill: Fill, steps: ElementMap) -> _Step:
    """How far what a fill brings is behind what another one brings, in one trip of the loops around both."""
    both = base.trips.keys() & fill.trips.keys()
    step = difference(_without_trips(fill, steps.first, both), _without_trips(base, first.first, both))
    return step, parts_of(step, steps)


def _unlike(steps: Mapping[OperandRole, _Step], names: Mapping[str, str]) -> tuple[str, bool] | None:
    """How A and B go on unlike along K, empty if alike, and whether along rows, too; None if that is not known."""
    known = {role: parts for role, (_, parts) in steps.items() if parts is not None}
    if len(known) < len(steps):
        return None if any(step for step, _ in steps.values()) else ("", False)
    (a, rows_of_a), (b, rows_of_b) = (known[role] for role in OperandRole)
    text = "" if a == b else f"A by {spelled(a, names)} and B by {spelled(b, names)} columns"
    return text, bool(rows_of_a or rows_of_b)


def _per_trip(address: Address, trips: Var, varying: frozenset[Expr]) -> Address:
    """How far an address goes in a trip; a product with other factors that change stands for its own change."""
    found: Address = {}
    for product, number in address.items():
        rest = [each for each in product if each is not trips]
        is_step = len(rest) == len(product) - 1 and varying.isdisjoint(rest)
        if is_step or not varying.isdisjoint(product):
            step = tuple(rest) if is_step else product
            found[step] = found.get(step, 0) + number
    return {each: number for each, number in found.items() if number}


def _without_trips(fill: Fill, address: Address, kept: Collection[Var] = ()) -> Address:
    """An address in the first trip of the loops around its fill, but those that some leaves count."""
    trips = {each for each in fill.trips if each not in kept}
    return {
        product: number
        for product, number in address.items()
        if trips.isdisjoint(each for factor in product for each in variables(factor))
    }

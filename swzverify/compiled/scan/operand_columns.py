"""Whether copies bring the same columns of K twice to what one sum adds, in one trip or in later ones.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

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

_OVERLAPPING: Final = "the next trip of a loop brings some of the same columns of K to instructions with the same sums"
_COPIED_BEFORE: Final = "a loop comes to columns of K that copies before it bring to instructions with the same sums"
_REPEATED: Final = "other copies may bring the same columns of K to an instruction before it with the same sums"


def compare_products(
    products: Sequence[tuple[int, Sums | None, frozenset[int], Sequence[Pair]]], names: Mapping[str, str], once: Once
) -> list[str]:
    """For each instruction, why it is not of other columns of K than those before it, alike in A and B; empty if it is.

    This is asked of what different copies bring, such as those of the next stage behind a barrier. Each instruction has
    its basic block, its sums, the loops around it, and what brings A and B together.
    """
    found: list[str] = []
    first: dict[object, Pair] = {}
    before: dict[object, dict[tuple[int, Sums | None, _Place], None]] = {}
    steps: list[list[tuple[object, _Place]]] = []
    going: list[list[tuple[object, frozenset[Var], _Place, _Place]]] = []
    for block, sums, around, pairs in products:
        reasons: dict[object, str] = {}
        steps.append([])
        going.append([])
        own: dict[object, dict[_Place, None]] = {}
        for pair in pairs:
            matrices = tuple(once(matrix_of, *each) for each in pair.values())
            is_one = are_together(*(fill for fill, _ in pair.values()))
            base = first.setdefault(matrices, pair) if is_one else first.get(matrices)
            if is_one and base is not None and matrices not in reasons:
                reasons[matrices] = compare_places(base, pair, names, once)
            place = None if base is None else _place(base, pair, once)
            if place is not None:
                key = around, matrices, place.kind
                own.setdefault(key, {})[place] = None
                for trips, each in _in_next_trips(place, pair, sums, around, once):
                    steps[-1].append((key, each))
                    if trips is [*place.fills[0].trips][-1]:
                        outside = place.loops - {trips}
                        going[-1].append((key, outside, place, each))
        is_repeated = any(
            _are_repeated(one, other)
            for key, places in own.items()
            for of_block, of_sums, one in before.get(key, ())
            if _may_be_one_sum((of_block, of_sums), (block, sums))
            for other in places
        ) or any(_are_repeated(*each, is_one=True) for places in own.values() for each in combinations(places, 2))
        for key, places in own.items():
            before.setdefault(key, {}).update({(block, sums, each): None for each in places})
        found.append(next(filter(None, reasons.values()), _REPEATED if is_repeated else ""))
    for at, (own_product, of_product) in enumerate(zip(products, steps, strict=True)):
        if not found[at] and any(
            each.overlaps(one)
            for key, each in of_product
            for of_block, of_sums, one in before[key]
            if _may_be_one_sum((of_block, of_sums), own_product[:2])
        ):
            found[at] = _OVERLAPPING
        if not found[at] and any(
            _comes_to(own, then, one)
            for key, outside, own, then in going[at]
            for of_block, of_sums, one in before[key]
            if one.loops == outside and _may_be_one_sum((of_block, of_sums), own_product[:2])
        ):
            found[at] = _COPIED_BEFORE
    return found


def _may_be_one_sum(one: tuple[int, Sums | None], other: tuple[int, Sums | None]) -> bool:
    """Whether two instructions, each with its basic block, may add to the same sums.

    Those of `mma.sync` are followed through the registers of one basic block alone.
    """
    (block, mine), (its_block, its) = one, other
    if mine is None or its is None:
        return block != its_block or mine is its
    if block == its_block:
        return (mine.registers, mine.resets) == (its.registers, its.resets)
    return isinstance(mine.registers, int) or mine.registers == its.registers


@dataclass(frozen=True, slots=True)
class _Place:
    """Where along K what some fills bring to A and B begins, in the first trip of the loops around them.

    Attributes:
        fills: The fill of A, and that of B.
        columns: The columns of K, counted from those of the first instruction.
        loops: The loops.
        kind: All that is not columns.
    """

    fills: tuple[Fill, ...]
    columns: frozenset[int]
    loops: frozenset[Var]
    kind: tuple[object, ...]

    def overlaps(self, other: _Place) -> bool:
        """Whether some column is one of another place, in the same loops and rows."""
        is_alike = self.loops == other.loops and self.kind == other.kind
        return is_alike and not self.columns.isdisjoint(other.columns)


def _in_next_trips(
    place: _Place, pair: Pair, sums: Sums | None, around: frozenset[int], once: Once
) -> Iterator[tuple[Var, _Place]]:
    """Where a pair begins in the next trip of each loop, by the leaf that counts its trips, if it moves along K alone.

    A pair that does not move counts in the innermost loop around copies and instruction, or that of other threads.
    Loops around the instruction count if all of their trips may add to its sums.
    """
    (one, _), (other, _) = pair.values()
    for trips, loop in one.trips.items():
        starts_anew = loop.header in around and (sums is None or loop.header not in sums.kept)
        if starts_anew or trips not in other.trips:
            continue
        parts = [once(step_in_trip, each[1], trips, loop, other.trips[trips])[1] for each in pair.values()]
        known = [each for each in parts if each is not None and not each[1] and set(each[0]) <= {()}]
        is_innermost = trips is [*one.trips][-1] and (loop.header not in around or around <= one.around)
        if len(known) == len(parts) and (known[-1][0] or is_innermost):
            number = known[-1][0].get((), 0)
            yield trips, replace(place, columns=frozenset(each + number for each in place.columns))


def _comes_to(first: _Place, second: _Place, other: _Place) -> bool:
    """Whether a pair that is at one place in the first trip, and at another one in the second, comes to a third one."""
    step = min(second.columns) - min(first.columns)
    return step != 0 and any(
        (each - own) % step == 0 and (each - own) // step >= 0 for each in other.columns for own in first.columns
    )


def _place(base: Pair, pair: Pair, once: Once) -> _Place | None:
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
    return _Place(fills, columns, frozenset(fills[0].trips), (others, *rest))


def _are_repeated(one: _Place, other: _Place, *, is_one: bool = False) -> bool:
    """Whether different copies bring columns of K that they have in common.

    Copies before a loop and those of its first trip are compared, too. If it `is_one` instruction, copies in the
    same loops and in one state may be those of two branches of which a thread takes one.
    """
    if not one.loops <= other.loops and not other.loops <= one.loops:
        return False
    may_branch = is_one and one.loops == other.loops
    fills = [(mine, its) for mine, its in zip(one.fills, other.fills, strict=True) if mine is not its]
    is_other = bool(fills) and all(
        mine.section != its.section and not (may_branch and mine.states & its.states) for mine, its in fills
    )
    return is_other and not one.columns.isdisjoint(other.columns)

"""Misreadings of tiles by expression and of exact costs: random specs of them must show each one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import Wavefronts, bijective, injective
from swzverify.engines.obligations import Injective
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import parse
from swzverify.ir.integers import Integer
from swzverify.prover import judgement
from swzverify.subjects import lowered_access, offset_map, plain_access
from swzverify.subjects.offset_map import OffsetMap
from swzverify.subjects.stated_access import StatedAccess
from swzverify.subjects.tile import Tile
from tests.differential.comparison import first_disagreement

Patch = pytest.MonkeyPatch
SEEDS = range(400)


def the_coordinate_has_no_parentheses(patch: Patch) -> None:
    original = OffsetMap.at_coordinate

    def bare(self: OffsetMap, coord: Sequence[CFormula]) -> CFormula:
        marked = [parse(f"mark{at}") for at in range(len(coord))]
        text = original(self, marked).text
        for at, each in enumerate(coord):
            text = text.replace(f"(mark{at})", each.text)
        return parse(text)

    patch.setattr(OffsetMap, "at_coordinate", bare)


def the_modes_come_in_reverse(patch: Patch) -> None:
    original = OffsetMap.at_coordinate
    patch.setattr(OffsetMap, "at_coordinate", lambda self, coord: original(self, coord[::-1]))


def the_lowering_swaps_modes(patch: Patch) -> None:
    """A wrong lowering alone: the plain definition contradicts it."""
    original = OffsetMap.lower

    def swapped(self: OffsetMap, coord: Sequence[Integer]) -> Integer:
        return original(self, coord[::-1] if len(set(self.extents)) == 1 else coord)

    patch.setattr(OffsetMap, "lower", swapped)


def the_greatest_value_is_the_bound(patch: Patch) -> None:
    patch.setattr(OffsetMap, "greatest", property(lambda self: self.high))


def the_greatest_value_is_the_last_one(patch: Patch) -> None:
    patch.setattr(OffsetMap, "greatest", property(lambda self: self(*(extent - 1 for extent in self.extents))))


def the_last_element_has_no_size(patch: Patch) -> None:
    patch.setattr(offset_map, "_end_bits", lambda value, bits, *, in_bytes: max(8, value * (8 if in_bytes else bits)))


def an_address_counts_elements(patch: Patch) -> None:
    patch.setattr(Tile, "step_units", property(lambda self: self.element_units))


def bytes_and_addresses_are_one(patch: Patch) -> None:
    """Vectors of single bytes are judged from the start of the stage."""
    original = Tile.offsets_decide.fget
    assert original is not None
    patch.setattr(Tile, "offsets_decide", property(lambda self: original(self) or self.element_bits == 8))


def negative_values_pass(patch: Patch) -> None:
    patch.setattr(OffsetMap, "_require_not_negative", lambda _: None)


def negative_places_of_lanes_pass(patch: Patch) -> None:
    original = lowered_access._not_negative

    def kinder(access: StatedAccess, iterations: Any, value: Integer, node: Any, what: str) -> Integer:
        if what.startswith("expression"):
            return ints.maximum(value, ints.integer(0))
        return original(access, iterations, value, node, what)

    patch.setattr(lowered_access, "_not_negative", kinder)


def vectors_run_along_the_first_mode(patch: Patch) -> None:
    patch.setattr(Tile, "contiguous_mode", property(lambda _: 0))


def the_start_of_an_element_is_all_of_it(patch: Patch) -> None:
    """Elements that begin at different bytes may still overlap."""
    original = injective.injective_goal

    def narrow(tile: Tile) -> Injective:
        found = original(tile)
        return replace(found, extent=1, definition_extent=1)

    patch.setattr(injective, "injective_goal", narrow)
    patch.setattr(bijective, "injective_goal", narrow)


def an_access_reads_the_expression_inside_the_shape(patch: Patch) -> None:
    """What lies outside is taken round."""

    def around(self: OffsetMap, coord: Sequence[CFormula]) -> CFormula:
        rounded = [parse(f"({each.text})%{extent}") for each, extent in zip(coord, self.extents, strict=True)]
        return original(self, rounded)

    original = OffsetMap.at_coordinate
    patch.setattr(OffsetMap, "at_coordinate", around)


def the_plain_definition_forgets_the_expression(patch: Patch) -> None:
    """A wrong definition alone: the engines contradict it."""
    original = plain_access._read

    def forgetful(access: StatedAccess, expression: Any, env: Any) -> Any:
        found = original(access, expression, env)
        return found * 0 if expression is access.offset else found

    patch.setattr(plain_access, "_read", forgetful)


def the_pitch_forgets_the_room(patch: Patch) -> None:
    original = OffsetMap.room_bits
    patch.setattr(OffsetMap, "room_bits", lambda self, bits: min(original(self, bits), self.size * bits))


def exactly_is_at_most(patch: Patch) -> None:
    """Nobody asks whether some warp instruction takes as many."""
    patch.setattr(judgement, "_reached", lambda _claim, proved, _panel: proved)


def an_exact_number_is_no_bound(patch: Patch) -> None:
    """What exceeds the number passes."""
    original = Wavefronts.limit.fget
    assert original is not None
    patch.setattr(Wavefronts, "limit", property(lambda self: original(self) + (self.exactly is not None)))


PLANTS: list[Callable[[Patch], None]] = [
    the_coordinate_has_no_parentheses,
    the_modes_come_in_reverse,
    the_lowering_swaps_modes,
    the_greatest_value_is_the_bound,
    the_greatest_value_is_the_last_one,
    the_last_element_has_no_size,
    an_address_counts_elements,
    bytes_and_addresses_are_one,
    negative_values_pass,
    negative_places_of_lanes_pass,
    vectors_run_along_the_first_mode,
    the_start_of_an_element_is_all_of_it,
    an_access_reads_the_expression_inside_the_shape,
    the_plain_definition_forgets_the_expression,
    the_pitch_forgets_the_room,
    exactly_is_at_most,
    an_exact_number_is_no_bound,
]


FOUND_AT: dict[Callable[[Patch], None], int] = {
    the_modes_come_in_reverse: 41,
    an_access_reads_the_expression_inside_the_shape: 80,
    the_lowering_swaps_modes: 67,
    bytes_and_addresses_are_one: 263,
    negative_places_of_lanes_pass: 80,
    the_start_of_an_element_is_all_of_it: 115,
    an_exact_number_is_no_bound: 265,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_of_an_expression_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS], "offsets") is not None

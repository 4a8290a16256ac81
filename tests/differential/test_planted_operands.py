"""Random operands of the tensor core: the tool and the oracle agree, and planted misreadings show.

These are the mistakes that are made about descriptors: fields exchanged, a swizzle of offsets in
place of addresses, another mode's mask, a base offset that is added, rows and K exchanged, half an
element. Each is planted in both readings at once, so that only the oracle can notice it, and in one
of them, so that the engines contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import operand_points, shared_k
from swzverify.claims.disjoint import OperandsApart
from swzverify.claims.operand_points import OperandPoints
from swzverify.claims.shared_k import SharedK
from swzverify.hardware.tensor_cores import Major
from swzverify.ir import integers as ints
from swzverify.subjects import Descriptor, Operand
from swzverify.subjects.lowered_operand import LoweredOperand
from tests.differential.comparison import compare_seed, first_disagreement
from tests.nightly import counts

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
SEEDS = range(100)


@pytest.mark.parametrize("count", counts(50, 100))
def test_random_operands_are_judged_as_the_oracle_judges_them(count: int) -> None:
    found = [compare_seed(seed, themes="operands", starve=False) for seed in range(count)]
    assert [each for one in found for each in one.disagreements] == []
    assert not any(one.unknown or one.ambiguous for one in found)
    verdicts = {(kind, verdict) for one in found for kind, each in one.verdicts.items() for verdict in each}
    assert verdicts >= {
        (kind, verdict) for kind in ("delivers", "in_bounds", "disjoint") for verdict in ("proved", "refuted")
    }


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(4))
def test_many_random_operands(part: int) -> None:
    for seed in range(1000 + 500 * part, 1500 + 500 * part):
        assert compare_seed(seed, themes="operands", starve=False).disagreements == []


_PLAIN_LINEAR, _PLAIN_SWIZZLED = Descriptor.linear, Descriptor.swizzled
_LOWERED_INIT = LoweredOperand.__init__


def _plain(patch: Patch, change: Callable[[Descriptor], Descriptor]) -> None:
    patch.setattr(Descriptor, "linear", lambda self, *at: _PLAIN_LINEAR(change(self), *at))


def _lowered(patch: Patch, change: Callable[[Operand], Operand]) -> None:
    """The expressions of another operand; `replace` would judge the changed one."""

    def other(self: LoweredOperand, operand: Operand) -> None:
        _LOWERED_INIT(self, change(operand))

    patch.setattr(LoweredOperand, "__init__", other)


def _changed(operand: Operand, **fields: Any) -> Operand:
    """A copy with other fields, which nothing checks."""
    found = object.__new__(Operand)
    found.__dict__.update(operand.__dict__ | fields)
    return found


def _swapped(fields: Descriptor) -> Descriptor:
    return replace(fields, lbo_bytes=fields.sbo_bytes, sbo_bytes=fields.lbo_bytes)


def fields_exchanged(patch: Patch) -> None:
    _plain(patch, _swapped)


def fields_exchanged_in_expressions(patch: Patch) -> None:
    _lowered(patch, lambda operand: _changed(operand, descriptor=_swapped(operand.descriptor)))


def fields_exchanged_everywhere(patch: Patch) -> None:
    fields_exchanged(patch)
    fields_exchanged_in_expressions(patch)


def the_swizzle_of_128b_in_every_mode(patch: Patch) -> None:
    """In plain integers: the mask of another mode."""

    def wrong(self: Descriptor, address: Any) -> Any:
        return address if self.line_mask == 0 else address ^ (((address // 128 - self.base_offset) & 7) * 16)

    patch.setattr(Descriptor, "swizzled", wrong)


def a_base_offset_that_is_added(patch: Patch) -> None:
    def plain(self: Descriptor, address: Any) -> Any:
        return _PLAIN_SWIZZLED(_negated(self), address)

    patch.setattr(Descriptor, "swizzled", plain)
    sound = LoweredOperand.swizzled

    def lowered(self: LoweredOperand, address: Any) -> Any:
        other = object.__new__(LoweredOperand)
        other.__dict__.update(self.__dict__)
        other.operand = _changed(self.operand, descriptor=_negated(self.operand.descriptor))
        return sound(other, address)

    patch.setattr(LoweredOperand, "swizzled", lowered)


def _negated(fields: Descriptor) -> Descriptor:
    return replace(fields, base_offset=-fields.base_offset % 8)


def base_offsets_are_ignored(patch: Patch) -> None:
    """Operand and tile are taken for one permutation of addresses."""
    sound = OperandPoints.swizzles_cancel.fget
    assert sound is not None

    def wrong(self: OperandPoints) -> bool:
        fields = self.operand.descriptor
        return fields.swizzle.swizzle == self.operand.tile.address_swizzle

    patch.setattr(OperandPoints, "swizzles_cancel", property(wrong))


def the_swizzle_reads_offsets(patch: Patch) -> None:
    """In expressions: X of the bytes from the base, and not of the address."""
    patch.setattr(OperandPoints, "_bases", OperandPoints._firsts)


def the_swizzle_reads_offsets_everywhere(patch: Patch) -> None:
    the_swizzle_reads_offsets(patch)

    def reads(self: Operand, point: Any, base: Any) -> Any:
        return base + _SOUND_READS(self, point, 0 * base)

    patch.setattr(Operand, "reads", reads)
    patch.setattr(OperandPoints, "swizzles_cancel", property(lambda _: False))


_SOUND_READS = Operand.reads


def rows_and_k_exchanged(patch: Patch) -> None:
    def plain(self: Descriptor, row: Any, k: Any, element_bytes: int, major: Major) -> Any:
        return _PLAIN_LINEAR(self, k, row, element_bytes, major)

    patch.setattr(Descriptor, "linear", plain)


def majors_exchanged_everywhere(patch: Patch) -> None:
    def other(major: Major) -> Major:
        return Major.MN if major is Major.K else Major.K

    def plain(self: Descriptor, row: Any, k: Any, element_bytes: int, major: Major) -> Any:
        return _PLAIN_LINEAR(self, row, k, element_bytes, other(major))

    patch.setattr(Descriptor, "linear", plain)
    _lowered(patch, lambda operand: _changed(operand, major=other(operand.major)))


def half_an_element(patch: Patch) -> None:
    def plain(self: Descriptor, row: Any, k: Any, element_bytes: int, major: Major) -> Any:
        return _PLAIN_LINEAR(self, row, k, max(1, element_bytes // 2), major)

    patch.setattr(Descriptor, "linear", plain)


def only_the_first_step_of_k(patch: Patch) -> None:
    """The expressions of the tile forget where the operand begins in it."""

    def coordinate(self: LoweredOperand) -> Any:
        return tuple({"MN": self._row, "K": self._k}[mode] for mode in self.operand.modes)

    patch.setattr(LoweredOperand, "coordinate", property(coordinate))


def misaligned_starts_pass(patch: Patch) -> None:
    """Nobody asks for multiples of 16, and the plain reading does not drop bits."""
    for module in ("delivers", "in_bounds", "aligned"):
        patch.setattr(f"swzverify.claims.{module}.CHUNK_BYTES", 1)
        patch.setattr(f"swzverify.claims.{module}.multiple", lambda *_: ints.truth(ints.integer(1)))
    patch.setattr(operand_points, "misaligned_start", lambda *_: None)


def one_base_stands_for_all(patch: Patch) -> None:
    patch.setattr(operand_points, "base_values", lambda *_: 1)
    patch.setattr(OperandPoints, "_bases", OperandPoints._firsts)


def each_operand_has_an_order_of_its_own(patch: Patch) -> None:
    def sides(self: SharedK) -> Any:
        return tuple(shared_k._ordered(each, SharedK(each, other)._order) for each, other in _both_ways(self))

    patch.setattr(SharedK, "sides", property(sides))


def _both_ways(pair: SharedK) -> list[tuple[Any, Any]]:
    return [(pair.first, pair.second), (pair.second, pair.first)]


def an_order_need_not_be_one_to_one(patch: Patch) -> None:
    patch.setattr(SharedK, "is_one_to_one", True)


def rows_may_be_read_at_parts_of_k(patch: Patch) -> None:
    sound = SharedK._along_k
    patch.setattr(SharedK, "_along_k", lambda self, points: sound(self, points)[:1])


def operands_begin_at_one_base(patch: Patch) -> None:
    sound = OperandsApart.origins.func
    patch.setattr(OperandsApart, "origins", property(lambda self: (sound(self)[0], sound(self)[0])))


PLANTS: list[Callable[[Patch], None]] = [
    fields_exchanged,
    fields_exchanged_in_expressions,
    fields_exchanged_everywhere,
    the_swizzle_of_128b_in_every_mode,
    a_base_offset_that_is_added,
    base_offsets_are_ignored,
    the_swizzle_reads_offsets,
    the_swizzle_reads_offsets_everywhere,
    rows_and_k_exchanged,
    majors_exchanged_everywhere,
    half_an_element,
    only_the_first_step_of_k,
    misaligned_starts_pass,
    each_operand_has_an_order_of_its_own,
    an_order_need_not_be_one_to_one,
    rows_may_be_read_at_parts_of_k,
    operands_begin_at_one_base,
    one_base_stands_for_all,
]


FOUND_AT: dict[Callable[[Patch], None], int] = {
    a_base_offset_that_is_added: 170,
    base_offsets_are_ignored: 44,
    the_swizzle_reads_offsets: 104,
    the_swizzle_reads_offsets_everywhere: 15,
    each_operand_has_an_order_of_its_own: 72,
    an_order_need_not_be_one_to_one: 49,
    rows_may_be_read_at_parts_of_k: 13,
    operands_begin_at_one_base: 8,
    one_base_stands_for_all: 40,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_of_operands_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    found = first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS], "operands")
    assert found is not None

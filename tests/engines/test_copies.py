"""The rule of copies with any sources as Z3 terms, and over many warps: against the scalar rule, at the
measured patterns; and what changes nothing in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import z3

from swzverify.engines.smt import copies as smt_copies
from swzverify.hardware import CHUNK_BYTES, LANES, access_cost, copies_many, copy_cost
from swzverify.hardware.octets import CopyCost
from tests.hardware.test_cp_async_rule import SCATTERED, Copies, copies
from tests.nightly import counts

Patch = pytest.MonkeyPatch
ROWS = [row for name in SCATTERED for row in copies("h100_cp_async16_rule.npz", name)]
SOME = random.Random(5).sample(ROWS, 16)
REPEATED = Copies({0: 0, 1: 0, 2: 8}, {0: 0, 1: 8, 2: 16}, 2, -1, 16)
"""Two lanes write to one place: the higher one does not copy."""


def scalar(row: Copies) -> CopyCost:
    return copy_cost({lane: CHUNK_BYTES * place for lane, place in row.to.items()}, row.source)


def by_terms(row: Copies) -> CopyCost:
    def term(chunk: int) -> Any:
        return z3.BitVecVal(CHUNK_BYTES * chunk, 24)

    lanes = range(LANES)
    addresses, sources = ([term(each.get(lane, 0)) for lane in lanes] for each in (row.to, row.source))
    active = [z3.BoolVal(lane in row.to) for lane in lanes]
    wavefronts, minimum = (z3.simplify(each) for each in smt_copies.sourced_costs(addresses, sources, active))
    is_repeated = z3.is_true(z3.simplify(smt_copies.read_twice(addresses, sources, active)))
    return CopyCost(wavefronts.as_long(), minimum.as_long(), not is_repeated)


@pytest.mark.parametrize("count", counts(6, 16))
def test_the_terms_are_the_scalar_rule(count: int) -> None:
    rows = (*SOME[:count], REPEATED)
    assert [by_terms(row) for row in rows] == [scalar(row) for row in rows]
    assert {scalar(row).is_exact for row in rows} == {True, False}


def of_class_lines_only(patch: Patch) -> None:
    patch.setattr(smt_copies, "lowest", lambda address, _: z3.BitVecVal(0, 1, address.ctx))


def classes_of_one_wavefront(patch: Patch) -> None:
    sound = smt_copies.lowest
    patch.setattr(smt_copies, "lowest", lambda at, size: sound(at, size) if size != 64 else z3.BitVecVal(0, 1))


def no_line_of_the_source(patch: Patch) -> None:
    sound = smt_copies.units
    patch.setattr(smt_copies, "units", lambda at, size: sound(at & 127, size) if size == 128 else sound(at, size))


def no_pairs(patch: Patch) -> None:
    sound = smt_copies._class_of

    def alone(lane: int, addresses: Any, sources: Any, _: Any) -> Any:
        return sound(lane, addresses, sources, [z3.BoolVal(False)] * LANES)

    patch.setattr(smt_copies, "_class_of", alone)


def every_lane_copies(patch: Patch) -> None:
    patch.setattr(smt_copies, "copying", lambda _, active: active)


SHOWN_BY = {
    of_class_lines_only: SOME[0],
    classes_of_one_wavefront: SOME[3],
    no_line_of_the_source: SOME[0],
    no_pairs: SOME[3],
    every_lane_copies: REPEATED,
}
"""Mistakes in the terms, each with a row that `test_the_terms_are_the_scalar_rule` reads and that shows it."""


@pytest.mark.parametrize("plant", SHOWN_BY)
def test_a_wrong_term_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert by_terms(SHOWN_BY[plant]) != scalar(SHOWN_BY[plant])


def test_many_warps_are_the_scalar_rule() -> None:
    to, read, active = arrays([*ROWS[::3], REPEATED])
    found = copies_many(to, read, active)
    wanted = [scalar(row) for row in (*ROWS[::3], REPEATED)]
    assert found.wavefronts.tolist() == [each.wavefronts for each in wanted]
    assert found.minimum.tolist() == [each.minimum for each in wanted]
    assert found.is_exact.tolist() == [each.is_exact for each in wanted]


@pytest.mark.parametrize(("shift", "flip"), [(0, 0), (8, 0), (8 * 77, 0), (0, 1), (0, 2), (0, 5), (0, 8 + 7)])
def test_what_separation_leaves_out_changes_nothing(shift: int, flip: int) -> None:
    """Whole lines that shift all sources, or all destinations; bits that flip in all destinations."""
    to, read, active = arrays(ROWS[::5])
    plain, source = copies_many(to, read, active), copies_many(to, read + shift, active)
    moved = copies_many((to ^ flip) + shift, read, active)
    for other in (source, moved):
        assert (plain.wavefronts == other.wavefronts).all()
        assert (plain.is_exact == other.is_exact).all()


def test_other_shifts_do_change_it() -> None:
    to, read, active = arrays(ROWS[::5])
    plain = copies_many(to, read, active)
    for chunks in (1, 2, 4):
        assert (plain.wavefronts != copies_many(to, read + chunks, active).wavefronts).any()


def arrays(rows: list[Copies]) -> tuple[Any, Any, Any]:
    """Destinations, sources in chunks, and active lanes."""
    to, read = np.zeros((2, len(rows), LANES), dtype=np.int64)
    active = np.zeros((len(rows), LANES), dtype=bool)
    for number, row in enumerate(rows):
        lanes = list(row.to)
        to[number, lanes] = list(row.to.values())
        read[number, lanes] = [row.source[lane] for lane in lanes]
        active[number, lanes] = True
    return to, read, active


@pytest.mark.parametrize(
    ("addresses", "sources", "wavefronts"),
    [
        ([32 * lane for lane in range(32)], [32 * lane for lane in range(32)], 8),
        ([16 * lane for lane in range(32)], [lane // 4 * 4096 + lane % 4 * 16 for lane in range(32)], 8),
        (
            [lane // 4 * 64 + (lane % 4 + lane // 8) % 4 * 16 for lane in range(32)],
            [lane // 4 * 4096 + lane % 4 * 16 for lane in range(32)],
            12,
        ),
        (
            [lane // 2 * 48 + lane % 2 * 16 for lane in range(32)],
            [lane // 2 * 1024 + lane % 2 * 16 for lane in range(32)],
            24,
        ),
    ],
    ids=["32 bytes to 32 bytes", "rows of 64", "rotated rows of 64", "rows of 48"],
)
def test_the_four_public_patterns(addresses: list[int | None], sources: list[int | None], wavefronts: int) -> None:
    """Counted on an H100: docs/hardware.md."""
    found = access_cost("cp.async.16", addresses, sources=sources)
    assert (found.wavefronts, found.minimum, found.is_exact) == (wavefronts, 4, True)
    assert len(found.groups[0].apart) == wavefronts
    assert sorted(lane for lanes in found.groups[0].apart for lane in lanes) == list(range(32))

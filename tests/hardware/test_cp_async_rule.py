"""What docs/hardware.md says of cp.async beyond the model, replayed from the data; the rules stand
here alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np
import pytest

from swzverify.hardware import LANES, copy_cost, cost_many
from tests.hardware.test_calibration import DATA, rows_of

COALESCED = {"two_lanes": 8493, "few_lanes": 21_000, "octet": 15_900, "warps": 5700, "held_out_coalesced": 1500}
SCATTERED = {"sources": 7004, "held_out_sources": 3800}
GROUPS = {4: 32, 8: 16, 16: 8}
"""Lanes that go together, by the bytes that a lane copies."""


class Copies(NamedTuple):
    """One warp instruction: destination and source of each lane that copies, in the unit of the
    set; and its counts.
    """

    to: dict[int, int]
    source: dict[int, int]
    wavefronts: int
    bank_conflicts: int
    lane_bytes: int


def copies(file: str, name: str) -> list[Copies]:
    with np.load(DATA / file) as arrays:
        found = {key.removeprefix(f"{name}/"): arrays[key] for key in arrays.files if key.startswith(f"{name}/")}
    rows: list[Copies] = []
    for i, mask in enumerate(found["masks"]):
        lanes = [lane for lane in range(LANES) if int(mask) >> lane & 1]
        rows.append(
            Copies(
                {lane: int(found["destinations"][i][lane]) for lane in lanes},
                {lane: int(found["sources"][i][lane]) if "sources" in found else lane for lane in lanes},
                int(found["wavefronts"][i]),
                int(found["bank_conflicts"][i]) if "bank_conflicts" in found else -1,
                int(found["bytes"][i]) if "bytes" in found else 16,
            )
        )
    return rows


def first_to_each(to: dict[int, int]) -> list[int]:
    """Of the lanes that write to one place, the lowest."""
    kept: dict[int, int] = {}
    for lane, place in to.items():
        kept.setdefault(place, lane)
    return sorted(kept.values())


def bypass_wavefronts(row: Copies) -> int:
    """The rule for 16 bytes past the first-level cache; addresses count chunks of 16 bytes.

    Exact if no two of the lanes that copy read one chunk, else a lower bound.
    """
    halves_by_sector: defaultdict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for lane in first_to_each(row.to):
        halves_by_sector[row.source[lane] // 2][row.source[lane] % 2].append(lane)
    moves: defaultdict[tuple[object, ...], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for sector, (even, odd) in halves_by_sector.items():
        waiting = list(odd)
        units: list[tuple[str, int]] = []
        for lane in even:
            mate = next((other for other in waiting if row.to[other] // 2 == row.to[lane] // 2), None)
            if mate is None:
                units.append(("even", row.to[lane]))
            else:
                waiting.remove(mate)
                units.append(("both", row.to[lane]))
        units += [("odd", row.to[lane] ^ 1) for lane in waiting]  # where its even half would go
        for kind, chunk in units:
            move = sector % 4 ^ chunk // 2 % 4
            moves[sector // 4, chunk // 8, kind, chunk % 2, move % 2][sector % 2].add(move // 2)
    return sum(max(len(of_even), len(of_odd)) for of_even, of_odd in moves.values())


def reads_each_chunk_once(row: Copies) -> bool:
    chunks = [row.source[lane] for lane in first_to_each(row.to)]
    return len(set(chunks)) == len(chunks)


def cached_wavefronts(row: Copies) -> int:
    """The rule for cp.async.ca: a lane waits for the lower lanes of its group that it meets at
    either end.
    """
    total = 0
    for first in range(0, LANES, GROUPS[row.lane_bytes]):
        turn_at_destination: Counter[int] = Counter()
        turn_at_source: Counter[int] = Counter()
        for lane in range(first, first + GROUPS[row.lane_bytes]):
            if lane in row.to:
                there, here = (
                    place // row.lane_bytes % (128 // row.lane_bytes) for place in (row.to[lane], row.source[lane])
                )
                turn = 1 + max(turn_at_destination[there], turn_at_source[here])
                turn_at_destination[there] = turn_at_source[here] = turn
        total += max(turn_at_destination.values(), default=0)
    return total


def groups(row: Copies) -> int:
    return len({lane // GROUPS[row.lane_bytes] for lane in row.to})


def most_in_a_bank(row: Copies) -> int:
    """Of each group the most lanes that meet at one end, summed."""
    total = 0
    for first in range(0, LANES, GROUPS[row.lane_bytes]):
        lanes = [lane for lane in range(first, first + GROUPS[row.lane_bytes]) if lane in row.to]
        for_ends = [
            max(Counter(end[lane] // row.lane_bytes % (128 // row.lane_bytes) for lane in lanes).values(), default=0)
            for end in (row.to, row.source)
        ]
        total += max(for_ends)
    return total


def lines_of_a_group(row: Copies) -> int:
    lines = {(lane // GROUPS[row.lane_bytes], row.source[lane] // 128) for lane in row.to}
    return max(Counter(group for group, _ in lines).values())


@pytest.mark.parametrize(("name", "count"), COALESCED.items(), ids=COALESCED)
def test_the_bypass_rule_reproduces_every_coalesced_pattern(name: str, count: int) -> None:
    rows = copies("h100_cp_async16_rule.npz", name)
    assert len(rows) == count
    assert [bypass_wavefronts(row) for row in rows] == [row.wavefronts for row in rows]


@pytest.mark.parametrize(("file", "name"), [("calibration", "cp.async.16"), ("variants", "exited_cp.async.16")])
def test_the_bypass_rule_reproduces_what_was_counted_before(file: str, name: str) -> None:
    """The calibration's patterns and those with lanes that have exited."""
    found = rows_of(f"h100_{file}.npz", name)
    rows = [
        Copies({lane: a // 16 for lane, a in enumerate(warp) if a is not None}, dict(enumerate(range(LANES))), 0, 0, 16)
        for warp in found.warps()
    ]
    assert [bypass_wavefronts(row) for row in rows] == found.wavefronts.tolist()


@pytest.mark.parametrize(("name", "count"), SCATTERED.items(), ids=SCATTERED)
def test_the_bypass_rule_knows_any_sources_that_differ(name: str, count: int) -> None:
    rows = copies("h100_cp_async16_rule.npz", name)
    assert len(rows) == count
    once = [row for row in rows if reads_each_chunk_once(row)]
    assert len(once) == {"sources": 5897, "held_out_sources": 3211}[name]
    assert [bypass_wavefronts(row) for row in once] == [row.wavefronts for row in once]
    # where lanes read one chunk it is a lower bound, and the places that are written an upper one
    again = [row for row in rows if not reads_each_chunk_once(row)]
    assert all(bypass_wavefronts(row) <= row.wavefronts <= len(set(row.to.values())) for row in again)
    assert any(bypass_wavefronts(row) < row.wavefronts for row in again)


@pytest.mark.parametrize("name", SCATTERED)
def test_the_package_prices_any_sources_by_this_rule(name: str) -> None:
    for row in copies("h100_cp_async16_rule.npz", name):
        found = copy_cost({lane: 16 * place for lane, place in row.to.items()}, row.source)
        assert found.wavefronts == bypass_wavefronts(row)
        assert found.is_exact == reads_each_chunk_once(row)
        assert found.wavefronts == row.wavefronts if found.is_exact else found.wavefronts <= row.wavefronts


@pytest.mark.parametrize("name", COALESCED)
def test_the_bypass_rule_is_the_models_where_sources_are_coalesced(name: str) -> None:
    with np.load(DATA / "h100_cp_async16_rule.npz") as arrays:
        masks = arrays[f"{name}/masks"]
        addresses = arrays[f"{name}/destinations"].astype(np.int64) * 16
    active = (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
    costs = cost_many("cp.async.16", addresses, active)
    assert [bypass_wavefronts(row) for row in copies("h100_cp_async16_rule.npz", name)] == costs.wavefronts.tolist()


@pytest.mark.parametrize(("name", "count"), [("one_line", 1440), ("held_out_one_line", 1920)])
def test_the_cached_rule_reproduces_every_pattern_of_one_line(name: str, count: int) -> None:
    rows = copies("h100_cp_async_sources.npz", name)
    assert len(rows) == count
    assert {lines_of_a_group(row) for row in rows} == {1}
    assert Counter(row.lane_bytes for row in rows) == dict.fromkeys((4, 8, 16), count // 3)
    predicted = [cached_wavefronts(row) for row in rows]
    assert predicted == [row.wavefronts for row in rows]
    assert [cost - groups(row) for cost, row in zip(predicted, rows, strict=True)] == [
        row.bank_conflicts for row in rows
    ]
    # the order of the lanes matters, not only how many of them meet
    assert any(most_in_a_bank(row) < row.wavefronts for row in rows)


@pytest.mark.parametrize(("name", "row_bytes"), [("cp.async.4", 4), ("cp.async.8", 8), ("cp.async.ca.16", 16)])
def test_the_cached_rule_is_the_models_where_sources_are_coalesced(name: str, row_bytes: int) -> None:
    found = rows_of("h100_calibration.npz", name)
    source = {lane: lane * row_bytes for lane in range(LANES)}
    rows = [
        Copies({lane: a for lane, a in enumerate(warp) if a is not None}, source, 0, 0, row_bytes)
        for warp in found.warps()
    ]
    assert [cached_wavefronts(row) for row in rows] == found.wavefronts.tolist()


def test_sources_in_several_lines_only_have_a_lower_bound() -> None:
    rows = [row for row in copies("h100_cp_async_sources.npz", "several_lines") if lines_of_a_group(row) > 1]
    assert len(rows) == 1483
    assert all(most_in_a_bank(row) <= row.wavefronts for row in rows)
    differences = [np.sign(row.wavefronts - cached_wavefronts(row)) for row in rows]
    assert Counter(int(sign) for sign in differences) == {1: 849, 0: 633, -1: 1}

"""The octet rule of 16-byte `cp.async.cg`: every measured pattern by both forms, its laws, and
rules that are wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.hardware import GroupCost, access_cost, cost_many
from swzverify.hardware.octets import copying, octet_classes
from tests.measured import warps_of

DATA = Path(__file__).parent.parent / "data"
NAME = "cp.async.16"
LANES = 32
Warp = list[int | None]


class Rows(NamedTuple):
    addresses: np.ndarray
    active: np.ndarray
    wavefronts: np.ndarray

    def warps(self) -> list[Warp]:
        return warps_of(self.addresses, self.active)


# name: (file, what the names of its arrays begin with, the array of addresses, bytes of their unit,
# patterns)
RULE = "h100_cp_async16_rule.npz"
SETS = {
    "two_lanes": (RULE, "two_lanes/", "destinations", 16, 8493),
    "few_lanes": (RULE, "few_lanes/", "destinations", 16, 21_000),
    "octet": (RULE, "octet/", "destinations", 16, 15_900),
    "warps": (RULE, "warps/", "destinations", 16, 5700),
    "held_out_coalesced": (RULE, "held_out_coalesced/", "destinations", 16, 1500),
    "first": ("h100_cp_async16.npz", "", "byte_offset", 1, 284),
    "calibration": ("h100_calibration.npz", "cp.async.16/", "addresses", 1, 650),
    "exited": ("h100_variants.npz", "exited_cp.async.16/", "addresses", 1, 160),
}


@cache
def rows_of(name: str) -> Rows:
    file, start, addresses, unit_bytes, count = SETS[name]
    with np.load(DATA / file) as arrays:
        masks = arrays[f"{start}masks" if start else "active_mask"]
        active = (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
        places = arrays[f"{start}{addresses}"].astype(np.int64) * unit_bytes
        found = Rows(places, active, arrays[f"{start}wavefronts"].astype(np.int64))
    assert len(found.wavefronts) == count
    return found


@pytest.mark.parametrize("name", SETS)
def test_the_scalar_rule_reproduces_every_pattern(name: str) -> None:
    rows = rows_of(name)
    assert [access_cost(NAME, warp).wavefronts for warp in rows.warps()] == rows.wavefronts.tolist()


@pytest.mark.parametrize("name", SETS)
def test_the_vectorised_rule_reproduces_every_pattern(name: str) -> None:
    rows = rows_of(name)
    many = cost_many(NAME, rows.addresses, rows.active)
    np.testing.assert_array_equal(many.wavefronts, rows.wavefronts)
    some = slice(None, None, 7)
    assert many.minimum[some].tolist() == [access_cost(NAME, warp).minimum for warp in rows.warps()[some]]


def test_the_patterns_differ_in_what_they_need() -> None:
    """Agreement on patterns of one kind would prove little."""
    for name in SETS:
        assert len(np.unique(rows_of(name).wavefronts)) > 1
    rows = rows_of("calibration")
    repeats = [len(set(warp) - {None}) < int(on.sum()) for warp, on in zip(rows.warps(), rows.active, strict=True)]
    assert 0.1 < np.mean(repeats) < 0.9
    assert not rows.active.all()


# --- by hand: what goes together, and what does not ---------------------------------------------------------


class Case(NamedTuple):
    """Chunks (of 16 bytes) by lane, the wavefronts and the minimum."""

    chunks: Mapping[int, int]
    wavefronts: int
    minimum: int = 1


def in_place(*lanes: int) -> dict[int, int]:
    return {lane: lane for lane in lanes}


CASES: dict[str, Case] = {
    "one lane": Case({5: 77}, 1),
    "a row": Case(in_place(*range(32)), 4, 4),
    "a row of another place": Case({lane: lane ^ 5 | 64 for lane in range(8)}, 1),
    # of a sector alone, even lanes are of one kind and odd ones of the other
    "an even and an odd lane": Case(in_place(0, 3), 2),
    "two even lanes": Case(in_place(0, 2), 1),
    "three odd lanes": Case(in_place(1, 3, 7), 1),
    "a pair": Case(in_place(0, 1), 1),
    "a pair and an even lane": Case(in_place(0, 1, 2), 2),
    "a pair and an odd lane": Case(in_place(0, 1, 3), 2),
    "two mates that are no pair": Case({0: 0, 1: 9}, 2),
    "mates in neighbouring sectors": Case({0: 0, 1: 3}, 2),
    "mates in neighbouring sectors, and an even lane": Case({0: 0, 1: 3, 2: 2}, 2),
    "mates in sectors two apart": Case({0: 0, 1: 5}, 2),
    "mates, of which one does not copy": Case({0: 1, 8: 0, 9: 1, 10: 2}, 2, 2),
    # halves
    "halves kept and swapped": Case({0: 0, 2: 3}, 2),
    "a pair kept and one swapped": Case({0: 0, 1: 1, 2: 3, 3: 2}, 2),
    "a pair kept and an even lane swapped": Case({0: 0, 1: 1, 2: 3}, 2),
    "two pairs swapped": Case({0: 1, 1: 0, 2: 3, 3: 2}, 1),
    # sectors: moves of one parity go together, whole or in part
    "moves 0 and 2": Case({0: 0, 2: 6}, 1),
    "moves 2 and 1": Case({0: 4, 2: 0}, 2),
    "moves 1 and 3": Case({0: 2, 2: 4}, 1),
    "moves 0 and 2 of even sectors, in two lines": Case({0: 0, 4: 8}, 2),
    "moves of even and odd sectors": Case({0: 0, 2: 6, 4: 4, 6: 2}, 1),
    # lines
    "two lines": Case({0: 0, 2: 10}, 2),
    "a pair on either side of a line": Case({0: 7, 1: 8}, 2),
    # octets count by themselves
    "the same class in two octets": Case(in_place(0, 2, 8, 10), 2, 2),
    # of lanes with one address the lowest copies
    "one address": Case(dict.fromkeys(range(32), 3), 1),
    "a repeat in the octet": Case({0: 0, 3: 0, 2: 2}, 1),
    "a repeat in another octet": Case({0: 0, 2: 2, 9: 2, 11: 0}, 1),
    "a repeat beside a copy": Case({0: 0, 8: 0, 10: 10}, 2, 2),
    "a repeat of a pair": Case({0: 0, 1: 1, 2: 0, 3: 1}, 1),
    "the lowest of a chain": Case({3: 3, 8: 3, 16: 3, 18: 2, 24: 2}, 2, 2),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case(case: Case) -> None:
    warp = [16 * case.chunks[lane] if lane in case.chunks else None for lane in range(LANES)]
    assert numbers(warp) == (case.wavefronts, case.minimum)


def test_a_class_never_takes_two_wavefronts() -> None:
    """Why classes may be counted: the larger of the rule's two numbers is 1, as lanes that copy
    differ in address.

    Two units that could make it 2 are of two lanes or pairs; those of all sectors, places and kinds
    are tried.
    """
    seen = 0
    for first, other in product(range(8), repeat=2):
        for here, there in product(range(8), repeat=2):
            for pairs in (False, True):
                copies = {first: 16 * here, other: 16 * there}
                if pairs:
                    copies |= {first ^ 1: 16 * (here ^ 1), other ^ 1: 16 * (there ^ 1)}
                if len(set(copies.values())) == len(copies) > 1 and first != other:
                    seen += 1
                    assert {each.wavefronts for each in octet_classes(dict(sorted(copies.items())))} == {1}
    assert seen > 3000


# chunks by lane of one octet, half of the moves of the even sectors and of the odd ones, the
# wavefronts
MOVES: list[tuple[dict[int, int], tuple[set[int], set[int]], int]] = [
    ({0: 0, 2: 6}, ({0}, {1}), 1),
    ({0: 2, 2: 4}, ({0}, {1}), 1),
    ({0: 6, 2: 0}, ({1}, {0}), 1),
    ({0: 0, 2: 6, 4: 4, 6: 2}, ({0}, {1}), 1),
    # of lanes with one address only one copies; did all of them, the measured rule would count more
    ({0: 0, 2: 2, 4: 0}, ({0, 1}, {0}), 2),
    ({0: 0, 2: 2, 6: 2}, ({0}, {0, 1}), 2),
]


@pytest.mark.parametrize(("chunks", "moves", "wavefronts"), MOVES)
def test_a_class_tells_its_moves(chunks: dict[int, int], moves: tuple[set[int], set[int]], wavefronts: int) -> None:
    (found,) = octet_classes({lane: 16 * chunk for lane, chunk in chunks.items()})
    assert (found.lanes, found.moves, found.wavefronts) == (list(chunks), moves, wavefronts)


def test_groups_have_the_lanes_that_copy() -> None:
    cost = access_cost(NAME, [0, 16, 0, None, *[None] * 4, 16, 160, *[None] * 6, 0, *[None] * 15])
    assert cost.groups == (GroupCost((0, 1), 1, None, ((0, 1),)), GroupCost((9,), 1, None, ((9,),)))
    assert (cost.wavefronts, cost.minimum, cost.bank_conflicts) == (2, 2, 0)


def test_groups_tell_what_goes_together() -> None:
    (group,) = access_cost(NAME, [16 * (lane + 1) if lane < 8 else None for lane in range(LANES)]).groups
    assert group == GroupCost(tuple(range(8)), 3, None, ((0, 2, 4, 6), (1, 3, 5), (7,)))


def test_copying_does_not_depend_on_the_order_of_a_mapping() -> None:
    assert copying({7: 0, 2: 0, 5: 16}) == {2: 0, 5: 16}


# --- laws ---------------------------------------------------------------------------------------------------


@st.composite
def warps(draw: st.DrawFn) -> Warp:
    """Few chunks, many, rows that are shifted or permuted, XOR-linear maps; some lanes off, some
    that repeat others.
    """
    lines = draw(st.sampled_from([1, 2, 4, 64]))
    match draw(st.sampled_from(["any", "shifted", "linear", "permuted"])):
        case "any":
            chunks = draw(st.lists(st.integers(0, 8 * lines - 1), min_size=LANES, max_size=LANES))
        case "shifted":
            start, step = draw(st.integers(0, 63)), draw(st.integers(0, 20))
            chunks = [start + lane % 8 + step * (lane // 8) for lane in range(LANES)]
        case "linear":
            columns = draw(st.lists(st.integers(0, 8 * lines - 1), min_size=5, max_size=5))
            chunks = [0] * LANES
            for bit, column in enumerate(columns):
                chunks = [chunk ^ column if lane >> bit & 1 else chunk for lane, chunk in enumerate(chunks)]
        case _:
            chunks = draw(st.permutations(range(LANES)))
    mask = draw(st.just(2**LANES - 1) | st.integers(0, 2**LANES - 1))
    repeats = draw(st.dictionaries(st.integers(0, LANES - 1), st.integers(0, LANES - 1), max_size=6))
    chunks = [chunks[repeats.get(lane, lane)] for lane in range(LANES)]
    return [16 * chunk if mask >> lane & 1 else None for lane, chunk in enumerate(chunks)]


def numbers(warp: Warp) -> tuple[int, int]:
    """(wavefronts, minimum), once the two forms agree on them."""
    cost = access_cost(NAME, warp)
    # what lanes that are off have for an address must not matter
    addresses = np.array([[-3 if address is None else address for address in warp]], dtype=np.int64)
    many = cost_many(NAME, addresses, np.array([[address is not None for address in warp]]))
    assert (int(many.wavefronts[0]), int(many.minimum[0])) == (cost.wavefronts, cost.minimum)
    return cost.wavefronts, cost.minimum


def moved(warp: Warp, move: Callable[[int], int]) -> Warp:
    return [None if address is None else move(address) for address in warp]


@given(warps())
def test_both_forms_agree_and_keep_within_bounds(warp: Warp) -> None:
    wavefronts, minimum = numbers(warp)
    distinct = len(set(warp) - {None})
    assert -(-distinct // 8) <= minimum <= wavefronts <= distinct


@given(warps(), st.integers(0, 2**12))
def test_xor_by_whole_chunks_changes_nothing(warp: Warp, constant: int) -> None:
    assert numbers(moved(warp, lambda address: address ^ 16 * constant)) == numbers(warp)


@given(warps(), st.integers(0, 2**12))
def test_shifts_by_whole_lines_change_nothing(warp: Warp, lines: int) -> None:
    assert numbers(moved(warp, lambda address: address + 128 * lines)) == numbers(warp)


@given(warps(), st.randoms(use_true_random=False))
def test_lines_may_change_places(warp: Warp, rng: random.Random) -> None:
    lines = sorted({address // 128 for address in warp if address is not None})
    places = dict(zip(lines, rng.sample(range(1 << 12), len(lines)), strict=True))
    assert numbers(moved(warp, lambda address: 128 * places[address // 128] + address % 128)) == numbers(warp)


@given(warps())
def test_repeats_count_nowhere(warp: Warp) -> None:
    """Lanes that repeat a lower lane's address may as well be off."""
    without = [address if address not in warp[:lane] else None for lane, address in enumerate(warp)]
    assert numbers(without) == numbers(warp)


@given(warps(), st.integers(0, LANES - 1), st.integers(0, LANES - 1))
def test_one_more_repeat_changes_nothing(warp: Warp, lower: int, upper: int) -> None:
    if lower < upper and warp[lower] is not None and warp[upper] is None:
        assert numbers([*warp[:upper], warp[lower], *warp[upper + 1 :]]) == numbers(warp)


@given(warps(), st.permutations(range(4)))
def test_octets_may_change_places_where_no_address_repeats(warp: Warp, order: list[int]) -> None:
    warp = [address if address not in warp[:lane] else None for lane, address in enumerate(warp)]
    assert numbers([address for octet in order for address in warp[8 * octet : 8 * octet + 8]]) == numbers(warp)


def test_a_shift_by_less_than_a_line_changes_the_cost() -> None:
    """Why sums must come in whole lines, and XORs need not."""
    row: Warp = [16 * lane for lane in range(LANES)]
    assert numbers(row) == (4, 4)
    assert numbers(moved(row, lambda address: address + 16))[0] > 4
    assert numbers(moved(row, lambda address: address ^ 16)) == (4, 4)


# --- rules that are nearly right: measured patterns speak against each --------------------------------------


def wrong_rule(warp: Warp, mistake: str) -> tuple[int, int]:
    """(wavefronts, minimum) by the text of docs/semantics.md, section 4, with one mistake; "" is
    none.
    """
    copies: dict[int, int] = {}
    for lane, address in enumerate(warp):
        if address is None:
            continue
        lower = range(8 * (lane // 8), lane) if mistake == "repeats are looked for in the octet" else range(lane)
        others = range(lane + 1, LANES) if mistake == "the highest lane copies" else lower
        if mistake == "repeats copy" or all(warp[other] != address for other in others):
            copies[lane] = address
    wavefronts = 0
    for start in range(0, LANES, 8):
        classes: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        for lane in (lane for lane in copies if lane // 8 == start // 8):
            unit = _unit(lane, copies, mistake)
            if unit is not None:
                classes.setdefault(unit[0], []).append(unit[1])
        for found in classes.values():
            moves = [{move for parity, move in found if parity == wanted} for wanted in (0, 1)]
            if mistake == "both parities in one":
                wavefronts += len(moves[0] | moves[1])
            else:
                wavefronts += (sum if mistake == "the sum of both parities" else max)(map(len, moves))
    minimum = len({lane // 8 for lane in copies})
    if mistake == "octets without a copy count":
        minimum = len({lane // 8 for lane, address in enumerate(warp) if address is not None})
    return wavefronts, minimum


def _unit(lane: int, copies: Mapping[int, int], mistake: str) -> tuple[tuple[object, ...], tuple[int, int]] | None:
    """A unit's class, and the parity of its sector with half of its move; None for the second lane
    of a pair.
    """
    address, mate = copies[lane], copies.get(lane ^ 1)
    kind, half = ("odd", 1) if lane % 2 else ("even", 0)
    size = 64 if mistake == "pairs by two sectors" else 32
    if mate is not None and mate // size == address // size and mistake != "no pairs":
        if lane % 2:
            return None
        kind = "even" if mistake == "pairs are even lanes" else "both"
        if mistake == "half of the odd lane, in a class with even lanes":
            kind, address = "even", mate
    kind = "any" if mistake == "no kinds" else kind
    reads, writes = lane // 2 % 4, address // 32 % 4
    move = reads ^ writes
    key: list[object] = [address // 128, kind, half ^ address // 16 % 2, move % 2]
    for index, name in enumerate(["no lines", "", "no halves", "moves of both parities together"]):
        if mistake and mistake == name:
            key[index] = 0
    return tuple(key), (reads % 2, move // 2)


MISTAKES = [
    "repeats copy",
    "repeats are looked for in the octet",
    "the highest lane copies",
    "no pairs",
    "pairs by two sectors",
    "pairs are even lanes",
    "half of the odd lane, in a class with even lanes",
    "no kinds",
    "no lines",
    "no halves",
    "moves of both parities together",
    "both parities in one",
    "the sum of both parities",
]


def test_the_text_of_the_semantics_is_the_rule() -> None:
    for name in ("warps", "calibration", "first"):
        rows = rows_of(name)
        for warp, seen in zip(rows.warps()[::5], rows.wavefronts[::5], strict=True):
            assert wrong_rule(warp, "") == (seen, access_cost(NAME, warp).minimum)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_measured_patterns_refute(mistake: str) -> None:
    rows = rows_of("calibration")
    assert any(wrong_rule(warp, mistake)[0] != seen for warp, seen in zip(rows.warps(), rows.wavefronts, strict=True))


@pytest.mark.parametrize("mistake", [*MISTAKES, "octets without a copy count"])
def test_a_case_by_hand_refutes(mistake: str) -> None:
    found: list[bool] = []
    for case in CASES.values():
        warp = [16 * case.chunks[lane] if lane in case.chunks else None for lane in range(LANES)]
        assert wrong_rule(warp, "") == (case.wavefronts, case.minimum)
        found.append(wrong_rule(warp, mistake) != (case.wavefronts, case.minimum))
    assert any(found)

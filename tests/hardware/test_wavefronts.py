"""The cost rule: real configurations, its laws, the vectorised form against it, and its errors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, Evidence, access_cost, cost_many

WARP = range(32)
BY_BANKS = [name for name, row in INSTRUCTIONS.items() if not row.by_octets]
BY_OCTETS = [name for name, row in INSTRUCTIONS.items() if row.by_octets]
JOINING = [name for name, row in INSTRUCTIONS.items() if row.joins]
SPACE_BYTES = 8192
Warp = list[int | None]


def swizzled(bits: int, base: int, shift: int, offset: int) -> int:
    """CuTe's Swizzle<bits, base, shift> of an offset, shift > 0."""
    return offset ^ (offset >> shift & ((1 << bits) - 1) << base)


def rows16(t: int) -> tuple[int, int]:
    """Row and column (of 2-byte elements) that a lane of ldmatrix.x4 gives for a 16 by 16 block."""
    return t % 16, t // 16 * 8


def read_bs(t: int) -> int:
    return (t & 0x30) >> 3 | t & 1


# name: (instruction, threads, byte address of a thread, wavefronts measured, minimum)
CONFIGURATIONS: dict[str, tuple[str, Callable[[int], int], int, int]] = {
    "f16 64-wide Sw<3,3,3>, k=0": (
        "ldmatrix.x4", lambda t: 2 * swizzled(3, 3, 3, rows16(t)[0] * 64 + rows16(t)[1]), 4, 4),
    "f16 64-wide Sw<3,3,3>, k=40": (
        "ldmatrix.x4", lambda t: 2 * swizzled(3, 3, 3, rows16(t)[0] * 64 + rows16(t)[1] + 40), 4, 4),
    "f16 64-wide": ("ldmatrix.x4", lambda t: 2 * (rows16(t)[0] * 64 + rows16(t)[1]), 32, 4),
    "f16 32-wide Sw<2,3,3>": (
        "ldmatrix.x4", lambda t: 2 * swizzled(2, 3, 3, rows16(t)[0] * 32 + rows16(t)[1]), 4, 4),
    "f16 128-wide Sw<3,3,3>": (
        "ldmatrix.x4", lambda t: 2 * swizzled(3, 3, 3, rows16(t)[0] * 128 + rows16(t)[1]), 8, 4),
    "f16 128-wide Sw<3,3,4>": (
        "ldmatrix.x4", lambda t: 2 * swizzled(3, 3, 4, rows16(t)[0] * 128 + rows16(t)[1]), 4, 4),
    "f16 64-wide padded to 72": ("ldmatrix.x4", lambda t: 2 * (rows16(t)[0] * 72 + rows16(t)[1]), 4, 4),
    "f16 M-major (64,8):(1,64) Sw<3,3,3>": (
        "ldmatrix.x4.trans", lambda t: 2 * swizzled(3, 3, 3, t % 8 * 64 + t // 8 * 8), 4, 4),
    "f32 32x64 column Sw<5,0,6>": ("ld.shared.b32", lambda t: 4 * swizzled(5, 0, 6, 64 * t), 1, 1),
    "f32 32x64 column Sw<5,0,8>": ("ld.shared.b32", lambda t: 4 * swizzled(5, 0, 8, 64 * t), 4, 1),
    "f32 32x64 column Sw<5,2,6>": ("ld.shared.b32", lambda t: 4 * swizzled(5, 2, 6, 64 * t), 4, 1),
    "f32 32x64 column Sw<5,2,8>": ("ld.shared.b32", lambda t: 4 * swizzled(5, 2, 8, 64 * t), 16, 1),
    "int8 8x128 Sw<3,4,3>": (
        "ld.shared.v4.b32", lambda t: swizzled(3, 4, 3, t % 8 * 128 + t // 8 * 16), 4, 4),
    "f16 8x64 Sw<3,3,3>": (
        "ld.shared.v4.b32", lambda t: 2 * swizzled(3, 3, 3, t % 8 * 64 + t // 8 * 8), 4, 4),
    "f16 8x64": ("ld.shared.v4.b32", lambda t: 2 * (t % 8 * 64 + t // 8 * 8), 32, 4),
    "f32 (32,16) column Sw<4,0,4>": ("ld.shared.b32", lambda t: 4 * swizzled(4, 0, 4, 16 * t), 2, 1),
    "f32 (32,16) column Sw<4,0,5>": ("ld.shared.b32", lambda t: 4 * swizzled(4, 0, 5, 16 * t), 1, 1),
    "f32 (32,16) column Sw<3,0,4>": ("ld.shared.b32", lambda t: 4 * swizzled(3, 0, 4, 16 * t), 4, 1),
    "f64 32x32 column": ("ld.shared.v2.b32", lambda t: 8 * 32 * t, 32, 2),
    "f64 32x32 column Sw<4,0,5>": ("ld.shared.v2.b32", lambda t: 8 * swizzled(4, 0, 5, 32 * t), 2, 2),
    "f64 32x32 column Sw<5,0,5>": ("ld.shared.v2.b32", lambda t: 8 * swizzled(5, 0, 5, 32 * t), 2, 2),
    "f32 [32][33] column": ("ld.shared.b32", lambda t: 4 * 33 * t, 1, 1),
    "f32 [32][32] column": ("ld.shared.b32", lambda t: 4 * 32 * t, 32, 1),
    "f16 [32][33] column 0": ("ld.shared.b16", lambda t: 2 * (33 * t), 1, 1),
    "f16 [32][33] column 1": ("ld.shared.b16", lambda t: 2 * (33 * t + 1), 2, 1),
    "linear 128-bit": ("ld.shared.v4.b32", lambda t: 16 * t, 4, 4),
    "sgemm_sm80 TN ld 128": ("st.shared.b32", lambda t: 4 * (t // 8 + t % 8 * 128), 8, 1),
    "sgemm_sm80 TN ld 129": ("st.shared.b32", lambda t: 4 * (t // 8 + t % 8 * 129), 4, 1),
    "sgemm_sm80 TN ld 132": ("st.shared.b32", lambda t: 4 * (t // 8 + t % 8 * 132), 1, 1),
    "maxas writeS": ("st.shared.v4.b32", lambda t: (t & 15) * 16 + (t >> 4 & 1) * 256, 4, 4),
    "maxas readAs": ("ld.shared.v4.b32", lambda t: (t >> 1 & 7) << 4, 2, 2),
    "maxas readBs": ("ld.shared.v4.b32", lambda t: (read_bs(t) << 4) + 2048, 2, 2),
    "maxas writeCs": (
        "st.shared.v4.b32", lambda t: (read_bs(t) << 4) // 4 * 64 + ((t >> 1 & 7) << 4), 8, 4),
    "maxas readCs": ("ld.shared.b32", lambda t: ((t & 32) << 3) + (t & 31) << 2, 1, 1),
}  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "address", "wavefronts", "minimum"), CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys()
)
def test_configuration(instruction: str, address: Callable[[int], int], wavefronts: int, minimum: int) -> None:
    cost = access_cost(instruction, [address(t) for t in WARP])
    assert (cost.wavefronts, cost.minimum) == (wavefronts, minimum)
    assert cost.bank_conflicts == wavefronts - minimum
    assert cost.evidence is Evidence.MEASURED


def test_groups_tell_where_it_is_worst() -> None:
    cost = access_cost("st.shared.v2.b32", [8 * t if t < 16 else 4 * 34 * (t & ~1) for t in WARP])
    assert [group.lanes for group in cost.groups] == [tuple(range(16)), tuple(range(16, 32))]
    assert [group.wavefronts for group in cost.groups] == [1, 1]
    cost = access_cost("ld.shared.b32", [4 + 128 * (t % 3) if t < 9 else None for t in WARP])
    assert [(group.lanes, group.wavefronts, group.bank) for group in cost.groups] == [(tuple(range(9)), 3, 1)]
    cost = access_cost("cp.async.16", [16 * t if t >= 24 else None for t in WARP])
    assert [(group.lanes, group.wavefronts, group.bank) for group in cost.groups] == [(tuple(range(24, 32)), 1, None)]


def test_groups_join_over_the_whole_warp_only() -> None:
    pairs: Warp = [16 * (t // 2) for t in WARP]
    assert access_cost("ld.shared.v4.b32", pairs).minimum == 2
    assert access_cost("st.shared.v4.b32", pairs).minimum == 4
    odd_one_out = [*pairs[:31], 16]
    assert access_cost("ld.shared.v4.b32", odd_one_out).minimum == 4
    assert access_cost("ld.shared.v4.b32", [*pairs[:31], None]).minimum == 2


def test_warp_without_active_lanes_costs_nothing() -> None:
    for name in ("ld.shared.b32", "ld.shared.v4.b32", "cp.async.16"):
        cost = access_cost(name, [None] * 32)
        assert (cost.wavefronts, cost.minimum, cost.groups) == (0, 0, ())


def test_swizzled_rows_by_cp_async_16_take_one_wavefront_a_row() -> None:
    for mask in range(8):
        cost = access_cost("cp.async.16", [t // 8 * 128 + 16 * (t % 8 ^ t // 8 ^ mask) for t in WARP])
        assert (cost.wavefronts, cost.minimum) == (4, 4)


@st.composite
def warps(draw: st.DrawFn, name: str) -> Warp:
    """A warp's addresses: random, strided, XOR-linear, few distinct or paired; lanes off if
    allowed.
    """
    row = INSTRUCTIONS[name]
    units = SPACE_BYTES // row.width_bytes
    match draw(st.sampled_from(["random", "stride", "linear", "few", "pairs"])):
        case "random":
            chosen = draw(st.lists(st.integers(0, units - 1), min_size=32, max_size=32))
        case "stride":
            start, stride = draw(st.integers(0, units - 1)), draw(st.integers(0, 130))
            chosen = [(start + stride * t) % units for t in WARP]
        case "linear":
            basis = draw(st.lists(st.integers(0, units - 1), min_size=5, max_size=5))
            chosen = [0] * 32
            for bit, column in enumerate(basis):
                chosen = [unit ^ column if t >> bit & 1 else unit for t, unit in enumerate(chosen)]
        case "few":
            table = draw(st.lists(st.integers(0, units - 1), min_size=1, max_size=4))
            chosen = [table[i % len(table)] for i in draw(st.lists(st.integers(0, 3), min_size=32, max_size=32))]
        case _:
            half = draw(st.lists(st.integers(0, units - 1), min_size=16, max_size=16))
            distance = draw(st.sampled_from([1, 2]))
            chosen = [half[(t & ~distance) % 16] for t in WARP]
    mask = 2**32 - 1 if row.warp_wide else draw(st.just(2**32 - 1) | st.integers(0, 2**32 - 1))
    return [unit * row.width_bytes if mask >> t & 1 else None for t, unit in enumerate(chosen)]


@st.composite
def accesses(draw: st.DrawFn, names: list[str]) -> tuple[str, Warp]:
    name = draw(st.sampled_from(names))
    return name, draw(warps(name))


def moved(warp: Warp, move: Callable[[int], int]) -> Warp:
    return [None if address is None else move(address) for address in warp]


def numbers(name: str, warp: Warp) -> tuple[int, int]:
    cost = access_cost(name, warp)
    return cost.wavefronts, cost.minimum


@given(accesses(list(INSTRUCTIONS)), st.integers(0, 1000))
def test_moving_by_bank_periods_changes_nothing(access: tuple[str, Warp], periods: int) -> None:
    name, warp = access
    assert numbers(name, moved(warp, lambda a: a + 128 * periods)) == numbers(name, warp)


@given(accesses(BY_BANKS), st.integers(0, 1000))
def test_moving_by_words_changes_nothing(access: tuple[str, Warp], steps: int) -> None:
    name, warp = access
    step = max(4, INSTRUCTIONS[name].width_bytes)
    assert numbers(name, moved(warp, lambda a: a + step * steps)) == numbers(name, warp)


@given(accesses(BY_BANKS), st.integers(0, 2**14))
def test_xor_by_an_aligned_constant_changes_nothing(access: tuple[str, Warp], constant: int) -> None:
    name, warp = access
    step = max(4, INSTRUCTIONS[name].width_bytes)
    assert numbers(name, moved(warp, lambda a: a ^ step * constant)) == numbers(name, warp)


@given(accesses(BY_OCTETS), st.integers(0, 2**10))
def test_xor_by_whole_chunks_changes_nothing_for_cp_async_16(access: tuple[str, Warp], constant: int) -> None:
    name, warp = access
    assert numbers(name, moved(warp, lambda a: a ^ 16 * constant)) == numbers(name, warp)


@given(accesses(JOINING))
def test_a_load_never_takes_more_than_the_store_that_cannot_join(access: tuple[str, Warp]) -> None:
    name, warp = access
    assert access_cost(name, warp).wavefronts <= access_cost(name.replace("ld.", "st."), warp).wavefronts


@given(accesses(list(INSTRUCTIONS)))
def test_totals_and_groups_agree(access: tuple[str, Warp]) -> None:
    name, warp = access
    cost = access_cost(name, warp)
    assert cost.minimum <= cost.wavefronts <= 32 * INSTRUCTIONS[name].words
    assert cost.wavefronts == sum(group.wavefronts for group in cost.groups)
    assert cost.minimum == len(cost.groups)
    lanes = [lane for group in cost.groups for lane in group.lanes]
    used = [t for t in range(INSTRUCTIONS[name].address_lanes) if warp[t] is not None]
    # by octets a lane counts only if no lower one has its address
    assert lanes == [t for t in used if name not in BY_OCTETS or warp[t] not in warp[:t]]
    for group in cost.groups:
        assert (group.bank is None) == (name in BY_OCTETS)
        assert sorted(lane for together in group.apart for lane in together) == [
            lane for lane in group.lanes if name in BY_OCTETS
        ]


@pytest.mark.parametrize("name", INSTRUCTIONS)
@settings(max_examples=15)
@given(data=st.data())
def test_scalar_and_vectorised_agree(name: str, data: st.DataObject) -> None:
    drawn = data.draw(st.lists(warps(name), max_size=3))
    # an inactive lane's address must not matter, so it gets one that no rule would accept
    addresses = np.array([[-3 if a is None else a for a in warp] for warp in drawn], dtype=np.int64).reshape(-1, 32)
    active = np.array([[a is not None for a in warp] for warp in drawn], dtype=bool).reshape(-1, 32)
    many = cost_many(name, addresses, active)
    costs = [*zip(many.wavefronts.tolist(), many.minimum.tolist(), strict=True)]
    assert costs == [numbers(name, warp) for warp in drawn]
    assert many.bank_conflicts.tolist() == [wavefronts - minimum for wavefronts, minimum in costs]
    assert {array.dtype for array in (many.wavefronts, many.minimum)} == {np.dtype(np.int64)}


@given(accesses([name for name, row in INSTRUCTIONS.items() if row.address_lanes < 32]), st.integers(0, 2**20))
def test_lanes_beyond_the_address_lanes_are_ignored(access: tuple[str, Warp], junk: int) -> None:
    name, warp = access
    lanes = INSTRUCTIONS[name].address_lanes
    assert numbers(name, [*warp[:lanes], *[junk] * (32 - lanes)]) == numbers(name, warp)
    assert numbers(name, [*warp[:lanes], *[None] * (32 - lanes)]) == numbers(name, warp)


FULL: Warp = [16 * t for t in WARP]
BAD = {
    "31 lanes": ("ld.shared.b32", FULL[:31], "SWZ404", "31 addresses given"),
    "negative": ("ld.shared.b32", [-4, *FULL[1:]], "SWZ404", "lane 0 has the negative address -4"),
    "misaligned": ("ld.shared.v4.b32", [*FULL[:5], 88, *FULL[6:]], "SWZ404", "lane 5 has address 88"),
    "misaligned matrix row": ("ldmatrix.x1", [8, *FULL[1:]], "SWZ404", "not a multiple of 16 bytes"),
    "not a number": ("ld.shared.b32", [1.5, *FULL[1:]], "SWZ404", "1.5, not an integer"),
    "missing address": ("ldmatrix.x2", [*FULL[:15], *[None] * 17], "SWZ405", "lane 15 has no address"),
    "missing address of a store": ("stmatrix.x4", [*FULL[:31], None], "SWZ405", "lane 31 has no address"),
}


@pytest.mark.parametrize(("name", "warp", "code", "said"), BAD.values(), ids=BAD.keys())
def test_bad_addresses(name: str, warp: Warp, code: str, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        access_cost(name, warp)
    assert caught.value.code == code
    assert said in str(caught.value)


def test_target_without_the_instruction() -> None:
    with pytest.raises(SwzError, match=r"SWZ403: target sm_70 has no ldmatrix\.x4; .* is sm_75"):
        access_cost("ldmatrix.x4", FULL, "sm_70")
    assert access_cost("ldmatrix.x4", FULL, "sm_75").evidence is Evidence.ASSUMED


ON = np.ones((2, 32), dtype=bool)
LINEAR = np.arange(64).reshape(2, 32) * 16
BAD_ARRAYS = {
    "one row": ("ld.shared.b32", LINEAR[0], ON[0], "SWZ404"),
    "31 lanes": ("ld.shared.b32", LINEAR[:, :31], ON[:, :31], "SWZ404"),
    "shapes differ": ("ld.shared.b32", LINEAR, ON[:1], "SWZ404"),
    "floats": ("ld.shared.b32", LINEAR.astype(float), ON, "SWZ404"),
    "mask of numbers": ("ld.shared.b32", LINEAR, ON.astype(int), "SWZ404"),
    "negative": ("ld.shared.b32", LINEAR - 16, ON, "SWZ404"),
    "misaligned": ("ld.shared.v4.b32", LINEAR + 8, ON, "SWZ404"),
    "missing address": ("ldmatrix.x1", LINEAR, ON & (np.arange(32) != 7), "SWZ405"),
}


@pytest.mark.parametrize(("name", "addresses", "active", "code"), BAD_ARRAYS.values(), ids=BAD_ARRAYS.keys())
def test_bad_arrays(name: str, addresses: np.ndarray, active: np.ndarray, code: str) -> None:
    with pytest.raises(SwzError) as caught:
        cost_many(name, addresses, active)
    assert caught.value.code == code


def test_first_bad_address_of_an_array_is_named() -> None:
    addresses = LINEAR.copy()
    addresses[1, 3] += 4
    with pytest.raises(SwzError, match="lane 3 of row 1 has address 564, not a non-negative multiple of 16"):
        cost_many("st.shared.v4.b32", addresses, ON)

"""Copies of 16 bytes by `cp.async.cg`: random ones, at every place of the array and every value of
the parameter, priced by the interpreter's rule; and mistakes planted in the scan.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest

from swzverify.compiled.scan import ScannedAccess, collide, octets, sources
from swzverify.compiled.scan.verdict import FAULT, Decision, Verdict
from swzverify.ir.expr import FALSE
from tests.ptx_oracle.rule import octet_cost
from tests.scan.texts import last

pytestmark = pytest.mark.usefixtures("without_trials")

THREADS, LANES, PERIOD = 64, 32, 128
PARAMETERS = range(0, THREADS + 1)


PARTED = ("row == n", "thread < n", "thread < 8 n + 4", "column < n", "thread / 2 < n", "thread / 2 == n")
"""Guards that part lanes of an octet, or of a warp whose rows overlap; the last two keep pairs together."""
GUARDS = ("", "row < n", "row < n", "thread < 8 n", "column < 5", "n < 3", *PARTED)
TRIPS = {"2": "mov.u32 %r12, 1;", "row % 2 + 1": "and.b32 %r12, %r5, 1;", "column % 4 + 1": "and.b32 %r12, %r6, 3;"}
"""The trips of a loop around the copy, and the code for one less."""


@dataclass(frozen=True)
class Copy:
    """Thread t writes chunk `column ^ (row & mask)` of row t / 8; `guard` says which threads do, and
    `trips` how often.
    """

    align: int
    pitch: int
    mask: int
    shift: int
    guard: str
    trips: str = ""

    @property
    def body(self) -> str:
        guard = {
            "": "",
            "row < n": "setp.lt.u32 %p1, %r5, %r2;",
            "row == n": "setp.eq.u32 %p1, %r5, %r2;",
            "thread < n": "setp.lt.u32 %p1, %r1, %r2;",
            "thread < 8 n": "shl.b32 %r9, %r2, 3; setp.lt.u32 %p1, %r1, %r9;",
            "thread < 8 n + 4": "mad.lo.u32 %r9, %r2, 8, 4; setp.lt.u32 %p1, %r1, %r9;",
            "column < n": "setp.lt.u32 %p1, %r6, %r2;",
            "column < 5": "setp.lt.u32 %p1, %r6, 5;",
            "n < 3": "setp.lt.u32 %p1, %r2, 3;",
            "thread / 2 < n": "shr.u32 %r9, %r1, 1; setp.lt.u32 %p1, %r9, %r2;",
            "thread / 2 == n": "shr.u32 %r9, %r1, 1; setp.eq.u32 %p1, %r9, %r2;",
        }[self.guard]
        on = "@%p1 " if guard else ""
        copy = f"{on}cp.async.cg.shared.global [%r20+{self.shift}], [%d1], 16;"
        if self.trips:
            again = "add.u32 %r11, %r11, 1; setp.le.u32 %p2, %r11, %r12; @%p2 bra TOP;"
            copy = f"{TRIPS[self.trips]} mov.u32 %r11, 0; TOP: {copy} {again}"
        return (
            f"mov.u32 %r4, z; shr.u32 %r5, %r1, 3; and.b32 %r6, %r1, 7; and.b32 %r7, %r5, {self.mask};"
            f"xor.b32 %r7, %r7, %r6; shl.b32 %r7, %r7, 4; mad.lo.u32 %r8, %r5, {self.pitch}, %r7;"
            f"add.u32 %r20, %r4, %r8; {guard} {copy}"
        )

    def scanned(self) -> ScannedAccess:
        return last(self.body, (THREADS, 1, 1), f".shared .align {self.align} .b8 z[8192]; ")

    def makes(self, thread: int, n: int) -> bool:
        row, column = divmod(thread, 8)
        return {
            "": True,
            "row < n": row < n,
            "row == n": row == n,
            "thread < n": thread < n,
            "thread < 8 n": thread < 8 * n,
            "thread < 8 n + 4": thread < 8 * n + 4,
            "column < n": column < n,
            "column < 5": column < 5,
            "n < 3": n < 3,
            "thread / 2 < n": thread // 2 < n,
            "thread / 2 == n": thread // 2 == n,
        }[self.guard]

    @property
    def leaves_apart(self) -> bool:
        return self.trips in ("row % 2 + 1", "column % 4 + 1")

    def runs(self, thread: int, trip: int) -> bool:
        row, column = divmod(thread, 8)
        return trip < {"": 1, "2": 2, "row % 2 + 1": row % 2 + 1, "column % 4 + 1": column % 4 + 1}[self.trips]

    def address(self, thread: int, begin: int) -> int:
        row, column = divmod(thread, 8)
        return begin + row * self.pitch + 16 * (column ^ (row & self.mask)) + self.shift

    def begins(self) -> range:
        return range(1024, 1024 + PERIOD, self.align)

    def conflicts(self, begin: int, n: int) -> int:
        """The most wavefronts beyond the minimum of a warp, in any trip."""
        return max(self._of_warp(first, begin, n, trip) for first in range(0, THREADS, LANES) for trip in range(4))

    def _of_warp(self, first: int, begin: int, n: int, trip: int) -> int:
        lanes = (t for t in range(first, first + LANES) if self.makes(t, n) and self.runs(t, trip))
        return _of_addresses(tuple((t - first, self.address(t, begin)) for t in lanes))

    def worst(self, begin: int) -> int:
        return max(self.conflicts(begin, n) for n in PARAMETERS)


@cache
def _of_addresses(made: tuple[tuple[int, int], ...]) -> int:
    """Wavefronts beyond the minimum: most values of a parameter give lanes that others gave."""
    cost = octet_cost(dict(made))
    return cost.wavefronts - cost.minimum


def drawn(seed: int) -> Copy:
    draw = random.Random(seed)
    return Copy(
        draw.choice((16, 32, 64, 128)),
        draw.choice((128, 128, 128, 144, 160, 192, 256, 64, 64, 96, 0)),
        draw.choice((0, 1, 3, 7, 7)),
        draw.choice((0, 0, 16, 64, 256)),
        draw.choice(GUARDS),
        draw.choice(list(TRIPS)) if draw.random() < 0.3 else "",
    )


def free_begins(reason: str, copy: Copy) -> Iterator[int]:
    """The begins that a reason says to be free."""
    multiple, listed = re.search(r"multiple of (\d+);", reason), re.search(r"starts at ([\d, ]+) modulo 128;", reason)
    assert multiple or listed, reason
    for begin in copy.begins():
        if begin % int(multiple[1]) == 0 if multiple else str(begin % PERIOD) in (listed or "")[1].split(", "):
            yield begin


def check(copy: Copy) -> str:
    """Hold the verdict against all begins and values; the verdict."""
    decision = copy.scanned().decision
    worst = {begin: copy.worst(begin) for begin in copy.begins()}
    match decision.verdict.value:
        case "free":
            assert not any(worst.values()), copy
        case "conflict" if decision.at_least and (copy.leaves_apart or copy.guard in PARTED):
            assert 1 < (decision.ways or 0) <= min(worst.values()) + 1, copy
        case "conflict":
            assert decision.ways == min(worst.values()) + 1 > 1, copy
            assert decision.at_least == (len(set(worst.values())) > 1), copy
        case "depends":
            assert decision.parameters == ("z",)
            assert set(free_begins(decision.reason, copy)) == {begin for begin, most in worst.items() if not most}, copy
            assert decision.ways == max(worst.values()) + 1 > 1, copy
        case _:
            is_apart = copy.pitch >= PERIOD or not copy.guard
            assert copy.guard in PARTED or copy.leaves_apart or not is_apart, (copy, decision.reason)
    return decision.verdict.value


MANY = [pytest.param(range(start, start + 40), marks=pytest.mark.nightly) for start in range(0, 320, 40)]


@pytest.mark.parametrize("seeds", [range(20), *MANY])
def test_random_copies(seeds: range) -> None:
    verdicts = {check(drawn(seed)) for seed in seeds}
    assert verdicts >= {"conflict", "depends", "unknown"}


def test_a_row_that_overlaps_the_next_one_is_not_free_without_it() -> None:
    """Both rows together write each chunk once; the second one alone straddles two lines."""
    assert Copy(128, 64, 0, 0, "row == n").scanned().decision.verdict.value == "unknown"


def test_a_row_that_begins_anywhere_says_where_it_is_free() -> None:
    decision = Copy(16, 128, 7, 0, "row < n").scanned().decision
    assert decision.verdict.value == "depends"
    assert decision.reason == "free if z starts at a multiple of 128; it is aligned to 16"
    assert len(decision.lanes) == LANES


def test_an_array_that_ptx_aligns_is_free() -> None:
    assert Copy(128, 128, 7, 0, "row < n").scanned().decision.verdict.value == "free"


def test_a_place_beside_a_line_is_named() -> None:
    decision = Copy(16, 128, 7, 16, "").scanned().decision
    assert "starts at 112 modulo 128" in decision.reason


def test_what_a_parameter_adds_is_not_an_array() -> None:
    body = "mov.u32 %r4, z; mad.lo.u32 %r4, %r2, 16, %r4; mad.lo.u32 %r20, %r1, 16, %r4;"
    access = last(f"{body} cp.async.cg.shared.global [%r20], [%d1], 16;", outside=".shared .align 128 .b8 z[8192]; ")
    assert access.decision.verdict.value == "unknown"
    assert "modulo 128 bytes" in access.decision.reason


def test_a_bound_that_octets_end_at() -> None:
    assert Copy(128, 128, 7, 0, "thread < 8 n").scanned().decision.verdict.value == "free"
    assert Copy(128, 128, 7, 0, "thread < 8 n + 4").scanned().decision.verdict.value == "unknown"


def test_lanes_that_leave_a_loop_at_different_trips() -> None:
    """In the second trip the lanes of column 0 are missing, and each column 1 goes alone."""
    assert Copy(128, 128, 7, 0, "", "2").scanned().decision.verdict.value == "free"
    assert Copy(128, 128, 7, 0, "", "column % 4 + 1").scanned().decision.verdict.value == "unknown"


def test_lanes_that_come_in_pairs() -> None:
    """Two lanes of a sector go together: so any of them are free, but not a row that begins in a sector's half."""
    assert Copy(128, 128, 6, 0, "thread / 2 < n").scanned().decision.verdict.value == "free"
    assert Copy(128, 128, 0, 16, "thread / 2 < n").scanned().decision.verdict.value == "conflict"


def test_a_bound_in_an_octet_says_what_is_free() -> None:
    assert Copy(128, 128, 0, 0, "thread < n").scanned().decision.reason == octets.FEWER


# ---- planted mistakes, each with the seed of a copy that finds it


def found_by(seed: int) -> None:
    with pytest.raises(AssertionError):
        check(drawn(seed))


def test_lanes_of_an_octet_taken_to_come_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "_come_together", lambda *_: True)
    found_by(5)


def test_sets_of_fewer_lanes_taken_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "_of_fewer", lambda *_: Decision(Verdict.FREE))
    with pytest.raises(AssertionError):
        check(Copy(128, 128, 0, 0, "thread < n"))


def test_single_lanes_taken_for_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    original = octets._fewer_lanes
    monkeypatch.setattr(
        octets, "_fewer_lanes", lambda *given: [each[:, ::2].repeat(2, axis=1) for each in original(*given)]
    )
    with pytest.raises(AssertionError):
        check(Copy(128, 128, 0, 0, "thread < n"))


def test_lanes_taken_to_leave_a_loop_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "_leave_together", lambda _: True)
    found_by(27)
    with pytest.raises(AssertionError):
        test_lanes_that_leave_a_loop_at_different_trips()


def test_octets_taken_to_come_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "_can_come", lambda *_, **__: True)
    found_by(41)


def test_an_array_taken_for_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "power_of_terms", lambda *_: 128)
    found_by(3)


def test_half_a_line_taken_for_the_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "BANK_PERIOD_BYTES", 64)
    found_by(7)


def test_octets_that_meet_taken_for_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting all octets together finds it free; the engines, of which some octets may come, do not."""
    monkeypatch.setattr(octets, "octets_share", lambda *_: False)
    assert Copy(128, 64, 0, 0, "row == n").scanned().decision.reason == FAULT


def test_coordinates_in_a_guard_that_are_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    original = sources.of_lanes_alone
    monkeypatch.setattr(sources, "of_lanes_alone", lambda *given: original(*given)[:0])
    found_by(5)


def test_parts_of_an_octet_that_are_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "octet_parts", lambda *_: FALSE)
    found_by(47)


def test_half_an_octet_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collide, "CHUNKS_PER_LINE", 4)
    with pytest.raises(AssertionError):
        test_a_bound_that_octets_end_at()

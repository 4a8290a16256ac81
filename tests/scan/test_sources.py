"""Copies whose sources are not one line for each octet: what was counted on an H100, and random ones
priced by the rule of docs/hardware.md at every place of the pointer; and mistakes planted in it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest

from swzverify.compiled.scan import ScannedAccess, copies, octets, sources
from swzverify.compiled.scan.copies import FILLED, SEVERAL_LINES
from swzverify.compiled.scan.sources import ALIGNED, ONE_LINE, ROWS
from tests.hardware import test_cp_async_rule as rule
from tests.nightly import found_at, share
from tests.scan.texts import last

pytestmark = pytest.mark.usefixtures("without_trials")

ARRAY = ".shared .align 128 .b8 z[32768]; "
START = "ld.param.u64 %d1, [q]; cvta.to.global.u64 %d1, %d1; mov.u32 %r4, z; "
COPY = "cp.async.cg.shared.global [%r20], [%d2], 16;"
SHARED_ROWS = "mad.lo.u32 %r20, %r1, {}, %r4; "
LANES = "mad.wide.u32 %d2, %r1, {}, %d1; "
QUARTERS = "shr.u32 %r5, %r1, 2; and.b32 %r6, %r1, 3; "
ROWS_OF_64 = f"{QUARTERS} mad.wide.u32 %d2, %r5, 4096, %d1; mad.wide.u32 %d2, %r6, 16, %d2; "
ROTATED = "add.u32 %r8, %r5, %r6; and.b32 %r8, %r8, 3; shl.b32 %r8, %r8, 4; mad.lo.u32 %r8, %r5, 64, %r8;"
PAIRS = (
    "shr.u32 %r5, %r1, 1; and.b32 %r6, %r1, 1; mad.wide.u32 %d2, %r5, 4096, %d1; mad.wide.u32 %d2, %r6, 16, %d2;"
    " mad.lo.u32 %r20, %r5, 48, %r4; mad.lo.u32 %r20, %r6, 16, %r20; "
)
ELEMENTS = "mul.lo.u32 %r7, %r5, %r2; mad.lo.u32 %r7, %r6, 8, %r7; mul.wide.s32 %d2, %r7, 2; add.s64 %d2, %d2, %d1; "


def scanned(body: str, threads: int = 32) -> ScannedAccess:
    return last(START + body, (threads, 1, 1), ARRAY)


@pytest.mark.parametrize(
    ("body", "wavefronts"),
    [
        (SHARED_ROWS.format(32) + LANES.format(32), 8),
        (SHARED_ROWS.format(16) + ROWS_OF_64, 8),
        (f"{ROWS_OF_64} {ROTATED} add.u32 %r20, %r4, %r8; ", 12),
        (PAIRS, 24),
        (SHARED_ROWS.format(16) + LANES.format(16), 4),
        (SHARED_ROWS.format(144) + LANES.format(16), 32),
    ],
    ids=["a chunk of two", "rows of 64 bytes", "rows of 64 bytes, turned", "pairs", "coalesced", "a row each"],
)
def test_what_an_h100_counted(body: str, wavefronts: int) -> None:
    found = scanned(body + COPY)
    decision = found.decision
    assert (decision.wavefronts, decision.minimum, decision.ways) == (wavefronts, 4, wavefronts - 3)
    assert decision.verdict == ("free" if wavefronts == 4 else "conflict")
    assert found.assumptions == (ALIGNED,)
    # A spec prices one line for each octet.
    assert bool(found.written.reason) == (wavefronts not in (4, 32))


def test_rows_at_a_pitch_that_is_a_parameter() -> None:
    whole = "shr.u32 %r5, %r1, 3; and.b32 %r6, %r1, 7; "
    found = scanned(whole + ELEMENTS + SHARED_ROWS.format(16) + COPY)
    assert (found.decision.verdict, found.assumptions) == ("free", (ROWS,))
    found = scanned(QUARTERS + ELEMENTS + SHARED_ROWS.format(16) + COPY)
    assert (found.decision.wavefronts, found.assumptions) == (8, (ROWS,))


def test_lanes_that_are_four_gigabytes_apart_read_different_lines() -> None:
    far = LANES.format(16) + "and.b32 %r6, %r1, 1; cvt.u64.u32 %d3, %r6; shl.b64 %d3, %d3, 32; add.u64 %d2, %d2, %d3; "
    found = scanned(far + SHARED_ROWS.format(16) + COPY).decision
    assert (found.verdict, found.wavefronts) == ("conflict", 8)
    row = "shr.u32 %r7, %r1, 3; mul.wide.u32 %d4, %r7, %r2; add.u64 %d2, %d2, %d4; "
    found = scanned(far + row + SHARED_ROWS.format(16) + COPY).decision
    assert (found.verdict, found.wavefronts) == ("conflict", 8)


def test_a_place_that_data_choose_is_assumed_to_be_coalesced() -> None:
    gather = LANES.format(4) + "ld.global.u32 %r9, [%d2]; mad.wide.u32 %d2, %r9, 16, %d1; "
    found = scanned(gather + SHARED_ROWS.format(16) + COPY)
    assert (found.decision.verdict, found.assumptions) == ("free", (ONE_LINE,))


def test_no_assumption_where_every_place_of_the_pointer_is_free() -> None:
    """One lane of each octet copies."""
    one = "and.b32 %r9, %r1, 7; setp.eq.u32 %p1, %r9, 3; @%p1 "
    found = scanned(LANES.format(16) + SHARED_ROWS.format(16) + one + COPY)
    assert (found.decision.verdict, found.assumptions) == ("free", ())


def test_what_loops_add_to_a_source_is_tried() -> None:
    body = LANES.format(16) + SHARED_ROWS.format(16)
    moved = "mov.u32 %r30, 0; L: mad.wide.u32 %d3, %r30, {}, %d2; cp.async.cg.shared.global [%r20], [%d3], 16;"
    moved += " add.u32 %r30, %r30, 1; setp.lt.u32 %p1, %r30, %r2; @%p1 bra L;"
    assert scanned(body + moved.format(256)).decision.verdict == "free"
    found = scanned(body + moved.format(64)).decision
    assert (found.verdict, found.reason) == ("unknown", octets.ANY_PLACE)


def test_lanes_that_read_one_chunk_have_bounds_only() -> None:
    found = scanned(SHARED_ROWS.format(16) + "mov.u64 %d2, %d1; " + COPY).decision
    assert (found.verdict, found.at_least, found.wavefronts) == ("conflict", True, None)
    two = "mov.u64 %d2, %d1; and.b32 %r9, %r1, 23; setp.eq.u32 %p1, %r9, 0; @%p1 "
    found = scanned(SHARED_ROWS.format(16) + two + COPY).decision
    assert (found.verdict, found.reason) == ("unknown", octets.READ_TWICE)


def test_octets_that_share_lines_are_free_together_only() -> None:
    """Two octets copy two lines: each of them half of both. One alone takes 2 wavefronts."""
    halves = "and.b32 %r5, %r1, 3; shr.u32 %r6, %r1, 3; shr.u32 %r7, %r1, 2; and.b32 %r7, %r7, 1;"
    halves += " mad.lo.u32 %r8, %r6, 4, %r5; mad.lo.u32 %r8, %r7, 8, %r8; mad.lo.u32 %r20, %r8, 16, %r4;"
    halves += " mad.wide.u32 %d2, %r8, 16, %d1; "
    whole = scanned(halves + COPY, 16).decision
    assert (whole.verdict, whole.wavefronts) == ("free", 2)
    guard = "setp.le.u32 %p1, %r6, %r2; @%p1 "
    assert scanned(halves + guard + COPY, 16).decision.verdict == "unknown"


def test_a_lane_conflicts_at_the_source_of_a_copy_through_the_cache() -> None:
    copy = "cp.async.ca.shared.global [%r20], [%d2], 4;"
    body = SHARED_ROWS.format(4)
    assert scanned(body + LANES.format(4) + copy).decision.verdict == "free"
    one = scanned(body + "mov.u64 %d2, %d1; " + copy).decision
    assert (one.verdict, one.ways, one.at_least) == ("conflict", 32, True)
    several = scanned(body + LANES.format(132) + copy).decision
    assert (several.verdict, several.reason) == ("unknown", SEVERAL_LINES)


@pytest.mark.parametrize(
    ("size", "wavefronts"),
    [
        (", %r2", 8),
        (", 8", 8),
        (", 16", 4),
        (", %r9", 4),
        (", %p1", 4),
    ],
)
def test_a_copy_that_fills_a_part_takes_twice_the_wavefronts(size: str, wavefronts: int) -> None:
    guard = "setp.lt.u32 %p1, %r1, %r2; selp.b32 %r9, 16, 0, %p1; "
    body = LANES.format(16) + SHARED_ROWS.format(16) + guard + COPY.replace(", 16;", f", 16{size};")
    decision = scanned(body).decision
    assert (decision.verdict, decision.wavefronts, decision.minimum) == ("free", wavefronts, wavefronts)
    assert (decision.reason == FILLED) == (wavefronts == 8)


# ---- random sources


@dataclass(frozen=True)
class Read:
    """Lane l reads chunk `l / width * pitch + ((l % width) ^ mask) * step + shift`, and writes chunk
    `l / width * to + ((l + l / width * turn) % width)`; `is_open` makes the pitch a parameter.
    """

    width: int
    pitch: int
    step: int
    mask: int
    shift: int
    to: int
    turn: int
    guard: str

    @property
    def body(self) -> str:
        shift = self.width.bit_length() - 1
        guard = {
            "": "",
            "row < n": "setp.lt.u32 %p1, %r5, %r2; ",
            "odd": "and.b32 %r9, %r1, 1; setp.ne.u32 %p1, %r9, 0; ",
        }
        return (
            f"shr.u32 %r5, %r1, {shift}; and.b32 %r6, %r1, {self.width - 1}; xor.b32 %r7, %r6, {self.mask};"
            f" mad.wide.u32 %d2, %r5, {16 * self.pitch}, %d1; mad.wide.u32 %d2, %r7, {16 * self.step}, %d2;"
            f" add.s64 %d2, %d2, {16 * self.shift}; mad.lo.u32 %r8, %r5, {self.turn}, %r6;"
            f" and.b32 %r8, %r8, {self.width - 1}; mad.lo.u32 %r20, %r5, {16 * self.to}, %r4;"
            f" mad.lo.u32 %r20, %r8, 16, %r20; {guard[self.guard]}{'@%p1 ' if self.guard else ''}{COPY}"
        )

    def cost(self, first: int, place: int, rows: int) -> tuple[int, int, bool]:
        """Wavefronts and octets of a warp, and whether the first is exact."""
        to: dict[int, int] = {}
        source: dict[int, int] = {}
        for lane in range(32):
            row, column = divmod(first + lane, self.width)
            if (self.guard == "row < n" and row >= rows) or (self.guard == "odd" and (first + lane) % 2 == 0):
                continue
            to[lane] = row * self.to + (column + row * self.turn) % self.width
            source[lane] = 8000 + row * self.pitch + (column ^ self.mask) * self.step + self.shift + place
        kept = rule.first_to_each(to)
        found = rule.Copies(to, source, 0, 0, 16)
        return rule.bypass_wavefronts(found), len({lane // 8 for lane in kept}), rule.reads_each_chunk_once(found)


def drawn(seed: int) -> Read:
    draw = random.Random(seed)
    width = draw.choice((2, 4, 4, 8, 8, 8, 16, 32))
    return Read(
        width,
        draw.choice((width, 8, 64, 64, 3, 0)),
        draw.choice((1, 1, 1, 2)),
        draw.choice((0, 0, 1, width - 1)),
        draw.choice((0, 0, 0, 1, 4)),
        draw.choice((width, width, width + 1, 8, 0)),
        draw.choice((0, 0, 1)),
        draw.choice(("", "", "row < n", "odd")),
    )


def check(read: Read) -> str:
    """Hold a verdict against all warps, and all places of the pointer that it does not assume."""
    found = scanned(read.body, 64)
    decision = found.decision
    places = (0,) if found.assumptions else range(8)
    limits = range(65) if read.guard == "row < n" else (64,)
    costs = [read.cost(first, place, rows) for first in (0, 32) for place in places for rows in limits]
    if decision.verdict == "free":
        assert all(wavefronts <= octets and exact for wavefronts, octets, exact in costs), read
    if decision.verdict == "conflict":
        assert any(wavefronts > octets for wavefronts, octets, _ in costs), read
        if decision.wavefronts is not None and not decision.at_least:
            assert decision.wavefronts == max(wavefronts for wavefronts, _, _ in costs), read
    return decision.verdict.value


@pytest.mark.parametrize("start", share(range(0, 120, 60), 2))
def test_random_sources(start: int) -> None:
    assert {check(drawn(seed)) for seed in range(start, start + 60)} >= {"free", "conflict", "unknown"}


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(120, 4120, 250))
def test_many_random_sources(start: int) -> None:
    for seed in range(start, start + 250):
        check(drawn(seed))


# ---- planted mistakes


def check_many(seeds: range) -> None:
    for seed in seeds:
        check(drawn(seed))


def found_by_some(seeds: range) -> None:
    with pytest.raises(AssertionError):
        check_many(seeds)


@found_at(1, 120)
def test_sources_taken_for_coalesced(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(octets, "sources_of", lambda *_: None)
    found_by_some(seeds)


@found_at(2, 120)
def test_a_pointer_taken_for_aligned_without_a_word(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(octets, "_assuming", lambda found, _: found)
    found_by_some(seeds)


@found_at(15, 120)
def test_a_constant_that_is_lost_from_a_source(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = sources.Sources.chunks
    monkeypatch.setattr(sources.Sources, "chunks", lambda self, _: original(self, 128) // 2 * 2)
    found_by_some(seeds)


@found_at(207, 400)
def test_bounds_taken_for_the_cost(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = octets.price_of_copies

    def exact(*given: Any) -> Any:
        found = original(*given)
        return None if found is None else replace(found, is_exact=True)

    monkeypatch.setattr(octets, "price_of_copies", exact)
    found_by_some(seeds)


def test_octets_of_one_line_taken_for_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(octets, "octets_share", lambda *_: False)
    with pytest.raises(AssertionError):
        test_octets_that_share_lines_are_free_together_only()


def test_lanes_of_a_copy_through_the_cache_that_meet_at_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "sources_of", lambda *_: None)
    with pytest.raises(AssertionError):
        test_a_lane_conflicts_at_the_source_of_a_copy_through_the_cache()

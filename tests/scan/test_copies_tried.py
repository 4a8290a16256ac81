"""Copies that trials meet: random ones whose lanes, places or sources shared memory says, held against the interpreter
and the oracle's rules of copies; and mistakes planted in the trials.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, octets, trial_price, tried
from swzverify.compiled.scan.price import price
from swzverify.compiled.scan.verdict import Decision, Verdict
from swzverify.compiled.trial import Launch, code
from tests.nightly import share
from tests.oracle.hardware import sourced_cost
from tests.scan.texts import text_of
from tests.scan.whole import scan_module
from tests.trial.against import by_oracle

THREADS, LANES, PERIOD = 64, 32, 128
NUMBERS = (0, 1, 3, 8, 63, 64)
Lanes = tuple[tuple[int, int, int], ...]
"""Of each lane: its number, where it writes, and where it reads."""


@dataclass(frozen=True)
class Copy:
    """Thread t is in row t / 8 and column t % 8. It writes chunk `column ^ (row & mask)` of its row, and reads chunk
    `column ^ turn` of its row.

    Attributes:
        width: The bytes of a lane; those of a `cp.async.cg` are 16.
        cached: Whether it is a `cp.async.ca`.
        align: The alignment of the array.
        pitch: The bytes from row to row of the array.
        mask: The rows of the swizzle.
        turn: The XOR of the source.
        rows: The bytes from row to row of the source.
        begin: The first byte of the source.
        guard: Which threads copy.
        by: What goes through shared memory: the guard's number, the mask, or the source's row; `word` is the number,
            from one word for all threads.
        size: The operands behind the number of bytes.
    """

    width: int = 16
    cached: bool = False
    align: int = 16
    pitch: int = 128
    mask: int = 7
    turn: int = 0
    rows: int = 128
    begin: int = 0
    guard: str = "row"
    by: str = "guard"
    size: str = ""

    @property
    def body(self) -> str:
        """The code; %r30 is n, %r31 the mask and %r32 the row of the source, one of them from shared memory."""
        name = {"guard": "%r30", "word": "%r30", "mask": "%r31", "row": "%r32"}[self.by]
        place = "%r3" if self.by == "word" else "%r33"
        through = f"st.shared.u32 [{place}], {name}; bar.sync 0; ld.shared.u32 {name}, [{place}];"
        guard = {
            "": "setp.le.u32 %p1, %r30, %r30;",
            "row": "setp.le.u32 %p1, %r5, %r30;",
            "thread": "setp.le.u32 %p1, %r1, %r30;",
            "xor": "xor.b32 %r9, %r30, 3; setp.le.u32 %p1, %r1, %r9;",
            "pairs": "shr.u32 %r9, %r1, 1; setp.le.u32 %p1, %r9, %r30;",
        }[self.guard]
        size, more = {
            "": ("", ""),
            "hint": (", %d5", ".L2::cache_hint"),
            "16": (", %r34", ""),
            "16 or 0": (", %r35", ""),
            "8": (", %r36", ""),
            "predicate": (", %p3", ""),
        }[self.size]
        cache = "ca" if self.cached else "cg"
        return (
            "ld.param.u64 %d1, [q]; mov.u32 %r4, z; shr.u32 %r5, %r1, 3; and.b32 %r6, %r1, 7; mov.u32 %r30, %r2;"
            f"mov.u32 %r31, {self.mask}; mov.u32 %r32, %r5; mad.lo.u32 %r33, %r1, 4, %r3; {through}"
            "and.b32 %r7, %r5, %r31; xor.b32 %r7, %r7, %r6;"
            f"mul.lo.u32 %r7, %r7, {self.width}; mad.lo.u32 %r8, %r5, {self.pitch}, %r7; add.u32 %r20, %r4, %r8;"
            f"xor.b32 %r10, %r6, {self.turn}; mul.lo.u32 %r10, %r10, {self.width};"
            f"mad.lo.u32 %r10, %r32, {self.rows}, %r10; cvt.u64.u32 %d2, %r10; add.u64 %d2, %d1, %d2; mov.u64 %d5, 3;"
            "and.b32 %r11, %r1, 1; setp.eq.u32 %p3, %r11, 1; mov.u32 %r34, 16; selp.u32 %r35, 0, 16, %p3;"
            f"mov.u32 %r36, 8; {guard}\n"
            f"@%p1 cp.async.{cache}.shared.global{more} [%r20], [%d2+{self.begin}], {self.width}{size};"
        )

    def text(self, align: int) -> str:
        return text_of(self.body, f".shared .align {align} .b8 z[16384]; ")

    def scanned(self) -> ScannedAccess:
        return scan_module(read_module(self.text(self.align), "k.ptx"), (THREADS, 1, 1))[-1]

    def met(self, line: int, launch: Launch) -> set[Lanes]:
        """What the interpreter meets of a launch, with an array that begins at a multiple of 128."""
        result = by_oracle(self.text(PERIOD), "k", ["n", "q"], launch)
        assert not result.error
        return next(each for each in result.accesses if each.line == line).copies

    def ways(self, met: set[Lanes], shift: int) -> tuple[int, int]:
        """The least and the most ways of the worst execution, with an array so far behind a multiple of 128."""
        bounds = [self._ways([(lane, into + shift, source) for lane, into, source in lanes]) for lanes in met]
        return max((least for least, _ in bounds), default=1), max((most for _, most in bounds), default=1)

    def _ways(self, lanes: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
        if self.cached:
            return by_cache(lanes, self.width)
        places: list[int | None] = [None] * LANES
        sources = [0] * LANES
        for lane, into, source in lanes:
            places[lane], sources[lane] = into, source
        found = sourced_cost(places, sources)
        return found.cost.conflicts + 1, found.cost.conflicts + 1 if found.exact else LANES


def by_cache(lanes: Sequence[tuple[int, int, int]], width: int) -> tuple[int, int]:
    """The rule of `cp.async.ca` of docs/hardware.md: turns, of sources in one line; bounds, of those in several."""
    least = most = 1
    groups: dict[int, list[tuple[int, int]]] = {}
    for lane, into, source in lanes:
        groups.setdefault(lane * width // PERIOD, []).append((into, source))
    slots = PERIOD // width
    for group in groups.values():
        turns: list[int] = []
        for at, (into, source) in enumerate(group):
            lower = [
                turns[other]
                for other in range(at)
                if into // width % slots == group[other][0] // width % slots
                or source // width % slots == group[other][1] // width % slots
            ]
            turns.append(1 + max(lower, default=0))
        by_place, by_source = (Counter(each[which] // width % slots for each in group) for which in (0, 1))
        if len({source // PERIOD for _, source in group}) == 1:
            least, most = max(least, *turns), max(most, *turns)
        else:
            least, most = max(least, *by_place.values(), max(by_source.values()) - 1), LANES
    return least, most


def drawn(seed: int) -> Copy:
    draw = random.Random(seed)
    cached = draw.random() < 0.3
    return Copy(
        draw.choice((4, 8, 16)) if cached else 16,
        cached,
        draw.choice((16, 16, 32, 64, 128)),
        draw.choice((128, 128, 144, 160, 192, 256, 64)),
        draw.choice((0, 1, 3, 7)),
        draw.choice((0, 0, 1, 2, 6)),
        draw.choice((128, 128, 64, 144, 256, 16, 0)),
        draw.choice((0, 0, 16, 64)),
        draw.choice(("", "row", "row", "thread", "pairs", "xor")),
        draw.choice(("guard", "word", "word", "mask", "row")),
        draw.choice(("", "", "hint", "16", "16 or 0", "8", "predicate")) if not cached else "",
    )


def free_begins(reason: str, align: int) -> list[int]:
    """Where the array begins, modulo 128, if a reason says that it is free there."""
    multiple, listed = re.search(r"multiple of (\d+);", reason), re.search(r"starts at ([\d, ]+) modulo 128;", reason)
    assert multiple or listed, reason
    begins = range(0, PERIOD, align)
    if multiple:
        return [each for each in begins if each % int(multiple[1]) == 0]
    return [each for each in begins if str(each) in (listed or "")[1].split(", ")]


def check(copy: Copy) -> tuple[str, bool]:
    """Hold what a trial says against the interpreter: the verdict, and whether it is a trial's."""
    found = copy.scanned()
    decision, launch = found.decision, found.decision.launch
    assert tried.FAULT not in decision.reason, copy
    if launch is None:
        return decision.verdict.value, False
    assert decision.at_least
    met = copy.met(found.line, launch)
    bounds = [copy.ways(met, shift) for shift in range(0, PERIOD, copy.align)]
    ways = decision.ways or 0
    if decision.verdict is Verdict.DEPENDS:
        assert 1 < ways <= max(most for _, most in bounds), copy
        for begin in free_begins(decision.reason, copy.align):
            for number in NUMBERS:
                raw = number.to_bytes(4, "little")
                there = copy.met(found.line, replace(launch, parameters={**launch.parameters, "n": raw}))
                assert copy.ways(there, begin)[0] == 1, (copy, begin, number)
    else:
        assert decision.verdict is Verdict.CONFLICT
        assert 1 < ways <= min(most for _, most in bounds), copy
        exact = min(least for least, _ in bounds)
        assert copy.cached or ways == exact or any(least != most for least, most in bounds), (copy, bounds, ways)
    return decision.verdict.value, True


@pytest.mark.parametrize("start", share(range(0, 24, 6), 2))
def test_random_copies(start: int) -> None:
    found = Counter(check(drawn(seed)) for seed in range(start, start + 6))
    assert found["conflict", True] + found["depends", True] > 0


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(24, 424, 20))
def test_many_random_copies(start: int) -> None:
    for seed in range(start, start + 20):
        check(drawn(seed))


# ---- planted mistakes, each with a copy that finds it


def found_by(copy: Copy) -> None:
    with pytest.raises(AssertionError):
        check(copy)


def test_copies_taken_for_coalesced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_price, "price_of_copies", lambda row, addresses, active, _: price(row, addresses, active))
    found_by(Copy(align=128, turn=0, rows=128, begin=16, mask=0, pitch=144))


def test_an_array_taken_to_begin_where_the_trial_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_price, "_shifts", lambda *_: (0,))
    found_by(drawn(10))


def test_an_array_taken_for_less_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins at 0 or 64, and only at 16 the conflict is the worst one."""
    original = trial_price._shifts
    monkeypatch.setattr(trial_price, "_shifts", lambda row, _: original(row, 16))
    found_by(Copy(align=64, by="word"))


def test_bytes_taken_for_the_policy_of_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy of 3 is no size: else copies of 3 bytes would say nothing."""
    assert check(Copy(align=128, pitch=144, size="hint")) == ("conflict", True)
    monkeypatch.setattr(code, "limit_of_source", lambda instruction: instruction.operands[3:])
    assert check(Copy(align=128, pitch=144, size="hint")) != ("conflict", True)


def test_what_is_free_for_whole_octets_taken_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Copy(align=16, guard="xor", by="word")
    assert check(copy)[0] != "depends"
    monkeypatch.setattr(octets, "_of_fewer", lambda *_: Decision(Verdict.FREE))
    found_by(copy)


UNWRITTEN = """
ld.param.u64 %d1, [q]; mov.u32 %r4, z; mad.lo.u32 %r33, %r1, 4, %r4; st.shared.u32 [%r33+8192], %r2; bar.sync 0;
ld.shared.u32 %r31, [%r33+8192]; setp.eq.u32 %p2, {}, 0; selp.u32 %r10, 128, 16, %p2; mul.lo.u32 %r10, %r10, %r1;
cvt.u64.u32 %d2, %r10; add.u64 %d2, %d1, %d2; mad.lo.u32 %r20, %r1, 16, %r4; setp.le.u32 %p1, %r1, %r31;
@%p1 cp.async.cg.shared.global [%r20], [%d2], 16;"""
"""Lanes read from 128 bytes to 128 bytes if a register is 0, and in a row if not."""


def test_a_source_that_a_register_without_a_value_says() -> None:
    """What such a register holds is not defined: a conflict at 0 need not occur."""
    array = ".shared .align 128 .b8 z[16384]; "
    found, zero = (
        scan_module(read_module(text_of(UNWRITTEN.format(each), array), "k.ptx"), (THREADS, 1, 1))[-1].decision
        for each in ("%r40", "0")
    )
    assert (found.verdict, zero.verdict) == (Verdict.UNKNOWN, Verdict.CONFLICT)


TWO_ARRAYS = """
ld.param.u64 %d1, [q]; mov.u32 %r4, za; mov.u32 %r5, zb; setp.lt.u32 %p2, %r1, 32; selp.u32 %r6, %r4, %r5, %p2;
selp.u32 %r7, {}, {}, %p2; add.u32 %r6, %r6, %r7; mad.lo.u32 %r33, %r1, 4, %r4; st.shared.u32 [%r33+8192], %r2;
bar.sync 0; ld.shared.u32 %r31, [%r33+8192]; shr.u32 %r8, %r1, 3; and.b32 %r8, %r8, 3; and.b32 %r9, %r1, 7;
mad.lo.u32 %r20, %r8, {}, %r6; mad.lo.u32 %r20, %r9, 16, %r20; mul.wide.u32 %d2, %r1, 16; add.u64 %d2, %d1, %d2;
setp.ne.u32 %p1, %r31, 0;
@%p1 cp.async.cg.shared.global [%r20], [%d2], 16;"""
"""Each of two warps copies into an array of its own; how far behind their first bytes, and the pitch."""


@pytest.mark.parametrize(("begins", "pitch", "verdict"), [((0, 64), 64, "unknown"), ((0, 64), 144, "conflict")])
def test_two_arrays_begin_where_each_of_them_is_free(begins: tuple[int, int], pitch: int, verdict: str) -> None:
    """By octets, 64 bytes from row to row are free at multiples of 128: no place of one array is that of the other."""
    ways = [
        by_octets([(lane // 8 % 4 * pitch + lane % 8 * 16 + shift, lane * 16) for lane in range(LANES)])
        for shift in range(0, PERIOD, 16)
    ]
    assert (min(ways) == 1) == (verdict == "unknown")
    assert pitch != 64 or ways[0] == 1 < ways[4]
    arrays = "".join(f".shared .align 16 .b8 {name}[16384]; " for name in ("za", "zb"))
    module = read_module(text_of(TWO_ARRAYS.format(*begins, pitch), arrays), "k.ptx")
    decision = scan_module(module, (THREADS, 1, 1))[-1].decision
    assert (decision.verdict.value, decision.ways) == (verdict, min(ways) if verdict == "conflict" else None)


def by_octets(lanes: Sequence[tuple[int, int]]) -> int:
    """The ways of a whole warp's copy with these places and sources, by the oracle."""
    return sourced_cost([into for into, _ in lanes], [source for _, source in lanes]).cost.conflicts + 1


def test_what_is_free_by_the_places_of_sources_says_so() -> None:
    """Rows of the source are 128 bytes apart if n is small, and 144 if not: then no place of the array is free."""
    body = (
        "ld.param.u64 %d1, [q]; mov.u32 %r4, z; st.shared.u32 [%r4+8192], %r2; bar.sync 0;"
        "ld.shared.u32 %r31, [%r4+8192]; shr.u32 %r8, %r1, 3; and.b32 %r8, %r8, 3; and.b32 %r9, %r1, 7;"
        "mad.lo.u32 %r20, %r8, 64, %r4; mad.lo.u32 %r20, %r9, 16, %r20; shr.u32 %r32, %r31, 24; add.u32 %r32, %r32, 8;"
        "shr.u32 %r12, %r1, 3; mad.lo.u32 %r11, %r12, %r32, %r9; mul.wide.u32 %d2, %r11, 16; add.u64 %d2, %d1, %d2;"
        "setp.ne.u32 %p1, %r31, 0; @%p1 cp.async.cg.shared.global [%r20], [%d2], 16;"
    )
    module = read_module(text_of(body, ".shared .align 16 .b8 z[16384]; "), "k.ptx")
    found = scan_module(module, (THREADS, 1, 1))[-1]
    ways = [
        by_octets([(lane // 8 * 64 + lane % 8 * 16, lane // 8 * rows + lane % 8 * 16) for lane in range(LANES)])
        for rows in (128, 144)
    ]
    assert ways[0] == 1 < ways[1]
    assert found.decision.verdict is Verdict.DEPENDS
    assert free_begins(found.decision.reason, 16) == [0]
    assert any("pitches of its source are multiples of 128 bytes" in each for each in found.assumptions)

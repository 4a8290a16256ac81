"""Random kernels whose accesses stand behind several paths: what is free is free in every launch,
and what conflicts does so in some launch, with as many ways. So few numbers decide in these kernels
that the launches show every case.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from swzverify.compiled.kernel import uniform
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, decide, question, surely
from swzverify.compiled.scan.verdict import Decision
from swzverify.ir.expr import TRUE
from tests.kernel.path_programs import GRID, MORE_NUMBERS, NUMBERS, SHAPE, program
from tests.kernel.planted_paths import forget_joins
from tests.nightly import counts
from tests.ptx_oracle import Access, Buffer, launch
from tests.ptx_oracle.rule import octet_cost
from tests.scan.texts import last, strided
from tests.scan.whole import scan_module

pytestmark = pytest.mark.usefixtures("without_trials")


class WrongError(AssertionError):
    """A verdict that the launches contradict."""


def run(text: str, number: int, seen: dict[int, list[int]], blocks: int = GRID) -> None:
    """Add the ways of each line in the launch of a number."""
    # Later blocks reach further than the array that they have on a chip.
    text = text.replace("pool[32768]", f"pool[{12000 * blocks}]") if blocks > GRID else text
    result = launch(text, "k", [blocks], SHAPE, 0, [number, Buffer(1024, "iota")], 1, steps=2000 * blocks)
    assert not result.error, result.error
    for access in result.accesses:
        if access.executions:
            seen[access.line].append(_of_copy(access) if "cp.async" in access.text else access.ways)


def _of_copy(access: Access) -> int:
    """One more than the most wavefronts beyond the minimum of an execution."""
    found = 1
    for mask, base, rest in access.patterns:
        offsets = np.frombuffer(rest, np.uint32).tolist()
        cost = octet_cost({lane: (base + offsets[lane]) & 0xFFFFFFFF for lane in range(32) if mask >> lane & 1})
        found = max(found, 1 + cost.wavefronts - cost.minimum)
    return found


def held(seed: int) -> Counter[str]:
    """The verdicts of a kernel, held against all launches."""
    text = program(seed)
    scanned: dict[int, list[ScannedAccess]] = defaultdict(list)
    for each in scan_module(read_module(text, "k.ptx"), SHAPE):
        scanned[each.line].append(each)
    seen: dict[int, list[int]] = defaultdict(list)
    for number in NUMBERS:
        run(text, number, seen)
    more = iter([*((number, GRID) for number in MORE_NUMBERS), *((number, 40) for number in NUMBERS)])
    found: Counter[str] = Counter()
    for line, (scan, *others) in scanned.items():
        assert not others
        decision, ways = scan.decision, seen[line]
        found[f"{'copy ' if 'cp.async' in scan.opcode else ''}{decision.verdict.value}"] += 1
        least = {"conflict": decision.ways or 1, "depends": 2}.get(decision.verdict.value, 1)
        while max(ways, default=1) < least and (rare := next(more, None)) is not None:
            run(text, rare[0], seen, rare[1])
        is_known = decision.verdict == "free" or (decision.verdict == "conflict" and not decision.at_least)
        most = (decision.ways or 1) if is_known else max(ways, default=1)
        if not least <= max(ways, default=1) <= most:
            raise WrongError(f"seed {seed}, line {line}: {decision.verdict.value} {least} to {most} ways, seen {ways}")
    return found


@pytest.mark.parametrize("count", counts(7, 14))
def test_verdicts_are_those_of_launches(count: int) -> None:
    total: Counter[str] = sum(map(held, range(count)), Counter())
    assert min(total[each] for each in ("free", "conflict", "copy free", "copy conflict")) > 0, total


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(14, 1014, 25))
def test_verdicts_of_many_kernels(start: int) -> None:
    for seed in range(start, start + 25):
        held(seed)


# Each planted mistake comes with a kernel that finds it.


def found_by(seed: int) -> None:
    with pytest.raises(WrongError):
        held(seed)


def test_every_lane_that_may_come_taken_for_one_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The over-approximation supports a conflict."""
    monkeypatch.setattr(question, "surely", lambda parts, *_rest, **_: parts)
    found_by(34)


@pytest.mark.nightly
def test_values_that_nobody_computes_taken_for_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes come where an elected lane, an atomic or a rounded number decides."""
    monkeypatch.setattr(surely, "_is_chosen", lambda *_: True)
    found_by(15)


@pytest.mark.nightly
def test_any_trip_taken_for_one_that_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surely, "_made", lambda *_: TRUE)
    found_by(60)


def test_octets_behind_several_paths_taken_for_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions of paths that join are dropped, as if every thread came: a part of an octet costs
    more than the whole one.
    """
    forget_joins(monkeypatch)
    monkeypatch.setattr(uniform.Uniformity, "meet", lambda *_: True)
    found_by(8)


APART = (
    "and.b32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, 0; setp.eq.u32 %p2, %r2, 100; setp.eq.u32 %p3, %r2, 200; @%p1 bra A;"
    " @%p2 ret; bra B; A: @%p3 ret; B: "
)
"""Even and odd lanes come by paths of their own, and nothing makes them meet again: some may have returned."""


def test_lanes_that_come_by_several_paths_may_come_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert last(APART + strided(128)).decision.reason == surely.NOT_TOGETHER
    assert last(APART + strided(4)).decision.verdict == "free"
    monkeypatch.setattr(uniform.Uniformity, "meet", lambda *_: True)
    assert last(APART + strided(128)).decision.verdict == "conflict"


def test_copies_of_lanes_that_come_by_several_paths_are_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    place = "mov.u32 %r5, z; mad.lo.u32 %r20, %r1, 16, %r5; cp.async.cg.shared.global [%r20], [%d1], 16;"
    # Where the same number decides on both paths, each lane comes or none does; but even lanes come alone.
    same = APART.replace("100", "200") + place
    outside = ".shared .align 128 .b8 z[8192]; "
    assert last(same, outside=outside).decision.verdict == "unknown"
    monkeypatch.setattr(uniform.Uniformity, "meet", lambda *_: True)
    assert last(same, outside=outside).decision.verdict == "free"


def test_lanes_of_different_trips_are_no_conflict() -> None:
    """Each lane stores in its own last trip of a loop, after which it leaves: one lane at a time."""
    body = "and.b32 %r5, %r1, 31; mov.u32 %r6, 0; L: setp.ne.u32 %p1, %r6, %r5; @%p1 bra S;" + strided(
        128, "st.shared.u32 [%r20], %r1;"
    )
    body += " S: add.u32 %r6, %r6, 1; setp.le.u32 %p2, %r6, %r5; @%p2 bra L;"
    assert last(body).decision.verdict == "free"


def test_lanes_that_may_come_in_later_trips_may_give_more() -> None:
    """A loop inside counts to 2, 4 or 6; only its first trip is known to be made. Of the lanes up to
    that number every other pair has one bank.
    """
    body = (
        "mov.u32 %r30, 0; mov.u32 %r32, 0; B0: add.s32 %r30, %r30, 2; min.s32 %r8, %r2, 6; setp.lt.s32 %p1, %r30, %r8;"
    )
    body += " @%p1 bra B0; setp.gt.s32 %p2, %r1, %r30; @%p2 bra B7; " + strided(64)
    body += " add.s32 %r32, %r32, 2; setp.lt.s32 %p3, %r32, 3; @%p3 bra B0; B7:"
    found = last(body).decision
    assert (found.verdict, found.ways, found.at_least) == ("conflict", 2, True)


def test_a_loop_whose_trips_nothing_reads() -> None:
    """The register that steps under a guard is no number of trips."""
    body = "ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r5, [%d1];"
    body += " mov.u32 %r22, 1; setp.gt.u32 %p1, %r1, %r5; setp.lt.u32 %p2, %r5, 7; setp.ne.u32 %p3, %r5, 9;"
    body += (
        " B0: @%p1 add.s32 %r22, %r22, %r2; mad.lo.s32 %r4, %r22, 4, %r3; @%p2 st.shared.u32 [%r4], %r1; @%p3 bra B0;"
    )
    assert last(body).decision.verdict == "unknown"


def untried(_kernel: object, _read: object, decisions: Sequence[Decision]) -> list[Decision]:
    """No trials: what is proved, and what is not."""
    return [*decisions]


def _one(seed: int) -> tuple[int, Counter[str], str]:
    decide.tried = untried
    try:
        return seed, held(seed), ""
    except Exception as error:  # noqa: BLE001 - a mistake is counted, whatever it raises
        return seed, Counter({"wrong": 1}), f"{type(error).__name__}: {error}"


@contextmanager
def _pool(jobs: int) -> Iterator[Callable[..., Iterator[tuple[int, Counter[str], str]]]]:
    with ProcessPoolExecutor(jobs) as pool:
        yield lambda work, seeds: pool.map(work, seeds, chunksize=8)


def main() -> int:
    """Hold many kernels: `python -m tests.scan.test_paths FIRST LAST JOBS`."""
    reader = argparse.ArgumentParser()
    for name in ("first", "last", "jobs"):
        reader.add_argument(name, type=int)
    given = reader.parse_args()
    total: Counter[str] = Counter()
    with _pool(given.jobs) as mapped:
        for seed, counts, error in mapped(_one, range(given.first, given.last)):
            total += counts
            if error:
                print(f"seed {seed}: {error}", flush=True)
    print(given.last - given.first, "kernels,", dict(total))
    return int(total["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())

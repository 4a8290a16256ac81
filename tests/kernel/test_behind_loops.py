"""Behind a loop that the thread's coordinates end: its counter and its registers are known for each
thread, and within the loop they are not. An interpreter runs the kernels.
"""

from __future__ import annotations

import random
from importlib import import_module

import numpy as np
import pytest

from swzverify.compiled.kernel import ArrayLeaf, LaneLeaf, Leaf, TripsLeaf, counts, induction
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.ir.evaluate import evaluate_many
from tests.kernel.test_programs import explained
from tests.kernel.texts import last
from tests.kernel.traps import COUNT, STORE
from tests.nightly import found_at, share

reader = import_module("swzverify.compiled.kernel.accesses")  # the package has a function of this name
LIMITS = (
    "shr.u32 {0}, %r0, 2;",
    "and.b32 {0}, %r0, 3;",
    "shr.u32 {0}, %r1, 1;",
    "add.u32 {0}, %r0, %r1;",
    "min.u32 {0}, %r0, 5;",
    "sub.u32 {0}, 20, %r0; max.s32 {0}, {0}, 2;",
    "mov.u32 {0}, %laneid; shr.u32 {0}, {0}, 3;",
    "mul.lo.u32 {0}, %r0, 7; and.b32 {0}, {0}, 15;",
    "mov.u32 {0}, 6;",
    "add.u32 {0}, %r0, %r2; and.b32 {0}, {0}, 7;",
)
"""How many trips a thread makes, at least one; that of the last text depends on a parameter."""
STEPS = (
    "shl.b32 %r6, %r6, 1;",
    "xor.b32 %r6, %r6, 5;",
    "add.u32 %r6, %r6, 1; setp.eq.u32 %p4, %r6, 3; @%p4 mov.u32 %r6, 0;",
    "add.u32 %r6, %r6, %r0;",
    "mul.lo.u32 %r6, %r6, 3; and.b32 %r6, %r6, 31;",
)


def body(seed: int) -> str:
    """A loop with stores in it and behind it; some are left in their middle, some stand in a loop."""
    source = random.Random(seed)
    limit = source.choice(LIMITS).format("%r12")
    made = "mad.lo.u32 %r13, %r4, 64, %r6;\n" + STORE.format("%r13")
    lines = ["mov.u32 %r6, 1;", "mov.u32 %r7, 0;", limit]
    outer = source.random() < 0.3
    lines += ["M:", "mov.u32 %r4, 0;"] if outer else []
    lines += ["mov.u32 %r6, 1;"] if outer and source.random() < 0.7 else []
    lines.append("L:")
    lines += [made] if source.random() < 0.5 else []
    lines += ["setp.eq.u32 %p2, %r4, %r1;\n@%p2 bra E;"] if source.random() < 0.25 else []
    lines += [source.choice(STEPS), COUNT.format("%r12"), "E:", made]
    lines += ["add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 2;\n@%p3 bra M;", made] if outer else []
    return "\n".join(lines)


@pytest.mark.parametrize("start", share(range(0, 24, 6), 2))
def test_every_execution_is_explained(start: int) -> None:
    assert explained(body, start) > 10


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(24, 600, 6))
def test_every_execution_of_many_kernels_is_explained(start: int) -> None:
    explained(body, start)


BEHIND = (
    "shr.u32 %r12, %r1, 2; mov.u32 %r4, 0; mov.u32 %r6, 1; LOOP: {0} shl.b32 %r6, %r6, 1; add.u32 %r4, %r4, 1;"
    " setp.le.u32 %p1, %r4, %r12; @%p1 bra LOOP; {1}"
)
READ = "mad.lo.u32 %r20, %r4, 4, %r6; mad.lo.u32 %r20, %r20, 4, %r3; ld.shared.u32 %r30, [%r20];"


def kinds(text: str) -> list[type[Leaf]]:
    """What the last access reads, but for its array."""
    return [type(leaf) for leaf in last(text).leaves if not isinstance(leaf, ArrayLeaf)]


def test_behind_the_loop_only_coordinates_are_left() -> None:
    assert kinds(BEHIND.format("", READ)) == [LaneLeaf]


def test_within_the_loop_the_trip_is_left() -> None:
    assert kinds(BEHIND.format(READ, "")) == [TripsLeaf]


def test_a_loop_with_two_ways_out_is_not_counted_behind() -> None:
    early = "setp.eq.u32 %p2, %r4, %r2; @%p2 bra OUT;"
    assert TripsLeaf in kinds(BEHIND.format(early, "OUT: " + READ))


@pytest.mark.parametrize("shape", [(64, 1, 1), (48, 1, 1), (8, 5, 1), (16, 2, 3), (1, 40, 1), (1024, 1, 1)])
def test_a_function_of_the_thread_has_its_values(shape: tuple[int, int, int]) -> None:
    threads, source = Threads(shape), np.random.default_rng(1)
    leaves = Leaves()
    number = np.arange(len(threads.first_of_warp))
    for bits in range(4):
        for values in (number >> bits, number & (1 << bits), threads.point["tid.y"] * bits, (number > 33) * 7 + bits):
            found = threads.function(values.tolist(), 64, leaves)
            assert found is not None
            (here,) = evaluate_many((found,), threads.point)
            assert (here == values).all()
    rough = threads.function(source.integers(0, 1 << 20, len(number)).tolist(), 64, leaves)
    assert (rough is None) == (len(number) > 64)


# ---- planted mistakes


def found_by_some(seeds: range) -> None:
    with pytest.raises(AssertionError):
        explained(body, seeds.start, len(seeds))


@found_at(0, 60)
def test_the_last_trip_put_in_within_the_loop(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = reader.Reader._behind_loops
    monkeypatch.setattr(reader.Reader, "_behind_loops", lambda self, value, _: original(self, value, set()))
    found_by_some(seeds)


@found_at(38, 60)
def test_one_way_out_taken_for_all(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(counts.Counts, "_is_only_way", lambda *_: True)
    found_by_some(seeds)


@found_at(0, 60)
def test_a_register_one_trip_off(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = induction.Sequence.in_trip
    monkeypatch.setattr(induction.Sequence, "in_trip", lambda self, trip: original(self, trip + 1))
    found_by_some(seeds)


@found_at(4, 60)
def test_columns_taken_for_the_number_of_the_thread(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(Threads, "number", lambda self, leaves: leaves.lane("tid.x", self._block[0]))
    found_by_some(seeds)

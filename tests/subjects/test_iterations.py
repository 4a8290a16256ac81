"""Which iterations of unbounded loops exist: for all threads of the block, or for none.

Every case is held against a definition of its own: each iteration near the ends, every thread,
plain Python integers.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from swzverify.claims import Aligned, ConflictFree, Equivalent, InBounds, Outcome
from swzverify.errors import SwzError
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_eval_many import evaluate_within
from swzverify.ir.c_parse import parse
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import TRUE
from swzverify.prover import prove
from swzverify.subjects import Access, Loop, iterations

CHIP = find_target("sm_90")


def access(address: str, *loops: Loop, threads: int = 32, predicate: str = "", assume: str = "", **more) -> Access:
    return Access(
        "a",
        find_instruction(more.pop("instruction", "ld.shared.b32")),
        CHIP,
        (threads,),
        loops=loops or (Loop("k", 0, None),),
        address=parse(address),
        predicate=parse(predicate) if predicate else None,
        assume=(parse(assume),) if assume else (),
        **more,
    )


def defined(read: Access, values: dict[str, int]) -> bool:
    """Whether every expression of every thread stays in C's range, by evaluating each of them."""
    for tid in range(read.threads):
        env = {**values, "tid": tid, "lane": tid % 32, "warp": tid // 32}
        for expression in read.expressions:
            try:
                evaluate(expression, env)
            except SwzError:
                return False
    return all(value < 1 << 32 for value in values.values())


@pytest.mark.parametrize(
    ("address", "threads", "limit", "thread"),
    [
        ("tid*4 + k*4", 32, ((1 << 32) - 1 - 31 * 4) // 4 + 1, 31),
        ("(31-tid)*k % 32 * 4", 32, ((1 << 32) - 1) // 31 + 1, 0),  # the last thread never overflows
        ("(tid == 17)*k*1000000 % 64 * 4", 32, 4295, 17),  # one in the middle does
        ("tid*4 + 0*(k*4294967295)", 32, 2, 31),  # what is multiplied by 0 is evaluated all the same
        ("tid*4 + k*(lane+1)*(32-lane)*16 % 128", 32, ((1 << 32) - 1) // (17 * 16 * 16) + 1, 15),  # not monotonic
        ("tid*4 + (k*0 + 3)*(tid+1)*100000000 % 128", 64, 0, 63),  # at no k
        ("tid*4 + k*tid*50000000 % 128", 64, 2, 63),
    ],
)
def test_a_loop_ends_where_the_first_thread_overflows(address: str, threads: int, limit: int, thread: int) -> None:
    read = access(address, threads=threads)
    assert read.iterations.limits == (limit,)
    assert read.iterations.all_exist
    assert dict(read.iterations.ended_by) == {"k": thread}
    for k in {0, 1, max(0, limit - 1), limit, limit + 1, (1 << 32) - 1}:
        assert defined(read, {"k": k}) == (k < limit) == read.exists_at({"k": k})


def test_a_loop_that_never_overflows_goes_as_far_as_c() -> None:
    read = access("tid*4 + k%32*128")
    assert read.iterations.limits == (1 << 32,)
    assert read.iterations.ended_by == ()
    assert read.describe_loops() == ("k in 0..4294967295", "the same in all lanes")


def test_two_unbounded_loops_share_what_they_have() -> None:
    """An iteration is a pair: (42, 0) exists and (21, 21), and (42, 42) does not."""
    read = access("(k*100000000 + m*100000000)%64*4 + tid*4", Loop("k", 0, None), Loop("m", 0, None))
    assert read.iterations.limits == (43, 43)
    assert not read.iterations.all_exist
    assert "in iterations in which no thread overflows" in read.describe_loops()
    grid = np.meshgrid(np.arange(43), np.arange(43), indexing="ij")
    points = {"k": grid[0].ravel(), "m": grid[1].ravel()}
    (lowered,) = evaluate_many((read.lowered.assumption,), points)
    for k, m, exists in zip(points["k"], points["m"], lowered, strict=True):
        wanted = defined(read, {"k": int(k), "m": int(m)})
        assert bool(exists) == wanted == read.exists_at({"k": int(k), "m": int(m)})
    assumed, *_ = read.definition({**points, "lane": np.zeros(1, dtype=int), "warp": np.zeros(1, dtype=int)})
    assert np.array_equal(np.broadcast_to(assumed, lowered.shape), lowered == 1)


OPERANDS = ["k*{c}", "k*(tid+1)*{c}", "(15-tid)*k*{c}", "k*(tid%3)*{c}", "k%8", "k/3", "(k < 2)", "tid", "k*k*{c}"]


@pytest.mark.parametrize("seed", range(120))
def test_random_loops_end_where_they_are_seen_to(seed: int) -> None:
    """Small blocks with early ends, so that every iteration up to the limits and some beyond can be
    tried.
    """
    rng = random.Random(seed)
    names = ["k"] if rng.random() < 0.6 else ["k", "m"]
    terms = []
    for name in names:
        factors = [1, 7, 50_000_000, 300_000_000, 1_000_000_000]
        terms += [f"({form.format(c=rng.choice(factors))})".replace("k", name) for form in rng.sample(OPERANDS, 2)]
        terms.append(f"0*({name}*{rng.choice([400_000_000, 900_000_000])})")
    rng.shuffle(terms)
    text = f"({' + '.join(terms)}) % 16 * 4"
    read = access(text, *(Loop(name, 0, None) for name in names), threads=rng.choice([5, 16]))
    ranges = [range(min(limit + 3, 40)) for limit in read.loop_limits]
    shown = dict(zip(names, (np.array(column) for column in zip(*product(*ranges), strict=True)), strict=True))
    zero = {"lane": np.zeros(1, dtype=int), "warp": np.zeros(1, dtype=int)}
    assumed = np.broadcast_to(read.definition({**shown, **zero})[0], shown[names[0]].shape)
    for number, values in enumerate(product(*ranges)):
        point = dict(zip(names, values, strict=True))
        wanted = defined(read, point)
        assert read.exists_at(point) == wanted == bool(assumed[number])
        inside = all(value < limit for value, limit in zip(values, read.loop_limits, strict=True))
        if inside:
            (lowered,) = evaluate_many((read.lowered.assumption,), {name: np.array([v]) for name, v in point.items()})
            assert bool(np.all(lowered)) == wanted, (text, point)
        else:
            assert not wanted, (text, point, read.loop_limits)


def test_what_no_iteration_reaches_is_vacuous() -> None:
    """At k = 3000000000 thread 0 overflows, so no lane runs there."""
    for threads in (32, 64):
        read = access("(31-tid%32)*k % 32 * 4", threads=threads, predicate="k == 3000000000", bytes=128)
        for claim in (Aligned(read), InBounds(read), ConflictFree(read)):
            assert prove(claim).outcome is Outcome.VACUOUS


def test_an_iteration_that_only_one_access_has_is_a_difference() -> None:
    first = access("(lane + k%32*32)*4 + 0*(k*4294967295)")
    other = access("(lane*(k<2) + k%32*32)*4")
    for pair in ((first, other), (other, first)):
        verdict = prove(Equivalent(*pair))
        assert verdict.outcome is Outcome.REFUTED
        assert verdict.counterexample is not None
        assert verdict.counterexample.binding["k"] >= 2
        assert "there is no iteration" in verdict.counterexample.note


def test_an_iteration_in_which_no_lane_runs_is_no_difference() -> None:
    """`k < 2` is all that both run in, wherever their addresses overflow later."""
    first = access("tid*4 + k*128", predicate="k < 2")
    other = access("tid*4 + k*128 + 0*(k*2000000000)", predicate="k < 2")
    assert other.loop_limits == (3,)
    assert prove(Equivalent(first, other)).outcome is Outcome.PROVED


def test_loops_in_another_order_are_the_same_loops() -> None:
    for a, b in (((4, 8), (8, 4)), ((None, 8), (8, None)), ((None, None), (None, None))):
        first = access("tid*4 + i*128 + j*1024", Loop("i", 0, a[0]), Loop("j", 0, a[1]))
        other = access("tid*4 + j*1024 + i*128", Loop("j", 0, b[0]), Loop("i", 0, b[1]))
        assert prove(Equivalent(first, other)).outcome is Outcome.PROVED
        late = access("tid*4 + j*1024 + i*128 + (i == 3)*4", Loop("j", 0, b[0]), Loop("i", 0, b[1]))
        assert prove(Equivalent(first, late)).outcome is Outcome.REFUTED


def test_a_condition_of_too_many_threads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterations, "MAX_CONDITION_NODES", 1000)
    loops = (Loop("k", 0, None), Loop("m", 0, None))
    with pytest.raises(SwzError, match="SWZ206") as caught:
        access("(k*(tid*tid%1021+1) + m*(tid*tid%1013+1))%9*4", *loops, threads=1024)
    assert "bound" in caught.value.hint
    assert access("(k*7 + m*tid)%9*4", *loops).loop_limits[0] == ((1 << 32) - 1) // 7 + 1


def test_values_outside_the_range_are_marked_and_hurt_nothing() -> None:
    k = np.arange(6)
    values, inside = evaluate_within(parse("100 / (5 - k*1000000000/1000000000*(k < 5)) + k"), {"k": k})
    assert inside.tolist() == [True] * 5 + [False]
    assert values[:5].tolist() == [100 // (5 - n) + n for n in range(5)]
    # a divisor that is 0 only where something else has overflowed before is none of the iterations
    # that exist
    values, inside = evaluate_within(parse("(k*2000000000) % (k - 3)"), {"k": np.arange(5)})
    assert inside.tolist() == [True, True, True, False, False]


def test_bounded_loops_need_no_condition() -> None:
    read = access("tid*4 + k*128", Loop("k", 0, 8))
    assert read.iterations.all_exist
    assert read.lowered.assumption is TRUE

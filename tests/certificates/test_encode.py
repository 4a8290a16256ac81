"""The second encoding: right statements have no counterexample, wrong ones have, for every kind.

The engines and loops in plain Python judge the same random obligations.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from swzrecheck import statement as st
from swzrecheck.encode import UnwrittenError, meet, parts, trailing_zeros
from swzrecheck.program import Builder, evaluate
from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.obligations import Answer, Apart, GatherCost
from swzverify.engines.smt import SMT
from swzverify.ir.expr import Comparison, compare, extend, negation, var
from tests.certificates.export import state
from tests.certificates.judge import holds, random_program
from tests.engines import obligations as ob
from tests.engines.obligations import leaf, number
from tests.engines.test_random_obligations import apart_case, cost_case, injective_case
from tests.nightly import counts

X, Y = var("x", 8), var("y", 6)
LANE = var("lane", 32)


def compact() -> ob.Map:
    return ob.plus(leaf(X), ob.times(leaf(Y), 8))


# --- each kind, right and wrong ------------------------------------------------------------------------------------


def test_always() -> None:
    below = ob.less(compact(), number(48))
    assert holds(ob.always((X, Y), below))
    assert not holds(ob.always((X, Y), ob.less(compact(), number(47))))


def test_always_under_an_assumption() -> None:
    small = ob.less(leaf(X), number(3))
    assert holds(ob.always((X, Y), ob.less(compact(), number(43)), small))
    assert not holds(ob.always((X, Y), ob.less(compact(), number(42)), small))


def test_limits_are_part_of_the_question() -> None:
    """6 and 7 are bit patterns of y, not values."""
    assert holds(ob.always((Y,), ob.less(leaf(Y), number(6))))


def test_injective() -> None:
    assert holds(ob.injective((X, Y), (), compact()))
    assert not holds(ob.injective((X, Y), (), ob.plus(leaf(X), ob.times(leaf(Y), 7))))


def test_injective_with_ranges() -> None:
    assert holds(ob.injective((X, Y), (), ob.times(compact(), 3), 3))
    assert not holds(ob.injective((X, Y), (), ob.times(compact(), 3), 4))
    assert holds(ob.injective((X, Y), (), ob.times(compact(), 4), 4))
    assert not holds(ob.injective((X, Y), (), ob.times(compact(), 4), 5))
    assert not holds(ob.injective((X, Y), (), ob.plus(ob.times(compact(), 4), ob.masked(leaf(X), 1)), 4))


def test_injective_at_common_values_of_what_is_shared() -> None:
    base = var("base", 5)
    moved = ob.plus(compact(), ob.times(leaf(base), 3))
    assert holds(ob.injective((X, Y, base), (base,), moved))
    assert not holds(ob.injective((X, Y, base), (), moved))


def test_injective_ranges_at_the_end_of_the_width() -> None:
    """A range that ends beyond the largest number of the width does not come round to 0."""
    two = var("two", 2)
    position = ob.times(leaf(two), 7)
    assert position.value.bits.width == 3
    assert holds(ob.injective((two,), (), position, 7))
    assert not holds(ob.injective((two,), (), position, 8))


def test_injective_under_an_outer_map() -> None:
    for good, image in ((True, lambda x: ob.swizzled(x, 1, 0, 2)), (False, lambda x: ob.masked(x, 0b111110))):
        outer = ob.bijection(6, image)
        assert holds(ob.injective((X, Y), (), compact(), 1, outer)) is good


def test_apart() -> None:
    other = tuple(var(f"{node.name}2", node.limit) for node in (X, Y))
    second = ob.plus(leaf(other[0]), ob.times(leaf(other[1]), 8))
    for gap, extent, good in ((48, 1, True), (47, 1, False), (50, 3, True), (49, 3, False)):
        sides = ob.side((X, Y), compact(), extent), ob.side(other, ob.plus(second, number(gap)), extent)
        assert holds(ob.apart((), *sides)) is good, gap


def test_apart_under_a_condition() -> None:
    other = tuple(var(f"{node.name}2", node.limit) for node in (X, Y))
    second = ob.plus(leaf(other[0]), ob.times(leaf(other[1]), 8))
    differ = negation(compare(Comparison.EQ, Y, other[1]))
    sides = ob.side((X, Y), compact(), 1), ob.side(other, second, 1)
    assert holds(ob.apart((), *sides, differ, ("y", "y2")))
    assert not holds(ob.apart((), *sides))


@pytest.mark.parametrize(
    ("instruction", "stride", "at_most", "good"),
    [
        ("ld.shared.b32", 4, None, True),
        ("ld.shared.b32", 8, None, False),
        ("ld.shared.b32", 8, 2, True),
        ("ld.shared.b32", 8, 1, False),
        ("ld.shared.b32", 128, 32, True),
        ("ld.shared.b32", 128, 31, False),
        ("ld.shared.b32", 0, None, True),
        ("ld.shared.b8", 1, None, True),
        ("ld.shared.b16", 2, 1, True),
        ("st.shared.v4.b32", 16, None, True),
        ("st.shared.v4.b32", 32, None, False),
        ("st.shared.v4.b32", 32, 8, True),
        ("st.shared.v4.b32", 32, 7, False),
        ("ld.shared.v4.b32", 16, 4, True),
        ("ld.shared.v4.b32", 16, 3, False),
        ("ld.shared.v4.b32", 0, 2, True),
        ("ld.shared.v4.b32", 0, 1, False),
        ("st.shared.v4.b32", 0, 3, False),
        ("atom.shared.add.u32", 4, None, True),
        ("atom.shared.add.u32", 0, None, False),
        ("atom.shared.add.u32", 0, 32, True),
        ("atom.shared.add.u32", 0, 31, False),
        ("ldmatrix.x1", 16, 1, True),
        ("ldmatrix.x4", 128, 32, True),
        ("ldmatrix.x4", 128, 31, False),
        ("ldmatrix.x2", 128, 16, True),
        ("ldmatrix.x2", 128, 15, False),
        ("cp.async.8", 8, None, True),
        ("cp.async.16", 16, None, True),
        ("cp.async.16", 64, None, False),
        ("cp.async.16", 64, 32, True),
        ("cp.async.16", 64, 3, False),
    ],
)
def test_cost(instruction: str, stride: int, at_most: int | None, good: bool) -> None:
    goal = ob.cost(LANE, (), instruction, ob.times(leaf(LANE), stride), at_most=at_most)
    assert holds(goal) is good


def test_cost_where_pairs_agree() -> None:
    """Plain loads of lanes that agree in pairs go in half as many groups; stores do not."""
    halves = ob.times(ob.over(leaf(LANE), 2), 16)
    for instruction, at_most, good in (
        ("ld.shared.v4.b32", 2, True),
        ("ld.shared.v4.b32", 1, False),
        ("st.shared.v4.b32", 4, True),
        ("st.shared.v4.b32", 3, False),
    ):
        assert holds(ob.cost(LANE, (), instruction, halves, at_most=at_most)) is good, (instruction, at_most)


def test_joined_groups_can_conflict() -> None:
    """Each group of 16 lanes is free by itself; joined, since all lanes agree in pairs, they are
    not.
    """
    pairs = ob.over(leaf(LANE), 2)
    address = ob.plus(ob.times(ob.modulo(pairs, 8), 8), ob.times(ob.over(pairs, 8), 128))
    assert not holds(ob.cost(LANE, (), "ld.shared.v2.b32", address))
    assert holds(ob.cost(LANE, (), "st.shared.v2.b32", address))


def test_cost_presumes_nothing_of_alignment() -> None:
    assert not holds(ob.cost(LANE, (), "ld.shared.b32", ob.times(leaf(LANE), 2)))
    assert not holds(ob.cost(LANE, (), "ld.shared.b32", ob.times(leaf(LANE), 2), at_most=32))


def test_cost_over_free_variables_and_inactive_lanes() -> None:
    k = var("k", 9)
    address = ob.plus(ob.times(leaf(LANE), 4), ob.times(leaf(k), 12))
    assert holds(ob.cost(LANE, (k,), "ld.shared.b32", address))
    slanted = ob.plus(ob.times(leaf(LANE), 4), ob.times(ob.times(leaf(k), 4), 1))
    crossing = ob.plus(slanted, ob.times(ob.masked(leaf(LANE), 8), 1))
    assert not holds(ob.cost(LANE, (k,), "ld.shared.b32", ob.times(crossing, 2)))
    wide = ob.times(leaf(LANE), 8)
    assert holds(ob.cost(LANE, (), "ld.shared.b32", wide, ob.less(leaf(LANE), number(16))))
    assert not holds(ob.cost(LANE, (), "ld.shared.b32", wide, ob.less(leaf(LANE), number(17))))


def test_cost_under_an_assumption() -> None:
    k = var("k", 8)
    address = ob.times(ob.plus(leaf(LANE), ob.times(ob.masked(leaf(LANE), 1), 31)), 4)
    moved = ob.plus(ob.times(leaf(LANE), 4), ob.times(ob.masked(leaf(k), 1), 0))
    assert not holds(ob.cost(LANE, (k,), "ld.shared.b32", address))
    stride = ob.times(ob.xor(leaf(LANE), ob.times(ob.masked(ob.xor(leaf(LANE), leaf(k)), 1), 32)), 4)
    assert holds(ob.cost(LANE, (k,), "ld.shared.b32", moved, assumed=ob.equal(leaf(k), number(3))))
    assert holds(ob.cost(LANE, (k,), "ld.shared.b32", stride))


@pytest.mark.parametrize(("times", "good"), [(1, True), (2, False)])
def test_covers_once(times: int, good: bool) -> None:
    t = var("t", 48)
    goal = ob.covers((), (t,), leaf(t), None, 1, (X, Y), compact(), 1, times)
    assert holds(goal) is good


def test_covers_misses_one_or_takes_one_twice() -> None:
    t = var("t", 48)
    short = ob.covers((), (t,), leaf(t), ob.less(leaf(t), number(47)), 1, (X, Y), compact(), 1, 1)
    assert not holds(short)
    long = var("t", 49)
    assert not holds(ob.covers((), (long,), ob.modulo(leaf(long), 48), None, 1, (X, Y), compact(), 1, 1))


def test_covers_several_times() -> None:
    t = var("t", 96)
    goal = ob.covers((), (t,), ob.modulo(leaf(t), 48), None, 1, (X, Y), compact(), 1, 2)
    assert holds(goal)
    assert not holds(replace(goal, times=3))
    assert not holds(replace(goal, times=200))
    assert not holds(replace(goal, times=1))


def test_covers_with_wide_ranges_and_shared_bases() -> None:
    base, t = var("base", 3), var("t", 12)
    address = ob.plus(ob.times(leaf(t), 8), ob.times(leaf(base), 128))
    position = ob.plus(ob.times(compact(), 2), ob.times(leaf(base), 128))
    assert holds(ob.covers((base,), (t,), address, None, 8, (X, Y), position, 2, 1))
    elsewhere = ob.plus(ob.times(compact(), 2), ob.times(leaf(base), 120))
    assert not holds(ob.covers((base,), (t,), address, None, 8, (X, Y), elsewhere, 2, 1))


def test_covers_whose_points_differ_in_nothing() -> None:
    """Two points at one address are two points, though no expression tells them apart."""
    t, e = var("t", 2), var("e", 1)
    goal = ob.covers((), (t,), number(0), None, 1, (e,), number(0), 1, 1)
    assert not holds(goal)
    assert holds(replace(goal, times=2))


def test_too_many_points_are_not_written_out() -> None:
    t = var("t", 1 << 17)
    goal = ob.covers((), (t,), leaf(t), None, 1, (X,), leaf(X), 1, 1)
    with pytest.raises(UnwrittenError, match="too many"):
        parts(state(goal))


# --- random obligations --------------------------------------------------------------------------------------------


def agree(goal: object, wanted: bool | None, tally: Counter[bool]) -> None:
    """With loops over all points (None: nobody asked them) and with the engines."""
    mine = holds(goal)  # type: ignore[arg-type]
    tally[mine] += 1
    if wanted is not None:
        assert mine is wanted
    for engine in (SMT(), Exhaustion()):
        answer = engine.decide(goal).answer  # type: ignore[arg-type]
        if answer in (Answer.HOLDS, Answer.FAILS):
            assert mine is (answer is Answer.HOLDS), engine.name


@pytest.mark.parametrize("count", counts(40, 70))
def test_random_conditions_agree_with_the_engines(count: int) -> None:
    tally: Counter[bool] = Counter()
    for seed in range(count):
        rng = random.Random(seed)
        nodes = ob.random_box(rng)
        condition = ob.random_condition(rng, nodes)
        assumed = ob.random_condition(rng, nodes) if rng.random() < 0.3 else None
        wanted = ob.always_holds(nodes, condition.plain, ob.truth_of(assumed)[1])
        agree(ob.always(nodes, condition, assumed), wanted, tally)
    assert min(tally[True], tally[False]) >= count // 7


@pytest.mark.parametrize("count", counts(50, 110))
def test_random_injectivity_agrees_with_the_engines(count: int) -> None:
    tally: Counter[bool] = Counter()
    for seed in range(count):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        wanted = ob.is_injective(nodes, shared, inner.plain, extent, ob.truth_of(assumed)[1])
        agree(ob.injective(nodes, shared, inner, extent, assumed=assumed), wanted, tally)
    assert min(tally[True], tally[False]) >= count // 6


@pytest.mark.parametrize("count", counts(40, 70))
def test_random_families_agree_with_the_engines(count: int) -> None:
    tally: Counter[bool] = Counter()
    for seed in range(count):
        case = apart_case(seed)
        wanted = not any(case.meets(p) for p in ob.points(case.nodes))
        agree(case.goal, wanted, tally)
    assert min(tally[True], tally[False]) >= count // 7


@pytest.mark.parametrize("count", counts(30, 70))
def test_random_costs_agree_with_the_engines(count: int) -> None:
    tally: Counter[bool] = Counter()
    for seed in range(count):
        goal, address, active, assumed = cost_case(seed, [1, 2, 3, 4, 8])
        wanted = ob.cost_holds(goal, address.plain, active, assumed, ob.points(goal.free))
        agree(goal, wanted, tally)
    assert min(tally[True], tally[False]) >= count // 5


def test_random_covers_agree_with_the_engines() -> None:
    tally: Counter[bool] = Counter()
    for seed in range(70):
        rng = random.Random(seed)
        own = tuple(var(f"t{i}", rng.choice([1, 2, 3, 4])) for i in range(2))
        elements = tuple(var(f"e{i}", rng.choice([1, 2, 4])) for i in range(2))
        extent, reach = rng.choice([(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
        count = elements[0].limit * elements[1].limit
        position = ob.times(ob.plus(leaf(elements[0]), ob.times(leaf(elements[1]), elements[0].limit)), extent)
        linear = ob.plus(leaf(own[0]), ob.times(leaf(own[1]), own[0].limit))
        address = ob.times(ob.modulo(linear, max(2, count)) if rng.random() < 0.7 else linear, reach)
        active = ob.random_condition(rng, own) if rng.random() < 0.2 else None
        times = rng.choice([1, 1, 2])
        runs = ob.truth_of(active)[1]
        goal = ob.covers((), own, address, active, reach, elements, position, extent, times)
        wanted = all(
            sum(ob.ranges_meet(address.plain(q), reach, position.plain(p), extent) for q in ob.points(own) if runs(q))
            == times
            for p in ob.points(elements)
        )
        agree(goal, wanted, tally)
    assert min(tally[True], tally[False]) >= 8


# --- what the encoding is made of ----------------------------------------------------------------------------------


def test_ranges_meet_as_counted() -> None:
    for first_length in (1, 2, 3, 4):
        for other_length in (1, 2, 3, 4):
            for scale in (1, 2, 4):
                out = Builder()
                a, b = out.var("a", 7, 5), out.var("b", 6, 4)
                shift = out.const(scale.bit_length() - 1, 5), out.const(scale.bit_length() - 1, 4)
                first, other = out.op("bvshl", a, shift[0]), out.op("bvshl", b, shift[1])
                here = meet(out, first, first_length, other, other_length)
                for x in range(7):
                    for y in range(6):
                        values = evaluate(tuple(out.lines), {"a": x, "b": y})
                        at = values[first], values[other]
                        wanted = ob.ranges_meet(at[0], first_length, at[1], other_length)
                        assert values[here] == wanted, (first_length, other_length, scale, at)


def test_trailing_zeros_are_zeros() -> None:
    found = 0
    for seed in range(300):
        program = random_program(random.Random(seed))
        out = Builder()
        given = {
            place: out.var(line.name, line.number, line.width)
            for place, line in enumerate(program)
            if line.operator == "var"
        }
        places = out.copy(program, range(len(program)), given)
        zeros = [trailing_zeros(out, place) for place in places]
        found += sum(zero > 0 for zero in zeros)
        rng = random.Random(seed)
        for _ in range(5):
            point = {line.name: rng.randrange(line.number) for line in program if line.operator == "var"}
            values = evaluate(tuple(out.lines), dict(point.items()))
            for place, zero in zip(places, zeros, strict=True):
                assert values[place] % (1 << zero) == 0
    assert found > 300


def test_every_kind_is_stated_once() -> None:
    """The text of a statement is read back as the same statement."""
    t = var("t", 4)
    goals = [
        ob.always((X, Y), ob.less(compact(), number(48))),
        ob.injective((X, Y), (Y,), compact(), 1, ob.bijection(6, lambda x: ob.swizzled(x, 1, 0, 2))),
        apart_case(1).goal,
        cost_case(2, [1, 2, 3])[0],
        GatherCost(replace(cost_case(2, [1, 2, 3])[0], address=extend(t, 10, signed=False)), (t,)),
        ob.covers((), (t,), leaf(t), None, 2, (X,), leaf(X), 1, 1),
    ]
    assert isinstance(goals[2], Apart)
    assert [st.kind_of(state(goal)) for goal in goals] == list(st.KINDS)
    for goal in goals:
        statement = state(goal)
        assert st.read_statement(st.write_statement(statement)) == statement

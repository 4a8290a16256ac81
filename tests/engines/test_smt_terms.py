"""The parts that Z3's questions are made of, each against plain numbers."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import z3

from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.gf2 import GF2, one_to_one
from swzverify.engines.obligations import Answer, Bijection, Finding, Injective, Obligation
from swzverify.engines.radix import Radix
from swzverify.engines.smt import SMT
from swzverify.engines.smt.linear import LinearSum, linear_sum
from swzverify.engines.smt.query import Query, evaluable, finding, overlap, value
from swzverify.engines.smt.terms import Translated, Translator
from swzverify.engines.smt.warp_rule import wavefronts
from swzverify.errors import InternalError
from swzverify.hardware import INSTRUCTIONS, access_cost
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Expr, Var, binary, const, extend, extract, var
from tests.engines import obligations as ob
from tests.engines.obligations import leaf, less, modulo, number, plus, times, xor

LANE = var("lane", 32)
A, B, C = var("a", 4), var("b", 3), var("c", 2)
NO = Answer.NOT_APPLICABLE


RULES = ["ld.shared.b16", "ld.shared.v2.b32", "ld.shared.v4.b32", "st.shared.v4.b32", "ldmatrix.x2"]
RULES += ["atom.shared.add.u32", "cp.async.8", "cp.async.ca.16", "cp.async.16"]


@pytest.mark.parametrize("name", RULES)
def test_formula_of_the_rule_in_numbers(name: str) -> None:
    """The whole rule as terms, at constants: what the plain rule says. Lanes that are off have
    addresses too.
    """
    row, rng = INSTRUCTIONS[name], random.Random(name)
    for share, few in ((0.0, 8), (0.3, 2), (0.5, 3), (0.7, 64)):
        # few units, and by octets few places round the own one, so that lanes meet
        places = [row.width_bytes * (rng.randrange(few) ^ (lane % 8 if row.by_octets else 0)) for lane in range(32)]
        on = [row.warp_wide or rng.random() >= share for _ in range(32)]
        if row.joins and share == 0.3:
            places = [places[lane & ~2] for lane in range(32)]
        context = z3.Context()
        addresses = [z3.BitVecVal(place, 12, context) for place in places]
        found = wavefronts(row, addresses, [z3.BoolVal(each, context) for each in on])
        cost = access_cost(row, [place if each else None for place, each in zip(places, on, strict=True)])
        assert [z3.simplify(term).as_long() for term in found] == [cost.wavefronts, cost.minimum], (places, on)


@pytest.mark.parametrize("lengths", [(1, 1), (1, 3), (4, 1), (2, 2), (9, 1), (1, 9)])
@pytest.mark.parametrize("widths", [(2, 2), (2, 4), (4, 2)])
def test_ranges_overlap(lengths: tuple[int, int], widths: tuple[int, int]) -> None:
    for a, b in product(range(1 << widths[0]), range(1 << widths[1])):
        context = z3.Context()
        terms = Translator(Translated(context))
        meet = overlap(terms, terms.fixed(a, widths[0]), lengths[0], terms.fixed(b, widths[1]), lengths[1])
        assert z3.is_true(z3.simplify(z3.And(*meet))) == ob.ranges_meet(a, lengths[0], b, lengths[1]), (a, b)


def test_values_are_those_of_the_model() -> None:
    """By name and by point; what no formula mentions is 0."""
    query = Query()
    terms = query.terms
    query.require(terms.variable(A) == terms.fixed(2, 2), terms.variable(A, "a#1") == terms.fixed(3, 2))
    model = query.solve(1_000_000)
    assert model is not None
    assert [value(model, terms, name, node) for name, node in (("a", A), ("a#1", A), ("b", B))] == [2, 3, 0]
    assert finding(model, (A, B)) == Finding("z3", Answer.FAILS, {"a": 2, "b": 0})
    assert finding(None, (A, B)) == Finding("z3", Answer.HOLDS)


def test_a_coverage_that_fails_is_told_where() -> None:
    # s 5 alone leaves the element without a touch or touches it twice, whatever t does
    s, t, e = var("s", 8), var("t", 2), var("e", 2)
    address = ob.Map(
        ints.choose(ints.truth(ob.equal(leaf(s), number(5)).value), ints.integer(1), leaf(t).value),
        lambda p: np.where(p["s"] == 5, 1, p["t"]),
    )
    goal = ob.covers((s,), (t,), address, None, 1, (e,), leaf(e), 1, 1)
    for engine in (Exhaustion(), SMT()):
        found = engine.decide(goal)
        assert found.answer is Answer.FAILS
        assert found.point is not None
        assert found.point["s"] == 5


@pytest.mark.parametrize(("width", "fits"), [(1, True), (63, True), (64, False), (65, False)])
def test_63_bits_fit_what_numpy_returns(width: int, fits: bool) -> None:
    root = extend(LANE, width, signed=False) if width > LANE.width else extract(LANE, 0, width)
    assert evaluable(LANE, root) is fits


@pytest.mark.parametrize(("value", "width"), [(-1, 8), (256, 8), (2, 1)])
def test_a_constant_never_wraps(value: int, width: int) -> None:
    with pytest.raises(ValueError, match=f"^{value} does not fit {width} bits$"):
        Translator(Translated(z3.Context())).fixed(value, width)


def test_one_name_is_one_variable() -> None:
    terms = Translator(Translated(z3.Context()))
    terms.variable(var("v", 5))
    with pytest.raises(InternalError, match=r"^two variables are called v: of 5 and 6 values$"):
        terms.variable(var("v", 6))


V9, V16, V8 = var("v", 9), var("v", 16), var("v", 8)
U9 = var("u", 9)


def _sum(left: Expr, right: Expr) -> Expr:
    return binary(BinaryOperator.ADD, left, right)


def _times(left: Expr, right: Expr) -> Expr:
    return binary(BinaryOperator.MUL, left, right)


SUMS: dict[str, tuple[Expr, LinearSum | None]] = {
    "cut below the value": (extract(V9, 0, 3), None),
    "cut far below the value": (extract(V16, 0, 3), None),
    "cut at the value": (extract(extend(V8, 5, signed=False), 0, 3), LinearSum({V8: 1}, 0)),
    "not the low bits": (extract(V16, 1, 3), None),
    "signed, but never negative": (extend(extend(V8, 4, signed=False), 6, signed=True), LinearSum({V8: 1}, 0)),
    "signed and negative": (extend(V9, 6, signed=True), None),
    "a sum that wraps by one": (_sum(V9, U9), None),
    "a sum that just fits": (_sum(extend(V8, 4, signed=False), extend(V8, 4, signed=False)), LinearSum({V8: 2}, 0)),
    "a sum one below": (_sum(V9, const(7, 4)), LinearSum({V9: 1}, 7)),
    "a factor on the left": (_times(const(3, 5), extend(V9, 5, signed=False)), LinearSum({V9: 3}, 0)),
    "a factor on the right": (_times(extend(V9, 5, signed=False), const(3, 5)), LinearSum({V9: 3}, 0)),
    "a factor that wraps by one": (_times(V9, const(2, 4)), None),
    "a shift by more bits than memory has": (
        binary(BinaryOperator.SHL, extend(V9, 64, signed=False), const(1 << 60, 64)),
        None,
    ),
}


@pytest.mark.parametrize(("root", "found"), SUMS.values(), ids=SUMS)
def test_linear_sum(root: Expr, found: LinearSum | None) -> None:
    assert linear_sum(root) == found


def bits(nodes: tuple[Var, ...], inner: Expr) -> Obligation:
    """An injectivity of raw bits; only the expression is read."""
    made = ob.injective(nodes, (), number(0))
    assert isinstance(made, Injective)
    return replace(made, inner=inner)


def test_radix_sees_a_sum_that_wraps() -> None:
    # 12 * c + v in 4 bits: (c 1, v 4) comes to 16, which is 0
    inner = _sum(_times(extend(C, 4, signed=False), const(12, 4)), var("v", 12))
    assert Radix().decide(bits((C, var("v", 12)), inner)).answer is not Answer.HOLDS


def test_radix_sees_which_bits_are_cut_out() -> None:
    assert Radix().decide(bits((V8,), extract(V8, 1, 2))).answer is not Answer.HOLDS


def test_radix_finds_one_digit_shorter_than_a_range() -> None:
    goal = ob.injective((C,), (), leaf(C), 2)
    assert Radix().decide(goal) == Finding("radix", Answer.FAILS, {"c": 0, "c'": 1})


def test_radix_takes_what_is_shared_and_moves_nothing() -> None:
    goal = ob.apart((B,), ob.side((A,), leaf(A), 1), ob.side((C,), plus(leaf(C), number(4)), 1))
    assert Radix().decide(goal) == Finding("radix", Answer.HOLDS)


def test_gf2_does_not_judge_a_map_that_is_not_affine() -> None:
    x = var("x", 16)
    assert one_to_one(_times(x, const(3, 4)), x) is None
    assert one_to_one(binary(BinaryOperator.XOR, x, const(3, 4)), x) is True
    assert one_to_one(binary(BinaryOperator.AND, x, const(3, 4)), x) is False


@pytest.mark.parametrize("more", [{"assumed": less(leaf(A), number(2))}, {"active": less(leaf(A), number(2))}])
def test_gf2_leaves_conditions_on_other_variables(more: dict[str, ob.Map]) -> None:
    assert GF2().decide(ob.cost(LANE, (A,), "ld.shared.b32", times(leaf(LANE), 4), **more)) == Finding("gf2", NO)


def test_gf2_finds_the_lane_behind_other_variables() -> None:
    address = xor(times(ob.masked(leaf(LANE), 15), 128), number(64))
    goal = ob.cost(LANE, (A,), "ld.shared.b32", address, modulo(leaf(LANE), 2))
    found = GF2().decide(replace(goal, domain=Domain((A, LANE))))
    assert found.worst is not None
    assert (found.answer, found.worst.most_wavefronts.wavefronts, found.worst.most_wavefronts.minimum) == (
        Answer.FAILS,
        8,
        1,
    )


# --- coverage ---

T, E = var("t", 2), var("e", 5)
WIDE = ob.equal(times(leaf(T), 2**66), number(2**66))


def _covers(reach: int, start: int, step: int, first: int, cells: int) -> Obligation:
    cell = var("e", cells)
    address = plus(number(start), times(leaf(T), step))
    return ob.covers((), (T,), address, None, reach, (cell,), plus(number(first), leaf(cell)), 1, 1)


@pytest.mark.parametrize(
    "goal",
    [
        _covers(
            3, 0, 2, 0, 5
        ),  # ranges of 3 at 0 and 2 share element 2: lengths that are no power of two are no blocks
        _covers(4, 1, 2, 1, 6),  # ranges of 4 at 1 and 3: each begins inside a block
    ],
)
def test_blocks_must_be_blocks(goal: Obligation) -> None:
    assert SMT().decide(goal).answer is Exhaustion().decide(goal).answer is Answer.FAILS


def test_touches_of_points_that_do_not_count_are_none() -> None:
    # t and t + 4 touch alike; 8 and more do not run, and would touch each element twice more
    t, e = var("t", 16), var("e", 4)
    address, active = modulo(leaf(t), 4), less(leaf(t), number(8))
    goal = ob.covers((), (t,), address, active, 1, (e,), leaf(e), 1, 2)
    for engine in (Exhaustion(), SMT()):
        assert engine.decide(goal).answer is Answer.HOLDS
        assumed = replace(goal, active=ob.truth_of(None)[0], points=Domain((t,), goal.active))
        assert engine.decide(assumed).answer is Answer.HOLDS or engine.name == "exhaustion"
        assert engine.decide(replace(goal, times=1)).answer is Answer.FAILS


def test_three_unlike_touches() -> None:
    # each four of twelve points touch elements 0 to 3 once, in another order; a thirteenth would
    # touch 3 again
    t, e = var("t", 13), var("e", 4)
    address = ob.masked(xor(leaf(t), ob.down(leaf(t), 2)), 3)
    goal = ob.covers((), (t,), address, less(leaf(t), number(12)), 1, (e,), leaf(e), 1, 3)
    assert SMT().decide(goal).answer is Exhaustion().decide(goal).answer is Answer.HOLDS
    assumed = replace(goal, active=ob.truth_of(None)[0], points=Domain((t,), goal.active))
    assert SMT().decide(assumed).answer is Answer.HOLDS
    every = ob.covers((), (t,), address, None, 1, (e,), leaf(e), 1, 3)
    assert SMT().decide(every).answer is Exhaustion().decide(every).answer is Answer.FAILS


@pytest.mark.parametrize("more", [(), (var("u", 2),)], ids=["alone", "beside one that is idle"])
def test_a_bit_that_is_idle_at_both_ends_only(more: tuple[Var, ...]) -> None:
    # u changes nothing; t's upper bit moves s 1 to 2, which shows neither at s 0 nor at s 3
    t, s, e = var("t", 4), var("s", 4), var("e", 8)
    moved = ob.equal(plus(times(ob.masked(leaf(t), 2), 2), leaf(s)), number(5))
    where = ob.Map(
        ints.choose(ints.truth(moved.value), ints.integer(2), leaf(s).value),
        lambda p: np.where(moved.plain(p), 2, p["s"]),
    )
    address = plus(times(modulo(leaf(t), 2), 4), where)
    goal = ob.covers((), (t, s, *more), address, None, 1, (e,), leaf(e), 1, 4 if more else 2)
    assert Exhaustion().decide(goal).answer is Answer.FAILS
    assert SMT().decide(goal).answer is (NO if more else Answer.FAILS)


@pytest.mark.parametrize("part", ["address", "active", "assumption", "position"])
def test_coverage_in_more_than_63_bits_is_not_counted(part: str) -> None:
    goal = ob.covers((), (T,), leaf(T), None, 1, (C,), leaf(C), 1, 1)
    wide, deep = WIDE.value.bits, times(leaf(T), 2**66).value.bits
    changed = {
        "address": replace(goal, address=deep),
        "active": replace(goal, active=ob.truth_of(WIDE)[0]),
        "assumption": replace(goal, points=Domain((T,), ob.truth_of(WIDE)[0])),
        "position": replace(goal, position=times(leaf(C), 2**66).value.bits),
    }[part]
    assert wide.width <= deep.width
    assert SMT().decide(changed) == Finding("z3", NO, detail="positions of more than 63 bits")


@pytest.mark.parametrize(("count", "answer"), [(2**20, Answer.EMPTY), (2**20 + 1, NO)])
def test_coverage_counts_so_many_points(count: int, answer: Answer) -> None:
    t, e = var("t", count), var("e", 2**20)
    goal = ob.covers((), (t,), leaf(t), less(leaf(t), number(0)), 1, (e,), leaf(e), 1, 1)
    detail = "too many points to count" if answer is NO else ""
    assert SMT().decide(goal) == Finding("z3", answer, detail=detail)


def test_coverage_tries_what_is_enough_of_the_shared() -> None:
    s = var("s", 2**40)
    goal = ob.covers((s,), (T,), plus(leaf(T), leaf(s)), None, 1, (C,), plus(leaf(C), leaf(s)), 1, 1)
    for engine in (Exhaustion(), SMT()):
        assert engine.decide(replace(goal, enough=(("s", 8),))).answer is Answer.HOLDS
        assert engine.decide(goal).answer is NO


# --- injectivity ---


def test_an_outer_map_must_be_one_to_one() -> None:
    goal = ob.injective((A,), (), leaf(A), outer=ob.bijection(2, lambda x: ob.masked(x, 1)))
    assert SMT().decide(goal) == Finding("z3", Answer.UNDECIDED, detail="the outer map is not one to one")
    assert isinstance(goal.outer, Bijection)


def test_points_outside_the_assumption_do_not_collide() -> None:
    # 0 and 2 would collide, and so would 1 and 3
    inside = less(leaf(A), number(2))
    assert SMT().decide(ob.injective((A,), (), modulo(leaf(A), 2), assumed=inside)) == Finding("z3", Answer.HOLDS)
    beyond = less(number(1), leaf(A))
    assert SMT().decide(ob.injective((A,), (), modulo(leaf(A), 2), assumed=beyond)) == Finding("z3", Answer.HOLDS)

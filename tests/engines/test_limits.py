"""How far each engine goes, to the point; and cases that look as if a shortcut applied and are
none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.obligations import Answer, Cost, Engine, Finding, Obligation, WarpCost, WorstCost
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.engines.smt import SMT
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, BinaryOperator, Var, binary, extend, var
from tests.engines import obligations as ob
from tests.engines.obligations import Map, chosen, is_value, leaf, less, modulo, number, plus, times, xor

LANE = var("lane", 32)
ROW, COLUMN = times(leaf(LANE), 4), times(leaf(LANE), 128)
FAR = Finding("exhaustion", Answer.NOT_APPLICABLE, detail="more than 2^20 points")


def worst(wavefronts: int, **point: int) -> WorstCost:
    return WorstCost.of_one(WarpCost(wavefronts, 1, point))


def _always(count: int) -> Obligation:
    v = var("v", count)
    return ob.always((v,), less(leaf(v), number(count)))


def _cost(rows: int) -> Obligation:
    v = var("v", rows)
    return ob.cost(LANE, (v,), "ld.shared.b32", chosen(is_value(v, 1), COLUMN, ROW))


def _injective(count: int) -> Obligation:
    v = var("v", count)
    return ob.injective((v,), (), leaf(v))


def _apart(count: int) -> Obligation:
    v = var("v", count - 1)
    return ob.apart((), ob.side((v,), leaf(v), 1), ob.side((), number(count), 1))


def _covers(count: int) -> Obligation:
    v, e = var("v", count // 2), var("e", count - count // 2)
    return ob.covers((), (v,), leaf(v), None, 1, (e,), leaf(e), 1, 1)


@pytest.mark.parametrize(
    ("make", "most"), [(_always, 2**20), (_cost, 2**15), (_injective, 2**20), (_apart, 2**20), (_covers, 2**20)]
)
def test_exhaustion_goes_to_its_limit(make: Callable[[int], Obligation], most: int) -> None:
    assert Exhaustion().decide(make(most)).answer in {Answer.HOLDS, Answer.FAILS}
    assert Exhaustion().decide(make(most + 1)) == FAR


def _tagged(tags: int, rest: int) -> Obligation:
    a, b, v = var("a", tags), var("b", tags), var("v", rest)
    first = ob.side((a, v), plus(leaf(a), times(leaf(v), tags)), 1)
    condition = ints.truth(ob.equal(ob.equal(leaf(a), leaf(b)), number(0)).value)
    return ob.apart((), first, ob.side((b,), leaf(b), 1), condition, (("a", "b"),))


def test_tags_cost_exhaustion_nothing() -> None:
    # 2^20 points of both sides, and then a few more
    assert Exhaustion().decide(_tagged(4, 2**18 - 1)).answer is Answer.HOLDS
    assert Exhaustion().decide(_tagged(4, 2**18)) == FAR


def _jump(count: int, at: int) -> Obligation:
    v = var("v", count)
    return ob.always((v,), ob.equal(is_value(v, at), number(0)))


@pytest.mark.parametrize("at", [0, 5, 2**21 - 1])
def test_residues_go_to_their_limit(at: int) -> None:
    assert Residues().decide(_jump(2**21, at)) == Finding("residues", Answer.FAILS, {"v": at})
    assert Residues().decide(_jump(2**21 + 1, at)).answer is Answer.NOT_APPLICABLE


def test_residues_price_so_many_warps() -> None:
    found = Residues().decide(_cost(2**16))
    assert found == Finding("residues", Answer.FAILS, {"v": 1}, worst(32, v=1))
    assert Residues().decide(_cost(2**16 + 1)).answer is Answer.NOT_APPLICABLE


@pytest.mark.parametrize(("count", "answer"), [(2**21, Answer.HOLDS), (2**21 + 1, Answer.NOT_APPLICABLE)])
def test_residues_sort_so_many_points(count: int, answer: Answer) -> None:
    v = var("v", count)
    assert Residues().decide(ob.injective((v,), (), leaf(v))).answer is answer


def test_residues_cut_what_is_shared_to_a_period() -> None:
    s, v = var("s", 2**30), var("v", 4)
    found = Residues().decide(ob.injective((s, v), (s,), plus(times(leaf(s), 4), leaf(v))))
    assert found == Finding("residues", Answer.HOLDS)


def _wrapping() -> Obligation:
    """4 * lane + 4 * v in 28 bits, which wraps for the last values of v."""
    v = var("v", 2**26)
    total = binary(BinaryOperator.ADD, extend(v, 28, signed=False), extend(LANE, 28, signed=False))
    address = binary(BinaryOperator.ADD, total, total)
    address = binary(BinaryOperator.ADD, address, address)
    row = ob.cost(LANE, (v,), "ld.shared.b32", ROW)
    return Cost(Domain((LANE, v)), LANE, address, TRUE, row.instruction, None, row.definition)


def test_residues_see_through_a_wrap_by_whole_lines() -> None:
    assert Residues().decide(_wrapping()) == Finding("residues", Answer.HOLDS, {"v": 0}, worst(1, v=0))


def test_radix_takes_what_is_shared_off_a_range() -> None:
    s, a = var("s", 2**20), var("a", 4)
    first = ob.side((a,), plus(times(leaf(s), 8), leaf(a)), 1)
    other = ob.side((), plus(times(leaf(s), 8), number(4)), 4)
    assert Radix().decide(ob.apart((s,), first, other)) == Finding("radix", Answer.HOLDS)
    assert Radix().decide(ob.apart((s,), other, first)) == Finding("radix", Answer.HOLDS)


# --- Z3's shortcuts for costs: the case, and the finding; the later ones only look separate ---

V, W, S = var("v", 2**20), var("w", 2**20), var("s", 4)
ODD = modulo(leaf(LANE), 2)

SHORTCUTS: dict[str, tuple[Callable[[], Obligation], Finding]] = {
    "a shift by words": (
        lambda: ob.cost(LANE, (V,), "ld.shared.b32", plus(times(leaf(LANE), 8), times(leaf(V), 4)), at_most=2),
        Finding("z3", Answer.HOLDS, {"v": 0}, worst(2, v=0)),
    ),
    "a flip of bytes": (
        lambda: ob.cost(LANE, (V,), "ld.shared.b8", xor(leaf(LANE), leaf(V)), at_most=1),
        Finding("z3", Answer.HOLDS, {"v": 0}, worst(1, v=0)),
    ),
    "a flip of words": (
        lambda: ob.cost(LANE, (V,), "ld.shared.b32", xor(times(leaf(LANE), 8), times(leaf(V), 4)), at_most=2),
        Finding("z3", Answer.HOLDS, {"v": 0}, worst(2, v=0)),
    ),
    "a shift of chunks by lines": (
        lambda: ob.cost(LANE, (V,), "cp.async.16", plus(times(leaf(LANE), 16), times(leaf(V), 128)), at_most=4),
        Finding("z3", Answer.HOLDS, {"v": 0}, WorstCost.of_one(WarpCost(4, 4, {"v": 0}))),
    ),
    "most rows that are tried one by one": (
        lambda: _some(4096),
        Finding("z3", Answer.FAILS, {"v": 1000}, worst(32, v=1000)),
    ),
    "one row more": (lambda: _some(4097), Finding("z3", Answer.FAILS, {"v": 1000})),
    "a shift by bytes": (
        # 0 and 127 lie in banks 0 and 31, but 1 and 128 in one bank
        lambda: ob.cost(
            LANE, (V,), "ld.shared.b8", plus(times(ODD, 127), leaf(V)), at_most=1, assumed=less(leaf(V), number(2))
        ),
        Finding("z3", Answer.FAILS, {"v": 1}),
    ),
    "a jump between the first and the last values": (
        lambda: ob.cost(
            LANE,
            (V,),
            "ld.shared.b32",
            plus(ROW, chosen(is_value(V, 1000), times(leaf(LANE), 124), number(0))),
            at_most=1,
        ),
        Finding("z3", Answer.FAILS, {"v": 1000}),
    ),
    "an assumption that keeps the jump out": (
        lambda: ob.cost(
            LANE,
            (V,),
            "ld.shared.b32",
            chosen(less(leaf(V), number(7)), ROW, COLUMN),
            at_most=1,
            assumed=less(leaf(V), number(7)),
        ),
        Finding("z3", Answer.HOLDS),
    ),
    "a jump by one byte": (
        lambda: ob.cost(LANE, (V,), "ld.shared.b8", plus(times(ODD, 127), is_value(V, 1000)), at_most=1),
        Finding("z3", Answer.FAILS, {"v": 1000}),
    ),
    "a jump by two bytes": (
        lambda: ob.cost(LANE, (V,), "ld.shared.b8", plus(times(ODD, 126), times(is_value(V, 1000), 2)), at_most=1),
        Finding("z3", Answer.FAILS, {"v": 1000}),
    ),
    "a jump of one variable where the other has jumped": (
        lambda: ob.cost(
            LANE,
            (V, W),
            "ld.shared.b32",
            chosen(is_value(V, 1000), chosen(is_value(W, 1000), COLUMN, ROW), ROW),
            at_most=1,
        ),
        Finding("z3", Answer.FAILS, {"v": 1000, "w": 1000}),
    ),
    "a shift from an origin": (
        lambda: ob.cost(
            LANE, (V,), "ld.shared.b32", ob.total([times(leaf(LANE), 8), times(leaf(V), 4), number(12)]), at_most=2
        ),
        Finding("z3", Answer.HOLDS, {"v": 0}, worst(2, v=0)),
    ),
    "one lane in 70 bits": (
        lambda: ob.cost(
            LANE, (), "ld.shared.b32", COLUMN, ob.equal(times(leaf(LANE), 2**66), number(3 * 2**66)), at_most=1
        ),
        Finding("z3", Answer.HOLDS),
    ),
    "an assumption in 70 bits": (
        lambda: ob.cost(
            LANE, (S,), "ld.shared.b32", ROW, at_most=1, assumed=ob.equal(times(leaf(S), 2**66), number(3 * 2**66))
        ),
        Finding("z3", Answer.HOLDS),
    ),
    "the first of equal rows": (
        lambda: ob.cost(LANE, (S,), "ld.shared.b32", chosen(less(leaf(S), number(2)), ROW, COLUMN), at_most=1),
        Finding("z3", Answer.FAILS, {"s": 2}, worst(32, s=2)),
    ),
    "the dearer of two rows": (
        lambda: ob.cost(
            LANE,
            (S,),
            "ld.shared.b32",
            chosen(is_value(S, 1), COLUMN, chosen(is_value(S, 2), times(leaf(LANE), 8), ROW)),
            at_most=1,
        ),
        Finding("z3", Answer.FAILS, {"s": 1}, worst(32, s=1)),
    ),
    "octets, by formula": (
        lambda: ob.cost(
            LANE,
            (V,),
            "cp.async.16",
            chosen(less(leaf(V), number(7)), COLUMN, times(leaf(LANE), 16)),
            at_most=4,
            assumed=is_value(V, 3),
        ),
        Finding("z3", Answer.FAILS, {"v": 3}),
    ),
    "octets, by rows": (
        # every lane writes one chunk, so that only lane 0 copies
        lambda: ob.cost(LANE, (), "cp.async.16", number(0)),
        Finding("z3", Answer.HOLDS, {}, WorstCost.of_one(WarpCost(1, 1, {}))),
    ),
}


def _some(count: int) -> Obligation:
    v = var("v", count)
    return ob.cost(LANE, (v,), "ld.shared.b32", chosen(is_value(v, 1000), COLUMN, ROW), at_most=31)


@pytest.mark.parametrize(("make", "found"), SHORTCUTS.values(), ids=SHORTCUTS)
def test_z3_takes_no_wrong_shortcut(make: Callable[[], Obligation], found: Finding) -> None:
    assert SMT().decide(make()) == found


ENGINES: tuple[Engine, ...] = (Exhaustion(), Residues(), SMT())


def test_engines_agree_on_a_shift_by_bytes() -> None:
    v = var("v", 2)
    goal = ob.cost(LANE, (v,), "ld.shared.b8", plus(times(ODD, 127), leaf(v)), at_most=1)
    assert {engine.decide(goal).answer for engine in ENGINES} == {Answer.FAILS}


# --- what a period must not leave out ---


def odd(node: Var) -> Map:
    return modulo(leaf(node), 2)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("where", ["assumed", "active"])
def test_residues_keep_the_period_of_a_condition(flip: bool, where: str) -> None:
    flips = xor(times(leaf(S), 128), times(leaf(S), 64))
    address = xor(COLUMN, flips) if flip else plus(COLUMN, times(leaf(S), 4))
    goal = ob.cost(LANE, (S,), "ld.shared.b32", address, **{where: odd(S)})
    assert Residues().decide(goal) == Finding("residues", Answer.FAILS, {"s": 1}, worst(32, s=1))


def test_residues_keep_the_period_of_a_position() -> None:
    s, v = var("s", 2**30), var("v", 4)
    position = chosen(ob.equal(modulo(leaf(s), 2), number(0)), leaf(v), ob.over(leaf(v), 2))
    found = Residues().decide(ob.injective((s, v), (s,), position))
    assert found == Finding("residues", Answer.FAILS, {"s": 1, "v": 0, "v'": 1})


def test_the_most_wavefronts_and_the_most_conflicts_can_be_two_warps() -> None:
    # all lanes in a line each take the 4 wavefronts that they need; lanes 0 and 1 alone need 1 and
    # take 2
    first = times(leaf(LANE), 16)
    active = chosen(is_value(S, 0), number(1), less(leaf(LANE), number(2)))
    address = chosen(is_value(S, 0), first, times(leaf(LANE), 128))
    goal = ob.cost(LANE, (S,), "ld.shared.v4.b32", address, active)
    both = WorstCost(WarpCost(4, 4, {"s": 0}), WarpCost(2, 1, {"s": 1}))
    for engine in (Exhaustion(), Residues()):
        assert engine.decide(goal) == Finding(engine.name, Answer.FAILS, {"s": 1}, both)
        for at_most, answer in ((4, Answer.HOLDS), (3, Answer.FAILS)):
            limited = replace(goal, at_most=at_most)
            assert engine.decide(limited) == Finding(engine.name, answer, {"s": 0}, both)
    assert SMT().decide(goal).answer is Answer.FAILS
    assert SMT().decide(replace(goal, at_most=4)) == Finding("z3", Answer.HOLDS, {"s": 0}, both)


@pytest.mark.parametrize("engine", [Exhaustion(), Residues(), SMT()])
def test_octets_are_judged_at_their_limit(engine: Engine) -> None:
    # in one chunk one lane copies; a line further for each lane, all copy and none together
    line = chosen(is_value(S, 3), times(leaf(LANE), 128), number(0))
    row = WorstCost.of_one(WarpCost(32, 4, {"s": 3}))
    for limit, answer in ((31, Answer.FAILS), (32, Answer.HOLDS), (None, Answer.FAILS)):
        goal = ob.cost(LANE, (S,), "cp.async.16", line, at_most=limit)
        assert engine.decide(goal).answer is answer
        if engine.name != "z3":
            assert engine.decide(goal) == Finding(engine.name, answer, {"s": 3}, row)

"""What each engine answers, whole: its name, the answer, the point, the worst case and the words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Answer, Engine, Finding, Obligation, WarpCost, WorstCost
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.engines.smt import SMT
from swzverify.ir import integers as ints
from swzverify.ir.expr import Var, var
from tests.engines import obligations as ob
from tests.engines.obligations import Map, chosen, is_value, leaf, less, modulo, number, plus, times, xor

LANE = var("lane", 32)
A, B, C = var("a", 4), var("b", 3), var("c", 2)
NO = Answer.NOT_APPLICABLE

Make = Callable[[], Obligation]


def never(node: Var) -> Map:
    return less(leaf(node), number(0))


def cost(name: str, address: Map, *free: Var, **more: object) -> Obligation:
    return ob.cost(LANE, free, name, address, **more)  # type: ignore[arg-type]


def free_of_lane(wavefronts: int, minimum: int, **point: int) -> WorstCost:
    return WorstCost.of_one(WarpCost(wavefronts, minimum, point))


ROW = times(leaf(LANE), 4)
COLUMN = times(leaf(LANE), 128)

# engine, obligation, finding
WHOLE: dict[str, tuple[Engine, Make, Finding]] = {
    # exhaustion
    "exhaustion, always, holds": (
        Exhaustion(),
        lambda: ob.always((A, B), less(leaf(A), number(4))),
        Finding("exhaustion", Answer.HOLDS),
    ),
    "exhaustion, always, fails": (
        Exhaustion(),
        lambda: ob.always((A, B), less(plus(leaf(A), leaf(B)), number(5))),
        Finding("exhaustion", Answer.FAILS, {"a": 3, "b": 2}),
    ),
    "exhaustion, always, empty": (
        Exhaustion(),
        lambda: ob.always((A,), less(leaf(A), number(4)), never(A)),
        Finding("exhaustion", Answer.EMPTY),
    ),
    "exhaustion, injective, empty": (
        Exhaustion(),
        lambda: ob.injective((A,), (), leaf(A), assumed=never(A)),
        Finding("exhaustion", Answer.EMPTY),
    ),
    "exhaustion, injective, fails": (
        Exhaustion(),
        lambda: ob.injective((B, A), (), plus(leaf(A), times(leaf(B), 3))),
        Finding("exhaustion", Answer.FAILS, {"b": 0, "a": 3, "b'": 1, "a'": 0}),
    ),
    "exhaustion, injective, holds": (
        Exhaustion(),
        lambda: ob.injective((B, A), (), plus(leaf(A), times(leaf(B), 4))),
        Finding("exhaustion", Answer.HOLDS),
    ),
    "exhaustion, injective, fails where b is 2": (
        Exhaustion(),
        lambda: ob.injective((B, A), (B,), modulo(leaf(A), 2), assumed=is_value(B, 2)),
        Finding("exhaustion", Answer.FAILS, {"b": 2, "a": 0, "a'": 2}),
    ),
    "exhaustion, injective, fails behind a point that does not count": (
        Exhaustion(),
        lambda: ob.injective((A,), (), modulo(leaf(A), 2), assumed=less(number(0), leaf(A))),
        Finding("exhaustion", Answer.FAILS, {"a": 1, "a'": 3}),
    ),
    "exhaustion, cost, fails": (
        Exhaustion(),
        lambda: cost("ld.shared.b32", plus(times(leaf(LANE), 8), times(leaf(A), 4)), A),
        Finding("exhaustion", Answer.FAILS, {"a": 0}, free_of_lane(2, 1, a=0)),
    ),
    "exhaustion, cost, holds": (
        Exhaustion(),
        lambda: cost("ld.shared.b32", ROW),
        Finding("exhaustion", Answer.HOLDS, {}, free_of_lane(1, 1)),
    ),
    "exhaustion, cost, empty": (
        Exhaustion(),
        lambda: cost("ld.shared.b32", ROW, active=never(LANE)),
        Finding("exhaustion", Answer.EMPTY),
    ),
    "exhaustion, cost, worst of all": (
        Exhaustion(),
        lambda: cost("ld.shared.b32", times(leaf(LANE), 4), A, at_most=1),
        Finding("exhaustion", Answer.HOLDS, {"a": 0}, free_of_lane(1, 1, a=0)),
    ),
    "exhaustion, apart, the first range reaches into the other": (
        Exhaustion(),
        lambda: ob.apart((), ob.side((), number(0), 4), ob.side((), number(2), 4)),
        Finding("exhaustion", Answer.FAILS, {}),
    ),
    "exhaustion, apart, the other begins first": (
        Exhaustion(),
        lambda: ob.apart((), ob.side((), number(2), 4), ob.side((), number(0), 4)),
        Finding("exhaustion", Answer.FAILS, {}),
    ),
    "exhaustion, apart, just apart": (
        Exhaustion(),
        lambda: ob.apart((), ob.side((), number(0), 4), ob.side((), number(4), 4)),
        Finding("exhaustion", Answer.HOLDS),
    ),
    "exhaustion, apart, just apart, turned": (
        Exhaustion(),
        lambda: ob.apart((), ob.side((), number(4), 4), ob.side((), number(0), 4)),
        Finding("exhaustion", Answer.HOLDS),
    ),
    "exhaustion, apart, with what is shared": (
        Exhaustion(),
        lambda: ob.apart((C,), ob.side((A,), times(leaf(A), 2), 1), ob.side((B,), plus(leaf(B), times(leaf(C), 6)), 1)),
        Finding("exhaustion", Answer.FAILS, {"c": 0, "a": 0, "b": 0}),
    ),
    "exhaustion, apart, with what is shared, later": (
        Exhaustion(),
        lambda: ob.apart(
            (C,),
            ob.side((A,), plus(number(6), times(leaf(A), 2)), 1),
            ob.side((B,), plus(leaf(B), times(leaf(C), 6)), 1),
        ),
        Finding("exhaustion", Answer.FAILS, {"c": 1, "a": 0, "b": 0}),
    ),
    "exhaustion, covers, too often": (
        Exhaustion(),
        lambda: ob.covers((), (A,), modulo(leaf(A), 2), None, 1, (C,), leaf(C), 1, 1),
        Finding("exhaustion", Answer.FAILS, {"c'": 0}, detail="2"),
    ),
    "exhaustion, covers, never": (
        Exhaustion(),
        lambda: ob.covers((), (C,), leaf(C), None, 1, (A,), leaf(A), 1, 1),
        Finding("exhaustion", Answer.FAILS, {"a'": 2}, detail="0"),
    ),
    "exhaustion, covers, nothing runs": (
        Exhaustion(),
        lambda: ob.covers((), (C,), leaf(C), never(C), 1, (A,), leaf(A), 1, 1),
        Finding("exhaustion", Answer.EMPTY, {"a'": 0}, detail="0"),
    ),
    "exhaustion, covers, holds": (
        Exhaustion(),
        lambda: ob.covers((), (A,), modulo(leaf(A), 2), None, 1, (C,), leaf(C), 1, 2),
        Finding("exhaustion", Answer.HOLDS),
    ),
    # gf2
    "gf2, always, holds": (
        GF2(),
        lambda: ob.always((A, C), less(modulo(leaf(A), 4), number(4))),
        Finding("gf2", Answer.HOLDS),
    ),
    "gf2, always, false": (
        GF2(),
        lambda: ob.always((A, C), is_value(C, 5)),
        Finding("gf2", Answer.FAILS, {"a": 0, "c": 0}),
    ),
    "gf2, always, fails at the second variable's bit": (
        GF2(),
        lambda: ob.always((A, C), is_value(C, 0)),
        Finding("gf2", Answer.FAILS, {"a": 0, "c": 1}),
    ),
    "gf2, always, fails at the origin": (
        GF2(),
        lambda: ob.always((A, C), is_value(C, 1)),
        Finding("gf2", Answer.FAILS, {"a": 0, "c": 0}),
    ),
    "gf2, always, fails at the second bit": (
        GF2(),
        lambda: ob.always((B,), ob.equal(ob.down(leaf(B), 1), number(0))),
        Finding("gf2", Answer.FAILS, {"b": 2}),
    ),
    "gf2, always, an assumption": (
        GF2(),
        lambda: ob.always((A, C), is_value(C, 0), is_value(C, 0)),
        Finding("gf2", NO),
    ),
    "gf2, injective, fails": (
        GF2(),
        lambda: ob.injective((A, C), (), xor(leaf(A), times(leaf(C), 2))),
        Finding("gf2", Answer.FAILS, {"a": 0, "c": 0, "a'": 2, "c'": 1}),
    ),
    "gf2, injective, holds": (
        GF2(),
        lambda: ob.injective((A, C), (), xor(leaf(A), times(leaf(C), 4))),
        Finding("gf2", Answer.HOLDS),
    ),
    "gf2, injective, outside the limit": (
        GF2(),
        lambda: ob.injective((B, C), (), xor(leaf(B), times(leaf(C), 3))),
        Finding("gf2", NO),
    ),
    "gf2, injective, an assumption": (
        GF2(),
        lambda: ob.injective((A, C), (), xor(leaf(A), leaf(C)), assumed=is_value(C, 0)),
        Finding("gf2", NO),
    ),
    "gf2, cost, odd lanes": (
        GF2(),
        lambda: cost("ld.shared.b32", COLUMN, A, active=modulo(leaf(LANE), 2)),
        Finding("gf2", Answer.FAILS, {"a": 0}, free_of_lane(16, 1, a=0)),
    ),
    "gf2, cost, all lanes": (
        GF2(),
        lambda: cost("ld.shared.b32", COLUMN, A),
        Finding("gf2", Answer.FAILS, {"a": 0}, free_of_lane(32, 1, a=0)),
    ),
    "gf2, cost, at the bound": (
        GF2(),
        lambda: cost("ld.shared.b32", COLUMN, A, at_most=32),
        Finding("gf2", Answer.HOLDS, {"a": 0}, free_of_lane(32, 1, a=0)),
    ),
    "gf2, apart": (
        GF2(),
        lambda: ob.apart((), ob.side((), number(0), 1), ob.side((), number(2), 1)),
        Finding("gf2", NO),
    ),
    # radix
    "radix, injective, holds": (
        Radix(),
        lambda: ob.injective((A, B), (), plus(leaf(A), times(leaf(B), 4))),
        Finding("radix", Answer.HOLDS),
    ),
    "radix, injective, one stride twice": (
        Radix(),
        lambda: ob.injective((A, B), (), plus(leaf(A), leaf(B))),
        Finding("radix", Answer.FAILS, {"a": 0, "b": 1, "a'": 1, "b'": 0}),
    ),
    "radix, injective, no digit past the limit": (
        Radix(),
        lambda: ob.injective((A, B, C), (), ob.total([leaf(A), times(leaf(B), 4), times(leaf(C), 4)])),
        Finding("radix", Answer.FAILS, {"a": 0, "b": 0, "c": 1, "a'": 0, "b'": 1, "c'": 0}),
    ),
    "radix, injective, shorter than its range": (
        Radix(),
        lambda: ob.injective((A, B), (), plus(times(leaf(A), 12), times(leaf(B), 3)), 4),
        Finding("radix", Answer.FAILS, {"a": 0, "b": 0, "a'": 0, "b'": 1}),
    ),
    "radix, injective, an assumption": (
        Radix(),
        lambda: ob.injective((A, B), (), plus(leaf(A), leaf(B)), assumed=is_value(B, 0)),
        Finding("radix", NO),
    ),
    "radix, injective, a swizzle": (
        Radix(),
        lambda: ob.injective((A, B), (), xor(leaf(A), leaf(B))),
        Finding("radix", NO),
    ),
    "radix, apart, with what is shared": (
        Radix(),
        lambda: ob.apart(
            (B,),
            ob.side((A,), plus(times(leaf(B), 100), leaf(A)), 1),
            ob.side((C,), ob.total([times(leaf(B), 100), number(4), leaf(C)]), 1),
        ),
        Finding("radix", Answer.HOLDS),
    ),
    "radix, apart, other order": (
        Radix(),
        lambda: ob.apart(
            (B,),
            ob.side((C,), ob.total([times(leaf(B), 100), number(4), leaf(C)]), 1),
            ob.side((A,), plus(times(leaf(B), 100), leaf(A)), 1),
        ),
        Finding("radix", Answer.HOLDS),
    ),
    "radix, apart, ranges meet": (
        Radix(),
        lambda: ob.apart((), ob.side((A,), leaf(A), 2), ob.side((), number(4), 1)),
        Finding("radix", NO),
    ),
    "radix, always": (Radix(), lambda: ob.always((A,), less(leaf(A), number(4))), Finding("radix", NO)),
    # residues
    "residues, always, holds": (
        Residues(),
        lambda: ob.always((A,), less(leaf(A), number(4))),
        Finding("residues", Answer.HOLDS),
    ),
    "residues, always, fails": (
        Residues(),
        lambda: ob.always((A, B), less(plus(leaf(A), leaf(B)), number(5))),
        Finding("residues", Answer.FAILS, {"a": 3, "b": 2}),
    ),
    "residues, always, empty": (
        Residues(),
        lambda: ob.always((A,), less(leaf(A), number(4)), never(A)),
        Finding("residues", Answer.EMPTY),
    ),
    "residues, injective, fails": (
        Residues(),
        lambda: ob.injective((B, A), (), plus(leaf(A), times(leaf(B), 3))),
        Finding("residues", Answer.FAILS, {"b": 0, "a": 3, "b'": 1, "a'": 0}),
    ),
    "residues, injective, empty": (
        Residues(),
        lambda: ob.injective((A,), (), leaf(A), assumed=never(A)),
        Finding("residues", Answer.EMPTY),
    ),
    "residues, cost, fails": (
        Residues(),
        lambda: cost("ld.shared.b32", plus(times(leaf(LANE), 8), times(leaf(A), 4)), A),
        Finding("residues", Answer.FAILS, {"a": 0}, free_of_lane(2, 1, a=0)),
    ),
    "residues, covers": (
        Residues(),
        lambda: ob.covers((), (C,), leaf(C), None, 1, (C,), leaf(C), 1, 1),
        Finding("residues", NO),
    ),
    # z3
    "z3, always, fails": (
        SMT(),
        lambda: ob.always((A, B), less(plus(leaf(A), leaf(B)), number(5))),
        Finding("z3", Answer.FAILS, {"a": 3, "b": 2}),
    ),
    "z3, always, holds": (SMT(), lambda: ob.always((A,), less(leaf(A), number(4))), Finding("z3", Answer.HOLDS)),
    "z3, apart, holds": (
        SMT(),
        lambda: ob.apart((), ob.side((A,), leaf(A), 1), ob.side((), number(4), 1)),
        Finding("z3", Answer.HOLDS),
    ),
    "z3, apart, fails": (
        SMT(),
        lambda: ob.apart((), ob.side((A,), leaf(A), 1), ob.side((), number(3), 1)),
        Finding("z3", Answer.FAILS, {"a": 3}),
    ),
    "z3, apart, a swizzle": (
        SMT(),
        lambda: ob.apart((), ob.side((A,), xor(leaf(A), number(1)), 1), ob.side((), number(3), 1)),
        Finding("z3", Answer.FAILS, {"a": 2}),
    ),
    "z3, cost, no conflict": (SMT(), lambda: cost("ld.shared.b32", ROW), Finding("z3", Answer.HOLDS)),
    "z3, cost, by rows": (
        SMT(),
        lambda: cost("ld.shared.b32", plus(times(leaf(LANE), 8), times(leaf(A), 4)), A, at_most=2),
        Finding("z3", Answer.HOLDS, {"a": 0}, free_of_lane(2, 1, a=0)),
    ),
    "z3, cost, one too many": (
        SMT(),
        lambda: cost("ld.shared.b32", plus(times(leaf(LANE), 8), times(leaf(A), 4)), A, at_most=1),
        Finding("z3", Answer.FAILS, {"a": 0}, free_of_lane(2, 1, a=0)),
    ),
    "z3, cost, the dearest row": (
        SMT(),
        lambda: cost("ld.shared.b32", chosen(is_value(A, 2), COLUMN, ROW), A, at_most=31),
        Finding("z3", Answer.FAILS, {"a": 2}, free_of_lane(32, 1, a=2)),
    ),
    "z3, cost, empty": (
        SMT(),
        lambda: cost("ld.shared.b32", ROW, A, active=never(LANE), at_most=1),
        Finding("z3", Answer.EMPTY),
    ),
    "z3, covers, too seldom": (
        SMT(),
        lambda: ob.covers((), (C,), leaf(C), None, 1, (A,), leaf(A), 1, 1),
        Finding("z3", Answer.FAILS, {"a'": 2}),
    ),
    "z3, covers, holds": (
        SMT(),
        lambda: ob.covers((), (A,), modulo(leaf(A), 2), None, 1, (C,), leaf(C), 1, 2),
        Finding("z3", Answer.HOLDS),
    ),
    "z3, covers, empty": (
        SMT(),
        lambda: ob.covers((), (C,), leaf(C), never(C), 1, (A,), leaf(A), 1, 1),
        Finding("z3", Answer.EMPTY),
    ),
    "z3, covers, too often": (
        SMT(),
        lambda: ob.covers(
            (),
            (A,),
            chosen(is_value(A, 3), number(1), leaf(A)),
            None,
            1,
            (B,),
            chosen(is_value(B, 2), number(5), leaf(B)),
            1,
            1,
        ),
        Finding("z3", Answer.FAILS, {"b'": 1}),
    ),
    "z3, covers, four different touches": (
        SMT(),
        lambda: ob.covers(
            (),
            (LANE,),
            modulo(plus(leaf(LANE), ob.over(leaf(LANE), 8)), 8),
            None,
            1,
            (var("e", 8),),
            leaf(var("e", 8)),
            1,
            4,
        ),
        Finding("z3", NO, detail="more than 3 different touches per element"),
    ),
    "z3, injective, no variable": (
        SMT(),
        lambda: ob.injective((A,), (A,), xor(leaf(A), number(1))),
        Finding("z3", Answer.HOLDS),
    ),
    "z3, injective, linear": (
        SMT(),
        lambda: ob.injective((A,), (), times(leaf(A), 0)),
        Finding("z3", Answer.FAILS, {"a": 0, "a'": 1}),
    ),
}


@pytest.mark.parametrize(("engine", "make", "found"), WHOLE.values(), ids=WHOLE)
def test_whole_finding(engine: Engine, make: Make, found: Finding) -> None:
    assert engine.decide(make()) == found


def test_the_worst_case_is_that_of_the_rows_that_copy_most() -> None:
    """A row of copies in place, and one where all octets write the same eight lines: only the first
    of them copies.
    """
    lane, v = var("lane", 32), var("v", 2)
    in_a_row, in_eight_lines = (lambda p: 16 * p["lane"]), (lambda p: 128 * (p["lane"] % 8))
    here = ints.variable(lane)
    value = ints.choose(
        ints.truth(ints.equal(ints.variable(v), ints.integer(0))),
        ints.multiply(here, ints.integer(16)),
        ints.multiply(ints.remainder(here, ints.integer(8)), ints.integer(128)),
    )
    address = Map(value, lambda p: in_eight_lines(p) if p["v"] else in_a_row(p))
    found = SMT().decide(ob.cost(lane, (v,), "cp.async.16", address, at_most=4))
    assert found == Finding("z3", Answer.FAILS, {"v": 1}, WorstCost.of_one(WarpCost(8, 1, {"v": 1})))

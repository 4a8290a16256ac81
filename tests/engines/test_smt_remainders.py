"""Remainders by constants and positions with common addends, as Z3 is asked of them: against plain numbers."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
import z3

from swzverify.engines.obligations import Answer, Obligation
from swzverify.engines.smt import SMT, linear
from swzverify.engines.smt.terms import Translated, Translator
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import BinaryOperator, Expr, binary, const, extend, var, variables
from tests.engines import obligations as ob
from tests.engines.obligations import Map, leaf, number, plus, times, xor

V = var("v", 50)
WIDE = extend(V, 8, signed=False)


def added(left: Expr, right: Expr | int) -> Expr:
    return binary(BinaryOperator.ADD, left, right if not isinstance(right, int) else const(right, left.width))


def rest(left: Expr, divisor: int) -> Expr:
    return binary(BinaryOperator.UREM, left, const(divisor, left.width))


REMAINDERS: dict[str, Expr] = {
    "plain": rest(V, 3),
    "by 0": rest(V, 0),
    "by 1": rest(V, 1),
    "by 4": rest(V, 4),
    "by most": rest(V, 63),
    "of a sum": rest(added(V, 2), 3),
    "of a sum of two constants": rest(added(added(V, 2), 5), 7),
    "of a constant first": rest(added(const(2, 6), V), 3),
    "of a sum that just fits": rest(added(V, 14), 5),
    "of a sum that wraps": rest(added(V, 15), 5),
    "of an inner sum that wraps": rest(added(extend(added(V, 15), 8, signed=False), 1), 5),
    "of a sum that gives a multiple of the divisor": rest(added(WIDE, 30), 3),
    "by more than half of the values": rest(added(WIDE, 200), 129),
    "of a remainder": rest(rest(V, 14), 3),
    "two of one value": added(rest(WIDE, 3), rest(added(WIDE, 1), 3)),
    "of two variables": rest(added(added(WIDE, extend(var("u", 3), 8, signed=False)), 1), 3),
}


def agrees(root: Expr) -> bool:
    """Whether the term has the plain value at every point, and no other one."""
    nodes = variables(root)
    points = list(product(*(range(node.limit) for node in nodes)))
    arrays = {node.name: np.array(column) for node, column in zip(nodes, zip(*points, strict=True), strict=True)}
    context = z3.Context()
    terms = Translator(Translated(context))
    term, held = terms.term(root), [terms.variable(node) for node in nodes]
    solver = z3.SimpleSolver(ctx=context)
    solver.add(*terms.bounds.values())
    for point, value in zip(points, evaluate_many((root,), arrays)[0], strict=True):
        here = z3.And(*(each == place for each, place in zip(held, point, strict=True)))
        is_it = term == terms.fixed(int(value), root.width)
        if [solver.check(here, is_it), solver.check(here, z3.Not(is_it))] != [z3.sat, z3.unsat]:
            return False
    return True


@pytest.mark.parametrize("root", REMAINDERS.values(), ids=REMAINDERS)
def test_a_remainder_is_that_of_plain_numbers(root: Expr) -> None:
    assert agrees(root)


def test_a_sum_that_wraps_taken_for_one_of_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "_highest", lambda _: 0)
    assert not agrees(REMAINDERS["of a sum that wraps"])


P, Q, S = var("p", 6), var("q", 5), var("s", 3)


def _apart_goal(first: Map, second: Map, extent: int) -> tuple[Obligation, bool]:
    goal = ob.apart((S,), ob.side((P,), first, extent), ob.side((Q,), second, extent))
    meet = any(
        abs(first.plain({"p": p, "s": s}) - second.plain({"q": q, "s": s})) < extent
        for p in range(6)
        for q in range(5)
        for s in range(3)
    )
    return goal, meet


def test_positions_with_common_addends() -> None:
    """Sums of common addends, some of them twice on one side, and of what each side has alone."""
    rng, seen = random.Random(0), set[bool]()
    base = [times(leaf(S), 5), times(xor(leaf(S), number(1)), 3), number(2)]
    for _ in range(60):
        sides: list[Map] = []
        for node in (P, Q):
            parts = rng.choices(base, k=rng.randrange(1, 4))
            own = xor(times(leaf(node), rng.choice((4, 8, 16))), number(rng.randrange(4)))
            rng.shuffle(parts)
            total = own
            for part in parts:
                total = plus(total, part) if rng.random() < 0.5 else plus(part, total)
            sides.append(total)
        extent = rng.choice((1, 2, 4))
        goal, meet = _apart_goal(sides[0], sides[1], extent)
        assert SMT().decide(goal).answer is (Answer.FAILS if meet else Answer.HOLDS)
        seen.add(meet)
    assert seen == {True, False}

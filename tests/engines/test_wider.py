"""The same obligations with every variable in more bits than it needs: no verdict may change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Always, Answer, Cost, Engine, Injective, Obligation
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.engines.smt import SMT
from swzverify.ir.expr import Var, extend
from swzverify.ir.integers import Integer
from tests.engines import obligations as ob
from tests.engines.obligations import Map
from tests.nightly import counts

ENGINES: tuple[Engine, ...] = (SMT(), GF2(), Radix(), Residues())
NO_ANSWER = {Answer.NOT_APPLICABLE, Answer.UNDECIDED}


def wide_leaf(more_bits: int) -> Callable[[Var], Map]:
    """A variable zero-extended, with an interval as large as its bits: everything above it grows
    alike.
    """

    def leaf(node: Var) -> Map:
        width = node.width + more_bits
        return Map(Integer(extend(node, width, signed=False), 0, (1 << width) - 1), lambda p: p[node.name])

    return leaf


def always_case(seed: int) -> Always:
    rng = random.Random(seed)
    nodes = ob.random_box(rng, 3, 9)
    return ob.always(nodes, ob.random_condition(rng, nodes), ob.random_condition(rng, nodes) if seed % 3 == 0 else None)


def injective_case(seed: int) -> Injective:
    rng = random.Random(seed)
    nodes = ob.random_box(rng, 3, 8)
    position = ob.random_strides(rng, nodes) if rng.random() < 0.6 else ob.random_map(rng, nodes, 2)
    return ob.injective(nodes, (), position, rng.choice([1, 1, 2, 3]))


def cost_case(seed: int) -> Cost:
    rng = random.Random(seed)
    lane, free = ob.var("lane", 32), ob.var("v", rng.choice([2, 3, 6]))
    units = ob.times(ob.leaf(lane), rng.choice([1, 2, 3, 8, 33]))
    if rng.random() < 0.5:
        units = ob.xor(units, ob.masked(ob.down(ob.leaf(lane), 3), 3))
    units = ob.plus(units, ob.times(ob.leaf(free), rng.choice([1, 8, 32])))
    active = ob.less(ob.leaf(lane), ob.number(rng.choice([5, 16, 30]))) if rng.random() < 0.4 else None
    instruction = rng.choice(["ld.shared.b32", "st.shared.v4.b32", "ld.shared.v2.b32", "cp.async.4"])
    width = {"ld.shared.b32": 4, "st.shared.v4.b32": 16, "ld.shared.v2.b32": 8, "cp.async.4": 4}[instruction]
    return ob.cost(lane, (free,), instruction, ob.times(units, width), active)


CASES: dict[str, Callable[[int], Obligation]] = {
    "always": always_case,
    "injective": injective_case,
    "cost": cost_case,
}


def widest(goal: Obligation) -> int:
    match goal:
        case Always():
            return goal.holds.width
        case Injective():
            return goal.inner.width
        case Cost():
            return goal.address.width
        case _:
            raise TypeError(type(goal).__name__)


@pytest.mark.parametrize("count", counts(30, 200))
@pytest.mark.parametrize("more_bits", [1, 7, 24])
@pytest.mark.parametrize("kind", CASES)
def test_no_verdict_changes(monkeypatch: pytest.MonkeyPatch, kind: str, more_bits: int, count: int) -> None:
    said: Counter[tuple[str, Answer]] = Counter()
    grown = 0
    for seed in range(count):
        narrow = CASES[kind](seed)
        with monkeypatch.context() as patch:
            patch.setattr(ob, "leaf", wide_leaf(more_bits))
            wide = CASES[kind](seed)
        grown += widest(wide) > widest(narrow)
        answers = {engine.name: [engine.decide(goal).answer for goal in (narrow, wide)] for engine in ENGINES}
        assert answers["z3"][0] == answers["z3"][1], (seed, answers)
        for engine, (before, after) in answers.items():
            said[engine, after] += 1
            assert NO_ANSWER & {before, after} or before == after, (seed, engine, answers)
            # Wider intervals may cost an engine its answer, never give it another one than Z3's.
            assert after in NO_ANSWER or after == answers["z3"][0] or after is Answer.EMPTY, (seed, engine, answers)
    assert kind == "always" or 3 * grown > 2 * count
    assert min(said["z3", Answer.HOLDS], said["z3", Answer.FAILS]) >= 5

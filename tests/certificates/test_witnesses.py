"""Witnesses: found only for what is true, verified against the expression, refused when they are of
something else.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from swzrecheck.bounds import bounds
from swzrecheck.linear import sums
from swzrecheck.program import evaluate
from swzrecheck.propose import periods
from swzrecheck.repetition import may_drop
from swzrecheck.statement import Always, Statement
from swzrecheck.steps import steps
from swzrecheck.vacuity import check_possible
from swzrecheck.witness import WitnessError
from swzrecheck.witness_bounds import find_bounds
from swzrecheck.witness_gf2 import find_gf2
from swzrecheck.witness_radix import find_radix
from swzrecheck.witness_residues import find_residues
from swzrecheck.witnesses import CHECKERS
from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Answer, Obligation
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.ir.expr import var
from tests.certificates.export import state
from tests.certificates.judge import all_points, random_program
from tests.engines import obligations as ob
from tests.engines.obligations import leaf, number
from tests.engines.test_random_obligations import apart_case, cost_case, injective_case, linear_form, powers

LANE = var("lane", 32)
X, Y = var("x", 8), var("y", 4)


def witnesses(goal: Obligation) -> dict[str, Mapping[str, object]]:
    """All that are found, as a file would hold them."""
    statement = state(goal)
    residues = (find_residues(statement, proposed) for proposed in periods(statement))
    found = {
        "bounds": find_bounds(statement),
        "gf2": find_gf2(statement),
        "radix": find_radix(statement),
        "residues": next((one for one in residues if one is not None), None),
    }
    return {name: json.loads(json.dumps(data)) for name, data in found.items() if data is not None}


def verified(goal: Obligation) -> set[str]:
    """The engines whose witness is found, each checked."""
    found = witnesses(goal)
    for name, data in found.items():
        CHECKERS[name](state(goal), data)
    return set(found)


# --- what the checkers reason with ---------------------------------------------------------------------------------


def test_bounds_hold_at_every_point() -> None:
    for seed in range(300):
        program = random_program(random.Random(seed))
        ranges = bounds(program)
        for point in all_points(program):
            for value, (low, high) in zip(evaluate(program, point), ranges, strict=True):
                assert low <= value <= high, seed


def test_steps_hold_wherever_both_values_are() -> None:
    """f(v + step) = f(v) + increase, as integers where it is exact, else modulo 2^width; for every
    other value.
    """
    seen: Counter[str] = Counter()
    for seed in range(400):
        rng = random.Random(seed)
        program = random_program(rng)
        place, line = rng.choice([(p, one) for p, one in enumerate(program) if one.operator == "var"])
        if line.number == 1:
            continue
        step = rng.randrange(1, line.number)
        found = steps(program, place, step)
        values = {tuple(sorted(point.items())): evaluate(program, point) for point in all_points(program)}
        for point in all_points(program):
            if point[line.name] + step >= line.number:
                continue
            here = values[tuple(sorted(point.items()))]
            there = values[tuple(sorted({**point, line.name: point[line.name] + step}.items()))]
            for index, one in enumerate(found):
                if one is None:
                    continue
                grown = there[index] - here[index]
                if one.exact:
                    assert grown == one.increase, (seed, index)
                else:
                    assert (grown - one.increase) % (1 << program[index].width) == 0, (seed, index)
                if one.increase and index != place:
                    seen["exact" if one.exact else "modulo", program[index].operator] += 1  # type: ignore[index]
    assert sum(seen.values()) > 500


def test_sums_hold_at_every_point() -> None:
    seen = 0
    for seed in range(400):
        rng = random.Random(seed)
        program = random_program(rng)
        variables = [p for p, one in enumerate(program) if one.operator == "var" and rng.random() < 0.7]
        found = sums(program, variables)
        rests: dict[tuple[int, tuple[int, ...]], int] = {}
        for point in all_points(program):
            values = evaluate(program, point)
            others = tuple(v for name, v in point.items() if name not in {program[p].name for p in variables})
            for index, one in enumerate(found):
                if one is None:
                    continue
                rest = values[index] - sum(f * values[p] for f, p in zip(one.factors, variables, strict=True))
                assert one.low <= rest <= one.high, (seed, index)
                # The rest does not move with the variables: the others alone decide it.
                assert rests.setdefault((index, others), rest) == rest, (seed, index)
                seen += any(one.factors) and index not in variables
    assert seen > 1000


# --- found for what is true only -----------------------------------------------------------------------------------


def test_random_conditions() -> None:
    tally: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(seed)
        nodes = ob.random_box(rng)
        condition = ob.random_condition(rng, nodes)
        assumed = ob.random_condition(rng, nodes) if rng.random() < 0.3 else None
        names = verified(ob.always(nodes, condition, assumed))
        tally.update(names)
        if names:
            assert ob.always_holds(nodes, condition.plain, ob.truth_of(assumed)[1]) is not False
    assert tally["residues"] >= 40


def test_random_linear_conditions() -> None:
    tally: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(seed)
        nodes = powers(rng, rng.randint(1, 3))
        bit = ob.masked(ob.down(linear_form(rng, nodes), rng.randrange(7)), 1)
        condition = ob.equal(bit, number(rng.randrange(2)))
        names = verified(ob.always(nodes, condition))
        tally.update(names)
        if names:
            assert ob.always_holds(nodes, condition.plain)
    assert tally["gf2"] >= 5


def test_random_injectivity() -> None:
    tally: Counter[str] = Counter()
    for seed in range(250):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        goal = ob.injective(nodes, shared, inner, extent, assumed=assumed)
        names = verified(goal)
        tally.update(names)
        if names:
            assert ob.is_injective(nodes, shared, inner.plain, extent, ob.truth_of(assumed)[1]), (seed, names)
    assert min(tally["gf2"], tally["radix"], tally["residues"]) >= 8, tally


def test_random_outer_maps() -> None:
    tally: Counter[str] = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        nodes = powers(rng, 3) if rng.random() < 0.5 else ob.random_box(rng, 3, 6)
        inner = ob.random_strides(rng, nodes) if rng.random() < 0.7 else linear_form(rng, nodes)
        width = inner.value.bits.width
        mask = ((1 << width) - 1) & ~(1 << rng.randrange(width))
        good = rng.random() < 0.6

        def image(x: ob.Map, good: bool = good, mask: int = mask) -> ob.Map:
            return ob.swizzled(x, 1, 0, 2) if good else ob.masked(x, mask)

        outer = ob.bijection(width, image)
        if outer.image.width != width and good:
            continue
        names = verified(ob.injective(nodes, (), inner, 1, outer))
        tally.update(names)
        if names:
            assert ob.is_injective(nodes, (), image(inner).plain, 1), seed
            assert good, "a map that is not one to one was passed"
    assert tally["radix"] >= 8


def test_random_families() -> None:
    tally: Counter[str] = Counter()
    for seed in range(150):
        case = apart_case(seed)
        names = verified(case.goal)
        tally.update(names)
        if names:
            assert not any(case.meets(p) for p in ob.points(case.nodes)), (seed, names)
    assert tally["radix"] >= 5
    assert tally["residues"] >= 20


def test_random_costs() -> None:
    tally: Counter[str] = Counter()
    for seed in range(200):
        goal, address, active, assumed = cost_case(seed, [1, 2, 3, 4, 8])
        names = verified(goal)
        tally.update(names)
        if names:
            wanted = ob.cost_holds(goal, address.plain, active, assumed, ob.points(goal.free))
            assert wanted is not False, (seed, names)
    assert tally["gf2"] >= 10
    assert tally["residues"] >= 40


def test_costs_of_long_loops() -> None:
    """One period stands for all: where a sample of the rest breaks the claim, no witness is found."""
    tally: Counter[str] = Counter()
    for seed in range(2000, 2060):
        goal, address, active, assumed = cost_case(seed, [300, 1000, 1 << 12])
        rng = random.Random(seed)
        free = [{node.name: rng.randrange(node.limit) for node in goal.free} for _ in range(120)]
        names = verified(goal)
        tally.update(names)
        if names:
            assert ob.cost_holds(goal, address.plain, active, assumed, free) is not False, (seed, names)
    assert tally["residues"] >= 10


def test_random_covers() -> None:
    tally: Counter[bool] = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        base = var("base", 7)
        own = tuple(var(f"t{i}", rng.choice([1, 2, 3, 4])) for i in range(2))
        elements = tuple(var(f"e{i}", rng.choice([1, 2, 4])) for i in range(2))
        extent, reach = rng.choice([(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)])
        count = elements[0].limit * elements[1].limit
        position = ob.times(ob.plus(leaf(elements[0]), ob.times(leaf(elements[1]), elements[0].limit)), extent)
        linear = ob.plus(leaf(own[0]), ob.times(leaf(own[1]), own[0].limit))
        address = ob.times(ob.modulo(linear, max(2, count)) if rng.random() < 0.3 else linear, reach)
        if rng.random() < 0.5:
            own, extent, reach = elements, 2, 2
            address = ob.xor(position, number(2)) if rng.random() < 0.5 else position
        drift = rng.choice([32, 32, 33])
        position, address = ob.plus(position, ob.times(leaf(base), 32)), ob.plus(address, ob.times(leaf(base), drift))
        times = rng.choice([1, 1, 2])
        goal = ob.covers((base,), own, address, None, reach, elements, position, extent, times)
        wanted = all(
            sum(ob.ranges_meet(address.plain({**p, **q}), reach, position.plain(p), extent) for q in ob.points(own))
            == times
            for p in ob.points((base, *elements))
        )
        found = "residues" in verified(goal)
        tally[found] += 1
        assert found is wanted, seed
    assert min(tally.values()) >= 15


def test_every_engine_that_decides_has_a_witness() -> None:
    """What a native engine proves its checker verifies: none is left without."""
    found = lost = 0
    for seed in range(200):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        cost, *_ = cost_case(seed, [1, 2, 3, 4, 8, 300])
        for goal in (ob.injective(nodes, shared, inner, extent, assumed=assumed), cost):
            decided = {e.name for e in (GF2(), Radix(), Residues()) if e.decide(goal).answer is Answer.HOLDS}
            names = verified(goal) if decided else set()
            found += bool(decided & names)
            lost += bool(decided) and not decided & names
    assert found > 150
    assert lost <= found // 50


# --- forged --------------------------------------------------------------------------------------------------------


def never_4(x: ob.Map) -> ob.Map:
    """x % 3 + 5 has bit 2 set: of period 3, and not seen by intervals."""
    return ob.equal(ob.masked(ob.plus(ob.modulo(x, 3), number(5)), 4), number(4))


def swizzled_tile(shift: int = 3) -> ob.Map:
    return ob.swizzled(ob.plus(leaf(X), ob.times(leaf(Y), 8)), 2, 0, shift)


GOALS: dict[str, Callable[[], Obligation]] = {
    "gf2 always": lambda: ob.always((X,), ob.equal(ob.masked(ob.times(leaf(X), 4), 3), number(0))),
    "gf2 injective": lambda: ob.injective((X, Y), (), swizzled_tile()),
    "gf2 cost": lambda: ob.cost(LANE, (X,), "st.shared.b32", ob.xor(ob.times(leaf(LANE), 4), ob.times(leaf(X), 128))),
    "radix injective": lambda: ob.injective((X, Y), (), ob.plus(leaf(X), ob.times(leaf(Y), 9))),
    "radix apart": lambda: ob.apart((), ob.side((X,), leaf(X), 2), ob.side((Y,), ob.plus(leaf(Y), number(9)), 1)),
    "residues always": lambda: ob.always((X,), never_4(leaf(X))),
    "residues cost": lambda: ob.cost(
        LANE, (X,), "ld.shared.b32", ob.plus(ob.times(leaf(LANE), 4), ob.times(leaf(X), 12))
    ),
    "residues injective": lambda: ob.injective((X, Y), (Y,), ob.plus(ob.times(leaf(X), 3), leaf(Y)), 2),
    "residues apart": lambda: ob.apart((Y,), ob.side((X,), ob.times(leaf(X), 2), 1), ob.side((), number(3), 1)),
    "residues covers": lambda: ob.covers((), (X,), leaf(X), None, 1, (var("e", 8),), leaf(var("e", 8)), 1, 1),
}


def other(value: object) -> object:
    """The value with its last part changed."""
    if isinstance(value, dict):
        return {name: other(item) for name, item in value.items()} or {"x": 1}
    if isinstance(value, list):
        return [*value[:-1], other(value[-1])] if value else [1]
    if isinstance(value, int):
        return value + 1
    if value is None:
        return 1
    text = str(value)
    return text[:-1] + ("0" if text[-1] != "0" else "1")


@pytest.mark.parametrize("name", list(GOALS))
def test_every_field_of_a_witness_counts(name: str) -> None:
    goal = GOALS[name]()
    engine = name.split(maxsplit=1)[0]
    statement = state(goal)
    data = witnesses(goal)[engine]
    CHECKERS[engine](statement, data)
    for field in data:
        if field == "holds":
            continue  # the only thing that it can say
        with pytest.raises(WitnessError):
            CHECKERS[engine](statement, {**data, field: other(data[field])})
        if field != "periods":
            with pytest.raises(WitnessError):
                CHECKERS[engine](statement, {key: value for key, value in data.items() if key != field})


def test_a_witness_of_another_map_is_refused() -> None:
    data = witnesses(ob.injective((X, Y), (), swizzled_tile()))["gf2"]
    with pytest.raises(WitnessError, match="not that of the expression"):
        CHECKERS["gf2"](state(ob.injective((X, Y), (), swizzled_tile(2))), data)


def test_an_inverse_of_dependent_columns_does_not_exist() -> None:
    """Columns that depend on each other are refused whatever is said to undo them."""
    goal = ob.injective((X, Y), (), ob.xor(leaf(X), ob.times(leaf(Y), 4)))
    statement = state(goal)
    rows = [format(row, "x") for row in (2, 4, 8 ^ 16, 32)]
    assert find_gf2(statement) is None
    for inverse in (["1", "2", "4", "8"], ["1", "2", "c", "10"], []):
        with pytest.raises(WitnessError):
            CHECKERS["gf2"](statement, {"rows": rows, "left_inverse": inverse})


def test_a_period_that_is_none_is_refused() -> None:
    goal = ob.always((X,), never_4(leaf(X)))
    for period in (1, 2, 4, 5, 0):
        with pytest.raises(WitnessError, match="period"):
            CHECKERS["residues"](state(goal), {"periods": {"x": period}})


def test_a_failing_condition_has_no_witness() -> None:
    goal = ob.always((X,), ob.less(leaf(X), number(7)))
    assert witnesses(goal) == {}
    with pytest.raises(WitnessError, match="fails at a point"):
        CHECKERS["residues"](state(goal), {"periods": {}})


@pytest.mark.parametrize("engine", ["gf2", "radix", "residues"])
def test_nonsense_is_refused_in_words(engine: str) -> None:
    statement: Statement = state(GOALS["radix injective"]())
    for data in ({}, {"rows": "7"}, {"rows": [None]}, {"periods": []}, {"periods": {"x": "z"}}, {"digits": {}}):
        with pytest.raises(WitnessError):
            CHECKERS[engine](statement, data)


# --- assumptions that do not repeat -----------------------------------------------------------------------------------


def test_an_assumption_that_does_not_repeat_is_left_out_where_more_is_shown_then() -> None:
    wide = var("k", 1 << 30)
    below = ob.less(ob.times(leaf(wide), 3), number(1 << 30))
    goal = ob.always((wide,), never_4(leaf(wide)), below)
    assert witnesses(goal)["residues"]["periods"] == {"k": 3}
    # It fails at points that the assumption leaves out: then nothing is shown.
    small = ob.less(leaf(X), number(5))
    assert verified(ob.always((X,), small, small)) == {"residues"}
    long = ob.less(ob.modulo(leaf(wide), 3), number(2))
    assert witnesses(ob.always((wide,), long, below)) == {}


def test_an_assumption_on_lanes_is_not_left_out() -> None:
    """Fewer lanes may join where more do not: what holds of more lanes need not hold of fewer."""
    k = var("k", 1 << 20)
    even = ob.less(ob.modulo(ob.plus(leaf(LANE), leaf(k)), 7), number(3))
    goal = ob.cost(LANE, (k,), "ld.shared.v2.b32", ob.times(leaf(LANE), 8), None, None, even)
    statement = state(goal)
    assert may_drop(statement) is False
    with pytest.raises(WitnessError, match="the assumption does not repeat"):
        CHECKERS["residues"](statement, {"periods": {"k": 1}})


def test_a_covering_counts_with_its_assumption() -> None:
    """Points that an assumption takes away may be the ones that met an element twice."""
    t, e = var("t", 16), var("e", 8)
    goal = state(ob.covers((var("base", 4),), (t,), ob.modulo(leaf(t), 8), None, 1, (e,), leaf(e), 1, 1))
    assert may_drop(goal) is False
    assert witnesses(ob.covers((), (t,), ob.modulo(leaf(t), 8), None, 1, (e,), leaf(e), 1, 1)) == {}
    few = ob.less(leaf(t), number(8))
    assert verified(ob.covers((), (t,), ob.modulo(leaf(t), 8), few, 1, (e,), leaf(e), 1, 1)) == {"residues"}


def test_bounds_decide_only_what_they_hold_at_every_point() -> None:
    decided = 0
    for seed in range(400):
        program = random_program(random.Random(seed))
        lines = [place for place, line in enumerate(program) if line.width == 1]
        variables = tuple(place for place, line in enumerate(program) if line.operator == "var")
        for place in lines:
            statement = Always(program, variables, place, place)
            if find_bounds(statement) is not None:
                decided += program[place].operator != "const"
                assert all(evaluate(program, point)[place] == 1 for point in all_points(program)), seed
    assert decided > 20


# --- that a statement is about something ---------------------------------------------------------------------------


def test_points_that_keep_a_statement_from_being_empty() -> None:
    goal = ob.always((X,), ob.less(leaf(X), number(8)), ob.less(leaf(X), number(2)))
    statement = state(goal)
    check_possible(statement, {"x": 1})
    for point in ({"x": 2}, {"x": 8}, {}, {"x": 1, "y": 0}, {"z": 1}):
        with pytest.raises(WitnessError):
            check_possible(statement, point)


def test_no_point_helps_an_empty_cost() -> None:
    nobody = ob.cost(LANE, (), "ld.shared.b32", ob.times(leaf(LANE), 4), ob.less(leaf(LANE), number(0)))
    for lane in range(32):
        with pytest.raises(WitnessError, match="assumption is false"):
            check_possible(state(nobody), {"lane": lane})

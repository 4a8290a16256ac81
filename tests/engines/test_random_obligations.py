"""Every engine against loops in plain Python, on random obligations: it may have no answer, never a
wrong one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from swzverify.engines.exhaust import Exhaustion
from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Answer, Apart, Arrays, Cost, Engine, Finding, Numbers, Point, Truths
from swzverify.engines.radix import Radix
from swzverify.engines.residue import Residues
from swzverify.engines.smt import DEFAULT_RLIMIT, SMT
from swzverify.engines.smt import cost as smt_cost
from swzverify.ir.expr import TRUE, Comparison, Var, compare, conjunction, negation, var
from tests.engines import obligations as ob
from tests.engines.obligations import Map, leaf, number
from tests.nightly import counts

ENGINES: tuple[Engine, ...] = (GF2(), Radix(), Residues(), Exhaustion(), SMT())
NO_ANSWER = {Answer.NOT_APPLICABLE, Answer.UNDECIDED}

Tally = Counter[tuple[str, Answer]]


def check(
    finding: Finding,
    wanted: bool | None,
    replays: Callable[[Point], bool],
    tally: Tally,
    *,
    empty_may_hold: bool = False,
) -> None:
    """`wanted` is None where no point counts; engines that do not look for such cases may say that
    it holds.
    """
    tally[finding.engine, finding.answer] += 1
    if finding.answer in NO_ANSWER:
        return
    if wanted is None:
        assert finding.answer is Answer.EMPTY or (empty_may_hold and finding.answer is Answer.HOLDS), finding
        return
    assert finding.answer is (Answer.HOLDS if wanted else Answer.FAILS), finding
    if finding.answer is Answer.FAILS:
        assert finding.point is not None
        assert replays(dict(finding.point)), finding


def spoken(tally: Tally, names: Iterable[str], least: int) -> None:
    """The engines that should apply did so, both ways."""
    for name in names:
        for answer in (Answer.HOLDS, Answer.FAILS):
            assert tally[name, answer] >= least, f"{name} said {answer} {tally[name, answer]} times only"


def test_random_conditions() -> None:
    tally: Tally = Counter()
    for seed in range(150):
        rng = random.Random(seed)
        nodes = ob.random_box(rng)
        holds = ob.random_condition(rng, nodes)
        assumed = ob.random_condition(rng, nodes) if rng.random() < 0.3 else None
        if assumed is not None and rng.random() < 0.3:
            assumed = ob.negated(assumed)
        keeps = ob.truth_of(assumed)[1]
        wanted = ob.always_holds(nodes, holds.plain, keeps)
        goal = ob.always(nodes, holds, assumed)
        for engine in ENGINES:
            check(
                engine.decide(goal),
                wanted,
                lambda p, keeps=keeps, holds=holds: bool(keeps(p)) and not holds.plain(p),
                tally,
                empty_may_hold=True,
            )
    spoken(tally, ["exhaustion", "residues", "z3"], 20)


def linear_form(rng: random.Random, nodes: tuple[Var, ...]) -> Map:
    """Variables' bits moved and XORed: what GF(2) speaks about."""
    result = number(rng.randrange(8))
    for node in nodes:
        if rng.random() < 0.85:
            result = ob.xor(result, ob.up(leaf(node), rng.randrange(5)))
    return ob.swizzled(result, rng.randint(1, 2), rng.randrange(2), 2) if rng.random() < 0.4 else result


def powers(rng: random.Random, count: int) -> tuple[Var, ...]:
    return tuple(var(f"v{i}", rng.choice([1, 2, 4, 4, 8, 3, 6])) for i in range(count))


def test_random_linear_conditions() -> None:
    """One bit of an XOR form is 0: true on all, on some, or at limits that are no powers of two."""
    tally: Tally = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        nodes = powers(rng, rng.randint(1, 3))
        form = linear_form(rng, nodes)
        bit = ob.masked(ob.down(form, rng.randrange(7)), 1)
        holds = ob.equal(bit, number(rng.randrange(2))) if rng.random() < 0.5 else ob.xor(bit, number(rng.randrange(2)))
        if holds.value.low == holds.value.high:
            continue
        wanted = ob.always_holds(nodes, holds.plain)
        for engine in ENGINES:
            check(engine.decide(ob.always(nodes, holds)), wanted, lambda p, holds=holds: not holds.plain(p), tally)
    spoken(tally, ["gf2", "exhaustion", "z3"], 5)


def injective_case(seed: int) -> tuple[tuple[Var, ...], tuple[Var, ...], Map, int, Map | None]:
    rng = random.Random(seed)
    kind = rng.randrange(4)
    nodes = powers(rng, rng.randint(1, 4)) if kind == 1 else ob.random_box(rng, 4, 7)
    shared = tuple(node for node in nodes[1:] if rng.random() < 0.25)
    distinct = tuple(node for node in nodes if node not in shared)
    extent = rng.choice([1, 1, 1, 2, 3, 4])
    match kind:
        case 0:
            inner = ob.random_strides(rng, nodes)
        case 1:
            inner = linear_form(rng, nodes)
        case 2:
            inner = ob.swizzled(ob.random_strides(rng, nodes), rng.randint(1, 3), rng.randrange(3), 3)
        case _:
            inner = ob.random_map(rng, nodes)
    if extent > 1 and rng.random() < 0.6:
        inner = ob.times(inner, extent)
    assumed = ob.less(ob.random_map(rng, distinct, 2), number(rng.choice([2, 6, 20]))) if rng.random() < 0.2 else None
    return nodes, shared, inner, extent, assumed


@pytest.mark.parametrize("count", counts(90, 220))
def test_random_injectivity(count: int) -> None:
    tally: Tally = Counter()
    for seed in range(count):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        keeps = ob.truth_of(assumed)[1]
        distinct = tuple(node for node in nodes if node not in shared)
        wanted = ob.is_injective(nodes, shared, inner.plain, extent, keeps)
        nothing = not any(keeps(p) for p in ob.points(nodes))
        goal = ob.injective(nodes, shared, inner, extent, assumed=assumed)
        for engine in ENGINES:
            check(
                engine.decide(goal),
                None if nothing else wanted,
                lambda p, d=distinct, i=inner, e=extent, k=keeps: ob.collide(p, d, i.plain, e, k),
                tally,
                empty_may_hold=True,
            )
    spoken(tally, ["gf2", "radix", "residues", "exhaustion", "z3"], count // 44)


def test_injectivity_under_an_outer_map() -> None:
    """The outer map must be one to one; where it is not, no engine may build on it."""
    tally: Tally = Counter()
    for seed in range(80):
        rng = random.Random(seed)
        nodes = powers(rng, 3) if rng.random() < 0.5 else ob.random_box(rng, 3, 6)
        inner = ob.random_strides(rng, nodes) if rng.random() < 0.7 else linear_form(rng, nodes)
        width = inner.value.bits.width
        good = rng.random() < 0.6
        bits, base = rng.randint(1, 2), rng.randrange(2)
        mask = ((1 << width) - 1) & ~(1 << rng.randrange(width))

        def image(x: Map, good: bool = good, bits: int = bits, base: int = base, mask: int = mask) -> Map:
            return ob.swizzled(x, bits, base, 2) if good else ob.masked(x, mask)

        outer = ob.bijection(width, image)
        if outer.image.width != width and good:
            continue
        where = image(inner).plain
        wanted = ob.is_injective(nodes, (), where, 1)

        def moved(x: int, image: Callable[[Map], Map] = image, width: int = width) -> int:
            return image(leaf(var("x", 1 << width))).plain({"x": x})

        goal = ob.injective(nodes, (), inner, 1, outer, moved)
        for engine in ENGINES:
            finding = engine.decide(goal)
            if not good and finding.engine != "exhaustion":
                assert finding.answer in NO_ANSWER
            check(finding, wanted, lambda p, n=nodes, w=where: ob.collide(p, n, w, 1), tally)
    spoken(tally, ["radix", "exhaustion", "z3"], 5)


@dataclass(frozen=True)
class Families:
    """An obligation on two families of ranges, and what it means."""

    goal: Apart
    nodes: tuple[Var, ...]
    maps: tuple[Map, Map]
    active: tuple[ob.Plain, ob.Plain]

    def meets(self, p: Point) -> bool:
        if self.goal.tags and all(p[mine] == p[yours] for mine, yours in self.goal.tags):
            return False
        if not all(on(p) for on in self.active):
            return False
        lengths = self.goal.first.extent, self.goal.second.extent
        return ob.ranges_meet(self.maps[0].plain(p), lengths[0], self.maps[1].plain(p), lengths[1])


def apart_case(seed: int, *, guarded: bool = False) -> Families:
    """Two families; `guarded` ones may lack some ranges, and differ in one of several tags."""
    rng = random.Random(seed)
    shared = (var("base", rng.choice([1, 3, 5])),) if rng.random() < 0.4 else ()
    sides = [tuple(var(f"{name}{i}", rng.choice([1, 2, 3, 4, 6])) for i in range(2)) for name in "pq"]
    extents = [rng.choice([1, 1, 2, 3]) for _ in range(2)]
    same = rng.random() < 0.35
    if same:
        sides[1] = tuple(var(f"q{i}", node.limit) for i, node in enumerate(sides[0]))
        extents[1] = extents[0]
    stride = [rng.choice([0, 1, 2, 5, 8, 16]) for _ in range(2)]
    gap = rng.choice([0, 0, 3, 10, 30])
    maps: list[Map] = []
    for index, nodes in enumerate(sides):
        inner = ob.total([ob.times(leaf(node), s) for node, s in zip(nodes, stride, strict=True)])
        if not same and index:
            inner = ob.plus(inner, number(gap))
        if not same and rng.random() < 0.3:
            inner = ob.random_map(rng, nodes, 2)
        for node in shared:
            inner = ob.plus(inner, ob.times(leaf(node), 8))
        maps.append(inner)
    guards = [
        ob.random_condition(rng, (*shared, *nodes)) if guarded and rng.random() < 0.4 else None for nodes in sides
    ]
    first, other = (ob.side(n, m, e, on) for n, m, e, on in zip(sides, maps, extents, guards, strict=True))
    condition, tags = TRUE, ()
    if same:
        tags = (("p0", "q0"), ("p1", "q1"))[: rng.choice([1, 2]) if guarded else 1]
        equal = conjunction(compare(Comparison.EQ, sides[0][i], sides[1][i]) for i in range(len(tags)))
        condition = negation(equal)
    goal = ob.apart(shared, first, other, condition, tags)
    runs = [ob.truth_of(on)[1] for on in guards]
    return Families(goal, (*shared, *sides[0], *sides[1]), (maps[0], maps[1]), (runs[0], runs[1]))


@pytest.mark.parametrize("count", counts(120, 300))
def test_random_families_of_ranges(count: int) -> None:
    tally: Tally = Counter()
    for seed in range(count):
        case = apart_case(seed, guarded=seed % 2 == 0)
        wanted = not any(case.meets(p) for p in ob.points(case.nodes))
        for engine in ENGINES:
            check(engine.decide(case.goal), wanted, case.meets, tally)
    spoken(tally, ["residues", "exhaustion", "z3"], count // 15)
    assert tally["radix", Answer.HOLDS] >= count // 60


def test_a_condition_without_tags_is_for_z3() -> None:
    p, q = var("p", 8), var("q", 8)
    earlier = compare(Comparison.ULT, p, q)
    goal = ob.apart((), ob.side((p,), leaf(p), 1), ob.side((q,), leaf(q), 1), earlier)
    found = [engine.decide(goal).answer for engine in ENGINES]
    assert found == [*[Answer.NOT_APPLICABLE] * (len(ENGINES) - 1), Answer.HOLDS]


def test_residues_cut_what_both_sides_repeat_in() -> None:
    """Rings over an unbounded iteration: the read of a stage, and the write of the next one."""
    i, p, q = var("i", 1 << 32), var("p", 64), var("q", 64)

    def stage(shift: int, own: Var) -> Map:
        return ob.plus(ob.times(ob.modulo(ob.plus(leaf(i), number(shift)), 3), 64), leaf(own))

    for shift in range(7):
        sides = ob.side((p,), stage(0, p), 1), ob.side((q,), stage(shift, q), 1)
        finding = Residues().decide(Apart((i,), (), *sides, TRUE))
        assert (finding.answer is Answer.HOLDS) == bool(shift % 3), shift
        # A drift of one side alone has no period: what is right for three iterations is wrong in others.
        drifting = replace(sides[0], position=ob.plus(stage(0, p), leaf(i)).value.bits)
        assert Residues().decide(Apart((i,), (), drifting, sides[1], TRUE)).answer is Answer.NOT_APPLICABLE


def test_random_covers() -> None:
    tally: Tally = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        shared = (var("base", 3),) if rng.random() < 0.3 else ()
        own = tuple(var(f"t{i}", rng.choice([1, 2, 3, 4, 8])) for i in range(2))
        elements = tuple(var(f"e{i}", rng.choice([1, 2, 4, 6])) for i in range(2))
        extent, reach = rng.choice([(1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (3, 2)])
        count = elements[0].limit * elements[1].limit
        position = ob.times(ob.plus(leaf(elements[0]), ob.times(leaf(elements[1]), elements[0].limit)), extent)
        linear = ob.plus(leaf(own[0]), ob.times(leaf(own[1]), own[0].limit))
        steps = ob.modulo(linear, max(2, count)) if rng.random() < 0.5 else linear
        address = ob.times(steps, reach) if rng.random() < 0.8 else ob.random_map(rng, own, 2)
        active = ob.random_condition(rng, own) if rng.random() < 0.3 else None
        for node in shared:
            position, address = (ob.plus(m, ob.times(leaf(node), 16)) for m in (position, address))
        times = rng.choice([1, 1, 1, 2, 3])
        if active is not None and ob.truth_of(active)[0] is TRUE:
            active = None
        runs = ob.truth_of(active)[1]
        asked = ob.random_condition(rng, (*shared, *elements)) if rng.random() < 0.3 else None
        goal = ob.covers(shared, own, address, active, reach, elements, position, extent, times, asked)
        asks = ob.truth_of(asked)[1]

        def touches(
            p: Point,
            address: Map = address,
            position: Map = position,
            sizes: tuple[int, int] = (reach, extent),
            own: tuple[Var, ...] = own,
            runs: ob.Plain = runs,
        ) -> int:
            return sum(
                ob.ranges_meet(address.plain({**p, **q}), sizes[0], position.plain(p), sizes[1])
                for q in ob.points(own)
                if runs(q)
            )

        def breaks(
            p: Point, touches: Callable[[Point], int] = touches, times: int = times, asks: ob.Plain = asks
        ) -> bool:
            cell = {name.rstrip("'"): value for name, value in p.items()}
            return bool(asks(cell)) and touches(cell) != times

        wanted = None
        if asked is not None or any(runs(q) for q in ob.points(own)):
            wanted = all(touches(p) == times for p in ob.points((*shared, *elements)) if asks(p))
        for engine in ENGINES:
            check(engine.decide(goal), wanted, breaks, tally)
    spoken(tally, ["exhaustion", "z3"], 8)


INSTRUCTIONS = [
    "ld.shared.b8",
    "ld.shared.b16",
    "ld.shared.b32",
    "ld.shared.b64",
    "ld.shared.v4.b32",
    "st.shared.b32",
    "st.shared.v2.b32",
    "st.shared.v4.b32",
    "ldmatrix.x4",
    "cp.async.4",
    "cp.async.8",
    "cp.async.ca.16",
    "cp.async.16",
    "atom.shared.add.u32",
]
WIDTH = {"b8": 1, "b16": 2, "b32": 4, "b64": 8}


def width_of(instruction: str) -> int:
    if "x4" in instruction:
        return 16
    if instruction.startswith("cp"):
        return int(instruction.rsplit(".", maxsplit=1)[-1])
    if ".v" in instruction:
        return 4 * int(instruction.split(".v")[1][0])
    return WIDTH.get(instruction.rsplit(".", maxsplit=1)[-1], 4)


def lane_map(rng: random.Random, lane: Var) -> Map:
    """How lanes spread over units: linear, blocked, strided, swizzled, broadcast."""
    x = leaf(lane)
    a, b = rng.choice([1, 2, 4, 8, 16]), rng.choice([1, 2, 3, 4, 8, 9, 16, 17, 32, 33])
    match rng.randrange(6):
        case 0:
            return ob.times(x, rng.choice([1, 1, 2, 3, 4, 8, 33]))
        case 1:
            return ob.plus(ob.times(ob.over(x, a), b), ob.modulo(x, a))
        case 2:
            return ob.plus(ob.times(ob.modulo(x, a), b), ob.over(x, a))
        case 3:
            return ob.swizzled(ob.plus(ob.times(ob.over(x, 4), 8), ob.modulo(x, 4)), rng.randint(1, 3), 0, 3)
        case 4:
            return ob.xor(ob.times(ob.over(x, a), a), ob.times(ob.modulo(x, a), rng.choice([1, 2, 8])))
        case _:
            return ob.over(x, rng.choice([2, 3, 4]))


def free_part(rng: random.Random, node: Var) -> Map:
    """Loop variables: an affine stride, a padded or wrapped index, a ring of stages."""
    x = leaf(node)
    a = rng.choice([2, 3, 4])
    match rng.randrange(5):
        case 0 | 1:
            return ob.times(x, rng.choice([1, 2, 8, 32, 33, 64]))
        case 2:
            return ob.plus(ob.times(ob.over(x, a), rng.choice([8, 33])), ob.modulo(x, a))
        case 3:
            return ob.times(ob.modulo(x, a), rng.choice([1, 16, 100]))
        case _:
            return ob.times(ob.down(x, 1), rng.choice([4, 5]))


def cost_case(
    seed: int, limits: list[int], instructions: Sequence[str] = INSTRUCTIONS
) -> tuple[Cost, Map, ob.Plain, ob.Plain]:
    rng = random.Random(seed)
    lane = var("lane", 32)
    free = tuple(var(f"v{i}", rng.choice(limits)) for i in range(rng.randint(0, 2)))
    instruction = rng.choice(instructions)
    width = width_of(instruction)
    units = lane_map(rng, lane)
    for node in free:
        part = free_part(rng, node)
        if rng.random() < 0.2 and node.limit <= 16:
            part = ob.times(ob.masked(ob.xor(leaf(node), leaf(lane)), 3), 8)
        units = ob.xor(units, part) if rng.random() < 0.25 else ob.plus(units, part)
    if rng.random() < 0.2:
        units = ob.swizzled(units, 3, 0, 3)
    active = assumed = None
    if "matrix" not in instruction and rng.random() < 0.35:
        bound = leaf(lane) if not free or rng.random() < 0.5 else ob.plus(leaf(lane), ob.masked(leaf(free[0]), 7))
        active = ob.less(bound, number(rng.choice([1, 5, 17, 24])))
        if rng.random() < 0.3:
            active = ob.equal(ob.modulo(bound, 2), number(0))
    if free and rng.random() < 0.2:
        assumed = ob.equal(ob.modulo(leaf(free[0]), 2), number(rng.randrange(2)))
        if free[0].limit == 1:
            assumed = None
    groups = max(1, width // 4)
    # by octets a random map mostly takes many wavefronts: limits that some of them keep
    at_most = rng.choice([None, 4, 8, 12, 20] if instruction == "cp.async.16" else [None, None, groups, 2 * groups, 3])
    address = ob.times(units, width)
    goal = ob.cost(lane, free, instruction, address, active, at_most, assumed)
    return goal, address, ob.truth_of(active)[1], ob.truth_of(assumed)[1]


def judge_costs(
    seeds: range, limits: list[int], sample: int | None, instructions: Sequence[str] = INSTRUCTIONS
) -> Tally:
    tally: Tally = Counter()
    for seed in seeds:
        goal, address, active, assumed = cost_case(seed, limits, instructions)
        rng = random.Random(seed + 1)
        if sample is None:
            free = ob.points(goal.free)
        else:
            # both ends, where a wrong period or a lost carry would show, and anything between
            free = [
                {
                    node.name: rng.choice([0, 1, node.limit - 1, *(rng.randrange(node.limit) for _ in range(3))])
                    for node in goal.free
                }
                for _ in range(sample)
            ]
        wanted = ob.cost_holds(goal, address.plain, active, assumed, free)

        def breaks(
            p: Point,
            goal: Cost = goal,
            address: ob.Plain = address.plain,
            on: ob.Plain = active,
            ok: ob.Plain = assumed,
        ) -> bool:
            return ob.cost_holds(goal, address, on, ok, [p]) is False

        for engine in ENGINES:
            finding = engine.decide(goal)
            if sample is not None and finding.answer is Answer.FAILS:
                # what the sample missed must be shown
                assert finding.point is not None
                assert breaks(dict(finding.point)), (seed, finding)
                tally[finding.engine, finding.answer] += 1
                continue
            check(finding, wanted, breaks, tally, empty_may_hold=True)
    return tally


def test_random_costs() -> None:
    tally = judge_costs(range(140), [1, 2, 3, 4, 8], None)
    spoken(tally, ["gf2", "residues", "exhaustion", "z3"], 5)


def test_costs_of_misaligned_addresses_have_no_answer() -> None:
    """The rule does not speak of them. Whoever asks for a cost alone gets no exception, and no cost from
    those that price whole warps.
    """
    tally: Tally = Counter()
    for seed in range(150):
        goal, address, active, assumed = cost_case(seed, [1, 2, 3, 8], [*INSTRUCTIONS, "ldmatrix.x1"])
        odd = ob.masked(leaf(random.Random(seed).choice(goal.domain.variables)), 1)
        where = ob.plus(address, odd)

        def definition(
            arrays: Arrays, sound: Callable[[Arrays], Any] = goal.definition, odd: Map = odd
        ) -> tuple[Truths, Numbers, Truths]:
            counts, addresses, on = sound(arrays)
            return counts, addresses + odd.plain(arrays), on  # type: ignore[arg-type]  # arrays mean the same here

        row = goal.instruction
        goal = replace(goal, address=where.value.bits, definition=definition)
        points = [p for p in ob.points(goal.domain.variables) if p["lane"] < row.address_lanes]
        bad = any(assumed(p) and active(p) and where.plain(p) % row.width_bytes for p in points)
        for engine in ENGINES:
            answer = engine.decide(goal).answer
            tally[engine.name, answer] += 1
            if bad and engine.name in ("residues", "exhaustion"):
                assert answer is Answer.NOT_APPLICABLE, (seed, engine.name, answer)
    assert min(tally[name, Answer.NOT_APPLICABLE] for name in ("residues", "exhaustion", "z3")) >= 5
    assert tally["exhaustion", Answer.HOLDS]


def test_random_costs_by_octets() -> None:
    tally = judge_costs(range(2000, 2060), [1, 2, 3, 4, 8], None, ["cp.async.16"])
    spoken(tally, ["gf2", "residues", "exhaustion", "z3"], 5)


@pytest.mark.parametrize("count", counts(10, 30))
def test_random_costs_by_octets_with_long_loops(count: int) -> None:
    tally = judge_costs(range(3000, 3000 + count), [300, 1000, 1 << 12], 5 * count, ["cp.async.16"])
    spoken(tally, ["residues", "z3"], count // 6)


@pytest.mark.parametrize("count", counts(24, 50))
def test_random_costs_with_long_loops(count: int) -> None:
    """Loops beyond what the exhaustive engine takes: a period, or a separation, must stand for all."""
    tally = judge_costs(range(1000, 1000 + count), [300, 1000, 1 << 12], 3 * count)
    spoken(tally, ["residues", "z3"], count // 10)


def test_loops_of_every_size_up_to_the_limit() -> None:
    """A failure in the very last iteration: periods and separations may not stop short of it."""
    lane = var("lane", 32)
    for limit in (2, 31, 100, 1 << 12, 100_003):
        node = var("i", limit)
        # the last iteration alone reads with stride 2
        last = ob.over(ob.plus(leaf(node), number(1)), limit)
        doubled = Map(
            ob.ints.multiply(leaf(lane).value, ob.ints.add(last.value, ob.ints.integer(1))),
            lambda p, last=last: p["lane"] * (last.plain(p) + 1),
        )
        goal = ob.cost(lane, (node,), "ld.shared.b32", ob.times(doubled, 4))
        answers = {engine.name: engine.decide(goal) for engine in ENGINES}
        for finding in answers.values():
            if finding.answer not in NO_ANSWER:
                assert finding.answer is Answer.FAILS, (limit, finding)
                assert finding.point is not None
                assert finding.point["i"] == limit - 1
        assert answers["z3"].answer is Answer.FAILS


@pytest.mark.parametrize("seed", range(24))
def test_counting_and_separation_agree(seed: int) -> None:
    """The rule as one formula over 32 lanes against the proof that one value of the free variables
    stands for all.
    """
    goal, address, active, assumed = cost_case(seed + 5000, [1, 2, 4])
    if goal.at_most is None:
        goal = ob.replace_limit(goal, 4)
    separated = smt_cost._by_separation(goal, DEFAULT_RLIMIT)
    counted = smt_cost._by_counting(goal, DEFAULT_RLIMIT)
    wanted = ob.cost_holds(goal, address.plain, active, assumed, list(ob.points(goal.free)))
    if wanted is None:
        assert counted.answer is Answer.HOLDS
        assert separated is None or separated.answer is Answer.EMPTY
        return
    expected = Answer.HOLDS if wanted else Answer.FAILS
    assert counted.answer is expected
    assert separated is not None
    assert separated.answer is expected
    if not wanted:
        for finding in (counted, separated):
            assert finding.point is not None
            assert ob.cost_holds(goal, address.plain, active, assumed, [dict(finding.point)]) is False


def test_one_unit_of_budget_decides_nothing() -> None:
    """Z3 out of budget is undecided, on every kind of obligation; what it says at once is right."""
    poor = SMT(rlimit=1)
    seen: Tally = Counter()
    for seed in range(25):
        nodes, shared, inner, extent, assumed = injective_case(seed)
        goal = ob.injective(nodes, shared, inner, extent, assumed=assumed)
        goals = [goal, apart_case(seed).goal, cost_case(seed, [1, 2, 4])[0]]
        rng = random.Random(seed)
        box = ob.random_box(rng)
        goals.append(ob.always(box, ob.less(ob.random_map(rng, box), number(10))))
        for each in goals:
            answer, rich = poor.decide(each).answer, SMT().decide(each).answer
            seen["z3", answer] += 1
            assert answer in {rich, Answer.UNDECIDED}
    hard = ob.times(leaf(var("a", 1 << 14)), 3)
    product = Map(ob.ints.multiply(hard.value, leaf(var("b", 1 << 14)).value), lambda p: 3 * p["a"] * p["b"])
    goal = ob.always((var("a", 1 << 14), var("b", 1 << 14)), ob.equal(ob.modulo(product, 3), number(0)))
    assert poor.decide(goal).answer is Answer.UNDECIDED
    assert poor.possible(ob.negated(ob.equal(ob.modulo(product, 3), number(1))).value.bits).answer is not Answer.EMPTY
    assert seen["z3", Answer.UNDECIDED] >= 20

"""The witness of low bits: what it shows of random costs is so, forged ones are refused, and mistakes
that are planted in it show what is not so.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest

from swzrecheck import witness_slots
from swzrecheck.program import Builder, Operation, evaluate
from swzrecheck.statement import Always, Cost, GatherCost
from swzrecheck.warp_rule import warp_rule
from swzrecheck.witness import WitnessError
from swzrecheck.witness_slots import check_slots, find_slots
from swzrecheck.witnesses import find_witness
from tests.certificates.judge import holds

WIDTH = 9
MANY = 1 << 32


class Lines(Builder):
    """A program in which every number has as many bits."""

    def number(self, value: int) -> int:
        return self.const(value, WIDTH)

    def named(self, name: str, limit: int) -> int:
        """A variable whose low bits count."""
        width = (limit - 1).bit_length() or 1
        made = self.var(name, limit, width)
        return self.widen(made, WIDTH) if width <= WIDTH else self.extract(made, 0, WIDTH)


def cost(
    write: Callable[[Lines, int, int, int], tuple[int, int | None]],
    free: int = 4,
    own: int = 0,
    instruction: str = "st.shared.b32",
    at_most: Sequence[int] = (),
) -> Cost | GatherCost:
    """A cost over the lane, a value that lanes share, and one that they have of their own."""
    lines = Lines()
    lane, shared = lines.named("lane", 32), lines.named("n", free)
    mine = lines.named("b", own) if own else lines.number(0)
    address, active = write(lines, lane, shared, mine)
    yes = lines.const(1, 1)
    places = {line.name: at for at, line in enumerate(lines.lines)}
    found = Cost(
        tuple(lines.lines), places["lane"], (places["n"],), yes, address, yes if active is None else active,
        instruction, tuple(at_most),
    )  # fmt: skip
    return GatherCost.of(found, (places["b"],)) if own else found


def is_free(goal: Cost | GatherCost) -> bool:
    """Whether no two lanes hit one bank with two words: every pair of lanes, with all values."""
    own = [goal.program[place] for place in (goal.own if isinstance(goal, GatherCost) else ())]
    free = [goal.program[place] for place in goal.free]
    for shared in product(*(range(each.number) for each in free)):
        words: list[set[int]] = []
        for lane in range(32):
            reached: set[int] = set()
            for mine in product(*(range(each.number) for each in own)):
                point = {each.name: value for each, value in zip((*free, *own), (*shared, *mine), strict=True)}
                values = evaluate(goal.program, {**point, "lane": lane})
                if values[goal.active]:
                    if values[goal.address] % 4:
                        return False
                    reached.add(values[goal.address] // 4)
            words.append(reached)
        for one, two in combinations(words, 2):
            if any(a != b and a % 32 == b % 32 for a in one for b in two):
                return False
    return True


def random_cost(rng: random.Random) -> Cost | GatherCost:
    """A cost whose address is near to a row of words."""

    def part(lines: Lines, of: Sequence[int]) -> int:
        made = rng.choice(of)
        for _ in range(rng.randrange(3)):
            other = rng.choice([*of, lines.number(rng.choice((1, 2, 3, 4, 7, 8, 16, 28)))])
            made = lines.op(rng.choice(("bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor", "bvlshr")), made, other)
        return made

    def write(lines: Lines, lane: int, shared: int, mine: int) -> tuple[int, int | None]:
        row = lines.op("bvshl", lane, lines.number(rng.choice((2, 2, 2, 0))))
        more = part(lines, [shared, mine, lane][: rng.choice((1, 2, 2, 3))])
        if rng.random() < 0.3:
            bit = lines.op(rng.choice(("=", "bvult", "bvslt")), part(lines, [shared, lane]), lines.number(3))
            more = lines.ite(bit, more, lines.number(rng.choice((0, 1, 32))))
        more = lines.op("bvshl", more, lines.number(rng.choice((2, 5, 7, 7))))
        address = lines.op(rng.choice(("bvadd", "bvxor", "bvsub")), row, more)
        active = lines.op("bvult", part(lines, [shared, lane, mine]), lines.number(rng.choice((4, 16))))
        return address, active if rng.random() < 0.4 else None

    return cost(write, rng.choice((3, 4, 8)), rng.choice((0, 2, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_what_it_shows_of_random_costs_is_so(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, shown, free = random.Random(seed), 0, 0
    for _ in range(60):
        # Conditions on more values than this are values of their own, as in large programs.
        monkeypatch.setattr(witness_slots, "_MANY", rng.choice((1, 4096)))
        goal = random_cost(rng)
        really = is_free(goal)
        free += really
        found = find_slots(goal)
        if found is not None:
            assert really, goal
            check_slots(goal, json.loads(json.dumps(found)))
            shown += 1
    assert shown >= free / 4 >= 2, (shown, free)


def row(lines: Lines, lane: int, *more: int) -> int:
    """The address of a word of a row, and more."""
    made = lines.op("bvshl", lane, lines.number(2))
    for each in more:
        made = lines.op("bvadd", made, each)
    return made


def data(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    """A row that each lane chooses."""
    return row(lines, lane, lines.op("bvmul", mine, lines.number(128))), None


def stride(lines: Lines, lane: int, shared: int, _: int) -> tuple[int, int | None]:
    """A parameter times itself: no step of it is the same everywhere."""
    return row(lines, lane, lines.op("bvshl", lines.op("bvmul", shared, shared), lines.number(2))), None


def chosen(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    """A choice that some data make between two rows."""
    bit = lines.op("bvult", lines.op("bvxor", mine, lane), lines.number(3))
    return lines.ite(bit, row(lines, lane), row(lines, lane, lines.number(128))), None


@pytest.mark.parametrize(
    ("goal", "wanted"),
    [
        (cost(data, own=MANY), True),
        (cost(stride, MANY), True),
        (cost(chosen, own=MANY), True),
        (cost(chosen, own=MANY, at_most=(1,)), True),
        (cost(data, own=MANY, instruction="st.shared.v2.b32"), False),
        (cost(data, own=MANY, instruction="cp.async.16"), False),
        (cost(data, own=MANY, instruction="ld.global.b32"), False),
    ],
)
def test_large_values_need_no_period(goal: Cost | GatherCost, wanted: bool) -> None:
    found = find_slots(goal)
    assert (found is not None) is wanted
    if found is not None:
        assert find_witness(goal) is not None
        assert holds(goal)


def test_another_statement_is_refused() -> None:
    one = Operation("const", 1, number=1)
    with pytest.raises(WitnessError, match="say nothing"):
        check_slots(Always((one,), (), 0, 0), {})


@pytest.mark.parametrize("field", ["points", "sha256", "most"])
def test_a_forged_witness_is_refused(field: str) -> None:
    goal = cost(data, own=MANY)
    found = find_slots(goal)
    assert found is not None
    check_slots(goal, found)
    for forged in ({**found, field: 5}, {name: each for name, each in found.items() if name != field}):
        with pytest.raises(WitnessError):
            check_slots(goal, forged)
    with pytest.raises(WitnessError):
        check_slots(goal, {**found, "periods": {}})


Patch = Callable[[pytest.MonkeyPatch], None]


def _half_of_the_line(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_slots, "_PLACE_BITS", 6)


def _quotients_by_low_bits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_slots, "_LOW_BITS", witness_slots._LOW_BITS | {"bvlshr"})


def _lanes_share_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        witness_slots, "_shared_lines", lambda goal, _: set(range(len(goal.program))) - {goal.lane, goal.address}
    )


def _what_is_zero_counts_for_nothing(patch: pytest.MonkeyPatch) -> None:
    """A value with one form in all lanes is taken for a value that is the same in all lanes."""
    patch.setattr(witness_slots, "forms", lambda program, *_: [[0]] * len(program))


def _half_of_the_lanes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_slots, "warp_rule", lambda name: replace(warp_rule(name), address_lanes=16, group_lanes=16))


def _half_a_line(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    return row(lines, lane, lines.op("bvshl", mine, lines.number(6))), None


def _upper_lanes(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    upper = lines.op("bvlshr", lane, lines.number(4))
    return row(lines, lane, lines.op("bvshl", lines.op("bvmul", mine, upper), lines.number(2))), None


def _shifted(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    return row(lines, lane, lines.op("bvlshr", lines.op("bvshl", mine, lines.number(7)), lines.number(5))), None


def _own_word(lines: Lines, lane: int, _: int, mine: int) -> tuple[int, int | None]:
    return row(lines, lane, lines.op("bvshl", mine, lines.number(2))), None


@pytest.mark.parametrize(
    ("plant", "goal"),
    [
        (_half_of_the_line, cost(_half_a_line, own=2)),
        (_quotients_by_low_bits, cost(_shifted, own=4)),
        (_lanes_share_all, cost(_own_word, own=2)),
        (_what_is_zero_counts_for_nothing, cost(_own_word, own=2)),
        (_half_of_the_lanes, cost(_upper_lanes, own=2)),
    ],
)
def test_a_planted_mistake_shows(monkeypatch: pytest.MonkeyPatch, plant: Patch, goal: Cost | GatherCost) -> None:
    assert not is_free(goal)
    assert find_slots(goal) is None
    plant(monkeypatch)
    assert find_slots(goal) is not None

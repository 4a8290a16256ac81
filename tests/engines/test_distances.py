"""The distance engine against loops in plain Python: it may have no answer, and it never says that a
cost holds which does not.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from swzverify.engines import distances
from swzverify.engines.distances import Distances
from swzverify.engines.obligations import Answer, Cost, GatherCost
from swzverify.hardware import find_instruction
from swzverify.ir.domain import Domain
from swzverify.ir.expr import (
    TRUE,
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    count,
    extend,
    extract,
    ite,
    negation,
    var,
)
from tests.nightly import counts
from tests.ptx_oracle.rule import cost as oracle_cost

ADD, SUB, MUL, AND, OR, XOR, SHL, LSHR = (
    BinaryOperator.ADD,
    BinaryOperator.SUB,
    BinaryOperator.MUL,
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
    BinaryOperator.SHL,
    BinaryOperator.LSHR,
)
LANE, WORD, OTHER, DATA, SIDE = var("lane", 32), var("word", 256), var("other", 1 << 7), var("data", 4), var("side", 2)
ROWS = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.v2.b32", 16: "ld.shared.v4.b32"}


class Pair(NamedTuple):
    """An expression, and what it says in plain integers."""

    value: Expr
    plain: Callable[[dict[str, int]], int]


def fixed(value: int, width: int) -> Pair:
    return Pair(const(value, width), lambda _: value % (1 << width))


def leaf(node: Var, width: int) -> Pair:
    value = extend(node, width, signed=False) if width > node.width else node
    return Pair(value, lambda point: point[node.name])


def of(operator: BinaryOperator, a: Pair, b: Pair) -> Pair:
    size = 1 << a.value.width

    def plain(point: dict[str, int]) -> int:
        x, y = a.plain(point), b.plain(point)
        match operator:
            case BinaryOperator.ADD:
                return (x + y) % size
            case BinaryOperator.SUB:
                return (x - y) % size
            case BinaryOperator.MUL:
                return x * y % size
            case BinaryOperator.SHL:
                return (x << y) % size
            case BinaryOperator.LSHR:
                return x >> y
            case BinaryOperator.AND:
                return x & y
            case BinaryOperator.OR:
                return x | y
            case _:
                return x ^ y

    return Pair(binary(operator, a.value, b.value), plain)


def bits(a: Pair, low: int, width: int) -> Pair:
    return Pair(extract(a.value, low, width), lambda point: a.plain(point) >> low & ((1 << width) - 1))


def wide(a: Pair, width: int, *, signed: bool = False) -> Pair:
    inner = a.value.width

    def plain(point: dict[str, int]) -> int:
        value = a.plain(point)
        return (value - (1 << inner) if signed and value >> (inner - 1) else value) % (1 << width)

    return Pair(extend(a.value, width, signed=signed), plain) if width > inner else a


def is_equal(a: Pair, b: Pair) -> Pair:
    return Pair(compare(Comparison.EQ, a.value, b.value), lambda point: int(a.plain(point) == b.plain(point)))


def choice(condition: Pair, a: Pair, b: Pair) -> Pair:
    return Pair(ite(condition.value, a.value, b.value), lambda point: (a if condition.plain(point) else b).plain(point))


def ones(word: Pair, width: int) -> Pair:
    """The number of bits that are set."""
    total = fixed(0, width)
    for at in range(word.value.width):
        total = of(ADD, total, wide(bits(word, at, 1), width))
    return total


def counted(word: Pair, width: int) -> Pair:
    """The same by the operator that counts bits."""
    return wide(Pair(count(word.value), lambda point: bin(word.plain(point)).count("1")), width)


def random_mask(rng: random.Random) -> Pair:
    """Eight bits of each lane: those below it, those up to it, one bit, or what a shift leaves."""
    place = bits(of(LSHR, leaf(LANE, 8), fixed(rng.choice((0, 0, 1, 2)), 8)), 0, rng.choice((2, 3)))
    by = wide(place, 8)
    one = of(SHL, fixed(rng.choice((1, 1, 2, 3)), 8), by)
    below = of(XOR, of(SHL, fixed(255, 8), by), fixed(255, 8))
    return rng.choice(
        (below, below, one, of(OR, one, below), of(LSHR, fixed(rng.randrange(256), 8), by), leaf(LANE, 8))
    )


def random_word(rng: random.Random) -> Pair:
    word = leaf(WORD, 8)
    change = rng.randrange(5)
    if change == 0:
        word = of(rng.choice((XOR, AND, OR)), word, fixed(rng.randrange(256), 8))
    elif change == 1:
        word = of(rng.choice((SHL, LSHR)), word, fixed(rng.randrange(1, 4), 8))
    return word


def random_condition(rng: random.Random) -> Pair:
    """Whether bits of the word that a lane selects are clear, or what lanes or data say alone."""
    kind = rng.randrange(5)
    if kind < 3:
        return is_equal(of(AND, random_word(rng), random_mask(rng)), fixed(0, 8))
    return is_equal(bits(leaf(LANE, 8), 0, 2), fixed(1, 2)) if kind == 3 else is_equal(leaf(DATA, 2), fixed(1, 2))


def random_term(rng: random.Random, width: int) -> Pair:
    kind = rng.randrange(10)
    if kind < 4:
        word = random_word(rng)
        if rng.random() < 0.3:
            word = choice(random_condition(rng), word, random_word(rng))
        return ones(of(rng.choice((AND, AND, XOR, OR)), word, random_mask(rng)), width)
    if kind == 4:
        base = random_term(rng, width) if rng.random() < 0.5 else fixed(0, width)
        step = fixed(rng.choice((1, 1, 2, -1)), width)
        return choice(random_condition(rng), base, of(ADD, base, step))
    if kind == 5:
        return choice(random_condition(rng), random_term(rng, width), random_term(rng, width))
    if kind == 6:
        return bits(leaf(LANE, 16), 0, width) if width < 16 else leaf(LANE, width)
    if kind == 7:
        return bits(leaf(rng.choice((OTHER, SIDE)), 16), 0, width)
    if kind == 8 and width > 6:
        return wide(random_sum(rng, 6, 2), width, signed=rng.random() < 0.5)
    return leaf(DATA, width) if rng.random() < 0.5 else ones(random_word(rng), width)


def random_sum(rng: random.Random, width: int, most: int = 3) -> Pair:
    total = fixed(rng.randrange(8), width)
    for _ in range(rng.randint(1, most)):
        total = of(rng.choice((ADD, ADD, ADD, SUB)), total, random_term(rng, width))
    return total


def never(_: Any) -> Any:
    """No engine here reads a definition."""
    raise AssertionError


def random_cost(rng: random.Random) -> tuple[Cost | GatherCost, Pair, Pair]:
    """A cost, its address, and which lanes are active."""
    width = rng.choice((7, 9, 12, 16))
    size = rng.choice((1, 2, 4, 4, 8, 16))
    address = of(MUL, random_sum(rng, width), fixed(size * rng.choice((1, 1, 2, 3, 4, 5, 7, 8, 15, 16)), width))
    whole = wide(address, width + rng.choice((0, 0, 4)))
    condition = random_condition(rng) if rng.random() < 0.4 else Pair(TRUE, lambda _: 1)
    active = (
        Pair(negation(condition.value), lambda point: 1 - condition.plain(point)) if rng.random() < 0.5 else condition
    )
    own = rng.random() < 0.3
    nodes = (LANE, WORD, OTHER, SIDE, *(() if own else (DATA,)))
    goal = Cost(Domain(nodes, TRUE), LANE, whole.value, active.value, find_instruction(ROWS[size]), None, never)
    return (GatherCost(goal, (DATA,)) if own else goal), whole, active


def conflicts(goal: Cost | GatherCost, address: Pair, active: Pair, rng: random.Random, tries: int) -> bool:
    """Whether some values of a few give a bank conflict, by the interpreter's rule."""
    cost = goal.cost if isinstance(goal, GatherCost) else goal
    for at in range(tries):
        values = rng.randrange(256) if at % 4 else rng.choice((0, 255, 85, 15, 240))
        point = {"word": values, "other": rng.randrange(128), "side": rng.randrange(2), "data": rng.randrange(4)}
        lanes: dict[int, int] = {}
        for lane in range(32):
            here = {**point, "lane": lane}
            if isinstance(goal, GatherCost):
                here["data"] = rng.randrange(4)
            if active.plain(here):
                lanes[lane] = address.plain(here)
        if lanes and oracle_cost("ld", cost.instruction.width_bytes, lanes).ways > 1:
            return True
    return False


def judge(seed: int, tries: int = 24) -> tuple[Answer, bool]:
    """The engine's answer, and whether a conflict was found."""
    rng = random.Random(seed)
    goal, address, active = random_cost(rng)
    answer = Distances().decide(goal).answer
    found = conflicts(goal, address, active, rng, tries) if answer is Answer.HOLDS or seed % 8 == 0 else True
    return answer, found


@pytest.mark.parametrize("count", counts(60, 20_000))
@pytest.mark.parametrize("of_bits", [ones, counted])
def test_random_costs(of_bits: Callable[[Pair, int], Pair], count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With sums of single bits, and with the operator that counts them."""
    monkeypatch.setitem(globals(), "ones", of_bits)
    tally: Counter[Answer] = Counter()
    for seed in range(count):
        answer, found = judge(seed)
        tally[answer] += 1
        assert answer in (Answer.HOLDS, Answer.NOT_APPLICABLE)
        assert answer is not Answer.HOLDS or not found, seed
    assert min(tally[Answer.HOLDS], tally[Answer.NOT_APPLICABLE]) >= count // 8, tally


def compaction(size: int) -> Cost:
    """`s[base + popc(word & lanemask)]`, in elements of so many bytes: a warp writes what some of its lanes keep."""
    word, base = var("word", 1 << 32), var("base", 1 << 20)
    below = binary(XOR, binary(SHL, const(-1, 32), extend(LANE, 32, signed=False)), const(-1, 32))
    masked = binary(AND, word, below)
    total: Expr = extend(base, 32, signed=False)
    for at in range(32):
        total = binary(ADD, total, extend(extract(masked, at, 1), 32, signed=False))
    address = binary(MUL, total, const(size, 32))
    return Cost(
        Domain((LANE, word, base), TRUE), LANE, address, TRUE, find_instruction(ROWS[min(size, 16)]), None, never
    )


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_warp_that_keeps_some_of_its_lanes_has_no_conflict(size: int) -> None:
    assert Distances().decide(compaction(size)).answer is Answer.HOLDS


def test_elements_that_are_farther_apart_than_they_are_wide() -> None:
    goal = compaction(32)
    assert Distances().decide(goal).answer is Answer.NOT_APPLICABLE


@pytest.mark.parametrize("low", [0, 1])
def test_bits_beyond_what_numbers_hold_give_no_answer(low: int) -> None:
    """The word of 64 bits that all lanes share moves the lanes that a mask lets through."""
    word, every = var("word", 1 << 64), binary(SHL, const(1, 64), extend(LANE, 64, signed=False))
    masked = binary(AND, binary(SHL, word, const(low, 64)), binary(SUB, every, const(1, 64)))
    wide_mask = binary(AND, word, binary(SHL, const(-1, 64), extend(LANE, 64, signed=False)))
    for address in (extract(masked, 0, 32), masked, wide_mask, extract(wide_mask, 32, 32)):
        goal = Cost(Domain((LANE, word), TRUE), LANE, address, TRUE, find_instruction("ld.shared.b32"), None, never)
        assert Distances().decide(goal).answer is Answer.NOT_APPLICABLE


@pytest.mark.parametrize("depth", [100, 3000])
def test_hashes_of_many_rounds_give_no_answer(depth: int) -> None:
    """Rounds of a hash that are unrolled: no error, and not more memory than for some bits."""
    word, side = var("word", 1 << 32), var("side", 64)
    address = binary(XOR, word, binary(ADD, extend(LANE, 32, signed=False), extend(side, 32, signed=False)))
    for at in range(depth):
        address = binary(XOR, binary(XOR, binary(SHL, address, const(1, 32)), const(77 * at, 32)), address)
    goal = Cost(
        Domain((LANE, word, side), TRUE),
        LANE,
        binary(AND, address, const(0xFFC, 32)),
        TRUE,
        find_instruction("ld.shared.b32"),
        None,
        never,
    )
    assert Distances().decide(goal).answer is Answer.NOT_APPLICABLE


def of_lanes(addresses: list[int], size: int) -> Cost:
    """Addresses that numbers alone decide."""
    address: Expr = const(0, 32)
    for lane, at in enumerate(addresses):
        address = ite(compare(Comparison.EQ, LANE, const(lane, 5)), const(at, 32), address)
    return Cost(Domain((LANE,), TRUE), LANE, address, TRUE, find_instruction(ROWS[size]), None, never)


def test_half_words_of_a_turn_and_a_word() -> None:
    """From 2 to 128 are 126 bytes, and yet both are in bank 0."""
    addresses = [2, *([64] * 30), 128]
    assert oracle_cost("ld", 2, dict(enumerate(addresses))).ways == 2
    assert Distances().decide(of_lanes(addresses, 2)).answer is Answer.NOT_APPLICABLE
    assert Distances().decide(of_lanes([4, *addresses[1:]], 2)).answer is Answer.HOLDS


def test_half_words_planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "BANK_WORD_BYTES", 1)
    with pytest.raises(AssertionError):
        test_half_words_of_a_turn_and_a_word()


_READER = distances._Reader
_AND, _OF_BIT, _MASKED = distances._and, distances._of_bit, distances._masked
ALL, GROUPS = distances._may_come, distances._distances


def without_inverse(bit: Any) -> Any:
    return np.where((bit == 0) | (bit == 1), 1 - bit, bit)


def unknown_and_unknown_is_zero(one: Any, other: Any) -> Any:
    found = _AND(one, other)
    return np.where((found == -1) & (one != 1) & (other != 1), 0, found)


def only_those_that_surely_come(reader: Any, active: Expr) -> Any:
    found = ALL(reader, active)
    return found & (reader.bit(active, 0) == 1) if active is not TRUE else found


def only_low_bounds(self: Any, node: Expr) -> Any:
    low = self._zero + self._intervals[node][0]
    return distances._Form(low, low)


PLANTED = {
    "an inverted bit is the bit": ("_inverse", without_inverse, 52),
    "what is not known is 0": ("_and", unknown_and_unknown_is_zero, 116),
    "a bit counts in no lane": ("_of_bit", lambda bit: distances._Form((bit == 1) * 1, (bit == 1) * 1), 11),
    "a guard that is not known keeps lanes away": ("_may_come", only_those_that_surely_come, 5),
    "groups of half the lanes": (
        "_distances",
        lambda form, limits, comes, size: GROUPS(form, limits, comes, size // 2),
        35,
    ),
    "no sum wraps before it is widened": ("_low_zeros", lambda _: 64, 634),
    "a turn is longer by a word": ("BANK_PERIOD_BYTES", 132, 62),
}


@pytest.mark.parametrize(("name", "wrong", "seed"), PLANTED.values(), ids=PLANTED)
def test_planted(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any, seed: int) -> None:
    monkeypatch.setattr(distances, name, wrong)
    assert judge(seed) == (Answer.HOLDS, True)


IN_READER = {
    "values that wrap are as wide as before": ("_fits", lambda *_, **__: True, 800),
    "a lane's own value is shared": (
        "_is_shared",
        lambda self, node: distances._Kind.POINT not in self._reads[node],
        556,
    ),
    "bounds are one number": ("_between", only_low_bounds, 13),
}


@pytest.mark.parametrize(("name", "wrong", "seed"), IN_READER.values(), ids=IN_READER)
def test_planted_in_reading(monkeypatch: pytest.MonkeyPatch, name: str, wrong: Any, seed: int) -> None:
    monkeypatch.setattr(_READER, name, wrong)
    assert judge(seed) == (Answer.HOLDS, True)

"""Obligations for the engines' tests, with brute force over plain Python functions to judge them
by.

Every random map is drawn twice at once: as an expression, and as a Python function of the point
that uses Python's own integers. Brute force reads the functions only, by loops over all points.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from swzverify.engines.obligations import (
    Always,
    Apart,
    Arrays,
    Bijection,
    Cost,
    Covers,
    Injective,
    Numbers,
    Point,
    Side,
    Truths,
    second,
)
from swzverify.hardware import find_instruction
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, Expr, Var, const, ite, var
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.expr import compare as compare_bits
from swzverify.ir.integers import Integer

Plain = Callable[[Mapping[str, int]], int]


@dataclass(frozen=True, slots=True)
class Map:
    """One integer map, as an expression and as a function."""

    value: Integer
    plain: Plain


def leaf(node: Var) -> Map:
    return Map(ints.variable(node), lambda p: p[node.name])


def number(value: int) -> Map:
    return Map(ints.integer(value), lambda _: value)


def plus(a: Map, b: Map) -> Map:
    return Map(ints.add(a.value, b.value), lambda p: a.plain(p) + b.plain(p))


def minus(a: Map, b: Map) -> Map:
    return Map(ints.subtract(a.value, b.value), lambda p: a.plain(p) - b.plain(p))


def times(a: Map, factor: int) -> Map:
    return Map(ints.multiply(a.value, ints.integer(factor)), lambda p: a.plain(p) * factor)


def over(a: Map, divisor: int) -> Map:
    """Quotient; operands are not negative here, so that Python's // is C's."""
    return Map(ints.divide(a.value, ints.integer(divisor)), lambda p: a.plain(p) // divisor)


def modulo(a: Map, divisor: int) -> Map:
    return Map(ints.remainder(a.value, ints.integer(divisor)), lambda p: a.plain(p) % divisor)


def xor(a: Map, b: Map) -> Map:
    return Map(ints.bit_xor(a.value, b.value), lambda p: a.plain(p) ^ b.plain(p))


def masked(a: Map, mask: int) -> Map:
    return Map(ints.bit_and(a.value, ints.integer(mask)), lambda p: a.plain(p) & mask)


def down(a: Map, amount: int) -> Map:
    return Map(ints.shift_right(a.value, ints.integer(amount)), lambda p: a.plain(p) >> amount)


def up(a: Map, amount: int) -> Map:
    return Map(ints.shift_left(a.value, ints.integer(amount)), lambda p: a.plain(p) << amount)


def less(a: Map, b: Map) -> Map:
    return Map(ints.less(a.value, b.value), lambda p: (a.plain(p) < b.plain(p)) * 1)


def equal(a: Map, b: Map) -> Map:
    return Map(ints.equal(a.value, b.value), lambda p: (a.plain(p) == b.plain(p)) * 1)


def is_value(node: Var, value: int) -> Map:
    return equal(leaf(node), number(value))


def chosen(condition: Map, then: Map, otherwise: Map) -> Map:
    """One of two values; in plain numbers by products, because points may be arrays."""

    def plain(point: Point) -> int:
        holds = (condition.plain(point) != 0) * 1
        return holds * then.plain(point) + (1 - holds) * otherwise.plain(point)

    return Map(ints.choose(ints.truth(condition.value), then.value, otherwise.value), plain)


def swizzled(a: Map, bits: int, base: int, shift: int) -> Map:
    return xor(a, down(masked(a, ((1 << bits) - 1) << (base + shift)), shift))


def total(parts: list[Map]) -> Map:
    result = number(0)
    for part in parts:
        result = plus(result, part)
    return result


def points(nodes: tuple[Var, ...]) -> list[dict[str, int]]:
    """Every point of a box."""
    return [
        dict(zip((node.name for node in nodes), values, strict=True))
        for values in product(*(range(node.limit) for node in nodes))
    ]


def many(plain: Plain) -> Callable[[Arrays], Numbers]:
    """The same function over arrays: its operators mean the same there."""
    return lambda arrays: np.asarray(plain(arrays), dtype=np.int64)  # type: ignore[arg-type]


def truth_of(condition: Map | None) -> tuple[Expr, Plain]:
    if condition is None:
        return TRUE, lambda _: 1
    return ints.truth(condition.value), condition.plain


def always(nodes: tuple[Var, ...], holds: Map, assumed: Map | None = None) -> Always:
    assumption, plain = truth_of(assumed)
    value, keeps = many(holds.plain), many(plain)

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        return keeps(arrays) != 0, value(arrays) != 0

    return Always(Domain(nodes, assumption), ints.truth(holds.value), definition)


def injective(
    nodes: tuple[Var, ...],
    shared: tuple[Var, ...],
    inner: Map,
    extent: int = 1,
    outer: Bijection | None = None,
    outer_plain: Callable[[int], int] = lambda x: x,
    assumed: Map | None = None,
) -> Injective:
    assumption, plain = truth_of(assumed)
    where, keeps = many(lambda p: outer_plain(inner.plain(p))), many(plain)

    def definition(arrays: Arrays) -> tuple[Truths, Numbers]:
        return keeps(arrays) != 0, where(arrays)

    return Injective(Domain(nodes, assumption), shared, inner.value.bits, extent, outer, definition, extent)


def side(nodes: tuple[Var, ...], position: Map, extent: int, active: Map | None = None) -> Side:
    if active is None:
        return Side(nodes, position.value.bits, extent, many(position.plain))
    on, runs = truth_of(active)
    which = many(runs)
    return Side(nodes, position.value.bits, extent, many(position.plain), on, lambda arrays: which(arrays) != 0)


def cost(
    lane: Var,
    free: tuple[Var, ...],
    instruction: str,
    address: Map,
    active: Map | None = None,
    at_most: int | None = None,
    assumed: Map | None = None,
) -> Cost:
    assumption, keeps = truth_of(assumed)
    on, runs = truth_of(active)
    parts = [many(plain) for plain in (keeps, address.plain, runs)]

    def definition(arrays: Arrays) -> tuple[Truths, Numbers, Truths]:
        return parts[0](arrays) != 0, parts[1](arrays), parts[2](arrays) != 0

    return Cost(
        Domain((lane, *free), assumption),
        lane,
        address.value.bits,
        on,
        find_instruction(instruction),
        at_most,
        definition,
    )


def covers(
    shared: tuple[Var, ...],
    own: tuple[Var, ...],
    address: Map,
    active: Map | None,
    reach: int,
    elements: tuple[Var, ...],
    position: Map,
    extent: int,
    often: int,
    wanted: Map | None = None,
) -> Covers:
    on, runs = truth_of(active)
    counts, asked = truth_of(wanted)
    which_count = many(asked)
    where, which = many(address.plain), many(runs)

    def touched(arrays: Arrays) -> tuple[Truths, Numbers]:
        return which(arrays) != 0, where(arrays)

    return Covers(
        shared,
        (),
        Domain(own),
        address.value.bits,
        on,
        reach,
        elements,
        position.value.bits,
        extent,
        often,
        touched,
        many(position.plain),
        counts,
        None if wanted is None else lambda arrays: which_count(arrays) != 0,
    )


def apart(
    shared: tuple[Var, ...],
    first: Side,
    other: Side,
    condition: Expr = TRUE,
    tags: tuple[tuple[str, str], ...] = (),
) -> Apart:
    return Apart(shared, (), first, other, condition, tags)


def table(lane: Var, values: list[int], width: int) -> Expr:
    """An expression that looks a lane's value up: a chain of choices."""
    result: Expr = const(values[-1], width)
    for index in reversed(range(len(values) - 1)):
        here = compare_bits(Cmp.EQ, lane, const(index, lane.width))
        result = ite(here, const(values[index], width), result)
    return result


# --- brute force ---------------------------------------------------------------------------------------------------


def ranges_meet(a: int, length_a: int, b: int, length_b: int) -> bool:
    return any(unit in range(b, b + length_b) for unit in range(a, a + length_a))


def always_holds(nodes: tuple[Var, ...], holds: Plain, assumed: Plain = lambda _: 1) -> bool | None:
    """None when no point satisfies the assumption."""
    kept = [p for p in points(nodes) if assumed(p)]
    return all(holds(p) for p in kept) if kept else None


def is_injective(
    nodes: tuple[Var, ...],
    shared: tuple[Var, ...],
    position: Plain,
    extent: int,
    assumed: Plain = lambda _: 1,
) -> bool:
    """Every unit belongs to one point at most, for each value of what is shared."""
    taken: set[tuple[object, ...]] = set()
    for point in points(nodes):
        if not assumed(point):
            continue
        here = tuple(point[node.name] for node in shared)
        for unit in range(extent):
            key = (*here, position(point) + unit)
            if key in taken:
                return False
            taken.add(key)
    return True


def collide(
    point: Mapping[str, int], distinct: tuple[Var, ...], position: Plain, extent: int, assumed: Plain = lambda _: 1
) -> bool:
    """Whether an engine's two points are different points in each other's way."""
    other = {**point, **{node.name: point[second(node.name)] for node in distinct}}
    if all(point[node.name] == other[node.name] for node in distinct) or not (assumed(point) and assumed(other)):
        return False
    if any(not 0 <= p[node.name] < node.limit for p in (point, other) for node in distinct):
        return False
    return abs(position(point) - position(other)) < extent


def plain_cost(instruction: str, addresses: list[int | None]) -> tuple[int, int]:
    """(wavefronts, minimum) by the text of docs/semantics.md, section 4."""
    if instruction == "cp.async.16":
        return _octets_cost(addresses)
    matrix = "matrix" in instruction
    width = 16 if matrix else {"b8": 1, "b16": 2, "b32": 4, "b64": 8}.get(instruction.rsplit(".", maxsplit=1)[-1], 4)
    if ".v" in instruction:
        count = int(instruction.split(".v")[1][0])
        width *= count
    if instruction.startswith("cp.async"):
        width = int(instruction.rsplit(".", maxsplit=1)[-1])
    group = {1: 32, 2: 32, 4: 32, 8: 16, 16: 8}[width]
    used = 8 * int(instruction.split(".x")[1][0]) if matrix else 32
    lanes: list[int | None] = [address if lane < used else None for lane, address in enumerate(addresses)]
    if instruction.startswith("ld.") and width >= 8:
        for distance in (1, 2):
            if all(
                lanes[lane] is None or lanes[lane ^ distance] is None or lanes[lane] == lanes[lane ^ distance]
                for lane in range(32)
            ):
                group = {8: 32, 16: 16}[width]
    repeats = instruction.startswith(("atom", "cp.async"))
    wavefronts = minimum = 0
    for start in range(0, used, group):
        here = [address for address in lanes[start : start + group] if address is not None]
        if not here:
            continue
        words = [address // 4 + q for address in here for q in range(max(1, width // 4))]
        counted = words if repeats else sorted(set(words))
        minimum += 1
        wavefronts += max(sum(word % 32 == bank for word in counted) for bank in range(32))
    return wavefronts, minimum


def _octets_cost(addresses: list[int | None]) -> tuple[int, int]:
    """The rule of its own, unit by unit; a pair is met at its even lane."""
    copies = [address if address not in addresses[:lane] else None for lane, address in enumerate(addresses)]
    wavefronts = minimum = 0
    for start in range(0, 32, 8):
        classes: dict[tuple[int, str, int, int], list[tuple[int, int]]] = {}
        for lane in range(start, start + 8):
            own, mate = copies[lane], copies[lane ^ 1]
            if own is None:
                continue
            pair = mate is not None and own // 32 == mate // 32
            if pair and lane % 2:
                continue
            kind, half = ("both", 0) if pair else (("even", 0), ("odd", 1))[lane % 2]
            sector, place = lane // 2 % 4, own // 32 % 4
            key = (own // 128, kind, half ^ own // 16 % 2, (sector ^ place) % 2)
            classes.setdefault(key, []).append((sector % 2, (sector ^ place) // 2))
        minimum += bool(classes)
        for units in classes.values():
            wavefronts += max(len({move for odd, move in units if odd == wanted}) for wanted in (0, 1))
    return wavefronts, minimum


def cost_holds(goal: Cost, address: Plain, active: Plain, assumed: Plain, free: list[Point]) -> bool | None:
    """Over some free points; None when nothing runs."""
    found: list[bool] = []
    for point in free:
        if not assumed(point):
            continue
        lanes: list[int | None] = []
        for lane in range(32):
            here = {**point, goal.lane.name: lane}
            lanes.append(address(here) if active(here) else None)
        if all(lane is None for lane in lanes):
            continue
        wavefronts, minimum = plain_cost(goal.instruction.name, lanes)
        found.append(wavefronts <= (minimum if goal.at_most is None else goal.at_most))
    return all(found) if found else None


# --- random maps ---------------------------------------------------------------------------------------------------


def random_box(rng: random.Random, most: int = 3, largest: int = 9) -> tuple[Var, ...]:
    count = rng.randint(1, most)
    limits = [rng.choice([1, 2, 3, 4, 5, 8, largest]) for _ in range(count)]
    return tuple(var(f"v{i}", limit) for i, limit in enumerate(limits))


def random_map(rng: random.Random, nodes: tuple[Var, ...], depth: int = 3) -> Map:
    """Any map that is never negative."""
    if depth == 0 or rng.random() < 0.15:
        return leaf(rng.choice(nodes)) if rng.random() < 0.85 else number(rng.randrange(20))
    a = random_map(rng, nodes, depth - 1)
    match rng.randrange(9):
        case 0:
            return times(a, rng.choice([1, 2, 3, 4, 5, 8, 33]))
        case 1:
            return over(a, rng.choice([2, 3, 4, 5, 7]))
        case 2:
            return modulo(a, rng.choice([2, 3, 4, 5, 8]))
        case 3:
            return masked(a, rng.choice([1, 3, 5, 6, 7, 12]))
        case 4:
            return down(a, rng.randrange(3))
        case 5:
            return up(a, rng.randrange(3))
        case 6 | 7:
            return plus(a, random_map(rng, nodes, depth - 1))
        case _:
            return xor(a, random_map(rng, nodes, depth - 1))


def random_strides(rng: random.Random, nodes: tuple[Var, ...]) -> Map:
    """A strided sum: often a compact layout, sometimes padded, sometimes with strides that collide."""
    order = list(nodes)
    rng.shuffle(order)
    parts: list[Map] = []
    stride = rng.choice([1, 1, 1, 2, 3])
    for node in order:
        own = stride if rng.random() < 0.75 else rng.randrange(0, 12)
        parts.append(times(leaf(node), own))
        stride = own * node.limit + rng.choice([0, 0, 0, 1, 2, 4])
    return total(parts)


def random_condition(rng: random.Random, nodes: tuple[Var, ...]) -> Map:
    """True more often than not at single points, so that some hold everywhere."""
    a, b = random_map(rng, nodes, 2), random_map(rng, nodes, 2)
    match rng.randrange(6):
        case 0:
            return less(a, plus(b, number(rng.choice([1, 20, 200]))))
        case 1:
            # the same map spelt twice
            return equal(xor(a, b), xor(b, a))
        case 2:
            return less(modulo(a, 8), number(rng.choice([3, 8])))
        case 3:
            return equal(masked(a, 6), minus(a, masked(a, 1)) if rng.random() < 0.3 else masked(a, 6))
        case 4:
            return equal(modulo(plus(times(a, 4), number(rng.choice([0, 1]))), 4), number(rng.choice([0, 1])))
        case _:
            return equal(plus(times(over(a, 3), 3), modulo(a, 3)), a)


def negated(condition: Map) -> Map:
    return equal(condition, number(0))


def bijection(width: int, image: Callable[[Map], Map]) -> Bijection:
    """A map of one variable of `width` bits, cut to them."""
    x = var("x", 1 << width)
    bits = image(leaf(x)).value.bits
    return Bijection(x, bits)


def replace_limit(goal: Cost, at_most: int) -> Cost:
    """The same cost with a bound."""
    return replace(goal, at_most=at_most)

"""An access of a kernel as the cost that a spec's engines decide.

The thread's coordinates become expressions of the lane and the warp. What all lanes share is a free
variable, whatever binds it; what each lane has of its own is a choice of the lane. So the cost
holds only if it does for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from swzverify.compiled.kernel import Leaf, TripsLeaf
from swzverify.compiled.kernel.arithmetic import add, is_zero, less, mul, shift_left, shift_right, sub, widened
from swzverify.compiled.kernel.lanes import places_of
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.narrow import low_bits, narrowed
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.collide import known_of
from swzverify.compiled.scan.price import Block, alone
from swzverify.compiled.scan.split import Parts, is_shared
from swzverify.engines.obligations import Arrays, Cost, GatherCost, Numbers, Truths
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES, Instruction
from swzverify.ir.bounded import bounded
from swzverify.ir.domain import Domain
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import (
    TRUE,
    Comparison,
    Const,
    Expr,
    Extract,
    Var,
    compare,
    conjunction,
    const,
    extract,
    operands,
    postorder,
    substitute,
    var,
    variables,
)

GoalsMade: TypeAlias = dict[tuple[object, ...], Cost | GatherCost]
"""Goals of one function by all that they are made of."""
_LANE: Final = "lane"
_WARP: Final = "warp"
_REST: Final = "beyond a multiple of the width"
_PLACE: Final = "place modulo 128"
_OCTETS: Final = "octets that come"


def cost_goal(
    row: Instruction, parts: Parts, block: Block, guard: Expr, made: GoalsMade | None = None
) -> Cost | GatherCost:
    """The cost goal that lanes under `guard` have no bank conflict, for a row of the plain rule.

    The part of the address that all lanes add is left out, because it rotates the banks. Only its number
    stays, as far as it counts. Goals in `made` are not made again: an access asks for one several times, and
    its readings have parts in common.
    """
    address = add(parts.varying, const(parts.shared.number % BANK_WORD_BYTES, 32))
    guard, leaves = TRUE if row.warp_wide else guard, parts.leaves
    known = known_of(tuple(each for each in variables(address, guard) if each.name in leaves), leaves)
    key = row, block, address, guard, *(leaves.get(each.name) for each in variables(address, guard, *known))
    made = {} if made is None else made
    if key not in made:
        made[key] = _goal(row, parts, block, address, guard)
    return made[key]


def octet_goal(
    row: Instruction, parts: Parts, block: Block, places: Sequence[int], *, is_partial: bool
) -> Cost | GatherCost:
    """The cost goal by the octet rule.

    All lanes add one of some places at equal distances modulo 128 bytes. With `is_partial`, any octets of
    a warp execute the access, each of them whole.
    """
    step = places[1] - places[0] if len(places) > 1 else 0
    place = add(mul(widened(var(_PLACE, len(places)), 32), const(step, 32)), const(places[0], 32))
    address, guard = add(parts.varying, place), parts.own_guard
    if is_partial:
        octet = widened(extract(var("laneid", LANES), 3, 2), 4)
        guard = conjunction((guard, extract(shift_right(var(_OCTETS, 16), octet, signed=False), 0, 1)))
    return _goal(row, parts, block, address, guard)


def _goal(row: Instruction, parts: Parts, block: Block, address: Expr, guard: Expr) -> Cost | GatherCost:
    row, leaves, plain = alone(row), parts.leaves, (address, guard)
    address, is_aligned = _aligned(row, address)
    guard = conjunction((guard, is_aligned))
    known = known_of(tuple(each for each in variables(address, guard) if each.name in leaves), leaves)
    read = [each for each in variables(address, guard, *known) if each.name not in block.point]
    own = tuple(each for each in read if each.name in leaves and not is_shared(leaves[each.name]))
    of_all = [each for each in known if not any(node in own or node.name in block.point for node in variables(each))]
    facts = conjunction(of_all)
    of_each = [each for each in known if each not in of_all]
    of_lanes = conjunction((guard, *of_each))
    lane, warp = var(_LANE, LANES), var(_WARP, block.warps)
    said = (plain[0], conjunction((plain[1], *of_each)), facts)
    stated = partial(_stated, block.shape, row, said, leaves, own)
    definition = _Definition(block, row.address_lanes, (facts, address, of_lanes), stated)
    places = coordinates(block.shape, lane, warp)
    address = narrowed(address)
    narrow = narrow_variables((address, facts, of_lanes), [leaves[each.name] for each in read if each.name in leaves])
    new: dict[Var, Expr] = {each: widened(less_wide, each.width) for each, less_wide in narrow.items()}
    for each in variables(address, of_lanes):
        if each.name in places:
            new[each] = _fitted(places[each.name], each.width)
    exists = [] if block.count % LANES == 0 else [less(places["number"], const(block.count, 16), signed=False)]
    if row.address_lanes < LANES:
        exists.append(less(lane, const(row.address_lanes, lane.width), signed=False))
    # Facts that the narrower limits imply are none.
    facts, of_lanes = (bounded(substitute(each, new)) for each in (facts, of_lanes))
    goal = Cost(
        Domain((lane, warp, *(narrow.get(each, each) for each in read if each not in own)), facts),
        lane,
        normal(narrowed(substitute(address, new))),
        conjunction((*exists, narrowed(of_lanes))),
        row,
        None,
        definition,
    )
    return GatherCost(goal, tuple(narrow.get(each, each) for each in own)) if own else goal


def plainly_named(goal: Cost | GatherCost) -> tuple[Cost | GatherCost, dict[str, str]]:
    """The same cost with variables `v0`, `v1`, ... beside lane and warp, and their names in `goal`.

    Accesses of an unrolled loop differ in names alone.
    """
    cost = goal.cost if isinstance(goal, GatherCost) else goal
    own = goal.own if isinstance(goal, GatherCost) else ()
    read = [each for each in (*cost.domain.variables, *own) if each.name not in (_LANE, _WARP)]
    new = {each.name: f"v{at}" for at, each in enumerate(read)}

    def named(value: Expr) -> Expr:
        whole = {each: var(new[each.name], each.limit) for each in variables(value) if each.name in new}
        return substitute(value, {**whole})

    if not isinstance(cost.definition, _Definition):
        return goal, {}
    roots = cost.definition.roots
    again = replace(
        cost,
        domain=Domain(tuple(_called(each, new) for each in cost.domain.variables), named(cost.domain.assumption)),
        address=named(cost.address),
        active=named(cost.active),
        definition=replace(cost.definition, roots=(named(roots[0]), named(roots[1]), named(roots[2]))),
    )
    names = {plain: name for name, plain in new.items()}
    return (GatherCost(again, tuple(_called(each, new) for each in own)) if own else again), names


def _called(variable: Var, names: Mapping[str, str]) -> Var:
    return var(names.get(variable.name, variable.name), variable.limit)


def banks_goal(goal: Cost | GatherCost) -> Cost | GatherCost | None:
    """The stronger goal that each lane of a group has a slot of banks to itself.

    The cost lets lanes read one word, but this is a query of only seven bits of the address. None for
    accesses to parts of words.
    """
    cost = goal.cost if isinstance(goal, GatherCost) else goal
    row = cost.instruction
    if row.width_bytes < BANK_WORD_BYTES or row.by_octets:
        return None
    address = low_bits(cost.address, BANK_PERIOD_BYTES.bit_length() - 1)
    roots = (address, cost.active, cost.domain.assumption)
    bits = bits_read(roots)
    read = [each for each in variables(*roots) if each.name not in (_LANE, _WARP)]
    narrow = {each: var(each.name, 1 << bits[each]) for each in read if 1 << bits[each] < each.limit}
    new: dict[Var, Expr] = {each: widened(less_wide, each.width) for each, less_wide in narrow.items()}
    address, active, facts = (substitute(each, new) for each in roots)
    banks = replace(
        cost,
        domain=Domain(tuple(narrow.get(each, each) for each in cost.domain.variables), facts),
        address=widened(address, cost.address.width),
        active=active,
        instruction=replace(row, counts_equal_words=True),
        definition=_Turn(cost.definition),
    )
    if not isinstance(goal, GatherCost):
        return banks
    return GatherCost(banks, tuple(narrow.get(each, each) for each in goal.own))


@dataclass(frozen=True, slots=True)
class _Turn:
    """The plain reading of a cost, with the addresses within one turn of the banks."""

    whole: Callable[[Arrays], tuple[Truths, Numbers, Truths]]

    def __call__(self, arrays: Arrays) -> tuple[Truths, Numbers, Truths]:
        counts, address, active = self.whole(arrays)
        return counts, address % BANK_PERIOD_BYTES, active


def bits_read(roots: tuple[Expr, ...]) -> dict[Expr, int]:
    """How many low bits of each part of some expressions are read."""
    bits = {root: root.width for root in roots}
    for node in postorder(*roots):
        for part in operands(node):
            needed = node.low + node.width if isinstance(node, Extract) else part.width
            bits[part] = max(bits.get(part, 0), needed)
    return bits


def narrow_variables(roots: tuple[Expr, ...], read: Sequence[Leaf]) -> dict[Var, Var]:
    """Variables of fewer values, if only low bits are read or an upper bound is known.

    Engines that enumerate use limits, and not conditions.
    """
    bits = bits_read(roots)
    found: dict[Var, Var] = {}
    for leaf in read:
        variable = leaf.variable
        limit = 1 << bits.get(variable, variable.width)
        limit = min(limit, _counted(leaf))
        if limit < variable.limit:
            found[variable] = var(variable.name, limit)
    return found


def _counted(leaf: Leaf) -> int:
    """How many values a leaf has: of a loop whose trips are counted so many."""
    if isinstance(leaf, TripsLeaf) and leaf.values is not None:
        return len(leaf.values)
    return leaf.most + 1 if isinstance(leaf, TripsLeaf) and leaf.most is not None else leaf.variable.limit


def coordinates(shape: BlockShape, lane: Expr, warp: Expr) -> dict[str, Expr]:
    """The coordinates of a thread by their names, and its `number` in the block, of 16 bits.

    >>> from swzverify.ir.evaluate import evaluate
    >>> found = coordinates((8, 16, 1), var("lane", 32), var("warp", 4))
    >>> [evaluate(found[name], {"lane": 9, "warp": 2}) for name in ("tid.x", "tid.y", "tid.z")]
    [1, 9, 0]
    """
    number = add(widened(lane, 16), shift_left(widened(warp, 16), const(5, 16)))
    return {**places_of(number, shape), "number": number, "laneid": lane}


def _fitted(value: Expr, width: int) -> Expr:
    return widened(value, width) if value.width <= width else extract(value, 0, width)


def _aligned(row: Instruction, address: Expr) -> tuple[Expr, Expr]:
    """The address as a multiple of the width, and whether a lane may have it.

    All active lanes are equally far beyond a multiple, else one of them faults. All lanes share that
    distance.
    """
    bits = row.width_bytes.bit_length() - 1
    if bits == 0:
        return address, TRUE
    low = low_bits(address, bits)
    if row.width_bytes < BANK_WORD_BYTES:
        return address, is_zero(low)
    rest = low if isinstance(low, Const) else var(_REST, row.width_bytes)
    return sub(address, widened(rest, address.width)), compare(Comparison.EQ, low, rest)


@dataclass(frozen=True, slots=True)
class Stated:
    """A cost over the thread's coordinates and the open values.

    `own` are the values of which each lane has its own. The address may be beyond a multiple of the
    width, by the same distance in all lanes that count.
    """

    shape: BlockShape
    row: Instruction
    address: Expr
    guard: Expr
    facts: Expr
    own: tuple[Var, ...]


def _stated(
    shape: BlockShape, row: Instruction, roots: tuple[Expr, Expr, Expr], leaves: Mapping[str, Leaf], own: Sequence[Var]
) -> Stated:
    """The address, the guard and the facts, with variables of as many values as they have."""
    counted = {each: _counted(leaves[each.name]) for each in variables(*roots) if each.name in leaves}
    few = {each: var(each.name, count) for each, count in counted.items() if count < each.limit}
    new: dict[Var, Expr] = {each: widened(less_wide, each.width) for each, less_wide in few.items()}
    address, guard, facts = (bounded(substitute(each, new)) for each in roots)
    return Stated(shape, row, address, guard, facts, tuple(few.get(each, each) for each in own))


def stated(goal: Cost | GatherCost) -> Stated:
    """What a cost of this module says."""
    definition = (goal.cost if isinstance(goal, GatherCost) else goal).definition
    if not isinstance(definition, _Definition):
        raise AssertionError(goal)
    return definition.stated()


def plain_roots(goal: Cost | GatherCost) -> tuple[Expr, ...]:
    """The expressions that the plain reading of a cost of this module evaluates."""
    definition = (goal.cost if isinstance(goal, GatherCost) else goal).definition
    whole = definition.whole if isinstance(definition, _Turn) else definition
    return whole.roots if isinstance(whole, _Definition) else ()


@dataclass(frozen=True, slots=True)
class _Definition:
    """The plain reading of a cost: the thread's coordinates are looked up, not computed.

    Two equal definitions belong to equal questions, which are asked once. `stated` is made when a certificate needs it.
    """

    block: Block
    address_lanes: int
    roots: tuple[Expr, Expr, Expr]
    stated: Callable[[], Stated] = field(compare=False)

    def __call__(self, arrays: Arrays) -> tuple[Truths, Numbers, Truths]:
        number = np.asarray(arrays[_WARP]) * LANES + arrays[_LANE]
        env = {name: values.reshape(-1)[number] for name, values in self.block.point.items()}
        env |= {name: values for name, values in arrays.items() if name not in (_LANE, _WARP)}
        facts, address, guard = evaluate_many(self.roots, env)
        exists = self.block.exists.reshape(-1)[number] & (arrays[_LANE] < self.address_lanes)
        return np.asarray(facts != 0), np.asarray(address), np.asarray((guard != 0) & exists)

"""Coverage: no element touched too often, by Z3; none too seldom, by counting all touches."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import numpy as np
import z3

from swzverify.engines.enumeration import everywhere, point_at
from swzverify.engines.obligations import Answer, Covers, Finding, second
from swzverify.engines.smt.injective import digit_differences
from swzverify.engines.smt.linear import linear_sum
from swzverify.engines.smt.query import NAME, Query, copied, evaluable, joined_bits, overlap, value
from swzverify.engines.smt.terms import Bits, Truth
from swzverify.ir.domain import representatives
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Var

MAX_TOUCHES = 3


def covers(goal: Covers, rlimit: int) -> Finding:
    """Decide that no times + 1 points touch one element, and that all touches are times * elements.

    Z3 decides the first part; the second is a count. Bits of the points that change neither address nor
    activity double the touches of every element. With these bits fixed, fewer touches must be told
    apart.
    """
    if not evaluable(goal.address, goal.active, goal.points.assumption, goal.position, goal.wanted):
        return Finding(NAME, Answer.NOT_APPLICABLE, detail="positions of more than 63 bits")
    counted = _count_touches(goal)
    if counted is None:
        return Finding(NAME, Answer.NOT_APPLICABLE, detail="too many points to count")
    if isinstance(counted, Finding):
        return counted
    idle = _idle_bits(goal, rlimit) if goal.times > 1 else []
    while idle and goal.times % (1 << len(idle)):
        idle.pop()
    times = goal.times >> len(idle)
    if times == 1 and (_apart_as_sums(goal, idle, rlimit) or _apart_in_blocks(goal, idle, rlimit)):
        return Finding(NAME, Answer.HOLDS)
    if times > MAX_TOUCHES:
        return Finding(NAME, Answer.NOT_APPLICABLE, detail=f"more than {MAX_TOUCHES} different touches per element")
    query = Query()
    terms = query.terms
    element = terms.term(goal.position)
    query.require(terms.truth(goal.wanted))
    tickets: list[Bits] = []
    for number in range(times + 1):
        given = copied(terms, goal.points.variables, f"#{number}")
        query.require(terms.truth(goal.points.assumption, given), terms.truth(goal.active, given))
        query.require(*overlap(terms, terms.term(goal.address, given), goal.reach, element, goal.extent))
        query.require(*(z3.Extract(bit, bit, given[node]) == 0 for node, bit in idle))
        tickets.append(joined_bits(list(given.values())))
    for earlier, later in pairwise(tickets):
        query.require(z3.ULT(earlier, later))
    model = query.solve(rlimit)
    if model is None:
        return Finding(NAME, Answer.HOLDS)
    point = {node.name: value(model, terms, node.name, node) for node in goal.shared}
    point |= {second(node.name): value(model, terms, node.name, node) for node in goal.elements}
    return Finding(NAME, Answer.FAILS, point)


def _apart_as_sums(goal: Covers, idle: list[tuple[Var, int]], rlimit: int) -> bool:
    """Whether linear arithmetic shows that no two points' ranges meet.

    It applies if ranges consist of whole elements.
    """
    if idle:
        return False
    address, position = linear_sum(goal.address), linear_sum(goal.position)
    if address is None or position is None or goal.reach % goal.extent:
        return False
    numbers = [address.constant, position.constant, *address.factors.values(), *position.factors.values()]
    if any(number % goal.extent for number in numbers):
        return False
    return digit_differences(goal.points.variables, address, goal.reach, rlimit) is None


def _apart_in_blocks(goal: Covers, idle: list[tuple[Var, int]], rlimit: int) -> bool:
    """Whether ranges and elements lie in aligned blocks, and no two points take one block.

    A much easier question than how ranges overlap, where lengths are powers of two. It says nothing
    when the answer is no.
    """
    if goal.reach % goal.extent or goal.reach & (goal.reach - 1) or goal.extent & (goal.extent - 1):
        return False
    query = Query()
    terms = query.terms
    block_bits, element_bits = goal.reach.bit_length() - 1, goal.extent.bit_length() - 1
    copies = [copied(terms, goal.points.variables, f"#{number}") for number in range(2)]
    addresses = [terms.term(goal.address, given) for given in copies]
    for given in copies:
        query.require(terms.truth(goal.points.assumption, given), terms.truth(goal.active, given))
        query.require(*(z3.Extract(bit, bit, given[node]) == 0 for node, bit in idle))
    tickets = [joined_bits(list(given.values())) for given in copies]
    query.require(z3.ULT(*tickets))
    query.require(
        z3.Or(
            *(_unaligned(address, block_bits) for address in addresses),
            _unaligned(terms.term(goal.position), element_bits),
            addresses[0] == addresses[1],
        )
    )
    return query.solve(rlimit) is None


def _unaligned(position: Bits, low_bits: int) -> Truth:
    """Whether any of the lowest bits is set."""
    low = min(low_bits, position.size())
    return z3.Extract(low - 1, 0, position) != 0 if low else z3.BoolVal(False, position.ctx)


def _idle_bits(goal: Covers, rlimit: int) -> list[tuple[Var, int]]:
    """Bits of the points' variables that change neither address, activity nor assumption.

    Evaluation proposes them and Z3 proves them; without a proof the list is empty.
    """
    candidates = _seemingly_idle(goal)
    if not candidates:
        return []
    query = Query()
    terms = query.terms
    roots = (goal.address, goal.active, goal.points.assumption)
    changes: list[Truth] = []
    for node, bit in candidates:
        flipped = {node: terms.variable(node) ^ terms.fixed(1 << bit, node.width)}
        changes += [terms.term(root) != terms.term(root, flipped) for root in roots]
    query.require(z3.Or(changes))
    return candidates if query.solve(rlimit) is None else []


def _seemingly_idle(goal: Covers) -> list[tuple[Var, int]]:
    """Bits whose flip changes nothing where the other variables are 0, or all ones."""
    found: list[tuple[Var, int]] = []
    for node in goal.points.variables:
        for bit in range(node.width):
            if node.limit % (2 << bit):
                continue  # a flip could leave the limit
            if all(_unchanged(goal, node, bit, last) for last in (False, True)):
                found.append((node, bit))
    return found


def _unchanged(goal: Covers, node: Var, bit: int, last: bool) -> bool:
    own = np.arange(node.limit, dtype=np.int64)
    every = (*goal.points.variables, *goal.shared)
    point = {other.name: np.full(1, (other.limit - 1) * last, dtype=np.int64) for other in every if other is not node}
    roots = (goal.address, goal.active, goal.points.assumption)
    before = evaluate_many(roots, {**point, node.name: own})
    after = evaluate_many(roots, {**point, node.name: own ^ (1 << bit)})
    return all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def _count_touches(goal: Covers) -> Finding | bool | None:
    """Whether all touches add up to times * elements; a finding where an element has too few."""
    shared, points = representatives(goal.shared, goal.enough), goal.points.representatives()
    cells = {node.name: node.limit for node in goal.elements}
    if prod(shared.values()) * (prod(points.values()) + prod(cells.values())) > 1 << 21:
        return None
    for index in range(prod(shared.values())):
        where = point_at(shared, index)
        common = {name: np.full(1, value, dtype=np.int64) for name, value in where.items()}
        roots = (goal.address, goal.active, goal.points.assumption)
        address, active, assumed = everywhere(roots, points, common)
        position, wanted = everywhere((goal.position, goal.wanted), cells, common)
        starts = np.sort(address[(active == 1) & (assumed == 1)])
        if starts.size == 0 and goal.is_wanted is None:
            return Finding(NAME, Answer.EMPTY)
        touches = np.searchsorted(starts, position + goal.extent) - np.searchsorted(
            starts, position - goal.reach, side="right"
        )
        touches = np.where(wanted == 1, touches, goal.times)
        if int(touches.sum()) < goal.times * position.size:
            fewest = int(np.argmin(touches))
            element = {second(name): value for name, value in point_at(cells, fewest).items()}
            return Finding(NAME, Answer.FAILS, where | element)
    return True

"""Costs: a pair of conflicting lanes, variables that separate, or the whole rule as one formula.

Variables that do not separate are enumerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
import z3

from swzverify.engines.enumeration import everywhere, point_at
from swzverify.engines.obligations import (
    READ_TWICE,
    Answer,
    CopyCost,
    Cost,
    Finding,
    Numbers,
    Truths,
    WarpCost,
    WorstCost,
)
from swzverify.engines.prices import MISALIGNED, Price, are_aligned, price
from swzverify.engines.smt.copies import read_twice, sourced_costs
from swzverify.engines.smt.linear import linear_sum
from swzverify.engines.smt.parts import parts_of
from swzverify.engines.smt.query import NAME, Query, evaluable, finding
from swzverify.engines.smt.terms import Bits, Model
from swzverify.engines.smt.warp_rule import joined, lane_terms, of_lanes, pair_conflict, same_group, wavefronts
from swzverify.engines.worst import judged
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction, turn_bytes
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, Var, const, substitute, variables

MAX_ENUMERATED_ROWS = 4096


def cost(goal: Cost, rlimit: int) -> Finding:
    """Decide that no two lanes conflict, or a number of wavefronts, by the cheapest applicable method."""
    row = goal.instruction
    if goal.at_most is None and not row.by_octets and not row.is_global:
        return _conflict_pair(goal, rlimit)
    return _by_separation(goal, rlimit) or _by_parts(goal, rlimit) or _by_counting(goal, rlimit)


def _conflict_pair(goal: Cost, rlimit: int) -> Finding:
    """Look for two symbolic lanes of one group that conflict.

    For wide loads, the two lanes may be in one joined group, where groups join.
    """
    row = goal.instruction
    # Joined groups hold the single ones: without a conflict there, there is none at all.
    model = _pair_model(goal, row.joined_group_lanes if row.joins else row.group_lanes, rlimit, join=False)
    if model is not None and row.joins:
        model = _pair_model(goal, row.group_lanes, rlimit, join=False)
        if model is None:
            model = _pair_model(goal, row.joined_group_lanes, rlimit, join=True)
    return finding(model, goal.free)


def _pair_model(goal: Cost, group_lanes: int, rlimit: int, *, join: bool) -> Model | None:
    query = Query()
    terms = query.terms
    lanes = [terms.variable(goal.lane, name) for name in ("lane.a", "lane.b")]
    width = max(8, goal.address.width)
    addresses = [terms.widen(terms.term(goal.address, {goal.lane: lane}), width) for lane in lanes]
    query.require(terms.truth(goal.domain.assumption))
    query.require(*(terms.truth(goal.active, {goal.lane: lane}) for lane in lanes))
    query.require(same_group(lanes[0], lanes[1], group_lanes), pair_conflict(goal.instruction, *addresses))
    if join:
        query.require(joined(*lane_terms(goal, terms, width)))
    return query.solve(rlimit)


def copy_cost(goal: CopyCost, rlimit: int) -> Finding:
    """The same for copies whose sources are known, which have the octet rule for any sources."""
    cost, source = goal.cost, goal.source
    found = _by_separation(cost, rlimit, source) or _by_parts(cost, rlimit, source)
    return found or _by_counting_copies(cost, rlimit, source)


def _by_separation(goal: Cost, rlimit: int, source: Expr | None = None) -> Finding | None:
    """Prove that free variables only flip or only shift all addresses alike; enumerate the others.

    Flipping the same bits in every lane permutes units and slots. Growing all addresses by whole words
    (whole lines for the octet rule) rotates the banks; by whole sectors, it moves sectors. Neither
    changes the cost, so one value of such variables stands for all. Sources must shift by whole lines,
    too.
    """
    in_conditions = set(variables(goal.active, goal.domain.assumption))
    wide = [node for node in goal.free if node.limit > MAX_ENUMERATED_ROWS]
    row = goal.instruction
    read = () if source is None else (source,)
    if not evaluable(goal.address, goal.active, goal.domain.assumption, *read):
        return None
    units = [(row.width_bytes, False), (turn_bytes(row), True)]
    if linear_sum(goal.address) is not None:
        units.reverse()  # sums shift, XORs flip: try what is likelier first
    choices = [goal.free, tuple(node for node in goal.free if node not in in_conditions), tuple(wide)]
    for index, chosen in enumerate(choices):
        if chosen in choices[:index] or any(node in in_conditions for node in chosen):
            continue
        rest = tuple(node for node in goal.free if node not in chosen)
        if prod(node.limit for node in rest) > MAX_ENUMERATED_ROWS:
            continue
        if not chosen or (
            all(_separates(each, goal.lane, chosen, BANK_PERIOD_BYTES, True, rlimit) for each in read)
            and any(_separates(goal.address, goal.lane, chosen, unit, shift, rlimit) for unit, shift in units)
        ):
            return _enumerated(goal, chosen, rest, source)
    return None


def _by_parts(goal: Cost, rlimit: int, source: Expr | None = None) -> Finding | None:
    """The same, with the low and the high part of wide variables as variables of their own."""
    parts = parts_of(goal, MAX_ENUMERATED_ROWS, () if source is None else variables(source))
    found = None if parts is None else _by_separation(parts.goal, rlimit, source)
    return None if parts is None or found is None else parts.restored(found)


def _by_counting(goal: Cost, rlimit: int) -> Finding:
    """The rule itself, all 32 lanes of it, as one formula."""
    query = Query()
    terms = query.terms
    addresses, active = lane_terms(goal, terms, max(8, goal.address.width))
    most, minimum = wavefronts(goal.instruction, addresses, active)
    query.require(terms.truth(goal.domain.assumption), z3.Or(active), z3.UGT(most, _limit(goal, most, minimum)))
    return finding(query.solve(rlimit), goal.free)


def _by_counting_copies(goal: Cost, rlimit: int, source: Expr) -> Finding:
    """The rule for any sources as one formula.

    Where it gives a lower bound only, the question stays open unless that is too much already.
    """
    width = max(8, goal.address.width, source.width)
    for is_repeated in (False, True):
        query = Query()
        terms = query.terms
        addresses, active = lane_terms(goal, terms, width)
        sources = [terms.widen(terms.term(each), width) for each in of_lanes(goal, source)]
        query.require(terms.truth(goal.domain.assumption), z3.Or(active))
        if is_repeated:
            query.require(read_twice(addresses, sources, active))
        else:
            most, minimum = sourced_costs(addresses, sources, active)
            query.require(z3.UGT(most, _limit(goal, most, minimum)))
        found = query.solve(rlimit)
        if found is not None:
            return Finding(NAME, Answer.UNDECIDED, detail=READ_TWICE) if is_repeated else finding(found, goal.free)
    return Finding(NAME, Answer.HOLDS)


def _limit(goal: Cost, most: Bits, minimum: Bits) -> Bits:
    """What the wavefronts may be, as a count."""
    return minimum if goal.at_most is None else z3.BitVecVal(min(goal.at_most, 1023), most.size(), most.ctx)


@lru_cache(maxsize=1024)
def _separates(address: Expr, lane: Var, chosen: tuple[Var, ...], unit: int, shift: bool, rlimit: int) -> bool:
    """Whether a(lane, chosen) is a(lane, 0), shifted or flipped by the step from a(0, 0) to a(0, chosen).

    This must hold for all values of the other variables. The step must be a multiple of `unit` bytes.
    """
    if not _seems_separate(address, lane, chosen, unit, shift):
        return False
    query = Query()
    terms = query.terms
    width = max(32, address.width)
    zero = {node: const(0, node.width) for node in chosen}
    lane_zero = {lane: const(0, lane.width)}
    both, plain, moved, origin = (
        terms.widen(terms.term(substitute(address, dict(given))), width)
        for given in ({}, zero, lane_zero, {**zero, **lane_zero})
    )
    # Sums, or XORs, on both sides of each equation: Z3 then sees what they have in common.
    low = unit.bit_length() - 1
    whole = z3.BoolVal(True, terms.context)
    if low:
        whole = z3.Extract(low - 1, 0, moved) == z3.Extract(low - 1, 0, origin)
    same = both + origin == plain + moved if shift else both ^ origin == plain ^ moved
    query.require(z3.Not(z3.And(same, whole)))
    return query.solve(rlimit) is None


def _seems_separate(address: Expr, lane: Var, chosen: tuple[Var, ...], unit: int, shift: bool) -> bool:
    """Whether some values of each chosen variable are consistent with separation; False is certain.

    Each variable is tested alone, at its first and last values, in numbers.
    """
    lanes = np.arange(LANES, dtype=np.int64)[None, :]
    start = {node.name: np.zeros((1, 1), dtype=np.int64) for node in variables(address)} | {lane.name: lanes}
    (plain,) = evaluate_many((address,), start)
    plain = np.broadcast_to(plain, (1, LANES))
    for node in chosen:
        first = np.arange(min(node.limit, LANES), dtype=np.int64)
        values = np.array(sorted({*first.tolist(), *(node.limit - 1 - first).tolist()}), dtype=np.int64)[:, None]
        both = np.broadcast_to(evaluate_many((address,), start | {node.name: values})[0], (values.size, LANES))
        step = both - plain if shift else both ^ plain
        if (step != step[:, :1]).any() or (step[:, 0] % unit).any():
            return False
    return True


def _enumerated(goal: Cost, chosen: tuple[Var, ...], rest: tuple[Var, ...], source: Expr | None = None) -> Finding:
    """The rule at every value of `rest`, the separated variables at 0, priced warp by warp.

    The other engines price with `price_many`; this one uses the scalar rule, so that one wrong rule
    cannot be both.
    """
    counts = {node.name: node.limit for node in rest}
    first = dict.fromkeys((node.name for node in chosen), 1)
    roots = (goal.address, goal.active, goal.domain.assumption, *(() if source is None else (source,)))
    found = everywhere(roots, {**first, **counts, goal.lane.name: LANES})
    address, active, assumed, *read = (each.reshape(-1, LANES) for each in found)
    if not all(are_aligned(goal.instruction, each, (active & assumed) == 1) for each in (address, *read)):
        return Finding(NAME, Answer.NOT_APPLICABLE, detail=MISALIGNED)
    here = np.flatnonzero((assumed[:, 0] == 1) & (active == 1).any(axis=1))
    seen = set[bytes]()
    priced: list[tuple[int, Price]] = []
    shapes = _shapes(goal.instruction, active[here] == 1, address[here], *(each[here] for each in read))
    for row, shape in zip(here.tolist(), shapes, strict=True):
        if shape not in seen:  # of rows alike the first stands for all
            seen.add(shape)
            on = active[row].tolist()
            warp = (_where(each[row].tolist(), on) for each in (address, *read))
            priced.append((row, price(goal.instruction, *warp)))
    if not priced:
        return Finding(NAME, Answer.EMPTY)

    def placed(found: tuple[int, Price]) -> WarpCost:
        row, cost = found
        point = point_at(counts, row) | dict.fromkeys(first, 0)
        return WarpCost(cost.wavefronts, cost.minimum, point)

    most = max(priced, key=lambda found: (found[1].wavefronts, found[1].bank_conflicts))
    worst = max(priced, key=lambda found: (found[1].bank_conflicts, found[1].wavefronts))
    is_exact = all(cost.is_exact for _, cost in priced)
    return judged(NAME, goal, WorstCost(placed(most), placed(worst)), is_exact=is_exact)


def _shapes(row: Instruction, on: Truths, address: Numbers, *source: Numbers) -> list[bytes]:
    """Equal for warps of which one has all addresses of the other, moved by a step that changes no cost."""
    shapes: list[Numbers] = []
    for each, unit in ((address, turn_bytes(row)), *((each, BANK_PERIOD_BYTES) for each in source)):
        least = each.min(axis=1, where=on, initial=np.iinfo(np.int64).max, keepdims=True)
        shapes.append(np.where(on, each - least // unit * unit, -1))
    return [each.tobytes() for each in np.hstack(shapes)]


def _where(addresses: Sequence[int], on: Sequence[int]) -> tuple[int | None, ...]:
    """The addresses of active lanes, None for the others."""
    return tuple(int(at) if active else None for at, active in zip(addresses, on, strict=True))

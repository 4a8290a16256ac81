"""The Z3 engine: the proof of record. Every query has a fresh context and a resource limit, so verdicts do not drift.

Source: Z3 4.13 to 5, python API; QF_BV for bit-vectors, QF_LIA for digit differences.
"""

# z3py ships no types: what comes out of it is Unknown to a type checker, here and nowhere else.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import assert_never

import numpy as np
import z3

from swzverify.engines.enumeration import grid
from swzverify.engines.obligation import (
    Always,
    Answer,
    Apart,
    Bijection,
    Cost,
    Covers,
    Finding,
    Injective,
    Obligation,
    Point,
    WorstCost,
    second,
)
from swzverify.engines.smt_cost import joined, lane_terms, pair_conflict, same_group, wavefronts
from swzverify.engines.smt_linear import LinearSum, linear_sum
from swzverify.engines.smt_terms import Bits, Model, Number, Translator, Truth
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES, AccessCost, access_cost
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import TRUE, Expr, Var, const, postorder, substitute, variables

NAME = "z3"
DEFAULT_RLIMIT = 30_000_000
"""Z3's own deterministic measure of work; some tens of seconds."""
QUICK_RLIMIT = 400_000
"""What the plain solver may spend before the logic's own tactic takes over."""
TIMEOUT_MS = 120_000
"""The safety net only; the resource limit is what decides."""
MAX_ENUMERATED_ROWS = 4096
MAX_TOUCHES = 3
_INTERRUPTED = "interrupted from keyboard"


class _OutOfBudgetError(Exception):
    """A query ended in `unknown`."""


@dataclass(frozen=True, slots=True)
class SMT:
    """Decides every obligation, within `rlimit` units of work a query."""

    rlimit: int = DEFAULT_RLIMIT

    @property
    def name(self) -> str:
        """What reports call it."""
        return NAME

    def decide(self, obligation: Obligation) -> Finding:
        """Unsatisfiable: holds; satisfiable: fails at the model; no budget left: undecided."""
        try:
            match obligation:
                case Always():
                    return self._always(obligation)
                case Injective():
                    return self._injective(obligation)
                case Apart():
                    return self._apart(obligation)
                case Cost():
                    return self._cost(obligation)
                case Covers():
                    return self._covers(obligation)
                case _:
                    assert_never(obligation)
        except _OutOfBudgetError as reason:
            return Finding(NAME, Answer.UNDECIDED, detail=f"Z3 gave up within rlimit {self.rlimit}: {reason}")

    def satisfiable(self, condition: Expr) -> bool | None:
        """Whether some point inside the variables' limits satisfies a one-bit expression; None without an answer."""
        if _seen_true(condition):
            return True
        try:
            return _satisfiable(condition, self.rlimit)
        except _OutOfBudgetError:
            return None

    def _always(self, goal: Always) -> Finding:
        if goal.holds is TRUE:
            return Finding(NAME, Answer.HOLDS)  # the formula is the word "true": there is nothing to ask
        query = _Query()
        query.require(query.terms.truth(goal.domain.assumption), z3.Not(query.terms.truth(goal.holds)))
        return _finding(query.solve(self.rlimit), goal.domain.variables)

    def _injective(self, goal: Injective) -> Finding:
        if goal.outer is not None and not _one_to_one(goal.outer, self.rlimit):
            return Finding(NAME, Answer.UNDECIDED, detail="the outer map is not one to one")
        sums = linear_sum(goal.inner)
        if sums is not None and goal.domain.assumption is TRUE:
            return self._digit_differences(goal, sums)
        query = _Query()
        terms = query.terms
        copies = _copy(terms, goal.distinct, second(""))
        assumption = goal.domain.assumption
        query.require(terms.truth(assumption), terms.truth(assumption, copies))
        if not copies:
            return Finding(NAME, Answer.HOLDS)
        query.require(z3.Or([terms.variable(node) != copy for node, copy in copies.items()]))
        a, b = terms.term(goal.inner), terms.term(goal.inner, copies)
        query.require(*_overlap(terms, a, goal.extent, b, goal.extent))
        return _finding(query.solve(self.rlimit), (*goal.domain.variables, *_seconds(goal.distinct)))

    def _digit_differences(self, goal: Injective, sums: LinearSum) -> Finding:
        """Linear positions differ by the sum of digit difference * stride; shared variables cancel."""
        found = self._differences(goal.distinct, sums, goal.extent)
        if found is None:
            return Finding(NAME, Answer.HOLDS)
        point: Point = {node.name: 0 for node in goal.domain.variables}
        for node, value in found.items():
            point[node.name], point[second(node.name)] = max(value, 0), max(-value, 0)
        return Finding(NAME, Answer.FAILS, point)

    def _differences(self, nodes: tuple[Var, ...], sums: LinearSum, extent: int) -> dict[Var, int] | None:
        """Digit differences, not all 0, that move a linear position by less than `extent`; None when there are none."""
        if not nodes:
            return None
        query = _Query("QF_LIA")
        context = query.terms.context
        digits: dict[Var, Number] = {}
        parts: list[Number] = []
        for node in nodes:
            digit = z3.Int(node.name, context)
            digits[node] = digit
            query.require(digit > -node.limit, digit < node.limit)
            parts.append(digit * sums.factors.get(node, 0))
        total: Number = z3.Sum(parts)
        query.require(total > -extent, total < extent, z3.Or([digit != 0 for digit in digits.values()]))
        model = query.solve(self.rlimit)
        if model is None:
            return None
        return {node: model.eval(digit, model_completion=True).as_long() for node, digit in digits.items()}

    def _apart(self, goal: Apart) -> Finding:
        sums = (linear_sum(goal.first.position), linear_sum(goal.second.position))
        if sums[0] is not None and sums[1] is not None and (goal.condition is TRUE or goal.tags is not None):
            return self._apart_linear(goal, (sums[0], sums[1]))
        query = _Query()
        terms = query.terms
        a, b = terms.term(goal.first.position), terms.term(goal.second.position)
        query.require(terms.truth(goal.condition), *_overlap(terms, a, goal.first.extent, b, goal.second.extent))
        return _finding(query.solve(self.rlimit), _apart_variables(goal))

    def _apart_linear(self, goal: Apart, sums: tuple[LinearSum, LinearSum]) -> Finding:
        query = _Query("QF_LIA")
        context = query.terms.context
        numbers: dict[str, Number] = {}
        for node in _apart_variables(goal):
            numbers[node.name] = z3.Int(node.name, context)
            query.require(numbers[node.name] >= 0, numbers[node.name] < node.limit)

        def position(total: LinearSum) -> Number:
            zero = z3.IntVal(total.constant, context)
            return z3.Sum([zero, *(numbers[node.name] * factor for node, factor in total.factors.items())])

        a, b = position(sums[0]), position(sums[1])
        query.require(a < b + goal.second.extent, b < a + goal.first.extent)
        if goal.tags is not None:
            query.require(numbers[goal.tags[0]] != numbers[goal.tags[1]])
        model = query.solve(self.rlimit)
        if model is None:
            return Finding(NAME, Answer.HOLDS)
        values = {name: model.eval(term, model_completion=True).as_long() for name, term in numbers.items()}
        return Finding(NAME, Answer.FAILS, values)

    def _cost(self, goal: Cost) -> Finding:
        row = goal.instruction
        if goal.at_most is None and not row.bound_only:
            return self._conflict_pair(goal)
        separated = self._by_separation(goal)
        if separated is not None:
            return separated
        return self._by_counting(goal)

    def _conflict_pair(self, goal: Cost) -> Finding:
        """Two symbolic lanes of one group in each other's way; for wide loads, of a joined group where groups join."""
        row = goal.instruction
        # Joined groups hold the single ones: without a conflict there, there is none at all.
        model = self._pair_model(goal, row.joined_group_lanes if row.joins else row.group_lanes, join=False)
        if model is not None and row.joins:
            model = self._pair_model(goal, row.group_lanes, join=False)
            if model is None:
                model = self._pair_model(goal, row.joined_group_lanes, join=True)
        return _finding(model, goal.free)

    def _pair_model(self, goal: Cost, group_lanes: int, *, join: bool) -> Model | None:
        query = _Query()
        terms = query.terms
        lanes = [terms.variable(goal.lane, name) for name in ("lane.a", "lane.b")]
        width = max(8, goal.address.width)
        addresses = [terms.widen(terms.term(goal.address, {goal.lane: lane}), width) for lane in lanes]
        query.require(terms.truth(goal.domain.assumption))
        query.require(*(terms.truth(goal.active, {goal.lane: lane}) for lane in lanes))
        query.require(same_group(lanes[0], lanes[1], group_lanes), pair_conflict(goal.instruction, *addresses))
        if join:
            query.require(joined(*lane_terms(goal, terms, width)))
        return query.solve(self.rlimit)

    def _by_separation(self, goal: Cost) -> Finding | None:
        """Prove that some free variables only flip, or only shift, every lane's address alike; enumerate the others.

        Flipping the same bits in every lane permutes units and slots; growing all addresses by whole words (whole
        lines for the octet rule) turns the banks round. Neither changes the cost, so one value of such variables
        stands for all.
        """
        in_conditions = set(variables(goal.active, goal.domain.assumption))
        wide = [node for node in goal.free if node.limit > MAX_ENUMERATED_ROWS]
        row = goal.instruction
        if not _evaluable(goal.address, goal.active, goal.domain.assumption):
            return None
        units = [(row.width_bytes, False), (BANK_PERIOD_BYTES if row.bound_only else BANK_WORD_BYTES, True)]
        if linear_sum(goal.address) is not None:
            units.reverse()  # sums shift, XORs flip: try what is likelier first
        choices = [goal.free, tuple(node for node in goal.free if node not in in_conditions), tuple(wide)]
        for index, chosen in enumerate(choices):
            if chosen in choices[:index] or any(node in in_conditions for node in chosen):
                continue
            rest = tuple(node for node in goal.free if node not in chosen)
            if prod(node.limit for node in rest) > MAX_ENUMERATED_ROWS:
                continue
            if not chosen or any(
                _separates(goal.address, goal.lane, chosen, unit, shift, self.rlimit) for unit, shift in units
            ):
                return _enumerated(goal, chosen, rest)
        return None

    def _by_counting(self, goal: Cost) -> Finding:
        """The rule itself, all 32 lanes of it, as one formula."""
        query = _Query()
        terms = query.terms
        addresses, active = lane_terms(goal, terms, max(8, goal.address.width))
        cost, minimum = wavefronts(goal.instruction, addresses, active)
        limit = minimum if goal.at_most is None else z3.BitVecVal(min(goal.at_most, 1023), cost.size(), terms.context)
        query.require(terms.truth(goal.domain.assumption), z3.Or(active), z3.UGT(cost, limit))
        found = _finding(query.solve(self.rlimit), goal.free)
        if found.answer is Answer.FAILS and goal.instruction.bound_only:
            detail = f"the rule for {goal.instruction.name} only bounds it"
            return Finding(NAME, Answer.UNDECIDED, found.point, detail=detail)
        return found

    def _covers(self, goal: Covers) -> Finding:
        """No times + 1 points touch one element (Z3), and the touches of all points add up to times * elements.

        Bits of the points that change neither address nor activity double the touches of every element; with them
        fixed, the rest has the fewer touches to tell apart.
        """
        if not _evaluable(goal.address, goal.active, goal.points.assumption, goal.position):
            return Finding(NAME, Answer.NOT_APPLICABLE, detail="positions of more than 63 bits")
        counted = _count_touches(goal)
        if counted is None:
            return Finding(NAME, Answer.NOT_APPLICABLE, detail="too many points to count")
        if isinstance(counted, Finding):
            return counted
        idle = self._idle_bits(goal) if goal.times > 1 else []
        while idle and goal.times % (1 << len(idle)):
            idle.pop()
        times = goal.times >> len(idle)
        if times == 1 and (self._apart_as_sums(goal, idle) or self._apart_in_blocks(goal, idle)):
            return Finding(NAME, Answer.HOLDS)
        if times > MAX_TOUCHES:
            return Finding(NAME, Answer.NOT_APPLICABLE, detail=f"more than {MAX_TOUCHES} unlike touches an element")
        query = _Query()
        terms = query.terms
        element = terms.term(goal.position)
        tickets: list[Bits] = []
        for copy in range(times + 1):
            given = _copy(terms, goal.points.variables, f"#{copy}")
            query.require(terms.truth(goal.points.assumption, given), terms.truth(goal.active, given))
            query.require(*_overlap(terms, terms.term(goal.address, given), goal.reach, element, goal.extent))
            query.require(*(z3.Extract(bit, bit, given[node]) == 0 for node, bit in idle))
            tickets.append(_joined_bits(list(given.values())))
        for earlier, later in pairwise(tickets):
            query.require(z3.ULT(earlier, later))
        model = query.solve(self.rlimit)
        if model is None:
            return Finding(NAME, Answer.HOLDS)
        point = {node.name: _value(model, terms, node.name, node) for node in goal.shared}
        point |= {second(node.name): _value(model, terms, node.name, node) for node in goal.elements}
        return Finding(NAME, Answer.FAILS, point)

    def _apart_as_sums(self, goal: Covers, idle: list[tuple[Var, int]]) -> bool:
        """Whether linear arithmetic shows that no two points' ranges meet, where ranges take elements whole."""
        if idle:
            return False
        address, position = linear_sum(goal.address), linear_sum(goal.position)
        if address is None or position is None or goal.reach % goal.extent:
            return False
        numbers = [address.constant, position.constant, *address.factors.values(), *position.factors.values()]
        if any(number % goal.extent for number in numbers):
            return False
        return self._differences(goal.points.variables, address, goal.reach) is None

    def _apart_in_blocks(self, goal: Covers, idle: list[tuple[Var, int]]) -> bool:
        """Whether ranges and elements lie in aligned blocks, and no two points take one block.

        A much easier question than how ranges overlap, where lengths are powers of two. It says nothing when the
        answer is no.
        """
        if goal.reach % goal.extent or goal.reach & (goal.reach - 1) or goal.extent & (goal.extent - 1):
            return False
        query = _Query()
        terms = query.terms
        block_bits, element_bits = goal.reach.bit_length() - 1, goal.extent.bit_length() - 1
        copies = [_copy(terms, goal.points.variables, f"#{copy}") for copy in range(2)]
        addresses = [terms.term(goal.address, given) for given in copies]
        for given in copies:
            query.require(terms.truth(goal.points.assumption, given), terms.truth(goal.active, given))
            query.require(*(z3.Extract(bit, bit, given[node]) == 0 for node, bit in idle))
        tickets = [_joined_bits(list(given.values())) for given in copies]
        query.require(z3.ULT(*tickets))
        query.require(
            z3.Or(
                *(_unaligned(address, block_bits) for address in addresses),
                _unaligned(terms.term(goal.position), element_bits),
                addresses[0] == addresses[1],
            )
        )
        return query.solve(self.rlimit) is None

    def _idle_bits(self, goal: Covers) -> list[tuple[Var, int]]:
        """Bits of the points' variables that may be flipped without changing address, activity or assumption.

        Evaluation proposes, Z3 proves; without its proof there are none.
        """
        candidates = _seemingly_idle(goal)
        if not candidates:
            return []
        query = _Query()
        terms = query.terms
        roots = (goal.address, goal.active, goal.points.assumption)
        changes: list[Truth] = []
        for node, bit in candidates:
            flipped = {node: terms.variable(node) ^ terms.fixed(1 << bit, node.width)}
            changes += [terms.term(root) != terms.term(root, flipped) for root in roots]
        query.require(z3.Or(changes))
        return candidates if query.solve(self.rlimit) is None else []


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


def _copy(terms: Translator, nodes: Iterable[Var], suffix: str) -> dict[Var, Bits]:
    """A second set of some variables, with the same limits."""
    return {node: terms.variable(node, node.name + suffix) for node in nodes}


def _evaluable(*roots: Expr) -> bool:
    """Whether numpy's 64 bits hold every value."""
    return all(node.width < MAX_ARRAY_WIDTH for node in postorder(*roots))


def _seen_true(condition: Expr) -> bool:
    """Whether a look at a few points, each variable by itself over its first values, shows one that satisfies."""
    nodes = variables(condition)
    if not _evaluable(condition):
        return False
    for swept in nodes:
        point = {node.name: np.zeros(1, dtype=np.int64) for node in nodes}
        point[swept.name] = np.arange(min(swept.limit, LANES), dtype=np.int64)
        if evaluate_many((condition,), point)[0].any():
            return True
    return False


@lru_cache(maxsize=1024)
def _satisfiable(condition: Expr, rlimit: int) -> bool:
    query = _Query()
    query.require(query.terms.truth(condition))
    return query.solve(rlimit) is not None


@lru_cache(maxsize=1024)
def _one_to_one(outer: Bijection, rlimit: int) -> bool:
    """No two values of x have one image."""
    query = _Query()
    x = query.terms.variable(outer.x)
    y = query.terms.variable(outer.x, second(outer.x.name))
    query.require(x != y, query.terms.term(outer.image) == query.terms.term(outer.image, {outer.x: y}))
    return query.solve(rlimit) is None


@lru_cache(maxsize=1024)
def _separates(address: Expr, lane: Var, chosen: tuple[Var, ...], unit: int, shift: bool, rlimit: int) -> bool:
    """a(lane, chosen) = a(lane, 0) shifted or flipped by what a(0, chosen) differs from a(0, 0), for all of the rest.

    The difference must be a multiple of `unit` bytes.
    """
    if not _seems_separate(address, lane, chosen, unit, shift):
        return False
    query = _Query()
    terms = query.terms
    width = max(32, address.width)
    zero = {node: const(0, node.width) for node in chosen}
    lane_zero = {lane: const(0, lane.width)}
    both, plain, moved, origin = (
        terms.widen(terms.term(substitute(address, dict(given))), width)
        for given in ({}, zero, lane_zero, {**zero, **lane_zero})
    )
    step = moved - origin if shift else moved ^ origin
    low = unit.bit_length() - 1
    whole = z3.Extract(low - 1, 0, step) == 0 if low else z3.BoolVal(True, terms.context)
    same = both == (plain + step if shift else plain ^ step)
    query.require(z3.Not(z3.And(same, whole)))
    return query.solve(rlimit) is None


def _seems_separate(address: Expr, lane: Var, chosen: tuple[Var, ...], unit: int, shift: bool) -> bool:
    """The same in numbers, each chosen variable by itself at its first and last values: a no is a no."""
    lanes = np.arange(LANES, dtype=np.int64)[None, :]
    start = {node.name: np.zeros((1, 1), dtype=np.int64) for node in variables(address)} | {lane.name: lanes}
    (plain,) = evaluate_many((address,), start)
    plain = np.broadcast_to(plain, (1, LANES))
    for node in chosen:
        first = np.arange(min(node.limit, LANES), dtype=np.int64)
        values = np.union1d(first, node.limit - 1 - first)[:, None]
        both = np.broadcast_to(evaluate_many((address,), start | {node.name: values})[0], (values.size, LANES))
        step = both - plain if shift else both ^ plain
        if (step != step[:, :1]).any() or (step[:, 0] % unit).any():
            return False
    return True


class _Query:
    """One question to Z3 in a context of its own."""

    def __init__(self, logic: str = "QF_BV") -> None:
        self.terms = Translator(z3.Context())
        self._logic = logic
        self._conditions: list[Truth] = []

    def require(self, *conditions: Truth) -> None:
        """Add conditions."""
        self._conditions.extend(conditions)

    def solve(self, rlimit: int) -> Model | None:
        """A model, or None when there is none. Raises when Z3 gives up, and on Ctrl-C, which Z3 swallows.

        Z3's plain solver answers most questions in a fraction of the time that the logic's own tactic takes to get
        going; the tactic gets the rest of the budget for the others.
        """
        context = self.terms.context
        quick = min(QUICK_RLIMIT, rlimit)
        try:
            return self._check(z3.SimpleSolver(ctx=context), quick)
        except _OutOfBudgetError:
            if rlimit <= quick:
                raise
        return self._check(z3.SolverFor(self._logic, ctx=context), rlimit - quick)

    def _check(self, solver: z3.Solver, rlimit: int) -> Model | None:
        solver.set("rlimit", rlimit)
        solver.set("timeout", TIMEOUT_MS)
        solver.add(*self._conditions, *self.terms.bounds.values())
        answer = solver.check()
        if answer == z3.sat:
            return solver.model()
        if answer == z3.unsat:
            return None
        reason = solver.reason_unknown()
        if _INTERRUPTED in reason:
            raise KeyboardInterrupt
        raise _OutOfBudgetError(reason)


def _overlap(terms: Translator, a: Bits, length_a: int, b: Bits, length_b: int) -> tuple[Truth, ...]:
    """Ranges of the given lengths from a and from b share a unit."""
    if length_a == length_b == 1:
        width = max(a.size(), b.size())
        return (terms.widen(a, width) == terms.widen(b, width),)
    width = 1 + max(a.size(), b.size(), length_a.bit_length(), length_b.bit_length())
    a, b = terms.widen(a, width), terms.widen(b, width)
    return z3.ULT(a, b + terms.fixed(length_b, width)), z3.ULT(b, a + terms.fixed(length_a, width))


def _unaligned(position: Bits, low_bits: int) -> Truth:
    """Whether any of the lowest bits is set."""
    low = min(low_bits, position.size())
    return z3.Extract(low - 1, 0, position) != 0 if low else z3.BoolVal(False, position.ctx)


def _seconds(nodes: Iterable[Var]) -> tuple[Var, ...]:
    return tuple(Var(second(node.name), node.limit, node.width) for node in nodes)


def _apart_variables(goal: Apart) -> tuple[Var, ...]:
    return (*goal.shared, *goal.first.variables, *goal.second.variables)


def _joined_bits(parts: list[Bits]) -> Bits:
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def _value(model: Model, terms: Translator, name: str, node: Var) -> int:
    term = z3.BitVec(name, node.width, terms.context)
    return model.eval(term, model_completion=True).as_long()


def _finding(model: Model | None, nodes: Iterable[Var]) -> Finding:
    """Holds without a model, else fails at its values; a variable that no formula mentions is 0."""
    if model is None:
        return Finding(NAME, Answer.HOLDS)
    values = {declaration.name(): model[declaration].as_long() for declaration in model.decls()}
    return Finding(NAME, Answer.FAILS, {node.name: values.get(node.name, 0) for node in nodes})


def _enumerated(goal: Cost, chosen: tuple[Var, ...], rest: tuple[Var, ...]) -> Finding:
    """The rule at every value of `rest`, the separated variables at 0, priced warp by warp.

    The other engines price with `cost_many`; this one uses the scalar rule, so that one wrong rule cannot be both.
    """
    counts = {node.name: node.limit for node in rest}
    rows = prod(counts.values())
    free = grid(counts)
    zero = np.zeros((1, 1), dtype=np.int64)
    arrays = {name: array[:, None] for name, array in free.items()} | {node.name: zero for node in chosen}
    arrays[goal.lane.name] = np.arange(LANES, dtype=np.int64)[None, :]
    roots = (goal.address, goal.active, goal.domain.assumption)
    address, active, assumed = (np.broadcast_to(a, (rows, LANES)) for a in evaluate_many(roots, arrays))
    costs: dict[tuple[int | None, ...], AccessCost] = {}
    worst: tuple[tuple[int, int], int, AccessCost] | None = None
    broken = -1
    for row in np.flatnonzero(assumed[:, 0]).tolist():
        lanes = zip(address[row].tolist(), active[row].tolist(), strict=True)
        warp = tuple(int(at) if on else None for at, on in lanes)
        if all(at is None for at in warp):
            continue
        cost = costs[warp] if warp in costs else costs.setdefault(warp, access_cost(goal.instruction, warp))
        limit = cost.minimum if goal.at_most is None else goal.at_most
        rank = (cost.wavefronts - limit, cost.wavefronts)
        if worst is None or rank > worst[0]:
            worst = (rank, row, cost)
        if cost.lower_bound > limit:
            broken = row
    if worst is None:
        return Finding(NAME, Answer.EMPTY)
    _, row, cost = worst
    shown = broken if broken >= 0 and goal.instruction.bound_only else row
    point = {name: int(array[shown]) for name, array in free.items()} | {node.name: 0 for node in chosen}
    found = WorstCost(cost.wavefronts, cost.minimum, cost.lower_bound, point)
    if worst[0][0] <= 0:
        return Finding(NAME, Answer.HOLDS, point, found)
    if broken < 0:
        detail = f"the rule for {goal.instruction.name} only bounds it, by {cost.wavefronts} wavefronts"
        return Finding(NAME, Answer.UNDECIDED, point, found, detail)
    return Finding(NAME, Answer.FAILS, point, found)


def _count_touches(goal: Covers) -> Finding | bool | None:
    """Whether all touches add up to times * elements; a finding where an element has too few."""
    enough = dict(goal.enough)
    shared = {node.name: min(node.limit, enough.get(node.name, node.limit)) for node in goal.shared}
    points = {node.name: count for node, count in goal.points.representatives()}
    cells = {node.name: node.limit for node in goal.elements}
    if prod(shared.values()) * (prod(points.values()) + prod(cells.values())) > 1 << 21:
        return None
    for index in range(prod(shared.values())):
        common = {name: array[index : index + 1] for name, array in grid(shared).items()}
        own, each = grid(points), grid(cells)
        roots = (goal.address, goal.active, goal.points.assumption)
        address, active, assumed = (
            np.broadcast_to(a, (prod(points.values()),)) for a in evaluate_many(roots, {**common, **own})
        )
        (position,) = evaluate_many((goal.position,), {**common, **each})
        position = np.broadcast_to(position, (prod(cells.values()),))
        starts = np.sort(address[(active == 1) & (assumed == 1)])
        if starts.size == 0:
            return Finding(NAME, Answer.EMPTY)
        touches = np.searchsorted(starts, position + goal.extent) - np.searchsorted(
            starts, position - goal.reach, side="right"
        )
        if int(touches.sum()) < goal.times * position.size:
            fewest = int(np.argmin(touches))
            where = {name: int(a[0]) for name, a in common.items()}
            where |= {second(name): int(array[fewest]) for name, array in each.items()}
            return Finding(NAME, Answer.FAILS, where)
    return True

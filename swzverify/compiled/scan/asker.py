"""Asks whether costs hold, and whether conditions can, within what one function may use up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from swzverify.compiled.order.known import without_products
from swzverify.compiled.scan.any_shared import any_shared
from swzverify.compiled.scan.claim import Claim
from swzverify.compiled.scan.cost_goal import GoalsMade, banks_goal, plain_roots, plainly_named
from swzverify.compiled.scan.pair_points import conflicting_pair, learn_pair
from swzverify.compiled.scan.race_points import NAME as POINTS
from swzverify.compiled.scan.race_points import Points
from swzverify.compiled.scan.shared_terms import independent_parts, with_any_terms
from swzverify.compiled.scan.verdict import SMT, DisagreementError, Goals, NoVerdictError
from swzverify.engines.distances import Distances
from swzverify.engines.obligations import Always, Answer, Arrays, Cost, Finding, GatherCost, Truths, WorstCost
from swzverify.ir.bounded import bounded
from swzverify.ir.counts import size
from swzverify.ir.domain import Domain
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    TRUE,
    Count,
    Expr,
    Var,
    conjunction,
    conjuncts,
    negation,
    postorder,
    substitute,
    var,
    variables,
)
from swzverify.prover import Options
from swzverify.prover.panel import FOLDING, Panel, is_folded

Possible: TypeAlias = Callable[[Expr], Finding]
"""Asks the SMT engine whether a condition can hold."""
BUDGET: Final = 4_000_000
"""Z3's budget for one question."""
OF_RACES: Final = (3, 40)
"""How many race queries of a kernel may use the full budget, and the fraction 1/N of it that later queries get."""
AFTER_A_RACE: Final = (0, 20)
"""The same after a race is found: the kernel has its verdict."""
AT_LAST: Final = (0, 400)
"""The same after the most races that can be replayed are found, or after Z3 gave up on many queries."""
FOR_GROUPS: Final = (0, 20)
"""The same for queries about many pairs at once."""

PARTS: Final = 400
"""Parts of a question that takes one share of the budget where it is not decided; of larger ones Z3
takes more time for the same count of its own steps.
"""
MOST_PARTS: Final = 1000
"""Questions with more parts are not asked when the budget is used up."""
SMALL: Final = 100
"""Parts of a condition up to which no smaller one is looked for."""
FEW: Final = 4096
"""Values of a variable up to which engines that enumerate are asked about the parts that read it."""
_DISTANCES: Final = Distances()
_NOT_ASKED: Final = Finding("z3", Answer.UNDECIDED, detail="the question is too large for what is left of the budget")


class OutOfClockError(NoVerdictError):
    """The wall clock ended a query: no verdict may rest on that. The text says so."""


class Asker:
    """Sends the solver queries of one function.

    Each query has a budget of the solver's steps. At most `most_open` queries may use all of it, fewer if
    they are large. Each later query gets 1 / `share` of it, and large ones are not sent. `goals` has the costs
    that were made, and `claims` verdicts by all that they depend on.

    >>> Asker(most_open=1, share=2).possible(FALSE).answer.value
    'empty'
    """

    def __init__(self, most_open: int, share: int) -> None:
        self._panel, self._small = Panel(Options(rlimit=BUDGET)), Panel(Options(rlimit=BUDGET // share))
        self._left, self._share = most_open, share
        self._asked: dict[Expr, Finding] = {}
        self._proved: dict[Cost | GatherCost, Finding] = {}
        self.goals: GoalsMade = {}
        self.claims: dict[tuple[object, ...], Claim | None] = {}
        self._held: dict[Cost | GatherCost, Proof] = {}
        self._near: dict[Cost | GatherCost, bool] = {}
        self._points = Points()

    @cached_property
    def brief(self) -> Asker:
        """Another asker, whose queries have only their share of the budget and take nothing from this one."""
        return Asker(0, self._share)

    def possible(self, condition: Expr) -> Finding:
        """Whether a condition can hold. Parts that share no variable are asked by themselves, each of them once.

        Raises:
            OutOfClockError: The wall clock ended the query.
        """
        if condition is FALSE or condition is TRUE:
            return Finding(FOLDING, Answer.EMPTY if condition is FALSE else Answer.HOLDS, {})
        answers: list[Finding] = []
        for part in independent_parts(condition):
            answers.append(self._possible(part))
            if answers[-1].answer is Answer.EMPTY:
                return answers[-1]
        whole = next((each for each in answers if each.answer is Answer.UNDECIDED), answers[-1])
        return replace(whole, point={name: value for each in answers for name, value in (each.point or {}).items()})

    def _possible(self, condition: Expr) -> Finding:
        key, names = _plainly_named(condition)
        if key not in self._asked:
            at_a_point = _at_a_point(key)
            self._asked[key] = (
                at_a_point
                or self._never_for_any_terms(key)
                or self._within_budget(size(key), lambda panel: panel.possible(key))
            )
        found = self._asked[key]
        if found.is_by_clock:
            raise OutOfClockError(found.detail)
        return replace(found, point=_renamed(found.point, names))

    def _never_for_any_terms(self, condition: Expr) -> Finding | None:
        """That a large condition never holds, because a smaller one that it implies does not; None if that one may."""
        weaker = with_any_terms(condition) if size(condition) > SMALL else None
        if weaker is None:
            return None
        found = (self._panel if self._left > 0 else self._small).possible(weaker)
        return found if found.answer is Answer.EMPTY or found.is_by_clock else None

    def never(self, condition: Expr) -> Proof:
        """Whether no lane, and no value, fulfils a condition: by an engine of ours and by Z3.

        A point at which an engine of ours finds it fulfilled is not sent to Z3. Nor is a condition that
        folds to false, if all of its points are enumerated.

        Raises:
            DisagreementError: One engine says that it holds, and another one that it fails.
            OutOfClockError: The wall clock ended the query.
        """
        key, names = _plainly_named(condition)
        native = self._native_of(key)
        if native is not None and native.answer is Answer.FAILS:
            return Proof(Answer.FAILS, (native.engine,), _renamed(native.point, names))
        engines = () if native is None else (native.engine,)
        if native is not None and bounded(key) is FALSE:
            return Proof(Answer.HOLDS, (*engines, FOLDING))
        smt = self.possible(condition)
        if smt.answer is Answer.EMPTY:
            return Proof(Answer.HOLDS, (*engines, smt.engine))
        if native is not None and smt.answer is Answer.HOLDS:
            raise DisagreementError
        return Proof(Answer.FAILS if smt.answer is Answer.HOLDS else smt.answer, (smt.engine,), smt.point or {})

    def _native_of(self, condition: Expr) -> Finding | None:
        """The answer of the first engine of ours that applies: no point fulfils a condition, or this one.

        Parts of it that no point fulfils together decide, too. Those that read few values can be enumerated.
        """
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(condition)):
            return None
        few = [each for each in conjuncts(condition) if all(node.limit <= FEW for node in variables(each))]
        for part in dict.fromkeys((condition, conjunction(few))):
            goal = _never(part)
            for found in self._panel.natives(goal) if variables(part) else ():
                if found.answer is Answer.HOLDS:
                    return found
                if found.answer is Answer.FAILS and is_folded(goal):
                    raise DisagreementError
                if found.answer is Answer.FAILS and part is condition:
                    return found
        return None

    def cost(self, goal: Cost | GatherCost, is_refuted: Callable[[], bool] = lambda: False) -> Proof:
        """Whether a cost holds: by an engine that enumerates and by Z3.

        If no other engine applies, Z3 decides alone. A cost that fails by an engine that enumerates, or by
        plain numbers, is not sent to Z3.

        Raises:
            DisagreementError: One engine says that it holds, and Z3 that it fails.
            OutOfClockError: The wall clock ended the query.
        """
        if goal in self._held:
            # Certificates state the goal that is asked; an equal one may have been stated in other words.
            return replace(self._held[goal], goal=goal)
        asked, names = plainly_named(goal)
        plain = {name: of_key for of_key, name in names.items()}
        found = self._cost(asked, is_refuted, lambda: _renamed(conflicting_pair(goal, self._points), plain))
        worst = found.worst and WorstCost(
            *(
                replace(each, point=_renamed(each.point, names))
                for each in (found.worst.most_wavefronts, found.worst.most_conflicts)
            )
        )
        if found.answer is not Answer.HOLDS:
            point = _renamed(found.point, names)
            if point and found.engines == (SMT,):
                learn_pair(goal, point, self._points)
            return replace(found, point=point, worst=worst)
        self._held[goal] = replace(found, point=_renamed(found.point, names), worst=worst, goal=goal)
        return self._held[goal]

    def _cost(
        self, goal: Cost | GatherCost, is_refuted: Callable[[], bool], pair: Callable[[], Mapping[str, int]]
    ) -> Proof:
        native = self._native(goal) or self._native_of_stronger(goal)
        if native is not None and native.answer in (Answer.FAILS, Answer.EMPTY):
            return Proof(native.answer, (native.engine,), native.point or {}, native.worst)
        if native is None and self._is_near(goal):
            # Z3 would use up its budget for sums of many bits.
            return Proof(Answer.HOLDS, (_DISTANCES.name,))
        if native is None and is_refuted():
            return Proof(Answer.FAILS)
        if native is None and goal not in self._proved and (point := pair()):
            return Proof(Answer.FAILS, (POINTS,), point)
        smt = self._smt(goal)
        if native is None or native.answer is not Answer.HOLDS:
            return Proof(smt.answer, (smt.engine,), smt.point or {})
        if smt.answer is Answer.FAILS:
            raise DisagreementError
        return Proof(smt.answer, (native.engine, smt.engine))

    def _native_of_stronger(self, goal: Cost | GatherCost) -> Finding | None:
        """The answer to goals that say more. What fails there says nothing: two lanes with one word do."""
        banks = banks_goal(goal)
        for stronger in () if banks is None else (banks, any_shared(banks)):
            found = None if stronger is None else self._native(stronger)
            if found is not None and found.answer in (Answer.HOLDS, Answer.EMPTY):
                return found
        return None

    def _is_near(self, goal: Cost | GatherCost) -> bool:
        """Whether all lanes of a group lie in one turn of the banks, by the distance engine alone."""
        if goal not in self._near:
            self._near[goal] = _DISTANCES.decide(goal).answer is Answer.HOLDS
        return self._near[goal]

    def _smt(self, goal: Cost | GatherCost) -> Finding:
        """Z3's answer, within what is left of the budget."""
        if goal not in self._proved:
            self._proved[goal] = self._within_budget(_parts_of(goal), lambda panel: panel.smt(goal))
        if self._proved[goal].is_by_clock:
            raise OutOfClockError(self._proved[goal].detail)
        return self._proved[goal]

    def _within_budget(self, parts: int, ask: Callable[[Panel], Finding]) -> Finding:
        """The answer to a question of so many parts, asked with what is left."""
        if self.is_too_large(parts):
            return _NOT_ASKED
        found = ask(self._panel if self._left > 0 else self._small)
        if found.answer is Answer.UNDECIDED and not found.is_by_clock:
            self._left -= 1 + parts // PARTS
        return found

    def is_too_large(self, parts: int) -> bool:
        """Whether a question of so many parts is not asked with what is left."""
        return self._left <= 0 and parts > MOST_PARTS

    def _native(self, goal: Cost | GatherCost) -> Finding | None:
        """The answer of the first engine that enumerates and applies."""
        return next(iter(self._panel.natives(goal)), None) if _is_narrow(goal) else None


@dataclass(frozen=True, slots=True)
class Proof:
    """The answer of the engines about a cost or a condition, with the point at which it fails.

    `worst` is the worst case of all choices, if an engine has it. `goal` is the cost, if it holds.
    """

    answer: Answer
    engines: tuple[str, ...] = ()
    point: Mapping[str, int] = field(default_factory=dict[str, int])
    worst: WorstCost | None = None
    goal: Cost | GatherCost | None = None

    @property
    def possible(self) -> Answer:
        """Of a proof that a condition never holds: whether it can hold."""
        return {Answer.HOLDS: Answer.EMPTY, Answer.FAILS: Answer.HOLDS}.get(self.answer, self.answer)

    @property
    def goals(self) -> Goals:
        """The cost, if it holds."""
        return Goals() if self.goal is None else Goals((self.goal,))


def _at_a_point(condition: Expr) -> Finding | None:
    """That a condition with products or counts of bits holds at one of a few points.

    Z3 may use up its budget for what zeros show.
    """
    if without_products(condition) is condition and not any(isinstance(node, Count) for node in postorder(condition)):
        return None
    point = Points().some(condition)
    return None if point is None else Finding(POINTS, Answer.HOLDS, point)


def _plainly_named(condition: Expr) -> tuple[Expr, dict[str, str]]:
    """A condition with variables `v0`, `v1`, ..., and their names in `condition`.

    Equal accesses at many lines ask one question; only the names of their values differ.
    """
    read = variables(condition)
    new: dict[Var, Expr] = {each: var(f"v{at}", each.limit) for at, each in enumerate(read)}
    return substitute(condition, new), {f"v{at}": each.name for at, each in enumerate(read)}


def _renamed(point: Mapping[str, int] | None, names: Mapping[str, str]) -> dict[str, int]:
    """A point with other names; a lane's own value keeps its lane."""
    parts = ((name.partition("["), value) for name, value in (point or {}).items())
    return {names.get(name, name) + mark + lane: value for (name, mark, lane), value in parts}


def _never(condition: Expr) -> Always:
    """The obligation that a condition holds nowhere."""
    holds = TRUE if bounded(condition) is FALSE else negation(condition)
    return Always(Domain(variables(condition)), holds, _Never(condition))


@dataclass(frozen=True, slots=True)
class _Never:
    """The plain reading of the obligation that a condition holds nowhere."""

    condition: Expr

    def __call__(self, arrays: Arrays) -> tuple[Truths, Truths]:
        (found,) = evaluate_many((self.condition,), arrays)
        return np.asarray(True), np.asarray(found == 0)


def _is_narrow(goal: Cost | GatherCost) -> bool:
    """Whether arrays of 64-bit numbers can hold all values of a cost; numbers of 64 bits wrap as they should."""
    return all(node.width <= MAX_ARRAY_WIDTH for node in postorder(*_roots(goal), *plain_roots(goal)))


def _parts_of(goal: Cost | GatherCost) -> int:
    return size(*_roots(goal))


def _roots(goal: Cost | GatherCost) -> tuple[Expr, Expr, Expr]:
    cost = goal.cost if isinstance(goal, GatherCost) else goal
    return cost.address, cost.active, cost.domain.assumption

"""What the engines say of each pair of accesses that can meet: the asking part of `races`.

What is cheap is asked first: obligations on coordinates, then some points, then Z3. Points and Z3 say whether
two accesses can meet; where something else already prevents a witness, such as a value that nobody knows, no
other question follows. After as many races as can be run, no more witnesses are looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Final, TypeAlias

from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.instance import BASE
from swzverify.compiled.order.intervals import Way
from swzverify.compiled.order.joins import NAME as BY_LISTS
from swzverify.compiled.order.joins import Joins
from swzverify.compiled.order.known import whatever, without_products
from swzverify.compiled.order.memory_bounds import Bounds, MemoryBounds
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.question import Question
from swzverify.compiled.order.residues import by_residues
from swzverify.compiled.order.verdict import RaceVerdict, rank
from swzverify.compiled.scan.asker import AFTER_A_RACE, AT_LAST, BUDGET, FOR_GROUPS, OF_RACES, Asker
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.race_found import (
    GAVE_UP,
    IN_ARRAYS,
    IN_MEMORY,
    INEXACT,
    MOST_MEETINGS,
    NOT_ASKED,
    ONE_VALUE,
    TOO_MANY,
    TOO_MANY_PATHS,
    TRIPS,
    UNORDERED,
    Found,
)
from swzverify.compiled.scan.race_groups import never_met, ruled_out
from swzverify.compiled.scan.race_points import Points
from swzverify.compiled.scan.race_replay import MOST_RUNS, NOT_SHOWN
from swzverify.compiled.scan.race_values import deciding, surely_differ
from swzverify.compiled.scan.race_witness import (
    is_loose,
    small_values,
    why_no_race,
    witness_of,
)
from swzverify.engines.obligations import Answer, Finding
from swzverify.ir.counts import size
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import FALSE, TRUE, Expr, conjunction, negation, variables
from swzverify.prover import Options
from swzverify.prover.panel import Panel

_MOST_GIVEN_UP: Final = 8
"""Pairs on which Z3 gives up before it gets less for the others."""
_MOST_HARD: Final = 4
"""Questions with products of values that are not known on which Z3 gives up, before others are asked without these."""
_TOO_HARD: Final = Finding("z3", Answer.UNDECIDED, detail="it has products of values that are not known")
_MOST_WAYS: Final = 16
"""Ways of a meeting that are asked one by one."""
_FIRST_TRIPS: Final = (0, 1)
"""Trips at which a race is looked for if it is not known what later ones carry."""
_MOST_LATE: Final = 128
"""Meetings that are asked about once the kernel has its verdict."""
_BY_COORDINATES: Final = Found(RaceVerdict.FREE, "coordinates alone decide it", (BY_LISTS, "z3"))
_BY_Z3: Final = Found(RaceVerdict.FREE, "Z3 alone decides it", ("z3",))
Refined: TypeAlias = Callable[[Asked], Iterable[Asked]]


class MeetingJudge:
    """Decides the meetings of one kernel.

    Attributes:
        found: The worst verdict of each pair, by its instructions.
        assumptions, most_meetings: What the verdicts assume, and how many meetings are looked at.
    """

    def __init__(self, kernel: Kernel, facts: Facts, left_out: Collection[str]) -> None:
        self._kernel, self._facts, self._left_out = kernel, facts, left_out
        self._asker, self._brief, self._briefest = (Asker(*each) for each in (OF_RACES, AFTER_A_RACE, AT_LAST))
        self._of_groups, self._joins, self._points = Asker(*FOR_GROUPS), Joins(), Points()
        self._hard, self.most_meetings = 0, MOST_MEETINGS
        self._panel, self.assumptions = Panel(Options(rlimit=BUDGET)), dict[str, None]()
        self.found: dict[tuple[int, int], Found] = {}
        self._racy, self._open = set[tuple[int, int]](), set[tuple[int, int]]()

    def decide(self, asked: Sequence[Asked], refined: Refined = lambda _: ()) -> None:
        """Ask what is cheap first. `refined` has the same question with more that is known, if it is not free."""
        left: list[tuple[Asked, list[Question]]] = []
        for each in asked[self.most_meetings : self.most_meetings + 1]:
            # One stands for all of them: a report has no use for tens of thousands.
            self.keep(each.key, Found(RaceVerdict.UNKNOWN, TOO_MANY))
        families = {each: found for each in asked[: self.most_meetings] if (found := each.families())}
        never = never_met((case for found in families.values() for case in found), self._panel.possible)
        for each in asked[: self.most_meetings]:
            if each in families and never.issuperset(families[each]):
                self.keep(each.key, _BY_COORDINATES)
            elif questions := self._not_listed(each):
                left.append((each, questions))
        wholes = [[conjunction(self._conditions(each)) for each in questions] for _, questions in left]
        ruled = ruled_out(chain.from_iterable(wholes), lambda each: self._possible(each, self._of_groups))
        pending: list[tuple[int, int, Asked, Question]] = []
        for at, ((each, questions), whole) in enumerate(zip(left, wholes, strict=True)):
            if ruled.issuperset(whole):
                self.keep(each.key, _BY_Z3)
                self._assume_memory(questions)
            else:
                question = questions[0] if len(questions) == 1 else each.question()
                pending.append((size(question.condition), at, each, question))
        late = 0
        for _, _, each, question in sorted(pending, key=lambda item: item[:2]):
            late += self._is_late()
            is_asked = late <= _MOST_LATE
            found = self._answer(each, question, refined) if is_asked else Found(RaceVerdict.UNKNOWN, NOT_ASKED)
            self.keep(each.key, found)
        # Only the witness that stands for a pair is worth a search for one that can be run.
        self._asker = Asker(*OF_RACES)
        self.found = {key: self._with_small_values(found) for key, found in self.found.items()}

    def _not_listed(self, asked: Asked) -> list[Question]:
        """The questions about a meeting, one for each way; none if lists of addresses show that it is free."""
        ways: Sequence[Way | None] = asked.meeting.ways
        ways = ways if 0 < len(ways) <= _MOST_WAYS else (None,)
        whole = [asked.question()] if len(ways) > 1 else []
        if whole and self._is_listed(whole[0]):
            questions = whole
        else:
            questions = [asked.question(way) for way in ways]
            if not all(map(self._is_listed, questions)):
                return questions
        self.keep(asked.key, Found(RaceVerdict.FREE, "few values decide it", (BY_LISTS,)))
        self._assume_memory(questions)
        return []

    def _is_listed(self, question: Question) -> bool:
        """Whether lists of addresses show that accesses never meet."""
        return question.ends is not None and self._joins.never_meet(
            question.ends, self._conditions(question), question.few
        )

    def _assume_memory(self, questions: Iterable[Question]) -> None:
        """What was shown of some questions assumes that offsets are within the memory of a block."""
        if any(question.in_memory is not TRUE for question in questions):
            self.assumptions[IN_MEMORY] = None

    def never(self, condition: Expr) -> bool:
        """Whether a condition is shown not to hold."""
        return self._possible(condition).answer is Answer.EMPTY

    def is_free(self, asked: Asked) -> bool:
        """Whether two accesses are shown not to meet."""
        found = self._unless_met(asked.question())
        return found is not None and found.verdict is RaceVerdict.FREE

    def _unless_met(self, question: Question) -> Found | None:
        """The verdict if accesses never meet, or if Z3 gives up; None if they can meet."""
        *conditions, in_memory = self._conditions(question)
        condition = conjunction(conditions)
        whole = conjunction((condition, in_memory))
        return self._if_never(condition, whole) if self._points.some(whole) is None else None

    def free_ones(self, asked: Sequence[Asked]) -> set[Asked]:
        """Those of some that are shown not to meet; questions that are nearly the same are one."""
        conditions = {each: self._conditions(each.question()) for each in asked}
        wholes = {each: conjunction(parts) for each, parts in conditions.items()}
        held = self._points.held(list(dict.fromkeys(wholes.values())))
        left = {each: conjunction(parts[:-1]) for each, parts in conditions.items() if wholes[each] not in held}
        never = ruled_out(left.values(), self._possible)
        return {each for each, condition in left.items() if condition in never or self.is_free(each)}

    @cached_property
    def _bounds(self) -> Bounds | None:
        return MemoryBounds(self._kernel, self.never).found()

    def _is_free_within_memory(self, asked: Asked) -> bool:
        """Whether two accesses are shown not to meet, as loops make no more trips than their arrays have room for."""
        bounds = None if self._has_given_up() else self._bounds
        if bounds is None or not self.never(conjunction(self._conditions(asked.within(bounds).question()))):
            return False
        self.assumptions[IN_ARRAYS] = None
        return True

    def _answer(self, asked: Asked, question: Question, refined: Refined) -> Found:
        """The verdict of a meeting: of all its ways together, or of the worst one."""
        ways = asked.meeting.ways
        is_wide = len(ways) > _MOST_WAYS
        found = (self._unless_met(question) or TOO_MANY_PATHS) if is_wide else self._of(asked, question)
        benign: Found | None = None
        for each in refined(asked) if found.verdict is not RaceVerdict.FREE else ():
            if self.is_free(each):
                self.assumptions[TRIPS] = None
                return _BY_Z3
            if (benign := benign or self._benign(each)) is not None and each.key[0] == each.key[1]:
                break
        if found.verdict is not RaceVerdict.FREE and self._is_free_within_memory(asked):
            return _BY_Z3
        if benign is not None:
            self.assumptions[TRIPS] = None
            return benign
        if found.reason == GAVE_UP and self._has_given_up():
            return found
        if found.verdict is not RaceVerdict.FREE and is_wide:
            return TOO_MANY_PATHS
        if found.verdict is not RaceVerdict.FREE and len(ways) > 1:
            answers = list[Found]()
            for each in ways:
                answers.append(self._of(asked, asked.question(each)))
                if self._has_enough() and answers[-1].verdict is RaceVerdict.UNKNOWN:
                    break  # nothing worse is found any more
            found = min(answers, key=lambda each: rank(each.verdict))
        elif found.reason == GAVE_UP and ways:
            # Without the conditions of the way there is less to read.
            whole = self._of(asked, asked.question())
            found = whole if whole.verdict is RaceVerdict.FREE else found
        return self._at_first(asked, found) if found.verdict is RaceVerdict.UNKNOWN else found

    def _benign(self, asked: Asked) -> Found | None:
        """That both threads write one value wherever they may meet, with a witness that a run still has to show."""
        question = asked.question()
        condition = conjunction(self._conditions(question))
        if question.same is None or not self.never(conjunction((condition, negation(question.same)))):
            return None
        point = self._point(condition)
        witness = None if point is None else witness_of(self._kernel, question, point)
        return Found(RaceVerdict.BENIGN, ONE_VALUE, witness=witness, met=(question, condition)) if witness else None

    def _at_first(self, asked: Asked, found: Found) -> Found:
        """A race in the first trips of a loop, where registers are what they are before it; else what is known."""
        for first in _FIRST_TRIPS if any(asked.meeting.trips) and not self._has_enough() else ():
            each = asked.counted_from(first)
            for way in each.meeting.ways[:_MOST_WAYS] or (None,):
                question = each.question(way)
                if not self._why_not(each, question):
                    at_first = self._met(each, question, conjunction(self._conditions(question)))
                    if at_first.verdict in (RaceVerdict.RACE, RaceVerdict.DEPENDS):
                        return at_first
        return found

    def _conditions(self, question: Question) -> list[Expr]:
        """When the accesses meet, with what the user assumes of the values that this depends on."""
        read = {leaf.name for leaf in question.read}
        assumed = [each.condition for each in self._facts.assumed if each.leaves.keys() & read]
        return [question.condition, *assumed, question.in_memory]

    def _of(self, asked: Asked, question: Question) -> Found:
        """The verdict on one question. A point where the accesses meet decides that they are not free."""
        *conditions, in_memory = self._conditions(question)
        condition = conjunction(conditions)
        whole = conjunction((condition, in_memory))
        reason = self._why_not(asked, question)
        if reason and (certain := self._without_loose(asked, question, whole)) is not None:
            return self._met(asked, certain[0], whole, certain[1])
        if reason and self._points.some(whole) is not None:
            return Found(RaceVerdict.UNKNOWN, reason)
        if not reason and (point := self._points.some(conjunction((whole, question.exact or FALSE)))) is not None:
            return self._met(asked, question, whole, point)
        found = self._if_never(condition, whole)
        if found is not None:
            return found
        return Found(RaceVerdict.UNKNOWN, reason) if reason else self._met(asked, question, whole)

    def _if_never(self, condition: Expr, whole: Expr) -> Found | None:
        """The verdict if accesses never meet, or if Z3 gives up; None if they can."""
        found = self._possible(condition)
        if found.answer is Answer.HOLDS and whole is not condition:
            found = self._possible(whole)
            if found.answer is Answer.EMPTY:
                self.assumptions[IN_MEMORY] = None
        if found.answer is Answer.EMPTY:
            return replace(_BY_Z3, engines=(found.engine,))
        return None if found.answer is Answer.HOLDS else Found(RaceVerdict.UNKNOWN, GAVE_UP)

    def _without_loose(
        self, asked: Asked, question: Question, whole: Expr
    ) -> tuple[Question, Mapping[str, int]] | None:
        """A question without the leaves of which nothing is known, and a point that shows that they do not matter."""
        loose = {made for made, leaf in question.made.items() if is_loose(leaf)}
        if not loose or question.exact is None or question.same is not None:
            return None
        certain = replace(question, read=tuple(leaf for leaf in question.read if not is_loose(leaf)))
        if self._why_not(asked, certain):
            return None
        exact = whatever(question.exact, loose)
        point = self._points.some(conjunction((whole, exact)))
        return None if point is None else (replace(certain, exact=exact), point)

    def _possible(self, condition: Expr, asker: Asker | None = None) -> Finding:
        """Whether a condition can hold; where a trip is divided by a number, for each residue by itself."""
        asker = asker or self._asker
        if self._hard >= _MOST_HARD and (rest := without_products(condition)) is not condition:
            found = asker.possible(rest)
            return found if found.answer is Answer.EMPTY else _TOO_HARD
        trips = [each for each in variables(condition) if each.name.startswith(BASE)]
        undecided: Finding | None = None
        parts = list(by_residues(condition, trips))
        for part, values in parts:
            found = asker.possible(part)
            point = found.point or {}
            if found.answer is Answer.HOLDS:
                known = dict.fromkeys((each.name for each in variables(condition, *values.values())), 0) | dict(point)
                whole = known | {trip.name: evaluate(value, known) for trip, value in values.items()}
                if evaluate(condition, whole):
                    return replace(found, point=whole)
            if found.answer is not Answer.EMPTY:
                undecided = replace(found, answer=Answer.UNDECIDED)
        if parts:
            return undecided or Finding("z3", Answer.EMPTY)
        found = asker.possible(condition)
        self._points.learn(found.point)
        if found.answer is Answer.UNDECIDED and without_products(condition) is not condition:
            self._hard += 1
        return found

    def _why_not(self, asked: Asked, question: Question) -> str:
        """Why accesses that meet are not shown to race; empty if nothing prevents it."""
        reason = next(iter(self._left_out), "") or why_no_race(asked, question)
        return reason or (NOT_SHOWN if self._has_enough() else "")

    def _has_enough(self) -> bool:
        """Whether as many races are found as can be run."""
        return len(self._racy) >= MOST_RUNS

    def _has_given_up(self) -> bool:
        """Whether Z3 has given up on many pairs."""
        return len(self._open) >= _MOST_GIVEN_UP

    def _is_late(self) -> bool:
        """Whether the kernel has its verdict, as far as other pairs are concerned."""
        return self._has_enough() or self._has_given_up()

    def _met(self, asked: Asked, question: Question, condition: Expr, point: Mapping[str, int] | None = None) -> Found:
        """The verdict on accesses that meet for some values, perhaps at a known point, if threads surely make both."""
        exact = conjunction((condition, question.exact or FALSE))
        point = self._point(exact) if point is None else point
        if point is None:
            return Found(RaceVerdict.UNKNOWN, INEXACT)
        harmful = exact
        if question.same is not None:
            differ = conjunction((exact, negation(question.same)))
            apart = self._point(differ)
            if apart is not None:
                point, harmful = apart, differ
            elif self._possible(differ).answer is Answer.EMPTY:
                if not self.never(conjunction((condition, negation(question.same)))):
                    return Found(RaceVerdict.UNKNOWN, INEXACT)
                return self._shown(RaceVerdict.BENIGN, ONE_VALUE, question, point, exact)
        question, what, first = deciding(asked, question, exact, point, self.never)
        in_first, sure = conjunction((harmful, *first)), conjunction((exact, *first))
        at_first = self._point(in_first) if first else None
        if what and not (at_first and surely_differ(asked, question, sure, at_first, self.never)):
            return self._shown(RaceVerdict.DEPENDS, f"it depends on {what}", question, point, harmful)
        return self._shown(RaceVerdict.RACE, UNORDERED, question, at_first or point, in_first)

    def _shown(self, verdict: RaceVerdict, reason: str, question: Question, at: Mapping[str, int], when: Expr) -> Found:
        """A verdict with a witness."""
        return Found(verdict, reason, witness=witness_of(self._kernel, question, at), met=(question, when))

    def _with_small_values(self, found: Found) -> Found:
        """The same with a witness of small values of the launch, so that a run can show the race, if there is one."""
        if found.met is None:
            return found
        question, exact = found.met
        point = self._small_point(exact, question)
        witness = found.witness if point is None else witness_of(self._kernel, question, point)
        return replace(found, witness=witness, met=None)

    def _point(self, condition: Expr) -> Mapping[str, int] | None:
        """A point at which a condition holds; None if none is found."""
        point = self._points.some(condition)
        if point is None:
            found = self._possible(condition)
            point = (found.point or {}) if found.answer is Answer.HOLDS else None
        return point

    def _small_point(self, condition: Expr, question: Question) -> Mapping[str, int] | None:
        """A point with small values of the launch; None if none is found."""
        found = (self._point(conjunction((condition, each))) for each in small_values(condition, question))
        return next((each for each in found if each is not None), None)

    def keep(self, key: tuple[int, int], found: Found) -> None:
        """The worst verdict of all meetings of two instructions; of free ones, the fewest engines."""
        if found.verdict not in (RaceVerdict.FREE, RaceVerdict.BENIGN):
            self._asker = self._brief
        known = self.found.get(key)
        if known is None or (rank(found.verdict), len(found.engines)) < (
            rank(known.verdict),
            len(known.engines) or 9,
        ):
            self.found[key] = found
            self._racy.discard(key)
            self._open.discard(key)
            if found.verdict in (RaceVerdict.RACE, RaceVerdict.DEPENDS):
                self._racy.add(key)
            if found.reason == GAVE_UP:
                self._open.add(key)
        if self._is_late():
            self._asker = self._briefest

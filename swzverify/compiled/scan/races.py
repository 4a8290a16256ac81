"""Races of a kernel's accesses to shared memory: what the engines say of each pair that can meet.

A pair is free if it is for every meeting. Where coordinates alone decide the distance, an engine that
enumerates and Z3 prove it; elsewhere Z3 does alone. A race needs a witness: threads that surely make both
accesses, no value that nobody knows, no order that is left out, and offsets that are within the memory of
a block as integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import PurePath
from typing import Final

from swzverify.compiled.kernel import inlined
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.whole import Kernel, SharedAccess
from swzverify.compiled.order.barriers import MASKED, Scope, orders_of
from swzverify.compiled.order.instance import BASE, MOST_TRIPS, Couple
from swzverify.compiled.order.intervals import Meeting, meetings, own_copies
from swzverify.compiled.order.pairs import Asked, Question, are_in_distinct_arrays
from swzverify.compiled.order.residues import by_residues
from swzverify.compiled.order.step import InStep, in_step
from swzverify.compiled.order.verdict import (
    BarrierFinding,
    KernelRaces,
    Pair,
    Participant,
    RaceVerdict,
    Witness,
    rank,
    worst_of,
)
from swzverify.compiled.ptx import Function, Instruction, Module, PtxError
from swzverify.compiled.scan.asker import BUDGET, Asker, OutOfClockError
from swzverify.compiled.scan.given import Facts, Given, facts_of, with_alignment
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.race_parts import UNORDERED, Parts
from swzverify.compiled.scan.race_replay import Runs
from swzverify.compiled.scan.race_witness import (
    in_first_block,
    is_loose,
    is_of_launch,
    is_written_perhaps,
    small_values,
    witness_of,
)
from swzverify.core.words import counted
from swzverify.engines.obligations import Answer, Apart, Finding
from swzverify.hardware import LANES, capability_of
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, conjunction, negation, postorder, variables
from swzverify.prover import Options
from swzverify.prover.panel import Panel

_BUDGET: Final = (3, 40)
"""Questions of a kernel that may use up Z3's budget, and the share of it that each later one has."""
_AFTER_A_RACE: Final = (0, 20)
"""The same once a race is found: the kernel has its verdict."""
_MOST_WAYS: Final = 16
"""Ways of a meeting that are asked one by one."""
_FIRST_TRIPS: Final = (0, 1)
"""Trips at which a race is looked for if it is not known what later ones carry."""
_MOST_BLOCK: Final = 512
"""Threads up to which two of them are looked for in the whole block at once."""
IN_ARRAYS: Final = "each access stays within its array (in_bounds decides that)"
IN_MEMORY: Final = "offsets in shared memory do not wrap around 32 bits"
_RETURNED: Final = "what a thread did before it returned comes before the end of later barriers"
_GLOBAL: Final = "nobody writes, while the kernel runs, the global memory that it loads at {}"
_OF_COPY: Final = "no order is known of a bulk copy and what may run meanwhile"
_TRIPS: Final = f"no loop with a barrier makes more than {MOST_TRIPS} trips"


def races_of(
    module: Module,
    function: Function,
    given: Given,
    *,
    lockstep: bool = False,
    block: BlockShape | None = None,
    target: str = "sm_90",
    smem: int | None = None,
) -> KernelRaces:
    """Whether a kernel's accesses to shared memory race, for every launch of a block shape.

    With `lockstep`, the lanes of a warp run each instruction together. `smem` are the bytes of dynamic shared
    memory with which witnesses are run.

    Raises:
        SwzError: SWZ551 or SWZ552 for `given`; SWZ555 for a block that the function does not allow.

    >>> from swzverify.compiled.ptx import read_module
    >>> text = ".version 8.3 .target sm_90 .address_size 64 .shared .b32 s[32]; .entry k() {"
    >>> text += ".reg .b32 %r<4>; mov.u32 %r1, %tid.x; st.shared.u32 [s], %r1; ret; }"
    >>> module = read_module(text, "k.ptx")
    >>> races_of(module, module.functions[0], Given(), block=(32, 1, 1)).verdict.value
    'race'
    """
    block = block_of_launch(function, block)
    if function.problem is not None:
        return KernelRaces(RaceVerdict.UNKNOWN, function.problem.message, is_lockstep=lockstep)
    if block is None:
        return KernelRaces(RaceVerdict.UNKNOWN, "the shape of the block is not known", is_lockstep=lockstep)
    module, _ = with_alignment(module, given)
    facts = facts_of(function, given)
    try:
        kernel = Kernel(module, inlined(module, function), block, facts.arguments, capability_of(target))
        found = _Judge(module, kernel, facts, is_lockstep=lockstep).judged()
    except (FlowError, PtxError) as error:
        return KernelRaces(RaceVerdict.UNKNOWN, f"line {error.line}: {error}", is_lockstep=lockstep)
    except OutOfClockError as error:
        return KernelRaces(RaceVerdict.UNKNOWN, str(error), is_lockstep=lockstep)
    return Runs(module, function, block, facts, smem).confirmed(found)


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of one meeting."""

    verdict: RaceVerdict
    reason: str
    engines: tuple[str, ...] = ()
    witness: Witness | None = None
    condition: str = ""


class _Judge:
    """Decides the pairs of one kernel."""

    def __init__(self, module: Module, kernel: Kernel, facts: Facts, *, is_lockstep: bool) -> None:
        self._module, self._kernel, self._facts, self._is_lockstep = module, kernel, facts, is_lockstep
        self._accesses = {each.index: each for each in kernel.accesses if not each.reason}
        self._threads = prod(kernel.block)
        self._orders = orders_of(kernel)
        self._of_block, self._of_warp = (
            in_step(kernel, scope, dict(self._orders.barriers), MASKED) for scope in (Scope.BLOCK, Scope.WARP)
        )
        self._left_out: dict[str, None] = dict.fromkeys(self._orders.left_out)
        self._asker, self._brief = Asker(*_BUDGET), Asker(*_AFTER_A_RACE)
        self._panel = Panel(Options(rlimit=BUDGET))
        self._assumptions: dict[str, None] = {}
        self._found: dict[tuple[int, int], _Found] = {}
        self._parts = Parts(
            kernel,
            self._orders,
            self._of_block,
            self._of_warp,
            lambda each: self._possible(each).answer is Answer.EMPTY,
        )

    def judged(self) -> KernelRaces:
        """The verdict on the kernel."""
        kernel = self._kernel
        if not kernel.accesses:
            reason = "it does not access shared memory"
            return KernelRaces(RaceVerdict.FREE, reason, is_lockstep=self._is_lockstep)
        of_block, of_warp = self._of_block, self._of_warp
        self._left_out |= dict.fromkeys((*of_block.left_out, *of_warp.left_out))
        asked = [
            Asked(kernel, step.sharing, couple, meeting)
            for couple, step in self._couples(of_block, of_warp)
            for meeting in self._meetings(couple, step)
        ]
        self._decide(asked)
        for each in self._parts.unordered():
            if self._of(each, each.question()).verdict is not RaceVerdict.FREE:
                self._keep(each, _Found(RaceVerdict.UNKNOWN, UNORDERED))
        return self._summary()

    def _couples(self, of_block: InStep, of_warp: InStep) -> list[tuple[Couple, InStep]]:
        """Which two threads are looked at, with the barriers that order them."""
        found: list[tuple[Couple, InStep]] = []
        has_copies = any(each.is_copy for each in self._accesses.values())
        has_warp_barriers = Scope.WARP in self._orders.barriers.values()
        if LANES < self._threads <= _MOST_BLOCK and not has_warp_barriers and not self._is_lockstep:
            found.append((Couple.ANY, of_block))
        else:
            if self._threads > LANES:
                found.append((Couple.WARPS, of_block))
            if self._threads > 1:
                found.append((Couple.LANES, of_warp))
        return [*found, *([(Couple.SELF, of_warp)] if has_copies else [])]

    def _meetings(self, couple: Couple, step: InStep) -> list[Meeting]:
        found = own_copies(self._kernel, step) if couple is Couple.SELF else meetings(self._kernel, step)
        if couple is Couple.LANES and self._is_lockstep:
            found = [each for each in found if self._is_at_once(each)]
        if any(step.sharing.steps):
            self._assumptions[_TRIPS] = None
        kept: list[Meeting] = []
        for each in found:
            first, second = self._accesses[each.first], self._accesses[each.second]
            if are_in_distinct_arrays(self._kernel, first, second):
                self._assumptions[IN_ARRAYS] = None
                self._found.setdefault((each.first, each.second), _Found(RaceVerdict.FREE, "the arrays are distinct"))
            else:
                kept.append(each)
        return kept

    def _is_at_once(self, meeting: Meeting) -> bool:
        """Whether lanes in lockstep can still make both accesses at one time."""
        is_one = meeting.first == meeting.second and meeting.trips[0] == meeting.trips[1]
        return is_one or any(self._accesses[each].is_copy for each in (meeting.first, meeting.second))

    # ---- asking

    def _decide(self, asked: list[Asked]) -> None:
        """Ask what is cheap first."""
        left: list[tuple[int, int, Asked, Question]] = []
        for at, each in enumerate(asked):
            apart = each.apart()
            engines = () if apart is None else self._engines(apart)
            if engines:
                self._keep(each, _Found(RaceVerdict.FREE, "coordinates alone decide it", engines))
            else:
                question = each.question()
                left.append((len(postorder(question.condition)), at, each, question))
        for _, _, each, question in sorted(left, key=lambda item: item[:2]):
            self._keep(each, self._answer(each, question))

    def _engines(self, apart: Apart) -> tuple[str, ...]:
        """The engines that prove that two families of ranges never meet; none if not two of them do."""
        native = next(iter(self._panel.natives(apart)), None)
        if native is None or native.answer is not Answer.HOLDS:
            return ()
        smt = self._panel.smt(apart)
        return (native.engine, smt.engine) if smt.answer is Answer.HOLDS else ()

    def _answer(self, asked: Asked, question: Question) -> _Found:
        """The verdict of a meeting: of all its ways together, or of the worst one."""
        found = self._of(asked, question)
        for each in self._parts.refined(asked) if found.verdict is not RaceVerdict.FREE else ():
            refined = self._of(each, each.question())
            if refined.verdict is RaceVerdict.FREE:
                self._assumptions[_TRIPS] = None
                return refined
        ways = asked.meeting.ways
        if found.verdict is not RaceVerdict.FREE and ways:
            if len(ways) > _MOST_WAYS:
                return replace(found, verdict=RaceVerdict.UNKNOWN, reason="too many paths lead to the accesses")
            answers = [self._of(asked, asked.question(each)) for each in ways]
            found = min(answers, key=lambda each: rank(each.verdict))
        return self._at_first(asked, found) if found.verdict is RaceVerdict.UNKNOWN else found

    def _at_first(self, asked: Asked, found: _Found) -> _Found:
        """A race in the first trips of a loop, where registers are what they are before it; else what is known."""
        for first in _FIRST_TRIPS if any(asked.meeting.trips) else ():
            each = Asked(self._kernel, asked.sharing, asked.couple, asked.meeting.counted_from(first))
            ways = each.meeting.ways[:_MOST_WAYS] or (None,)
            answers = [self._of(each, each.question(way)) for way in ways]
            at_first = min(answers, key=lambda each: rank(each.verdict))
            if at_first.verdict in (RaceVerdict.RACE, RaceVerdict.DEPENDS):
                return at_first
        return found

    def _of(self, asked: Asked, question: Question) -> _Found:
        assumed = [
            each.condition for each in self._facts.assumed if each.leaves.keys() & {leaf.name for leaf in question.read}
        ]
        condition = conjunction((question.condition, *assumed))
        found = self._possible(condition)
        if found.answer is Answer.EMPTY:
            return _Found(RaceVerdict.FREE, "Z3 alone decides it", (found.engine,))
        condition = conjunction((condition, question.in_memory))
        if found.answer is Answer.HOLDS:
            found = self._possible(condition)
            if found.answer is Answer.EMPTY:
                self._assumptions[IN_MEMORY] = None
                return _Found(RaceVerdict.FREE, "Z3 alone decides it", (found.engine,))
        if found.answer is not Answer.HOLDS:
            return _Found(RaceVerdict.UNKNOWN, "Z3 does not decide it within its budget")
        return self._met(asked, question, condition)

    def _possible(self, condition: Expr) -> Finding:
        """Whether a condition can hold; where a trip is divided by a number, for each residue by itself."""
        trips = [each for each in variables(condition) if each.name.startswith(BASE)]
        undecided: Finding | None = None
        parts = list(by_residues(condition, trips))
        for part, values in parts:
            found = self._asker.possible(part)
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
        return self._asker.possible(condition)

    def _met(self, asked: Asked, question: Question, condition: Expr) -> _Found:
        """The verdict on accesses that meet for some values."""
        loose = next((leaf for leaf in question.read if is_loose(leaf)), None)
        if self._left_out or any(each.is_bulk for each in asked.accesses):
            return _Found(RaceVerdict.UNKNOWN, next(iter(self._left_out), _OF_COPY))
        if any(each.is_strong for each in asked.accesses):
            return _Found(RaceVerdict.UNKNOWN, "the memory model orders one of the accesses by itself")
        if loose is not None:
            return _Found(RaceVerdict.UNKNOWN, f"it depends on a value that is not known: {loose.reason}")
        if not asked.is_in_step():
            return _Found(RaceVerdict.UNKNOWN, "how many trips the threads are apart is not known")
        if question.exact is None:
            return _Found(RaceVerdict.UNKNOWN, "which threads come to the accesses is not known exactly")
        exact = conjunction((condition, question.exact))
        found = self._possible(exact)
        if found.answer is not Answer.HOLDS:
            return _Found(RaceVerdict.UNKNOWN, "which threads come to the accesses is not known exactly")
        witness = witness_of(self._kernel, question, self._small_point(exact, question) or found.point or {})
        if question.same is not None:
            differ = conjunction((exact, negation(question.same)))
            if self._possible(differ).answer is Answer.EMPTY:
                return _Found(RaceVerdict.BENIGN, "all threads write one value", witness=witness)
        given = [leaf for leaf in question.read if leaf.symbol is None and is_of_launch(asked, leaf)]
        in_first = conjunction((exact, *in_first_block(given)))
        if given and (not in_first_block(given) or self._possible(in_first).answer is not Answer.HOLDS):
            text = ", ".join(f"{name} = {value}" for name, value in witness.parameters)
            reason = f"it depends on {given[0].reason}"
            return _Found(RaceVerdict.DEPENDS, reason, witness=witness, condition=text)
        return _Found(RaceVerdict.RACE, "no barrier orders the accesses", witness=witness)

    def _small_point(self, condition: Expr, question: Question) -> Mapping[str, int] | None:
        """A point with small values of the launch, so that a run can show the race; None if none is found."""
        found = (self._possible(conjunction((condition, each))) for each in small_values(condition, question))
        return next((each.point for each in found if each.answer is Answer.HOLDS), None)

    def _keep(self, asked: Asked, found: _Found) -> None:
        """The worst verdict of all meetings of a pair; of free ones, the fewest engines."""
        if found.verdict not in (RaceVerdict.FREE, RaceVerdict.BENIGN):
            self._asker = self._brief
        key = asked.meeting.first, asked.meeting.second
        known = self._found.get(key)
        if known is None or (rank(found.verdict), len(found.engines)) < (
            rank(known.verdict),
            len(known.engines) or 9,
        ):
            self._found[key] = found

    # ---- telling

    def _summary(self) -> KernelRaces:
        pairs = [self._pair(*key, found) for key, found in self._found.items() if found.verdict is not RaceVerdict.FREE]
        for each in self._kernel.accesses:
            if each.reason:
                participant = self._participant(each)
                pairs.append(Pair(participant, participant, RaceVerdict.UNKNOWN, each.reason))
        pairs.sort(key=lambda each: rank(each.verdict))
        barriers = tuple(map(self._barrier, sorted((*self._orders.barriers, *self._orders.unmodelled))))
        free = sum(found.verdict is RaceVerdict.FREE for found in self._found.values())
        verdict, reason = worst_of((*barriers, *pairs)) or (RaceVerdict.FREE, "")
        if verdict is RaceVerdict.FREE:
            alone = sum(found.engines == ("z3",) for found in self._found.values())
            reason = f"{counted(free, 'pair')} of accesses {'is' if free == 1 else 'are'} free, {alone} by Z3 alone"
        return KernelRaces(
            verdict, reason, tuple(pairs), free, barriers, self._all_assumptions(), is_lockstep=self._is_lockstep
        )

    def _all_assumptions(self) -> tuple[str, ...]:
        divisions = [text for each in self._kernel.accesses for text in each.divisions]
        loads = sorted({leaf.line for leaf in self._kernel.leaves.by_name.values() if is_written_perhaps(leaf)})
        found = [*self._facts.applied, *self._assumptions, *dict.fromkeys(divisions)]
        if self._of_block.has_returns or self._of_warp.has_returns:
            found.append(_RETURNED)
        if loads:
            found.append(_GLOBAL.format("line " + ", ".join(map(str, loads))))
        return tuple(found)

    def _pair(self, first: int, second: int, found: _Found) -> Pair:
        one, two = (self._participant(self._accesses[each]) for each in (first, second))
        return Pair(one, two, found.verdict, found.reason, found.engines, found.witness, found.condition)

    def _participant(self, access: SharedAccess) -> Participant:
        each = access.instruction
        return Participant(each.line, each.opcode, self._source(each), access.calls)

    def _source(self, instruction: Instruction) -> str:
        location = instruction.location
        if location is None:
            return ""
        return f"{PurePath(self._module.files.get(location.file, '')).name}:{location.line}"

    def _barrier(self, index: int) -> BarrierFinding:
        each = self._kernel.function.instructions[index]
        scope = self._orders.barriers.get(index)
        step = self._of_block if scope is Scope.BLOCK and self._threads > LANES else self._of_warp
        verdict, reason = RaceVerdict.FREE, "all threads reach it together"
        if index in self._parts.barriers:
            reason = "its threads arrive once in each phase"
        elif scope is None:
            verdict, reason = RaceVerdict.UNKNOWN, self._orders.unmodelled[index]
        elif index in step.divergent:
            verdict = RaceVerdict.DIVERGENT
            reason = f"not all threads reach it: they part at line {step.divergent[index]}"
        elif index not in step.barriers:
            verdict, reason = RaceVerdict.UNKNOWN, next(iter(step.left_out), "it is not counted")
        return BarrierFinding(each.line, each.opcode, self._source(each), verdict, reason)

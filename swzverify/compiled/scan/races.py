"""Races of a kernel's accesses to shared memory: what the engines say of each pair that can meet.

A pair is free if it is for every meeting. Where coordinates alone decide the distance, an engine that
enumerates and Z3 prove it; elsewhere Z3 does alone. A race needs a witness: threads that surely make both
accesses, no value that nobody knows, no order that is left out, and offsets that are within the memory of
a block as integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import replace
from itertools import chain, islice, product
from math import prod
from pathlib import PurePath
from typing import Final

from swzverify.compiled.kernel import inlined
from swzverify.compiled.kernel.clusters import OF_SHAPE, assumption_on_clusters, reaches_others
from swzverify.compiled.kernel.elections import FIRST_IS_ELECTED
from swzverify.compiled.kernel.flow import FlowError
from swzverify.compiled.kernel.leaves import OpaqueLeaf, is_written_perhaps
from swzverify.compiled.kernel.listing import uses_of
from swzverify.compiled.kernel.own_stores import own_store
from swzverify.compiled.kernel.pointers import NOT_SHARED
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.whole import BOX_IS_OPEN, Kernel
from swzverify.compiled.order.barriers import Scope, orders_of
from swzverify.compiled.order.between import Rows
from swzverify.compiled.order.instance import Instances
from swzverify.compiled.order.intervals import Meeting, meetings, own_copies
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.step import InStep
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.verdict import (
    BarrierFinding,
    KernelRaces,
    Pair,
    Participant,
    RaceVerdict,
    rank,
    worst_of,
)
from swzverify.compiled.ptx import Function, Instruction, Module, PtxError
from swzverify.compiled.scan.asker import OutOfClockError
from swzverify.compiled.scan.given import Facts, Given, module_and_facts
from swzverify.compiled.scan.launch import block_of_launch
from swzverify.compiled.scan.race_barriers import Values, launches_that_part
from swzverify.compiled.scan.race_found import IN_ARRAYS, NOT_ASKED, TOO_MANY, TRIPS, Found
from swzverify.compiled.scan.race_meetings import MeetingJudge
from swzverify.compiled.scan.race_parts import Parts, is_of_proxies
from swzverify.compiled.scan.race_replay import NOT_SHOWN, Runs
from swzverify.core.words import counted, listed
from swzverify.hardware import LANES, capability_of

_MOST_BLOCK: Final = 512
"""Threads up to which two of them are looked for in the whole block at once."""
_MOST_QUESTIONS: Final = 512
"""Meetings beyond which the runs of a few threads are asked first whether two threads can be at both accesses."""
_RUNS: Final = "runs"
"""What proves pairs free of which one is an operation on a barrier object, and the other one apart from all objects."""
DISTINCT: Final = "distinct arrays"
"""What proves pairs free whose accesses name distinct arrays."""
_RETURNED: Final = "the accesses of a thread that has returned come before the end of later barriers"
_OWN_STORE: Final = "line {} may change the word of global memory that line {} loads"
_NOT_RUN: Final = "threads of a cluster may touch a common byte without an order, which no run of one block shows"
_MISSED: Final = "not all threads reach the barrier at line {}: they take different paths at line {}"
_NO_ACCESS: Final = "it does not access shared memory"
_PRINTED: Final = "`printf` (PTX line {}) reads nothing in shared memory"
_GLOBAL: Final = "while the kernel runs, nothing writes the global memory that it loads at {}"


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
        code = inlined(module, function).function.instructions
        if not any(uses_of(each, capability_of(target)) for each in code):
            return KernelRaces(RaceVerdict.FREE, _NO_ACCESS, is_lockstep=lockstep)
        return KernelRaces(RaceVerdict.UNKNOWN, "the shape of the block is not known", is_lockstep=lockstep)
    module, facts = module_and_facts(module, function, given)
    cluster = function.tuning.cluster or given.cluster
    if cluster is not None and prod(cluster) > 1 and prod(block) % LANES and reaches_others(function):
        return KernelRaces(RaceVerdict.UNKNOWN, "blocks of a cluster have a part of a warp", is_lockstep=lockstep)
    try:
        whole = inlined(module, function)
        kernel = Kernel(module, whole, block, facts.arguments, capability_of(target), cluster)
        judge = _Judge(module, kernel, facts, is_lockstep=lockstep)
        found = judge.judged()
    except (FlowError, PtxError) as error:
        return KernelRaces(RaceVerdict.UNKNOWN, f"line {error.line}: {error}", is_lockstep=lockstep)
    except OutOfClockError as error:
        return KernelRaces(RaceVerdict.UNKNOWN, str(error), is_lockstep=lockstep)
    if whole.prints and kernel.accesses:
        found = replace(found, assumptions=(*found.assumptions, _PRINTED.format(listed(whole.prints))))
    if kernel.ranks.count > 1:
        return _without_runs(found)
    return Runs(module, function, block, facts, smem, is_lockstep=lockstep).confirmed(found, judge.launches_that_part)


def _without_runs(found: KernelRaces) -> KernelRaces:
    """What is known of a cluster of several blocks: no run of it shows a race, so that none is reported."""
    open_ones = (RaceVerdict.RACE, RaceVerdict.BENIGN, RaceVerdict.DEPENDS)
    pairs = tuple(
        replace(each, verdict=RaceVerdict.UNKNOWN, reason=_NOT_RUN, witness=None, condition="")
        if each.verdict in open_ones
        else each
        for each in found.pairs
    )
    if found.verdict not in open_ones:
        return replace(found, pairs=pairs)
    return replace(found, pairs=pairs, verdict=RaceVerdict.UNKNOWN, reason=_NOT_RUN)


class _Judge:
    """Decides the pairs of one kernel."""

    def __init__(self, module: Module, kernel: Kernel, facts: Facts, *, is_lockstep: bool) -> None:
        self._module, self._kernel, self._facts, self._is_lockstep = module, kernel, facts, is_lockstep
        self._threads = kernel.ranks.threads
        self._orders = orders_of(kernel)
        self._left_out: dict[str, None] = dict.fromkeys(self._orders.left_out)
        self._assumptions: dict[str, None] = {}
        self._found: dict[tuple[int, int], Found] = {}
        self._free: dict[str, Rows] = {}
        self._judge = MeetingJudge(kernel, facts, self._left_out)
        self._parts = Parts(kernel, self._orders, self._judge)
        self._of_block, self._of_warp = self._parts.of_block, self._parts.of_warp
        if self._parts.is_known and self._left_out:
            self._left_out.clear()
            self._left_out[NOT_SHOWN] = None
        self._accesses = {each.index: each for each in kernel.accesses if not each.reason}
        self._has_objects = any(each.is_object for each in kernel.accesses)

    def judged(self) -> KernelRaces:
        """The verdict on the kernel."""
        kernel = self._kernel
        if not kernel.accesses:
            return KernelRaces(RaceVerdict.FREE, _NO_ACCESS, is_lockstep=self._is_lockstep)
        of_block, of_warp = self._of_block, self._of_warp
        self._left_out |= dict.fromkeys((*of_block.left_out, *of_warp.left_out))
        asked: list[Asked] = []
        for couple, step in self._couples(self._parts.of_cluster, of_block, of_warp):
            instances = Instances(kernel, step.sharing, couple, of_warp.sharing)
            # No more are looked at, however many unrolled code has: of the first that is left out a report tells.
            found = self._meetings(couple, step, self._judge.most_meetings + 1 - len(asked))
            asked += [Asked(instances, meeting, both) for meeting, both in found]
        self._judge.decide(asked, self._parts.refined)
        self._parts.decide_proxies()
        self._found = self._judge.found
        self._assumptions |= self._judge.assumptions
        return self._summary()

    def launches_that_part(self) -> list[Values]:
        """Launches in which threads may part before a barrier."""
        couples = (Couple.WARPS, Couple.LANES) if self._threads > LANES else (Couple.LANES,)
        step = self._of_block if self._threads > LANES else self._of_warp
        made = (Instances(self._kernel, step.sharing, each, self._of_warp.sharing) for each in couples)
        return launches_that_part(made, step.divergent)

    def _couples(self, of_cluster: InStep, of_block: InStep, of_warp: InStep) -> list[tuple[Couple, InStep]]:
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
        if self._kernel.ranks.count > 1:
            found.append((Couple.RANKS, of_cluster))
        return [*found, *([(Couple.SELF, of_warp)] if has_copies else [])]

    def _meetings(
        self, couple: Couple, step: InStep, most: int
    ) -> list[tuple[Meeting, tuple[SharedAccess, SharedAccess]]]:
        """The first meetings of two threads, for each two parts of the instructions; without what `Parts` decides."""
        decided = 0

        def settles(first: int, second: int, pairs: Rows, times: int) -> bool:
            nonlocal decided
            is_filtered = couple is Couple.LANES and self._is_lockstep
            found = None if is_filtered else self._without_question(first, second)
            if found is not None:
                decided += times * sum(map(int.bit_count, pairs.values()))
                self._keep_free(found, pairs)
            return found is not None

        found: Iterable[Meeting] = (
            own_copies(self._kernel, step)
            if couple is Couple.SELF
            else meetings(self._kernel, step, self._kind_of, settles)
        )
        if couple is Couple.LANES and self._is_lockstep:
            found = filter(self._is_at_once, found)
        if step.sharing.steps:
            self._assumptions[TRIPS] = None
        kept: list[tuple[Meeting, tuple[SharedAccess, SharedAccess]]] = []
        found = iter(found)
        first = list(islice(found, _MOST_QUESTIONS + 1))
        is_long = decided + len(first) > _MOST_QUESTIONS
        for each in chain(first, found):
            for both in product(self._kernel.parts[each.first], self._kernel.parts[each.second]):
                if is_of_proxies(*both):
                    continue
                if (known := self._known(*both)) is not None:
                    self._keep_free(known, {each.first: 1 << each.second})
                elif len(kept) < most and not (is_long and self._parts.never_at_once(*both, couple)):
                    kept.append((each, both))
            if len(kept) >= most:
                break
        return kept

    def _kind_of(self, index: int) -> Hashable:
        """What decides whether the pairs of an instruction are known without a question."""
        return tuple(
            (
                self._parts.arrays.of(each.address),
                each.is_bulk,
                each.is_write,
                each.is_object,
                self._has_objects and not each.is_object and self._parts.is_apart_from_objects(each),
            )
            for each in self._kernel.parts[index]
        )

    def _without_question(self, first: int, second: int) -> str | None:
        """What proves two instructions free if no part of them needs a question."""
        found: list[str] = []
        for both in product(self._kernel.parts[first], self._kernel.parts[second]):
            if not is_of_proxies(*both):
                known = self._known(*both)
                if known is None:
                    return None
                found.append(known)
        return found[0] if found else None

    def _known(self, one: SharedAccess, two: SharedAccess) -> str | None:
        """What proves two accesses free without a question."""
        if self._parts.arrays.are_distinct(one, two):
            return DISTINCT
        return _RUNS if self._are_apart(one, two) else None

    def _keep_free(self, known: str, pairs: Rows) -> None:
        """Keep that pairs are free; a pair that is kept already stays as it is."""
        self._assumptions[IN_ARRAYS if known == DISTINCT else TRIPS] = None
        mine = self._free.setdefault(known, {})
        for first, seconds in pairs.items():
            taken = 0
            for name, others in self._free.items():
                taken |= others.get(first, 0) if name != known else 0
            mine[first] = mine.get(first, 0) | (seconds & ~taken)

    def _are_apart(self, one: SharedAccess, two: SharedAccess) -> bool:
        """Whether one is an operation on a barrier object, and the other one is apart from all objects."""
        return one.is_object is not two.is_object and self._parts.is_apart_from_objects(two if one.is_object else one)

    def _is_at_once(self, meeting: Meeting) -> bool:
        """Whether lanes in lockstep can still make both accesses at one time."""
        is_one = meeting.first == meeting.second and meeting.trips[0] == meeting.trips[1]
        return is_one or any(self._accesses[each].is_copy for each in (meeting.first, meeting.second))

    # ---- telling

    def _summary(self) -> KernelRaces:
        pairs = [self._pair(*key, found) for key, found in self._found.items() if found.verdict is not RaceVerdict.FREE]
        for each in {(each.index, each.reason): each for each in self._kernel.accesses}.values():
            if each.reason:
                participant = self._participant(each)
                reason = (self._parts.lost or each.reason) if each.reason == BOX_IS_OPEN else each.reason
                pairs.append(Pair(participant, participant, RaceVerdict.UNKNOWN, reason))
        pairs.sort(key=lambda each: (rank(each.verdict), each.reason in (NOT_ASKED, TOO_MANY)))
        barriers = tuple(map(self._barrier, sorted((*self._orders.barriers, *self._orders.unmodelled))))
        free_by = Counter[str]()
        for name, rows in self._free.items():
            asked = sum(rows.get(first, 0) >> second & 1 for first, second in self._found)
            free_by[name] = sum(map(int.bit_count, rows.values())) - asked
        free_by.update(
            "+".join(each.engines) or DISTINCT for each in self._found.values() if each.verdict is RaceVerdict.FREE
        )
        free_by = +free_by
        free = free_by.total()
        verdict, reason = worst_of((*barriers, *pairs)) or (RaceVerdict.FREE, "")
        is_harmless = verdict in (RaceVerdict.FREE, RaceVerdict.BENIGN)
        has_ranks = self._kernel.ranks.count > 1
        if is_harmless and self._parts.lost and (has_ranks or any(each.is_object for each in self._kernel.accesses)):
            # Nobody waits, but an object may be used before it is made, or more often than its phase allows. A block
            # may be reached that is not there.
            verdict, reason = RaceVerdict.UNKNOWN, self._parts.lost
        elif is_harmless and (lines := own_store(self._kernel.slices, self._shared_loads())):
            verdict, reason = RaceVerdict.UNKNOWN, _OWN_STORE.format(*lines)
        elif verdict is RaceVerdict.FREE:
            is_or_are = "is" if free == 1 else "are"
            reason = f"{counted(free, 'pair')} of accesses {is_or_are} free, {free_by['z3']} by Z3 alone"
        return KernelRaces(
            verdict,
            reason,
            tuple(pairs),
            free,
            barriers,
            self._all_assumptions(),
            is_lockstep=self._is_lockstep,
            free_by=tuple(free_by.most_common()),
        )

    def _shared_loads(self) -> list[OpaqueLeaf]:
        """What threads share that they load from global memory, if nobody writes there."""
        steps = self._of_block.sharing, self._of_warp.sharing
        loads = [each for each in self._kernel.leaves.by_name.values() if is_written_perhaps(each)]
        known = [each for each in loads if each.name in self._kernel.closed]
        return [each for each in known if any(step.leaf(each.variable) for step in steps)]

    def _all_assumptions(self) -> tuple[str, ...]:
        divisions = [text for each in self._kernel.accesses for text in each.divisions]
        loads = sorted({leaf.line for leaf in self._kernel.leaves.by_name.values() if is_written_perhaps(leaf)})
        given = (*self._facts.applied, *self._facts.alignments(self._kernel.leaves.by_name.values()))
        found = [*given, *self._parts.assumptions, *self._assumptions, *dict.fromkeys(divisions)]
        if self._of_block.has_returns or self._of_warp.has_returns:
            found.append(_RETURNED)
        if alone := assumption_on_clusters(self._kernel.function, self._kernel.cluster):
            found.append(alone)
        if self._kernel.ranks.count > 1 and self._kernel.function.tuning.cluster is None:
            found.append(OF_SHAPE.format(",".join(map(str, self._kernel.cluster or ()))))
        if elects := [each.line for each in self._kernel.function.instructions if each.opcode == "elect.sync"]:
            found.append(FIRST_IS_ELECTED.format("line " + ", ".join(map(str, elects))))
        if self._kernel.pointers:
            found.append(NOT_SHARED.format("line " + ", ".join(map(str, sorted(self._kernel.pointers)))))
        if loads:
            found.append(_GLOBAL.format("line " + ", ".join(map(str, loads))))
        return tuple(found)

    def _pair(self, first: int, second: int, found: Found) -> Pair:
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
        step = self._parts.of_cluster if scope is Scope.CLUSTER else step
        verdict, reason = RaceVerdict.FREE, "all threads reach it together"
        if index in self._parts.barriers:
            reason = "its threads arrive once in each phase"
        elif scope is None:
            verdict, reason = RaceVerdict.UNKNOWN, self._parts.lost or self._orders.unmodelled[index]
        elif index in step.divergent:
            # The blocks of a cluster may come to barriers at several places, and not equally often.
            verdict = RaceVerdict.UNKNOWN if self._kernel.ranks.count > 1 else RaceVerdict.DIVERGENT
            reason = _MISSED.format(each.line, step.divergent[index])
        elif index not in step.barriers:
            verdict, reason = RaceVerdict.UNKNOWN, next(iter(step.left_out), "it is not counted")
        return BarrierFinding(each.line, each.opcode, self._source(each), verdict, reason)

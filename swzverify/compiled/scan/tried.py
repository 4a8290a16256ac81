"""Conflicts that a trial meets, where nothing was proved.

A trial runs one block of a launch that is made up. It shows that an access conflicts for these
arguments and data, and what it does not meet stays unknown. A trial that contradicts what was proved
turns the verdict into a fault of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, repeat
from math import prod
from typing import Final

import numpy as np

from swzverify.compiled.kernel import KernelAccess, inlined
from swzverify.compiled.kernel.access import ANY_SPACE
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.starts import Starts
from swzverify.compiled.ptx import Function, Module, Space
from swzverify.compiled.scan.aimed import aimed, aimed_at_conflicts
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.merged import is_warps_own
from swzverify.compiled.scan.price import DisagreementError, block_of
from swzverify.compiled.scan.split import split
from swzverify.compiled.scan.trial_price import Met
from swzverify.compiled.scan.verdict import FAULT, FAULTS, NO_BLOCK, Decision, Verdict, unknown
from swzverify.compiled.trial import Launch, Launcher, Search, Seen, Trial, run_all
from swzverify.compiled.trial.launch import Plan
from swzverify.compiled.trial.search import MOST_LAUNCHES
from swzverify.errors import SwzError
from swzverify.hardware import TARGETS, Instruction, require
from swzverify.ir.expr import Expr

STEPS: Final = (10_000, 40_000)
"""Instructions of one launch, each for all warps that are there; the more where a launch meets
conflicts.
"""
LONG: Final = 11
"""The first launches, which have so many instructions; later ones have `SHORT` at first."""
FIRST_TOGETHER: Final = (2, 8)
"""How many launches run side by side at first: few, since most kernels need no more."""
AIMED_BEHIND: Final = sum(FIRST_TOGETHER) - 1
"""The launch after which launches are aimed at accesses that none has reached. The launches up to it are made even if
each access has a conflict by then: with more lanes one may have more ways.
"""
SHORT: Final = 2_000
TOGETHER: Final = 16
"""How many of the later ones run side by side."""
MOST_STEPS: Final = 400_000
"""Instructions of all launches of a function."""
FOR_AIMED: Final = 100_000
"""More of them if launches are aimed at some accesses."""
OF_ANY_SPACE: Final = 40_000
"""After so many instructions of all launches, no more launches are made for accesses of an unknown
space: most of these never come to shared memory.
"""
PATIENCE: Final = 600
"""Launches without a new conflict or a new way, after which no more are tried."""
MOST_LANE_STEPS: Final = 100_000_000
"""Instructions of all launches, each counted for all threads of the block."""
UNDEFINED: Final = (0, 0x9E37_79B9_7F4A_7C15)
"""What registers that were not written hold, in the two runs of a launch that reads such."""
MOST_FILLED: Final = 6
"""Launches that are run again with such values, unless that brings something new."""
_NOT_OPEN: Final = frozenset({FAULT, FAULTS, NO_BLOCK, NEVER_MADE})


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel to try.

    Attributes:
        module: Its module.
        function: The kernel.
        block: The shape of its block.
        target: The target.
        facts: What is given of its parameters.
        smem: The bytes of dynamic shared memory; None if not given.
        most: The most launches that are tried; None for no limit.
    """

    module: Module
    function: Function
    block: BlockShape | None
    target: str
    facts: Facts
    smem: int | None
    most: int | None = None


def tried(kernel: Kernel, read: Sequence[KernelAccess], decisions: Sequence[Decision]) -> list[Decision]:
    """The decisions, with the conflicts that trials met of accesses that are open."""
    found = [*decisions]
    if kernel.block is None or not kernel.function.is_entry or kernel.function.tuning.cluster not in (None, (1, 1, 1)):
        # A trial is a block alone, which is no cluster of several.
        return found
    costs = {at: row for at, each in enumerate(read) if (row := _row(each, kernel.target, kernel.block)) is not None}
    is_open = [at for at in costs if _is_open(found[at])]
    places = [each.site.index for each in read]
    trials = _Trials(kernel, kernel.block, [places[at] for at in costs], [places[at] for at in is_open])
    reached: set[int] = set()
    quiet: dict[int, list[frozenset[bytes]]] = {at: [] for at in costs}

    def quiet_ones() -> list[tuple[KernelAccess, Plan]]:
        plans = ((read[at], trials.reaching.get(places[at])) for at in is_open)
        return [(access, plan) for access, plan in plans if plan is not None]

    for launch, trial in chain(trials, trials.at_conflicts(quiet_ones)) if is_open else ():
        reached |= trial.seen.keys()
        if launch.number == AIMED_BEHIND and not trials.has_aimed:
            unreached = [at for at in is_open if places[at] not in reached]
            trials.aim(aimed([read[at] for at in unreached], trials.starts, kernel.block, trials.launcher))
        for at, row in costs.items() if not trial.fault else ():
            seen = trial.seen.get(places[at])
            # All of these rows are in an earlier launch, which left the verdict as it is: they leave it so again.
            if seen is None or any(map(frozenset(seen.rows).issubset, quiet[at])):
                continue
            told = _told(found[at], Met(row, seen, trial.starts, kernel.function), launch, read[at])
            if told is found[at]:
                quiet[at].append(frozenset(seen.rows))
            else:
                found[at] = told
                quiet[at].clear()
        is_open = [at for at in is_open if _is_open(found[at])]
        if trials.steps >= OF_ANY_SPACE:
            is_open = [at for at in is_open if read[at].reason != ANY_SPACE]
        if not is_open and launch.number >= AIMED_BEHIND:
            break
        trials.wanted = [places[at] for at in is_open]
    return found


def _row(access: KernelAccess, target: str, block: BlockShape) -> Instruction | None:
    """What an access costs; None where a trial cannot tell it."""
    row = access.cost.row
    if row is None or access.site.index < 0 or access.who.is_apart:
        return None
    try:
        require(target, row)
    except SwzError:
        return None
    # Lanes of one word may count once, or one lane may do it for all.
    merging = access.cost.merging
    may_merge = merging.of_words is not False or (merging.of_warps and _may_be_of_warps(access, block))
    return replace(row, counts_equal_words=False) if may_merge else row


def _may_be_of_warps(access: KernelAccess, block: BlockShape) -> bool:
    return access.address is None or is_warps_own(block_of(block), split(access, access.address))


def _is_open(decision: Decision) -> bool:
    """Whether a conflict that a trial meets may say more than is known."""
    return decision.verdict is Verdict.UNKNOWN and decision.reason not in _NOT_OPEN


class _Trials:
    """Trials of one kernel, as long as there are steps and they bring something new.

    `watched` are instructions whose addresses are kept. `wanted` are those that are open; trials that
    reach one remove it. `steps` are the instructions of all launches so far.
    """

    def __init__(self, kernel: Kernel, block: BlockShape, watched: Sequence[int], wanted: Sequence[int]) -> None:
        self.wanted, self.steps = wanted, 0
        self._filled = 0
        self._fills = self.has_aimed = False
        self._kernel, self._watched = kernel, watched
        self._whole = inlined(kernel.module, kernel.function).function
        conditions = tuple(each.condition for each in kernel.facts.assumed)
        dynamic_bytes = _dynamic_bytes(kernel) if kernel.smem is None else kernel.smem
        self._most = min(MOST_STEPS, MOST_LANE_STEPS // prod(block))
        self.launcher = Launcher(self._whole, block, dynamic_bytes, kernel.facts.arguments, conditions)
        self._search = Search(self.launcher)
        self.reaching = self._search.reaching

    def starts(self, index: int) -> Expr:
        """When a thread comes to an instruction before any loop makes a second trip."""
        return self._starts.to(index)

    @cached_property
    def _starts(self) -> Starts:
        return Starts(self._kernel.module, self._whole, self.launcher.block, self._kernel.facts.arguments)

    def aim(self, plans: Sequence[Plan]) -> None:
        """Try these next, behind the launches that are the same for all kernels."""
        self.has_aimed = True
        self._most += FOR_AIMED if plans else 0
        self._search.aimed += plans

    def __iter__(self) -> Iterator[tuple[Launch, Trial]]:
        patience = PATIENCE
        launches = islice(self._search, self._kernel.most)
        sizes = chain(FIRST_TOGETHER, repeat(TOGETHER))
        while together := [*islice(launches, next(sizes))]:
            # What launches of one batch did is told before those of the next one are made.
            first = self._run(together, [STEPS[0] if each.number < LONG else SHORT for each in together])
            for launch, trial in zip(together, first, strict=True):
                before = len(self.wanted)
                reached = trial
                if self._ends_open(trial):
                    (reached,) = self._again([launch], [STEPS[0]])
                    self._fills = self._search.is_new(reached)
                yield from self._more(launch, reached)
                is_new = self._search.learn(launch, reached, self.wanted)
                patience = PATIENCE if is_new or len(self.wanted) < before else patience - 1
                if self.steps >= self._most or not patience:
                    return

    def at_conflicts(self, quiet: Callable[[], list[tuple[KernelAccess, Plan]]]) -> Iterator[tuple[Launch, Trial]]:
        """The last trials: those aimed at conflicts of accesses that are `quiet`, each with a plan that executes it.

        They come behind all others and take none of their launches away. A limit of launches leaves them out.
        """
        if self._kernel.most is not None and self._kernel.most < MOST_LAUNCHES:
            return
        self._most = self.steps + FOR_AIMED
        for at, plan in enumerate(aimed_at_conflicts(quiet(), self.launcher.block, self.launcher)):
            launch = self.launcher.launch(plan, MOST_LAUNCHES + at)
            if launch is None:
                continue
            (trial,) = self._run([launch], [STEPS[0]])
            is_known = not trial.ended and all(each.is_all for each in trial.seen.values())
            yield launch, trial if is_known or trial.is_cut_off else self._again([launch], [STEPS[0]])[0]

    def _more(self, launch: Launch, trial: Trial) -> Iterator[tuple[Launch, Trial]]:
        """A trial; and with more steps if it met something new and was cut off."""
        budgets = [*STEPS[1:]] if launch.number < LONG else [*STEPS]
        while True:
            left = len(self.wanted)
            # A function of which no instruction runs has no other launch either.
            self.steps += trial.steps or self._most
            yield launch, trial
            if not budgets or not trial.is_cut_off or len(self.wanted) == left:
                return
            (trial,) = self._run([launch], [budgets.pop(0)])

    def _ends_open(self, trial: Trial) -> bool:
        """Whether a trial ended at what is not known, and may be run again."""
        if self._fills or not trial.ended or trial.is_cut_off or self._filled == MOST_FILLED:
            return False
        self._filled += 1
        return True

    def _run(self, launches: Sequence[Launch], steps: Sequence[int]) -> list[Trial]:
        if self._fills:
            return self._again(launches, steps)
        return self._tried(launches, steps, None)

    def _again(self, launches: Sequence[Launch], steps: Sequence[int]) -> list[Trial]:
        """Trials in which registers that were not written hold numbers: what two runs with others agree on.

        What such a register holds is not defined. An access that does not depend on it has the same
        addresses in both.
        """
        first, second = (self._tried(launches, steps, value) for value in UNDEFINED)
        self.steps += sum(each.steps for each in second)
        return [_agreed(*both) for both in zip(first, second, strict=True)]

    def _tried(self, launches: Sequence[Launch], steps: Sequence[int], undefined: int | None) -> list[Trial]:
        most = max(1, self._most - self.steps)
        limits = [min(each, most) for each in steps]
        return run_all(self._kernel.module, self._whole, launches, self._watched, limits, undefined=undefined)


def _agreed(one: Trial, other: Trial) -> Trial:
    """What two runs of a launch did alike."""
    if other.fault:
        return other
    return replace(one, seen={at: seen for at, seen in one.seen.items() if _are_alike(seen, other.seen.get(at))})


def _are_alike(one: Seen, other: Seen | None) -> bool:
    """Whether an access made the same warp instructions in two runs."""
    return other is not None and all(
        np.array_equal(np.array(mine), np.array(theirs))
        for mine, theirs in (
            (one.addresses, other.addresses),
            (one.active, other.active),
            (one.warps, other.warps),
            (one.sources, other.sources),
        )
    )


def _dynamic_bytes(kernel: Kernel) -> int:
    """The dynamic shared memory of the launches: what static arrays leave of the most that a block can have."""
    arrays = [each for each in (*kernel.module.symbols, *kernel.function.symbols) if each.space is Space.SHARED]
    step = max((each.align_bytes for each in arrays), default=1)
    static = sum(-(-(each.size_bytes or 0) // step) * step for each in arrays if not each.is_extern)
    target = TARGETS.get(kernel.target)
    # What is unknown of a target that is none is said of each access.
    return max(0, target.shared_bytes_per_block - static) if target is not None else 0


def _told(decision: Decision, met: Met, launch: Launch, access: KernelAccess) -> Decision:
    """The verdict after a trial, which met the access."""
    try:
        worst = met.worst
    except DisagreementError as error:
        return unknown(str(error))
    if worst is None:
        return decision
    proved = {Verdict.FREE: 1, Verdict.CONFLICT: decision.ways}.get(decision.verdict)
    # The sources of a launch need not be as a verdict on a copy assumes.
    is_assumed = met.is_copy and bool(decision.assumes)
    exceeds = proved is not None and not decision.at_least and not is_assumed and worst.ways > proved
    if exceeds or decision.reason == NEVER_MADE:
        return unknown(FAULT)
    is_met = decision.verdict is Verdict.CONFLICT and decision.launch is not None
    if not _is_open(decision) and not (is_met and worst.ways > (decision.ways or 0)):
        return decision
    if not worst.is_free:
        return met.decision(launch, access)
    if decision.if_made is not None and not met.dearest.is_free:
        return met.dependent(decision.if_made, launch, access)
    return decision

"""Conflicts that a trial meets, where nothing was proved.

A trial runs one block of a launch that is made up. It shows that an access conflicts for these
arguments and data, and what it does not meet stays unknown. Two of its ways to be wrong are kept
out here. PTX does not say where a variable lies in shared memory: where that counts, the place with
the least cost is taken. And a trial that contradicts what was proved turns the verdict into a fault
of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, repeat
from math import prod
from typing import Final

import numpy as np

from swzverify.compiled.kernel import KernelAccess, inlined
from swzverify.compiled.kernel.access import ANY_SPACE
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Function, Module, Space
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.merged import is_warps_own
from swzverify.compiled.scan.price import (
    Array,
    Block,
    DisagreementError,
    Mask,
    Price,
    block_of,
    price,
    table_of,
)
from swzverify.compiled.scan.split import split
from swzverify.compiled.scan.verdict import FAULT, FAULTS, NO_BLOCK, TRIAL, Decision, Verdict, unknown
from swzverify.compiled.trial import Launch, Launcher, Search, Seen, Trial, run_all
from swzverify.compiled.trial.clocks import DYNAMIC_BYTES
from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, LANES, Instruction, require

STEPS: Final = (10_000, 40_000)
"""Instructions of one launch, each for all warps that are there; the more where a launch meets
conflicts.
"""
LONG: Final = 11
"""The first launches, which have so many instructions; later ones have `SHORT` at first."""
SHORT: Final = 2_000
FIRST_TOGETHER: Final = (2, 8)
"""How many launches run side by side at first: few, since most kernels need no more."""
TOGETHER: Final = 16
"""How many of the later ones run side by side."""
MOST_STEPS: Final = 400_000
"""Instructions of all launches of a function."""
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
    for launch, trial in trials if is_open else ():
        for at, row in costs.items() if not trial.fault else ():
            seen = trial.seen.get(places[at])
            if seen is not None:
                found[at] = _told(found[at], _Met(row, seen, trial.starts, kernel), launch, read[at].cost.note)
        is_open = [at for at in is_open if _is_open(found[at])]
        if trials.steps >= OF_ANY_SPACE:
            is_open = [at for at in is_open if read[at].reason != ANY_SPACE]
        if not is_open:
            break
        trials.wanted = [places[at] for at in is_open]
    return found


def _row(access: KernelAccess, target: str, block: BlockShape) -> Instruction | None:
    """What an access costs; None where a trial cannot tell it."""
    row = access.cost.row
    if row is None or access.site.index < 0:
        return None
    try:
        require(target, row)
    except SwzError:
        return None
    if row.by_octets:
        # A trial does not keep where lanes read.
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
        self._fills = False
        self._kernel, self._watched = kernel, watched
        self._whole = inlined(kernel.module, kernel.function).function
        conditions = tuple(each.condition for each in kernel.facts.assumed)
        dynamic_bytes = DYNAMIC_BYTES if kernel.smem is None else kernel.smem
        self._most = min(MOST_STEPS, MOST_LANE_STEPS // prod(block))
        self._search = Search(Launcher(self._whole, block, dynamic_bytes, kernel.facts.arguments, conditions))

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
        for mine, theirs in ((one.addresses, other.addresses), (one.active, other.active), (one.warps, other.warps))
    )


def _told(decision: Decision, met: _Met, launch: Launch, note: str) -> Decision:
    """The verdict after a trial, which met the access."""
    try:
        worst = met.worst
    except DisagreementError as error:
        return unknown(str(error))
    if worst is None:
        return decision
    proved = {Verdict.FREE: 1, Verdict.CONFLICT: decision.ways}.get(decision.verdict)
    exceeds = proved is not None and not decision.at_least and worst.ways > proved
    if exceeds or decision.reason == NEVER_MADE:
        return unknown(FAULT)
    return met.decision(launch, note) if _is_open(decision) and not worst.is_free else decision


def words_of(launch: Launch, function: Function) -> str:
    """What is said of a conflict that a launch has; parameters lose the kernel's name."""
    given = f" with {launch.words}".replace(f"{function.name}_", "") if launch.words else ""
    return f"trial {launch.number} met it{given}"


class _Met:
    """The warp instructions of one access that a trial met."""

    def __init__(self, row: Instruction, seen: Seen, starts: tuple[int, ...], kernel: Kernel) -> None:
        self._row, self._kernel = row, kernel
        addresses = np.array(seen.addresses, dtype=np.int64).reshape(-1, LANES)
        active = np.array(seen.active, dtype=np.bool_).reshape(-1, LANES)
        inside = _of_one_variable(addresses, active, starts)
        self._addresses, self._active = addresses[inside], active[inside]
        self._warps = np.array(seen.warps, dtype=np.int64)[inside]

    @property
    def worst(self) -> Price | None:
        """The worst cost of the trials; None if none of them has a known cost.

        Raises:
            DisagreementError: Two counts differ.
        """
        return self._cost[0]

    @cached_property
    def _cost(self) -> tuple[Price | None, int]:
        """The worst cost that is met wherever variables are, and how far they are shifted there."""
        prices = [(price(self._row, self._addresses + by, self._active), by) for by in _shifts(self._row, self._kernel)]
        known = [(each.ways, each.wavefronts, each, by) for each, by in prices if each is not None]
        least = min(known, key=lambda each: each[:2], default=None)
        return (None, 0) if least is None else least[2:]

    def decision(self, launch: Launch, note: str) -> Decision:
        """The conflict, with the warp instruction that has it."""
        worst, shift = self._cost
        if worst is None or self._kernel.block is None:
            raise AssertionError(self)
        at = worst.worst
        addresses, active = self._addresses[at] + shift, self._active[at]
        table = table_of(self._row, Block(self._kernel.block), int(self._warps[at]), addresses, active)
        alike = price(self._row, addresses[None], active[None]) or worst
        words = words_of(launch, self._kernel.function)
        return Decision(
            Verdict.CONFLICT,
            f"{words}; {note}" if note else words,
            alike.ways,
            None if note else alike.wavefronts,
            None if note else alike.minimum,
            at_least=True,
            is_for_some=True,
            launch=launch,
            engines=(TRIAL,),
            table=table,
        )


def _of_one_variable(addresses: Array, active: Mask, starts: tuple[int, ...]) -> Mask:
    """Which warp instructions reach one variable alone: how far two lie apart is not known."""
    which = np.searchsorted(np.array(starts, dtype=np.int64), addresses, side="right")
    first = np.take_along_axis(which, active.argmax(axis=1)[:, None], axis=1)
    return np.all((which == first) | ~active, axis=1)


def _shifts(row: Instruction, kernel: Kernel) -> tuple[int, ...]:
    """How far variables may lie from where the trial has them, as far as a cost depends on it."""
    symbols = (*kernel.module.symbols, *kernel.function.symbols)
    aligns = [each.align_bytes for each in symbols if each.space is Space.SHARED]
    step = max(row.width_bytes, min(aligns, default=1))
    period = BANK_PERIOD_BYTES if row.by_octets else BANK_WORD_BYTES
    return tuple(range(0, period, step)) or (0,)

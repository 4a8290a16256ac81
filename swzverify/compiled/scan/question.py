"""One access, for one shape of the block, and what all verdicts on it share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.compiled.kernel import LoopAround
from swzverify.compiled.kernel.linear import Sum
from swzverify.compiled.kernel.powers import power_of_terms
from swzverify.compiled.scan.asker import Asker, Possible, Proof
from swzverify.compiled.scan.claim import NEVER_MADE
from swzverify.compiled.scan.collide import lane_runs
from swzverify.compiled.scan.cost_goal import cost_goal, octet_goal
from swzverify.compiled.scan.met import is_met
from swzverify.compiled.scan.price import Array, Block, Mask, Price, table_of
from swzverify.compiled.scan.samples import Sampled, Sampler
from swzverify.compiled.scan.split import Parts
from swzverify.compiled.scan.surely import surely
from swzverify.compiled.scan.verdict import (
    EXHAUSTION,
    FAULTS,
    NOT_DECIDED,
    SMT,
    Decision,
    DisagreementError,
    Goals,
    Verdict,
    WarpTable,
    unknown,
)
from swzverify.engines.obligations import Answer, Cost, GatherCost
from swzverify.hardware import BANK_WORD_BYTES, LANES, Instruction
from swzverify.ir.expr import TRUE, Expr, conjunction, postorder

_LARGER: Final = 4
"""How much larger the questions are that engines without a budget are asked when Z3's is used up."""


@dataclass(frozen=True, slots=True)
class Question:
    """An access with its row, its parts, the block, and the loops that it stands in."""

    row: Instruction
    parts: Parts
    block: Block
    asker: Asker
    loops: tuple[LoopAround, ...]

    @property
    def possible(self) -> Possible:
        """Asks the SMT engine whether a condition can hold."""
        return self.asker.possible

    def _goal(self, guard: Expr) -> Cost | GatherCost:
        return cost_goal(self.row, self.parts, self.block, guard, self.asker.goals)

    def cost(self, guard: Expr, is_refuted: Callable[[], bool] = lambda: False) -> Proof:
        """Whether lanes under a guard have no bank conflict.

        The lanes that coordinates alone choose are judged first. If these have a conflict, all of the guard
        is used. `is_refuted` says whether plain numbers show a conflict under the whole guard: then Z3 is not
        asked.
        """
        if self.asker.is_too_large(len(postorder(self.parts.varying, guard)) // _LARGER):
            return Proof(Answer.UNDECIDED)
        found = self.asker.cost(self._goal(self.parts.own_guard), is_refuted)
        if found.answer in (Answer.HOLDS, Answer.EMPTY) or guard is self.parts.own_guard or self.row.warp_wide:
            return found
        again = self.asker.cost(self._goal(guard), is_refuted)
        # No more than any lanes give is a bound for those that come.
        return again if again.worst is not None else replace(again, worst=found.worst)

    @property
    def is_free_for_all(self) -> bool:
        """Whether a free access is free for every subset of the lanes that coordinates let through.

        Then no lane must be known to come. An access that only the whole guard frees is not such an access.
        """
        if self.row.by_octets or self.parts.other_guard is TRUE or self.row.warp_wide:
            return True
        return self.asker.cost(self._goal(self.parts.own_guard)).answer is Answer.HOLDS

    def cost_by_octets(self, places: Sequence[int], *, is_partial: bool) -> Proof:
        """The same by the octet rule, at any of some places modulo 128 bytes; see `octet_goal`."""
        return self.asker.cost(octet_goal(self.row, self.parts, self.block, places, is_partial=is_partial))

    @property
    def around(self) -> frozenset[int]:
        """The lines of the loops."""
        return frozenset(loop.line for loop in self.loops)

    @property
    def guard(self) -> Expr:
        """Both parts of the guard."""
        return conjunction((self.parts.own_guard, self.parts.other_guard))

    def surely(self) -> Question | str:
        """The question with the guard under which lanes certainly make the access, which a conflict needs.

        A reason if it is not known which lanes do.
        """
        found = surely(self.parts, self.loops, self.block, warp_wide=self.row.warp_wide)
        return found if isinstance(found, str) else replace(self, parts=found)

    def not_made(self) -> Decision | None:
        """The verdict unknown, if it is known that no lane executes the access; else None.

        Without lanes the access has no conflicts, but this says nothing about it.
        """
        return unknown(NEVER_MADE) if self._made is Answer.EMPTY else None

    def never_made(self) -> Decision | None:
        """As `not_made`, and unknown too where it is not known whether some lane makes the access."""
        if self._made is Answer.HOLDS or (self._made is Answer.UNDECIDED and self.sampled() is not None):
            return None
        return self.not_made() or unknown(NOT_DECIDED)

    @property
    def _made(self) -> Answer:
        parts, block = self.parts, self.block
        if parts.is_exact and parts.other_guard is TRUE:
            # Threads alone decide, and there are few of them.
            made = block.exists & (block.values(parts.own_guard, {}) != 0)
            return Answer.HOLDS if made.any() else Answer.EMPTY
        if is_met(self.guard, parts.leaves, block):
            return Answer.HOLDS
        return self.asker.never(lane_runs(self.block.shape, self.parts)).possible

    def sampled(self) -> Sampled | None:
        """The worst of some values for which lanes make the access; None if no lane of a sample makes it.

        If the SMT engine gives no answer, such values are one.
        """
        if self.row.warp_wide or not self.parts.is_exact:
            return None
        return Sampler(self.row, self.parts, self.block, self.guard).shared_values({})

    def conflict(self, found: Price, addresses: Array, active: Mask, ways: int, *, at_least: bool = False) -> Decision:
        """The conflict of the worst of some priced warp instructions.

        It has figures only if `ways` are all of its ways.
        """
        all_of_them = ways == found.ways
        return Decision(
            Verdict.CONFLICT,
            "",
            ways,
            found.wavefronts if all_of_them else None,
            found.minimum if all_of_them else None,
            at_least,
            engines=(EXHAUSTION,) if self.parts.other_guard is TRUE else (EXHAUSTION, SMT),
            table=self._table(found.worst, addresses, active) if all_of_them else None,
        )

    def _table(self, worst: int, addresses: Array, active: Mask) -> WarpTable:
        here, on = addresses.reshape(-1, LANES)[worst], active.reshape(-1, LANES)[worst]
        return table_of(self.row, self.block, worst % self.block.warps, here, on)

    def free(self, proof: Proof, guard: Expr, found: Price | None = None) -> Decision:
        """The verdict free, because engines found no two lanes that meet.

        `found` is the price of all lanes, if it is known.

        Raises:
            DisagreementError: The price or a sample contradicts the engines.
        """
        if found is None:
            sampled = Sampler(self.row, self.parts, self.block, guard).own_values()
            if sampled is not None and not sampled.price.is_free:
                raise DisagreementError
            # The lanes of a sample may be fewer than those of a launch.
            wavefronts = minimum = self._groups
        elif found.is_free:
            wavefronts, minimum = found.wavefronts, found.minimum
        else:
            raise DisagreementError
        return Decision(Verdict.FREE, "", 1, wavefronts, minimum, engines=proof.engines, goals=proof.goals)

    @property
    def _groups(self) -> int:
        """The most groups of a warp with a lane that coordinates let through: the wavefronts of a free access."""
        row, active = self.row, self.block.exists
        if not row.warp_wide:
            active = active & (self.block.values(self.parts.own_guard, {}) != 0)
        lanes = active.reshape(-1, LANES)[:, : row.address_lanes]
        return int(lanes.reshape(len(lanes), -1, row.group_lanes).any(axis=2).sum(axis=1).max())


def in_each_place(question: Question, decide: Callable[[Question], Decision]) -> Decision:
    """The verdict for every place in a bank's word at which the shared part may start.

    The place counts for accesses to parts of words. The deciders read no terms of the shared part.
    """
    row, parts = question.row, question.parts
    step = power_of_terms(parts.shared.terms, BANK_WORD_BYTES)
    if row.width_bytes >= BANK_WORD_BYTES or step == BANK_WORD_BYTES:
        return decide(question)
    number = parts.shared.number
    possible: list[Decision] = []
    for shift in range(0, BANK_WORD_BYTES, step):
        found = decide(replace(question, parts=replace(parts, shared=Sum({}, number + shift, 32))))
        if found.reason == FAULTS:
            continue
        possible.append(found)
        if found.verdict not in (Verdict.FREE, Verdict.CONFLICT) or found.verdict is not possible[0].verdict:
            return decide(replace(question, parts=_all_mixed(parts)))
    if not possible:
        return unknown(FAULTS)
    least = min(possible, key=lambda each: each.ways or 0)
    goals = Goals(goal for each in possible for goal in each.goals)
    return replace(least, at_least=least.at_least or len({each.ways for each in possible}) > 1, goals=goals)


def _all_mixed(parts: Parts) -> Parts:
    """The same address with nothing set aside.

    For accesses to parts of words, the shared part counts modulo 4.
    """
    mixed = parts.shared.plus(Sum({parts.mixed: 1}, 0, 32)).expression()
    return replace(parts, shared=Sum({}, 0, 32), mixed=mixed)

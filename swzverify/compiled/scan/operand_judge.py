"""What judging the operands of one function needs: its values, its solver, and what fills its shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel import KernelAccess, KernelFill
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.claim import Claim, ClaimVerdict, not_known
from swzverify.compiled.scan.delivers import Elements, delivers
from swzverify.compiled.scan.fill_whole import NotFollowedError, Wanted, find_left_out
from swzverify.compiled.scan.fills import Fills
from swzverify.compiled.scan.given import Facts
from swzverify.compiled.scan.operand_judged import Factor
from swzverify.compiled.scan.operand_places import Places
from swzverify.compiled.scan.operand_subject import ValueSubject, in_window
from swzverify.compiled.scan.verdict import NoVerdictError
from swzverify.engines.obligations import Answer
from swzverify.ir.expr import Expr

_QUESTIONS: Final = (2, 20)
"""As for claims on accesses: how many questions may use up the budget, and the share of it that later ones have."""


class OperandJudge:
    """Judges the operands of one function."""

    def __init__(self, facts: Facts, shape: BlockShape | None, smem: int | None) -> None:
        self._facts, self._shape, self._smem = facts, shape, smem
        self._asker = Asker(*_QUESTIONS)
        self._made: dict[tuple[Expr, ...], Answer] = {}
        self._wanted: list[Wanted] = []

    def subject_of(self, access: KernelAccess) -> ValueSubject:
        """A value with what questions about it need."""
        access = self._facts.on(replace(access, leaves=(*access.leaves, *access.around)))
        return ValueSubject(in_window(access, self._smem), self._shape, self._asker, self._smem)

    def is_made(self, subject: ValueSubject) -> bool:
        """Whether some lane surely executes an instruction."""
        return self._made_by(subject) is Answer.HOLDS

    def is_never_made(self, subject: ValueSubject) -> bool:
        """Whether surely no lane executes an instruction."""
        try:
            return self._made_by(subject) is Answer.EMPTY
        except NoVerdictError:
            return False

    def _made_by(self, subject: ValueSubject) -> Answer:
        if subject.path not in self._made:
            self._made[subject.path] = subject.here.made
        return self._made[subject.path]

    def _left_out(self, filled: Fills) -> str:
        """Why no launch may make all copies of the blocks that were judged so far; empty if one surely does."""
        try:
            self._wanted += filled.wanted()
        except NotFollowedError as error:
            return str(error)
        return find_left_out(self._wanted, self._asker)

    def delivered(
        self,
        operands: Sequence[Factor],
        places: Sequence[Places | str],
        fills: Sequence[KernelFill],
        assumed: Sequence[str] = (),
        *,
        is_entry: bool,
    ) -> list[tuple[Claim, Elements | None]]:
        """The verdicts on what fills the operands, which are judged together.

        `places` has the words why it is not known where an operand lies.
        """
        if not is_entry:
            return [(not_known("a caller may write its bytes"), None) for _ in operands]
        if self._shape is None or all(isinstance(each, str) for each in places):
            return [(not_known(each if isinstance(each, str) else ""), None) for each in places]
        try:
            filled = Fills(fills, self.subject_of, Threads(self._shape))
            found = delivers(operands, places, filled)
            if any(claim.verdict is ClaimVerdict.PROVED for claim, _ in found) and (words := self._left_out(filled)):
                found = [(not_known(words), None) for _ in operands]
            assumed = (*assumed, *filled.parts.assumes, *filled.assumes)
        except (NoVerdictError, ValueError) as error:
            found = [(not_known(str(error)), None) for _ in operands]
        parts = [part for each in fills for part in (each.destination, each.source) if part is not None]
        told = (text for part in parts for text in (*self._facts.texts_on(part), *part.assumes))
        given = tuple(dict.fromkeys((*assumed, *told)))
        return [
            (not_known(of_operand), None)
            if isinstance(of_operand, str)
            else (replace(claim, assumptions=(*given, *claim.assumptions)) if claim.engines else claim, elements)
            for (claim, elements), of_operand in zip(found, places, strict=True)
        ]

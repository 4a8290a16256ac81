"""How a cross-check ends: a row per claim, the device's recording, the problems of spec files."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import Problem
from swzverify.gpu.crosscheck import CrossResult
from swzverify.gpu.recording import Recording
from swzverify.report.result import ClaimResult, ExitCode


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A claim with its verdict and what the device said of it."""

    result: ClaimResult
    cross: CrossResult


@dataclass(frozen=True, slots=True)
class CrossReport:
    """The rows in the order of the claims; `recording` is None where there was no claim."""

    rows: tuple[CrossRow, ...]
    recording: Recording | None
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Claims of which the device agreed, disagreed, and had nothing to say."""
        answers = [row.cross.agrees for row in self.rows]
        return answers.count(True), answers.count(False), answers.count(None)

    @property
    def exit_code(self) -> ExitCode:
        """1 where the device disagreed, 2 where a spec had problems, 5 without a claim."""
        if self.problems:
            return ExitCode.ERROR
        if not self.rows:
            return ExitCode.NO_CLAIM
        return ExitCode.UNEXPECTED if self.counts[1] else ExitCode.AS_EXPECTED

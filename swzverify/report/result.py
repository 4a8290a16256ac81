"""What a run ends in, as plain records: the answer to each claim, the problems of the spec files, the exit code.

Codes of problems that are not a spec file's own: SWZ501 no such file, SWZ502 a pattern that matches nothing,
SWZ503 a file or folder that cannot be read, SWZ504 a report that cannot be written, SWZ901 a fault of swzverify itself,
SWZ902 a worker process that died.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.spec.problems import Problem


class ExitCode(IntEnum):
    """The exit codes of `swzverify prove`; no format changes them."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    ERROR = 2
    UNDECIDED = 3
    NO_CLAIM = 5


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """One claim of a spec file with its verdict.

    `spec` is the file's path as seen from the folder that the command ran in, `line` counts from 1; `case` holds the
    values of the constants of which the spec lists more than one.
    """

    id: str
    spec: str
    line: int
    kind: str
    subject: str
    expected: Outcome
    verdict: Verdict
    because: str = ""
    source: str = ""
    case: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def ok(self) -> bool:
        """Whether the claim came out as its spec expects."""
        return self.verdict.outcome is self.expected

    @property
    def fingerprint(self) -> str:
        """What the claim is known by from run to run: 32 hexadecimal digits of its id, wherever its line moves.

        >>> from swzverify.claims.verdict import Verdict
        >>> verdict = Verdict(Outcome.PROVED, "")
        >>> ClaimResult("a.yaml::A::bijective", "a.yaml", 3, "bijective", "A", Outcome.PROVED, verdict).fingerprint[:8]
        '2210db75'
        """
        return hashlib.sha256(self.id.encode("utf-8", "backslashreplace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Summary:
    """How many claims came out with each outcome, and how many of them not as expected.

    `counts` has every outcome; `as_expected` counts only those that the spec expects.
    """

    counts: Mapping[Outcome, int]
    as_expected: Mapping[Outcome, int]
    unexpected: int

    @property
    def total(self) -> int:
        """The number of claims."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a run has to tell: results in the order of the paths and claims, problems, wall time."""

    results: tuple[ClaimResult, ...]
    problems: tuple[Problem, ...] = ()
    wall_ms: float = 0.0

    @property
    def summary(self) -> Summary:
        """The counts.

        >>> Report(()).summary.unexpected
        0
        """
        counts = dict.fromkeys(Outcome, 0)
        as_expected = dict.fromkeys(Outcome, 0)
        for result in self.results:
            counts[result.verdict.outcome] += 1
            as_expected[result.verdict.outcome] += result.ok
        return Summary(counts, as_expected, sum(not result.ok for result in self.results))

    @property
    def exit_code(self) -> ExitCode:
        """The exit code; a fault outweighs a wrong answer, and that outweighs a missing one.

        >>> Report(()).exit_code.name
        'NO_CLAIM'
        """
        outcomes = {result.verdict.outcome for result in self.results}
        if self.problems or Outcome.ERROR in outcomes:
            return ExitCode.ERROR
        if not self.results:
            return ExitCode.NO_CLAIM
        unexpected = {result.verdict.outcome for result in self.results if not result.ok}
        if not unexpected:
            return ExitCode.AS_EXPECTED
        undecided = {Outcome.UNKNOWN, Outcome.VACUOUS}
        return ExitCode.UNDECIDED if unexpected <= undecided else ExitCode.UNEXPECTED

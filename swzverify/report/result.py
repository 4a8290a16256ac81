"""How a run ends, as plain records: an answer per claim, problems of spec files, the exit code.

Codes of problems that are not a spec file's own: SWZ501 no such file, SWZ502 a pattern that matches
nothing, SWZ503 a file or folder that cannot be read, SWZ504 a report that cannot be written, SWZ507
a path without a claim, SWZ901
a fault of swzverify itself, SWZ902 a worker process that died.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from swzverify.claims.verdict import OF_CLAIMS, Outcome, Verdict
from swzverify.errors import Problem

if TYPE_CHECKING:
    # Records that a result may hold: a module that only shows results need not import what makes them.
    from swzverify.explain.pictures import Picture
    from swzverify.search.cures.cure import Cure
    from swzverify.spec.deciding import DecidingConstant


NO_CLAIM = "SWZ507"
"""The code of a path without a claim: the only problem that is no error."""


class ExitCode(IntEnum):
    """The exit codes of `swzverify prove`, and that of a report after Ctrl-C; no format changes them."""

    AS_EXPECTED = 0
    UNEXPECTED = 1
    ERROR = 2
    UNDECIDED = 3
    NO_CLAIM = 5
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """One claim of a spec file with its verdict.

    Attributes:
        id: The id of the claim.
        spec: The path of the file, as seen from the folder in which the command ran.
        line: The line, from 1.
        kind: The kind of the claim.
        subject: The subjects in words.
        expected: The expected outcome.
        verdict: The verdict.
        because: The spec's reason for the expected outcome.
        source: The spec's source of the claim.
        case: The values of the constants for which the spec lists several.
        accepted: Whether it is a known failure, which is not `ok`.
        cures: The changes that were proved to help.
        deciding: The constants in the layout of the tile.
        picture: The case that breaks a cost, if pictures were asked for.
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
    accepted: bool = False
    cures: tuple[Cure, ...] = ()
    deciding: tuple[DecidingConstant, ...] = ()
    picture: Picture | None = None

    @property
    def ok(self) -> bool:
        """Whether the claim came out as its spec expects."""
        return self.verdict.outcome is self.expected

    @property
    def failing(self) -> bool:
        """Whether the claim counts against the run: unexpected and no known failure, or a fault."""
        return not self.ok and (not self.accepted or self.verdict.outcome is Outcome.ERROR)

    @property
    def fingerprint(self) -> str:
        """What the claim is known by from run to run, whatever its line: 32 hexadecimal digits.

        >>> from swzverify.claims.verdict import Verdict
        >>> verdict = Verdict(Outcome.PROVED, "")
        >>> ClaimResult("a.yaml::A::bijective", "a.yaml", 3, "bijective", "A", Outcome.PROVED, verdict).fingerprint[:8]
        '2210db75'
        """
        return fingerprint_of(self.id)


def fingerprint_of(text: str) -> str:
    """The fingerprint of what is known by this text, such as a claim by its id.

    >>> fingerprint_of("a.yaml::A::bijective")[:8]
    '2210db75'
    """
    from hashlib import sha256  # noqa: PLC0415 - it loads OpenSSL, and most reports have no fingerprint

    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Summary:
    """How many claims came out with each outcome, and how many of them not as expected.

    `counts` has every outcome; `as_expected` counts only those that the spec expects; `accepted`
    are the known failures, which are neither among those nor among the `unexpected`.
    """

    counts: Mapping[Outcome, int]
    as_expected: Mapping[Outcome, int]
    unexpected: int
    accepted: int = 0

    @property
    def total(self) -> int:
        """The number of claims."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class BaselineUse:
    """What a run made of a file of known failures, beside accepting some: claims by their ids.

    `fixed` fail no more, `changed` fail otherwise than the file says (and so count against the
    run), of `unseen` the run has no result.
    """

    fixed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a run has to tell: results in the order of paths and claims, problems, wall time.

    `baseline` is there where known failures were accepted or looked for; `nothing` says in words that
    there is no result.
    """

    results: tuple[ClaimResult, ...]
    problems: tuple[Problem, ...] = ()
    wall_ms: float = 0.0
    baseline: BaselineUse | None = None
    nothing: str = "no claim found"

    @property
    def summary(self) -> Summary:
        """The counts of claims by outcome.

        >>> Report(()).summary.unexpected
        0
        """
        counts = dict.fromkeys(OF_CLAIMS, 0)
        as_expected = dict.fromkeys(Outcome, 0)
        for result in self.results:
            counts[result.verdict.outcome] += 1
            as_expected[result.verdict.outcome] += result.ok
        failing = sum(result.failing for result in self.results)
        accepted = sum(not result.ok and not result.failing for result in self.results)
        return Summary(counts, as_expected, failing, accepted)

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of the most important outcome.

        A fault comes first, then a wrong answer, then a missing answer, then a path without a claim.

        >>> Report(()).exit_code.name
        'NO_CLAIM'
        """
        outcomes = {result.verdict.outcome for result in self.results}
        if Outcome.ERROR in outcomes or any(problem.code != NO_CLAIM for problem in self.problems):
            return ExitCode.ERROR
        if not self.results:
            return ExitCode.NO_CLAIM
        unexpected = {result.verdict.outcome for result in self.results if result.failing}
        if not unexpected:
            return ExitCode.NO_CLAIM if self.problems else ExitCode.AS_EXPECTED
        undecided = {Outcome.UNKNOWN, Outcome.VACUOUS}
        return ExitCode.UNDECIDED if unexpected <= undecided else ExitCode.UNEXPECTED

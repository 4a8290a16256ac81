"""The result of a comparison: what became of each claim, both sides' problems, the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from swzverify.apps.diff.change import Change
from swzverify.apps.options.diff import Allow
from swzverify.claims.verdict import Measure, Outcome
from swzverify.errors import Problem
from swzverify.report.result import ClaimResult
from swzverify.spec import SpecClaim


class Status(StrEnum):
    """What became of a claim, in the order of reports."""

    DELETED = "deleted"
    WEAKENED = "weakened"
    NOT_COMPARED = "not compared"
    CHANGED = "changed"
    RENAMED = "renamed"
    STRENGTHENED = "strengthened"
    ADDED = "added"
    UNCHANGED = "unchanged"


LOST = frozenset({Status.DELETED, Status.WEAKENED})


class DiffCode(IntEnum):
    """The exit codes of `swzverify diff`; no format changes them."""

    NOTHING_LOST = 0
    LOST = 1
    ERROR = 2
    NO_CLAIM = 5


@dataclass(frozen=True, slots=True)
class ClaimDiff:
    """A claim of one side or of both, with its status, its changes and its results.

    Attributes:
        status: Whether it was added, deleted, changed or kept.
        before: The claim of the older side.
        after: The claim of the newer side.
        changes: The differences in its meaning.
        note: A remark for people.
        result_before: The older result; None if nothing was proved or the side has no such claim.
        result_after: The newer result; None likewise.
        allowed: Whether an option allows its loss.
    """

    status: Status
    before: SpecClaim | None
    after: SpecClaim | None
    changes: tuple[Change, ...] = ()
    note: str = ""
    result_before: ClaimResult | None = None
    result_after: ClaimResult | None = None
    allowed: bool = False

    @property
    def claim(self) -> SpecClaim:
        """The newer claim, or the deleted one."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a difference needs a claim")
        return found

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that it goes by on either side."""
        return tuple(dict.fromkeys(each.id for each in (self.before, self.after) if each is not None))

    @property
    def regressed(self) -> bool:
        """Whether it came out as expected before, and no longer does."""
        old, new = self.result_before, self.result_after
        return old is not None and new is not None and old.ok and not new.ok

    @property
    def wavefronts(self) -> tuple[int, int] | None:
        """The most wavefronts before and now, where both are known and they differ."""
        return self._costs(lambda measure: measure.wavefronts)

    @property
    def bank_conflicts(self) -> tuple[int, int] | None:
        """The most bank conflicts before and now, where both are known and they differ."""
        return self._costs(lambda measure: measure.bank_conflicts)

    def _costs(self, cost: Callable[[Measure], int]) -> tuple[int, int] | None:
        old, new = (None if each is None else each.verdict.measure for each in (self.result_before, self.result_after))
        if old is None or new is None or cost(old) == cost(new):
            return None
        return cost(old), cost(new)

    @property
    def failing(self) -> bool:
        """Whether it counts against the newer side."""
        return (self.status in LOST and not self.allowed) or self.regressed

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell of it."""
        results = [each for each in (self.result_before, self.result_after) if each is not None]
        differ = len({each.verdict.outcome for each in results}) > 1
        other_cost = bool(self.wavefronts or self.bank_conflicts)
        return self.status is not Status.UNCHANGED or differ or self.regressed or other_cost


@dataclass(frozen=True, slots=True)
class SideName:
    """One side: its name as given, what that is (a file, a revision ...), and its commit."""

    given: str
    what: str
    commit: str = ""


@dataclass(frozen=True, slots=True)
class DiffReport:
    """The result of a comparison.

    Attributes:
        base: The older side.
        head: The newer side.
        claims: The claims of both sides.
        base_problems: The problems of the older side's files.
        head_problems: The problems of the newer side's files.
        allowed: What may be lost without a failure.
        proved: Whether the comparison asked for verdicts.
        wall_ms: The time of the comparison.
    """

    base: SideName
    head: SideName
    claims: tuple[ClaimDiff, ...]
    base_problems: tuple[Problem, ...] = ()
    head_problems: tuple[Problem, ...] = ()
    allowed: frozenset[Allow] = frozenset()
    proved: bool = True
    wall_ms: float = 0.0

    @property
    def counts(self) -> Mapping[Status, int]:
        """How many claims of each status; every status has a count."""
        counts = Counter(claim.status for claim in self.claims)
        return {status: counts[status] for status in Status}

    @property
    def failing(self) -> tuple[ClaimDiff, ...]:
        """The claims that count against the newer side."""
        return tuple(claim for claim in self.claims if claim.failing)

    @property
    def exit_code(self) -> DiffCode:
        """The exit code: a side that cannot be judged outweighs what was lost.

        >>> side = SideName("a", "a folder")
        >>> DiffReport(side, side, ()).exit_code.name
        'NO_CLAIM'
        """
        if self.head_problems or _faults(each.result_after for each in self.claims):
            return DiffCode.ERROR
        broken = bool(self.base_problems) or _faults(each.result_before for each in self.claims)
        if broken and Allow.BROKEN_BASE not in self.allowed:
            return DiffCode.ERROR
        if self.failing:
            return DiffCode.LOST
        return DiffCode.NOTHING_LOST if self.claims else DiffCode.NO_CLAIM


def _faults(results: Iterable[ClaimResult | None]) -> bool:
    """Whether a fault of swzverify left one of them without a verdict."""
    return any(each is not None and each.verdict.outcome is Outcome.ERROR for each in results)

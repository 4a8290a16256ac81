"""What a recheck tells: the certificates that need a word, the counts of all, an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from swzrecheck.recheck import Limits, Rechecked, Status
from swzrecheck.solvers import version


class ExitCode(IntEnum):
    """How a recheck ends; of several outcomes the one that stands first decides."""

    RECHECKED = 0
    CONTRADICTED = 1
    BROKEN = 2
    NOT_RECHECKED = 3


_CODES = {
    Status.BROKEN: ExitCode.BROKEN,
    Status.CONTRADICTED: ExitCode.CONTRADICTED,
    Status.NOT_RECHECKED: ExitCode.NOT_RECHECKED,
    Status.RECHECKED: ExitCode.RECHECKED,
}


def exit_code(outcomes: Sequence[Rechecked]) -> ExitCode:
    """The exit code of a recheck.

    >>> exit_code([Rechecked("a", Status.RECHECKED), Rechecked("b", Status.BROKEN)]).name
    'BROKEN'
    """
    came = {outcome.status for outcome in outcomes}
    return next(code for status, code in _CODES.items() if status in came)


def told(outcomes: Sequence[Rechecked], limits: Limits, spent_s: float, *, verbose: bool) -> list[str]:
    """The lines of the report, with the summary at the end.

    Names that others wrote are not escaped: the caller escapes characters that act on a terminal.
    """
    lines: list[str] = []
    for outcome in outcomes:
        if verbose or outcome.status is not Status.RECHECKED:
            lines.append(f"{outcome.status}  {outcome.id}")
            lines += [f"    {why}" for why in outcome.why]
    counts = {status: sum(outcome.status is status for outcome in outcomes) for status in Status}
    judges = " and ".join(version(name) for name in limits.solvers) or "no solver"
    formulas, witnesses, proofs = (
        sum(getattr(outcome, name) for outcome in outcomes) for name in ("formulas", "witnesses", "proofs")
    )
    parts = [
        f"{counts[status]} {status}" for status in reversed(Status) if counts[status] or status is Status.RECHECKED
    ]
    more = f", {proofs} proofs" if limits.drat else ""
    for name, words in (("once", "goals shown once"), ("folded", "folded goals")):
        count = sum(getattr(outcome, name) for outcome in outcomes)
        more += f", {count} {words}" if count else ""
    lines.append(
        f"{', '.join(parts)} of {len(outcomes)} claims in {spent_s:.1f} s: "
        f"{formulas} formulas by {judges}, {witnesses} native witnesses{more}"
    )
    return lines

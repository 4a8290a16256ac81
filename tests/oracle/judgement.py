"""What the oracle says about one claim in one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["proved", "refuted", "vacuous", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with the measure of a cost claim or the alignment of a failed `equivalent`.

    `wavefronts`, `minimum` and `bank_conflicts` belong to the warp instruction with the most
    wavefronts (of several, the one with the most bank conflicts); `most_bank_conflicts` is the
    largest over all warp instructions, which another one may have. All are None where an address is
    misaligned or no lane is active. `slowest` are the (wavefronts, minimum) of all instructions
    with the most wavefronts, `clashing` those of all with the most bank conflicts: a report may
    name any of them.
    """

    verdict: Verdict
    wavefronts: int | None = None
    minimum: int | None = None
    bank_conflicts: int | None = None
    most_bank_conflicts: int | None = None
    smallest_base_alignment: int | None = None
    slowest: tuple[tuple[int, int], ...] = ()
    clashing: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """One claim in one case: `case` pairs each constant that is a list with its value.

    `subject_kind` says of each subject what it is, as in `tile` or `tile, map`; of `covers` that is
    the access alone.
    """

    kind: str
    subject: str
    case: tuple[tuple[str, int], ...]
    verdict: Verdict
    wavefronts: int | None
    minimum: int | None
    bank_conflicts: int | None
    most_bank_conflicts: int | None
    smallest_base_alignment: int | None
    subject_kind: str = ""
    slowest: tuple[tuple[int, int], ...] = ()
    clashing: tuple[tuple[int, int], ...] = ()


PROVED, REFUTED, VACUOUS = Finding("proved"), Finding("refuted"), Finding("vacuous")


def holds(condition: bool) -> Finding:
    """Proved or refuted."""
    return PROVED if condition else REFUTED

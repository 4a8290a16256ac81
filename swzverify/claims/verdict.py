"""What a claim's proof attempt ends in: the outcome, its scope, what it rests on, and the table of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """How a claim came out; the order is from best to worst."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Measure:
    """The cost of an access: the worst case over every warp, iteration, stage and base.

    `wavefronts` and `bank_conflicts` count a warp instruction at the worst binding `where`; `minimum` is what the same
    lanes would take without conflicts. `exact` is False where the engines stopped at a case that breaks the
    claim: then `where` is that case, and the worst one costs at least as much.
    """

    wavefronts: int
    minimum: int
    bank_conflicts: int
    where: Mapping[str, int]
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a counterexample's table: a cell a column, None where the column does not apply.

    `marked` rows are the ones that collide (or break the claim); `mark` is a short word such as the conflict's group
    letter, so that rows with one mark collide with each other.
    """

    cells: tuple[int | str | tuple[int, ...] | None, ...]
    mark: str = ""

    @property
    def marked(self) -> bool:
        """Whether the row takes part in the failure."""
        return bool(self.mark)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A concrete case that breaks the claim, already replayed in plain integers.

    `binding` gives every variable's value; `columns` name the cells of `rows` (for accesses: lane, coord, offset,
    address, word, bank); `note` says in one sentence what goes wrong.
    """

    binding: Mapping[str, int]
    note: str
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one claim.

    `scope` says in words what was covered; `engines` name what agreed ("z3", "gf2", ...); `evidence` is the hardware
    row's ("measured", "documented", "assumed") or empty where no hardware fact is used; `reason` explains every outcome
    but a plain `proved`, and for `proved` says what a reader must know (a single engine, say).
    """

    outcome: Outcome
    scope: str
    engines: tuple[str, ...] = ()
    evidence: str = ""
    reason: str = ""
    measure: Measure | None = None
    counterexample: Counterexample | None = None
    time_ms: float = 0.0
    notes: tuple[str, ...] = field(default=())

"""How a claim's proof attempt ends: outcome, scope, what it rests on, the table of a failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from swzverify.core.shown import LINES_SHOWN, Line, Shown, html_facts, html_table, text_facts, text_table
from swzverify.core.words import binding_text, counted


class Outcome(StrEnum):
    """How a claim came out; the order is from best to worst."""

    PROVED = "proved"
    CHECKED = "checked"
    """Every value that a plain function gives was looked at; nothing is proved of others. No spec ends so."""
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    VACUOUS = "vacuous"
    ERROR = "error"


OF_CLAIMS = tuple(outcome for outcome in Outcome if outcome is not Outcome.CHECKED)
"""What the prover says of claims."""


@dataclass(frozen=True, slots=True)
class WarpMeasure:
    """What a warp instruction takes at the binding `where`; without conflicts it takes `minimum`.

    `point` is the same place as the engines know it.
    """

    wavefronts: int
    minimum: int
    where: Mapping[str, int]
    point: Mapping[str, int] = field(default_factory=dict[str, int], compare=False)

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts beyond the minimum."""
        return self.wavefronts - self.minimum


@dataclass(frozen=True, slots=True)
class Measure:
    """The two worst cases of an access over every warp, iteration, stage and base.

    `exact` is False where the engines stopped at a case that breaks the claim: then both are that
    case, and the worst ones cost at least as much.

    >>> whole, partial = WarpMeasure(4, 4, {"warp": 0}), WarpMeasure(2, 1, {"warp": 1})
    >>> measure = Measure(whole, partial)
    >>> measure.wavefronts, measure.minimum, measure.bank_conflicts
    (4, 4, 1)
    """

    most_wavefronts: WarpMeasure
    most_conflicts: WarpMeasure
    exact: bool = True

    @staticmethod
    def of_one(found: WarpMeasure, *, exact: bool = True) -> Measure:
        """Where one warp instruction is both worst cases."""
        return Measure(found, found, exact)

    @property
    def wavefronts(self) -> int:
        """The most that a warp instruction takes."""
        return self.most_wavefronts.wavefronts

    @property
    def minimum(self) -> int:
        """What that warp instruction takes without conflicts."""
        return self.most_wavefronts.minimum

    @property
    def where(self) -> Mapping[str, int]:
        """The binding at which that warp instruction runs."""
        return self.most_wavefronts.where

    @property
    def bank_conflicts(self) -> int:
        """The most that a warp instruction has."""
        return self.most_conflicts.bank_conflicts

    def __str__(self) -> str:
        """The worst cost in words."""
        at_least = "" if self.exact else "at least "
        waves = counted(self.wavefronts, "wavefront")
        conflicts = counted(self.bank_conflicts, "bank conflict")
        return f"{at_least}{waves} (minimum {self.minimum}), {at_least}{conflicts}"

    @property
    def is_one_case(self) -> bool:
        """Whether the warp instruction with the most wavefronts has the most conflicts too."""
        return self.most_wavefronts.bank_conflicts == self.bank_conflicts


@dataclass(frozen=True, slots=True)
class SectorMeasure:
    """The most sectors of global memory that a warp instruction touches, at the binding `where`.

    `minimum` is what its active lanes need at least if their bytes are all different. `point` is the
    same binding as the engines know it. If `exact` is False, the engines stopped at a case that breaks
    the claim, and the worst case touches at least as many sectors.

    >>> print(SectorMeasure(5, 4, {"warp": 0}))
    5 sectors (minimum 4)
    """

    sectors: int
    minimum: int
    where: Mapping[str, int]
    point: Mapping[str, int] = field(default_factory=dict[str, int], compare=False)
    exact: bool = True

    def __str__(self) -> str:
        """The count in words."""
        at_least = "" if self.exact else "at least "
        return f"{at_least}{counted(self.sectors, 'sector')} (minimum {self.minimum})"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a counterexample's table: a cell per column, None where it does not apply.

    `marked` rows are the ones that collide (or break the claim); `mark` is a short word such as the
    conflict's group letter, so that rows with one mark collide with each other.
    """

    cells: tuple[int | str | tuple[int, ...] | None, ...]
    mark: str = ""

    @property
    def marked(self) -> bool:
        """Whether the row takes part in the failure."""
        return bool(self.mark)


@dataclass(frozen=True, slots=True)
class Counterexample(Shown):
    """A concrete case that breaks the claim, already replayed in plain integers.

    `binding` gives every variable's value as people know it, `point` as the engines do (loops
    counted from 0, bases by their place in the range); `columns` name the cells of `rows` (for
    accesses: lane, coord, offset, address, word, bank); `note` says in one sentence what goes
    wrong.
    """

    binding: Mapping[str, int]
    note: str
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    point: Mapping[str, int] | None = None

    def __str__(self) -> str:
        """The note, where it is, and the table of at most 32 rows, those that break the claim first.

        >>> print(Counterexample({"warp": 0}, "two lanes meet", ("lane", "bank"), (Row((0, 5), "x"), Row((1, 6)))))
        two lanes meet
          at  warp = 0
           lane  bank
        x     0     5
              1     6
        """
        told = text_facts(self.note, [("at", binding_text(self.binding))])
        return f"{told}\n{text_table(self.columns, self._lines)}" if self.rows else told

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        told = html_facts(self.note, [("at", binding_text(self.binding))])
        return told + (html_table(self.columns, self._lines) if self.rows else "")

    @property
    def _lines(self) -> list[Line]:
        """The rows; where there are more than a table shows, the marked ones first."""
        rows = sorted(self.rows, key=lambda row: not row.marked) if len(self.rows) > LINES_SHOWN else self.rows
        return [(row.mark, row.cells) for row in rows]


ARITHMETIC = "arithmetic"
"""What stands for an engine where plain numbers decide."""


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """The answer to one claim.

    Attributes:
        outcome: The outcome.
        scope: What was covered, in words.
        engines: The engines that agreed ("z3", "gf2", ...).
        evidence: That of the hardware row ("measured", "documented", "assumed"); empty if no hardware
            fact is used.
        reason: An explanation of every outcome but a plain `proved`; for `proved`, what a reader must
            know, such as a single engine.
        measure: The worst case in shared memory.
        counterexample: The replayed counterexample.
        time_ms: The time of the proof.
        notes: Remarks.
        is_fault: Whether an `error` is swzverify's own.
        sectors: The worst case in global memory.
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
    is_fault: bool = False
    sectors: SectorMeasure | None = None

    @property
    def is_by_one_engine(self) -> bool:
        """Whether a proof rests on one engine only.

        A claim that plain numbers decide, such as that every address is a multiple of 1, leaves no question
        for a second engine.

        >>> [Verdict(Outcome.PROVED, "", names).is_by_one_engine for names in (("z3",), ("gf2", "z3"), ("arithmetic",))]
        [True, False, False]
        """
        return self.outcome is Outcome.PROVED and len(self.engines) == 1 and self.engines != (ARITHMETIC,)

    def __str__(self) -> str:
        """The outcome, what it covers and rests on, and the table of a failure.

        >>> print(Verdict(Outcome.PROVED, "the warp", ("gf2", "z3"), "measured"))
        proved
          scope     the warp
          engines   gf2 + z3
          evidence  measured
        """
        told = text_facts(self.outcome.value, self._facts)
        return told if self.counterexample is None else f"{told}\n{self.counterexample}"

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        told = html_facts(self.outcome.value, self._facts)
        return told if self.counterexample is None else told + self.counterexample._repr_html_()  # pyright: ignore[reportPrivateUsage]  # IPython's name

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What there is to say, by name; a reason that the counterexample gives is not said twice."""
        known = self.counterexample is not None and self.reason == self.counterexample.note
        return [
            ("scope", self.scope),
            ("cost", str(self.measure or self.sectors or "")),
            ("reason", "" if known else self.reason),
            ("engines", " + ".join(self.engines)),
            ("evidence", self.evidence),
            ("notes", "; ".join(self.notes)),
        ]

"""The list of theorems with their verdicts, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swzverify.apps.theorems.solve import Judgement, Settled
from swzverify.apps.theorems.theorem import Outcome, Theorem
from swzverify.claims.verdict import OF_CLAIMS
from swzverify.core.words import binding_text, counted
from swzverify.report.console import indented, rendered
from swzverify.report.plain import Json, json_text, members, to_json
from swzverify.report.style import TextStyle

SCHEMA = "swzverify.theorems/1"


@dataclass(frozen=True, slots=True)
class Entry:
    """A theorem and what became of it."""

    theorem: Theorem
    judgement: Judgement

    @property
    def ok(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.judgement.outcome is self.theorem.expected


def summary(entries: Sequence[Entry], wall_ms: float) -> str:
    """One line: how many of each verdict, how many unexpected, how long.

    >>> summary((), 1500)
    '0 theorems: 0 unexpected, in 1.5 s'
    """
    counts = Counter(entry.judgement.outcome for entry in entries)
    parts = [f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome]]
    parts.append(f"{sum(not entry.ok for entry in entries)} unexpected")
    return f"{counted(len(entries), 'theorem')}: {', '.join(parts)}, in {wall_ms / 1000:.1f} s"


def render_table(entries: Sequence[Entry], style: TextStyle, wall_ms: float) -> str:
    """The table for people; with verbosity above 0 every theorem's whole record below its line."""
    blocks: list[RenderableType] = []
    if style.verbosity > 0:
        for entry in entries:
            blocks += [Text("  ").join(_cells(entry, style)), indented(_record(entry), 4), Text("")]
    else:
        blocks.append(_table(entries, style))
        blocks += [indented(_record(entry), 4) for entry in entries if not entry.ok]
        blocks.append(Text(""))
    return rendered([*blocks, Text(summary(entries, wall_ms))], style)


def _table(entries: Sequence[Entry], style: TextStyle) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for header in ("", "name", "verdict"):
        table.add_column(header, no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("statement", overflow="fold")
    for entry in entries:
        table.add_row(*_cells(entry, style), Text(entry.theorem.statement))
    return table


def _cells(entry: Entry, style: TextStyle) -> tuple[Text, Text, Text, Text]:
    mark = ("✓" if entry.ok else "✗") if style.unicode else ("+" if entry.ok else "x")
    colour = "green" if entry.ok else "bold red"
    verdict = entry.judgement.outcome.value
    if not entry.ok:
        verdict = f"{verdict}, expected {entry.theorem.expected.value}"
    time = f"{entry.judgement.time_ms / 1000:.2f} s"
    return Text(mark, colour), Text(entry.theorem.name), Text(verdict, colour), Text(time)


def _record(entry: Entry) -> Table:
    """Field by field: what is known of a theorem and of this proof."""
    grid = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in _fields(entry):
        grid.add_row(label, Text(text))
    return grid


def _fields(entry: Entry) -> list[tuple[str, str]]:
    theorem, judgement = entry.theorem, entry.judgement
    fields = [
        ("statement", theorem.statement),
        ("LaTeX", theorem.latex),
        ("source", theorem.source),
        ("symbolic", theorem.symbolic),
        ("enumerated", theorem.enumerated),
    ]
    fields += [("shown", f"{a.obligation}: {a.outcome.value}, {a.time_ms:.0f} ms") for a in judgement.answers]
    if judgement.counterexample is not None:
        fields.append(("fails at", point_text(judgement.counterexample)))
    if theorem.because:
        fields.append(("because", theorem.because))
    if theorem.mended_by:
        fields.append(("instead", theorem.mended_by))
    if not entry.ok and judgement.reason:
        fields.append(("reason", judgement.reason))
    return fields


def point_text(answer: Settled) -> str:
    """The values of a point, in the order in which the encoding names them.

    >>> point_text(Settled("closed", Outcome.REFUTED, 1.0, (("m", 1), ("x", 3))))
    'm = 1, x = 3'
    """
    return binding_text(dict(answer.point))


def render_json(entries: Sequence[Entry], wall_ms: float) -> str:
    """The list as JSON, ASCII only, with a line feed at its end.

    >>> print(render_json((), 0.0).splitlines()[1])
      "schema": "swzverify.theorems/1",
    """
    counts = Counter(entry.judgement.outcome for entry in entries)
    tally: dict[str, Json] = {outcome.value: counts[outcome] for outcome in OF_CLAIMS}
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "summary": {**tally, "unexpected": sum(not entry.ok for entry in entries)},
        "theorems": [_object(entry) for entry in entries],
        "wall_ms": round(wall_ms, 3),
    }
    return json_text(document)


def _object(entry: Entry) -> Json:
    theorem, judgement = entry.theorem, entry.judgement
    failing = judgement.counterexample
    return {
        **members(theorem, "name", "statement", "latex", "source", "symbolic", "enumerated"),
        "verdict": judgement.outcome.value,
        "expected": theorem.expected.value,
        "ok": entry.ok,
        "reason": judgement.reason,
        "because": theorem.because,
        "mended_by": theorem.mended_by or None,
        "counterexample": None
        if failing is None
        else {"obligation": failing.obligation, "values": to_json(dict(failing.point))},
        "obligations": [
            {"name": a.obligation, "verdict": a.outcome.value, **members(a, "time_ms", "reason")}
            for a in judgement.answers
        ],
        **members(judgement, "time_ms"),
    }

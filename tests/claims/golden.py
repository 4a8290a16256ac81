"""What is printed of claims, written down: one file of YAML per kind of claim, in `golden/`.

An entry has the claim, its subject, scope and evidence, its facts, why it is empty, and its goals.
Of a goal: `what` it is, `cases` (its variables and how many values they take, which is what a proof
ranges over), `enough` (how many values of a variable stand for all: one more or one less is a fault,
for fewer miss cases and more put goals out of exhaustion's reach), and `tables`: points, with `holds`
where the claim holds there, else the counterexample: its binding and note, the marks of all rows, the
columns, and the first two and the last of the marked rows. What is empty is left out.

`python -m tests.claims.golden` writes the files anew, at the points that they have: read the
difference before it is committed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from swzverify.claims import Claim, Counterexample
from swzverify.engines.obligations import Apart, Obligation
from swzverify.engines.obligations import Covers as Cover
from swzverify.ir.expr import Var

FOLDER = Path(__file__).parent / "golden"
Entry = dict[str, Any]


def entries(name: str) -> list[Entry]:
    """The entries of `golden/NAME`, kind after kind."""
    found: list[Entry] = []
    for file in sorted((FOLDER / name).glob("*.yaml")):
        found += yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


def points(entry: Entry) -> list[list[dict[str, int]]]:
    """The points of an entry's tables, goal by goal."""
    return [[table["at"] for table in goal.get("tables", ())] for goal in entry.get("goals", ())]


def entry_of(text: str, claim: Claim, at: Sequence[Sequence[dict[str, int]]]) -> Entry:
    """What is printed of a claim, with its tables at some points for each goal."""
    plan = claim.plan()
    goals: list[Entry] = []
    for goal, here in zip(plan.goals, at, strict=True):
        obligation = goal.obligation
        enough = getattr(obligation, "enough", ()) or getattr(obligation, "domain", obligation).enough
        goals.append(
            _filled(
                {
                    "what": goal.what,
                    "cases": {node.name: node.limit for node in over(obligation)},
                    "enough": dict(enough),
                    "tables": [{"at": dict(point), **_table(claim.replay(goal, point))} for point in here],
                }
            )
        )
    whole = {
        "claim": text,
        "subject": claim.subject,
        "scope": claim.scope(),
        "evidence": str(claim.evidence()),
        "facts": [[fact.holds, fact.note] for fact in plan.facts],
        "empty": plan.empty,
        "goals": goals,
    }
    return json.loads(json.dumps(_filled(whole)))


def over(obligation: Obligation) -> tuple[Var, ...]:
    """Every variable of an obligation."""
    match obligation:
        case Apart(shared=shared, first=first, second=second):
            return (*shared, *first.variables, *second.variables)
        case Cover(shared=shared, points=covering, elements=elements):
            return (*shared, *covering.variables, *elements)
        case _:
            return obligation.domain.variables


def _filled(record: Entry) -> Entry:
    return {key: value for key, value in record.items() if value not in ("", [], {})}


def _table(example: Counterexample | None) -> Entry:
    if example is None:
        return {"holds": True}
    marked = [row.cells for row in example.rows if row.mark]
    some = [*marked[:2], *(marked[2:][-1:])]
    return {
        "binding": dict(example.binding),
        "note": example.note,
        "marks": _marks(example),
        "columns": example.columns,
        "rows": some,
    }


def _marks(example: Counterexample) -> str:
    """The rows' marks in short: `x*3 .*29`."""
    runs = [(mark, len(list(rows))) for mark, rows in groupby(row.mark or "." for row in example.rows)]
    return " ".join(f"{mark}*{count}" for mark, count in runs)


class _Dumper(yaml.SafeDumper):
    """Puts a row of a table on one line."""

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        for key, value in node.value:
            for row in value.value if key.value == "rows" else ():
                row.flow_style = True
        return node


def write(name: str, found: Sequence[Entry]) -> None:
    """Write `golden/NAME`, a file for each kind of claim."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.yaml"):
        file.unlink()

    def kind(entry: Entry) -> str:
        return str(entry["claim"]).partition(":")[0]

    for each, own in groupby(sorted(found, key=kind), kind):
        text = yaml.dump(list(own), Dumper=_Dumper, default_flow_style=None, sort_keys=False, width=110)
        (folder / f"{each}.yaml").write_text(text, encoding="utf-8")


def rewrite(name: str, made: Callable[[str], Claim]) -> None:
    """Write `golden/NAME` anew, at the points that it has."""
    write(name, [entry_of(each["claim"], made(each["claim"]), points(each)) for each in entries(name)])


if __name__ == "__main__":
    from tests.claims import edges, test_replays

    rewrite("edges", edges.claims().__getitem__)
    rewrite("replays", test_replays.made)

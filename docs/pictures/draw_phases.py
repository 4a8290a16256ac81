"""Draws the order of accesses: `python docs/pictures/draw_phases.py`.

The pictures are made of the specs that stand on the pages of the claims.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np

from swzverify.claims import Claim, RaceFree, ReadsWhatWasWritten
from swzverify.explain.pictures import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.svg import render_svg
from swzverify.prover import prove
from swzverify.spec.build import SpecCase
from swzverify.subjects import Phase
from swzverify.subjects.phase import Run, WaitGroup

HERE = Path(__file__).parent
ROUNDS, STAGES = 3, 3
"""Iterations that are drawn, and stages of the tiles on the pages."""
_CASES = runpy.run_path(str(HERE / "draw_claims.py"))
"""What finds the specs of a page."""


def race_free() -> str:
    """Which stage each step touches, with the two steps that race."""
    return _picture("race_free", "two threads meet here", lambda _, phase: RaceFree(phase))


def reads_what_was_written() -> str:
    """Which stage each step touches, with the read that gets other bytes."""

    def claim(case: SpecCase, phase: Phase) -> Claim:
        return ReadsWhatWasWritten(phase, case.accesses["read"], case.accesses["copy"])

    return _picture("reads_what_was_written", "other bytes may be there", claim)


def _picture(kind: str, marks: str, claim: Callable[[SpecCase, Phase], Claim]) -> str:
    panels: list[Panel] = []
    for title, case in zip(("good.swz.yaml", "bad.swz.yaml"), _CASES["both"](kind), strict=True):
        phase = case.phases["loop"]
        found = prove(claim(case, phase)).counterexample if title == "bad.swz.yaml" else None
        rows = () if found is None else found.rows
        panels.append(_panel(title, phase, {(str(row.cells[0]), int(str(row.cells[4]))) for row in rows}))
    caption = "A column is a step of one iteration; a cell has the stage that the access touches."
    stages = Scale("stage", 0, STAGES - 1)
    return render_svg(Picture(f"The steps of {ROUNDS} iterations", (caption,), tuple(panels), stages, marks))


def _panel(title: str, phase: Phase, failing: set[tuple[str, int]]) -> Panel:
    runs = dict(phase.runs)
    names = list(dict.fromkeys(run.access.name for run in runs.values()))
    heads = [_head(step, round_) for round_ in range(ROUNDS) for step in phase.steps]
    cells: list[Cell] = []
    for place, run in runs.items():
        for round_ in range(ROUNDS if place.part.value == "steps" else 0):
            own = {each.loop: np.asarray([each.at(round_)]) for each in run.bound}
            assert run.access.stage is not None
            stage = int(run.access.stage.at_many(own)[0])
            column = round_ * len(phase.steps) + place.index
            marked = (phase.describe(place), round_) in failing
            cells.append(Cell(names.index(run.access.name), column, (str(stage),), stage, marked))
    return Panel(title, "access", "step", tuple(names), tuple(heads), tuple(cells))


def _head(step: object, round_: int) -> str:
    if isinstance(step, Run):
        return f"i={round_}"
    return f"wait {step.pending}" if isinstance(step, WaitGroup) else str(step)


PICTURES: dict[str, Callable[[], str]] = {
    "race_free.svg": race_free,
    "reads_what_was_written.svg": reads_what_was_written,
}

if __name__ == "__main__":
    for name, make in PICTURES.items():
        (HERE / name).write_text(make(), encoding="utf-8")

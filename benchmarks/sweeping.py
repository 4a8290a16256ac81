"""A sweep as a user runs it: cases per second with two processes, and memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.library import finish, memory_row
from benchmarks.measure import Effort, Row

MIN_CASES_PER_SECOND, MAX_MEGABYTES = 2000.0, 1000.0
_SPEC = """\
swzverify: 1
constants: {{E: 2, R: 32, C: 64, B: 3, M: 3, S: 3}}
tiles:
  A: {{element: f16, layout: "(R,C):(C,1)", swizzle: "Swizzle<B,M,S>"}}
accesses:
  write: {{tile: A, instruction: st.shared.v4.b32, threads: 32, coord: [lane*(16/E)/C, lane*(16/E)%C]}}
  read: {{tile: A, instruction: ldmatrix.x4, threads: 32, coord: [lane, 0]}}
  column: {{tile: A, instruction: ld.shared.b32, threads: 32, for: {{k: C*E/4}}, coord: [lane, k*4/E]}}
sweep:
  over:
    E: {{at: tiles.A.element, values: {{i8: 1, f16: 2, f32: 4}}}}
    R: {{start: 32, stop: {rows}, step: 32}}
    C: [32, 64, 128, 256]
    B: {{start: 0, stop: 8}}
    M: {{start: 0, stop: 8}}
    S: {{start: -9, stop: 10}}
"""


def rows(effort: Effort) -> list[Row]:
    """The whole command, on two processes: all swizzles of many tiles, for three linear accesses."""
    tiles = 72 if effort.repeats >= 9 else 6 if effort.repeats > 1 else 1
    cases = 3 * 4 * tiles * 8 * 8 * 19
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "a.swz.yaml"
        # More rows than a block has room for are cases too, which are refused.
        spec.write_text(_SPEC.format(rows=32 * tiles + 1), encoding="utf-8")
        seconds, megabytes = finish("sweep", str(spec), "--output", f"{folder}/out", "-j", "2")
    rate = cases / seconds
    goal = MIN_CASES_PER_SECOND if effort.repeats > 1 else None  # a few cases are over before the processes are there
    what = f"sweep of {cases} cases with three linear accesses, two processes"
    return [
        Row(f"{what}: cases per second", f"{rate:.0f}", "", rate, "", goal, goal_shown=f"> {MIN_CASES_PER_SECOND:g}"),
        memory_row(what, megabytes, MAX_MEGABYTES),
    ]

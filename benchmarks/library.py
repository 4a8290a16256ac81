"""The whole spec library as a user runs it: wall clock and memory; and small specs against importing
Z3: one of ten claims, and one of three claims, proved, and refuted with its cure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.measure import Effort, Row, require, time_text

ROOT = Path(__file__).resolve().parent.parent
MAX_SECONDS, MAX_MEGABYTES, MAX_OF_Z3, MAX_REFUTED_OF_Z3 = 5.0, 300.0, 5.0, 9.0
COPIES, MAX_COPIES_SECONDS = 10, 10.0
MAX_LIBRARY_RUNS = 3
REFUTED = """
swzverify: 1
tiles: {tile: {element: f32, layout: "(32,32):(32,1)"}}
accesses:
  read:
    tile: tile
    instruction: ld.shared.b32
    block: [32, 8]
    for: {i: {start: 0, stop: 32, step: 8}}
    coord: [threadIdx.x, threadIdx.y + i]
claims: [bijective: tile, in_bounds: read, conflict_free: read]
"""
PROVED = REFUTED.replace('(32,1)"', '(32,1)", swizzle: "Swizzle<5,0,5>"')
# A child counts what its parent held when it was started: a small process in between keeps our
# arrays out.
_LAUNCHER = """
import resource, subprocess, sys, time
started = time.perf_counter()
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(code, time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def rows(effort: Effort) -> list[Row]:
    """Wall clock and peak memory with two processes, and a ten-claim spec."""
    runs = [_prove(effort.library, "-j", "2") for _ in range(min(effort.repeats, MAX_LIBRARY_RUNS))]
    seconds = median(run[0] for run in runs)
    megabytes = max(run[1] for run in runs)
    what = f"prove {effort.library} -j 2"
    return [
        Row(f"{what}: wall clock", time_text(seconds), "", seconds, "", MAX_SECONDS, True, f"< {MAX_SECONDS:g} s"),
        memory_row(what, megabytes, MAX_MEGABYTES),
        *_copies(effort.library),
        _of_z3("ten claims", effort.ten_claims, effort, MAX_OF_Z3),
        *_small(effort),
    ]


def _small(effort: Effort) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        proved, refuted = (Path(folder) / name for name in ("proved.swz.yaml", "refuted.swz.yaml"))
        proved.write_text(PROVED, "utf-8")
        refuted.write_text(REFUTED, "utf-8")
        return [
            _of_z3("three claims", str(proved), effort, MAX_OF_Z3),
            _of_z3("three claims, one refuted with its cures", str(refuted), effort, MAX_REFUTED_OF_Z3, code=1),
        ]


def _of_z3(what: str, path: str, effort: Effort, goal: float, code: int = 0) -> Row:
    """The median of the ratios of neighbouring runs; what starts a run is not counted."""
    prove = [sys.executable, "-m", "swzverify", "prove", path]
    importing = [sys.executable, "-c", "import z3"]
    runs = [(_finish(prove, code)[0], _finish(importing)[0]) for _ in range(effort.repeats + 1)][1:]
    ours, theirs = (median(times) for times in zip(*runs, strict=True))
    ratio = median(own / other for own, other in runs)
    said = f"prove a spec of {what}, against `import z3`"
    return Row(said, time_text(ours), time_text(theirs), ratio, f"{ratio:.2f}", goal, True, f"<= {goal:g}")


def _copies(path: str) -> list[Row]:
    """Copies of the library, which state every claim so many times: each is told, and judged once in
    a process.
    """
    with tempfile.TemporaryDirectory() as folder:
        for number in range(COPIES):
            copy = Path(folder) / str(number)
            if (ROOT / path).is_dir():
                shutil.copytree(ROOT / path, copy)
            else:
                copy.mkdir()
                shutil.copy(ROOT / path, copy)
        seconds, megabytes = _prove(folder, "-j", "2")
    what, least = f"prove {COPIES} copies of {path} -j 2", f"< {MAX_COPIES_SECONDS:g} s"
    return [
        Row(f"{what}: wall clock", time_text(seconds), "", seconds, "", MAX_COPIES_SECONDS, True, least),
        memory_row(what, megabytes, MAX_MEGABYTES),
    ]


def _prove(path: str, *options: str) -> tuple[float, float]:
    return finish("prove", path, *options)


def memory_row(what: str, megabytes: float, most: float) -> Row:
    """The line of a command's peak memory."""
    shown = f"{what}: peak memory of a process"
    return Row(shown, f"{megabytes:.0f} MB", "", megabytes, "", most, True, f"< {most:g} MB")


def finish(*arguments: str) -> tuple[float, float]:
    """A command of swzverify: its wall clock in seconds, and its peak memory in MB."""
    return _finish([sys.executable, "-m", "swzverify", *arguments])


def _finish(command: list[str], wanted: int = 0) -> tuple[float, float]:
    """Wall clock in seconds, and the largest resident size of the command or a process it waited
    for, in MB.
    """
    # As where the tool is installed: modules are compiled once and kept.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    launcher = [sys.executable, "-c", _LAUNCHER, *command]
    found = subprocess.run(launcher, cwd=ROOT, env=environment, capture_output=True, check=True)
    code, seconds, largest = found.stdout.split()
    require(int(code) == wanted, f"`{' '.join(command[1:])}` exits with {int(code)}")
    return float(seconds), int(largest) * (1 if sys.platform == "darwin" else 1024) / 1e6

"""Every bad file is refused: exit code 2, a place, within a second and 100 MB, and nothing on the
screen but text.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from .corpus import corpus

pytestmark = pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")

FILES = corpus()
SECONDS, MEGABYTES = 10.0, 160
"""What would catch a hang or a bomb on any machine; docs/limits.md has what was measured, under 1 s
and 100 MB.
"""
OUTPUT = 200_000
ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^\s*::|##(?:\[|[A-Za-z]+\[)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Ending:
    """How the run on one file ended."""

    code: int
    processor_s: float
    wall_s: float
    peak_bytes: int
    out: str
    err: str


def slug(name: str) -> str:
    """A file's name: what its content is, and the suffix of specs."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".swz.yaml"


def endings(folder: Path, files: Mapping[str, bytes]) -> dict[str, Ending]:
    """Every file's run, all in one process with limits."""
    for name, data in files.items():
        path = folder / slug(name)
        assert not path.exists(), name
        path.write_bytes(data)
    environment = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    command = [sys.executable, str(Path(__file__).with_name("batch.py")), str(folder)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    return {name: Ending(**ending) for name, ending in json.loads(run.stdout).items()}


def test_there_are_enough() -> None:
    assert len(FILES) >= 300


@pytest.mark.parametrize("part", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_all_are_refused(tmp_path: Path, part: int) -> None:
    """One test for all: in several, each process of the tests would run the whole corpus."""
    files = dict(list(FILES.items())[::part])
    ended = endings(tmp_path, files)
    assert len(ended) == len(files)
    wrong = {name: found for name in files if (found := complaints(slug(name), ended[slug(name)]))}
    assert wrong == {}


def complaints(file: str, ending: Ending) -> list[str]:
    """What is wrong with the run on a file, with what it printed."""
    printed = ending.err + ending.out
    unsafe = {char for char in printed if char != "\n" and unicodedata.category(char)[0] == "C"}
    found = {
        f"exit code {ending.code}": ending.code != 2,
        "no place": not re.search(rf"^{re.escape(file)}:\d+:\d+: SWZ\d\d\d\s", ending.err, re.MULTILINE),
        "a traceback": "Traceback" in printed,
        "an internal error": "SWZ9" in printed,
        f"{ending.processor_s} s": ending.processor_s >= SECONDS,
        f"{ending.peak_bytes} bytes of memory": ending.peak_bytes >= MEGABYTES * 10**6,
        f"{len(printed)} characters": len(printed) >= OUTPUT,
        f"unsafe characters {sorted(unsafe)}": bool(unsafe),
        "a command of a CI system": bool(COMMAND.search(printed)),
    }
    wrong = [what for what, is_so in found.items() if is_so]
    return [*wrong, ending.err[:3000], ending.out[:500]] if wrong else []

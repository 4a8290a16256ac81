"""Damaged kernels, from the reader to the reports: `fuzz/fuzz_scan.py` on the tests' own PTX."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.nightly import share

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / "tests" / "ptx" / "rows.ptx", ROOT / "tests" / "data" / "sass" / "k.ptx"]


def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_scan", ROOT / "fuzz" / "fuzz_scan.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


FUZZER = fuzzer()
KERNELS: list[str] = [each for path in TEXTS for each in FUZZER.kernels_of(path.read_text("utf-8"))]


@pytest.mark.parametrize("seed", share(range(24), 3))
def test_a_damaged_kernel_is_scanned_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    text = "\n".join(FUZZER.damaged(draw.choice(KERNELS).split("\n"), draw))
    FUZZER.scanned(text, draw)


def test_the_damage_is_some_and_not_all() -> None:
    changed = 0
    for seed in range(200):
        draw = random.Random(seed)
        lines = draw.choice(KERNELS).split("\n")
        found = FUZZER.damaged(lines, draw)
        assert len(found) == len(lines)
        assert sum(one != other for one, other in zip(lines, found, strict=True)) <= 4
        changed += found != lines
    assert changed > 100


def test_an_exception_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("planted")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FUZZER, "scanned_functions", broken)
    monkeypatch.setattr(sys, "argv", ["fuzz_scan", str(TEXTS[0].parent), "--runs", "2"])
    assert FUZZER.main() == 1
    assert len(list(tmp_path.glob("finding-*.ptx"))) == 2

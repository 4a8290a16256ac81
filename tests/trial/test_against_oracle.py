"""Trials against an interpreter that shares no code with them: lanes and addresses of each
access.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from swzverify.compiled.ptx import read_module, read_module_file
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES
from tests.kernel.traps import BODIES, text_of
from tests.nightly import share
from tests.trial.against import Compared, compare

FOLDER = Path(os.environ.get("SWZVERIFY_PTX_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_PTX_TRUTH") or not (FOLDER / "launches.json").exists()
LAUNCHES = 4
RACES = frozenset({275})
"""Random kernels in which one side of a branch stores what the other side loads: PTX leaves open
which side runs first.
"""


def compared(text: str, shape: tuple[int, int, int], out: Compared) -> None:
    module = read_module(text, "k.ptx")
    function = module.function("k")
    assert function is not None
    compare(text, module, function, shape, out, LAUNCHES)


def random_kernels(start: int, stop: int) -> Compared:
    """Random kernels with branches, loops, tables, calls and shared accesses."""
    out = Compared()
    for seed in set(range(start, stop)) - RACES:
        compared(program(seed), SHAPES[seed % len(SHAPES)], out)
    return out


@pytest.mark.parametrize("start", share(range(0, 24, 6), 2))
def test_random_kernels(start: int) -> None:
    out = random_kernels(start, start + 6)
    assert out.differ == []
    assert out.same > 10 * out.fewer
    assert out.whole > out.launches // 2


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(24, 400, 8))
def test_many_random_kernels(start: int) -> None:
    assert random_kernels(start, start + 8).differ == []


@pytest.mark.parametrize("shape", [(8, 5, 1), pytest.param((16, 4, 1), marks=pytest.mark.nightly)])
def test_traps(shape: tuple[int, int, int]) -> None:
    out = Compared()
    for name in BODIES:
        compared(text_of(BODIES[name]), shape, out)
    assert out.differ == []
    assert out.same > 10 * out.fewer


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_PTX_TRUTH names no folder with launches.json")
def test_real_kernels() -> None:
    out = Compared()
    for each in json.loads((FOLDER / "launches.json").read_text(encoding="utf-8")):
        path = FOLDER / "ptx" / f"{each['file']}.ptx"
        module = read_module_file(path)
        function = module.function(each["mangled"])
        assert function is not None
        block = tuple(each["launches"][0]["block"])
        compare(path.read_text(encoding="utf-8"), module, function, (block[0], block[1], block[2]), out, 8)
    assert out.differ == []
    assert out.same > 6000

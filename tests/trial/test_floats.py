"""Floats of trials: random kernels against the interpreter of the tests."""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import read_module
from tests.nightly import share
from tests.trial.against import Compared, compare
from tests.trial.float_programs import program

SHAPE = (64, 1, 1)
LAUNCHES = 6


def float_kernels(start: int, stop: int) -> Compared:
    """Random kernels whose addresses and branches come from floats."""
    out = Compared()
    for seed in range(start, stop):
        module = read_module(program(seed), "k.ptx")
        compare(program(seed), module, module.functions[0], SHAPE, out, LAUNCHES)
    return out


@pytest.mark.parametrize("start", share(range(0, 24, 8), 3))
def test_random_floats(start: int) -> None:
    out = float_kernels(start, start + 8)
    assert out.differ == []
    assert out.same > 2 * out.fewer
    assert out.whole > out.launches // 2


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(24, 600, 8))
def test_many_random_floats(start: int) -> None:
    assert float_kernels(start, start + 8).differ == []

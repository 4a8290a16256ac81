"""Random kernels: every execution that an independent interpreter saw is explained."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from swzverify.compiled.kernel import accesses
from swzverify.compiled.ptx import read_module
from tests.kernel.differential import Tally, compare_all, watched
from tests.kernel.programs import program
from tests.kernel.traps import BODIES, text_of
from tests.nightly import share
from tests.ptx_oracle import launch
from tests.ptx_oracle.spaces import SHARED_BASE

SHAPES = ((32, 1, 1), (64, 1, 1), (16, 4, 1), (48, 1, 1), (8, 5, 1), (32, 2, 1))
WIDE = 0x1_0000_0003


def held(seed: int, depth: int = 3) -> Tally:
    """Run a random kernel, and hold what it did against its accesses."""
    return compared(program(seed, depth), SHAPES[seed % len(SHAPES)], seed % 7, seed)


def explained(body: Callable[[int], str], start: int, most: int = 6) -> int:
    """How many executions of some drawn kernels are explained; all that are decided have to be."""
    found = 0
    for seed in range(start, start + most):
        tally = compared(text_of(body(seed)), SHAPES[seed % len(SHAPES)], 1 + seed % 7, seed)
        assert tally.wrong == (), seed
        found += tally.explained
    return found


def compared(text: str, shape: tuple[int, int, int], number: int, seed: int = 1) -> Tally:
    """Run a kernel, and hold what it did against its accesses."""
    module = read_module(text, "k.ptx")
    kernel = module.function("k")
    assert kernel is not None
    found = accesses(module, kernel, shape)
    with watched() as events:
        result = launch(text, "k", [2], shape, 0, [number, WIDE], seed, steps=3000)
    assert not result.error or "no end" in result.error, result.error
    known = {"n+0:4": number, "wide+0:8": WIDE, "shared pool": SHARED_BASE // 16}
    for access in found:
        assert not access.reason, (access.site.line, access.reason)
        assert access.address is not None
    return compare_all(found, events, shape, known.get, most=6)


def all_explained(start: int) -> None:
    """Z3 has so many milliseconds for an execution: how many stay undecided depends on the machine."""
    total = Tally()
    for seed in range(start, start + 2):
        one = held(seed)
        assert one.wrong == (), seed
        total.explained += one.explained
    assert total.explained


@pytest.mark.parametrize("start", share(range(0, 10, 2), 5))
def test_every_execution_is_explained(start: int) -> None:
    all_explained(start)


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(10, 400, 2))
def test_every_execution_of_many_programs_is_explained(start: int) -> None:
    all_explained(start)


@pytest.mark.parametrize("name", BODIES)
def test_every_execution_of_a_trap_is_explained(name: str) -> None:
    tally = compared(text_of(BODIES[name]), (16, 4, 1), 3)
    assert (tally.wrong, tally.undecided) == ((), 0)
    assert tally.explained

"""Random kernels with values and conditions of parameters: no launch that they allow is worse than
what the scan says.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.verdict import Decision
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES, WIDE
from tests.ptx_oracle import launch
from tests.scan.whole import scan_module

NUMBERS = (0, 1, 3, 6)
CONDITIONS: dict[str, tuple[int, ...]] = {
    "n % 2 == 1": (1, 3),
    "n >= 0 && n < 4": (0, 1, 3),
    "n != 0": (1, 3, 6),
    "n == 6 || n == 3": (3, 6),
    "n % 3 == 0": (0, 3, 6),
    "n > 0": (1, 3, 6),
    "n == 1": (1,),
}
"""Conditions with the numbers of those above that fulfil them."""


def compared(seed: int, given: Given, numbers: tuple[int, ...]) -> Counter[str]:
    """The verdicts of a random kernel, held against launches that what is given allows."""
    text, shape = program(seed), SHAPES[seed % len(SHAPES)]
    module = read_module(text, "k.ptx")
    scanned: dict[int, list[Decision]] = defaultdict(list)  # a function is scanned for each of its calls
    for each in scan_module(module, shape, None, "sm_90", given):
        scanned[each.line].append(each.decision)
    for number in numbers:
        result = launch(text, "k", [2], shape, 0, [number, WIDE], seed, steps=3000)
        assert not result.error or "no end" in result.error, result.error
        for access in result.accesses:
            said = scanned[access.line]
            where = (seed, given, number, access.line, access.text)
            if all(each.verdict == "free" for each in said):
                assert access.ways <= 1, where
            if all(each.verdict in ("free", "conflict") and not each.at_least for each in said):
                assert access.ways <= max(each.ways or 1 for each in said), where
            if all(each.reason == "no lane makes this access" for each in said):
                assert not access.executions, where
    return Counter(each.verdict.value for here in scanned.values() for each in here)


def both(seed: int) -> Counter[str]:
    number = NUMBERS[seed % len(NUMBERS)]
    total = compared(seed, Given((f"n={number}", f"wide={WIDE}")), (number,))
    condition = list(CONDITIONS)[seed % len(CONDITIONS)]
    return total + compared(seed, Given((), (condition,)), CONDITIONS[condition])


@pytest.mark.parametrize("start", range(0, 1))
def test_random_kernels(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 1):
        total += both(seed)
    assert total["free"]


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(1, 300, 2))
def test_many_random_kernels(start: int) -> None:
    for seed in range(start, start + 6):
        both(seed)

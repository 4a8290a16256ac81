"""Random kernels and kernels with traps: no execution that an interpreter saw is worse than what
the scan says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess
from tests.kernel.programs import program
from tests.kernel.test_programs import SHAPES, WIDE
from tests.kernel.test_stages import body as stages
from tests.kernel.traps import BODIES, text_of
from tests.nightly import share
from tests.ptx_oracle import Result, launch
from tests.scan.test_claims_programs import is_no_worse
from tests.scan.whole import scan_module

NUMBERS = (0, 1, 3, 6)
BLOCKS = ((16, 4, 1), (32, 2, 1), (8, 5, 1))


Scanned = Mapping[int, list[ScannedAccess]]
Check = Callable[[Scanned, int, Result], None]


def compared(text: str, shape: tuple[int, int, int], seed: int = 1, *more: Check) -> Counter[str]:
    """The verdicts of a kernel, held against launches with several parameters; `more` may ask more of each."""
    scanned: dict[int, list[ScannedAccess]] = defaultdict(list)
    for each in scan_module(read_module(text, "k.ptx"), shape):
        scanned[each.line].append(each)
    for number in NUMBERS:
        result = launch(text, "k", [2], shape, 0, [number, WIDE], seed, steps=3000)
        assert not result.error or "no end" in result.error, result.error
        for check in more:
            check(scanned, number, result)
        for access in result.accesses:
            line = access.line
            said = [each.decision for each in scanned[line]]
            if all(each.verdict == "free" for each in said):
                assert access.ways <= 1, (line, number, access.text)
            if all(each.verdict in ("free", "conflict") and not each.at_least for each in said):
                assert access.ways <= max(each.ways or 1 for each in said), (line, number, access.text)
    return Counter(each.decision.verdict.value for here in scanned.values() for each in here)


@pytest.mark.parametrize("start", share(range(0, 6, 2), 3))
def test_random_kernels(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 2):
        total += compared(program(seed), SHAPES[seed % len(SHAPES)], seed)
    assert total["free"]


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(6, 301, 5))
def test_many_random_kernels(start: int) -> None:
    for seed in range(start, start + 5):
        compared(program(seed), SHAPES[seed % len(SHAPES)], seed)


@pytest.mark.parametrize("start", share(range(0, 8, 2), 2))
def test_random_stages(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 2):
        total += compared(text_of(stages(seed)), SHAPES[seed % len(SHAPES)], seed)
    assert total["free"] + total["conflict"]


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(8, 300, 4))
def test_many_random_stages(start: int) -> None:
    for seed in range(start, start + 4):
        compared(text_of(stages(seed)), SHAPES[seed % len(SHAPES)], seed)


TRAPS = [(name, BLOCKS[(at + turn) % len(BLOCKS)]) for turn in range(len(BLOCKS)) for at, name in enumerate(BODIES)]
"""Every trap in one block first, and then in the others."""


def traps(cases: list[tuple[str, tuple[int, int, int]]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("name", "shape"), cases, ids=[f"{name}-{shape}" for name, shape in cases])


@traps(TRAPS[: len(BODIES)])
def test_traps(name: str, shape: tuple[int, int, int]) -> None:
    compared(text_of(BODIES[name]), shape, 1, is_no_worse)


@pytest.mark.nightly
@traps(TRAPS[len(BODIES) :])
def test_traps_in_other_blocks(name: str, shape: tuple[int, int, int]) -> None:
    compared(text_of(BODIES[name]), shape, 1, is_no_worse)

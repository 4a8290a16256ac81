"""Verdicts on random kernels beside what a GPU counted of them: tests/data/random_kernels.npz."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import ScannedAccess, Verdict, scan_function, tried
from swzverify.compiled.scan.claim import NEVER_MADE

from .counted_kernels import shape_of, text_of

FILE = Path(__file__).parents[1] / "data" / "random_kernels.npz"


@cache
def counted() -> dict[int, dict[int, list[tuple[int, int, int]]]]:
    """Of each seed and line of the PTX the executions, wavefronts and lanes of its machine instructions."""
    found: dict[int, dict[int, list[tuple[int, int, int]]]] = defaultdict(lambda: defaultdict(list))
    with np.load(FILE) as data:
        names = ("seeds", "lines", "executed", "wavefronts", "lanes")
        for seed, line, *counts in zip(*(data[name].tolist() for name in names), strict=True):
            found[seed][line].append(tuple(counts))
    return found


def wrong(access: ScannedAccess, counts: tuple[int, int, int]) -> bool:
    """Whether the counters contradict the verdict of the PTX."""
    (executed, wavefronts, lanes), decision = counts, access.decision
    if decision.reason == NEVER_MADE:
        return lanes > 0
    if decision.verdict not in (Verdict.FREE, Verdict.CONFLICT) or decision.at_least or decision.assumes:
        return False
    return decision.wavefronts is not None and wavefronts > executed * decision.wavefronts


def held(seed: int) -> Counter[str]:
    """The verdicts on the counted accesses of a kernel; none may be contradicted."""
    module = read_module(text_of(seed), "k.ptx")
    function = module.function(f"k{seed}")
    assert function is not None
    found: Counter[str] = Counter()
    for access in scan_function(module, function, shape_of(seed)):
        for counts in counted()[seed].get(access.line, ()):
            assert not wrong(access, counts), (seed, access.line, access.instruction, access.decision, counts)
            found[access.decision.verdict.value] += 1
    return found


def test_the_kernels_are_those_that_were_counted() -> None:
    with np.load(FILE) as data:
        texts = data["texts"].tolist()
    assert [zlib.crc32(text_of(seed).encode()) for seed in range(1, 1 + len(texts), 10)] == texts[::10]


@pytest.mark.parametrize(
    "seed", [9, 11, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(12, 1501, 5))]
)
def test_no_count_contradicts_a_verdict(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "MOST_STEPS", 8_000)
    monkeypatch.setattr(tried, "PATIENCE", 12)
    held(seed)


def test_kernels_have_counts_of_both_verdicts() -> None:
    found = held(9) + held(11)
    assert found["free"]
    assert found["conflict"]


def test_one_wavefront_more_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a free access every wavefront is counted, and none is to spare."""
    more = {line: [(e, w + 1, lanes) for e, w, lanes in rows] for line, rows in counted()[11].items()}
    monkeypatch.setitem(counted(), 11, more)
    with pytest.raises(AssertionError):
        held(11)

"""Random kernels against the interpreter: no execution contradicts what is proved, each witness
occurs, and an alignment that suffices does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Claim, ScannedAccess
from tests.kernel import programs
from tests.kernel.test_programs import SHAPES, WIDE
from tests.nightly import share
from tests.ptx_oracle import Access, Buffer, Result, launch
from tests.scan.claim_programs import Drawn, drawn
from tests.scan.whole import scan_module

BLOCKS = ((64, 1, 1), (16, 4, 1), (40, 1, 1), (8, 8, 1))
NUMBERS = (0, 1, 2, 3, 8, 33, 100)
POOL = (1024, 32768)
FILLS = ("zero", "iota", "mod:64")


def ran(kernel: Drawn, block: tuple[int, int, int], number: int, fill: str = "mod:64") -> Access:
    """What the access of a kernel did."""
    parameters = [number, Buffer(4096, fill)]
    result = launch(kernel.text, "k", [2], block, 0, parameters, 1, strict=False, steps=4000)
    assert not result.error or "no end" in result.error, result.error
    (access,) = [each for each in result.accesses if each.kind in ("ld", "st") and each.bytes == kernel.width]
    return access


def misaligned(access: Access) -> bool:
    return "misaligned" in access.violations


def places(access: Access) -> set[int]:
    """All addresses of an access, those of the first violations too."""
    found = {at for each in access.violations.values() for at in each.addresses if at is not None}
    for mask, base, rest in access.patterns:
        offsets = np.frombuffer(rest, np.uint32).tolist()
        found |= {base + offsets[lane] for lane in range(32) if mask >> lane & 1}
    return found


def leaves(access: Access, begin: int, size: int) -> bool:
    return any(not begin <= at <= begin + size - access.bytes for at in places(access))


def judged(kernel: Drawn, block: tuple[int, int, int]) -> ScannedAccess:
    found = [
        each
        for each in scan_module(read_module(kernel.text, "k.ptx"), block)
        if "%r20" in each.address + each.instruction
    ]
    return found[-1]


def held(seed: int) -> Counter[str]:
    """The verdicts on a kernel, held against launches with several parameters."""
    kernel, block = drawn(seed), BLOCKS[seed % len(BLOCKS)]
    found = judged(kernel, block)
    for claim in (found.aligned, found.in_bounds):
        assert "two engines" not in claim.reason, seed
    for number in NUMBERS:
        access = ran(kernel, block, number, FILLS[number % len(FILLS)])
        needs = found.aligned.needs
        if found.aligned.verdict == "proved" or (needs and kernel.begin % needs == 0):
            assert not misaligned(access), (seed, number)
        if found.in_bounds.verdict == "proved":
            assert not leaves(access, kernel.begin, kernel.size), (seed, number)
    witness(found.aligned, seed, misaligned)
    witness(found.in_bounds, seed, lambda access: leaves(access, kernel.begin, kernel.size))
    return Counter({f"aligned {found.aligned.verdict}": 1, f"in_bounds {found.in_bounds.verdict}": 1})


def witness(claim: Claim, seed: int, is_broken: Callable[[Access], bool]) -> None:
    """A claim that has a witness is broken in a launch with its parameters, and, if it is refuted,
    in each launch in which the access is made.
    """
    if claim.witness is None:
        return
    kernel, block = drawn(seed), BLOCKS[seed % len(BLOCKS)]
    number = claim.witness.values.get("n", 0)
    if claim.witness.values.get("ctaid.x", 0) < 2 and number < 3000:
        assert is_broken(ran(kernel, block, number)), (seed, claim)
    if claim.verdict == "refuted":
        for other in NUMBERS:
            access = ran(kernel, block, other)
            assert not access.executed or is_broken(access), (seed, other, claim)


@pytest.mark.parametrize("start", share(range(0, 120, 20), 6))
def test_random_accesses(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 20):
        total += held(seed)
    assert total["aligned proved"]
    assert total["in_bounds proved"] + total["in_bounds refuted"] + total["in_bounds depends"]


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(120, 3000, 40))
def test_many_random_accesses(start: int) -> None:
    for seed in range(start, start + 40):
        held(seed)


def is_no_worse(scanned: Mapping[int, list[ScannedAccess]], number: int, result: Result) -> None:
    """Hold a launch of a kernel with one array against what is proved of alignment and bounds."""
    for said in scanned.values():
        assert not any("two engines" in each.aligned.reason + each.in_bounds.reason for each in said)
    for access in result.accesses:
        said = scanned[access.line]
        if all(each.aligned.verdict == "proved" for each in said):
            assert not misaligned(access), (access.line, number)
        if all(each.in_bounds.verdict == "proved" for each in said):
            assert not leaves(access, *POOL), (access.line, number)


def against(text: str, shape: tuple[int, int, int], seed: int = 1) -> Counter[str]:
    """The verdicts on all accesses of a kernel with one array, held against launches."""
    scanned: dict[int, list[ScannedAccess]] = {}
    for each in scan_module(read_module(text, "k.ptx"), shape):
        scanned.setdefault(each.line, []).append(each)
    for number in (0, 1, 3, 6):
        is_no_worse(scanned, number, launch(text, "k", [2], shape, 0, [number, WIDE], seed, strict=False, steps=3000))
    return Counter(each.in_bounds.verdict.value for here in scanned.values() for each in here)


@pytest.mark.parametrize("seed", share(range(6), 6))
def test_random_kernels(seed: int) -> None:
    assert against(programs.program(seed), SHAPES[seed % len(SHAPES)], seed)["proved"]


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(6, 300, 6))
def test_many_random_kernels(start: int) -> None:
    for seed in range(start, start + 6):
        against(programs.program(seed), SHAPES[seed % len(SHAPES)], seed)

"""The search against an exhaustive one that shares no code with it; `python -m tests.synth` runs longer."""

from __future__ import annotations

import pytest

from swzverify.claims import Aligned
from swzverify.prover import Options
from swzverify.report.synth import is_confirmed
from swzverify.search.synth.proof import prove_member
from swzverify.search.synth.solution import find
from tests.synth import oracle
from tests.synth.agreement import Compared, compare, problem_of
from tests.synth.puzzles import linear_puzzle, puzzle
from tests.synth.xor_oracle import fewest

QUICK = [seed for seed in range(60) if puzzle(seed).family != "pad+swizzle"] + [0, 56, 248]
"""Of pads with swizzles few: brute force takes seconds for one."""


@pytest.mark.parametrize("part", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_random_problems_which_are_of_every_kind(part: int) -> None:
    """One test, since brute force takes seconds for all of them."""
    seeds = [*QUICK[:-3:part], *QUICK[-3 if part == 1 else -1 :]]
    puzzles = [puzzle(seed) for seed in seeds]
    wanted = [oracle.solve(each) for each in puzzles]
    results = [compare(each) for each in puzzles]
    for seed, result in zip(seeds, results, strict=True):
        assert not result.differs, f"seed {seed}\n{puzzle(seed).text()}"
    assert {each.family for each in puzzles} == {"swizzle", "pad", "tma", "pad+swizzle"}
    assert {each.on for each in puzzles} == {"offset", "address"}
    assert sum(result.impossible for result in results) > 20 // part
    assert sum(result == Compared() for result in results) > 20 // part
    solved = [found for found in wanted if found is not None]
    assert {len(core) for found in solved for core in found.cores} >= {1, 2}
    assert any(len(found.best) > 1 for found in solved)


BYTES = [
    seed
    for seed in range(400)
    if puzzle(seed).bits == 8 and any(path.instruction.endswith(".b8") for path in puzzle(seed).paths)
]


@pytest.mark.parametrize("seed", [*range(0, 60, 6), *BYTES[:4]])
def test_the_prover_agrees(seed: int) -> None:
    """Only that bytes are aligned needs no second engine."""
    problem = problem_of(puzzle(seed))
    proofs = prove_member(problem, find(problem).answer, Options())
    alone = [each for each in proofs if len(each.verdict.engines) < 2]
    assert all(is_confirmed(each) for each in proofs)
    assert all(isinstance(each.claim, Aligned) and each.claim.access.instruction.width_bytes == 1 for each in alone)
    assert (seed in BYTES) is bool(alone)


@pytest.mark.parametrize("seed", range(12))
def test_the_fewest_xor_terms(seed: int) -> None:
    asked = linear_puzzle(seed)
    found = find(problem_of(asked))
    assert found.optimal
    terms = None if found.answer.score.conflicted else len(found.answer.terms)
    few = fewest(asked, 2)
    assert few == terms or (few is None and (terms is None or terms > 2)), asked.text()


def test_no_map_at_all_is_free() -> None:
    """Every one of the 32,768 ways to choose terms is tried."""
    asked = next(
        each
        for each in map(linear_puzzle, range(200))
        if each.rows == 8 and find(problem_of(each)).answer.score.conflicted
    )
    assert fewest(asked, 15) is None

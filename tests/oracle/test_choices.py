"""The oracle's two ways to price all choices of a warp's lanes, held against each other."""

from __future__ import annotations

import random
from itertools import product

import pytest

from .choices import Options, _worst, costs_of
from .hardware import Cost, read_instruction, warp_cost
from .oracle_errors import OracleAmbiguousError

INSTRUCTIONS = ["ld.shared.b8", "ld.shared.b32", "st.shared.b64", "st.shared.v4.b32", "ldmatrix.x4", "cp.async.4"]


def drawn(rng: random.Random, width: int, *, is_matrix: bool) -> Options:
    """Most lanes have one address, a few have some, and may be idle."""
    units = [rng.choice([0, 1, 2, 8, 32, 40]) + rng.choice([0, lane]) for lane in range(32)]
    options: Options = [{unit * max(4, width)} for unit in units]
    for lane in rng.sample(range(32), rng.choice([2, 4, 5])):
        options[lane] = {rng.choice([0, 1, 8, 16, 32, 64]) * max(4, width) for _ in range(3)}
        if not is_matrix and rng.random() < 0.5:
            options[lane].add(None)
    if not is_matrix and rng.random() < 0.5:
        options[8:] = [{None}] * 24
    return options


@pytest.mark.parametrize("name", [*INSTRUCTIONS, "atom.shared.add.u32", "cp.async.8"])
def test_the_theorem_finds_the_worst_of_all_choices(name: str) -> None:
    instruction = read_instruction(name)
    for seed in range(40):
        options = drawn(random.Random(seed), instruction.width_bytes, is_matrix=instruction.kind == "matrix")
        choices = [each for each in product(*options) if any(address is not None for address in each)]
        if not choices:
            continue
        every = {warp_cost(instruction, [*choice]) for choice in choices}
        worst = set(_worst(instruction, options))
        for measure in ("wavefronts", "conflicts"):
            most = max(getattr(cost, measure) for cost in every)
            assert {c for c in every if getattr(c, measure) == most} == {
                c for c in worst if getattr(c, measure) == most
            }, (seed, measure)


def test_many_choices_of_wide_loads_are_not_judged() -> None:
    with pytest.raises(OracleAmbiguousError):
        costs_of(read_instruction("ld.shared.b64"), [{0, 8}] * 32)


def test_a_few_choices_are_tried() -> None:
    assert costs_of(read_instruction("ld.shared.b32"), [{0, None}, {128}, *[{None}] * 30]) == {Cost(2, 1), Cost(1, 1)}

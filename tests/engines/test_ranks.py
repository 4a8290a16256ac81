"""Costs of linear accesses by ranks alone, against the scalar rule on addresses computed lane by
lane.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Answer, Cost
from swzverify.hardware import INSTRUCTIONS, LANES, access_cost, find_instruction
from swzverify.ir.domain import Domain
from swzverify.ir.expr import TRUE, BinaryOperator, Expr, binary, const, extend, extract, var

LANE = var("lane", LANES)
WIDTH = 13
BY_BANKS = [row for row in INSTRUCTIONS.values() if not row.by_octets]


def _linear(columns: list[int], origin: int) -> Expr:
    """The XOR of a column for each set bit of the lane."""
    total: Expr = const(origin, WIDTH)
    for bit, column in enumerate(columns):
        # all ones where the lane's bit is set
        spread = extend(extract(LANE, bit, 1), WIDTH, signed=True)
        total = binary(BinaryOperator.XOR, total, binary(BinaryOperator.AND, spread, const(column, WIDTH)))
    return total


def _columns(rng: random.Random, width_bytes: int) -> list[int]:
    """Columns of aligned addresses; often a lane bit flips nothing, or little."""
    top = (1 << WIDTH) // width_bytes
    kinds = [lambda: 0, lambda: rng.randrange(top), lambda: 1 << rng.randrange(top.bit_length() - 1), lambda: 1]
    return [rng.choice(kinds)() * width_bytes for _ in range(5)]


@pytest.mark.parametrize("name", [row.name for row in BY_BANKS])
def test_ranks_give_the_scalar_rules_cost(name: str) -> None:
    row = find_instruction(name)
    rng = random.Random(name)
    seen: set[tuple[int, int]] = set()
    for _ in range(150):
        columns, origin = _columns(rng, row.width_bytes), rng.randrange(1 << WIDTH) & -row.width_bytes
        addresses: list[int] = []
        for lane in range(LANES):
            address = origin
            for bit, column in enumerate(columns):
                address ^= column * (lane >> bit & 1)
            addresses.append(address)
        wanted = access_cost(row, addresses)
        at_most = rng.choice([None, wanted.wavefronts, wanted.wavefronts - 1])
        goal = Cost(Domain((LANE,)), LANE, _linear(columns, origin), TRUE, row, at_most, _no_definition)
        found = GF2().decide(goal)
        assert found.worst is not None
        assert (found.worst.most_wavefronts.wavefronts, found.worst.most_wavefronts.minimum) == (
            wanted.wavefronts,
            wanted.minimum,
        ), (columns, origin)
        limit = wanted.minimum if at_most is None else at_most
        assert (found.answer is Answer.HOLDS) is (wanted.wavefronts <= limit)
        seen.add((wanted.wavefronts, wanted.minimum))
    assert len(seen) > 2, "the cases must differ"


def _no_definition(_: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    raise AssertionError("linear algebra reads the expression alone")

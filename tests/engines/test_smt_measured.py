"""The wavefront rule as Z3 terms against patterns measured on an H100 (tests/data/README.md)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import z3

from swzverify.engines.obligations import Answer
from swzverify.engines.smt import SMT
from swzverify.engines.smt.warp_rule import joined, pair_conflict, same_group, wavefronts
from swzverify.hardware import find_instruction
from swzverify.ir.integers import Integer
from tests.engines.obligations import Map, cost, table, truth_of, var
from tests.measured import OPS
from tests.nightly import counts

DATA = Path(__file__).parent.parent / "data" / "h100_patterns.npz"
ROWS_EACH = counts(8, 40)
QUERIED_ROWS_EACH = 3
ADDRESS_BITS = 18


class Row(NamedTuple):
    addresses: list[int]
    active: list[bool]
    wavefronts: int
    bank_conflicts: int


def rows_of(op: str, count: int) -> list[Row]:
    """Rows spread over the operation's patterns, so that every family of them and every cost
    occurs.
    """
    with np.load(DATA) as file:
        mine = np.flatnonzero(file["op"] == op)
        order = mine[np.argsort(file["wavefronts"][mine], kind="stable")]
        chosen = order[np.linspace(0, len(order) - 1, count).astype(int)]
        masks = file["active_mask"][chosen].astype(np.int64)
        return [
            Row(
                [int(address) for address in file["byte_offset"][row]],
                [bool(mask >> lane & 1) for lane in range(32)],
                int(file["wavefronts"][row]),
                int(file["bank_conflicts"][row]),
            )
            for row, mask in zip(chosen, masks.tolist(), strict=True)
        ]


class Lanes:
    """The lanes' addresses and activities as variables, so that a formula is built once and
    evaluated row by row.
    """

    def __init__(self) -> None:
        self.context = z3.Context()
        self.addresses = [z3.BitVec(f"a{lane}", ADDRESS_BITS, self.context) for lane in range(32)]
        self.active = [z3.Bool(f"on{lane}", self.context) for lane in range(32)]

    def at(self, row: Row, *terms: z3.ExprRef) -> list[z3.ExprRef]:
        pairs: list[tuple[z3.ExprRef, z3.ExprRef]] = [
            (term, z3.BitVecVal(address, ADDRESS_BITS, self.context))
            for term, address in zip(self.addresses, row.addresses, strict=True)
        ]
        pairs += [(term, z3.BoolVal(on, self.context)) for term, on in zip(self.active, row.active, strict=True)]
        return [z3.simplify(z3.substitute(term, *pairs)) for term in terms]


@pytest.mark.parametrize("count", ROWS_EACH)
@pytest.mark.parametrize("op", OPS)
def test_the_formula_evaluates_to_the_measured_counts(op: str, count: int) -> None:
    rows = rows_of(op, count)
    # a sample of one cost would prove little
    assert len({row.wavefronts for row in rows}) > 2
    lanes = Lanes()
    terms = wavefronts(find_instruction(OPS[op]), lanes.addresses, lanes.active)
    for row in rows:
        found = [term.as_long() for term in lanes.at(row, *terms)]
        assert found == [row.wavefronts, row.wavefronts - row.bank_conflicts]


@pytest.mark.parametrize("count", ROWS_EACH)
@pytest.mark.parametrize("op", OPS)
def test_pairs_conflict_exactly_where_conflicts_were_measured(op: str, count: int) -> None:
    """Some two active lanes of a group are in each other's way, in joined groups where lanes agree
    in pairs.
    """
    instruction = find_instruction(OPS[op])
    lanes = Lanes()
    number = [z3.BitVecVal(lane, 5, lanes.context) for lane in range(32)]

    def any_pair(group_lanes: int) -> z3.BoolRef:
        used = range(instruction.address_lanes)
        return z3.Or(
            [
                z3.And(
                    lanes.active[a],
                    lanes.active[b],
                    pair_conflict(instruction, lanes.addresses[a], lanes.addresses[b]),
                )
                for a in used
                for b in used
                if z3.is_true(z3.simplify(same_group(number[a], number[b], group_lanes)))
            ]
        )

    term = any_pair(instruction.group_lanes)
    if instruction.joins:
        join = joined(lanes.addresses, lanes.active)
        term = z3.If(join, any_pair(instruction.joined_group_lanes), term)
    rows = rows_of(op, count)
    for row in rows:
        (found,) = lanes.at(row, term)
        assert z3.is_true(found) == (row.bank_conflicts > 0)
        assert z3.is_true(found) or z3.is_false(found)
    assert {row.bank_conflicts > 0 for row in rows} == {True, False}


@pytest.mark.parametrize("op", OPS)
def test_conflict_free_is_decided_as_measured(op: str) -> None:
    """The engine's own queries, on an access whose addresses are looked up in the measured row."""
    seen = set[bool]()
    for row in rows_of(op, QUERIED_ROWS_EACH):
        lane = var("lane", 32)
        instruction = find_instruction(OPS[op])
        on = [running and index < instruction.address_lanes for index, running in enumerate(row.active)]
        address = Map(
            Integer(table(lane, row.addresses, ADDRESS_BITS), 0, (1 << ADDRESS_BITS) - 1), lambda p: p["lane"]
        )
        bits = table(lane, [int(running) for running in on], 1)
        active = Map(Integer(bits, 0, 1), lambda _: 1)
        assert truth_of(active)[0] is bits
        answer = SMT().decide(cost(lane, (), OPS[op], address, active)).answer
        assert answer is (Answer.HOLDS if row.bank_conflicts == 0 else Answer.FAILS)
        seen.add(row.bank_conflicts == 0)
        for limit, wanted in ((row.wavefronts, Answer.HOLDS), (row.wavefronts - 1, Answer.FAILS)):
            if limit:
                assert SMT().decide(cost(lane, (), OPS[op], address, active, limit)).answer is wanted
    assert seen == {True, False}

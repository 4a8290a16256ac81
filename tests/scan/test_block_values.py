"""The values of a block's threads: of several expressions at once as of each by itself."""

from __future__ import annotations

import numpy as np
import pytest

from swzverify.compiled.kernel.arithmetic import add, less, mul, widened
from swzverify.compiled.scan.price import Block, table_of
from swzverify.hardware import find_instruction
from swzverify.ir.expr import BinaryOperator, Expr, binary, const, extend, var

TID_X, TID_Y, BEGIN = var("tid.x", 20), var("tid.y", 3), var("begin", 1 << 16)
NUMBER = add(widened(TID_X, 32), mul(widened(TID_Y, 32), const(20, 32)))
ADDRESS = add(mul(NUMBER, const(12, 32)), widened(BEGIN, 32))
ROOTS: dict[str, Expr] = {
    "number": NUMBER,
    "address": ADDRESS,
    "condition": less(ADDRESS, const(400, 32), signed=False),
    "begin": BEGIN,
    "constant": const(1, 1),
    "again": binary(BinaryOperator.XOR, ADDRESS, extend(TID_Y, 32, signed=False)),
}


@pytest.mark.parametrize("samples", [0, 1, 3])
def test_all_at_once_are_as_each_by_itself(samples: int) -> None:
    block = Block((20, 3, 1))
    more = {"begin": np.array([7, 40, 1000][:samples], dtype=np.int64)[:, None, None]}
    roots = [each for name, each in ROOTS.items() if samples or name in ("number", "constant")]
    together = block.all_values(roots, more if samples else {})
    for root, found in zip(roots, together, strict=True):
        alone = block.values(root, more if samples else {})
        assert found.shape == alone.shape
        assert found.shape[-2:] == (2, 32)
        assert (found == alone).all()


@pytest.mark.parametrize("samples", [1, 3])
def test_each_thread_has_its_own_value(samples: int) -> None:
    block = Block((20, 3, 1))
    begins = [7, 40, 1000][:samples]
    values = block.values(ADDRESS, {"begin": np.array(begins, dtype=np.int64)[:, None, None]})
    for sample, begin in enumerate(begins):
        for thread in range(60):
            assert values[sample, thread // 32, thread % 32] == thread * 12 + begin


def test_lanes_of_a_table_have_their_threads() -> None:
    block = Block((20, 3, 1))
    active = block.exists[1].copy()
    active[3] = False
    rows = table_of(find_instruction("ld.shared.b32"), block, 1, np.arange(32) * 128 + 64, active).lanes
    assert [row.lane for row in rows] == [lane for lane in range(28) if lane != 3]
    for row in rows:
        number = 32 + row.lane
        assert row.thread == (number % 20, number // 20, 0)
        assert (row.offset, row.bank, row.collides) == (row.lane * 128, 16, True)

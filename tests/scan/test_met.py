"""Whether a lane makes an access, by samples: what no launch has is no sample."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel import Leaf, UniformLeaf
from swzverify.compiled.scan import met
from swzverify.compiled.scan.price import Block
from swzverify.ir.expr import Comparison, Expr, Var, compare, const, var
from tests.scan.texts import last, strided

N, LDA = var("n+0:4", 1 << 32), var("lda+4:4", 1 << 32)
STORE = "@%p1 st.shared.u32 [%r20], %r1;"


def less(one: Expr, other: Expr) -> Expr:
    return compare(Comparison.ULT, one, other)


def leaf(variable: Var, *assumed: Expr) -> Leaf:
    return UniformLeaf(variable, "", 1, None, uniform=True, assumed=assumed)


BELOW, FEW = less(N, LDA), less(LDA, const(17, 32))
LEAVES = {"n+0:4": leaf(N, BELOW), "lda+4:4": leaf(LDA, BELOW, FEW)}
MANY = less(const(100, 32), N)
"""More than `lda` can be, which is said of `lda` alone."""


def test_a_sample_fulfils_what_is_assumed_of_every_value_that_conditions_read() -> None:
    assert met.is_met(less(N, const(5, 32)), LEAVES, Block((32, 1, 1)))
    assert not met.is_met(MANY, LEAVES, Block((32, 1, 1)))


def test_conditions_of_conditions_that_are_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(met, "_assumed", lambda _guard, leaves: [BELOW] if leaves else [])
    assert met.is_met(MANY, LEAVES, Block((32, 1, 1)))


@pytest.mark.parametrize(("limit", "verdict"), [(64, "free"), (0, "unknown")])
def test_a_guard_that_no_lane_passes_is_not_met(limit: int, verdict: str) -> None:
    guard = f"and.b32 %r9, %r2, 3; add.u32 %r9, %r9, %r1; setp.lt.u32 %p1, %r9, {limit}; "
    assert last(guard + strided(4, STORE)).decision.verdict == verdict

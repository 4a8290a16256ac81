"""Values that a register can have: each value of a run is among them, and of small loops there are no others."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel import inlined
from swzverify.compiled.kernel.register_values import Registers
from swzverify.compiled.kernel.whole import Kernel
from tests.order.conftest import module_of

_LOOP = "L:\nst.shared.u32 [%r4], %r20;\nbar.sync 0;\n{}\n@%p1 bra L;"


def values(body: str, register: str = "%r20") -> set[int] | None:
    """The values of a register of a kernel."""
    module = module_of(body)
    kernel = Kernel(module, inlined(module, module.functions[0]), (64, 1, 1))
    (variable,) = (each for each in kernel.carried if each.name.startswith(register + ":"))
    found = Registers(kernel).values(variable)
    return None if found is None else {*found}


@pytest.mark.parametrize(
    ("begin", "step", "expected"),
    [
        ("selp.u32 %r20, 1, 3, %p2;", "mul.lo.u32 %r20, %r20, 3;\nsetp.lt.u32 %p1, %r20, 16;", {1, 3, 9}),
        # A value with which the loop ends has no next one.
        ("selp.u32 %r20, 4, 64, %p2;", "shr.u32 %r20, %r20, 1;\nsetp.gt.u32 %p1, %r20, 2;", {4, 8, 16, 32, 64}),
        # The condition is that of the value before the step.
        ("selp.u32 %r20, 4, 5, %p2;", "setp.eq.u32 %p1, %r20, 4;\nshl.b32 %r20, %r20, 1;", {4, 5, 8}),
        # Shifts by a parameter: all powers of two, and 0.
        (
            "shl.b32 %r20, 1, %r7;",
            "shr.u32 %r20, %r20, 1;\nsetp.ne.u32 %p1, %r20, 0;",
            {0} | {1 << each for each in range(32)},
        ),
        ("mov.u32 %r20, %r7;", "shr.u32 %r20, %r20, 1;\nsetp.ne.u32 %p1, %r20, 0;", None),
        ("selp.u32 %r20, 1, 3, %p2;", "mul.lo.u32 %r20, %r20, 3;\nsetp.ne.u32 %p1, %r20, %r7;", None),
    ],
)
def test_values(begin: str, step: str, expected: set[int] | None) -> None:
    found = values(f"setp.eq.u32 %p2, %r7, 7;\n{begin}\n{_LOOP.format(step)}")
    assert found is None if expected is None else found is not None and found >= expected
    assert found == expected


def test_a_register_that_begins_with_one_of_the_outer_loop() -> None:
    """Strides of a bitonic sort: half of 2, 4, ..., 32, and the halves of these."""
    inner = _LOOP.format("shr.u32 %r20, %r20, 1;\nsetp.ne.u32 %p1, %r20, 0;")
    outer = "mov.u32 %r21, 2;\nO:\nshr.u32 %r20, %r21, 1;\n{}\nshl.b32 %r21, %r21, 1;\nsetp.lt.u32 %p3, %r21, 33;\n"
    outer += "@%p3 bra O;"
    found = values(outer.format(inner))
    assert found is not None
    assert {1, 2, 4, 8, 16} <= found <= {0} | {1 << each for each in range(32)}

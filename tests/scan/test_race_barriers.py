"""Barriers that threads miss only in launches that no fixed plan has: the solver names them, and a run shows them."""

from __future__ import annotations

import pytest

from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.races import races_of

HEAD = (
    ".version 8.3\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[8192];\n"
    ".entry k(.param .u32 n) {\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\nld.param.u32 %r2, [n];\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nshl.b32 %r3, %r0, 2;\nmov.u32 %r4, s;\nadd.u32 %r3, %r3, %r4;\n"
)
TWO = "@!%p1 bra ELSE;\nbar.sync 0;\nst.shared.u32 [%r3], %r0;\nbra END;\nELSE:\nbar.sync 0;\nEND:\n"
ONE = "@!%p1 bra END;\nbar.sync 0;\nEND:\nst.shared.u32 [%r3], %r0;\n"
OF_WARPS = "shr.u32 %r5, %r0, 5;\nadd.u32 %r5, %r5, 777;\nsetp.lt.u32 %p1, %r5, %r2;\n"
OF_LANES = "and.b32 %r5, %r0, 31;\nadd.u32 %r5, %r5, 777;\nsetp.lt.u32 %p1, %r5, %r2;\n"
OF_BLOCKS = "add.u32 %r5, %r1, 777;\nsetp.lt.u32 %p1, %r5, %r2;\n"
IMPOSSIBLE = "shr.u32 %r5, %r0, 5;\nand.b32 %r6, %r2, 1;\nadd.u32 %r6, %r6, 2;\nsetp.lt.u32 %p1, %r5, %r6;\n"
"""Of two warps all threads go one way, but the analysis of what threads share does not see it."""


def verdict(parting: str, barriers: str, threads: int = 64) -> tuple[RaceVerdict, str]:
    module = read_module(f"{HEAD}{parting}{barriers}ret;\n}}\n", "k.ptx")
    found = races_of(module, module.functions[0], Given(), block=(threads, 1, 1))
    return found.verdict, found.reason


@pytest.mark.parametrize("parting", [OF_WARPS, OF_LANES])
@pytest.mark.parametrize("barriers", [TWO, ONE])
@pytest.mark.parametrize("threads", [32, 64, 96])
def test_a_launch_that_parts_threads_is_found(parting: str, barriers: str, threads: int) -> None:
    found, reason = verdict(parting, barriers, threads)
    if parting is OF_WARPS and threads == 32:
        assert found is RaceVerdict.FREE
    else:
        assert found is RaceVerdict.DIVERGENT
        number = int(reason.partition("n+0:4 = ")[2])
        assert 777 < number < 777 + 32


@pytest.mark.parametrize("barriers", [TWO, ONE])
@pytest.mark.parametrize("parting", [OF_BLOCKS, IMPOSSIBLE])
def test_where_no_launch_parts_threads_none_is_named(parting: str, barriers: str) -> None:
    assert verdict(parting, barriers)[0] is not RaceVerdict.DIVERGENT

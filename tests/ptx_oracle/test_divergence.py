"""Which lanes run together: small kernels that store into shared memory at each point of note."""

from __future__ import annotations

import pytest

from . import BudgetError, Buffer, Result, launch
from .flow import components, order

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<9>;
  .shared .align 4 .b8 s[512];
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r1, 2; mov.u32 %r4, s;
  and.b32 %r3, %r3, 511; add.u32 %r3, %r3, %r4; mov.u32 %r9, 0;
"""
MARK = "st.shared.u32 [%r3], {};\n"


def run(body: str, threads: int = 32, **more: int) -> Result:
    """Run a kernel with a body."""
    return launch(f"{HEAD}{body}\n  ret;\n}}\n", "k", [1], [threads], 0, [Buffer(4096)], **more)


def masks(result: Result) -> list[dict[int, int]]:
    """How often each mask occurred at each mark."""
    assert not result.error, result.error
    return [dict(access.masks) for access in result.accesses if "st.shared" in access.text]


def test_both_sides_of_a_branch_meet_after_it() -> None:
    result = run(
        "setp.lt.u32 %p1, %r2, 10;\n@%p1 bra LOW;\nst.shared.u32 [%r3], 1;\nbra.uni MEET;\n"
        "LOW:\nst.shared.u32 [%r3], 2;\nMEET:\nst.shared.u32 [%r3], 3;"
    )
    assert masks(result) == [{0xFFFFFC00: 1}, {0x3FF: 1}, {0xFFFFFFFF: 1}]


def test_lanes_wait_for_the_longest_loop() -> None:
    result = run(
        "LOOP:\nst.shared.u32 [%r3], 1;\nadd.u32 %r9, %r9, 1;\nsetp.le.u32 %p1, %r9, %r2;\n@%p1 bra LOOP;\n"
        "st.shared.u32 [%r3], 2;"
    )
    inside, after = masks(result)
    assert inside == {0xFFFFFFFF & ~((1 << trip) - 1): 1 for trip in range(32)}
    assert after == {0xFFFFFFFF: 1}


def test_lanes_that_break_out_of_a_nested_branch_do_not_keep_the_others_apart() -> None:
    """The post-dominator of the first branch is the end of the loop.

    The chip has the others together before it.
    """
    result = run(
        "LOOP:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r2, 16;\n@%p1 bra NEXT;\nsetp.eq.u32 %p2, %r2, 31;\n"
        "@%p2 bra OUT;\nNEXT:\nst.shared.u32 [%r3], 1;\nsetp.lt.u32 %p3, %r9, 3;\n@%p3 bra LOOP;\n"
        "OUT:\nst.shared.u32 [%r3], 2;"
    )
    assert masks(result) == [{0x7FFFFFFF: 3}, {0xFFFFFFFF: 1}]


@pytest.mark.parametrize("leave", ["@%p2 exit;", "@%p2 ret;", "@%p2 bra GONE;"])
def test_lanes_that_leave_are_not_waited_for(leave: str) -> None:
    result = run(
        f"setp.lt.u32 %p1, %r2, 16;\n@%p1 bra MEET;\nsetp.gt.u32 %p2, %r2, 29;\n{leave}\nst.shared.u32 [%r3], 1;\n"
        "MEET:\nst.shared.u32 [%r3], 2;\nGONE:"
    )
    assert masks(result) == [{0x3FFF0000: 1}, {0x3FFFFFFF: 1}]


def test_a_guard_counts_lanes_without_parting_them() -> None:
    result = run("setp.eq.u32 %p1, %r2, 7;\n@%p1 st.shared.u32 [%r3], 1;\n@!%p1 st.shared.u32 [%r3], 2;")
    assert masks(result) == [{1 << 7: 1}, {0xFFFFFF7F: 1}]


def test_the_last_warp_may_be_short() -> None:
    result = run("st.shared.u32 [%r3], 1;", threads=70)
    assert masks(result) == [{0xFFFFFFFF: 2, 0x3F: 1}]
    assert dict(result.accesses[0].warps) == {((0, 0, 0), 0): 1, ((0, 0, 0), 1): 1, ((0, 0, 0), 2): 1}


def test_a_barrier_waits_for_all_warps() -> None:
    """The second warp adds to what the first one, slower, has stored."""
    result = run(
        "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra WAIT;\nLOOP:\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 500;\n"
        "@%p2 bra LOOP;\nst.shared.u32 [%r3], 77;\nWAIT:\nbar.sync 0;\nxor.b32 %r5, %r3, 128;\n"
        "ld.shared.u32 %r6, [%r5];\n"
        "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d2, %d2, %d1;\nst.global.u32 [%d2], %r6;",
        threads=64,
    )
    assert not result.error
    assert result.buffers[0][128:256:4].tolist() == [77] * 32


def test_a_barrier_that_some_lanes_never_reach_opens_with_a_warning() -> None:
    result = run("setp.lt.u32 %p1, %r2, 5;\n@%p1 bar.sync 0;\nst.shared.u32 [%r3], 1;")
    assert result.error == ""
    assert len(result.warnings) == 1
    assert "barrier" in result.warnings[0]


def test_lanes_that_wait_for_each_other_get_on() -> None:
    """Every lane of a warp takes a lock and adds its number."""
    result = run(
        "st.shared.u32 [s], 0;\nst.shared.u32 [s+4], 0;\nLOCK:\natom.shared.cas.b32 %r5, [s], 0, 1;\n"
        "setp.ne.u32 %p1, %r5, 0;\n@%p1 bra LOCK;\nld.shared.u32 %r6, [s+4];\nadd.u32 %r6, %r6, %r2;\n"
        "st.shared.u32 [s+4], %r6;\natom.shared.exch.b32 %r5, [s], 0;\nbar.sync 0;\nld.shared.u32 %r6, [s+4];\n"
        "st.global.u32 [%d1], %r6;"
    )
    assert result.error == ""
    assert "circles" in result.warnings[0]
    assert int.from_bytes(result.buffers[0][:4].tobytes(), "little") == 31 * 32 // 2


def test_a_loop_without_end_is_an_error() -> None:
    result = run("LOOP:\nadd.u32 %r9, %r9, 1;\nbra.uni LOOP;", steps=1000)
    assert result.error.startswith(f"{BudgetError.__name__}: no end after 1000 steps")


def test_an_mbarrier_that_never_opens_is_an_error() -> None:
    result = run(
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 mbarrier.init.shared.b64 [s], 99;\n"
        "W:\nmbarrier.try_wait.parity.shared.b64 %p1, [s], 0;\n@!%p1 bra W;"
    )
    assert "never opens" in result.error


def test_blocks_of_a_loop_come_before_what_follows_it() -> None:
    """0 -> 1 <-> 2, 1 -> 3: the loop stays together, although 3 can be reached before 2."""
    assert order(range(4), [[1], [3, 2], [1], []]) == [0, 1, 2, 3]
    assert order(range(4), [[2], [3], [3, 1], [2]]) == [0, 2, 1, 3]


def test_parts_of_a_graph_come_before_what_they_lead_to() -> None:
    assert components([0, 1, 2, 3], [[2], [], [0, 3], [1]], {0, 1, 2, 3}) == [[0, 2], [3], [1]]
    assert components([0, 1], [[1], [2]], {0, 1}) == [[0], [1]]

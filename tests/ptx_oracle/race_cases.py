"""Small kernels with what section 10 of docs/semantics.md says of them, for blocks of 64 threads."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 q)
{
  .reg .pred %p<9>; .reg .b32 %r<99>; .reg .b64 %d<9>; .shared .align 16 .b8 s[8192];
  ld.param.u32 %r2, [n]; ld.param.u64 %d1, [q]; mov.u32 %r1, %tid.x; mov.u32 %r3, s;
  shl.b32 %r4, %r1, 2; xor.b32 %r5, %r4, 4; xor.b32 %r6, %r4, 128; and.b32 %r8, %r1, 31;
  add.u32 %r4, %r4, %r3; add.u32 %r5, %r5, %r3; add.u32 %r6, %r6, %r3;
  setp.ge.u32 %p1, %r1, 48; setp.ge.u32 %p2, %r1, 32; setp.ge.u32 %p3, %r8, 16;
"""
"""%r4 is a thread's own word, %r5 that of the lane beside it, %r6 one of the other warp."""

FIRST = HEAD.count("\n") + 1


class Case(NamedTuple):
    """A kernel's lines, its verdict, and its racing pairs by the places of these lines, from 0."""

    name: str
    body: tuple[str, ...]
    verdict: str
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def text(self) -> str:
        """The PTX."""
        return HEAD + "\n".join(self.body) + "\nret;\n}\n"


ST, LD, BAR = "st.shared.u32 [%r4], %r1;", "ld.shared.u32 %r9, [%r5];", "bar.sync 0;"
OTHER, ST0 = "ld.shared.u32 %r9, [%r6];", "st.shared.u32 [%r3], 7;"
WARP = "bar.warp.sync -1;"
COPY = "cp.async.ca.shared.global [%r4], [%d1], 4;"
COMMIT, WAIT0, WAIT1 = "cp.async.commit_group;", "cp.async.wait_group 0;", "cp.async.wait_group 1;"
OWN = "ld.shared.u32 %r9, [%r4];"
AGAIN = ("mov.u32 %r20, 0;", "L: ", "add.u32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 3;", "@%p5 bra L;")
HALF = "add.u32 %r7, %r4, 64;"

CASES = (
    Case("own_word", (ST, OWN), "free"),
    Case("lanes_of_a_warp_have_no_order", (ST, LD), "race", ((0, 1),)),
    Case("write_after_read", (LD, ST), "race", ((0, 1),)),
    Case("barrier", (ST, BAR, LD), "free"),
    Case("barrier_that_reduces", (ST, "bar.red.popc.u32 %r9, 0, %p1;", LD), "free"),
    Case(
        "unaligned_barriers_of_two_arms",
        (ST, "@%p2 bra A;", "barrier.sync 0;", "bra B;", "A: barrier.sync 0;", "B:", OTHER),
        "free",
    ),
    Case("warp_barrier", (ST, WARP, LD), "free"),
    Case("warp_barrier_and_two_warps", (ST, WARP, OTHER), "race", ((0, 2),)),
    Case("warp_barrier_of_half_a_warp", ("@%p3 bra E;", ST, "bar.warp.sync 65535;", LD, "E:"), "free"),
    Case("warp_barrier_that_lanes_skip", (ST, "@%p3 bra E;", WARP, LD, "E:"), "divergent-barrier", ((0, 3),)),
    Case("a_shuffle_is_no_barrier", (ST, "shfl.sync.idx.b32 %r9, %r1, 0, 31, -1;", LD), "race", ((0, 2),)),
    Case("a_vote_is_no_barrier", (ST, "vote.sync.any.pred %p6, %p1, -1;", LD), "race", ((0, 2),)),
    Case("a_fence_is_no_barrier", (ST, "membar.cta;", LD), "race", ((0, 2),)),
    Case(
        "two_arms", ("@%p2 bra A;", ST0, "bra B;", "A: st.shared.u32 [%r3], 8;", "B:"), "race", ((1, 1), (1, 3), (3, 3))
    ),
    Case("one_value", (ST0,), "race-benign", ((0, 0),)),
    Case(
        "one_value_from_two_lines",
        ("@%p2 bra A;", ST0, "bra B;", "A:", ST0, "B:"),
        "race-benign",
        ((1, 1), (1, 4), (4, 4)),
    ),
    Case("several_values", ("st.shared.u32 [%r3], %r1;",), "race", ((0, 0),)),
    Case("some_bytes_of_two_values_agree", ("and.b32 %r9, %r1, 255;", "st.shared.u32 [%r3], %r9;"), "race", ((1, 1),)),
    Case("atomics", ("red.shared.add.u32 [%r3], %r1;", "atom.shared.max.u32 %r9, [%r3], %r1;"), "free"),
    Case("atomic_and_plain", ("red.shared.add.u32 [%r3], %r1;", "ld.shared.u32 %r9, [%r3];"), "race", ((0, 1),)),
    Case(
        "atomics_of_two_sizes", ("red.shared.add.u32 [%r3], %r1;", "red.shared.add.u64 [%r3], %d1;"), "race", ((0, 1),)
    ),
    Case(
        "bytes_side_by_side",
        ("add.u32 %r9, %r3, %r1;", "st.shared.u8 [%r9], %r1;", "ld.shared.u8 %r10, [%r9];"),
        "free",
    ),
    Case(
        "a_word_of_bytes",
        ("add.u32 %r9, %r3, %r1;", "st.shared.u8 [%r9], %r1;", "ld.shared.u32 %r10, [%r3];"),
        "race",
        ((1, 2),),
    ),
    Case("early_return", ("@%p1 ret;", ST, BAR, LD), "free"),
    Case("early_return_after_a_touch", (ST, "@%p1 ret;", BAR, OTHER), "free"),
    Case("half_a_warp_skips_the_barrier", (ST, "@!%p1 bra A;", BAR, "A:", LD), "divergent-barrier", ((0, 4),)),
    Case("a_warp_skips_the_barrier", (ST, "@!%p2 bra A;", BAR, "A:", LD), "divergent-barrier", ((0, 4),)),
    Case("two_barriers_meet", (ST, "@%p2 bra A;", BAR, "bra B;", "A:", BAR, "B:", LD), "divergent-barrier"),
    Case(
        "half_a_warp_skips_barriers_in_a_loop",
        (*AGAIN[:2], ST, "@!%p3 bar.sync 0;", OWN, *AGAIN[2:]),
        "divergent-barrier",
    ),
    Case("early_return_from_a_loop", (*AGAIN[:2], ST, BAR, LD, BAR, "@%p1 ret;", *AGAIN[2:]), "free"),
    Case("loop_without_the_second_barrier", (*AGAIN[:2], ST, BAR, LD, *AGAIN[2:]), "race", ((2, 4),)),
    Case("loop_with_two_barriers", (*AGAIN[:2], ST, BAR, LD, BAR, *AGAIN[2:]), "free"),
    Case(
        "two_buffers_by_xor",
        (*AGAIN[:2], ST, BAR, LD, "xor.b32 %r4, %r4, 2048; xor.b32 %r5, %r5, 2048;", *AGAIN[2:]),
        "free",
    ),
    Case("copy_before_its_wait", (COPY, COMMIT, OWN, WAIT0), "race", ((0, 2),)),
    Case("copy_of_its_own_thread", (COPY, COMMIT, WAIT0, OWN), "free"),
    Case("copy_of_another_thread", (COPY, COMMIT, WAIT0, LD), "race", ((0, 3),)),
    Case("copy_and_barrier", (COPY, COMMIT, WAIT0, BAR, LD), "free"),
    Case("copy_waited_for_behind_the_barrier", (COPY, COMMIT, BAR, WAIT0, LD), "race", ((0, 4),)),
    Case("copy_and_wait_all", (COPY, "cp.async.wait_all;", BAR, LD), "free"),
    Case("copy_in_no_group", (COPY, WAIT0, BAR, LD), "race", ((0, 3),)),
    Case("copy_of_the_last_group", (COPY, COMMIT, WAIT1, BAR, LD), "race", ((0, 4),)),
    Case("copy_of_the_group_before", (COPY, COMMIT, COMMIT, WAIT1, BAR, LD), "free"),
    Case("two_copies_of_one_thread", (COPY, COPY, "cp.async.wait_all;"), "race-benign", ((0, 1),)),
    Case("write_before_the_copy", (ST, COPY, "cp.async.wait_all;", BAR, LD), "free"),
    Case("write_after_the_copy", (COPY, ST, "cp.async.wait_all;", BAR, LD), "race", ((0, 1),)),
    Case(
        "arrival_of_another_warp",
        ("@%p2 bra A;", ST, "bar.arrive 1, 64;", "bra B;", "A: bar.sync 1, 64;", OTHER, "B:"),
        "free",
    ),
    Case(
        "arrival_orders_one_way",
        ("@%p2 bra A;", "bar.arrive 1, 64;", ST, "bra B;", "A: bar.sync 1, 64;", OTHER, "B:"),
        "race",
        ((2, 5),),
    ),
    Case(
        "rows_of_matrices",
        (
            ST,
            BAR,
            "shl.b32 %r9, %r8, 4; add.u32 %r9, %r9, %r3;",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];",
        ),
        "free",
    ),
    Case(
        "rows_without_a_barrier",
        (ST, "shl.b32 %r9, %r8, 4; add.u32 %r9, %r9, %r3;", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r9];"),
        "race",
        ((0, 2),),
    ),
)

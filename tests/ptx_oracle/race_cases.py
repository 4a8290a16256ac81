"""Small kernels with what section 10 of docs/semantics.md says of them, for blocks of 64 threads.

No verdict depends on the parameter.
"""

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


def two_places(first: str, second: str, condition: str = "%p2") -> tuple[str, ...]:
    """Two arms with a barrier in each; the second one is line 3 of these."""
    return (f"@{condition} bra A;", first, "bra B;", f"A: {second}", "B:")


CASES: tuple[Case, ...] = (
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
    Case("two_places_of_one_number", (ST, *two_places("bar.sync 15;", "bar.sync 15;"), OTHER), "free"),
    Case("two_places_of_one_count", (ST, *two_places("bar.sync 15, 64;", "bar.sync 15, 64;"), OTHER), "free"),
    Case("two_places_of_number_0", (ST, *two_places("bar.sync 0;", "bar.sync 0;"), OTHER), "divergent-barrier"),
    Case("two_places_of_number_0_with_a_count", (ST, *two_places("bar.sync 0, 64;", "bar.sync 0, 64;"), OTHER), "free"),
    Case(
        "two_places_and_a_load_too_early",
        (ST, *two_places("bar.sync 15;", OTHER + " bar.sync 15;")),
        "race",
        ((0, 4),),
    ),
    Case(
        "two_places_in_one_warp",
        (ST, *two_places("bar.sync 15;", "bar.sync 15;", "%p3"), OTHER),
        "divergent-barrier",
    ),
    Case(
        "two_places_in_one_warp_with_a_count",
        (ST, *two_places("bar.sync 15, 64;", "bar.sync 15, 64;", "%p3"), OTHER),
        "divergent-barrier",
    ),
    Case("warp_barrier", (ST, WARP, LD), "free"),
    Case("warp_barrier_and_two_warps", (ST, WARP, OTHER), "race", ((0, 2),)),
    Case("warp_barrier_of_half_a_warp", ("@%p3 bra E;", ST, "bar.warp.sync 65535;", LD, "E:"), "free"),
    Case("warp_barrier_and_lanes_that_return", (ST, "@%p3 bra E;", WARP, LD, "E:"), "free"),
    Case(
        "warp_barrier_and_lanes_that_return_later",
        (ST, "@%p3 bra A;", WARP, LD, "ret;", "A: add.u32 %r9, %r9, 1;", "add.u32 %r9, %r9, 1;"),
        "free",
    ),
    Case("warp_barrier_that_lanes_skip", (ST, "@%p3 bra E;", WARP, LD, "E:", OWN), "divergent-barrier"),
    Case(
        "warp_barrier_before_another_barrier",
        ("@%p3 bra E;", WARP, "E:", BAR),
        "divergent-barrier",
    ),
    Case(
        "warp_barriers_of_two_arms",
        (ST, "@%p3 bra A;", WARP, "bra B;", "A:", WARP, "B: xor.b32 %r7, %r4, 64;", "ld.shared.u32 %r9, [%r7];"),
        "free",
    ),
    Case(
        "warp_barriers_with_two_masks",
        (ST, "@%p3 bra A;", WARP, "bra B;", "A: bar.warp.sync -2;", "B:"),
        "divergent-barrier",
    ),
    Case(
        "warp_barrier_waits_for_a_slow_arm",
        ("@!%p3 bra B;", ST, "B:", WARP, "xor.b32 %r7, %r4, 64;", "ld.shared.u32 %r9, [%r7];"),
        "free",
    ),
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
    Case(
        "a_warp_skips_the_barrier_before_a_loop",
        ("@%p2 bra A;", BAR, "A: ", *AGAIN[:2], ST, *AGAIN[2:]),
        "divergent-barrier",
    ),
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


def _loop(*body: str, trips: str = "4", counter: int = 20, label: str = "L") -> tuple[str, ...]:
    """A counted loop around lines; the first of them is at place 2."""
    again = f"add.u32 %r{counter}, %r{counter}, 1; setp.lt.u32 %p5, %r{counter}, {trips};"
    return (f"mov.u32 %r{counter}, 0;", f"{label}: ", *body, again, f"@%p5 bra {label};")


def _stage(into: str, number: str, stages: int, word: str) -> str:
    """The address of a word in the stage that a number gives."""
    return f"rem.u32 %r30, {number}, {stages}; shl.b32 %r30, %r30, 8; add.u32 {into}, {word}, %r30;"


SWAP = "mov.u32 %r33, %r31; mov.u32 %r31, %r32; mov.u32 %r32, %r33;"
ARRAYS = "mov.u32 %r31, 0; mov.u32 %r32, 1024;"
CURRENT = "add.u32 %r34, %r4, %r31; add.u32 %r35, %r6, %r31; add.u32 %r36, %r6, %r32;"
WARPS = "shr.u32 %r7, %r1, 5; add.u32 %r21, %r7, 1; sub.u32 %r22, 2, %r7;"

TRAPS = (
    Case(
        "pointers_swapped",
        (ARRAYS, *_loop(CURRENT, "st.shared.u32 [%r34], %r1;", BAR, "ld.shared.u32 %r9, [%r35];", SWAP)),
        "free",
    ),
    # The symbol in the address is one, and the array is another one in every second trip.
    Case(
        "pointers_swapped_too_early",
        (ARRAYS, *_loop(CURRENT, "st.shared.u32 [%r34], %r1;", BAR, "ld.shared.u32 %r9, [%r36];", SWAP)),
        "race",
        ((4, 6),),
    ),
    # The first lane's number is one value in a warp and not in the block.
    Case(
        "a_shuffle_in_the_address",
        (
            "shfl.sync.idx.b32 %r30, %r4, 0, 31, -1;",
            "sub.u32 %r31, %r4, %r30; add.u32 %r31, %r31, %r3;",
            "st.shared.u32 [%r31], %r1;",
        ),
        "race",
        ((2, 2),),
    ),
    Case(
        "a_shuffle_in_another_address",
        (
            "shfl.sync.idx.b32 %r30, %r1, 0, 31, -1;",
            "add.u32 %r31, %r4, %r30; add.u32 %r31, %r31, %r30;",
            "st.shared.u32 [%r31], %r1;",
        ),
        "free",
    ),
    Case(
        "trips_without_a_barrier",
        _loop(
            "add.u32 %r30, %r1, %r20; and.b32 %r30, %r30, 63; shl.b32 %r30, %r30, 2; add.u32 %r30, %r30, %r3;",
            "st.shared.u32 [%r30], %r1;",
        ),
        "race",
        ((3, 3),),
    ),
    # Warp 0 makes one trip outside and two inside, warp 1 two outside and one in each.
    Case(
        "trips_that_add_up",
        (
            WARPS,
            *_loop(
                *_loop("mad.lo.u32 %r30, %r23, 256, %r6;", "st.shared.u32 [%r30], %r1;", BAR, trips="%r22"),
                trips="%r21",
                counter=23,
                label="O",
            ),
        ),
        "free",
    ),
    Case(
        "trips_that_add_up_and_meet",
        (
            WARPS,
            *_loop(
                *_loop(
                    "and.b32 %r30, %r8, 1; add.u32 %r30, %r30, %r21;",
                    "add.u32 %r30, %r30, %r23; mad.lo.u32 %r30, %r30, 4, %r3;",
                    "st.shared.u32 [%r30], %r1;",
                    BAR,
                    trips="%r22",
                ),
                trips="%r21",
                counter=23,
                label="O",
            ),
        ),
        "race",
        ((7, 7),),
    ),
    Case(
        "ring_of_three",
        _loop(
            _stage("%r31", "%r20", 3, "%r4"),
            "st.shared.u32 [%r31], %r1;",
            BAR,
            _stage("%r31", "%r20", 3, "%r6"),
            "ld.shared.u32 %r9, [%r31];",
        ),
        "free",
    ),
    Case(
        "ring_of_two",
        _loop(
            _stage("%r31", "%r20", 2, "%r4"),
            "st.shared.u32 [%r31], %r1;",
            BAR,
            _stage("%r31", "%r20", 2, "%r6"),
            "ld.shared.u32 %r9, [%r31];",
        ),
        "free",
    ),
    Case(
        "ring_of_two_read_late",
        _loop(
            _stage("%r31", "%r20", 2, "%r4"),
            "st.shared.u32 [%r31], %r1;",
            BAR,
            "add.u32 %r37, %r20, 1;",
            _stage("%r31", "%r37", 2, "%r6"),
            "ld.shared.u32 %r9, [%r31];",
        ),
        "race",
        ((3, 7),),
    ),
    # Who has left the loop and who has not would meet, but all leave in one trip.
    Case("leaving_a_loop_together", (*_loop(ST, BAR, OTHER, BAR), "st.shared.u32 [%r6], %r1;"), "free"),
    Case(
        "leaving_a_loop_one_by_one",
        (*_loop("st.shared.u32 [%r4], %r1;", trips="%r8"), "st.shared.u32 [%r6], %r1;"),
        "race",
        ((2, 5),),
    ),
    Case(
        "a_flag_in_shared_memory",
        (
            "@!%p2 st.shared.u32 [%r3+4096], 3;",
            BAR,
            "ld.shared.u32 %r30, [%r3+4096]; setp.gt.u32 %p6, %r30, 2;",
            "@%p6 bra A;",
            ST,
            BAR,
            "A:",
            "st.shared.u32 [%r4+512], %r1;",
            BAR,
            "ld.shared.u32 %r9, [%r6+512];",
        ),
        "race-benign",
        ((0, 0),),
    ),
    Case(
        "a_flag_of_one_thread",
        (
            "setp.eq.u32 %p6, %r1, 0; @%p6 st.shared.u32 [%r3+4096], 3;",
            BAR,
            "ld.shared.u32 %r30, [%r3+4096]; setp.gt.u32 %p6, %r30, 2;",
            "@%p6 bra A;",
            ST,
            BAR,
            "A:",
            "st.shared.u32 [%r4+512], %r1;",
            BAR,
            "ld.shared.u32 %r9, [%r6+512];",
        ),
        "free",
    ),
    Case(
        "a_flag_without_a_barrier",
        (
            "setp.eq.u32 %p6, %r1, 0; @%p6 st.shared.u32 [%r3+4096], 3;",
            "ld.shared.u32 %r30, [%r3+4096]; setp.gt.u32 %p6, %r30, 9;",
            "@%p6 bra A;",
            ST,
            "A:",
        ),
        "race",
        ((0, 1),),
    ),
    Case(
        "a_tree_of_neighbours",
        (
            ST,
            BAR,
            "mov.u32 %r20, 1;",
            "L:",
            "shl.b32 %r30, %r20, 1; add.u32 %r31, %r30, -1; and.b32 %r31, %r31, %r1; setp.eq.u32 %p6, %r31, 0;",
            "shl.b32 %r32, %r20, 2; add.u32 %r32, %r32, %r4; @%p6 ld.shared.u32 %r9, [%r32];",
            "@%p6 st.shared.u32 [%r4], %r9;",
            BAR,
            "shl.b32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 64;",
            "@%p5 bra L;",
        ),
        "free",
    ),
    Case(
        "a_tree_without_barriers",
        (
            ST,
            BAR,
            "mov.u32 %r20, 1;",
            "L:",
            "shl.b32 %r30, %r20, 1; add.u32 %r31, %r30, -1; and.b32 %r31, %r31, %r1; setp.eq.u32 %p6, %r31, 0;",
            "shl.b32 %r32, %r20, 2; add.u32 %r32, %r32, %r4; @%p6 ld.shared.u32 %r9, [%r32];",
            "@%p6 st.shared.u32 [%r4], %r9;",
            "shl.b32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 64;",
            "@%p5 bra L;",
        ),
        "race",
        ((5, 6),),
    ),
)
"""What a check can get wrong: arrays by their symbols, values of a warp, trips, conditions that the block shares."""

CASES += TRAPS

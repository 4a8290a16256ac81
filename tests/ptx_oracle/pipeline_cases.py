"""Small kernels with what section 11 of docs/semantics.md says of them, for blocks of 64 threads."""

from __future__ import annotations

from .race_cases import BAR, COMMIT, COPY, LD, OTHER, ST, WAIT0, WARP, Case

INIT = "@%p8 mbarrier.init.shared.b64 [%r3+4096], {};"
"""Thread 0 makes an mbarrier."""
FIRST_THREAD = "setp.eq.u32 %p8, %r1, 0;"
ARRIVE = "mbarrier.arrive.shared.b64 _, [%r3+4096];"
WAIT = ("W: mbarrier.try_wait.parity.shared.b64 %p7, [%r3+4096], {};", "@!%p7 bra W;")
INVAL = "@%p8 mbarrier.inval.shared.b64 [%r3+4096];"
EXPECT = "@%p8 mbarrier.arrive.expect_tx.shared.b64 _, [%r3+4096], {};"
LOAD = "@%p8 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 256, [%r3+4096];"
STORE = "@%p8 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256;"
BULK_COMMIT, BULK_WAIT = "cp.async.bulk.commit_group;", "cp.async.bulk.wait_group.read 0;"
PROXY = "fence.proxy.async.shared::cta;"
ROLES = "@%p2 bra A;"


def made(count: int) -> tuple[str, ...]:
    """An mbarrier that expects so many arrivals, made before the block begins."""
    return (FIRST_THREAD, INIT.format(count), BAR)


def wait(parity: int | str) -> tuple[str, ...]:
    """A loop that waits for a parity."""
    return (WAIT[0].format(parity), WAIT[1])


USED = (*made(64), ST, ARRIVE, *wait(0), LD)
"""All threads arrive at an mbarrier and wait for it."""
AGAIN = tuple(each.replace("W", "V") for each in wait(0))
STORE_IN_IT = "setp.eq.u32 %p6, %r1, 40; @%p6 st.shared.u32 [%r3+4096], 0;"
"""Thread 40 stores where the mbarrier was."""


def flag(store: str, load: str, before: str = WARP, after: str = "", made_of: str = "st.shared") -> tuple[str, ...]:
    """Warp 0 stores and sets a flag, and warp 1 waits for the flag and loads."""
    start = (FIRST_THREAD, f"@%p8 {made_of}.u32 [%r3+4096], 0;", BAR, ROLES)
    spin = (f"A: {load} %r9, [%r3+4096];", "setp.eq.u32 %p6, %r9, 0;", "@%p6 bra A;", after)
    return (*start, ST, before, f"@%p8 {store} [%r3+4096], 1;", "bra B;", *spin, OTHER, "B:")


CLUSTER_ARRIVE, CLUSTER_WAIT = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
CLUSTER_RELAXED = "barrier.cluster.arrive.relaxed.aligned;"
INITS = "fence.mbarrier_init.release.cluster;"
FIRST_HALF = LOAD.replace("256", "128")
HALF = "setp.eq.u32 %p6, %r1, 32; @%p6 " + FIRST_HALF.removeprefix("@%p8 ").replace("[%r3],", "[%r3+128],")
"""The first thread of the other warp copies what the first one does not."""

CASES: tuple[Case, ...] = (
    # The barrier of a cluster.
    Case("cluster_barrier", (ST, CLUSTER_ARRIVE, CLUSTER_WAIT, OTHER), "free"),
    Case("a_store_behind_the_arrival", (CLUSTER_ARRIVE, ST, CLUSTER_WAIT, OTHER), "race", ((1, 3),)),
    Case("a_load_before_the_wait", (ST, CLUSTER_ARRIVE, OTHER, CLUSTER_WAIT), "race", ((0, 2),)),
    Case("no_wait_in_the_cluster", (ST, CLUSTER_ARRIVE, OTHER), "race", ((0, 2),)),
    Case("a_relaxed_arrival", (ST, CLUSTER_RELAXED, CLUSTER_WAIT, OTHER), "race", ((0, 3),)),
    Case(
        "two_phases_in_the_cluster",
        (*(ST, CLUSTER_ARRIVE, CLUSTER_WAIT, OTHER, CLUSTER_ARRIVE, CLUSTER_WAIT), ST),
        "free",
    ),
    Case(
        "objects_behind_a_relaxed_arrival",
        (FIRST_THREAD, INIT.format(64), INITS, CLUSTER_RELAXED, CLUSTER_WAIT, ST, ARRIVE, *wait(0), OTHER),
        "free",
    ),
    Case(
        "objects_without_their_fence",
        (FIRST_THREAD, INIT.format(64), CLUSTER_RELAXED, CLUSTER_WAIT, ST, ARRIVE, *wait(0), OTHER),
        "race",
        ((1, 5), (1, 6)),
    ),
    # Copies of two threads to one object.
    Case("two_threads_copy", (*made(1), EXPECT.format(256), BAR, FIRST_HALF, HALF, *wait(0), OTHER), "free"),
    Case(
        "two_threads_copy_over_a_read",
        (*made(1), LD, EXPECT.format(256), FIRST_HALF, HALF, *wait(0)),
        "race",
        ((3, 5), (3, 6)),
    ),
    Case(
        "two_threads_copy_and_one_is_not_expected",
        (*made(1), EXPECT.format(128), BAR, FIRST_HALF, HALF, *wait(0), OTHER),
        "race",
        ((6, 9),),
    ),
    # Named barriers.
    Case("two_named_barriers", (ST, ROLES, "bar.sync 1, 32;", LD, "bra B;", "A: bar.sync 2, 32;", LD, "B:"), "free"),
    Case("named_barrier_of_one_warp", (ST, "bar.sync 1, 32;", LD), "free"),
    Case(
        "named_barriers_with_two_ids",
        (ROLES, ST, "bar.arrive 1, 64;", "bra B;", "A: bar.sync 2, 32;", OTHER, "B:"),
        "race",
        ((1, 5),),
    ),
    Case("an_arrival_lacks", (ROLES, ST, "bra B;", "A: bar.sync 1, 64;", OTHER, "B:"), "deadlock"),
    Case(
        "two_barriers_crosswise",
        (ROLES, "bar.sync 1, 64;", "bar.sync 2, 64;", "bra B;", "A: bar.sync 2, 64;", "bar.sync 1, 64;", "B:"),
        "deadlock",
    ),
    Case(
        "id_in_a_register",
        (ROLES, ST, "mov.u32 %r9, 3; bar.arrive %r9, 64;", "bra B;", "A: bar.sync 3, 64;", OTHER, "B:"),
        "free",
    ),
    Case(
        "two_ids_in_a_register",
        (
            ST,
            "shr.u32 %r9, %r1, 5; xor.b32 %r10, %r9, 1; bar.arrive %r10, 64;",
            "bar.sync %r9, 64;",
            OTHER,
        ),
        "free",
    ),
    Case(
        "another_number_of_threads",
        (ROLES, "bar.arrive 1, 64;", "bra B;", "A: bar.arrive 1, 96;", "B:"),
        "divergent-barrier",
    ),
    # mbarriers.
    Case("mbarrier_of_all", (*made(64), ST, ARRIVE, *wait(0), LD), "free"),
    Case(
        "mbarrier_before_its_init", (FIRST_THREAD, INIT.format(64), ST, ARRIVE, *wait(0), LD), "race", ((1, 3), (1, 4))
    ),
    Case("phase_of_the_other_parity", (*made(64), ST, ARRIVE, *wait(1), LD), "deadlock"),
    Case("phase_before_the_first", (*made(64), ST, *wait(1), LD), "race", ((3, 6),)),
    Case("only_the_lowest_bit_of_a_parity", (*made(64), "mov.u32 %r9, 2;", ST, ARRIVE, *wait("%r9"), LD), "free"),
    Case("lowest_bit_of_the_other_parity", (*made(64), "mov.u32 %r9, 3;", ST, *wait("%r9"), LD), "race", ((4, 7),)),
    Case("one_arrival_too_few", (*made(65), ST, ARRIVE, *wait(0), LD), "deadlock"),
    Case(
        "one_arrival_is_not_waited_for", (*made(63), "@%p8 bra B;", ST, ARRIVE, *wait(0), "B:", LD), "race", ((4, 9),)
    ),
    Case("arrival_before_the_write", (*made(64), ARRIVE, ST, *wait(0), LD), "race", ((4, 7),)),
    Case(
        "relaxed_arrivals",
        (*made(64), ST, ARRIVE.replace("arrive", "arrive.relaxed.cta"), *wait(0), LD),
        "race",
        ((3, 7),),
    ),
    Case(
        "relaxed_wait",
        (*made(64), ST, ARRIVE, WAIT[0].format(0).replace("parity", "parity.relaxed.cta"), WAIT[1], LD),
        "race",
        ((3, 7),),
    ),
    Case(
        "elected_arrival",
        (*made(1), ROLES, ST, WARP, f"@%p8 {ARRIVE}", "bra B;", "A:", *wait(0), OTHER, "B:"),
        "free",
    ),
    Case(
        "elected_arrival_without_a_warp_barrier",
        (*made(1), ROLES, ST, f"@%p8 {ARRIVE}", "bra B;", "A:", *wait(0), OTHER, "B:"),
        "race",
        ((4, 10),),
    ),
    Case(
        "elected_wait",
        (*made(64), ST, ARRIVE, "@%p3 bra C;", *wait(0), "C:", WARP, LD),
        "free",
    ),
    Case(
        "elected_wait_without_a_warp_barrier",
        (*made(64), ST, ARRIVE, "@%p3 bra C;", *wait(0), "C:", LD),
        "race",
        ((3, 9),),
    ),
    Case(
        "arrival_with_a_count",
        (
            *made(64),
            ROLES,
            ST,
            WARP,
            "@%p8 mbarrier.arrive.shared.b64 _, [%r3+4096], 64;",
            "bra B;",
            "A:",
            *wait(0),
            OTHER,
            "B:",
        ),
        "free",
    ),
    Case(
        "wait_by_state",
        (
            *made(64),
            ST,
            "mbarrier.arrive.shared.b64 %d2, [%r3+4096];",
            "W: mbarrier.test_wait.shared.b64 %p7, [%r3+4096], %d2;",
            "@!%p7 bra W;",
            LD,
        ),
        "free",
    ),
    # The end of an mbarrier.
    Case("inval_behind_a_barrier", (*USED, BAR, INVAL), "free"),
    Case("inval_without_a_barrier", (*USED, INVAL), "race", ((5, 8),)),
    Case("inval_before_the_wait", (*made(64), ST, ARRIVE, INVAL, *wait(0), LD), "divergent-barrier", ((4, 5), (5, 6))),
    Case("arrival_behind_inval", (*USED, BAR, INVAL, BAR, ARRIVE), "divergent-barrier"),
    Case("wait_behind_inval", (*USED, BAR, INVAL, BAR, *AGAIN), "divergent-barrier"),
    Case("inval_twice", (*USED, BAR, INVAL, INVAL), "divergent-barrier"),
    Case("init_behind_inval", (*USED, BAR, INVAL, INIT.format(64), BAR, ST, ARRIVE, *AGAIN, LD), "free"),
    Case("init_behind_inval_too_late", (*USED, BAR, INVAL, BAR, INIT.format(64), ARRIVE), "race", ((11, 12),)),
    Case("store_behind_inval", (*USED, BAR, INVAL, BAR, STORE_IN_IT), "free"),
    Case("store_behind_inval_without_a_barrier", (*USED, BAR, INVAL, STORE_IN_IT), "race", ((9, 10),)),
    Case("inval_of_a_copy_in_flight", (*made(1), EXPECT.format(256), LOAD, INVAL), "race", ((4, 5),)),
    Case("inval_behind_a_copy", (*made(1), EXPECT.format(256), LOAD, *wait(0), BAR, INVAL), "free"),
    # Small copies.
    Case(
        "copies_that_arrive",
        (*made(64), COPY, "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3+4096];", *wait(0), LD),
        "free",
    ),
    Case(
        "copies_that_count_themselves",
        (*made(64), COPY, "cp.async.mbarrier.arrive.shared.b64 [%r3+4096];", ARRIVE, *wait(0), LD),
        "free",
    ),
    Case("copies_behind_an_arrival", (*made(64), COPY, ARRIVE, *wait(0), LD), "race", ((3, 7),)),
    Case(
        "writes_behind_copies_that_arrive",
        (
            *made(64),
            ST,
            COPY.replace("%r4", "%r4+1024"),
            "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3+4096];",
            *wait(0),
            LD,
        ),
        "race",
        ((3, 8),),
    ),
    # Bulk copies.
    Case("bulk_load", (*made(1), EXPECT.format(256), LOAD, *wait(0), LD), "free"),
    Case("bulk_load_not_waited_for", (*made(1), EXPECT.format(256), LOAD, LD), "race", ((4, 5),)),
    Case("bulk_load_without_its_bytes", (*made(1), f"@%p8 {ARRIVE}", LOAD, *wait(0), LD), "race", ((4, 7),)),
    Case("more_bytes_than_copied", (*made(1), EXPECT.format(512), LOAD, *wait(0), LD), "deadlock"),
    Case("bulk_load_over_a_read", (*made(1), LD, EXPECT.format(256), LOAD, *wait(0)), "race", ((3, 5),)),
    Case("bulk_load_behind_reads", (*made(1), LD, BAR, EXPECT.format(256), LOAD, *wait(0)), "free"),
    Case("bulk_load_behind_writes", (*made(1), ST, BAR, EXPECT.format(256), LOAD, *wait(0)), "race", ((3, 6),)),
    Case("bulk_load_behind_fenced_writes", (*made(1), ST, PROXY, BAR, EXPECT.format(256), LOAD, *wait(0)), "free"),
    Case("bulk_store", (FIRST_THREAD, ST, PROXY, BAR, STORE, BULK_COMMIT, BULK_WAIT, BAR, ST), "free"),
    Case("bulk_store_without_a_fence", (FIRST_THREAD, ST, BAR, STORE, BULK_COMMIT, BULK_WAIT), "race", ((1, 3),)),
    Case("fence_of_the_thread_that_stores", (FIRST_THREAD, ST, BAR, PROXY, STORE), "free"),
    Case("fence_before_the_write", (FIRST_THREAD, PROXY, ST, BAR, STORE), "race", ((2, 4),)),
    Case("fence_of_global_memory", (FIRST_THREAD, ST, "fence.proxy.async.global;", BAR, STORE), "race", ((1, 4),)),
    Case("bulk_store_still_reads", (FIRST_THREAD, ST, PROXY, BAR, STORE, BULK_COMMIT, BAR, ST), "race", ((4, 7),)),
    Case(
        "bulk_wait_of_another_thread",
        (FIRST_THREAD, ST, PROXY, BAR, STORE, BULK_COMMIT, "@%p2 cp.async.bulk.wait_group.read 0;", BAR, ST),
        "race",
        ((4, 8),),
    ),
    Case(
        "bulk_wait_without_a_barrier",
        (FIRST_THREAD, ST, PROXY, BAR, STORE, BULK_COMMIT, BULK_WAIT, ST),
        "race",
        ((4, 7),),
    ),
    Case(
        "bulk_group_too_many",
        (FIRST_THREAD, ST, PROXY, BAR, STORE, BULK_COMMIT, "cp.async.bulk.wait_group.read 1;", BAR, ST),
        "race",
        ((4, 8),),
    ),
    Case(
        "small_group_for_a_bulk_copy",
        (FIRST_THREAD, ST, PROXY, BAR, STORE, COMMIT, WAIT0, BULK_COMMIT, BAR, ST),
        "race",
        ((4, 9),),
    ),
    Case("bulk_load_then_bulk_store", (*made(1), EXPECT.format(256), LOAD, *wait(0), STORE), "free"),
    # Release and acquire.
    Case("released_flag", flag("st.release.cta.shared.u32", "ld.acquire.cta.shared.u32"), "free"),
    Case(
        "released_flag_without_a_warp_barrier",
        flag("st.release.cta.shared.u32", "ld.acquire.cta.shared.u32", before=""),
        "race",
        ((4, 12),),
    ),
    Case("relaxed_flag", flag("st.relaxed.cta.shared.u32", "ld.acquire.cta.shared.u32"), "race", ((4, 12),)),
    Case(
        "flag_that_is_not_acquired", flag("st.release.cta.shared.u32", "ld.relaxed.cta.shared.u32"), "race", ((4, 12),)
    ),
    Case(
        "flag_with_fences",
        flag(
            "st.relaxed.cta.shared.u32",
            "ld.relaxed.cta.shared.u32",
            before=WARP + " fence.acq_rel.cta;",
            after="membar.cta;",
        ),
        "free",
    ),
    Case("weak_flag", flag("st.shared.u32", "ld.acquire.cta.shared.u32"), "race", ((4, 12), (6, 8))),
    Case(
        "a_lock",
        (
            "L: atom.shared.cas.b32 %r9, [%r3+4096], 0, 1;",
            "setp.ne.u32 %p6, %r9, 0;",
            "@%p6 bra L;",
            "membar.cta;",
            "ld.shared.u32 %r10, [%r3];",
            "st.shared.u32 [%r3], %r10;",
            "membar.cta;",
            "atom.shared.exch.b32 %r9, [%r3+4096], 0;",
        ),
        "free",
    ),
    Case("strong_and_weak_reads", (LD, "ld.relaxed.cta.shared.u32 %r9, [%r6];", LD), "free"),
    Case(
        "strong_reads_of_other_sizes_than_an_atomic",
        ("ld.relaxed.cta.shared.u16 %r9, [%r3];", "atom.shared.add.u32 %r9, [%r3], 1;"),
        "race",
        ((0, 1),),
    ),
    Case("an_atomic_counter_releases_nothing", (ST, "atom.shared.add.u32 %r9, [%r3+4096], 1;", LD), "race", ((0, 2),)),
    # Masks.
    Case(
        "mask_of_two_lanes",
        ("shl.b32 %r9, 3, %r8;", ST, "and.b32 %r10, %r8, 30; shl.b32 %r10, 3, %r10;", "bar.warp.sync %r10;", LD),
        "free",
    ),
    Case(
        "mask_without_the_writer",
        (ST, "@%p3 bra A;", "bar.warp.sync 65535;", "A: xor.b32 %r7, %r4, 64;", "ld.shared.u32 %r9, [%r7];"),
        "race",
        ((0, 4),),
    ),
)

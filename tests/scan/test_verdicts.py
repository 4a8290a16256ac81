"""Verdicts on small kernels, each with one thing in it."""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import asker, synchronizations
from swzverify.compiled.scan.verdict import FAULTS
from swzverify.engines.obligations import Answer, Finding
from swzverify.hardware import find_instruction
from tests.scan.texts import DATA, GUARDED, SKEWED, last, scanned, strided, text_of, verdict

pytestmark = pytest.mark.usefixtures("without_trials")

LOADED = "cvta.to.global.u64 %d2, %d3; ld.param.u64 %d4, [q]; cvta.to.global.u64 %d4, %d4; "
OF_LANE = LOADED + "mul.wide.u32 %d5, %r1, 4; add.u64 %d1, %d4, %d5; "


def test_words_in_a_row_are_free() -> None:
    assert verdict(strided(4)) == ("free", 1)


@pytest.mark.parametrize(("factor", "ways"), [(8, 2), (12, 1), (16, 4), (64, 16), (128, 32), (132, 1), (136, 2)])
def test_a_stride_has_its_ways(factor: int, ways: int) -> None:
    assert verdict(strided(factor)) == ("conflict" if ways > 1 else "free", ways)


def test_one_word_for_all_is_free() -> None:
    assert verdict("ld.shared.u32 %r30, [%r3];") == ("free", 1)


@pytest.mark.parametrize(("factor", "ways"), [(16, 1), (32, 2), (128, 8), (144, 1)])
def test_wide_loads_go_in_groups_of_eight(factor: int, ways: int) -> None:
    access = "ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];"
    assert verdict(strided(factor, access)) == ("conflict" if ways > 1 else "free", ways)


def test_a_free_access_takes_as_many_wavefronts_as_lanes_that_may_come_have_groups() -> None:
    """Samples of data let fewer lanes through than a launch may: an H100 counted 4 where 3 were told."""
    far = "mul.lo.u32 %r10, %r1, %r2; shr.u32 %r10, %r10, 31; shl.b32 %r10, %r10, 10;"
    some = "ld.global.u32 %r13, [%d1]; and.b32 %r13, %r13, 63; setp.eq.u32 %p1, %r13, 5;"
    access = "add.u32 %r20, %r20, %r10; @%p1 ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];"
    decision = last(f"{far} {some} {strided(16, access)}").decision
    assert (decision.verdict.value, decision.wavefronts, decision.minimum) == ("free", 4, 4)


@pytest.mark.parametrize(("factor", "ways"), [(8, 1), (16, 2), (128, 16)])
def test_loads_of_8_bytes_go_in_groups_of_16(factor: int, ways: int) -> None:
    assert verdict(strided(factor, "ld.shared.v2.u32 {%r30,%r31}, [%r20];"))[1] == ways


@pytest.mark.parametrize(("factor", "ways"), [(16, 1), (32, 2), (128, 8)])
def test_ldmatrix(factor: int, ways: int) -> None:
    access = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r20];"
    assert verdict(strided(factor, access))[1] == ways


@pytest.mark.parametrize(("factor", "ways"), [(16, 1), (32, 2), (128, 8)])
def test_modifiers_of_matrices_in_other_orders(factor: int, ways: int) -> None:
    for access in (
        "ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16 {%r30,%r31,%r32,%r33}, [%r20];",
        "ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r30,%r31,%r32,%r33}, [%r20];",
        "stmatrix.sync.aligned.x4.m8n8.shared.b16 [%r20], {%r30,%r31,%r32,%r33};",
        "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%r30,%r31,%r32,%r33}, [%r20];",
    ):
        assert verdict(strided(factor, access))[1] == ways, access


@pytest.mark.parametrize("size", ["16", "0x10", "020", "0b10000", "16U"])
def test_the_size_of_a_copy_in_any_base(size: str) -> None:
    copy = f"cp.async.ca.shared.global [%r20], [%d1], {size};"
    source = "ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2; "
    assert verdict(source + strided(16, copy))[0] == "free"


def test_addresses_that_no_matrix_reads_may_be_anything() -> None:
    """Lanes 8 to 31 give `ldmatrix.x1` no row; lanes from 8 on are one byte further per 8 lanes."""
    body = "shr.u32 %r5, %r1, 3; mad.lo.u32 %r20, %r1, 16, %r3; add.u32 %r20, %r20, %r5; "
    one, two = (
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r30,%r31}, [%r20];",
    )
    assert verdict(body + one, (32, 1, 1)) == ("free", 1)
    assert last(body + two, (32, 1, 1)).decision.reason == FAULTS
    apart = body.replace("%r1, 16", "%r1, 128")
    assert verdict(apart + one, (32, 1, 1)) == ("conflict", 8)


PAIRS = "shr.u32 %r20, %r1, 1; mad.lo.u32 %r20, %r20, 4, %r3;"
"""Two lanes to a word."""


def test_atomics_count_equal_words() -> None:
    assert verdict("red.shared.inc.u32 [%r3], %r2;") == ("conflict", 32)
    assert verdict(f"{PAIRS} red.shared.add.u32 [%r20], %r2;") == ("conflict", 2)
    assert verdict(strided(4, "red.shared.add.u32 [%r20], %r2;")) == ("free", 1)


@pytest.mark.parametrize("operation", ["min.u32", "max.s32", "and.b32", "xor.b32", "exch.b32", "inc.u32"])
def test_all_operations_on_words_cost_the_same(operation: str) -> None:
    assert verdict(strided(4, f"atom.shared.{operation} %r30, [%r20], %r2;")) == ("free", 1)
    assert verdict(strided(8, f"atom.shared.{operation} %r30, [%r20], %r2;")) == ("conflict", 2)


@pytest.mark.parametrize("order", ["relaxed.cta", "acquire.cta", "release", "acq_rel.gpu"])
def test_an_order_behind_the_operation_changes_nothing(order: str) -> None:
    assert verdict(strided(8, f"atom.shared.add.{order}.u32 %r30, [%r20], %r2;")) == ("conflict", 2)
    assert verdict(f"{PAIRS} atom.shared.add.{order}.u32 %r30, [%r20], 2;") == ("conflict", 2)
    # Before sm_90 ptxas adds one by one with an acquire.
    one = verdict(f"{PAIRS} atom.shared.add.{order}.u32 %r30, [%r20], 1;")
    assert one == (("unknown", None) if "acq" in order else ("free", 1))


def test_one_more_by_many_lanes_counts_once_where_its_result_is_unused() -> None:
    assert verdict("red.shared.add.u32 [%r3], 1;") == ("free", 1)
    assert verdict("atom.shared.add.u32 %r30, [%r3], 1;") == ("free", 1)
    assert verdict(f"{PAIRS} atom.shared.add.u32 %r30, [%r20], 2;") == ("conflict", 2)
    assert verdict(f"{PAIRS} red.shared.min.u32 [%r20], 1;") == ("conflict", 2)


def test_one_more_by_many_lanes_counts_where_its_result_is_used() -> None:
    used = "st.global.u32 [%d1], %r30;"
    assert (
        scanned(f"and.b32 %r20, %r1, 4; add.u32 %r20, %r20, %r3; atom.shared.add.u32 %r30, [%r20], 1; {used}")[
            0
        ].decision.ways
        == 16
    )
    assert scanned(f"atom.shared.add.u32 %r30, [%r3], 1; {used}")[0].decision.verdict == "unknown"


@pytest.mark.parametrize("operation", ["add.f32 %r30, [%r20], %r2", "cas.b32 %r30, [%r20], %r2, %r9"])
def test_atomics_that_run_in_parts(operation: str) -> None:
    for factor, ways in ((4, 1), (8, 2)):
        decision = last(strided(factor, f"atom.shared.{operation};")).decision
        assert (decision.ways, decision.wavefronts) == (ways, None)
        assert "several instructions" in decision.reason


def test_halves_of_words_share_them() -> None:
    assert verdict(strided(2, "ld.shared.u16 %h1, [%r20];")) == ("free", 1)


def test_of_narrow_accesses_what_is_shared_counts() -> None:
    """126 bytes apart: of one bank if what is shared is 2 modulo 4, else of two."""
    body = "shl.b32 %r5, %r2, 1; and.b32 %r6, %r1, 1; mad.lo.u32 %r7, %r6, 126, %r3; add.u32 %r20, %r7, %r5;"
    assert verdict(body + "ld.shared.u16 %h1, [%r20];")[0] != "free"


BYTES = ".shared .align 1 .b8 z[4096]; "
STRADDLING = (
    "mov.u32 %r4, z; and.b32 %r5, %r1, 1; mul.lo.u32 %r5, %r5, 127; add.u32 %r20, %r4, %r5; ld.shared.u8 %h1, [%r20];"
)
"""Bytes 0 and 127: of one bank where the array begins at 1 modulo 4, else of two."""


def test_an_array_of_bytes_may_begin_anywhere() -> None:
    place = "mov.u32 %r4, z; mul.lo.u32 %r5, %r1, {0}; add.u32 %r20, %r4, %r5; ld.shared.u8 %h1, [%r20];"
    assert verdict(place.format(1), outside=BYTES) == ("free", 1)
    assert verdict(place.format(128), outside=BYTES) == ("conflict", 32)
    assert verdict(STRADDLING, outside=BYTES)[0] in ("unknown", "depends")


def test_data_that_can_do_no_more_than_so_much() -> None:
    """Data choose one of 2 rows, in which 4 lanes of a warp have one column."""
    load = OF_LANE + "ld.global.u32 %r10, [%d1]; and.b32 %r10, %r10, 1; shl.b32 %r10, %r10, 7;"
    column = (
        "and.b32 %r11, %r1, 7; mad.lo.u32 %r11, %r11, 8, %r10; add.u32 %r20, %r3, %r11; ld.shared.u32 %r30, [%r20];"
    )
    decision = last(load + column).decision
    assert (decision.verdict.value, decision.ways, decision.at_least) == ("conflict", 2, False)
    assert "no data give more" in decision.reason


def test_data_of_one_place_are_not_free_to_differ() -> None:
    load = "ld.shared.u32 %r12, [%r3]; cvta.to.global.u64 %d4, %d3; mul.wide.u32 %d5, %r12, 4; add.u64 %d1, %d4, %d5;"
    load += "setp.lt.u32 %p1, %r1, 40; @%p1 bra J; bar.sync 0; J: ld.global.u32 %r10, [%d1];"
    mask = "and.b32 %r10, %r10, 15; shl.b32 %r10, %r10, 7; and.b32 %r11, %r1, 15;"
    use = "mad.lo.u32 %r11, %r11, 8, %r10; add.u32 %r20, %r3, %r11; ld.shared.u32 %r30, [%r20];"
    assert last(load + mask + use).decision.verdict != "conflict"


COUNTED = (
    "mov.u32 %r4, 0; mov.u32 %r5, %r1; L: {0} add.u32 %r5, %r5, 64; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r5, {1};"
    " @%p1 bra L;"
)
"""%r5 goes from tid.x in steps of 64; %r4 counts."""
STEPPED = "mul.lo.u32 %r6, %r4, %r4; shr.u32 %r6, %r6, 2; add.u32 %r6, %r6, 1; and.b32 %r6, %r6, 3;"
STEPPED += "mul.lo.u32 %r7, %r1, %r6; mad.lo.u32 %r20, %r7, 4, %r3; ld.shared.u32 %r30, [%r20];"
"""The word tid.x * (1 + trip * trip / 4 modulo 4): 2-way from trip 2 on."""


def test_trips_that_are_counted() -> None:
    assert verdict(COUNTED.format(STEPPED, 128)) == ("free", 1)
    assert verdict(COUNTED.format(STEPPED, 192))[0] != "free"


@pytest.mark.parametrize(("trips", "ways"), [(1, 1), (2, 2), (3, 4)])
def test_behind_a_loop_its_trips_are_known(trips: int, ways: int) -> None:
    """%r5 is 64 times the trips made, plus tid.x; its high bits say how far lanes lie apart."""
    far = "shr.u32 %r7, %r5, 6; sub.u32 %r7, %r7, 1; shl.b32 %r7, %r1, %r7; mad.lo.u32 %r20, %r7, 4, %r3;"
    found = verdict(COUNTED.format("", 64 * trips) + far + "ld.shared.u32 %r30, [%r20];")
    assert found == ("conflict" if ways > 1 else "free", ways)


def test_behind_a_loop_with_two_ways_out_its_trips_are_not_known() -> None:
    body = "mov.u32 %r4, 0; mov.u32 %r5, %r1; L: add.u32 %r5, %r5, 64; add.u32 %r4, %r4, 1;"
    body += "setp.eq.u32 %p2, %r4, %r2; @%p2 bra OUT; setp.lt.u32 %p1, %r5, 192; @%p1 bra L;"
    far = "OUT: mul.lo.u32 %r7, %r1, %r4; mad.lo.u32 %r20, %r7, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(body + far)[0] != "free"


def test_trips_by_a_choice_that_is_sometimes_passed_by() -> None:
    """The test of the trips is skipped for some parameters: there may be any number of them."""
    jump = STEPPED + "add.u32 %r5, %r5, 64; add.u32 %r4, %r4, 1; setp.eq.u32 %p2, %r2, %r4; @%p2 bra L;"
    body = "mov.u32 %r4, 0; mov.u32 %r5, %r1; L: " + jump + "setp.lt.u32 %p1, %r5, 128; @%p1 bra L;"
    assert verdict(body)[0] != "free"


BEFORE = "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L; ld.param.u32 %r8, [q];"
"""A loop that a parameter ends; %r8 is another parameter."""
READ = "mad.lo.u32 %r20, %r7, 4, %r3; ld.shared.u32 %r30, [%r20];"


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("add.u32 %r6, %r1, %r4; and.b32 %r6, %r6, 63; mul.lo.u32 %r7, %r6, %r8;", ("depends", 32)),
        ("add.u32 %r6, %r1, %r4; and.b32 %r6, %r6, 63; mul.lo.u32 %r7, %r6, 32;", ("conflict", 32)),
        ("setp.eq.u32 %p2, %r4, 5; selp.u32 %r6, 32, 1, %p2; mul.lo.u32 %r7, %r1, %r6;", ("unknown", None)),
    ],
    ids=["by a parameter", "always", "for one number of trips"],
)
def test_however_often_a_loop_before_ran(word: str, found: tuple[str, int | None]) -> None:
    assert verdict(BEFORE + word + READ) == found


def test_a_number_of_trips_that_no_sample_tries_may_be_free() -> None:
    """All but one number of trips conflict: for that one nothing is sure."""
    rare = "setp.eq.u32 %p2, %r4, 3001; selp.u32 %r6, 1, 32, %p2; mul.lo.u32 %r7, %r1, %r6;"
    assert verdict(BEFORE + rare + READ) == ("unknown", None)


def test_an_access_in_a_trip_that_never_comes() -> None:
    """The loop around it makes at most three trips, and it stands in the sixth."""
    skipped = "ld.param.u32 %r8, [q]; and.b32 %r9, %r8, 3; mov.u32 %r5, 0; M: setp.ne.u32 %p3, %r5, 5; @%p3 bra S;"
    skipped += "mul.lo.u32 %r6, %r1, %r2; mad.lo.u32 %r7, %r6, 4, %r3; st.shared.u32 [%r7], %r1;"
    skipped += "S: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r9; @%p2 bra M;"
    assert last(skipped, (32, 1, 1)).decision.verdict.value not in ("conflict", "depends")


def test_lanes_that_only_some_trips_before_let_through() -> None:
    guard = "setp.eq.u32 %p2, %r4, 5; @%p2 ld.shared.u32 %r30, [%r20];"
    assert verdict(BEFORE + "mul.lo.u32 %r7, %r1, 32; mad.lo.u32 %r20, %r7, 4, %r3;" + guard)[0] != "free"


def test_a_generic_address_that_is_shared_for_some_lanes() -> None:
    """128 bytes apart, of which lanes 0 and 1 are in shared memory, and the others in global."""
    place = "cvt.u64.u32 %d1, %r3; cvta.shared.u64 %d2, %d1; ld.param.u64 %d3, [q]; setp.lt.u32 %p1, %r1, 2;"
    place += "selp.b64 %d4, %d2, %d3, %p1; mul.wide.u32 %d5, %r1, 128; add.u64 %d6, %d4, %d5; ld.u32 %r30, [%d6];"
    assert verdict(place) == ("conflict", 2)


BESIDE_A_CHOICE = (
    "cvt.u64.u32 %d1, %r3; cvta.shared.u64 %d2, %d1; mul.wide.u32 %d4, %r1, 128; add.u64 %d4, %d2, %d4;"
    "mul.wide.u32 %d5, %r1, 4; add.u64 %d5, %d2, %d5; ld.param.u64 %d3, [q];"
    "setp.ne.u32 %p1, %r2, 0; setp.ne.u32 %p2, %r2, 1; selp.b64 %d7, %d4, %d3, %p1; add.u64 %d7, %d7, %d3;"
    "selp.b64 %d8, %d7, %d5, %p2; ld.u32 %r30, [%d8];"
)
"""A row of shared memory or a pointer of the host, plus a number of the host; or consecutive words of shared memory."""


def test_a_number_of_the_host_beside_a_choice_does_not_make_it_the_hosts_pointer() -> None:
    decision = last(BESIDE_A_CHOICE).decision
    assert decision.verdict.value not in ("free", "depends")
    assert decision.reason != ""


def test_a_guard_that_lets_five_lanes_through_is_5_way() -> None:
    assert verdict(GUARDED) == ("conflict", 5)


def test_a_guard_by_a_parameter_counts_what_it_can_let_through() -> None:
    body = GUARDED.replace("%p1, %r1, 5", "%p1, %r1, %r2")
    assert verdict(body) == ("conflict", 32)
    bounded = "min.u32 %r2, %r2, 28;" + body
    assert verdict(bounded) == ("conflict", 28)


NEVER = "setp.gt.u32 %p1, %r2, 10; @!%p1 bra OUT; setp.lt.u32 %p1, %r2, 5; @!%p1 bra OUT;"
"""Behind these only a parameter above 10 and below 5 would come."""


@pytest.mark.parametrize(
    "access", [strided(4), strided(128), SKEWED, strided(16, "cp.async.cg.shared.global [%r20], [%d1], 16;")]
)
def test_an_access_that_no_lane_makes_is_not_free(access: str) -> None:
    """It has no conflict, since nobody makes it: that says nothing of the access."""
    decision = last(f"{NEVER} {access} OUT:").decision
    assert (decision.verdict.value, decision.reason) == ("unknown", "no lane makes this access")


def test_whether_some_lane_makes_an_access_has_to_be_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker.Panel, "possible", lambda *_: Finding("z3", Answer.UNDECIDED))
    body = GUARDED.replace("setp.lt.u32 %p1, %r1, 5", "setp.eq.u32 %p1, %r2, 305419896")
    assert body != GUARDED
    assert last(body).decision.verdict.value == "unknown"


def test_a_predicate_and_its_opposite() -> None:
    body = "mul.lo.u32 %r10, %r1, 128; add.u32 %r20, %r3, %r10; setp.eq.u32 %p1, %r1, 3;"
    assert verdict(body + "@%p1 ld.shared.u32 %r30, [%r20];") == ("free", 1)
    assert verdict(body + "@!%p1 ld.shared.u32 %r30, [%r20];") == ("conflict", 32)


def test_a_pitch_that_is_a_parameter_decides() -> None:
    found = last(SKEWED).decision
    assert (found.verdict, found.parameters) == ("depends", ("n",))


def test_a_uniform_addend_changes_nothing() -> None:
    body = "mad.lo.u32 %r20, %r1, 4, %r3; shl.b32 %r5, %r2, 2; add.u32 %r20, %r20, %r5;"
    assert verdict(body + "ld.shared.u32 %r30, [%r20];") == ("free", 1)


def test_data_of_each_lane_are_unknown() -> None:
    found = last(OF_LANE + DATA).decision
    assert found.verdict == "unknown"
    assert "values of each lane" in found.reason


def test_one_table_column_for_each_lane_is_free_whatever_the_data() -> None:
    body = OF_LANE + "ld.global.u32 %r10, [%d1]; shl.b32 %r10, %r10, 7; and.b32 %r11, %r1, 31;"
    body += "mad.lo.u32 %r20, %r11, 4, %r10; add.u32 %r20, %r20, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(body) == ("free", 1)


def test_a_generic_address_of_which_nothing_is_known() -> None:
    found = last("ld.param.u64 %d1, [q]; ld.u32 %r30, [%d1];").decision
    assert found.verdict == "unknown"
    assert "another space" in found.reason


def test_what_is_not_looked_at_is_listed() -> None:
    found = scanned("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r4}, [%r3]; ld.shared.u32 %r30, [%r3];")
    assert [each.decision.verdict.value for each in found] == ["unknown", "free"]
    assert "wmma" in found[0].decision.reason


BARRIERS = (
    "bar.sync 0;",
    "barrier.cluster.arrive;",
    "mbarrier.init.shared.b64 [%r3], 1;",
    "cp.async.mbarrier.arrive.shared.b64 [%r3];",
    "fence.proxy.async;",
    "membar.cta;",
    "cp.async.wait_group 0;",
    "cp.async.bulk.wait_group.read 0;",
    "wgmma.wait_group.sync.aligned 0;",
)
MOVED = (
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 64, [%r3];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r3], %r1, [%r3];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r3], %r1, [%r3];",
)


@pytest.mark.parametrize("text", BARRIERS)
def test_what_synchronizes_is_counted_and_no_access(text: str) -> None:
    body = f"{text} {strided(8)}"
    assert [each.decision.verdict.value for each in scanned(body)] == ["conflict"]
    module = read_module(text_of(body), "k.ptx")
    assert synchronizations(module, module.functions[0]) == 1


@pytest.mark.parametrize("text", MOVED)
def test_what_moves_data_is_an_access_though_it_completes_on_a_barrier(text: str) -> None:
    assert [each.decision.verdict.value for each in scanned(text)] == ["bulk" if "bulk" in text else "unknown"]
    module = read_module(text_of(text), "k.ptx")
    assert synchronizations(module, module.functions[0]) == 0


def test_what_a_barrier_object_returns_and_overwrites_stays_unknown() -> None:
    """A state, and the array that holds the object, may be anything: a verdict rests on neither."""
    state = "mbarrier.arrive.shared.b64 %d2, [%r3]; cvt.u32.u64 %r10, %d2; shl.b32 %r10, %r10, 2;"
    (found,) = scanned(f"{state} add.u32 %r20, %r3, %r10; ld.shared.u32 %r30, [%r20];")
    assert found.decision.verdict.value != "free"
    stored = "st.shared.u32 [%r3], 0; mbarrier.init.shared.b64 [%r3], 1; ld.shared.u32 %r10, [%r3];"
    lane = "mad.lo.u32 %r11, %r1, %r10, %r3; ld.shared.u32 %r30, [%r11];"
    assert scanned(stored + lane)[-1].decision.verdict.value != "free"


def test_without_a_block_only_what_no_shape_changes_is_decided() -> None:
    other_axis = "mov.u32 %r6, %tid.y; "
    found = last(other_axis + strided(128), None).decision
    assert (found.verdict, "--block" in found.reason) == ("unknown", True)
    body = "mov.u32 %r5, %laneid; mad.lo.u32 %r20, %r5, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(other_axis + body, None) == ("free", 1)


def test_a_shape_that_is_required_needs_no_option_and_wins() -> None:
    from swzverify.compiled.ptx import read_module
    from tests.scan.texts import text_of
    from tests.scan.whole import scan_module

    text = text_of(strided(4)).replace("(.param .u32 n, .param .u64 q)", "(.param .u32 n, .param .u64 q) .reqntid 64")
    module = read_module(text, "k.ptx")
    for shape in (None, (8, 8, 1)):
        (found,) = scan_module(module, shape)
        assert found.decision.verdict == "free"


def test_the_shape_of_the_block_counts() -> None:
    body = "mov.u32 %r4, %tid.y; mad.lo.u32 %r20, %r1, 4, %r3; mad.lo.u32 %r20, %r4, 128, %r20;"
    body += "ld.shared.u32 %r30, [%r20];"
    assert verdict(body, (32, 4, 1)) == ("free", 1)
    assert verdict(body, (8, 8, 1)) == ("conflict", 4)
    assert verdict(body, (24, 2, 1))[0] == "conflict"


def test_copies_of_16_bytes_by_cg_follow_the_octet_rule() -> None:
    assert find_instruction("cp.async.cg.shared.global [a], [b], 16").by_octets
    found = last(OF_LANE + strided(16, "cp.async.cg.shared.global [%r20], [%d1], 16;")).decision
    assert (found.verdict.value, found.parameters) == ("depends", ("s",))


def test_lanes_that_can_never_be_aligned_are_told() -> None:
    assert "multiples of the width" in last(strided(2)).decision.reason


def test_an_instruction_that_no_table_has_is_told() -> None:
    found = last("atom.shared.cas.b16 %h1, [%r3], %h1, %h2;").decision
    assert (found.verdict, "SWZ401" in found.reason) == ("unknown", True)


def test_a_loop_all_lanes_run_together() -> None:
    body = "mov.u32 %r5, 0; TOP: mad.lo.u32 %r20, %r1, 4, %r3; mad.lo.u32 %r20, %r5, 256, %r20;"
    body += "ld.shared.u32 %r30, [%r20]; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra TOP;"
    assert verdict(body) == ("free", 1)


def test_a_loop_with_lanes_that_start_apart() -> None:
    """Lanes that stay are in one trip, unless some begin trips early: steps of 100 bytes change banks then."""
    body = "mov.u32 %r5, %r1; TOP: mad.lo.u32 %r20, %r5, 4, %r3; ld.shared.u32 %r30, [%r20];"
    body += "add.u32 %r5, %r5, STEP; setp.lt.u32 %p1, %r5, %r2; @%p1 bra TOP;"
    early = body + " setp.ne.u32 %p1, %r5, %r1; @%p1 bra TOP;"
    assert [verdict(each.replace("STEP", "64")) for each in (body, early)] == [("free", 1)] * 2
    assert verdict(body.replace("STEP", "25")) == ("free", 1)
    assert verdict(early.replace("STEP", "25"))[0] == "unknown"


def test_an_address_is_written_for_people() -> None:
    assert last(strided(132)).address == "s + tid.x*132"
    assert last(SKEWED).address in ("s + (tid.x * n)*4", "s + (n * tid.x)*4", "(tid.x * n)*4 + s")


def test_the_lanes_of_a_conflict_are_told() -> None:
    found = last(strided(16)).decision
    assert sum(row.collides for row in found.lanes) == 4
    assert [row.offset for row in found.lanes[:3]] == [0, 16, 32]

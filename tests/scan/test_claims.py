"""Verdicts of the claims `aligned` and `in_bounds` on small kernels, each with one thing in it."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Claim, Given, ScannedAccess
from tests.scan.test_verdicts import NEVER, OF_LANE
from tests.scan.texts import DATA, GUARDED, SKEWED, WHOLE, strided, text_of
from tests.scan.whole import scan_module

FOUR = "ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20];"
OTHER = ".shared .align 4 .b8 z[1024];\n"
DYNAMIC = ".extern .shared .align 16 .b8 z[];\n"
LOOP = (
    "mov.u32 %r5, %r1; TOP: mad.lo.u32 %r20, %r5, 4, %r3; ld.shared.u32 %r30, [%r20]; add.u32 %r5, %r5, 64;"
    " setp.lt.{0} %p1, %r5, {1}; @%p1 bra TOP;"
)
"""Words tid.x, tid.x + 64 and so on, up to a bound."""
GENERIC = "cvt.u64.u32 %d1, %r3; cvta.shared.u64 %d2, %d1; mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d2, %d3;"


def scan(
    body: str, shape: BlockShape | None = WHOLE, outside: str = "", given: Given | None = None, smem: int | None = None
) -> ScannedAccess:
    module = read_module(text_of(body, outside), "k.ptx")
    return scan_module(module, shape, given=given or Given(), smem=smem)[-1]


def aligned(body: str, outside: str = "") -> Claim:
    return scan(body, WHOLE, outside).aligned


def bounds(body: str, outside: str = "", given: Given | None = None, smem: int | None = None) -> Claim:
    return scan(body, WHOLE, outside, given, smem).in_bounds


def in_z(factor: int, access: str = "ld.shared.u32 %r30, [%r20];") -> str:
    return f"mov.u32 %r4, z; mad.lo.u32 %r20, %r1, {factor}, %r4; {access}"


def place(claim: Claim) -> tuple[int, ...]:
    assert claim.witness is not None
    return tuple(each.at for each in claim.witness.lanes)


# ---- aligned


@pytest.mark.parametrize(("factor", "verdict"), [(16, "proved"), (48, "proved"), (8, "refuted"), (4, "refuted")])
def test_rows_of_vectors(factor: int, verdict: str) -> None:
    assert aligned(strided(factor, FOUR)).verdict == verdict


def test_two_engines_prove() -> None:
    assert aligned(strided(16, FOUR)).engines == ("folding", "exhaustion")
    assert bounds(strided(4)).engines == ("exhaustion", "folding")
    assert bounds(LOOP.format("u32", 2048)).engines == ("exhaustion", "folding")
    assert bounds(GUARDED.replace("128", "2000")).engines == ("residues", "z3")
    rows = "shl.b32 %r9, %r1, 4; shl.b32 %r10, %r2, 5; or.b32 %r9, %r9, %r10; add.u32 %r20, %r9, %r3;"
    assert aligned(f"{rows} {FOUR}").engines == ("gf2", "z3")


def test_the_parts_of_a_guard_that_read_few_values_are_enumerated() -> None:
    """Whatever `n` is: the other part of the guard lets no lane out."""
    body = "setp.lt.u32 %p1, %r1, 5; setp.lt.and.u32 %p1, %r1, %r2, %p1; mad.lo.u32 %r20, %r1, 1000, %r3;"
    found = bounds(f"{body} @%p1 ld.shared.u32 %r30, [%r20];")
    assert (found.verdict, found.engines) == ("proved", ("residues", "z3"))


def test_samples_are_no_second_engine() -> None:
    assert aligned(SKEWED).engines == ("folding",)
    body = "ld.param.u32 %r5, [n]; and.b32 %r5, %r5, 1023; mad.lo.u32 %r20, %r5, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert bounds(body).engines == ("z3",)


def test_an_access_of_bytes_is_aligned() -> None:
    assert aligned(strided(3, "ld.shared.u8 %h1, [%r20];")).verdict == "proved"


def test_the_witness_has_a_lane_and_the_remainder() -> None:
    found = aligned(strided(16, FOUR.replace("%r20", "%r20+8")))
    assert (found.verdict, place(found)) == ("refuted", (8,))


def test_an_array_that_ptx_aligns_too_little_is_no_misalignment() -> None:
    found = aligned(in_z(16, FOUR), OTHER)
    assert (found.verdict, found.needs) == ("unknown", 16)
    assert "the start of z has to be a multiple of 16 bytes; it is aligned to 4" in found.reason
    assert aligned(in_z(8, "ld.shared.v2.u32 {%r30,%r31}, [%r20];"), OTHER).needs == 8


def test_lanes_of_which_one_is_misaligned_wherever_the_array_begins() -> None:
    found = aligned(in_z(4, FOUR), OTHER)
    assert found.verdict == "refuted"
    first, second = place(found)
    assert (first - second) % 16


def test_an_offset_that_some_begin_of_the_array_makes_good() -> None:
    found = aligned(in_z(16, FOUR.replace("%r20", "%r20+4")), OTHER)
    assert (found.verdict, "where z begins" in found.reason) == ("unknown", True)


def test_a_begin_that_no_alignment_makes_good_is_refuted() -> None:
    assert aligned(in_z(4, "ld.shared.u32 %r30, [%r20+2];"), OTHER).verdict == "refuted"


def test_a_pitch_decides_on_the_alignment() -> None:
    body = "mul.lo.u32 %r10, %r1, %r2; mad.lo.u32 %r20, %r10, 4, %r3; ld.shared.v2.u32 {%r30,%r31}, [%r20];"
    found = aligned(body)
    assert (found.verdict, found.parameters) == ("depends", ("n",))
    assert found.witness is not None
    assert found.witness.values["n"] % 2
    even = scan(body, given=Given(assumptions=("n % 2 == 0",))).aligned
    assert (even.verdict, even.assumptions) == ("proved", ("n % 2 == 0",))


def test_only_the_lanes_whose_addresses_count_are_aligned() -> None:
    matrix = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];"
    guarded = f"setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, 16, 4, %p1; mad.lo.u32 %r20, %r1, %r5, %r3; {matrix}"
    assert scan(guarded, (32, 1, 1)).aligned.verdict == "proved"
    assert scan(guarded.replace("x1", "x2").replace("{%r30}", "{%r30,%r31}"), (32, 1, 1)).aligned.verdict == "refuted"


# ---- in bounds


@pytest.mark.parametrize(("factor", "verdict"), [(4, "proved"), (128, "proved"), (130, "proved"), (131, "refuted")])
def test_rows_within_the_array(factor: int, verdict: str) -> None:
    assert bounds(strided(factor, "ld.shared.u8 %h1, [%r20];")).verdict == verdict


def test_the_last_byte_counts() -> None:
    body = "mad.lo.u32 %r20, %r1, 16, %r3; ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20+AT];"
    assert bounds(body.replace("AT", "7168")).verdict == "proved"
    assert bounds(body.replace("AT", "7172")).verdict == "refuted"


def test_bytes_before_the_array() -> None:
    found = bounds("mad.lo.u32 %r20, %r1, 4, %r3; ld.shared.u32 %r30, [%r20+-4];")
    assert (found.verdict, place(found)) == ("refuted", (-4,))


def test_the_size_is_that_of_the_array_of_the_address() -> None:
    assert bounds(in_z(16), OTHER).verdict == "proved"
    assert bounds(in_z(32), OTHER).verdict == "refuted"
    assert bounds(strided(128), OTHER).verdict == "proved"


def test_a_choice_of_arrays_is_judged_case_by_case() -> None:
    body = "mov.u32 %r4, z; setp.lt.u32 %p1,%r2,40; selp.b32 %r5, %r4, %r3, %p1; mad.lo.u32 %r20, %r1, {}, %r5;"
    body += "ld.shared.u32 %r30, [%r20];"
    assert bounds(body.format(16), OTHER).verdict == "proved"
    found = bounds(body.format(32), OTHER)
    assert (found.verdict, found.parameters) == ("depends", ("n",))
    assert found.witness is not None
    assert found.witness.values["n"] < 40


def test_a_guard_keeps_lanes_inside() -> None:
    """128 bytes apart, threads 0 to 4."""
    assert bounds(GUARDED.replace("128", "2000")).verdict == "proved"
    assert bounds(GUARDED.replace("128", "2048")).verdict == "refuted"


def test_a_guard_by_a_parameter_depends_on_it() -> None:
    found = bounds(GUARDED.replace("%p1, %r1, 5", "%p1, %r1, %r2").replace("128", "2048"))
    assert (found.verdict, found.parameters) == ("depends", ("n",))
    assert found.witness is not None
    assert found.witness.values["n"] > 4


def test_a_parameter_that_lets_all_lanes_through_or_none_refutes() -> None:
    body = "setp.lt.u32 %p1, %r2, 9; @!%p1 bra OUT; mad.lo.u32 %r20, %r1, 256, %r3; ld.shared.u32 %r30, [%r20]; OUT:"
    assert bounds(body).verdict == "refuted"


def test_a_signed_guard_lets_negative_numbers_through() -> None:
    body = "add.u32 %r5, %r1, %r2; setp.lt.{} %p1, %r5, 2048; @!%p1 bra OUT; mad.lo.u32 %r20, %r5, 4, %r3;"
    body += "ld.shared.u32 %r30, [%r20]; OUT:"
    assert bounds(body.format("u32")).verdict == "proved"
    found = bounds(body.format("s32"))
    assert (found.verdict, found.parameters) == ("depends", ("n",))


def test_a_pitch_decides_on_the_bounds_and_may_be_assumed() -> None:
    found = bounds(SKEWED)
    assert (found.verdict, found.parameters) == ("depends", ("n",))
    assert bounds(SKEWED, given=Given(assumptions=("n >= 0 && n <= 32",))).verdict == "proved"
    assert bounds(SKEWED, given=Given(parameters=("n=32",))).verdict == "proved"


def test_data_of_each_lane_may_be_anything() -> None:
    found = bounds(OF_LANE + DATA)
    assert (found.verdict, "global memory" in found.reason) == ("unknown", True)
    masked = OF_LANE + "ld.global.u32 %r10, [%d1]; and.b32 %r10, %r10, 2047; mad.lo.u32 %r20, %r10, 4, %r3;"
    assert bounds(masked + "ld.shared.u32 %r30, [%r20];").verdict == "proved"


def test_a_guard_by_data_is_no_witness() -> None:
    body = OF_LANE + "ld.global.u32 %r10, [%d1]; setp.eq.u32 %p1, %r10, 3; @!%p1 bra OUT;"
    assert bounds(body + "mad.lo.u32 %r20, %r1, 256, %r3; ld.shared.u32 %r30, [%r20]; OUT:").verdict == "unknown"


def test_a_path_of_two_conditions_depends_on_the_parameter() -> None:
    """Lane 40 comes only if n is 0: two paths lead to the access."""
    body = "setp.eq.u32 %p1, %r2, 0; @%p1 bra IN; setp.lt.u32 %p2, %r1, 4; @%p2 bra IN; bra OUT;"
    body += " IN: mad.lo.u32 %r20, %r1, 256, %r3; ld.shared.u32 %r30, [%r20]; OUT:"
    found = bounds(body)
    assert (found.verdict, found.parameters) == ("depends", ("n",))


def test_ways_that_join_again_are_sure() -> None:
    body = "setp.eq.u32 %p1, %r2, 0; @%p1 bra IN; bar.sync 0; IN: mad.lo.u32 %r20, %r1, 256, %r3;"
    assert bounds(body + "ld.shared.u32 %r30, [%r20];").verdict == "refuted"


def test_a_block_of_the_grid_depends_on_the_grid() -> None:
    body = "mov.u32 %r4, %ctaid.x; mad.lo.u32 %r20, %r4, 4, %r3; mad.lo.u32 %r20, %r1, 16, %r20;"
    found = bounds(body + "ld.shared.u32 %r30, [%r20];")
    assert (found.verdict, found.parameters) == ("depends", ("ctaid.x",))


@pytest.mark.parametrize(("bound", "verdict"), [(2048, "proved"), (2049, "refuted"), (2000, "proved")])
def test_trips_that_are_counted(bound: int, verdict: str) -> None:
    assert bounds(LOOP.format("u32", bound)).verdict == verdict


def test_each_lane_leaves_a_loop_by_itself() -> None:
    """Of the last trip only the first lanes are in the loop: 1000 words in steps of 64."""
    body = (
        LOOP.format("u32", 250)
        .replace("%r3;", "%r4;")
        .replace("mov.u32 %r5, %r1;", "mov.u32 %r5, %r1; mov.u32 %r4, z;")
    )
    assert bounds(body, OTHER.replace("1024", "1000")).verdict == "proved"
    assert bounds(body, OTHER.replace("1024", "996")).verdict == "refuted"


def test_trips_by_a_parameter_depend_on_it() -> None:
    found = bounds(LOOP.format("u32", "%r2"))
    assert (found.verdict, found.parameters) == ("depends", ("n",))
    assert found.witness is not None
    assert found.witness.values["n"] > 2048
    assert bounds(LOOP.format("u32", "%r2"), given=Given(assumptions=("n >= 0 && n <= 2048",))).verdict == "proved"


def test_trips_that_data_decide_are_no_witness() -> None:
    body = "mov.u32 %r5, %r1; TOP: mad.lo.u32 %r20, %r5, 4, %r3; ld.shared.u32 %r30, [%r20]; add.u32 %r5, %r5, 64;"
    found = bounds(body + " setp.lt.u32 %p1, %r30, 9; @%p1 bra TOP;")
    assert (found.verdict, "later trip" in found.reason) == ("unknown", True)


def test_a_generic_address_counts_with_all_its_bits() -> None:
    assert bounds(GENERIC + "ld.u32 %r30, [%d2];").verdict == "proved"
    assert bounds(GENERIC + "add.u64 %d2, %d2, 0x100000000; ld.u32 %r30, [%d2];").verdict == "refuted"


def test_a_shared_address_wraps_at_32_bits() -> None:
    body = "mad.lo.u32 %r20, %r1, 4, %r3; add.u32 %r20, %r20, 0xFFFFF000; add.u32 %r20, %r20, 0x1000;"
    assert bounds(body + "ld.shared.u32 %r30, [%r20];").verdict == "proved"


def test_a_dynamic_array_has_the_bytes_of_the_launch() -> None:
    assert bounds(in_z(32), DYNAMIC, smem=2020).verdict == "proved"
    assert bounds(in_z(32), DYNAMIC, smem=2019).verdict == "refuted"
    found = bounds(in_z(32), DYNAMIC)
    assert (found.verdict, found.needs, "--smem" in found.reason) == ("unknown", 2020, True)


@pytest.mark.parametrize(
    ("target", "verdict"), [("sm_75", "refuted"), ("sm_86", "refuted"), ("sm_80", "unknown"), ("sm_90", "unknown")]
)
def test_no_launch_has_more_shared_memory_than_the_target(target: str, verdict: str) -> None:
    """The last lane reads the word at 63 * 1984 = 122 KiB, and sm_86 has 99 KiB."""
    module = read_module(text_of(in_z(1984), DYNAMIC), "k.ptx")
    assert scan_module(module, WHOLE, target=target)[-1].in_bounds.verdict == verdict


BEYOND = {
    "each lane": "mov.u32 %r5, z; mad.lo.u32 %r20, %r1, 4, %r5; ld.shared.u32 %r30, [%r20+300000];",
    "a trip": (
        "mov.u32 %r5, z; mad.lo.u32 %r20, %r1, 4, %r5; mov.u32 %r6, 0; TOP: ld.shared.u32 %r30, [%r20];"
        " add.u32 %r20, %r20, 100000; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 4; @%p1 bra TOP;"
    ),
    "the first block": (
        "mov.u32 %r5, z; mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 0; selp.b32 %r7, 300000, 0, %p1;"
        " mad.lo.u32 %r20, %r1, 4, %r5; add.u32 %r20, %r20, %r7; ld.shared.u32 %r30, [%r20];"
    ),
}


@pytest.mark.parametrize("body", BEYOND.values(), ids=BEYOND)
def test_a_dynamic_array_ends_where_shared_memory_does(body: str) -> None:
    """No launch has so many bytes, whatever `--smem` would say."""
    assert bounds(body, DYNAMIC).verdict == "refuted"


def test_an_address_that_begins_with_no_array() -> None:
    assert "no shared array" in bounds("ld.shared.u32 %r30, [%r2];").reason


def test_bounds_that_depend_on_where_the_array_begins() -> None:
    body = "mad.lo.u32 %r20, %r1, 4, %r3; xor.b32 %r20, %r20, 128; ld.shared.u32 %r30, [%r20];"
    found = bounds(body)
    assert (found.verdict, found.needs) == ("unknown", 256)


# ---- both


def test_an_access_that_no_lane_makes_proves_nothing() -> None:
    found = scan(f"{NEVER} {strided(4)} OUT:")
    assert [each.verdict for each in (found.aligned, found.in_bounds)] == ["unknown", "unknown"]


def test_without_a_block_nothing_is_said_of_threads() -> None:
    found = scan("mov.u32 %r6, %tid.y; " + strided(4), None)
    assert "--block" in found.aligned.reason
    body = "mov.u32 %r5, %laneid; mad.lo.u32 %r20, %r5, {}, %r3; ld.shared.u32 %r30, [%r20];"
    assert scan(body.format(4), None).in_bounds.verdict == "proved"
    assert scan(body.format(400), None).in_bounds.verdict == "unknown"


def test_what_is_not_looked_at_is_not_claimed() -> None:
    found = scan("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r4}, [%r3];")
    assert found.aligned.reason == found.in_bounds.reason == found.decision.reason

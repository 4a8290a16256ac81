"""What fills an operand: the verdicts of `delivers` against an interpreter that runs the copies."""

import json
import random
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from swzverify.compiled.kernel import KernelFill, sums
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import (
    Given,
    ScannedOperand,
    delivers,
    operand_agreement,
    operand_columns,
    operand_trips,
    products,
)
from swzverify.compiled.scan.filled import NO_GAPS
from swzverify.compiled.scan.products import INSIDE
from swzverify.subjects.descriptor import Descriptor
from tests.nightly import counts
from tests.scan.fill_programs import (
    MISTAKES,
    Program,
    Seen,
    Side,
    by_tensor_copies,
    column,
    multiply,
    pitch_of,
    planted,
    right,
    see,
    text,
)
from tests.scan.whole import scan_operands

Plant: TypeAlias = AbstractContextManager[object]
PLAIN = Program(Side(64, False, "64B", 3, 0, 512, 32), Side(64, True, "128B", 7, 0, 1024, 2048), columns=32, stages=3)
"""A and B differ in mode and in major-ness, with two steps along K."""
SAME_SUMS = "the same columns of K"
TORN = "two copies of"
TRIPS = "from trip to trip"


def scanned(ptx: str, align: int | None = None, maps: tuple[str, ...] = ()) -> list[ScannedOperand]:
    module = read_module(ptx, "k.ptx")
    return scan_operands(module, module.functions[0], None, Given(smem_align=align, tensor_maps=maps), None)


def verdicts(ptx: str, align: int | None = None) -> list[str]:
    return [each.claim("delivers").verdict.value for each in scanned(ptx, align)]


def agrees(program: Program, one: Seen, first: Seen) -> bool:
    """Whether A and B of an instruction are as far along K from those of another one."""
    moved = [
        column(side, int(own[0, 0]), pitch_of(program, side)) - column(side, int(base[0, 0]), pitch_of(program, side))
        for side, own, base in ((program.a, one.a, first.a), (program.b, one.b, first.b))
    ]
    return moved[0] == moved[1]


def has_one_step(seen: list[Seen], side: str) -> bool:
    """Whether rows are equally far from each other in all trips."""
    return len({int(getattr(each, side)[1, 0] - getattr(each, side)[0, 0]) for each in seen}) == 1


def adds_once(program: Program, seen: list[Seen]) -> bool:
    """Whether no column of K comes to the sums twice."""
    side, pitch = program.b, pitch_of(program, program.b)
    columns = [column(side, int(of), pitch) for each in seen for of in each.b[0]]
    return len(set(columns)) == len(columns)


def check(program: Program, *pads: int) -> set[str]:
    """No verdict contradicts what the interpreter sees, if tiles lie behind some bytes, too; the verdicts."""
    operands, found = scanned(text(program), maps=program.maps), set[str]()
    for pad in pads or (0,):
        found |= check_at(replace(program, pad=pad), operands)
    return found


def check_at(program: Program, operands: list[ScannedOperand]) -> set[str]:
    """No verdict contradicts what the interpreter sees where the tiles lie; the verdicts."""
    seen, found = see(program), set[str]()
    for at, operand in enumerate(operands):
        claim, side = operand.claim("delivers"), operand.fields.role.lower()
        own = [each for each in seen if each.step == at // 2]
        affine = [each.is_affine(side) for each in own]
        in_trip = [agrees(program, each, seen[each.trip * program.steps]) for each in own]
        goes_on = [agrees(program, each, own[0]) for each in own]
        found.add(claim.verdict.value)
        is_right = all((*affine, *in_trip, *goes_on)) and has_one_step(own, side)
        assert claim.verdict != "proved" or is_right, (program, claim)
        if claim.is_broken and TRIPS in claim.reason:
            assert not all(goes_on), (program, claim)
        elif claim.is_broken and SAME_SUMS not in claim.reason and TORN not in claim.reason:
            assert not any(one and two for one, two in zip(affine, in_trip, strict=True)), (program, claim)
    assert found != {"proved"} or adds_once(program, seen), program
    return found


def check_many(seeds: range) -> None:
    """Kernels without a mistake are proved, and no kernel with one has a wrong verdict."""
    for seed in seeds:
        draw = random.Random(seed)
        program = right(draw)
        if draw.random() < 0.4:
            program = by_tensor_copies(program, draw)
        mistake = draw.choice(MISTAKES)
        found = check(planted(program, mistake, draw))
        assert mistake != "none" or found == {"proved"}


@pytest.mark.parametrize("count", counts(12, 300))
def test_verdicts_are_those_of_the_interpreter(count: int) -> None:
    check_many(range(count))


def check_right() -> None:
    assert verdicts(text(PLAIN)) == ["proved"] * 4
    for columns, starts in ((32, (0, 16)), (64, (0, 16, 32, 48))):
        side = Side(64, False, "128B" if columns == 64 else "64B", columns // 8 - 1, 0, columns * 16, 32)
        found = scanned(text(Program(side, replace(side, rows=16, stored=True), columns, 2)))
        assert [None if each.elements is None else each.elements.k for each in found[::2]] == list(starts)


def test_kernels_without_a_mistake_are_proved() -> None:
    check_right()


THIRTY_TWO = Program(Side(64, False, "32B", 1, 0, 256, 32), Side(32, False, "32B", 1, 0, 256, 32), 16, stages=3)
"""One step along K, of two chunks of 16 bytes in each row."""
WRONG: dict[str, Program] = {
    "mode of A": replace(PLAIN, a=replace(PLAIN.a, mode="32B")),
    "mode of B": replace(PLAIN, b=replace(PLAIN.b, mode="64B")),
    "SBO": replace(PLAIN, a=replace(PLAIN.a, sbo=256)),
    "base offset": replace(PLAIN, a=replace(PLAIN.a, base_offset=1)),
    "XOR of A dropped": replace(PLAIN, a=replace(PLAIN.a, mask=0)),
    "XOR of B dropped": replace(PLAIN, b=replace(PLAIN.b, mask=0)),
    "K advance of 16 bytes": replace(PLAIN, a=replace(PLAIN.a, step=16)),
    "K advance of 16 bytes in A and B": replace(PLAIN, a=replace(PLAIN.a, step=16), b=replace(PLAIN.b, step=1024)),
    "start 64 bytes behind": replace(PLAIN, a=replace(PLAIN.a, shift=64)),
    "A goes on half as fast": replace(PLAIN, a=replace(PLAIN.a, advance=16)),
    "B goes on twice as fast": replace(PLAIN, b=replace(PLAIN.b, advance=64)),
    "base offset that exchanges columns": replace(
        THIRTY_TWO, a=replace(THIRTY_TWO.a, base_offset=1), b=replace(THIRTY_TWO.b, sbo=256)
    ),
    "SBO and LBO swapped": replace(PLAIN, b=replace(PLAIN.b, lbo=1024, sbo=0)),
}


def test_a_and_b_may_share_an_order_of_k() -> None:
    """Cores of 8 columns 0 and 2, then 1 and 3, of A and of B: all products are added."""
    a, b = (Side(rows, False, "none", 0, 2 * rows * 16, 128, rows * 16) for rows in (64, 32))
    program = Program(a, b, columns=32, stages=1)
    for each in see(program):
        places = [column(side, own, pitch_of(program, side)) for side, own in ((a, each.a), (b, each.b))]
        assert (places[0][0] == places[1][0]).all()
        assert all((own == own[:1]).all() for own in places)
    assert set(verdicts(text(program))) == {"unknown"}


def test_a_base_offset_may_exchange_columns_of_both() -> None:
    program = replace(THIRTY_TWO, **{of: replace(getattr(THIRTY_TWO, of), base_offset=1) for of in ("a", "b")})
    assert set(verdicts(text(program))) == {"unknown"}


def check_wrong(name: str) -> None:
    assert "refuted" in verdicts(text(WRONG[name]))


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_in_kernels_are_found(name: str) -> None:
    check_wrong(name)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("xor.b32 %r17, %r12, 1;", "unknown"),
        (
            "shr.u32 %r17, %r12, 3; mul.lo.u32 %r17, %r17, %r2; and.b32 %r18, %r12, 7; add.u32 %r17, %r17, %r18;",
            "unknown",
        ),
        ("and.b32 %r17, %r12, 62;", "refuted"),
        ("and.b32 %r18, %r13, 1; add.u32 %r17, %r12, %r18;", "refuted"),
    ],
)
def test_rows_in_another_order_may_be_meant(rows: str, found: str) -> None:
    """Convolutions and fused projections gather rows; one row twice, or another one for each chunk, is a mistake."""
    ptx = text(PLAIN).replace("mul.lo.u32 %r17, %r12, %r1;", f"{rows} mul.lo.u32 %r17, %r17, %r1;")
    assert verdicts(ptx)[0] == found


@pytest.mark.parametrize(
    ("wrap", "found"),
    [("%r12, %r1", "proved"), ("%r12, %r3", "proved"), ("%r10, %r3", "unknown"), ("%r12, %r10", "unknown")],
)
def test_rows_that_a_kernel_wraps_around_are_assumed_to_be_inside(wrap: str, found: str) -> None:
    """Triton's matmul of the tutorial takes rows modulo M: those of the last block begin anew, and are not stored."""
    row = f"rem.u32 %r18, {wrap};"
    ptx = text(PLAIN).replace("mul.lo.u32 %r17, %r12, %r1;", f"{row} mul.lo.u32 %r17, %r18, %r1;")
    assert set(verdicts(ptx)) == {found}
    assert found != "proved" or INSIDE in assumed(ptx)


@pytest.mark.parametrize(
    ("size", "found"),
    [
        ("", "refuted"),
        ("setp.lt.u32 %p5, %r2, %r3; selp.b32 %r50, 16, 0, %p5;", "refuted"),
        ("setp.lt.u32 %p5, %r12, %r3; selp.b32 %r50, 16, 0, %p5;", "unknown"),
    ],
)
def test_two_copies_to_one_place_are_a_mistake_if_both_are_made(size: str, found: str) -> None:
    """The writer's XOR is an OR: chunks of a line come to one place, unless one of the copies brings zeros."""
    copy = f"{size} {COPY}, %r50;" if size else f"{COPY};"
    ptx = text(PLAIN).replace("xor.b32 %r14, %r14, %r16;", "or.b32 %r14, %r14, %r16;").replace(f"{COPY};", copy)
    assert verdicts(ptx)[0] == found


def of_two_halves(wrong: int) -> str:
    """Two instructions for each step along K, for rows 0 and on of B and for rows 32 and on; `wrong` bytes too far."""
    program = Program(PLAIN.a, replace(PLAIN.a, rows=64), columns=32, stages=3)
    ptx, begin = text(program), program.tile_bytes(program.a)
    for step in range(program.steps):
        old = "\n".join(multiply(program, step, ", ".join(f"%f{at}" for at in range(32)), is_dump=False))
        parts: list[str] = []
        for half in range(2):
            sums = ", ".join(f"%f{16 * half + at}" for at in range(16))
            new = "\n".join(multiply(program, step, sums, is_dump=False)).replace("m64n64k16", "m64n32k16")
            place = begin + 32 * step
            further = place + 32 * 64 * half + (wrong if half and step else 0)
            parts.append(new.replace(f"%r30, {place};", f"%r30, {further};"))
        assert old in ptx
        ptx = ptx.replace(old, "\n".join(parts))
    return ptx


def check_doubles() -> None:
    again = of_two_halves(0)
    for step in range(2):
        place = PLAIN.tile_bytes(PLAIN.a) + 32 * step
        again = again.replace(f"%r30, {place + 2048};", f"%r30, {place};")
    assert verdicts(again) == ["proved", "proved", "unknown", "unknown"] * 2


def test_products_of_the_same_rows_for_other_sums_leave_out_rows() -> None:
    check_doubles()


def check_wider() -> None:
    found = scanned(text(replace(PLAIN, a=replace(PLAIN.a, wider=True))))
    assert {each.claim("delivers").verdict.value for each in found} == {"unknown"}
    assert "different strides" in found[0].claim("delivers").reason


def test_the_main_loop_copies_rows_by_the_stride_of_the_copies_before_it() -> None:
    check_wider()


@pytest.mark.parametrize(
    ("row", "loop", "found"),
    [
        ("add.u32 %r18, %r12, 1;", "", "unknown"),
        ("add.u32 %r18, %r12, 1;", "mov.f32 %f3, 0f00000000;", "proved"),
        ("mov.u32 %r18, %r12;", "", "proved"),
    ],
)
def test_the_main_loop_copies_the_rows_of_the_copies_before_it(row: str, loop: str, found: str) -> None:
    check_rows(row, loop, found)


def check_rows(row: str, loop: str, found: str) -> None:
    """Sums that start anew in each trip may be of other rows, as with keys of attention."""
    before, main_loop = text(PLAIN).split("L:")
    changed = main_loop.replace("mul.lo.u32 %r17, %r12, %r1;", f"{row} mul.lo.u32 %r17, %r18, %r1;")
    assert changed != main_loop
    assert set(verdicts(f"{before}L: {loop}{changed}")) == {found}


def test_other_rows_agree_among_each_other() -> None:
    """A convolution may move along rows for the next columns, but in one way for all products of these rows."""
    assert verdicts(of_two_halves(0)) == ["proved"] * 8
    assert verdicts(of_two_halves(-16)) == ["proved"] * 6 + ["refuted"] * 2


def test_reasons_name_the_first_element() -> None:
    a, *_ = scanned(text(WRONG["SBO"]))
    assert a.claim("delivers").reason.startswith("element (8, 0) comes from ")


TWICE = replace(PLAIN, a=replace(PLAIN.a, advance=64))


def check_late() -> None:
    """The main loop starts one stage behind where the prologue ends, for one operand alone or for both.

    If it does so for both, the columns of K of one stage are added twice.
    """
    late = replace(PLAIN, a=replace(PLAIN.a, late=1))
    assert set(verdicts(text(late))) == {"unknown"}
    assert "from stage to stage: A by 32 and B by 64 columns" in scanned(text(late))[0].claim("delivers").reason
    for stages, reason in ((1, "other copies may bring the same columns of K"), (3, "other copies bring")):
        late = replace(PLAIN, a=replace(PLAIN.a, late=stages), b=replace(PLAIN.b, late=stages))
        both = scanned(text(late))
        assert {each.claim("delivers").verdict.value for each in both} == {"unknown"}
        assert reason in both[0].claim("delivers").reason


def test_the_main_loop_goes_on_where_the_prologue_ends() -> None:
    check_late()


def check_anew() -> None:
    """Sums of their own in each trip may be of other columns."""
    for change in ("mov.f32 %f3, 0f00000000; L:", "L:"):
        assert set(verdicts(text(TWICE).replace("L:", change))) == {"refuted"}
    assert set(verdicts(text(TWICE).replace("L:", "L: mov.f32 %f3, 0f00000000;"))) == {"unknown"}


def test_sums_that_start_anew_in_each_trip_may_be_of_other_columns() -> None:
    check_anew()


class HalfRead(Program):
    """Each trip multiplies the first half of the columns that it copies."""

    @property
    def steps(self) -> int:
        return super().steps // 2


WIDE = HalfRead(
    Side(64, False, "128B", 7, 0, 1024, 32, advance=32), Side(64, False, "128B", 7, 0, 1024, 32), columns=64, stages=1
)


def in_halves(ptx: str, *changes: tuple[str, str]) -> str:
    """The kernel of `WIDE`, in which each second trip reads the second half of what is there of B."""
    begin = WIDE.tile_bytes(WIDE.a)
    for old, new in (
        ("L:", "mov.u32 %r40, 0;\nL:"),
        ("add.u32 %r6, %r6, 1;", "add.u32 %r6, %r6, 1; xor.b32 %r40, %r40, 64;"),
        *((f"%r30, {begin + at};", f"%r30, {begin + at}; add.u32 %r30, %r30, %r40;") for at in (0, 32)),
        *changes,
    ):
        assert old in ptx
        ptx = ptx.replace(old, new)
    return ptx


@pytest.mark.parametrize("between", ["", "bar.sync 0;"])
def test_what_copies_bring_is_read_from_one_place_or_from_alike_ones(between: str) -> None:
    """B of each second trip is 32 columns behind A, whether the same copies bring both or others do."""
    both = replace(WIDE, a=replace(WIDE.a, advance=0))
    last = "mad.wide.u32 %rd3, %r17, 2, %rd2; mul.wide.u32 %rd4, %r13, 16;"
    ptx, first = text(both), text(both).index(last)
    end = ptx.rindex("[%rd3], 16;", 0, first) + len("[%rd3], 16;")
    ptx = ptx[:end] + between + ptx[end:]
    assert set(verdicts(ptx)) == {"proved"}
    assert set(verdicts(in_halves(ptx))) == {"unknown"}


@pytest.mark.parametrize(
    ("fill", "trips"),
    [
        ("shr.u32 %r18, %r10, 1; mad.lo.u32 %r17, %r18, 64, %r17;", "%r3"),  # B of two trips
        ("", "2"),  # B of the whole kernel
    ],
)
def test_one_operand_may_be_copied_for_several_trips_that_read_parts(fill: str, trips: str) -> None:
    """A goes on by 32 columns of 64 in each trip; B too, as each second trip reads the second half of what is there."""
    changes = ("mad.lo.u32 %r17, %r10, 64, %r17;", fill), ("%p2, %r6, %r3;", f"%p2, %r6, {trips};")
    assert set(verdicts(text(WIDE))) == {"refuted"}
    assert set(verdicts(in_halves(text(WIDE), *changes))) == {"unknown"}


def test_a_convolution_may_go_on_along_rows() -> None:
    """A goes on along its rows for the next columns of B."""
    rows = "add.u32 %r17, %r12, %r10; mul.lo.u32 %r17, %r17, %r1;"
    ptx = text(PLAIN).replace("mul.lo.u32 %r17, %r12, %r1; mad.lo.u32 %r17, %r10, 32, %r17;", rows)
    assert ptx != text(PLAIN)
    assert set(verdicts(ptx)) == {"unknown"}


@pytest.mark.parametrize(("program", "verdict"), [(TWICE, "refuted"), (PLAIN, "proved")])
def test_a_loop_around_the_loop_changes_nothing(program: Program, verdict: str) -> None:
    """Each tile of a persistent kernel starts its sums anew; if it adds to them, it adds the same products again."""
    for anew in ("", "mov.f32 %f3, 0f00000000;"):
        ptx = text(program).replace("mov.u32 %r6, 0;", f"mov.u32 %r60, 0; T: {anew} mov.u32 %r6, 0;", 1)
        ptx = ptx.replace(".b32 %r<60>", ".b32 %r<62>").replace("@%p2 bra L;", "@%p2 bra L; bar.sync 0;")
        ptx = ptx.replace("ret;", "add.u32 %r60, %r60, 1; setp.lt.u32 %p2, %r60, %r3; @%p2 bra T; ret;")
        assert set(verdicts(ptx)) == {verdict if anew or verdict != "proved" else "unknown"}


def test_both_operands_may_go_on_twice_as_fast() -> None:
    """Another kernel multiplies the columns that are left out."""
    assert verdicts(text(replace(TWICE, b=replace(PLAIN.b, advance=64)))) == ["proved"] * 4


def check_columns() -> None:
    found = scanned(text(WRONG["K advance of 16 bytes"]))
    assert found[2].claim("delivers").reason == (
        "the operands of one instruction start at different columns of K: A at k = 8 and B at k = 16"
    )


def test_reasons_name_the_columns() -> None:
    check_columns()


COPY = "cp.async.cg.shared.global [%r14], [%rd3], 16"


def assumed(ptx: str) -> set[str]:
    return {each for operand in scanned(ptx) for each in operand.claim("delivers").assumptions}


@pytest.mark.parametrize("size", ["0", "8", "%r50", "%r51"])
def test_copies_that_write_zeros_bring_no_elements(size: str) -> None:
    half = "setp.lt.u32 %p5, %r5, 64; selp.b32 %r50, 16, 0, %p5; "
    half += "setp.lt.and.u32 %p5, %r12, %r3, %p5; selp.b32 %r51, 16, 0, %p5; "
    assert set(verdicts(text(PLAIN).replace(f"{COPY};", f"{half}{COPY}, {size};"))) == {"unknown"}


@pytest.mark.parametrize(
    "copy",
    [
        f"setp.lt.u32 %p5, %r12, %r3; selp.b32 %r50, 16, 0, %p5; {COPY}, %r50;",
        f"setp.lt.u32 %p5, %r12, %r3; @%p5 {COPY};",
        f"ld.global.u32 %r50, [%rd1]; setp.lt.u32 %p5, %r5, %r50; @%p5 {COPY};",
        "mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0; setp.lt.u32 %p5, %r12, %r3;"
        " @%p5 ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd3];"
        " st.shared.v4.u32 [%r14], {%r20, %r21, %r22, %r23};",
    ],
)
def test_copies_that_threads_may_leave_out_are_assumed(copy: str) -> None:
    ptx = text(PLAIN).replace(f"{COPY};", copy)
    assert verdicts(ptx) == ["proved"] * 4
    assert NO_GAPS in assumed(ptx)


def test_a_predicate_that_says_that_no_byte_is_read_is_not_followed() -> None:
    """Here it says so in each thread of each launch."""
    ignored = f"setp.ge.u32 %p5, %r12, 0; {COPY}, %p5;"
    assert set(verdicts(text(PLAIN).replace(f"{COPY};", ignored))) == {"unknown"}


NOT_FOLLOWED = {
    "a vote": "setp.ne.u32 %p5, %r5, 4; vote.sync.ballot.b32 %r50, %p5, -1; and.b32 %r51, %r5, 31;"
    "shr.b32 %r50, %r50, %r51; and.b32 %r50, %r50, 1; setp.eq.u32 %p5, %r50, 1;",
    "an atomic operation": "atom.global.add.u32 %r50, [%rd1], 1; and.b32 %r50, %r50, 1; setp.eq.u32 %p5, %r50, 1;",
    "an election": "elect.sync %r50|%p5, -1;",
    "the least number of a warp": "redux.sync.min.u32 %r50, %r5, -1; setp.eq.u32 %p5, %r50, 0;",
    "equal numbers of lanes": "match.any.sync.b32 %r50, %r5, -1; setp.eq.u32 %p5, %r50, 1;",
    "the number of the warp": "mov.u32 %r50, %warpid; setp.ne.u32 %p5, %r50, 2;",
    "a word that the kernel writes": "mov.u32 %r50, 0; st.global.u32 [%rd1], %r50; bar.sync 0;"
    "ld.global.u32 %r51, [%rd1]; setp.eq.u32 %p5, %r51, 1;",
    "the lanes that are active": "activemask.b32 %r50; setp.ne.u32 %p5, %r50, -1;",
}


@pytest.mark.parametrize("condition", NOT_FOLLOWED.values(), ids=NOT_FOLLOWED)
def test_what_no_launch_chooses_leaves_out_copies(condition: str) -> None:
    """Each of these leaves out copies of some threads in each launch."""
    assert set(verdicts(text(PLAIN).replace(f"{COPY};", f"{condition} @%p5 {COPY};"))) == {"unknown"}


@pytest.mark.parametrize(
    "copy",
    [
        f"setp.lt.u32 %p5, %r5, 128; selp.b32 %r50, 16, 0, %p5; {COPY}, %r50;",
        f"setp.lt.u32 %p5, %r2, %r3; @%p5 {COPY};",
        COPY.replace("global", "global.L2::cache_hint") + ", %rd9;",
    ],
)
def test_copies_that_all_threads_make_are_not_assumed(copy: str) -> None:
    ptx = text(PLAIN).replace(f"{COPY};", copy)
    assert verdicts(ptx) == ["proved"] * 4
    assert NO_GAPS not in assumed(ptx)


@pytest.mark.parametrize(
    ("bound", "is_assumed"), [("ld.global.u32 %r50, [%rd3];", True), ("mov.u32 %r50, %r2;", False)]
)
def test_threads_that_leave_a_loop_early_leave_out_copies(bound: str, is_assumed: bool) -> None:
    ptx = text(PLAIN).replace("setp.lt.u32 %p2, %r6, %r3;", f"{bound} setp.lt.u32 %p2, %r6, %r50;")
    assert verdicts(ptx) == ["proved"] * 4
    assert (NO_GAPS in assumed(ptx)) == is_assumed


def test_loops_that_threads_leave_by_their_number_bring_nothing_known() -> None:
    assert set(verdicts(text(PLAIN).replace("setp.lt.u32 %p2, %r6, %r3;", "setp.lt.u32 %p2, %r6, %r5;"))) == {"unknown"}


@pytest.mark.parametrize(
    "change",
    [
        "max.s32 %r20, %r20, 0;",
        "setp.gt.s32 %p5, %r21, 0; selp.b32 %r20, %r20, 0, %p5;",
        "setp.gt.u32 %p5, %r5, 63; selp.b32 %r20, %r20, 0, %p5;",
        "setp.gt.u32 %p5, %r5, 63; setp.lt.u32 %p4, %r12, %r3; and.pred %p5, %p5, %p4; selp.b32 %r20, %r20, 0, %p5;",
    ],
)
def test_zeros_by_what_is_loaded_or_by_coordinates_are_no_loads(change: str) -> None:
    load = "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd3];"
    store = "st.shared.v4.u32 [%r14], {%r20, %r21, %r22, %r23};"
    ptx = text(PLAIN)
    assert verdicts(ptx.replace(f"{COPY};", f"{load} {store}")) == ["proved"] * 4
    assert set(verdicts(ptx.replace(f"{COPY};", f"{load} {change} {store}"))) == {"unknown"}


TEST = "mbarrier.test_wait.parity.shared.b64 %p5, [full], 0;"


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("ld.global.u32 %r50, [%rd1]; setp.ne.u32 %p5, %r50, 0;", "proved"),
        (f"W: {TEST} @!%p5 bra W; {TEST}", "unknown"),
        (TEST, "unknown"),
        ("mov.u32 %r50, %clock; setp.ne.u32 %p5, %r50, 0;", "unknown"),
    ],
)
def test_zeros_by_the_result_of_a_test_are_not_assumed_away(condition: str, verdict: str) -> None:
    """Behind a wait for the only phase, the result is 1 in each launch: the zeros replace what was copied."""
    zeros = "mov.u32 %r20, 0; @%p5 st.shared.v4.u32 [%r14], {%r20, %r20, %r20, %r20};"
    ptx = text(PLAIN).replace("mov.u32 %r4, tile;", f"{condition} mov.u32 %r4, tile;", 1)
    assert set(verdicts(ptx.replace(f"{COPY};", f"{COPY}; {zeros}"))) == {verdict}


def test_warps_that_take_turns_bring_parts() -> None:
    """Each warp fills every other stage: what coordinates and the stage decide is known in each state."""
    turns = "setp.eq.u32 %p5, %r9, 0; selp.u32 %r50, 1, 0, %p5; shr.u32 %r51, %r5, 5; and.b32 %r51, %r51, 1;"
    copy = f"{turns} setp.eq.u32 %p5, %r50, %r51; @%p5 {COPY};"
    before, main_loop = text(replace(PLAIN, stages=2)).split("L:")
    assert set(verdicts(f"{before} L: {main_loop.replace(f'{COPY};', copy)}")) == {"unknown"}


def test_copies_behind_the_instruction_do_not_fill_it() -> None:
    """Without a barrier between them, copies before it and behind it are one fill."""
    one = Side(64, False, "none", 0, 1024, 128, 0)
    ptx = text(Program(one, Side(8, False, "none", 0, 128, 128, 0), columns=16, stages=1)).replace("@%p2 bra L;", "")
    assert verdicts(ptx) == ["proved"] * 2
    ptx = re.sub(r"cp\.async\.(commit|wait)_group[^;]*;|fence[^;]*;|bar[^;]*;", "", ptx)
    assert verdicts(ptx) == ["proved"] * 2
    ptx = ptx.replace(f"{COPY};", "mov.b32 %r50, %r14; mov.b64 %rd50, %rd3;", 1)
    assert "proved" not in verdicts(ptx.replace("ret;", "cp.async.cg.shared.global [%r50], [%rd50], 16; ret;"))


SAME = replace(PLAIN, a=replace(PLAIN.a, step=0), b=replace(PLAIN.b, step=0))
"""Both steps along K read the same columns."""


@pytest.mark.parametrize(
    ("flags", "between", "last"),
    [
        ("1, 1, 1", "", "refuted"),
        ("0, 1, 1", "", "unknown"),
        ("%p2, 1, 1", "setp.ne.u32 %p2, %r3, 0;", "unknown"),
        ("%p2, 1, 1", "setp.ne.u32 %p2, 1, 0;", "refuted"),
        ("1, -1, 1", "", "unknown"),
        ("1, 1, 1", "mov.f32 %f3, 0f00000000;", "unknown"),
    ],
)
def test_the_same_columns_count_if_both_instructions_add_to_the_same_sums(flags: str, between: str, last: str) -> None:
    first, second = text(SAME).rsplit("wgmma.mma_async", 1)
    ptx = f"{first}{between} wgmma.mma_async{second.replace('%rd6, 1, 1, 1', f'%rd6, {flags}')}"
    assert verdicts(ptx) == ["proved", "proved", last, last]


def test_external_arrays_begin_at_one_address() -> None:
    ptx = (
        text(PLAIN)
        .replace(f".b8 tile[{PLAIN.bytes}]", ".b8 tile[]")
        .replace(".shared .align", ".extern .shared .align")
    )
    other = ".extern .shared .align 1024 .b8 other[];\n.entry"
    assert verdicts(ptx) == ["proved"] * 4
    ptx = ptx.replace(".entry", other).replace("L:", "L: mov.u32 %r50, other; st.shared.u32 [%r50+64], %r5;")
    assert verdicts(ptx)[0] == "unknown"


def of_two_arrays(base_offset: int, align_a: int, align_b: int) -> str:
    """Two steps along K of tiles with 64 columns, each in an array of its own."""
    side = Side(64, False, "128B", 7, 0, 1024, 32, base_offset)
    program = Program(side, replace(side, rows=16), columns=64, stages=1, align=align_a)
    begin = program.tile_bytes(side)
    head, body = text(program).replace(f"{begin}; add.u32 %r14, %r14, %r4;", "0; add.u32 %r14, %r14, %r40;").split("L:")
    for step in range(2):
        body = body.replace(
            f"add.u32 %r30, %r4, %r8; add.u32 %r30, %r30, {begin + 32 * step};",
            f"add.u32 %r30, %r40, %r8; add.u32 %r30, %r30, {32 * step};",
        )
    before, *_, last = body.split("wgmma.mma_async")
    second = body.split("wgmma.mma_async")[1:3]
    short = "wgmma.mma_async".join([before, *second]) + last[last.index("\nbar.sync") :]
    head = head.replace("mov.u32 %r4, tile;", "mov.u32 %r4, tile; mov.u32 %r40, other;")
    return head.replace(".entry", f".shared .align {align_b} .b8 other[4096];\n.entry") + "L:" + short


def test_where_the_array_of_b_begins_counts_for_a() -> None:
    """If B begins 512 bytes behind a multiple of 1024, it holds columns 32 and on where A holds columns 0 and on."""
    assert verdicts(of_two_arrays(0, 1024, 1024)) == ["proved"] * 4
    assert verdicts(of_two_arrays(0, 1024, 512)) == ["unknown"] * 4


def test_where_two_arrays_begin_is_not_followed() -> None:
    """A base offset of 1 is right 128 bytes behind a multiple of 1024."""
    assert verdicts(of_two_arrays(1, 1024, 1024))[0] == "refuted"
    assert set(verdicts(of_two_arrays(1, 128, 128))) == {"unknown"}


HALO = """.version 8.3
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[8192];
.entry k(.param .u64 a, .param .u64 b, .param .u32 lda, .param .u32 ldb) .reqntid 128
{
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<20>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [lda]; ld.param.u32 %r2, [ldb];
mov.u32 %r4, tile; mov.u32 %r5, %tid.x; and.b32 %r6, %r5, 7; shr.u32 %r7, %r5, 3;
setp.lt.u32 %p1, %r5, 72; mad.lo.u32 %r8, %r5, 16, %r4; mul.lo.u32 %r9, %r5, %r1; mad.wide.u32 %rd3, %r9, 2, %rd1;
@%p1 cp.async.cg.shared.global [%r8], [%rd3], 16;
@%p1 cp.async.cg.shared.global [%r8+2048], [%rd3+16], 16;
setp.lt.u32 %p2, %r5, 32; mad.lo.u32 %r10, %r7, 128, %r4; mad.lo.u32 %r10, %r6, 16, %r10;
mul.lo.u32 %r11, %r6, %r2; mad.wide.u32 %rd4, %r11, 2, %rd2; mul.wide.u32 %rd5, %r7, 16; add.s64 %rd4, %rd4, %rd5;
@%p2 cp.async.cg.shared.global [%r10+4096], [%rd4], 16;
cp.async.wait_all; bar.sync 0; fence.proxy.async.shared::cta;
"""
"""Copies 72 rows of A with 16 columns, and 8 rows of B with 32 columns."""


def tap(a: int, b: int) -> str:
    """An instruction that reads A and B at these bytes."""
    lines: list[str] = []
    for register, at, bits in ((6, a, 8 << 32 | 128 << 16), (7, b, 8 << 16)):
        lines.append(f"add.u32 %r12, %r4, {at}; shr.u32 %r12, %r12, 4; and.b32 %r12, %r12, 0x3fff;")
        lines.append(f"cvt.u64.u32 %rd{register}, %r12; or.b64 %rd{register}, %rd{register}, {bits};")
    opcode = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    return "\n".join(lines) + f"{opcode} {{%f0, %f1, %f2, %f3}}, %rd6, %rd7, 1, 1, 1, 0, 0;\n"


@pytest.mark.parametrize(("shift", "found"), [(16, "unknown"), (0, "refuted")])
def test_columns_that_differ_count_in_the_same_rows(shift: int, found: str) -> None:
    """A convolution reads A a row later for the next columns of B."""
    assert verdicts(HALO + tap(0, 4096) + tap(shift, 4096 + 256) + "ret;\n}") == ["proved", "proved", found, found]


def test_where_the_array_begins_counts() -> None:
    """Threads XOR the offset in the array, and the tensor core the address."""
    ptx = text(replace(PLAIN, align=128))
    a, b, *_ = (each.claim("delivers") for each in scanned(ptx))
    assert (a.verdict, a.needs, b.needs) == ("unknown", 1024, 1024)
    assert a.reason == "it holds if tile starts at a multiple of 1024 bytes; it is aligned to 128"
    plain = replace(PLAIN, a=Side(64, False, "none", 0, 1024, 128, 2048), b=Side(8, False, "none", 0, 128, 128, 256))
    assert verdicts(text(replace(plain, align=16))) == ["proved"] * 4
    assert set(verdicts(text(replace(WRONG["base offset"], align=128)))) == {"unknown"}


def check_others() -> None:
    """What may write beside the copies leaves nothing proved, where it comes before and reaches the bytes."""
    ptx = text(PLAIN)
    for before, word in (
        ("st.shared.u32 [%r4+64], %r5;", "it stores registers"),
        ("st.u32 [%rd1], %r5;", "it may write any byte"),
        ("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1, {%r5}], [%r4];",
         "a tensor copy fills it, and the tensor map says what"),
    ):  # fmt: skip
        found = scanned(ptx.replace("L:", f"L: {before}"))
        assert found[0].claim("delivers").verdict == "unknown"
        assert word in found[0].claim("delivers").reason
        after = ["unknown" if "bulk" in before else "proved"] * 4
        assert verdicts(ptx.replace("ret;", f"{before} ret;")) == after
    far = PLAIN.bytes - 4
    assert verdicts(ptx.replace("L:", f"L: st.shared.u32 [%r4+{far}], %r5;")) == ["proved"] * 4


def test_other_writers_count() -> None:
    check_others()


def check_roles() -> None:
    """What other warps write in a branch of their own comes in any order."""
    ptx = text(PLAIN).replace(".reqntid 128", ".reqntid 256").replace("ret;", "END: ret;")
    for at, first in ((64, "unknown"), (PLAIN.bytes - 4, "proved")):
        role = f"setp.ge.u32 %p5, %r5, 128; @!%p5 bra C; st.shared.u32 [%r4+{at}], %r5; bra END; C:"
        assert verdicts(ptx.replace("mov.u32 %r6, 0;", f"mov.u32 %r6, 0; {role}", 1)) == [
            first,
            first,
            "proved",
            "proved",
        ]


def test_other_roles_count() -> None:
    check_roles()


def test_an_operand_of_an_unknown_one_is_not_proved() -> None:
    """Where A is not known, nothing says whether B starts at the same column."""
    ptx = text(PLAIN).replace("cvt.u64.u32 %rd5, %r30;", "ld.shared.u64 %rd5, [%r4];")
    assert set(verdicts(ptx)) == {"unknown"}


def test_sources_that_differ_from_thread_to_thread_are_unknown() -> None:
    """Rows that are looked up in global memory may be in any order."""
    ptx = text(PLAIN).replace("mad.wide.u32 %rd3, %r17, 2, %rd1;", "ld.global.u64 %rd3, [%rd1];")
    assert set(verdicts(ptx)) == {"unknown"}
    ptx = text(PLAIN).replace("mul.lo.u32 %r17, %r12, %r1;", "div.u32 %r17, %r12, %r1;")
    assert set(verdicts(ptx)) == {"unknown"}


def test_divisions_of_what_threads_share_are_factors() -> None:
    """The block's place in a grid of tiles is often a quotient, and the divisor one of others."""
    more = "div.u32 %r40, %r2, %r3; div.u32 %r41, %r1, %r40; mad.lo.u32 %r17, %r41, 8, %r17; mad.wide.u32 %rd3,"
    found = scanned(text(PLAIN).replace("mad.wide.u32 %rd3,", more))
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert "no division by 0" in found[0].claim("delivers").assumptions


@pytest.mark.nightly
def test_the_command_shows_the_elements(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text(PLAIN))
    shown = CliRunner().invoke(main, ["scan", str(path), "--fail-on", "wrong-elements"])
    assert shown.exit_code == 0
    assert "delivered: 4 proved" in shown.output
    assert re.search(r"\n      element \(r, k\) from a \+ r\*lda\*2 \+ k\*2 \(line \d+\); k from 0\n", shown.output)
    assert f"    assumed: {products.NO_WRAP}" in shown.output
    rows = json.loads(CliRunner().invoke(main, ["scan", str(path), "--format", "json"]).output)["accesses"]
    row = next(each for each in rows if each.get("operand"))
    assert row["delivers"]["verdict"] == "proved"
    assert (row["elements"]["row"], row["elements"]["column"], row["elements"]["k"]) == ("lda*2", "2", 0)
    path.write_text(text(WRONG["SBO"]))
    shown = CliRunner().invoke(main, ["scan", str(path), "--fail-on", "wrong-elements"])
    assert (shown.exit_code, "not delivered: operand A: element (8, 0)" in shown.output) == (1, True)


# ---- mistakes


def swizzled_by(wrong: Callable[[Any, Any], Any]) -> Plant:
    return mock.patch.object(Descriptor, "swizzled", wrong)


def nothing_compared(*_: Any) -> None:
    return None


def no_parts(*_: Any) -> Any:
    return {}, {}


def no_steps(*_: Any) -> Any:
    return {}


def sums_always_go_on() -> Plant:
    """The plant counts the instruction's loops, whatever writes the sums there."""
    return mock.patch.object(sums, "_adds", return_value=True)


def of_first_rows(numbers: Any, present: Any, *, has_orders: bool) -> Any:
    """The map of the first core matrix, whatever the others are."""
    return element_map({each: of[:8] for each, of in numbers.items()}, present[:8], has_orders=has_orders)


element_map = delivers.element_map


MISTAKEN: dict[str, tuple[Callable[[], Plant], Callable[[], None]]] = {
    "no swizzle in what is read": (lambda: swizzled_by(lambda _, address: address), check_right),
    "base offset ignored": (
        lambda: swizzled_by(lambda self, address: address ^ ((address // 128 & self.line_mask) * 16)),
        lambda: check_wrong("base offset"),
    ),
    "columns of K not compared": (
        lambda: mock.patch.object(operand_agreement, "parts_between", no_parts),
        check_columns,
    ),
    "steps from trip to trip not compared": (
        lambda: mock.patch.object(operand_trips, "_per_trip", no_steps),
        lambda: check_wrong("B goes on twice as fast"),
    ),
    "steps from stage to stage not compared": (
        lambda: mock.patch.object(operand_trips, "_between_stages", return_value=()),
        check_late,
    ),
    "columns copied before a loop not compared with it": (
        lambda: mock.patch.object(operand_columns, "_meet", return_value=False),
        check_late,
    ),
    "strides of several copies not compared": (
        lambda: mock.patch.object(delivers, "are_of_one_matrix", return_value=True),
        check_wider,
    ),
    "rows of several copies not compared": (
        lambda: mock.patch.object(operand_agreement, "compare_rows", return_value=""),
        lambda: check_rows("add.u32 %r18, %r12, 1;", "", "unknown"),
    ),
    "rows of several sums not compared": (
        lambda: mock.patch.object(operand_agreement, "_find_doubles", return_value=None),
        check_doubles,
    ),
    "orders of A and B not compared": (
        lambda: mock.patch.object(operand_agreement, "_compare_orders", return_value=None),
        lambda: check_wrong("base offset that exchanges columns"),
    ),
    "sums that start anew in a loop go on": (sums_always_go_on, check_anew),
    "the same sums not compared": (
        lambda: mock.patch.object(operand_agreement, "_keep_apart", nothing_compared),
        lambda: check_wrong("K advance of 16 bytes in A and B"),
    ),
    "only the first rows looked at": (
        lambda: mock.patch.object(delivers, "element_map", of_first_rows),
        lambda: check_wrong("SBO"),
    ),
    "only what leads to the operand counts": (
        lambda: mock.patch.object(KernelFill, "may_precede", lambda self, block, _: block in self.leads_to),
        check_roles,
    ),
    "other writers ignored": (
        lambda: mock.patch.object(delivers, "_other_writers", return_value=()),
        check_others,
    ),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_planted_mistakes_are_found(name: str) -> None:
    plant, checked = MISTAKEN[name]
    with plant(), pytest.raises(AssertionError):
        checked()

"""Operands of kernels in which one thread fills a ring of stages, and a warp group of its own reads them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.kernel.last_trips import LastTrip, last_trip
from swzverify.compiled.kernel.repeats import Again
from swzverify.compiled.scan.claim import ClaimVerdict
from swzverify.compiled.scan.delivers import APART
from swzverify.compiled.scan.filled import NO_GAPS
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Comparison, Expr, Var, compare, const, extract, negation, var
from tests.scan.ring_programs import DESCRIPTOR, MAPS, ring
from tests.scan.test_delivers import of_two_arrays, scanned

copies: Any = import_module("swzverify.compiled.scan.fill_copies")
delivers: Any = import_module("swzverify.compiled.scan.delivers")
agreement: Any = import_module("swzverify.compiled.scan.operand_agreement")
columns: Any = import_module("swzverify.compiled.scan.operand_columns")
trips: Any = import_module("swzverify.compiled.scan.operand_trips")

NIGHTLY = partial(pytest.param, marks=pytest.mark.nightly)
NO_DIVISION_BY_0 = "no division by 0"
PLAIN, UNROLLED = ring(is_unrolled=False), ring(is_unrolled=True)
COPY_OF_B = "[%r15], [%rd2, {{{}, %r24}}]"


def verdicts(ptx: str) -> set[str]:
    return {each.claim("delivers").verdict.value for each in scanned(ptx, None, MAPS)}


def changed(ptx: str, old: str, new: str, at: int | None = None) -> str:
    """The kernel with another text, everywhere or in one place."""
    parts = ptx.split(old)
    assert len(parts) > (1 if at is None else at + 1), old
    if at is None:
        return new.join(parts)
    return old.join(parts[: at + 1]) + new + old.join(parts[at + 1 :])


@pytest.mark.parametrize(
    ("align", "is_unrolled"),
    [
        (1024, False),
        NIGHTLY(1024, True),
        NIGHTLY(128, False),
    ],
)
def test_right_kernels_are_proved(align: int, is_unrolled: bool) -> None:
    """Also where both arrays begin anywhere that tensor copies allow, independently of each other."""
    found = scanned(ring(is_unrolled=is_unrolled, align=align), None, MAPS)
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert all(NO_DIVISION_BY_0 in each.claim("delivers").assumptions for each in found)
    assert len(found) == (24 if is_unrolled else 8)


def test_without_the_division_nothing_is_assumed_of_it() -> None:
    ptx = changed(PLAIN, "div.u32 %r21, %r20, %r3;", "shr.u32 %r21, %r20, 3;")
    ptx = changed(ptx, "mul.lo.u32 %r22, %r21, %r3;", "shl.b32 %r22, %r21, 3;")
    found = scanned(ptx, None, MAPS)
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert not any(NO_DIVISION_BY_0 in each.claim("delivers").assumptions for each in found)


def test_a_divisor_that_lanes_do_not_share_may_part_them() -> None:
    ptx = changed(PLAIN, "div.u32 %r21, %r20, %r3;", "add.u32 %r60, %r3, %r7; div.u32 %r21, %r20, %r60;", 0)
    assert verdicts(ptx) == {"unknown"}


MISTAKES: dict[str, tuple[str, str, int | None]] = {
    "mode of all": (f"{DESCRIPTOR};", f"{DESCRIPTOR + (1 << 62)};", None),
    "sbo of one": (f"{DESCRIPTOR};", f"{DESCRIPTOR - (32 << 32)};", 2),
    "base offset": (f"{DESCRIPTOR};", f"{DESCRIPTOR + (1 << 49)};", 2),
    "k advance of A": ("add.u32 %r30, %r14, 32;", "add.u32 %r30, %r14, 16;", 0),
    "k advance of B": ("add.u32 %r30, %r15, 64;", "add.u32 %r30, %r15, 48;", 0),
    "the same k twice": ("%r14, 64;", "%r14, 32;", 0),
    "stage of B in the reader": ("mad.lo.u32 %r15, %r10, 1024, %r5;", "mad.lo.u32 %r15, %r10, 512, %r5;", 0),
    "stage of A in the reader": ("mad.lo.u32 %r14, %r10, 8192, %r4;", f"{'mov.u32 %r14, %r4;'}", 0),
    "stage of A in the copy": ("[%r14], [%rd1", "[%r4], [%rd1", 0),
    "k of B": (COPY_OF_B.format("%r16"), COPY_OF_B.format("%r11"), 0),
    "k of B in rows": (COPY_OF_B.format("%r16"), COPY_OF_B.format("%r24"), 0),
    "k of both by half of a tile": ("shl.b32 %r16, %r16, 6;", "shl.b32 %r16, %r16, 5;", None),
    "nothing moves along k": ("shl.b32 %r16, %r16, 6;", "mov.u32 %r16, 0;", None),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("ptx", [PLAIN, NIGHTLY(UNROLLED)], ids=["plain", "unrolled"])
def test_no_mistake_stays_proved(name: str, ptx: str) -> None:
    old, new, at = MISTAKES[name]
    found = verdicts(changed(ptx, old, new, at))
    assert found != {"proved"}
    refuted = {"mode of all", "sbo of one", "base offset", "k advance of A", "k advance of B", "the same k twice"}
    assert ("refuted" in found) is (name in refuted)


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("add.u32 %r16, %r11, 1;", "add.u32 %r16, %r11, 0;", 0),  # both copies of a trip bring the same columns
        ("add.u32 %r11, %r11, 2;", "", 1),  # each trip brings the columns of the first one
        NIGHTLY("add.u32 %r11, %r11, 2;", "add.u32 %r11, %r11, 1;", 1),  # a trip brings columns of the trip before
        (COPY_OF_B.format("%r16"), COPY_OF_B.format("%r11"), 1),
        NIGHTLY("[%r14], [%rd1", "[%r4], [%rd1", 1),
        NIGHTLY(
            "add.u32 %r10, %r10, 1;", "add.u32 %r10, %r10, 2;", 4
        ),  # the copier leaves out a stage, the reader does not
    ],
)
def test_no_mistake_of_one_of_several_steps_stays_proved(old: str, new: str, at: int) -> None:
    assert verdicts(changed(UNROLLED, old, new, at)) != {"proved"}


COPY_OF_ROWS = "[%r14], [%rd1, {%r16, %r23}]"


@pytest.mark.parametrize("rows", ["add.u32 %r60, %r23, 64;", NIGHTLY("shl.b32 %r60, %r23, 1;")])
@pytest.mark.parametrize("step", [NIGHTLY(0), 1, 2])
def test_rows_of_another_tile_in_one_step_are_found(rows: str, step: int) -> None:
    """Also in the step behind the loop, whose products no loop carries on."""
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    ptx = changed(UNROLLED, f"{copy}{COPY_OF_ROWS}", f"{rows} {copy}{COPY_OF_ROWS.replace('%r23', '%r60')}", step)
    (only,) = {each.claim("delivers").reason for each in scanned(ptx, None, MAPS)}
    assert only.startswith("A is of other rows in line ")
    assert verdicts(ptx) == {"unknown"}


def test_without_rows_in_common_loops_those_of_another_tile_are_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    other = f"add.u32 %r60, %r23, 64; {copy}{COPY_OF_ROWS.replace('%r23', '%r60')}"

    def alike(*_: object, **__: object) -> str:
        return ""

    monkeypatch.setattr(agreement, "compare_rows", alike)
    assert verdicts(changed(UNROLLED, f"{copy}{COPY_OF_ROWS}", other, 1)) == {"proved"}


def test_copies_of_two_sections_that_exchange_stages_are_not_of_one_trip() -> None:
    """The first copies of a trip bring B of the next stage, and the second ones that of the stage before."""
    ptx = changed(UNROLLED, "[%r15], [%rd2", "[%r61], [%rd2", 0)
    ptx = changed(ptx, "[%r15], [%rd2", "[%r62], [%rd2", 0)
    fill = ptx.index("FILL:")
    stages = "add.u32 %r63, %r10, 1; rem.u32 %r63, %r63, 3; mad.lo.u32 %r61, %r63, 1024, %r5; "
    back = "add.u32 %r63, %r10, 2; rem.u32 %r63, %r63, 3; mad.lo.u32 %r62, %r63, 1024, %r5; "
    place = "mad.lo.u32 %r15, %r10, 1024, %r5;"
    ptx = ptx[:fill] + changed(changed(ptx[fill:], place, place + stages, 0), place, place + back, 1)
    assert verdicts(ptx) == {"unknown"}


def test_where_two_arrays_begin_counts() -> None:
    """Threads XOR the offset: if B begins 512 bytes behind a multiple of 1024 and A at one, they hold other columns."""
    assert set(of_begins(1024)) == {"proved"}
    assert set(of_begins(512)) == {"unknown"}


def of_begins(align: int) -> list[str]:
    return [each.claim("delivers").verdict.value for each in scanned(of_two_arrays(0, align, align))]


@pytest.mark.nightly
def test_a_base_offset_is_wrong_wherever_arrays_begin() -> None:
    """Tensor copies XOR the address, as the instruction does."""
    ptx = changed(ring(is_unrolled=False, align=128), f"{DESCRIPTOR};", f"{DESCRIPTOR + (1 << 49)};", 0)
    found = [each.claim("delivers").verdict.value for each in scanned(ptx, None, MAPS)]
    assert found[:2] == ["refuted", "unknown"]


# ---- coordinates of the thread that copies


def test_what_coordinates_say_is_that_of_the_thread_that_copies() -> None:
    """A choice by the number of the warp group is none for the one thread that copies."""
    choice = (
        "setp.eq.u32 %p0, %r40, 1; selp.b32 %r64, %r2, 5, %p0; mul.lo.u32 %r64, %r64, %r1; add.u32 %r21, %r21, %r64;"
    )
    ptx = changed(PLAIN, "shl.b32 %r23, %r21, 6;", f"{choice} shl.b32 %r23, %r21, 6;")
    assert verdicts(ptx) == {"proved"}
    moved = "setp.eq.u32 %p0, %r40, 0; selp.b32 %r64, %r1, 5, %p0; add.u32 %r16, %r16, %r64; [%r15], [%rd2"
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    one = moved.replace("[%r15]", f"{copy} [%r15]")
    assert verdicts(changed(PLAIN, f"{copy} [%r15], [%rd2", one)) == {"proved"}  # K of both begins elsewhere
    times = one.replace("%r1, 5", "2, 1").replace("add.u32", "mul.lo.u32")
    assert verdicts(changed(PLAIN, f"{copy} [%r15], [%rd2", times)) == {"unknown"}


# ---- zeros


def zeros(condition: str, value: str = "0") -> str:
    """The consumers store a number into the tile before they read it."""
    store = f"{condition} @%p0 st.shared.u32 [%r14], {value}; // step 0"
    return changed(PLAIN, "// step 0", store.replace("// step 0", ""))


def test_zeros_behind_the_end_are_assumed_away() -> None:
    conditional = zeros("setp.lt.u32 %p0, %r1, %r11; mov.u32 %r65, 0;", "%r65")
    found = scanned(conditional, None, MAPS)
    assert {each.claim("delivers").verdict.value for each in found} == {"proved"}
    assert all(NO_GAPS in each.claim("delivers").assumptions for each in found)
    anywhere = changed(conditional, "st.shared.u32 [%r14]", "cvt.u64.u32 %rd8, %r14; @%p0 st.u32 [%rd8]").replace(
        "@%p0 cvt.u64.u32", "cvt.u64.u32"
    )
    assert verdicts(anywhere) == {"proved"}


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("setp.eq.u32 %p0, %r7, 128;", "0"),  # coordinates alone decide it
        ("setp.ge.u32 %p0, %r1, 0;", "0"),  # it holds always
        ("setp.lt.u32 %p0, %r1, %r11;", "1"),
        ("setp.lt.u32 %p0, %r1, %r11;", "%r1"),
        ("setp.eq.u32 %p0, %r11, 0;", "0"),  # the first trip of each launch
        ("setp.eq.u32 %p0, %r10, 1;", "0"),  # one stage
        ("add.u32 %r65, %r1, %r11; and.b32 %r65, %r65, 1; setp.eq.u32 %p0, %r65, 0;", "0"),  # each second trip
    ],
)
def test_other_stores_are_not(condition: str, value: str) -> None:
    assert "unknown" in verdicts(zeros(condition, value))


# ---- copies that some trips do not make

COPY_OF_A = (
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r14], [%rd1, {%r16, %r23}]"
)


def in_trips(condition: str, k: str = "%r16") -> set[str]:
    """The verdicts if A is copied under a condition, from column `k`."""
    copy = f"{condition} @%p0 {COPY_OF_A}".replace("{%r16", f"{{{k}")
    return verdicts(changed(PLAIN, COPY_OF_A, copy))


@pytest.mark.parametrize(
    "condition",
    [
        "setp.eq.u32 %p0, %r11, 0;",
        "setp.ne.u32 %p0, %r11, 0;",
        "setp.lt.u32 %p0, %r11, 5;",
        "and.b32 %r66, %r11, 1; setp.eq.u32 %p0, %r66, 0;",
        "cvt.rn.f32.u32 %f3, %r11; cvt.rzi.u32.f32 %r66, %f3; setp.eq.u32 %p0, %r66, 0;",
    ],
)
def test_a_copy_that_trips_leave_out_is_not_assumed_to_be_made(condition: str) -> None:
    """A is of an old trip then, and B of this one."""
    assert "proved" not in in_trips(condition)


def test_a_copy_that_a_launch_may_make_in_each_trip_is() -> None:
    assert in_trips("setp.lt.u32 %p0, %r11, %r2;") == {"proved"}


# ---- the last trip of a loop


@pytest.mark.parametrize("count", [1, 4, -4, -1, 3])
def test_the_last_trip_is_the_one_in_which_the_sum_is_zero(count: int) -> None:
    """The oracle: count trips until the sum is 0."""
    number, made = var("n", 1 << 8), var("trips", 1 << 64)
    low = extract(made, 0, 8)
    terms = low
    for _ in range(abs(count) - 1):
        terms = added(terms, low)
    total = added(terms, number) if count > 0 else added(number, negated(terms))
    found = last_trip(Again(negation(compare(Comparison.EQ, total, const(0, 8))), True), made)
    assert found is not None
    value = found.put_into(added(terms, const(7, 8)))
    assert made.name not in {each.name for each in variables_of(value)}
    for n in range(256):
        last = next((trip for trip in range(256) if (count * trip + n) % 256 == 0), None)
        if last is not None:
            (own,) = evaluate_many((value,), {"n": n})
            assert int(own) == (abs(count) * last + 7) % 256


def added(left: Expr, right: Expr) -> Expr:
    return import_module("swzverify.compiled.kernel.arithmetic").add(left, right)


def negated(value: Expr) -> Expr:
    return import_module("swzverify.compiled.kernel.arithmetic").sub(const(0, value.width), value)


def variables_of(value: Expr) -> list[Var]:
    return list(import_module("swzverify.ir.expr").variables(value))


# ---- planted mistakes


def one_begin(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(delivers, "_placed", lambda *_: iter(()))


def no_next_trip(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_meet_later", lambda *_: False)


def nothing_is_still(patch: pytest.MonkeyPatch) -> None:
    no_next_trip(patch)
    patch.setattr(trips, "_is_still", lambda *_: False)


def wrong_sign(patch: pytest.MonkeyPatch) -> None:
    right = LastTrip.put_into
    patch.setattr(LastTrip, "put_into", lambda self, value: right(replace(self, count=-self.count), value))


def states_do_not_count(patch: pytest.MonkeyPatch) -> None:
    right = copies.alike_states
    patch.setattr(copies, "alike_states", lambda of: right(of)[:1])
    patch.setattr(import_module("swzverify.compiled.scan.fills"), "alike_states", lambda of: right(of)[:1])


@pytest.mark.parametrize(
    ("plant", "check"),
    [
        (one_begin, test_where_two_arrays_begin_counts),
        (no_next_trip, lambda: test_no_mistake_stays_proved("k of both by half of a tile", PLAIN)),
        (nothing_is_still, lambda: test_no_mistake_stays_proved("nothing moves along k", PLAIN)),
        (wrong_sign, lambda: test_the_last_trip_is_the_one_in_which_the_sum_is_zero(4)),
        (states_do_not_count, lambda: test_right_kernels_are_proved(1024, False)),
    ],
)
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], check: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()


_COPIES = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_OF_A = f"{_COPIES} [%r14], [%rd1, {{%r16, %r23}}], [%r6];"
_OF_B = f"{_COPIES} [%r15], [%rd2, {{%r16, %r24}}], [%r6];"


def _by_two_threads(change: Callable[[str], str] = str) -> str:
    """The kernel with A copied by thread 0, and B by thread 32 in a loop of its own, in which something is changed."""
    begin, end = PLAIN.index("FILL:"), PLAIN.index("DONE: ret")
    filling, first = PLAIN[begin:end], "FILL: setp.ne.u32 %p8, %r7, 0; @%p8 bra DONE;"
    part = "FILL: setp.eq.u32 %p8, %r7, 32; @%p8 bra FILLB; setp.ne.u32 %p8, %r7, 0; @%p8 bra DONE;"
    of_a = changed(changed(filling, _OF_B, ""), first, part)
    of_b = change(changed(changed(filling, _OF_A, ""), first, "FILLB: ").replace("COPY", "CPB"))
    return f"{PLAIN[:begin]}{of_a} bra DONE;\n{of_b}{PLAIN[end:]}"


def test_what_two_threads_copy_in_loops_of_their_own_is_assumed_to_agree() -> None:
    """Nothing compares the trips of two loops: the verdict names what it takes for granted, and others do not."""
    twice = partial(changed, old="shl.b32 %r16, %r16, 6;", new="shl.b32 %r16, %r16, 7;")
    for text, is_assumed in ((PLAIN, False), (_by_two_threads(), True), (_by_two_threads(twice), True)):
        claims = [each.claim("delivers") for each in scanned(text, None, MAPS)]
        assert {each.verdict for each in claims} == {ClaimVerdict.PROVED}
        assert {APART in each.assumptions for each in claims} == {is_assumed}

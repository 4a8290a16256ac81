"""Divisions by what may be 0: what is said of launches that do none, and when nothing is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from swzverify.compiled.kernel import KernelAccess, LaneLeaf, OpaqueLeaf, divisions
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given, ScannedAccess, assuming
from swzverify.compiled.scan.sources import ALIGNED
from swzverify.ir.expr import TRUE, variables
from tests.kernel.test_programs import SHAPES
from tests.kernel.texts import found_in
from tests.nightly import counts
from tests.ptx_oracle import Buffer, launch
from tests.scan.test_command import run
from tests.scan.texts import last, text_of
from tests.scan.whole import scan_module

PLACE = " mad.lo.u32 %r20, %r1, {0}, %r3; mad.lo.u32 %r20, %r4, {1}, %r20; {2}ld.shared.u32 %r30, [%r20];"
NO_ZERO = "no division by 0"
NO_OVERFLOW = "no division of -2147483648 by -1"


def said(body: str) -> tuple[str, tuple[str, ...]]:
    """The verdict of the last access, and what is assumed."""
    found = last(body)
    return found.decision.verdict.value, found.assumptions


def test_a_quotient_that_all_lanes_share() -> None:
    assert said("div.u32 %r4, 4096, %r2;" + PLACE.format(4, 4, "")) == ("free", (NO_ZERO,))
    assert said("rem.u32 %r4, 4096, %r2;" + PLACE.format(128, 4, "")) == ("conflict", (NO_ZERO,))
    assert said("div.s32 %r4, %r2, 7;" + PLACE.format(4, 4, "")) == ("free", ())


def test_a_quotient_of_signed_numbers() -> None:
    """A number that is not the least one is divided by -1 without a fault."""
    assert said("div.s32 %r4, -2147483648, %r2;" + PLACE.format(4, 4, "")) == ("free", (NO_ZERO, NO_OVERFLOW))
    assert said("div.s32 %r4, 4096, %r2;" + PLACE.format(4, 4, "")) == ("free", (NO_ZERO,))
    verdict, assumed = said("div.s32 %r4, %r1, %r2;" + PLACE.format(0, 128, ""))
    assert (verdict, assumed) == ("depends", (NO_ZERO,))
    verdict, assumed = said("add.u32 %r5, %r1, %r2; div.s32 %r4, %r5, %r2;" + PLACE.format(0, 128, ""))
    assert (verdict, assumed) == ("depends", (NO_ZERO, NO_OVERFLOW))


def test_a_remainder_of_lanes_depends_on_the_divisor() -> None:
    """tid.x mod n, 128 bytes apart: free for n = 1 alone."""
    verdict, assumed = said("rem.u32 %r4, %r1, %r2;" + PLACE.format(0, 128, ""))
    assert (verdict, assumed) == ("depends", (NO_ZERO,))


ONLY_FOR_ZERO = "div.u32 %r4, 1, %r2; shr.u32 %r4, %r4, 31; mul.lo.u32 %r4, %r4, %r1;" + PLACE.format(4, 124, "")
"""By SMT-LIB's 1 / 0 lanes are 128 bytes apart; 1 / n is less for every other n."""


def test_what_division_by_zero_might_give_is_no_conflict() -> None:
    assert said(ONLY_FOR_ZERO) == ("free", (NO_ZERO,))


def test_a_verdict_that_holds_of_every_launch_assumes_nothing() -> None:
    """The result counts 128 bytes in every lane, whatever it is."""
    assert said("div.u32 %r4, 4096, %r2;" + PLACE.format(4, 128, "")) == ("free", ())


PASSED_BY = (
    "ld.param.u32 %r7, [q]; setp.eq.u32 %p1, %r7, 0; setp.eq.u32 %p2, %r2, 0; selp.b32 %r8, 31, 0, %p2;"
    " mul.lo.u32 %r4, %r8, %r1; @%p1 bra E; div.u32 %r4, 4096, %r2; E:"
)
"""Where q and n are 0 nothing is divided, and lanes are 128 bytes apart."""
GUARDED = PASSED_BY.replace("@%p1 bra E; div.u32", "@!%p1 div.u32").replace("E:", "")
OF_LANES = "and.b32 %r5, %r1, 1; div.u32 %r4, 64, %r5;" + PLACE.format(4, 4, "")
IN_THE_LAST_TRIP = (
    "mov.u32 %r5, 0; mov.u32 %r4, 0; L: {} div.u32 %r6, %r5, %r2; mul.lo.u32 %r4, %r6, %r1;"
    " add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 9; @%p1 bra L;"
).format(PLACE.format(4, 4, ""))


@pytest.mark.parametrize(
    "body",
    [
        PASSED_BY + PLACE.format(4, 4, ""),
        GUARDED + PLACE.format(4, 4, ""),
        "add.u32 %r5, %r1, %r2; div.u32 %r4, 64, %r5;" + PLACE.format(4, 4, ""),
        "ld.param.u64 %d1, [q]; ld.global.u32 %r5, [%d1]; div.u32 %r4, 64, %r5;" + PLACE.format(4, 4, ""),
        OF_LANES,
    ],
)
def test_what_is_not_sure_is_not_assumed(body: str) -> None:
    """The division is passed by, or each lane has a divisor of its own, or memory has it."""
    found = last(body)
    assert found.assumptions == ()
    assert found.decision.verdict.value != "free"


def test_a_division_behind_an_access_says_nothing_of_it() -> None:
    assert last(IN_THE_LAST_TRIP).assumptions == ()


ARRAY = ".shared .align 128 .b8 z[8192]; "
ROW = "ld.param.u64 %d1, [q]; mad.wide.u32 %d1, %r1, 16, %d1; mov.u32 %r15, z; mad.lo.u32 %r20, %r1, {}, %r15; "
MAYBE = (
    "ld.param.u32 %r7, [q]; setp.eq.u32 %p1, %r7, 0; mov.u32 %r4, 0; @%p1 bra E; div.u32 %r4, {}, %r2; E:"
    " setp.eq.u32 %p2, %r4, {}; @%p2 cp.async.cg.shared.global [%r20], [%d1], 16;"
)
"""A quotient that is passed by decides whether all lanes copy, or none."""


def test_lanes_go_one_way_where_a_quotient_decides() -> None:
    """Octets copy together: what the division gives where it has no result is the value of no lane."""
    found = last(ROW.format(16) + MAYBE.format(4096, 64), outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("free", (NO_ZERO, ALIGNED))
    found = last(ROW.format(32) + MAYBE.format(4096, 64), outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("conflict", (NO_ZERO, ALIGNED))


def test_lanes_leave_a_loop_together_where_a_quotient_counts_its_trips() -> None:
    loop = "div.u32 %r4, 4096, %r2; mov.u32 %r7, 0; L: {} add.u32 %r20, %r20, 128; add.u32 %r7, %r7, 1;"
    loop += " setp.lt.u32 %p2, %r7, %r4; @%p2 bra L;"
    copy = "setp.gt.u32 %p1, %r7, 2; @%p1 cp.async.cg.shared.global [%r20], [%d1], 16;"
    found = last(ROW.format(16) + loop.format(copy), outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("free", (NO_ZERO, ALIGNED))


def test_a_way_that_only_a_division_by_zero_opens_is_no_conflict() -> None:
    """1 / n is 7 for no n but 0."""
    found = last(ROW.format(32) + MAYBE.format(1, 7), outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("unknown", ())


def test_what_only_a_division_by_zero_opens_is_neither_free_nor_out_of_bounds() -> None:
    found = last(ROW.format(16) + MAYBE.format(1, 7), outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("unknown", ())
    copy, store = "cp.async.cg.shared.global [%r20], [%d1], 16;", "st.shared.u32 [%r20+9000], %r1;"
    store = MAYBE.format(1, 7).replace(copy, store)
    assert last(ROW.format(4) + store, outside=ARRAY).in_bounds.verdict.value != "refuted"


def test_a_quotient_of_lanes_decides_for_each_of_them() -> None:
    guard = "and.b32 %r5, %r1, 1; div.u32 %r4, 64, %r5; setp.gt.u32 %p2, %r4, 100; "
    found = last(ROW.format(16) + guard + "@%p2 cp.async.cg.shared.global [%r20], [%d1], 16;", outside=ARRAY)
    assert (found.decision.verdict.value, found.assumptions) == ("unknown", ())


IN_A_LATER_BLOCK = (
    "mov.u32 %r5, %ctaid.x; add.u32 %r6, %r2, %r5; div.u32 %r4, 4096, %r6; setp.eq.u32 %p1, %r2, 0;"
    " setp.eq.u32 %p2, %r5, 1; and.pred %p1, %p1, %p2; selp.b32 %r7, {0}, 4, %p1; mad.lo.u32 %r20, %r1, %r7, %r3;"
    " mad.lo.u32 %r20, %r4, 4, %r20; ld.shared.u32 %r30, [%r20];"
)
"""Something happens for n = 0 in the second block alone; then the first one divides by 0."""


def test_a_block_that_divides_by_zero_spoils_the_launch() -> None:
    assert said(IN_A_LATER_BLOCK.format(128))[0] == "unknown"
    assert last(IN_A_LATER_BLOCK.format(6)).aligned.verdict.value == "unknown"
    in_the_first = IN_A_LATER_BLOCK.format(128).replace("%p1, %r2, 0", "%p1, %r2, 1").replace("%r5, 1", "%r5, 0")
    assert said(in_the_first) == ("depends", (NO_ZERO,))


def test_a_divisor_of_the_block_counts_in_the_first_one() -> None:
    """As long as a part of a row: the last block's rest, or 32 elements."""
    body = "mov.u32 %r5, %ctaid.x; mul.lo.u32 %r5, %r5, 32; sub.u32 %r5, %r2, %r5; min.u32 %r5, %r5, 32;"
    assert said(body + " div.u32 %r4, %r1, %r5;" + PLACE.format(4, 124, "")) == ("depends", (NO_ZERO,))


def test_matrix_loads_keep_what_every_launch_has() -> None:
    load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r30}, [%r20];"
    found = last("div.u32 %r4, 4096, %r2;" + PLACE.format(16, 16, "").replace("ld.shared.u32 %r30, [%r20];", load))
    assert found.assumptions == ()


def test_json_and_text_say_what_is_assumed(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(text_of("div.u32 %r4, 4096, %r2;" + PLACE.format(4, 4, "")))
    found = json.loads(run(str(file), "--block", "64", "--format", "json").output)["accesses"][-1]
    assert found["assumptions"] == found["aligned"]["assumptions"] == [NO_ZERO]
    assert f"    assumed: {NO_ZERO}\n" in run(str(file), "--block", "64").output


def test_given_parameters_need_no_assumption() -> None:
    module = read_module(text_of("div.u32 %r4, 4096, %r2;" + PLACE.format(4, 4, "")), "k.ptx")
    assert scan_module(module, (64, 1, 1), given=Given(("n=3",)))[-1].assumptions == ("n = 3",)


# ---- against the interpreter


def program(seed: int) -> str:
    """Accesses to places that quotients and remainders by `n` give."""
    source = random.Random(seed)
    lines: list[str] = ["mov.u32 %r5, %ctaid.x;"]
    for _ in range(3):
        of = source.choice(("%r1", "%r5", "4096", "-7", "%r11"))
        lines.append(f"mad.lo.u32 %r11, %r1, {source.choice((1, 3, 4, -5))}, {source.choice((0, 9, 100))};")
        by = source.choice(("%r2", "%r2", "%r12"))
        lines.append(f"mul.lo.u32 %r12, %r2, {source.choice((1, 2, 5))};")
        lines.append(f"{source.choice(('div', 'rem'))}.{source.choice('us')}32 %r4, {of}, {by};")
        if source.random() < 0.3:
            lines.append(f"rem.u32 %r4, %r4, {source.choice(('%r2', '6'))};")
        lines.append("and.b32 %r4, %r4, 31;")
        lines.append(PLACE.format(source.choice((0, 4, 4, 8, 64)), source.choice((4, 64, 128)), ""))
        guard = source.choice(("", "setp.lt.u32 %p1, %r4, %r2; @%p1 "))
        lines.append("and.b32 %r6, %r4, 31; mad.lo.u32 %r20, %r6, 4, %r3;")
        lines.append(f"{guard}st.shared.u32 [%r20], %r9;")
    return text_of("\n".join(lines))


COPY = "cp.async.cg.shared.global [%r20], [%d1], 16;"


def way(seed: int) -> str:
    """Accesses to which ways lead that quotients and remainders decide: guards, and how often loops
    repeat, some of them of lanes.
    """
    source = random.Random(seed)
    lines = [
        "ld.param.u64 %d1, [q]; mad.wide.u32 %d1, %r1, 16, %d1; mov.u32 %r5, %ctaid.x; mov.u32 %r15, z;"
        " mov.u32 %r10, 0;"
    ]
    for place in range(3):
        of, by = source.choice(("%r5", "4096", "-7", "%r2", "%r1")), source.choice(("%r2", "%r12", "%r2"))
        lines.append(
            f"mul.lo.u32 %r12, %r2, {source.choice((1, 2, 5))}; setp.lt.u32 %p3, %r1, {source.choice((0, 9))};"
        )
        lines.append(
            source.choice(("", "", "mov.u32 %r4, %r1; @%p3 ")) + f"div.{source.choice('us')}32 %r4, {of}, {by};"
        )
        lines.append(f"add.u32 %r10, %r10, %r4; and.b32 %r13, %r4, {source.choice((1, 3))};")
        guarded = source.random() < 0.6
        if guarded:
            left, right = source.choice(("%r13", "%r10", "%r4")), source.choice(("1", "%r2", "%r14"))
            lines.append(f"shr.u32 %r14, %r1, {source.choice((3, 3, 2, 5))}; setp.le.u32 %p1, {left}, {right};")
        if is_loop := source.random() < 0.6:
            lines.append(f"mov.u32 %r7, 0; L{place}: add.u32 %r10, %r10, {source.choice(('1', '%r4', '%r1'))};")
        lane = f"shl.b32 %r20, %r1, 4; and.b32 %r16, %r10, {source.choice((0, 7, 15))};"
        lines.append(f"{lane} shl.b32 %r16, %r16, {source.choice((4, 7))}; add.u32 %r20, %r20, %r15;")
        lines.append("add.u32 %r20, %r20, %r16; " + ("@%p1 " if guarded else "") + source.choice((COPY, STORE)))
        if is_loop:
            lines.append(f"add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, %r13; @%p2 bra L{place};")
    return text_of("\n".join(lines), ".shared .align 128 .b8 z[8192]; ")


STORE = "st.shared.v4.u32 [%r20], {%r1, %r1, %r1, %r1};"


def held(seed: int, make: Callable[[int], str] = program) -> int:
    """Hold the verdicts of a program against launches that divide by no 0; how many assume that."""
    text, shape = make(seed), SHAPES[seed % len(SHAPES)]
    found: dict[int, ScannedAccess] = {each.line: each for each in scan_module(read_module(text, "k.ptx"), shape)}
    for number in (1, 2, 3, 7, 32, 64, 0xFFFFFFFF, 0xFFFFFFF0):
        result = launch(text, "k", [3], shape, 0, [number, Buffer(4096, "iota")], seed)
        assert not result.error, result.error
        for access in result.accesses:
            decision = found[access.line].decision
            assert decision.verdict != "free" or is_free(access), (seed, number, access.text)
            if decision.verdict == "conflict" and not decision.at_least:
                assert access.ways <= (decision.ways or 1), (seed, number, access.text)
    return sum(NO_ZERO in each.assumptions for each in found.values())


def is_free(access: Any) -> bool:
    """Whether a launch saw no conflict in an access."""
    return access.worst_wavefronts <= access.minimum if "cp.async" in access.text else access.ways <= 1


@pytest.mark.parametrize("count", counts(3, 6))
def test_launches_that_divide_by_no_zero_are_no_worse_than_what_is_said(count: int) -> None:
    assert sum(map(held, range(count))) > 2 * count


@pytest.mark.parametrize("count", counts(3, 6))
def test_ways_that_quotients_decide_are_no_worse_than_what_is_said(count: int) -> None:
    assert sum(held(seed, way) for seed in range(count)) > count // 4


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(6, 126, 6))
def test_many_launches_that_divide_by_no_zero(start: int) -> None:
    assert sum(map(held, range(start, start + 6)))
    assert sum(held(seed, way) for seed in range(4 * start, 4 * start + 24))


# ---- planted mistakes


def fails(test: Any) -> None:
    with pytest.raises(AssertionError):
        test()


def test_the_condition_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divisions.Divisions, "conditions", lambda _: [])
    fails(test_what_division_by_zero_might_give_is_no_conflict)


def test_what_is_assumed_and_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divisions.Divisions, "texts", lambda *_, **__: ())
    fails(test_a_quotient_that_all_lanes_share)


def test_a_division_that_is_passed_by_taken_for_a_made_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of(slices: Any, _: Any) -> Any:
        return {
            leaf.variable: leaf.open
            for leaf in slices.leaves.by_name.values()
            if isinstance(leaf, OpaqueLeaf) and leaf.open is not None
        }

    monkeypatch.setattr(import_module("swzverify.compiled.kernel.accesses"), "with_results", all_of)
    monkeypatch.setattr(divisions.Divisions, "_made", lambda self, each: self._known.get(each))
    for body in (PASSED_BY, GUARDED):
        assert said(body + PLACE.format(4, 4, ""))[0] == "free"
    fails(lambda: test_what_is_not_sure_is_not_assumed(PASSED_BY + PLACE.format(4, 4, "")))


def test_blocks_that_spoil_the_launch_and_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assuming, "in_first_block", lambda _: None)
    fails(test_a_block_that_divides_by_zero_spoils_the_launch)


def test_launches_that_divide_by_zero_taken_for_good_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divisions.Divisions, "launches", lambda _: TRUE)
    fails(test_a_way_that_only_a_division_by_zero_opens_is_no_conflict)
    fails(test_what_only_a_division_by_zero_opens_is_neither_free_nor_out_of_bounds)


def test_divisions_of_which_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("swzverify.compiled.kernel.accesses"), "with_results", lambda *_: {})
    fails(test_lanes_go_one_way_where_a_quotient_decides)
    fails(test_lanes_leave_a_loop_together_where_a_quotient_counts_its_trips)


def test_divisors_of_lanes_taken_for_shared_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divisions, "UniformLeaf", LaneLeaf)
    fails(lambda: test_what_is_not_sure_is_not_assumed(OF_LANES))


def test_the_first_block_is_that_of_the_loops_around_it_too() -> None:
    """How often a loop repeats may read the block's place."""
    body = "mov.u32 %r5, %ctaid.x; add.u32 %r6, %r2, %r5; div.u32 %r4, 4096, %r6; mov.u32 %r7, 0; L:"
    body += PLACE.format(4, 4, "") + " add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %r5; @%p1 bra L;"
    access = found_in(body)[-1].defined
    assert access is not None
    assert any("ctaid.x" in each for each in names_of(access))
    first = assuming.in_first_block(access)
    assert first is not None
    assert not any("ctaid.x" in each for each in names_of(first))


def names_of(access: KernelAccess) -> list[str]:
    """The variables of the conditions on which the loops around an access repeat."""
    return [each.name for loop in access.who.loops for each in variables(loop.again.condition)]


def test_a_conflict_that_a_launch_has_assumes_nothing_of_divisions() -> None:
    """Block 0 of every launch divides by 0, so that no launch without such a division makes the access."""
    body = (
        "mov.u32 %r8, %ctaid.x; div.u32 %r5, 100, %r8; setp.eq.u32 %p1, %r5, 1; @%p1 bra Y; ret; Y:"
        "mul.lo.u32 %r6, %r2, 4; mad.lo.u32 %r20, %r1, %r6, %r3; ld.shared.u32 %r7, [%r20];"
    )
    found = last(body)
    assert (found.decision.verdict.value, found.assumptions) == ("conflict", ())

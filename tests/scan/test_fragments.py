"""Fragments of mma.sync: the verdicts of `delivers` against an interpreter that runs loads and copies."""

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
from swzverify.compiled.kernel import FragmentLoad, mma, parts, ways
from swzverify.compiled.kernel.arithmetic import add
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import (
    Given,
    ScannedFragment,
    fragment_places,
    operand_agreement,
    operand_trips,
    scan_fragments,
)
from swzverify.hardware.fragments import Mma
from swzverify.ir.expr import const, var
from tests.nightly import counts
from tests.scan.fragment_programs import (
    MISTAKES,
    Program,
    Side,
    go_on,
    judged,
    order_of,
    planted,
    right,
    see,
    stays,
    text,
    unrolled,
)

Plant: TypeAlias = AbstractContextManager[object]
SAME_SUMS = "the same columns of K"
TORN = "two copies of"
TRIPS = "from trip to trip"
STILL = "the same elements in each trip"


def scanned(ptx: str) -> list[ScannedFragment]:
    module = read_module(ptx, "k.ptx")
    return scan_fragments(module, module.functions[0], None, Given(), None)


def verdicts(ptx: str) -> list[str]:
    return [each.claim("delivers").verdict.value for each in scanned(ptx)]


def check(program: Program) -> set[str]:
    """No verdict contradicts what the interpreter sees; the verdicts."""
    operands = scanned(text(program))
    assert len(operands) == 2 * program.products * program.bodies
    seen, on, is_still = list(judged(program)), go_on(program), stays(program)
    found: set[str] = set()
    for at, operand in enumerate(operands):
        claim, name = operand.claim("delivers"), operand.fields.role.lower()
        body, product = divmod(at // 2, program.products)
        own = [is_right for each, of, side, is_right in seen if (of, each.product, side) == (body, product, name)]
        found.add(claim.verdict.value)
        assert claim.verdict != "proved" or (all(own) and on[body, product]), (program, claim)
        assert claim.verdict != "proved" or body or not is_still, (program, claim)
        if claim.is_broken and STILL in claim.reason:
            assert is_still, (program, claim)
        elif claim.is_broken and TRIPS in claim.reason:
            assert not on[body, product], (program, claim)
        elif claim.is_broken and SAME_SUMS not in claim.reason and TORN not in claim.reason:
            assert not any(own), (program, claim)
    return found


def check_many(seeds: range) -> None:
    """Kernels without a mistake are proved, and no kernel with one has a wrong verdict."""
    for seed in seeds:
        draw = random.Random(seed)
        program = right(draw)
        mistake = draw.choice(MISTAKES)
        found = check(planted(program, mistake, draw))
        # Which stages A and B are of is not related where one of them alone is loaded in the trip before.
        is_open = program.ahead and program.held != "ab"
        # Behind the loop, `ld` does not say that lanes left it together; a stage that goes on there has more states.
        is_open |= program.ahead and bool(program.tail) and {program.a.load, program.b.load} != {"ldmatrix"}
        is_open |= program.tail == "carried" and program.modulo
        assert mistake != "none" or found == {"proved"} or is_open, program


@pytest.mark.parametrize("count", counts(6, 600))
def test_verdicts_are_those_of_the_interpreter(count: int) -> None:
    check_many(range(count))


PLAIN = Program(Side(mask=3, read_mask=3), Side(mn=True, trans=True, mask=1, read_mask=1))
"""A has its rows along K and B across, with two steps along K and two stages."""
ALONG = replace(PLAIN, b=Side(mask=3, read_mask=3))
"""A and B have their rows along K."""
AHEAD = replace(PLAIN, ahead=True, stages=3)
"""The registers of the first step along K are loaded in the trip before."""
WIDE = replace(ALONG, a=replace(ALONG.a, load="wide"), b=replace(ALONG.b, load="wide"))
"""Lanes load two registers at once, with K of A and B in another order."""
TAILS = (
    replace(AHEAD, modulo=True, tail="rem"),
    replace(AHEAD, modulo=True, stages=2, tail="shift"),
    replace(ALONG, stages=3, tail="carried"),
)
"""The last stages are multiplied behind the main loop; in the first two with registers that its last trip loads."""


def check_right() -> None:
    for program in (PLAIN, ALONG, AHEAD, WIDE, replace(AHEAD, modulo=True), replace(PLAIN, modulo=True, stages=3)):
        assert set(verdicts(text(program))) == {"proved"}


def check_tails() -> None:
    for program in TAILS:
        assert set(verdicts(text(program))) == {"proved"}


@pytest.mark.parametrize("program", TAILS, ids=lambda each: each.tail)
def test_stages_behind_the_main_loop_are_proved(program: Program) -> None:
    assert check(program) == {"proved"}


@pytest.mark.parametrize("program", TAILS, ids=lambda each: each.tail)
def test_loads_behind_the_main_loop_are_of_the_stage_of_the_other_operand(program: Program) -> None:
    found = check(replace(program, b=replace(program.b, behind=1)))
    assert found == {"proved", "unknown"}  # those of the loop are right


def test_what_signed_remainders_assume_is_said() -> None:
    claims = [each.claim("delivers") for each in scanned(text(TAILS[1]))]
    assert all(parts.NOT_NEGATIVE in each.assumptions for each in claims)


def test_what_a_sign_in_an_address_assumes_is_said() -> None:
    """With a pitch of 2^31 or more these loads are of another stage, and no quotient or remainder says so."""
    ptx = text(replace(ALONG, modulo=True, stages=3))
    found = re.search(r"rem\.u32 (%v\d+), %trip, 3;", ptx)
    assert found
    ptx = ptx.replace(found[0], f"{found[0]} shr.u32 %ca39, %ldb, 31; add.u32 {found[1]}, {found[1]}, %ca39;", 1)
    claims = [each.claim("delivers") for each in scanned(ptx)]
    assert all(each.verdict != "proved" or any("whose sign," in text for text in each.assumptions) for each in claims)
    assert any(each.verdict == "proved" for each in claims)


def test_kernels_without_a_mistake_are_proved() -> None:
    check_right()


WRONG: dict[str, Program] = {
    "XOR of A dropped where it is written": replace(PLAIN, a=replace(PLAIN.a, mask=0)),
    "XOR of A dropped where it is read": replace(PLAIN, a=replace(PLAIN.a, read_mask=0)),
    "XOR of B dropped where it is read": replace(ALONG, b=replace(ALONG.b, read_mask=0)),
    ".trans of B ignored": replace(PLAIN, b=replace(PLAIN.b, trans=False)),
    ".trans of A where there is none": replace(PLAIN, a=replace(PLAIN.a, trans=True)),
    "registers of A swapped": replace(PLAIN, a=replace(PLAIN.a, swapped=True)),
    "A goes on half as fast": replace(PLAIN, a=replace(PLAIN.a, advance=16)),
    "B goes on twice as fast": replace(ALONG, b=replace(ALONG.b, advance=64)),
    "B goes on twice as fast, loaded in the trip before": replace(AHEAD, b=replace(AHEAD.b, advance=64)),
    "no copy goes on along K": replace(PLAIN, still="all"),
    "no copy goes on along K, in one stage": replace(ALONG, stages=1, still="all"),
    "a step along K is too far in A": replace(PLAIN, steps=4, a=Side(mask=7, read_mask=7, step=1)),
    "registers of A swapped, loaded in the trip before": replace(AHEAD, a=replace(AHEAD.a, swapped=True)),
}


def check_wrong(name: str) -> None:
    assert "refuted" in verdicts(text(WRONG[name]))


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_in_kernels_are_found(name: str) -> None:
    check_wrong(name)
    check(WRONG[name])


@pytest.mark.parametrize("name", ["a", "b"])
def test_an_operand_that_is_filled_before_the_loop_does_not_go_on(name: str) -> None:
    plain = replace(ALONG, stages=1)
    side: Side = replace(getattr(plain, name), once=True)
    program = replace(plain, a=side) if name == "a" else replace(plain, b=side)
    assert not any(go_on(program).values())
    check(program)
    other = "B" if name == "a" else "A"
    assert {each.claim("delivers").reason for each in scanned(text(program))} == {
        f"{other} goes on along K from trip to trip, and the other operand is filled outside of the loop"
    }


@pytest.mark.parametrize("turn", [1, 2])
def test_a_and_b_are_of_one_stage(turn: int) -> None:
    """Stages of B that turn twice as fast are of other trips than those of A."""
    program = replace(ALONG, stages=3, modulo=True, prologue=False, turn=turn)
    assert check(program) == ({"proved"} if turn == 1 else {"unknown"})
    reasons = {each.claim("delivers").reason.partition(":")[0] for each in scanned(text(program))}
    assert reasons == ({""} if turn == 1 else {"copies of one loop bring A and B in different states"})


def in_a_loop(ptx: str, *, is_anew: bool = True) -> str:
    """The kernel with a loop around all of it, each trip of which starts the sums anew, if they are."""
    zeros = "".join(f"mov.b32 %s{at}, 0; " for at in range(8 if is_anew else 0))
    ptx = ptx.replace("mov.u32 %thread", f"mov.u32 %ca39, 0; O: bar.sync 0; {zeros}mov.u32 %thread", 1)
    return ptx.replace("ret;", "add.u32 %ca39, %ca39, 1; setp.lt.u32 %p5, %ca39, %ldb; @%p5 bra O; ret;")


@pytest.mark.parametrize("once", ["", "a", "b", "ab"])
def test_copies_between_the_runs_of_a_loop_bring_the_same_in_all_of_its_trips(once: str) -> None:
    """A path leads from the loop to the copies before its next run: they may be made in each trip of another loop."""
    program = replace(ALONG, stages=1)
    program = replace(program, **{name: replace(getattr(program, name), once=True) for name in once})
    assert set(verdicts(in_a_loop(text(program)))) == {"unknown" if once else "proved"}
    assert set(verdicts(in_a_loop(text(program), is_anew=False))) == {"unknown"}


def test_copies_of_the_main_loop_alone_that_do_not_go_on_are_unknown() -> None:
    """The first trips multiply other elements: nothing says that there are more."""
    assert check(replace(AHEAD, still="loop")) == {"unknown"}


def test_a_product_in_some_trips_only_may_add_each_element_once() -> None:
    ptx = text(replace(ALONG, stages=1, still="all"))
    assert set(verdicts(ptx)) == {"refuted"}
    ptx = ptx.replace("L:", "L: setp.eq.u32 %p5, %trip, 0;").replace("mma.sync", "@%p5 mma.sync")
    assert "refuted" not in verdicts(ptx)


@pytest.mark.parametrize("is_computed", [False, True])
def test_strides_that_are_numbers_matter_where_operands_are_compared(*, is_computed: bool) -> None:
    """Steps along the rows of V are steps along K, too, but nothing is compared with probabilities."""
    ptx = text(PLAIN).replace("ld.param.u32 %ldb, [ldb];", "mov.u32 %ldb, 32;")
    if is_computed:
        ptx = re.sub(re.escape(LOAD) + r"(%v\d+)[^;]*;", r"\g<0> mul.f16x2 \1, \1, \1;", ptx)
    found = [each.claim("delivers") for each in scanned(ptx) if each.fields.role == "B"]
    assert ({each.verdict.value for each in found} == {"proved"}) == is_computed


PARTED = replace(ALONG, parted=True)
"""A barrier stands between the copies of A and those of B: they are two sections."""


@pytest.mark.parametrize("late", ["", "a", "b"])
@pytest.mark.parametrize("program", [PARTED, replace(PARTED, stages=3, modulo=True)])
def test_copies_of_two_sections_are_of_one_stage(program: Program, late: str) -> None:
    assert check(program) == {"proved"}
    for name in late:
        wrong = replace(program, **{name: replace(getattr(program, name), late=1)})
        assert not any(go_on(wrong).values())
        assert check(wrong) == {"unknown"}


def shifted(by: int, operation: str, which: int) -> str:
    """Loads, or copies, of which the stage is the remainder of the number of a trip and of another number."""
    ptx = text(replace(ALONG, modulo=True, stages=3))
    old, trip = [*re.finditer(r"rem\.u32 %v\d+, (%\w+), 3;", ptx)][which].group(0, 1)
    new = old.replace("rem.u32", operation).replace(trip, "%ca39")
    return ptx.replace(old, f"add.u32 %ca39, {trip}, {by}; {new}", 1)


@pytest.mark.parametrize("operation", ["rem.u32", "rem.s32"])
@pytest.mark.parametrize("which", [0, 1], ids=["loads", "copies"])
def test_a_remainder_of_a_number_that_begins_below_zero_is_not_known(operation: str, which: int) -> None:
    """`(trip - 3) % 3` is no stage of the ring in the first trips, and assumptions do not say that there are none."""
    assert set(verdicts(shifted(3, operation, which))) == {"proved"}
    assert set(verdicts(shifted(-3 - 2 * which, operation, which))) == {"unknown"}


SHORT = replace(ALONG, a=Side(mask=1, read_mask=1), b=Side(mask=1, read_mask=1), steps=1, tiles=1)
"""A stage is one step along K."""


@pytest.mark.parametrize(
    ("pairs", "first", "found", "reason"),
    [
        ([(0, 0), (1, 1)], (0, 1), "proved", ""),
        ([(0, 1), (1, 0)], (0, 1), "unknown", "A by 16 and B by - 16 columns"),
        ([(0, 0), (1, 0)], (0, 1), "unknown", "A by 16 and B by 0 columns"),
        ([(0, 0), (1, 1)], (0, 0), "unknown", "the same columns of K to an instruction before it"),
    ],
    ids=["right", "stages exchanged", "one stage of B", "both stages of the same columns"],
)
def test_stages_that_are_copied_one_after_the_other_are_compared(
    pairs: list[tuple[int, int]], first: tuple[int, int], found: str, reason: str
) -> None:
    """A barrier stands behind the copies of each stage, and a trip multiplies both."""
    claims = [each.claim("delivers") for each in scanned(unrolled(SHORT, pairs, first))]
    assert [each.verdict.value for each in claims] == ["proved"] * 2 + [found] * 2
    assert all(reason in each.reason for each in claims[2:])


BEHIND = replace(PARTED, tail="carried")
"""The last stage is multiplied behind the loop."""


@pytest.mark.parametrize("ends", [False, True], ids=["in the loop", "behind the loop"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_loads_of_another_stage_are_not_proved_where_a_barrier_parts_a_from_b(name: str, *, ends: bool) -> None:
    """One stage is filled before the loop, and so the other one in the loop alone."""
    program = BEHIND if ends else PARTED
    assert check(program) == {"proved"}
    side: Side = getattr(program, name)
    wrong = replace(program, **{name: replace(side, behind=1) if ends else replace(side, ring=1)})
    assert check(wrong) == ({"proved", "unknown"} if ends else {"unknown"})


def check_exchanged() -> None:
    assert set(verdicts(unrolled(SHORT, [(0, 1), (1, 0)], (0, 1)))) == {"proved", "unknown"}


REORDERED: dict[str, Program] = {
    "registers of B swapped": replace(PLAIN, b=replace(PLAIN.b, swapped=True)),
    "K of A alone in another order": replace(ALONG, a=replace(ALONG.a, load="wide")),
    "K of B alone in another order": replace(ALONG, b=replace(ALONG.b, load="wide")),
}
"""Right if one matrix was stored with its columns of K in the order in which the kernel loads them."""


@pytest.mark.parametrize("name", REORDERED)
def test_a_matrix_may_be_stored_in_another_order_of_k(name: str) -> None:
    program = REORDERED[name]
    orders = {(order_of(program, "a", each.a), order_of(program, "b", each.b)) for each in see(program)}
    assert None not in next(iter(orders))
    assert len(orders) == 1  # all rows, products and warps have it: so a matrix can be stored like this
    check(program)
    claims = [each.claim("delivers") for each in scanned(text(program))]
    assert {each.verdict.value for each in claims} == {"unknown"}
    assert {each.reason.partition(", which ")[2] for each in claims} == {
        "is right if one matrix was stored in that order"
    }


def test_rows_that_are_eight_off_are_said_where_the_tile_ends() -> None:
    """The claim does not know which rows are meant, but another matrix lies behind the last one."""
    a, *_ = scanned(text(replace(ALONG, warps=1, a=replace(ALONG.a, shift=8))))
    assert a.claim("delivers").verdict == "unknown"
    assert a.claim("delivers").reason.startswith(
        "its rows come in another order, which may be meant: element (8, 0) comes from b in global memory"
    )
    assert scanned(text(ALONG))[0].fields.start == "tile + {0, 1024, 3072, 4096}"
    assert (
        scanned(text(replace(ALONG, a=replace(ALONG.a, shift=8))))[0].fields.start == "tile + {512, 1536, 3584, 4608}"
    )


def test_places_are_told_for_each_layout() -> None:
    fields = [(each.fields.row, each.fields.column, each.fields.swizzle) for each in scanned(text(PLAIN))[:2]]
    assert fields == [(64, 2, "Swizzle<2,4,3>"), (2, 32, "Swizzle<1,4,3>")]
    padded = scanned(text(replace(ALONG, a=Side(pad=16))))[0].fields
    assert (padded.row, padded.column, padded.swizzle, dict(padded.unknown)) == (80, 2, None, {})
    order = scanned(text(WIDE))[0]
    assert order.elements is not None
    assert order.elements.order == (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15)
    assert order.fields.unknown == {"row": "its elements have no affine places, and none after an XOR swizzle"}


LOAD = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {"


def first_registers(ptx: str) -> str:
    """The first register of the first ldmatrix.x4."""
    begin = ptx.index(LOAD) + len(LOAD)
    return ptx[begin : ptx.index(",", begin)]


@pytest.mark.parametrize(
    ("change", "reason", "other"),
    [
        ("mul.f16x2 {0}, {0}, {0};", "some of its registers are computed: `mul.f16x2`", "proved"),
        ("mov.b32 {0}, 0;", "some of its registers are numbers", "proved"),
        ("ld.global.b32 {0}, [%w1];", "some of its registers are loaded from elsewhere: `ld.global.b32`", "proved"),
        (
            "setp.eq.u32 %p4, %n, 7; @%p4 mov.b32 {0}, 0;",
            "on some path, some of its registers are numbers",
            "unknown",
        ),
        (
            "setp.eq.u32 %p4, %thread, 7; @%p4 mov.b32 {0}, 0;",
            "which load filled its registers depends on the path",
            "unknown",
        ),
        ("mov.b64 %w7, {{{0}, {0}}}; mov.b64 {{{0}, %v1}}, %w7;", "", "proved"),
        ("mov.b32 {{%h1, %h2}}, {0}; mov.b32 {0}, {{%h1, %h2}};", "", "proved"),
        ("mov.b32 {{%h1, %h2}}, {0}; mov.b32 {0}, {{%h2, %h1}};", "element (0, 2) comes from ", "unknown"),
    ],
)
def test_registers_are_followed_through_moves_alone(change: str, reason: str, other: str) -> None:
    ptx = text(PLAIN)
    end = ptx.index(";", ptx.index(LOAD)) + 1
    ptx = ptx[:end] + change.format(first_registers(ptx)) + ptx[end:]
    a, b, *_ = scanned(ptx.replace(".reg .pred", ".reg .b16 %h<4>; .reg .pred"))
    assert (a.claim("delivers").reason[: len(reason)], b.claim("delivers").verdict.value) == (reason, other)
    assert (a.claim("delivers").verdict == "proved") == (not reason)


@pytest.mark.parametrize(
    ("load", "reason"),
    [("ld", "is in a loop that the product is not in"), ("ldmatrix", "one may be of another stage")],
)
def test_lanes_that_leave_a_loop_may_do_so_at_different_trips(load: str, reason: str) -> None:
    """All lanes execute an `ldmatrix` together, so they have its last trip in common."""
    ptx = text(replace(PLAIN, a=replace(PLAIN.a, load=load)))
    begin = ptx.index("ld.shared.b32" if load == "ld" else LOAD)
    end = ptx.index(";", begin) + 1
    loop = f"mov.u32 %stage, 0; I: {ptx[begin:end]} add.u32 %stage, %stage, 0; setp.lt.u32 %p4, %n, 0; @%p4 bra I;"
    a, *_ = scanned(ptx[:begin] + loop + ptx[end:])
    assert a.claim("delivers").verdict == "unknown"
    assert a.claim("delivers").reason.endswith(reason)


def test_what_threads_write_beside_copies_is_not_followed() -> None:
    ptx = text(PLAIN).replace("bar.sync 0;", "st.shared.b32 [tile+4], %thread; bar.sync 0;", 1)
    assert scanned(ptx)[0].claim("delivers").reason.endswith(": it stores registers")


def test_products_that_no_lane_executes_are_unknown() -> None:
    ptx = text(PLAIN).replace("L:", "setp.gt.u32 %p5, %thread, 999; L:").replace("mma.sync", "@%p5 mma.sync")
    assert {each.claim("delivers").reason for each in scanned(ptx)} == {"no lane makes this access"}


def test_a_function_that_kernels_call_is_unknown() -> None:
    ptx = text(PLAIN).replace(".entry k(", ".func k(").replace(f".reqntid {PLAIN.threads}", "")
    module = read_module(ptx, "k.ptx")
    found = scan_fragments(module, module.functions[0], (PLAIN.threads, 1, 1), Given(), None)
    assert {each.claim("delivers").verdict.value for each in found} == {"unknown"}


# ---- mistakes in the code

SOURCE = FragmentLoad.source


def without_trans(self: FragmentLoad, lane: Any, byte: int) -> Any:
    """The rule of ldmatrix without .trans, whatever the load is."""
    site = replace(self.access.site, opcode=self.access.site.opcode.replace(".trans", ""))
    return SOURCE(FragmentLoad(replace(self.access, site=site), self.block), lane, byte)


def of_next_matrix(self: FragmentLoad, lane: Any, byte: int) -> Any:
    """Rows of the matrix behind the one that fills a register."""
    row, place = SOURCE(self, lane, byte)
    return (row + 8) % 32, place


ORIGIN, ROW = ways.Origin, Mma.row
STATES = fragment_places._states  # pyright: ignore


def each_alone(way: Any, executed: Any, loads: Any, parts: Any) -> Any:
    """States that have a name of their own for each operand."""
    found = STATES(way, executed, loads, parts)
    return (
        None
        if found is None
        else [
            (tuple((var(f"{of.name} of {way.origins[0].load}", of.limit), number) for of, number in state), own)
            for state, own in found
        ]
    )


LAST_TRIP = fragment_places._last_trip  # pyright: ignore


def one_more(loop: Any) -> Any:
    """The trip behind the last one."""
    found = LAST_TRIP(loop)
    return None if found is None else add(found, const(1, found.width))


def check_places_ahead() -> None:
    """In later trips, the registers of the first step are those of the stage of the trip before."""
    found = scanned(text(replace(AHEAD, modulo=True)))[0]
    assert len(found.claim("delivers").engines) == 2
    module = read_module(text(replace(AHEAD, modulo=True)), "k.ptx")
    read = mma.read_fragments(module, module.functions[0])
    assert [{each.before for each in way.origins} == {way.loop} for way in read.fragments[0].ways] == [
        False,
        True,
    ]


def in_first_columns(_self: Mma, _role: str, lane: Any, _register: Any, part: Any) -> Any:
    """The first register only."""
    return 2 * (lane % 4) + part


PLANTED: dict[str, tuple[Callable[[], Plant], Callable[[], object]]] = {
    ".trans ignored": (
        lambda: mock.patch.object(FragmentLoad, "source", without_trans),
        check_right,
    ),
    "matrices one too far": (
        lambda: mock.patch.object(FragmentLoad, "source", of_next_matrix),
        check_right,
    ),
    "rows 8 off": (
        lambda: mock.patch.object(Mma, "row", lambda self, role, lane, register: ROW(self, role, lane, register + 1)),
        check_right,
    ),
    "parts not counted along K": (
        lambda: mock.patch.object(Mma, "column", in_first_columns),
        check_right,
    ),
    "last trip one too far": (
        lambda: mock.patch.object(fragment_places, "_last_trip", one_more),
        check_tails,
    ),
    "conditions say nothing of stages": (
        lambda: mock.patch.object(parts.Parts, "numbers", return_value=None),
        check_tails,
    ),
    "copies of two sections not compared": (
        lambda: mock.patch.multiple(
            operand_trips, _between_stages=mock.Mock(return_value=()), compare_places=mock.Mock(return_value="")
        ),
        lambda: check(replace(PARTED, b=replace(PARTED.b, late=-1))),
    ),
    "instructions of other copies not compared": (
        lambda: mock.patch.object(
            operand_agreement, "compare_products", side_effect=lambda products, *_: [""] * len(products)
        ),
        check_exchanged,
    ),
    "trips without a step not seen": (
        lambda: mock.patch.object(operand_agreement, "find_moves", return_value=operand_trips.Trips()),
        lambda: check_wrong("no copy goes on along K"),
    ),
    "orders of A and B not compared": (
        lambda: mock.patch.object(operand_agreement, "_other_order", return_value=""),
        lambda: check(REORDERED["registers of B swapped"]),
    ),
    "trips not compared": (
        lambda: mock.patch.object(operand_agreement, "compare_trips", return_value=operand_trips.Trips()),
        lambda: check_wrong("B goes on twice as fast"),
    ),
    "loads of the trip before are those of the same trip": (
        lambda: mock.patch.object(ways, "Origin", lambda load, byte, *_: ORIGIN(load, byte)),
        check_places_ahead,
    ),
    "sums not followed from trip to trip": (
        lambda: mock.patch.object(mma._Followed, "_product", return_value=None),  # pyright: ignore
        lambda: check_wrong("B goes on twice as fast"),
    ),
    "states of A and B not compared": (
        lambda: mock.patch.object(operand_agreement, "_unlike_states", return_value=""),
        lambda: check(replace(ALONG, stages=3, modulo=True, prologue=False, turn=2)),
    ),
    "states of A and B not those of one trip": (
        lambda: mock.patch.object(fragment_places, "_states", each_alone),
        check_right,
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_mistakes_are_found(name: str) -> None:
    plant, find = PLANTED[name]
    find()
    with plant(), pytest.raises(AssertionError):
        find()


def test_reports_have_the_operands(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(text(PLAIN), encoding="utf-8")
    told = CliRunner().invoke(main, ["scan", str(path), "--fragments"]).output
    assert "8 operands of mma.sync: 8 with places known; delivered: 8 proved" in told
    assert "A: 64 bytes a row, 2 along K, Swizzle<2,4,3>; start tile + {0, 1024, 3072, 4096}" in told
    assert "element (r, k) from a + r*lda*2 + k*2" in told
    found = json.loads(CliRunner().invoke(main, ["scan", str(path), "--fragments", "--format", "json"]).output)
    rows = [each for each in found["accesses"] if each["instruction"].startswith("mma.sync")]
    assert [each["operand"]["role"] for each in rows] == ["A", "B"] * 4
    assert (rows[0]["delivers"]["verdict"], rows[0]["verdict"], rows[0]["operand"]["row"]) == ("proved", None, 64)
    assert "aligned" not in rows[0]
    path.write_text(text(WRONG["XOR of A dropped where it is read"]), encoding="utf-8")
    assert CliRunner().invoke(main, ["scan", str(path), "--fragments", "--fail-on", "wrong-elements"]).exit_code == 1

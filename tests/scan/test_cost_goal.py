"""An access as the cost that engines of specs decide: two readings that share no code agree at
points, and mistakes planted in it are found.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np
import pytest

from swzverify.compiled.kernel import accesses
from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.kernel.narrow import narrowed
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import any_shared as any_shared_room
from swzverify.compiled.scan import asker
from swzverify.compiled.scan import cost_goal as room
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.cost_goal import banks_goal, coordinates, cost_goal, octet_goal, plainly_named
from swzverify.compiled.scan.price import Block, block_of
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.split import Parts, split
from swzverify.compiled.scan.verdict import DisagreementError
from swzverify.engines.obligations import Answer, Cost, GatherCost
from swzverify.hardware import Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, Var, extract, substitute, variables

Shape = tuple[int, int, int]

_HEAD = (
    ".version 8.3 .target sm_90 .address_size 64 .shared .align 128 .b8 s[65536]; "
    ".entry k(.param .u32 n, .param .u64 g)"
)
_REGISTERS = "{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<9>; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; "
_LOAD = "mov.u32 %r4, s; add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4]; ret; }"
_ROWS = "mad.lo.u32 %r3, %r2, 40, %r1; shl.b32 %r3, %r3, 2; "
_PITCH = "ld.param.u32 %r6, [n]; mad.lo.u32 %r3, %r2, %r6, %r1; shl.b32 %r3, %r3, 2; "
_DATA = (
    "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r3, [%rd1]; "
    "and.b32 %r3, %r3, 255; shl.b32 %r3, %r3, 2; "
)
_GUARDED = (
    "shl.b32 %r3, %r1, 2; ld.param.u32 %r6, [n]; shl.b32 %r7, %r6, 24; shr.s32 %r7, %r7, 24; and.b32 %r8, %r1, 255; "
    "add.u32 %r7, %r7, %r8; and.b32 %r7, %r7, 63; setp.gt.u32 %p1, %r7, 40; @%p1 ret; "
)
"""Lanes that low bits of a parameter choose."""
_BAD_LANES_OF_SECOND_WARP = (
    "mov.u32 %r7, %laneid; setp.ge.u32 %p1, %r7, 8; shl.b32 %r8, %r7, 7; shl.b32 %r9, %r7, 2; "
    "selp.b32 %r8, %r8, %r9, %p1; shr.u32 %r10, %r1, 5; mul.lo.u32 %r3, %r10, %r8; "
)
"""Words of one bank for lanes 8 to 31 of the second warp."""


def asked(body: str, shape: Shape) -> Question:
    """The load of a kernel whose body computes the place `%r3` in an array."""
    module = read_module(_HEAD + _REGISTERS + body + _LOAD, "k.ptx")
    access = accesses(module, module.functions[0], shape)[-1]
    assert access.cost.row is not None
    assert access.address is not None
    return Question(access.cost.row, split(access, access.address), block_of(shape), Asker(9, 1), ())


def _of(question: Question) -> tuple[Instruction, Parts, Block]:
    return question.row, question.parts, question.block


def _cost(body: str, shape: Shape) -> tuple[Cost | GatherCost, Cost]:
    question = asked(body, shape)
    goal = cost_goal(*_of(question), question.guard)
    return goal, goal.cost if isinstance(goal, GatherCost) else goal


def _readings_differ(goal: Cost | GatherCost) -> bool:
    cost, own = (goal.cost, goal.own) if isinstance(goal, GatherCost) else (goal, ())
    draw = np.random.default_rng(1)
    arrays = {node.name: draw.integers(0, node.limit, 4096) for node in (*cost.domain.variables, *own)}
    formula = evaluate_many((cost.domain.assumption, cost.address, cost.active), arrays)
    facts, address, active = (np.broadcast_to(each, 4096) for each in formula)
    counts, plain_address, plain_active = (np.broadcast_to(each, 4096) for each in cost.definition(arrays))
    on = (active != 0) & (facts != 0)
    same = (on == (plain_active & counts)).all() and (address == plain_address)[on].all()
    return not same


@pytest.mark.parametrize("body", [_ROWS, _PITCH, _DATA, _GUARDED, _BAD_LANES_OF_SECOND_WARP])
@pytest.mark.parametrize("shape", [(32, 1, 1), (8, 16, 1), (40, 1, 1), (5, 3, 7), (4, 2, 9)])
def test_both_readings_agree(body: str, shape: Shape) -> None:
    goal = _cost(body, shape)[0]
    banks = banks_goal(goal)
    assert banks is not None
    assert not _readings_differ(goal)
    assert not _readings_differ(banks)


def test_swapped_axes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def swapped(shape: Shape, lane: Expr, warp: Expr) -> dict[str, Expr]:
        found = coordinates(shape, lane, warp)
        return {**found, "tid.x": found["tid.y"], "tid.y": found["tid.x"]}

    monkeypatch.setattr(room, "coordinates", swapped)
    assert _readings_differ(_cost(_ROWS, (8, 16, 1))[0])


def test_a_guard_and_an_address_have_the_same_terms() -> None:
    """Z3 compares what is written in one way, and computes what is written in two ways twice."""
    cost = _cost(_GUARDED, (64, 1, 1))[1]
    assert narrowed(cost.active) is cost.active


def test_lost_bits_of_a_guard_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(value: Expr) -> Expr:
        if value.width > 1:
            return narrowed(value)
        kept = {each: widened(extract(each, 0, 4), each.width) for each in variables(value) if each.width > 4}
        return narrowed(substitute(value, {**kept}))

    assert not _readings_differ(_cost(_GUARDED, (64, 1, 1))[0])
    monkeypatch.setattr(room, "narrowed", wrong)
    assert _readings_differ(_cost(_GUARDED, (64, 1, 1))[0])


def _engines(body: str, shape: Shape) -> tuple[str, ...]:
    proof = Asker(9, 1).cost(_cost(body, shape)[0])
    return proof.engines if proof.answer is Answer.HOLDS else ()


def test_values_that_lanes_share_are_proved_for_all() -> None:
    assert _engines("ld.param.u32 %r6, [n]; add.u32 %r3, %r6, %r1; shl.b32 %r3, %r3, 2; ", (64, 1, 1))[1:] == ("z3",)
    assert _engines(_PITCH, (8, 16, 1)) == ()


def test_a_cost_that_holds_is_made_and_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    body = "ld.param.u32 %r6, [n]; add.u32 %r3, %r6, %r1; shl.b32 %r3, %r3, 2; "
    question = asked(body, (64, 1, 1))
    first = question.cost(question.guard)
    assert first.answer is Answer.HOLDS
    for owner, name in ((room, "_goal"), (Asker, "_cost")):
        monkeypatch.setattr(owner, name, lambda *_: pytest.fail("nothing is new"))
    assert question.cost(question.guard) == first


def test_data_taken_for_shared_would_be_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _engines(_DATA, (32, 1, 1)) == ()
    monkeypatch.setattr(room, "is_shared", lambda _leaf: True)
    assert _engines(_DATA, (32, 1, 1)) != ()


def test_lanes_that_do_not_exist_cost_nothing() -> None:
    assert len(_engines(_BAD_LANES_OF_SECOND_WARP, (40, 1, 1))) == 2
    assert _engines(_BAD_LANES_OF_SECOND_WARP, (64, 1, 1)) == ()


def test_equal_questions_are_equal_obligations() -> None:
    assert _cost(_ROWS, (8, 16, 1))[0] == _cost(_ROWS, (8, 16, 1))[0]


_MANY_TRIPS = (
    "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r6, [%rd1]; "
    "mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r6; @%p1 bra L; "
    "shl.b32 %r3, %r9, 9; mad.lo.u32 %r3, %r1, 4, %r3; "
)
"""Each thread adds a number of lines of its own; nothing lists these numbers."""


def test_a_bank_for_each_lane_needs_no_more_of_the_address() -> None:
    question = asked(_MANY_TRIPS, (64, 1, 1))
    proof = Asker(9, 1).cost(cost_goal(*_of(question), question.parts.own_guard))
    assert (proof.answer, len(proof.engines), proof.engines[-1]) == (Answer.HOLDS, 2, "z3")


@pytest.mark.parametrize(("stride", "is_apart"), [(4, True), (8, False), (128, False)])
def test_lanes_in_one_bank_fail_the_question_of_banks(stride: int, is_apart: bool) -> None:
    banks = banks_goal(_cost(f"mul.lo.u32 %r3, %r1, {stride}; ", (32, 1, 1))[0])
    assert banks is not None
    assert (Asker(9, 1).cost(banks).answer is Answer.HOLDS) == is_apart


def test_lines_taken_for_one_are_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes in one bank of many lines, which are taken for one word that they all read."""
    whole = asker.banks_goal

    def wrong(goal: Cost) -> Cost:
        banks = whole(goal)
        assert isinstance(banks, Cost)
        return replace(banks, instruction=goal.instruction)

    goal = _cost("ld.param.u32 %r6, [n]; and.b32 %r6, %r6, 128; mul.lo.u32 %r3, %r1, %r6; ", (32, 1, 1))[0]
    monkeypatch.setattr(asker, "banks_goal", wrong)
    mine, asked_as = Asker(9, 1), plainly_named(goal)[0]
    monkeypatch.setattr(Asker, "_native", lambda self, each: None if each == asked_as else _first_native(self, each))
    with pytest.raises(DisagreementError):
        mine.cost(goal)


def _first_native(mine: Asker, goal: Cost) -> object:
    return next(iter(mine._panel.natives(goal)), None)


_MADE_OF_ALL_BITS = (
    "ld.param.u32 %r6, [n]; add.u32 %r7, %r6, -1; setp.lt.u32 %p1, %r7, 3; selp.b32 %r8, 0, %r6, %p1; "
    "mul.lo.u32 %r8, %r8, 28; mad.lo.u32 %r3, %r1, {}, %r8; and.b32 %r3, %r3, {}; "
)
"""All bits of a parameter decide what all lanes add, and a mask holds it together with the lanes."""
_THIRDS = "mul.hi.s32 %r6, %r1, 1431655766; mad.lo.u32 %r3, %r6, 132, %r1; shl.b32 %r3, %r3, 2; "
"""A quotient by 3 as compilers write it: the upper half of a product of 64 bits."""


def test_what_all_lanes_share_may_be_anything() -> None:
    assert _engines(_MADE_OF_ALL_BITS.format(4, 252), (64, 1, 1)) == ("residues", "z3")
    assert _engines(_MADE_OF_ALL_BITS.format(8, 252), (64, 1, 1)) == ()


def test_parts_of_64_bits_are_enumerated() -> None:
    assert _engines(_THIRDS, (32, 1, 1)) == ()
    assert len(_engines(_THIRDS.replace("132", "96"), (32, 1, 1))) == 2


def test_data_taken_for_what_all_lanes_share_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = any_shared_room._shared_parts

    def wrong(roots: tuple[Expr, ...], of_lanes: Set[Var]) -> set[Expr]:
        return sound(roots, {each for each in of_lanes if each.name == "lane"})

    times = _DATA.replace("and.b32 %r3, %r3, 255", "ld.param.u32 %r6, [n]; mul.lo.u32 %r3, %r3, %r6")
    times += "mad.lo.u32 %r3, %r1, 4, %r3; "
    assert _engines(times, (64, 1, 1)) == ()
    monkeypatch.setattr(any_shared_room, "_shared_parts", wrong)
    with pytest.raises(DisagreementError):
        _engines(times, (64, 1, 1))


_COPIES = "mad.lo.u32 %r3, %r1, {0}, 0; "


@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("places", [[0], [0, 64], [16 * at for at in range(8)]])
def test_both_readings_of_octets_agree(places: list[int], is_partial: bool) -> None:
    goal = octet_goal(*_of(_octets(16)), places, is_partial=is_partial)
    assert not _readings_differ(goal)


def _octets(stride: int) -> Question:
    copy = "mov.u32 %r4, s; add.u32 %r4, %r4, %r3; cp.async.cg.shared.global [%r4], [%rd1], 16; ret; }"
    module = read_module(_HEAD + _REGISTERS + _COPIES.format(stride) + "ld.param.u64 %rd1, [g]; " + copy, "k.ptx")
    access = accesses(module, module.functions[0], (64, 1, 1))[-1]
    assert access.cost.row is not None
    assert access.cost.row.by_octets
    assert access.address is not None
    return Question(access.cost.row, split(access, access.address), block_of((64, 1, 1)), Asker(9, 1), ())


@pytest.mark.parametrize(("stride", "answer"), [(16, Answer.HOLDS), (144, Answer.FAILS), (128, Answer.FAILS)])
@pytest.mark.parametrize("is_partial", [False, True])
def test_octets_are_proved_by_engines(stride: int, answer: Answer, is_partial: bool) -> None:
    assert Asker(9, 1).cost(octet_goal(*_of(_octets(stride)), [0], is_partial=is_partial)).answer is answer


def test_each_place_counts() -> None:
    """Rows of 16 bytes are free where they begin with a line; 16 bytes further an octet has two lines."""
    assert Asker(9, 1).cost(octet_goal(*_of(_octets(16)), [0], is_partial=False)).answer is Answer.HOLDS
    proof = Asker(9, 1).cost(octet_goal(*_of(_octets(16)), [0, 16], is_partial=False))
    assert (proof.answer, proof.point["place modulo 128"]) == (Answer.FAILS, 1)


def test_lanes_that_are_not_as_far_beyond_a_multiple_do_not_count() -> None:
    """Of a stride of 6 bytes two lanes that meet would not both be aligned: such an access faults."""
    assert _engines("mul.lo.u32 %r3, %r1, 6; ", (32, 1, 1)) != ()


_LAST_TRIP = (
    "mov.u32 %r9, 0; L: setp.eq.u32 %p2, %r9, 3; selp.b32 %r10, 8, 4, %p2; mul.lo.u32 %r3, %r1, %r10; "
    "mov.u32 %r4, s; add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4]; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 4; "
    "@%p1 bra L; ret; }"
)
"""Of four trips the last one has two words in a bank."""


def _of_last_trip() -> Answer:
    module = read_module(_HEAD + _REGISTERS + _LAST_TRIP, "k.ptx")
    access = accesses(module, module.functions[0], (32, 1, 1))[-1]
    assert access.cost.row is not None
    assert access.address is not None
    question = Question(access.cost.row, split(access, access.address), block_of((32, 1, 1)), Asker(9, 1), ())
    return question.asker.cost(cost_goal(*_of(question), question.guard)).answer


def test_the_last_trip_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _of_last_trip() is Answer.FAILS
    counted = room._counted
    monkeypatch.setattr(room, "_counted", lambda leaf: counted(leaf) - 1)
    assert _of_last_trip() is Answer.HOLDS


def test_only_names_differ_in_equal_questions() -> None:
    """Of an unrolled loop: then the question is asked once, and points have the access's own names."""
    text = "ld.param.u32 %r6, [{0}]; mul.lo.u32 %r3, %r1, %r6; shl.b32 %r3, %r3, 2; "
    first, second = (_cost(text.format(name), (32, 1, 1))[0] for name in ("n", "g"))
    assert first != second
    assert plainly_named(first)[0] == plainly_named(second)[0]
    mine = Asker(9, 1)
    proofs = [mine.cost(each) for each in (first, second)]
    assert [{*proof.point} - {"lane", "warp", "lane'", "warp'"} for proof in proofs] == [{"n+0:4"}, {"g+0:4"}]


def test_no_other_question_is_equal_but_for_names() -> None:
    """Which of two variables is which must not be lost."""
    text = "ld.param.u32 %r6, [n]; ld.param.u32 %r7, [g]; mad.lo.u32 %r3, %r1, {0}, {1}; shl.b32 %r3, %r3, 2; "
    both = "and.b32 %r6, %r6, 4; and.b32 %r7, %r7, 8; "
    goals = [
        _cost(text.replace("mad", both + "mad").format(*each), (32, 1, 1))[0]
        for each in (("%r6", "%r7"), ("%r7", "%r6"))
    ]
    assert plainly_named(goals[0])[0] != plainly_named(goals[1])[0]

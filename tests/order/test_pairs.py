"""Questions about pairs of one kernel have parts in common: they are those that each pair has when it is alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order import joins, pairs
from swzverify.compiled.order.barriers import Scope, orders_of
from swzverify.compiled.order.instance import Instances
from swzverify.compiled.order.intervals import meetings
from swzverify.compiled.order.joins import Joins
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.question import Question
from swzverify.compiled.order.step import InStep, in_step
from swzverify.compiled.order.threads import Couple
from tests.order.conftest import module_of

BODY = """
setp.lt.u32 %p1, %r1, 9;
setp.lt.u32 %p2, %r1, 17;
mul.lo.u32 %r8, %r1, 132;
add.u32 %r8, %r3, %r8;
mov.u32 %r9, t;
add.u32 %r9, %r9, %r2;
mov.u32 %r10, 0;
st.shared.u32 [%r4], %r1;
st.shared.u32 [%r4+4], %r1;
st.shared.u32 [%r4+128], %r1;
st.shared.u32 [%r8+128], %r2;
ld.shared.u32 %r20, [%r4+8];
ld.shared.u32 %r20, [%r4+132];
st.shared.u16 [%r4+130], %r1;
ld.shared.u16 %r21, [%r4+136];
ld.shared.u16 %r21, [%r4+6];
shl.b32 %r11, %r1, 4;
add.u32 %r11, %r3, %r11;
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {%r1};
stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {%r1};
ld.shared.v2.u32 {%r22, %r23}, [%r8+64];
@%p1 st.shared.u32 [%r4+140], %r1;
@%p2 st.shared.u32 [%r4+144], %r1;
@%p2 ld.shared.u32 %r20, [%r9+4];
bar.sync 0;
L: st.shared.u32 [%r6], %r10;
ld.shared.u32 %r20, [%r6+4];
ld.shared.u32 %r20, [%r8+4];
bar.sync 0;
add.u32 %r10, %r10, 1;
setp.lt.u32 %p3, %r10, %r7;
@%p3 bra L;
"""
"""Addresses that are equally far apart, with other guards, values, widths and arrays."""


def _of_kernel() -> Iterator[tuple[Kernel, InStep, Couple]]:
    module = module_of(BODY)
    kernel = Kernel(module, inlined(module, module.functions[0]), (64, 1, 1))
    step = in_step(kernel, Scope.BLOCK, orders_of(kernel))
    for couple in (Couple.ANY, Couple.WARPS, Couple.LANES):
        yield kernel, step, couple


def _asked(kernel: Kernel, step: InStep, couple: Couple, *, is_alone: bool) -> list[Asked]:
    shared = Instances(kernel, step.sharing, couple)
    return [
        Asked(Instances(kernel, step.sharing, couple) if is_alone else shared, each, both)
        for each in meetings(kernel, step)
        for both in product(kernel.parts[each.first], kernel.parts[each.second])
    ]


def _said(question: Question) -> tuple[object, ...]:
    leaves = [each.name for each in question.read], {each.name: leaf.name for each, leaf in question.made.items()}
    conditions = question.condition, question.exact, question.in_memory, question.same
    return *conditions, leaves, question.places, question.addresses, question.few, question.ends


def _of_families(asked: Asked) -> list[tuple[object, ...]]:
    return [
        (each.positions, each.spans, each.guards, each.lengths, each.are_two, distance)
        for each, distance in asked.families()
    ]


def _is_right() -> bool:
    for known in _of_kernel():
        for alone, beside in zip(_asked(*known, is_alone=True), _asked(*known, is_alone=False), strict=True):
            ways = (None, *alone.meeting.ways)
            if [_said(alone.question(way)) for way in ways] != [_said(beside.question(way)) for way in ways]:
                return False
            if _of_families(alone) != _of_families(beside):
                return False
    return True


def test_questions_are_those_of_pairs_alone() -> None:
    assert _is_right()


def _without(place: int) -> Callable[[Asked], tuple[object, ...]]:
    right = pairs.Asked._alike.func  # type: ignore[attr-defined]  # a cached property has it

    def wrong(self: Asked) -> tuple[object, ...]:
        found = right(self)
        return (*found[:place], *found[place + 1 :])

    return wrong


@pytest.mark.parametrize("place", [4, 5, 6, 7, 8], ids=["one access", "first", "second", "first terms", "second terms"])
def test_a_part_that_is_forgotten_is_found(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    monkeypatch.setattr(pairs.Asked, "_alike", property(_without(place)))
    assert not _is_right()


def test_numbers_that_are_forgotten_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo 1 all distances of addresses are one."""
    monkeypatch.setattr(pairs, "ADDRESSES", 1)
    assert not _is_right()


def _answers(make: Callable[[], Any], *, is_alone: bool) -> list[bool]:
    shared = make()
    found: list[bool] = []
    for known in _of_kernel():
        for asked in _asked(*known, is_alone=False):
            question = asked.question()
            assert question.ends is not None
            lists = make() if is_alone else shared
            found.append(lists.never_meet(question.ends, (question.in_memory,), question.few))
    return found


def test_lists_answer_as_they_do_for_each_pair_alone() -> None:
    """The condition that addresses are equal is left out, so that only the ends tell two questions apart."""
    assert _answers(Joins, is_alone=False) == _answers(Joins, is_alone=True)


@pytest.mark.parametrize(
    ("piece", "becomes"),
    [
        ("(one.number - two.number) % ADDRESSES\n", "0\n"),
        ("(one.number - two.number) % ADDRESSES\n", "(one.number + two.number) % ADDRESSES\n"),
        ("(*one.terms.items(), None, *two.terms.items())", "(*one.terms.items(),)"),
        ("key = terms, number, ends.lengths,", "key = terms, number,"),
    ],
)
def test_an_end_that_lists_forget_is_found(piece: str, becomes: str) -> None:
    source = inspect.getsource(joins)
    assert source.count(piece) == 1
    names: dict[str, Any] = {"__name__": joins.__name__}
    exec(compile(source.replace(piece, becomes), "joins", "exec", dont_inherit=True), names)  # noqa: S102 - our own text
    assert _answers(names["Joins"], is_alone=False) != _answers(Joins, is_alone=True)

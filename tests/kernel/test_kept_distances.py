"""Registers that keep their distance, held against the values of their trips, one after the other."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel import kept_distances
from swzverify.compiled.kernel.arithmetic import add, sub
from swzverify.compiled.kernel.kept_distances import decided, kept_distance
from swzverify.compiled.order.verdict import RaceVerdict
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Given
from swzverify.compiled.scan.races import races_of
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Comparison, Expr, Var, compare, const, extract, ite, variables

_WIDTH = 8
_TAIL, _HEAD = Var("tail", 1 << _WIDTH, _WIDTH), Var("head", 1 << _WIDTH, _WIDTH)


def _value(source: random.Random) -> Expr:
    """The head, the tail, or their distance, plus a number, or the low bits of it."""
    value = source.choice((_TAIL, _HEAD, sub(_HEAD, _TAIL), sub(_TAIL, _HEAD)))
    return add(value, const(source.choice((0, 0, 1, 2, 255)), _WIDTH))


def _question(source: random.Random) -> Expr:
    bits = source.choice((3, 7, 8))
    one, two = (extract(_value(source), 0, bits) for _ in range(2))
    return compare(source.choice((Comparison.EQ, Comparison.ULT)), one, two)


def _next(source: random.Random, own: Var, depth: int = 2) -> Expr:
    """The next value of a register: itself plus a number, or a choice."""
    if depth and source.random() < 0.6:
        return ite(_question(source), _next(source, own, depth - 1), _next(source, own, depth - 1))
    return add(own, const(source.choice((0, 1, 1, 1, 2)), _WIDTH))


def _check(seeds: range) -> int:
    """How many pairs of registers keep their distance, as the rule says; each is held against 300 trips."""
    count = 0
    for seed in seeds:
        source = random.Random(seed)
        before = {each: const(source.choice((0, 0, 1, 5)), _WIDTH) for each in (_TAIL, _HEAD)}
        after = {each: _next(source, each) for each in (_TAIL, _HEAD)}
        distance = kept_distance((_TAIL, before[_TAIL], after[_TAIL]), (_HEAD, before[_HEAD], after[_HEAD]))
        count += distance is not None
        values = {each.name: begin.value for each, begin in before.items()}
        for _ in range(300 if distance is not None else 0):
            assert distance is not None
            assert (values["tail"] - values["head"]) % 256 == distance.value, seed
            values = {each.name: evaluate(following, values) for each, following in after.items()}
    return count


def test_distances_are_those_of_the_trips() -> None:
    assert _check(range(3_000)) > 300


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values whose distance is not known may be equal."""
    monkeypatch.setattr(kept_distances, "_are_equal", lambda *_: False)
    with pytest.raises(AssertionError):
        _check(range(3_000))


@pytest.mark.parametrize("seed", range(40))
def test_decided_comparisons_have_the_same_value(seed: int) -> None:
    source = random.Random(seed)
    value = _next(source, _TAIL, depth=3)
    for _ in range(20):
        values = {each.name: source.randrange(256) for each in variables(value)}
        assert evaluate(decided(value), values) == evaluate(value, values)


_QUEUE = """.version 8.3
.target sm_90
.address_size 64
.shared .align 128 .b8 s[4096];
.visible .entry k(.param .u64 data, .param .u32 n) {{
.reg .pred %p<9>; .reg .b32 %r<99>; .reg .b16 %h<9>; .reg .b64 %d<9>;
mov.u32 %r1, %tid.x; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; xor.b32 %r5, %r4, 128;
ld.param.u64 %d1, [data]; cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
ld.param.u32 %r2, [n];
mov.u16 %h1, 0; mov.u16 %h2, {begin}; mov.u32 %r6, 0;
AGAIN:
{guard}
cp.async.ca.shared.global [%r4], [%d1], 4; cp.async.commit_group;
add.u16 %h3, %h1, 1; and.b16 %h4, %h3, 255; and.b16 %h5, %h2, 255;
setp.eq.u16 %p1, %h4, %h5; @%p1 bra EMPTY;
sub.u16 %h6, %h1, %h2; and.b16 %h6, %h6, 255;
setp.eq.u16 %p2, %h6, 0; @%p2 bra ALL;
cp.async.wait_group 1; bra.uni DONE;
ALL: cp.async.wait_group 0;
DONE: add.u16 %h2, %h2, 1;
EMPTY: mov.u16 %h1, %h3;
PAST: bar.sync 0; ld.shared.u32 %r7, [%r5]; bar.sync 0;
add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, %r2; @%p3 bra AGAIN;
ret;
}}
"""


_OF_SOME = "setp.ge.u32 %p4, %r1, 40; @%p4 bra PAST;"


@pytest.mark.parametrize("guard", ["", _OF_SOME], ids=["all threads", "some threads"])
@pytest.mark.parametrize(("begin", "is_free"), [(0, True), (1, False), (255, False)])
def test_a_queue_of_copies(begin: int, is_free: bool, guard: str) -> None:
    """With a tail that is as far as the head all copies are awaited, with another one not.

    If some threads copy nothing, neither register is known, but how far they are apart is.
    """
    module = read_module(_QUEUE.format(begin=begin, guard=guard), "k.ptx")
    found = races_of(module, module.functions[0], Given(), block=(64, 1, 1))
    assert (found.verdict is RaceVerdict.FREE) is is_free

"""Loops that step numbers of 8 and 16 bits: what is said of them, against an interpreter."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from swzverify.compiled.kernel import KernelAccess
from tests.kernel.test_programs import SHAPES, compared
from tests.kernel.texts import kind, last, own
from tests.kernel.traps import COUNT, text_of
from tests.scan.test_programs import compared as judged

FOLD = (
    "shr.u32 %r40, {0}, 13;\nxor.b32 %r41, {0}, %r40;\nshr.u32 %r40, %r40, 13;\nxor.b32 %r41, %r41, %r40;\n"
    "and.b32 %r41, %r41, 4095;\nmov.u32 %r42, pool;\nmad.lo.u32 %r41, %r41, 4, %r42;\nst.shared.u32 [%r41+64], %r0;\n"
)
"""A store to a place to which all bits of a register count."""
CUTS = (
    "cvt.s32.s{k} {into}, {of};",
    "cvt.u32.u{k} {into}, {of};",
    "and.b32 {into}, {of}, {mask};",
    "shl.b32 {into}, {of}, {rest};\nshr.s32 {into}, {into}, {rest};",
    "shl.b32 {into}, {of}, {rest};\nshr.u32 {into}, {into}, {rest};",
)
COPIES = ("shl.b32 %r7, {of}, {rest};", "cvt.u32.u{k} %r7, {of};", "cvt.s32.s{k} %r7, {of};", "add.u32 %r7, {of}, 3;")
STORE = " shl.b32 %r20, {0}, 2; add.u32 %r20, %r20, %r3; st.shared.u32 [%r20], %r9;"


def body(seed: int) -> str:
    """A loop of a narrow counter in %r6, with what is made of its next value in %r7."""
    source = random.Random(seed)
    bits = source.choice((8, 16))
    words = {"k": bits, "mask": (1 << bits) - 1, "rest": 32 - bits}
    cut, copy = source.choice(CUTS), source.choice(COPIES)
    begin = source.choice(("%r0, 4661, 0", "%r1, 77, 40000", "%r2, 1, 200", "%r0, 1, 0", "%r0, -3, 0"))
    step = source.choice(("77", "12345", "40001", "%r12", "%r12", "-5", "%r1", "%r4"))
    lines = [f"mad.lo.u32 %r8, {begin};", "mul.lo.u32 %r12, %r2, 4115;", cut.format(into="%r6", of="%r8", **words)]
    lines.append(copy.format(of=source.choice(("%r8", "%r8", "%r6", "%r0")), **words))
    if source.random() < 0.2:
        lines.append("add.u32 %r6, %r6, 1;")
    lines += ["L:", FOLD.format("%r6"), FOLD.format("%r7"), f"add.u32 %r11, %r6, {step};"]
    lines.append(source.choice((cut, cut, cut, source.choice(CUTS))).format(into="%r6", of="%r11", **words))
    lines.append(copy.format(of=source.choice(("%r11", "%r11", "%r6")), **words))
    lines.append(COUNT.format(source.choice(("9", "%r2", "%r0"))))
    return "\n".join(lines)


def all_explained(start: int) -> None:
    explained = 0
    for seed in range(start, start + 2):
        tally = compared(text_of(body(seed)), SHAPES[seed % len(SHAPES)], 1 + seed % 7, seed)
        assert tally.wrong == (), seed
        explained += tally.explained
    assert explained > 6 or not start


@pytest.mark.parametrize("start", [2])
def test_every_execution_of_narrow_counters_is_explained(start: int) -> None:
    """Z3 leaves half of the executions of the first two kernels undecided, and none of these."""
    all_explained(start)


@pytest.mark.nightly
@pytest.mark.parametrize("start", [0, *range(4, 240, 2)])
def test_every_execution_of_many_narrow_counters_is_explained(start: int) -> None:
    all_explained(start)


def test_narrow_counters_are_no_worse_than_what_is_said_of_them() -> None:
    assert sum((verdicts_of(seed) for seed in range(2)), Counter()).keys() & {"free", "conflict"}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 40))
def test_many_narrow_counters_are_no_worse_than_what_is_said_of_them(seed: int) -> None:
    verdicts_of(seed)


def verdicts_of(seed: int) -> Counter[str]:
    return judged(text_of(body(seed)), SHAPES[seed % len(SHAPES)], seed)


def counted(begin: str, cut: str, step: str = "add.u32 %r11, %r6, 40000;") -> KernelAccess:
    """The access of a loop that cuts what it steps."""
    end = " setp.lt.s32 %p1, %r6, %r2; @%p1 bra L;"
    return last(f"{begin} L:{STORE.format('%r6')} {step} {cut}{end}")


WORD, HALF = "cvt.s32.s16 %r6, {};", "cvt.u32.u16 %r6, {};"


@pytest.mark.parametrize(
    "cut", [WORD, HALF, "and.b32 %r6, {}, 255;", "bfe.s32 %r6, {}, 0, 8;", "bfe.u32 %r6, {}, 0, 8;"]
)
def test_a_narrow_counter_is_known(cut: str) -> None:
    assert own(counted(cut.format("%r1"), cut.format("%r11"))) == []


@pytest.mark.parametrize(
    ("begin", "cut", "step"),
    [
        ("cvt.u32.u16 %r6, %r2;", WORD.format("%r11"), "add.u32 %r11, %r6, 40000;"),
        ("mov.u32 %r6, %r2;", WORD.format("%r11"), "add.u32 %r11, %r6, 40000;"),
        (WORD.format("%r2"), HALF.format("%r11"), "add.u32 %r11, %r6, 40000;"),
        ("cvt.s32.s16 %r6, %r2;", "cvt.s32.s8 %r6, %r11;", "add.u32 %r11, %r6, 40000;"),
        (WORD.format("%r1"), WORD.format("%r11"), "ld.global.u32 %r12, [%d1]; add.u32 %r11, %r6, %r12;"),
        (WORD.format("%r1"), WORD.format("%r11"), "mul.lo.u32 %r11, %r6, 3;"),
        (WORD.format("%r1"), WORD.format("%r11"), "add.u32 %r11, %r6, %r6;"),
        (WORD.format("%r1"), WORD.format("%r11"), "shr.s32 %r11, %r6, 1; add.u32 %r11, %r11, 5;"),
    ],
)
def test_what_is_no_narrow_counter_is_not_taken_for_one(begin: str, cut: str, step: str) -> None:
    assert "carried" in [kind(leaf) for leaf in counted(begin, cut, step).leaves]
